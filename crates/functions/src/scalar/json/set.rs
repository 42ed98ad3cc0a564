//! JSON_SET(document, path, value, …), JSON_INSERT and JSON_REPLACE, which differ in whether existing values are
//! replaced and missing ones are added. JSON_REMOVE(document, path, …).

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::json::path::Leg;
use mayfly_types::json::{Json, JsonPath};
use mayfly_types::{Result, SqlType};

use super::arguments::{self, Documents, Paths, Values, Wildcards};
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters};
use crate::{Binding, Call, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(
        &["json_set"],
        3..=usize::MAX,
        pairs_signature,
        set::<true, true>,
    )
    .parameters(Parameters::Typed(&[(ParameterType::Json, 0..1)]))
    .with(&[Fact::StopsAtNull]),
    Row::new(
        &["json_insert"],
        3..=usize::MAX,
        pairs_signature,
        set::<false, true>,
    )
    .parameters(Parameters::Typed(&[(ParameterType::Json, 0..1)]))
    .with(&[Fact::StopsAtNull]),
    Row::new(
        &["json_replace"],
        3..=usize::MAX,
        pairs_signature,
        set::<true, false>,
    )
    .parameters(Parameters::Typed(&[(ParameterType::Json, 0..1)]))
    .with(&[Fact::StopsAtNull]),
    Row::new(
        &["json_remove"],
        2..=usize::MAX,
        remove_signature,
        json_remove,
    )
    .parameters(Parameters::Typed(&[(ParameterType::Json, 0..1)]))
    .with(&[Fact::StopsAtNull]),
];

/// The types of a document followed by pairs of a path and a value.
pub(super) fn pairs_signature(binding: &Binding<'_>) -> Result<Signature> {
    if binding.arguments.len().is_multiple_of(2) {
        return Err(codes::ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT.with(&[&binding.name]));
    }
    let mut types = vec![arguments::document_type(&binding.arguments[0])];
    for path in (1..binding.arguments.len()).step_by(2) {
        types.push(binding.text(path));
        types.push(arguments::value_type(&binding.arguments[path + 1]));
    }
    Ok(Signature::new(types, SqlType::json(), true))
}

/// Changes a document by each of the pairs in turn; NULL when the document or a path is.
pub(super) fn change_by_pairs(
    call: &Call<'_>,
    mut change: impl FnMut(&mut Json, &JsonPath, Json) -> Result<()>,
) -> Result<ArrayRef> {
    let documents = Documents::new(call, 0)?;
    let mut pairs = Vec::with_capacity(call.arguments.len() / 2);
    for path in (1..call.arguments.len()).step_by(2) {
        let paths = Paths::new(&call.arguments[path], Wildcards::Refused)?;
        pairs.push((paths, Values::new(call, path + 1)?));
    }
    output::documents(call, |row, out| {
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

fn set<const REPLACES: bool, const ADDS: bool>(call: &Call<'_>) -> Result<ArrayRef> {
    change_by_pairs(call, |document, path, value| {
        match path.find_mut(document) {
            Some(found) if REPLACES => *found = value,
            None if ADDS => add(document, path, value),
            _ => {}
        }
        Ok(())
    })
}

/// Adds a value at a path without one.
fn add(document: &mut Json, path: &JsonPath, value: Json) {
    let Some((parent, last)) = path.split_last() else {
        return;
    };
    match (parent.find_mut(document), last) {
        (Some(Json::Object(object)), Leg::Member { key, .. }) => {
            object.insert(key.clone(), value);
        }
        (Some(Json::Array(array)), Leg::Cell(cell)) => {
            // The cell does not exist: it is before the first or after the last.
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

fn remove_signature(binding: &Binding<'_>) -> Result<Signature> {
    arguments::of_document_and_texts(binding, SqlType::json())
}

fn json_remove(call: &Call<'_>) -> Result<ArrayRef> {
    let documents = Documents::new(call, 0)?;
    let mut paths = Paths::all(call, 1, Wildcards::Refused)?;
    output::documents(call, |row, out| {
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

fn remove(document: &mut Json, path: &JsonPath) -> Result<()> {
    let Some((parent, last)) = path.split_last() else {
        return Err(codes::ER_JSON_VACUOUS_PATH.error());
    };
    let found = parent.find_mut(document);
    // A non-array value is its own only cell, except the document itself.
    if let (Some(value), Leg::Cell(cell)) = (&found, last)
        && !matches!(**value, Json::Array(_))
        && cell.position(1) == Some(0)
        && !parent.legs().is_empty()
    {
        return remove(document, &parent);
    }
    match (found, last) {
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
