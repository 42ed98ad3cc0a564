//! Buffer pool: pages of all temporary tablespaces in memory, evicted in LRU order.
//!
//! A changed page is written when its frame is needed. Nothing is logged: temporary tables are not recovered. One lock
//! guards the pool, also while a page is read or written. Nothing refers to a frame while the lock is not held, so
//! that a pool of a single frame works.

use std::sync::{Arc, Mutex};

use mayfly_memory::sync::lock;
use mayfly_memory::{Budget, Reservation, Result};

use super::page::{self, PAGE_BYTES};
use crate::file::TableFile;
use crate::frames::{FrameIndex, FrameList, INDEX_BYTES, LINK_BYTES, Links};

/// Counters of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BufferPoolCounters {
    /// Number of page requests.
    pub read_requests: u64,
    /// Number of pages read from a file.
    pub reads: u64,
    /// Number of pages written to a file.
    pub writes: u64,
    /// Number of pages in the pool.
    pub pages: u64,
    /// Number of changed pages that are not written yet.
    pub pages_changed: u64,
}

#[derive(Debug)]
struct Frame {
    bytes: Box<[u8]>,
    file: Option<Arc<TableFile>>,
    is_changed: bool,
}

/// Bytes of a frame and its index and list entries.
const FRAME_BYTES: u64 = (PAGE_BYTES + size_of::<Frame>() + INDEX_BYTES + LINK_BYTES) as u64;

#[derive(Debug)]
pub(super) struct State {
    max: usize,
    frames: Vec<Frame>,
    index: FrameIndex,
    links: Links,
    used: FrameList,
    free: FrameList,
    counters: BufferPoolCounters,
    reservation: Reservation,
}

/// Shared buffer pool. Cloning gives another handle.
#[derive(Debug, Clone)]
pub struct BufferPool(Arc<Mutex<State>>);

impl BufferPool {
    /// A pool of `bytes` bytes, which are charged to `memory` as they come into use.
    pub fn new(bytes: u64, memory: &Budget) -> Self {
        let mut state = State {
            max: 0,
            frames: Vec::new(),
            index: FrameIndex::default(),
            links: Links::default(),
            used: FrameList::default(),
            free: FrameList::default(),
            counters: BufferPoolCounters::default(),
            reservation: memory.reservation(),
        };
        state.empty(bytes);
        Self(Arc::new(Mutex::new(state)))
    }

    /// Resizes the pool while it is used: changed pages are written, and the pool is emptied.
    pub fn set_bytes(&self, bytes: u64) -> Result<()> {
        let mut state = self.lock();
        state.flush()?;
        state.empty(bytes);
        Ok(())
    }

    /// The counters.
    pub fn counters(&self) -> BufferPoolCounters {
        let state = self.lock();
        BufferPoolCounters {
            pages: state.used.len() as u64,
            ..state.counters
        }
    }

    pub(super) fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        lock(&self.0)
    }
}

/// Identity of a page: the file's number in the pool, the file, and the page's number in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageId<'a> {
    pub(super) file: &'a Arc<TableFile>,
    pub(super) space: u64,
    pub(super) page: u32,
}

impl PageId<'_> {
    fn key(self) -> (u64, u64) {
        (self.space, u64::from(self.page))
    }

    fn offset(self) -> u64 {
        u64::from(self.page) * PAGE_BYTES as u64
    }
}

impl State {
    /// Empties the pool and sets its size.
    fn empty(&mut self, bytes: u64) {
        self.max = ((bytes / FRAME_BYTES) as usize).clamp(1, u32::MAX as usize / 2);
        self.frames.clear();
        self.index = FrameIndex::default();
        self.links = Links::default();
        self.used = FrameList::default();
        self.free = FrameList::default();
        self.counters.pages_changed = 0;
        self.reservation.free();
    }

    fn flush(&mut self) -> Result<()> {
        for frame in 0..self.frames.len() as u32 {
            self.flush_frame(frame)?;
        }
        Ok(())
    }

