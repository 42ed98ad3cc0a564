//! B+-tree of pages in the buffer pool.
//!
//! The first entry of an inner page stands for all keys below the second one's. A full page is split into halves of
//! nearly equal size; the last page of a level, at an entry behind all others, so that ascending keys fill their
//! pages. Entries are never removed, and leaves are linked from left to right.

use super::page::{self, HEADER, NO_PAGE, PAGE_BYTES};
use super::tablespace::TablePages;
use crate::refusal::Outcome;

/// Bytes for entries.
const ROOM: usize = PAGE_BYTES - HEADER;

#[derive(Debug)]
pub(super) struct Tree {
    root: u32,
    /// Path of pages from the root down, whose memory is reused.
    path: Vec<u32>,
}

/// Position of a scan.
#[derive(Debug, Default)]
pub(crate) struct LeafCursor {
    /// A copy of the leaf.
    leaf: Vec<u8>,
    index: usize,
    is_started: bool,
}

impl Tree {
    pub(super) fn create(pages: &mut TablePages) -> Outcome<Self> {
        let root = pages.take()?;
        page::clear(pages.lock().new_page(pages.id(root))?, 0);
        Ok(Self {
            root,
            path: Vec::new(),
        })
    }

    /// Calls `take` with the leaf of a key.
    #[inline]
    fn at_leaf<T>(
        &self,
        pages: &TablePages,
        key: &[u8],
        take: impl FnOnce(&[u8]) -> T,
    ) -> Outcome<T> {
        let mut pool = pages.lock();
        let mut number = self.root;
        loop {
            let bytes = pool.page(pages.id(number))?;
            if page::level(bytes) == 0 {
                return Ok(take(bytes));
            }
            number = page::child(bytes, page::search_child(bytes, key));
        }
    }

    /// Copies the value of a key, which has the length of `value`; returns whether the key exists.
    pub(super) fn find(&self, pages: &TablePages, key: &[u8], value: &mut [u8]) -> Outcome<bool> {
        self.at_leaf(pages, key, |leaf| match page::search(leaf, key) {
            Ok(index) => {
                let found = page::value(leaf, index);
                let is_alike = found.len() == value.len();
                if is_alike {
                    value.copy_from_slice(found);
                }
                is_alike
            }
            Err(_) => false,
        })
    }

    /// Appends the value of a key to `value`; returns whether the key exists.
    pub(super) fn get(&self, pages: &TablePages, key: &[u8], value: &mut Vec<u8>) -> Outcome<bool> {
        self.at_leaf(pages, key, |leaf| match page::search(leaf, key) {
            Ok(index) => {
                value.extend_from_slice(page::value(leaf, index));
                true
            }
            Err(_) => false,
        })
    }

    /// Sets `found` to the first key from `key` on; returns whether there is one.
    pub(super) fn first_from(
        &self,
        pages: &TablePages,
        key: &[u8],
        found: &mut Vec<u8>,
    ) -> Outcome<bool> {
        found.clear();
        let mut next = self.at_leaf(pages, key, |leaf| {
            let (Ok(index) | Err(index)) = page::search(leaf, key);
            if index < page::count(leaf) {
                found.extend_from_slice(page::key(leaf, index));
                return None;
            }
            Some(page::next(leaf))
        })?;
        while let Some(number) = next.filter(|number| *number != NO_PAGE) {
            let mut pool = pages.lock();
            let leaf = pool.page(pages.id(number))?;
            next = Some(page::next(leaf));
            if page::count(leaf) > 0 {
                found.extend_from_slice(page::key(leaf, 0));
                return Ok(true);
            }
        }
        Ok(next.is_none())
    }

    /// Inserts a new key.
    pub(super) fn insert(
        &mut self,
        pages: &mut TablePages,
        key: &[u8],
        value: &[u8],
    ) -> Outcome<()> {
        self.put(pages, key, value)
    }

    /// Replaces the value of a key.
    pub(super) fn replace(
        &mut self,
        pages: &mut TablePages,
        key: &[u8],
        value: &[u8],
    ) -> Outcome<()> {
        self.put(pages, key, value)
    }

    fn put(&mut self, pages: &mut TablePages, key: &[u8], value: &[u8]) -> Outcome<()> {
        self.path.clear();
        let mut pool = pages.lock();
        let mut number = self.root;
        loop {
            self.path.push(number);
            let bytes = pool.page(pages.id(number))?;
            if page::level(bytes) == 0 {
                break;
            }
            number = page::child(bytes, page::search_child(bytes, key));
        }
        let leaf = pool.page_mut(pages.id(number))?;
        let index = match page::search(leaf, key) {
            Ok(index) => {
                if page::overwrite(leaf, index, value) {
                    return Ok(());
                }
                page::remove(leaf, index);
                index
            }
            Err(index) => index,
        };
        if page::has_room(leaf, page::entry_bytes(key, value)) {
            page::insert(leaf, index, key, value);
            return Ok(());
        }
        drop(pool);
        self.split(pages, key, value)
    }

