//! Rows and index entries.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use mayfly_types::Value;

use super::Core;
use super::values::array;
use crate::key_encoding::{ByteRange, KeyEncoder};
use crate::table::{Duplicate, IndexId, IndexSpec};

pub(super) type Row = Arc<[Value]>;

/// The rows of one moment.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    pub(super) rows: BTreeMap<u64, Row>,
    /// For each index: keys and the rows that have them.
    pub(super) entries: Vec<BTreeSet<(Vec<u8>, u64)>>,
    next: u64,
}

/// The key of a row, and whether a part of it is NULL.
fn key(core: &Core, encoder: &KeyEncoder, row: &Row) -> (Vec<u8>, bool) {
    let columns: Vec<_> = core
        .columns
        .iter()
        .zip(row.iter())
        .map(|(ty, value)| array(*ty, std::iter::once(value)))
        .collect();
    let mut key = Vec::new();
    encoder.append_row(&columns, 0, &mut key);
    (key, encoder.has_null(&columns, 0))
}

impl Rows {
    pub(super) fn new(indexes: usize) -> Self {
        Self {
            rows: BTreeMap::new(),
            entries: vec![BTreeSet::new(); indexes],
            next: 0,
        }
    }

    /// The rows whose keys lie in a range, in the order of keys.
    pub(super) fn range(
        &self,
        index: IndexId,
        range: &ByteRange,
    ) -> impl DoubleEndedIterator<Item = &(Vec<u8>, u64)> {
        let end = match &range.end {
            Some(end) => Bound::Excluded((end.clone(), 0)),
            None => Bound::Unbounded,
        };
        let start = (range.start.clone(), 0);
        let is_empty = range.end.as_ref().is_some_and(|end| *end <= range.start);
        let entries =
            (!is_empty).then(|| self.entries[index.0].range((Bound::Included(start), end)));
        entries.into_iter().flatten()
    }

    fn duplicate(&self, core: &Core, row: &Row, own: Option<u64>) -> Option<Duplicate> {
        let unique = core
            .indexes
            .iter()
            .enumerate()
            .filter(|(_, index)| index.unique);
        for (index, _) in unique {
            let (key, has_null) = key(core, &core.encoders[index], row);
            if has_null {
                continue;
            }
            let id = IndexId(index);
            let keys = ByteRange::prefix(&key);
            let mut found = self.range(id, &keys).map(|(_, row)| *row);
            if let Some(row) = found.find(|row| Some(*row) != own) {
                let position = row.to_be_bytes().to_vec();
                return Some(Duplicate {
                    index: id,
                    position,
                });
            }
        }
        None
    }

    fn index(&mut self, core: &Core, position: u64, row: &Row) {
        for (entries, encoder) in self.entries.iter_mut().zip(&core.encoders) {
            entries.insert((key(core, encoder, row).0, position));
        }
    }

    fn unindex(&mut self, core: &Core, position: u64, row: &Row) {
        for (entries, encoder) in self.entries.iter_mut().zip(&core.encoders) {
            entries.remove(&(key(core, encoder, row).0, position));
        }
    }

    pub(super) fn insert(&mut self, core: &Core, row: Row) -> Result<u64, Duplicate> {
        if let Some(duplicate) = self.duplicate(core, &row, None) {
            return Err(duplicate);
        }
        let position = self.next;
        self.next += 1;
        self.put(core, position, row);
        Ok(position)
    }

    /// Puts a row back where it was.
    pub(super) fn put(&mut self, core: &Core, position: u64, row: Row) {
        self.index(core, position, &row);
        self.rows.insert(position, row);
    }

    /// Gives the row as it was, if there is one.
    pub(super) fn update(
        &mut self,
        core: &Core,
        position: u64,
        row: Row,
    ) -> Result<Option<Row>, Duplicate> {
        let Some(old) = self.rows.get(&position).cloned() else {
            return Ok(None);
        };
        if let Some(duplicate) = self.duplicate(core, &row, Some(position)) {
            return Err(duplicate);
        }
        self.unindex(core, position, &old);
        self.put(core, position, row);
        Ok(Some(old))
    }

    pub(super) fn delete(&mut self, core: &Core, position: u64) -> Option<Row> {
        let old = self.rows.remove(&position)?;
        self.unindex(core, position, &old);
        Some(old)
    }

    /// How many different keys the first parts of an index have is not known; all keys are counted.
    pub(super) fn distinct(&self, index: IndexId) -> u64 {
        let mut keys: u64 = 0;
        let mut last: Option<&[u8]> = None;
        for (key, _) in &self.entries[index.0] {
            if last != Some(key) {
                keys += 1;
                last = Some(key);
            }
        }
        keys
    }
}

/// Whether an index has this place.
pub(super) fn has_index(indexes: &[IndexSpec], index: IndexId) -> bool {
    index.0 < indexes.len()
}
