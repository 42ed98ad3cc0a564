//! CONCAT(text, …): NULL when any argument is. CONCAT_WS(separator, text, …): NULLs are skipped; NULL only when the
//! separator is.

use arrow_array::ArrayRef;
use arrow_buffer::BooleanBuffer;
use mayfly_types::Result;
use mayfly_types::convert::MAX_ALLOWED_PACKET_MIN;

use crate::choice::is_null;
use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::{Binding, Call, Signature, derive, input, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["concat"], 1..=usize::MAX, concat_signature, concat)
        .with(&[Fact::StopsAtNull, Fact::Strict])
        .total_where(fits_packet),
    Row::new(
        &["concat_ws"],
        2..=usize::MAX,
        separated_signature,
        separated,
    )
    .lazy(has_separator),
];

/// Length in characters of each argument, or in bytes if the result is binary.
fn lengths(binding: &Binding<'_>) -> Result<Vec<u64>> {
    let (collation, _) =
        derive::aggregate_collation(binding.arguments, binding.session, binding.name)?;
    let arguments = binding.arguments.iter();
    let lengths = arguments.map(|argument| derive::length_in(argument.ty, collation));
    Ok(lengths.collect())
}

/// Whether every result fits `max_allowed_packet`, whatever its setting.
fn fits_packet(signature: &Signature) -> bool {
    derive::byte_length(&signature.result) <= u64::from(MAX_ALLOWED_PACKET_MIN)
}

fn concat_signature(binding: &Binding<'_>) -> Result<Signature> {
    let characters = lengths(binding)?.iter().sum();
    let signature = binding.collated_text(characters, binding.any_nullable())?;
    Ok(derive::with_length_limit(signature))
}

fn concat(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.all(0, input::texts)?;
    output::texts(call, |row, out| {
        let mut bytes = 0_usize;
        for text in &texts {
            let Some(text) = text.get(row) else {
                return Ok(false);
            };
            bytes = bytes.saturating_add(text.len());
        }
        if !call.within_packet(bytes)? {
            return Ok(false);
        }
        out.reserve(bytes);
        for text in texts.iter().filter_map(|text| text.get(row)) {
            out.extend_from_slice(text);
        }
        Ok(true)
    })
}

fn separated_signature(binding: &Binding<'_>) -> Result<Signature> {
    let lengths = lengths(binding)?;
    let separators = (lengths.len() as u64 - 2) * lengths[0];
    let characters = lengths[1..].iter().sum::<u64>() + separators;
    let signature = binding.collated_text(characters, binding.arguments[0].nullable)?;
    Ok(derive::with_length_limit(signature))
}

/// The rows whose separator is not NULL.
fn has_separator(call: &Call<'_>) -> Result<BooleanBuffer> {
    let separators = &call.arguments[0];
    Ok(BooleanBuffer::collect_bool(call.rows, |row| {
        !is_null(separators, row)
    }))
}

fn separated(call: &Call<'_>) -> Result<ArrayRef> {
    let (separators, texts) = (call.texts(0)?, call.all(1, input::texts)?);
    output::texts(call, |row, out| {
        let Some(separator) = separators.get(row) else {
            return Ok(false);
        };
        let texts = texts.iter().filter_map(|text| text.get(row));
        for (index, text) in texts.enumerate() {
            if index > 0 {
                out.extend_from_slice(separator);
            }
            out.extend_from_slice(text);
        }
        call.within_packet(out.len())
    })
}
