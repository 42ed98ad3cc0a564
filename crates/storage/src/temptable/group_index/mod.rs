//! Dense group numbers of keys, for the rows of a partition or for batches as they come.

#![expect(unsafe_code, reason = "rows are raw bytes; see the layout")]

mod coded;
mod codes;

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, UInt32Array};
use arrow_select::take::take;
use mayfly_memory::prefetch;
use mayfly_types::coded::{coded, decoded};
use mayfly_types::{Batch, PhysicalType, Result};

use self::codes::GroupCodes;
use super::dense::{Dense, range_of};
use super::known_values::{KnownValues, VALUES_MAX};
use super::repeats::Repeats;
use super::rows::{AHEAD_ROWS, Encoder, Gather, HASH_MASK, KeyHasher, Resolver, RowKeys, Sources};
use super::slots::{Comparisons, Slot, Slots};
use super::spec::{KeyColumn, KeyMode};
use super::store::{RowWriter, Store, StoreRef, WORKER_SHARE_MIN};
use super::table::TempTable;
use crate::error::{ANONYMOUS_TABLE, user_error};
use crate::values::ArrayValues;

/// Groups of a partition's rows.
#[derive(Debug)]
pub struct Groups {
    ids: Vec<u32>,
    first_rows: Vec<u32>,
}

impl Groups {
    /// Groups rows that are in memory by their keys.
    ///
    /// # Safety
    /// `rows` are rows of the store's layout and their values are in memory.
    pub(crate) unsafe fn of(
        store: &StoreRef,
        keys: &RowKeys,
        rows: &[*const u8],
    ) -> mayfly_memory::Result<Self> {
        // SAFETY: a row starts with its header.
        let header = |row: *const u8| unsafe { row.cast::<u64>().read_unaligned() };
        let values = Resolver::stored(&store.directory);
        let mut slots = Slots::new(rows.len().min(1 << 16), store)?;
        let comparisons = Comparisons::new(&store.context);
        let mut ids = Vec::with_capacity(rows.len());
        let mut first_rows: Vec<u32> = Vec::with_capacity(rows.len().min(1 << 16));
        for (index, row) in rows.iter().enumerate() {
            if index.is_multiple_of(AHEAD_ROWS) {
                for row in rows.iter().skip(index).take(AHEAD_ROWS) {
                    if let Some(group) = slots.candidate(header(*row)) {
                        let first = rows[first_rows[group as usize] as usize];
                        // SAFETY: both are rows of the layout, with their values in memory.
                        unsafe { keys.prefetch_values(values.of(first), values.of(*row)) };
                    }
                }
            }
            let hash = header(*row);
            // SAFETY: both are rows of the layout of `keys`, with their values in memory.
            let equal = |group: u32| unsafe {
                comparisons.count();
                let first = rows[first_rows[group as usize] as usize];
                keys.equal(values.of(first), values.of(*row))
            };
            let group = match slots.find(hash, equal) {
                Slot::Found(group) => group,
                Slot::Vacant(at) => {
                    let group = first_rows.len() as u32;
                    first_rows.push(index as u32);
                    slots.fill(at, hash, group);
                    if slots.is_full() {
                        let header = |group: u32| header(rows[first_rows[group as usize] as usize]);
                        slots.grow(store, header)?;
                    }
                    group
                }
            };
            ids.push(group);
            comparisons.check()?;
        }
        Ok(Self { ids, first_rows })
    }

    /// Number of groups.
    pub fn group_count(&self) -> usize {
        self.first_rows.len()
    }

    /// The group number of each row of the partition.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The first row of each group: pass it to [`super::Partition::gather`] for the groups' key columns.
    pub fn first_rows(&self) -> &[u32] {
        &self.first_rows
    }
}

/// Minimum number of rows in a batch for a check whether their keys repeat.
const ASKED_ROWS_MIN: usize = 256;
/// Number of rows that are looked up at once.
const RUN_ROWS: usize = 1024;
/// Number of groups up to which they are in the cache and need no prefetch.
const ASK_AHEAD_GROUPS_MIN: usize = 8 << 10;

