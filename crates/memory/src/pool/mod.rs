//! Reused blocks of memory.
//!
//! The kernel clears a page when it is first touched. In the prototype of the headline query the
//! partition pass took 134 ms with fresh memory and 36 ms with memory that had been used before,
//! so blocks go back to a pool and out again, across statements and sessions.
//!
//! Blocks come in a few size classes, so that a one-row table holds 4 KiB and a large table does not consist of a
//! million small pieces: a table takes blocks of the next class as it grows. A request that fits no class is an
//! allocation of its own and is not reused.
//!
//! A class cuts its blocks out of slabs of at most 64 blocks (a bitmap each). Slabs of the larger
//! classes are 2 MiB, aligned, and advised to be huge pages: that makes even their first touch
//! several times cheaper. A slab whose blocks are all free is *empty*; empty slabs are reused up to
//! [`PoolOptions::idle_limit`], for some seconds after use up to [`PoolOptions::recent_limit`] ([`decay`]), and then
//! returned to the system. Idle bytes are counted, charged to no statement, and can be trimmed.

#![expect(unsafe_code, reason = "a block is mapped memory that it owns")]

use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::budget::{Budget, Reservation};
use crate::error::{MemoryError, Result};
use crate::sync::lock;

mod decay;
mod pages;

use pages::Pages;

/// The sizes of blocks that are reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SizeClass {
    /// 4 KiB: the first block of everything.
    Small,
    /// 32 KiB
    Medium,
    /// 256 KiB: the unit of large tables and of temp-file I/O.
    Large,
    /// 2 MiB, one huge page: strings of base tables, large hash tables. No table grows into it.
    Huge,
}

impl SizeClass {
    /// All classes, smallest first.
    pub const ALL: [Self; 4] = [Self::Small, Self::Medium, Self::Large, Self::Huge];

    /// The classes that a growing table goes through.
    pub const GROWING: [Self; 3] = [Self::Small, Self::Medium, Self::Large];

    /// The size of a block.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Small => 4 << 10,
            Self::Medium => 32 << 10,
            Self::Large => 256 << 10,
            Self::Huge => pages::HUGE_PAGE_BYTES,
        }
    }

    /// The smallest class that holds `bytes` without wasting more than half of a huge page.
    pub fn holding(bytes: usize) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|class| class.bytes() >= bytes)
            .filter(|class| *class != Self::Huge || bytes >= pages::HUGE_PAGE_BYTES / 2)
    }

    /// Bytes charged for a block of at least `bytes`.
    pub fn charged(bytes: usize) -> u64 {
        Self::holding(bytes).map_or(bytes, Self::bytes) as u64
    }

    /// The class before this one; the smallest has none.
    pub const fn smaller(self) -> Self {
        match self {
            Self::Small | Self::Medium => Self::Small,
            Self::Large => Self::Medium,
            Self::Huge => Self::Large,
        }
    }

    /// The class that a growing table takes after this one.
    pub const fn next(self) -> Self {
        match self {
            Self::Small => Self::Medium,
            Self::Medium | Self::Large => Self::Large,
            Self::Huge => Self::Huge,
        }
    }

    const fn slab_bytes(self) -> usize {
        match self {
            Self::Small => 256 << 10,
            Self::Medium | Self::Large | Self::Huge => pages::HUGE_PAGE_BYTES,
        }
    }

    const fn blocks_per_slab(self) -> u32 {
        (self.slab_bytes() / self.bytes()) as u32
    }

    const fn all_free(self) -> u64 {
        u64::MAX >> (64 - self.blocks_per_slab())
    }
}

const _: () = assert!(SizeClass::Small.blocks_per_slab() <= 64);
const _: () = assert!(SizeClass::Medium.blocks_per_slab() <= 64);

/// Options of a pool.
#[derive(Debug, Clone, Copy)]
pub struct PoolOptions {
    /// Bytes of empty slabs that are kept for reuse.
    pub idle_limit: u64,
    /// Bytes of empty slabs that are kept as long as they are reused every few seconds.
    pub recent_limit: u64,
}

impl PoolOptions {
    /// Options that keep `idle_limit` bytes of empty slabs, however long ago they were used.
    pub fn keeping(idle_limit: u64) -> Self {
        Self {
            idle_limit,
            recent_limit: idle_limit,
        }
    }
}

struct Slab {
    pages: Pages,
    /// Bit set of the free blocks.
    free: u64,
    /// Index of this slab in `ClassState::partial`, while it is there.
    partial_index: u32,
}

/// Slabs of one class. A slab is *full* (in no list), *partial* or *empty*.
#[derive(Default)]
struct ClassState {
    slabs: Vec<Option<Slab>>,
    unused_slots: Vec<u32>,
    partial: Vec<u32>,
    empty: Vec<u32>,
}

