//! UCS-2, UTF-16 and UTF-32: characters in units of two or four bytes.

use super::{CharsetError, utf8};

/// Encoding with units of two or four bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wide {
    /// The Basic Multilingual Plane, most significant byte first.
    Ucs2,
    /// UTF-16, most significant byte first.
    Utf16,
    /// UTF-16, least significant byte first.
    Utf16Le,
    /// UTF-32, most significant byte first.
    Utf32,
}

impl Wide {
    /// Bytes of a unit.
    pub(super) fn unit(self) -> usize {
        if self == Self::Utf32 { 4 } else { 2 }
    }

    pub(super) fn holds(self, point: u32) -> bool {
        char::from_u32(point).is_some() && (self != Self::Ucs2 || point <= 0xFFFF)
    }

    fn width(self, point: u32) -> usize {
        match self {
            Self::Ucs2 => 2,
            Self::Utf16 | Self::Utf16Le => 2 + 2 * usize::from(point > 0xFFFF),
            Self::Utf32 => 4,
        }
    }

    pub(super) fn octet_length(self, text: &[u8]) -> usize {
        utf8::Points::new(text).map(|point| self.width(point)).sum()
    }

    /// Appends a character; returns whether the encoding has it.
    pub(super) fn append(self, point: u32, out: &mut Vec<u8>) -> bool {
        if !self.holds(point) {
            return false;
        }
        match self {
            Self::Utf32 => out.extend_from_slice(&point.to_be_bytes()),
            Self::Ucs2 | Self::Utf16 | Self::Utf16Le => {
                let mut units = [0; 2];
                let Some(character) = char::from_u32(point) else {
                    return false;
                };
                for unit in character.encode_utf16(&mut units) {
                    out.extend_from_slice(&match self {
                        Self::Utf16Le => unit.to_le_bytes(),
                        _ => unit.to_be_bytes(),
                    });
                }
            }
        }
        true
    }

    /// UTF-8 text of bytes. An incomplete first unit is filled up with leading zeros.
    pub(super) fn decode(self, bytes: &[u8]) -> Result<Vec<u8>, CharsetError> {
        let missing = bytes.len().next_multiple_of(self.unit()) - bytes.len();
        let mut whole = vec![0; missing];
        whole.extend_from_slice(bytes);
        let mut out = Vec::with_capacity(whole.len());
        let mut position = 0;
        while let Some((point, length)) = self.next(whole.get(position..).unwrap_or(&[])) {
            match char::from_u32(point) {
                Some(_) => utf8::encode(point, &mut out),
                None => {
                    let position = position.saturating_sub(missing);
                    return Err(CharsetError { position });
                }
            }
            position += length;
        }
        Ok(out)
    }

    /// The code point at the start of `bytes`, and its length in bytes; half a surrogate pair
    /// stands for itself.
    fn next(self, bytes: &[u8]) -> Option<(u32, usize)> {
        if self == Self::Utf32 {
            let unit = bytes.first_chunk::<4>()?;
            return Some((u32::from_be_bytes(*unit), 4));
        }
        let unit = |at: usize| {
            let unit = bytes.get(at..)?.first_chunk::<2>()?;
            Some(u32::from(match self {
                Self::Utf16Le => u16::from_le_bytes(*unit),
                _ => u16::from_be_bytes(*unit),
            }))
        };
        let first = unit(0)?;
        if self != Self::Ucs2
            && (0xD800..0xDC00).contains(&first)
            && let Some(second @ 0xDC00..0xE000) = unit(2)
        {
            let point = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            return Some((point, 4));
        }
        Some((first, 2))
    }
}
