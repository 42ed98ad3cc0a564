//! Tables of providers ([`TableProvider`]).
//!
//! For a statement such a table is an ordinary one. One that a program registers is also found, listed, granted on and
//! dropped as any table of its database; it is known to this process alone. It is read only, unless its provider begins
//! transactions (`provided_changes`).

use std::fmt::Debug;
use std::sync::Arc;

use mayfly_plan::ScanCapabilities;
use mayfly_storage::{ColumnId, ScanRequest, Table, TableScan, TableStatistics, TableWriter};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Error, OrderColumn, PhysicalType, Result, TermShape, TermSupport};
use parking_lot::Mutex;

use super::definition::{ColumnDefinition, TableDefinition};
use super::provider::{ProvidedRows, TableProvider};
use crate::engines::Engine;

/// The definition of a table of a provider.
pub(super) fn definition(
    database: &str,
    name: &str,
    provider: &dyn TableProvider,
) -> TableDefinition {
    let columns = provider.columns().into_iter();
    let columns = columns.map(|column| ColumnDefinition {
        nullable: column.nullable,
        ..ColumnDefinition::new(column.name, column.ty)
    });
    TableDefinition {
        columns: columns.collect(),
        engine: Engine::External,
        ..TableDefinition::new(database, name)
    }
}

/// A statement's handle to a table of a provider.
#[derive(Debug)]
pub(crate) struct ProvidedTable {
    provider: Arc<dyn TableProvider>,
    name: String,
    columns: Vec<PhysicalType>,
}

impl ProvidedTable {
    pub(crate) fn new(provider: &Arc<dyn TableProvider>, name: &str) -> Self {
        let columns = provider.columns().into_iter();
        Self {
            provider: Arc::clone(provider),
            name: name.to_owned(),
            columns: columns.map(|column| column.ty.physical()).collect(),
        }
    }

    /// The provider of the rows.
    pub(super) fn provider(&self) -> &Arc<dyn TableProvider> {
        &self.provider
    }

    /// 1036: the table is read only.
    pub(super) fn read_only(&self) -> Error {
        read_only(&self.name)
    }

    /// A scan whose rows are those of a request.
    pub(super) fn scan_of(
        &self,
        request: &ScanRequest<'_>,
        rows: Box<dyn ProvidedRows>,
    ) -> Box<dyn TableScan> {
        let ty = |column: &ColumnId| match *column {
            ColumnId::POSITION => PhysicalType::Bytes,
            ColumnId(index) => self.columns[index],
        };
        Box::new(ProvidedScan {
            rows: Arc::new(Mutex::new(rows)),
            types: request.columns.iter().map(ty).collect(),
        })
    }
}

/// 1036: the table is read only.
pub(crate) fn read_only(name: &str) -> Error {
    codes::ER_OPEN_AS_READONLY.with(&[&name])
}

impl Table for ProvidedTable {
    fn columns(&self) -> &[PhysicalType] {
        &self.columns
    }

    fn statistics(&self) -> TableStatistics {
        TableStatistics {
            rows: self.provider.row_count(),
            ..TableStatistics::default()
        }
    }

    fn scan(&self, request: &ScanRequest<'_>) -> Result<Box<dyn TableScan>> {
        // Positions identify rows for changes and locks.
        if request.columns.contains(&ColumnId::POSITION) {
            return Err(self.read_only());
        }
        Ok(self.scan_of(request, self.provider.scan(request)?))
    }

    fn writer(&self) -> Result<Box<dyn TableWriter>> {
        Err(self.read_only())
    }

    fn truncate(&self) -> Result<()> {
        Err(self.read_only())
    }
}

impl ScanCapabilities for ProvidedTable {
    fn term(&self, term: &TermShape) -> TermSupport {
        self.provider.term(term)
    }

    fn orders(&self) -> Vec<Vec<OrderColumn>> {
        self.provider.orders()
    }
}

/// A scan of one worker: its own part of the rows, or the only part, which workers share.
#[derive(Clone)]
struct ProvidedScan {
    rows: Arc<Mutex<Box<dyn ProvidedRows>>>,
    types: Arc<[PhysicalType]>,
}

impl TableScan for ProvidedScan {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        loop {
            let Some(batch) = self.rows.lock().next_batch()? else {
                return Ok(None);
            };
            let types = batch
                .columns()
                .iter()
                .map(|array| array.data_type().clone());
            if !types.eq(self.types.iter().map(|ty| ty.arrow())) {
                return Err(codes::ER_UNKNOWN_ERROR.with(&[
                    &"the provider of a table has given columns of other types than it has declared",
                ]));
            }
            if !batch.is_empty() {
                return Ok(Some(batch));
            }
        }
    }

    fn for_another_worker(&self) -> Box<dyn TableScan> {
        let part = self.rows.lock().for_another_worker();
        Box::new(match part {
            Some(part) => Self {
                rows: Arc::new(Mutex::new(part)),
                types: Arc::clone(&self.types),
            },
            None => self.clone(),
        })
    }
}
