//! TO_BASE64(text) and FROM_BASE64(text), with lines of 76 characters.

use arrow_array::ArrayRef;
use mayfly_types::{CollationId, Result};

use crate::scalar::Row;
use crate::scalar::strings::chars;
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["to_base64"], 1..=1, to_base64_signature, to_base64),
    Row::new(&["from_base64"], 1..=1, from_base64_signature, from_base64),
];

fn to_base64_signature(binding: &Binding<'_>) -> Result<Signature> {
    let digits = derive::byte_length(&binding.text(0)).div_ceil(3) * 4;
    let characters = digits + digits.saturating_sub(1) / DIGITS_A_LINE as u64;
    let signature = binding.of_texts(binding.string(characters))?;
    Ok(derive::with_length_limit(signature))
}

fn to_base64(call: &Call<'_>) -> Result<ArrayRef> {
    let collation = call.collation(0);
    output::mapped_texts(call, 0, |text, out| {
        let text = chars::in_charset(text, collation);
        // The length as MySQL computes it, with a terminating zero byte.
        let digits = text.len().div_ceil(3).saturating_mul(4);
        let bytes = digits.saturating_add(digits.saturating_sub(1) / DIGITS_A_LINE + 1);
        if !call.within_packet(bytes)? {
            return Ok(false);
        }
        out.reserve_exact(bytes);
        encode(&text, out);
        Ok(true)
    })
}

fn from_base64_signature(binding: &Binding<'_>) -> Result<Signature> {
    let bytes = derive::byte_length(&binding.text(0)) * 3 / 4;
    let result = derive::string_type(bytes, CollationId::BINARY);
    Ok(derive::with_length_limit(binding.of_texts_or_null(result)?))
}

fn from_base64(call: &Call<'_>) -> Result<ArrayRef> {
    output::mapped_texts(call, 0, |text, out| Ok(decode(text, out).is_some()))
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const DIGITS_A_LINE: usize = 76;

fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    for (index, chunk) in bytes.chunks(3).enumerate() {
        if index > 0 && index * 4 % DIGITS_A_LINE == 0 {
            out.push(b'\n');
        }
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let group = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            out.push(if place <= chunk.len() {
                DIGITS[(group >> (18 - 6 * place) & 63) as usize]
            } else {
                b'='
            });
        }
    }
}

fn decode(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (mut group, mut digits, mut padding) = (0_u32, 0_u32, 0_u32);
    for byte in text.iter().filter(|byte| !byte.is_ascii_whitespace()) {
        if *byte == b'=' {
            padding += 1;
            digits += 1;
            group <<= 6;
        } else {
            let digit = DIGITS.iter().position(|digit| digit == byte)?;
            if padding > 0 {
                return None;
            }
            group = group << 6 | digit as u32;
            digits += 1;
        }
        if digits == 4 {
            let bytes = [(group >> 16) as u8, (group >> 8) as u8, group as u8];
            let kept = 3_u32.checked_sub(padding).filter(|kept| *kept > 0)?;
            out.extend_from_slice(&bytes[..kept as usize]);
            (group, digits) = (0, 0);
        } else if padding > 2 {
            return None;
        }
    }
    (digits == 0).then_some(())
}
