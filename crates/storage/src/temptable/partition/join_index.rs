//! Join index: all rows of a key.
//!
//! The index has one [`Slots`] table for each partition of the hash, from a key to its first row (or a [`JoinWindow`]
//! for all of them), and a chain from each row to the next one with an equal key. Lookups of a batch go in steps over
//! many rows, each step prefetching what the next one needs, so that cache misses overlap.

#![expect(unsafe_code, reason = "rows are raw bytes; see the layout")]

use std::ptr::null;
use std::sync::Mutex;

use arrow_array::ArrayRef;
use mayfly_memory::sync::lock;
use mayfly_memory::{Reservation, prefetch};
use mayfly_types::Result;

use super::join_window::JoinWindow;
use crate::error::ANONYMOUS_TABLE;
use crate::temptable::partition::{Partition, PartitionRows};
use crate::temptable::rows::{
    AHEAD_ROWS, Encoder, Gather, KeyHasher, Resolver, RowKeys, RowLayout, Sources,
};
use crate::temptable::slots::{Comparisons, Slot, Slots};
use crate::temptable::spec::KeyColumn;
use crate::temptable::store::{Part, PartitionPlan, StoreRef};
use crate::temptable::table::TempTable;

/// End of a chain, and mark for no row.
pub(super) const NONE: u32 = u32::MAX;
/// Number of rows above which an index is built by several threads.
pub(super) const PARALLEL_ROWS: usize = 128 << 10;
/// Memory per row of an index beside the row.
pub(crate) const BYTES_PER_ROW: u64 = 28;
/// Number of rows that are looked up in one step.
const RUN_ROWS: usize = 1024;

/// Reference to a row of the build side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BuildRow(pub(crate) u32);

impl BuildRow {
    /// No row: gathered as NULL in every column (outer joins).
    pub const NONE: Self = Self(NONE);
}

/// Pairs of matching rows.
#[derive(Debug, Default)]
pub struct JoinMatches {
    /// Row indexes in the probed batch, in ascending order.
    pub probe_rows: Vec<u32>,
    /// The build row that matches the probed row at the same index.
    pub build_rows: Vec<BuildRow>,
}

/// State of a probe with matches still to return.
pub struct JoinProbe {
    /// The first match of each probed row.
    first: Vec<u32>,
    row: usize,
    /// The next match of `row`, if it has already returned some.
    next: Option<u32>,
}

impl JoinProbe {
    /// The first match of each probed row that has one.
    pub fn first_matches(&self) -> impl Iterator<Item = BuildRow> {
        let found = self.first.iter().filter(|row| **row != NONE);
        found.map(|row| BuildRow(*row))
    }
}

/// Hash join index: the rows of a table by key.
pub struct JoinIndex {
    keys: RowKeys,
    hasher: KeyHasher,
    /// The layout of probe keys.
    lookup: RowLayout,
    plan: PartitionPlan,
    tables: Vec<Slots>,
    /// Direct addressing of integers from a narrow range, instead of the tables.
    window: Option<JoinWindow>,
    /// For each row the next one with an equal key.
    chain: Vec<u32>,
    rows: Vec<*const u8>,
    held: Vec<PartitionRows>,
    has_null_key: bool,
    null_row: Box<[u64]>,
    store: StoreRef,
    scratch: Mutex<Vec<Gather>>,
    _reservation: Reservation,
}

// SAFETY: the addresses are of blocks that move with this value and are only read.
unsafe impl Send for JoinIndex {}
// SAFETY: as above.
unsafe impl Sync for JoinIndex {}

impl TempTable {
    /// An index over all rows of a table with hash access, taken out of the table, or `None` when they do not fit in
    /// memory together: then join by [`PartitionQueue::pairs`](crate::PartitionQueue::pairs).
    pub fn join_index(&self) -> Result<Option<JoinIndex>> {
        JoinIndex::whole(self).map_err(|error| self.error(&error))
    }
}

impl JoinIndex {
    /// An index over a whole table, if it is in memory and the index fits beside it.
    fn whole(table: &TempTable) -> mayfly_memory::Result<Option<Self>> {
        let store = &table.0.store;
        let mut written = table.written();
        let parts = || written.iter().flat_map(|written| &written.parts);
        let rows: u64 = parts().map(|part| part.row_count).sum();
        let overflowed = parts().any(|part| part.file_bytes > 0);
        let index_bytes = rows.saturating_mul(BYTES_PER_ROW);
        if overflowed || index_bytes > store.memory.available() || rows >= u64::from(NONE) {
            return Ok(None);
        }
        let Some(plan) = written
            .iter()
            .map(|written| written.plan)
            .max_by_key(|plan| plan.bits)
        else {
            let plan = PartitionPlan::single(u64::MAX, 1);
            return Self::build(table, plan, vec![Vec::new()]).map(Some);
        };
        let taken = std::mem::take(&mut *written);
        let partitions = crate::temptable::repartition::assemble(store, plan, taken)?;
        Self::build(table, plan, partitions).map(Some)
    }

