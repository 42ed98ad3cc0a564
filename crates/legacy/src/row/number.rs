//! Numbers in a declared number of bytes, least significant byte first: the width of MySQL's column, independent of
//! the arrays' width.

use arrow_buffer::i256;
use mayfly_storage::values::StoredValue;
use mayfly_types::PhysicalType;

/// Number of bytes for every value of a type; 0 for strings.
pub(super) fn natural_width(ty: PhysicalType) -> usize {
    match ty {
        PhysicalType::Bool | PhysicalType::Int64 | PhysicalType::UInt64 | PhysicalType::Float64 => {
            8
        }
        PhysicalType::Decimal128(_) => 16,
        PhysicalType::Decimal256(_) => 32,
        PhysicalType::Bytes => 0,
    }
}

/// Whether the bytes from `width` on only extend the sign.
fn is_cut_safely<const N: usize>(bytes: &[u8; N], width: usize, signed: bool) -> bool {
    let is_negative = signed && bytes[width - 1] >= 0x80;
    let fill = if is_negative { 0xFF } else { 0 };
    bytes[width..].iter().all(|byte| *byte == fill)
}

fn extended<const N: usize>(bytes: &[u8], signed: bool) -> [u8; N] {
    let is_negative = signed && bytes.last().is_some_and(|last| *last >= 0x80);
    let mut whole = [if is_negative { 0xFF } else { 0 }; N];
    whole[..bytes.len()].copy_from_slice(bytes);
    whole
}

/// Writes a number into all of `out`; false if it does not fit.
#[inline]
pub(super) fn put(ty: PhysicalType, value: StoredValue<'_>, out: &mut [u8]) -> bool {
    let width = out.len();
    match value {
        StoredValue::Word(word) => {
            let bytes = word.to_le_bytes();
            out.copy_from_slice(&bytes[..width]);
            width == 8 || is_cut_safely(&bytes, width, ty == PhysicalType::Int64)
        }
        StoredValue::Decimal128(unscaled) => {
            let bytes = unscaled.to_le_bytes();
            out.copy_from_slice(&bytes[..width]);
            is_cut_safely(&bytes, width, true)
        }
        StoredValue::Decimal256(unscaled) => {
            let bytes = unscaled.to_le_bytes();
            out.copy_from_slice(&bytes[..width]);
            is_cut_safely(&bytes, width, true)
        }
        StoredValue::Null | StoredValue::Bytes(_) => false,
    }
}

/// Reads a number.
#[inline]
pub(super) fn get(ty: PhysicalType, bytes: &[u8]) -> StoredValue<'static> {
    match ty {
        PhysicalType::Decimal128(_) => {
            StoredValue::Decimal128(i128::from_le_bytes(extended(bytes, true)))
        }
        PhysicalType::Decimal256(_) => {
            StoredValue::Decimal256(i256::from_le_bytes(extended(bytes, true)))
        }
        _ => {
            let signed = ty == PhysicalType::Int64;
            StoredValue::Word(u64::from_le_bytes(extended(bytes, signed)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fit_into_as_many_bytes_as_they_need() {
        let fits = |value: i64, width: usize| {
            let mut out = vec![0; width];
            let word = StoredValue::Word(value.cast_unsigned());
            let fits = put(PhysicalType::Int64, word, &mut out);
            if fits {
                let StoredValue::Word(back) = get(PhysicalType::Int64, &out) else {
                    panic!("a word");
                };
                assert_eq!(back.cast_signed(), value);
            }
            fits
        };
        assert!(fits(-128, 1) && fits(127, 1) && !fits(128, 1) && !fits(-129, 1));
        assert!(fits(i64::MIN, 8) && fits(-8_388_608, 3) && !fits(8_388_608, 3));
        let mut out = [0; 3];
        let wide = StoredValue::Decimal128(-8_388_608);
        assert!(put(PhysicalType::Decimal128(2), wide, &mut out));
        let back = get(PhysicalType::Decimal128(2), &out);
        assert!(matches!(back, StoredValue::Decimal128(-8_388_608)));
        let unsigned = StoredValue::Word(255);
        assert!(put(PhysicalType::UInt64, unsigned, &mut out[..1]));
        let back = get(PhysicalType::UInt64, &out[..1]);
        assert!(matches!(back, StoredValue::Word(255)));
        let huge = StoredValue::Decimal256(i256::from_i128(i128::MIN));
        assert!(!put(PhysicalType::Decimal256(0), huge, &mut [0; 15]));
    }
}
