//! Grouping by keys: pre-aggregation that turns to partitioning when values do not repeat.
//!
//! A worker groups what it sees and keeps its first rows beside the groups. When enough rows were
//! seen to tell and there are many groups among them, the rows go to the partitioned table as they
//! are, and so does everything after; else the kept rows are forgotten. Later, groups that outgrow
//! memory go to a second table as partial states. Should some workers have written rows and others
//! states, the rows are turned into states of one row each: rare, and right.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::ArrayRef;
use mayfly_memory::Reservation;
use mayfly_storage::{Access, GroupIndex, TempTable, TempTableWriter};
use mayfly_types::{Batch, PhysicalType, Result, Stage};

use super::super::tables::{self, key_columns};
use super::call::Accumulators;
use super::sample::Sample;
use super::{Aggregate, Content, State};
use crate::context::RunContext;
use crate::driver::{Sink, drain, thread_count};
use crate::state::lock;

/// Rows a group from which on it pays to group them before they are partitioned.
const ROWS_A_GROUP_MIN: u64 = 4;
/// Groups beyond which a worker's index is slower than partitioning.
const GROUPS_MAX: usize = 256 * 1024;
/// Groups up to which workers' results are merged on one thread.
const MERGED_GROUPS_MAX: usize = 256 * 1024;

/// Groups the rows of the input. `rows` is the table that [`table`] makes for them.
pub(super) fn run(node: &Aggregate, rows: TempTable, run: &RunContext) -> Result<State> {
    let shared = Shared {
        rows,
        states: Mutex::new(None),
        repeats_not: AtomicBool::new(false),
    };
    let partition_only =
        node.needs_whole_groups() || !node.is_mergeable() || shared.rows.is_on_disk();
    let _stage = run.within(Stage::CreatingTmpTable);
    let sinks = drain(&node.input, run, node.threads_max(), || {
        GroupSink::new(node, &shared, partition_only, run)
    })?;
    finish(node, sinks, &shared, run)
}

/// A table with the node's keys as its first columns.
pub(super) fn table(
    node: &Aggregate,
    columns: Vec<PhysicalType>,
    run: &RunContext,
) -> Result<TempTable> {
    let keys = key_columns(node.modes.iter().copied());
    tables::create(&node.temporary, columns, Access::Hash(keys), run)
}

/// What the workers share.
struct Shared {
    rows: TempTable,
    states: Mutex<Option<TempTable>>,
    /// A worker found that values do not repeat.
    repeats_not: AtomicBool,
}

impl Shared {
    fn states(&self, node: &Aggregate) -> TempTable {
        let make = || {
            let mut columns = node.key_types();
            columns.extend(node.calls.iter().flat_map(|call| call.state_types()));
            self.rows.beside(columns, self.rows.spec().access.clone())
        };
        lock(&self.states).get_or_insert_with(make).clone()
    }
}

struct GroupSink<'a> {
    node: &'a Aggregate,
    shared: &'a Shared,
    mode: Mode,
    rows: Option<TempTableWriter>,
    states: Option<TempTableWriter>,
    /// Rows that this worker is likely to see.
    rows_expected: u64,
}

enum Mode {
    Partition,
    Group(Box<Grouping>),
}

struct Grouping {
    index: GroupIndex,
    accumulators: Accumulators,
    /// Memory of the accumulators.
    reservation: Reservation,
    ids: Vec<u32>,
    /// The rows seen so far, until it is decided; then `None`.
    sample: Option<Sample>,
    /// How many of the groups the table's record knows of.
    shown: usize,
}

impl<'a> GroupSink<'a> {
    fn new(
        node: &'a Aggregate,
        shared: &'a Shared,
        partition_only: bool,
        run: &RunContext,
    ) -> Result<Self> {
        let mode = if partition_only {
            Mode::Partition
        } else {
            Mode::Group(Box::new(Grouping {
                index: GroupIndex::for_table(&shared.rows)?,
                accumulators: Accumulators::new(&node.calls, &node.signature)?,
                reservation: shared.rows.reservation(),
                ids: Vec::new(),
                sample: Some(Sample::default()),
                shown: 0,
            }))
        };
        Ok(Self {
            node,
            shared,
            mode,
            rows: None,
            states: None,
            rows_expected: node.input.rows_hint() / thread_count(node.input.as_ref(), run) as u64,
        })
    }

    fn append_rows(&mut self, rows: &Batch) -> Result<()> {
        self.rows
            .get_or_insert_with(|| self.shared.rows.writer())
            .append(rows)
    }

    fn append_states(&mut self, states: &Batch) -> Result<()> {
        let shared = self.shared;
        self.states
            .get_or_insert_with(|| shared.states(self.node).writer())
            .append(states)
    }

