//! The engines as a statement uses them.

use mayfly_storage::{InternalTable, InternalTableEngine, InternalTableSpec, TempTableContext};
use mayfly_types::Result;

use crate::environment::{LegacyEnvironment, SessionDisk};
use crate::spec::{LegacyColumn, LegacyOptions, LegacyTableSpec};
use crate::table::LegacyTable;

/// Location and settings of a statement's tables.
#[derive(Debug, Clone)]
pub struct LegacyTables {
    /// Environment that all sessions share; an error where it could not be made.
    pub environment: Result<LegacyEnvironment>,
    /// Disk tables of the session.
    pub disk: SessionDisk,
    /// Settings of the engines.
    pub options: LegacyOptions,
}

impl InternalTableEngine for LegacyTables {
    fn create(
        &self,
        context: &TempTableContext,
        spec: InternalTableSpec,
    ) -> Result<Box<dyn InternalTable>> {
        let spec = LegacyTableSpec {
            purpose: spec.purpose,
            cause: spec.cause,
            operator: spec.operator,
            columns: spec.columns.iter().map(LegacyColumn::of).collect(),
            key: spec.key,
        };
        let environment = self.environment.as_ref().map_err(Clone::clone)?;
        let table = LegacyTable::create(context, environment, &self.disk, &self.options, spec)?;
        Ok(Box::new(table))
    }
}
