//! Pages that are in memory or in a temporary file, and that several snapshots of a table share.
//!
//! A [`PageSet`] is a list of pages by number. Cloning it is a snapshot: from then on, a
//! page of either is copied before it is written. Whether a page is shared is its reference count; a
//! table without snapshots is changed in place.
//!
//! Locks: pages are read under the table's lock in any mode, and written or sent to a file under it
//! in write mode. That is why an address that was looked up stays valid as long as the set is
//! borrowed: sending away needs `&mut`. Reading back happens under the page's own lock, so that
//! several readers may want the same page.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

use mayfly_memory::sync::lock;
use mayfly_memory::{Block, Budget, Extent, MemoryError, Result, TempFile, prefetch};

use crate::temptable::context::Resources;

/// Bytes that a table keeps in memory whatever its own limit is.
const WORKING_SET: u64 = 192 << 10;
/// Fewer bytes than these are not worth sending away.
const EXCESS: u64 = 64 << 10;

/// Where a table's pages come from and go to.
#[derive(Debug)]
pub(super) struct Pager {
    pub(super) resources: Resources,
    /// The table's node of memory.
    pub(super) memory: Budget,
    /// The table's node of temporary space.
    pub(super) temp_space: Budget,
    /// Whether pages may go to a file.
    pub(super) may_overflow: bool,
    file: OnceLock<TempFile>,
    /// A page was taken past the limit: some should go before the next change.
    pressure: AtomicBool,
    /// How often that was so.
    forced: AtomicU64,
    /// Pages that were copied and that older snapshots still see.
    old: Mutex<Vec<Weak<PageCell>>>,
    pub(super) bytes_overflowed: AtomicU64,
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
        }
    }

    /// A block. When the limit refuses it, it is taken as part of the working set and pages will go.
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

    /// The file, made when it is first needed.
    pub(super) fn file(&self) -> &TempFile {
        self.file
            .get_or_init(|| self.resources.temp_space.file(&self.temp_space))
    }

    /// Whether anything may be in a file.
    #[inline]
    pub(super) fn has_overflowed(&self) -> bool {
        self.file.get().is_some()
    }

    /// Whether pages should go.
    #[inline]
    pub(super) fn is_pressed(&self) -> bool {
        self.pressure.load(Ordering::Relaxed)
    }

    /// How often a page was taken past the limit; see [`Self::has_read_enough`].
    #[inline]
    pub(super) fn times_forced(&self) -> u64 {
        self.forced.load(Ordering::Relaxed)
    }

    /// Whether a reader has read enough for once, that began when so many pages had been taken past the limit: more
    /// were taken since, and the table holds more than its working set. Nothing can go while the reader has the table's
    /// lock.
    #[inline]
    pub(super) fn has_read_enough(&self, forced_before: u64) -> bool {
        self.times_forced() != forced_before && self.over().is_some()
    }

    /// How many bytes should go now, if any.
    pub(super) fn excess(&self) -> Option<u64> {
        self.pressure.store(false, Ordering::Relaxed);
        self.over()
    }

    /// How many bytes are to go, if any. A table keeps a working set however small its own limit is: with less, every
    /// row would be read from the file.
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

    /// Sends pages away that only older snapshots see. The caller holds the table's lock to write.
    pub(super) fn evict_old(&self, wanted: u64) -> Result<u64> {
        let mut freed = 0;
        let mut old = self.old();
        while freed < wanted
            && let Some(cell) = old.pop()
        {
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
    /// Where the same bytes are in a file.
    extent: Option<Extent>,
}

/// One page.
#[derive(Debug)]
pub(super) struct PageCell {
    /// Null while the page is in a file only.
    address: AtomicPtr<u8>,
    length: u32,
    /// Used since it was last looked for pages to send away.
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

    /// The page's address in memory, where it is brought if need be; then it is one of the residents.
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

    /// A copy of the bytes, when they are in a file only.
    fn read_copy(&self, pager: &Pager) -> Result<Option<Block>> {
        let home = self.home();
        let (None, Some(extent)) = (&home.block, &home.extent) else {
            return Ok(None);
        };
        let mut block = pager.take(self.length as usize)?;
        extent.read(block.as_mut_slice())?;
        Ok(Some(block))
    }

    /// The caller is alone with the page.
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

    /// The bytes are about to change.
    #[cold]
    fn forget_stored(&self) {
        self.home().extent = None;
        self.is_stored.store(false, Ordering::Relaxed);
    }
}

/// A page that is read from a set, or a copy of it that was read from a file.
pub(super) enum PageView<'a> {
    /// In memory anyway.
    Shared(&'a [u8]),
    /// Read for this use alone.
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

/// The pages of a set and of its snapshots that are in memory, the one first that is asked first to go: however many are
/// in a file, only these are looked at.
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

    /// Sends away pages, those first that were not used since it was last asked, and others too if `any`.
    fn evict(&self, pager: &Pager, wanted: u64, any: bool) -> Result<u64> {
        let mut list = self.list();
        let mut freed = 0;
        for _ in 0..list.len() {
            if freed >= wanted {
                break;
            }
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

/// Pages by number; see the module.
#[derive(Debug, Clone, Default)]
pub(super) struct PageSet {
    cells: Arc<Cells>,
    free: Arc<Vec<u32>>,
    residents: Arc<Residents>,
}

impl PageSet {
    /// How many numbers are in use, with free ones among them.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// How many pages there are.
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

    /// Asks the memory for the first bytes of a page.
    #[inline]
    pub(super) fn prefetch(&self, number: u32, bytes: usize) {
        let address = self.cell(number).address.load(Ordering::Relaxed);
        // Processors fetch lines in pairs.
        for offset in (0..bytes).step_by(128) {
            prefetch(address.wrapping_add(offset));
        }
    }

    /// A page's bytes for a reader that will not come again soon: what it reads is not kept.
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

    /// A page's bytes, to be changed; copied first if others see them.
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

    /// A new page, whose bytes are anything.
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

    /// Puts a page at a number that has none, or in place of one.
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

    /// Takes the page from a number, which is given out again.
    pub(super) fn remove(&mut self, number: u32) {
        self.take_away(number);
        Arc::make_mut(&mut self.free).push(number);
    }

    /// Takes the page from a number, which stays the caller's.
    pub(super) fn take_away(&mut self, number: u32) {
        Arc::make_mut(&mut self.cells)[number as usize] = None;
    }

    /// Exchanges the pages of two numbers.
    pub(super) fn swap(&mut self, a: u32, b: u32) {
        Arc::make_mut(&mut self.cells).swap(a as usize, b as usize);
    }

    /// Sends away pages, those first that were not used since it was last asked, and others too if
    /// `any`. Says how many bytes it were.
    pub(super) fn evict(&mut self, pager: &Pager, wanted: u64, any: bool) -> Result<u64> {
        self.residents.evict(pager, wanted, any)
    }
}
