//! JSON_STORAGE_SIZE(document): the bytes of MySQL's binary form (the manual, "JSON Utility
//! Functions"), and JSON_STORAGE_FREE(document), which is 0 where nothing is updated in place.

use arrow_array::ArrayRef;
use mayfly_types::Result;
use mayfly_types::json::Json;

use super::arguments::{self, Documents};
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, derive, output};

/// JSON_STORAGE_SIZE()
#[derive(Debug)]
pub(crate) struct JsonStorageSize;

impl ScalarKernel for JsonStorageSize {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let ty = arguments::document_type(&arguments[0]);
        Ok(Signature::new(vec![ty], derive::bigint_of_width(21), true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let ty = &signature.arguments[0];
        let documents = Documents::new(&arguments[0], ty, 1, "json_storage_size")?;
        output::ints(row_count, |row| {
            // A byte says what the value is.
            Ok(documents
                .tree(row)?
                .map(|document| 1 + size(&document) as i64))
        })
    }
}

/// JSON_STORAGE_FREE()
#[derive(Debug)]
pub(crate) struct JsonStorageFree;

impl ScalarKernel for JsonStorageFree {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let ty = arguments::document_type(&arguments[0]);
        Ok(Signature::new(vec![ty], derive::bigint_of_width(21), true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let ty = &signature.arguments[0];
        let documents = Documents::new(&arguments[0], ty, 1, "json_storage_free")?;
        output::ints(row_count, |row| Ok(documents.get(row)?.map(|_| 0)))
    }
}

/// The largest array or object whose offsets have two bytes instead of four.
const SMALL_MAX: usize = 65_535;

/// Bytes of a value behind the one that says what it is.
fn size(value: &Json) -> usize {
    match value {
        Json::Null | Json::Bool(_) => 1,
        Json::Int(value) => integer_size(i128::from(*value)),
        Json::UInt(value) => integer_size(i128::from(*value)),
        Json::Double(_) => 8,
        Json::Decimal(value) => {
            let digits = usize::from(value.precision());
            let scale = usize::from(value.scale);
            let packed = |digits: usize| digits / 9 * 4 + (digits % 9).div_ceil(2);
            // The type, the length, precision and scale, and the digits.
            4 + packed(digits.saturating_sub(scale)) + packed(scale)
        }
        // With the type of bytes.
        Json::Typed(text, _) => 1 + length_size(text.len()) + text.len(),
        Json::String(text) => length_size(text.len()) + text.len(),
        Json::Array(elements) => {
            let of_width = |width: usize| {
                let entries = elements
                    .iter()
                    .map(|element| 1 + width + placed(element, width));
                2 * width + entries.sum::<usize>()
            };
            of_offsets(of_width)
        }
        Json::Object(object) => {
            let of_width = |width: usize| {
                let entries = object.members().iter().map(|(key, member)| {
                    // Offset and length of the key, the key, and the value as in an array.
                    width + 2 + key.len() + 1 + width + placed(member, width)
                });
                2 * width + entries.sum::<usize>()
            };
            of_offsets(of_width)
        }
    }
}

fn of_offsets(of_width: impl Fn(usize) -> usize) -> usize {
    let small = of_width(2);
    if small <= SMALL_MAX {
        small
    } else {
        of_width(4)
    }
}

/// Bytes of an element outside of its entry, which holds it itself when it is small.
fn placed(element: &Json, width: usize) -> usize {
    let inlined = match element {
        Json::Null | Json::Bool(_) => true,
        Json::Int(_) | Json::UInt(_) => size(element) <= width,
        _ => false,
    };
    if inlined { 0 } else { size(element) }
}

fn integer_size(value: i128) -> usize {
    if i128::from(i16::MIN) <= value && value <= i128::from(i16::MAX) {
        2
    } else if i128::from(i32::MIN) <= value && value <= i128::from(i32::MAX) {
        4
    } else {
        8
    }
}

/// Seven bits of a length to a byte.
fn length_size(length: usize) -> usize {
    let bits = (usize::BITS - length.leading_zeros()).max(1) as usize;
    bits.div_ceil(7)
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, t};

    #[test]
    fn values() {
        check(&[
            ("json_storage_size", &[t("{\"a\":1}")], "13"),
            (
                "json_storage_size",
                &[t("[100,\"sakila\",[1,3,5],425.05]")],
                "45",
            ),
            ("json_storage_size", &[t("1")], "3"),
            ("json_storage_size", &[t("\"abc\"")], "5"),
            ("json_storage_size", &[t("[]")], "5"),
            ("json_storage_size", &[t("1.5")], "9"),
            ("json_storage_size", &[t("true")], "2"),
            ("json_storage_size", &[NULL], "NULL"),
            ("json_storage_free", &[t("{}")], "0"),
        ]);
    }
}
