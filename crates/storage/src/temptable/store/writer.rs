//! Writing of rows into partitions by one thread.
//!
//! Each partition has an open row block and an open value block. A run of rows is first written to a scratch area that
//! stays in the cache (see [`Encoder`]); then long values in transient buffers are copied, and each row is moved to
//! its partition's open block.
//!
//! When a block is refused for lack of memory the writer sends partitions to its temporary file: first those that have
//! been there already, so that as many partitions as possible stay whole in memory, and of those the largest first.
//! Before that it asks idle holders (see [`super::super::reclaim`]). A writer that holds little although memory is
//! exhausted takes the block past the limit: one open row block and value block per partition is the minimum, and
//! [`PartitionPlan`] keeps their sum within half of the limit down to limits of 1 MiB.

#![expect(unsafe_code, reason = "rows are raw bytes; see the layout")]

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BinaryViewArray};
use mayfly_memory::{Block, Result, SizeClass, TempFile};

use super::StoreRef;
use super::part::{Part, RowBlock, ValueBlock};
use crate::temptable::rows::{Cell, Encoder, Resolver, SharedBlock, Sources, View, is_source};

/// Size in bytes of the scratch area for rows.
const RUN_BYTES: usize = 48 << 10;
/// A block's class grows when the partition's memory has reached this number of blocks of the next class.
const GROW_AT: u64 = 2;

/// Distribution of rows over partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PartitionPlan {
    /// Number of upper hash bits used by earlier partitionings.
    pub(crate) used_bits: u32,
    /// Number of following hash bits that choose the partition.
    pub(crate) bits: u32,
    /// Largest class of blocks.
    pub(crate) largest: SizeClass,
    /// Bytes of long values, about, to which a row block refers at most (but at least one row's): a row block is read
    /// back together with its values.
    values_max: usize,
}

impl PartitionPlan {
    /// A plan with one partition.
    pub(crate) fn single(memory_limit: u64, writers: usize) -> Self {
        Self {
            bits: 0,
            ..Self::fitting(0, 2, memory_limit, writers)
        }
    }

    /// A plan with one partition, and blocks so small that a merge of many runs fits in half of the limit.
    pub(crate) fn run(memory_limit: u64) -> Self {
        Self {
            bits: 0,
            ..Self::fitting(0, 5, memory_limit, 1)
        }
    }

    /// A plan with as many partitions, up to 256, as keep all writers' open blocks within half of the limit.
    pub(crate) fn partitioned(used_bits: u32, memory_limit: u64, writers: usize) -> Self {
        let half = memory_limit / 2;
        let least = 2 * writers.max(1) as u64 * SizeClass::Small.bytes() as u64;
        let bits = (half / least).max(1).ilog2().clamp(2, 8);
        Self::fitting(used_bits, bits, memory_limit, writers)
    }

    /// A plan with `bits` bits of partitions, and blocks that keep all writers' open ones within half of the limit.
    pub(crate) fn fitting(used_bits: u32, bits: u32, memory_limit: u64, writers: usize) -> Self {
        let open = (2 * writers.max(1) as u64) << bits;
        let fits =
            |class: &SizeClass| open.saturating_mul(class.bytes() as u64) <= memory_limit / 2;
        let largest = SizeClass::GROWING
            .into_iter()
            .rev()
            .find(fits)
            .unwrap_or(SizeClass::Small);
        let sixteenth = usize::try_from(memory_limit / 16).unwrap_or(usize::MAX);
        Self {
            used_bits,
            bits,
            largest,
            values_max: (8 * largest.bytes()).min(sixteenth.max(32 << 10)),
        }
    }

    /// Number of partitions.
    pub(crate) fn count(self) -> usize {
        1 << self.bits
    }

    /// The partition of a row with this header.
    #[inline(always)]
    pub(crate) fn partition(self, header: u64) -> usize {
        // Two shifts, because a shift by 64 would overflow when there are no bits.
        ((header << self.used_bits) >> 1 >> (63 - self.bits)) as usize
    }
}

/// Write position in a partition's open row block.
#[derive(Clone, Copy)]
struct RowCursor {
    next: *mut u8,
    end: *mut u8,
}

const CLOSED: RowCursor = RowCursor {
    next: std::ptr::null_mut(),
    end: std::ptr::null_mut(),
};