struct PoolInner {
    classes: [Mutex<ClassState>; 4],
    options: PoolOptions,
    /// Number of times that an empty slab was reused.
    reused: AtomicU64,
    /// Whether a thread is running that returns slabs above the idle limit.
    is_decaying: AtomicBool,
    live_bytes: AtomicU64,
    empty_bytes: AtomicU64,
    mapped_bytes: AtomicU64,
}

/// A pool of blocks. Cloning gives another handle.
#[derive(Clone)]
pub struct BlockPool(Arc<PoolInner>);

impl std::fmt::Debug for BlockPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockPool")
            .field("live_bytes", &self.live_bytes())
            .field("mapped_bytes", &self.mapped_bytes())
            .finish()
    }
}

impl BlockPool {
    /// An empty pool.
    pub fn new(options: PoolOptions) -> Self {
        Self(Arc::new(PoolInner {
            classes: Default::default(),
            options,
            reused: AtomicU64::new(0),
            is_decaying: AtomicBool::new(false),
            live_bytes: AtomicU64::new(0),
            empty_bytes: AtomicU64::new(0),
            mapped_bytes: AtomicU64::new(0),
        }))
    }

    /// A block of at least `bytes`, charged to `budget`: of the smallest class that holds them, or an allocation of its
    /// own. Its content is undefined: that of its last use.
    pub fn take(&self, bytes: usize, budget: &Budget) -> Result<Block> {
        self.take_reserved(bytes, budget.reserve(SizeClass::charged(bytes))?)
    }

    /// [`Self::take`] for a working set; see [`Budget::reserve_forced`].
    pub fn take_forced(&self, bytes: usize, budget: &Budget) -> Result<Block> {
        self.take_reserved(bytes, budget.reserve_forced(SizeClass::charged(bytes))?)
    }

    /// Bytes of blocks in use.
    pub fn live_bytes(&self) -> u64 {
        self.0.live_bytes.load(Ordering::Relaxed)
    }

    /// Bytes taken from the system: live, free parts of slabs in use, and empty slabs.
    pub(crate) fn mapped_bytes(&self) -> u64 {
        self.0.mapped_bytes.load(Ordering::Relaxed)
    }

    /// Bytes of empty slabs that wait for reuse.
    pub(crate) fn idle_bytes(&self) -> u64 {
        self.0.empty_bytes.load(Ordering::Relaxed)
    }

    /// Returns empty slabs to the system until at most `idle` bytes of them are left.
    pub fn trim(&self, idle: u64) {
        for class in SizeClass::ALL.into_iter().rev() {
            while self.idle_bytes() > idle {
                let pages = self.0.remove_empty(&mut self.0.lock(class), class);
                if pages.is_none() {
                    break;
                }
            }
        }
    }

    fn take_reserved(&self, bytes: usize, reservation: Reservation) -> Result<Block> {
        let (start, length, origin) = match SizeClass::holding(bytes) {
            Some(class) => {
                let (start, slab_index) = self.0.take_slot(class)?;
                (start, class.bytes(), Origin::Slab { class, slab_index })
            }
            None => {
                let pages = Pages::map(bytes, false).ok_or(MemoryError::OutOfMemory { bytes })?;
                let mapped = &self.0.mapped_bytes;
                mapped.fetch_add(bytes as u64, Ordering::Relaxed);
                (pages.start(), bytes, Origin::Own(pages))
            }
        };
        let live = &self.0.live_bytes;
        live.fetch_add(length as u64, Ordering::Relaxed);
        Ok(Block {
            start,
            length,
            origin,
            pool: Arc::clone(&self.0),
            _reservation: reservation,
        })
    }
}

