//! Scans of JSON files, whose pieces are blocks of rows.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::BinaryViewBuilder;
use arrow_buffer::Buffer;
use mayfly_engine::{
    Batch, Reservation, Result, SessionParameters, SqlType, TableFunctionContext, TextColumn,
    TypeKind, json,
};
use parking_lot::Mutex;

use super::rows::{Rows, Slice, ValueCut, string};
use super::{JsonFiles, JsonKind};
use crate::csv::values::Values;
use crate::guard::damaged;
use crate::table::{FileRequest, Piece, Pieces};
use crate::text::input::{Encoding, Input, Version, check_utf8};
use crate::text::queue::{BlockQueue, open_again};

/// The blocks that no worker has taken yet.
pub(super) struct Blocks {
    reading: Arc<Reading>,
    context: TableFunctionContext,
    /// The blocks, and whether their file is an array.
    queue: Mutex<BlockQueue<bool>>,
}

/// What is read of each block.
struct Reading {
    files: Arc<[(String, Version)]>,
    /// The requested columns.
    kinds: Vec<JsonKind>,
    /// Their names and declared types.
    declared: Vec<(String, Option<SqlType>)>,
    session: Arc<SessionParameters>,
    /// Their indexes by their keys.
    by_name: HashMap<String, usize>,
    batch_rows: usize,
}

impl Blocks {
    pub(super) fn new(files: &JsonFiles, request: FileRequest) -> Self {
        let named = request.columns.iter().enumerate();
        let named = named.map(|(at, column)| (files.columns[*column].name.clone(), at));
        Self {
            reading: Arc::new(Reading {
                files: Arc::clone(&files.files),
                kinds: request
                    .columns
                    .iter()
                    .map(|column| files.kinds[*column])
                    .collect(),
                declared: request
                    .columns
                    .iter()
                    .map(|at| (files.columns[*at].name.clone(), files.declared[*at].clone()))
                    .collect(),
                session: Arc::clone(&files.context.session),
                by_name: named.collect(),
                batch_rows: files.context.batch_rows,
            }),
            context: files.context.clone(),
            queue: Mutex::new(BlockQueue::new(request.files)),
        }
    }

    /// Opens a file; returns whether it is an array too.
    fn open(&self, at: usize) -> Result<(Input, bool)> {
        let (path, version) = &self.reading.files[at];
        let mut input = open_again(&self.context, path, Encoding::Utf8, version)?;
        let in_array = input.take(b'[')?;
        Ok((input, in_array))
    }
}

impl Pieces for Blocks {
    fn next(&self) -> Result<Option<Box<dyn Piece>>> {
        self.context.interrupt.check()?;
        let next = self.queue.lock().next(
            |at| self.open(at),
            |input, in_array| {
                let block = input.block(&mut ValueCut::new(*in_array))?;
                Ok(block.map(|block| (block, *in_array)))
            },
        )?;
        let Some((at, block, in_array)) = next else {
            return Ok(None);
        };
        let memory = self.context.memory.reserve(block.text.len() as u64)?;
        check_utf8(&self.reading.files[at].0, &block.text, block.line)?;
        Ok(Some(Box::new(BlockRows {
            at,
            text: Buffer::from_vec(block.text),
            line: block.line,
            in_array,
            position: 0,
            memory,
            reading: Arc::clone(&self.reading),
        })))
    }
}

/// A block that is being read.
struct BlockRows {
    at: usize,
    text: Buffer,
    /// The number of its first line.
    line: u64,
    in_array: bool,
    /// Where its next row begins.
    position: usize,
    memory: Reservation,
    reading: Arc<Reading>,
}

/// The values of a column of some rows.
enum Column {
    Plain(Values),
    Documents(BinaryViewBuilder),
}

