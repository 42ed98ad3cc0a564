//! The unit in which rows travel between operators.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

/// Rows of a few columns: Arrow arrays of equal length. Unlike an Arrow `RecordBatch` it carries
/// no schema (the plan knows it), so that a one-row statement pays for nothing it does not use,
/// and it may have rows without columns (`SELECT COUNT(*)` reads no column).
#[derive(Debug, Clone)]
pub struct Batch {
    columns: Vec<ArrayRef>,
    row_count: usize,
}

impl Batch {
    /// A batch of `row_count` rows.
    ///
    /// # Panics
    /// When a column's length is not `row_count`: a bug in the operator that made it.
    pub fn new(columns: Vec<ArrayRef>, row_count: usize) -> Self {
        for column in &columns {
            assert_eq!(
                column.len(),
                row_count,
                "a batch's columns are of equal length"
            );
        }
        Self { columns, row_count }
    }

    /// The columns, in the order of the producing operator's output.
    pub fn columns(&self) -> &[ArrayRef] {
        &self.columns
    }

    /// One column.
    pub fn column(&self, index: usize) -> &ArrayRef {
        &self.columns[index]
    }

    /// The number of rows.
    pub fn row_count(&self) -> usize {
        self.row_count
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.row_count == 0
    }

    /// The columns, by value.
    pub fn into_columns(self) -> Vec<ArrayRef> {
        self.columns
    }

    /// The bytes of its strings.
    pub fn string_bytes(&self) -> usize {
        let columns = self.columns.iter();
        let strings = columns.filter_map(|column| column.as_binary_view_opt());
        strings
            .map(|strings| strings.total_buffer_bytes_used())
            .sum()
    }

    /// The rows with copies of their strings: a view into a block of a table keeps all of it, which
    /// the table may need to release.
    #[must_use]
    pub fn with_own_strings(self) -> Self {
        let columns = self.columns.into_iter();
        let columns = columns.map(|column| match column.data_type() {
            DataType::BinaryView => Arc::new(column.as_binary_view().gc()) as ArrayRef,
            _ => column,
        });
        Self {
            columns: columns.collect(),
            row_count: self.row_count,
        }
    }

    /// The rows `offset .. offset + length`, without a copy.
    pub fn slice(&self, offset: usize, length: usize) -> Self {
        let columns = self
            .columns
            .iter()
            .map(|column| column.slice(offset, length))
            .collect();
        Self {
            columns,
            row_count: length,
        }
    }
}
