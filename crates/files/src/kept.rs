//! Rows that are found when a statement is planned, and stay in its memory: a scan gives slices of them.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use mayfly_engine::{Batch, ProvidedColumn, Reservation, Result};
use parking_lot::Mutex;

use crate::table::{FileRequest, Format, Piece, Pieces};

/// The rows of a call.
#[derive(Debug)]
pub(crate) struct KeptRows {
    pub(crate) columns: Vec<ProvidedColumn>,
    /// The columns of each file.
    pub(crate) files: Arc<[Vec<ArrayRef>]>,
    pub(crate) batch_rows: usize,
    /// The memory of the arrays.
    pub(crate) memory: Arc<Reservation>,
}

impl Format for KeptRows {
    fn columns(&self) -> &[ProvidedColumn] {
        &self.columns
    }

    fn row_count(&self) -> u64 {
        let rows = self
            .files
            .iter()
            .map(|arrays| arrays.first().map_or(0, |it| it.len()));
        rows.sum::<usize>() as u64
    }

    fn scan(&self, request: FileRequest) -> Result<Arc<dyn Pieces>> {
        Ok(Arc::new(Queue {
            files: Arc::clone(&self.files),
            columns: request.columns.into(),
            batch_rows: self.batch_rows,
            queue: Mutex::new(request.files.into_iter()),
            memory: Arc::clone(&self.memory),
        }))
    }
}

/// The files that no worker has taken yet.
struct Queue {
    files: Arc<[Vec<ArrayRef>]>,
    columns: Arc<[usize]>,
    batch_rows: usize,
    queue: Mutex<std::vec::IntoIter<usize>>,
    memory: Arc<Reservation>,
}

impl Pieces for Queue {
    fn next(&self) -> Result<Option<Box<dyn Piece>>> {
        let Some(at) = self.queue.lock().next() else {
            return Ok(None);
        };
        Ok(Some(Box::new(FileRows {
            at,
            files: Arc::clone(&self.files),
            columns: Arc::clone(&self.columns),
            batch_rows: self.batch_rows,
            next: 0,
            _memory: Arc::clone(&self.memory),
        })))
    }
}

/// The rows of a file.
struct FileRows {
    at: usize,
    files: Arc<[Vec<ArrayRef>]>,
    columns: Arc<[usize]>,
    batch_rows: usize,
    next: usize,
    _memory: Arc<Reservation>,
}

impl Piece for FileRows {
    fn file(&self) -> usize {
        self.at
    }

    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let arrays = &self.files[self.at];
        let all = arrays.first().map_or(0, |array| array.len());
        let rows = self.batch_rows.min(all - self.next);
        if rows == 0 {
            return Ok(None);
        }
        let columns = self.columns.iter();
        let columns = columns.map(|column| arrays[*column].slice(self.next, rows));
        let columns = columns.collect();
        self.next += rows;
        Ok(Some(Batch::new(columns, rows)))
    }
}
