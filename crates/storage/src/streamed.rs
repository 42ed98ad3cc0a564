//! Scans of rows that come once, from a stream: the workers of a scan share it.

use std::sync::{Arc, Mutex};

use mayfly_memory::sync::lock;
use mayfly_types::{Batch, Result};

use crate::scan_request::ColumnId;
use crate::table::TableScan;

/// Stream of rows, a batch at a time.
pub trait BatchStream: Send {
    /// The next rows, with all columns; `None` at the end. Never an empty batch.
    ///
    /// # Errors
    /// Any error of the source.
    fn next_batch(&mut self) -> Result<Option<Batch>>;
}

/// Scan of some columns of a stream.
pub struct StreamScan<S> {
    stream: Arc<Mutex<S>>,
    columns: Arc<[ColumnId]>,
}

impl<S: BatchStream> StreamScan<S> {
    /// A scan of these columns, in this order.
    pub fn new(stream: Arc<Mutex<S>>, columns: &[ColumnId]) -> Self {
        Self {
            stream,
            columns: columns.into(),
        }
    }
}

impl<S: BatchStream + 'static> TableScan for StreamScan<S> {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let batch = lock(&self.stream).next_batch()?;
        Ok(batch.map(|batch| columns_of(&batch, &self.columns)))
    }

    fn for_another_worker(&self) -> Box<dyn TableScan> {
        Box::new(Self {
            stream: Arc::clone(&self.stream),
            columns: Arc::clone(&self.columns),
        })
    }
}

/// Some columns of rows.
pub(crate) fn columns_of(batch: &Batch, columns: &[ColumnId]) -> Batch {
    let columns = columns.iter();
    let columns = columns.map(|column| Arc::clone(batch.column(column.0)));
    Batch::new(columns.collect(), batch.row_count())
}
