//! GROUP BY … LIMIT n without an order: any n groups are correct, so the first n seen are taken.
//!
//! The first rows are read on one thread until n groups are found. The rest of the input only adds to those: every
//! worker looks keys up in an index of the n groups, which is not extended, and skips all others.

use std::sync::Arc;

use arrow_buffer::BooleanBuffer;
use mayfly_storage::{GroupIndex, TempTable};
use mayfly_types::{Batch, Error, Result, Stage};

use super::call::Accumulators;
use super::compiled::CompiledGrouping;
use super::grouped;
use super::state::State;
use crate::context::RunContext;
use crate::driver::{Sink, drain_from, thread_count};
use crate::rows::filter_batch;

pub(super) fn run(compiled: &CompiledGrouping, wanted: u64, run: &RunContext) -> Result<State> {
    let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
    compiled.input.prepare(run)?;
    let _stage = run.within(Stage::CreatingTmpTable);
    let table = grouped::table(compiled, compiled.columns.types.clone(), run)?;
    let mut index = GroupIndex::for_table(&table)?.takes_least_share();
    let mut accumulators = Accumulators::new(&compiled.calls)?;
    let mut ids = Vec::new();
    let mut cursor = Arc::clone(&compiled.input).open(run)?;
    let mut ended = false;
    while index.group_count() < wanted {
        run.statement.check_interrupt()?;
        let Some(batch) = cursor.next(run)? else {
            ended = true;
            break;
        };
        let rows = compiled.columns.evaluate(&batch, run)?;
        let count = rows.row_count();
        let taken = index.find_or_insert(&rows.columns()[..compiled.key_count], count, &mut ids)?;
        if taken < count {
            // The groups do not fit in memory. The plan's LIMIT stands above: give all.
            drop((index, accumulators, cursor));
            return grouped::run(compiled, table, run);
        }
        let groups = index.group_count().min(wanted);
        accumulators.resize(groups);
        add(compiled, &mut accumulators, &rows, &mut ids, groups, run)?;
    }
    let groups = index.group_count().min(wanted);
    let keys = index.keys(0..groups)?;
    if !ended && !compiled.calls.is_empty() && groups > 0 {
        let threads = thread_count(compiled.input.as_ref(), run);
        let mut indexes = closed_indexes(index, &keys, &table, threads)?.into_iter();
        let sinks = drain_from(&compiled.input, Some(cursor), run, indexes.len(), || {
            let mut accumulators = Accumulators::new(&compiled.calls)?;
            accumulators.resize(groups);
            let index = indexes.next();
            Ok(LookupSink {
                compiled,
                index: index.ok_or_else(|| Error::internal("more workers than indexes"))?,
                ids: Vec::new(),
                groups,
                accumulators,
            })
        })?;
        let ids: Vec<u32> = (0..groups as u32).collect();
        for mut sink in sinks {
            let states = sink.accumulators.take_states()?;
            accumulators.merge(&compiled.calls, &ids, &states, run)?;
        }
    }
    table.groups_changed(0, groups);
    let (keys, table) = (keys.into_columns(), Some(&table));
    let results = compiled.results(keys, &mut accumulators, groups, table, run)?;
    Ok(State::Ready(results))
}

/// A copy of the index of the groups for each worker, as far as there is memory beyond the first index.
fn closed_indexes(
    found: GroupIndex,
    keys: &Batch,
    table: &TempTable,
    threads: usize,
) -> Result<Vec<GroupIndex>> {
    let (groups, mut ids) = (keys.row_count(), Vec::new());
    let mut indexes = vec![found];
    while indexes.len() < threads {
        let mut index = GroupIndex::for_table(table)?.takes_least_share();
        if index.find_or_insert(keys.columns(), groups, &mut ids)? < groups {
            break;
        }
        indexes.push(index);
    }
    indexes.iter_mut().for_each(GroupIndex::close);
    Ok(indexes)
}

struct LookupSink<'a> {
    compiled: &'a CompiledGrouping,
    index: GroupIndex,
    ids: Vec<u32>,
    groups: usize,
    accumulators: Accumulators,
}

impl Sink for LookupSink<'_> {
    fn consume(&mut self, batch: Batch, run: &RunContext) -> Result<()> {
        let rows = self.compiled.columns.evaluate(&batch, run)?;
        let ids = &mut self.ids;
        let keys = &rows.columns()[..self.compiled.key_count];
        self.index.find_or_insert(keys, rows.row_count(), ids)?;
        add(
            self.compiled,
            &mut self.accumulators,
            &rows,
            ids,
            self.groups,
            run,
        )
    }
}

/// Adds the rows of the first `groups` groups to their accumulators. Other rows belong to groups beyond the wanted
/// ones, or to groups not in the index.
fn add(
    compiled: &CompiledGrouping,
    accumulators: &mut Accumulators,
    rows: &Batch,
    ids: &mut Vec<u32>,
    groups: usize,
    run: &RunContext,
) -> Result<()> {
    let is_wanted = |id: u32| (id as usize) < groups;
    if ids.iter().all(|id| is_wanted(*id)) {
        return accumulators.update(&compiled.calls, ids, rows, run);
    }
    let selection = BooleanBuffer::collect_bool(ids.len(), |row| is_wanted(ids[row]));
    ids.retain(|id| is_wanted(*id));
    if ids.is_empty() {
        return Ok(());
    }
    let rows = filter_batch(rows, &selection, ids.len());
    accumulators.update(&compiled.calls, ids, &rows, run)
}
