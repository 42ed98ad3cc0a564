//! Character sets. Inside the engine every character string is UTF-8; its character set says how
//! many bytes it would have for LENGTH() and HEX(), which characters it can hold, and how bytes
//! from outside become text.

pub mod case;
mod error;
mod single_byte;
mod table;
pub mod utf8;
mod wide;

use std::borrow::Cow;

pub use self::error::CharsetError;
use crate::collation::CollationId;
use table::Encoding;
pub use table::{CHARSETS, Charset, CharsetRow};

impl Charset {
    /// Row of this character set in [`CHARSETS`].
    pub fn row(self) -> &'static CharsetRow {
        static TABLE: &[CharsetRow] = CHARSETS;
        &TABLE[self as usize]
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

    /// The fewest bytes of a character.
    pub fn min_length(self) -> u8 {
        match self.row().encoding {
            Encoding::Wide(wide) => wide.unit() as u8,
            _ => 1,
        }
    }

    /// The collation of columns that name only the character set.
    pub fn default_collation(self) -> CollationId {
        self.row().default_collation
    }

    /// Whether its characters are those of Unicode or of its Basic Multilingual Plane.
    pub(crate) fn is_unicode(self) -> bool {
        matches!(
            self.row().encoding,
            Encoding::Utf8 { .. } | Encoding::Wide(_)
        )
    }

    /// Whether it has Unicode's characters beyond the Basic Multilingual Plane.
    pub(crate) fn has_supplement(self) -> bool {
        self.is_unicode() && self.holds(0x1_0000)
    }

    /// Whether text in it is the same bytes as the UTF-8 that stands for it.
    pub fn is_stored_as_is(self) -> bool {
        matches!(
            self.row().encoding,
            Encoding::Utf8 { .. } | Encoding::Ascii | Encoding::Bytes
        )
    }

    /// Whether text that is ASCII is the same bytes in it.
    pub fn keeps_ascii(self) -> bool {
        match self.row().encoding {
            Encoding::Wide(_) => false,
            Encoding::SingleByte(index) => single_byte::table(index).keeps_ascii(),
            _ => true,
        }
    }

    /// Whether every text of another character set, in the engine's UTF-8, is also a text of this
    /// one.
    pub fn includes(self, other: Self) -> bool {
        let is_basic = |encoding| {
            matches!(
                encoding,
                Encoding::SingleByte(_)
                    | Encoding::Ascii
                    | Encoding::Utf8 { last: 0xFFFF }
                    | Encoding::Wide(wide::Wide::Ucs2)
            )
        };
        if self == other {
            return true;
        }
        match (self.row().encoding, other.row().encoding) {
            (_, Encoding::Bytes) => false,
            (Encoding::Bytes, _) => other.is_stored_as_is(),
            _ if self.has_supplement() => true,
            (_, encoding) if self.is_unicode() => is_basic(encoding),
            (_, Encoding::Ascii) => self.keeps_ascii(),
            _ => false,
        }
    }

    /// Number of bytes of a value in this character set (LENGTH).
    pub fn octet_length(self, value: &[u8]) -> usize {
        match self.row().encoding {
            Encoding::SingleByte(_) | Encoding::Ascii => utf8::count_chars(value),
            Encoding::Utf8 { .. } | Encoding::Bytes => value.len(),
            Encoding::Wide(wide) => wide.octet_length(value),
            Encoding::Legacy(_) => self.encode_lossy(value).len(),
        }
    }

    /// Number of characters of a value (CHAR_LENGTH).
    pub fn char_length(self, value: &[u8]) -> usize {
        match self {
            Self::Binary => value.len(),
            _ => utf8::count_chars(value),
        }
    }

    /// Whether it has a character of this code.
    pub fn holds(self, point: u32) -> bool {
        match self.row().encoding {
            Encoding::Bytes => true,
            Encoding::Utf8 { last: 0x10_FFFF } => true,
            Encoding::Utf8 { last } => point <= last,
            Encoding::Ascii => point < 0x80,
            Encoding::SingleByte(index) => single_byte::table(index).byte(point).is_some(),
            Encoding::Wide(wide) => wide.holds(point),
            Encoding::Legacy(encoding) => append_legacy(encoding, point, &mut Vec::new()),
        }
    }

