//! Base tables that live as long as the process: chunks of columns.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mayfly_memory::Budget;
use mayfly_types::{Batch, PhysicalType, Result};

use crate::table::{ColumnId, Table, TableScan, TableStatistics, TableWriter};
use crate::temptable::Resources;

/// Where a base table takes its memory and temporary space from.
#[derive(Debug, Clone)]
pub struct BaseTableContext {
    /// What the database shares.
    pub resources: Resources,
    /// Memory of base tables. Give base tables a node with a limit below the global one, so that
    /// statements find memory beside them; chunks beyond it go to temporary files.
    pub memory: Budget,
    /// Temporary space of base tables.
    pub temp_space: Budget,
    /// Rows in the batches that scans give out.
    pub batch_rows: usize,
}

/// A base table in columns.
#[derive(Debug)]
pub struct ColumnarTable {
    columns: Vec<PhysicalType>,
    context: BaseTableContext,
    batches: Arc<Mutex<Arc<Vec<Batch>>>>,
}

impl ColumnarTable {
    /// An empty table.
    pub fn new(context: BaseTableContext, columns: Vec<PhysicalType>) -> Self {
        Self {
            columns,
            context,
            batches: Arc::default(),
        }
    }

    fn snapshot(&self) -> Arc<Vec<Batch>> {
        Arc::clone(&self.batches.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Table for ColumnarTable {
    fn columns(&self) -> &[PhysicalType] {
        &self.columns
    }

    fn statistics(&self) -> TableStatistics {
        let rows = self
            .snapshot()
            .iter()
            .map(|batch| batch.row_count() as u64)
            .sum();
        TableStatistics {
            rows,
            memory_bytes: self.context.memory.used(),
            disk_bytes: 0,
        }
    }

    fn scan(&self, columns: &[ColumnId]) -> Result<Box<dyn TableScan>> {
        let batches = self.snapshot();
        Ok(Box::new(ColumnarScan {
            batches,
            columns: columns.to_vec(),
            next: Arc::default(),
        }))
    }

    fn writer(&self) -> Result<Box<dyn TableWriter>> {
        Ok(Box::new(ColumnarWriter {
            table: Arc::clone(&self.batches),
            rows: Vec::new(),
        }))
    }

    fn truncate(&self) -> Result<()> {
        *self.batches.lock().unwrap_or_else(PoisonError::into_inner) = Arc::default();
        Ok(())
    }
}

struct ColumnarScan {
    batches: Arc<Vec<Batch>>,
    columns: Vec<ColumnId>,
    next: Arc<AtomicUsize>,
}

impl TableScan for ColumnarScan {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        Ok(self.batches.get(at).map(|batch| {
            let columns = self
                .columns
                .iter()
                .map(|id| batch.column(id.0).clone())
                .collect();
            Batch::new(columns, batch.row_count())
        }))
    }

    fn for_another_worker(&self) -> Box<dyn TableScan> {
        Box::new(Self {
            batches: Arc::clone(&self.batches),
            columns: self.columns.clone(),
            next: Arc::clone(&self.next),
        })
    }
}

struct ColumnarWriter {
    table: Arc<Mutex<Arc<Vec<Batch>>>>,
    rows: Vec<Batch>,
}

impl TableWriter for ColumnarWriter {
    fn append(&mut self, batch: &Batch) -> Result<()> {
        if !batch.is_empty() {
            self.rows.push(batch.clone());
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut table).extend(self.rows);
        Ok(())
    }
}
