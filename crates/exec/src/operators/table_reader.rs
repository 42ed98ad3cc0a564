//! A temporary table that workers read together.

use std::sync::Mutex;

use mayfly_storage::{Scan, TempTable};
use mayfly_types::{Batch, Error, Result};

use crate::context::{Cursor, RunContext};
use crate::state::lock;

/// A temporary table under a scan that workers share.
#[derive(Default)]
pub(super) struct TableReader(Mutex<Option<(TempTable, Scan)>>);

impl TableReader {
    pub(super) fn set(&self, table: TempTable) {
        let scan = table.scan(None);
        *lock(&self.0) = Some((table, scan));
    }

    pub(super) fn rows(&self) -> u64 {
        lock(&self.0)
            .as_ref()
            .map_or(0, |(table, _)| table.row_count())
    }

    pub(super) fn open(&self) -> Result<Box<dyn Cursor>> {
        match lock(&self.0).as_ref() {
            Some((_, scan)) => Ok(Box::new(TableCursor(scan.for_another_worker()))),
            None => Err(Error::internal("a table was not made before reading")),
        }
    }
}

struct TableCursor(Scan);

impl Cursor for TableCursor {
    fn next(&mut self, _run: &RunContext) -> Result<Option<Batch>> {
        self.0.next_batch()
    }
}
