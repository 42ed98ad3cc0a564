//! Changes of tables whose rows are outside of the engine.
//!
//! A session's transaction has one [`ProviderTransaction`] for each table that it changes. It begins with the first
//! change, takes part in the session's transaction as the stores do ([`Participant`]: savepoints, prepare, commit),
//! and from then on answers the session's scans, so that the session sees its own changes.

use std::fmt::Debug;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use mayfly_storage::{
    ColumnId, Participant, RowsWritten, ScanRequest, Table, TableScan, TableStatistics, TableWriter,
};
use mayfly_types::{Batch, PhysicalType, Result};
use parking_lot::{MappedMutexGuard, Mutex, MutexGuard};

use super::provided::ProvidedTable;
use super::provider::ProviderTransaction;

/// A session's changes of one provider's table. Cloning shares them.
#[derive(Clone, Default)]
pub(crate) struct ProvidedChanges(Arc<Mutex<Option<Box<dyn ProviderTransaction>>>>);

impl Debug for ProvidedChanges {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProvidedChanges").finish_non_exhaustive()
    }
}

impl Participant for ProvidedChanges {
    fn savepoint(&mut self) -> u64 {
        self.0.lock().as_mut().map_or(0, |begun| begun.savepoint())
    }

    fn roll_back_to(&mut self, savepoint: u64) -> bool {
        let mut begun = self.0.lock();
        begun
            .as_mut()
            .is_some_and(|begun| begun.roll_back_to(savepoint))
    }

    fn prepare(&mut self) -> Result<()> {
        self.0
            .lock()
            .as_mut()
            .map_or(Ok(()), |begun| begun.prepare())
    }

    fn commit(&mut self) -> Result<()> {
        let begun = self.0.lock().take();
        begun.map_or(Ok(()), |mut begun| begun.commit())
    }

    fn roll_back(&mut self) -> bool {
        let begun = self.0.lock().take();
        begun.is_some_and(|mut begun| begun.roll_back())
    }

    fn end_statement(&mut self) -> Result<()> {
        self.0
            .lock()
            .as_mut()
            .map_or(Ok(()), |begun| begun.end_statement())
    }
}

/// A statement's handle to a provider's table that can be changed, and the writer of its rows.
#[derive(Clone)]
pub(super) struct ChangeableTable {
    table: Arc<ProvidedTable>,
    changes: ProvidedChanges,
}

impl Debug for ChangeableTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.table.fmt(f)
    }
}

impl ChangeableTable {
    pub(super) fn new(table: &Arc<ProvidedTable>, changes: ProvidedChanges) -> Self {
        Self {
            table: Arc::clone(table),
            changes,
        }
    }

    /// The transaction, which begins here if it has not yet.
    fn begun(&self) -> Result<MappedMutexGuard<'_, Box<dyn ProviderTransaction>>> {
        let mut transaction = self.changes.0.lock();
        let begun = match transaction.take() {
            Some(begun) => begun,
            None => self.table.provider().begin()?,
        };
        Ok(MutexGuard::map(transaction, |it| it.insert(begun)))
    }
}

impl Table for ChangeableTable {
    fn columns(&self) -> &[PhysicalType] {
        self.table.columns()
    }

    fn statistics(&self) -> TableStatistics {
        self.table.statistics()
    }

    fn scan(&self, request: &ScanRequest<'_>) -> Result<Box<dyn TableScan>> {
        // Positions are the transaction's: who asks for them changes or locks rows.
        let begins = request.columns.contains(&ColumnId::POSITION);
        if !begins && self.changes.0.lock().is_none() {
            return self.table.scan(request);
        }
        let rows = self.begun()?.scan(request)?;
        Ok(self.table.scan_of(request, rows))
    }

    fn writer(&self) -> Result<Box<dyn TableWriter>> {
        Ok(Box::new(self.clone()))
    }

    fn truncate(&self) -> Result<()> {
        self.begun()?.truncate()
    }
}

/// The positions of an array of type BinaryView.
fn positions(array: &ArrayRef) -> Vec<&[u8]> {
    let array = array.as_binary_view();
    (0..array.len()).map(|row| array.value(row)).collect()
}

/// Changes are undone by the statement's savepoint.
impl TableWriter for ChangeableTable {
    fn append(&mut self, batch: &Batch) -> Result<()> {
        self.begun()?.insert(batch)
    }

    fn update(&mut self, at: &ArrayRef, rows: &Batch) -> Result<RowsWritten> {
        self.begun()?.update(&positions(at), rows)?;
        Ok(RowsWritten {
            rows: rows.row_count(),
            duplicate: None,
        })
    }

    fn delete(&mut self, at: &ArrayRef) -> Result<u64> {
        self.begun()?.delete(&positions(at))
    }

    fn current(&mut self, position: &[u8]) -> Result<Option<Batch>> {
        self.begun()?.row(position)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
