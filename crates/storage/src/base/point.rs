//! Point access to durable tables: statements that read or change a single row by a unique key, without batches.
//! Changes go through the common writer.

use std::sync::Arc;

use mayfly_types::{PhysicalType, Result, Value};

use super::definition::TableDefinition;
use super::row;
use super::row_source::ValueRow;
use super::snapshot::Snapshot;
use super::statement::Statement;
use super::store::transaction::{DurableTransaction, ReadView, Transaction};
use super::table::row_changes::Scratch;
use super::table::writer::DurableWriter;
use super::table::{DurableTable, TableHandle};
use super::view::{RowLocation, TreeView};
use crate::key_encoding::ByteRange;
use crate::table::{IndexId, LockMode, RowChange, TableWriter, no_index};

/// A row that is locked and about to be changed.
pub struct LockedRow {
    writer: DurableWriter,
    position: Vec<u8>,
    values: Vec<Value>,
}

impl DurableTransaction {
    /// Reads columns of the row with a key of a unique index (see [`TableDefinition::row_keys`]) into `values`, reusing
    /// its memory; returns whether the row exists. Error 1412 when the table was created after the transaction's
    /// snapshot.
    pub fn read_row(
        &self,
        view: ReadView,
        definition: &TableDefinition,
        (index, key): (IndexId, &[u8]),
        columns: &[usize],
        values: &mut Vec<Value>,
    ) -> Result<bool> {
        let transaction = &*self.0;
        let snapshot = transaction.snapshot_of(view)?;
        let of_index;
        let position = if definition.is_clustered(index) {
            Some(key)
        } else {
            of_index = position(transaction, &snapshot, definition, (index, key))?;
            of_index.as_deref()
        };
        let changes = transaction.tree_changes(definition.rows());
        let types = definition.types();
        let found = match (position, changes) {
            (None, _) => None,
            // No view is made of a tree that the transaction has not changed.
            (Some(position), None) => {
                let found = snapshot.find(definition.rows(), position)?;
                found.map(|(block, row)| RowLocation::Block(block, row))
            }
            (Some(position), changes) => {
                let view = TreeView::new(&snapshot, definition.rows(), types, changes);
                view.find(position, None)?
            }
        };
        let Some(found) = found else {
            // A table that was created later has no rows in the snapshot, which does not mean that it is empty.
            transaction.check_definition(definition)?;
            return Ok(false);
        };
        read_columns(types, &found, columns, values)?;
        Ok(true)
    }
}

/// The position of the row with a key of a unique index, if there may be such a row.
fn position(
    transaction: &Transaction,
    snapshot: &Arc<Snapshot>,
    definition: &TableDefinition,
    (index, key): (IndexId, &[u8]),
) -> Result<Option<Vec<u8>>> {
    let tree = definition.index(index).ok_or_else(no_index)?;
    let changes = transaction.tree_changes(tree.tree);
    let view = TreeView::new(snapshot, tree.tree, &tree.types, changes);
    let entry = view.first_key(&ByteRange::prefix(key))?;
    Ok(entry.map(|entry| entry[key.len()..].to_vec()))
}

impl Statement {
    /// Locks the newest row with a key of a unique index, to change it; `None` when there is none, or when its key has
    /// changed in the meantime.
    pub fn lock_row(
        &self,
        definition: &Arc<TableDefinition>,
        (index, key): (IndexId, &[u8]),
    ) -> Result<Option<LockedRow>> {
        let transaction = &self.0.transaction;
        transaction.check_definition(definition)?;
        let newest = transaction.store.environment.newest()?;
        let position = if definition.is_clustered(index) {
            Some(key.to_vec())
        } else {
            position(transaction, &newest, definition, (index, key))?
        };
        let Some(position) = position else {
            return Ok(None);
        };
        let table = self.inner(definition, newest);
        // A key without a row is not locked.
        if table.rows_view().find(&position, None)?.is_none() {
            return Ok(None);
        }
        let mut writer = DurableWriter::new(&table)?;
        writer.is_new = false;
        writer.lock(definition.rows(), &position, LockMode::Exclusive)?;
        writer.refresh()?;
        let Some(found) = writer.existing(definition.rows(), &position, None)? else {
            return Ok(None);
        };
        let columns: Vec<usize> = (0..definition.columns().len()).collect();
        let mut values = Vec::new();
        read_columns(definition.types(), &found, &columns, &mut values)?;
        let row = LockedRow {
            writer,
            position,
            values,
        };
        let is_it = definition.is_clustered(index) || row.has_key(index, key)?;
        Ok(is_it.then_some(row))
    }

