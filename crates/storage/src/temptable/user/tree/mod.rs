//! B+tree of index entries, each a key followed by the number of its row.
//!
//! Entries are unique, since the row number is part of them; keys may be equal. Leaves are chained in both directions.
//! A page is split in the middle, except that one which grows at one of its ends keeps all of its entries: ascending
//! and descending keys fill pages. A page is removed with its last entry.
//!
//! Pages are 4 KiB. When an entry is too long for them, the tree is rewritten with larger pages; one that is too long
//! for any page is cut, and its end replaced by a hash of the whole.
//!
//! An insertion allocates all pages that it needs before it changes any, so that nothing is changed if memory is
//! refused.

mod cursor;
mod node;

use std::sync::atomic::{AtomicU32, Ordering};

use mayfly_memory::{Block, Result};

use super::pages::{PageSet, Pager};
use crate::temptable::hash_bytes;

pub(super) use cursor::Cursor;
use node::NONE;

/// Bytes of a row number at the end of an entry.
pub(super) const ID_BYTES: usize = 6;

const SMALL_PAGE: usize = 4 << 10;
const LARGE_PAGE: usize = 32 << 10;
/// Maximum height of a tree with four entries a page.
const HEIGHT_MAX: usize = 32;
const HASH_BYTES: usize = 8;

/// Appends a row number to a key.
#[inline]
pub(super) fn push_id(entry: &mut Vec<u8>, id: u64) {
    entry.extend_from_slice(&id.to_be_bytes()[8 - ID_BYTES..]);
}

/// Shortens a key to fit into a page: a key that is too long is cut and ends with its hash. This preserves equality,
/// and the order of keys that differ before the cut.
pub(super) fn shorten_key(key: &mut Vec<u8>) {
    let most = node::longest_entry(LARGE_PAGE) - ID_BYTES;
    if key.len() > most {
        let hash = hash_bytes(key);
        key.truncate(most - HASH_BYTES);
        key.extend_from_slice(&hash.to_be_bytes());
    }
}

/// Position of an entry, existing or not, valid until the tree changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    leaf: u32,
    index: usize,
}

impl Position {
    /// Unknown position: the entry is searched for.
    pub(super) const UNKNOWN: Self = Self {
        leaf: NONE,
        index: 0,
    };
}

/// Path of inner nodes above a leaf, with the index of the child taken in each.
struct Path {
    steps: [(u32, u32); HEIGHT_MAX],
    length: usize,
}

/// B+tree. A clone is a snapshot.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    pages: PageSet,
    root: u32,
    /// The last leaf.
    last: u32,
    page_length: usize,
    /// Number of levels of inner nodes.
    height: u32,
    entries: u64,
    /// Position of the last insertion, to detect ascending keys.
    previous: (u32, usize),
    finger: Finger,
}

/// Finger: the leaf where the last search ended, since the next key is often near the last one.
#[derive(Debug)]
struct Finger(AtomicU32);

impl Finger {
    #[inline]
    fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    #[inline]
    fn set(&self, leaf: u32) {
        self.0.store(leaf, Ordering::Relaxed);
    }
}

impl Clone for Finger {
    fn clone(&self) -> Self {
        Self(AtomicU32::new(self.get()))
    }
}

impl Tree {
    /// An empty tree, without a page.
    pub(super) fn new() -> Self {
        Self {
            pages: PageSet::default(),
            root: NONE,
            last: NONE,
            page_length: SMALL_PAGE,
            height: 0,
            entries: 0,
            previous: (NONE, 0),
            finger: Finger(AtomicU32::new(NONE)),
        }
    }

    /// Whether [`Self::clear`] does: there is at most one page, a small one, which no snapshot has.
    pub(super) fn is_clearable(&mut self) -> bool {
        let page = self.pages.sole_page();
        self.root == NONE || page.is_some_and(|page| page.len() == SMALL_PAGE)
    }

    /// Removes all entries of a tree of one page and keeps the page.
    pub(super) fn clear(&mut self) {
        if let Some(page) = self.pages.sole_page() {
            node::clear(page, true);
            (self.root, self.last, self.entries) = (0, 0, 0);
            self.previous = (NONE, 0);
        }
    }

