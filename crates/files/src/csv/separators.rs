//! Index of the separators of a block: the places of all delimiters and row ends, inside of quoted fields too, so that a
//! field's end is looked up and not searched.
//!
//! They are found 64 bytes at a time ([`byte_mask()`]; Langdale and Lemire, "Parsing Gigabytes of JSON per Second", 2019, on the index
//! before the parse).

use mayfly_engine::{MASK_BYTES, byte_mask};
use memchr::memchr;

use super::dialect::Dialect;

/// Places of the separators of a block, in order. The last one is the end of the last row, which may lie behind the text.
#[derive(Debug)]
pub(crate) struct Separators {
    places: Vec<u32>,
    /// Whether all rows have the fields that were asked for, none of them quoted, so that every separator ends a field.
    is_regular: bool,
}

/// Calls `found` with the places of two or three bytes in a text, in order, until it says that it is enough.
#[inline]
pub(super) fn each_place(text: &[u8], bytes: [u8; 3], mut found: impl FnMut(u32) -> bool) -> bool {
    let (chunks, rest) = text.as_chunks::<MASK_BYTES>();
    let mut start = 0;
    for chunk in chunks {
        let mut places = byte_mask(chunk, bytes);
        while places != 0 {
            if !found(start + places.trailing_zeros()) {
                return false;
            }
            places &= places - 1;
        }
        start += MASK_BYTES as u32;
    }
    let mut rest = (start..).zip(rest).filter(|(_, byte)| bytes.contains(byte));
    rest.all(|(place, _)| found(place))
}

impl Separators {
    /// The separators of a block of rows of `width` fields, whose length is below 4 GiB.
    pub(crate) fn of(text: &[u8], dialect: &Dialect, width: usize) -> Self {
        let quote = dialect.quote.filter(|quote| memchr(*quote, text).is_some());
        if let Some(quote) = quote {
            let regular = (width > 0).then(|| Self::of_quoted(text, dialect, width, quote));
            if let Some(regular) = regular.flatten() {
                return regular;
            }
        }
        let mut places = Vec::with_capacity(text.len() / 8);
        let (delimiter, row_end) = (dialect.delimiter, dialect.row_end);
        each_place(text, [delimiter, row_end, row_end], |place| {
            places.push(place);
            true
        });
        let mut separators = Self::new(places, text, dialect, width);
        separators.is_regular &= quote.is_none();
        separators
    }

    /// Size in bytes.
    pub(crate) fn size(&self) -> usize {
        self.places.capacity() * size_of::<u32>()
    }

    /// The separators outside of quoted fields; `None` unless all rows are well-formed and `width` fields wide.
    fn of_quoted(text: &[u8], dialect: &Dialect, width: usize, quote: u8) -> Option<Self> {
        let (delimiter, row_end) = (dialect.delimiter, dialect.row_end);
        let is_doubled = dialect.escape == Some(quote);
        if !is_doubled && dialect.escape.is_some() {
            return None;
        }
        let mut places = Vec::with_capacity(text.len() / 8);
        // Where the present field begins, whether it is open behind a quote, and the second quote of a doubled one.
        let (mut start, mut is_open, mut second) = (0, false, None);
        let is_end = |rest: &[u8]| match rest {
            [] | [b'\r'] => true,
            [b'\r', next, ..] => *next == row_end || b'\r' == row_end,
            [next, ..] => *next == delimiter || *next == row_end,
        };
        let is_whole = each_place(text, [delimiter, row_end, quote], |place| {
            let at = place as usize;
            if text[at] != quote {
                if !is_open {
                    places.push(place);
                    start = place + 1;
                }
            } else if !is_open {
                // Elsewhere a quote is a character.
                is_open = place == start;
            } else if second == Some(place) {
                second = None;
            } else if is_doubled && text.get(at + 1) == Some(&quote) {
                second = Some(place + 1);
            } else {
                is_open = false;
                return is_end(&text[at + 1..]);
            }
            true
        });
        let separators = Self::new(places, text, dialect, width);
        (is_whole && !is_open && separators.is_regular).then_some(separators)
    }

    /// The separators at places in a text. They are regular if each row has `width` fields that they end.
    fn new(mut places: Vec<u32>, text: &[u8], dialect: &Dialect, width: usize) -> Self {
        let row_end = dialect.row_end;
        if text.last().is_some_and(|byte| *byte != row_end) {
            places.push(text.len() as u32);
        }
        let is_row_end = |place: &u32| text.get(*place as usize).is_none_or(|it| *it == row_end);
        let is_regular = width > 0
            && dialect.comment.is_none()
            && places.len().is_multiple_of(width)
            && places.chunks_exact(width).all(|row| {
                let (last, others) = row.split_last().unwrap_or((&0, &[]));
                is_row_end(last) && !others.iter().any(is_row_end)
            });
        Self { places, is_regular }
    }

    /// Those at a place and behind it.
    pub(super) fn from(&self, at: usize) -> &[u32] {
        let before = self.places.partition_point(|it| (*it as usize) < at);
        &self.places[before..]
    }

    /// Whether each separator ends a field of a row as wide as asked for.
    pub(super) fn is_regular(&self) -> bool {
        self.is_regular
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_as_many_plain_fields_are_regular() {
        for (text, is_regular) in [
            ("a,b\nc,d\n", true),
            ("a,b\r\n,", true),
            ("", true),
            ("a,b\nc\nd,e,f\n", false),
            ("a\n,b,c\n", false),
            ("a,b\n\nc,d\n", false),
            ("a,\"b\"\n", true),
            ("\"a,\n\",\"b\"\"\"\r\n\"\",c", true),
            ("5\" pipe,\"b\"\r", true),
            ("a,\"b\nc,d\n", false),
            ("a,\"b\"c\n", false),
            ("a,\"b\"\"\n", false),
        ] {
            let found = Separators::of(text.as_bytes(), &Dialect::default(), 2);
            assert_eq!(found.is_regular, is_regular, "{text:?}");
        }
    }

    #[test]
    fn every_separator_is_found() {
        let mut state = 1_u64;
        let mut byte = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let drawn = (state >> 33) as u8;
            // Bytes that differ from a separator in one bit, and high ones.
            [b',', b'\n', b'-', b'\x0B', 0xAC, 0x8A, 0, drawn][usize::from(drawn % 8)]
        };
        for length in 0..200 {
            let text: Vec<u8> = (0..length).map(|_| byte()).collect();
            let mut expected: Vec<u32> = (0_u32..)
                .zip(&text)
                .filter(|(_, byte)| matches!(byte, b',' | b'\n'))
                .map(|(at, _)| at)
                .collect();
            if text.last().is_some_and(|last| *last != b'\n') {
                expected.push(length);
            }
            let found = Separators::of(&text, &Dialect::default(), 2);
            assert_eq!(found.places, expected, "{text:?}");
        }
    }
}
