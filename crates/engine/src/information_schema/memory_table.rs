//! The rows of a relation as a table that can be scanned.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mayfly_storage::{ColumnId, Table, TableScan, TableStatistics, TableWriter};
use mayfly_types::error::codes;
use mayfly_types::{Batch, PhysicalType, Result, SqlType};

use super::relation::{Relation, Row};
use crate::builder;

/// A relation's rows, all in one batch.
#[derive(Debug)]
pub(crate) struct MemoryTable {
    columns: Vec<PhysicalType>,
    rows: Batch,
}

impl MemoryTable {
    /// A table of these rows. A value of another physical type than its column's is NULL.
    pub(crate) fn open(relation: &Relation, rows: &[Row]) -> Arc<dyn Table> {
        let types = relation.columns.iter().map(|(_, kind)| kind.sql_type());
        let types: Vec<SqlType> = types.collect();
        Arc::new(Self {
            columns: types.iter().map(SqlType::physical).collect(),
            rows: builder::batch(&types, rows),
        })
    }
}

impl Table for MemoryTable {
    fn columns(&self) -> &[PhysicalType] {
        &self.columns
    }

    fn statistics(&self) -> TableStatistics {
        TableStatistics {
            rows: self.rows.row_count() as u64,
            ..TableStatistics::default()
        }
    }

    fn scan(&self, columns: &[ColumnId]) -> Result<Box<dyn TableScan>> {
        let columns = columns
            .iter()
            .map(|column| Arc::clone(self.rows.column(column.0)));
        Ok(Box::new(Scan {
            batch: Batch::new(columns.collect(), self.rows.row_count()),
            next: Arc::default(),
        }))
    }

    fn writer(&self) -> Result<Box<dyn TableWriter>> {
        Err(read_only())
    }

    fn truncate(&self) -> Result<()> {
        Err(read_only())
    }
}

fn read_only() -> mayfly_types::Error {
    codes::ER_DBACCESS_DENIED_ERROR.with(&[&"root", &"localhost", &"information_schema"])
}

/// Rows of a batch that travel together, so that a small batch size is tested here too.
const ROWS: usize = 4096;

struct Scan {
    batch: Batch,
    next: Arc<AtomicUsize>,
}

impl TableScan for Scan {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let start = self.next.fetch_add(ROWS, Ordering::Relaxed);
        let rows = self.batch.row_count();
        if start >= rows {
            return Ok(None);
        }
        Ok(Some(self.batch.slice(start, ROWS.min(rows - start))))
    }

    fn for_another_worker(&self) -> Box<dyn TableScan> {
        Box::new(Self {
            batch: self.batch.clone(),
            next: Arc::clone(&self.next),
        })
    }
}