    /// Number of entries.
    pub(super) fn len(&self) -> u64 {
        self.entries
    }

    /// The pages, for eviction.
    pub(super) fn pages_mut(&mut self) -> &mut PageSet {
        &mut self.pages
    }

    fn new_page(&self, pager: &Pager) -> Result<Block> {
        pager.take(self.page_length)
    }

    /// The leaf for an entry, existing or not.
    fn leaf_of(&self, pager: &Pager, entry: &[u8]) -> Result<u32> {
        let mut number = self.root;
        for level in (0..self.height).rev() {
            let page = self.pages.read(pager, number)?;
            number = node::child(page, node::search_child(page, entry));
            if level == 0 {
                // In a leaf that is not in the cache, a search would wait for one line after the other.
                self.pages.prefetch(number, node::SLOTS_BYTES);
            }
        }
        Ok(number)
    }

    /// Descends from the root to a leaf: `choose` gives the index of the child to take in each node.
    fn descend(&self, pager: &Pager, mut choose: impl FnMut(u32, &[u8]) -> usize) -> Result<u32> {
        let mut number = self.root;
        loop {
            let page = self.pages.read(pager, number)?;
            if node::is_leaf(page) {
                return Ok(number);
            }
            number = node::child(page, choose(number, page));
        }
    }

    fn path_to(&self, pager: &Pager, entry: &[u8]) -> Result<(Path, u32)> {
        let mut path = Path {
            steps: [(NONE, 0); HEIGHT_MAX],
            length: 0,
        };
        let leaf = self.descend(pager, |number, page| {
            let position = node::search_child(page, entry);
            path.steps[path.length] = (number, position as u32);
            path.length += 1;
            position
        })?;
        Ok((path, leaf))
    }

    /// The row of the first entry that begins with `key`. Many threads may call this at once.
    pub(super) fn first_with(&self, pager: &Pager, key: &[u8]) -> Result<Option<u64>> {
        if self.entries == 0 {
            return Ok(None);
        }
        let leaf = self.leaf_of(pager, key)?;
        let position = node::search(self.pages.read(pager, leaf)?, key);
        Ok(self
            .at(
                pager,
                Position {
                    leaf,
                    index: position,
                },
                key,
            )?
            .1)
    }

    /// The position of `key` among the entries, and the row of the entry there if it begins with `key`. Searches for
    /// adjacent keys are faster.
    #[inline]
    pub(super) fn find(&self, pager: &Pager, key: &[u8]) -> Result<(Position, Option<u64>)> {
        if self.entries == 0 {
            return Ok((Position::UNKNOWN, None));
        }
        let at = self.position_of(pager, key)?;
        let (at, row) = self.at(pager, at, key)?;
        self.finger.set(at.leaf);
        Ok((at, row))
    }

    /// The row of the entry at a position, or behind it in the next leaf, if it begins with `key`, and its position.
    #[inline]
    fn at(&self, pager: &Pager, at: Position, key: &[u8]) -> Result<(Position, Option<u64>)> {
        let page = self.pages.read(pager, at.leaf)?;
        if at.index < node::count(page) {
            let found = node::begins_with(page, at.index, key);
            return Ok((at, found.then(|| node::row_id(page, at.index))));
        }
        let next = node::next(page);
        if next == NONE {
            return Ok((at, None));
        }
        let page = self.pages.read(pager, next)?;
        if node::begins_with(page, 0, key) {
            let at = Position {
                leaf: next,
                index: 0,
            };
            return Ok((at, Some(node::row_id(page, 0))));
        }
        Ok((at, None))
    }

    /// The position behind all smaller entries, in a tree with a root.
    #[inline]
    fn position_of(&self, pager: &Pager, entry: &[u8]) -> Result<Position> {
        let leaf = match self.near_finger(pager, entry)? {
            Some(leaf) => leaf,
            None => self.leaf_of(pager, entry)?,
        };
        let position = node::search(self.pages.read(pager, leaf)?, entry);
        Ok(Position {
            leaf,
            index: position,
        })
    }

