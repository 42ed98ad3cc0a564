//! Arrow IPC files (Feather version 2) and streams: `read_arrow('a.arrow', …)`.
//!
//! A piece of a scan is a file: its record batches follow each other, and dictionaries may be replaced between them.

use std::io::{self, BufRead, BufReader};
use std::sync::Arc;

use arrow_array::{RecordBatch, new_null_array};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, Field};
use mayfly_engine::{
    Batch, Diagnostics, InputCursor, InputFile, ProvidedColumn, Result, StatementFiles,
    TableArguments, TableFunctionContext,
};
use parking_lot::Mutex;

use crate::columns::{self, Opened, array_types};
use crate::guard::{damaged, guarded};
use crate::paths::DataFile;
use crate::table::{FileRequest, Format, Piece, Pieces};

/// The first bytes of a file; a stream has none.
const MAGIC: &[u8] = b"ARROW1";

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
        let reader = Reader::new(path, file)?;
        let schema = match &reader {
            Reader::File(reader) => reader.schema(),
            Reader::Stream(reader) => reader.schema(),
        };
        let fields = schema.fields().iter().map(|field| Field::clone(field));
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
        let reader = guarded(path, || Reader::new(path, file))?;
        Ok(Some(Box::new(Batches {
            at,
            files: Arc::clone(&self.files),
            types: Arc::clone(&self.types),
            columns: Arc::clone(&self.columns),
            diagnostics: Arc::clone(&self.diagnostics),
            reader,
        })))
    }
}

/// The reader of a file or a stream.
enum Reader {
    File(Box<FileReader<BufReader<InputCursor>>>),
    Stream(Box<StreamReader<BufReader<InputCursor>>>),
}

impl Reader {
    fn new(path: &str, file: InputFile) -> Result<Self> {
        let read = || {
            let mut file = BufReader::new(file.cursor(0)?);
            let begin = file.fill_buf()?;
            Ok((begin.starts_with(MAGIC), file))
        };
        let (is_file, file) = read().map_err(|error: io::Error| damaged(path, error))?;
        let failed = |error: ArrowError| damaged(path, error);
        Ok(if is_file {
            Self::File(Box::new(FileReader::try_new(file, None).map_err(failed)?))
        } else {
            Self::Stream(Box::new(StreamReader::try_new(file, None).map_err(failed)?))
        })
    }

    fn next(&mut self) -> Option<std::result::Result<RecordBatch, ArrowError>> {
        match self {
            Self::File(reader) => reader.next(),
            Self::Stream(reader) => reader.next(),
        }
    }
}

/// The record batches of a file.
struct Batches {
    at: usize,
    files: Arc<[ArrowFile]>,
    types: Arc<[arrow_schema::DataType]>,
    columns: Arc<[usize]>,
    diagnostics: Arc<Diagnostics>,
    reader: Reader,
}

impl Piece for Batches {
    fn file(&self) -> usize {
        self.at
    }

    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let file = &self.files[self.at];
        guarded(&file.path, || {
            let Some(record) = self.reader.next() else {
                return Ok(None);
            };
            let record = record.map_err(|error| damaged(&file.path, error))?;
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
