//! Dense group numbers for keys: of a partition's rows, or of batches as they come.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use mayfly_types::{Batch, PhysicalType, Result};

use super::context::TempTableContext;
use super::rows::{AHEAD_ROWS, Encoder, Gather, KeyHasher, Resolver, RowKeys, Sources, prefetch};
use super::slots::{Slot, Slots};
use super::spec::{KeyColumn, KeyMode};
use super::store::{RowWriter, Store, StoreRef};
use super::table::TempTable;
use crate::error::{ANONYMOUS_TABLE, user_error};

/// The groups of a partition's rows.
#[derive(Debug)]
pub struct Groups {
    ids: Vec<u32>,
    first_rows: Vec<u32>,
}

impl Groups {
    /// Groups rows that are in memory.
    ///
    /// # Safety
    /// `rows` are rows of the store's layout and their values are in memory.
    #[expect(unsafe_code, reason = "rows are raw bytes; see the layout")]
    pub(crate) unsafe fn of(
        store: &StoreRef,
        keys: &RowKeys,
        rows: &[*const u8],
    ) -> mayfly_memory::Result<Self> {
        // SAFETY: a row starts with its header.
        let header = |row: *const u8| unsafe { row.cast::<u64>().read_unaligned() };
        let values = Resolver::stored(&store.directory);
        let mut slots = Slots::new(rows.len().min(1 << 16), &store.pool, &store.memory)?;
        let mut ids = Vec::with_capacity(rows.len());
        let mut first_rows: Vec<u32> = Vec::with_capacity(rows.len().min(1 << 16));
        for (index, row) in rows.iter().enumerate() {
            if index % AHEAD_ROWS == 0 {
                for row in rows.iter().skip(index).take(AHEAD_ROWS) {
                    if let Some(group) = slots.candidate(header(*row)) {
                        let first = rows[first_rows[group as usize] as usize];
                        // SAFETY: both are rows of the layout, with their values in memory.
                        unsafe { keys.prefetch_values(first, values, *row, values) };
                    }
                }
            }
            let hash = header(*row);
            // SAFETY: both are rows of the layout of `keys`, with their values in memory.
            let equal = |group: u32| unsafe {
                keys.equal(
                    rows[first_rows[group as usize] as usize],
                    values,
                    *row,
                    values,
                )
            };
            let group = match slots.find(hash, equal) {
                Slot::Found(group) => group,
                Slot::Vacant(at) => {
                    let group = first_rows.len() as u32;
                    first_rows.push(index as u32);
                    slots.fill(at, hash, group);
                    if slots.is_full() {
                        let header = |group: u32| header(rows[first_rows[group as usize] as usize]);
                        slots.grow(&store.pool, &store.memory, header)?;
                    }
                    group
                }
            };
            ids.push(group);
        }
        Ok(Self { ids, first_rows })
    }

    /// How many groups there are.
    pub fn group_count(&self) -> usize {
        self.first_rows.len()
    }

    /// The group of each row of the partition.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The first row of each group: what [`super::Partition::gather`] takes to give the groups'
    /// key columns.
    pub fn first_rows(&self) -> &[u32] {
        &self.first_rows
    }
}

/// Rows that are looked up at once.
const RUN_ROWS: usize = 1024;
/// Fewer groups are in the cache anyway.
const ASK_AHEAD_GROUPS_MIN: usize = 8 << 10;

/// Groups batches as they come, in memory: gives each distinct key a number, counted from 0.
///
/// It holds a row for each key, charged to the statement's memory. When its memory limit is
/// reached it takes no further rows; the caller then moves its groups elsewhere and clears it.
pub struct GroupIndex {
    store: StoreRef,
    hasher: KeyHasher,
    keys: RowKeys,
    writer: RowWriter,
    sources: Sources,
    slots: Slots,
    /// The row of each group.
    rows: Vec<*const u8>,
    hashes: Vec<u64>,
    scratch: Vec<u64>,
}

#[expect(unsafe_code, reason = "rows point into blocks that the writer owns")]
// SAFETY: the addresses are of blocks owned by `writer`, which moves with this value.
unsafe impl Send for GroupIndex {}

impl GroupIndex {
    /// An index over keys of these types, compared in these modes, that belongs to no table.
    pub fn new(
        context: &TempTableContext,
        columns: Vec<PhysicalType>,
        modes: Vec<KeyMode>,
    ) -> Result<Self> {
        let memory = context
            .memory()
            .child("tmp_table_size", context.options().tmp_table_size);
        let temp_budget = context.temp_space().clone();
        let store = Store::new(context, &columns, memory, temp_budget);
        Self::over(store, &modes)
    }