    /// The leaf of the last search, if it is the one for `entry`. The leaf may have changed since, or be removed.
    #[inline]
    fn near_finger(&self, pager: &Pager, entry: &[u8]) -> Result<Option<u32>> {
        let leaf = self.finger.get();
        if leaf == NONE || !self.pages.has(leaf) {
            return Ok(None);
        }
        let page = self.pages.read(pager, leaf)?;
        Ok(node::covers(page, entry).then_some(leaf))
    }

    /// Adds an entry that does not exist. `at` is the position where a search missed its key, in a tree whose keys are
    /// unique and which has not changed since.
    pub(super) fn insert(
        &mut self,
        pager: &Pager,
        entry: &[u8],
        mut at: Position,
        scratch: &mut Vec<u8>,
    ) -> Result<()> {
        if self.root == NONE {
            self.page_length = SMALL_PAGE;
        }
        if entry.len() > node::longest_entry(self.page_length) {
            self.enlarge(pager, scratch)?;
            at = Position::UNKNOWN;
        }
        if self.root == NONE {
            let mut block = self.new_page(pager)?;
            node::clear(&mut block.as_mut_slice()[..], true);
            self.root = self.pages.add(block);
            self.last = self.root;
        }
        if at == Position::UNKNOWN {
            at = self.position_of(pager, entry)?;
        }
        let page = self.pages.write(pager, at.leaf)?;
        if node::insert(page, at.index, entry, NONE, scratch) {
            self.previous = (at.leaf, at.index);
            self.finger.set(at.leaf);
        } else {
            self.insert_split(pager, entry, scratch)?;
        }
        self.entries += 1;
        Ok(())
    }

    /// Adds an entry to a leaf that is full.
    #[cold]
    fn insert_split(&mut self, pager: &Pager, entry: &[u8], scratch: &mut Vec<u8>) -> Result<()> {
        let (path, leaf) = self.path_to(pager, entry)?;
        // One page for each node that may be split, and one for a new root.
        let mut spare = Vec::with_capacity(path.length + 2);
        for _ in 0..path.length + 2 {
            spare.push(self.new_page(pager)?);
        }
        for (number, _) in &path.steps[..path.length] {
            self.pages.write(pager, *number)?;
        }
        let page = self.pages.read(pager, leaf)?;
        let next = node::next(page);
        if next != NONE {
            self.pages.write(pager, next)?;
        }
        // From here on all pages used are in memory and writable.
        let mut taken = || spare.pop().expect("a page was taken for each node");
        let page = self.pages.write(pager, leaf)?;
        let count = node::count(page);
        let position = node::search(page, entry);
        let in_order = self.previous.0 == leaf;
        // An entry without the page's prefix gets a page of its own.
        let has_prefix = node::has_prefix(page, entry);
        let at_end = next == NONE || in_order && self.previous.1 + 1 == count || !has_prefix;
        let is_first = node::previous(page) == NONE;
        let at_start = is_first || in_order && self.previous.1 == 0 || !has_prefix;
        let at = match position {
            0 if at_start => 0,
            _ if position == count && at_end => count,
            _ => node::middle(page),
        };
        let (right, target) = self.split(pager, leaf, at, position, taken(), scratch)?;
        let (target_leaf, target_position) = target;
        let page = self.pages.write(pager, target_leaf)?;
        let fits = node::insert(page, target_position, entry, NONE, scratch);
        debug_assert!(fits, "half of a page has room for an entry");
        self.previous = (target_leaf, target_position);
        self.finger.set(target_leaf);
        // Update the neighbours and the last leaf.
        let next = node::next(self.pages.read(pager, leaf)?);
        let new = self.pages.write(pager, right)?;
        node::set_next(new, next);
        node::set_previous(new, leaf);
        node::set_next(self.pages.write(pager, leaf)?, right);
        match next {
            NONE => self.last = right,
            next => node::set_previous(self.pages.write(pager, next)?, right),
        }
        // Update the parents.
        let mut separator = self.separator(pager, leaf, right)?;
        let mut child = right;
        for (number, position) in path.steps[..path.length].iter().rev() {
            let (number, position) = (*number, *position as usize);
            let page = self.pages.write(pager, number)?;
            if node::insert(page, position, &separator, child, scratch) {
                return Ok(());
            }
            let count = node::count(page);
            // A node that grows at its end stays full.
            let at = match position {
                0 if !node::has_prefix(page, &separator) => 0,
                _ if position == count => count - 1,
                _ => node::middle(page).min(count - 1),
            };
            (separator, child) = self.split_inner(
                pager,
                (number, at),
                position,
                (separator, child),
                taken(),
                scratch,
            )?;
        }
        let mut block = taken();
        node::clear(block.as_mut_slice(), false);
        let root = self.pages.add(block);
        let old = std::mem::replace(&mut self.root, root);
        self.height += 1;
        let page = self.pages.write(pager, root)?;
        node::set_first_child(page, old);
        node::insert(page, 0, &separator, child, scratch);
        Ok(())
    }

