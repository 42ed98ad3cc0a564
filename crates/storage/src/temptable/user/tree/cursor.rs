//! Reading of ranges of a tree, and estimates of their size.

use mayfly_memory::Result;

use super::super::pages::Pager;
use super::node::{self, NONE};
use super::{ID_BYTES, Tree};
use crate::key_encoding::ByteRange;

/// Number of leaves that are counted before the rest of a range is estimated.
const LEAVES_COUNTED: usize = 8;
/// Number of sampled leaves for an estimate of distinct keys.
const LEAVES_SAMPLED: u64 = 8;

/// Position in the reading of a range.
#[derive(Debug, Clone, Copy, Default)]
pub(in super::super) enum Cursor {
    /// At the beginning of the range.
    #[default]
    Start,
    /// At an entry (leaf, index); backwards, after the entry.
    At(u32, u32),
    /// At the end of the range.
    End,
}

impl Tree {
    /// Appends the row numbers of the next entries of a range, at most `most`. In reverse, from its end.
    pub(in super::super) fn read_range(
        &self,
        pager: &Pager,
        range: &ByteRange,
        reverse: bool,
        cursor: &mut Cursor,
        most: usize,
        rows: &mut Vec<u64>,
    ) -> Result<()> {
        if self.entries == 0 || range.is_empty() {
            *cursor = Cursor::End;
        }
        let (mut leaf, mut index) = match *cursor {
            Cursor::Start => self.start_of(pager, range, reverse)?,
            Cursor::At(leaf, index) => (leaf, index as usize),
            Cursor::End => return Ok(()),
        };
        let enough = rows.len().saturating_add(most);
        while leaf != NONE {
            let page = self.pages.read(pager, leaf)?;
            let room = enough - rows.len();
            if reverse {
                let first = match node::count(page) {
                    0 => 0,
                    _ => node::search(page, &range.start),
                };
                let until = first.max(index.saturating_sub(room));
                rows.extend((until..index).rev().map(|index| node::row_id(page, index)));
                if until > first {
                    *cursor = Cursor::At(leaf, until as u32);
                    return Ok(());
                }
                if first > 0 {
                    break;
                }
                leaf = node::previous(page);
                if leaf != NONE {
                    index = node::count(self.pages.read(pager, leaf)?);
                }
            } else {
                let count = node::count(page);
                let end = match &range.end {
                    Some(end) if !node::last_is_less(page, end) => node::search(page, end),
                    _ => count,
                };
                let until = end.min(index.saturating_add(room)).max(index);
                rows.extend((index..until).map(|index| node::row_id(page, index)));
                if until < end {
                    *cursor = Cursor::At(leaf, until as u32);
                    return Ok(());
                }
                if end < count {
                    break;
                }
                (leaf, index) = (node::next(page), 0);
            }
        }
        *cursor = Cursor::End;
        Ok(())
    }

    fn start_of(&self, pager: &Pager, range: &ByteRange, reverse: bool) -> Result<(u32, usize)> {
        let key = match (reverse, &range.end) {
            (false, _) => range.start.as_slice(),
            (true, Some(end)) => end.as_slice(),
            (true, None) => {
                let page = self.pages.read(pager, self.last)?;
                return Ok((self.last, node::count(page)));
            }
        };
        let leaf = self.leaf_of(pager, key)?;
        let page = self.pages.read(pager, leaf)?;
        Ok((leaf, node::search(page, key)))
    }

    /// Estimate of the number of entries in a range.
    pub(in super::super) fn estimate(&self, pager: &Pager, range: &ByteRange) -> Result<u64> {
        if self.entries == 0 || range.is_empty() {
            return Ok(0);
        }
        let (mut leaf, mut index) = self.start_of(pager, range, false)?;
        let mut counted = 0;
        for _ in 0..LEAVES_COUNTED {
            let page = self.pages.read(pager, leaf)?;
            let count = node::count(page);
            if let Some(end) = &range.end
                && !node::last_is_less(page, end)
            {
                let end = node::search(page, end);
                return Ok(counted + end.saturating_sub(index) as u64);
            }
            counted += count.saturating_sub(index) as u64;
            (leaf, index) = (node::next(page), 0);
            if leaf == NONE {
                return Ok(counted);
            }
        }
        let start = self.rank(pager, &range.start)?;
        let end = match &range.end {
            Some(end) => self.rank(pager, end)?,
            None => 1.0,
        };
        let rows = (end - start).max(0.0) * self.entries as f64;
        Ok((rows as u64).max(counted))
    }

    /// Estimate of the fraction of entries that are smaller than a key, assuming that all nodes are equally full.
    fn rank(&self, pager: &Pager, key: &[u8]) -> Result<f64> {
        let (mut rank, mut width) = (0.0, 1.0);
        let leaf = self.descend(pager, |_, page| {
            let position = node::search_child(page, key);
            width /= (node::count(page) + 1) as f64;
            rank += width * position as f64;
            position
        })?;
        let page = self.pages.read(pager, leaf)?;
        let position = node::search(page, key) as f64;
        Ok(rank + width * position / node::count(page).max(1) as f64)
    }

    /// Estimate of the number of distinct key prefixes. `beginning` returns the length of a key's prefix.
    pub(in super::super) fn distinct(
        &self,
        pager: &Pager,
        beginning: impl Fn(&[u8]) -> usize,
    ) -> Result<u64> {
        let (mut pairs, mut different) = (0_u64, 0_u64);
        let (mut entry, mut last) = (Vec::new(), Vec::new());
        for sample in 0..LEAVES_SAMPLED {
            let Some(mut leaf) = self.leaf_at(pager, sample)? else {
                break;
            };
            last.clear();
            // Two adjacent leaves; of few leaves all are counted.
            for _ in 0..2 {
                let page = self.pages.read(pager, leaf)?;
                for index in 0..node::count(page) {
                    entry.clear();
                    node::append_entry(page, index, &mut entry);
                    entry.truncate(entry.len().saturating_sub(ID_BYTES));
                    let length = beginning(&entry).min(entry.len());
                    entry.truncate(length);
                    if !last.is_empty() {
                        pairs += 1;
                        different += u64::from(entry != last);
                    }
                    std::mem::swap(&mut entry, &mut last);
                }
                leaf = node::next(page);
                if leaf == NONE {
                    break;
                }
            }
        }
        if pairs == 0 {
            return Ok(self.entries);
        }
        let keys = self.entries as f64 * different as f64 / pairs as f64;
        Ok((keys.round() as u64).clamp(1, self.entries))
    }

    /// The leaf of sample `sample`, spread over the tree.
    fn leaf_at(&self, pager: &Pager, sample: u64) -> Result<Option<u32>> {
        if self.root == NONE {
            return Ok(None);
        }
        let mut share = sample as f64 / LEAVES_SAMPLED as f64;
        let leaf = self.descend(pager, |_, page| {
            let scaled = share * (node::count(page) + 1) as f64;
            let position = (scaled as usize).min(node::count(page));
            share = scaled - position as f64;
            position
        });
        leaf.map(Some)
    }
}
