//! Page of a key tree.
//!
//! | bytes | |
//! |---|---|
//! | 2 | bytes in use, with the top bit set in inner pages |
//! | … | the entries |
//! | 4 | at the end of the page: a checksum |
//!
//! An entry is a key behind its length (one byte, or 255 and two bytes) and a row's position in 6 bytes. In an inner
//! page the number of a child page, 4 bytes, is before each entry and behind the last one. Unlike in a B+-tree, a key
//! in an inner page is in no leaf. As with MyISAM's packed keys, a page is searched from its beginning.

use std::cmp::Ordering;

use super::rows::{CHECKSUM_BYTES, checksum};

/// Bytes before the entries.
pub(super) const HEADER: usize = 2;
/// Bytes of a child's number.
pub(super) const CHILD: usize = 4;
/// Bytes of a row's position.
pub(super) const POINTER: usize = 6;
const NODE: u16 = 0x8000;

/// Bytes of an entry with a key of `key` bytes.
pub(super) fn entry_length(key: usize) -> usize {
    key + if key < 255 { 1 } else { 3 } + POINTER
}

/// Appends an entry as it is on a page.
pub(super) fn put_entry(key: &[u8], position: u64, out: &mut Vec<u8>) {
    out.clear();
    if key.len() < 255 {
        out.push(key.len() as u8);
    } else {
        out.push(255);
        out.extend_from_slice(&(key.len() as u16).to_le_bytes());
    }
    out.extend_from_slice(key);
    out.extend_from_slice(&position.to_le_bytes()[..POINTER]);
}

/// Entry that was read from a page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) key: &'a [u8],
    pub(super) position: u64,
    /// Offset of the entry's end.
    pub(super) end: usize,
}

/// Reads the entry at an offset.
#[inline]
pub(super) fn entry(page: &[u8], at: usize) -> Option<Entry<'_>> {
    let (length, start) = match *page.get(at)? {
        255 => {
            let length = page.get(at + 1..at + 3)?;
            (u16::from_le_bytes(length.try_into().ok()?) as usize, at + 3)
        }
        length => (usize::from(length), at + 1),
    };
    let end = start + length + POINTER;
    let key = page.get(start..start + length)?;
    let mut position = [0; 8];
    position[..POINTER].copy_from_slice(page.get(start + length..end)?);
    Some(Entry {
        key,
        position: u64::from_le_bytes(position),
        end,
    })
}

/// The child whose number is at an offset.
pub(super) fn child(page: &[u8], at: usize) -> Option<u32> {
    let number = page.get(at..at + CHILD)?;
    Some(u32::from_le_bytes(number.try_into().ok()?))
}

/// Result of a search for a key on a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Search {
    /// The key exists, with this position.
    Found(u64),
    /// The key would be at this offset: of an entry, or in an inner page of the child before it.
    Missing(usize),
}

/// Page in memory: its used bytes, without the checksum.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// Bytes from the beginning of the page; may exceed the page size until it is split.
    pub(super) bytes: Vec<u8>,
    pub(super) is_node: bool,
}

impl Page {
    /// Empties the page.
    pub(super) fn clear(&mut self, is_node: bool) {
        self.bytes.clear();
        self.bytes.resize(HEADER, 0);
        self.is_node = is_node;
    }

    /// Bytes of the child number before an entry.
    pub(super) fn child_bytes(&self) -> usize {
        if self.is_node { CHILD } else { 0 }
    }

    /// Parses a whole page that is in `self.bytes`. With `check`, the checksum must match.
    pub(super) fn open(&mut self, check: bool) -> Option<()> {
        let end = self.bytes.len().checked_sub(CHECKSUM_BYTES)?;
        if check && checksum(&self.bytes[..end]) != self.bytes[end..] {
            return None;
        }
        let header = u16::from_le_bytes([*self.bytes.first()?, *self.bytes.get(1)?]);
        let used = usize::from(header & !NODE);
        if used > end || used < HEADER {
            return None;
        }
        self.is_node = header & NODE != 0;
        self.bytes.truncate(used);
        Some(())
    }

    /// Completes the bytes to a whole page of length `length`.
    pub(super) fn seal(&mut self, length: usize) {
        let used = self.bytes.len() as u16 | if self.is_node { NODE } else { 0 };
        self.bytes[..HEADER].copy_from_slice(&used.to_le_bytes());
        let end = length - CHECKSUM_BYTES;
        self.bytes.resize(end, 0);
        let sum = checksum(&self.bytes);
        self.bytes.extend_from_slice(&sum);
    }

    /// Searches for a key. `None`: the page is damaged.
    pub(super) fn search(&self, key: &[u8], position: Option<u64>) -> Option<Search> {
        let mut at = HEADER;
        let child = self.child_bytes();
        while at + child < self.bytes.len() {
            let found = entry(&self.bytes, at + child)?;
            let order = found.key.cmp(key);
            let order = match position {
                Some(position) => order.then(found.position.cmp(&position)),
                None => order,
            };
            match order {
                Ordering::Less => at = found.end,
                Ordering::Equal => return Some(Search::Found(found.position)),
                Ordering::Greater => break,
            }
        }
        Some(Search::Missing(at))
    }

    /// The offset of the entry that moves up when the page is split: the last but one when the new entry is the last,
    /// so that ascending keys fill their pages, else the one in the middle. There are entries on either side.
    pub(super) fn split_point(&self, is_last: bool) -> Option<usize> {
        let child = self.child_bytes();
        let mut offsets = Vec::new();
        let mut at = HEADER;
        while at + child < self.bytes.len() {
            offsets.push(at);
            at = entry(&self.bytes, at + child)?.end;
        }
        let last = offsets.len().checked_sub(2).filter(|last| *last > 0)?;
        if is_last {
            return offsets.get(last).copied();
        }
        let middle = self.bytes.len() / 2;
        let index = offsets.partition_point(|offset| *offset < middle);
        offsets.get(index.clamp(1, last)).copied()
    }
}