/// Index from keys to dense group numbers, counted from 0, for batches as they come, in memory.
///
/// The index holds a row for each key, charged to the memory of the table that it belongs to. When the limit is
/// reached it takes no further rows; the caller then moves its groups elsewhere and clears it.
pub struct GroupIndex {
    store: StoreRef,
    hasher: KeyHasher,
    keys: RowKeys,
    writer: RowWriter,
    sources: Sources,
    lookup: Lookup,
    /// The row of each group.
    rows: Vec<*const u8>,
    hashes: Vec<u64>,
    scratch: Vec<u64>,
    repeats: Repeats,
    /// Lookup that is tried before the hash table.
    shortcut: Shortcut,
    /// Bytes that may be taken regardless of the limit.
    least: u64,
    /// Whether new groups are refused.
    closed: bool,
    /// Whether the last keys came as dictionary codes.
    is_coded: bool,
}

/// Lookup without a hash of each key, for keys whose values repeat.
enum Shortcut {
    /// Several columns, compared in these modes; to be tried with the first batch.
    Untried(Vec<KeyMode>),
    /// Several columns, each encoded by codes.
    Codes(Box<GroupCodes>),
    /// One column.
    Values(Box<KnownValues>),
    /// None: a column has too many values, or there is no memory for it.
    None,
}

/// Main lookup structure.
enum Lookup {
    Hash(Slots),
    /// One key column of integers, `signed` or not, whose values lie close together so far.
    Dense {
        signed: bool,
        numbers: Option<Dense>,
        /// The group of NULL.
        null: Option<u32>,
    },
}

// SAFETY: the addresses are of blocks owned by `writer`, which moves with this value.
unsafe impl Send for GroupIndex {}

impl GroupIndex {
    /// Group number for a key that a closed index does not have.
    pub const NO_GROUP: u32 = u32::MAX;

    /// An index of keys of these types, compared in these modes, charged to a table.
    pub fn new(table: &TempTable, columns: &[PhysicalType], modes: &[KeyMode]) -> Result<Self> {
        let of_table = &table.0.store;
        let store = Store::new(&of_table.context, columns, &of_table.record);
        Self::over(store, modes)
    }

    /// An index of the keys of a table with hash access, charged to that table.
    pub fn for_table(table: &TempTable) -> Result<Self> {
        let keys = table.hash_keys();
        let columns: Vec<_> = keys
            .iter()
            .map(|key| table.spec().columns[key.column])
            .collect();
        let modes: Vec<_> = keys.iter().map(|key| key.mode).collect();
        Self::new(table, &columns, &modes)
    }

    /// An index of distinct rows that can [become part](Self::into_rows) of a table.
    pub(crate) fn of_rows(table: &TempTable, modes: &[KeyMode]) -> Result<Self> {
        let store = Arc::clone(&table.0.store);
        let writer = RowWriter::pinned_at_first(&store);
        Ok(Self {
            writer,
            ..Self::over(store, modes)?
        })
    }

    /// The rows of the groups in the order of their numbers, with their store.
    pub(crate) fn into_rows(self) -> RowWriter {
        self.writer
    }

    fn over(store: StoreRef, modes: &[KeyMode]) -> Result<Self> {
        assert_eq!(
            store.layout.cells().len(),
            modes.len(),
            "a mode for every key column"
        );
        let columns: Vec<KeyColumn> = modes
            .iter()
            .enumerate()
            .map(|(column, mode)| KeyColumn {
                column,
                mode: *mode,
                null_safe: true,
            })
            .collect();
        let lookup = match store.layout.cells() {
            [cell] if cell.ty == PhysicalType::Int64 || cell.ty == PhysicalType::UInt64 => {
                Lookup::Dense {
                    signed: cell.ty == PhysicalType::Int64,
                    numbers: None,
                    null: None,
                }
            }
            _ => Lookup::Hash(
                Slots::new(0, &store).map_err(|error| user_error(&error, ANONYMOUS_TABLE))?,
            ),
        };
        Ok(Self {
            hasher: KeyHasher::new(modes.iter().copied(), store.context.options().hash),
            keys: RowKeys::new(&store.layout, &columns),
            writer: RowWriter::pinned(&store),
            sources: Sources::new(store.context.resources().stable.clone()),
            lookup,
            rows: Vec::new(),
            hashes: Vec::new(),
            scratch: Vec::new(),
            repeats: Repeats::default(),
            shortcut: match modes.len() {
                _ if !GroupCodes::has_memory(&store.memory) => Shortcut::None,
                1 => Shortcut::Values(Box::new(KnownValues::new(store.memory.reservation()))),
                columns if GroupCodes::is_possible(columns) => Shortcut::Untried(modes.to_vec()),
                _ => Shortcut::None,
            },
            least: 0,
            closed: false,
            is_coded: false,
            store,
        })
    }

