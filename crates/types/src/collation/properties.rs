//! Properties of collations other than their weights.

use super::order::Order;
use super::{COLLATIONS, Collation, CollationId, PlainText, beginnings, list};
use crate::charset::Charset;

impl CollationId {
    /// The collation's row; the default collation's for an id that does not exist.
    pub fn collation(self) -> &'static Collation {
        list::collation(self)
    }

    /// The collation of a name, in any letter case; `utf8_…` is `utf8mb3_…`.
    pub fn by_name(name: &str) -> Option<Self> {
        let renamed;
        let name = match name.get(..5) {
            Some(prefix) if prefix.eq_ignore_ascii_case("utf8_") => {
                renamed = format!("utf8mb3_{}", &name[5..]);
                renamed.as_str()
            }
            _ => name,
        };
        COLLATIONS
            .iter()
            .find(|row| row.name.eq_ignore_ascii_case(name))
            .map(|row| row.id)
    }

    /// The collation of a number, as clients name them.
    pub fn by_number(number: u16) -> Option<Self> {
        let known = |row: &&Collation| row.id.0 == number;
        COLLATIONS.iter().find(known).map(|row| row.id)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.collation().name
    }

    /// The character set that it orders.
    pub fn charset(self) -> Charset {
        self.collation().charset
    }

    /// Whether it is the collation by code of its character set (`_bin` or `binary`).
    #[inline]
    pub fn is_binary_order(self) -> bool {
        match self.collation().order {
            Order::Bytes => true,
            Order::Simple(simple) => simple.is_by_code(),
            Order::Uca(_) | Order::Json => false,
        }
    }

    /// Whether values are equal exactly when their bytes are. (A PAD SPACE collation that orders by
    /// code is bytewise for values without trailing spaces.)
    pub fn is_bytewise_equality(self) -> bool {
        let collation = self.collation();
        collation.order == Order::Bytes && !collation.pad_space
    }

    /// How the collation treats plain text.
    pub fn plain_text(self) -> PlainText {
        match self.collation().order {
            Order::Bytes => PlainText::CaseSensitive,
            Order::Json => PlainText::Weighed,
            Order::Simple(simple) => simple.weights().plain_text(),
            Order::Uca(uca) => uca.plain_text(),
        }
    }

    /// A character that sorts behind no other in the collation and is not ignored.
    pub fn first_character(self) -> char {
        match self.collation().order {
            Order::Bytes | Order::Json => '\0',
            Order::Simple(simple) => simple.weights().bounds().0,
            Order::Uca(uca) => uca.first_character(),
        }
    }

    /// Text without the characters at its end that may begin a contraction: texts that begin with
    /// the whole of it sort among those that begin with the result.
    pub fn without_begun_letter(self, text: &[u8]) -> &[u8] {
        let Order::Uca(uca) = self.collation().order else {
            return text;
        };
        let mut rest = text;
        while let Some((last, before)) = std::str::from_utf8(rest)
            .ok()
            .and_then(|rest| rest.char_indices().next_back())
            .map(|(at, last)| (last, &rest[..at]))
            && beginnings::begins_letter(uca, u32::from(last))
        {
            rest = before;
        }
        rest
    }

    /// A character that sorts before no other in the collation.
    pub fn last_character(self) -> char {
        match self.collation().order {
            Order::Bytes | Order::Json => '\u{10FFFF}',
            Order::Simple(simple) => simple.weights().bounds().1,
            Order::Uca(uca) => uca.last_character(),
        }
    }
}
