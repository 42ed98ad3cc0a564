//! B-tree in an index file, through a key cache.
//!
//! As in MyISAM: every page on the path of a search is requested from the key cache and copied; an insertion descends
//! once, and goes back up only as far as pages are split. The page size is the smallest multiple of 1024 bytes that
//! has room for four of the longest keys (`MI_BLOCK_SIZE`). Neighbours are not balanced, and keys are not compressed
//! by their prefixes.

use mayfly_memory::{Budget, MemoryError};

use super::page::{self, CHILD, HEADER, Page, Search, entry_length};
use super::rows::CHECKSUM_BYTES;
use crate::file::FileSpace;
use crate::key_cache::CachedFile;
use crate::refusal::{Outcome, Refusal};

/// Unit of page sizes in bytes.
const PAGE_UNIT: usize = 1024;

/// Page size for keys of up to `key` bytes.
fn page_length(key: usize) -> usize {
    let four = 4 * (entry_length(key) + CHILD) + CHILD + HEADER + CHECKSUM_BYTES;
    four.next_multiple_of(PAGE_UNIT)
}

/// Page on the path from the root to a leaf.
#[derive(Debug, Default)]
struct Step {
    number: u32,
    /// Offset in the page where the search descended.
    at: usize,
    page: Page,
}

#[derive(Debug)]
pub(super) struct KeyTree {
    file: CachedFile,
    space: FileSpace,
    page_length: usize,
    key_max: usize,
    /// Whether keys are hashes, which may be equal for several rows and are told apart by the position.
    has_equal_keys: bool,
    root: Option<u32>,
    /// Path of the last search, whose memory is reused.
    steps: Vec<Step>,
    entry: Vec<u8>,
    other: Page,
}

impl KeyTree {
    /// An empty tree of keys of up to `key_max` bytes, by declaration.
    pub(super) fn new(file: CachedFile, key_max: usize, budget: &Budget) -> Self {
        Self {
            has_equal_keys: false,
            file,
            space: FileSpace::new(budget),
            page_length: page_length(key_max),
            key_max,
            root: None,
            steps: Vec::new(),
            entry: Vec::new(),
            other: Page::default(),
        }
    }

    /// An empty tree of hashes.
    pub(super) fn of_hashes(file: CachedFile, budget: &Budget) -> Self {
        Self {
            has_equal_keys: true,
            ..Self::new(file, super::HASH_BYTES, budget)
        }
    }

    fn corrupt(&self, number: u32) -> MemoryError {
        let offset = u64::from(number) * self.page_length as u64;
        self.file.file().corrupt(offset, self.page_length)
    }

    fn read(&self, number: u32, page: &mut Page) -> Outcome<()> {
        let offset = u64::from(number) * self.page_length as u64;
        if offset >= self.space.length() {
            return Err(self.corrupt(number).into());
        }
        page.bytes.resize(self.page_length, 0);
        let is_from_file = self.file.read(&mut page.bytes, offset)?;
        page.open(is_from_file)
            .ok_or_else(|| self.corrupt(number).into())
    }

    fn write(&self, number: u32, page: &mut Page) -> Outcome<()> {
        page.seal(self.page_length);
        let offset = u64::from(number) * self.page_length as u64;
        Ok(self.file.write(&page.bytes, offset)?)
    }

    fn new_page(&mut self) -> Outcome<u32> {
        let offset = self.space.grow(self.page_length as u64)?;
        u32::try_from(offset / self.page_length as u64).map_err(|_| Refusal::LongKey)
    }

    /// Inserts a key with a row's position. Returns the position of the row that already has the key, if any; then
    /// nothing is changed. In a tree of hashes the position is part of the key.
    pub(super) fn insert(&mut self, key: &[u8], position: u64) -> Outcome<Option<u64>> {
        if key.len() > self.key_max {
            return Err(Refusal::LongKey);
        }
        let mut steps = std::mem::take(&mut self.steps);
        let inserted = self.insert_along(key, position, &mut steps);
        self.steps = steps;
        inserted
    }