    /// Forgets the groups; their rows go to the partitioned table.
    fn partition(&mut self) -> Result<()> {
        let mode = std::mem::replace(&mut self.mode, Mode::Partition);
        let Mode::Group(grouping) = mode else {
            return Ok(());
        };
        // The groups go before the table needs their memory.
        self.shared.rows.groups_changed(grouping.shown, 0);
        let sample = grouping.into_sample();
        for rows in sample.into_iter().flat_map(Sample::into_batches) {
            self.append_rows(&rows)?;
        }
        Ok(())
    }

    /// Moves the groups' states to the table of states.
    fn flush(&mut self) -> Result<()> {
        if let Mode::Group(grouping) = &mut self.mode {
            let states = grouping.take_states()?;
            grouping.reservation.free();
            let shown = std::mem::take(&mut grouping.shown);
            self.shared.rows.groups_changed(shown, 0);
            self.append_states(&states)?;
        }
        Ok(())
    }
}

impl Grouping {
    /// Reserves what is held beside the index; false when the memory is not there.
    fn charge(&mut self) -> bool {
        let sample = self.sample.as_ref().map_or(0, Sample::memory_bytes);
        let bytes = self.accumulators.memory_bytes() + sample;
        self.reservation.try_resize(bytes).is_ok()
    }

    fn into_sample(self) -> Option<Sample> {
        self.sample
    }

    fn take_states(&mut self) -> Result<Batch> {
        let groups = self.index.group_count();
        let mut columns = self.index.keys(0..groups)?.into_columns();
        columns.extend(self.accumulators.take_states()?);
        self.index.clear();
        Ok(Batch::new(columns, groups))
    }
}

impl Sink for GroupSink<'_> {
    fn consume(&mut self, batch: Batch, run: &RunContext) -> Result<()> {
        let rows = self.node.columns.evaluate(&batch, run)?;
        drop(batch);
        let mut first = 0;
        while first < rows.row_count() {
            let Mode::Group(grouping) = &mut self.mode else {
                return self.append_rows(&rows.slice(first, rows.row_count() - first));
            };
            if let Some(sample) = &mut grouping.sample {
                if self.shared.repeats_not.load(Ordering::Relaxed) {
                    self.partition()?;
                    continue;
                }
                if first == 0 {
                    sample.keep(&rows, &run.statement.temp.resources().stable);
                }
            }
            let rest = if first == 0 {
                rows.clone()
            } else {
                rows.slice(first, rows.row_count() - first)
            };
            let keys: &[ArrayRef] = &rest.columns()[..self.node.key_count];
            let taken = grouping
                .index
                .find_or_insert(keys, rest.row_count(), &mut grouping.ids)?;
            if taken > 0 {
                let groups = grouping.index.group_count();
                if let Some(sample) = &mut grouping.sample {
                    sample.count(&grouping.ids, groups);
                }
                grouping.accumulators.resize(groups);
                let part = if taken == rest.row_count() {
                    rest
                } else {
                    rest.slice(0, taken)
                };
                grouping
                    .accumulators
                    .update(&self.node.calls, &grouping.ids, &part, run)?;
                first += taken;
            }
            let groups = grouping.index.group_count();
            self.shared.rows.groups_changed(grouping.shown, groups);
            grouping.shown = groups;
            let mut full = first < rows.row_count() || !grouping.charge();
            if let Some(sample) = grouping
                .sample
                .take_if(|sample| full || sample.is_complete())
            {
                if !pays_to_group(&sample, self.rows_expected) {
                    grouping.sample = Some(sample);
                    self.shared.repeats_not.store(true, Ordering::Relaxed);
                    // The sample holds the whole of this batch.
                    return self.partition();
                }
                // Its memory is the groups'.
                drop(sample);
                full = first < rows.row_count() || !grouping.charge();
            }
            if grouping.sample.is_none() && (full || groups > GROUPS_MAX) {
                self.flush()?;
            }
        }
        Ok(())
    }
}

/// Whether enough rows of a worker will share few enough groups.
fn pays_to_group(sample: &Sample, rows_expected: u64) -> bool {
    let groups = sample.expected_groups();
    let rows = rows_expected.max(sample.rows());
    groups <= GROUPS_MAX as u64 && groups * ROWS_A_GROUP_MIN <= rows
}

