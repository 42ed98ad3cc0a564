//! Collations: how strings compare, group, hash and sort.
//!
//! Every value is UTF-8 (or bytes, for `binary`), whatever its character set. A collation gives
//! each value a sequence of weights; two values are equal when their sequences are, and sort by
//! them. Three things are derived from the weights, and always agree with one another:
//! [`CollationId::compare`], sort keys whose byte order is the collation's order
//! ([`CollationId::append_sort_key`]), and hashes ([`CollationId::hash64`]).
//!
//! Nearly all text is ASCII, so every operation first tries to treat both values as ASCII, eight
//! bytes at a time and without a table of weights ([`ascii`]); the rest goes through the weights
//! of the Unicode Collation Algorithm ([`uca`]) or the simpler ones of `general_ci` and of other
//! character sets ([`weights`]). `PAD SPACE` collations compare as if the shorter value had spaces at its end.
//! See the manual, "Unicode Character Sets" and "Collation Coercibility in Expressions".

pub mod aggregate;
mod ascii;
mod beginnings;
mod compare;
mod general_ci;
pub mod like;
mod list;
#[cfg(test)]
mod tests;
mod uca;
mod weight_string;
mod weights;

use crate::charset::Charset;
use uca::Uca;
use weights::Simple;

pub use aggregate::{Coercibility, CollationMix, aggregate_collations};
pub use beginnings::{Beginnings, POINT_WEIGHTS};
pub use like::LikePattern;
pub use list::COLLATIONS;

/// A collation, by MySQL's number for it (`information_schema.COLLATIONS.ID`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CollationId(pub u16);

impl CollationId {
    /// `latin1_swedish_ci`
    pub const LATIN1_SWEDISH_CI: Self = Self(8);
    /// `ascii_general_ci`
    pub const ASCII_GENERAL_CI: Self = Self(11);
    /// `utf8mb3_general_ci`
    pub const UTF8MB3_GENERAL_CI: Self = Self(33);
    /// `utf8mb4_general_ci`
    pub const UTF8MB4_GENERAL_CI: Self = Self(45);
    /// `utf8mb4_bin`
    pub const UTF8MB4_BIN: Self = Self(46);
    /// `latin1_bin`
    pub const LATIN1_BIN: Self = Self(47);
    /// `binary`: bytes, without a character set.
    pub const BINARY: Self = Self(63);
    /// `ascii_bin`
    pub const ASCII_BIN: Self = Self(65);
    /// `utf8mb3_bin`
    pub const UTF8MB3_BIN: Self = Self(83);
    /// `utf8mb4_unicode_ci`
    pub const UTF8MB4_UNICODE_CI: Self = Self(224);
    /// `utf8mb4_0900_ai_ci`, the default.
    pub const UTF8MB4_0900_AI_CI: Self = Self(255);
    /// `utf8mb4_0900_as_cs`
    pub const UTF8MB4_0900_AS_CS: Self = Self(278);
    /// `utf8mb4_0900_as_ci`
    pub const UTF8MB4_0900_AS_CI: Self = Self(305);
    /// `utf8mb4_0900_bin`
    pub const UTF8MB4_0900_BIN: Self = Self(309);
    /// The order of JSON documents (see [`crate::json::compare()`]). It is no collation that a user
    /// could name: keys and comparisons of JSON values use it in the place of one.
    pub const JSON: Self = Self(511);
}

impl Default for CollationId {
    fn default() -> Self {
        Self::UTF8MB4_0900_AI_CI
    }
}

/// What text of the characters 0x20 to 0x7E is to a collation: which of it may be compared and hashed
/// without weights, trailing spaces of PAD SPACE apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainText {
    /// Two such texts are equal exactly when their bytes are.
    CaseSensitive,
    /// Two such texts are equal exactly when they differ in letter case alone.
    CaseInsensitive,
    /// Letters are equal to others (I and ı, Y and I), or two of them are one (`aa`): only weights
    /// tell which texts are equal.
    Weighed,
}

/// Where a collation's weights come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The bytes themselves.
    Bytes,
    /// One weight a character.
    Simple(Simple),
    /// The Unicode Collation Algorithm.
    Uca(Uca),
    /// That of JSON documents.
    Json,
}

/// One line of SHOW COLLATION.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collation {
    /// Its number.
    pub id: CollationId,
    /// Its name.
    pub name: &'static str,
    /// Whose characters it orders.
    pub charset: Charset,
    /// Whether columns of the character set get it when they name none.
    pub is_default: bool,
    /// PAD SPACE: trailing spaces do not count. NO PAD otherwise.
    pub pad_space: bool,
    /// What SHOW COLLATION shows as Sortlen.
    pub sort_length: u8,
    pub(crate) order: Order,
}

impl CollationId {
    /// The collation's row; that of the default for an id that does not exist.
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

    /// Whose characters it orders.
    pub fn charset(self) -> Charset {
        self.collation().charset
    }

    /// Whether it is the collation by code of its character set (`_bin` or `binary`).
    pub fn is_binary_order(self) -> bool {
        match self.collation().order {
            Order::Bytes => true,
            Order::Simple(simple) => simple.is_by_code(),
            Order::Uca(_) | Order::Json => false,
        }
    }

    /// Whether values are equal exactly when their bytes are. (A PAD SPACE collation that orders by
    /// code is one for values without spaces at their ends.)
    pub fn is_bytewise_equality(self) -> bool {
        let collation = self.collation();
        collation.order == Order::Bytes && !collation.pad_space
    }

    /// What plain text is to the collation.
    pub fn plain_text(self) -> PlainText {
        match self.collation().order {
            Order::Bytes => PlainText::CaseSensitive,
            Order::Json => PlainText::Weighed,
            Order::Simple(simple) => simple.weights().plain_text(),
            Order::Uca(uca) => uca.plain_text(),
        }
    }

    /// A character that is not behind any other in the collation and not ignored.
    pub fn first_character(self) -> char {
        match self.collation().order {
            Order::Bytes | Order::Json => '\0',
            Order::Simple(simple) => simple.weights().bounds().0,
            Order::Uca(uca) => uca.first_character(),
        }
    }

    /// Text without the characters at its end that may begin a letter of several characters: what
    /// begins with the whole text is sorted among what begins with the rest.
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

    /// A character that is not before any other in the collation.
    pub fn last_character(self) -> char {
        match self.collation().order {
            Order::Bytes | Order::Json => '\u{10FFFF}',
            Order::Simple(simple) => simple.weights().bounds().1,
            Order::Uca(uca) => uca.last_character(),
        }
    }
}
