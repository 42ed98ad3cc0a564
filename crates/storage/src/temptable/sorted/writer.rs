//! Writer of one worker's rows to a table with ordered access.

#![expect(unsafe_code, reason = "rows are raw bytes; see the layout")]

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray};
use arrow_select::filter::FilterBuilder;
use mayfly_memory::{Reservation, Result};

use super::cutoff::{Bound, Cutoff, FirstKeyBound};
use super::keys::{PREFIX_ROWS, Place, PrefixBuffer, SortKeys};
use super::run::{Comparer, FileRun, MemoryRun, Record};
use crate::temptable::rows::{Encoder, Sources};
use crate::temptable::spec::SortKey;
use crate::temptable::store::{PartitionPlan, RowWriter, StoreRef};

/// With a limit, rows are dropped when their number exceeds it by this factor ...
const PRUNE_FACTOR: u64 = 2;
/// ... and by at least this number.
const PRUNE_ROWS_MIN: u64 = 4 << 10;
/// With a limit of at least this number, the rows of all writers are counted while they come ...
const COUNTED_LIMIT_MIN: u64 = 1 << 10;
/// ... each time that new rows amount to this part of the limit (a denominator) ...
const COUNTED_SHARE: u64 = 16;
/// ... by parts that result from this number of halvings.
const COUNTED_HALVINGS: u32 = 4;
/// Minimum size in bytes of a run in a file.
const RUN_BYTES_MIN: u64 = 128 << 10;
/// Number of rows between two writes while a run is written.
const RUN_WRITE_ROWS: usize = 8192;

/// Results of a table's finished writers.
#[derive(Default)]
pub(crate) struct SortState {
    pub(super) writers: Vec<(u64, SortedWriter)>,
    cutoff: Option<Arc<Cutoff>>,
}

impl SortState {
    /// A writer; all writers of a table have its keys and limit.
    pub(crate) fn writer(
        &mut self,
        store: &StoreRef,
        keys: &[SortKey],
        limit: Option<u64>,
    ) -> SortWriter {
        let cutoff = limit.map(|limit| self.cutoff(limit));
        SortWriter::new(store, keys, cutoff)
    }

    /// Bound of the first of the keys, where only the first `limit` rows are wanted.
    pub(crate) fn first_key_bound(&mut self, keys: &[SortKey], limit: u64) -> FirstKeyBound {
        let is_descending = keys.first().is_some_and(|key| key.descending);
        FirstKeyBound::new(self.cutoff(limit), is_descending)
    }

    fn cutoff(&mut self, limit: u64) -> Arc<Cutoff> {
        let new = || Arc::new(Cutoff::new(limit));
        Arc::clone(self.cutoff.get_or_insert_with(new))
    }

    /// Number of sorted runs that the finished writers have left.
    pub(crate) fn run_count(&self) -> u64 {
        let runs = self.writers.iter();
        runs.map(|(_, sorted)| sorted.files.len() as u64 + 1).sum()
    }

    /// Adds a finished writer's runs; writers are in the order of their creation.
    pub(crate) fn add(&mut self, order: u64, sorted: SortedWriter) {
        let at = self.writers.partition_point(|(other, _)| *other < order);
        self.writers.insert(at, (order, sorted));
    }
}

/// Result of one writer: runs in files, then what is still in memory.
pub(crate) struct SortedWriter {
    pub(super) files: Vec<FileRun>,
    pub(super) memory: MemoryRun,
}

/// Writer to a table with ordered access.
pub(crate) struct SortWriter {
    store: StoreRef,
    keys: SortKeys,
    /// Cutoff, when only some of the first rows are wanted.
    cutoff: Option<Arc<Cutoff>>,
    /// The bound that the cutoff gave at this version.
    bound: Option<Bound>,
    bound_version: u64,
    /// The last record of the run that may be wanted, if enough records are not after it.
    last_wanted: Option<Record>,
    /// Number of the run's records, from the first, that the cutoff has counted.
    counted: usize,
    /// Number of records that the run had after it was last pruned.
    pruned: usize,
    sources: Sources,
    scratch: Vec<u64>,
    buffer: PrefixBuffer,
    run: MemoryRun,
    files: Vec<FileRun>,
}

