//! Sort keys: bytes whose memcmp order is the order of the values.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use mayfly_types::CollationId;

use super::spec::KeyMode;

/// Appends the sort key of a string in a collation.
pub(crate) fn append_collation_key(collation: CollationId, text: &[u8], key: &mut Vec<u8>) {
    let bytewise = matches!(
        collation,
        CollationId::BINARY | CollationId::UTF8MB4_BIN | CollationId::UTF8MB4_0900_BIN
    );
    if bytewise {
        key.extend_from_slice(text);
    } else {
        key.extend(text.iter().map(u8::to_ascii_lowercase));
    }
}

/// Appends the key of one value: a NULL marker, then the value so that memcmp orders it.
pub(crate) fn append_key(array: &ArrayRef, row: usize, mode: KeyMode, key: &mut Vec<u8>) {
    if array.is_null(row) {
        key.push(0);
        return;
    }
    key.push(1);
    match array.data_type() {
        DataType::Int64 => {
            let value = array.as_primitive::<Int64Type>().value(row);
            key.extend_from_slice(&(value as u64 ^ (1 << 63)).to_be_bytes());
        }
        DataType::UInt64 => {
            key.extend_from_slice(&array.as_primitive::<UInt64Type>().value(row).to_be_bytes());
        }
        DataType::Float64 => {
            let value = array.as_primitive::<Float64Type>().value(row) + 0.0;
            let bits = value.to_bits();
            let flip = if bits >> 63 == 1 { u64::MAX } else { 1 << 63 };
            key.extend_from_slice(&(bits ^ flip).to_be_bytes());
        }
        DataType::Decimal128(..) => {
            let value = array.as_primitive::<Decimal128Type>().value(row);
            key.extend_from_slice(&(value as u128 ^ (1 << 127)).to_be_bytes());
        }
        DataType::Decimal256(..) => {
            let mut bytes = array
                .as_primitive::<Decimal256Type>()
                .value(row)
                .to_be_bytes();
            bytes[0] ^= 0x80;
            key.extend_from_slice(&bytes);
        }
        DataType::Boolean => key.push(u8::from(array.as_boolean().value(row))),
        _ => {
            let text = array.as_binary_view().value(row);
            let start = key.len();
            match mode {
                KeyMode::Binary => key.extend_from_slice(text),
                KeyMode::Collated(collation) => append_collation_key(collation, text, key),
            }
            // A string must end before any longer string that it begins: escape 0 as 0 1, end
            // with 0 0.
            if key[start..].contains(&0) {
                let raw = key.split_off(start);
                for byte in raw {
                    key.push(byte);
                    if byte == 0 {
                        key.push(1);
                    }
                }
            }
            key.extend_from_slice(&[0, 0]);
        }
    }
}
