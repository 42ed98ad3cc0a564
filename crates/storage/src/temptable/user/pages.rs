//! Pages in memory or in a temporary file, shared by several snapshots of a table.
//!
//! A [`PageSet`] is a list of pages by number. Cloning it is a snapshot: from then on, a page of either is copied
//! before it is written (copy on write). A page's reference count tells whether it is shared; a table without
//! snapshots is changed in place.
//!
//! Locks: pages are read under the table's lock in any mode, and written or evicted under it in write mode. So a
//! page's address stays valid as long as the set is borrowed: eviction needs `&mut`. A page is read back under its own
//! lock, since several readers may want it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

use mayfly_memory::sync::lock;
use mayfly_memory::{Block, Budget, Extent, MemoryError, Result, TempFile, prefetch};
use mayfly_types::Interrupt;

use crate::temptable::context::Resources;

/// Memory in bytes that a table keeps whatever its own limit is.
const WORKING_SET: u64 = 192 << 10;
/// Minimum size in bytes of an eviction.
const EXCESS: u64 = 64 << 10;

/// Source of a table's pages and target of evictions.
#[derive(Debug)]
pub(super) struct Pager {
    pub(super) resources: Resources,
    /// The table's memory budget.
    pub(super) memory: Budget,
    /// The table's budget of temporary space.
    pub(super) temp_space: Budget,
    /// Whether pages may go to a file.
    pub(super) may_overflow: bool,
    file: OnceLock<TempFile>,
    /// Whether a page was taken past the limit, so that some should be evicted before the next change.
    pressure: AtomicBool,
    /// Number of pages taken past the limit.
    forced: AtomicU64,
    /// Replaced pages that older snapshots still see.
    old: Mutex<Vec<Weak<PageCell>>>,
    pub(super) bytes_overflowed: AtomicU64,
    /// Interrupt of the statement that the table belongs to, asked before each page is written.
    interrupt: Interrupt,
}

impl Pager {
    pub(super) fn new(
        resources: Resources,
        memory: Budget,
        temp_space: Budget,
        may_overflow: bool,
    ) -> Self {
        Self {
            resources,
            memory,
            temp_space,
            may_overflow,
            file: OnceLock::new(),
            pressure: AtomicBool::new(false),
            forced: AtomicU64::new(0),
            old: Mutex::default(),
            bytes_overflowed: AtomicU64::new(0),
            interrupt: Interrupt::default(),
        }
    }

    /// This pager for a table of one statement.
    pub(super) fn interrupted_by(self, interrupt: Interrupt) -> Self {
        Self { interrupt, ..self }
    }

    /// Fails if the statement that the table belongs to is to end.
    pub(super) fn check_interrupt(&self) -> Result<()> {
        self.interrupt.check().map_err(|_| MemoryError::Interrupted)
    }

    /// Takes a block. If the limit refuses it, it is taken as part of the working set and pages will be evicted.
    pub(super) fn take(&self, bytes: usize) -> Result<Block> {
        match self.resources.pool.take(bytes, &self.memory) {
            Err(error) if error.is_memory_limit() && self.may_overflow => {}
            result => return result,
        }
        self.pressure.store(true, Ordering::Relaxed);
        self.forced.fetch_add(1, Ordering::Relaxed);
        self.resources.make_room(bytes as u64, &self.memory);
        self.resources.pool.take_forced(bytes, &self.memory)
    }

    /// The file, created when it is first needed.
    pub(super) fn file(&self) -> &TempFile {
        self.file
            .get_or_init(|| self.resources.temp_space.file(&self.temp_space))
    }

    /// Whether anything may be in a file.
    #[inline]
    pub(super) fn has_overflowed(&self) -> bool {
        self.file.get().is_some()
    }

    /// Whether pages should be evicted.
    #[inline]
    pub(super) fn is_pressed(&self) -> bool {
        self.pressure.load(Ordering::Relaxed)
    }

    /// Number of pages taken past the limit; see [`Self::has_read_enough`].
    #[inline]
    pub(super) fn times_forced(&self) -> u64 {
        self.forced.load(Ordering::Relaxed)
    }

    /// Whether a reader should release the table's lock, given [`Self::times_forced`] at its beginning: more pages
    /// were taken past the limit since, and the table holds more than its working set. Nothing can be evicted while
    /// the reader has the lock.
    #[inline]
    pub(super) fn has_read_enough(&self, forced_before: u64) -> bool {
        self.times_forced() != forced_before && self.over().is_some()
    }

