//! Character sets of one byte a character, from `data/single_byte.txt`. A line of it is a name, the
//! first byte whose character is not ASCII's, and the characters from there to byte 255 as four
//! hexadecimal digits each, 0000 where there is none. `data/README.md` says where they are from.

use std::sync::OnceLock;

use super::utf8;

static LINES: &str = include_str!("data/single_byte.txt");
static TABLES: [OnceLock<Table>; 23] = [const { OnceLock::new() }; 23];

/// The characters of a character set.
pub(super) struct Table {
    /// The character of each byte; 0 where there is none.
    points: [u16; 256],
    /// The byte of each character; 0 where there is none.
    bytes: Vec<u8>,
    keeps_ascii: bool,
}

/// The table of the line number `index`.
pub(super) fn table(index: u8) -> &'static Table {
    let index = usize::from(index);
    TABLES[index].get_or_init(|| Table::of_line(LINES.lines().nth(index).unwrap_or("")))
}

impl Table {
    fn of_line(line: &str) -> Self {
        let mut fields = line.split(' ');
        let mut field = || fields.next().unwrap_or("");
        let (_, first, characters) = (field(), field(), field());
        let hex = |digits: &str| u16::from_str_radix(digits, 16).unwrap_or(0);
        let first = hex(first);
        let mut points: [u16; 256] = std::array::from_fn(|byte| byte as u16);
        for (byte, digits) in (usize::from(first)..256).zip(characters.as_bytes().chunks(4)) {
            points[byte] = std::str::from_utf8(digits).map_or(0, hex);
        }
        let mut bytes = vec![0; 0x1_0000];
        for byte in (0..=255u8).rev() {
            bytes[usize::from(points[usize::from(byte)])] = byte;
        }
        bytes[0] = 0;
        Self {
            points,
            bytes,
            keeps_ascii: first >= 0x80,
        }
    }

    /// Whether ASCII characters have their ASCII bytes.
    pub(super) fn keeps_ascii(&self) -> bool {
        self.keeps_ascii
    }

    /// The byte of a character; `None` where there is none.
    pub(super) fn byte(&self, point: u32) -> Option<u8> {
        match self.bytes.get(usize::try_from(point).ok()?) {
            None => None,
            Some(0) => (point == 0).then_some(0),
            Some(byte) => Some(*byte),
        }
    }

    /// The text of bytes; `?` for a byte that is no character.
    pub(super) fn text(&self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 4);
        for byte in bytes {
            match self.points[usize::from(*byte)] {
                0 if *byte != 0 => out.push(b'?'),
                point => utf8::encode(point.into(), &mut out),
            }
        }
        out
    }
}
