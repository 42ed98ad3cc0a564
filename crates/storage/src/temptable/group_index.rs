//! Dense group numbers for keys.

use std::collections::HashMap;
use std::ops::Range;

use arrow_array::ArrayRef;
use mayfly_types::{Batch, PhysicalType, Result};

use super::context::TempTableContext;
use super::keys::append_key;
use super::partition::concatenate;
use super::spec::{Access, KeyMode, TempTableSpec};

/// The groups of a partition's rows.
pub struct Groups {
    ids: Vec<u32>,
    first_rows: Vec<u32>,
}

impl Groups {
    pub(crate) fn of(spec: &TempTableSpec, rows: &Batch) -> Result<Self> {
        let keys = match &spec.access {
            Access::Hash(keys) => keys.as_slice(),
            Access::Plain | Access::Ordered { .. } => &[],
        };
        let mut numbers = HashMap::new();
        let (mut ids, mut first_rows) = (Vec::new(), Vec::new());
        for row in 0..rows.row_count() {
            let mut key = Vec::new();
            for column in keys {
                append_key(rows.column(column.column), row, column.mode, &mut key);
            }
            let next = numbers.len() as u32;
            let id = *numbers.entry(key).or_insert(next);
            if id == next {
                first_rows.push(row as u32);
            }
            ids.push(id);
        }
        Ok(Self { ids, first_rows })
    }

    /// How many groups there are.
    pub fn group_count(&self) -> usize {
        self.first_rows.len()
    }

    /// The group of each row of the partition.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The first row of each group: what [`super::Partition::gather`] takes to give the groups'
    /// key columns.
    pub fn first_rows(&self) -> &[u32] {
        &self.first_rows
    }
}

/// Groups batches as they come, in memory: gives each distinct key a number, counted from 0.
///
/// It holds a copy of each key, charged to the statement's memory. When its memory limit is reached
/// it takes no further rows; the caller then moves its groups elsewhere and clears it.
pub struct GroupIndex {
    columns: Vec<PhysicalType>,
    modes: Vec<KeyMode>,
    numbers: HashMap<Vec<u8>, u32>,
    keys: Vec<Batch>,
}

impl GroupIndex {
    /// An index over keys of these types, compared in these modes.
    pub fn new(
        _context: &TempTableContext,
        columns: Vec<PhysicalType>,
        modes: Vec<KeyMode>,
    ) -> Result<Self> {
        assert_eq!(columns.len(), modes.len(), "a mode for every key column");
        Ok(Self {
            columns,
            modes,
            numbers: HashMap::new(),
            keys: Vec::new(),
        })
    }

    /// Puts the group numbers of rows `0 .. n` into `ids` (cleared first) and returns `n`: all
    /// `row_count` of them, or fewer when the memory limit is reached. An empty index always takes
    /// at least one row. Keys not seen before get the next numbers, in row order.
    pub fn find_or_insert(
        &mut self,
        keys: &[ArrayRef],
        row_count: usize,
        ids: &mut Vec<u32>,
    ) -> Result<usize> {
        ids.clear();
        for row in 0..row_count {
            let mut key = Vec::new();
            for (array, mode) in keys.iter().zip(&self.modes) {
                append_key(array, row, *mode, &mut key);
            }
            let next = self.numbers.len() as u32;
            let id = *self.numbers.entry(key).or_insert(next);
            if id == next {
                let row = keys.iter().map(|array| array.slice(row, 1)).collect();
                self.keys.push(Batch::new(row, 1));
            }
            ids.push(id);
        }
        Ok(row_count)
    }

    /// How many groups there are.
    pub fn group_count(&self) -> usize {
        self.numbers.len()
    }

    /// The keys of the groups at `range`: of each group those of its first row.
    pub fn keys(&self, range: Range<usize>) -> Result<Batch> {
        Ok(concatenate(&self.columns, &self.keys[range]))
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> u64 {
        0
    }

    /// Forgets all groups; keeps memory for the next ones.
    pub fn clear(&mut self) {
        self.numbers.clear();
        self.keys.clear();
    }
}