impl PoolInner {
    fn lock(&self, class: SizeClass) -> std::sync::MutexGuard<'_, ClassState> {
        lock(&self.classes[class as usize])
    }

    fn take_slot(&self, class: SizeClass) -> Result<(NonNull<u8>, u32)> {
        let mut state = self.lock(class);
        let state = &mut *state;
        let index = match (state.partial.last(), state.empty.pop()) {
            (Some(&index), empty) => {
                state.empty.extend(empty);
                index
            }
            (None, Some(index)) => {
                self.empty_bytes
                    .fetch_sub(class.slab_bytes() as u64, Ordering::Relaxed);
                self.reused.fetch_add(1, Ordering::Relaxed);
                state.enter_partial(index);
                index
            }
            (None, None) => {
                let bytes = class.slab_bytes();
                let pages = Pages::map(bytes, bytes == pages::HUGE_PAGE_BYTES)
                    .ok_or(MemoryError::OutOfMemory { bytes })?;
                self.mapped_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
                let slab = Slab {
                    pages,
                    free: class.all_free(),
                    partial_index: 0,
                };
                let index = match state.unused_slots.pop() {
                    Some(index) => {
                        state.slabs[index as usize] = Some(slab);
                        index
                    }
                    None => {
                        state.slabs.push(Some(slab));
                        (state.slabs.len() - 1) as u32
                    }
                };
                state.enter_partial(index);
                index
            }
        };
        let slab = state.slab(index);
        let slot = slab.free.trailing_zeros();
        slab.free &= slab.free - 1;
        let full = slab.free == 0;
        let start = slab.pages.at(slot as usize * class.bytes());
        if full {
            state.leave_partial(index);
        }
        Ok((start, index))
    }

    fn give_back(self: &Arc<Self>, class: SizeClass, index: u32, start: NonNull<u8>) {
        let mut state = self.lock(class);
        let slab = state.slab(index);
        let offset = start.as_ptr() as usize - slab.pages.start().as_ptr() as usize;
        let bit = 1_u64 << (offset / class.bytes());
        debug_assert_eq!(slab.free & bit, 0, "a block is given back once");
        let was_full = slab.free == 0;
        slab.free |= bit;
        let empty = slab.free == class.all_free();
        if was_full {
            state.enter_partial(index);
        }
        if empty {
            state.leave_partial(index);
            state.empty.push(index);
            let slab_bytes = class.slab_bytes() as u64;
            let idle = self.empty_bytes.fetch_add(slab_bytes, Ordering::Relaxed) + slab_bytes;
            let is_kept = idle <= self.options.idle_limit
                || idle <= self.options.recent_limit && decay::start(self);
            if !is_kept {
                let pages = self.remove_empty(&mut state, class);
                drop(state);
                drop(pages);
            }
        }
    }

    fn remove_empty(&self, state: &mut ClassState, class: SizeClass) -> Option<Pages> {
        let index = state.empty.pop()?;
        let slab = state.slabs[index as usize]
            .take()
            .expect("an empty slab is in its slot");
        state.unused_slots.push(index);
        self.empty_bytes
            .fetch_sub(class.slab_bytes() as u64, Ordering::Relaxed);
        self.mapped_bytes
            .fetch_sub(class.slab_bytes() as u64, Ordering::Relaxed);
        Some(slab.pages)
    }
}

impl ClassState {
    fn slab(&mut self, index: u32) -> &mut Slab {
        self.slabs[index as usize]
            .as_mut()
            .expect("a slab in use is in its slot")
    }

    fn enter_partial(&mut self, index: u32) {
        let at = self.partial.len() as u32;
        self.partial.push(index);
        self.slab(index).partial_index = at;
    }

    fn leave_partial(&mut self, index: u32) {
        let at = self.slab(index).partial_index;
        self.partial.swap_remove(at as usize);
        if let Some(&moved) = self.partial.get(at as usize) {
            self.slab(moved).partial_index = at;
        }
    }
}

enum Origin {
    Slab {
        class: SizeClass,
        slab_index: u32,
    },
    /// Pages that go back to the system with the block.
    Own(Pages),
}

/// A piece of memory owned by one user until it is dropped: then the block returns to its pool and its bytes to the
/// budget. Its first content is that of its last use.
pub struct Block {
    start: NonNull<u8>,
    length: usize,
    origin: Origin,
    pool: Arc<PoolInner>,
    _reservation: Reservation,
}

// SAFETY: `start` points to `length` bytes that no other block or thread refers to.
unsafe impl Send for Block {}
// SAFETY: `&Block` gives read access only; writing through `as_ptr` is the caller's `unsafe`.
unsafe impl Sync for Block {}

impl Block {
    /// The size in bytes.
    #[expect(clippy::len_without_is_empty, reason = "no block is empty")]
    #[inline]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Pointer to the first byte, which does not move during the life of the block.
    #[inline]
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// The bytes.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: `start` points to `length` mapped, initialised bytes that live as long as `self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }

    /// The bytes, mutably.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_slice`; `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }
}

