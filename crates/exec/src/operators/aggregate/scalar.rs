//! Aggregates without keys: one group, even over no rows.

use std::collections::VecDeque;

use mayfly_storage::{TempTable, TempTableWriter};
use mayfly_types::{Batch, Result};

use super::call::Accumulators;
use super::compiled::CompiledGrouping;
use super::ordered;
use crate::context::RunContext;
use crate::driver::{Sink, drain};

pub(super) fn run(compiled: &CompiledGrouping, run: &RunContext) -> Result<VecDeque<Batch>> {
    // Rows of calls that need whole groups, each in a table of its own.
    let mut tables = compiled
        .calls
        .iter()
        .map(|call| ordered::table_of(call, &compiled.columns.types, &compiled.temporary, run))
        .collect::<Result<Vec<_>>>()?;
    let plain_mergeable = compiled
        .calls
        .iter()
        .all(|call| call.needs_whole_groups() || call.is_mergeable());
    let threads_max = if plain_mergeable {
        compiled.threads_max()
    } else {
        1
    };
    let sinks = drain(&compiled.input, run, threads_max, || {
        let mut accumulators = Accumulators::new(&compiled.calls)?;
        accumulators.resize(1);
        let writers = tables
            .iter()
            .map(|table| table.as_ref().map(TempTable::writer));
        Ok(ScalarSink {
            compiled,
            accumulators,
            writers: writers.collect(),
        })
    })?;
    let mut first: Option<Accumulators> = None;
    for sink in sinks {
        for writer in sink.writers.into_iter().flatten() {
            writer.finish()?;
        }
        let mut accumulators = sink.accumulators;
        match &mut first {
            None => first = Some(accumulators),
            Some(first) => {
                let others = accumulators.own(&compiled.calls);
                for ((_, call, states), (_, _, other)) in first.own(&compiled.calls).zip(others) {
                    if !call.needs_whole_groups() {
                        states.merge(&[0], &other.take_state()?, run.evaluation())?;
                    }
                }
            }
        }
    }
    let Some(mut accumulators) = first else {
        return Ok(VecDeque::new());
    };
    for (at, call, states) in accumulators.own(&compiled.calls) {
        if let Some(table) = tables[at].take() {
            ordered::update(call, table, states, run)?;
        }
    }
    compiled.results(Vec::new(), &mut accumulators, 1, None, run)
}

struct ScalarSink<'a> {
    compiled: &'a CompiledGrouping,
    accumulators: Accumulators,
    writers: Vec<Option<TempTableWriter>>,
}

impl Sink for ScalarSink<'_> {
    fn consume(&mut self, batch: Batch, run: &RunContext) -> Result<()> {
        let rows = self.compiled.columns.evaluate(&batch, run)?;
        let count = rows.row_count();
        for (at, call, states) in self.accumulators.own(&self.compiled.calls) {
            match &mut self.writers[at] {
                None => {
                    let arguments = call.argument_arrays(&rows);
                    states.update_one_group(0, &arguments, count, run.evaluation())?;
                }
                Some(writer) => ordered::append(call, writer, None, &rows)?,
            }
        }
        self.accumulators.charge(None, run)
    }
}
