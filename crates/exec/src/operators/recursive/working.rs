//! Scan of the rows of the previous round, in the recursive part of a common table expression.

use std::sync::{Arc, Mutex};

use mayfly_plan::physical::SharedId;
use mayfly_storage::Scan;
use mayfly_types::{Batch, Result};

use crate::context::{Cursor, Node, RunContext};
use crate::state::{Round, lock};

/// Builds the scan of the rows that the previous round added to a recursive result.
pub(in crate::operators) fn working_table(id: SharedId) -> Arc<dyn Node> {
    Arc::new(WorkingTable {
        id,
        rows_hint: Mutex::new(0),
        reading: Mutex::default(),
    })
}

struct WorkingTable {
    id: SharedId,
    rows_hint: Mutex<u64>,
    /// Read position of the workers in the round.
    reading: Mutex<Reading>,
}

#[derive(Default)]
struct Reading {
    round: Option<Arc<Round>>,
    /// Whether the batch was given.
    is_given: bool,
    scan: Option<Scan>,
}

impl Node for WorkingTable {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        *lock(&self.rows_hint) = run.state.working(self.id)?.row_count();
        Ok(())
    }

    fn rows_hint(&self) -> u64 {
        *lock(&self.rows_hint)
    }

    fn follows_rounds(&self) -> bool {
        true
    }

    fn open_node(self: Arc<Self>, _run: &RunContext) -> Result<Box<dyn Cursor>> {
        Ok(Box::new(WorkingCursor {
            node: self,
            scan: None,
        }))
    }
}

struct WorkingCursor {
    node: Arc<WorkingTable>,
    /// The scan of a round that is in a table.
    scan: Option<(Arc<Round>, Scan)>,
}

impl Cursor for WorkingCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        let round = run.state.working(self.node.id)?;
        let mut reading = lock(&self.node.reading);
        let known = reading.round.as_ref();
        if !known.is_some_and(|known| Arc::ptr_eq(known, &round)) {
            *reading = Reading {
                round: Some(Arc::clone(&round)),
                is_given: false,
                scan: None,
            };
        }
        let table = match &*round {
            Round::Batch(batch) => {
                let is_given = std::mem::replace(&mut reading.is_given, true);
                return Ok((!is_given).then(|| batch.clone()));
            }
            Round::Table(table) => table,
        };
        let known = self.scan.as_ref();
        if !known.is_some_and(|(known, _)| Arc::ptr_eq(known, &round)) {
            let shared = reading.scan.get_or_insert_with(|| table.scan(None));
            self.scan = Some((Arc::clone(&round), shared.for_another_worker()));
        }
        drop(reading);
        match &mut self.scan {
            Some((_, scan)) => scan.next_batch(),
            None => Ok(None),
        }
    }
}
