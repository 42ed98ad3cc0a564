//! Scans of all rows of a table, in batches, by any number of workers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mayfly_types::{Batch, Result};

use super::rows::Gather;
use super::store::PendingRows;
use super::table::TempTable;

/// Cursor over all rows. The table must not be changed or drained while it is used.
pub struct Scan {
    table: TempTable,
    columns: Vec<usize>,
    /// Index of the next row block, counted over all parts; shared by the workers of a scan.
    next: Arc<AtomicUsize>,
    pending: PendingRows,
    gather: Gather,
}

impl TempTable {
    /// A scan of `columns` (all if `None`). Every scan returns every row once; workers that share a scan
    /// ([`Scan::for_another_worker`]) divide the rows between them.
    pub fn scan(&self, columns: Option<&[usize]>) -> Scan {
        let all = || (0..self.spec().columns.len()).collect();
        let columns = columns.map_or_else(all, <[usize]>::to_vec);
        Scan::over(self, columns, Arc::default())
    }
}

impl Scan {
    fn over(table: &TempTable, columns: Vec<usize>, next: Arc<AtomicUsize>) -> Self {
        Self {
            table: table.clone(),
            columns,
            next,
            pending: PendingRows::default(),
            gather: Gather::default(),
        }
    }

    /// The next rows; `None` at the end. Never an empty batch.
    #[expect(unsafe_code, reason = "rows are raw bytes; see the layout")]
    pub fn next_batch(&mut self) -> Result<Option<Batch>> {
        let store = &self.table.0.store;
        let batch_rows = store.context.options().batch_rows.max(1);
        self.fill(batch_rows)
            .map_err(|error| self.table.error(&error))?;
        let store = &self.table.0.store;
        let rows = self.pending.give(batch_rows);
        if rows.is_empty() {
            return Ok(None);
        }
        let columns = self.columns.iter().copied();
        // SAFETY: the rows are in blocks of `pending`, their values in memory.
        Ok(Some(unsafe { store.read(&mut self.gather, rows, columns) }))
    }

    /// Loads row blocks until there are enough rows for a batch.
    fn fill(&mut self, batch_rows: usize) -> mayfly_memory::Result<()> {
        let bytes_max = self.table.0.store.read_ahead_bytes();
        if !self.pending.is_short_of(batch_rows, bytes_max) {
            return Ok(());
        }
        let store = &self.table.0.store;
        // Before the table is locked, so that it can itself be asked to make room.
        if store.has_overflowed() {
            let resources = store.context.resources();
            resources.make_room(bytes_max as u64, &store.memory);
        }
        let written = self.table.written();
        let parts = || written.iter().flat_map(|written| &written.parts);
        while self.pending.is_short_of(batch_rows, bytes_max) {
            let mut index = self.next.fetch_add(1, Ordering::Relaxed);
            let part = parts().find(|part| {
                let here = index < part.rows.len();
                if !here {
                    index -= part.rows.len();
                }
                here
            });
            let Some(part) = part else { break };
            self.pending
                .add(part.load_block(index, &self.table.0.store)?);
        }
        Ok(())
    }

    /// A cursor for another worker, which shares the rows with this one.
    pub fn for_another_worker(&self) -> Self {
        Self::over(&self.table, self.columns.clone(), Arc::clone(&self.next))
    }

    /// Restarts at the first row.
    pub fn rewind(&mut self) {
        *self = Self::over(
            &self.table,
            std::mem::take(&mut self.columns),
            Arc::default(),
        );
    }
}
