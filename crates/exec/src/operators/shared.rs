//! Rows that are kept: a shared result read by any number of places, and the working table of a
//! recursive common table expression.

use std::sync::Arc;

use mayfly_plan::physical::{SharedId, SharedResult, SharedSource};
use mayfly_types::Result;

use super::table_reader::TableReader;
use super::{materialize, recursive};
use crate::context::{Cursor, Node, RunContext};

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
        let parameter = |index: usize| run.parameter(index);
        let make = |result: &SharedResult| match &result.source {
            SharedSource::Plan(plan) => {
                materialize::materialize(plan, &result.output, &result.temporary, run)
            }
            SharedSource::Recursive {
                seed,
                step,
                distinct,
                enough,
            } => recursive::run(self.id, result, (seed, step), *distinct, *enough, run),
        };
        self.reader.set(run.state.shared(self.id, parameter, make)?);
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
