//! Row blocks: written by one thread into partitions, overflowing to a temporary file, read back a block or a
//! partition at a time.
//!
//! A [`Part`] is the output of one writer to one partition: row blocks, and value blocks that hold the long values of
//! those rows. Merging the output of several writers is moving lists of blocks.
//!
//! A part that must leave memory is written block by block; rows and values keep their numbers, so nothing is
//! rewritten. Row blocks know which value blocks they refer to, so a scan of a part in a file needs one row block and
//! its few value blocks at a time.

mod part;
mod pending;
mod writer;

use std::sync::Arc;
use std::time::Instant;

use mayfly_memory::{
    Block, BlockPool, Budget, Extent, MemoryError, Reservation, Result, SizeClass, TempFile,
    TempSpace,
};
use mayfly_types::{Batch, PhysicalType};

use super::context::{OverflowPolicy, TempTableContext};
use super::registry::Registration;
use super::rows::{Directory, Gather, RowLayout};

pub(crate) use part::{LoadedBlock, LoadedValues, Part};
pub(crate) use pending::PendingRows;
pub(crate) use writer::{PartitionPlan, RowWriter};

/// Minimum of a worker's share of memory in bytes.
pub(crate) const WORKER_SHARE_MIN: u64 = 256 << 10;

/// State shared by all parts and readers of one table.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) layout: RowLayout,
    pub(crate) directory: Directory,
    pub(crate) pool: BlockPool,
    /// The table's memory budget.
    pub(crate) memory: Budget,
    temp_space: TempSpace,
    pub(crate) context: TempTableContext,
    /// The registered record of the table.
    pub(crate) record: Arc<Registration>,
}

impl Store {
    /// A store of rows of `columns`, charged to the table of `record`.
    pub(crate) fn new(
        context: &TempTableContext,
        columns: &[PhysicalType],
        record: &Arc<Registration>,
    ) -> StoreRef {
        let resources = context.resources();
        Arc::new(Self {
            layout: RowLayout::new(columns),
            directory: Directory::default(),
            pool: resources.pool.clone(),
            memory: record.memory.clone(),
            temp_space: resources.temp_space.clone(),
            context: context.clone(),
            record: Arc::clone(record),
        })
    }

    /// Creates a temporary file for the table; the first makes it count as a disk table. Returns an error that names
    /// the limit if the statement must not go to disk.
    pub(crate) fn temp_file(&self) -> Result<TempFile> {
        if self.context.options().policy == OverflowPolicy::Error {
            let budget = self.memory.tightest().unwrap_or(&self.memory);
            let limit = budget.error(SizeClass::Small.bytes() as u64);
            return Err(MemoryError::Limit(limit));
        }
        if let Some(limit) = self.record.overflows()
            && self.record.purpose().is_counted()
        {
            self.context.count_overflow(limit);
        }
        Ok(self.temp_space.file(&self.record.temp_space))
    }

    /// Writes bytes of the table to its temporary file; call it within [`Self::writing`].
    pub(crate) fn write(&self, file: &TempFile, bytes: &[u8]) -> Result<Extent> {
        self.context.check_interrupt()?;
        file.write(bytes)
    }

    /// Counts the bytes that `write` returns, and its time: once for many blocks, since writing one takes little
    /// longer than reading the clock.
    pub(crate) fn writing(&self, write: impl FnOnce() -> Result<u64>) -> Result<()> {
        let begin = Instant::now();
        let written = write()?;
        self.record.add_written(written, begin.elapsed());
        self.context
            .count(|counters| &counters.bytes_overflowed, written);
        Ok(())
    }

    /// [`Self::writing`], but for reads, after which `bytes_read` gives the number of bytes.
    pub(crate) fn reading<T>(
        &self,
        read: impl FnOnce() -> Result<T>,
        bytes_read: impl FnOnce(&T) -> usize,
    ) -> Result<T> {
        let begin = Instant::now();
        let result = read()?;
        let bytes = bytes_read(&result) as u64;
        if bytes > 0 {
            self.record.add_read(bytes, begin.elapsed());
        }
        Ok(result)
    }

    /// Reads an extent into a block; call it within [`Self::reading`]. The block is a working set, without which no
    /// progress is possible; callers keep what they read at once small in proportion to the limit.
    pub(crate) fn read_extent(&self, extent: &Extent) -> Result<Block> {
        self.context.check_interrupt()?;
        let mut block = self.take_working_set(extent.len())?;
        extent.read(block.as_mut_slice())?;
        Ok(block)
    }

    /// Whether the table has the rows after which its writers leave nothing in memory.
    pub(crate) fn has_too_many_rows(&self) -> bool {
        let most = self.context.options().spill_after_rows;
        most.is_some_and(|most| most == 0 || self.record.rows() > most)
    }

    /// Whether anything ever went to a temporary file.
    pub(crate) fn has_overflowed(&self) -> bool {
        self.record.has_overflowed()
    }

    /// Columns of rows for a reader of the table.
    ///
    /// # Safety
    /// Each of `rows` is a row of the store whose values are in memory.
    #[expect(unsafe_code, reason = "rows are raw bytes; see the layout")]
    pub(crate) unsafe fn read(
        &self,
        gather: &mut Gather,
        rows: &[*const u8],
        columns: impl Iterator<Item = usize>,
    ) -> Batch {
        let count = rows.len();
        self.context
            .count(|counters| &counters.rows_read, count as u64);
        // SAFETY: as promised by the caller.
        let columns = unsafe { gather.columns(&self.layout, &self.directory, rows, columns) };
        Batch::new(columns, count)
    }

    /// Asks idle holders under the limit that refuses `bytes` to release memory; returns whether any did. Asks for
    /// more than is needed now, so that this is rare.
    pub(crate) fn reclaim(&self, bytes: u64) -> bool {
        let Some(refusing) = self.memory.refusing(bytes) else {
            return true;
        };
        let wanted = bytes.max(refusing.limit() / 8);
        let holders = &self.context.resources().registry.holders;
        holders.reclaim(wanted, refusing) > 0
    }

    /// Memory in bytes that the table should plan to hold.
    pub(crate) fn memory_limit(&self) -> u64 {
        self.memory.share()
    }

    /// Memory in bytes that one worker should plan to hold.
    pub(crate) fn worker_share(&self) -> u64 {
        let threads = self.context.options().threads.max(1) as u64;
        (self.memory_limit() / (2 * threads)).max(WORKER_SHARE_MIN)
    }

    /// Bytes that a reader should bring into memory at once, up to a block more or less.
    pub(crate) fn read_ahead_bytes(&self) -> usize {
        let sixteenth = usize::try_from(self.memory_limit() / 16).unwrap_or(usize::MAX);
        sixteenth.clamp(64 << 10, 16 << 20)
    }

    /// A block of a working set, for which idle holders make room.
    pub(crate) fn take_working_set(&self, bytes: usize) -> Result<Block> {
        let resources = self.context.resources();
        resources.make_room(SizeClass::charged(bytes), &self.memory);
        self.pool.take_forced(bytes, &self.memory)
    }

    /// A reservation of a working set.
    pub(crate) fn reserve_working_set(&self, bytes: u64) -> Result<Reservation> {
        self.context.resources().make_room(bytes, &self.memory);
        Ok(self.memory.reserve_forced(bytes)?)
    }
}

/// A handle to a store.
pub(crate) type StoreRef = Arc<Store>;
