//! Arrays of the values of columns, each value from its field.

use std::sync::Arc;

use arrow_array::builder::BinaryViewBuilder;
use arrow_array::{
    ArrayRef, Decimal128Array, Decimal256Array, Float64Array, Int64Array, UInt64Array,
};
use arrow_buffer::{Buffer, i256};
use mayfly_engine::{DateTime, parse_decimal};

use super::fields::Field;
use super::guess::Kind;
use super::literals::{Number, boolean, date, time};

/// The values of a column of some rows.
pub(crate) enum Values {
    Int(Kind, Vec<Option<i64>>),
    UInt(Vec<Option<u64>>),
    Double(Vec<Option<f64>>),
    /// Up to 38 digits, with the scale.
    Decimal(u8, Vec<Option<i128>>),
    /// More digits.
    Wide(u8, Vec<Option<i256>>),
    /// Texts, which are parts of the block where it has them as they are.
    Text(BinaryViewBuilder, u32),
}

impl Values {
    /// Without values; `text` is the block that fields are parts of.
    pub(crate) fn new(kind: Kind, text: &Buffer, rows: usize) -> Self {
        match kind {
            Kind::UInt => Self::UInt(Vec::with_capacity(rows)),
            Kind::Double => Self::Double(Vec::with_capacity(rows)),
            Kind::Decimal(0..=38, scale) => Self::Decimal(scale, Vec::with_capacity(rows)),
            Kind::Decimal(_, scale) => Self::Wide(scale, Vec::with_capacity(rows)),
            Kind::Text(_) => {
                let mut texts = BinaryViewBuilder::with_capacity(rows);
                let block = texts.append_block(text.clone());
                Self::Text(texts, block)
            }
            _ => Self::Int(kind, Vec::with_capacity(rows)),
        }
    }

    /// Adds the value of a field; `None` for NULL. False if the field is no value of the column.
    pub(crate) fn add(&mut self, field: Option<&Field<'_>>, text: &Buffer) -> bool {
        let bytes = field.map(Field::bytes);
        match self {
            Self::Int(kind, values) => push(values, bytes, |bytes| integer(*kind, bytes)),
            Self::UInt(values) => push(values, bytes, |bytes| as_text(bytes)?.parse().ok()),
            Self::Double(values) => push(values, bytes, |bytes| as_text(bytes)?.parse().ok()),
            Self::Decimal(scale, values) => push(values, bytes, |bytes| decimal(bytes, *scale)),
            Self::Wide(scale, values) => push(values, bytes, |bytes| {
                Some(parse_decimal(bytes).value.rescale(*scale).ok()?.unscaled)
            }),
            Self::Text(texts, block) => {
                let Some(bytes) = bytes else {
                    texts.append_null();
                    return true;
                };
                let offset = (bytes.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
                let is_part = offset
                    .checked_add(bytes.len())
                    .is_some_and(|end| end <= text.len());
                let place = u32::try_from(offset)
                    .ok()
                    .zip(u32::try_from(bytes.len()).ok());
                match place.filter(|_| is_part && bytes.len() > INLINE) {
                    Some((offset, length)) => texts.try_append_view(*block, offset, length).is_ok(),
                    None => texts.try_append_value(bytes).is_ok(),
                }
            }
        }
    }

    pub(crate) fn finish(self) -> ArrayRef {
        match self {
            Self::Int(_, values) => Arc::new(Int64Array::from(values)),
            Self::UInt(values) => Arc::new(UInt64Array::from(values)),
            Self::Double(values) => Arc::new(Float64Array::from(values)),
            Self::Decimal(scale, values) => {
                let array = Decimal128Array::from(values);
                let ty = mayfly_engine::PhysicalType::Decimal128(scale).arrow();
                Arc::new(array.with_data_type(ty))
            }
            Self::Wide(scale, values) => {
                let array = Decimal256Array::from(values);
                let ty = mayfly_engine::PhysicalType::Decimal256(scale).arrow();
                Arc::new(array.with_data_type(ty))
            }
            Self::Text(mut texts, _) => Arc::new(texts.finish()),
        }
    }
}

/// The longest text that a view holds itself.
const INLINE: usize = 12;

fn push<T>(
    values: &mut Vec<Option<T>>,
    bytes: Option<&[u8]>,
    value: impl FnOnce(&[u8]) -> Option<T>,
) -> bool {
    match bytes {
        None => values.push(None),
        Some(bytes) => match value(bytes) {
            None => return false,
            value => values.push(value),
        },
    }
    true
}

fn as_text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// A value that is held as a signed integer.
fn integer(kind: Kind, bytes: &[u8]) -> Option<i64> {
    match kind {
        Kind::Bool => boolean(bytes).map(i64::from),
        Kind::Date(order) => {
            let (year, month, day) = date(bytes, order)?;
            Some(DateTime::date(year, month, day).pack())
        }
        Kind::DateTime(order, _) => {
            let split = bytes.iter().position(|byte| matches!(byte, b' ' | b'T'));
            let (day, micros) = match split {
                None => (bytes, 0),
                Some(at) => (&bytes[..at], time(&bytes[at + 1..])?.0),
            };
            let (year, month, day) = date(day, order)?;
            let date = DateTime::date(year, month, day);
            Some(date.with_time_of_day(micros).pack())
        }
        Kind::Time(_) => time(bytes).map(|(micros, _)| micros),
        _ => whole(bytes),
    }
}

/// A whole number.
fn whole(bytes: &[u8]) -> Option<i64> {
    let (negative, digits) = match bytes {
        [b'-', digits @ ..] => (true, digits),
        _ => (false, bytes),
    };
    if digits.is_empty() || digits.len() > 18 || !digits.iter().all(u8::is_ascii_digit) {
        return as_text(bytes)?.parse().ok();
    }
    let number = digits
        .iter()
        .fold(0, |it, digit| it * 10 + i64::from(digit - b'0'));
    Some(if negative { -number } else { number })
}

/// The digits of a number with a scale that it does not exceed.
fn decimal(bytes: &[u8], scale: u8) -> Option<i128> {
    let number = Number::of(bytes)?;
    let missing = usize::from(scale).checked_sub(number.fraction.len())?;
    if number.whole.len() + usize::from(scale) > 38 {
        return None;
    }
    let digits = number.whole.iter().chain(number.fraction);
    let digits = digits.fold(0_i128, |it, digit| it * 10 + i128::from(digit - b'0'));
    let digits = digits * 10_i128.pow(u32::try_from(missing).ok()?);
    Some(if number.negative { -digits } else { digits })
}
