//! Rows that are kept: a shared result read by any number of places, and the working table of a
//! recursive common table expression.

use std::sync::{Arc, Mutex};

use mayfly_plan::physical::SharedId;
use mayfly_storage::{Scan, TempTable};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Result};

use super::{Cursor, Node};
use crate::context::RunContext;
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
            None => Err(codes::ER_UNKNOWN_ERROR.with(&[&"a table was not made before reading"])),
        }
    }
}

struct TableCursor(Scan);

impl Cursor for TableCursor {
    fn next(&mut self, _run: &RunContext) -> Result<Option<Batch>> {
        self.0.next_batch()
    }
}

pub(super) struct SharedScan {
    id: SharedId,
    reader: TableReader,
}

impl SharedScan {
    pub(super) fn new(id: SharedId) -> Self {
        Self {
            id,
            reader: TableReader::default(),
        }
    }
}

impl Node for SharedScan {
    fn prepare(&self, run: &RunContext) -> Result<()> {
        self.reader.set(run.state.shared(self.id, run)?);
        Ok(())
    }

    fn rows_hint(&self) -> u64 {
        self.reader.rows()
    }

    fn open(self: Arc<Self>, _run: &RunContext) -> Result<Box<dyn Cursor>> {
        self.reader.open()
    }
}

pub(super) struct WorkingTable {
    id: SharedId,
    reader: TableReader,
}

impl WorkingTable {
    pub(super) fn new(id: SharedId) -> Self {
        Self {
            id,
            reader: TableReader::default(),
        }
    }
}

impl Node for WorkingTable {
    fn prepare(&self, run: &RunContext) -> Result<()> {
        self.reader.set(run.state.working(self.id)?);
        Ok(())
    }

    fn rows_hint(&self) -> u64 {
        self.reader.rows()
    }

    fn open(self: Arc<Self>, _run: &RunContext) -> Result<Box<dyn Cursor>> {
        self.reader.open()
    }
}
