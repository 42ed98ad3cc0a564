//! Storing in ENUM and SET columns.

use super::context::StoreContext;
use crate::collation::trim_spaces;
use crate::convert::number::parse_integer;
use crate::convert::source::Datum;
use crate::convert::text::append_text;
use crate::error::Result;
use crate::sql_type::{SqlType, TypeKind};

/// The index of a member among those of a type, from 0, by its collation.
fn find(to: &SqlType, text: &[u8]) -> Option<usize> {
    let mut members = to.members.iter();
    let exact = members.position(|member| member.as_bytes() == text);
    exact.or_else(|| {
        let mut members = to.members.iter();
        members.position(|member| to.collation.equals(member.as_bytes(), text))
    })
}

/// The text that a value is looked up by; `None` when the value is an index.
fn text_of<'a>(datum: Datum<'a>, from: &SqlType, buffer: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    let text = match datum {
        Datum::Bytes(bytes) if from.kind != TypeKind::Json => bytes,
        _ if from.is_numeric() => return None,
        _ => {
            append_text(buffer, datum, from);
            buffer
        }
    };
    Some(trim_spaces(text))
}

/// A number cut to an integer.
fn number_of(datum: Datum<'_>) -> i128 {
    match datum {
        Datum::Int(value) => i128::from(value),
        Datum::UInt(value) => i128::from(value),
        Datum::Float(value) => value as i128,
        Datum::Decimal(value) => value.truncate(0).unscaled.to_i128().unwrap_or(-1),
        Datum::Bytes(_) => -1,
    }
}

/// The number that a text consists of; `None` where it is not a number.
fn number_in(text: &[u8]) -> Option<i128> {
    let parsed = parse_integer(text);
    (parsed.consumed == text.len() && !text.is_empty() && !parsed.overflow).then_some(parsed.value)
}

/// The index of an ENUM value; 0 is the error value.
pub(super) fn enumeration(
    datum: Datum<'_>,
    from: &SqlType,
    to: &SqlType,
    context: &StoreContext<'_>,
) -> Result<u64> {
    if let Datum::UInt(index) = datum
        && from.kind == TypeKind::Enum
        && (from.members == to.members || index == 0)
    {
        return Ok(index);
    }
    let mut buffer = Vec::new();
    let number = match text_of(datum, from, &mut buffer) {
        None => number_of(datum),
        Some(text) => match find(to, text) {
            Some(index) => return Ok(index as u64 + 1),
            None => number_in(text).unwrap_or(0),
        },
    };
    if number < 1 || number > to.members.len() as i128 {
        context.truncated()?;
        return Ok(0);
    }
    Ok(number as u64)
}

/// The bits of a SET value.
pub(super) fn set(
    datum: Datum<'_>,
    from: &SqlType,
    to: &SqlType,
    context: &StoreContext<'_>,
) -> Result<u64> {
    let mut buffer = Vec::new();
    let has_spaces = matches!(datum, Datum::Bytes(bytes) if bytes.ends_with(b" "));
    let number = match text_of(datum, from, &mut buffer) {
        None => number_of(datum),
        Some(b"") => 0,
        Some(text) => {
            let mut bits = 0_u64;
            let mut all_found = true;
            for part in text.split(|byte| *byte == b',') {
                match find(to, part) {
                    Some(index) if index < 64 => bits |= 1 << index,
                    _ => all_found = false,
                }
            }
            if all_found {
                return Ok(bits);
            }
            match number_in(text) {
                // A number has no spaces behind it.
                Some(number) if !has_spaces => number,
                _ => {
                    context.truncated()?;
                    return Ok(bits);
                }
            }
        }
    };
    let mask = match to.members.len() {
        count @ 0..64 => (1_u64 << count) - 1,
        _ => u64::MAX,
    };
    if number < 0 || number > i128::from(mask) {
        context.truncated()?;
    }
    Ok(number as u64 & mask)
}