    /// Adds a row, given the values of all columns.
    pub fn insert_row(
        &self,
        definition: &Arc<TableDefinition>,
        values: &[Value],
    ) -> Result<RowChange> {
        let transaction = &self.0.transaction;
        let newest = transaction.store.environment.newest()?;
        let mut writer = DurableWriter::new(&self.inner(definition, newest))?;
        writer.is_new = false;
        writer.refuses_duplicates = true;
        // Rows without a primary key get positions that no snapshot has.
        let (number, snapshot) = match definition.primary() {
            Some(_) => (0, transaction.snapshot.get()?),
            None => (transaction.store.row_numbers(definition.rows(), 1)?, None),
        };
        let row = ValueRow {
            definition,
            values,
            number,
        };
        let snapshot = snapshot.as_ref();
        match writer.insert_row(&row, true, snapshot, &mut Scratch::default())? {
            Some(_) => Ok(RowChange::Duplicate),
            None => Box::new(writer).finish().map(|()| RowChange::Done),
        }
    }

    fn inner(&self, definition: &Arc<TableDefinition>, newest: Arc<Snapshot>) -> Arc<TableHandle> {
        DurableTable::new(&self.0, definition, newest).into_inner()
    }
}

impl LockedRow {
    /// The values of all columns.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// Whether the row has a key in an index.
    fn has_key(&self, index: IndexId, key: &[u8]) -> Result<bool> {
        let definition = &self.writer.table.definition;
        let columns = definition.index(index).ok_or_else(no_index)?;
        let values = columns.encoder.columns().map(|column| &self.values[column]);
        let mut own = Vec::with_capacity(key.len());
        columns.encoder.append_values(values, &mut own)?;
        Ok(own == key)
    }

    /// Sets the values of columns.
    pub fn update(mut self, columns: &[usize], values: &[Value]) -> Result<RowChange> {
        let definition = Arc::clone(&self.writer.table.definition);
        let mut new = self.values.clone();
        for (column, value) in columns.iter().zip(values) {
            new[*column].clone_from(value);
        }
        if self.values.iter().zip(&new).all(|(a, b)| is_same(a, b)) {
            return Ok(RowChange::Same);
        }
        let row = |values| ValueRow {
            definition: &definition,
            values,
            number: 0,
        };
        let (old, new) = (row(self.values.as_slice()), row(new.as_slice()));
        let snapshot = self.writer.table.statement.transaction.snapshot.get()?;
        let (rows, snapshot) = ((&old, &new), snapshot.as_ref());
        let mut scratch = Scratch::default();
        let duplicate = self
            .writer
            .update_row(&self.position, rows, snapshot, &mut scratch)?;
        match duplicate {
            Some(_) => Ok(RowChange::Duplicate),
            None => Box::new(self.writer).finish().map(|()| RowChange::Done),
        }
    }

    /// Removes the row.
    pub fn delete(mut self) -> Result<()> {
        let definition = Arc::clone(&self.writer.table.definition);
        let row = ValueRow {
            definition: &definition,
            values: &self.values,
            number: 0,
        };
        let snapshot = self.writer.table.statement.transaction.snapshot.get()?;
        self.writer
            .delete_row(&self.position, &row, snapshot.as_ref())?;
        Box::new(self.writer).finish()
    }
}

/// Whether two values of a column are equal byte by byte.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

/// Reads columns of a row.
fn read_columns(
    types: &[PhysicalType],
    found: &RowLocation,
    columns: &[usize],
    values: &mut Vec<Value>,
) -> Result<()> {
    values.resize(columns.len(), Value::Null);
    match found {
        RowLocation::Block(block, row) => {
            for (value, column) in values.iter_mut().zip(columns) {
                let ty = types[*column];
                block.column(*column)?.value(ty, *row)?.read_into(ty, value);
            }
        }
        RowLocation::Own(bytes) => {
            let mut reader = row::RowReader::new(types, bytes);
            for (number, ty) in types.iter().enumerate() {
                let stored = reader.next_value(*ty)?;
                let wanted = values.iter_mut().zip(columns);
                for (value, _) in wanted.filter(|(_, column)| **column == number) {
                    stored.read_into(*ty, value);
                }
            }
        }
    }
    Ok(())
}
