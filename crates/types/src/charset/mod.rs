//! Character sets. Inside the engine every character string is UTF-8; its character set says how
//! many bytes it would have for LENGTH() and HEX(), which characters it can hold, and how bytes
//! from outside become text.

pub mod case;
pub mod utf8;

use std::borrow::Cow;

use crate::collation::CollationId;

/// A character set of MySQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Charset {
    /// UTF-8 of up to four bytes
    Utf8mb4,
    /// UTF-8 of the Basic Multilingual Plane
    Utf8mb3,
    /// Windows code page 1252, which MySQL calls latin1
    Latin1,
    /// Seven bits
    Ascii,
    /// Bytes
    Binary,
}

/// A character that a character set cannot hold, or bytes that are no text in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CharsetError {
    /// Where in the input the first wrong byte stands.
    pub position: usize,
}

/// One line of SHOW CHARACTER SET.
#[derive(Debug, Clone, Copy)]
pub struct CharsetRow {
    /// Which.
    pub charset: Charset,
    /// Its name.
    pub name: &'static str,
    /// What SHOW CHARACTER SET says about it.
    pub description: &'static str,
    /// The collation of columns that name only the character set.
    pub default_collation: CollationId,
    /// The collation by code.
    pub binary_collation: CollationId,
    /// The most bytes of a character.
    pub max_length: u8,
}

/// Every character set, in the order of their names.
pub const CHARSETS: &[CharsetRow] = &[
    CharsetRow {
        charset: Charset::Ascii,
        name: "ascii",
        description: "US ASCII",
        default_collation: CollationId::ASCII_GENERAL_CI,
        binary_collation: CollationId::ASCII_BIN,
        max_length: 1,
    },
    CharsetRow {
        charset: Charset::Binary,
        name: "binary",
        description: "Binary pseudo charset",
        default_collation: CollationId::BINARY,
        binary_collation: CollationId::BINARY,
        max_length: 1,
    },
    CharsetRow {
        charset: Charset::Latin1,
        name: "latin1",
        description: "cp1252 West European",
        default_collation: CollationId::LATIN1_SWEDISH_CI,
        binary_collation: CollationId::LATIN1_BIN,
        max_length: 1,
    },
    CharsetRow {
        charset: Charset::Utf8mb3,
        name: "utf8mb3",
        description: "UTF-8 Unicode",
        default_collation: CollationId::UTF8MB3_GENERAL_CI,
        binary_collation: CollationId::UTF8MB3_BIN,
        max_length: 3,
    },
    CharsetRow {
        charset: Charset::Utf8mb4,
        name: "utf8mb4",
        description: "UTF-8 Unicode",
        default_collation: CollationId::UTF8MB4_0900_AI_CI,
        binary_collation: CollationId::UTF8MB4_BIN,
        max_length: 4,
    },
];

/// The characters of the bytes 0x80 to 0x9F of Windows-1252. The five bytes that the code page
/// leaves out stand for the control characters of the same number, so that every byte has one.
const LATIN1_HIGH: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
];