/// Open value block of a partition.
#[derive(Default)]
struct ValueCursor {
    block: Option<(Arc<SharedBlock>, u32)>,
    /// Index among the part's value blocks.
    index: usize,
    /// The last run that copied a value into this partition, and the block of its first value.
    run: u64,
    run_first: usize,
}

/// Selection of the values that are copied when rows are placed.
#[derive(Clone, Copy)]
enum Copying<'a> {
    /// Values in buffers of the batch that is being appended.
    Transient(&'a [*const u8]),
    /// Values in heap blocks: the rows come from another part of the same table.
    Heap,
}

/// Writer of rows into partitions.
pub(crate) struct RowWriter {
    store: StoreRef,
    plan: PartitionPlan,
    parts: Vec<Part>,
    row_cursors: Vec<RowCursor>,
    value_cursors: Vec<ValueCursor>,
    scratch: Vec<u64>,
    /// `None` only while a batch is appended.
    sources: Option<Sources>,
    file: Option<TempFile>,
    /// Counter of runs of rows, from 1.
    run: u64,
    /// Number of rows, and bytes of long values that were copied for them.
    rows: u64,
    value_bytes: u64,
    /// The class that blocks grow to while memory is short, at most that of the plan.
    largest: SizeClass,
    /// Whether overflow is forbidden: rows must keep their addresses.
    pinned: bool,
    /// Whether rows are read in place, and never brought back from a file.
    stays: bool,
    /// Whether blocks are taken past the limit.
    forced: bool,
}

// SAFETY: the cursors' addresses are of blocks owned by `parts`, used through `&mut self` only.
unsafe impl Send for RowWriter {}

impl RowWriter {
    pub(crate) fn new(store: &StoreRef, plan: PartitionPlan) -> Self {
        let stable = store.context.resources().stable.clone();
        let count = plan.count();
        Self {
            store: Arc::clone(store),
            plan,
            parts: (0..count).map(|_| Part::default()).collect(),
            row_cursors: vec![CLOSED; count],
            value_cursors: (0..count).map(|_| ValueCursor::default()).collect(),
            scratch: Vec::new(),
            sources: Some(Sources::new(stable)),
            file: None,
            run: 0,
            rows: 0,
            value_bytes: 0,
            largest: plan.largest,
            pinned: false,
            stays: false,
            forced: false,
        }
    }

    /// A writer whose rows keep their addresses: a refused block is an error.
    pub(crate) fn pinned(store: &StoreRef) -> Self {
        Self {
            stays: true,
            ..Self::pinned_at_first(store)
        }
    }

    /// [`Self::pinned`], but for rows that may go to a file once the writer has finished.
    pub(crate) fn pinned_at_first(store: &StoreRef) -> Self {
        let plan = PartitionPlan::single(store.memory_limit(), store.context.options().threads);
        Self {
            pinned: true,
            ..Self::new(store, plan)
        }
    }

    /// Sets whether blocks are taken past the limit.
    pub(crate) fn set_forced(&mut self, forced: bool) {
        self.forced = forced;
    }

