//! Bytes of an array of values of one type, as the hidden column of a multi-valued key part holds it.
//!
//! Each element is its length in bytes (u32, little-endian) and its value: 8 bytes of an integer or a double, 32 of the
//! unscaled value of a DECIMAL, the bytes of a string. Elements are never NULL.

use arrow_buffer::i256;

use crate::{PhysicalType, Value};

/// Appends an element, which is not NULL.
pub fn append(array: &mut Vec<u8>, element: &Value) {
    let mut put = |bytes: &[u8]| {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        array.extend_from_slice(&length.to_le_bytes());
        array.extend_from_slice(bytes);
    };
    match element {
        Value::Null => {}
        Value::Int(number) => put(&number.to_le_bytes()),
        Value::UInt(number) => put(&number.to_le_bytes()),
        Value::Float(number) => put(&number.to_le_bytes()),
        Value::Decimal { unscaled, .. } => put(&unscaled.to_le_bytes()),
        Value::Bytes(bytes) => put(bytes),
    }
}

/// Iterator of the elements of an array, whose physical type is `ty`. It ends where the bytes are no array.
#[derive(Debug, Clone)]
pub struct Elements<'a> {
    rest: &'a [u8],
    ty: PhysicalType,
}

/// The elements of an array of values of type `ty`.
pub fn elements(array: &[u8], ty: PhysicalType) -> Elements<'_> {
    Elements { rest: array, ty }
}

impl Iterator for Elements<'_> {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        let (length, rest) = self.rest.split_first_chunk()?;
        let (bytes, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        self.rest = rest;
        Some(match self.ty {
            PhysicalType::Bool | PhysicalType::Int64 => {
                Value::Int(i64::from_le_bytes(bytes.try_into().ok()?))
            }
            PhysicalType::UInt64 => Value::UInt(u64::from_le_bytes(bytes.try_into().ok()?)),
            PhysicalType::Float64 => Value::Float(f64::from_le_bytes(bytes.try_into().ok()?)),
            PhysicalType::Decimal128(scale) | PhysicalType::Decimal256(scale) => Value::Decimal {
                unscaled: i256::from_le_bytes(bytes.try_into().ok()?),
                scale,
            },
            PhysicalType::Bytes => Value::Bytes(bytes.to_vec()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(values: &[Value], ty: PhysicalType) {
        let mut array = Vec::new();
        values.iter().for_each(|value| append(&mut array, value));
        assert_eq!(elements(&array, ty).collect::<Vec<_>>(), values);
        // Bytes that are cut off end the array.
        array.pop();
        assert!(elements(&array, ty).count() < values.len());
    }

    #[test]
    fn elements_come_back() {
        round_trip(&[Value::Int(-5), Value::Int(7)], PhysicalType::Int64);
        round_trip(&[Value::UInt(u64::MAX)], PhysicalType::UInt64);
        round_trip(&["".into(), "abc".into()], PhysicalType::Bytes);
        let unscaled = i256::from(-125);
        let decimal = Value::Decimal { unscaled, scale: 2 };
        round_trip(&[decimal], PhysicalType::Decimal128(2));
        assert_eq!(elements(&[], PhysicalType::Int64).next(), None);
    }
}
