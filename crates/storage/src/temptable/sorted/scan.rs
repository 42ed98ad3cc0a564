//! Reading a table in sort order.

#![expect(unsafe_code, reason = "rows are raw bytes; see the layout")]

use std::ops::Range;
use std::sync::Arc;

use mayfly_types::{Batch, Result};

use super::cutoff::Prefix;
use super::keys::{PrefixBuffer, SortKeys};
use super::run::{Comparer, FileRun, MemoryReader, MemoryRun, Record, RunReader};
use super::writer::SortedWriter;
use crate::temptable::rows::{Gather, Resolver};
use crate::temptable::spec::Access;
use crate::temptable::store::{LoadedBlock, PartitionPlan, RowWriter, StoreRef};
use crate::temptable::table::TempTable;

/// Minimum and maximum fan-in of a merge.
const FAN_IN: std::ops::RangeInclusive<u64> = 2..=512;
/// Number of rows between two writes while runs are merged into one.
const RUN_WRITE_ROWS: usize = 8192;

/// Scan of a table's rows in the order of its sort keys.
pub struct SortedScan {
    source: Source,
    left: u64,
    gather: Gather,
    rows: Vec<*const u8>,
    table: TempTable,
}

enum Source {
    /// A selected range of records of runs in memory.
    Selected {
        selection: Arc<Selection>,
        next: usize,
        end: usize,
    },
    /// A merge of sorted runs.
    Merge(Box<Merge>),
}

// SAFETY: the addresses are of blocks that move with this value.
unsafe impl Send for SortedScan {}

impl TempTable {
    /// Starts a scan of a table with ordered access, from `offset` (counted from 0), of at most `limit` rows. Takes
    /// the rows out of the table.
    pub fn sorted(&self, offset: u64, limit: Option<u64>) -> Result<SortedScan> {
        SortedScan::open(self, offset, limit).map_err(|error| self.error(&error))
    }
}

impl SortedScan {
    fn open(table: &TempTable, offset: u64, limit: Option<u64>) -> mayfly_memory::Result<Self> {
        let Access::Ordered { keys, .. } = &table.spec().access else {
            return Ok(Self::over(table, Source::none(), 0));
        };
        let store = &table.0.store;
        let keys = SortKeys::new(&store.layout, keys);
        let writers = std::mem::take(&mut table.sorts().writers);
        let writers: Vec<SortedWriter> = writers.into_iter().map(|(_, writer)| writer).collect();
        let left = limit.unwrap_or(u64::MAX);
        let unsorted = writers.iter().any(|writer| !writer.memory.is_sorted);
        let in_files = writers.iter().any(|writer| !writer.files.is_empty());
        if unsorted && !in_files {
            let runs = writers.into_iter().map(|writer| writer.memory).collect();
            return Ok(Self::over(
                table,
                select(&keys, store, runs, offset, limit),
                left,
            ));
        }
        let mut runs = Vec::new();
        for mut writer in writers {
            runs.extend(writer.files.into_iter().map(RunReader::file));
            writer.memory.sort(&Comparer { keys: &keys, store });
            if !writer.memory.records.is_empty() {
                runs.push(RunReader::memory(writer.memory));
            }
        }
        let mut merge = merge_passes(Arc::new(keys), store, runs, in_files)?;
        for _ in 0..offset {
            if merge.next()?.is_none() {
                break;
            }
            merge.release();
        }
        Ok(Self::over(table, Source::Merge(Box::new(merge)), left))
    }

    fn over(table: &TempTable, source: Source, left: u64) -> Self {
        let table = table.clone();
        Self {
            source,
            left,
            gather: Gather::default(),
            rows: Vec::new(),
            table,
        }
    }

    /// Whether all rows are in memory, so that the scan can be [divided](Self::split_off).
    pub fn is_in_memory(&self) -> bool {
        match &self.source {
            Source::Selected { .. } => true,
            Source::Merge(merge) => {
                let mut runs = merge.runs.iter();
                runs.all(|run| matches!(run, RunReader::Memory(_)))
            }
        }
    }

