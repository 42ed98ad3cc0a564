//! WEIGHT_STRING(x): the sort key of a text by its collation, or MySQL's sort key of an integer or temporal value;
//! NULL for other numbers. The parser makes `AS CHAR(n)` a second argument, and `AS BINARY(n)` a cast of the first.

use arrow_array::ArrayRef;
use mayfly_types::temporal::DateTime;
use mayfly_types::{CollationId, Result, SqlType, TypeKind, Value};

use crate::scalar::Row;
use crate::{Binding, Call, Signature, derive, input, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["weight_string"], 1..=2, signature, evaluate)];

/// Bytes of a number's sort key, the shortest result type.
const NUMBER_BYTES: u64 = 8;

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let mut ty = binding.arguments[0].ty.clone();
    if ty.kind == TypeKind::Boolean {
        ty = SqlType::bigint();
    }
    // CHAR(n) pads the text to `n` characters.
    let filled = match binding.arguments.get(1).and_then(|most| most.constant) {
        Some(Value::Int(most)) => u64::try_from(*most).unwrap_or(0),
        _ => 0,
    };
    let bytes = if is_text(&ty) {
        collation(&ty).weights_length(derive::byte_length(&ty).max(filled))
    } else {
        0
    };
    let mut types = vec![SqlType::bigint(); binding.arguments.len()];
    types[0] = ty;
    let result = derive::string_type(bytes.max(NUMBER_BYTES), CollationId::BINARY);
    Ok(Signature::new(types, result, true))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let ty = call.ty(0);
    if is_text(ty) {
        let most = call.optional(1, input::any_ints)?;
        let texts = call.texts(0)?;
        return output::texts(call, |row, out| {
            let Some(text) = texts.get(row) else {
                return Ok(false);
            };
            let most = most.as_ref().and_then(|most| most.get(row));
            let most = most.map(|most| usize::try_from(most).unwrap_or(0));
            // A character of one byte, or a padding one, has a weight of at least one byte.
            if collation(ty).collation().pad_space && !call.within_packet(most.unwrap_or(0))? {
                return Ok(false);
            }
            collation(ty).append_weights(text, most, out);
            call.within_packet(out.len())
        });
    }
    let key: fn(i64) -> u64 = match ty.kind {
        TypeKind::Date => |date| signed(date_key(date)),
        TypeKind::DateTime | TypeKind::Timestamp => |value| signed(datetime_key(value)),
        TypeKind::Time => |time| signed(time_key(time)),
        TypeKind::Bit | TypeKind::Year => |value| value as u64,
        TypeKind::Enum | TypeKind::Set => signed,
        _ if ty.is_integer() && ty.unsigned => |value| value as u64,
        _ if ty.is_integer() => signed,
        _ => return Ok(output::nulls(&call.signature.result, call.rows)),
    };
    let values = call.any_ints(0)?;
    output::texts(call, |row, out| {
        let value = values.get(row);
        if let Some(value) = value {
            out.extend_from_slice(&key(value as i64).to_be_bytes());
        }
        Ok(value.is_some())
    })
}

fn is_text(ty: &SqlType) -> bool {
    ty.is_string() || ty.kind == TypeKind::Json
}

/// The collation of the weights: JSON has its text's.
fn collation(ty: &SqlType) -> CollationId {
    match ty.kind {
        TypeKind::Json => CollationId::UTF8MB4_BIN,
        _ => ty.collation,
    }
}

/// A signed number mapped to the order of unsigned ones.
fn signed(number: i64) -> u64 {
    number as u64 ^ 1 << 63
}

fn date_key(packed: i64) -> i64 {
    let date = DateTime::unpack(packed);
    i64::from(date.year) << 9 | i64::from(date.month) << 5 | i64::from(date.day)
}

/// Hours, minutes and seconds, followed by the bits of microseconds.
fn clock_key(hours: i64, minutes: i64, seconds: i64, microseconds: i64) -> i64 {
    (hours << 12 | minutes << 6 | seconds) << 24 | microseconds
}

fn datetime_key(packed: i64) -> i64 {
    let value = DateTime::unpack(packed);
    let months = i64::from(value.year) * 13 + i64::from(value.month);
    let (hour, minute, second) = (value.hour.into(), value.minute.into(), value.second.into());
    let clock = clock_key(hour, minute, second, value.microsecond.into());
    (months << 5 | i64::from(value.day)) << 41 | clock
}

fn time_key(microseconds: i64) -> i64 {
    let absolute = microseconds.abs();
    let seconds = absolute / 1_000_000;
    let clock = clock_key(
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
        absolute % 1_000_000,
    );
    let key = if microseconds < 0 { !clock } else { clock };
    key + (1 << 47)
}