    /// Splits a leaf at an entry. Returns the number of the right one, and the new leaf and index of the entry that
    /// was to be at `position`.
    fn split(
        &mut self,
        pager: &Pager,
        leaf: u32,
        at: usize,
        position: usize,
        mut block: Block,
        scratch: &mut Vec<u8>,
    ) -> Result<(u32, (u32, usize))> {
        node::clear(block.as_mut_slice(), true);
        let page = self.pages.write(pager, leaf)?;
        let count = node::count(page);
        if at == 0 {
            // The new page becomes the left one, under the old number.
            let (next, previous) = (node::next(page), node::previous(page));
            let right = self.pages.add(block);
            self.pages.swap(leaf, right);
            let left = self.pages.write(pager, leaf)?;
            node::set_next(left, next);
            node::set_previous(left, previous);
            return Ok((right, (leaf, 0)));
        }
        if at < count {
            node::move_upper(page, at, block.as_mut_slice(), scratch);
        }
        let right = self.pages.add(block);
        let target = if at == count || position > at {
            (right, position - at)
        } else {
            (leaf, position)
        };
        Ok((right, target))
    }

    /// Splits an inner node and adds a child to one half. Returns the separator that moves up, and the right node.
    fn split_inner(
        &mut self,
        pager: &Pager,
        (number, at): (u32, usize),
        position: usize,
        (separator, child): (Vec<u8>, u32),
        mut block: Block,
        scratch: &mut Vec<u8>,
    ) -> Result<(Vec<u8>, u32)> {
        let right = block.as_mut_slice();
        node::clear(right, false);
        let page = self.pages.write(pager, number)?;
        // The separator at `at` moves up, its child is the first of the right node.
        let mut up = Vec::with_capacity(32);
        node::append_entry(page, at, &mut up);
        let middle_child = node::child(page, at + 1);
        node::move_upper(page, at + 1, right, scratch);
        node::set_first_child(right, middle_child);
        node::remove(page, at);
        let fits = if position > at {
            node::insert(right, position - at - 1, &separator, child, scratch)
        } else {
            node::insert(page, position, &separator, child, scratch)
        };
        debug_assert!(fits, "half of a node has room for a child");
        Ok((up, self.pages.add(block)))
    }

    /// The shortest separator: larger than all entries of the left leaf and not larger than any of the right one.
    fn separator(&self, pager: &Pager, left: u32, right: u32) -> Result<Vec<u8>> {
        let (mut below, mut above) = (Vec::new(), Vec::new());
        let page = self.pages.read(pager, left)?;
        node::append_entry(page, node::count(page) - 1, &mut below);
        node::append_entry(self.pages.read(pager, right)?, 0, &mut above);
        let common = node::common_length(&below, &above);
        above.truncate(common + 1);
        Ok(above)
    }

    /// Removes an entry; returns whether it existed. `at` is where it was found in a tree that has not changed since.
    pub(super) fn remove(&mut self, pager: &Pager, entry: &[u8], at: Position) -> Result<bool> {
        if self.entries == 0 {
            return Ok(false);
        }
        let Position {
            leaf,
            index: position,
        } = match at {
            Position::UNKNOWN => self.position_of(pager, entry)?,
            at => at,
        };
        let page = self.pages.write(pager, leaf)?;
        if position >= node::count(page) || !node::begins_with(page, position, entry) {
            return Ok(false);
        }
        if node::count(page) == 1 && leaf != self.root {
            self.remove_leaf(pager, entry)?;
        } else {
            node::remove(page, position);
            self.finger.set(leaf);
        }
        self.entries -= 1;
        Ok(true)
    }

