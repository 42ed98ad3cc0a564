//! Any value to the text that a client shows and that CAST(... AS CHAR) gives.

use arrow_array::Array;

use super::float_text::{append_double, append_float};
use super::source::{Datum, Source};
use crate::decimal::text::{append_i64, append_i256, append_u64};
use crate::json::displayed;
use crate::sql_type::{SqlType, TypeKind};
use crate::temporal::{append_date, append_datetime, append_time};
use crate::value::Value;

/// Pads the text appended since `start` with leading zeros up to a width.
fn fill_zeros(out: &mut Vec<u8>, start: usize, width: u32) {
    let missing = (width as usize).saturating_sub(out.len() - start);
    out.splice(start..start, std::iter::repeat_n(b'0', missing));
}

/// The members of a SET value, separated by commas.
fn append_set(out: &mut Vec<u8>, bits: u64, members: &[String]) {
    let chosen = members
        .iter()
        .take(64)
        .enumerate()
        .filter(|(index, _)| bits >> index & 1 == 1);
    for (place, (_, member)) in chosen.enumerate() {
        if place > 0 {
            out.push(b',');
        }
        out.extend_from_slice(member.as_bytes());
    }
}

/// Appends the text of a value that is not NULL.
pub fn append_text(out: &mut Vec<u8>, datum: Datum<'_>, sql_type: &SqlType) {
    let start = out.len();
    match (sql_type.kind, datum) {
        (TypeKind::Date, Datum::Int(packed)) => append_date(out, packed),
        (TypeKind::DateTime | TypeKind::Timestamp, Datum::Int(packed)) => {
            append_datetime(out, packed, sql_type.decimals);
        }
        (TypeKind::Time, Datum::Int(micros)) => append_time(out, micros, sql_type.decimals),
        (TypeKind::Float, Datum::Float(value)) => append_float(out, value, sql_type.decimals),
        (TypeKind::Year, Datum::UInt(year)) => {
            append_u64(out, year);
            fill_zeros(out, start, 4);
        }
        (TypeKind::Bit, Datum::UInt(bits)) => {
            let length = sql_type.length.div_ceil(8).clamp(1, 8) as usize;
            out.extend_from_slice(&bits.to_be_bytes()[8 - length..]);
        }
        (TypeKind::Enum, Datum::UInt(index)) => {
            let member = usize::try_from(index)
                .ok()
                .and_then(|index| sql_type.members.get(index.checked_sub(1)?));
            out.extend_from_slice(member.map_or(&[], |member| member.as_bytes()));
        }
        (TypeKind::Set, Datum::UInt(bits)) => append_set(out, bits, &sql_type.members),
        (_, Datum::Int(value)) => append_i64(out, value),
        (_, Datum::UInt(value)) => append_u64(out, value),
        (_, Datum::Float(value)) => append_double(out, value, sql_type.decimals),
        (_, Datum::Decimal(value)) => append_i256(out, value.unscaled, value.scale),
        (TypeKind::Json, Datum::Bytes(document)) => out.extend_from_slice(&displayed(document)),
        (_, Datum::Bytes(bytes)) => out.extend_from_slice(bytes),
    }
    if sql_type.zerofill {
        let width = match sql_type.kind {
            TypeKind::Decimal => sql_type.length + u32::from(sql_type.decimals > 0),
            _ => sql_type.length,
        };
        fill_zeros(out, start, width);
    }
}

/// Appends the text of a value; `false` for NULL, which has none.
#[inline]
pub fn append_value(out: &mut Vec<u8>, value: &Value, sql_type: &SqlType) -> bool {
    match Datum::of(value) {
        Some(datum) => {
            append_text(out, datum, sql_type);
            true
        }
        None => false,
    }
}

/// The text of a value; `None` for NULL.
pub fn format_value(value: &Value, sql_type: &SqlType) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    append_value(&mut out, value, sql_type).then_some(out)
}

/// Prints the values of one column.
#[derive(Debug, Clone, Copy)]
pub struct ColumnFormatter<'a> {
    source: Source<'a>,
    sql_type: &'a SqlType,
}

impl<'a> ColumnFormatter<'a> {
    /// A formatter for an array of a type.
    pub fn new(array: &'a dyn Array, sql_type: &'a SqlType) -> Self {
        Self {
            source: Source::new(array),
            sql_type,
        }
    }

    /// Appends the text of a row; `false` for NULL, which has none.
    pub fn append(&self, row: usize, out: &mut Vec<u8>) -> bool {
        match self.source.get(row) {
            Some(datum) => {
                append_text(out, datum, self.sql_type);
                true
            }
            None => false,
        }
    }
}
