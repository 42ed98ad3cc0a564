//! The bit operators `&`, `|`, `^`, `<<`, `>>` and `~`: on 64-bit integers, and on binary strings of
//! equal length when such a string that is no literal takes part (the manual, "Bit Functions and Operators").

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, SqlType, TypeKind};

use super::numeric;
use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// An operator of two operands that combines bits place by place.
#[derive(Debug)]
pub(crate) struct BitOperator {
    integers: fn(u64, u64) -> u64,
    bytes: fn(u8, u8) -> u8,
}

/// `&`
pub(crate) static AND: BitOperator = BitOperator {
    integers: |a, b| a & b,
    bytes: |a, b| a & b,
};
/// `|`
pub(crate) static OR: BitOperator = BitOperator {
    integers: |a, b| a | b,
    bytes: |a, b| a | b,
};
/// `^`
pub(crate) static XOR: BitOperator = BitOperator {
    integers: |a, b| a ^ b,
    bytes: |a, b| a ^ b,
};

/// A literal written x'41' or b'1' is a VARBINARY, and a number here; `_binary'a'` is a BINARY.
fn works_on_bytes(arguments: &[Argument<'_>]) -> bool {
    let is_bytes = |argument: &Argument<'_>| {
        argument.ty.is_binary_string() || argument.ty.kind == TypeKind::Null
    };
    arguments.iter().all(is_bytes)
        && arguments
            .iter()
            .any(|argument| argument.ty.is_binary_string() && !numeric::is_hexadecimal(argument))
}