    /// An index over the rows of one partition.
    pub(crate) fn of_rows(rows: PartitionRows) -> mayfly_memory::Result<Self> {
        let plan = PartitionPlan::single(u64::MAX, 1);
        Self::over(vec![rows], plan)
    }

    fn build(
        table: &TempTable,
        plan: PartitionPlan,
        partitions: Vec<Vec<Part>>,
    ) -> mayfly_memory::Result<Self> {
        let load = |parts| Partition::load(table, parts).map(Partition::into_rows);
        let held: mayfly_memory::Result<Vec<_>> = partitions.into_iter().map(load).collect();
        Self::over(held?, plan)
    }

    fn over(held: Vec<PartitionRows>, plan: PartitionPlan) -> mayfly_memory::Result<Self> {
        let table = held
            .first()
            .expect("an index is over at least one partition")
            .table
            .clone();
        let store = table.0.store.clone();
        let columns = table.hash_keys();
        let types: Vec<_> = columns
            .iter()
            .map(|key| table.spec().columns[key.column])
            .collect();
        let lookup = RowLayout::new(&types);
        let keys = RowKeys::looked_up(&store.layout, columns, &lookup);
        let count = held.iter().map(|part| part.rows.len()).sum();
        let index_bytes = count * (size_of::<u32>() + size_of::<usize>());
        let reservation = store.reserve_working_set(index_bytes as u64)?;
        let mut rows = Vec::with_capacity(count);
        for part in &held {
            rows.extend_from_slice(&part.rows);
        }
        let mut index = Self {
            keys,
            hasher: table.hasher(),
            lookup,
            plan,
            tables: Vec::new(),
            window: None,
            chain: vec![NONE; count],
            rows,
            held,
            has_null_key: false,
            null_row: null_row(&store.layout),
            store,
            scratch: Mutex::default(),
            _reservation: reservation,
        };
        let window = JoinWindow::build(&index.store, columns, &index.rows, &mut index.chain)?;
        match window {
            Some((window, has_null_key)) => {
                index.window = Some(window);
                index.has_null_key = has_null_key;
            }
            None => index.build_tables(columns)?,
        }
        for part in &mut index.held {
            part.rows = Vec::new();
        }
        Ok(index)
    }

    fn build_tables(&mut self, columns: &[KeyColumn]) -> mayfly_memory::Result<()> {
        let own_keys = RowKeys::new(&self.store.layout, columns);
        let builder = Builder {
            store: &self.store,
            keys: &own_keys,
            rows: &self.rows,
        };
        let mut chain = self.chain.as_mut_slice();
        let mut start = 0;
        let mut pieces = Vec::with_capacity(self.held.len());
        for part in &self.held {
            let (piece, rest) = chain.split_at_mut(part.rows.len());
            pieces.push((start as u32, piece));
            start += part.rows.len();
            chain = rest;
        }
        let threads = self.store.context.options().threads;
        let built: Vec<_> = if self.rows.len() < PARALLEL_ROWS || threads < 2 {
            pieces
                .into_iter()
                .map(|(start, piece)| builder.build(start, piece))
                .collect()
        } else {
            let workers = &self.store.context.resources().workers;
            workers.map(pieces, |(start, piece)| builder.build(start, piece))
        };
        for table in built {
            let (table, has_null_key) = table?;
            self.tables.push(table);
            self.has_null_key |= has_null_key;
        }
        Ok(())
    }

    /// Number of indexed rows.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Whether a row has NULL in a key column that is not null-safe (`NOT IN`).
    pub fn has_null_key(&self) -> bool {
        self.has_null_key
    }

    /// Starts a probe with `row_count` keys.
    pub fn probe(&self, keys: &[ArrayRef], row_count: usize) -> Result<JoinProbe> {
        Ok(JoinProbe {
            first: self.first_matches(keys, row_count)?,
            row: 0,
            next: None,
        })
    }

    /// [`Self::probe`], but with the hashes of the keys, from [`Partition::read_next_hashed`].
    pub fn probe_hashed(&self, keys: &[ArrayRef], hashes: &[u64]) -> Result<JoinProbe> {
        Ok(JoinProbe {
            first: self.first_matches_hashed(keys, hashes)?,
            row: 0,
            next: None,
        })
    }

    /// [`Self::exists`], but with the hashes of the keys.
    pub fn exists_hashed(
        &self,
        keys: &[ArrayRef],
        hashes: &[u64],
        found: &mut Vec<bool>,
    ) -> Result<()> {
        let first = self.first_matches_hashed(keys, hashes)?;
        found.clear();
        found.extend(first.iter().map(|row| *row != NONE));
        Ok(())
    }