/// The character of a byte of latin1.
pub fn latin1_to_char(byte: u8) -> char {
    match byte {
        0x80..=0x9F => LATIN1_HIGH[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// The byte of a code point in latin1.
pub fn latin1_of_point(point: u32) -> Option<u8> {
    match point {
        0..0x80 | 0xA0..=0xFF => Some(point as u8),
        _ => LATIN1_HIGH
            .iter()
            .position(|high| u32::from(*high) == point)
            .map(|index| 0x80 + index as u8),
    }
}

impl Charset {
    /// The row of the table.
    pub fn row(self) -> &'static CharsetRow {
        let index = match self {
            Self::Ascii => 0,
            Self::Binary => 1,
            Self::Latin1 => 2,
            Self::Utf8mb3 => 3,
            Self::Utf8mb4 => 4,
        };
        &CHARSETS[index]
    }

    /// The character set of a name in any letter case; `utf8` is utf8mb3.
    pub fn by_name(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("utf8") {
            return Some(Self::Utf8mb3);
        }
        CHARSETS
            .iter()
            .find(|row| row.name.eq_ignore_ascii_case(name))
            .map(|row| row.charset)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The most bytes of a character.
    pub fn max_length(self) -> u8 {
        self.row().max_length
    }

    /// The collation of columns that name only the character set.
    pub fn default_collation(self) -> CollationId {
        self.row().default_collation
    }

    /// How many bytes a value has in this character set (LENGTH).
    pub fn octet_length(self, value: &[u8]) -> usize {
        match self {
            Self::Latin1 | Self::Ascii => utf8::count_chars(value),
            Self::Utf8mb4 | Self::Utf8mb3 | Self::Binary => value.len(),
        }
    }

    /// How many characters a value has (CHAR_LENGTH).
    pub fn char_length(self, value: &[u8]) -> usize {
        match self {
            Self::Binary => value.len(),
            _ => utf8::count_chars(value),
        }
    }

    /// Whether it has a character of this code.
    pub fn holds(self, point: u32) -> bool {
        match self {
            Self::Utf8mb4 | Self::Binary => true,
            Self::Utf8mb3 => point <= 0xFFFF,
            Self::Latin1 => latin1_of_point(point).is_some(),
            Self::Ascii => point < 0x80,
        }
    }

    /// The bytes that UTF-8 text has in this character set; the position of the first character
    /// that it lacks otherwise.
    pub fn encode(self, text: &[u8]) -> Result<Cow<'_, [u8]>, CharsetError> {
        if text.is_ascii() {
            return Ok(Cow::Borrowed(text));
        }
        let mut position = 0;
        match self {
            Self::Utf8mb4 | Self::Binary => Ok(Cow::Borrowed(text)),
            Self::Utf8mb3 | Self::Ascii => {
                while let Some((point, length)) = utf8::decode(&text[position..]) {
                    if !self.holds(point) {
                        return Err(CharsetError { position });
                    }
                    position += length;
                }
                Ok(Cow::Borrowed(text))
            }
            Self::Latin1 => {
                let mut out = Vec::with_capacity(text.len());
                while let Some((point, length)) = utf8::decode(&text[position..]) {
                    out.push(latin1_of_point(point).ok_or(CharsetError { position })?);
                    position += length;
                }
                Ok(Cow::Owned(out))
            }
        }
    }

    /// [`Charset::encode`] with `?` for every character that is lacking (CONVERT ... USING).
    pub fn encode_lossy(self, text: &[u8]) -> Cow<'_, [u8]> {
        match self.encode(text) {
            Ok(bytes) => bytes,
            Err(_) => {
                let mut out = Vec::with_capacity(text.len());
                let mut position = 0;
                while let Some((point, length)) = utf8::decode(&text[position..]) {
                    let bytes = &text[position..position + length];
                    match self {
                        _ if !self.holds(point) => out.push(b'?'),
                        Self::Latin1 => out.extend(latin1_of_point(point)),
                        _ => out.extend_from_slice(bytes),
                    }
                    position += length;
                }
                Cow::Owned(out)
            }
        }
    }

    /// UTF-8 text with `?` for every character that this character set lacks.
    pub fn restrict(self, text: &[u8]) -> Cow<'_, [u8]> {
        if text.is_ascii() || matches!(self, Self::Utf8mb4 | Self::Binary) {
            return Cow::Borrowed(text);
        }
        let mut out = Vec::with_capacity(text.len());
        let mut position = 0;
        while let Some((point, length)) = utf8::decode(&text[position..]) {
            if self.holds(point) {
                out.extend_from_slice(&text[position..position + length]);
            } else {
                out.push(b'?');
            }
            position += length;
        }
        Cow::Owned(out)
    }

    /// UTF-8 text of bytes in this character set (LOAD DATA, introducers, CONVERT of binary);
    /// the position of the first byte that is none otherwise.
    pub fn decode(self, bytes: &[u8]) -> Result<Cow<'_, [u8]>, CharsetError> {
        if bytes.is_ascii() || self == Self::Binary {
            return Ok(Cow::Borrowed(bytes));
        }
        match self {
            Self::Latin1 => {
                let mut out = String::with_capacity(bytes.len() + bytes.len() / 8);
                out.extend(bytes.iter().map(|byte| latin1_to_char(*byte)));
                Ok(Cow::Owned(out.into_bytes()))
            }
            Self::Ascii => Err(CharsetError {
                position: bytes.iter().position(|byte| *byte >= 0x80).unwrap_or(0),
            }),
            Self::Utf8mb4 | Self::Utf8mb3 | Self::Binary => {
                let wrong = match std::str::from_utf8(bytes) {
                    Ok(text) if self == Self::Utf8mb3 => text
                        .char_indices()
                        .find(|(_, character)| u32::from(*character) > 0xFFFF)
                        .map(|(position, _)| position),
                    Ok(_) => None,
                    Err(error) => Some(error.valid_up_to()),
                };
                match wrong {
                    Some(position) => Err(CharsetError { position }),
                    None => Ok(Cow::Borrowed(bytes)),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latin1_round_trip() {
        let all: Vec<u8> = (0..=255).collect();
        let text = Charset::Latin1.decode(&all).unwrap().into_owned();
        assert_eq!(Charset::Latin1.encode(&text).unwrap(), all);
        assert_eq!(Charset::Latin1.octet_length(&text), 256);
        assert_eq!(
            Charset::Latin1.decode(b"\x80").unwrap().as_ref(),
            "€".as_bytes()
        );
        assert_eq!(
            Charset::Latin1.encode("aж".as_bytes()),
            Err(CharsetError { position: 1 })
        );
        assert_eq!(
            Charset::Latin1.encode_lossy("aжé".as_bytes()).as_ref(),
            b"a?\xE9"
        );
        assert_eq!(
            Charset::Latin1.restrict("aжé".as_bytes()).as_ref(),
            "a?é".as_bytes()
        );
    }

    #[test]
    fn wrong_bytes() {
        assert_eq!(
            Charset::Utf8mb4.decode(b"ab\xFF"),
            Err(CharsetError { position: 2 })
        );
        assert_eq!(
            Charset::Utf8mb3.decode("é😀".as_bytes()),
            Err(CharsetError { position: 2 })
        );
        assert_eq!(
            Charset::Ascii.decode("é".as_bytes()),
            Err(CharsetError { position: 0 })
        );
        assert_eq!(Charset::by_name("UTF8"), Some(Charset::Utf8mb3));
        for row in CHARSETS {
            assert_eq!(row.charset.row().name, row.name);
        }
    }
}
