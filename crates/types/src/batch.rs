//! The unit in which rows travel between operators.

use arrow_array::ArrayRef;

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