    /// Sets `matches` to the next matches, at most `limit`. False when none were left.
    pub fn next_matches(
        &self,
        probe: &mut JoinProbe,
        limit: usize,
        matches: &mut JoinMatches,
    ) -> bool {
        matches.probe_rows.clear();
        matches.build_rows.clear();
        while probe.row < probe.first.len() {
            let mut next = probe.next.take().unwrap_or(probe.first[probe.row]);
            while next != NONE {
                if matches.probe_rows.len() >= limit {
                    probe.next = Some(next);
                    return true;
                }
                matches.probe_rows.push(probe.row as u32);
                matches.build_rows.push(BuildRow(next));
                next = self.chain[next as usize];
            }
            probe.row += 1;
        }
        !matches.probe_rows.is_empty()
    }

    /// A row and the rows behind it in its chain; from a key's first match on, all of its rows.
    pub fn rows_from(&self, row: BuildRow) -> impl Iterator<Item = BuildRow> {
        std::iter::successors(Some(row), |row| {
            Some(BuildRow(self.chain[row.0 as usize])).filter(|next| *next != BuildRow::NONE)
        })
    }

    /// Whether each of `row_count` keys has a match: semi and anti joins.
    pub fn exists(&self, keys: &[ArrayRef], row_count: usize, found: &mut Vec<bool>) -> Result<()> {
        let first = self.first_matches(keys, row_count)?;
        found.clear();
        found.extend(first.iter().map(|row| *row != NONE));
        Ok(())
    }

    fn first_matches(&self, keys: &[ArrayRef], row_count: usize) -> Result<Vec<u32>> {
        if self.rows.is_empty() {
            return Ok(vec![NONE; row_count]);
        }
        if let Some(window) = &self.window {
            let mut first = Vec::with_capacity(row_count);
            window.first_matches(&keys[0], &mut first);
            return Ok(first);
        }
        let mut hashes = Vec::new();
        self.hasher.hash(keys, row_count, &mut hashes);
        self.first_matches_hashed(keys, &hashes)
    }

    fn first_matches_hashed(&self, keys: &[ArrayRef], hashes: &[u64]) -> Result<Vec<u32>> {
        let row_count = hashes.len();
        let mut first = Vec::with_capacity(row_count);
        if self.rows.is_empty() {
            first.resize(row_count, NONE);
            return Ok(first);
        }
        if let Some(window) = &self.window {
            window.first_matches(&keys[0], &mut first);
            return Ok(first);
        }
        let context = &self.store.context;
        let comparisons = Comparisons::new(context);
        let directory = &self.store.directory;
        let mut sources = Sources::transient_only();
        let encoder = Encoder::new(keys, &mut sources, directory);
        let (stored, incoming) = (Resolver::stored(directory), sources.resolver(directory));
        let width = self.lookup.width;
        let mut scratch = vec![0_u64; RUN_ROWS.min(row_count) * width / 8];
        let mut numbers = Vec::with_capacity(RUN_ROWS.min(row_count));
        let mut candidates = Vec::with_capacity(RUN_ROWS.min(row_count));
        let mut start = 0;
        while start < row_count {
            let count = RUN_ROWS.min(row_count - start);
            let hashes = &hashes[start..start + count];
            // SAFETY: the scratch area has room for a run of rows of the lookup layout, whose
            // columns are those of the keys.
            unsafe {
                let rows = scratch.as_mut_ptr().cast();
                encoder.write(&self.lookup, start, count, Some(hashes), rows);
            }
            for hash in hashes {
                self.table(*hash).prefetch(*hash);
            }
            numbers.clear();
            for hash in hashes {
                let number = self.table(*hash).candidate(*hash).unwrap_or(NONE);
                prefetch(self.rows.as_ptr().wrapping_add(number as usize));
                numbers.push(number);
            }
            candidates.clear();
            for number in &numbers {
                let row = self.rows.get(*number as usize).copied().unwrap_or(null());
                candidates.push(row);
                prefetch(row);
            }
            let looked_up =
                |index: usize| scratch.as_ptr().cast::<u8>().wrapping_add(index * width);
            for (index, hash) in hashes.iter().enumerate() {
                if index.is_multiple_of(AHEAD_ROWS) {
                    let ahead = candidates.iter().enumerate().skip(index).take(AHEAD_ROWS);
                    for (index, candidate) in ahead.filter(|(_, row)| !row.is_null()) {
                        let row = looked_up(index);
                        // SAFETY: a candidate is a row of the table, `row` one of the lookup
                        // layout; values are in memory.
                        unsafe {
                            let (stored, row) = (stored.of(*candidate), incoming.of(row));
                            self.keys.prefetch_values(stored, row);
                        }
                    }
                }
                let row = looked_up(index);
                // SAFETY: `row` is a row of the lookup layout, the others of the table's; values
                // are in memory.
                let found = unsafe {
                    if self.keys.lookup_has_unsafe_null(row) {
                        NONE
                    } else {
                        let equal = |other: u32| {
                            comparisons.count();
                            let other = stored.of(self.rows[other as usize]);
                            self.keys.equal(other, incoming.of(row))
                        };
                        match self.table(*hash).find(*hash, equal) {
                            Slot::Found(row) => row,
                            Slot::Vacant(_) => NONE,
                        }
                    }
                };
                first.push(found);
                let asked = comparisons.check();
                asked.map_err(|error| context.error(&error, ANONYMOUS_TABLE))?;
            }
            start += count;
        }
        Ok(first)
    }

