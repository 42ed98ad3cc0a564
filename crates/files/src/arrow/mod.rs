//! Arrow IPC files (Feather version 2) and streams: `read_arrow('a.arrow', …)`.
//!
//! A piece of a scan is a file: its record batches follow each other, and dictionaries may be replaced between them.

mod messages;

use std::sync::Arc;

use arrow_array::new_null_array;
use arrow_schema::Field;
use mayfly_engine::{
    Batch, Diagnostics, ProvidedColumn, Reservation, Result, StatementFiles, StatementMemory,
    TableArguments, TableFunctionContext,
};
use parking_lot::Mutex;

use self::messages::{Messages, room};
use crate::columns::{self, Opened, array_types};
use crate::guard::{damaged, guarded};
use crate::paths::DataFile;
use crate::table::{FileRequest, Format, Piece, Pieces};

type ArrowFile = Opened<()>;

#[derive(Debug)]
struct ArrowFiles {
    files: Arc<[ArrowFile]>,
    columns: Vec<ProvidedColumn>,
    context: TableFunctionContext,
}

/// Reads the schemas of files.
pub(crate) fn open(
    files: &[DataFile],
    arguments: &mut TableArguments,
    context: &TableFunctionContext,
) -> Result<Box<dyn Format>> {
    let (columns, opened) = columns::open(files, arguments, context, |path, file| {
        let messages = Messages::open(path, file, &context.memory)?;
        let fields = messages
            .schema()
            .fields()
            .iter()
            .map(|field| Field::clone(field));
        Ok((fields.collect(), ()))
    })?;
    Ok(Box::new(ArrowFiles {
        files: opened.into(),
        columns,
        context: context.clone(),
    }))
}

impl Format for ArrowFiles {
    fn columns(&self) -> &[ProvidedColumn] {
        &self.columns
    }

    fn row_count(&self) -> u64 {
        10_000
    }

    fn scan(&self, request: FileRequest) -> Result<Arc<dyn Pieces>> {
        Ok(Arc::new(Queue {
            files: Arc::clone(&self.files),
            access: self.context.files.clone(),
            memory: self.context.memory.clone(),
            diagnostics: Arc::clone(&self.context.diagnostics),
            types: array_types(&self.columns).collect(),
            columns: request.columns.into(),
            queue: Mutex::new(request.files.into_iter()),
        }))
    }
}

/// The files that no worker has taken yet.
struct Queue {
    files: Arc<[ArrowFile]>,
    access: StatementFiles,
    memory: StatementMemory,
    diagnostics: Arc<Diagnostics>,
    types: Arc<[arrow_schema::DataType]>,
    columns: Arc<[usize]>,
    queue: Mutex<std::vec::IntoIter<usize>>,
}

impl Pieces for Queue {
    fn next(&self) -> Result<Option<Box<dyn Piece>>> {
        let Some(at) = self.queue.lock().next() else {
            return Ok(None);
        };
        let path = &self.files[at].path;
        let file = self.access.open(path)?;
        let messages = guarded(path, || Messages::open(path, file, &self.memory))?;
        Ok(Some(Box::new(Batches {
            at,
            files: Arc::clone(&self.files),
            types: Arc::clone(&self.types),
            columns: Arc::clone(&self.columns),
            diagnostics: Arc::clone(&self.diagnostics),
            messages,
            memory: self.memory.clone(),
            held: None,
        })))
    }
}

/// Bytes of a NULL in the widest array but one.
const NULL: u64 = 16;

/// The record batches of a file.
struct Batches {
    at: usize,
    files: Arc<[ArrowFile]>,
    types: Arc<[arrow_schema::DataType]>,
    columns: Arc<[usize]>,
    diagnostics: Arc<Diagnostics>,
    messages: Messages,
    memory: StatementMemory,
    /// The memory of columns that the file does not have.
    held: Option<Reservation>,
}

impl Piece for Batches {
    fn file(&self) -> usize {
        self.at
    }

    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let file = &self.files[self.at];
        guarded(&file.path, || {
            self.held = None;
            let Some(record) = self.messages.next()? else {
                return Ok(None);
            };
            // A batch may say that it has any number of rows where it has no values.
            let absent = self.columns.iter().filter(|at| file.places[**at].is_none());
            let bytes = (record.num_rows() as u64).saturating_mul(NULL * absent.count() as u64);
            self.held = Some(room(&file.path, &self.memory, bytes)?);
            let columns = self
                .columns
                .iter()
                .map(|column| match file.places[*column] {
                    None => Ok(new_null_array(&self.types[*column], record.num_rows())),
                    Some(place) => {
                        let array = record.columns().get(place);
                        let array = array.ok_or_else(|| {
                            damaged(&file.path, "it has changed while it is read")
                        })?;
                        file.values(array, place, &self.diagnostics)
                    }
                });
            let columns = columns.collect::<Result<_>>()?;
            Ok(Some(Batch::new(columns, record.num_rows())))
        })
    }
}
