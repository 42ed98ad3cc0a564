//! JSON_SET(document, path, value, …), JSON_INSERT and JSON_REPLACE: they differ in whether a value
//! that is there is replaced, and one that is not is added.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::json::path::Leg;
use mayfly_types::json::{Json, JsonPath};
use mayfly_types::{Result, SqlType};

use super::arguments::{self, Documents, Paths, Values, Wildcards};
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, output};

/// One of the three.
#[derive(Debug)]
pub(crate) struct JsonSet {
    names: &'static [&'static str],
    replaces: bool,
    adds: bool,
}

/// JSON_SET()
pub(crate) static SET: JsonSet = JsonSet {
    names: &["json_set"],
    replaces: true,
    adds: true,
};
/// JSON_INSERT()
pub(crate) static INSERT: JsonSet = JsonSet {
    names: &["json_insert"],
    replaces: false,
    adds: true,
};
/// JSON_REPLACE()
pub(crate) static REPLACE: JsonSet = JsonSet {
    names: &["json_replace"],
    replaces: true,
    adds: false,
};

/// The types of a document followed by pairs of a path and a value.
pub(crate) fn pairs_signature(
    arguments: &[Argument<'_>],
    context: &SignatureContext,
    name: &str,
) -> Result<Signature> {
    if arguments.len().is_multiple_of(2) {
        return Err(codes::ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT.with(&[&name]));
    }
    let mut types = vec![arguments::document_type(&arguments[0])];
    for pair in arguments[1..].chunks_exact(2) {
        types.push(arguments::path_type(&pair[0], context));
        types.push(arguments::value_type(&pair[1]));
    }
    Ok(Signature::new(types, SqlType::json(), true))
}

/// Changes a document by each of its pairs in turn; NULL when it or a path is.
pub(crate) fn change_by_pairs(
    arguments: &[Column],
    row_count: usize,
    signature: &Signature,
    name: &'static str,
    context: &EvaluationContext,
    mut change: impl FnMut(&mut Json, &JsonPath, Json) -> Result<()>,
) -> Result<ArrayRef> {
    let types = &signature.arguments;
    let documents = Documents::new(&arguments[0], &types[0], 1, name)?;
    let mut pairs = Vec::with_capacity(arguments.len() / 2);
    for (pair, types) in arguments[1..]
        .chunks_exact(2)
        .zip(types[1..].chunks_exact(2))
    {
        let paths = Paths::new(&pair[0], Wildcards::Refused)?;
        pairs.push((paths, Values::new(&pair[1], &types[1])?));
    }
    output::documents(row_count, name, context, |row, out| {
        let Some(mut document) = documents.tree(row)? else {
            return Ok(false);
        };
        for (paths, values) in &mut pairs {
            let Some(path) = paths.get(row)? else {
                return Ok(false);
            };
            change(&mut document, path, values.tree(row))?;
        }
        document.append_to(out);
        Ok(true)
    })
}

impl ScalarKernel for JsonSet {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        pairs_signature(arguments, context, self.names[0])
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let name = self.names[0];
        change_by_pairs(
            arguments,
            row_count,
            signature,
            name,
            context,
            |document, path, value| {
                self.change(document, path, value);
                Ok(())
            },
        )
    }
}

impl JsonSet {
    fn change(&self, document: &mut Json, path: &JsonPath, value: Json) {
        if let Some(place) = path.find_mut(document) {
            if self.replaces {
                *place = value;
            }
            return;
        }
        if !self.adds {
            return;
        }
        let Some((parent, last)) = path.split_last() else {
            return;
        };
        match (parent.find_mut(document), last) {
            (Some(Json::Object(object)), Leg::Member { key, .. }) => {
                object.insert(key.clone(), value);
            }
            (Some(Json::Array(array)), Leg::Cell(cell)) => {
                // No cell there: before the first or behind the last.
                match cell.position(array.len()) {
                    None => array.insert(0, value),
                    Some(_) => array.push(value),
                }
            }
            (Some(scalar), Leg::Cell(cell)) => {
                let old = std::mem::replace(scalar, Json::Null);
                *scalar = Json::Array(match cell.position(1) {
                    None => vec![value, old],
                    Some(_) => vec![old, value],
                });
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, i, t};

    #[test]
    fn values() {
        let document = t("{\"a\": 1, \"b\": [2, 3]}");
        let changes = |name| {
            crate::testing::call(
                name,
                &[document, t("$.a"), i(10), t("$.c"), t("[true, false]")],
            )
        };
        assert_eq!(
            changes("json_set"),
            r#"{"a": 10, "b": [2, 3], "c": "[true, false]"}"#
        );
        assert_eq!(
            changes("json_insert"),
            r#"{"a": 1, "b": [2, 3], "c": "[true, false]"}"#
        );
        assert_eq!(changes("json_replace"), r#"{"a": 10, "b": [2, 3]}"#);
        check(&[
            ("json_set", &[t("1"), t("$[1]"), i(2)], "[1, 2]"),
            ("json_set", &[t("[1]"), t("$[5]"), i(2)], "[1, 2]"),
            (
                "json_set",
                &[t("{\"a\":1}"), t("$.b.c"), i(2)],
                "{\"a\": 1}",
            ),
            (
                "json_set",
                &[t("{\"a\":1}"), t("$.a[1]"), i(2)],
                "{\"a\": [1, 2]}",
            ),
            ("json_set", &[t("[1]"), t("$[last]"), i(9)], "[9]"),
            ("json_set", &[t("1"), t("$"), i(2)], "2"),
            ("json_set", &[t("[1]"), t("$[0]"), NULL], "[null]"),
            ("json_insert", &[t("1"), t("$[0]"), i(2)], "1"),
            ("json_set", &[NULL, t("$"), i(1)], "NULL"),
            ("json_set", &[t("1"), NULL, i(1)], "NULL"),
            (
                "json_set",
                &[t("1"), t("$.*"), i(2)],
                "ERROR 3149 (42000): In this situation, path expressions may not contain the * and ** tokens or an array range.",
            ),
        ]);
    }
}