    /// Allows a worker's minimum share of memory regardless of the limit: for the few groups that a LIMIT asks for,
    /// where the alternative is to put every row into a file.
    pub fn takes_least_share(mut self) -> Self {
        if !self.store.context.options().force_overflow {
            self.least = WORKER_SHARE_MIN;
        }
        self
    }

    /// Refuses new groups until the index is cleared: unknown keys get the number [`Self::NO_GROUP`].
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Sets `ids` to the group numbers of rows `0 .. n` and returns `n`: `row_count`, or fewer when the memory limit
    /// is reached. An empty index always takes at least one row. New keys get the next numbers, in row order.
    pub fn find_or_insert(
        &mut self,
        keys: &[ArrayRef],
        row_count: usize,
        ids: &mut Vec<u32>,
    ) -> Result<usize> {
        self.is_coded = false;
        let result = match &self.lookup {
            _ if keys.iter().any(|key| coded(key).is_some()) => {
                self.find_or_insert_by_codes(keys, row_count, ids)?
            }
            Lookup::Dense { .. } if self.closed => {
                self.find_dense(keys, ids);
                Ok(row_count)
            }
            Lookup::Dense { .. } => self.find_or_insert_dense(keys, row_count, ids),
            Lookup::Hash(_) if row_count < ASKED_ROWS_MIN => {
                self.find_or_insert_hashed(keys, row_count, ids)
            }
            Lookup::Hash(_) => self.find_or_insert_quickly(keys, row_count, ids)?,
        };
        self.sources.begin_batch();
        result.map_err(|error| self.store.context.error(&error, ANONYMOUS_TABLE))
    }

    /// [`Self::find_or_insert`], by the shortcut if there is one.
    fn find_or_insert_quickly(
        &mut self,
        keys: &[ArrayRef],
        row_count: usize,
        ids: &mut Vec<u32>,
    ) -> Result<mayfly_memory::Result<usize>> {
        Ok(
            match std::mem::replace(&mut self.shortcut, Shortcut::None) {
                Shortcut::Values(known) => self.find_or_insert_known(keys, known, ids),
                Shortcut::Codes(codes) => self.find_or_insert_coded(keys, row_count, codes, ids)?,
                Shortcut::Untried(modes) => match self.new_codes(&modes)? {
                    Some(codes) => self.find_or_insert_coded(keys, row_count, codes, ids)?,
                    None => self.find_or_insert_distinct(&plain(keys), row_count, ids),
                },
                Shortcut::None => self.find_or_insert_distinct(&plain(keys), row_count, ids),
            },
        )
    }

    /// Looks up each distinct key of a batch once, when they are few.
    fn find_or_insert_distinct(
        &mut self,
        keys: &[ArrayRef],
        row_count: usize,
        ids: &mut Vec<u32>,
    ) -> mayfly_memory::Result<usize> {
        let mut repeats = std::mem::take(&mut self.repeats);
        if repeats.find(keys, row_count) {
            return self.find_or_insert_repeats(keys, repeats, ids);
        }
        self.repeats = repeats;
        self.find_or_insert_hashed(keys, row_count, ids)
    }

