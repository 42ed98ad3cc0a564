//! Placement of a table: its engine, and the reasons.
//!
//! MySQL decides when it creates a table: one with a BLOB, or with a string of more than 512 characters
//! (`CONVERT_IF_BIGGER_TO_BLOB` makes those BLOBs), starts on disk, because MEMORY supports neither. A table in memory
//! that is full is copied to disk row by row; the state of the thread is then "converting HEAP to ondisk".

use std::fmt;

use crate::row::FixedLayout;
use crate::spec::{DeclaredForm, DiskEngine, LegacyColumn, LegacyOptions};

/// `CONVERT_IF_BIGGER_TO_BLOB`: maximum length of a string in a table in memory, in characters.
pub const CONVERT_IF_BIGGER_TO_BLOB: u32 = 512;

/// The engine that holds a table's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegacyEngine {
    /// MEMORY: rows in memory.
    Memory,
    /// MyISAM: rows on disk.
    MyIsam,
    /// InnoDB: rows on disk.
    InnoDb,
}

impl LegacyEngine {
    /// The name shown to users.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "MEMORY",
            Self::MyIsam => "MyISAM",
            Self::InnoDb => "InnoDB",
        }
    }

    /// Whether the engine keeps rows on disk.
    pub fn is_on_disk(self) -> bool {
        self != Self::Memory
    }
}

impl From<DiskEngine> for LegacyEngine {
    fn from(engine: DiskEngine) -> Self {
        match engine {
            DiskEngine::MyIsam => Self::MyIsam,
            DiskEngine::InnoDb => Self::InnoDb,
        }
    }
}

/// Reason why a table is on disk, or was converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlacementReason {
    /// `big_tables` is set.
    BigTables,
    /// A column is a BLOB.
    Blob {
        /// Index of the column.
        column: usize,
    },
    /// A column may have more characters than `CONVERT_IF_BIGGER_TO_BLOB`.
    LongString {
        /// Index of the column.
        column: usize,
        /// Declared length in characters.
        characters: u32,
    },
    /// A limit is reached.
    Limit {
        /// The setting of the limit.
        setting: &'static str,
        /// The limit in bytes.
        bytes: u64,
    },
    /// A value takes more bytes than its column's declaration.
    LongValue,
    /// A key is longer than an index allows.
    LongKey,
}

impl fmt::Display for PlacementReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BigTables => f.write_str("big_tables is set"),
            Self::Blob { column } => write!(
                f,
                "column {} is a BLOB, which MEMORY cannot hold",
                column + 1
            ),
            Self::LongString { column, characters } => write!(
                f,
                "column {} may have {characters} characters; more than {CONVERT_IF_BIGGER_TO_BLOB} make it a BLOB, \
                 which MEMORY cannot hold",
                column + 1
            ),
            Self::Limit { setting, bytes } => {
                write!(f, "{setting} = {bytes} bytes of memory were in use")
            }
            Self::LongValue => {
                f.write_str("a value takes more bytes than its column is declared with")
            }
            Self::LongKey => f.write_str("a key is longer than an index takes"),
        }
    }
}

/// Conversion of a table, row by row, to another form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conversion {
    /// The engine before.
    pub from: LegacyEngine,
    /// The engine after.
    pub to: LegacyEngine,
    /// Reason of the conversion.
    pub reason: PlacementReason,
    /// Number of rows copied.
    pub rows: u64,
}

/// Placement of a table, with its history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// The engine that holds its rows now.
    pub engine: LegacyEngine,
    /// Reason why it started on disk, if it did.
    pub started_on_disk: Option<PlacementReason>,
    /// The conversions in order. The first from MEMORY is MySQL's "converting HEAP to ondisk".
    pub conversions: Vec<Conversion>,
}

impl Placement {
    /// The conversion from memory to disk.
    pub fn converted(&self) -> Option<&Conversion> {
        let mut conversions = self.conversions.iter();
        conversions.find(|one| one.from == LegacyEngine::Memory && one.to.is_on_disk())
    }

    /// Reason why the table is on disk, if it is.
    pub fn disk_reason(&self) -> Option<PlacementReason> {
        let converted = || self.converted().map(|conversion| conversion.reason);
        self.started_on_disk.or_else(converted)
    }
}

/// Reason why a table of these columns starts on disk, if it does.
pub(crate) fn starts_on_disk(
    columns: &[LegacyColumn],
    options: &LegacyOptions,
) -> Option<PlacementReason> {
    let of_column = |(column, one): (usize, &LegacyColumn)| match one.form {
        DeclaredForm::Blob => Some(PlacementReason::Blob { column }),
        DeclaredForm::Varying { characters, .. } if characters > CONVERT_IF_BIGGER_TO_BLOB => {
            Some(PlacementReason::LongString { column, characters })
        }
        _ => FixedLayout::new(std::slice::from_ref(one))
            .is_none()
            .then_some(PlacementReason::Blob { column }),
    };
    if let Some(reason) = columns.iter().enumerate().find_map(of_column) {
        return Some(reason);
    }
    options.big_tables.then_some(PlacementReason::BigTables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_512_rule() {
        let options = LegacyOptions::default();
        let start = |column| starts_on_disk(&[LegacyColumn::fixed_text(4), column], &options);
        assert_eq!(start(LegacyColumn::varying(512, 3)), None);
        let reason = PlacementReason::LongString {
            column: 1,
            characters: 513,
        };
        assert_eq!(start(LegacyColumn::varying(513, 1)), Some(reason));
        assert!(
            reason
                .to_string()
                .contains("column 2 may have 513 characters")
        );
        let blob = Some(PlacementReason::Blob { column: 1 });
        assert_eq!(start(LegacyColumn::blob()), blob);
    }

    #[test]
    fn big_tables_and_the_smaller_limit() {
        let options = LegacyOptions {
            big_tables: true,
            max_heap_table_size: 5,
            tmp_table_size: 6,
            ..LegacyOptions::default()
        };
        let start = starts_on_disk(&[LegacyColumn::fixed_text(4)], &options);
        assert_eq!(start, Some(PlacementReason::BigTables));
        assert_eq!(options.memory_limit(), ("max_heap_table_size", 5));
    }
}