fn finish(
    node: &Aggregate,
    mut sinks: Vec<GroupSink<'_>>,
    shared: &Shared,
    run: &RunContext,
) -> Result<State> {
    let partitioned = sinks
        .iter()
        .any(|sink| sink.rows.is_some() || sink.states.is_some());
    if !partitioned {
        let groups = sinks.iter().map(|sink| match &sink.mode {
            Mode::Group(grouping) => grouping.index.group_count(),
            Mode::Partition => 0,
        });
        if sinks.len() == 1 || groups.sum::<usize>() <= MERGED_GROUPS_MAX {
            return merged(node, sinks, shared, run);
        }
    }
    let has_rows = sinks.iter().any(|sink| sink.rows.is_some());
    let has_states = sinks.iter().any(|sink| {
        sink.states.is_some()
            || matches!(&sink.mode, Mode::Group(grouping) if grouping.sample.is_none())
    });
    for sink in &mut sinks {
        match &sink.mode {
            Mode::Group(grouping) if has_rows && grouping.sample.is_some() => sink.partition()?,
            Mode::Group(_) => sink.flush()?,
            Mode::Partition => {}
        }
    }
    let mut states_writer = None;
    for sink in sinks {
        if let Some(writer) = sink.rows {
            writer.finish()?;
        }
        if let Some(writer) = sink.states {
            writer.finish()?;
        }
        drop(sink.mode);
    }
    let states = lock(&shared.states).take();
    let Some(states) = states.filter(|_| has_states || !has_rows) else {
        return Ok(partitioned_state(shared.rows.clone(), Content::Rows));
    };
    if has_rows {
        let writer = states_writer.insert(states.writer());
        rows_to_states(node, &shared.rows, writer, run)?;
    }
    if let Some(writer) = states_writer {
        writer.finish()?;
    }
    Ok(partitioned_state(states, Content::States))
}

fn partitioned_state(table: TempTable, content: Content) -> State {
    State::Partitioned {
        queue: table.partitions(),
        content,
        rows: table.row_count(),
        table,
    }
}

/// Every row becomes the state of a group of its own.
fn rows_to_states(
    node: &Aggregate,
    rows: &TempTable,
    writer: &mut TempTableWriter,
    run: &RunContext,
) -> Result<()> {
    let mut accumulators = Accumulators::new(&node.calls, &node.signature)?;
    let mut scan = rows.scan(None);
    while let Some(batch) = scan.next_batch()? {
        run.statement.check_interrupt()?;
        let count = batch.row_count();
        let ids: Vec<u32> = (0..count as u32).collect();
        accumulators.resize(count);
        accumulators.update(&node.calls, &ids, &batch, run)?;
        let mut columns = batch.columns()[..node.key_count].to_vec();
        columns.extend(accumulators.take_states()?);
        writer.append(&Batch::new(columns, count))?;
    }
    Ok(())
}

/// All groups fit in memory and are few: they are merged into the first worker's.
fn merged(
    node: &Aggregate,
    sinks: Vec<GroupSink<'_>>,
    shared: &Shared,
    run: &RunContext,
) -> Result<State> {
    let mut groupings = sinks.into_iter().filter_map(|sink| match sink.mode {
        Mode::Group(mut grouping) => {
            grouping.sample = None;
            Some(grouping)
        }
        Mode::Partition => None,
    });
    let Some(mut first) = groupings.next() else {
        return Ok(State::Ready(Default::default()));
    };
    let mut shown = first.shown;
    while let Some(mut other) = groupings.next() {
        let states = other.take_states()?;
        shown += other.shown;
        let (keys, states_columns) = states.columns().split_at(node.key_count);
        let count = states.row_count();
        let mut merged = 0;
        while merged < count {
            let keys: Vec<ArrayRef> = keys
                .iter()
                .map(|key| key.slice(merged, count - merged))
                .collect();
            let taken = first
                .index
                .find_or_insert(&keys, count - merged, &mut first.ids)?;
            let states: Vec<ArrayRef> = states_columns
                .iter()
                .map(|state| state.slice(merged, taken))
                .collect();
            first.accumulators.resize(first.index.group_count());
            first
                .accumulators
                .merge(&node.calls, &first.ids, &states, run)?;
            merged += taken;
            if taken == 0 {
                // No memory for the merged groups: they go through a table after all.
                let target = shared.states(node);
                let mut writer = target.writer();
                writer.append(&first.take_states()?)?;
                writer.append(&states_rest(&keys, states_columns, merged))?;
                for mut other in groupings {
                    shown += other.shown;
                    writer.append(&other.take_states()?)?;
                }
                shared.rows.groups_changed(shown, 0);
                writer.finish()?;
                return Ok(partitioned_state(target, Content::States));
            }
        }
    }
    let groups = first.index.group_count();
    let keys = first.index.keys(0..groups)?.into_columns();
    first.accumulators.resize(groups);
    shared.rows.groups_changed(shown, groups);
    let table = Some(&shared.rows);
    node.results(keys, &mut first.accumulators, groups, table, run)
        .map(State::Ready)
}

/// The states that were not merged yet.
fn states_rest(keys: &[ArrayRef], states: &[ArrayRef], merged: usize) -> Batch {
    let count = keys.first().map_or(0, |key| key.len());
    let mut columns = keys.to_vec();
    columns.extend(states.iter().map(|state| state.slice(merged, count)));
    Batch::new(columns, count)
}
