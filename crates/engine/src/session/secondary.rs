//! Copies in the secondary engine as a statement of the session sees them.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use mayfly_types::Result;

use super::StatementContext;
use crate::catalog::BaseTable;
use crate::secondary::copies::LoadedCopy;
use crate::secondary::loading::LoadCause;
use crate::variables::typed;

/// Why a statement cannot read a copy of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoCopy {
    /// The definition names no secondary engine.
    Undefined,
    /// There is no engine of the name in the definition.
    UnknownEngine(String),
    /// The table is not loaded.
    NotLoaded,
    /// A column that the statement reads is NOT SECONDARY.
    ColumnNotLoaded(String),
    /// The table has changed since it was loaded.
    Changed,
}

impl Display for NoCopy {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undefined => f.write_str("has no secondary engine"),
            Self::UnknownEngine(name) => write!(f, "names the unknown secondary engine '{name}'"),
            Self::NotLoaded => f.write_str("is not loaded"),
            Self::ColumnNotLoaded(name) => write!(f, "has the column '{name}' as NOT SECONDARY"),
            Self::Changed => f.write_str("has changed since it was loaded"),
        }
    }
}

impl StatementContext<'_> {
    /// The copy that the statement may read in place of these columns of a table; what refuses it where there is none. A
    /// copy that lacks changes is given under `secondary_engine_read_stale` alone.
    ///
    /// # Errors
    /// Any error of taking the statement's snapshot.
    pub(crate) fn secondary_copy(
        &self,
        table: &BaseTable,
        columns: &[usize],
    ) -> Result<std::result::Result<Arc<LoadedCopy>, NoCopy>> {
        let definition = &table.definition;
        let Some(name) = definition.secondary_engine() else {
            return Ok(Err(NoCopy::Undefined));
        };
        if self.database().secondary_engine(name).is_none() {
            return Ok(Err(NoCopy::UnknownEngine(name.to_owned())));
        }
        let Some(copy) = table.copy.copy() else {
            return Ok(Err(NoCopy::NotLoaded));
        };
        let is_missing = |column: &&usize| !copy.columns.contains(column);
        if let Some(missing) = columns.iter().find(is_missing) {
            let column = definition.columns.get(*missing);
            let name = column.map_or_else(String::new, |column| column.name.clone());
            return Ok(Err(NoCopy::ColumnNotLoaded(name)));
        }
        let reads_stale = self.settings().get(typed::SECONDARY_ENGINE_READ_STALE);
        if reads_stale || copy.serves(&table.storage(self)?.state()) {
            Ok(Ok(copy))
        } else {
            Ok(Err(NoCopy::Changed))
        }
    }

    /// Makes the copy of a loaded table fresh, for a statement that cannot do without. The statement must not have a
    /// snapshot yet.
    ///
    /// # Errors
    /// Any error of reading and of the engine; 1317 for a killed statement.
    pub(crate) fn refresh_secondary_copy(&self, table: &BaseTable) -> Result<()> {
        let name = table.definition.secondary_engine();
        let engine = name.and_then(|name| self.database().secondary_engine(name));
        let is_stale = || table.copy.copy().is_none_or(|copy| !copy.is_fresh());
        if let Some(engine) = engine
            && table.copy.is_used()
            && is_stale()
        {
            let (database, interrupt) = (self.database(), self.interrupt());
            database.load_copy(table, &engine, interrupt, LoadCause::Refresh)?;
        }
        Ok(())
    }
}
