//! Payloads of the server, appended to the bytes of a packet.

mod columns;
mod end;
mod rows;

pub(crate) use self::columns::append_definition;
pub(crate) use self::end::{End, append_error, append_ok, append_row_end, error_payload};
pub(crate) use self::rows::{RowFormat, Rows};

/// NULL in a text row.
pub(crate) const NULL: u8 = 0xFB;

/// Appends a length-encoded number.
pub(crate) fn append_number(out: &mut Vec<u8>, number: u64) {
    match number {
        0..=250 => out.push(number as u8),
        251..=0xFFFF => {
            out.push(0xFC);
            out.extend_from_slice(&(number as u16).to_le_bytes());
        }
        0x1_0000..=0xFF_FFFF => {
            out.push(0xFD);
            out.extend_from_slice(&(number as u32).to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xFE);
            out.extend_from_slice(&number.to_le_bytes());
        }
    }
}

/// Appends bytes behind their length.
pub(crate) fn append_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    append_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends the output of `write` behind its length. Most values are short: one byte is reserved for
/// the length before they are written.
pub(crate) fn append_measured<T>(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    let begin = out.len();
    out.push(0);
    let written = write(out);
    let length = out.len() - begin - 1;
    if length <= 250 {
        out[begin] = length as u8;
    } else {
        let mut encoded = Vec::with_capacity(9);
        append_number(&mut encoded, length as u64);
        out.splice(begin..=begin, encoded);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::PayloadReader;

    #[test]
    fn numbers_are_as_long_as_they_need() {
        for number in [
            0,
            250,
            251,
            0xFFFF,
            0x1_0000,
            0xFF_FFFF,
            0x100_0000,
            u64::MAX,
        ] {
            let mut out = Vec::new();
            append_number(&mut out, number);
            let mut reader = PayloadReader::new(&out);
            assert_eq!(reader.length_encoded_number(), Some(number));
            assert!(reader.is_empty());
        }
    }

    #[test]
    fn measured_bytes_are_bytes_behind_their_length() {
        for length in [0, 1, 250, 251, 70_000] {
            let content = vec![7; length];
            let (mut known, mut measured) = (vec![1], vec![1]);
            append_bytes(&mut known, &content);
            append_measured(&mut measured, |out| out.extend_from_slice(&content));
            assert!(known == measured, "{length}");
        }
    }
}
