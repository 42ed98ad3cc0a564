//! WEIGHT_STRING(x): the bytes by which a text is compared and sorted, those of a whole number or a moment
//! that MySQL sorts them by, NULL of another number. The parser makes `AS CHAR(n)` a second argument, and
//! `AS BINARY(n)` a cast of the first.

use arrow_array::ArrayRef;
use mayfly_types::temporal::DateTime;
use mayfly_types::{CollationId, Result, SqlType, TypeKind};

use crate::scalar::ScalarKernel;
use crate::scalar::strings::chars;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// The bytes of a number's key, and the least that a result is told to have.
const NUMBER_BYTES: u64 = 8;

/// WEIGHT_STRING()
#[derive(Debug)]
pub(crate) struct WeightString;

impl ScalarKernel for WeightString {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let mut ty = arguments[0].ty.clone();
        if ty.kind == TypeKind::Boolean {
            ty = SqlType::bigint();
        }
        let bytes = match is_text(&ty) {
            true => {
                let width = derive::bytes_per_character(ty.collation);
                let bytes = derive::character_length(&ty).saturating_mul(width);
                collation(&ty).weights_length(bytes)
            }
            false => 0,
        };
        let mut types = vec![ty];
        types.extend(arguments[1..].iter().map(|_| SqlType::bigint()));
        let result = derive::string_type(bytes.max(NUMBER_BYTES), CollationId::BINARY);
        Ok(Signature::new(types, result, true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let ty = &signature.arguments[0];
        if is_text(ty) {
            let most = arguments.get(1).map(input::any_ints).transpose()?;
            let texts = input::texts(&arguments[0])?;
            return output::texts(row_count, context, |row, out| {
                let Some(text) = texts.get(row) else {
                    return Ok(false);
                };
                let most = most.as_ref().and_then(|most| most.get(row));
                let most = most.map(|most| usize::try_from(most).unwrap_or(0));
                // A character of one byte, or one that is added, weighs no less than a byte.
                if collation(ty).collation().pad_space
                    && !chars::within_packet(most.unwrap_or(0), NAME, context)?
                {
                    return Ok(false);
                }
                collation(ty).append_weights(text, most, out);
                chars::within_packet(out.len(), NAME, context)
            });
        }
        let key: fn(i64) -> u64 = match ty.kind {
            TypeKind::Date => |date| signed(date_key(date)),
            TypeKind::DateTime | TypeKind::Timestamp => |moment| signed(moment_key(moment)),
            TypeKind::Time => |time| signed(time_key(time)),
            TypeKind::Bit | TypeKind::Year => |value| value as u64,
            TypeKind::Enum | TypeKind::Set => signed,
            _ if ty.is_integer() && ty.unsigned => |value| value as u64,
            _ if ty.is_integer() => signed,
            _ => return Ok(output::nulls(&signature.result, row_count)),
        };
        let values = input::any_ints(&arguments[0])?;
        output::texts(row_count, context, |row, out| {
            let value = values.get(row);
            if let Some(value) = value {
                out.extend_from_slice(&key(value as i64).to_be_bytes());
            }
            Ok(value.is_some())
        })
    }
}

const NAME: &str = "weight_string";

fn is_text(ty: &SqlType) -> bool {
    ty.is_string() || ty.kind == TypeKind::Json
}

/// The collation whose weights are shown: a document is its text.
fn collation(ty: &SqlType) -> CollationId {
    match ty.kind {
        TypeKind::Json => CollationId::UTF8MB4_BIN,
        _ => ty.collation,
    }
}

/// A signed number in the order of unsigned ones.
fn signed(number: i64) -> u64 {
    number as u64 ^ 1 << 63
}

fn date_key(packed: i64) -> i64 {
    let date = DateTime::unpack(packed);
    i64::from(date.year) << 9 | i64::from(date.month) << 5 | i64::from(date.day)
}

/// Hours, minutes and seconds with the bits of microseconds behind them.
fn clock_key(hours: i64, minutes: i64, seconds: i64, microseconds: i64) -> i64 {
    (hours << 12 | minutes << 6 | seconds) << 24 | microseconds
}

fn moment_key(packed: i64) -> i64 {
    let moment = DateTime::unpack(packed);
    let months = i64::from(moment.year) * 13 + i64::from(moment.month);
    let (hour, minute, second) = (moment.hour, moment.minute, moment.second);
    let clock = clock_key(
        hour.into(),
        minute.into(),
        second.into(),
        moment.microsecond.into(),
    );
    (months << 5 | i64::from(moment.day)) << 41 | clock
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

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, b, check, i, t};

    #[test]
    fn values() {
        check(&[
            ("weight_string", &[t("aB")], "0x1C471C60"),
            ("weight_string", &[t("aB"), i(1)], "0x1C47"),
            ("weight_string", &[b(b"aB")], "aB"),
            ("weight_string", &[b(b"aB"), i(1)], "a"),
            ("weight_string", &[i(5)], "0x8000000000000005"),
            ("weight_string", &[NULL], "NULL"),
        ]);
    }
}