    /// Looks up each distinct key once.
    fn find_or_insert_repeats(
        &mut self,
        keys: &[ArrayRef],
        repeats: Repeats,
        ids: &mut Vec<u32>,
    ) -> mayfly_memory::Result<usize> {
        let distinct = repeats.first_rows.len();
        let first_keys = rows_of(keys, &repeats.first_rows);
        let mut groups = Vec::with_capacity(distinct);
        let taken = self.find_or_insert_hashed(&first_keys, distinct, &mut groups)?;
        // First rows ascend: all rows before the first refused one belong to groups.
        let count = match repeats.first_rows.get(taken) {
            Some(row) => *row as usize,
            None => repeats.numbers.len(),
        };
        ids.clear();
        let numbers = repeats.numbers[..count].iter();
        ids.extend(numbers.map(|number| groups[*number as usize]));
        self.repeats = repeats;
        Ok(count)
    }

    /// Looks up the values of one column that are not in the table of known values.
    fn find_or_insert_known(
        &mut self,
        keys: &[ArrayRef],
        mut known: Box<KnownValues>,
        ids: &mut Vec<u32>,
    ) -> mayfly_memory::Result<usize> {
        known.find(&keys[0], ids);
        let misses = std::mem::take(&mut known.misses);
        let mut groups = Vec::new();
        if misses.len() == ids.len() {
            self.find_or_insert_distinct(keys, misses.len(), &mut groups)?;
        } else if !misses.is_empty() {
            let missed = rows_of(keys, &misses);
            self.find_or_insert_distinct(&missed, misses.len(), &mut groups)?;
        }
        for (row, group) in misses.iter().zip(&groups) {
            ids[*row as usize] = *group;
            if *group != Self::NO_GROUP {
                known.add(&keys[0], *row as usize, *group);
            }
        }
        // Misses ascend: all rows before the first refused one belong to groups.
        if let Some(row) = misses.get(groups.len()) {
            ids.truncate(*row as usize);
        }
        known.misses = misses;
        if known.is_of_use() {
            self.shortcut = Shortcut::Values(known);
        }
        Ok(ids.len())
    }

    /// Encodes each key column by codes, and looks up each new combination, if the keys are suitable.
    fn find_or_insert_coded(
        &mut self,
        keys: &[ArrayRef],
        row_count: usize,
        mut codes: Box<GroupCodes>,
        ids: &mut Vec<u32>,
    ) -> Result<mayfly_memory::Result<usize>> {
        let Some(first_rows) = codes.find(keys, row_count)? else {
            drop(codes);
            return Ok(self.find_or_insert_distinct(&plain(keys), row_count, ids));
        };
        let mut groups = Vec::with_capacity(first_rows.len());
        if !first_rows.is_empty() {
            let new_keys = plain(&rows_of(keys, &first_rows));
            if let Err(error) = self.find_or_insert_hashed(&new_keys, first_rows.len(), &mut groups)
            {
                return Ok(Err(error));
            }
        }
        let count = codes.finish(&first_rows, &groups, ids);
        if codes.is_of_use() {
            self.shortcut = Shortcut::Codes(codes);
        }
        Ok(Ok(count))
    }

    fn new_codes(&self, modes: &[KeyMode]) -> Result<Option<Box<GroupCodes>>> {
        let store = &self.store;
        let mut columns = Vec::with_capacity(modes.len());
        for (cell, mode) in store.layout.cells().iter().zip(modes) {
            let column = Store::new(&store.context, &[cell.ty], &store.record);
            columns.push(Self::over(column, &[*mode])?);
        }
        Ok(GroupCodes::new(columns, &store.pool, &store.memory).map(Box::new))
    }

