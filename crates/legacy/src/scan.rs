//! Scans of a legacy table in insertion order, in batches.

use mayfly_types::{Batch, Result};

use crate::store::StoreCursor;
use crate::table::LegacyTable;

/// Bytes of strings at which a batch ends.
const BATCH_BYTES_MAX: usize = 16 << 20;

/// Cursor over a table's rows. Several may read one table at the same time; it must not be changed while they do.
#[derive(Debug)]
pub struct LegacyScan {
    columns: Vec<usize>,
    cursor: StoreCursor,
}

impl LegacyTable {
    /// A scan of `columns` (all if `None`).
    pub fn scan(&self, columns: Option<&[usize]>) -> Result<LegacyScan> {
        let all = || (0..self.spec().columns.len()).collect();
        let reservation = self.context().memory().reservation();
        let cursor = self
            .store()
            .cursor(self.options().read_buffer(), reservation);
        Ok(LegacyScan {
            columns: columns.map_or_else(all, <[usize]>::to_vec),
            cursor: cursor.map_err(|refusal| self.error(refusal))?,
        })
    }
}

impl LegacyScan {
    /// The next rows of the scan's table; `None` at the end. Never an empty batch.
    pub fn next_batch(&mut self, table: &LegacyTable) -> Result<Option<Batch>> {
        let context = table.context();
        context.interrupt().check()?;
        let batch_rows = context.options().batch_rows.max(1);
        let store = table.store();
        let mut sink = store.sink(&self.columns);
        while sink.rows() < batch_rows && sink.bytes() < BATCH_BYTES_MAX {
            let row = store.next_row(&mut self.cursor, |column, value| sink.push(column, value));
            match row.map_err(|refusal| table.error(refusal))? {
                Some(_) => sink.end_row(),
                None => break,
            }
        }
        if sink.rows() == 0 {
            return Ok(None);
        }
        table.count_read(sink.rows() as u64);
        Ok(Some(sink.finish()))
    }
}