    fn insert_along(
        &mut self,
        key: &[u8],
        position: u64,
        steps: &mut Vec<Step>,
    ) -> Outcome<Option<u64>> {
        let mut depth = 0;
        let mut next = self.root;
        let tie = self.has_equal_keys.then_some(position);
        while let Some(number) = next {
            if steps.len() == depth {
                steps.push(Step::default());
            }
            let step = &mut steps[depth];
            self.read(number, &mut step.page)?;
            step.number = number;
            match step.page.search(key, tie) {
                Some(Search::Found(found)) => return Ok(Some(found)),
                Some(Search::Missing(at)) => step.at = at,
                None => return Err(self.corrupt(number).into()),
            }
            depth += 1;
            next = None;
            if step.page.is_node {
                let child = page::child(&step.page.bytes, step.at);
                next = Some(child.ok_or_else(|| self.corrupt(number))?);
            }
        }
        let mut entry = std::mem::take(&mut self.entry);
        page::put_entry(key, position, &mut entry);
        let done = self.insert_entry(&mut entry, &mut steps[..depth]);
        self.entry = entry;
        done.map(|()| None)
    }

    /// Inserts an entry into the leaf at the end of the path, and splits pages as long as they are full.
    fn insert_entry(&mut self, entry: &mut Vec<u8>, steps: &mut [Step]) -> Outcome<()> {
        let end = self.page_length - CHECKSUM_BYTES;
        // The page that the last split has created.
        let mut right = None;
        for step in steps.iter_mut().rev() {
            let page = &mut step.page;
            // The entry and the page right of it go behind the child that was split.
            let at = step.at + page.child_bytes();
            let is_last = at >= page.bytes.len();
            page.bytes.splice(at..at, entry.iter().copied());
            if let Some(right) = right.take() {
                let at = at + entry.len();
                page.bytes.splice(at..at, u32::to_le_bytes(right));
            }
            if page.bytes.len() <= end {
                return self.write(step.number, page);
            }
            let child = page.child_bytes();
            let split = page.split_point(is_last);
            let split = split.ok_or_else(|| self.corrupt(step.number))?;
            let middle = page::entry(&page.bytes, split + child);
            let behind = middle.ok_or_else(|| self.corrupt(step.number))?.end;
            entry.clear();
            entry.extend_from_slice(&page.bytes[split + child..behind]);
            let mut other = std::mem::take(&mut self.other);
            other.clear(page.is_node);
            other.bytes.extend_from_slice(&page.bytes[behind..]);
            page.bytes.truncate(split + child);
            let number = self.new_page()?;
            self.write(number, &mut other)?;
            self.other = other;
            self.write(step.number, page)?;
            right = Some(number);
        }
        self.new_root(entry, right)
    }

    fn new_root(&mut self, entry: &[u8], right: Option<u32>) -> Outcome<()> {
        let mut page = std::mem::take(&mut self.other);
        page.clear(right.is_some());
        if let (Some(left), Some(_)) = (self.root, right) {
            page.bytes.extend_from_slice(&left.to_le_bytes());
        }
        page.bytes.extend_from_slice(entry);
        if let Some(right) = right {
            page.bytes.extend_from_slice(&right.to_le_bytes());
        }
        let number = self.new_page()?;
        self.write(number, &mut page)?;
        self.other = page;
        self.root = Some(number);
        Ok(())
    }

    /// Calls `visit` with the position of each entry of a key, until it returns true.
    pub(super) fn visit(
        &self,
        key: &[u8],
        mut visit: impl FnMut(u64) -> Outcome<bool>,
    ) -> Outcome<()> {
        if let Some(root) = self.root {
            self.visit_page(root, key, &mut visit)?;
        }
        Ok(())
    }

    fn visit_page(
        &self,
        number: u32,
        key: &[u8],
        visit: &mut impl FnMut(u64) -> Outcome<bool>,
    ) -> Outcome<bool> {
        let mut page = Page::default();
        self.read(number, &mut page)?;
        let corrupt = || self.corrupt(number);
        let child = page.child_bytes();
        let mut at = HEADER;
        while at + child < page.bytes.len() {
            let entry = page::entry(&page.bytes, at + child).ok_or_else(corrupt)?;
            if entry.key >= key {
                if page.is_node {
                    let below = page::child(&page.bytes, at).ok_or_else(corrupt)?;
                    if self.visit_page(below, key, visit)? {
                        return Ok(true);
                    }
                }
                if entry.key > key {
                    return Ok(false);
                }
                if visit(entry.position)? {
                    return Ok(true);
                }
            }
            at = entry.end;
        }
        if page.is_node {
            let below = page::child(&page.bytes, at).ok_or_else(corrupt)?;
            return self.visit_page(below, key, visit);
        }
        Ok(false)
    }

    /// Number of pages.
    #[cfg(test)]
    pub(super) fn pages(&self) -> u64 {
        self.space.length() / self.page_length as u64
    }
}
