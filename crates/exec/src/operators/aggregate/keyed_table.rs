//! Grouping in a table of another engine than TempTable: the row of each group is found by its key, and its aggregates
//! are read, changed and written back.
//!
//! MySQL does so for each row of the input. Here the rows of a batch that are of one group change its row once; where
//! values seldom repeat, that is the same work.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use mayfly_storage::{InternalScan, InternalTable, InternalTableEngine};
use mayfly_types::{Batch, Error, Result, SqlType, Stage};

use super::call::Accumulators;
use super::compiled::CompiledGrouping;
use crate::context::{RunContext, count};
use crate::driver::{Sink, drain};
use crate::operators::tables;
use crate::rows::rows_where;

/// Reader of all groups.
pub(super) struct Groups {
    count: u64,
    scan: Box<dyn InternalScan>,
}

/// Groups the input on one thread: such a table has one writer.
pub(super) fn run(
    compiled: &CompiledGrouping,
    engine: &dyn InternalTableEngine,
    declared: &[SqlType],
    run: &RunContext,
) -> Result<Groups> {
    let _stage = run.within(Stage::CreatingTmpTable);
    let modes = compiled.modes.clone();
    let table = tables::create_in(engine, &compiled.temporary, declared, modes, run)?;
    let mut table = Some(table);
    let sinks = drain(&compiled.input, run, 1, || {
        let table = table
            .take()
            .ok_or_else(|| Error::internal("a table with two writers"))?;
        Ok(Grouping {
            compiled,
            table,
            positions: Vec::new(),
            is_new: Vec::new(),
            numbers: HashMap::new(),
        })
    })?;
    let grouping = sinks.into_iter().next();
    let grouping = grouping.ok_or_else(|| Error::internal("a table without its writer"))?;
    let table: Arc<dyn InternalTable> = grouping.table.into();
    Ok(Groups {
        count: table.row_count(),
        scan: table.scan()?,
    })
}

struct Grouping<'a> {
    compiled: &'a CompiledGrouping,
    table: Box<dyn InternalTable>,
    positions: Vec<u64>,
    is_new: Vec<bool>,
    /// Index, within a batch, of each row position.
    numbers: HashMap<u64, u32>,
}

impl Sink for Grouping<'_> {
    fn consume(&mut self, batch: Batch, run: &RunContext) -> Result<()> {
        let (compiled, table) = (self.compiled, &mut self.table);
        let rows = compiled.columns.evaluate(&batch, run)?;
        let keys = Batch::new(
            rows.columns()[..compiled.key_count].to_vec(),
            rows.row_count(),
        );
        table.find_or_insert(&keys, &mut self.positions, &mut self.is_new)?;
        let found = self.is_new.iter().filter(|is_new| **is_new).count();
        count(&run.statement.counters.handler_write, found as u64);
        if compiled.calls.is_empty() {
            return Ok(());
        }
        self.numbers.clear();
        let (mut positions, mut is_new) = (Vec::new(), Vec::new());
        let mut ids = Vec::with_capacity(rows.row_count());
        for (position, new) in self.positions.iter().zip(&self.is_new) {
            let next = positions.len() as u32;
            ids.push(match self.numbers.entry(*position) {
                Entry::Occupied(number) => *number.get(),
                Entry::Vacant(number) => {
                    positions.push(*position);
                    is_new.push(*new);
                    *number.insert(next)
                }
            });
        }
        let groups = positions.len();
        let mut accumulators = Accumulators::new(&compiled.calls)?;
        accumulators.resize(groups);
        table.modify(&positions, &mut |states| {
            let old: Vec<u32> = (0..groups as u32)
                .filter(|group| !is_new[*group as usize])
                .collect();
            let states = rows_where(&states, |group| !is_new[group]);
            accumulators.merge(&compiled.calls, &old, states.columns(), run)?;
            accumulators.update(&compiled.calls, &ids, &rows, run)?;
            Ok(Batch::new(accumulators.take_states()?, groups))
        })
    }
}

impl Groups {
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Results of the next groups.
    pub(super) fn next(
        &mut self,
        compiled: &CompiledGrouping,
        run: &RunContext,
    ) -> Result<Option<Batch>> {
        let Some(rows) = self.scan.next_batch()? else {
            return Ok(None);
        };
        let groups = rows.row_count();
        let (keys, states) = rows.columns().split_at(compiled.key_count);
        let mut accumulators = Accumulators::new(&compiled.calls)?;
        accumulators.resize(groups);
        let numbers: Vec<u32> = (0..groups as u32).collect();
        accumulators.merge(&compiled.calls, &numbers, states, run)?;
        let mut columns: Vec<_> = keys.iter().map(Arc::clone).collect();
        columns.extend(compiled.given(&mut accumulators, run)?);
        Ok(Some(Batch::new(columns, groups)))
    }
}
