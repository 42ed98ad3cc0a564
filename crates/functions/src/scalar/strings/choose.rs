//! Selection of texts by numbers: ELT(n, text, …), MAKE_SET(bits, text, …), EXPORT_SET(bits, on, off[, separator[,
//! number of bits]]).

use arrow_array::ArrayRef;
use arrow_buffer::BooleanBuffer;
use mayfly_types::{Result, SqlType};

use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::scalar::operators::numeric;
use crate::{Argument, Binding, Call, Signature, derive, input, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["elt"], 2..=usize::MAX, elt_signature, elt)
        .with(&[Fact::Elt])
        .lazy(is_next),
    Row::new(&["make_set"], 2..=usize::MAX, make_set_signature, make_set).lazy(has_next),
    Row::new(&["export_set"], 3..=5, export_set_signature, export_set).with(&[Fact::StopsAtNull]),
];

/// Length in characters of each argument.
fn lengths(binding: &Binding<'_>) -> impl Iterator<Item = u64> {
    let arguments = binding.arguments.iter();
    arguments.map(|argument| derive::character_length(argument.ty))
}

/// The type that a number whose bits are read is converted to.
fn bits_type(argument: &Argument<'_>) -> SqlType {
    match argument.mixes_integers {
        true => numeric::bits_argument(argument),
        false => SqlType::bigint(),
    }
}

fn elt_signature(binding: &Binding<'_>) -> Result<Signature> {
    let texts = binding.part(1..);
    let longest = lengths(&texts).max().unwrap_or(0);
    let mut signature = texts.collated_text(longest, true)?;
    signature.arguments.insert(0, SqlType::bigint());
    Ok(signature)
}

fn elt(call: &Call<'_>) -> Result<ArrayRef> {
    let (numbers, texts) = (call.ints(0)?, call.all(1, input::texts)?);
    output::borrowed_texts(call, |row| {
        let index = numbers.get(row).and_then(|number| number.checked_sub(1));
        let index = index.and_then(|index| usize::try_from(index).ok());
        let text = index.and_then(|index| texts.get(index));
        Ok(text.and_then(|text| text.get(row)))
    })
}

/// The rows whose number selects the next text.
fn is_next(call: &Call<'_>) -> Result<BooleanBuffer> {
    let (numbers, next) = (call.ints(0)?, call.arguments.len() as i64);
    Ok(BooleanBuffer::collect_bool(call.rows, |row| {
        numbers.get(row) == Some(next)
    }))
}

fn make_set_signature(binding: &Binding<'_>) -> Result<Signature> {
    let texts = binding.part(1..);
    let characters = lengths(&texts).map(|length| length + 1).sum::<u64>() - 1;
    let mut signature = texts.collated_text(characters, binding.any_nullable())?;
    signature
        .arguments
        .insert(0, bits_type(&binding.arguments[0]));
    Ok(signature)
}

/// The texts whose bit is set, separated by commas.
fn make_set(call: &Call<'_>) -> Result<ArrayRef> {
    let (bits, texts) = (call.any_ints(0)?, call.all(1, input::texts)?);
    output::texts(call, |row, out| {
        let Some(bits) = bits.get(row) else {
            return Ok(false);
        };
        let mut is_first = true;
        for (index, text) in texts.iter().enumerate().take(64) {
            if bits as u64 >> index & 1 == 1
                && let Some(text) = text.get(row)
            {
                if !std::mem::take(&mut is_first) {
                    out.push(b',');
                }
                out.extend_from_slice(text);
            }
        }
        Ok(true)
    })
}

/// The rows in which the bit of the next text is set.
fn has_next(call: &Call<'_>) -> Result<BooleanBuffer> {
    let (bits, next) = (call.any_ints(0)?, call.arguments.len() - 1);
    Ok(BooleanBuffer::collect_bool(call.rows, |row| {
        bits.get(row)
            .is_some_and(|bits| next < 64 && bits as u64 >> next & 1 == 1)
    }))
}

fn export_set_signature(binding: &Binding<'_>) -> Result<Signature> {
    let count = 64;
    let longest = binding.characters(1).max(binding.characters(2));
    let has_separator = binding.arguments.len() > 3;
    let separator = if has_separator {
        binding.characters(3)
    } else {
        1
    };
    let characters = count * longest + (count - 1) * separator;
    let texts = binding.part(1..binding.arguments.len().min(4));
    let mut signature = texts.collated_text(characters, binding.any_nullable())?;
    signature
        .arguments
        .insert(0, bits_type(&binding.arguments[0]));
    if binding.arguments.len() == 5 {
        signature.arguments.push(SqlType::bigint());
    }
    Ok(derive::with_length_limit(signature))
}

fn export_set(call: &Call<'_>) -> Result<ArrayRef> {
    let bits = call.any_ints(0)?;
    let (on, off) = (call.texts(1)?, call.texts(2)?);
    let separators = call.optional(3, input::texts)?;
    let separators = separators.unwrap_or(input::Texts::Constant(Some(b",")));
    let counts = call.optional(4, input::ints)?;
    let counts = counts.unwrap_or(input::Ints::Constant(Some(64)));
    output::texts(call, |row, out| {
        let (Some(bits), Some(on), Some(off), Some(separator), Some(count)) = (
            bits.get(row),
            on.get(row),
            off.get(row),
            separators.get(row),
            counts.get(row),
        ) else {
            return Ok(false);
        };
        let count = if (0..=64).contains(&count) { count } else { 64 };
        let (times, between) = (count.cast_unsigned() as usize, (count - 1).max(0) as usize);
        let longest = on.len().max(off.len()).saturating_mul(times);
        let bytes = longest.saturating_add(separator.len().saturating_mul(between));
        if !call.within_packet(bytes)? {
            return Ok(false);
        }
        for index in 0..count {
            if index > 0 {
                out.extend_from_slice(separator);
            }
            let is_set = bits as u64 >> index & 1 == 1;
            out.extend_from_slice(if is_set { on } else { off });
        }
        Ok(true)
    })
}