    /// Memory of the blocks in bytes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.memory_bytes).sum()
    }

    /// Memory in bytes that the table may hold.
    pub(crate) fn memory_limit(&self) -> u64 {
        self.store.memory_limit()
    }

    /// Moves the rows of another writer of the same store here.
    pub(crate) fn take_over(&mut self, other: Self) -> Result<()> {
        let store = Arc::clone(&self.store);
        for part in other.finish() {
            // SAFETY: `drain` gives rows of the store whose values are in memory.
            part.drain(&store, |rows| unsafe { self.append_rows(rows) })?;
        }
        Ok(())
    }

    pub(crate) fn plan(&self) -> PartitionPlan {
        self.plan
    }

    /// Appends the rows of a batch. `hashes` are the hashes of their keys, if they have keys.
    pub(crate) fn append(
        &mut self,
        columns: &[ArrayRef],
        row_count: usize,
        hashes: Option<&[u64]>,
    ) -> Result<()> {
        let stable = || Sources::new(self.store.context.resources().stable.clone());
        let mut sources = self.sources.take().unwrap_or_else(stable);
        let result = self.append_from(columns, row_count, hashes, &mut sources);
        sources.begin_batch();
        self.sources = Some(sources);
        result
    }

    fn append_from(
        &mut self,
        columns: &[ArrayRef],
        row_count: usize,
        hashes: Option<&[u64]>,
        sources: &mut Sources,
    ) -> Result<()> {
        let store = Arc::clone(&self.store);
        let layout = &store.layout;
        sources.begin_batch();
        let encoder = Encoder::new(columns, sources, &store.directory);
        let run = (RUN_BYTES / layout.width).clamp(1, 2048);
        self.scratch.resize(run * layout.width / 8, 0);
        let mut start = 0;
        while start < row_count {
            let mut count = run.min(row_count - start);
            if sources.has_transient() && !self.pinned {
                let most = self.plan.values_max;
                while count > 1 && string_bytes(columns, start, count) > most {
                    count /= 2;
                }
            }
            let hashes = hashes.map(|hashes| &hashes[start..start + count]);
            let rows = self.scratch.as_mut_ptr().cast::<u8>();
            self.run += 1;
            self.rows += count as u64;
            // SAFETY: the scratch area has room for `run` rows; the batch has columns of the
            // table's types and `row_count` rows, and `hashes` was cut to `count`.
            unsafe {
                encoder.write(layout, start, count, hashes, rows);
                if sources.has_transient() {
                    self.copy_values(rows, count, Copying::Transient(sources.addresses()))?;
                }
                self.place(rows, count)?;
            }
            start += count;
        }
        Ok(())
    }

    /// Appends rows of another part of the same table, which is in memory. Long values are copied unless they are in
    /// source buffers.
    ///
    /// # Safety
    /// `rows` are rows of the store's layout and their values are in memory.
    pub(crate) unsafe fn append_rows(&mut self, rows: &[*const u8]) -> Result<()> {
        let width = self.store.layout.width;
        let run = (RUN_BYTES / width).clamp(1, 2048);
        self.scratch.resize(run * width / 8, 0);
        let mut rest = rows;
        while !rest.is_empty() {
            let mut count = run.min(rest.len());
            if !self.pinned {
                let most = self.plan.values_max;
                // SAFETY: as promised by the caller.
                while count > 1 && unsafe { self.value_bytes_of(&rest[..count]) } > most {
                    count /= 2;
                }
            }
            let rows;
            (rows, rest) = rest.split_at(count);
            self.run += 1;
            self.rows += count as u64;
            let scratch = self.scratch.as_mut_ptr().cast::<u8>();
            for (index, row) in rows.iter().enumerate() {
                // SAFETY: the scratch area has room for `run` rows, and `row` is one.
                unsafe {
                    scratch
                        .add(index * width)
                        .copy_from_nonoverlapping(*row, width)
                };
            }
            // SAFETY: the scratch area holds `rows.len()` rows whose values are in memory.
            unsafe {
                if !self.store.layout.bytes_cells.is_empty() {
                    self.copy_values(scratch, rows.len(), Copying::Heap)?;
                }
                self.place(scratch, rows.len())?;
            }
        }
        Ok(())
    }

    /// The size of the long values of rows.
    ///
    /// # Safety
    /// `rows` are rows of the store's layout.
    unsafe fn value_bytes_of(&self, rows: &[*const u8]) -> usize {
        let cells = self.store.layout.bytes_cells.iter();
        let of_cell = |cell: &Cell| -> usize {
            // SAFETY: a string's cell is a view.
            let views = rows.iter().map(|row| unsafe { cell.view(*row) });
            let copied = views.filter(|view| !view.is_inline() && !is_source(view.buffer()));
            copied.map(|view| view.length() as usize).sum()
        };
        cells.map(of_cell).sum()
    }

    /// Appends one row that another writer or index has encoded, with its transient values; returns its address. Only
    /// for pinned writers.
    ///
    /// # Safety
    /// `row` is a row of the store's layout; `transient` resolves its transient values. The row is changed.
    pub(crate) unsafe fn append_encoded(
        &mut self,
        row: *mut u8,
        transient: &[*const u8],
    ) -> Result<*const u8> {
        let copying = (!transient.is_empty()).then_some(Copying::Transient(transient));
        // SAFETY: as promised by the caller.
        unsafe { self.append_one(row, copying) }
    }

    /// Copies the long values of a row as `copying` says, and places it; returns its address.
    ///
    /// # Safety
    /// `row` is a row of the store's layout, whose values `copying` locates. The row is changed.
    unsafe fn append_one(
        &mut self,
        row: *mut u8,
        copying: Option<Copying<'_>>,
    ) -> Result<*const u8> {
        debug_assert!(self.pinned && self.parts.len() == 1);
        self.run += 1;
        // SAFETY: as promised by the caller, for one row.
        unsafe {
            if let Some(copying) = copying {
                self.copy_values(row, 1, copying)?;
            }
            self.place(row, 1)?;
        }
        let next = self.row_cursors[0].next;
        Ok(next.wrapping_sub(self.store.layout.width))
    }

    /// [`Self::append_encoded`], but for a copy of a row of this store whose long values are copied too unless they
    /// are in source buffers.
    ///
    /// # Safety
    /// `row` is a copy of a row of the store whose values are in memory. It is changed.
    pub(crate) unsafe fn append_stored(&mut self, row: *mut u8) -> Result<*const u8> {
        // SAFETY: as promised by the caller.
        unsafe { self.append_one(row, Some(Copying::Heap)) }
    }

    /// Removes all rows.
    pub(crate) fn clear(&mut self) {
        for partition in 0..self.parts.len() {
            self.row_cursors[partition] = CLOSED;
            self.value_cursors[partition].block = None;
            self.parts[partition] = Part::default();
        }
    }

    /// Copies long values of `count` rows into their partitions' value blocks.
    ///
    /// # Safety
    /// `rows` has `count` rows of the store's layout, whose values `from` locates. The rows are changed.
    unsafe fn copy_values(&mut self, rows: *mut u8, count: usize, from: Copying<'_>) -> Result<()> {
        let store = Arc::clone(&self.store);
        let transient = match from {
            Copying::Transient(transient) => transient,
            Copying::Heap => &[],
        };
        let resolver = Resolver {
            directory: &store.directory,
            transient,
        };
        for cell in &store.layout.bytes_cells {
            for row in 0..count {
                // SAFETY: `rows` holds `count` rows; a string's cell is a view whose value is in
                // memory.
                unsafe {
                    let row = rows.add(row * store.layout.width);
                    let view = cell.view(row);
                    if view.is_inline() || is_source(view.buffer()) {
                        continue;
                    }
                    let partition = self.plan.partition(row.cast::<u64>().read_unaligned());
                    let value = resolver.bytes(&view);
                    let copied = self.copy_value(partition, view, value)?;
                    row.add(cell.offset)
                        .cast::<u128>()
                        .write_unaligned(copied.0);
                }
            }
        }
        Ok(())
    }

    fn copy_value(&mut self, partition: usize, view: View, value: &[u8]) -> Result<View> {
        let cursor = &mut self.value_cursors[partition];
        if cursor.run != self.run {
            cursor.run = self.run;
            cursor.run_first = match cursor.block {
                Some(_) => cursor.index,
                None => self.parts[partition].values.len(),
            };
        }
        let room = cursor.block.as_ref().map_or(0, |(block, _)| block.room());
        self.value_bytes += value.len() as u64;
        if room < value.len() {
            let class = self.next_class(partition);
            // A value that would fill more than half of a block gets its own.
            let is_large = value.len() > class.bytes() / 2;
            let length = if is_large { value.len() } else { class.bytes() };
            let (block, number) = self.add_value_block(partition, length)?;
            if is_large {
                // SAFETY: the block is new.
                return Ok(view.at(number, unsafe { block.append(value) }));
            }
            let cursor = &mut self.value_cursors[partition];
            cursor.index = self.parts[partition].values.len() - 1;
            cursor.block = Some((block, number));
        }
        let cursor = &self.value_cursors[partition];
        let (block, number) = cursor
            .block
            .as_ref()
            .expect("opened above when there was none");
        // SAFETY: this writer alone appends to its open blocks.
        Ok(view.at(*number, unsafe { block.append(value) }))
    }

    /// Adds a block for long values to a partition.
    #[cold]
    fn add_value_block(
        &mut self,
        partition: usize,
        length: usize,
    ) -> Result<(Arc<SharedBlock>, u32)> {
        let block = self.take_block(length)?;
        let part = &mut self.parts[partition];
        part.memory_bytes += block.len() as u64;
        let (value_block, shared) = ValueBlock::new(&self.store, block);
        let number = value_block.number;
        part.values.push(value_block);
        Ok((shared, number))
    }

    /// Moves `count` rows to their partitions' row blocks.
    ///
    /// # Safety
    /// `rows` has `count` rows of the store's layout, whose partitions are noted.
    unsafe fn place(&mut self, rows: *const u8, count: usize) -> Result<()> {
        // A constant width lets the compiler copy a row by a few moves.
        // SAFETY: as promised by the caller, with the width of the layout.
        unsafe {
            match self.store.layout.width {
                16 => self.place_rows(rows, count, Constant::<16>),
                24 => self.place_rows(rows, count, Constant::<24>),
                32 => self.place_rows(rows, count, Constant::<32>),
                40 => self.place_rows(rows, count, Constant::<40>),
                48 => self.place_rows(rows, count, Constant::<48>),
                56 => self.place_rows(rows, count, Constant::<56>),
                64 => self.place_rows(rows, count, Constant::<64>),
                72 => self.place_rows(rows, count, Constant::<72>),
                80 => self.place_rows(rows, count, Constant::<80>),
                88 => self.place_rows(rows, count, Constant::<88>),
                96 => self.place_rows(rows, count, Constant::<96>),
                width => self.place_rows(rows, count, width),
            }
        }
    }

    /// [`Self::place`], for rows of a width.
    ///
    /// # Safety
    /// As for [`Self::place`]; `width` is the layout's.
    #[inline(always)]
    unsafe fn place_rows(
        &mut self,
        rows: *const u8,
        count: usize,
        width: impl Width,
    ) -> Result<()> {
        for row in 0..count {
            // SAFETY: `rows` holds `count` rows; a cursor that is not at its end has room for one.
            unsafe {
                let row = rows.add(row * width.get());
                let partition = self.plan.partition(row.cast::<u64>().read_unaligned());
                if self.row_cursors[partition].next == self.row_cursors[partition].end {
                    self.open_row_block(partition)?;
                }
                let cursor = &mut self.row_cursors[partition];
                cursor.next.copy_from_nonoverlapping(row, width.get());
                cursor.next = cursor.next.add(width.get());
            }
        }
        Ok(())
    }

    #[cold]
    fn open_row_block(&mut self, partition: usize) -> Result<()> {
        self.close_row_block(partition);
        let width = self.store.layout.width;
        let rows_max = self.rows_per_block();
        let mut class = self.next_class(partition);
        // The block would stay half empty.
        while class > SizeClass::Small && rows_max.saturating_mul(width) < class.bytes() / 2 {
            class = class.smaller();
        }
        let block = self.take_block(class.bytes().max(width))?;
        let usable = (block.len() / width).min(rows_max) * width;
        let start = block.as_ptr();
        self.row_cursors[partition] = RowCursor {
            next: start,
            end: start.wrapping_add(usable),
        };
        let values = &self.value_cursors[partition];
        let part = &mut self.parts[partition];
        // The values of this run's rows were copied before the rows are placed.
        let first_value = if values.run == self.run {
            values.run_first
        } else if values.block.is_some() {
            values.index
        } else {
            part.values.len()
        };
        part.memory_bytes += block.len() as u64;
        part.rows.push(RowBlock::new(block, first_value));
        Ok(())
    }

    fn close_row_block(&mut self, partition: usize) {
        let cursor = std::mem::replace(&mut self.row_cursors[partition], CLOSED);
        if cursor.next.is_null() {
            return;
        }
        let part = &mut self.parts[partition];
        let block = part.rows.last().and_then(RowBlock::in_memory);
        let start = block.expect("an open block is in memory").as_ptr();
        let bytes = cursor.next as usize - start as usize;
        part.close_row_block((bytes / self.store.layout.width) as u32);
    }

    fn close(&mut self, partition: usize) {
        self.close_row_block(partition);
        self.value_cursors[partition].block = None;
    }

    /// Maximum number of rows of a block by the size of their long values.
    fn rows_per_block(&self) -> usize {
        match self.value_bytes.checked_div(self.rows) {
            None | Some(0) => usize::MAX,
            Some(_) if self.stays => usize::MAX,
            Some(average) => {
                let rows = self.plan.values_max as u64 / average;
                usize::try_from(rows).unwrap_or(usize::MAX).max(1)
            }
        }
    }

    /// The class of a partition's next block, which grows with the partition.
    fn next_class(&self, partition: usize) -> SizeClass {
        let bytes = self.parts[partition].total_bytes();
        let mut class = SizeClass::Small;
        while class < self.largest && bytes >= GROW_AT * class.next().bytes() as u64 {
            class = class.next();
        }
        class
    }

    fn take_block(&mut self, bytes: usize) -> Result<Block> {
        loop {
            let refusal = match self.store.pool.take(bytes, &self.store.memory) {
                Err(error) if error.is_memory_limit() => error,
                result => return result,
            };
            if self.store.reclaim(SizeClass::charged(bytes)) {
                continue;
            }
            if self.pinned && !self.forced {
                return Err(refusal);
            }
            if self.pinned || !self.make_room(bytes as u64)? {
                return self.store.take_working_set(bytes);
            }
        }
    }

    /// Memory that a writer may hold even if others have exhausted it: a share of the limit, and two small blocks per
    /// partition. With less it would write a few rows at a time.
    fn least_bytes(&self) -> u64 {
        let threads = self.store.context.options().threads.max(1) as u64;
        let blocks = 2 * (self.plan.count() * SizeClass::Small.bytes()) as u64;
        blocks.max(self.store.memory_limit() / (8 * threads))
    }

    /// Sends partitions to the temporary file; false when the writer holds so little that it takes a block past the
    /// limit instead.
    fn make_room(&mut self, bytes: u64) -> Result<bool> {
        let (held, least) = (self.memory_bytes(), self.least_bytes());
        // Open blocks must not take all memory.
        let open = 2 * self.plan.count() as u64;
        let fits = |class: &SizeClass| open * class.bytes() as u64 <= held.max(least) / 2;
        let mut classes = SizeClass::GROWING.into_iter().rev();
        let class = classes.find(fits).unwrap_or(SizeClass::Small);
        // Not for good: what others hold now they may give back.
        self.largest = self.plan.largest.min(class);
        if held < least {
            return Ok(false);
        }
        let wanted = bytes.max(self.store.memory.used() / 8);
        let mut order: Vec<usize> = (0..self.parts.len())
            .filter(|part| self.parts[*part].memory_bytes > 0)
            .collect();
        // A small partition is not worth a write while another one is large.
        let largest = order
            .iter()
            .map(|part| self.parts[*part].memory_bytes)
            .max()
            .unwrap_or(0);
        order.retain(|part| self.parts[*part].memory_bytes >= largest / 4);
        order.sort_by_key(|part| {
            let part = &self.parts[*part];
            (part.file_bytes == 0, std::cmp::Reverse(part.memory_bytes))
        });
        let mut freed = 0;
        for partition in order {
            if freed >= wanted {
                break;
            }
            freed += self.overflow(partition)?;
        }
        Ok(freed > 0)
    }

    fn overflow(&mut self, partition: usize) -> Result<u64> {
        self.close(partition);
        let store = &self.store;
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(store.temp_file()?),
        };
        let part = &mut self.parts[partition];
        let memory = part.memory_bytes;
        part.overflow(store, file)?;
        Ok(memory - part.memory_bytes)
    }

    /// Sends all partitions to the temporary file.
    pub(crate) fn overflow_all(&mut self) -> Result<()> {
        for partition in 0..self.parts.len() {
            if self.parts[partition].memory_bytes > 0 {
                self.overflow(partition)?;
            }
        }
        Ok(())
    }

    /// Ends the writing and returns a part for each partition.
    pub(crate) fn finish(mut self) -> Vec<Part> {
        for partition in 0..self.parts.len() {
            self.close(partition);
        }
        std::mem::take(&mut self.parts)
    }
}

/// Total length of all strings of some rows.
fn string_bytes(columns: &[ArrayRef], start: usize, count: usize) -> usize {
    let strings = columns
        .iter()
        .filter_map(|column| column.as_binary_view_opt());
    let of = |strings: &BinaryViewArray| -> usize {
        let views = &strings.views()[start..start + count];
        views.iter().map(|view| *view as u32 as usize).sum()
    };
    strings.map(of).sum()
}

/// Width of a row, a compile-time constant or not.
trait Width: Copy {
    fn get(self) -> usize;
}

#[derive(Clone, Copy)]
struct Constant<const WIDTH: usize>;

impl<const WIDTH: usize> Width for Constant<WIDTH> {
    #[inline(always)]
    fn get(self) -> usize {
        WIDTH
    }
}

impl Width for usize {
    #[inline(always)]
    fn get(self) -> usize {
        self
    }
}