    #[inline(always)]
    fn table(&self, hash: u64) -> &Slots {
        &self.tables[self.plan.partition(hash)]
    }

    /// Columns of indexed rows; NULLs for [`BuildRow::NONE`].
    pub fn gather(&self, columns: &[usize], rows: &[BuildRow]) -> Result<Vec<ArrayRef>> {
        let null_row = self.null_row.as_ptr().cast();
        let rows: Vec<*const u8> = rows
            .iter()
            .map(|row| self.rows.get(row.0 as usize).copied().unwrap_or(null_row))
            .collect();
        let lock = || lock(&self.scratch);
        let mut gather = lock().pop().unwrap_or_default();
        // SAFETY: the rows are in the index's blocks, or the one row of NULLs.
        let arrays = unsafe {
            let columns = columns.iter().copied();
            gather.columns(&self.store.layout, &self.store.directory, &rows, columns)
        };
        lock().push(gather);
        Ok(arrays)
    }

    /// The index of a row among all indexed rows, `0 .. row_count()`: for marking rows that have matched.
    pub fn ordinal(&self, row: BuildRow) -> usize {
        row.0 as usize
    }

    /// The row at an index, the inverse of [`Self::ordinal`].
    pub fn row_at(&self, ordinal: usize) -> BuildRow {
        BuildRow(ordinal as u32)
    }
}

/// Builder of one partition's table.
struct Builder<'a> {
    store: &'a StoreRef,
    keys: &'a RowKeys,
    rows: &'a [*const u8],
}

// SAFETY: the rows are only read, and outlive the threads that build.
unsafe impl Sync for Builder<'_> {}

impl Builder<'_> {
    /// Indexes the rows from `start`, as many as `chain` has links; returns whether one has a NULL key.
    fn build(&self, start: u32, chain: &mut [u32]) -> mayfly_memory::Result<(Slots, bool)> {
        let store = self.store;
        let mut slots = Slots::new(chain.len(), store)?;
        let values = Resolver::stored(&store.directory);
        let comparisons = Comparisons::new(&store.context);
        let mut has_null_key = false;
        let end = start + chain.len() as u32;
        for number in start..end {
            if ((number - start) as usize).is_multiple_of(AHEAD_ROWS) {
                for ahead in number..end.min(number + AHEAD_ROWS as u32) {
                    let row = self.rows[ahead as usize];
                    // SAFETY: rows of the store's layout with their values in memory.
                    unsafe {
                        let header = row.cast::<u64>().read_unaligned();
                        if let Some(other) = slots.candidate(header) {
                            let other = self.rows[other as usize];
                            self.keys.prefetch_values(values.of(other), values.of(row));
                        }
                    }
                }
            }
            let row = self.rows[number as usize];
            // SAFETY: rows of the store's layout with their values in memory; a row starts with
            // its header.
            unsafe {
                let header = row.cast::<u64>().read_unaligned();
                if header & 0xFFFF != 0 && self.keys.has_unsafe_null(row)
                    || store.layout.extra_null_bytes > 0 && self.keys.has_unsafe_null(row)
                {
                    has_null_key = true;
                    continue;
                }
                let equal = |other: u32| {
                    comparisons.count();
                    let other = values.of(self.rows[other as usize]);
                    self.keys.equal(other, values.of(row))
                };
                comparisons.check()?;
                match slots.find(header, equal) {
                    Slot::Found(first) => {
                        // Linked behind the first row, so that the slot need not change.
                        let first = (first - start) as usize;
                        chain[(number - start) as usize] = chain[first];
                        chain[first] = number;
                    }
                    Slot::Vacant(at) => slots.fill(at, header, number),
                }
            }
        }
        Ok((slots, has_null_key))
    }
}

/// A row whose columns are all NULL.
fn null_row(layout: &RowLayout) -> Box<[u64]> {
    let mut bytes = vec![0_u8; layout.width];
    for cell in layout.cells() {
        bytes[cell.null_byte] |= cell.null_mask;
    }
    bytes
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")))
        .collect()
}