    /// Number of bytes to evict now, if any.
    pub(super) fn excess(&self) -> Option<u64> {
        self.pressure.store(false, Ordering::Relaxed);
        self.over()
    }

    /// Number of bytes above the limit, if any. A table keeps a working set however small its own limit is: with less,
    /// every row would be read from the file.
    fn over(&self) -> Option<u64> {
        let budget = match self.memory.parent() {
            Some(above) if self.memory.used() <= WORKING_SET => above,
            _ => &self.memory,
        };
        let refusing = budget.refusing(EXCESS)?;
        Some((refusing.limit() / 8).max(EXCESS))
    }

    fn old(&self) -> MutexGuard<'_, Vec<Weak<PageCell>>> {
        lock(&self.old)
    }

    fn add_old(&self, cell: &Arc<PageCell>) {
        let mut old = self.old();
        if old.len() == old.capacity() {
            old.retain(|cell| cell.strong_count() > 0);
        }
        old.push(Arc::downgrade(cell));
    }

    /// Evicts pages that only older snapshots see. The caller holds the table's lock for writing.
    pub(super) fn evict_old(&self, wanted: u64) -> Result<u64> {
        let mut freed = 0;
        let mut old = self.old();
        while freed < wanted
            && let Some(cell) = old.pop()
        {
            self.check_interrupt()?;
            if let Some(cell) = cell.upgrade() {
                freed += cell.evict(self)?;
            }
        }
        Ok(freed)
    }
}

#[derive(Debug, Default)]
struct Home {
    block: Option<Block>,
    /// Location of equal bytes in a file.
    extent: Option<Extent>,
}

/// Page.
#[derive(Debug)]
pub(super) struct PageCell {
    /// Null while the page is in a file only.
    address: AtomicPtr<u8>,
    length: u32,
    /// Whether the page was used since the last search for pages to evict (clock algorithm).
    touched: AtomicBool,
    /// Whether the bytes are in a file too.
    is_stored: AtomicBool,
    home: Mutex<Home>,
}

impl PageCell {
    fn new(block: Block) -> Arc<Self> {
        Arc::new(Self {
            address: AtomicPtr::new(block.as_ptr()),
            length: block.len() as u32,
            touched: AtomicBool::new(true),
            is_stored: AtomicBool::new(false),
            home: Mutex::new(Home {
                block: Some(block),
                extent: None,
            }),
        })
    }

    fn home(&self) -> MutexGuard<'_, Home> {
        lock(&self.home)
    }

    #[inline(always)]
    fn touch(&self) {
        if !self.touched.load(Ordering::Relaxed) {
            self.touched.store(true, Ordering::Relaxed);
        }
    }

    fn is_absent(&self) -> bool {
        self.address.load(Ordering::Relaxed).is_null()
    }

    /// The page's address in memory; it is read if necessary and becomes resident.
    #[inline(always)]
    fn address(self: &Arc<Self>, pager: &Pager, residents: &Residents) -> Result<*mut u8> {
        self.touch();
        let address = self.address.load(Ordering::Acquire);
        if address.is_null() {
            return self.load(pager, residents);
        }
        Ok(address)
    }

    #[cold]
    fn load(self: &Arc<Self>, pager: &Pager, residents: &Residents) -> Result<*mut u8> {
        let mut home = self.home();
        if let Some(block) = &home.block {
            return Ok(block.as_ptr());
        }
        let mut block = pager.take(self.length as usize)?;
        let extent = home.extent.as_ref().ok_or(MemoryError::Interrupted)?;
        extent.read(block.as_mut_slice())?;
        let address = block.as_ptr();
        home.block = Some(block);
        self.address.store(address, Ordering::Release);
        residents.add(self);
        Ok(address)
    }

    /// A copy of the bytes, if they are in a file only.
    fn read_copy(&self, pager: &Pager) -> Result<Option<Block>> {
        let home = self.home();
        let (None, Some(extent)) = (&home.block, &home.extent) else {
            return Ok(None);
        };
        let mut block = pager.take(self.length as usize)?;
        extent.read(block.as_mut_slice())?;
        Ok(Some(block))
    }

    /// Evicts the page. The caller has exclusive access to it.
    fn evict(&self, pager: &Pager) -> Result<u64> {
        let mut home = self.home();
        let Some(block) = &home.block else {
            return Ok(0);
        };
        if home.extent.is_none() {
            let extent = pager.file().write(block.as_slice())?;
            pager
                .bytes_overflowed
                .fetch_add(extent.len() as u64, Ordering::Relaxed);
            home.extent = Some(extent);
        }
        self.is_stored.store(true, Ordering::Relaxed);
        self.address.store(std::ptr::null_mut(), Ordering::Release);
        home.block = None;
        Ok(u64::from(self.length))
    }

    /// Notes that the bytes are about to change.
    #[cold]
    fn forget_stored(&self) {
        self.home().extent = None;
        self.is_stored.store(false, Ordering::Relaxed);
    }
}

