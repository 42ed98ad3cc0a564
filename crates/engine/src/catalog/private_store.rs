//! A global temporary table as a store: each statement gets the rows of its session ([`PrivateStore`]).

use std::sync::Arc;

use mayfly_storage::{BatchTable, IndexId, RowChange, RowKeyEncoder, Table, UserTable};
use mayfly_types::{Error, Result, Value};

use super::private_rows::{PrivateRows, PrivateStore};
use super::table_access::RowAccess;
use super::table_store::{RowRef, RowStatement, RowUpdate, SingleRows, TableRows, TableStore};
use crate::engines::Engine;

impl TableRows for PrivateStore {
    fn open(&self, access: &dyn RowAccess, _directly: bool) -> Result<Arc<dyn Table>> {
        Ok(match access.private_rows(self) {
            Some(own) => own
                .table()
                .open(access.temp_table_context(), access.undo_log()),
            None => Arc::new(BatchTable::new(self.columns().to_vec(), [])),
        })
    }

    fn single_rows(&self) -> Option<&dyn SingleRows> {
        let is_memory = self.definition().engine == Engine::Memory;
        (!is_memory).then_some(self)
    }
}

impl TableStore for PrivateStore {
    fn private(&self) -> Option<&PrivateStore> {
        Some(self)
    }
}

/// The rows of a statement that uses single ones.
fn rows_of(store: &PrivateStore, statement: RowStatement<'_>) -> Result<Arc<PrivateRows>> {
    let own = statement.access.private_rows(store);
    own.ok_or_else(|| Error::internal("a statement has no rows of its session"))
}

impl SingleRows for PrivateStore {
    fn keys(&self, index: IndexId) -> Result<RowKeyEncoder<'_>> {
        UserTable::row_keys_of(self.encoders(), index)
    }

    fn read(&self, row: RowRef<'_>, columns: &[usize], values: &mut Vec<Value>) -> Result<bool> {
        let own = rows_of(self, row.statement)?;
        SingleRows::read(own.table(), row, columns, values)
    }

    fn insert(&self, statement: RowStatement<'_>, values: &mut [Value]) -> Result<RowChange> {
        let own = rows_of(self, statement)?;
        SingleRows::insert(own.table(), statement, values)
    }

    fn update(&self, row: RowRef<'_>, update: RowUpdate<'_>) -> Result<Option<RowChange>> {
        let own = rows_of(self, row.statement)?;
        SingleRows::update(own.table(), row, update)
    }

    fn delete(&self, row: RowRef<'_>) -> Result<Option<RowChange>> {
        let own = rows_of(self, row.statement)?;
        SingleRows::delete(own.table(), row)
    }
}