    /// Inserts an entry into the full leaf at the end of the path, and splits pages as needed.
    fn split(&mut self, pages: &mut TablePages, key: &[u8], value: &[u8]) -> Outcome<()> {
        let (mut key, mut value) = (key.to_vec(), value.to_vec());
        while let Some(number) = self.path.pop() {
            let mut pool = pages.lock();
            let left = pool.page_mut(pages.id(number))?;
            let (Ok(index) | Err(index)) = page::search(left, &key);
            if page::has_room(left, page::entry_bytes(&key, &value)) {
                page::insert(left, index, &key, &value);
                return Ok(());
            }
            drop(pool);
            let new = pages.take()?;
            let mut pool = pages.lock();
            let left = pool.page_mut(pages.id(number))?;
            let old = left.to_vec();
            let entries = page::count(&old) + 1;
            let entry = |at: usize| match at.cmp(&index) {
                std::cmp::Ordering::Less => (page::key(&old, at), page::value(&old, at)),
                std::cmp::Ordering::Equal => (&key[..], &value[..]),
                std::cmp::Ordering::Greater => (page::key(&old, at - 1), page::value(&old, at - 1)),
            };
            let lengths = (0..entries).map(|at| {
                let (key, value) = entry(at);
                page::entry_bytes(key, value)
            });
            let is_last = index + 1 == entries && page::next(&old) == NO_PAGE;
            let middle = if is_last {
                entries - 1
            } else {
                split_point(&lengths.collect::<Vec<_>>())
            };
            page::clear(left, page::level(&old));
            page::set_next(left, new);
            for at in 0..middle {
                let (key, value) = entry(at);
                page::insert(left, at, key, value);
            }
            let right = pool.new_page(pages.id(new))?;
            page::clear(right, page::level(&old));
            page::set_next(right, page::next(&old));
            for at in middle..entries {
                let (key, value) = entry(at);
                page::insert(right, at - middle, key, value);
            }
            let first = entry(middle).0.to_vec();
            key = first;
            value = new.to_le_bytes().to_vec();
            if self.path.is_empty() {
                let level = page::level(&old) + 1;
                drop(pool);
                return self.new_root(pages, level, &key, &value);
            }
        }
        Ok(())
    }

    fn new_root(
        &mut self,
        pages: &mut TablePages,
        level: usize,
        key: &[u8],
        right: &[u8],
    ) -> Outcome<()> {
        let root = pages.take()?;
        let mut pool = pages.lock();
        let bytes = pool.new_page(pages.id(root))?;
        page::clear(bytes, level);
        page::insert(bytes, 0, &[], &self.root.to_le_bytes());
        page::insert(bytes, 1, key, right);
        self.root = root;
        Ok(())
    }

    /// The next entry of a scan from the first key on.
    pub(super) fn next<'a>(
        &self,
        pages: &TablePages,
        cursor: &'a mut LeafCursor,
    ) -> Outcome<Option<(&'a [u8], &'a [u8])>> {
        if !cursor.is_started {
            self.at_leaf(pages, &[], |leaf| cursor.leaf = leaf.to_vec())?;
            cursor.is_started = true;
        }
        while cursor.index >= page::count(&cursor.leaf) {
            let next = page::next(&cursor.leaf);
            if next == NO_PAGE {
                return Ok(None);
            }
            let mut pool = pages.lock();
            cursor.leaf.copy_from_slice(pool.page(pages.id(next))?);
            cursor.index = 0;
        }
        let index = cursor.index;
        cursor.index += 1;
        let leaf = &cursor.leaf;
        Ok(Some((page::key(leaf, index), page::value(leaf, index))))
    }
}

/// The index at which to split some entries, so that each part fits and their sizes are as equal as possible. An entry
/// is about half a page at most, so there is such an index.
fn split_point(lengths: &[usize]) -> usize {
    let total: usize = lengths.iter().sum();
    let mut left = 0;
    let mut best = (usize::MAX, 1);
    for (at, length) in lengths.iter().enumerate().take(lengths.len() - 1) {
        left += length;
        let right = total - left;
        if left <= ROOM && right <= ROOM {
            best = best.min((left.abs_diff(right), at + 1));
        }
    }
    best.1
}