    /// Reads the groups of integers from an array, as long as they lie close together.
    fn find_or_insert_dense(
        &mut self,
        keys: &[ArrayRef],
        row_count: usize,
        ids: &mut Vec<u32>,
    ) -> mayfly_memory::Result<usize> {
        let Lookup::Dense {
            signed,
            numbers,
            null,
        } = &mut self.lookup
        else {
            unreachable!("called for dense keys")
        };
        let signed = *signed;
        let ArrayValues::Words(values) = ArrayValues::new(&keys[0]) else {
            unreachable!("dense keys are integers")
        };
        let nulls = keys[0].nulls().filter(|nulls| nulls.null_count() > 0);
        // NULL cells have an undefined value, nearly always one that is near.
        let Some((least, greatest)) = range_of(values, signed) else {
            ids.clear();
            return Ok(0);
        };
        let distance = greatest.wrapping_sub(least);
        let (pool, budget) = (&self.store.pool, &self.store.memory);
        let found = match numbers.take() {
            Some(numbers) if numbers.covers(least, distance) => Some(numbers),
            Some(numbers) => numbers.extended(least, greatest, signed, pool, budget),
            None => Dense::new(least, distance, pool, budget),
        };
        let Some(mut dense) = found else {
            self.become_hashed()?;
            return self.find_or_insert_hashed(keys, row_count, ids);
        };
        let mut null = *null;
        ids.clear();
        ids.reserve(row_count);
        let mut result = Ok(row_count);
        for (row, value) in values.iter().enumerate() {
            let is_null = nulls.is_some_and(|nulls| nulls.is_null(row));
            let number = if is_null {
                null.map_or(0, |group| group + 1)
            } else {
                *dense.slot(*value)
            };
            if number != 0 {
                ids.push(number - 1);
                continue;
            }
            match self.insert_number((!is_null).then_some(*value)) {
                Ok(group) => {
                    if is_null {
                        null = Some(group);
                    } else {
                        *dense.slot(*value) = group + 1;
                    }
                    ids.push(group);
                }
                Err(error) => {
                    if error.is_memory_limit() {
                        result = Ok(row);
                    } else {
                        result = Err(error);
                    }
                    break;
                }
            }
        }
        self.lookup = Lookup::Dense {
            signed,
            numbers: Some(dense),
            null,
        };
        result
    }

    /// Reads the existing groups of integers.
    fn find_dense(&self, keys: &[ArrayRef], ids: &mut Vec<u32>) {
        let Lookup::Dense { numbers, null, .. } = &self.lookup else {
            unreachable!("called for dense keys")
        };
        let ArrayValues::Words(values) = ArrayValues::new(&keys[0]) else {
            unreachable!("dense keys are integers")
        };
        let nulls = keys[0].nulls().filter(|nulls| nulls.null_count() > 0);
        let group_of = |value| numbers.as_ref()?.group(value);
        ids.clear();
        ids.extend(values.iter().enumerate().map(|(row, value)| {
            let group = if nulls.is_some_and(|nulls| nulls.is_null(row)) {
                *null
            } else {
                group_of(*value)
            };
            group.unwrap_or(Self::NO_GROUP)
        }));
    }

    /// Adds the row of a new group of one integer, or NULL, without adding it to the lookup.
    fn insert_number(&mut self, value: Option<u64>) -> mayfly_memory::Result<u32> {
        let cell = &self.store.layout.cells()[0];
        let header = self.hasher.hash_number(value) & HASH_MASK;
        let mut row = [header | u64::from(value.is_none()), value.unwrap_or(0)];
        debug_assert_eq!(
            (size_of_val(&row), 8),
            (self.store.layout.width, cell.offset)
        );
        debug_assert_eq!((cell.null_byte, cell.null_mask), (0, 1));
        // SAFETY: a header with the first column's NULL bit, and one cell of 8 bytes: a row of a
        // layout of one whole number.
        unsafe { self.append(row.as_mut_ptr().cast()) }
    }

    /// Switches to a hash table, since keys are too far apart.
    #[cold]
    fn become_hashed(&mut self) -> mayfly_memory::Result<()> {
        let store = &self.store;
        let mut slots = Slots::new(self.rows.len(), store)?;
        for (group, row) in self.rows.iter().enumerate() {
            // SAFETY: a row starts with its header.
            let header = unsafe { row.cast::<u64>().read_unaligned() };
            if let Slot::Vacant(at) = slots.find(header, |_| false) {
                slots.fill(at, header, group as u32);
            }
        }
        self.lookup = Lookup::Hash(slots);
        Ok(())
    }

    fn find_or_insert_hashed(
        &mut self,
        keys: &[ArrayRef],
        row_count: usize,
        ids: &mut Vec<u32>,
    ) -> mayfly_memory::Result<usize> {
        let mut hashes = std::mem::take(&mut self.hashes);
        self.hasher.hash(keys, row_count, &mut hashes);
        let result = self.look_up(keys, row_count, &hashes, ids);
        self.hashes = hashes;
        result
    }

