//! The rows of a relation as a table that can be scanned.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::ArrayRef;
use arrow_array::builder::{BinaryViewBuilder, Float64Builder, Int64Builder, UInt64Builder};
use mayfly_storage::{ColumnId, Table, TableScan, TableStatistics, TableWriter};
use mayfly_types::error::codes;
use mayfly_types::{Batch, PhysicalType, Result, Value};

use super::relation::{Kind, Relation, Row};

/// Rows in one batch.
#[derive(Debug)]
pub(crate) struct MemoryTable {
    columns: Vec<PhysicalType>,
    rows: Batch,
}

impl MemoryTable {
    /// A table of these rows.
    pub(crate) fn open(relation: &Relation, rows: Vec<Row>) -> Result<Arc<dyn Table>> {
        let kinds: Vec<Kind> = relation.columns.iter().map(|(_, kind)| *kind).collect();
        Ok(Arc::new(Self {
            columns: kinds
                .iter()
                .map(|kind| kind.sql_type().physical())
                .collect(),
            rows: batch(&kinds, &rows),
        }))
    }
}

/// Rows of values as a batch. A value of another physical type than its column's is NULL.
fn batch(kinds: &[Kind], rows: &[Row]) -> Batch {
    let column = |(index, kind): (usize, &Kind)| -> ArrayRef {
        let values = rows
            .iter()
            .map(|row| row.get(index).unwrap_or(&Value::Null));
        match kind.sql_type().physical() {
            PhysicalType::Int64 => {
                let mut builder = Int64Builder::with_capacity(rows.len());
                values.for_each(|value| {
                    builder.append_option(match value {
                        Value::Int(number) => Some(*number),
                        Value::UInt(number) => i64::try_from(*number).ok(),
                        _ => None,
                    });
                });
                Arc::new(builder.finish())
            }
            PhysicalType::UInt64 => {
                let mut builder = UInt64Builder::with_capacity(rows.len());
                values.for_each(|value| {
                    builder.append_option(match value {
                        Value::UInt(number) => Some(*number),
                        Value::Int(number) => u64::try_from(*number).ok(),
                        _ => None,
                    });
                });
                Arc::new(builder.finish())
            }
            PhysicalType::Float64 => {
                let mut builder = Float64Builder::with_capacity(rows.len());
                values.for_each(|value| {
                    builder.append_option(match value {
                        Value::Float(number) => Some(*number),
                        _ => None,
                    });
                });
                Arc::new(builder.finish())
            }
            _ => {
                let mut builder = BinaryViewBuilder::with_capacity(rows.len());
                values.for_each(|value| {
                    builder.append_option(match value {
                        Value::Bytes(bytes) => Some(bytes.as_slice()),
                        _ => None,
                    });
                });
                Arc::new(builder.finish())
            }
        }
    };
    let columns = kinds.iter().enumerate().map(column).collect();
    Batch::new(columns, rows.len())
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
