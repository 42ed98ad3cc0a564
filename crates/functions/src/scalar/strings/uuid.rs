//! UUID(), UUID_SHORT(), IS_UUID(text), UUID_TO_BIN(text[, swap]), BIN_TO_UUID(bytes[, swap]).

use std::sync::atomic::Ordering;

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, SqlType};

use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::scalar::strings::chars;
use crate::{Binding, Call, Signature, derive, input, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["uuid"], 0..=0, uuid_signature, uuid)
        .with(&[Fact::OnlyInDefaults, Fact::UnsafeInLogs])
        .volatile(),
    Row::new(&["uuid_short"], 0..=0, uuid_short_signature, uuid_short)
        .with(&[Fact::OnlyInDefaults, Fact::UnsafeInLogs])
        .volatile(),
    Row::new(&["is_uuid"], 1..=1, is_uuid_signature, is_uuid),
    Row::new(&["uuid_to_bin"], 1..=2, uuid_to_bin_signature, uuid_to_bin)
        .with(&[Fact::StopsAtNull]),
    Row::new(&["bin_to_uuid"], 1..=2, bin_to_uuid_signature, bin_to_uuid)
        .with(&[Fact::StopsAtNull]),
];

fn uuid_signature(_binding: &Binding<'_>) -> Result<Signature> {
    let result = SqlType::varchar(36, CollationId::UTF8MB3_GENERAL_CI);
    Ok(Signature::new(Vec::new(), result, false))
}

fn uuid(call: &Call<'_>) -> Result<ArrayRef> {
    let mut node = [0_u8; 8];
    (call.context.entropy)(&mut node);
    // Version 1: the time in units of 100 ns since 1582; a random node has the multicast bit set.
    node[2] |= 1;
    let start = (call.context.clock)()
        .wrapping_mul(10)
        .wrapping_add(0x01B2_1DD2_1381_4000)
        .cast_unsigned();
    output::texts(call, |row, out| {
        let time = start.wrapping_add(row as u64);
        let mut bytes = [0_u8; 16];
        bytes[..4].copy_from_slice(&(time as u32).to_be_bytes());
        bytes[4..6].copy_from_slice(&((time >> 32) as u16).to_be_bytes());
        bytes[6..8].copy_from_slice(&((time >> 48) as u16 & 0x0FFF | 0x1000).to_be_bytes());
        bytes[8..].copy_from_slice(&node);
        bytes[8] = bytes[8] & 0x3F | 0x80;
        write(&bytes, out);
        Ok(true)
    })
}

fn uuid_short_signature(_binding: &Binding<'_>) -> Result<Signature> {
    Ok(Signature::new(Vec::new(), derive::unsigned_bigint(), false))
}

/// UUID_SHORT(): a number unique to the server.
fn uuid_short(call: &Call<'_>) -> Result<ArrayRef> {
    let next = || call.context.short_uuids.fetch_add(1, Ordering::Relaxed);
    output::uints(call.rows, |_| Ok(Some(next())))
}

fn is_uuid_signature(binding: &Binding<'_>) -> Result<Signature> {
    binding.of_texts(SqlType::boolean())
}

fn is_uuid(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    output::bools(call.rows, |row| {
        Ok(texts.get(row).map(|text| parse(text).is_some()))
    })
}

/// The types of a conversion of a text, with a number that tells whether the time parts are swapped.
fn conversion_signature(binding: &Binding<'_>, result: SqlType) -> Result<Signature> {
    let mut types = vec![SqlType::bigint(); binding.arguments.len()];
    types[0] = binding.text(0);
    Ok(Signature::new(types, result, binding.any_nullable()))
}

fn uuid_to_bin_signature(binding: &Binding<'_>) -> Result<Signature> {
    conversion_signature(binding, SqlType::varchar(16, CollationId::BINARY))
}

fn bin_to_uuid_signature(binding: &Binding<'_>) -> Result<Signature> {
    conversion_signature(binding, binding.string(36))
}

/// Converts texts by `append`, which is told whether to swap the time parts, and returns whether the text was valid.
fn convert(
    call: &Call<'_>,
    append: impl Fn(&[u8], bool, &mut Vec<u8>) -> bool,
) -> Result<ArrayRef> {
    let (texts, swaps) = (call.texts(0)?, call.optional(1, input::ints)?);
    output::texts(call, |row, out| {
        let Some(text) = texts.get(row) else {
            return Ok(false);
        };
        let swap = swaps.and_then(|swaps| swaps.get(row));
        if append(text, swap.is_some_and(|swap| swap != 0), out) {
            return Ok(true);
        }
        let text = String::from_utf8_lossy(text);
        Err(codes::ER_WRONG_VALUE_FOR_TYPE.with(&[&"string", &text, &call.name]))
    })
}

fn uuid_to_bin(call: &Call<'_>) -> Result<ArrayRef> {
    convert(call, |text, swaps, out| {
        let bytes = parse(text);
        let bytes = bytes.inspect(|bytes| {
            out.extend_from_slice(&if swaps { swap(bytes) } else { *bytes });
        });
        bytes.is_some()
    })
}

fn bin_to_uuid(call: &Call<'_>) -> Result<ArrayRef> {
    convert(call, |bytes, swaps, out| {
        let bytes = <[u8; 16]>::try_from(bytes);
        let bytes = bytes.inspect(|bytes| {
            write(&if swaps { unswap(bytes) } else { *bytes }, out);
        });
        bytes.is_ok()
    })
}

fn write(bytes: &[u8; 16], out: &mut Vec<u8>) {
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        chars::append_hex(&[*byte], out);
    }
    out.make_ascii_lowercase();
}

/// Parses 32 digits, with or without dashes after the 8th, 12th, 16th and 20th, with or without braces around the
/// dashed form.
fn parse(text: &[u8]) -> Option<[u8; 16]> {
    let text = match text {
        [b'{', inner @ .., b'}'] if inner.len() == 36 => inner,
        _ => text,
    };
    let mut bytes = [0; 16];
    let mut place = 0;
    for (index, byte) in text.iter().enumerate() {
        if text.len() == 36 && matches!(index, 8 | 13 | 18 | 23) {
            if *byte != b'-' {
                return None;
            }
            continue;
        }
        let digit = char::from(*byte).to_digit(16)? as u8;
        let target: &mut u8 = bytes.get_mut(place / 2)?;
        *target = *target << 4 | digit;
        place += 1;
    }
    (place == 32 && matches!(text.len(), 32 | 36)).then_some(bytes)
}

/// Time parts from high to low, so that they sort by time.
fn swap(bytes: &[u8; 16]) -> [u8; 16] {
    let mut swapped = *bytes;
    swapped[..2].copy_from_slice(&bytes[6..8]);
    swapped[2..4].copy_from_slice(&bytes[4..6]);
    swapped[4..8].copy_from_slice(&bytes[..4]);
    swapped
}

fn unswap(bytes: &[u8; 16]) -> [u8; 16] {
    let mut original = *bytes;
    original[6..8].copy_from_slice(&bytes[..2]);
    original[4..6].copy_from_slice(&bytes[2..4]);
    original[..4].copy_from_slice(&bytes[4..8]);
    original
}