    fn look_up(
        &mut self,
        keys: &[ArrayRef],
        row_count: usize,
        hashes: &[u64],
        ids: &mut Vec<u32>,
    ) -> mayfly_memory::Result<usize> {
        ids.clear();
        ids.reserve(row_count);
        self.sources.begin_batch();
        let store = Arc::clone(&self.store);
        let width = store.layout.width;
        let encoder = Encoder::new(keys, &mut self.sources, &store.directory);
        self.scratch
            .resize(RUN_ROWS.min(row_count.max(1)) * width / 8, 0);
        let stored = Resolver::stored(&store.directory);
        let comparisons = Comparisons::new(&store.context);
        let mut start = 0;
        while start < row_count {
            let count = RUN_ROWS.min(row_count - start);
            let scratch = self.scratch.as_mut_ptr().cast::<u8>();
            // SAFETY: the scratch area has room for a run; the batch has columns of the layout's
            // types and `row_count` rows and hashes.
            unsafe {
                let hashes = &hashes[start..start + count];
                encoder.write(&store.layout, start, count, Some(hashes), scratch);
            }
            for index in 0..count {
                if index.is_multiple_of(AHEAD_ROWS) && self.rows.len() >= ASK_AHEAD_GROUPS_MIN {
                    let hashes = &hashes[start + index..start + count.min(index + AHEAD_ROWS)];
                    self.ask_ahead(hashes);
                }
                let row = scratch.wrapping_add(index * width);
                let incoming = self.sources.resolver(&store.directory);
                let (keys, rows) = (&self.keys, &self.rows);
                // SAFETY: stored rows and the scratch row are rows of this layout; a row starts
                // with its header.
                let header = unsafe { row.cast::<u64>().read_unaligned() };
                let equal = |group: u32| unsafe {
                    comparisons.count();
                    keys.equal(stored.of(rows[group as usize]), incoming.of(row))
                };
                let Lookup::Hash(slots) = &self.lookup else {
                    unreachable!("called for hashed keys")
                };
                let group = match slots.find(header, equal) {
                    Slot::Found(group) => group,
                    Slot::Vacant(_) if self.closed => Self::NO_GROUP,
                    // SAFETY: as above.
                    Slot::Vacant(at) => match unsafe { self.insert(row, header, at) } {
                        Err(error) if error.is_memory_limit() => return Ok(start + index),
                        result => result?,
                    },
                };
                ids.push(group);
                comparisons.check()?;
            }
            start += count;
        }
        Ok(row_count)
    }

    /// Prefetches slots, then the rows that they refer to.
    fn ask_ahead(&self, hashes: &[u64]) {
        let Lookup::Hash(slots) = &self.lookup else {
            return;
        };
        for hash in hashes {
            slots.prefetch(*hash);
        }
        let mut candidates = [0_u32; AHEAD_ROWS];
        let mut count = 0;
        for hash in hashes {
            if let Some(group) = slots.candidate(*hash) {
                prefetch(std::ptr::from_ref(&self.rows[group as usize]));
                candidates[count] = group;
                count += 1;
            }
        }
        for group in &candidates[..count] {
            prefetch(self.rows[*group as usize]);
        }
    }

    /// Adds a group: its row, and its entry in the hash table.
    ///
    /// # Safety
    /// `row` is an encoded row of the layout whose values the sources hold.
    unsafe fn insert(
        &mut self,
        row: *mut u8,
        header: u64,
        at: usize,
    ) -> mayfly_memory::Result<u32> {
        // SAFETY: as promised by the caller.
        let group = unsafe { self.append(row)? };
        let Lookup::Hash(slots) = &mut self.lookup else {
            unreachable!("called for hashed keys")
        };
        slots.fill(at, header, group);
        if slots.is_full() {
            let rows = &self.rows;
            // SAFETY: a row starts with its header.
            let header =
                |group: u32| unsafe { rows[group as usize].cast::<u64>().read_unaligned() };
            slots.grow(&self.store, header)?;
        }
        Ok(group)
    }

