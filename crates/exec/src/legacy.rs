//! Internal temporary tables in the engines that MySQL had before TempTable: chosen by `internal_tmp_mem_storage_engine
//! = MEMORY`.
//!
//! GROUP BY, DISTINCT and UNION find each group's row in such a table by its key and write its aggregates back;
//! derived tables and common table expressions are appended and scanned. Everything else that needs a table
//! (sorts, hash joins, DISTINCT inside an aggregate, INTERSECT, EXCEPT, recursion) has other means in MySQL too,
//! and uses Mayfly's.

use mayfly_plan::physical::TemporaryTable;
use mayfly_storage::legacy::{
    LegacyColumn, LegacyEnvironment, LegacyOptions, LegacyTable, LegacyTableSpec, SessionDisk,
};
use mayfly_storage::{KeyMode, TempTableContext};
use mayfly_types::{Result, SqlType, TypeKind};

use crate::representation::{column_type, storage_purpose};

/// Location and settings of a statement's legacy tables.
#[derive(Debug, Clone)]
pub struct LegacyTables {
    /// Environment that all sessions share; an error where it could not be made.
    pub environment: Result<LegacyEnvironment>,
    /// Disk tables of the session.
    pub disk: SessionDisk,
    /// Settings of the engines.
    pub options: LegacyOptions,
}

impl LegacyTables {
    /// Creates an empty table of columns of these types, the first ones being its key.
    pub(crate) fn create(
        &self,
        temporary: &TemporaryTable,
        types: &[SqlType],
        key: Vec<KeyMode>,
        context: &TempTableContext,
    ) -> Result<LegacyTable> {
        let spec = LegacyTableSpec {
            purpose: storage_purpose(temporary.purpose),
            cause: temporary.cause.clone(),
            operator: temporary.operator,
            columns: types.iter().map(column).collect(),
            key,
        };
        let environment = self.environment.as_ref().map_err(Clone::clone)?;
        LegacyTable::create(context, environment, &self.disk, &self.options, spec)
    }
}

fn bytes_per_character(ty: &SqlType) -> u32 {
    if ty.is_binary_string() {
        1
    } else {
        u32::from(ty.collation.charset().max_length())
    }
}

/// A column in the old engines' representation, by its declared type.
fn column(ty: &SqlType) -> LegacyColumn {
    match ty.kind {
        TypeKind::VarChar => {
            let width = bytes_per_character(ty);
            LegacyColumn::varying(ty.length, u8::try_from(width).unwrap_or(u8::MAX))
        }
        TypeKind::Char => {
            LegacyColumn::fixed_text(ty.length.saturating_mul(bytes_per_character(ty)))
        }
        _ if ty.physical() == mayfly_types::PhysicalType::Bytes => LegacyColumn::blob(),
        _ => LegacyColumn::number(column_type(ty)),
    }
}
