//! Scans of CSV files, whose pieces are blocks of rows.

use std::sync::Arc;

use arrow_array::{ArrayRef, new_null_array};
use arrow_buffer::Buffer;
use arrow_schema::DataType;
use mayfly_engine::{
    Batch, Reservation, Result, SqlType, TableFunctionContext, TextColumn, TypeSampling,
};
use parking_lot::Mutex;

use super::checks::Checks;
use super::cut::RowCut;
use super::guess::Kind;
use super::options::Options;
use super::rows::{CHUNK, RowBlock, Rows};
use super::separators::Separators;
use super::values::Values;
use super::{CsvFile, CsvFiles};
use crate::table::{FileRequest, Piece, Pieces};
use crate::text::input::{Input, check_utf8};
use crate::text::queue::{BlockQueue, open_again};

/// The blocks that no worker has taken yet.
pub(super) struct Blocks {
    reading: Arc<Reading>,
    context: TableFunctionContext,
    /// The blocks, and whether none of the current file was taken.
    queue: Mutex<BlockQueue<bool>>,
}

/// What is read of each block.
struct Reading {
    files: Arc<[CsvFile]>,
    options: Arc<Options>,
    /// The kinds and arrays of the requested columns, and their indexes in the table.
    columns: Vec<(Kind, DataType, usize)>,
    /// The names and declared types of the table's columns.
    declared: Vec<(String, Option<SqlType>)>,
    context: TableFunctionContext,
    batch_rows: usize,
    /// Whether the kinds are those of the first rows.
    is_sampled: bool,
}

impl Reading {
    /// A requested column without values.
    fn values(&self, kind: Kind, column: usize, text: &Buffer) -> Values {
        match self.declared.get(column) {
            Some((name, Some(ty))) => {
                Values::declared(TextColumn::new(name, ty, &self.context.session))
            }
            _ => Values::new(kind, text, self.batch_rows),
        }
    }
}

impl Blocks {
    pub(super) fn new(files: &CsvFiles, request: FileRequest) -> Self {
        let columns = request.columns.iter().map(|column| {
            let kind = files.kinds[*column];
            let ty = files.columns[*column].ty.physical().arrow();
            (kind, ty, *column)
        });
        let declared = files.columns.iter().zip(&*files.declared);
        let declared = declared.map(|(column, ty)| (column.name.clone(), ty.clone()));
        Self {
            reading: Arc::new(Reading {
                files: Arc::clone(&files.files),
                options: Arc::clone(&files.options),
                columns: columns.collect(),
                declared: declared.collect(),
                context: files.context.clone(),
                batch_rows: files.context.batch_rows,
                is_sampled: files.is_sampled,
            }),
            context: files.context.clone(),
            queue: Mutex::new(BlockQueue::new(request.files)),
        }
    }

    fn open(&self, at: usize) -> Result<Input> {
        let (file, options) = (&self.reading.files[at], &self.reading.options);
        let mut input = open_again(&self.context, &file.path, options.encoding, &file.version)?;
        input.skip_lines(options.skip)?;
        Ok(input)
    }
}

impl Pieces for Blocks {
    fn next(&self) -> Result<Option<Box<dyn Piece>>> {
        self.context.interrupt.check()?;
        let options = &self.reading.options;
        let next = self.queue.lock().next(
            |at| Ok((self.open(at)?, true)),
            |input, is_first| {
                let block = input.block(&mut RowCut::new(&options.dialect))?;
                Ok(block.map(|block| (block, std::mem::take(is_first))))
            },
        )?;
        let Some((at, block, is_first)) = next else {
            return Ok(None);
        };
        let file = &self.reading.files[at];
        check_utf8(&file.path, &block.text, block.line)?;
        let separators = Separators::of(&block.text, &options.dialect, file.width);
        let held = block.text.capacity() + separators.size();
        let memory = self.context.memory.reserve(held as u64)?;
        let mut new = BlockRows {
            at,
            line: block.line,
            offset: block.offset,
            separators,
            text: Buffer::from_vec(block.text),
            position: 0,
            memory,
            reading: Arc::clone(&self.reading),
        };
        if is_first && options.header == Some(true) {
            let mut rows = new.rows();
            rows.next(1)?;
            new.position = rows.position();
        }
        Ok(Some(Box::new(new)))
    }
}

/// A block that is being read.
struct BlockRows {
    at: usize,
    text: Buffer,
    /// The number of its first line.
    line: u64,
    /// Bytes of the file's text before it.
    offset: u64,
    separators: Separators,
    /// Where its next row begins.
    position: usize,
    memory: Reservation,
    reading: Arc<Reading>,
}

impl BlockRows {
    fn rows(&self) -> Rows<'_> {
        let width = self.reading.files[self.at].width;
        Rows::new(self.block(), &self.reading.options, width, self.position)
    }

    fn block(&self) -> RowBlock<'_> {
        RowBlock {
            path: &self.reading.files[self.at].path,
            text: &self.text,
            line: self.line,
            offset: self.offset,
            separators: &self.separators,
        }
    }
}

impl Piece for BlockRows {
    fn file(&self) -> usize {
        self.at
    }

    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let (reading, file) = (&self.reading, &self.reading.files[self.at]);
        let (options, text) = (&reading.options, &self.text);
        let place = |(kind, ty, column): &(Kind, DataType, usize)| {
            let place = file.places[*column];
            let values = place.map(|_| reading.values(*kind, *column, text));
            (place.unwrap_or_default(), values, ty.clone())
        };
        let mut columns: Vec<_> = reading.columns.iter().map(place).collect();
        let places = reading.declared.iter().zip(&file.places);
        let places = places.filter_map(|((name, _), place)| Some(((*place)?, name.as_str())));
        let checks = Checks::of(places, options, &reading.context);
        let mut rows = self.rows();
        let mut count = 0;
        while count < reading.batch_rows {
            let Some(chunk) = rows.next(CHUNK.min(reading.batch_rows - count))? else {
                break;
            };
            let bad = checks.bad_rows(&chunk, options);
            let mut bad = bad.iter().map(|(row, ..)| *row).peekable();
            let is_good = |row: &usize| bad.next_if_eq(row).is_none();
            let good: Vec<usize> = (0..chunk.rows()).filter(is_good).collect();
            count += good.len();
            for (place, values, _) in &mut columns {
                let Some(values) = values else {
                    continue;
                };
                let column = good.iter().map(|row| chunk.field(*row, *place));
                let column = column.map(|field| (!options.is_null(&field)).then(|| field.bytes()));
                if let Err(at) = values.add(column, text) {
                    if reading.is_sampled && values.declared_type().is_none() {
                        return Err(TypeSampling::refuted());
                    }
                    let at = good.get(at).copied().unwrap_or_default();
                    let bad = chunk.field(at, *place).bytes();
                    let bad = String::from_utf8_lossy(&bad);
                    let why = match values.reason() {
                        Some(reason) => format!("'{bad}': {reason}"),
                        None => format!("'{bad}' is no value of its column"),
                    };
                    return Err(self.block().error_of(&chunk.field(at, 0), why));
                }
            }
        }
        let position = rows.position();
        self.position = position;
        if count == 0 {
            self.memory.free();
            return Ok(None);
        }
        let arrays = columns.into_iter().map(|(_, values, ty)| -> ArrayRef {
            match values {
                Some(values) => values.finish(),
                None => new_null_array(&ty, count),
            }
        });
        Ok(Some(Batch::new(arrays.collect(), count)))
    }
}
