//! Output of a join that has looked up the keys of left rows and found right ones.

use arrow_array::UInt32Array;
use mayfly_plan::physical::JoinKind;
use mayfly_types::{Batch, Result};

use crate::context::RunContext;
use crate::expression::{Program, Selection};
use crate::rows::{rows_where, take_rows};

/// How left rows and the right rows found for them are joined.
pub(super) struct LookedUp<'a> {
    pub(super) kind: JoinKind,
    /// Condition beside the keys, over the output of an inner join.
    pub(super) residual: Option<&'a Program>,
    /// Whether the columns of the right rows come first.
    pub(super) right_first: bool,
}

impl LookedUp<'_> {
    /// Output of left rows with the right rows found: right row `r` for left row `found[r]`.
    pub(super) fn joined(
        &self,
        left: Batch,
        right: Batch,
        found: &UInt32Array,
        run: &RunContext,
    ) -> Result<Option<Batch>> {
        let pairs = self.pairs(&left, &right, found)?;
        let selection = match self.residual {
            None if found.is_empty() => Selection::None,
            None => Selection::All,
            Some(residual) => residual.select(&pairs, run)?,
        };
        if self.kind == JoinKind::Inner {
            return Ok(selection.rows_of(pairs));
        }
        let kept = |pair: usize| selection.contains(pair);
        let mut matched = vec![false; left.row_count()];
        for (pair, row) in found.values().iter().enumerate() {
            matched[*row as usize] |= kept(pair);
        }
        if self.kind == JoinKind::Left {
            return self
                .with_unmatched(&left, &right, found, &matched, &kept)
                .map(Some);
        }
        let wanted = self.kind == JoinKind::Semi;
        let rows = rows_where(&left, |row| matched[row] == wanted);
        Ok((!rows.is_empty()).then_some(rows))
    }

    fn pairs(&self, left: &Batch, right: &Batch, found: &UInt32Array) -> Result<Batch> {
        if self.kind.is_left_only() && self.residual.is_none() {
            return Ok(Batch::new(Vec::new(), found.len()));
        }
        let left = take_rows(left.columns(), found)?;
        let right = right.columns().to_vec();
        let (mut columns, rest) = match self.right_first {
            true => (right, left),
            false => (left, right),
        };
        columns.extend(rest);
        Ok(Batch::new(columns, found.len()))
    }

    /// Left join: rows without a partner keep their places, with NULLs.
    fn with_unmatched(
        &self,
        left: &Batch,
        right: &Batch,
        found: &UInt32Array,
        matched: &[bool],
        kept: &dyn Fn(usize) -> bool,
    ) -> Result<Batch> {
        let mut left_rows: Vec<u32> = Vec::with_capacity(found.len());
        let mut right_rows: Vec<Option<u32>> = Vec::with_capacity(found.len());
        let found = found.values();
        let mut pair = 0;
        for (row, matched) in matched.iter().enumerate() {
            // Both are at most the number of rows of a batch.
            let row = row as u32;
            while found.get(pair) == Some(&row) {
                if kept(pair) {
                    left_rows.push(row);
                    right_rows.push(Some(pair as u32));
                }
                pair += 1;
            }
            if !matched {
                left_rows.push(row);
                right_rows.push(None);
            }
        }
        let count = left_rows.len();
        let mut columns = take_rows(left.columns(), &UInt32Array::from(left_rows))?;
        columns.extend(take_rows(right.columns(), &UInt32Array::from(right_rows))?);
        Ok(Batch::new(columns, count))
    }
}