    fn flush_frame(&mut self, number: u32) -> Result<()> {
        let frame = &mut self.frames[number as usize];
        if !frame.is_changed {
            return Ok(());
        }
        let page = self.index.key(number).1;
        page::seal(&mut frame.bytes, page as u32);
        if let Some(file) = &frame.file {
            file.write_at(&frame.bytes, page * PAGE_BYTES as u64)?;
            self.counters.writes += 1;
        }
        frame.is_changed = false;
        self.counters.pages_changed -= 1;
        Ok(())
    }

    /// Frees a frame.
    fn clear(&mut self, number: u32) {
        let frame = &mut self.frames[number as usize];
        if std::mem::take(&mut frame.is_changed) {
            self.counters.pages_changed -= 1;
        }
        frame.file = None;
        self.used.remove(&mut self.links, number);
        self.index.remove(number);
        self.free.push_last(&mut self.links, number);
    }

    fn take_frame(&mut self) -> Result<u32> {
        if let Some(free) = self.free.first() {
            return Ok(free);
        }
        let can_grow = self.frames.len() < self.max
            && match self.frames.len() {
                // A pool has at least one frame.
                0 => self.reservation.grow_forced(FRAME_BYTES).map(|()| true)?,
                _ => self.reservation.try_grow(FRAME_BYTES).is_ok(),
            };
        if can_grow {
            let number = self.frames.len() as u32;
            self.frames.push(Frame {
                bytes: vec![0; PAGE_BYTES].into_boxed_slice(),
                file: None,
                is_changed: false,
            });
            self.free.push_last(&mut self.links, number);
        } else if let Some(oldest) = self.used.first() {
            self.flush_frame(oldest)?;
            self.clear(oldest);
        }
        Ok(self.free.first().unwrap_or_default())
    }

    fn put(&mut self, id: PageId<'_>, number: u32) {
        self.free.remove(&mut self.links, number);
        self.used.push_last(&mut self.links, number);
        self.index.insert(id.key(), number);
        self.frames[number as usize].file = Some(Arc::clone(id.file));
    }

    fn frame(&mut self, id: PageId<'_>) -> Result<u32> {
        self.counters.read_requests += 1;
        if let Some(number) = self.index.find(id.key()) {
            self.used.remove(&mut self.links, number);
            self.used.push_last(&mut self.links, number);
            return Ok(number);
        }
        let number = self.take_frame()?;
        let bytes = &mut self.frames[number as usize].bytes;
        id.file.read_exact_at(bytes, id.offset())?;
        if !page::is_intact(bytes, id.page) {
            return Err(id.file.corrupt(id.offset(), PAGE_BYTES));
        }
        self.counters.reads += 1;
        self.put(id, number);
        Ok(number)
    }

    /// A page for reading.
    #[inline]
    pub(super) fn page(&mut self, id: PageId<'_>) -> Result<&[u8]> {
        let number = self.frame(id)?;
        Ok(&self.frames[number as usize].bytes)
    }

    /// A page for writing.
    #[inline]
    pub(super) fn page_mut(&mut self, id: PageId<'_>) -> Result<&mut [u8]> {
        let number = self.frame(id)?;
        Ok(self.changed(number))
    }

    fn changed(&mut self, number: u32) -> &mut [u8] {
        let frame = &mut self.frames[number as usize];
        if !std::mem::replace(&mut frame.is_changed, true) {
            self.counters.pages_changed += 1;
        }
        &mut frame.bytes
    }

    /// A new page, whose contents in the file are ignored.
    pub(super) fn new_page(&mut self, id: PageId<'_>) -> Result<&mut [u8]> {
        let number = match self.index.find(id.key()) {
            Some(number) => number,
            None => {
                let number = self.take_frame()?;
                self.put(id, number);
                number
            }
        };
        Ok(self.changed(number))
    }

    /// Drops a page without writing it.
    pub(super) fn forget(&mut self, space: u64, page: u32) {
        if let Some(number) = self.index.find((space, u64::from(page))) {
            self.clear(number);
        }
    }
}
