//! Table statistics: rows are counted by commits, distinct keys are estimated from a sample of blocks.
//!
//! A sample is taken when it is first asked for, and again by ANALYZE TABLE and when the table has grown or shrunk by
//! a fifth. InnoDB's `innodb_stats_auto_recalc` uses a tenth; the difference affects nothing but plans.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use mayfly_memory::sync::lock;
use mayfly_types::Result;

use super::block::Block;
use super::definition::{IndexTree, TableDefinition};
use super::environment::Environment;
use super::gather::Pieces;
use super::record_key::TreeId;
use super::store::{DurableStore, Estimate, Store};
use super::view::TreeView;
use crate::key_encoding::ByteRange;
use crate::table::{IndexId, TableStatistics, no_index, sample_runs};

/// Number of blocks in a sample.
const SAMPLE_BLOCKS: usize = 24;
/// Longest range, in blocks, whose rows are counted rather than estimated.
const COUNTED_BLOCKS: usize = 64;

fn known(store: &Store, tree: TreeId) -> Option<Arc<Estimate>> {
    let known = lock(&store.estimates);
    known.get(&tree).cloned()
}

pub(super) fn of_table(store: &Store, definition: &TableDefinition) -> Result<TableStatistics> {
    let rows = store.row_count(definition.rows())?;
    let mut disk_bytes = 0;
    for tree in definition.all_trees() {
        let known = known(store, tree);
        disk_bytes += match known {
            Some(estimate) if estimate.rows > 0 => {
                estimate.blocks.saturating_mul(8192).saturating_mul(rows) / estimate.rows
            }
            _ => rows.saturating_mul(first_row_bytes(&store.environment, tree)?),
        };
    }
    Ok(TableStatistics {
        rows,
        disk_bytes,
        ..TableStatistics::default()
    })
}

/// Size of a tree in bytes, estimated from its rows and its first block.
pub(super) fn tree_bytes(environment: &Environment, tree: TreeId) -> Result<u64> {
    let rows = environment.row_count(tree)?;
    Ok(rows.saturating_mul(first_row_bytes(environment, tree)?))
}

/// Size of a row in bytes, estimated from the first block.
fn first_row_bytes(environment: &Environment, tree: TreeId) -> Result<u64> {
    let snapshot = environment.newest()?;
    let Some(found) = snapshot.block_of(tree, &[])? else {
        return Ok(0);
    };
    let rows = Block::count(found.block)?.max(1) as u64;
    Ok((found.block.len() as u64).div_ceil(rows))
}

/// Estimates of the number of distinct values of an index's first 1, 2, … parts.
pub(super) fn distinct_keys(
    store: &Store,
    definition: &TableDefinition,
    index: IndexId,
    parts: usize,
) -> Result<u64> {
    let Some(tree) = definition.index(index) else {
        return Ok(0);
    };
    let rows = store.row_count(entries_of(definition, tree))?;
    if parts == 0 || rows == 0 {
        return Ok(rows.min(1));
    }
    if tree.unique && parts >= tree.encoder.part_count() {
        return Ok(rows);
    }
    let known = known(store, tree.tree);
    let estimate = match known {
        Some(estimate) if estimate.rows.abs_diff(rows) <= estimate.rows / 5 => estimate,
        _ => sample(store, definition, index, rows)?,
    };
    let steps = estimate.steps.get(parts - 1).copied().unwrap_or(0);
    if estimate.sampled == 0 {
        return Ok(rows);
    }
    let share = steps as f64 / estimate.sampled as f64;
    Ok(((share * rows as f64) as u64).clamp(1, rows))
}

/// The tree whose number of rows is the number of an index's entries: that of the rows, or a multi-valued index's own.
fn entries_of(definition: &TableDefinition, index: &IndexTree) -> TreeId {
    if index.encoder.is_multi_valued() {
        index.tree
    } else {
        definition.rows()
    }
}

/// Takes a new sample of every index.
pub(super) fn analyze(store: &Store, definition: &TableDefinition) -> Result<()> {
    for index in (0..definition.indexes().len()).map(IndexId) {
        let tree = definition.index(index).ok_or_else(no_index)?;
        let rows = store.row_count(entries_of(definition, tree))?;
        sample(store, definition, index, rows)?;
    }
    Ok(())
}

