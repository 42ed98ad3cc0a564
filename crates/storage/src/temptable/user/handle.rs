//! One statement's view of a table, its scans and its writer.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryViewArray, UInt32Array};
use mayfly_types::error::codes;
use mayfly_types::{Batch, PhysicalType, Result};

use super::rows::{Row, Rows, has_index};
use super::undo::UndoLog;
use super::values::{array, value};
use super::{Core, TempTableContext, UserTableEngine};
use crate::key_encoding::ByteRange;
use crate::table::{
    ColumnId, IndexId, IndexSpec, KeyRange, RowsWritten, Table, TableScan, TableStatistics,
    TableWriter, no_index,
};

#[derive(Debug)]
pub(super) struct Handle {
    core: Arc<Core>,
    statement: TempTableContext,
    undo: UndoLog,
    rows: Arc<Rows>,
}

impl Handle {
    pub(super) fn new(core: &Arc<Core>, statement: &TempTableContext, undo: &UndoLog) -> Self {
        let rows = core.rows.read().unwrap_or_else(PoisonError::into_inner);
        Self {
            core: Arc::clone(core),
            statement: statement.clone(),
            undo: undo.clone(),
            rows: Arc::clone(&rows),
        }
    }

    fn check_index(&self, index: IndexId) -> Result<()> {
        has_index(&self.core.indexes, index)
            .then_some(())
            .ok_or_else(no_index)
    }

    fn scan_of(&self, positions: Vec<u64>, columns: &[ColumnId]) -> Box<dyn TableScan> {
        Box::new(Scan {
            core: Arc::clone(&self.core),
            rows: Arc::clone(&self.rows),
            columns: columns.to_vec(),
            batch_rows: self.statement.options().batch_rows.max(1),
            positions: Arc::new(Mutex::new(positions.into_iter())),
        })
    }
}

/// Rows at positions that are all there.
fn batch(core: &Core, rows: &Rows, positions: &[u64], columns: &[ColumnId]) -> Batch {
    let found: Vec<&Row> = positions
        .iter()
        .filter_map(|position| rows.rows.get(position))
        .collect();
    let column = |column: &ColumnId| -> ArrayRef {
        if *column == ColumnId::POSITION {
            let positions = positions.iter().map(|position| position.to_be_bytes());
            return Arc::new(BinaryViewArray::from_iter_values(positions));
        }
        let ty = core.columns[column.0];
        array(ty, found.iter().map(|row| &row[column.0]))
    };
    Batch::new(columns.iter().map(column).collect(), found.len())
}

/// The number of a row by its position; one that no row has if it is no position.
fn number(position: &[u8]) -> u64 {
    position.try_into().map_or(u64::MAX, u64::from_be_bytes)
}

impl Table for Handle {
    fn columns(&self) -> &[PhysicalType] {
        &self.core.columns
    }

    fn indexes(&self) -> &[IndexSpec] {
        &self.core.indexes
    }

    fn statistics(&self) -> TableStatistics {
        TableStatistics {
            rows: self.rows.rows.len() as u64,
            memory_bytes: 0,
            disk_bytes: 0,
        }
    }

    fn distinct_keys(&self, index: IndexId, parts: usize) -> u64 {
        let whole = self
            .core
            .indexes
            .get(index.0)
            .map(|index| index.parts.len());
        match whole {
            Some(whole) if parts >= whole => self.rows.distinct(index),
            Some(_) => self.rows.distinct(index).div_ceil(2),
            None => 0,
        }
    }

    fn rows_in_range(&self, index: IndexId, range: &KeyRange) -> Result<u64> {
        self.check_index(index)?;
        let range = self.core.encoders[index.0].range(range)?;
        Ok(self.rows.range(index, &range).count() as u64)
    }

    fn scan(&self, columns: &[ColumnId]) -> Result<Box<dyn TableScan>> {
        Ok(self.scan_of(self.rows.rows.keys().copied().collect(), columns))
    }

    fn index_scan(
        &self,
        index: IndexId,
        ranges: &[KeyRange],
        reverse: bool,
        columns: &[ColumnId],
    ) -> Result<Box<dyn TableScan>> {
        self.check_index(index)?;
        let mut positions = Vec::new();
        for range in ranges {
            let range = self.core.encoders[index.0].range(range)?;
            positions.extend(self.rows.range(index, &range).map(|(_, row)| *row));
        }
        if reverse {
            positions.reverse();
        }
        Ok(self.scan_of(positions, columns))
    }

    fn index_lookup(
        &self,
        index: IndexId,
        keys: &[ArrayRef],
        null_safe: &[bool],
        columns: &[ColumnId],
    ) -> Result<(Batch, UInt32Array)> {
        self.check_index(index)?;
        let count = keys.first().map_or(0, |keys| keys.len());
        let (mut positions, mut found) = (Vec::new(), Vec::new());
        let encoded = self.core.encoders[index.0].parts(keys);
        for row in 0..count {
            let is_null = |(part, keys): (usize, &ArrayRef)| {
                keys.is_null(row) && !null_safe.get(part).copied().unwrap_or(false)
            };
            if keys.iter().enumerate().any(is_null) {
                continue;
            }
            let mut key = Vec::new();
            encoded.append(row, &mut key);
            for (_, position) in self.rows.range(index, &ByteRange::prefix(&key)) {
                positions.push(*position);
                found.push(row as u32);
            }
        }
        let rows = batch(&self.core, &self.rows, &positions, columns);
        Ok((rows, UInt32Array::from(found)))
    }

