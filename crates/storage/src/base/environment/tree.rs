//! Applying changes to a tree of blocks, in key order, so that each block is rewritten once.
//!
//! A block keeps its key for its lifetime, except for the cases of [`crate::base::block_key`]; what is split off gets
//! the shortest separator that divides it from what comes before. A block that has become small is joined with the
//! next.

use std::sync::Arc;

use mayfly_types::PhysicalType;

use crate::base::block::{BLOCK_BYTES, Block, Checked};
use crate::base::block_key::{Found, NewKeys, floor};
use crate::base::environment::file_writer::FileWriter;
use crate::base::record_key::{TreeId, record_key};
use crate::base::redo::RowChange;
use crate::base::rows::block_sizes::{FREE_PREFIX_BYTES, Sizes};
use crate::base::rows::{Rows, common};

/// A block of fewer bytes is joined with the next.
const SMALL_BYTES: usize = BLOCK_BYTES / 4;

/// Applies changes, in ascending key order, to a tree; returns the change of its row count.
pub(super) fn apply(
    writer: &mut FileWriter<'_>,
    tree: TreeId,
    types: &Arc<[PhysicalType]>,
    changes: &[RowChange<'_>],
) -> mayfly_types::Result<i64> {
    let mut merge = Merge {
        tree,
        rows: Rows::new(types),
        bytes: Vec::new(),
    };
    let mut difference = 0;
    let mut next = 0;
    while next < changes.len() {
        let (done, more) = merge.apply_to_block(writer, &changes[next..])?;
        next += done;
        difference += more;
    }
    Ok(difference)
}

/// Merge of changes into a tree's blocks, with buffers used for one block after the other.
struct Merge {
    tree: TreeId,
    /// Rows of the block being built.
    rows: Rows,
    bytes: Vec<u8>,
}

impl Merge {
    /// Applies the changes that fall into the block of the first one; returns their number, and the change of the row
    /// count.
    fn apply_to_block(
        &mut self,
        writer: &mut FileWriter<'_>,
        changes: &[RowChange<'_>],
    ) -> mayfly_types::Result<(usize, i64)> {
        let Self { tree, rows, bytes } = self;
        let tree = *tree;
        rows.clear();
        let environment = writer.environment();
        let failed = |error: heed::Error| environment.error(&error);
        let all = writer.read();
        let (mut done, mut difference) = (0, 0);
        // Keys of the replaced records; the first of them stays in use.
        let mut old: Vec<Vec<u8>> = Vec::new();
        let mut found = floor(all, tree, changes[0].0).map_err(failed)?;
        // Keys below the first block's separator belong to the block, and lower its separator.
        let first_key = match found {
            Some(found) if *found.separator()? <= *changes[0].0 => record_key(tree, found.key),
            _ => record_key(tree, &[]),
        };
        let (at_end, next_key, sizes) = loop {
            let (next, block) = match found {
                Some(found) => {
                    let key = record_key(tree, found.key);
                    let next = all.after(&key).map_err(failed)?;
                    old.push(key);
                    let next = next.and_then(|record| Found::of(tree, record));
                    (next, Some(writer.block(found)?))
                }
                None => (None, None),
            };
            let last = match next {
                Some(next) => done + below(&changes[done..], &next.separator()?),
                None => changes.len(),
            };
            let (smallest, largest) = (changes[done..last].first(), changes[done..last].last());
            if let (Some((smallest, _)), Some((largest, _))) = (smallest, largest) {
                let shared = common(smallest, largest);
                rows.share(match &block {
                    Some(block) => shared_by(block.keys().0, &smallest[..shared]),
                    None => &smallest[..shared],
                });
            } else if let Some(block) = &block {
                rows.share(block.keys().0);
            }
            if let Some(block) = &block {
                let new = changes[done..last].iter();
                let bytes = new.map(|(key, row)| key.len() + row.map_or(0, <[u8]>::len));
                // Rows are written as soon as they fill a block.
                let bytes = bytes.sum::<usize>().min(BLOCK_BYTES);
                rows.reserve_for(block, (last - done).min(BLOCK_BYTES), bytes)?;
            }
            let mut row = 0;
            let mut appended = block.is_none();
            for (key, change) in &changes[done..last] {
                let mut exists = false;
                if let Some(block) = &block {
                    let at = if row == block.rows() {
                        Err(row)
                    } else {
                        block.search(key)?
                    };
                    let (Ok(end) | Err(end)) = at;
                    rows.append_block(block, row..end)?;
                    exists = at.is_ok();
                    row = end + usize::from(exists);
                    appended = end == block.rows();
                }
                difference += i64::from(change.is_some()) - i64::from(exists);
                if let Some(new) = change {
                    rows.append_row(key, new)?;
                }
            }
            if let Some(block) = &block {
                rows.append_block(block, row..block.rows())?;
            }
            done = last;
            let sizes = Sizes::of(rows, 0..rows.len());
            let is_small = rows.len() > 0 && sizes.total - sizes.prefix < SMALL_BYTES;
            match next {
                Some(next) if is_small && worth_joining(rows, &sizes, next)? => found = Some(next),
                _ => {
                    let next_key = next.and_then(|next| next.key_in_group());
                    break (next.is_none() && appended, next_key, sizes);
                }
            }
        };
        for key in old
            .iter()
            .filter(|key| rows.len() == 0 || **key != first_key)
        {
            writer.remove(key)?;
        }
        if rows.len() > 0 && sizes.counted() <= BLOCK_BYTES {
            rows.encode(&sizes, 0..rows.len(), bytes);
            writer.put(&first_key, bytes)?;
            return Ok((done, difference));
        }
        let limit = if at_end {
            BLOCK_BYTES
        } else {
            even_limit(&sizes)
        };
        let mut parts = Vec::new();
        let taken = rows.divide(0, limit, false, |range| {
            parts.push(range);
            Ok::<(), mayfly_types::Error>(())
        });
        taken?;
        let mut keys = NewKeys::after(tree, first_key, next_key);
        let mut left = parts.len();
        for range in parts {
            if range.start > 0 {
                keys.advance_in(writer, &rows.separator_before(range.start), left)?;
            }
            rows.encode(&Sizes::of(rows, range.clone()), range, bytes);
            writer.put(keys.last(), bytes)?;
            left -= 1;
        }
        Ok((done, difference))
    }
}

fn shared_by<'k>(one: &'k [u8], other: &[u8]) -> &'k [u8] {
    &one[..common(one, other)]
}

