//! GROUP BY … LIMIT n without an order: any n groups will do, so the first n seen are taken.
//!
//! The first rows are read on one thread until n groups are found. The rest of the input only adds
//! to those: every worker looks keys up in an index of the n and passes by all others.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Int64Array, UInt32Array};
use arrow_buffer::BooleanBuffer;
use mayfly_storage::{BuildRow, GroupIndex, JoinIndex, JoinMatches, TempTable};
use mayfly_types::{Batch, PhysicalType, Result, Stage};

use super::call::Accumulators;
use super::{Aggregate, State, grouped, split};
use crate::context::RunContext;
use crate::driver::{Sink, drain_from};
use crate::rows::{filter_batch, take_rows};

pub(super) fn run(node: &Aggregate, wanted: u64, run: &RunContext) -> Result<State> {
    let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
    node.input.prepare(run)?;
    let table = grouped::table(node, node.columns.types.clone(), run)?;
    let mut index = GroupIndex::for_table(&table)?.takes_least_share();
    let mut accumulators = Accumulators::new(&node.calls, &node.signature)?;
    let mut ids = Vec::new();
    let mut cursor = Arc::clone(&node.input).open(run)?;
    let mut ended = false;
    while index.group_count() < wanted {
        run.statement.check_interrupt()?;
        let Some(batch) = cursor.next(run)? else {
            ended = true;
            break;
        };
        let rows = node.columns.evaluate(&batch, run)?;
        let count = rows.row_count();
        let taken = index.find_or_insert(&rows.columns()[..node.key_count], count, &mut ids)?;
        if taken < count {
            // So many groups do not fit in memory. The plan's LIMIT stands above: give all.
            drop((index, accumulators, cursor));
            return grouped::run(node, table, run);
        }
        let groups = index.group_count().min(wanted);
        accumulators.resize(groups);
        if groups == index.group_count() {
            accumulators.update(&node.calls, &ids, &rows, run)?;
        } else {
            let selection = BooleanBuffer::collect_bool(count, |row| (ids[row] as usize) < wanted);
            ids.retain(|id| (*id as usize) < wanted);
            let rows = filter_batch(&rows, &selection, ids.len());
            accumulators.update(&node.calls, &ids, &rows, run)?;
        }
    }
    let groups = index.group_count().min(wanted);
    let keys = index.keys(0..groups)?;
    drop(index);
    if !ended && !node.calls.is_empty() && groups > 0 {
        let (index, numbers) = key_index(node, &table, &keys, run)?;
        let _stage = run.within(Stage::CreatingTmpTable);
        let sinks = drain_from(&node.input, Some(cursor), run, usize::MAX, || {
            let mut accumulators = Accumulators::new(&node.calls, &node.signature)?;
            accumulators.resize(groups);
            Ok(LookupSink {
                node,
                index: &index,
                numbers: &numbers,
                accumulators,
                matches: JoinMatches::default(),
            })
        })?;
        let ids: Vec<u32> = (0..groups as u32).collect();
        for mut sink in sinks {
            let states = sink.accumulators.take_states()?;
            accumulators.merge(&node.calls, &ids, &states, run)?;
        }
    } else {
        // Without an index of the keys nothing else counts the groups as the table's rows.
        table.groups_changed(0, groups);
    }
    let (keys, table) = (keys.into_columns(), Some(&table));
    let results = node.results(keys, &mut accumulators, groups, table, run)?;
    Ok(State::Ready(results))
}

/// An index of the keys, and the group number of each of its rows.
fn key_index(
    node: &Aggregate,
    table: &TempTable,
    keys: &Batch,
    run: &RunContext,
) -> Result<(JoinIndex, Vec<u32>)> {
    let mut columns = node.key_types();
    columns.push(PhysicalType::Int64);
    let table = table.beside(columns, table.spec().access.clone());
    let count = keys.row_count();
    let mut rows = keys.columns().to_vec();
    rows.push(Arc::new((0..count as i64).collect::<Int64Array>()));
    let mut writer = table.writer();
    for piece in split(&Batch::new(rows, count), run.statement.options.batch_rows) {
        writer.append(&piece)?;
    }
    writer.finish()?;
    let index = match table.join_index()? {
        Some(index) => index,
        None => {
            return Err(mayfly_types::error::codes::ER_OUT_OF_MEMORY
                .with(&[&"the groups of a query with LIMIT"]));
        }
    };
    let all: Vec<BuildRow> = (0..count).map(|ordinal| index.row_at(ordinal)).collect();
    let numbers = index.gather(&[node.key_count], &all)?;
    let numbers = numbers[0].as_primitive::<Int64Type>().values();
    let numbers = numbers.iter().map(|number| *number as u32).collect();
    Ok((index, numbers))
}

struct LookupSink<'a> {
    node: &'a Aggregate,
    index: &'a JoinIndex,
    numbers: &'a [u32],
    accumulators: Accumulators,
    matches: JoinMatches,
}

impl Sink for LookupSink<'_> {
    fn consume(&mut self, batch: Batch, run: &RunContext) -> Result<()> {
        let rows = self.node.columns.evaluate(&batch, run)?;
        let keys = &rows.columns()[..self.node.key_count];
        let mut probe = self.index.probe(keys, rows.row_count())?;
        let limit = rows.row_count();
        while self
            .index
            .next_matches(&mut probe, limit, &mut self.matches)
        {
            let ids: Vec<u32> = self
                .matches
                .build_rows
                .iter()
                .map(|row| self.numbers[self.index.ordinal(*row)])
                .collect();
            let found = UInt32Array::from(self.matches.probe_rows.clone());
            let rows = Batch::new(take_rows(rows.columns(), &found)?, found.len());
            self.accumulators
                .update(&self.node.calls, &ids, &rows, run)?;
        }
        Ok(())
    }
}