    /// Splits off the next rows, at most `rows_max`, as a scan of their own: another thread reads them while this one
    /// goes on behind them. `None` if no row is left, or if rows are in files, whose blocks can only be read once, in
    /// sequence.
    pub fn split_off(&mut self, rows_max: usize) -> Result<Option<Self>> {
        let wanted = (rows_max as u64).min(self.left);
        if wanted == 0 {
            return Ok(None);
        }
        let source = match &mut self.source {
            Source::Selected {
                selection,
                next,
                end,
            } => {
                let start = *next;
                *next = (*end).min(start.saturating_add(wanted as usize));
                (start < *next).then(|| Source::Selected {
                    selection: Arc::clone(selection),
                    next: start,
                    end: *next,
                })
            }
            Source::Merge(merge) => {
                let first = merge.split_off(wanted as usize);
                let first = first.map_err(|error| self.table.error(&error))?;
                first.map(|first| Source::Merge(Box::new(first)))
            }
        };
        let Some(source) = source else {
            return Ok(None);
        };
        self.left -= wanted;
        Ok(Some(Self::over(&self.table, source, wanted)))
    }

    /// The next rows, all columns; `None` at the end.
    pub fn next_batch(&mut self) -> Result<Option<Batch>> {
        let batch = self.read_batch();
        batch.map_err(|error| self.table.error(&error))
    }

    fn read_batch(&mut self) -> mayfly_memory::Result<Option<Batch>> {
        let store = &self.table.0.store;
        let batch_rows = store.context.options().batch_rows.max(1) as u64;
        let wanted = batch_rows.min(self.left) as usize;
        self.rows.clear();
        match &mut self.source {
            Source::Selected {
                selection,
                next,
                end,
            } => {
                let records = &selection.records[*next..*end];
                let records = &records[..records.len().min(wanted)];
                self.rows
                    .extend(records.iter().map(|record| selection.row(record)));
                *next += self.rows.len();
            }
            Source::Merge(merge) => {
                merge.release();
                let bytes_max = store.read_ahead_bytes();
                while self.rows.len() < wanted && !merge.holds(bytes_max) {
                    let Some(row) = merge.next()? else { break };
                    self.rows.push(row);
                }
            }
        }
        if self.rows.is_empty() {
            return Ok(None);
        }
        self.left -= self.rows.len() as u64;
        let columns = 0..store.layout.cells().len();
        // SAFETY: the rows are in blocks of the runs, also of those that were just left.
        let batch = unsafe { store.read(&mut self.gather, &self.rows, columns) };
        Ok(Some(batch))
    }
}

impl Source {
    fn none() -> Self {
        Self::Selected {
            selection: Arc::default(),
            next: 0,
            end: 0,
        }
    }
}

/// Ordered records of unordered runs.
#[derive(Default)]
struct Selection {
    records: Vec<Record>,
    runs: Vec<MemoryRun>,
}

impl Selection {
    fn row(&self, record: &Record) -> *const u8 {
        self.runs[record.run as usize].rows[record.row as usize]
    }
}

/// The records from `offset`, at most `limit`, of runs that are in memory.
fn select(
    keys: &SortKeys,
    store: &StoreRef,
    mut runs: Vec<MemoryRun>,
    offset: u64,
    limit: Option<u64>,
) -> Source {
    let mut records: Vec<Record> = Vec::new();
    for (index, run) in runs.iter_mut().enumerate() {
        let of_run = std::mem::take(&mut run.records);
        if index == 0 {
            records = of_run;
        } else {
            let run = index as u32;
            records.extend(of_run.into_iter().map(|record| Record { run, ..record }));
        }
    }
    let comparer = Comparer { keys, store };
    let row = |record: &Record| runs[record.run as usize].rows[record.row as usize];
    let order = |a: &Record, b: &Record| comparer.compare(a, b, row);
    let start = usize::try_from(offset)
        .unwrap_or(usize::MAX)
        .min(records.len());
    let count = limit.map_or(usize::MAX, |limit| {
        usize::try_from(limit).unwrap_or(usize::MAX)
    });
    let end = start.saturating_add(count).min(records.len());
    if start == end {
        return Source::none();
    }
    if end < records.len() {
        records.select_nth_unstable_by(end, order);
        records.truncate(end);
    }
    if start > 0 {
        records.select_nth_unstable_by(start, order);
    }
    comparer.sort(&mut records[start..], row);
    Source::Selected {
        next: start,
        end,
        selection: Arc::new(Selection { records, runs }),
    }
}