/// Whether rows and those of the next block are few enough for one block.
fn worth_joining(rows: &Rows, sizes: &Sizes, next: Found<'_>) -> Checked<bool> {
    let block = Block::parse(next.block)?;
    let prefix = block.keys().0;
    let shared = rows.common_with_first(prefix).min(sizes.prefix);
    let mine = sizes.total - sizes.prefix + (sizes.prefix - shared) * rows.len();
    let its = next.block.len() - prefix.len() + (prefix.len() - shared) * block.rows();
    Ok(mine + its + shared.min(FREE_PREFIX_BYTES) < BLOCK_BYTES * 3 / 4)
}

/// Number of changes with keys below `key`; searched from the front, since it is small most often.
fn below(changes: &[RowChange<'_>], key: &[u8]) -> usize {
    let mut bound = 1;
    while bound <= changes.len() && changes[bound - 1].0 < key {
        bound *= 2;
    }
    let (start, end) = (bound / 2, bound.min(changes.len()));
    start + changes[start..end].partition_point(|(own, _)| *own < key)
}

/// Byte limit that divides rows into blocks of about equal size, none above the usual one.
fn even_limit(all: &Sizes) -> usize {
    // Each block repeats the common prefix.
    let prefix = all.prefix.min(FREE_PREFIX_BYTES);
    let rest = all.counted() - prefix;
    let blocks = rest.div_ceil(BLOCK_BYTES - prefix).max(1);
    BLOCK_BYTES.min(prefix + rest / blocks + rest / blocks / 16 + 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_below_a_key_are_counted() {
        let keys: Vec<[u8; 1]> = (0..20).map(|key| [key * 2]).collect();
        let changes: Vec<RowChange<'_>> = keys.iter().map(|key| (key.as_slice(), None)).collect();
        for count in 0..changes.len() {
            for key in 0..=50 {
                let found = below(&changes[..count], &[key]);
                assert_eq!(
                    found,
                    count.min(usize::from(key).div_ceil(2)),
                    "{count} {key}"
                );
            }
        }
    }
}
