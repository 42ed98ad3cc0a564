//! JSON_REMOVE(document, path, …)

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::json::path::Leg;
use mayfly_types::json::{Json, JsonPath};
use mayfly_types::{Result, SqlType};

use super::arguments::{self, Documents, Paths, Wildcards};
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, output};

/// JSON_REMOVE()
#[derive(Debug)]
pub(crate) struct JsonRemove;

impl ScalarKernel for JsonRemove {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let mut types = vec![arguments::document_type(&arguments[0])];
        types.extend(
            arguments[1..]
                .iter()
                .map(|path| arguments::path_type(path, context)),
        );
        Ok(Signature::new(types, SqlType::json(), true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let documents = Documents::new(&arguments[0], &signature.arguments[0], 1, "json_remove")?;
        let mut paths = Paths::all(&arguments[1..], Wildcards::Refused)?;
        output::documents(row_count, "json_remove", context, |row, out| {
            let Some(mut document) = documents.tree(row)? else {
                return Ok(false);
            };
            for path in &mut paths {
                let Some(path) = path.get(row)? else {
                    return Ok(false);
                };
                remove(&mut document, path)?;
            }
            document.append_to(out);
            Ok(true)
        })
    }
}

fn remove(document: &mut Json, path: &JsonPath) -> Result<()> {
    let Some((parent, last)) = path.split_last() else {
        return Err(codes::ER_JSON_VACUOUS_PATH.error());
    };
    match (parent.find_mut(document), last) {
        (Some(Json::Object(object)), Leg::Member { key, .. }) => {
            object.remove(key);
        }
        (Some(Json::Array(array)), Leg::Cell(cell)) => {
            let position = cell.position(array.len());
            if let Some(position) = position.filter(|position| *position < array.len()) {
                array.remove(position);
            }
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, t};

    #[test]
    fn values() {
        check(&[
            (
                "json_remove",
                &[t("[\"a\", [\"b\", \"c\"], \"d\"]"), t("$[1]")],
                "[\"a\", \"d\"]",
            ),
            ("json_remove", &[t("{\"a\": 1}"), t("$.a"), t("$.x")], "{}"),
            ("json_remove", &[t("[1,2,3]"), t("$[0]"), t("$[0]")], "[3]"),
            ("json_remove", &[t("[1,2,3]"), t("$[last]")], "[1, 2]"),
            ("json_remove", &[NULL, t("$.a")], "NULL"),
            (
                "json_remove",
                &[t("1"), t("$")],
                "ERROR 3153 (42000): The path expression '$' is not allowed in this context.",
            ),
        ]);
    }
}
