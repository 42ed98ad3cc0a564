//! Directory of the buffers that hold a table's long values, by number.
//!
//! A cell names its value as (buffer number, offset). Three kinds of numbers:
//! - plain: a *heap block* of the table, filled by one writer, owned by one partition. It may be in
//!   a temporary file for a while and return to another address under its number;
//! - with [`SOURCE`]: a buffer of a base table's chunk that stays where it is; the directory keeps it alive;
//! - with [`TRANSIENT`]: a buffer of the batch being appended. Only in rows on their way into a table.
//!
//! Address lookups take no lock: addresses are in arrays that never move, the n-th array twice as long as the one
//! before.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, RwLock};

use arrow_buffer::Buffer;
use mayfly_memory::Block;
use mayfly_memory::sync::{read_lock, write_lock};

/// Flag of the number of a buffer that the table does not own and that stays in place.
pub(crate) const SOURCE: u32 = 1 << 30;
/// Flag of the number of a buffer of the batch being appended.
pub(crate) const TRANSIENT: u32 = 1 << 31;
/// Mask that removes the flag of a transient buffer's number.
pub(crate) const TRANSIENT_MASK: u32 = !TRANSIENT;
/// Exclusive upper bound of the numbers of heap blocks.
pub(crate) const HEAP_ID_MAX: u32 = SOURCE;

pub(crate) fn is_source(buffer: u32) -> bool {
    buffer & (SOURCE | TRANSIENT) == SOURCE
}

pub(crate) fn is_transient(buffer: u32) -> bool {
    buffer & TRANSIENT != 0
}

/// Heap block, which may outlive its table inside a batch that was returned.
#[derive(Debug)]
pub(crate) struct SharedBlock {
    block: Block,
    /// Number of written bytes. Bytes below never change again.
    used: AtomicUsize,
}

impl SharedBlock {
    pub(crate) fn new(block: Block, used: usize) -> Self {
        Self {
            block,
            used: AtomicUsize::new(used),
        }
    }

    pub(crate) fn used(&self) -> usize {
        self.used.load(Ordering::Acquire)
    }

    /// Number of bytes that can still be appended.
    pub(crate) fn room(&self) -> usize {
        self.capacity() - self.used()
    }

    /// Appends a value for which there is room; returns its offset.
    ///
    /// # Safety
    /// Nobody else appends to the block at the same time.
    #[expect(unsafe_code, reason = "readers may share the bytes before")]
    #[inline]
    pub(crate) unsafe fn append(&self, value: &[u8]) -> u32 {
        let offset = self.used();
        debug_assert!(
            value.len() <= self.room(),
            "the caller saw that there is room"
        );
        // SAFETY: there is room; bytes from `used` on are not visible to readers yet.
        unsafe {
            let end = self.as_ptr().add(offset);
            end.copy_from_nonoverlapping(value.as_ptr(), value.len());
        }
        self.used.store(offset + value.len(), Ordering::Release);
        offset as u32
    }

    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.block.as_ptr()
    }

    pub(crate) fn capacity(&self) -> usize {
        self.block.len()
    }

    /// The written bytes.
    #[expect(
        unsafe_code,
        reason = "the writer may be filling the rest of the block meanwhile"
    )]
    pub(crate) fn written(&self) -> &[u8] {
        // SAFETY: bytes below `used` are initialised and do not change while the block lives.
        unsafe { std::slice::from_raw_parts(self.block.as_ptr(), self.used()) }
    }

    /// The written bytes as an Arrow buffer that keeps the block alive.
    #[expect(
        unsafe_code,
        reason = "hands the block's bytes to Arrow without a copy"
    )]
    pub(crate) fn buffer(self: &Arc<Self>) -> Buffer {
        let start = std::ptr::NonNull::new(self.as_ptr()).expect("a block has an address");
        let owner = Arc::new(std::panic::AssertUnwindSafe(Arc::clone(self)));
        // SAFETY: `used` bytes from `start` are initialised and, as in `written`, never change; they
        // live as long as `owner`.
        unsafe { Buffer::from_custom_allocation(start, self.used(), owner) }
    }
}

const FIRST_CHUNK: u32 = 64;
const CHUNKS: usize = 25;

/// Growable array of addresses by number.
#[derive(Debug, Default)]
struct Addresses {
    chunks: [OnceLock<Box<[AtomicPtr<u8>]>>; CHUNKS],
}

impl Addresses {
    fn chunk_of(number: u32) -> (usize, usize) {
        let shifted = number + FIRST_CHUNK;
        let chunk = shifted.ilog2() - FIRST_CHUNK.ilog2();
        (chunk as usize, (shifted - (FIRST_CHUNK << chunk)) as usize)
    }

    fn get(&self, number: u32) -> *const u8 {
        let (chunk, index) = Self::chunk_of(number);
        match self.chunks[chunk].get() {
            Some(chunk) => chunk[index].load(Ordering::Relaxed),
            None => null_mut(),
        }
    }

    fn set(&self, number: u32, address: *mut u8) {
        let (chunk, index) = Self::chunk_of(number);
        let addresses = self.chunks[chunk].get_or_init(|| {
            let length = (FIRST_CHUNK as usize) << chunk;
            (0..length).map(|_| AtomicPtr::new(null_mut())).collect()
        });
        addresses[index].store(address, Ordering::Relaxed);
    }
}