impl std::fmt::Debug for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Block({} bytes)", self.length)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.pool
            .live_bytes
            .fetch_sub(self.length as u64, Ordering::Relaxed);
        match &self.origin {
            Origin::Slab { class, slab_index } => {
                self.pool.give_back(*class, *slab_index, self.start);
            }
            Origin::Own(pages) => {
                let bytes = pages.requested_bytes() as u64;
                self.pool.mapped_bytes.fetch_sub(bytes, Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::budget::BudgetKind;

    fn pool(idle_limit: u64) -> (BlockPool, Budget) {
        (
            BlockPool::new(PoolOptions::keeping(idle_limit)),
            Budget::unlimited(BudgetKind::Memory),
        )
    }

    #[test]
    fn a_block_is_charged_and_reused() {
        let (pool, budget) = pool(64 << 20);
        let mut block = pool.take(256 << 10, &budget).unwrap();
        block.as_mut_slice().fill(7);
        let address = block.as_ptr();
        assert_eq!(budget.used(), 256 << 10);
        drop(block);
        assert_eq!((budget.used(), pool.live_bytes()), (0, 0));
        assert_eq!(pool.idle_bytes(), 2 << 20);
        let again = pool.take(256 << 10, &budget).unwrap();
        assert_eq!((again.as_ptr(), pool.idle_bytes()), (address, 0));
    }

    #[test]
    fn idle_memory_is_bounded_and_trimmable() {
        let (pool, budget) = pool(4 << 20);
        let blocks: Vec<_> = (0..40)
            .map(|_| pool.take(256 << 10, &budget).unwrap())
            .collect();
        assert_eq!(pool.mapped_bytes(), 10 << 20);
        drop(blocks);
        assert_eq!((pool.idle_bytes(), pool.mapped_bytes()), (4 << 20, 4 << 20));
        pool.trim(0);
        assert_eq!((pool.idle_bytes(), pool.mapped_bytes()), (0, 0));
    }

    #[test]
    fn a_block_above_the_classes_is_its_own() {
        let (pool, budget) = pool(64 << 20);
        let mut block = pool.take(1_000_000, &budget).unwrap();
        assert_eq!((block.len(), budget.used()), (1_000_000, 1_000_000));
        block.as_mut_slice()[999_999] = 1;
        drop(block);
        assert_eq!((budget.used(), pool.mapped_bytes()), (0, 0));
    }

    #[test]
    fn a_refused_block_costs_nothing() {
        let (pool, _) = pool(0);
        let budget = Budget::root(BudgetKind::Memory, "tmp_table_size", 5000);
        let held = pool.take(4096, &budget).unwrap();
        assert!(pool.take(4096, &budget).unwrap_err().is_memory_limit());
        let forced = pool.take_forced(4096, &budget).unwrap();
        assert_eq!(budget.used(), 8192);
        drop((held, forced));
        assert_eq!((budget.used(), pool.mapped_bytes()), (0, 0));
    }

    proptest! {
        #[test]
        fn blocks_never_overlap(steps in prop::collection::vec((0_usize..5, any::<prop::sample::Index>()), 1..300)) {
            let (pool, budget) = pool(1 << 20);
            let mut held: Vec<(Block, u8)> = Vec::new();
            for (n, (what, at)) in steps.into_iter().enumerate() {
                if what == SizeClass::ALL.len() {
                    if !held.is_empty() {
                        let (block, tag) = held.swap_remove(at.index(held.len()));
                        prop_assert_eq!(block.as_slice()[0], tag);
                        prop_assert_eq!(block.as_slice()[block.len() - 1], tag);
                    }
                } else {
                    let mut block = pool.take(SizeClass::ALL[what].bytes(), &budget).unwrap();
                    let last = block.len() - 1;
                    block.as_mut_slice()[0] = n as u8;
                    block.as_mut_slice()[last] = n as u8;
                    held.push((block, n as u8));
                }
            }
            let live: u64 = held.iter().map(|(block, _)| block.len() as u64).sum();
            prop_assert_eq!((pool.live_bytes(), budget.used()), (live, live));
            for (block, tag) in &held {
                prop_assert_eq!((block.as_slice()[0], block.as_slice()[block.len() - 1]), (*tag, *tag));
            }
            drop(held);
            pool.trim(0);
            prop_assert_eq!((pool.mapped_bytes(), budget.used()), (0, 0));
        }
    }

    #[test]
    fn threads_share_the_pool() {
        let (pool, budget) = pool(8 << 20);
        std::thread::scope(|scope| {
            for thread in 0..4_u8 {
                let (pool, budget) = (&pool, &budget);
                scope.spawn(move || {
                    for n in 0..200 {
                        let class = SizeClass::ALL[n % 3];
                        let mut blocks: Vec<_> = (0..10)
                            .map(|_| pool.take(class.bytes(), budget).unwrap())
                            .collect();
                        for block in &mut blocks {
                            block.as_mut_slice().fill(thread);
                        }
                        for block in &blocks {
                            assert!(block.as_slice().iter().all(|byte| *byte == thread));
                        }
                    }
                });
            }
        });
        assert_eq!((budget.used(), pool.live_bytes()), (0, 0));
    }
}