/// View of a page in a set, or of a copy that was read from a file.
pub(super) enum PageView<'a> {
    /// In memory.
    Shared(&'a [u8]),
    /// A copy that was read for this use alone.
    Copy(Block),
}

impl PageView<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Shared(bytes) => bytes,
            Self::Copy(block) => block.as_slice(),
        }
    }
}

type Cells = Vec<Option<Arc<PageCell>>>;

/// Pages of a set and of its snapshots that are in memory, the next candidate for eviction first: pages that are in a
/// file are never examined.
#[derive(Debug, Default)]
struct Residents(Mutex<VecDeque<Weak<PageCell>>>);

impl Residents {
    fn list(&self) -> MutexGuard<'_, VecDeque<Weak<PageCell>>> {
        lock(&self.0)
    }

    fn add(&self, cell: &Arc<PageCell>) {
        let mut list = self.list();
        if list.len() == list.capacity() {
            list.retain(|cell| cell.strong_count() > 0);
        }
        list.push_back(Arc::downgrade(cell));
    }

    /// Evicts pages, those first that were not used since the last call, and others too if `any`.
    fn evict(&self, pager: &Pager, wanted: u64, any: bool) -> Result<u64> {
        let mut list = self.list();
        let mut freed = 0;
        for _ in 0..list.len() {
            if freed >= wanted {
                break;
            }
            pager.check_interrupt()?;
            let Some(cell) = list.pop_front() else { break };
            let Some(page) = cell.upgrade().filter(|page| !page.is_absent()) else {
                continue;
            };
            if page.touched.swap(false, Ordering::Relaxed) && !any {
                list.push_back(cell);
                continue;
            }
            match page.evict(pager) {
                Ok(bytes) => freed += bytes,
                Err(error) => {
                    list.push_back(cell);
                    return Err(error);
                }
            }
        }
        Ok(freed)
    }
}

/// Set of pages by number. A clone is a snapshot.
#[derive(Debug, Clone, Default)]
pub(super) struct PageSet {
    cells: Arc<Cells>,
    free: Arc<Vec<u32>>,
    residents: Arc<Residents>,
}

impl PageSet {
    /// Number of page numbers, including free ones.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Number of pages.
    #[cfg(test)]
    pub(super) fn page_count(&self) -> usize {
        self.cells.len() - self.free.len()
    }

    fn cell(&self, number: u32) -> &Arc<PageCell> {
        self.cells[number as usize]
            .as_ref()
            .expect("a page that is referred to exists")
    }

    /// Whether a number has a page.
    pub(super) fn has(&self, number: u32) -> bool {
        self.cells.get(number as usize).is_some_and(Option::is_some)
    }

    /// A page's bytes.
    #[expect(unsafe_code, reason = "pages are blocks at addresses; see the module")]
    #[inline]
    pub(super) fn read(&self, pager: &Pager, number: u32) -> Result<&[u8]> {
        let cell = self.cell(number);
        let address = cell.address(pager, &self.residents)?;
        // SAFETY: the block has `length` initialised bytes. It goes, and is written, only through
        // `&mut` of the set that has it while the table is locked to write.
        Ok(unsafe { std::slice::from_raw_parts(address, cell.length as usize) })
    }

    /// Prefetches the first bytes of a page.
    #[inline]
    pub(super) fn prefetch(&self, number: u32, bytes: usize) {
        let address = self.cell(number).address.load(Ordering::Relaxed);
        // Processors fetch cache lines in pairs.
        for offset in (0..bytes).step_by(128) {
            prefetch(address.wrapping_add(offset));
        }
    }