/// Merges runs until there are few enough for one merge.
fn merge_passes(
    keys: Arc<SortKeys>,
    store: &StoreRef,
    mut runs: Vec<RunReader>,
    in_files: bool,
) -> mayfly_memory::Result<Merge> {
    let block = 3 * PartitionPlan::run(store.memory_limit()).largest.bytes() as u64;
    let block = runs
        .iter()
        .map(RunReader::block_bytes)
        .fold(block, u64::max);
    let fan_in = (store.memory_limit() / 2 / block).clamp(*FAN_IN.start(), *FAN_IN.end());
    let fan_in = fan_in as usize;
    if in_files {
        store
            .context
            .count(|counters| &counters.sort_merge_passes, 1);
    }
    // Neighbours are merged, so that equal rows keep their order.
    while runs.len() > fan_in {
        store
            .context
            .count(|counters| &counters.sort_merge_passes, 1);
        let mut merged = Vec::new();
        let mut rest = runs.into_iter();
        loop {
            let group: Vec<_> = rest.by_ref().take(fan_in).collect();
            if group.is_empty() {
                break;
            }
            let mut merge = Merge::new(Arc::clone(&keys), store, group)?;
            merged.extend(merge.write()?.into_iter().map(RunReader::file));
        }
        runs = merged;
    }
    Merge::new(keys, store, runs)
}

fn is_before(a: &Head, b: &Head, keys: &SortKeys, store: &StoreRef) -> bool {
    let values = Resolver::stored(&store.directory);
    a.prefix
        .cmp(&b.prefix)
        // SAFETY: heads are rows of the store whose values are in memory.
        .then_with(|| unsafe { keys.compare(a.prefix, a.row, b.row, values) })
        .then_with(|| a.run.cmp(&b.run))
        .is_lt()
}

/// End, in each sorted run, of the first `rows` rows of all runs together, or of all rows if there are fewer.
///
/// Selection from sorted sequences: what comes before the middle record of the longest range is either all wanted, or
/// nothing behind that record is; so each step halves that range, and shortens the others.
fn ends_of_first(
    rows: usize,
    runs: &[&mut MemoryReader],
    is_before: impl Fn(&Head, &Head) -> bool,
) -> Vec<usize> {
    let head = |run: usize, record: &Record| Head {
        prefix: record.prefix,
        row: runs[run].run.rows[record.row as usize],
        run,
    };
    // Invariant: the wanted part of each run ends in its range.
    let range =
        |reader: &&mut MemoryReader| reader.next..reader.end.min(reader.next.saturating_add(rows));
    let mut ranges: Vec<Range<usize>> = runs.iter().map(range).collect();
    loop {
        let longest = (0..ranges.len()).max_by_key(|run| ranges[*run].len());
        let Some(longest) = longest.filter(|run| !ranges[*run].is_empty()) else {
            return ranges.into_iter().map(|range| range.start).collect();
        };
        let middle = ranges[longest].start + ranges[longest].len() / 2;
        let pivot = head(longest, &runs[longest].run.records[middle]);
        let before = |run: usize| {
            if run == longest {
                middle
            } else {
                let range = ranges[run].clone();
                let records = &runs[run].run.records[range.clone()];
                let is_before = |record: &Record| is_before(&head(run, record), &pivot);
                range.start + records.partition_point(is_before)
            }
        };
        let before: Vec<usize> = (0..runs.len()).map(before).collect();
        let starts = runs.iter().map(|reader| reader.next);
        let count: usize = before
            .iter()
            .zip(starts)
            .map(|(end, start)| end - start)
            .sum();
        let is_wanted = count < rows;
        for (range, before) in ranges.iter_mut().zip(before) {
            if is_wanted {
                range.start = before
            } else {
                range.end = before
            }
        }
        if is_wanted {
            ranges[longest].start = middle + 1;
        }
    }
}

/// Merge of sorted runs, which are in the order of their rows' arrival.
struct Merge {
    keys: Arc<SortKeys>,
    store: StoreRef,
    // Declared before `runs`: blocks are released before their numbers are.
    retired: Vec<LoadedBlock>,
    /// Bytes that were read for the retired blocks.
    retired_bytes: usize,
    runs: Vec<RunReader>,
    /// The next row of each run that has one, in descending order.
    heads: Vec<Head>,
    buffer: PrefixBuffer,
}

