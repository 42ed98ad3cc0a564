//! CONV(n, from, to): a number between bases 2 and 36; a negative base means signed. BIN() and OCT() are CONV() from base 10.

use arrow_array::ArrayRef;
use mayfly_types::convert::shown;
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType, TypeKind};

use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// The 64 bits that a text begins with in a base, and whether all is well with them: text that is no
/// number is 0, and too large a number the largest.
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

/// The type that the number is read as: bits are a number, not the bytes that they are as text.
fn number_type(argument: &Argument<'_>, context: &SignatureContext) -> SqlType {
    match argument.ty.kind {
        TypeKind::Bit => SqlType::bigint_unsigned(),
        _ => derive::text_of(argument, context),
    }
}

/// The numbers of an argument of [`number_type`].
enum Source<'a> {
    Bits(input::UInts<'a>),
    Texts(input::Texts<'a>),
}

impl<'a> Source<'a> {
    fn new(column: &'a Column, ty: &SqlType) -> Result<Self> {
        Ok(match ty.kind {
            TypeKind::BigInt => Self::Bits(input::uints(column)?),
            _ => Self::Texts(input::texts(column)?),
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

/// CONV()
#[derive(Debug)]
pub(crate) struct Conv;

impl ScalarKernel for Conv {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let types = vec![
            number_type(&arguments[0], context),
            SqlType::bigint(),
            SqlType::bigint(),
        ];
        Ok(Signature::new(
            types,
            SqlType::varchar(65, context.collation_connection),
            true,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let numbers = Source::new(&arguments[0], &signature.arguments[0])?;
        let (from, to) = (input::ints(&arguments[1])?, input::ints(&arguments[2])?);
        output::texts(row_count, context, |row, out| {
            let (Some(from), Some(to)) = (from.get(row), to.get(row)) else {
                return Ok(false);
            };
            if !is_base(from) || !is_base(to) {
                return Ok(false);
            }
            let Some(value) = numbers.get(row, from, context) else {
                return Ok(false);
            };
            format(value, to, out);
            Ok(true)
        })
    }
}

/// BIN() or OCT().
#[derive(Debug)]
pub(crate) struct InBase {
    base: i64,
}

/// BIN()
pub(crate) static BIN: InBase = InBase { base: 2 };
/// OCT()
pub(crate) static OCT: InBase = InBase { base: 8 };

impl ScalarKernel for InBase {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let types = vec![number_type(&arguments[0], context)];
        Ok(Signature::new(
            types,
            SqlType::varchar(65, context.collation_connection),
            true,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let numbers = Source::new(&arguments[0], &signature.arguments[0])?;
        output::texts(row_count, context, |row, out| {
            let Some(value) = numbers.get(row, 10, context) else {
                return Ok(false);
            };
            format(value, self.base, out);
            Ok(true)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, i, t};

    #[test]
    fn values() {
        check(&[
            ("conv", &[t("a"), i(16), i(2)], "1010"),
            ("conv", &[t("6E"), i(18), i(8)], "172"),
            ("conv", &[i(-17), i(10), i(-18)], "-H"),
            ("conv", &[i(10), i(10), i(1)], "NULL"),
            ("conv", &[t("-1"), i(10), i(16)], "FFFFFFFFFFFFFFFF"),
            ("conv", &[t("zz"), i(10), i(2)], "0 +1292"),
            (
                "conv",
                &[t("-99999999999999999999"), i(10), i(16)],
                "0 +1292",
            ),
            ("bin", &[i(12)], "1100"),
            ("oct", &[i(12)], "14"),
        ]);
    }
}
