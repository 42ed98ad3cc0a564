//! Grouping by keys: pre-aggregation that switches to partitioning when values do not repeat.
//!
//! A worker groups its rows and keeps its first rows (the sample) beside the groups. The first worker with a complete
//! sample decides for all. When the sample has many groups, its rows go to the partitioned table as they are, and so do
//! all later rows; else the sample is dropped. Later, groups that outgrow memory go to a second table as partial
//! states. So what a statement spills is either rows or states.
//!
//! Once memory was short, each worker keeps the groups that its share of the memory holds: rows of these are added
//! to them, and every row of another group becomes a state of its own, until most rows are of other groups, as in
//! sorted input. Then the groups go to the table of states, and others take their place (hybrid hash aggregation;
//! Helmer, Neumann and Moerkotte, Early Grouping Gets the Skew, 2002).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use arrow_array::ArrayRef;
use arrow_buffer::BooleanBuffer;
use mayfly_memory::Reservation;
use mayfly_storage::{Access, GroupIndex, TempTable, TempTableWriter};
use mayfly_types::{Batch, PhysicalType, Result, Stage};

use super::super::tables::{self, key_columns};
use super::call::Accumulators;
use super::compiled::CompiledGrouping;
use super::partitions::{Content, WholeGroups};
use super::sample::Sample;
use super::state::State;
use crate::context::RunContext;
use crate::driver::{Sink, drain_from, thread_count};
use crate::rows::filter_batch;
use crate::state::lock;

/// Minimum rows per group from which on it pays to group rows before they are partitioned.
const ROWS_A_GROUP_MIN: u64 = 4;
/// [`ROWS_A_GROUP_MIN`] where groups are found by the bits of their values and partitioning is the alternative: the
/// groups of all workers are merged.
const ROWS_A_KNOWN_GROUP_MIN: u64 = 16;
/// Number of groups beyond which a worker's index is slower than partitioning.
const GROUPS_MAX: usize = 256 * 1024;
/// Bytes of a worker's groups beyond which a hash table is slower than to partition the rows first, if these are narrow
/// and take at most half of its memory: the groups of one partition stay in a cache.
const HASHED_BYTES_MAX: u64 = 8 << 20;
/// Maximum bytes of a narrow row.
const NARROW_ROW_BYTES: u64 = 96;
/// Bytes of a row in a temporary table besides its values.
const ROW_HEADER_BYTES: u64 = 8;
/// Partition bits of the table of states: the groups of small states fit in little memory in each of 64 partitions.
const STATES_PARTITIONS_BITS: u32 = 6;
/// Bytes of the blocks of states that a worker is writing: two small blocks for each partition.
const STATES_BYTES: u64 = (2 * 4096) << STATES_PARTITIONS_BITS;
/// Number of rows after which a worker checks whether its groups are still those of most rows.
const WINDOW_ROWS: usize = 64 * 1024;
/// Maximum number of groups that are merged on one thread.
const MERGED_GROUPS_MAX: usize = 256 * 1024;

/// Groups the rows of the input. `rows` is the table that [`table`] creates for them.
pub(super) fn run(compiled: &CompiledGrouping, rows: TempTable, run: &RunContext) -> Result<State> {
    // The number of rows is known after this.
    compiled.input.prepare(run)?;
    let workers = thread_count(compiled.input.as_ref(), run).min(compiled.threads_max()) as u64;
    let limit = rows.memory_limit();
    let for_states = (workers * STATES_BYTES).min(limit / 2);
    let shared = Shared {
        rows_expected: compiled.input.rows_hint() / workers,
        // An eighth is reserve for vectors that grow once more.
        share: (limit - for_states) / workers / 8 * 7,
        rows,
        states: Mutex::new(None),
        pays_to_group: OnceLock::new(),
        is_capped: AtomicBool::new(false),
    };
    let partition_only =
        compiled.needs_whole_groups() || !compiled.is_mergeable() || shared.rows.is_on_disk();
    let codes = if partition_only {
        Vec::new()
    } else {
        compiled.coded_columns()
    };
    compiled.input.give_codes(&codes);
    let _stage = run.within(Stage::CreatingTmpTable);
    let sinks = drain_from(&compiled.input, None, run, compiled.threads_max(), || {
        GroupSink::new(compiled, &shared, partition_only)
    })?;
    finish(compiled, sinks, &shared, run)
}