    fn fetch(&self, positions: &ArrayRef, columns: &[ColumnId]) -> Result<Batch> {
        let positions: Vec<u64> = numbers(positions).collect();
        Ok(batch(&self.core, &self.rows, &positions, columns))
    }

    fn writer(&self) -> Result<Box<dyn TableWriter>> {
        let is_transactional = self.core.context.engine == UserTableEngine::Transactional;
        Ok(Box::new(Writer {
            core: Arc::clone(&self.core),
            undo: self.undo.clone(),
            is_transactional,
            start: Some(self.undo.len()),
        }))
    }

    fn truncate(&self) -> Result<()> {
        let mut rows = self
            .core
            .rows
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *rows = Arc::new(Rows::new(self.core.indexes.len()));
        drop(rows);
        self.undo.forget(&self.core);
        Ok(())
    }
}

fn numbers(positions: &ArrayRef) -> impl Iterator<Item = u64> {
    positions
        .as_binary_view()
        .iter()
        .map(|position| position.map_or(u64::MAX, number))
}

struct Scan {
    core: Arc<Core>,
    rows: Arc<Rows>,
    columns: Vec<ColumnId>,
    batch_rows: usize,
    positions: Arc<Mutex<std::vec::IntoIter<u64>>>,
}

impl TableScan for Scan {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let mut positions = self
            .positions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let next: Vec<u64> = positions.by_ref().take(self.batch_rows).collect();
        drop(positions);
        let batch = batch(&self.core, &self.rows, &next, &self.columns);
        Ok(Some(batch).filter(|batch| !batch.is_empty()))
    }

    fn for_another_worker(&self) -> Box<dyn TableScan> {
        Box::new(Self {
            core: Arc::clone(&self.core),
            rows: Arc::clone(&self.rows),
            columns: self.columns.clone(),
            batch_rows: self.batch_rows,
            positions: Arc::clone(&self.positions),
        })
    }
}

struct Writer {
    core: Arc<Core>,
    undo: UndoLog,
    is_transactional: bool,
    /// How many changes the log had before; none once the writer has finished.
    start: Option<u64>,
}

impl Writer {
    fn row(&self, batch: &Batch, row: usize) -> Row {
        let columns = batch.columns().iter().zip(&self.core.columns);
        columns.map(|(array, ty)| value(array, *ty, row)).collect()
    }

    fn change<T>(&mut self, work: impl FnOnce(&mut Rows, &Self) -> T) -> T {
        let core = Arc::clone(&self.core);
        let mut rows = core.rows.write().unwrap_or_else(PoisonError::into_inner);
        if !self.is_transactional {
            self.undo.note_not_undone();
        }
        work(Arc::make_mut(&mut rows), self)
    }
}

impl TableWriter for Writer {
    fn append(&mut self, batch: &Batch) -> Result<()> {
        let written = self.insert(batch)?;
        match written.duplicate {
            None => Ok(()),
            Some(_) => Err(codes::ER_UNKNOWN_ERROR.with(&[&"a row that was appended is not new"])),
        }
    }

    fn insert(&mut self, batch: &Batch) -> Result<RowsWritten> {
        let written = self.change(|rows, writer| {
            for row in 0..batch.row_count() {
                match rows.insert(&writer.core, writer.row(batch, row)) {
                    Ok(position) if writer.is_transactional => {
                        writer.undo.inserted(&writer.core, position);
                    }
                    Ok(_) => {}
                    Err(duplicate) => return (row, Some(duplicate)),
                }
            }
            (batch.row_count(), None)
        });
        let (rows, duplicate) = written;
        Ok(RowsWritten { rows, duplicate })
    }

    fn update(&mut self, positions: &ArrayRef, rows: &Batch) -> Result<RowsWritten> {
        let (rows, duplicate) = self.change(|all, writer| {
            for (row, position) in numbers(positions).enumerate() {
                match all.update(&writer.core, position, writer.row(rows, row)) {
                    Ok(Some(old)) if writer.is_transactional => {
                        writer.undo.updated(&writer.core, position, old);
                    }
                    Ok(_) => {}
                    Err(duplicate) => return (row, Some(duplicate)),
                }
            }
            (positions.len(), None)
        });
        Ok(RowsWritten { rows, duplicate })
    }

    fn delete(&mut self, positions: &ArrayRef) -> Result<u64> {
        let deleted = self.change(|rows, writer| {
            let mut deleted = 0;
            for position in numbers(positions) {
                let Some(old) = rows.delete(&writer.core, position) else {
                    continue;
                };
                deleted += 1;
                if writer.is_transactional {
                    writer.undo.deleted(&writer.core, position, old);
                }
            }
            deleted
        });
        Ok(deleted)
    }

    fn current(&self, position: &[u8]) -> Result<Option<Batch>> {
        let rows = self
            .core
            .rows
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let columns: Vec<ColumnId> = (0..self.core.columns.len()).map(ColumnId).collect();
        let batch = batch(&self.core, &rows, &[number(position)], &columns);
        Ok(Some(batch).filter(|batch| !batch.is_empty()))
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.start = None;
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(start) = self.start
            && self.is_transactional
        {
            self.undo.undo_to(start);
        }
    }
}
