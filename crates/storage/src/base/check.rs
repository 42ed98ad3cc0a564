//! `mayfly check` and CHECK TABLE: consistency of the data file.
//!
//! Every block is intact, rows and blocks are in key order, a tree has as many rows as its count says, and each index
//! has exactly the entries of the rows: one for each, or any number in a multi-valued index.

use std::sync::Arc;

use mayfly_types::error::codes;
use mayfly_types::{Interrupt, Result};

use super::block::{Block, Damaged};
use super::definition::{IndexTree, TableDefinition};
use super::gather::Pieces;
use super::record_key::{META, TreeId, count_of, row_count_name};
use super::row_source::{BatchKeys, RowSource};
use super::snapshot::Snapshot;
use super::store::DurableStore;

impl DurableStore {
    /// Checks tables, and that no tree exists but theirs. The first fault found is the error.
    pub fn check(&self, tables: &[Arc<TableDefinition>]) -> Result<()> {
        let snapshot = self.0.environment.newest()?;
        let mut known = vec![META];
        for table in tables {
            known.extend(table.all_trees());
            check_table(&snapshot, table, &Interrupt::default())?;
        }
        // These trees are not yet, or no longer, part of a table.
        known.extend(snapshot.loading()?);
        known.sort_unstable();
        let mut tree = META;
        while let Some(next) = snapshot.tree_after(tree)? {
            if known.binary_search(&next).is_err() {
                return Err(wrong(next, "belongs to no table"));
            }
            tree = next;
        }
        Ok(())
    }

    /// Checks one table.
    pub fn check_table(&self, table: &TableDefinition, interrupt: &Interrupt) -> Result<()> {
        check_table(&self.0.environment.newest()?, table, interrupt)
    }
}

fn wrong(tree: TreeId, what: &str) -> mayfly_types::Error {
    codes::ER_UNKNOWN_ERROR.with(&[&format!("tree {tree} of the data file {what}")])
}

/// Calls `each` with every block of a tree, checked on its own and against its neighbours.
fn check_tree(
    snapshot: &Arc<Snapshot>,
    tree: TreeId,
    columns: usize,
    interrupt: &Interrupt,
    mut each: impl FnMut(Block<'static>) -> Result<()>,
) -> Result<u64> {
    let mut walk = snapshot.walk(tree, &[], None, false)?;
    let mut rows = 0;
    let mut before: Option<Vec<u8>> = None;
    while let Some(found) = walk.next()? {
        interrupt.check()?;
        if !Block::is_intact(found.block) {
            return Err(wrong(tree, "has a block whose checksum is wrong"));
        }
        let block = Block::parse(found.block)?;
        if block.columns() != columns {
            return Err(wrong(tree, "has a block with other columns"));
        }
        let is_after = |key: &[u8]| before.as_deref().is_none_or(|before| before < key);
        // Keys before the first separator are in the first block.
        let is_first = before.is_none();
        let separator = found.separator()?;
        if !is_first && (!is_after(&separator) || *separator > *block.key(0)?) {
            return Err(wrong(tree, "has a separator that does not separate"));
        }
        for row in 0..block.rows() {
            let key = block.key(row)?;
            if before
                .as_deref()
                .is_some_and(|before| before >= key.as_slice())
            {
                return Err(wrong(tree, "has rows that are not in order"));
            }
            before = Some(key);
        }
        rows += block.rows() as u64;
        each(block)?;
    }
    let counted = snapshot.record(&row_count_name(tree))?.map_or(0, count_of);
    if counted != rows {
        let what = format!("has {rows} rows, and {counted} were counted");
        return Err(wrong(tree, &what));
    }
    Ok(rows)
}

fn check_table(
    snapshot: &Arc<Snapshot>,
    table: &TableDefinition,
    interrupt: &Interrupt,
) -> Result<()> {
    let columns = table.columns().len();
    let secondary: Vec<&IndexTree> = table.secondary().map(|(_, index)| index).collect();
    let wanted: Vec<_> = table.columns().iter().copied().enumerate().collect();
    let mut entries = vec![0; secondary.len()];
    check_tree(snapshot, table.rows(), columns, interrupt, |block| {
        let mut pieces = Pieces::new(snapshot);
        let number = pieces.add_block(block);
        pieces.push(number, 0, block.rows());
        let arrays = pieces.columns(&wanted, &[])?;
        let keys = BatchKeys::of_positioned(table, &arrays);
        let mut key = Vec::new();
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        for row in 0..block.rows() {
            let position = block.key(row)?;
            if table.primary().is_some() {
                keys.position(row, &mut key);
                if key != position {
                    return Err(wrong(table.rows(), "has a row that does not have its key"));
                }
            }
            let source = keys.row(row);
            for (number, index) in secondary.iter().enumerate() {
                expected.clear();
                source.encode_entry(index, &mut expected)?;
                source.each_entry(number, &mut key, |key| {
                    let key = [key.as_slice(), &position].concat();
                    // A damaged block is reported by the check of its own tree.
                    let entry = snapshot.held_block_of(index.tree, &key)?;
                    let entry = entry.map(|found| Block::parse(found.block)).transpose()?;
                    let row_of = |entry: &Block<'_>| Ok::<_, Damaged>(entry.search(&key)?.ok());
                    let entry_row = entry.as_ref().map(row_of).transpose()?.flatten();
                    let (Some(entry), Some(entry_row)) = (entry, entry_row) else {
                        return Err(wrong(index.tree, "has no entry for a row of its table"));
                    };
                    found.clear();
                    super::row::encode_from_block(&index.types, &entry, entry_row, &mut found)?;
                    if expected != found {
                        return Err(wrong(index.tree, "has an entry that is not like its row"));
                    }
                    entries[number] += 1;
                    Ok(())
                })?;
            }
        }
        Ok(())
    })?;
    for (index, expected) in secondary.into_iter().zip(entries) {
        // Every row has its entries, so an equal count proves that there are no others.
        let entries = check_tree(snapshot, index.tree, index.columns.len(), interrupt, |_| {
            Ok(())
        })?;
        if entries != expected {
            let what = format!("has {entries} entries, and its table's rows have {expected}");
            return Err(wrong(index.tree, &what));
        }
    }
    Ok(())
}
