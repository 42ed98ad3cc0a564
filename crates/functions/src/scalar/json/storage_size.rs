//! JSON_STORAGE_SIZE(document): the size of MySQL's binary format (the manual, "JSON Utility Functions"), and
//! JSON_STORAGE_FREE(document), which is 0 because nothing is updated in place.

use arrow_array::ArrayRef;
use mayfly_types::Result;
use mayfly_types::json::Json;

use super::arguments::Documents;
use super::describe::count_signature;
use crate::scalar::Row;
use crate::{Call, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["json_storage_size"], 1..=1, count_signature, storage_size),
    Row::new(&["json_storage_free"], 1..=1, count_signature, storage_free),
];

fn storage_size(call: &Call<'_>) -> Result<ArrayRef> {
    let documents = Documents::new(call, 0)?;
    output::ints(call.rows, |row| {
        let document = documents.tree(row)?;
        // One byte for the type of the value.
        Ok(document.map(|document| 1 + size(&document) as i64))
    })
}

fn storage_free(call: &Call<'_>) -> Result<ArrayRef> {
    let documents = Documents::new(call, 0)?;
    output::ints(call.rows, |row| Ok(documents.get(row)?.map(|_| 0)))
}

/// The largest array or object with offsets of two bytes instead of four.
const SMALL_MAX: usize = 65_535;

/// Bytes of a value after its type byte.
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
            // Type, length, precision and scale, and the digits.
            4 + packed(digits.saturating_sub(scale)) + packed(scale)
        }
        // With one byte for the type.
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

/// Bytes of an element outside of its entry, which contains small values.
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

/// Bytes of a length, seven bits per byte.
fn length_size(length: usize) -> usize {
    let bits = (usize::BITS - length.leading_zeros()).max(1) as usize;
    bits.div_ceil(7)
}