/// Creates a table with the grouping's keys as its first columns.
pub(super) fn table(
    compiled: &CompiledGrouping,
    columns: Vec<PhysicalType>,
    run: &RunContext,
) -> Result<TempTable> {
    let keys = key_columns(compiled.modes.iter().copied());
    tables::create(&compiled.temporary, columns, Access::Hash(keys), run)
}

/// State that the workers share.
struct Shared {
    rows: TempTable,
    states: Mutex<Option<TempTable>>,
    /// Decision of the first worker with a complete sample.
    pays_to_group: OnceLock<bool>,
    /// Whether the groups of a worker are limited to its share of memory.
    is_capped: AtomicBool,
    /// Expected rows of a worker.
    rows_expected: u64,
    /// Bytes of memory for the groups of each worker where not all groups fit.
    share: u64,
}

impl Shared {
    /// Decides whether rows are grouped before they are partitioned: when a worker's rows will share few groups that
    /// fit in memory, or fewer bytes are spilled for the groups that do not fit than for all rows as they are. The
    /// groups are those of the sample.
    fn decide(&self, sample: &Sample, grouping: &Grouping) -> bool {
        let groups = grouping.index.group_count();
        let held = grouping.index.group_bytes() + grouping.accumulators.memory_bytes();
        let expected = sample.expected_groups();
        let rows = self.rows_expected.max(sample.rows());
        if expected > GROUPS_MAX as u64 || expected * ROWS_A_GROUP_MIN > rows {
            return false;
        }
        let group_bytes = held.checked_div(groups as u64).unwrap_or(0).max(1);
        let row_bytes = ROW_HEADER_BYTES + sample.memory_bytes() / sample.rows().max(1);
        let is_light = row_bytes <= NARROW_ROW_BYTES && rows * row_bytes <= self.share / 2;
        let index = &grouping.index;
        let is_known = index.knows_values_of(expected) && expected * ROWS_A_KNOWN_GROUP_MIN <= rows;
        let is_slow = index.is_hashed() && !is_known;
        if is_light && is_slow && expected * group_bytes > HASHED_BYTES_MAX {
            return false;
        }
        let fitting = self.share / group_bytes;
        if expected <= fitting {
            return true;
        }
        let passing = rows as f64 * (1.0 - fitting as f64 / expected as f64);
        passing * group_bytes as f64 <= (rows * row_bytes) as f64
    }

    fn states(&self, compiled: &CompiledGrouping) -> TempTable {
        let make = || {
            let mut columns = compiled.key_types();
            columns.extend(compiled.calls.iter().flat_map(|call| call.state_types()));
            self.rows
                .beside(columns, self.rows.spec().access.clone())
                .with_partitions(STATES_PARTITIONS_BITS)
        };
        lock(&self.states).get_or_insert_with(make).clone()
    }
}

struct GroupSink<'a> {
    compiled: &'a CompiledGrouping,
    shared: &'a Shared,
    mode: Mode,
    rows: Option<TempTableWriter>,
    states: Option<TempTableWriter>,
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
    /// Rows seen so far until the decision; then `None`.
    sample: Option<Sample>,
    /// Number of groups that the table's record includes.
    shown: usize,
    /// State of pass-by mode, in which rows of other groups become states of their own.
    passing: Option<Passing>,
}

/// Rows since the last check, and how many of them were of groups in memory.
#[derive(Default)]
struct Passing {
    rows: usize,
    known: usize,
}

impl Passing {
    /// Whether there are enough rows for a check.
    fn ends_window(&self) -> bool {
        self.rows >= WINDOW_ROWS
    }
}

