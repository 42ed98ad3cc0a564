//! The bit operators `&`, `|`, `^`, `<<`, `>>` and `~`: on 64-bit integers, and on binary strings of equal length
//! when a binary string other than a literal takes part (the manual, "Bit Functions and Operators").

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, SqlType, TypeKind};

use super::numeric;
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters, Printed};
use crate::{Argument, Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["~"], 1..=1, unary_signature, complement).strict_of_bytes(),
    Row::new(&["&"], 2..=2, binary_signature, |call| {
        combine(call, |a, b| a & b, |a, b| a & b)
    })
    .with(&[Fact::StopsAtNull, Fact::Strict])
    .parameters(Parameters::OfOthers(ParameterType::Bytes))
    .printed(Printed::Infix("&")),
    Row::new(&["|"], 2..=2, binary_signature, |call| {
        combine(call, |a, b| a | b, |a, b| a | b)
    })
    .with(&[Fact::StopsAtNull, Fact::Strict])
    .parameters(Parameters::OfOthers(ParameterType::Bytes))
    .printed(Printed::Infix("|")),
    Row::new(&["^"], 2..=2, binary_signature, |call| {
        combine(call, |a, b| a ^ b, |a, b| a ^ b)
    })
    .with(&[Fact::StopsAtNull, Fact::Strict])
    .parameters(Parameters::OfOthers(ParameterType::Bytes))
    .printed(Printed::Infix("^")),
    Row::new(&["<<"], 2..=2, unary_signature, shift::<true>)
        .with(&[Fact::StopsAtNull, Fact::Strict])
        .parameters(Parameters::Typed(&[(ParameterType::Bytes, 0..1)]))
        .printed(Printed::Infix("<<")),
    Row::new(&[">>"], 2..=2, unary_signature, shift::<false>)
        .with(&[Fact::StopsAtNull, Fact::Strict])
        .parameters(Parameters::Typed(&[(ParameterType::Bytes, 0..1)]))
        .printed(Printed::Infix(">>")),
];

/// Whether an operator works on binary strings. A literal x'41' or b'1' is a VARBINARY, and a number here;
/// `_binary'a'` is a BINARY.
fn works_on_bytes(arguments: &[Argument<'_>]) -> bool {
    let is_bytes = |argument: &Argument<'_>| {
        argument.ty.is_binary_string() || argument.ty.kind == TypeKind::Null
    };
    arguments.iter().all(is_bytes)
        && arguments
            .iter()
            .any(|argument| argument.ty.is_binary_string() && !derive::is_hexadecimal(argument))
}

fn integer_signature(binding: &Binding<'_>) -> Signature {
    let types = binding.each(numeric::bits_argument);
    Signature::new(types, derive::unsigned_bigint(), binding.any_nullable())
}

/// The types of an operator that changes the bits of its first operand.
fn unary_signature(binding: &Binding<'_>) -> Result<Signature> {
    let mut signature = integer_signature(binding);
    if works_on_bytes(&binding.arguments[..1]) {
        let ty = binding.arguments[0].ty;
        signature.arguments[0] = ty.clone();
        signature.result = derive::string_type(u64::from(ty.length), CollationId::BINARY);
    }
    Ok(signature)
}

/// The types of an operator that combines two operands bit by bit.
fn binary_signature(binding: &Binding<'_>) -> Result<Signature> {
    if !works_on_bytes(binding.arguments) {
        return Ok(integer_signature(binding));
    }
    let lengths = binding.arguments.iter().map(|argument| argument.ty.length);
    let longest = lengths.max().unwrap_or(0);
    let types = binding.each(|argument| match argument.ty.kind {
        TypeKind::Null => SqlType::varchar(0, CollationId::BINARY),
        _ => argument.ty.clone(),
    });
    let result = derive::string_type(u64::from(longest), CollationId::BINARY);
    Ok(Signature::new(types, result, binding.any_nullable()))
}

/// The 64 bits of an integer argument of either signedness.
fn bits<'a>(call: &Call<'a>, index: usize) -> Result<impl Fn(usize) -> Option<u64> + use<'a>> {
    let values = call.any_ints(index)?;
    Ok(move |row| values.get(row).map(|value| value as u64))
}

/// `&`, `|` or `^`, of integers and of binary strings.
fn combine(
    call: &Call<'_>,
    integers: impl Fn(u64, u64) -> u64,
    bytes: impl Fn(u8, u8) -> u8,
) -> Result<ArrayRef> {
    if !call.signature.result.is_string() {
        let (left, right) = (bits(call, 0)?, bits(call, 1)?);
        return output::uints(call.rows, |row| {
            Ok(left(row).zip(right(row)).map(|(a, b)| integers(a, b)))
        });
    }
    let (left, right) = (call.texts(0)?, call.texts(1)?);
    output::texts(call, |row, buffer| {
        let (Some(a), Some(b)) = (left.get(row), right.get(row)) else {
            return Ok(false);
        };
        if a.len() != b.len() {
            return Err(codes::ER_INVALID_BITWISE_OPERANDS_SIZE.error());
        }
        buffer.extend(a.iter().zip(b).map(|(a, b)| bytes(*a, *b)));
        Ok(true)
    })
}

/// `<<` and `>>`: zeros are shifted in.
fn shift<const LEFT: bool>(call: &Call<'_>) -> Result<ArrayRef> {
    let places = bits(call, 1)?;
    if !call.signature.result.is_string() {
        let values = bits(call, 0)?;
        return output::uints(call.rows, |row| {
            let (Some(value), Some(places)) = (values(row), places(row)) else {
                return Ok(None);
            };
            let places = u32::try_from(places).unwrap_or(u32::MAX);
            let shifted = if LEFT {
                value.checked_shl(places)
            } else {
                value.checked_shr(places)
            };
            Ok(Some(shifted.unwrap_or(0)))
        });
    }
    let values = call.texts(0)?;
    output::texts(call, |row, buffer| {
        let (Some(value), Some(places)) = (values.get(row), places(row)) else {
            return Ok(false);
        };
        shift_bytes(value, places, LEFT, buffer);
        Ok(true)
    })
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
fn complement(call: &Call<'_>) -> Result<ArrayRef> {
    if !call.signature.result.is_string() {
        let values = bits(call, 0)?;
        return output::uints(call.rows, |row| Ok(values(row).map(|value| !value)));
    }
    output::mapped_texts(call, 0, |value, buffer| {
        buffer.extend(value.iter().map(|byte| !byte));
        Ok(true)
    })
}

#[cfg(test)]
mod tests {
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
