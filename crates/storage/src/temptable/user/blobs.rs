//! Long values of rows, in append-only blocks.
//!
//! Written bytes never change while a block lives, so that batches can share them. A block is freed with the last row
//! that has a value in it; older snapshots and batches keep it longer. [`Blobs::is_sparse`] tells when much of the
//! blocks belongs to deleted rows; then the table moves what is left (see
//! [`Content::compact`](super::content::Content::compact)).

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use mayfly_memory::sync::lock;
use mayfly_memory::{Block, Extent, MemoryError, Result};

use super::pages::Pager;
use crate::temptable::rows::{Directory, SharedBlock, View};

const FIRST_BLOCK: usize = 4 << 10;
/// Size in bytes of a block that is compressed in a file: smaller ones would save no pages of the file.
pub(super) const COMPRESSED_BLOCK: usize = 32 << 10;
/// Minimum number of bytes of deleted rows that is worth compaction.
const SPARSE_MIN: u64 = 256 << 10;

#[derive(Debug)]
struct BlobBlock {
    number: u32,
    directory: Arc<Directory>,
    capacity: u64,
    /// Bytes intended for values: a block with a single value may leave much of it unused.
    room: u64,
    /// Bytes of values of existing rows.
    live: AtomicU64,
    touched: AtomicBool,
    extent: Mutex<Option<Extent>>,
}

impl BlobBlock {
    fn extent(&self) -> MutexGuard<'_, Option<Extent>> {
        lock(&self.extent)
    }

    /// Changes the number of live bytes; the caller has locked the table for writing.
    fn add_live(&self, bytes: i64) {
        let live = self.live.load(Ordering::Relaxed);
        let live = live.wrapping_add_signed(bytes);
        self.live.store(live, Ordering::Relaxed);
    }

    /// Pins the block in memory until it is released.
    fn load(&self, pager: &Pager) -> Result<()> {
        self.touched.store(true, Ordering::Relaxed);
        self.directory.load(self.number, || {
            let extent = self.extent();
            let extent = extent.as_ref().ok_or(MemoryError::Interrupted)?;
            let mut block: Block = pager.take(extent.len())?;
            extent.read(block.as_mut_slice())?;
            Ok(SharedBlock::new(block, extent.len()))
        })
    }
}

impl Drop for BlobBlock {
    fn drop(&mut self) {
        self.directory.remove(self.number);
    }
}

/// Guard that pins blocks in memory.
#[derive(Debug)]
pub(super) struct Loaded {
    directory: Arc<Directory>,
    numbers: Vec<u32>,
}

impl Drop for Loaded {
    fn drop(&mut self) {
        for number in self.numbers.drain(..) {
            self.directory.release(number);
        }
    }
}

/// Blocks of long values. A clone is a snapshot.
#[derive(Debug, Clone)]
pub(super) struct Blobs {
    pub(super) directory: Arc<Directory>,
    /// Blocks by number.
    blocks: Arc<Vec<Option<Arc<BlobBlock>>>>,
    /// The block that is appended to.
    open: Option<(Arc<SharedBlock>, u32)>,
    /// Bytes of all blocks; `live`: of the values of existing rows.
    written: u64,
    live: u64,
    /// Size of a block in bytes.
    block_length: usize,
    /// Blocks that may be in memory without readers, the next candidate for eviction first.
    residents: Arc<Mutex<VecDeque<u32>>>,
}

impl Blobs {
    /// No values, in blocks of `block_length` bytes: a value is read from a file together with its block.
    pub(super) fn new(block_length: usize) -> Self {
        Self {
            directory: Arc::default(),
            blocks: Arc::default(),
            open: None,
            written: 0,
            live: 0,
            block_length: block_length.max(FIRST_BLOCK),
            residents: Arc::default(),
        }
    }

    /// Whether [`Self::clear`] does: there is no block but the open one.
    pub(super) fn is_clearable(&self) -> bool {
        self.written == self.open_block().map_or(0, |block| block.room)
    }

    /// Releases all values. The open block goes on being filled: written bytes do not change.
    pub(super) fn clear(&mut self) {
        if let Some(block) = self.open_block() {
            block.live.store(0, Ordering::Relaxed);
        }
        self.live = 0;
    }

    pub(super) fn block_length(&self) -> usize {
        self.block_length
    }

    fn block(&self, number: u32) -> Option<&Arc<BlobBlock>> {
        self.blocks.get(number as usize)?.as_ref()
    }

    fn open_block(&self) -> Option<&Arc<BlobBlock>> {
        let (_, number) = self.open.as_ref()?;
        self.block(*number)
    }

    /// Copies a value to a block; returns the view of the copy.
    pub(super) fn append(&mut self, pager: &Pager, view: View, value: &[u8]) -> Result<View> {
        let room = match &self.open {
            Some((block, _)) => block.room(),
            None => 0,
        };
        let alone = value.len() > self.block_length / 2;
        if room < value.len() || alone {
            let length = if alone {
                value.len()
            } else if self.written == 0 {
                FIRST_BLOCK.max(value.len())
            } else {
                self.block_length
            };
            let opened = self.add_block(pager, length)?;
            if alone {
                return Ok(self.append_to(&opened, view, value));
            }
            self.close();
            self.open = Some(opened);
        }
        let open = self.open.take().expect("opened above when there was none");
        let view = self.append_to(&open, view, value);
        self.open = Some(open);
        Ok(view)
    }