impl SortWriter {
    fn new(store: &StoreRef, keys: &[SortKey], cutoff: Option<Arc<Cutoff>>) -> Self {
        Self {
            keys: SortKeys::new(&store.layout, keys),
            cutoff,
            bound: None,
            bound_version: 0,
            last_wanted: None,
            counted: 0,
            pruned: 0,
            sources: Sources::new(store.context.resources().stable.clone()),
            scratch: Vec::new(),
            buffer: PrefixBuffer::default(),
            run: memory_run(store),
            files: Vec::new(),
            store: Arc::clone(store),
        }
    }

    /// Appends the rows of a batch, or those of them that may be wanted.
    pub(crate) fn append(&mut self, columns: &[ArrayRef], row_count: usize) -> Result<()> {
        if let Some(cutoff) = &self.cutoff {
            cutoff.refresh(&mut self.bound_version, &mut self.bound);
        }
        let selected = self.bound.zip(self.keys.first());
        let selected = selected.and_then(|(bound, key)| bound.select(key, columns));
        let Some(selected) = selected else {
            return self.append_rows(columns, row_count);
        };
        let count = selected.count_set_bits();
        if count > row_count / 4 * 3 {
            return self.append_rows(columns, row_count);
        }
        let filter = FilterBuilder::new(&BooleanArray::new(selected, None)).build();
        let filtered = columns.iter().map(|column| filter.filter(column));
        match filtered.collect::<std::result::Result<Vec<_>, _>>() {
            Ok(filtered) => self.append_rows(&filtered, count),
            // Every column type of a table can be filtered; appending all rows would be right as well.
            Err(_) => self.append_rows(columns, row_count),
        }
    }

    fn append_rows(&mut self, columns: &[ArrayRef], row_count: usize) -> Result<()> {
        let store = Arc::clone(&self.store);
        let width = store.layout.width;
        self.sources.begin_batch();
        let encoder = Encoder::new(columns, &mut self.sources, &store.directory);
        self.scratch.resize(PREFIX_ROWS * width / 8, 0);
        let mut start = 0;
        while start < row_count {
            let count = PREFIX_ROWS.min(row_count - start);
            self.make_room(count)?;
            let scratch = self.scratch.as_mut_ptr().cast::<u8>();
            // SAFETY: the scratch area has room for a run; the batch has the table's columns.
            unsafe { encoder.write(&store.layout, start, count, None, scratch) };
            let rows = (0..count).map(|index| scratch.wrapping_add(index * width).cast_const());
            let values = self.sources.resolver(&store.directory);
            // SAFETY: the rows were just written; their values are in the batch's buffers.
            let prefixes = unsafe {
                let place = Place::default();
                self.keys
                    .prefixes(place, rows.clone(), values, &mut self.buffer)
            };
            for (row, prefix) in rows.zip(prefixes) {
                let prefix = prefix.prefix();
                if self.bound.is_some_and(|bound| prefix > bound.prefix) {
                    continue;
                }
                // If rows share long beginnings, as names do, the bound's prefix drops none.
                if let Some(last) = self.last_wanted.filter(|last| last.prefix == prefix) {
                    let last = self.run.rows[last.row as usize];
                    // SAFETY: as above; the rows of the run are of the layout, their values in memory.
                    let order = unsafe { self.keys.compare(prefix, row, last, values) };
                    if order.is_ge() {
                        continue;
                    }
                }
                // SAFETY: as above.
                let stored = unsafe {
                    self.run
                        .writer
                        .append_encoded(row.cast_mut(), self.sources.addresses())?
                };
                let row = self.run.rows.len() as u32;
                self.run.records.push(Record {
                    prefix,
                    run: 0,
                    row,
                });
                self.run.rows.push(stored);
            }
            start += count;
            self.prune_if_worthwhile()?;
        }
        self.sources.begin_batch();
        Ok(())
    }

    /// Writes a run to the file when there is too little memory for more rows.
    fn make_room(&mut self, rows: usize) -> Result<()> {
        let records = self.run.rows.len().saturating_add(rows);
        let per_row = size_of::<Record>() + size_of::<*const u8>();
        // Vectors double when they grow.
        let wanted = (records.next_power_of_two() * per_row) as u64;
        let held = self.run.reservation.bytes();
        let limit = self.store.memory_limit();
        let reserve = (limit / 16).min(1 << 20);
        let grow = |reservation: &mut Reservation| {
            wanted <= held || reservation.try_grow(wanted - held).is_ok()
        };
        let granted = grow(&mut self.run.reservation)
            || self.store.reclaim(wanted.saturating_sub(held)) && grow(&mut self.run.reservation);
        let refused = !granted;
        let short = self.store.memory.available() < reserve && !self.store.reclaim(reserve);
        let own = self.run.writer.memory_bytes() + held;
        let threads = self.store.context.options().threads.max(1) as u64;
        let worth_it = own >= (limit / (4 * threads)).clamp(RUN_BYTES_MIN, 4 << 20);
        if (refused || short) && worth_it {
            self.write_run()?;
        } else if refused {
            self.run.reservation.grow_forced(wanted - held)?;
        }
        if self.run.rows.len() > (u32::MAX - 1) as usize - rows {
            self.write_run()?;
        }
        Ok(())
    }

