//! JSON_ARRAY_APPEND(document, path, value, …) and JSON_ARRAY_INSERT(document, path, value, …).

use mayfly_types::Result;
use mayfly_types::error::codes;
use mayfly_types::json::path::Leg;
use mayfly_types::json::{Json, JsonPath};

use super::set::{change_by_pairs, pairs_signature};
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(
        &["json_array_append"],
        3..=usize::MAX,
        pairs_signature,
        |call| change_by_pairs(call, append),
    )
    .parameters(Parameters::Typed(&[(ParameterType::Json, 0..1)]))
    .with(&[Fact::StopsAtNull]),
    Row::new(
        &["json_array_insert"],
        3..=usize::MAX,
        pairs_signature,
        |call| change_by_pairs(call, insert),
    )
    .parameters(Parameters::Typed(&[(ParameterType::Json, 0..1)]))
    .with(&[Fact::StopsAtNull]),
];

/// Appends to an array; any other value becomes the array's first element.
fn append(document: &mut Json, path: &JsonPath, value: Json) -> Result<()> {
    match path.find_mut(document) {
        None => {}
        Some(Json::Array(array)) => array.push(value),
        Some(other) => {
            let old = std::mem::replace(other, Json::Null);
            *other = Json::Array(vec![old, value]);
        }
    }
    Ok(())
}

/// Inserts at a cell and shifts the elements from there on.
fn insert(document: &mut Json, path: &JsonPath, value: Json) -> Result<()> {
    let Some((parent, Leg::Cell(cell))) = path.split_last() else {
        return Err(codes::ER_INVALID_JSON_PATH_ARRAY_CELL.error());
    };
    if let Some(Json::Array(array)) = parent.find_mut(document) {
        let position = cell.position(array.len()).unwrap_or(0);
        array.insert(position.min(array.len()), value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, i, t};

    #[test]
    fn appends() {
        let document = t("[\"a\", [\"b\", \"c\"], \"d\"]");
        check(&[
            (
                "json_array_append",
                &[document, t("$[1]"), i(1)],
                "[\"a\", [\"b\", \"c\", 1], \"d\"]",
            ),
            (
                "json_array_append",
                &[document, t("$[0]"), i(2)],
                "[[\"a\", 2], [\"b\", \"c\"], \"d\"]",
            ),
            (
                "json_array_append",
                &[t("{\"a\":1}"), t("$"), i(2)],
                "[{\"a\": 1}, 2]",
            ),
            (
                "json_array_append",
                &[t("{\"a\":1}"), t("$.x"), i(2)],
                "{\"a\": 1}",
            ),
        ]);
    }

    #[test]
    fn inserts() {
        let document = t("[\"a\", {\"b\": [1, 2]}, [3, 4]]");
        check(&[
            (
                "json_array_insert",
                &[document, t("$[1]"), t("x")],
                "[\"a\", \"x\", {\"b\": [1, 2]}, [3, 4]]",
            ),
            (
                "json_array_insert",
                &[document, t("$[100]"), t("x")],
                "[\"a\", {\"b\": [1, 2]}, [3, 4], \"x\"]",
            ),
            (
                "json_array_insert",
                &[document, t("$[1].b[0]"), t("x")],
                "[\"a\", {\"b\": [\"x\", 1, 2]}, [3, 4]]",
            ),
            (
                "json_array_insert",
                &[t("{\"a\":1}"), t("$[0]"), i(1)],
                "{\"a\": 1}",
            ),
            (
                "json_array_insert",
                &[document, t("$[0]"), t("x"), t("$[2][1]"), t("y")],
                "[\"x\", \"a\", {\"b\": [1, 2]}, [3, 4]]",
            ),
            (
                "json_array_insert",
                &[t("[1]"), t("$.a"), i(1)],
                "ERROR 3165 (42000): A path expression is not a path to a cell in an array.",
            ),
        ]);
    }
}
