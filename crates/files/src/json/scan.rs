//! Scans of JSON files, whose pieces are blocks of rows.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::BinaryViewBuilder;
use arrow_buffer::Buffer;
use mayfly_engine::{Batch, Reservation, Result, TableFunctionContext, json};
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
        let mut input = open_again(&self.context, path, Encoding::Utf8, *version)?;
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
            (Self::Plain(values), value) => {
                let value = match value {
                    Slice::Null => None,
                    Slice::Bool(token) | Slice::Number(token) => Some(Cow::Borrowed(token)),
                    Slice::String(quoted) => match string(quoted) {
                        None => return false,
                        Some(Cow::Borrowed(part)) => Some(Cow::Borrowed(part.as_bytes())),
                        Some(Cow::Owned(own)) => Some(Cow::Owned(own.into_bytes())),
                    },
                    Slice::Nested(_) => return false,
                };
                values.add(std::iter::once(value), text).is_ok()
            }
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

impl Piece for BlockRows {
    fn file(&self) -> usize {
        self.at
    }

    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let (reading, text) = (&self.reading, &self.text);
        let column = |kind: &JsonKind| match kind {
            JsonKind::Plain(kind) => Column::Plain(Values::new(*kind, text, reading.batch_rows)),
            JsonKind::Document => Column::Documents(BinaryViewBuilder::new()),
        };
        let mut columns: Vec<Column> = reading.kinds.iter().map(column).collect();
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
                    return Err(fail(start, "a value is none of its column"));
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
