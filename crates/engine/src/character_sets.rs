//! Character sets and collations by name, for SET, DDL and information_schema.

use mayfly_types::charset::Charset;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result};

/// A character set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CharacterSet {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it is, for people.
    pub(crate) description: &'static str,
    /// The collation of columns that name none.
    pub(crate) default_collation: &'static str,
    /// The most bytes of a character.
    pub(crate) bytes_max: u32,
}

/// A collation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CollationRow {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its character set.
    pub(crate) character_set: &'static str,
    /// MySQL's number for it.
    pub(crate) id: u16,
    /// `SORTLEN` of information_schema.
    pub(crate) sort_length: u32,
    /// PAD SPACE, or else NO PAD.
    pub(crate) pad_space: bool,
}

/// The character sets.
pub(crate) const CHARACTER_SETS: &[CharacterSet] = &[
    CharacterSet {
        name: "ascii",
        description: "US ASCII",
        default_collation: "ascii_general_ci",
        bytes_max: 1,
    },
    CharacterSet {
        name: "binary",
        description: "Binary pseudo charset",
        default_collation: "binary",
        bytes_max: 1,
    },
    CharacterSet {
        name: "latin1",
        description: "cp1252 West European",
        default_collation: "latin1_swedish_ci",
        bytes_max: 1,
    },
    CharacterSet {
        name: "utf8mb3",
        description: "UTF-8 Unicode",
        default_collation: "utf8mb3_general_ci",
        bytes_max: 3,
    },
    CharacterSet {
        name: "utf8mb4",
        description: "UTF-8 Unicode",
        default_collation: "utf8mb4_0900_ai_ci",
        bytes_max: 4,
    },
];

const fn collation(
    name: &'static str,
    character_set: &'static str,
    id: u16,
    sort_length: u32,
    pad_space: bool,
) -> CollationRow {
    CollationRow {
        name,
        character_set,
        id,
        sort_length,
        pad_space,
    }
}

/// The collations.
pub(crate) const COLLATIONS: &[CollationRow] = &[
    collation("ascii_bin", "ascii", 65, 1, true),
    collation("ascii_general_ci", "ascii", 11, 1, true),
    collation("binary", "binary", 63, 1, false),
    collation("latin1_bin", "latin1", 47, 1, true),
    collation("latin1_swedish_ci", "latin1", 8, 1, true),
    collation("utf8mb3_bin", "utf8mb3", 83, 1, true),
    collation("utf8mb3_general_ci", "utf8mb3", 33, 1, true),
    collation("utf8mb4_0900_ai_ci", "utf8mb4", 255, 0, false),
    collation("utf8mb4_0900_as_cs", "utf8mb4", 278, 0, false),
    collation("utf8mb4_0900_bin", "utf8mb4", 309, 1, false),
    collation("utf8mb4_bin", "utf8mb4", 46, 1, true),
    collation("utf8mb4_general_ci", "utf8mb4", 45, 1, true),
    collation("utf8mb4_unicode_ci", "utf8mb4", 224, 8, true),
];

/// The character set of a name, in any case; `utf8` is utf8mb3.
pub(crate) fn by_name(name: &str) -> Option<&'static CharacterSet> {
    let name = if name.eq_ignore_ascii_case("utf8") {
        "utf8mb3"
    } else {
        name
    };
    CHARACTER_SETS
        .iter()
        .find(|set| set.name.eq_ignore_ascii_case(name))
}

/// The character set of a collation's number.
pub(crate) fn by_collation_id(id: u16) -> Option<&'static CharacterSet> {
    collation_by_id(id).and_then(|row| by_name(row.character_set))
}

/// The collation of a name, in any case; `utf8_…` is utf8mb3_….
pub(crate) fn collation_by_name(name: &str) -> Option<&'static CollationRow> {
    let lower = name.to_ascii_lowercase();
    let full = lower
        .strip_prefix("utf8_")
        .map(|rest| format!("utf8mb3_{rest}"));
    let name = full.unwrap_or(lower);
    COLLATIONS.iter().find(|row| row.name == name)
}

/// The collation of a number.
pub(crate) fn collation_by_id(id: u16) -> Option<&'static CollationRow> {
    COLLATIONS.iter().find(|row| row.id == id)
}

/// The row of a collation; that of `binary` when it is not in the table.
pub(crate) fn row(collation: CollationId) -> &'static CollationRow {
    collation_by_id(collation.0).unwrap_or(&COLLATIONS[2])
}

impl CollationRow {
    /// Its number, as types carry it.
    pub(crate) fn collation_id(&self) -> CollationId {
        CollationId(self.id)
    }

    /// Whether columns of its character set have it when they name none.
    pub(crate) fn is_default(&self) -> bool {
        by_name(self.character_set).is_some_and(|set| set.default_collation == self.name)
    }
}

impl CharacterSet {
    /// The collation of columns that name none.
    pub(crate) fn default_collation_id(&self) -> CollationId {
        collation_by_name(self.default_collation)
            .map_or(CollationId::BINARY, |row| CollationId(row.id))
    }
}

/// The character set of a file that a statement names: 1115 when there is none of that name.
pub(crate) fn charset_of_file(name: &str) -> Result<Charset> {
    let known = by_name(name).and_then(|known| Charset::by_name(known.name));
    known.ok_or_else(|| codes::ER_UNKNOWN_CHARACTER_SET.with(&[&name]))
}
