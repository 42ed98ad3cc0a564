//! Specification of a legacy temporary table, and its limits.

use mayfly_storage::InternalTableSpec;
use mayfly_types::{PhysicalType, SqlType, TypeKind};

/// Declared form of a column, by which the former engines store rows, whatever the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeclaredForm {
    /// Fixed length: a number, CHAR(n), BINARY(n).
    Fixed {
        /// Length in bytes.
        bytes: u32,
    },
    /// Varying length up to a maximum: VARCHAR(n), VARBINARY(n).
    Varying {
        /// Declared length in characters.
        characters: u32,
        /// Maximum number of bytes of a character in the column's character set.
        bytes_per_character: u8,
    },
    /// No useful maximum length: BLOB, TEXT, JSON.
    Blob,
}

/// Column of a legacy table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LegacyColumn {
    /// Physical type of its arrays.
    pub ty: PhysicalType,
    /// Declared form.
    pub form: DeclaredForm,
}

impl LegacyColumn {
    /// The column of a declared type.
    pub(crate) fn of(ty: &SqlType) -> Self {
        match ty.kind {
            TypeKind::VarChar => {
                let width = bytes_per_character(ty);
                Self::varying(ty.length, u8::try_from(width).unwrap_or(u8::MAX))
            }
            TypeKind::Char => Self::fixed_text(ty.length.saturating_mul(bytes_per_character(ty))),
            _ => match ty.physical() {
                PhysicalType::Bytes => Self::blob(),
                // Between operators a truth value is an integer.
                PhysicalType::Bool => Self::number(PhysicalType::Int64),
                number => Self::number(number),
            },
        }
    }

    /// A number that is stored with the width of its physical type.
    pub fn number(ty: PhysicalType) -> Self {
        Self {
            ty,
            form: DeclaredForm::Fixed { bytes: 32 },
        }
    }

    /// A fixed-length string of `bytes` bytes.
    pub fn fixed_text(bytes: u32) -> Self {
        Self {
            ty: PhysicalType::Bytes,
            form: DeclaredForm::Fixed { bytes },
        }
    }

    /// A string of up to `characters` characters, each of up to `bytes_per_character` bytes.
    pub fn varying(characters: u32, bytes_per_character: u8) -> Self {
        Self {
            ty: PhysicalType::Bytes,
            form: DeclaredForm::Varying {
                characters,
                bytes_per_character,
            },
        }
    }

    /// A BLOB, TEXT or JSON column.
    pub fn blob() -> Self {
        Self {
            ty: PhysicalType::Bytes,
            form: DeclaredForm::Blob,
        }
    }
}

fn bytes_per_character(ty: &SqlType) -> u32 {
    if ty.is_binary_string() {
        1
    } else {
        u32::from(ty.collation.charset().max_length())
    }
}

/// Engine of tables on disk (`internal_tmp_disk_storage_engine` of MySQL 5.7 and 8.0).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DiskEngine {
    /// A row file, and a B-tree through a key cache.
    MyIsam,
    /// B-trees of pages in the session's temporary tablespace, through a buffer pool.
    #[default]
    InnoDb,
}

/// Specification, fixed when a table is created.
pub type LegacyTableSpec = InternalTableSpec<LegacyColumn>;

/// Settings under which a table is created.
#[derive(Debug, Clone)]
pub struct LegacyOptions {
    /// `tmp_table_size`: maximum size in memory in bytes.
    pub tmp_table_size: u64,
    /// `max_heap_table_size`: another maximum size in memory; the smaller of the two counts.
    pub max_heap_table_size: u64,
    /// `tmp_disk_table_size`: maximum size on disk in bytes.
    pub tmp_disk_table_size: u64,
    /// `big_tables`: whether tables start on disk.
    pub big_tables: bool,
    /// `read_buffer_size`: buffer of sequential reads, cache of appended rows, and maximum size of a block of records
    /// in memory.
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
    /// The limit in memory, and its setting.
    pub fn memory_limit(&self) -> (&'static str, u64) {
        if self.max_heap_table_size < self.tmp_table_size {
            ("max_heap_table_size", self.max_heap_table_size)
        } else {
            ("tmp_table_size", self.tmp_table_size)
        }
    }

    /// `read_buffer_size` as a length, at least MySQL's minimum.
    pub(crate) fn read_buffer(&self) -> usize {
        self.read_buffer_size.clamp(8192, 1 << 31) as usize
    }
}

/// Form in which a table's rows are stored, changed by each conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoreForm {
    pub(crate) on_disk: bool,
    /// Whether columns have room for all values of their physical type, beyond the declaration.
    pub(crate) natural: bool,
    /// Whether keys are found by their hash.
    pub(crate) hashed: bool,
}
