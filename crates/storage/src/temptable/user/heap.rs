//! Heap: rows in slotted pages.
//!
//! A row's number is its page and its slot there, and is stable for its lifetime. A page's slots are handed out from
//! first to last; those of deleted rows form a free list in the page and are reused first. A page whose last row is
//! deleted frees its memory, and keeps its number.
//!
//! ```text
//!   0      2      4      6        8
//!   +------+------+------+--------+-------+-------+---
//!   | used | live | free | listed | row 0 | row 1 |
//!   +------+------+------+--------+-------+-------+---
//!   used: slots that were handed out   free: first deleted slot   listed: whether in `with_free`
//! ```
//!
//! A deleted row has the highest bit of its header set, and the next deleted slot behind the header.

use std::sync::Arc;

use mayfly_memory::{Block, Result, SizeClass};

use super::pages::{PageSet, PageView, Pager};

const HEADER: usize = 8;
const USED: usize = 0;
const LIVE: usize = 2;
const FREE: usize = 4;
const LISTED: usize = 6;
/// Mark for no slot.
const NO_SLOT: u16 = u16::MAX;
/// Mark for no page.
const NO_PAGE: u32 = u32::MAX;
/// Flag of a deleted row in its header.
const DELETED: u8 = 0x80;
/// Offset in a deleted row of the next deleted slot.
const NEXT: usize = 8;

/// The row number of a page and slot.
#[inline(always)]
fn number(page: u32, slot: u16) -> u64 {
    u64::from(page) << 16 | u64::from(slot)
}

#[inline(always)]
fn location(id: u64) -> (u32, usize) {
    ((id >> 16) as u32, usize::from(id as u16))
}

#[inline(always)]
fn get(page: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([page[at], page[at + 1]])
}

#[inline(always)]
fn set(page: &mut [u8], at: usize, value: u16) {
    page[at..at + 2].copy_from_slice(&value.to_le_bytes());
}

fn clear(page: &mut [u8], listed: bool) {
    page[..HEADER].fill(0);
    set(page, FREE, NO_SLOT);
    set(page, LISTED, u16::from(listed));
}

/// Heap of rows. A clone is a snapshot.
#[derive(Debug, Clone)]
pub(super) struct Heap {
    pages: PageSet,
    width: usize,
    /// Size of a page in bytes, except the first while it is the only one.
    page_length: usize,
    /// Page for new rows when there are no deleted slots.
    open: u32,
    /// Pages that may have deleted slots.
    with_free: Arc<Vec<u32>>,
    rows: u64,
}

impl Heap {
    /// No rows, with pages of at least `page_length` bytes.
    pub(super) fn new(width: usize, page_length: usize) -> Self {
        let most = HEADER + width * usize::from(NO_SLOT);
        Self {
            pages: PageSet::default(),
            width,
            page_length: page_length.clamp(HEADER + width, most),
            open: NO_PAGE,
            with_free: Arc::default(),
            rows: 0,
        }
    }

    /// Whether [`Self::clear`] does: there is one small page, which no snapshot has.
    pub(super) fn is_clearable(&mut self) -> bool {
        let page = self.pages.sole_page();
        page.is_some_and(|page| page.len() <= SizeClass::Small.bytes())
    }

    /// Removes all rows of a heap of one page and keeps the page.
    pub(super) fn clear(&mut self) {
        if let Some(page) = self.pages.sole_page() {
            clear(page, false);
            self.open = 0;
            self.with_free = Arc::default();
            self.rows = 0;
        }
    }

    /// Number of rows.
    pub(super) fn len(&self) -> u64 {
        self.rows
    }

    /// Size of a page in bytes.
    pub(super) fn page_length(&self) -> usize {
        self.page_length
    }

    /// Number of page numbers in use.
    pub(super) fn page_numbers(&self) -> usize {
        self.pages.len()
    }

    /// The pages, for eviction.
    pub(super) fn pages_mut(&mut self) -> &mut PageSet {
        &mut self.pages
    }

    fn capacity(&self, page: &[u8]) -> u16 {
        ((page.len() - HEADER) / self.width).min(usize::from(NO_SLOT)) as u16
    }

    #[inline(always)]
    fn start(&self, slot: usize) -> usize {
        HEADER + slot * self.width
    }

