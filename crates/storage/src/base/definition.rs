//! Definition of a durable table, as far as the store needs it.
//!
//! The rows are a tree of their own, by the primary key or a hidden number. Each other index is a tree with one entry
//! per row, or with any number of entries if it is multi-valued: the entry's key is the key parts followed by the row's
//! position, its columns are the index's columns without prefix length and arrays and those of the primary key, so that
//! reads of these columns need only the index.

use std::sync::Arc;

use arrow_array::ArrayRef;
use mayfly_types::{IndexMethod, PhysicalType, Result};

use super::record_key::TreeId;
use crate::key_encoding::{KeyEncoder, RowKeyEncoder};
use crate::table::{IndexId, IndexPart, IndexSpec, no_index};

/// A durable table's definition. ALTER TABLE makes a new one.
#[derive(Debug)]
pub struct TableDefinition {
    columns: Arc<[PhysicalType]>,
    indexes: Vec<IndexSpec>,
    trees: Vec<IndexTree>,
    rows: TreeId,
    /// The primary key's index.
    clustered: Option<usize>,
}

/// The tree of an index.
#[derive(Debug)]
pub(super) struct IndexTree {
    pub(super) tree: TreeId,
    pub(super) encoder: KeyEncoder,
    /// The table's columns stored in the tree, in the tree's order.
    pub(super) columns: Vec<usize>,
    pub(super) types: Arc<[PhysicalType]>,
    pub(super) unique: bool,
}

impl TableDefinition {
    /// Definition with these columns and indexes; the rows are in tree `rows`, the entries of each index in one of
    /// `index_trees` (unused for the primary key).
    pub fn new(
        columns: Vec<PhysicalType>,
        indexes: Vec<IndexSpec>,
        rows: TreeId,
        index_trees: Vec<TreeId>,
    ) -> Self {
        let columns: Arc<[PhysicalType]> = columns.into();
        let is_clustered = |index: &IndexSpec| index.method == IndexMethod::Clustered;
        let clustered = indexes.iter().position(is_clustered);
        let parts = clustered
            .into_iter()
            .flat_map(|index| &indexes[index].parts);
        let primary: Vec<usize> = parts.map(|part| part.column).collect();
        let tree = |(index, tree): (&IndexSpec, TreeId)| {
            let encoder = KeyEncoder::new(&columns, &index.parts);
            if is_clustered(index) {
                return IndexTree {
                    tree: rows,
                    encoder,
                    columns: (0..columns.len()).collect(),
                    types: Arc::clone(&columns),
                    unique: true,
                };
            }
            // A column prefix cannot stand for the column, nor an element for the array.
            let is_whole = |part: &&IndexPart| part.prefix.is_none() && part.elements.is_none();
            let whole = index.parts.iter().filter(is_whole);
            let mut of_index: Vec<usize> = Vec::new();
            for column in whole.map(|part| part.column).chain(primary.iter().copied()) {
                if !of_index.contains(&column) {
                    of_index.push(column);
                }
            }
            IndexTree {
                tree,
                encoder,
                types: of_index.iter().map(|column| columns[*column]).collect(),
                columns: of_index,
                unique: index.unique,
            }
        };
        let trees = indexes.iter().zip(index_trees).map(tree).collect();
        Self {
            columns,
            indexes,
            trees,
            rows,
            clustered,
        }
    }

    /// The types of the columns.
    pub fn columns(&self) -> &[PhysicalType] {
        &self.columns
    }

    /// The indexes.
    pub fn indexes(&self) -> &[IndexSpec] {
        &self.indexes
    }

    /// The tree of the rows.
    pub fn rows(&self) -> TreeId {
        self.rows
    }

    /// Every tree of the table.
    pub(crate) fn all_trees(&self) -> Vec<TreeId> {
        let mut trees = vec![self.rows];
        trees.extend(self.secondary().map(|(_, index)| index.tree));
        trees
    }

    pub(super) fn types(&self) -> &Arc<[PhysicalType]> {
        &self.columns
    }

    /// The primary key.
    pub(super) fn primary(&self) -> Option<(IndexId, &IndexTree)> {
        let index = self.clustered?;
        Some((IndexId(index), &self.trees[index]))
    }

    /// The other indexes, in their order.
    pub(super) fn secondary(&self) -> impl Iterator<Item = (IndexId, &IndexTree)> {
        let all = self.trees.iter().enumerate();
        all.filter(|(number, _)| Some(*number) != self.clustered)
            .map(|(number, tree)| (IndexId(number), tree))
    }

    pub(super) fn index(&self, index: IndexId) -> Option<&IndexTree> {
        self.trees.get(index.0)
    }

    /// The encoder of the keys of rows in an index.
    pub fn row_keys(&self, index: IndexId) -> Result<RowKeyEncoder<'_>> {
        let tree = self.index(index).ok_or_else(no_index)?;
        Ok(RowKeyEncoder::new(&tree.encoder, |_| ()))
    }

    pub(super) fn is_clustered(&self, index: IndexId) -> bool {
        Some(index.0) == self.clustered
    }
}

impl IndexTree {
    /// Whether `values` key values that are not NULL identify at most one row.
    pub(super) fn is_whole_key(&self, values: usize) -> bool {
        self.unique && values == self.encoder.part_count()
    }

    /// The arrays of a row batch that the index's tree stores.
    pub(super) fn arrays<'a>(&'a self, row: &'a [ArrayRef]) -> impl Iterator<Item = &'a ArrayRef> {
        self.columns.iter().map(|column| &row[*column])
    }
}