/// Samples blocks of an index.
fn sample(
    store: &Store,
    definition: &TableDefinition,
    index: IndexId,
    rows: u64,
) -> Result<Arc<Estimate>> {
    let Some(tree) = definition.index(index) else {
        return Err(no_index());
    };
    let parts = tree.encoder.part_count();
    let snapshot = store.environment.newest()?;
    let mut blocks = Vec::new();
    let mut walk = snapshot.walk(tree.tree, &[], None, false)?;
    walk.take(|found| {
        blocks.push(found);
        false
    })?;
    let step = blocks.len().div_ceil(SAMPLE_BLOCKS).max(1);
    let mut steps = vec![0; parts];
    let mut sampled = 0;
    for found in blocks.iter().step_by(step) {
        let block = snapshot.block(*found)?;
        let mut before = block.key(0)?;
        // A small tree is read as a whole, where the first row is one more value.
        if step == 1 && sampled == 0 {
            steps.iter_mut().for_each(|steps| *steps += 1);
            sampled += 1;
        }
        for row in 1..block.rows() {
            let key = block.key(row)?;
            let common = super::rows::common(&before, &key);
            for (part, steps) in steps.iter_mut().enumerate() {
                if tree.encoder.parts_length(&key, part + 1) > common {
                    *steps += 1;
                }
            }
            before = key;
        }
        sampled += block.rows() as u64 - 1;
    }
    let estimate = Arc::new(Estimate {
        rows,
        blocks: blocks.len() as u64,
        steps,
        sampled,
    });
    let mut known = lock(&store.estimates);
    known.insert(tree.tree, Arc::clone(&estimate));
    Ok(estimate)
}

/// Samples rows of a view: `take` gets each run.
pub(super) fn sample_rows(
    view: &TreeView,
    rows: usize,
    take: &mut dyn FnMut(&mut Pieces) -> Result<()>,
) -> Result<()> {
    let mut segments = Vec::new();
    let mut walk = view.segments(ByteRange::ALL, false);
    // Rows that the transaction has added are not in the count.
    let mut counted = 0;
    while let Some(segment) = walk.next()? {
        if counted <= rows {
            counted += segment.rows();
        }
        segments.push(segment);
    }
    let mut add = |segment, choose: &dyn Fn(usize) -> Range<usize>| -> Result<()> {
        let mut pieces = view.pieces();
        view.resolve_some(segment, choose, &mut pieces)?;
        if pieces.rows() > 0 {
            take(&mut pieces)?;
        }
        Ok(())
    };
    if counted <= rows {
        for segment in &segments {
            add(segment, &|rows| 0..rows)?;
        }
    } else {
        for run in sample_runs(segments.len(), rows) {
            add(&segments[run.piece], &|rows| run.rows(rows))?;
        }
    }
    Ok(())
}

/// Estimate of the number of rows in a range.
pub(super) fn rows_in_range(store: &Store, view: &TreeView, range: &ByteRange) -> Result<u64> {
    let mut pieces = view.pieces();
    let mut segments = view.segments(range.clone(), false);
    for _ in 0..COUNTED_BLOCKS {
        let Some(segment) = segments.next()? else {
            return Ok(pieces.rows() as u64);
        };
        view.resolve(&segment, range, &mut pieces)?;
    }
    // Keys are assumed to be evenly spread between the first and the last.
    let all = store.row_count(view.tree)?;
    let ends = |reverse| -> Result<Option<Vec<u8>>> {
        let snapshot = &view.snapshot;
        let next = snapshot.walk(view.tree, &[], None, reverse)?.next()?;
        let separator = next.map(|found| found.separator()).transpose()?;
        Ok(separator.map(Cow::into_owned))
    };
    let (Some(first), Some(last)) = (ends(false)?, ends(true)?) else {
        return Ok(pieces.rows() as u64);
    };
    let first = if first.is_empty() {
        view.first_key(&ByteRange::ALL)?.unwrap_or(first)
    } else {
        first
    };
    let skip = super::rows::common(&first, &last);
    let as_number = |key: &[u8]| {
        let mut bytes = [0; 8];
        for (to, from) in bytes.iter_mut().zip(key.iter().skip(skip)) {
            *to = *from;
        }
        u64::from_be_bytes(bytes) as f64
    };
    let (low, high) = (as_number(&first), as_number(&last));
    let counted = pieces.rows() as u64;
    // The first key includes the transaction's changes, the last does not, so the interval between them may be empty.
    if low >= high {
        return Ok(all.max(counted));
    }
    let start = if range.start <= first {
        low
    } else {
        as_number(&range.start).clamp(low, high)
    };
    let end = match &range.end {
        Some(end) if *end < last => as_number(end).clamp(low, high),
        _ => high,
    };
    let share = ((end - start) / (high - low)).max(0.0);
    Ok(((share * all as f64) as u64).clamp(counted, all.max(counted)))
}

impl DurableStore {
    /// ANALYZE TABLE: takes a new sample of each index.
    pub fn analyze(&self, definition: &TableDefinition) -> Result<()> {
        analyze(&self.0, definition)
    }
}