    /// Stores the row of a new group and returns the group's number.
    ///
    /// # Safety
    /// `row` is an encoded row of the layout whose values the sources hold.
    unsafe fn append(&mut self, row: *mut u8) -> mayfly_memory::Result<u32> {
        let group = self.rows.len() as u32;
        // An empty index takes its first row regardless of the limit.
        let is_forced = group == 0 || self.least > 0 && self.writer.memory_bytes() < self.least;
        self.writer.set_forced(is_forced);
        // SAFETY: `row` is a row of the layout with values in the batch's buffers.
        let stored = unsafe { self.writer.append_encoded(row, self.sources.addresses())? };
        self.rows.push(stored);
        Ok(group)
    }

    /// Whether the last keys were found without a hash of each.
    pub(super) fn is_quick(&self) -> bool {
        let is_known = matches!(self.shortcut, Shortcut::Values(_));
        is_known
            || self.is_coded
            || matches!(self.lookup, Lookup::Dense { .. })
            || self.repeats.is_of_use()
    }

    /// Whether groups are found by a hash, and not by direct addressing.
    pub fn is_hashed(&self) -> bool {
        matches!(self.lookup, Lookup::Hash(_))
    }

    /// Whether `groups` groups are likely to be found by the bits of their values, which is quicker than by a hash.
    pub fn knows_values_of(&self, groups: u64) -> bool {
        matches!(self.shortcut, Shortcut::Values(_)) && groups <= VALUES_MAX as u64
    }

    /// Number of groups.
    pub fn group_count(&self) -> usize {
        self.rows.len()
    }

    /// The keys of the groups in `range`: for each group those of its first row.
    pub fn keys(&self, range: Range<usize>) -> Result<Batch> {
        let count = range.len();
        let columns = 0..self.store.layout.cells().len();
        // SAFETY: the rows are in the writer's blocks, their values in the directory.
        let columns = unsafe {
            Gather::default().columns(
                &self.store.layout,
                &self.store.directory,
                &self.rows[range],
                columns,
            )
        };
        Ok(Batch::new(columns, count))
    }

    /// Memory in bytes.
    pub fn memory_bytes(&self) -> u64 {
        let shortcut = match &self.shortcut {
            Shortcut::Codes(codes) => codes.memory_bytes(),
            Shortcut::Values(known) => known.memory_bytes(),
            Shortcut::Untried(_) | Shortcut::None => 0,
        };
        self.group_bytes() + shortcut
    }

    /// Memory that grows with the groups, in bytes: without the shortcut, which is dropped when it is of no use.
    pub fn group_bytes(&self) -> u64 {
        let rows = self.rows.capacity() * size_of::<*const u8>();
        let lookup = match &self.lookup {
            Lookup::Hash(slots) => slots.memory_bytes(),
            Lookup::Dense { numbers, .. } => numbers.as_ref().map_or(0, Dense::memory_bytes),
        };
        self.writer.memory_bytes() + (lookup + rows) as u64
    }

    /// Removes all groups; keeps memory for reuse.
    pub fn clear(&mut self) {
        self.closed = false;
        self.rows.clear();
        match &mut self.lookup {
            Lookup::Hash(slots) => slots.clear(),
            Lookup::Dense { numbers, null, .. } => {
                *null = None;
                if let Some(numbers) = numbers {
                    numbers.clear();
                }
            }
        }
        match &mut self.shortcut {
            Shortcut::Codes(codes) => codes.clear(),
            Shortcut::Values(known) => known.clear(),
            Shortcut::Untried(_) | Shortcut::None => {}
        }
        self.writer.clear();
    }
}

/// Columns with dictionary codes replaced by values.
fn plain(keys: &[ArrayRef]) -> Vec<ArrayRef> {
    keys.iter().map(decoded).collect()
}

/// Some rows of columns.
fn rows_of(columns: &[ArrayRef], rows: &[u32]) -> Vec<ArrayRef> {
    let rows = UInt32Array::from(rows.to_vec());
    let columns = columns.iter().map(|column| take(column, &rows, None));
    columns
        .collect::<std::result::Result<_, _>>()
        .expect("the rows are rows of the columns")
}
