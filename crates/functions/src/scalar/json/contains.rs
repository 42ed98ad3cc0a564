//! Containment and overlap of documents: JSON_CONTAINS(target, candidate[, path]), JSON_CONTAINS_PATH(document,
//! one_or_all, path, …), `value MEMBER OF (array)`, JSON_OVERLAPS(a, b).

use arrow_array::ArrayRef;
use mayfly_types::json::text::{elements, members};
use mayfly_types::json::{JsonKind, compare, kind_of};
use mayfly_types::{Result, SqlType};

use super::arguments::{self, Documents, Paths, Values, Wildcards};
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters, Printed};
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["json_contains"], 2..=3, contains_signature, json_contains)
        .with(&[Fact::StopsAtNull, Fact::JsonContains])
        .parameters(Parameters::Typed(&[(ParameterType::Json, 0..1)])),
    Row::new(
        &["json_contains_path"],
        3..=usize::MAX,
        path_signature,
        contains_path,
    )
    .parameters(Parameters::Typed(&[(ParameterType::Json, 0..1)]))
    .with(&[Fact::StopsAtNull]),
    Row::new(&["member of"], 2..=2, member_signature, member_of)
        .with(&[Fact::StopsAtNull, Fact::MemberOf])
        .printed(Printed::Infix("member of")),
    Row::new(&["json_overlaps"], 2..=2, overlaps_signature, overlaps)
        .with(&[Fact::StopsAtNull, Fact::JsonOverlaps]),
];

fn contains_signature(binding: &Binding<'_>) -> Result<Signature> {
    let mut types = binding.part(..2).each(arguments::document_type);
    types.extend(binding.part(2..).texts());
    Ok(Signature::new(types, derive::predicate_of_width(21), true))
}

fn json_contains(call: &Call<'_>) -> Result<ArrayRef> {
    let (targets, candidates) = (Documents::new(call, 0)?, Documents::new(call, 1)?);
    let mut paths = Paths::all(call, 2, Wildcards::Refused)?;
    output::bools(call.rows, |row| {
        let Some(target) = targets.get(row)? else {
            return Ok(None);
        };
        let Some(candidate) = candidates.get(row)? else {
            return Ok(None);
        };
        let target = arguments::part(&target, paths.first_mut(), row)?;
        Ok(target.map(|target| contains(target, &candidate)))
    })
}

/// Whether every part of the candidate is contained in the target. Recursion is bounded: both are at most a hundred
/// levels deep.
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

fn path_signature(binding: &Binding<'_>) -> Result<Signature> {
    arguments::of_document_and_texts(binding, derive::predicate_of_width(21))
}

fn contains_path(call: &Call<'_>) -> Result<ArrayRef> {
    let (documents, words) = (Documents::new(call, 0)?, call.texts(1)?);
    let mut paths = Paths::all(call, 2, Wildcards::Allowed)?;
    output::bools(call.rows, |row| {
        let (Some(document), Some(word)) = (documents.get(row)?, words.get(row)) else {
            return Ok(None);
        };
        let one = arguments::is_one(word, call.name)?;
        // The first decisive path gives the result; a NULL before it makes the result NULL.
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

fn member_signature(binding: &Binding<'_>) -> Result<Signature> {
    let types = vec![
        arguments::value_type(&binding.arguments[0]),
        arguments::document_type(&binding.arguments[1]),
    ];
    Ok(Signature::new(types, SqlType::boolean(), true))
}

fn member_of(call: &Call<'_>) -> Result<ArrayRef> {
    let (values, documents) = (Values::new(call, 0)?, Documents::new(call, 1)?);
    output::bools(call.rows, |row| {
        let (Some(value), Some(document)) = (values.document(row), documents.get(row)?) else {
            return Ok(None);
        };
        let equal = |element: &[u8]| compare(element, &value).is_eq();
        Ok(Some(match kind_of(&document) {
            JsonKind::Array => elements(&document).any(equal),
            _ => equal(&document),
        }))
    })
}

fn overlaps_signature(binding: &Binding<'_>) -> Result<Signature> {
    arguments::of_documents(binding, SqlType::boolean())
}

/// Whether two documents have an element or a member in common.
fn overlaps(call: &Call<'_>) -> Result<ArrayRef> {
    let (left, right) = (Documents::new(call, 0)?, Documents::new(call, 1)?);
    output::bools(call.rows, |row| {
        let Some(a) = left.get(row)? else {
            return Ok(None);
        };
        let Some(b) = right.get(row)? else {
            return Ok(None);
        };
        Ok(Some(overlap(&a, &b)))
    })
}

fn overlap(a: &[u8], b: &[u8]) -> bool {
    let equal = |a: &[u8], b: &[u8]| compare(a, b).is_eq();
    match (kind_of(a), kind_of(b)) {
        (JsonKind::Array, JsonKind::Array) => elements(a).any(|a| elements(b).any(|b| equal(a, b))),
        (JsonKind::Array, _) => elements(a).any(|a| equal(a, b)),
        (_, JsonKind::Array) => elements(b).any(|b| equal(a, b)),
        (JsonKind::Object, JsonKind::Object) => {
            members(a).any(|(key, a)| members(b).any(|(other, b)| key == other && equal(a, b)))
        }
        _ => equal(a, b),
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
