//! Lookups of probe rows in a build side that does not fit in memory, by the tree of its keys.
//!
//! For the rounds of a recursion: few probe rows come at a time, and the same build side serves all rounds.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use mayfly_plan::physical::JoinKind;
use mayfly_storage::KeyedRows;
use mayfly_types::{Batch, Result};

use super::join::HashJoin;
use crate::context::{Cursor, RunContext};
use crate::operators::looked_up::LookedUp;
use crate::rows::{null_columns, rows_where, split};

/// Build rows per probe row that are assumed for the first lookups, so that they do not give too many.
const FAN_OUT_ASSUMED: f64 = 64.0;

/// Cursor that looks the keys of its input up.
pub(super) struct KeyedCursor {
    node: Arc<HashJoin>,
    rows: Arc<KeyedRows>,
    input: Box<dyn Cursor>,
    /// Columns of the build side that are materialized.
    build_columns: Vec<usize>,
    /// The rest of a batch of probe rows with their computed keys.
    rest: Option<Batch>,
    /// Build rows per probe row, as of the last lookups; many before the first ones.
    fan_out: f64,
    ready: VecDeque<Batch>,
}

impl KeyedCursor {
    pub(super) fn new(node: Arc<HashJoin>, rows: Arc<KeyedRows>, input: Box<dyn Cursor>) -> Self {
        let made = &node.made.0;
        let build_columns = (0..node.build.layout.row_columns).filter(|column| made[*column]);
        Self {
            build_columns: build_columns.collect(),
            node,
            rows,
            input,
            rest: None,
            fan_out: FAN_OUT_ASSUMED,
            ready: VecDeque::new(),
        }
    }

    /// The next probe rows with their computed keys, so few that their partners make about one batch.
    fn next_probed(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        let batch = match self.rest.take() {
            Some(batch) => batch,
            None => match self.input.next(run)? {
                Some(batch) => self.node.probe.layout.extend(batch, run)?,
                None => return Ok(None),
            },
        };
        let rows = batch.row_count();
        // The number fits in usize: it is at most the batch's.
        let wanted = (run.statement.options.batch_rows as f64 / self.fan_out).max(1.0) as usize;
        if wanted >= rows {
            return Ok(Some(batch));
        }
        self.rest = Some(batch.slice(wanted, rows - wanted));
        Ok(Some(batch.slice(0, wanted)))
    }

    fn keys(&self, batch: &Batch) -> Vec<ArrayRef> {
        let keys = self.node.probe.keys.iter();
        keys.map(|key| Arc::clone(batch.column(key.column)))
            .collect()
    }

    /// Joins probe rows with the build rows of their keys.
    fn join(&mut self, mut batch: Batch, run: &RunContext) -> Result<Option<Batch>> {
        let node = &self.node;
        let mut kind = node.kind;
        if kind == JoinKind::NullAwareAnti {
            // NULL is in no list of values, and not outside of one either.
            let keys = self.keys(&batch);
            batch = rows_where(&batch, |row| !keys.iter().any(|key| key.is_null(row)));
            kind = JoinKind::Anti;
        }
        let count = batch.row_count();
        if count == 0 {
            return Ok(None);
        }
        let (found_rows, found) = self.rows.find(&self.keys(&batch), &self.build_columns)?;
        self.fan_out = (found.len() as f64 / count as f64).max(1.0);
        let rows = found_rows.row_count();
        let mut found_columns = found_rows.into_columns().into_iter();
        let types = &node.build.layout.columns[..node.build.layout.row_columns];
        let columns = types.iter().zip(&node.made.0).filter_map(|(ty, made)| {
            let blank = || null_columns(std::slice::from_ref(ty), rows).next();
            if *made { found_columns.next() } else { blank() }
        });
        let built = Batch::new(columns.collect(), rows);
        let join = LookedUp {
            kind,
            residual: node.residual.as_ref(),
            right_first: node.build_first,
        };
        join.joined(node.probe.layout.strip(batch), built, &found, run)
    }
}

impl Cursor for KeyedCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            run.statement.check_interrupt()?;
            let Some(batch) = self.next_probed(run)? else {
                return Ok(None);
            };
            if let Some(joined) = self.join(batch, run)? {
                self.ready = split(&joined, run.statement.options.batch_rows);
            }
        }
    }
}
