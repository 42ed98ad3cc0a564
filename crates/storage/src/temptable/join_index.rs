//! Finding all rows of a key.

use std::collections::HashMap;

use arrow_array::{Array, ArrayRef, UInt32Array};
use mayfly_types::{Batch, Result};

use super::keys::append_key;
use super::spec::{Access, KeyColumn, TempTableSpec};

/// A row of the indexed table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BuildRow(pub(crate) u32);

impl BuildRow {
    /// No row: gathered as NULL in every column (outer joins).
    pub const NONE: Self = Self(u32::MAX);
}

/// Pairs of matching rows.
#[derive(Debug, Default)]
pub struct JoinMatches {
    /// Rows of the probed batch, in ascending order.
    pub probe_rows: Vec<u32>,
    /// The row that matches the probed row at the same place.
    pub build_rows: Vec<BuildRow>,
}

/// A probe that has still matches to give out.
pub struct JoinProbe {
    pending: Vec<(u32, u32)>,
    next: usize,
}

/// The rows of a table, found by key.
pub struct JoinIndex {
    keys: Vec<KeyColumn>,
    rows: Batch,
    by_key: HashMap<Vec<u8>, Vec<u32>>,
    has_null_key: bool,
}

impl JoinIndex {
    pub(crate) fn build(spec: &TempTableSpec, rows: Batch) -> Result<Self> {
        let keys = match &spec.access {
            Access::Hash(keys) => keys.clone(),
            Access::Plain | Access::Ordered { .. } => Vec::new(),
        };
        let mut index = Self {
            keys,
            rows,
            by_key: HashMap::new(),
            has_null_key: false,
        };
        let arrays: Vec<_> = index
            .keys
            .iter()
            .map(|key| index.rows.column(key.column).clone())
            .collect();
        for row in 0..index.rows.row_count() {
            match index.key(&arrays, row) {
                Some(key) => index.by_key.entry(key).or_default().push(row as u32),
                None => index.has_null_key = true,
            }
        }
        Ok(index)
    }

    fn key(&self, arrays: &[ArrayRef], row: usize) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        for (array, key) in arrays.iter().zip(&self.keys) {
            if array.is_null(row) && !key.null_safe {
                return None;
            }
            append_key(array, row, key.mode, &mut bytes);
        }
        Some(bytes)
    }

    /// How many rows are indexed.
    pub fn row_count(&self) -> usize {
        self.rows.row_count()
    }

    /// Whether a row has NULL in a key column that does not find NULL (`NOT IN`).
    pub fn has_null_key(&self) -> bool {
        self.has_null_key
    }

    /// Starts looking for the rows that match each of `row_count` keys.
    pub fn probe(&self, keys: &[ArrayRef], row_count: usize) -> JoinProbe {
        let mut pending = Vec::new();
        for row in 0..row_count {
            let found = self.key(keys, row).and_then(|key| self.by_key.get(&key));
            pending.extend(
                found
                    .into_iter()
                    .flatten()
                    .map(|build| (row as u32, *build)),
            );
        }
        JoinProbe { pending, next: 0 }
    }

    /// Puts the next matches, at most `limit`, into `matches` (cleared first). False when there
    /// were none left.
    pub fn next_matches(
        &self,
        probe: &mut JoinProbe,
        limit: usize,
        matches: &mut JoinMatches,
    ) -> bool {
        matches.probe_rows.clear();
        matches.build_rows.clear();
        for (row, build) in probe.pending.iter().skip(probe.next).take(limit) {
            matches.probe_rows.push(*row);
            matches.build_rows.push(BuildRow(*build));
        }
        probe.next += matches.probe_rows.len();
        !matches.probe_rows.is_empty()
    }

    /// Whether each of `row_count` keys has a match: semi and anti joins.
    pub fn exists(&self, keys: &[ArrayRef], row_count: usize, found: &mut Vec<bool>) {
        found.clear();
        found.extend((0..row_count).map(|row| {
            self.key(keys, row)
                .is_some_and(|key| self.by_key.contains_key(&key))
        }));
    }

    /// Columns of indexed rows; NULLs for [`BuildRow::NONE`].
    pub fn gather(&self, columns: &[usize], rows: &[BuildRow]) -> Result<Vec<ArrayRef>> {
        let indices: UInt32Array = rows
            .iter()
            .map(|row| (*row != BuildRow::NONE).then_some(row.0))
            .collect();
        Ok(columns
            .iter()
            .map(|column| {
                arrow_select::take::take(self.rows.column(*column), &indices, None)
                    .expect("rows lie in the index")
            })
            .collect())
    }

    /// The place of a row among all indexed rows, `0 .. row_count()`: for marking rows that
    /// matched.
    pub fn ordinal(&self, row: BuildRow) -> usize {
        row.0 as usize
    }

    /// The row at a place, the inverse of [`Self::ordinal`].
    pub fn row_at(&self, ordinal: usize) -> BuildRow {
        BuildRow(ordinal as u32)
    }
}