    fn sort(&mut self) {
        self.run.sort(&Comparer {
            keys: &self.keys,
            store: &self.store,
        });
    }

    fn write_run(&mut self) -> Result<()> {
        self.count_new();
        self.prune();
        self.sort();
        let plan = PartitionPlan::run(self.store.memory_limit());
        let mut writer = RowWriter::new(&self.store, plan);
        let mut ordered = Vec::with_capacity(RUN_WRITE_ROWS);
        for records in self.run.records.chunks(RUN_WRITE_ROWS) {
            ordered.clear();
            ordered.extend(
                records
                    .iter()
                    .map(|record| self.run.rows[record.row as usize]),
            );
            // SAFETY: the rows are in the run's blocks, their values in memory.
            unsafe { writer.append_rows(&ordered)? };
            writer.overflow_all()?;
        }
        self.files.extend(writer.finish());
        self.run = memory_run(&self.store);
        (self.counted, self.pruned) = (0, 0);
        self.last_wanted = None;
        Ok(())
    }

    /// Counts new records in the cutoff.
    fn count_new(&mut self) {
        let Some(cutoff) = &self.cutoff else {
            return;
        };
        let MemoryRun { records, rows, .. } = &mut self.run;
        let mut parts = Vec::with_capacity(1 << COUNTED_HALVINGS);
        halve(&mut records[self.counted..], COUNTED_HALVINGS, &mut parts);
        let bucket = |(last, count): (Record, u64)| (bound_of(&self.keys, rows, &last), count);
        cutoff.add(parts.into_iter().map(bucket));
        self.counted = self.run.records.len();
    }

    /// Drops the rows that cannot be among the first, all of which are counted or never will be; returns whether some
    /// were dropped.
    fn prune(&mut self) -> bool {
        let dropped = self.drop_unwanted();
        self.pruned = self.run.records.len();
        self.counted = self.pruned;
        dropped
    }

    fn drop_unwanted(&mut self) -> bool {
        let Some(cutoff) = &self.cutoff else {
            return false;
        };
        cutoff.refresh(&mut self.bound_version, &mut self.bound);
        if let Some(bound) = self.bound {
            self.run
                .records
                .retain(|record| record.prefix <= bound.prefix);
        }
        let wanted = usize::try_from(cutoff.limit()).unwrap_or(usize::MAX);
        if self.run.records.len() <= wanted {
            return self.run.records.len() < self.run.rows.len();
        }
        if wanted == 0 {
            self.run.records.clear();
            return true;
        }
        let comparer = Comparer {
            keys: &self.keys,
            store: &self.store,
        };
        let MemoryRun { records, rows, .. } = &mut self.run;
        let row = |record: &Record| rows[record.row as usize];
        let (_, last, _) =
            records.select_nth_unstable_by(wanted - 1, |a, b| comparer.compare(a, b, row));
        cutoff.offer(bound_of(&self.keys, rows, last));
        self.last_wanted = Some(*last);
        records.truncate(wanted);
        true
    }

    fn prune_if_worthwhile(&mut self) -> Result<()> {
        let Some(limit) = self.cutoff.as_ref().map(|cutoff| cutoff.limit()) else {
            return Ok(());
        };
        let records = self.run.records.len();
        if limit >= COUNTED_LIMIT_MIN && (records - self.counted) as u64 >= limit / COUNTED_SHARE {
            self.count_new();
        }
        // A writer with its share of all rows has its share of the first ones.
        let threads = self.store.context.options().threads.max(1) as u64;
        let share = (limit / threads).max(self.pruned as u64);
        let enough = share
            .saturating_mul(PRUNE_FACTOR)
            .max(share.saturating_add(PRUNE_ROWS_MIN));
        if (records as u64) < enough {
            return Ok(());
        }
        self.count_new();
        if self.prune() && self.run.rows.len() > 2 * self.run.records.len() + (64 << 10) {
            self.compact()?;
        }
        Ok(())
    }

