//! What a legacy temporary table is made of, and the limits that it keeps to.

use std::sync::Arc;

use mayfly_types::PhysicalType;

use crate::temptable::{KeyMode, OperatorNumber, Purpose};

/// How a column is declared: the engines of old store rows by this, not by the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeclaredForm {
    /// Always so many bytes: a number, CHAR(n), BINARY(n).
    Fixed {
        /// How many.
        bytes: u32,
    },
    /// Up to so many characters: VARCHAR(n), VARBINARY(n).
    Varying {
        /// The declared length.
        characters: u32,
        /// The most bytes that a character of the column's character set takes.
        bytes_per_character: u8,
    },
    /// Without a useful limit: BLOB, TEXT, JSON.
    Blob,
}

/// A column of a legacy table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LegacyColumn {
    /// What its arrays hold.
    pub ty: PhysicalType,
    /// How it is declared.
    pub form: DeclaredForm,
}

impl LegacyColumn {
    /// A number that is stored in all of its physical type's bytes.
    pub fn number(ty: PhysicalType) -> Self {
        Self {
            ty,
            form: DeclaredForm::Fixed { bytes: 32 },
        }
    }

    /// A string of always so many bytes.
    pub fn fixed_text(bytes: u32) -> Self {
        Self {
            ty: PhysicalType::Bytes,
            form: DeclaredForm::Fixed { bytes },
        }
    }

    /// A string of up to so many characters of so many bytes each.
    pub fn varying(characters: u32, bytes_per_character: u8) -> Self {
        Self {
            ty: PhysicalType::Bytes,
            form: DeclaredForm::Varying {
                characters,
                bytes_per_character,
            },
        }
    }

    /// A BLOB, TEXT or JSON.
    pub fn blob() -> Self {
        Self {
            ty: PhysicalType::Bytes,
            form: DeclaredForm::Blob,
        }
    }
}

/// Which engine holds a table on disk (`internal_tmp_disk_storage_engine` of MySQL 5.7 and 8.0).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DiskEngine {
    /// A row file, and a B-tree through a key cache.
    MyIsam,
    /// B-trees of pages in the session's temporary tablespace, through a buffer pool.
    #[default]
    InnoDb,
}

/// Everything that is fixed when a table is created.
#[derive(Debug, Clone)]
pub struct LegacyTableSpec {
    /// What it is for.
    pub purpose: Purpose,
    /// Why the statement needs it, in words.
    pub cause: Arc<str>,
    /// The operator of the statement's plan that makes it.
    pub operator: Option<OperatorNumber>,
    /// The columns, those of the key first.
    pub columns: Vec<LegacyColumn>,
    /// How the columns of the unique key are compared, one for each; NULL is equal to NULL. Empty for a
    /// table that is only appended to.
    pub key: Vec<KeyMode>,
}

/// The settings that a table is created under.
#[derive(Debug, Clone)]
pub struct LegacyOptions {
    /// `tmp_table_size`: bytes that the table may take in memory.
    pub tmp_table_size: u64,
    /// `max_heap_table_size`: the same; the smaller of the two holds.
    pub max_heap_table_size: u64,
    /// `tmp_disk_table_size`: bytes that it may take on disk.
    pub tmp_disk_table_size: u64,
    /// `big_tables`: it starts on disk.
    pub big_tables: bool,
    /// `read_buffer_size`: of sequential reads, of the cache of appended rows, and the bound of a block of
    /// records in memory.
    pub read_buffer_size: u64,
    /// `internal_tmp_disk_storage_engine`.
    pub disk_engine: DiskEngine,
}

impl Default for LegacyOptions {
    fn default() -> Self {
        Self {
            tmp_table_size: 16 << 20,
            max_heap_table_size: 16 << 20,
            tmp_disk_table_size: u64::MAX,
            big_tables: false,
            read_buffer_size: 128 << 10,
            disk_engine: DiskEngine::default(),
        }
    }
}

impl LegacyOptions {
    /// The limit in memory, and the setting that it comes from.
    pub fn memory_limit(&self) -> (&'static str, u64) {
        if self.max_heap_table_size < self.tmp_table_size {
            ("max_heap_table_size", self.max_heap_table_size)
        } else {
            ("tmp_table_size", self.tmp_table_size)
        }
    }

    /// `read_buffer_size` as a length, at least the smallest that MySQL takes.
    pub(super) fn read_buffer(&self) -> usize {
        self.read_buffer_size.clamp(8192, 1 << 31) as usize
    }
}

/// The form in which a table's rows are stored; each conversion changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StoreForm {
    pub(super) on_disk: bool,
    /// Columns have room for whatever their type can hold, not only for what is declared.
    pub(super) natural: bool,
    /// Keys are found by their hash.
    pub(super) hashed: bool,
}