    #[expect(unsafe_code, reason = "appends to a block that readers may share")]
    fn append_to(
        &mut self,
        (block, number): &(Arc<SharedBlock>, u32),
        view: View,
        value: &[u8],
    ) -> View {
        // SAFETY: the table is locked for writing.
        let offset = unsafe { block.append(value) };
        if let Some(block) = self.block(*number) {
            block.add_live(value.len() as i64);
        }
        self.live += value.len() as u64;
        view.at(*number, offset)
    }

    fn add_block(&mut self, pager: &Pager, length: usize) -> Result<(Arc<SharedBlock>, u32)> {
        let block = pager.take(length)?;
        let capacity = block.len() as u64;
        let shared = Arc::new(SharedBlock::new(block, 0));
        let number = self.directory.add_heap(Arc::clone(&shared));
        let added = Arc::new(BlobBlock {
            number,
            directory: Arc::clone(&self.directory),
            capacity,
            room: length as u64,
            live: AtomicU64::new(0),
            touched: AtomicBool::new(true),
            extent: Mutex::new(None),
        });
        let blocks = Arc::make_mut(&mut self.blocks);
        let index = number as usize;
        if blocks.len() <= index {
            blocks.resize(index + 1, None);
        }
        blocks[index] = Some(added);
        lock(&self.residents).push_back(number);
        self.written += length as u64;
        Ok((shared, number))
    }

    /// Ends appending to the open block.
    fn close(&mut self) {
        if let Some((_, number)) = self.open.take() {
            self.remove_if_dead(number);
        }
    }

    /// Releases a value of a row.
    pub(super) fn free(&mut self, view: View) {
        let number = view.buffer();
        let length = u64::from(view.length());
        self.live -= length;
        if let Some(block) = self.block(number) {
            block.add_live(-(length as i64));
        }
        if self.open.as_ref().is_none_or(|(_, open)| *open != number) {
            self.remove_if_dead(number);
        }
    }

    fn remove_if_dead(&mut self, number: u32) {
        let Some(block) = self.block(number) else {
            return;
        };
        if block.live.load(Ordering::Relaxed) == 0 {
            self.written -= block.room;
            Arc::make_mut(&mut self.blocks)[number as usize] = None;
        }
    }

    /// Whether most of the blocks' bytes belong to deleted rows.
    pub(super) fn is_sparse(&self) -> bool {
        self.written > SPARSE_MIN && self.written / 2 > self.live
    }

    /// Whether most bytes of a value's block belong to deleted rows.
    pub(super) fn is_in_sparse_block(&self, view: View) -> bool {
        let number = view.buffer();
        self.open.as_ref().is_none_or(|(_, open)| *open != number)
            && self.block(number).is_some_and(|block| {
                block.live.load(Ordering::Relaxed) < block.room - block.room / 4
            })
    }

    /// Pins the blocks of values in memory.
    pub(super) fn load(&self, pager: &Pager, views: impl Iterator<Item = View>) -> Result<Loaded> {
        let mut loaded = self.loaded();
        self.load_more(pager, views, &mut loaded)?;
        Ok(loaded)
    }

    /// A guard without blocks.
    pub(super) fn loaded(&self) -> Loaded {
        Loaded {
            directory: Arc::clone(&self.directory),
            numbers: Vec::new(),
        }
    }

    /// [`Self::load`], but adds to a guard.
    pub(super) fn load_more(
        &self,
        pager: &Pager,
        views: impl Iterator<Item = View>,
        loaded: &mut Loaded,
    ) -> Result<()> {
        if !pager.has_overflowed() {
            return Ok(());
        }
        for view in views {
            let number = view.buffer();
            if view.is_inline() || loaded.numbers.last() == Some(&number) {
                continue;
            }
            if let Some(block) = self.block(number) {
                block.load(pager)?;
                loaded.numbers.push(number);
            }
        }
        Ok(())
    }

    /// Evicts blocks, as [`PageSet::evict`](super::pages::PageSet::evict) does.
    pub(super) fn evict(&mut self, pager: &Pager, wanted: u64, any: bool) -> Result<u64> {
        let mut freed = 0;
        let open = self.open.as_ref().map(|(_, number)| *number);
        let mut residents = lock(&self.residents);
        for _ in 0..residents.len() {
            if freed >= wanted {
                break;
            }
            pager.check_interrupt()?;
            let Some(number) = residents.pop_front() else {
                break;
            };
            let Some(block) = self.block(number) else {
                continue;
            };
            if self.directory.address(number).is_null() {
                continue;
            }
            let was_touched = block.touched.swap(false, Ordering::Relaxed);
            if was_touched && !any || Some(number) == open {
                residents.push_back(number);
                continue;
            }
            let mut extent = block.extent();
            if extent.is_none() {
                let buffers = self.directory.buffers(&[number]);
                let Some(bytes) = buffers.first() else {
                    continue;
                };
                let written = match pager.file().write(bytes.as_slice()) {
                    Ok(written) => written,
                    Err(error) => {
                        residents.push_back(number);
                        return Err(error);
                    }
                };
                pager
                    .bytes_overflowed
                    .fetch_add(written.len() as u64, Ordering::Relaxed);
                *extent = Some(written);
            }
            self.directory.unload(number);
            freed += block.capacity;
        }
        Ok(freed)
    }
}
