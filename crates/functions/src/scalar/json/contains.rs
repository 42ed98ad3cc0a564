//! JSON_CONTAINS(target, candidate[, path]) and JSON_CONTAINS_PATH(document, one_or_all, path, …).

use arrow_array::ArrayRef;
use mayfly_types::Result;
use mayfly_types::json::text::{elements, members};
use mayfly_types::json::{JsonKind, compare, kind_of};

use super::arguments::{self, Documents, Paths, Wildcards};
use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// JSON_CONTAINS()
#[derive(Debug)]
pub(crate) struct JsonContains;

impl ScalarKernel for JsonContains {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let mut types = vec![
            arguments::document_type(&arguments[0]),
            arguments::document_type(&arguments[1]),
        ];
        types.extend(
            arguments
                .get(2)
                .map(|path| arguments::path_type(path, context)),
        );
        Ok(Signature::new(types, derive::predicate_of_width(21), true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let types = &signature.arguments;
        let documents = arguments::documents(&arguments[..2], types, "json_contains")?;
        let mut paths = Paths::all(&arguments[2..], Wildcards::Refused)?;
        output::bools(row_count, |row| {
            let Some(target) = documents[0].get(row)? else {
                return Ok(None);
            };
            let Some(candidate) = documents[1].get(row)? else {
                return Ok(None);
            };
            let target = match paths.first_mut() {
                None => Some(&target[..]),
                Some(path) => match path.get(row)? {
                    Some(path) => path.find_first(&target),
                    None => None,
                },
            };
            Ok(target.map(|target| contains(target, &candidate)))
        })
    }
}

/// Whether every part of the candidate has its place in the target. Both are at most a hundred
/// levels deep, and so is the recursion.
fn contains(target: &[u8], candidate: &[u8]) -> bool {
    match (kind_of(target), kind_of(candidate)) {
        (JsonKind::Array, JsonKind::Array) => elements(candidate)
            .all(|wanted| elements(target).any(|element| element_contains(element, wanted))),
        (JsonKind::Array, _) => {
            elements(target).any(|element| element_contains(element, candidate))
        }
        (JsonKind::Object, JsonKind::Object) => members(candidate).all(|(key, wanted)| {
            members(target)
                .find(|(other, _)| *other == key)
                .is_some_and(|(_, value)| contains(value, wanted))
        }),
        _ => compare(target, candidate).is_eq(),
    }
}

fn element_contains(element: &[u8], wanted: &[u8]) -> bool {
    match (kind_of(element), kind_of(wanted)) {
        (JsonKind::Object, JsonKind::Object) | (JsonKind::Array, _) => contains(element, wanted),
        _ => compare(element, wanted).is_eq(),
    }
}

/// JSON_CONTAINS_PATH()
#[derive(Debug)]
pub(crate) struct JsonContainsPath;

impl ScalarKernel for JsonContainsPath {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let mut types = vec![arguments::document_type(&arguments[0])];
        types.extend(
            arguments[1..]
                .iter()
                .map(|text| derive::text_of(text, context)),
        );
        Ok(Signature::new(types, derive::predicate_of_width(21), true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let name = "json_contains_path";
        let documents = Documents::new(&arguments[0], &signature.arguments[0], 1, name)?;
        let words = input::texts(&arguments[1])?;
        let mut paths = Paths::all(&arguments[2..], Wildcards::Allowed)?;
        output::bools(row_count, |row| {
            let (Some(document), Some(word)) = (documents.get(row)?, words.get(row)) else {
                return Ok(None);
            };
            let one = arguments::is_one(word, name)?;
            // The first path that decides does; a NULL before it makes the result NULL.
            for path in &mut paths {
                let Some(path) = path.get(row)? else {
                    return Ok(None);
                };
                if path.find_first(&document).is_some() == one {
                    return Ok(Some(one));
                }
            }
            Ok(Some(!one))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, t};

    #[test]
    fn values() {
        let document = t("{\"a\": 1, \"b\": 2, \"c\": {\"d\": 4}}");
        check(&[
            ("json_contains", &[document, t("1"), t("$.a")], "1"),
            ("json_contains", &[document, t("1"), t("$.b")], "0"),
            ("json_contains", &[document, t("{\"d\": 4}"), t("$.c")], "1"),
            ("json_contains", &[document, t("{\"d\": 4}")], "0"),
            ("json_contains", &[t("[1,2,3]"), t("[1,3]")], "1"),
            ("json_contains", &[t("[1,2,3]"), t("2")], "1"),
            ("json_contains", &[t("1"), t("1.0")], "1"),
            ("json_contains", &[t("[[1,2]]"), t("1")], "1"),
            ("json_contains", &[t("[1,[2]]"), t("[2]")], "1"),
            ("json_contains", &[t("{\"a\":1}"), t("1"), t("$.x")], "NULL"),
            (
                "json_contains_path",
                &[document, t("one"), t("$.a"), t("$.e")],
                "1",
            ),
            (
                "json_contains_path",
                &[document, t("all"), t("$.a"), t("$.e")],
                "0",
            ),
            ("json_contains_path", &[document, t("ONE"), t("$.c.d")], "1"),
            (
                "json_contains_path",
                &[document, t("one"), t("$.a"), NULL],
                "1",
            ),
            (
                "json_contains_path",
                &[document, t("all"), t("$.a"), NULL],
                "NULL",
            ),
            (
                "json_contains_path",
                &[document, t("xx"), t("$.c.d")],
                "ERROR 3154 (42000): The oneOrAll argument to json_contains_path may take these values: 'one' or 'all'.",
            ),
        ]);
    }
}
