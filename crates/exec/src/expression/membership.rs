//! Rows of a subquery that ANY and ALL compare with. Membership, as IN and NOT IN ask, is found by hash; only row
//! values that NULLs leave undecided are compared row by row.

use arrow_array::{Array, ArrayRef};
use mayfly_storage::{GroupIndex, TempTable};
use mayfly_types::{Batch, Result};

/// Rows of a subquery.
pub(super) struct Members {
    /// The rows; `None` where the index is sufficient.
    rows: Option<TempTable>,
    /// Index of the rows without NULL; `None` where they are compared otherwise, or exceed the memory.
    index: Option<GroupIndex>,
    row_count: usize,
    has_nulls: bool,
}

/// Membership of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Membership {
    IsMember,
    NoMember,
    /// Unknown: a NULL on either side may be any value.
    Unknown,
    /// Undecided by the index: the rows must be compared.
    Open,
}

impl Members {
    /// Members of no rows.
    pub(super) fn new(index: Option<GroupIndex>) -> Self {
        Self {
            rows: None,
            index,
            row_count: 0,
            has_nulls: false,
        }
    }

    /// Adds rows, which the caller puts into a table.
    pub(super) fn learn(&mut self, batch: &Batch, ids: &mut Vec<u32>) -> Result<()> {
        let (rows, columns) = (batch.row_count(), batch.columns());
        self.row_count += rows;
        self.has_nulls |= columns.iter().any(|column| column.null_count() > 0);
        if let Some(index) = &mut self.index
            && rows > 0
            && index.find_or_insert(columns, rows, ids)? < rows
        {
            self.index = None;
        }
        Ok(())
    }

    /// Ends the adding of rows, which are in this table.
    pub(super) fn finish(&mut self, rows: TempTable) {
        let is_single = rows.spec().columns.len() == 1;
        if let Some(index) = &mut self.index {
            index.close();
        }
        if !is_single || self.index.is_none() {
            self.rows = Some(rows);
        }
    }

    /// The rows, if they are still needed.
    pub(super) fn rows(&self) -> Option<&TempTable> {
        self.rows.as_ref()
    }

    /// Membership of each value, given by columns.
    pub(super) fn find(
        &mut self,
        values: &[ArrayRef],
        count: usize,
        ids: &mut Vec<u32>,
    ) -> Result<Vec<Membership>> {
        let Some(index) = &mut self.index else {
            return Ok(vec![Membership::Open; count]);
        };
        if self.row_count == 0 {
            return Ok(vec![Membership::NoMember; count]);
        }
        let found = index.find_or_insert(values, count, ids)?;
        let is_single = values.len() == 1;
        let of_row = |row: usize| {
            let has_null = values.iter().any(|column| column.is_null(row));
            match ids.get(row) {
                None => Membership::Open,
                Some(id) if !has_null && *id != GroupIndex::NO_GROUP => Membership::IsMember,
                Some(_) if !has_null && !self.has_nulls => Membership::NoMember,
                Some(_) if is_single => Membership::Unknown,
                Some(_) => Membership::Open,
            }
        };
        debug_assert_eq!(found, count, "a closed index takes all rows");
        Ok((0..count).map(of_row).collect())
    }
}
