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
//! of the Unicode Collation Algorithm ([`uca`]) or the simpler ones of `general_ci` and latin1
//! ([`weights`]). `PAD SPACE` collations compare as if the shorter value had spaces at its end.
//! See the manual, "Unicode Character Sets" and "Collation Coercibility in Expressions".

pub mod aggregate;
mod ascii;
mod compare;
mod general_ci;
pub mod like;
#[cfg(test)]
mod tests;
mod uca;
mod weights;

use crate::charset::Charset;
use weights::Simple;

pub use aggregate::{Coercibility, CollationMix, aggregate_collations};
pub use like::LikePattern;

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

/// Where a collation's weights come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The bytes themselves.
    Bytes,
    /// One weight a character.
    Simple(Simple),
    /// The Unicode Collation Algorithm, with so many of its levels: 1 knows letters, 2 accents
    /// too, 3 also case.
    Uca {
        levels: u8,
        /// All characters beyond the Basic Multilingual Plane are the same one.
        bmp_only: bool,
    },
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

const fn row(
    id: u16,
    name: &'static str,
    charset: Charset,
    is_default: bool,
    pad_space: bool,
    sort_length: u8,
    order: Order,
) -> Collation {
    Collation {
        id: CollationId(id),
        name,
        charset,
        is_default,
        pad_space,
        sort_length,
        order,
    }
}

const UCA_AI_CI: Order = Order::Uca {
    levels: 1,
    bmp_only: false,
};
const UCA_AS_CI: Order = Order::Uca {
    levels: 2,
    bmp_only: false,
};
const UCA_AS_CS: Order = Order::Uca {
    levels: 3,
    bmp_only: false,
};
const UCA_BMP: Order = Order::Uca {
    levels: 1,
    bmp_only: true,
};
const GENERAL: Order = Order::Simple(Simple::GeneralCi);
const LATIN1_SWEDISH: Order = Order::Simple(Simple::Latin1SwedishCi);
const LATIN1_CODE: Order = Order::Simple(Simple::Latin1Bin);

/// Every collation, in the order of their names.
#[rustfmt::skip]
pub const COLLATIONS: &[Collation] = &[
    row(65,  "ascii_bin",          Charset::Ascii,   false, true,  1, Order::Bytes),
    row(11,  "ascii_general_ci",   Charset::Ascii,   true,  true,  1, GENERAL),
    row(63,  "binary",             Charset::Binary,  true,  false, 1, Order::Bytes),
    row(47,  "latin1_bin",         Charset::Latin1,  false, true,  1, LATIN1_CODE),
    row(8,   "latin1_swedish_ci",  Charset::Latin1,  true,  true,  1, LATIN1_SWEDISH),
    row(83,  "utf8mb3_bin",        Charset::Utf8mb3, false, true,  1, Order::Bytes),
    row(33,  "utf8mb3_general_ci", Charset::Utf8mb3, true,  true,  1, GENERAL),
    row(192, "utf8mb3_unicode_ci", Charset::Utf8mb3, false, true,  8, UCA_BMP),
    row(255, "utf8mb4_0900_ai_ci", Charset::Utf8mb4, true,  false, 0, UCA_AI_CI),
    row(305, "utf8mb4_0900_as_ci", Charset::Utf8mb4, false, false, 0, UCA_AS_CI),
    row(278, "utf8mb4_0900_as_cs", Charset::Utf8mb4, false, false, 0, UCA_AS_CS),
    row(309, "utf8mb4_0900_bin",   Charset::Utf8mb4, false, false, 1, Order::Bytes),
    row(46,  "utf8mb4_bin",        Charset::Utf8mb4, false, true,  1, Order::Bytes),
    row(45,  "utf8mb4_general_ci", Charset::Utf8mb4, false, true,  1, GENERAL),
    row(224, "utf8mb4_unicode_ci", Charset::Utf8mb4, false, true,  8, UCA_BMP),
];

const IDS: usize = 512;

const ROWS: [Collation; COLLATIONS.len() + 1] = {
    let json = CollationId::JSON.0;
    let json = row(json, "json", Charset::Utf8mb4, false, false, 1, Order::Json);
    let mut rows = [json; COLLATIONS.len() + 1];
    let mut index = 0;
    while index < COLLATIONS.len() {
        rows[index] = COLLATIONS[index];
        index += 1;
    }
    rows
};

/// Places in [`ROWS`] by id; ids that do not exist have the default's place.
const PLACES: [u8; IDS] = {
    let default = CollationId::UTF8MB4_0900_AI_CI.0;
    let mut default_place = 0;
    let mut index = 0;
    while index < COLLATIONS.len() {
        if COLLATIONS[index].id.0 == default {
            default_place = index as u8;
        }
        index += 1;
    }
    let mut places = [default_place; IDS];
    index = 0;
    while index < ROWS.len() {
        places[ROWS[index].id.0 as usize] = index as u8;
        index += 1;
    }
    places
};

impl CollationId {
    /// The collation's row; that of the default for an id that does not exist.
    pub fn collation(self) -> &'static Collation {
        static TABLE: [Collation; COLLATIONS.len() + 1] = ROWS;
        &TABLE[usize::from(PLACES[usize::from(self.0) % IDS])]
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
        matches!(
            self.collation().order,
            Order::Bytes | Order::Simple(Simple::Latin1Bin)
        )
    }

    /// Whether values are equal exactly when their bytes are. (A PAD SPACE collation that orders by
    /// code is one for values without spaces at their ends.)
    pub fn is_bytewise_equality(self) -> bool {
        let collation = self.collation();
        collation.order == Order::Bytes && !collation.pad_space
    }
}