impl<'a> GroupSink<'a> {
    fn new(
        compiled: &'a CompiledGrouping,
        shared: &'a Shared,
        partition_only: bool,
    ) -> Result<Self> {
        let mode = if partition_only {
            Mode::Partition
        } else {
            Mode::Group(Box::new(Grouping {
                index: GroupIndex::for_table(&shared.rows)?,
                accumulators: Accumulators::new(&compiled.calls)?,
                reservation: shared.rows.reservation(),
                ids: Vec::new(),
                sample: Some(Sample::default()),
                shown: 0,
                passing: None,
            }))
        };
        Ok(Self {
            compiled,
            shared,
            mode,
            rows: None,
            states: None,
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
            .get_or_insert_with(|| shared.states(self.compiled).writer())
            .append(states)
    }

    /// Drops the groups; their rows go to the partitioned table.
    fn partition(&mut self) -> Result<()> {
        let mode = std::mem::replace(&mut self.mode, Mode::Partition);
        let Mode::Group(grouping) = mode else {
            return Ok(());
        };
        // The groups are freed before the table needs their memory.
        self.shared.rows.groups_changed(grouping.shown, 0);
        let sample = grouping.into_sample();
        for rows in sample.into_iter().flat_map(Sample::into_batches) {
            self.append_rows(&rows)?;
        }
        Ok(())
    }

    /// Limits the groups to their share of memory: a worker within it keeps its groups, and rows of others pass by from
    /// here on. Groups far beyond it go to the table of states: another worker lacks the memory.
    fn keep_to_share(&mut self) -> Result<()> {
        let (share, is_capped) = (self.shared.share, &self.shared.is_capped);
        let Mode::Group(grouping) = &mut self.mode else {
            return Ok(());
        };
        if !is_capped.load(Ordering::Relaxed) {
            return Ok(());
        }
        let held = grouping.memory_bytes();
        if held > share.saturating_add(share / 2) {
            return self.make_room();
        }
        if held >= share {
            grouping.index.close();
            grouping.passing = Some(Passing::default());
        }
        Ok(())
    }

    /// Frees memory: the groups' states go to the table of states, which spills to the temporary file.
    fn make_room(&mut self) -> Result<()> {
        self.shared.is_capped.store(true, Ordering::Relaxed);
        self.flush()?;
        self.states
            .as_mut()
            .map_or(Ok(()), TempTableWriter::overflow)
    }

    /// Adds rows of the groups in memory. Each other row becomes a state of its own.
    fn pass_by(&mut self, rows: &Batch, run: &RunContext) -> Result<()> {
        let Mode::Group(grouping) = &mut self.mode else {
            return self.append_rows(rows);
        };
        let Grouping {
            index,
            accumulators,
            ids,
            passing,
            ..
        } = &mut **grouping;
        let count = rows.row_count();
        index.find_or_insert(&rows.columns()[..self.compiled.key_count], count, ids)?;
        let is_known = BooleanBuffer::collect_bool(count, |row| ids[row] != GroupIndex::NO_GROUP);
        let known = is_known.count_set_bits();
        if known > 0 {
            ids.retain(|id| *id != GroupIndex::NO_GROUP);
            let rows = filter_batch(rows, &is_known, known);
            accumulators.update(&self.compiled.calls, ids, &rows, run)?;
        }
        let passing = passing.get_or_insert_default();
        passing.rows += count;
        passing.known += known;
        let is_worthwhile = !passing.ends_window() || passing.known >= passing.rows / 2;
        if passing.ends_window() {
            *passing = Passing::default();
        }
        let is_full = !grouping.charge();
        if known < count {
            let others = filter_batch(rows, &!&is_known, count - known);
            let states = self.compiled.states_of_rows(&others, run)?;
            self.append_states(&states)?;
        }
        if is_full || !is_worthwhile {
            self.make_room()?;
        }
        Ok(())
    }

    /// Moves the groups' states to the table of states.
    fn flush(&mut self) -> Result<()> {
        if let Mode::Group(grouping) = &mut self.mode {
            let states = grouping.take_states()?;
            grouping.reservation.free();
            grouping.passing = None;
            let shown = std::mem::take(&mut grouping.shown);
            self.shared.rows.groups_changed(shown, 0);
            self.append_states(&states)?;
        }
        Ok(())
    }
}

impl Grouping {
    /// Reserves the bytes held beside the index; false if there is no memory.
    fn charge(&mut self) -> bool {
        let sample = self.sample.as_ref().map_or(0, Sample::memory_bytes);
        let bytes = self.accumulators.memory_bytes() + sample;
        self.reservation.try_resize(bytes).is_ok()
    }

    /// Bytes of the groups.
    fn memory_bytes(&self) -> u64 {
        self.index.memory_bytes() + self.accumulators.memory_bytes()
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
        let mut rows = self.compiled.columns.evaluate(&batch, run)?;
        drop(batch);
        let mut first = 0;
        while first < rows.row_count() {
            let rest = rows.slice(first, rows.row_count() - first);
            let Mode::Group(grouping) = &mut self.mode else {
                return self.append_rows(&rest.decoded());
            };
            if grouping.passing.is_some() {
                return self.pass_by(&rest.decoded(), run);
            }
            if let Some(sample) = &mut grouping.sample {
                match self.shared.pays_to_group.get() {
                    Some(true) => grouping.sample = None,
                    Some(false) => {
                        self.partition()?;
                        continue;
                    }
                    None if first == 0 => {
                        rows = rows.decoded();
                        sample.keep(&rows, &run.statement.temp.resources().stable);
                    }
                    None => {}
                }
            }
            let keys: &[ArrayRef] = &rest.columns()[..self.compiled.key_count];
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
                    .update(&self.compiled.calls, &grouping.ids, &part, run)?;
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
                let decide = || self.shared.decide(&sample, grouping);
                if !self.shared.pays_to_group.get_or_init(decide) {
                    grouping.sample = Some(sample);
                    // The sample contains the whole of this batch.
                    return self.partition();
                }
                // Its memory is freed for the groups.
                drop(sample);
                full = first < rows.row_count() || !grouping.charge();
            }
            if grouping.sample.is_none() {
                if full {
                    self.make_room()?;
                } else if groups > GROUPS_MAX {
                    self.flush()?;
                } else {
                    self.keep_to_share()?;
                }
            }
        }
        Ok(())
    }
}

fn finish(
    compiled: &CompiledGrouping,
    sinks: Vec<GroupSink<'_>>,
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
            return merged(compiled, sinks, shared, run);
        }
    }
    let has_rows = sinks.iter().any(|sink| sink.rows.is_some());
    for mut sink in sinks {
        if has_rows {
            sink.partition()?;
        } else {
            sink.flush()?;
        }
        if let Some(writer) = sink.rows {
            writer.finish()?;
        }
        if let Some(writer) = sink.states {
            writer.finish()?;
        }
    }
    Ok(match lock(&shared.states).take() {
        Some(states) => partitioned_state(states, Content::States),
        None => partitioned_state(shared.rows.clone(), Content::Rows),
    })
}

fn partitioned_state(table: TempTable, content: Content) -> State {
    State::Partitioned {
        queue: table.partitions(),
        content,
        rows: table.row_count(),
        table,
        whole: WholeGroups::default(),
    }
}

/// Merges the groups of all workers into the first worker's: all fit in memory and are few.
fn merged(
    compiled: &CompiledGrouping,
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
        let (keys, states_columns) = states.columns().split_at(compiled.key_count);
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
                .merge(&compiled.calls, &first.ids, &states, run)?;
            merged += taken;
            if taken == 0 {
                // No memory for the merged groups: use a table after all.
                let target = shared.states(compiled);
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
    compiled
        .results(keys, &mut first.accumulators, groups, table, run)
        .map(State::Ready)
}

/// States that are not merged yet.
fn states_rest(keys: &[ArrayRef], states: &[ArrayRef], merged: usize) -> Batch {
    let count = keys.first().map_or(0, |key| key.len());
    let mut columns = keys.to_vec();
    columns.extend(states.iter().map(|state| state.slice(merged, count)));
    Batch::new(columns, count)
}