/// Entry of a heap block, in use from [`Directory::add_heap`] to [`Directory::remove`], and as long as it has readers:
/// a scan that ends early may outlive the rows that it was reading.
#[derive(Debug)]
struct HeapEntry {
    block: Option<Arc<SharedBlock>>,
    /// Number of readers: the block leaves memory with the last one, unless it is resident.
    readers: u32,
    /// Whether the block stays in memory without readers.
    is_resident: bool,
    /// Whether rows refer to the block.
    is_named: bool,
}

impl HeapEntry {
    fn resident(block: Arc<SharedBlock>) -> Self {
        Self {
            block: Some(block),
            readers: 0,
            is_resident: true,
            is_named: true,
        }
    }
}

#[derive(Debug, Default)]
struct Entries {
    heap: Vec<HeapEntry>,
    unused_heap: Vec<u32>,
    sources: Vec<Buffer>,
}

/// Directory of one table's buffers.
#[derive(Debug, Default)]
pub(crate) struct Directory {
    heap: Addresses,
    sources: Addresses,
    entries: RwLock<Entries>,
}

impl Directory {
    /// The address of a buffer that is in memory; not for transient numbers.
    pub(crate) fn address(&self, buffer: u32) -> *const u8 {
        if is_source(buffer) {
            self.sources.get(buffer & !SOURCE)
        } else {
            self.heap.get(buffer)
        }
    }

    /// Registers a buffer that stays in place; returns its number.
    pub(crate) fn add_source(&self, buffer: Buffer) -> u32 {
        let mut entries = write_lock(&self.entries);
        let number = entries.sources.len() as u32;
        self.sources.set(number, buffer.as_ptr().cast_mut());
        entries.sources.push(buffer);
        SOURCE | number
    }

    /// Registers a heap block; returns its number.
    pub(crate) fn add_heap(&self, block: Arc<SharedBlock>) -> u32 {
        let mut entries = write_lock(&self.entries);
        let address = block.as_ptr();
        let number = match entries.unused_heap.pop() {
            Some(number) => {
                entries.heap[number as usize] = HeapEntry::resident(block);
                number
            }
            None => {
                entries.heap.push(HeapEntry::resident(block));
                (entries.heap.len() - 1) as u32
            }
        };
        assert!(
            number < HEAP_ID_MAX,
            "a table has fewer than 2^30 heap blocks"
        );
        self.heap.set(number, address);
        number
    }

    /// Releases a block's memory, with its last reader if it has any; its number stays in use.
    pub(crate) fn unload(&self, number: u32) {
        let mut entries = write_lock(&self.entries);
        entries.heap[number as usize].is_resident = false;
        self.release_unused(&mut entries, number);
    }

    /// Frees the memory of a block without readers, and its number if no row refers to it either.
    fn release_unused(&self, entries: &mut Entries, number: u32) {
        let entry = &mut entries.heap[number as usize];
        if entry.readers > 0 || entry.is_resident {
            return;
        }
        entry.block = None;
        self.heap.set(number, null_mut());
        if !entry.is_named {
            entries.unused_heap.push(number);
        }
    }

    /// Pins a block in memory for a reader: brings it back under its number with `read` when it is in a file. Each
    /// success is paired with one [`Self::release`].
    pub(crate) fn load<E>(
        &self,
        number: u32,
        read: impl FnOnce() -> Result<SharedBlock, E>,
    ) -> Result<(), E> {
        {
            let mut entries = write_lock(&self.entries);
            let entry = &mut entries.heap[number as usize];
            if entry.block.is_some() {
                entry.readers += 1;
                return Ok(());
            }
        }
        // Reads without the lock, so that others can read at the same time. If another reader was faster, its block
        // stays and this one is dropped.
        let block = Arc::new(read()?);
        let mut entries = write_lock(&self.entries);
        let entry = &mut entries.heap[number as usize];
        if entry.block.is_none() {
            self.heap.set(number, block.as_ptr());
            entry.block = Some(block);
        }
        entry.readers += 1;
        Ok(())
    }

    /// Ends a use begun by [`Self::load`]. The last one frees memory that is not resident, unless a returned batch
    /// still holds it.
    pub(crate) fn release(&self, number: u32) {
        let mut entries = write_lock(&self.entries);
        entries.heap[number as usize].readers -= 1;
        self.release_unused(&mut entries, number);
    }

    /// Notes that no row refers to a number any more.
    pub(crate) fn remove(&self, number: u32) {
        let mut entries = write_lock(&self.entries);
        let entry = &mut entries.heap[number as usize];
        (entry.is_named, entry.is_resident) = (false, false);
        self.release_unused(&mut entries, number);
    }

    /// The Arrow buffers of these numbers, none transient, all in memory.
    pub(crate) fn buffers(&self, numbers: &[u32]) -> Vec<Buffer> {
        let entries = read_lock(&self.entries);
        let buffer = |number: &u32| {
            if is_source(*number) {
                entries.sources[(number & !SOURCE) as usize].clone()
            } else {
                let block = entries.heap[*number as usize].block.as_ref();
                block
                    .expect("the partition that is read is in memory")
                    .buffer()
            }
        };
        numbers.iter().map(buffer).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_stay_under_their_numbers() {
        let addresses = Addresses::default();
        for number in 0..100_000_u32 {
            if number < 1000 || number % 997 == 0 {
                addresses.set(
                    number,
                    std::ptr::without_provenance_mut(number as usize + 1),
                );
            }
        }
        for number in (0..100_000).filter(|number| number % 997 == 0) {
            assert_eq!(addresses.get(number).addr(), number as usize + 1);
        }
        assert!(addresses.get(1001).is_null());
    }
}
