//! CONV(n, from, to): a number between bases 2 and 36; a negative base means signed. BIN() and OCT() are CONV() from base 10.

use arrow_array::ArrayRef;
use mayfly_types::convert::shown;
use mayfly_types::error::codes;
use mayfly_types::{Result, SessionParameters, SqlType, TypeKind};

use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::{Argument, Binding, Call, EvaluationContext, Signature, derive, input, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["conv"], 3..=3, signature, conv).with(&[Fact::StopsAtNull, Fact::ReadsIntegers(1)]),
    Row::new(&["bin"], 1..=1, signature, in_base::<2>).with(&[Fact::ReadsIntegers(1)]),
    Row::new(&["oct"], 1..=1, signature, in_base::<8>).with(&[Fact::ReadsIntegers(1)]),
];

/// Parses the 64-bit number that a text begins with in a base, and whether it was valid: an invalid text is 0, and
/// too large a number the maximum.
fn parse(text: &[u8], base: i64) -> Option<(u64, bool)> {
    let radix = u32::try_from(base.unsigned_abs()).ok()?;
    let text = text.trim_ascii_start();
    let (negative, digits) = match text.split_first() {
        Some((b'-', digits)) => (true, digits),
        Some((b'+', digits)) => (false, digits),
        _ => (false, text),
    };
    let mut value = 0_u64;
    let mut is_number = false;
    let mut fits = true;
    for digit in digits {
        let Some(digit) = char::from(*digit).to_digit(radix) else {
            break;
        };
        is_number = true;
        match value
            .checked_mul(u64::from(radix))
            .and_then(|value| value.checked_add(u64::from(digit)))
        {
            Some(larger) => value = larger,
            None => {
                value = u64::MAX;
                fits = false;
                break;
            }
        }
    }
    let bits = if base < 0 {
        let limit = if negative { 1 << 63 } else { i64::MAX as u64 };
        let value = value.min(limit);
        if negative {
            value.wrapping_neg()
        } else {
            value
        }
    } else if negative {
        if fits { value.wrapping_neg() } else { 0 }
    } else {
        value
    };
    Some((bits, is_number && fits))
}

/// The type that the number is read as: BIT is a number, not a binary string.
fn number_type(argument: &Argument<'_>, context: &SessionParameters) -> SqlType {
    match argument.ty.kind {
        TypeKind::Bit => SqlType::bigint_unsigned(),
        _ => derive::text_of(argument, context),
    }
}

/// The numbers of the first argument, of [`number_type`].
enum Source<'a> {
    Bits(input::UInts<'a>),
    Texts(input::Texts<'a>),
}

impl<'a> Source<'a> {
    fn new(call: &Call<'a>) -> Result<Self> {
        Ok(match call.ty(0).kind {
            TypeKind::BigInt => Self::Bits(call.uints(0)?),
            _ => Self::Texts(call.texts(0)?),
        })
    }

    fn get(&self, row: usize, base: i64, context: &EvaluationContext) -> Option<u64> {
        match self {
            Self::Bits(values) => values.get(row),
            Self::Texts(texts) => {
                let text = texts.get(row).filter(|text| !text.is_empty())?;
                let (value, is_right) = parse(text, base)?;
                if !is_right {
                    context.diagnostics.warn_with(|| {
                        codes::ER_TRUNCATED_WRONG_VALUE.with(&[&"DECIMAL", &shown(text)])
                    });
                }
                Some(value)
            }
        }
    }
}

/// Appends a number in a base; a negative base shows the sign.
fn format(value: u64, base: i64, out: &mut Vec<u8>) {
    let radix = base.unsigned_abs();
    let mut magnitude = value;
    if base < 0 && value.cast_signed() < 0 {
        out.push(b'-');
        magnitude = value.cast_signed().unsigned_abs();
    }
    let mut digits = [0_u8; 64];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(magnitude % radix) as usize];
        magnitude /= radix;
        if magnitude == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[first..]);
}

fn is_base(base: i64) -> bool {
    (2..=36).contains(&base.unsigned_abs())
}

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let mut types = vec![SqlType::bigint(); binding.arguments.len()];
    types[0] = number_type(&binding.arguments[0], binding.session);
    Ok(Signature::new(types, binding.string(65), true))
}

/// CONV()
fn conv(call: &Call<'_>) -> Result<ArrayRef> {
    let numbers = Source::new(call)?;
    let (from, to) = (call.ints(1)?, call.ints(2)?);
    output::texts(call, |row, out| {
        let (Some(from), Some(to)) = (from.get(row), to.get(row)) else {
            return Ok(false);
        };
        if !is_base(from) || !is_base(to) {
            return Ok(false);
        }
        let value = numbers.get(row, from, call.context);
        value.inspect(|value| format(*value, to, out));
        Ok(value.is_some())
    })
}

/// BIN() or OCT()
fn in_base<const BASE: i64>(call: &Call<'_>) -> Result<ArrayRef> {
    let numbers = Source::new(call)?;
    output::texts(call, |row, out| {
        let value = numbers.get(row, 10, call.context);
        value.inspect(|value| format(*value, BASE, out));
        Ok(value.is_some())
    })
}
