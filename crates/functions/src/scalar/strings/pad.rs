//! LPAD(text, n, filling) and RPAD(text, n, filling): padded or cut to n characters. REPEAT(text, n) and SPACE(n).

use arrow_array::ArrayRef;
use mayfly_types::Result;

use crate::input::{Counts, Texts};
use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::scalar::strings::chars;
use crate::{Argument, Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["lpad"], 3..=3, pad_signature, pad::<true>).with(&[
        Fact::StopsAtNullIn(&[0, 2, 1]),
        Fact::Strict,
        Fact::TypedByConstants(&[1]),
    ]),
    Row::new(&["rpad"], 3..=3, pad_signature, pad::<false>).with(&[
        Fact::StopsAtNullIn(&[0, 2, 1]),
        Fact::Strict,
        Fact::TypedByConstants(&[1]),
    ]),
    Row::new(&["repeat"], 2..=2, repeat_signature, |call| {
        repeat(call, call.texts(0)?, call.counts(1)?)
    })
    .with(&[
        Fact::StopsAtNull,
        Fact::Strict,
        Fact::TypedByConstants(&[1]),
    ]),
    Row::new(&["space"], 1..=1, space_signature, |call| {
        repeat(call, Texts::Constant(Some(b" ")), call.counts(0)?)
    })
    .with(&[Fact::TypedByConstants(&[0])]),
];

/// A number of characters, if it is constant.
fn characters(count: &Argument<'_>) -> u64 {
    let count = derive::constant_count(count);
    count.map_or(derive::LENGTH_LIMIT, |n| n.max(0).cast_unsigned())
}

fn pad_signature(binding: &Binding<'_>) -> Result<Signature> {
    let [text, count, filling] = [0, 1, 2].map(|index| binding.arguments[index]);
    let texts = Binding {
        arguments: &[text, filling],
        ..*binding
    };
    // For a negative count MySQL reports no length, though the result is NULL.
    let length = match derive::constant_count(&count) {
        Some(..0) => derive::LENGTH_LIMIT,
        _ => characters(&count),
    };
    let mut signature = texts.changed_text(length, true)?;
    signature.arguments.insert(1, derive::integer_of(&count));
    Ok(signature)
}

fn pad<const LEFT: bool>(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, lengths, fillings) = (call.texts(0)?, call.counts(1)?, call.texts(2)?);
    let collation = call.signature.result.collation;
    output::texts(call, |row, out| {
        let (Some(text), Some(length), Some(filling)) =
            (texts.get(row), lengths.get(row), fillings.get(row))
        else {
            return Ok(false);
        };
        let Ok(length) = usize::try_from(length) else {
            return Ok(false);
        };
        let own = chars::count(text, collation);
        if own >= length {
            out.extend_from_slice(&text[..chars::offset_of(text, length, collation)]);
            return Ok(true);
        }
        let bytes = (length as u64).saturating_mul(derive::bytes_per_character(collation));
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        if !call.within_packet(bytes)? {
            return Ok(false);
        }
        let step = chars::count(filling, collation);
        if step == 0 {
            return Ok(true);
        }
        if !LEFT {
            out.extend_from_slice(text);
        }
        let missing = length - own;
        for _ in 0..missing / step {
            out.extend_from_slice(filling);
        }
        out.extend_from_slice(&filling[..chars::offset_of(filling, missing % step, collation)]);
        if LEFT {
            out.extend_from_slice(text);
        }
        Ok(true)
    })
}

fn repeat_signature(binding: &Binding<'_>) -> Result<Signature> {
    let text = binding.part(..1);
    let mut signature = match derive::constant_count(&binding.arguments[1]) {
        Some(times) => {
            // A negative count of repetitions counts as large.
            let times = u64::try_from(times).unwrap_or(u64::MAX);
            let characters = binding.characters(0).saturating_mul(times);
            derive::with_length_limit(text.collated_text(characters, true)?)
        }
        None => text.collated_text(derive::LENGTH_LIMIT, true)?,
    };
    let times = derive::integer_of(&binding.arguments[1]);
    signature.arguments.push(times);
    Ok(signature)
}

fn space_signature(binding: &Binding<'_>) -> Result<Signature> {
    let types = binding.each(derive::integer_of);
    let result = binding.string(characters(&binding.arguments[0]));
    Ok(Signature::new(types, result, true))
}

fn repeat(call: &Call<'_>, texts: Texts<'_>, times: Counts<'_>) -> Result<ArrayRef> {
    output::texts(call, |row, out| {
        let (Some(text), Some(times)) = (texts.get(row), times.get(row)) else {
            return Ok(false);
        };
        let times = usize::try_from(times).unwrap_or(0);
        let bytes = text.len().saturating_mul(times);
        if !call.within_packet(bytes)? {
            return Ok(false);
        }
        out.reserve_exact(bytes);
        if bytes > 0 {
            out.extend_from_slice(text);
        }
        while out.len() < bytes {
            out.extend_from_within(..out.len().min(bytes - out.len()));
        }
        Ok(true)
    })
}