#[derive(Clone, Copy)]
struct Head {
    prefix: Prefix,
    row: *const u8,
    run: usize,
}

impl Merge {
    fn new(
        keys: Arc<SortKeys>,
        store: &StoreRef,
        runs: Vec<RunReader>,
    ) -> mayfly_memory::Result<Self> {
        let mut merge = Self {
            keys,
            store: Arc::clone(store),
            retired: Vec::new(),
            retired_bytes: 0,
            heads: Vec::with_capacity(runs.len()),
            runs,
            buffer: PrefixBuffer::default(),
        };
        for run in 0..merge.runs.len() {
            merge.advance(run)?;
        }
        Ok(merge)
    }

    /// Reads the next row of a run and inserts it into the heads.
    fn advance(&mut self, run: usize) -> mayfly_memory::Result<()> {
        let reader = &mut self.runs[run];
        let before = self.retired.len();
        let next = reader.next(&self.keys, &self.store, &mut self.buffer, &mut self.retired)?;
        for block in &self.retired[before..] {
            self.retired_bytes += block.bytes_read();
        }
        if let Some((prefix, row)) = next {
            let head = Head { prefix, row, run };
            let at = self
                .heads
                .partition_point(|other| is_before(&head, other, &self.keys, &self.store));
            self.heads.insert(at, head);
        }
        Ok(())
    }

    /// Whether returned rows pin at least `bytes` bytes in memory.
    fn holds(&self, bytes: usize) -> bool {
        self.retired_bytes >= bytes
    }

    /// Releases the blocks of returned rows.
    fn release(&mut self) {
        self.retired.clear();
        self.retired_bytes = 0;
    }

    /// Splits off a merge of the first `rows_max` rows, or all that there are; this one goes on behind them. `None` if
    /// there are none, or if they are not all in memory.
    fn split_off(&mut self, rows_max: usize) -> mayfly_memory::Result<Option<Self>> {
        if self.heads.is_empty() {
            return Ok(None);
        }
        let mut runs = Vec::with_capacity(self.runs.len());
        for run in &mut self.runs {
            let RunReader::Memory(reader) = run else {
                return Ok(None);
            };
            runs.push(reader);
        }
        for head in self.heads.drain(..) {
            // This row has not been returned.
            runs[head.run].next -= 1;
        }
        let is_before = |a: &Head, b: &Head| is_before(a, b, &self.keys, &self.store);
        let ends = ends_of_first(rows_max, &runs, is_before);
        let first = runs.into_iter().zip(ends).map(|(reader, end)| {
            let first = MemoryReader {
                run: Arc::clone(&reader.run),
                next: reader.next,
                end,
            };
            reader.next = end;
            RunReader::Memory(first)
        });
        let first = first.collect();
        for run in 0..self.runs.len() {
            self.advance(run)?;
        }
        Self::new(Arc::clone(&self.keys), &self.store, first).map(Some)
    }

    /// The next row, which stays in memory until it is released.
    fn next(&mut self) -> mayfly_memory::Result<Option<*const u8>> {
        let Some(head) = self.heads.pop() else {
            return Ok(None);
        };
        self.advance(head.run)?;
        Ok(Some(head.row))
    }

    /// Writes all rows as one run.
    fn write(&mut self) -> mayfly_memory::Result<Vec<FileRun>> {
        let plan = PartitionPlan::run(self.store.memory_limit());
        let mut writer = RowWriter::new(&self.store, plan);
        let mut ordered = Vec::with_capacity(RUN_WRITE_ROWS);
        loop {
            ordered.clear();
            let bytes_max = self.store.read_ahead_bytes();
            while ordered.len() < RUN_WRITE_ROWS && !self.holds(bytes_max) {
                let Some(row) = self.next()? else { break };
                ordered.push(row);
            }
            if ordered.is_empty() {
                return Ok(writer.finish());
            }
            // SAFETY: the rows are in blocks of the runs, also of those that were just left.
            unsafe { writer.append_rows(&ordered)? };
            writer.overflow_all()?;
            self.release();
        }
    }
}
