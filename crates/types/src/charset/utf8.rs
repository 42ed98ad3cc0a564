//! Walking through UTF-8 that may be damaged: a wrong byte counts as one character of its own.

/// First code point given to wrong bytes, past Unicode's last: one each, so that each equals only
/// itself.
const WRONG: u32 = 0x11_0000;

/// The first code point of some bytes and its length; `None` at the end.
pub fn decode(bytes: &[u8]) -> Option<(u32, usize)> {
    let first = *bytes.first()?;
    if first < 0x80 {
        return Some((u32::from(first), 1));
    }
    let next = |index: usize| -> Option<u32> {
        let byte = *bytes.get(index)?;
        (byte & 0xC0 == 0x80).then_some(u32::from(byte & 0x3F))
    };
    let decoded = match first {
        0xC2..=0xDF => next(1).map(|a| (u32::from(first & 0x1F) << 6 | a, 2)),
        0xE0..=0xEF => next(1).zip(next(2)).and_then(|(a, b)| {
            let point = u32::from(first & 0xF) << 12 | a << 6 | b;
            (point >= 0x800 && !(0xD800..0xE000).contains(&point)).then_some((point, 3))
        }),
        0xF0..=0xF4 => next(1).zip(next(2)).zip(next(3)).and_then(|((a, b), c)| {
            let point = u32::from(first & 0x7) << 18 | a << 12 | b << 6 | c;
            (0x1_0000..0x11_0000).contains(&point).then_some((point, 4))
        }),
        _ => None,
    };
    Some(decoded.unwrap_or((WRONG + u32::from(first), 1)))
}

/// Number of characters of a text.
pub fn count_chars(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.chars().count(),
        Err(_) => Points::new(bytes).count(),
    }
}

/// The byte offset of the character number `index`; the length when there are fewer.
pub fn offset_of_char(bytes: &[u8], index: usize) -> usize {
    if index >= bytes.len() {
        return bytes.len();
    }
    if bytes[..index].is_ascii() {
        return index;
    }
    let mut at = 0;
    for _ in 0..index {
        match decode(&bytes[at..]) {
            Some((_, length)) => at += length,
            None => break,
        }
    }
    at
}

/// Appends a code point; a wrong byte as itself.
pub fn encode(point: u32, out: &mut Vec<u8>) {
    match char::from_u32(point) {
        Some(character) => {
            let mut buffer = [0; 4];
            out.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
        }
        None => out.push(point as u8),
    }
}

/// The code points of some bytes.
#[derive(Debug, Clone)]
pub struct Points<'a> {
    rest: &'a [u8],
}

impl<'a> Points<'a> {
    /// Points of a text, from its start.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The part that was not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl Iterator for Points<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let (point, length) = decode(self.rest)?;
        self.rest = &self.rest[length..];
        Some(point)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_std(text in ".*") {
            let points: Vec<u32> = Points::new(text.as_bytes()).collect();
            let expected: Vec<u32> = text.chars().map(u32::from).collect();
            prop_assert_eq!(points, expected);
        }

        #[test]
        fn any_bytes_round_trip(bytes: Vec<u8>) {
            let mut out = Vec::new();
            Points::new(&bytes).for_each(|point| encode(point, &mut out));
            prop_assert_eq!(out, bytes);
        }
    }
}
