//! Distinct rows of a table, determined while they are added.
//!
//! As long as they fit in memory, the rows are in an index by their hash and become the table's when all are there.
//! After that the table's rows go to a temporary file, and a tree of their keys tells which rows are repeated: its
//! pages are those of CREATE TEMPORARY TABLE, so that a few more rows touch a few pages, however many rows there are.

use mayfly_types::{Batch, Result, Selection};

use super::group_index::GroupIndex;
use super::spec::KeyMode;
use super::table::{TempTable, TempTableWriter};
use super::user::KeySet;
use crate::error::ANONYMOUS_TABLE;

/// Set of distinct rows that is written to a table.
pub struct DistinctRows {
    table: TempTable,
    modes: Vec<KeyMode>,
    known: Known,
    ids: Vec<u32>,
}

enum Known {
    /// All rows, in an index in memory.
    Index(Box<GroupIndex>),
    /// The keys of all rows, most of which are already part of the table.
    Keys(Box<Keys>),
    /// Placeholder while one form is converted to the other; it stays after an error.
    Nothing,
}

struct Keys {
    set: KeySet,
    writer: TempTableWriter,
}

impl DistinctRows {
    /// No rows, for an empty table whose columns are compared in these modes; NULL is equal to NULL.
    pub fn new(table: &TempTable, modes: Vec<KeyMode>) -> Result<Self> {
        let index = GroupIndex::of_rows(table, &modes)?;
        Ok(Self {
            table: table.clone(),
            modes,
            known: Known::Index(Box::new(index)),
            ids: Vec::new(),
        })
    }

    /// Adds rows; selects those that are equal to no earlier row.
    pub fn add(&mut self, batch: &Batch) -> Result<Selection> {
        let rows = batch.row_count();
        let Known::Index(index) = &mut self.known else {
            return self.add_by_key(batch);
        };
        let before = index.group_count();
        let mut taken = index.find_or_insert(batch.columns(), rows, &mut self.ids)?;
        let after = index.group_count();
        self.table.groups_changed(before, after);
        if taken == 1 && rows == 1 {
            return Ok(match after - before {
                0 => Selection::None,
                _ => Selection::All,
            });
        }
        let mut is_new = vec![false; rows];
        // A row is new when it is the first with the next group number.
        let mut next = before;
        for (is_new, id) in is_new.iter_mut().zip(&self.ids[..taken]) {
            if *id as usize == next {
                *is_new = true;
                next += 1;
            }
        }
        if taken < rows && next < after {
            // The row is in the index, which had no memory to grow for the next one.
            is_new[taken] = true;
            taken += 1;
        }
        if taken < rows {
            self.overflow()?;
            let rest = self.add_by_key(&batch.slice(taken, rows - taken))?;
            for (row, is_new) in is_new[taken..].iter_mut().enumerate() {
                *is_new = rest.contains(row);
            }
        }
        Ok(Selection::of_bits(is_new.into()))
    }

    /// Moves the rows to a file and keeps their keys.
    fn overflow(&mut self) -> Result<()> {
        let Known::Index(index) = std::mem::replace(&mut self.known, Known::Nothing) else {
            return Ok(());
        };
        self.take_rows(*index)?;
        let table = &self.table;
        table.overflow()?;
        let store = &table.0.store;
        let mut set = KeySet::new(
            store.context.resources().clone(),
            store.memory.clone(),
            store.record.temp_space.clone(),
            &table.spec().columns,
            &self.modes,
        );
        let mut scan = table.scan(None);
        while let Some(batch) = scan.next_batch()? {
            let added = set.add(batch.columns(), batch.row_count(), &store.context);
            added.map_err(|error| table.error(&error))?;
        }
        drop(scan);
        let writer = table.writer();
        self.known = Known::Keys(Box::new(Keys { set, writer }));
        Ok(())
    }

    /// Makes the rows of an index part of the table.
    fn take_rows(&self, index: GroupIndex) -> Result<()> {
        let rows = index.group_count() as u64;
        let order = self.table.next_order();
        self.table.take(order, index.into_rows(), rows)
    }

    fn add_by_key(&mut self, batch: &Batch) -> Result<Selection> {
        let Known::Keys(keys) = &mut self.known else {
            return Err(mayfly_types::Error::internal("distinct rows without keys"));
        };
        let context = &self.table.0.store.context;
        let added = keys.set.add(batch.columns(), batch.row_count(), context);
        let is_new = added.map_err(|error| context.error(&error, ANONYMOUS_TABLE))?;
        let is_new = Selection::of_bits(is_new);
        if let Some(new) = is_new.rows_of(batch.clone()) {
            keys.writer.append(&new)?;
        }
        Ok(is_new)
    }

    /// Makes the rows part of the table.
    pub fn finish(self) -> Result<()> {
        let (known, this) = {
            let mut this = self;
            (std::mem::replace(&mut this.known, Known::Nothing), this)
        };
        match known {
            Known::Index(index) => this.take_rows(*index),
            Known::Keys(keys) => keys.writer.finish(),
            Known::Nothing => Ok(()),
        }
    }
}
