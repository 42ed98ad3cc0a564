//! Bitmap of blocks of the file that are known to be intact.
//!
//! A block's checksum is compared when the block is first read, and again after each checkpoint, when its page may
//! hold another block. Comparing at each read would cost a scan a third of its time. A block of more than half a page
//! has its pages for itself, so that one bit is enough; smaller ones, of which several share a page, are few and
//! quickly computed, and are compared each time.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::block::{Block, Checked, Damaged};

/// Pages per allocation of the bitmap: 32 KiB for 1 GiB.
const PART_PAGES: usize = 1 << 18;

type Part = Box<[AtomicU64]>;

/// Bitmap of the blocks of one file.
#[derive(Debug)]
pub(super) struct Verified {
    map: Range<usize>,
    page_bytes: usize,
    parts: Box<[OnceLock<Part>]>,
}

impl Verified {
    /// Bitmap of a file with this map, of which `map` is empty when unknown.
    pub(super) fn new(map: &Range<usize>, page_bytes: usize) -> Self {
        let parts = map.len().div_ceil(page_bytes * PART_PAGES);
        Self {
            map: map.clone(),
            page_bytes,
            parts: (0..parts).map(|_| OnceLock::new()).collect(),
        }
    }

    /// A block that is read from the file or from memory.
    #[inline]
    pub(super) fn block<'b>(&self, bytes: &'b [u8]) -> Checked<Block<'b>> {
        let address = bytes.as_ptr() as usize;
        if self.map.contains(&address) {
            self.check(bytes, address - self.map.start)?;
        } else if self.map.is_empty() && !Block::is_intact(bytes) {
            return Err(Damaged);
        }
        Block::parse(bytes)
    }

    #[inline]
    fn check(&self, bytes: &[u8], offset: usize) -> Checked<()> {
        let page = offset / self.page_bytes;
        let is_alone = bytes.len() > self.page_bytes / 2;
        let part = self.parts.get(page / PART_PAGES).filter(|_| is_alone);
        let Some(part) = part else {
            return intact(bytes);
        };
        let part = part.get_or_init(|| (0..PART_PAGES / 64).map(|_| AtomicU64::new(0)).collect());
        let (word, bit) = (&part[page % PART_PAGES / 64], 1 << (page % 64));
        if word.load(Ordering::Relaxed) & bit == 0 {
            intact(bytes)?;
            word.fetch_or(bit, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Clears the bitmap: blocks are compared again.
    pub(super) fn forget(&self) {
        let parts = self.parts.iter().filter_map(OnceLock::get);
        for word in parts.flatten() {
            word.store(0, Ordering::Relaxed);
        }
    }
}

#[cold]
fn intact(bytes: &[u8]) -> Checked<()> {
    if Block::is_intact(bytes) {
        Ok(())
    } else {
        Err(Damaged)
    }
}