    /// Appends a character's bytes in this character set; returns whether it has the character.
    pub(crate) fn append(self, point: u32, out: &mut Vec<u8>) -> bool {
        match self.row().encoding {
            Encoding::SingleByte(index) => match single_byte::table(index).byte(point) {
                Some(byte) => out.push(byte),
                None => return false,
            },
            Encoding::Wide(wide) => return wide.append(point, out),
            Encoding::Legacy(encoding) => return append_legacy(encoding, point, out),
            _ if !self.holds(point) => return false,
            _ => utf8::encode(point, out),
        }
        true
    }

    /// The bytes of UTF-8 text in this character set; the error holds the position of the first
    /// character that it lacks.
    pub fn encode(self, text: &[u8]) -> Result<Cow<'_, [u8]>, CharsetError> {
        match self.row().encoding {
            Encoding::Utf8 { last: 0x10_FFFF } | Encoding::Bytes => return Ok(Cow::Borrowed(text)),
            _ if text.is_ascii() && self.keeps_ascii() => return Ok(Cow::Borrowed(text)),
            _ => {}
        }
        let mut out = Vec::with_capacity(text.len());
        let mut position = 0;
        while let Some((point, length)) = utf8::decode(&text[position..]) {
            if !self.append(point, &mut out) {
                return Err(CharsetError { position });
            }
            position += length;
        }
        Ok(Cow::Owned(out))
    }

    /// [`Charset::encode`] that writes `?` for each missing character (CONVERT ... USING).
    pub fn encode_lossy(self, text: &[u8]) -> Cow<'_, [u8]> {
        match self.encode(text) {
            Ok(bytes) => bytes,
            Err(_) => {
                let mut out = Vec::with_capacity(text.len());
                for point in utf8::Points::new(text) {
                    if !self.append(point, &mut out) {
                        self.append(u32::from(b'?'), &mut out);
                    }
                }
                Cow::Owned(out)
            }
        }
    }

    /// UTF-8 text with `?` for every character that this character set lacks.
    pub fn restrict(self, text: &[u8]) -> Cow<'_, [u8]> {
        if matches!(self, Self::Utf8mb4 | Self::Binary) || text.is_ascii() && self.keeps_ascii() {
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

    /// UTF-8 text of bytes in this character set (LOAD DATA, introducers, CONVERT of binary); the
    /// error holds the position of the first byte that is not valid in it.
    pub fn decode(self, bytes: &[u8]) -> Result<Cow<'_, [u8]>, CharsetError> {
        if self == Self::Binary || bytes.is_ascii() && self.keeps_ascii() {
            return Ok(Cow::Borrowed(bytes));
        }
        match self.row().encoding {
            Encoding::Bytes => Ok(Cow::Borrowed(bytes)),
            Encoding::SingleByte(index) => Ok(Cow::Owned(single_byte::table(index).text(bytes))),
            Encoding::Ascii => Err(CharsetError {
                position: bytes.iter().position(|byte| *byte >= 0x80).unwrap_or(0),
            }),
            Encoding::Wide(wide) => wide.decode(bytes).map(Cow::Owned),
            Encoding::Legacy(encoding) => decode_legacy(encoding, bytes).map(Cow::Owned),
            Encoding::Utf8 { last } => {
                let wrong = match std::str::from_utf8(bytes) {
                    Ok(text) if last < 0x10_FFFF => text
                        .char_indices()
                        .find(|(_, character)| u32::from(*character) > last)
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

fn append_legacy(encoding: &'static encoding_rs::Encoding, point: u32, out: &mut Vec<u8>) -> bool {
    let Some(character) = char::from_u32(point) else {
        return false;
    };
    let (mut text, mut bytes) = ([0; 4], [0; 16]);
    let text = character.encode_utf8(&mut text);
    let mut encoder = encoding.new_encoder();
    let (result, _, written) = encoder.encode_from_utf8_without_replacement(text, &mut bytes, true);
    match (result, bytes.get(..written)) {
        (encoding_rs::EncoderResult::InputEmpty, Some(bytes)) => {
            out.extend_from_slice(bytes);
            true
        }
        _ => false,
    }
}

fn decode_legacy(
    encoding: &'static encoding_rs::Encoding,
    bytes: &[u8],
) -> Result<Vec<u8>, CharsetError> {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let length = decoder.max_utf8_buffer_length_without_replacement(bytes.len());
    let mut out = vec![0; length.unwrap_or(0)];
    match decoder.decode_to_utf8_without_replacement(bytes, &mut out, true) {
        (encoding_rs::DecoderResult::InputEmpty, _, written) => {
            out.truncate(written);
            Ok(out)
        }
        (encoding_rs::DecoderResult::Malformed(wrong, more), read, _) => {
            let behind = usize::from(wrong) + usize::from(more);
            let position = read.saturating_sub(behind);
            Err(CharsetError { position })
        }
        (encoding_rs::DecoderResult::OutputFull, read, _) => Err(CharsetError { position: read }),
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
            assert_eq!(row.default_collation.charset(), row.charset, "{}", row.name);
            assert_eq!(row.binary_collation.charset(), row.charset, "{}", row.name);
        }
    }

    #[test]
    fn as_mysql_encodes() {
        // HEX(CONVERT(x USING c)) of MySQL.
        for (charset, text, expected) in [
            ("latin2", "Łódź", &b"\xA3\xF3d\xBC"[..]),
            ("cp1250", "Łódź", b"\xA3\xF3d\x9F"),
            ("cp1251", "Мир", b"\xCC\xE8\xF0"),
            ("koi8r", "Мир", b"\xED\xC9\xD2"),
            ("cp850", "é", b"\x82"),
            ("greek", "α", b"\xE1"),
            ("hebrew", "א", b"\xE0"),
            ("swe7", "Å", b"]"),
            ("ucs2", "aé", b"\0a\0\xE9"),
            ("utf16", "a😀", b"\0a\xD8\x3D\xDE\x00"),
            ("utf16le", "a😀", b"a\0\x3D\xD8\x00\xDE"),
            ("utf32", "a😀", b"\0\0\0a\0\x01\xF6\x00"),
            ("sjis", "日本", b"\x93\xFA\x96\x7B"),
            ("cp932", "日本", b"\x93\xFA\x96\x7B"),
            ("ujis", "日本", b"\xC6\xFC\xCB\xDC"),
            ("euckr", "한", b"\xC7\xD1"),
            ("gbk", "中", b"\xD6\xD0"),
            ("big5", "中", b"\xA4\xA4"),
        ] {
            let charset = Charset::by_name(charset).unwrap();
            let text = text.as_bytes();
            assert_eq!(charset.encode(text).unwrap(), expected, "{charset:?}");
            assert_eq!(charset.decode(expected).unwrap(), text, "{charset:?}");
            assert_eq!(charset.octet_length(text), expected.len(), "{charset:?}");
            assert!(Charset::Utf8mb4.includes(charset));
        }
        assert!(!Charset::Latin1.includes(Charset::Latin2));
        assert!(Charset::Latin2.includes(Charset::Ascii));
        assert!(!Charset::Utf8mb3.includes(Charset::Gbk));
        assert_eq!(
            Charset::Ucs2.encode("a😀".as_bytes()),
            Err(CharsetError { position: 1 })
        );
        assert_eq!(Charset::Ucs2.restrict("a😀".as_bytes()), &b"a?"[..]);
        assert_eq!(Charset::Utf16.encode_lossy("é".as_bytes()), &b"\0\xE9"[..]);
        assert_eq!(Charset::Ucs2.decode(b"A").unwrap(), &b"A"[..]);
        assert_eq!(
            Charset::Sjis.decode(b"a\x93"),
            Err(CharsetError { position: 1 })
        );
    }
}
