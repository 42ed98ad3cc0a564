//! Blocks of one partition, written by one writer.

use std::ops::Range;
use std::sync::Arc;

use mayfly_memory::{Block, Extent, MemoryError, Result, TempFile};

use super::{Store, StoreRef};
use crate::temptable::rows::SharedBlock;

/// Location of a block.
#[derive(Debug)]
enum Location<B> {
    /// In memory, shared with readers, so that the part can overflow while it is read.
    Memory(Arc<B>),
    File(Extent),
    /// Nowhere: the block was drained.
    Freed,
}

impl<B> Location<B> {
    /// The extent, if the block is in a file.
    fn extent(&self) -> Option<&Extent> {
        match self {
            Self::File(extent) => Some(extent),
            Self::Memory(_) | Self::Freed => None,
        }
    }
}

/// Block of consecutive rows.
#[derive(Debug)]
pub(crate) struct RowBlock {
    location: Location<Block>,
    pub(crate) rows: u32,
    /// Range of the part's value blocks that its rows refer to.
    values: Range<u32>,
}

impl RowBlock {
    pub(crate) fn new(block: Block, first_value_block: usize) -> Self {
        let first = first_value_block as u32;
        Self {
            location: Location::Memory(Arc::new(block)),
            rows: 0,
            values: first..first,
        }
    }

    /// The block, if it is in memory.
    pub(crate) fn in_memory(&self) -> Option<&Block> {
        match &self.location {
            Location::Memory(block) => Some(block),
            Location::File(_) | Location::Freed => None,
        }
    }
}

/// Block of values and its directory number, which is freed when this is dropped.
#[derive(Debug)]
pub(crate) struct ValueBlock {
    location: Location<SharedBlock>,
    pub(crate) number: u32,
    store: StoreRef,
}

impl ValueBlock {
    pub(crate) fn new(store: &StoreRef, block: Block) -> (Self, Arc<SharedBlock>) {
        let block = Arc::new(SharedBlock::new(block, 0));
        let number = store.directory.add_heap(Arc::clone(&block));
        let location = Location::Memory(Arc::clone(&block));
        (
            Self {
                location,
                number,
                store: Arc::clone(store),
            },
            block,
        )
    }
}

impl Drop for ValueBlock {
    fn drop(&mut self) {
        self.store.directory.remove(self.number);
    }
}

/// Rows and their values of one partition by one writer.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) rows: Vec<RowBlock>,
    pub(crate) values: Vec<ValueBlock>,
    pub(crate) row_count: u64,
    /// Bytes of blocks in memory.
    pub(crate) memory_bytes: u64,
    /// Bytes in files.
    pub(crate) file_bytes: u64,
}

impl Part {
    /// Sets the final number of rows of the last row block; its values end with the last value block.
    pub(crate) fn close_row_block(&mut self, rows: u32) {
        let end = self.values.len() as u32;
        let block = self
            .rows
            .last_mut()
            .expect("a block that is closed was opened");
        self.row_count += u64::from(rows - block.rows);
        block.rows = rows;
        block.values.end = end;
    }

    /// Tells the system that the blocks in files are read back soon.
    pub(crate) fn will_need(&self) {
        let rows = self.rows.iter().filter_map(|block| block.location.extent());
        let values = self.values.iter();
        let values = values.filter_map(|block| block.location.extent());
        Extent::will_need(rows.chain(values));
    }

    /// Writes all blocks in memory to `file`. Those that are being read stay in memory until then.
    pub(crate) fn overflow(&mut self, store: &Store, file: &TempFile) -> Result<()> {
        store.writing(|| {
            let before = self.file_bytes;
            self.write(store, file)?;
            Ok(self.file_bytes - before)
        })
    }

    fn write(&mut self, store: &Store, file: &TempFile) -> Result<()> {
        for index in 0..self.rows.len() {
            let block = &mut self.rows[index];
            let Location::Memory(memory) = &block.location else {
                continue;
            };
            store.context.check_interrupt()?;
            let length = block.rows as usize * store.layout.width;
            let size = memory.len() as u64;
            let rows = &memory.as_slice()[..length];
            block.location = Location::File(store.write(file, rows)?);
            self.memory_bytes -= size;
            self.file_bytes += length as u64;
        }
        for value in &mut self.values {
            let Location::Memory(memory) = &value.location else {
                continue;
            };
            store.context.check_interrupt()?;
            let (size, length) = (memory.capacity() as u64, memory.used() as u64);
            let extent = store.write(file, memory.written())?;
            store.directory.unload(value.number);
            value.location = Location::File(extent);
            self.memory_bytes -= size;
            self.file_bytes += length;
        }
        Ok(())
    }

    /// Bytes of the part when it is in memory as a whole.
    pub(crate) fn total_bytes(&self) -> u64 {
        self.memory_bytes + self.file_bytes
    }

    /// Appends the addresses of all rows of a part that is in memory.
    pub(crate) fn push_rows(&self, store: &Store, rows: &mut Vec<*const u8>) {
        for block in &self.rows {
            let memory = block.in_memory().expect("the part was brought into memory");
            let start = memory.as_ptr().cast_const();
            let width = store.layout.width;
            rows.extend((0..block.rows as usize).map(|row| start.wrapping_add(row * width)));
        }
    }