    /// An index over the keys of a table with hash access, charged to that table.
    pub fn for_table(table: &TempTable) -> Result<Self> {
        let keys = table.hash_keys();
        let columns: Vec<_> = keys
            .iter()
            .map(|key| table.spec().columns[key.column])
            .collect();
        let modes: Vec<_> = keys.iter().map(|key| key.mode).collect();
        let of_table = &table.0.store;
        let memory = of_table.memory.clone();
        let store = Store::new(
            &of_table.context,
            &columns,
            memory,
            of_table.temp_budget.clone(),
        );
        Self::over(store, &modes)
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
        let slots = Slots::new(0, &store.pool, &store.memory)
            .map_err(|error| user_error(&error, ANONYMOUS_TABLE))?;
        Ok(Self {
            hasher: KeyHasher::new(modes.iter().copied(), store.context.options().hash),
            keys: RowKeys::new(&store.layout, &columns),
            writer: RowWriter::pinned(&store),
            sources: Sources::new(store.context.resources().stable.clone()),
            slots,
            rows: Vec::new(),
            hashes: Vec::new(),
            scratch: Vec::new(),
            store,
        })
    }

    /// Puts the group numbers of rows `0 .. n` into `ids` (cleared first) and returns `n`: all
    /// `row_count` of them, or fewer when the memory limit is reached. An empty index always takes
    /// at least one row. Keys not seen before get the next numbers, in row order.
    pub fn find_or_insert(
        &mut self,
        keys: &[ArrayRef],
        row_count: usize,
        ids: &mut Vec<u32>,
    ) -> Result<usize> {
        let mut hashes = std::mem::take(&mut self.hashes);
        self.hasher.hash(keys, row_count, &mut hashes);
        let result = self.find_or_insert_hashed(keys, row_count, &hashes, ids);
        self.hashes = hashes;
        self.sources.begin_batch();
        result.map_err(|error| user_error(&error, ANONYMOUS_TABLE))
    }

    #[expect(unsafe_code, reason = "rows are raw bytes; see the layout")]
    fn find_or_insert_hashed(
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
                if index % AHEAD_ROWS == 0 && self.rows.len() >= ASK_AHEAD_GROUPS_MIN {
                    let hashes = &hashes[start + index..start + count.min(index + AHEAD_ROWS)];
                    self.ask_ahead(hashes);
                }
                let row = scratch.wrapping_add(index * width);
                let incoming = self.sources.resolver(&store.directory);
                let (keys, rows) = (&self.keys, &self.rows);
                // SAFETY: stored rows and the scratch row are rows of this layout; a row starts
                // with its header.
                let header = unsafe { row.cast::<u64>().read_unaligned() };
                let equal =
                    |group: u32| unsafe { keys.equal(rows[group as usize], stored, row, incoming) };
                let group = match self.slots.find(header, equal) {
                    Slot::Found(group) => group,
                    // SAFETY: as above.
                    Slot::Vacant(at) => match unsafe { self.insert(row, header, at) } {
                        Err(error) if error.is_memory_limit() => return Ok(start + index),
                        result => result?,
                    },
                };
                ids.push(group);
            }
            start += count;
        }
        Ok(row_count)
    }

    /// Asks the memory for slots, then for the rows that they name.
    fn ask_ahead(&self, hashes: &[u64]) {
        for hash in hashes {
            self.slots.prefetch(*hash);
        }
        for hash in hashes {
            if let Some(group) = self.slots.candidate(*hash) {
                prefetch(self.rows[group as usize]);
            }
        }
    }

    #[expect(unsafe_code, reason = "rows are raw bytes; see the layout")]
    unsafe fn insert(
        &mut self,
        row: *mut u8,
        header: u64,
        at: usize,
    ) -> mayfly_memory::Result<u32> {
        let group = self.rows.len() as u32;
        // An index that holds nothing takes its first row whatever the limit says.
        self.writer.set_forced(group == 0);
        // SAFETY: `row` is a row of the layout with values in the batch's buffers.
        let stored = unsafe { self.writer.append_encoded(row, self.sources.addresses())? };
        self.rows.push(stored);
        self.slots.fill(at, header, group);
        if self.slots.is_full() {
            let rows = &self.rows;
            // SAFETY: a row starts with its header.
            let header =
                |group: u32| unsafe { rows[group as usize].cast::<u64>().read_unaligned() };
            self.slots
                .grow(&self.store.pool, &self.store.memory, header)?;
        }
        Ok(group)
    }

    /// How many groups there are.
    pub fn group_count(&self) -> usize {
        self.rows.len()
    }

    /// The keys of the groups at `range`: of each group those of its first row.
    #[expect(unsafe_code, reason = "rows are raw bytes; see the layout")]
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

    /// Bytes held.
    pub fn memory_bytes(&self) -> u64 {
        let rows = self.rows.capacity() * size_of::<*const u8>();
        self.writer.memory_bytes() + (self.slots.memory_bytes() + rows) as u64
    }

    /// Forgets all groups; keeps memory for the next ones.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.slots.clear();
        self.writer.clear();
    }
}