    /// Removes an entry and adds another, as [`Self::remove`] and [`Self::insert`] do, or does neither. An empty one
    /// stands for none.
    #[inline]
    pub(super) fn exchange(
        &mut self,
        pager: &Pager,
        (old, old_at): (&[u8], Position),
        (new, new_at): (&[u8], Position),
        scratch: &mut Vec<u8>,
    ) -> Result<()> {
        if !new.is_empty() {
            self.insert(pager, new, new_at, scratch)?;
        }
        if !old.is_empty()
            && let Err(error) = self.remove(pager, old, old_at)
        {
            if !new.is_empty() {
                // The entry was added just now: its page is in memory.
                let _ = self.remove(pager, new, Position::UNKNOWN);
            }
            return Err(error);
        }
        Ok(())
    }

    /// Removes the leaf of an entry that is its only one.
    #[cold]
    fn remove_leaf(&mut self, pager: &Pager, entry: &[u8]) -> Result<()> {
        let (path, leaf) = self.path_to(pager, entry)?;
        let page = self.pages.read(pager, leaf)?;
        let (next, previous) = (node::next(page), node::previous(page));
        // All pages to be changed are made writable first.
        for number in [next, previous] {
            if number != NONE {
                self.pages.write(pager, number)?;
            }
        }
        for (number, _) in &path.steps[..path.length] {
            self.pages.write(pager, *number)?;
        }
        if next != NONE {
            node::set_previous(self.pages.write(pager, next)?, previous);
        } else {
            self.last = previous;
        }
        if previous != NONE {
            node::set_next(self.pages.write(pager, previous)?, next);
        }
        self.pages.remove(leaf);
        for (number, position) in path.steps[..path.length].iter().rev() {
            let page = self.pages.write(pager, *number)?;
            if node::remove_child(page, *position as usize) {
                break;
            }
            self.pages.remove(*number);
        }
        self.previous = (NONE, 0);
        self.finger.set(NONE);
        self.collapse(pager)
    }

    /// Removes roots with a single child.
    fn collapse(&mut self, pager: &Pager) -> Result<()> {
        loop {
            let page = self.pages.read(pager, self.root)?;
            if node::is_leaf(page) || node::count(page) > 0 {
                return Ok(());
            }
            let child = node::child(page, 0);
            self.pages.remove(self.root);
            self.root = child;
            self.height -= 1;
        }
    }

    /// Rewrites the tree with larger pages.
    #[cold]
    fn enlarge(&mut self, pager: &Pager, scratch: &mut Vec<u8>) -> Result<()> {
        let mut larger = Self::new();
        let mut entry = Vec::new();
        let mut leaf = self.first_leaf(pager)?;
        let mut first = true;
        while leaf != NONE {
            let page = self.pages.read(pager, leaf)?;
            for index in 0..node::count(page) {
                entry.clear();
                node::append_entry(page, index, &mut entry);
                if first {
                    larger.start(pager, LARGE_PAGE)?;
                    first = false;
                }
                larger.insert(pager, &entry, Position::UNKNOWN, scratch)?;
            }
            leaf = node::next(page);
        }
        if first {
            larger.start(pager, LARGE_PAGE)?;
        }
        *self = larger;
        Ok(())
    }

    /// Creates the first page.
    fn start(&mut self, pager: &Pager, page_length: usize) -> Result<()> {
        self.page_length = page_length;
        let mut block = self.new_page(pager)?;
        node::clear(block.as_mut_slice(), true);
        self.root = self.pages.add(block);
        self.last = self.root;
        Ok(())
    }

    fn first_leaf(&self, pager: &Pager) -> Result<u32> {
        if self.root == NONE {
            return Ok(NONE);
        }
        self.descend(pager, |_, _| 0)
    }
}

#[cfg(test)]
mod tests;