fn integer_signature(arguments: &[Argument<'_>]) -> Signature {
    let types = arguments
        .iter()
        .map(|argument| numeric::integer_argument(argument.ty))
        .collect();
    Signature::new(
        types,
        SqlType {
            length: 21,
            ..SqlType::bigint_unsigned()
        },
        derive::any_nullable(arguments),
    )
}

/// Bits of an integer argument, whatever its sign.
fn bits(column: &Column) -> Result<impl Fn(usize) -> Option<u64>> {
    let values = input::any_ints(column)?;
    Ok(move |row| values.get(row).map(|value| value as u64))
}

impl ScalarKernel for BitOperator {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        if !works_on_bytes(arguments) {
            return Ok(integer_signature(arguments));
        }
        let longest = arguments
            .iter()
            .map(|argument| argument.ty.length)
            .max()
            .unwrap_or(0);
        let types = arguments
            .iter()
            .map(|argument| argument.ty.clone())
            .map(|ty| {
                if ty.is_string() {
                    ty
                } else {
                    SqlType::varchar(0, CollationId::BINARY)
                }
            })
            .collect();
        Ok(Signature::new(
            types,
            derive::string_type(u64::from(longest), CollationId::BINARY),
            derive::any_nullable(arguments),
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        if !signature.result.is_string() {
            let (left, right) = (bits(&arguments[0])?, bits(&arguments[1])?);
            return output::uints(row_count, |row| {
                Ok(left(row)
                    .zip(right(row))
                    .map(|(a, b)| (self.integers)(a, b)))
            });
        }
        let (left, right) = (input::texts(&arguments[0])?, input::texts(&arguments[1])?);
        output::texts(row_count, context, |row, buffer| {
            let (Some(a), Some(b)) = (left.get(row), right.get(row)) else {
                return Ok(false);
            };
            if a.len() != b.len() {
                return Err(codes::ER_INVALID_BITWISE_OPERANDS_SIZE.error());
            }
            buffer.extend(a.iter().zip(b).map(|(a, b)| (self.bytes)(*a, *b)));
            Ok(true)
        })
    }
}

/// `<<` and `>>`: bits leave at one end and zeros enter at the other.
#[derive(Debug)]
pub(crate) struct Shift {
    left: bool,
}

/// `<<`
pub(crate) static SHIFT_LEFT: Shift = Shift { left: true };
/// `>>`
pub(crate) static SHIFT_RIGHT: Shift = Shift { left: false };

impl ScalarKernel for Shift {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let mut signature = integer_signature(arguments);
        if works_on_bytes(&arguments[..1]) {
            signature.arguments[0] = arguments[0].ty.clone();
            signature.result =
                derive::string_type(u64::from(arguments[0].ty.length), CollationId::BINARY);
        }
        Ok(signature)
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let places = bits(&arguments[1])?;
        if !signature.result.is_string() {
            let values = bits(&arguments[0])?;
            return output::uints(row_count, |row| {
                let (Some(value), Some(places)) = (values(row), places(row)) else {
                    return Ok(None);
                };
                let places = u32::try_from(places).unwrap_or(u32::MAX);
                let shifted = if self.left {
                    value.checked_shl(places)
                } else {
                    value.checked_shr(places)
                };
                Ok(Some(shifted.unwrap_or(0)))
            });
        }
        let values = input::texts(&arguments[0])?;
        output::texts(row_count, context, |row, buffer| {
            let (Some(value), Some(places)) = (values.get(row), places(row)) else {
                return Ok(false);
            };
            shift_bytes(value, places, self.left, buffer);
            Ok(true)
        })
    }
}

fn shift_bytes(value: &[u8], places: u64, left: bool, out: &mut Vec<u8>) {
    let whole = usize::try_from(places / 8).unwrap_or(usize::MAX);
    let part = (places % 8) as u32;
    let at = |index: Option<usize>| {
        index
            .and_then(|index| value.get(index))
            .map_or(0, |byte| u16::from(*byte))
    };
    for index in 0..value.len() {
        let byte = if left {
            let from = index.checked_add(whole);
            let next = from.and_then(|from| from.checked_add(1));
            (((at(from) << 8 | at(next)) << part) >> 8) as u8
        } else {
            let from = index.checked_sub(whole);
            let before = from.and_then(|from| from.checked_sub(1));
            ((at(before) << 8 | at(from)) >> part) as u8
        };
        out.push(byte);
    }
}

/// `~`
#[derive(Debug)]
pub(crate) struct Complement;

impl ScalarKernel for Complement {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let mut signature = integer_signature(arguments);
        if works_on_bytes(arguments) {
            signature.arguments[0] = arguments[0].ty.clone();
            signature.result =
                derive::string_type(u64::from(arguments[0].ty.length), CollationId::BINARY);
        }
        Ok(signature)
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        if !signature.result.is_string() {
            let values = bits(&arguments[0])?;
            return output::uints(row_count, |row| Ok(values(row).map(|value| !value)));
        }
        let values = input::texts(&arguments[0])?;
        output::texts(row_count, context, |row, buffer| {
            let Some(value) = values.get(row) else {
                return Ok(false);
            };
            buffer.extend(value.iter().map(|byte| !byte));
            Ok(true)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{NULL, check, i, u};

    #[test]
    fn values() {
        check(&[
            ("&", &[i(29), i(15)], "13"),
            ("|", &[i(29), i(15)], "31"),
            ("^", &[i(11), i(3)], "8"),
            ("<<", &[i(1), i(2)], "4"),
            ("<<", &[i(1), i(64)], "0"),
            (">>", &[i(4), i(2)], "1"),
            ("~", &[i(5)], "18446744073709551610"),
            ("&", &[i(-1), u(255)], "255"),
            ("&", &[NULL, i(1)], "NULL"),
        ]);
    }

    #[test]
    fn bytes_shift_across_their_borders() {
        let shifted = |places, left| {
            let mut out = Vec::new();
            super::shift_bytes(&[0b1000_0001, 0b1100_0011], places, left, &mut out);
            out
        };
        assert_eq!(shifted(1, true), [0b0000_0011, 0b1000_0110]);
        assert_eq!(shifted(9, false), [0, 0b0100_0000]);
        assert_eq!(shifted(16, true), [0, 0]);
    }
}