    /// A page for reading all of its rows; `None` if there are none.
    pub(super) fn view(&self, pager: &Pager, page: usize) -> Result<Option<PageView<'_>>> {
        let number = page as u32;
        if !self.pages.has(number) {
            return Ok(None);
        }
        self.pages.view(pager, number).map(Some)
    }

    /// Number of slots of a page that were handed out.
    pub(super) fn slots(page: &[u8]) -> usize {
        usize::from(get(page, USED))
    }

    /// Appends the addresses of at most `most` rows of a page from a slot on to `rows`, and returns the next slot, if
    /// any is left; `None` if some rows of the page were deleted, which only their bytes tell.
    pub(super) fn whole_rows_of(
        &self,
        bytes: &[u8],
        from: u16,
        most: usize,
        rows: &mut Vec<*const u8>,
    ) -> Option<Option<u16>> {
        let used = get(bytes, USED);
        if get(bytes, LIVE) != used {
            return None;
        }
        let end = used.min(from.saturating_add(most.min(usize::from(NO_SLOT)) as u16));
        let taken = &bytes[self.start(usize::from(from))..self.start(usize::from(end))];
        rows.extend(taken.chunks_exact(self.width).map(<[u8]>::as_ptr));
        Some((end < used).then_some(end))
    }

    /// Calls `take` with the number and the bytes of the rows of a page from a slot on, until it asks to stop; returns
    /// the next slot, if any is left.
    pub(super) fn rows_of(
        &self,
        page: usize,
        bytes: &[u8],
        from: u16,
        mut take: impl FnMut(u64, *const u8) -> bool,
    ) -> Option<u16> {
        let used = get(bytes, USED);
        let rows = bytes[self.start(usize::from(from))..].chunks_exact(self.width);
        for (slot, row) in (from..used).zip(rows) {
            if row[7] & DELETED == 0 && !take(number(page as u32, slot), row.as_ptr()) {
                return Some(slot + 1).filter(|next| *next < used);
            }
        }
        None
    }

    /// A row's bytes, if it exists.
    #[inline]
    pub(super) fn read(&self, pager: &Pager, id: u64) -> Result<Option<&[u8]>> {
        let (page, slot) = location(id);
        if !self.pages.has(page) {
            return Ok(None);
        }
        let bytes = self.pages.read(pager, page)?;
        if slot >= usize::from(get(bytes, USED)) {
            return Ok(None);
        }
        let row = &bytes[self.start(slot)..self.start(slot + 1)];
        Ok((row[7] & DELETED == 0).then_some(row))
    }

    /// The bytes of an existing row, for writing.
    #[inline]
    pub(super) fn write(&mut self, pager: &Pager, id: u64) -> Result<&mut [u8]> {
        let (page, slot) = location(id);
        let (start, end) = (self.start(slot), self.start(slot + 1));
        Ok(&mut self.pages.write(pager, page)?[start..end])
    }

    /// Adds a row and returns its number.
    #[inline]
    pub(super) fn insert(&mut self, pager: &Pager, row: &[u8]) -> Result<u64> {
        self.insert_run(pager, row).map(|(first, _)| first)
    }

    /// Adds the first of some consecutive rows: as many as have room in the open page, and at least one. Returns the
    /// number of the first, which the numbers of the others follow, and how many were added.
    #[inline]
    pub(super) fn insert_run(&mut self, pager: &Pager, rows: &[u8]) -> Result<(u64, usize)> {
        let width = self.width;
        if self.with_free.is_empty() && self.open != NO_PAGE {
            let (open, start) = (self.open, self.start(0));
            let page = self.pages.write(pager, open)?;
            let used = get(page, USED);
            let at = start + usize::from(used) * width;
            // A page in the free list has other slots, which are taken first.
            let room = (page.len() - at) / width;
            let count = (rows.len() / width)
                .min(room)
                .min(usize::from(NO_SLOT - used));
            if count > 0 {
                let bytes = count * width;
                page[at..at + bytes].copy_from_slice(&rows[..bytes]);
                set(page, USED, used + count as u16);
                let live = get(page, LIVE);
                set(page, LIVE, live + count as u16);
                self.rows += count as u64;
                return Ok((number(open, used), count));
            }
        }
        let first = self.insert_elsewhere(pager, &rows[..width])?;
        Ok((first, 1))
    }

    #[cold]
    fn insert_elsewhere(&mut self, pager: &Pager, row: &[u8]) -> Result<u64> {
        let page = self.page_with_room(pager)?;
        let width = self.width;
        let bytes = self.pages.write(pager, page)?;
        let free = get(bytes, FREE);
        let slot = if free == NO_SLOT {
            let used = get(bytes, USED);
            set(bytes, USED, used + 1);
            used
        } else {
            let next = get(bytes, HEADER + usize::from(free) * width + NEXT);
            set(bytes, FREE, next);
            free
        };
        let at = HEADER + usize::from(slot) * width;
        bytes[at..at + width].copy_from_slice(row);
        let live = get(bytes, LIVE);
        set(bytes, LIVE, live + 1);
        self.rows += 1;
        Ok(number(page, slot))
    }

    /// A page with a free slot, in memory and writable.
    fn page_with_room(&mut self, pager: &Pager) -> Result<u32> {
        while let Some(&page) = self.with_free.last() {
            if !self.pages.has(page) {
                self.put_empty(pager, page)?;
                return Ok(page);
            }
            let capacity = self.capacity(self.pages.read(pager, page)?);
            let bytes = self.pages.write(pager, page)?;
            if get(bytes, FREE) != NO_SLOT || get(bytes, USED) < capacity && page != self.open {
                return Ok(page);
            }
            set(bytes, LISTED, 0);
            Arc::make_mut(&mut self.with_free).pop();
        }
        if self.open != NO_PAGE {
            let bytes = self.pages.read(pager, self.open)?;
            if get(bytes, USED) < self.capacity(bytes) {
                self.pages.write(pager, self.open)?;
                return Ok(self.open);
            }
            if self.pages.len() == 1 && bytes.len() < self.page_length {
                self.enlarge_first(pager)?;
                return Ok(self.open);
            }
        }
        let length = if self.pages.len() == 0 {
            SizeClass::Small.bytes().clamp(
                HEADER + self.width,
                self.page_length.max(HEADER + self.width),
            )
        } else {
            self.page_length
        };
        let mut block = pager.take(length)?;
        clear(block.as_mut_slice(), false);
        self.open = self.pages.add(block);
        Ok(self.open)
    }

    /// Restores a page whose rows were all deleted; it is still listed.
    fn put_empty(&mut self, pager: &Pager, page: u32) -> Result<()> {
        let mut block = pager.take(self.page_length)?;
        clear(block.as_mut_slice(), true);
        self.pages.put(page, block);
        Ok(())
    }

    /// Enlarges the only page, which is full, to the usual size.
    fn enlarge_first(&mut self, pager: &Pager) -> Result<()> {
        let mut block: Block = pager.take(self.page_length)?;
        let old = self.pages.read(pager, 0)?;
        block.as_mut_slice()[..old.len()].copy_from_slice(old);
        self.pages.put(0, block);
        Ok(())
    }

    /// Deletes an existing row.
    pub(super) fn remove(&mut self, pager: &Pager, id: u64) -> Result<()> {
        let (page, slot) = location(id);
        let at = self.start(slot);
        let only = self.pages.len() == 1;
        let bytes = self.pages.write(pager, page)?;
        let free = get(bytes, FREE);
        bytes[at + 7] |= DELETED;
        set(bytes, at + NEXT, free);
        set(bytes, FREE, slot as u16);
        let live = get(bytes, LIVE) - 1;
        set(bytes, LIVE, live);
        if get(bytes, LISTED) == 0 {
            set(bytes, LISTED, 1);
            Arc::make_mut(&mut self.with_free).push(page);
        }
        self.rows -= 1;
        if live == 0 && !only {
            self.pages.take_away(page);
            if self.open == page {
                self.open = NO_PAGE;
            }
        }
        Ok(())
    }

    /// Restores a row under its number, which is unused.
    pub(super) fn restore(&mut self, pager: &Pager, id: u64, row: &[u8]) -> Result<()> {
        let (page, slot) = location(id);
        let slot = slot as u16;
        if !self.pages.has(page) {
            self.put_empty(pager, page)?;
        }
        let width = self.width;
        let start = |slot: u16| HEADER + usize::from(slot) * width;
        let bytes = self.pages.write(pager, page)?;
        // Earlier slots that were not handed out become deleted ones.
        let used = get(bytes, USED);
        for unused in used..=slot {
            let free = get(bytes, FREE);
            bytes[start(unused) + 7] |= DELETED;
            set(bytes, start(unused) + NEXT, free);
            set(bytes, FREE, unused);
            set(bytes, USED, unused + 1);
        }
        let mut next = get(bytes, FREE);
        if next == slot {
            let after = get(bytes, start(slot) + NEXT);
            set(bytes, FREE, after);
        } else {
            while next != NO_SLOT {
                let after = get(bytes, start(next) + NEXT);
                if after == slot {
                    let after = get(bytes, start(slot) + NEXT);
                    set(bytes, start(next) + NEXT, after);
                    break;
                }
                next = after;
            }
        }
        bytes[start(slot)..start(slot) + width].copy_from_slice(row);
        let live = get(bytes, LIVE);
        set(bytes, LIVE, live + 1);
        self.rows += 1;
        Ok(())
    }
}