    /// Pins a row block and its values in memory, reading them if necessary.
    pub(crate) fn load_block(&self, index: usize, store: &StoreRef) -> Result<LoadedBlock> {
        let block = &self.rows[index];
        if block.in_memory().is_some() && block.values.is_empty() {
            return self.read_block(index, store);
        }
        store.reading(|| self.read_block(index, store), LoadedBlock::bytes_read)
    }

    fn read_block(&self, index: usize, store: &StoreRef) -> Result<LoadedBlock> {
        let block = &self.rows[index];
        let range = block.values.start as usize..block.values.end as usize;
        let mut values = LoadedValues::none(store);
        for value in &self.values[range] {
            values.add(value)?;
        }
        let mut bytes_read = values.bytes_read;
        let memory = match &block.location {
            Location::Memory(memory) => Arc::clone(memory),
            Location::File(extent) => {
                bytes_read += extent.len();
                Arc::new(store.read_extent(extent)?)
            }
            Location::Freed => unreachable!("a part is drained once"),
        };
        Ok(LoadedBlock {
            block: memory,
            rows: block.rows,
            bytes_read,
            values,
        })
    }

    /// Brings the whole part into memory: its row blocks permanently, its values for as long as the result lives.
    pub(crate) fn load_all(&mut self, store: &StoreRef) -> Result<LoadedValues> {
        let before = self.file_bytes;
        let (values, _) = store.reading(
            || {
                let values = self.read_all(store)?;
                Ok((values, self.file_bytes))
            },
            |(values, left)| values.bytes_read + (before - left) as usize,
        )?;
        Ok(values)
    }

    fn read_all(&mut self, store: &StoreRef) -> Result<LoadedValues> {
        let mut values = LoadedValues::none(store);
        for value in &self.values {
            values.add(value)?;
        }
        for block in &mut self.rows {
            if let Location::File(extent) = &block.location {
                let memory = store.read_extent(extent)?;
                self.file_bytes -= extent.len() as u64;
                self.memory_bytes += memory.len() as u64;
                block.location = Location::Memory(Arc::new(memory));
            }
        }
        Ok(values)
    }
}

impl Part {
    /// Calls a function with all rows, a row block at a time, and frees blocks that are not needed any more.
    pub(crate) fn drain(
        self,
        store: &StoreRef,
        mut take: impl FnMut(&[*const u8]) -> Result<()>,
    ) -> Result<()> {
        let mut part = self;
        let mut pointers = Vec::new();
        let mut first_needed = 0;
        for index in 0..part.rows.len() {
            let loaded = part.load_block(index, store)?;
            pointers.clear();
            loaded.push_rows(&mut pointers);
            take(&pointers)?;
            drop(loaded);
            let next = part
                .rows
                .get(index + 1)
                .map_or(part.values.len(), |next| next.values.start as usize);
            part.rows[index].location = Location::Freed;
            for value in &mut part.values[first_needed..next.max(first_needed)] {
                value.location = Location::Freed;
                store.directory.unload(value.number);
            }
            first_needed = next.max(first_needed);
        }
        Ok(())
    }
}

/// Guard that pins value blocks in memory.
pub(crate) struct LoadedValues {
    numbers: Vec<u32>,
    /// Bytes that were read for them.
    bytes_read: usize,
    store: StoreRef,
}

impl LoadedValues {
    fn none(store: &StoreRef) -> Self {
        Self {
            numbers: Vec::new(),
            bytes_read: 0,
            store: Arc::clone(store),
        }
    }

    fn add(&mut self, value: &ValueBlock) -> Result<()> {
        let (store, bytes_read) = (&self.store, &mut self.bytes_read);
        store
            .directory
            .load(value.number, || match &value.location {
                Location::File(extent) => {
                    *bytes_read += extent.len();
                    let block = store.read_extent(extent)?;
                    Ok::<_, MemoryError>(SharedBlock::new(block, extent.len()))
                }
                Location::Memory(_) | Location::Freed => {
                    unreachable!("what is not in the directory is in a file")
                }
            })?;
        self.numbers.push(value.number);
        Ok(())
    }
}

impl Drop for LoadedValues {
    fn drop(&mut self) {
        for number in self.numbers.drain(..) {
            self.store.directory.release(number);
        }
    }
}

/// Guard that pins a row block with its values in memory.
pub(crate) struct LoadedBlock {
    block: Arc<Block>,
    rows: u32,
    bytes_read: usize,
    values: LoadedValues,
}

impl LoadedBlock {
    pub(crate) fn row_count(&self) -> usize {
        self.rows as usize
    }

    /// Bytes that were read for it.
    pub(crate) fn bytes_read(&self) -> usize {
        self.bytes_read
    }

    /// Appends the addresses of all rows.
    pub(crate) fn push_rows(&self, rows: &mut Vec<*const u8>) {
        let (start, width) = (
            self.block.as_ptr().cast_const(),
            self.values.store.layout.width,
        );
        rows.extend((0..self.rows as usize).map(|row| start.wrapping_add(row * width)));
    }
}