    /// Copies the rows that are left, so that the blocks of the others are freed.
    fn compact(&mut self) -> Result<()> {
        let mut compacted = memory_run(&self.store);
        let width = self.store.layout.width;
        self.run.records.sort_unstable_by_key(|record| record.row);
        let mut copy = vec![0_u64; width / 8];
        let mut last_wanted = None;
        for record in &self.run.records {
            let row = self.run.rows[record.row as usize];
            let scratch = copy.as_mut_ptr().cast::<u8>();
            // SAFETY: `row` is a row of the store in the run's blocks, its values in memory; the
            // scratch area has room for one row.
            let stored = unsafe {
                scratch.copy_from_nonoverlapping(row, width);
                compacted.writer.append_stored(scratch)?
            };
            let row = compacted.rows.len() as u32;
            let moved = Record { row, ..*record };
            if self.last_wanted == Some(*record) {
                last_wanted = Some(moved);
            }
            compacted.records.push(moved);
            compacted.rows.push(stored);
        }
        self.run = compacted;
        self.last_wanted = last_wanted;
        Ok(())
    }

    /// The rows, in runs. Without a limit each run is sorted: the workers do that in parallel.
    pub(crate) fn finish(mut self) -> Result<SortedWriter> {
        if self.store.has_too_many_rows() && !self.run.rows.is_empty() {
            self.write_run()?;
        }
        self.prune();
        if self.cutoff.is_none() || !self.files.is_empty() {
            self.sort();
            self.run.order_rows();
        }
        Ok(SortedWriter {
            files: self.files,
            memory: self.run,
        })
    }
}

/// Divides records by their order, `halvings` times: gives the last record of each part in order, and the part's
/// number of records.
fn halve(records: &mut [Record], halvings: u32, parts: &mut Vec<(Record, u64)>) {
    let middle = records.len() / 2;
    if halvings == 0 || middle == 0 {
        let last = records.iter().max_by_key(|record| record.prefix);
        parts.extend(last.map(|last| (*last, records.len() as u64)));
        return;
    }
    records.select_nth_unstable_by_key(middle, |record| record.prefix);
    let (first, second) = records.split_at_mut(middle);
    halve(first, halvings - 1, parts);
    halve(second, halvings - 1, parts);
}

fn bound_of(keys: &SortKeys, rows: &[*const u8], record: &Record) -> Bound {
    // SAFETY: records are of rows of the store.
    unsafe { keys.bound(record.prefix, rows[record.row as usize]) }
}

fn memory_run(store: &StoreRef) -> MemoryRun {
    let mut writer = RowWriter::pinned(store);
    writer.set_forced(true);
    MemoryRun {
        records: Vec::new(),
        rows: Vec::new(),
        writer,
        reservation: store.memory.reservation(),
        is_sorted: false,
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::BinaryViewArray;
    use mayfly_types::{CollationId, PhysicalType};

    use super::*;
    use crate::temptable::spec::KeyMode;
    use crate::temptable::{Access, Purpose, TempTable, TempTableContext, TempTableSpec};

    #[test]
    fn of_names_that_begin_alike_few_are_kept_for_the_first_ones() {
        const ROWS: u32 = 40_000;
        for collation in [CollationId::BINARY, CollationId::default()] {
            let keys = vec![SortKey {
                column: 0,
                mode: KeyMode::Collated(collation),
                descending: false,
            }];
            let spec = TempTableSpec {
                purpose: Purpose::Buffer,
                cause: "a test".into(),
                operator: None,
                columns: vec![PhysicalType::Bytes],
                access: Access::Ordered {
                    keys: keys.clone(),
                    limit: Some(5),
                },
            };
            let table = TempTable::create(&TempTableContext::for_tests(), spec).unwrap();
            let mut writer = SortState::default().writer(&table.0.store, &keys, Some(5));
            let name = |row: u32| format!("the same beginning of {:06}", row * 7919 % ROWS);
            for start in (0..ROWS).step_by(1000) {
                let names: Vec<String> = (start..start + 1000).map(name).collect();
                let column: ArrayRef = Arc::new(BinaryViewArray::from_iter_values(&names));
                writer.append(&[column], names.len()).unwrap();
            }
            let kept = writer.run.rows.len();
            assert!(kept < 5000, "{collation:?}: {kept} rows were kept");
            writer.prune();
            assert_eq!(writer.run.records.len(), 5);
        }
    }
}
