//! `CAST(document AS type ARRAY)` of a multi-valued key part: the [values](mayfly_types::json::key_values) by which the
//! index finds the row, as a [typed array](mayfly_types::typed_array).
//!
//! The second argument is a NULL of the elements' type, the third the name of the index for errors. The limits are
//! those of InnoDB, which logs the values of a row in one page of its undo log.

use std::cmp::Ordering;

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::json::{KeyValueError, key_values};
use mayfly_types::{CollationId, Error, Result, SqlType, TypeKind, Value, typed_array};

use super::arguments::{self, Documents};
use crate::scalar::Row;
use crate::{Binding, Call, Signature, output};

/// The name is no identifier, so that no statement calls the function.
pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["cast as array"], 3..=3, signature, cast)];

/// Bytes of an undo log page for the values of a row, and of the length before each.
const PAGE_BYTES: u64 = 16_058;
const LENGTH_BYTES: u64 = 2;

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let [document, element, name] = binding.arguments else {
        return Err(Error::internal("CAST AS ARRAY has three arguments"));
    };
    let types = vec![
        arguments::document_type(document),
        element.ty.clone(),
        name.ty.clone(),
    ];
    let array = SqlType::text(TypeKind::LongText, CollationId::BINARY);
    Ok(Signature::new(types, array, true))
}

fn cast(call: &Call<'_>) -> Result<ArrayRef> {
    let of_document = Call {
        name: "cast_as_array",
        ..*call
    };
    let documents = Documents::new(&of_document, 0)?;
    let (ty, names) = (call.ty(1), call.texts(2)?);
    output::texts(call, |row, out| {
        let Some(document) = documents.get(row)? else {
            return Ok(false);
        };
        let name = String::from_utf8_lossy(names.get(row).unwrap_or_default());
        let values = key_values(&document, ty).map_err(|error| refused(error, &name, row))?;
        for value in distinct(values, ty, &name)? {
            typed_array::append(out, &value);
        }
        Ok(true)
    })
}

fn refused(error: KeyValueError, index: &str, row: usize) -> Error {
    match error {
        KeyValueError::Object => {
            codes::ER_NOT_SUPPORTED_YET.with(&[&"CAST-ing JSON OBJECT type to array"])
        }
        KeyValueError::NotScalar => codes::ER_WRONG_MVI_VALUE.with(&[&index]),
        KeyValueError::Invalid => codes::ER_INVALID_JSON_VALUE_FOR_FUNC_INDEX.with(&[&index]),
        KeyValueError::TooLarge => codes::ER_JSON_VALUE_OUT_OF_RANGE_FOR_FUNC_INDEX.with(&[&index]),
        KeyValueError::TooLong => codes::ER_FUNCTIONAL_INDEX_DATA_IS_TOO_LONG.with(&[&index]),
        KeyValueError::OutOfRange => {
            codes::ER_FUNCTIONAL_INDEX_OUT_OF_RANGE.with(&[&index, &(row + 1)])
        }
        KeyValueError::Truncated => {
            codes::ER_FUNCTIONAL_INDEX_DATA_TRUNCATED.with(&[&index, &(row + 1)])
        }
    }
}

/// The distinct values in ascending order; errors 3905 and 3906 for too many.
fn distinct(mut values: Vec<Value>, ty: &SqlType, index: &str) -> Result<Vec<Value>> {
    let fixed = (!ty.is_string()).then(|| ty.declared_bytes(None));
    let most = PAGE_BYTES / (fixed.unwrap_or(1) + LENGTH_BYTES);
    let most_bytes = PAGE_BYTES - most * LENGTH_BYTES;
    let bytes = |value: &Value| match (fixed, value) {
        (Some(bytes), _) => bytes,
        (None, Value::Bytes(text)) => text.len() as u64,
        (None, _) => 0,
    };
    let all_bytes: u64 = values.iter().map(bytes).sum();
    values.sort_by(order);
    values.dedup();
    let count = values.len() as u64;
    if count > most {
        return Err(codes::ER_EXCEEDED_MV_KEYS_NUM.with(&[&index, &(count - most)]));
    }
    if all_bytes > most_bytes {
        return Err(codes::ER_EXCEEDED_MV_KEYS_SPACE.with(&[&index, &(all_bytes - most_bytes)]));
    }
    Ok(values)
}

/// Compares values of one type, texts by their bytes.
fn order(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::UInt(a), Value::UInt(b)) => a.cmp(b),
        (Value::Decimal { unscaled: a, .. }, Value::Decimal { unscaled: b, .. }) => a.cmp(b),
        (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
        _ => Ordering::Equal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // mysql> create table t (j json, key k((cast(j as unsigned array)))); insert into t select json_arrayagg(…)
    #[test]
    fn limits_are_those_of_innodb() {
        let integer = SqlType {
            unsigned: true,
            ..SqlType::bigint()
        };
        let error = |ty: &SqlType, values: Vec<Value>| match distinct(values, ty, "k") {
            Ok(values) => values.len().to_string(),
            Err(error) => error.to_string(),
        };
        let ints = |count: u64, modulo: u64| -> Vec<Value> {
            (1..=count).map(|n| Value::UInt(n % modulo)).collect()
        };
        assert_eq!(error(&integer, ints(1605, u64::MAX)), "1605");
        assert_eq!(error(&integer, ints(1606, 1000)), "1000");
        assert!(error(&integer, ints(5000, u64::MAX)).contains("by 3395 value(s)"));
        assert!(error(&integer, ints(1607, 1000)).contains("by 8 bytes"));
        let date = SqlType::temporal(TypeKind::Date, 0);
        let days = (0..9000).map(Value::Int).collect();
        assert!(error(&date, days).contains("by 5789 value(s)"));
        let text = SqlType::varchar(500, CollationId::UTF8MB4_0900_AS_CS);
        let long = |count: usize| -> Vec<Value> {
            (0..count)
                .map(|n| format!("{n:x<500}").as_str().into())
                .collect()
        };
        assert!(error(&text, long(130)).contains("by 59646 bytes"));
        let short = (0..9000).map(|n| n.to_string().as_str().into()).collect();
        assert!(error(&text, short).contains("by 3648 value(s)"));
    }
}