    /// A page's bytes for a single use: a page that is read from a file is not kept.
    #[expect(unsafe_code, reason = "as for `read`")]
    pub(super) fn view(&self, pager: &Pager, number: u32) -> Result<PageView<'_>> {
        let cell = self.cell(number);
        let address = cell.address.load(Ordering::Acquire);
        if address.is_null()
            && let Some(copy) = cell.read_copy(pager)?
        {
            return Ok(PageView::Copy(copy));
        }
        let address = cell.address(pager, &self.residents)?;
        // SAFETY: as for `read`.
        let bytes = unsafe { std::slice::from_raw_parts(address, cell.length as usize) };
        Ok(PageView::Shared(bytes))
    }

    /// A page's bytes, for writing; the page is copied first if snapshots share it.
    #[expect(unsafe_code, reason = "as for `read`")]
    #[inline]
    pub(super) fn write(&mut self, pager: &Pager, number: u32) -> Result<&mut [u8]> {
        if Arc::strong_count(&self.cells) > 1 || Arc::strong_count(self.cell(number)) > 1 {
            self.unshare(pager, number)?;
        }
        let cell = self.cell(number);
        let address = cell.address(pager, &self.residents)?;
        if cell.is_stored.load(Ordering::Relaxed) {
            cell.forget_stored();
        }
        // SAFETY: as for `read`; nobody else has the page, and `&mut self` makes this the only
        // access through the set.
        Ok(unsafe { std::slice::from_raw_parts_mut(address, cell.length as usize) })
    }

    /// The bytes of the only page of a set, for writing, if no snapshot has it and it is in memory alone.
    #[expect(unsafe_code, reason = "as for `read`")]
    pub(super) fn sole_page(&mut self) -> Option<&mut [u8]> {
        let [Some(cell)] = &mut Arc::get_mut(&mut self.cells)?[..] else {
            return None;
        };
        // The residents have a weak reference, which leads to the page only while the table is locked to write.
        let is_alone = Arc::strong_count(cell) == 1 && !cell.is_stored.load(Ordering::Relaxed);
        if !is_alone || cell.is_absent() {
            return None;
        }
        let address = cell.address.load(Ordering::Acquire);
        // SAFETY: as for `write`.
        Some(unsafe { std::slice::from_raw_parts_mut(address, cell.length as usize) })
    }

    #[cold]
    fn unshare(&mut self, pager: &Pager, number: u32) -> Result<()> {
        let cells = Arc::make_mut(&mut self.cells);
        let cell = cells[number as usize]
            .as_mut()
            .expect("a page that is referred to exists");
        if Arc::strong_count(cell) > 1 {
            cell.address(pager, &self.residents)?;
            let home = cell.home();
            let old = home.block.as_ref().ok_or(MemoryError::Interrupted)?;
            let mut block = pager.take(old.len())?;
            block.as_mut_slice()[..old.len()].copy_from_slice(old.as_slice());
            drop(home);
            pager.add_old(cell);
            *cell = PageCell::new(block);
            self.residents.add(cell);
        }
        Ok(())
    }

    /// Adds a page with undefined bytes; returns its number.
    pub(super) fn add(&mut self, block: Block) -> u32 {
        let cell = PageCell::new(block);
        self.residents.add(&cell);
        let cells = Arc::make_mut(&mut self.cells);
        match Arc::make_mut(&mut self.free).pop() {
            Some(number) => {
                cells[number as usize] = Some(cell);
                number
            }
            None => {
                cells.push(Some(cell));
                (cells.len() - 1) as u32
            }
        }
    }

    /// Sets the page of a number that has none, or replaces it.
    pub(super) fn put(&mut self, number: u32, block: Block) {
        let cells = Arc::make_mut(&mut self.cells);
        let index = number as usize;
        if cells.len() <= index {
            cells.resize(index + 1, None);
        }
        let cell = PageCell::new(block);
        self.residents.add(&cell);
        cells[index] = Some(cell);
    }

    /// Removes a page; its number is reused.
    pub(super) fn remove(&mut self, number: u32) {
        self.take_away(number);
        Arc::make_mut(&mut self.free).push(number);
    }

    /// Removes a page; its number stays the caller's.
    pub(super) fn take_away(&mut self, number: u32) {
        Arc::make_mut(&mut self.cells)[number as usize] = None;
    }

    /// Swaps the pages of two numbers.
    pub(super) fn swap(&mut self, a: u32, b: u32) {
        Arc::make_mut(&mut self.cells).swap(a as usize, b as usize);
    }

    /// Evicts pages, those first that were not used since the last call, and others too if `any`. Returns the number
    /// of bytes.
    pub(super) fn evict(&mut self, pager: &Pager, wanted: u64, any: bool) -> Result<u64> {
        self.residents.evict(pager, wanted, any)
    }
}
