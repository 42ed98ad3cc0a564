//! Rows of tables in a running statement, which creates, reads, counts and empties them.
//!
//! All that needs the statement is here: it reaches the rows through [`TableAccess`], which knows tables. So a table
//! itself (`base_table`) and its store (`table_store`) know nothing of statements.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mayfly_plan::{IndexPartSource, TableId, TableSource};
use mayfly_storage::{ColumnId, IndexId, KeyRange, ScanRequest, Table, TableStatistics};
use mayfly_types::temporal::ZoneClock;
use mayfly_types::{Result, Value};

use super::auto_increment_record::next_number;
use super::base_table::BaseTable;
use super::definition::TableDefinition;
use super::memory_engine;
use super::table_access::{RowAccess, TableAccess};
use super::table_store::{durable_store, new_store};
use super::trees::{Lifespan, Trees};
use crate::convert;
use crate::engines::Engine;

impl BaseTable {
    /// An empty table.
    pub(crate) fn new(
        id: TableId,
        definition: TableDefinition,
        access: &dyn TableAccess,
    ) -> Result<Self> {
        let store = new_store(&definition, access)?;
        Ok(Self::over(id, definition, store))
    }

    /// A table loaded from a data directory, whose rows are in these trees if they are durable.
    pub(crate) fn loaded(
        id: TableId,
        definition: TableDefinition,
        trees: Option<Trees>,
        access: &dyn TableAccess,
    ) -> Result<Self> {
        let mut next = 1;
        let store = match trees {
            Some(trees) => {
                next = next_number(access.durable(Lifespan::Lasting)?, &trees)?;
                durable_store(&definition, trees, None)
            }
            None => new_store(&definition, access)?,
        };
        let table = Self::over(id, definition, store);
        table.own_numbers().advance(next);
        table.recorded_to.store(next, Ordering::Relaxed);
        if let Some(column) = table.definition.auto_increment_column() {
            let greatest = table.greatest_number(column, access)?;
            let numbers = table.own_numbers();
            numbers.advance(greatest.saturating_add(1));
        }
        Ok(table)
    }

    /// The greatest value of an integer column, or 0; read from the end of an index, if one begins with the column.
    pub(crate) fn greatest_number(&self, column: usize, access: &dyn TableAccess) -> Result<u64> {
        let table = self.storage(access)?;
        let columns = [ColumnId(column)];
        let index = table.indexes().iter().position(|index| {
            let first = index.parts.first();
            first.is_some_and(|part| part.column == column && !part.descending)
        });
        let mut scan = match index {
            Some(index) => table.index_scan(IndexId(index), &[KeyRange::ALL], true, &columns)?,
            None => table.scan(&ScanRequest::of(&columns))?,
        };
        let number = |value: Value| match value {
            Value::Int(number) => u64::try_from(number).unwrap_or(0),
            Value::UInt(number) => number,
            Value::Float(number) if number > 0.0 => number as u64,
            _ => 0,
        };
        let mut greatest = 0;
        while let Some(batch) = scan.next_batch()? {
            let rows = 0..batch.row_count();
            let numbers = rows.map(|row| number(convert::value_at(batch.column(0), row)));
            greatest = numbers.fold(greatest, u64::max);
            if index.is_some() {
                break;
            }
        }
        Ok(greatest)
    }

    /// Whether changes persist even if the statement fails or its transaction is rolled back. A table that is still
    /// being created is undone with its statement.
    #[inline]
    pub(crate) fn changes_directly(&self, access: &dyn RowAccess) -> bool {
        let is_created = |trees| access.is_created(&self.definition, trees);
        !self.definition.engine.has_transactions() && self.trees().is_none_or(is_created)
    }

    /// The rows as a statement of the session sees them, in its time zone.
    pub(crate) fn rows_in(&self, access: &dyn TableAccess) -> Result<Arc<dyn Table>> {
        self.rows.open(access, self.changes_directly(access))
    }

    /// The rows as a statement of the session sees them, with UTC in TIMESTAMP columns.
    pub(crate) fn storage(&self, access: &dyn RowAccess) -> Result<Arc<dyn Table>> {
        self.store.open(access, self.changes_directly(access))
    }

    /// Its numbers of rows and bytes; 0 when they cannot be read.
    pub(crate) fn statistics(&self, access: &dyn RowAccess) -> TableStatistics {
        let storage = self.storage(access);
        storage.map_or_else(|_| TableStatistics::default(), |table| table.statistics())
    }

    /// The table as the planner sees it in a session, with its current row count.
    pub(crate) fn source_in(&self, access: &dyn TableAccess) -> Result<Arc<TableSource>> {
        let zone = access.time_zone();
        let mut source = self.source(access)?;
        let columns = &self.definition.columns;
        let has_default = |column: &usize| columns[*column].default_value(zone).is_some();
        if self.timestamps.iter().any(has_default) && !ZoneClock::new(zone).is_utc() {
            let source = Arc::make_mut(&mut source);
            for &column in &self.timestamps {
                source.columns[column].default = columns[column].default_source(zone);
            }
        }
        let is_timestamp = |part: &IndexPartSource| self.timestamps.contains(&part.column);
        let mut parts = source.indexes.iter().flat_map(|index| &index.parts);
        if parts.any(is_timestamp) && !ZoneClock::new(zone).is_never_set() {
            let indexes = &mut Arc::make_mut(&mut source).indexes;
            for part in indexes.iter_mut().flat_map(|index| &mut index.parts) {
                part.approximate = is_timestamp(part);
            }
        }
        Ok(source)
    }

    fn source(&self, access: &dyn TableAccess) -> Result<Arc<TableSource>> {
        let rows = self.storage(access)?.statistics().rows;
        let mut source = self.source.lock();
        if source.row_count != rows {
            Arc::make_mut(&mut source).row_count = rows;
        }
        Ok(Arc::clone(&source))
    }

    /// Removes every row that the statement sees. [`Self::numbers`] are reset apart.
    pub(crate) fn truncate(&self, access: &dyn TableAccess) -> Result<()> {
        self.storage(access)?.truncate()?;
        self.column_statistics.forget();
        let own = self.private().and_then(|store| access.private_rows(store));
        let own = own.as_ref().map(|own| own.table());
        if let Some(table) = own.or(self.session_rows())
            && self.definition.engine == Engine::Memory
        {
            let bytes = access.memory_engine_bytes();
            table.empty_under(&memory_engine::limits(&self.definition, bytes));
        }
        Ok(())
    }
}