impl Column {
    /// Adds a value; false if it is none of the column.
    fn add(&mut self, value: Slice<'_>, text: &Buffer) -> bool {
        match (self, value) {
            (Self::Plain(values), value) => match plain(value, values.declared_type()) {
                Some(value) => values.add(std::iter::once(value), text).is_ok(),
                None => false,
            },
            (Self::Documents(documents), Slice::Null) => {
                documents.append_null();
                true
            }
            (
                Self::Documents(documents),
                Slice::Bool(token)
                | Slice::Number(token)
                | Slice::String(token)
                | Slice::Nested(token),
            ) => match json::parse(token) {
                Ok(document) => {
                    documents.append_value(document.to_text());
                    true
                }
                Err(_) => false,
            },
        }
    }
}

/// The text of a value for a column that holds no documents, or one of a declared type; `None` if it has none.
fn plain<'t>(value: Slice<'t>, declared: Option<&SqlType>) -> Option<Option<Cow<'t, [u8]>>> {
    let token = match value {
        Slice::Null => return Some(None),
        Slice::Bool(token) | Slice::Number(token) | Slice::String(token) | Slice::Nested(token) => {
            token
        }
    };
    let is_number = declared.is_some_and(|ty| ty.is_numeric());
    Some(Some(match value {
        _ if declared.is_some_and(|ty| ty.kind == TypeKind::Json) => Cow::Borrowed(token),
        Slice::Bool(b"true") if is_number => Cow::Borrowed(b"1"),
        Slice::Bool(_) if is_number => Cow::Borrowed(b"0"),
        Slice::String(quoted) => match string(quoted)? {
            Cow::Borrowed(part) => Cow::Borrowed(part.as_bytes()),
            Cow::Owned(own) => Cow::Owned(own.into_bytes()),
        },
        Slice::Nested(_) if declared.is_none() => return None,
        _ => Cow::Borrowed(token),
    }))
}

impl Piece for BlockRows {
    fn file(&self) -> usize {
        self.at
    }

    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let (reading, text) = (&self.reading, &self.text);
        let column = |(kind, (name, declared)): (&JsonKind, &(String, Option<SqlType>))| {
            if let Some(ty) = declared {
                let column = TextColumn::new(name, ty, &reading.session);
                return Column::Plain(Values::declared(column));
            }
            match kind {
                JsonKind::Plain(kind) => {
                    Column::Plain(Values::new(*kind, text, reading.batch_rows))
                }
                JsonKind::Document => Column::Documents(BinaryViewBuilder::new()),
            }
        };
        let columns = reading.kinds.iter().zip(&reading.declared);
        let mut columns: Vec<Column> = columns.map(column).collect();
        let mut row = vec![Slice::Null; columns.len()];
        let mut rows = Rows::new(text.as_slice(), self.position, self.in_array);
        let mut count = 0;
        while count < reading.batch_rows {
            row.fill(Slice::Null);
            let start = rows.position();
            let read = rows.row(|key, value| {
                if let Some(at) = reading.by_name.get(&*key) {
                    row[*at] = value;
                }
            });
            let fail = |at: usize, why: &str| {
                let before = text.get(..at).unwrap_or_default();
                let line = self.line + memchr::memchr_iter(b'\n', before).count() as u64;
                damaged(&reading.files[self.at].0, format!("line {line}: {why}"))
            };
            if !read.map_err(|fault| fail(fault.at, fault.why))? {
                break;
            }
            count += 1;
            for (column, value) in columns.iter_mut().zip(&row) {
                if !column.add(*value, text) {
                    let reason = match column {
                        Column::Plain(values) => values.reason(),
                        Column::Documents(_) => None,
                    };
                    return Err(fail(
                        start,
                        reason.unwrap_or("a value is none of its column"),
                    ));
                }
            }
        }
        self.position = rows.position();
        if count == 0 {
            self.memory.free();
            return Ok(None);
        }
        let arrays = columns.into_iter().map(|column| -> ArrayRef {
            match column {
                Column::Plain(values) => values.finish(),
                Column::Documents(mut documents) => Arc::new(documents.finish()),
            }
        });
        Ok(Some(Batch::new(arrays.collect(), count)))
    }
}
