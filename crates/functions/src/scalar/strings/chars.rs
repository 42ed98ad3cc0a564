//! Characters, bytes and character sets for the string functions. Text is UTF-8 here; each byte of a binary string is
//! a character.

use std::borrow::Cow;

use mayfly_types::charset::utf8;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result};

use crate::EvaluationContext;

/// Length in bytes of a text in its own character set.
pub(crate) fn octets(text: &[u8], collation: CollationId) -> usize {
    collation.charset().octet_length(text)
}

/// Length in characters of a text.
pub(crate) fn count(text: &[u8], collation: CollationId) -> usize {
    collation.charset().char_length(text)
}

/// The offset of character `index`, from 0; the length of the text when it has fewer.
pub(crate) fn offset_of(text: &[u8], index: usize, collation: CollationId) -> usize {
    if collation == CollationId::BINARY {
        index.min(text.len())
    } else {
        utf8::offset_of_char(text, index)
    }
}

/// Length in bytes of the character at `offset`; 0 at the end.
pub(crate) fn width_at(text: &[u8], offset: usize, collation: CollationId) -> usize {
    let rest = text.get(offset..).unwrap_or_default();
    offset_of(rest, 1, collation)
}

/// The text's bytes in its own character set.
pub(crate) fn in_charset(text: &[u8], collation: CollationId) -> Cow<'_, [u8]> {
    match collation.charset() {
        charset if charset.is_stored_as_is() => Cow::Borrowed(text),
        charset => charset.encode_lossy(text),
    }
}

/// The first occurrence of `part`, by bytes.
pub(crate) fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, part)
}

/// The last occurrence of `part`, by bytes.
pub(crate) fn find_last(text: &[u8], part: &[u8]) -> Option<usize> {
    memchr::memmem::rfind(text, part)
}

/// The first occurrence by the collation of a part with as many characters as `part`.
pub(crate) fn find_collated(text: &[u8], part: &[u8], collation: CollationId) -> Option<usize> {
    if part.is_empty() {
        return Some(0);
    }
    if collation.is_binary_order() {
        return find(text, part);
    }
    let characters = count(part, collation);
    let mut start = 0;
    while start < text.len() {
        let rest = &text[start..];
        let end = offset_of(rest, characters, collation);
        if collation.equals(&rest[..end], part) {
            return Some(start);
        }
        start += width_at(text, start, collation).max(1);
    }
    None
}

/// Appends two hexadecimal digits per byte.
pub(crate) fn append_hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
}

/// Length from which memory is checked before a value is made.
const LONG_BYTES_MIN: usize = 1 << 20;
/// Number of simultaneous copies of a long value: as made, as a constant, and as sent.
const COPIES_OF_LONG: u64 = 3;

/// Whether a result of `bytes` bytes may be made; warning 1301 when it may not, and an error when there is no memory
/// for it.
pub(crate) fn within_packet(
    bytes: usize,
    function: &str,
    context: &EvaluationContext,
) -> Result<bool> {
    if bytes as u64 > context.session.max_allowed_packet {
        let error = codes::ER_WARN_ALLOWED_PACKET_OVERFLOWED
            .with(&[&function, &context.session.max_allowed_packet]);
        context.diagnostics.warn(error);
        return Ok(false);
    }
    if bytes >= LONG_BYTES_MIN {
        let mut room = context.memory.reservation();
        context
            .memory
            .resize(&mut room, bytes as u64 * COPIES_OF_LONG)?;
    }
    Ok(true)
}
