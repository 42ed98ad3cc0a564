//! The rows of a block: each one's fields, as many as the table has columns.

use std::fmt::Display;

use mayfly_engine::{Error, Result};

use super::dialect::Dialect;
use super::fields::{Field, Fields, Next, without_return};
use super::options::Options;
use super::reject::{REJECTS_MAX, Reject};
use super::separators::Separators;
use crate::guard::damaged;

/// Most rows that are looked at column by column.
pub(super) const CHUNK: usize = 1024;

/// A block of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowBlock<'b> {
    pub(crate) path: &'b str,
    pub(crate) text: &'b [u8],
    /// The number of its first line.
    pub(crate) line: u64,
    /// Bytes of the file's text before it.
    pub(crate) offset: u64,
    pub(crate) separators: &'b Separators,
}

impl RowBlock<'_> {
    /// A row at a place that is left out, and why.
    fn reject(&self, start: usize, end: usize, column: Option<&str>, reason: String) -> Reject {
        let text = self.text.get(start..end).unwrap_or_default();
        Reject {
            line: self.line_of(start),
            byte: self.offset + start as u64,
            column: column.map(str::to_owned),
            reason,
            text: Reject::beginning(text.trim_ascii_end()),
        }
    }

    /// A row that begins with a field and ends with another one, and is left out.
    pub(super) fn reject_of(
        &self,
        (first, last): (&Field<'_>, &Field<'_>),
        column: &str,
        reason: String,
    ) -> Reject {
        let place =
            |text: &[u8]| (text.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        // Quotes stand around the texts of fields.
        let start = place(first.raw()).saturating_sub(usize::from(first.is_quoted()));
        let end =
            place(last.raw()).saturating_add(last.raw().len() + usize::from(last.is_quoted()));
        // A field that is missing is no part of the text.
        let rest = self.text.get(start..).unwrap_or_default();
        let line = || start + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let end = Some(end).filter(|end| *end <= self.text.len());
        let end = end.unwrap_or_else(line);
        self.reject(start, end, Some(column), reason)
    }

    /// The number of the line of a place.
    fn line_of(&self, start: usize) -> u64 {
        let before = self.text.get(..start).unwrap_or_default();
        self.line + memchr::memchr_iter(b'\n', before).count() as u64
    }

    /// 1105: an error of the row that begins with a field, with its line.
    pub(crate) fn error_of(&self, first: &Field<'_>, why: impl Display) -> Error {
        let text = self.text.as_ptr() as usize;
        self.error((first.raw().as_ptr() as usize).wrapping_sub(text), why)
    }

    /// 1105: an error of the row at a place, with its line.
    fn error(&self, start: usize, why: impl Display) -> Error {
        let line = self.line_of(start);
        damaged(self.path, format!("line {line}: {why}"))
    }
}

/// The rows of a block.
pub(crate) struct Rows<'b> {
    block: RowBlock<'b>,
    options: &'b Options,
    width: usize,
    fields: Fields<'b, 'b>,
    /// The fields of a chunk whose block is not regular.
    read: Vec<Field<'b>>,
    /// Rows that were left out.
    pub(crate) ignored: u64,
    /// The first ones of them, where they are kept.
    pub(crate) rejects: Vec<Reject>,
}

/// Some rows of a block.
pub(crate) struct Chunk<'r, 'b> {
    width: usize,
    rows: usize,
    fields: ChunkFields<'r, 'b>,
}

enum ChunkFields<'r, 'b> {
    /// They lie between separators.
    Regular {
        text: &'b [u8],
        /// Where the first one begins.
        start: usize,
        separators: &'b [u32],
        dialect: &'b Dialect,
    },
    /// Row by row.
    Read(&'r [Field<'b>]),
}

impl<'b> Chunk<'_, 'b> {
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// A field by its row and its place in it.
    #[inline]
    pub(crate) fn field(&self, row: usize, place: usize) -> Field<'b> {
        let at = row * self.width + place;
        match &self.fields {
            ChunkFields::Read(fields) => fields[at],
            ChunkFields::Regular {
                text,
                start,
                separators,
                dialect,
            } => {
                let before = at
                    .checked_sub(1)
                    .map(|before| separators[before] as usize + 1);
                let text = &text[before.unwrap_or(*start)..separators[at] as usize];
                if place + 1 == self.width {
                    Field::of(without_return(text, dialect.row_end), dialect)
                } else {
                    Field::of(text, dialect)
                }
            }
        }
    }

    /// The fields at a place of the rows.
    pub(crate) fn column(&self, place: usize) -> impl Iterator<Item = Field<'b>> {
        (0..self.rows).map(move |row| self.field(row, place))
    }
}

impl<'b> Rows<'b> {
    /// The rows of a block from a place on, each of `width` fields.
    pub(crate) fn new(block: RowBlock<'b>, options: &'b Options, width: usize, at: usize) -> Self {
        Self {
            block,
            options,
            width,
            fields: Fields::new(block.text, &options.dialect, block.separators, at),
            read: Vec::new(),
            ignored: 0,
            rejects: Vec::new(),
        }
    }

    /// Where the next row begins.
    pub(crate) fn position(&self) -> usize {
        self.fields.position()
    }

    /// The next rows, at most `rows`; `None` at the end of the block. 1105 for a row that is malformed, or has another number
    /// of fields, unless such rows are left out.
    pub(crate) fn next(&mut self, rows: usize) -> Result<Option<Chunk<'_, 'b>>> {
        let width = self.width;
        if self.block.separators.is_regular() {
            let start = self.fields.position();
            if start >= self.block.text.len() {
                return Ok(None);
            }
            let separators = self.fields.pass_separators(rows * width);
            let chunk = Chunk {
                width,
                rows: separators.len() / width,
                fields: ChunkFields::Regular {
                    text: self.block.text,
                    start,
                    separators,
                    dialect: &self.options.dialect,
                },
            };
            return Ok(Some(chunk).filter(|chunk| chunk.rows > 0));
        }
        self.read.clear();
        let mut count = 0;
        while count < rows
            && let Some(start) = self.fields.row_start(width > 1)
        {
            match self.read_row() {
                Ok(()) => count += 1,
                Err(why) if self.options.ignore_errors => {
                    self.ignored += 1;
                    if self.options.keeps_rejects && self.rejects.len() < REJECTS_MAX {
                        let end = self.fields.position();
                        self.rejects.push(self.block.reject(start, end, None, why));
                    }
                    self.read.truncate(count * width);
                }
                Err(why) => return Err(self.block.error(start, why)),
            }
        }
        let chunk = Chunk {
            width,
            rows: count,
            fields: ChunkFields::Read(&self.read),
        };
        Ok(Some(chunk).filter(|chunk| chunk.rows > 0))
    }

    fn read_row(&mut self) -> std::result::Result<(), String> {
        let fields = &mut self.read;
        let before = fields.len();
        loop {
            match self.fields.field() {
                Ok((field, next)) => {
                    fields.push(field);
                    if next == Next::Row {
                        break;
                    }
                }
                Err(malformed) => {
                    self.fields.pass();
                    return Err(malformed.text().to_owned());
                }
            }
        }
        let count = fields.len() - before;
        if count < self.width && self.options.null_padding {
            fields.resize(before + self.width, Field::plain(b""));
            return Ok(());
        }
        if count == self.width {
            return Ok(());
        }
        let remedy = match self.options.ignore_errors {
            true => "",
            false => "; ignore_errors => true leaves such rows out",
        };
        Err(format!(
            "the row has {count} fields instead of {}{remedy}",
            self.width
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of a text, or none if one cannot be read. Without `by_index` its fields are divided one after another.
    fn rows(text: &[u8], options: &Options, width: usize, by_index: bool) -> Option<Vec<Vec<u8>>> {
        let asked = if by_index { width } else { 0 };
        let separators = Separators::of(text, &options.dialect, asked);
        let block = RowBlock {
            path: "",
            text,
            line: 1,
            offset: 0,
            separators: &separators,
        };
        let mut rows = Rows::new(block, options, width, 0);
        let mut all = Vec::new();
        // Chunks of several sizes.
        while let Some(chunk) = rows.next(1 + all.len() % 3).ok()? {
            for row in 0..chunk.rows() {
                for place in 0..width {
                    let field = chunk.field(row, place);
                    let mut value = vec![u8::from(field.is_quoted())];
                    value.extend_from_slice(&field.bytes());
                    all.push(value);
                }
            }
        }
        Some(all)
    }

    /// Random texts of the characters that matter have the fields that a reader of one field after another finds.
    #[test]
    fn the_index_finds_the_same_fields() {
        let mut state = 7_u64;
        let mut draw = |count: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % count
        };
        let mut options = Options::default();
        let (mut read, mut regular) = (0, 0);
        for _ in 0..200_000 {
            options.dialect.escape = [Some(b'"'), Some(b'"'), Some(b'\\'), None][draw(4) as usize];
            let width = 1 + draw(3) as usize;
            let mut text = Vec::new();
            // Mostly well-formed rows, with anything in between.
            for _ in 0..draw(4) {
                for place in 0..width {
                    let field: &[u8] = match draw(12) {
                        0 => b"\"q\"",
                        1 => b"\"a,b\"",
                        2 => b"\"a\n\"\"b\"",
                        3 => b"",
                        4 => b"\"\"",
                        5 => b"5\" pipe",
                        6 => b"\"a\" ",
                        7 => [&b"\""[..], b"\\\"", b"\"\"\"", b",", b"\n", b"\r"][draw(6) as usize],
                        _ => b"plain text",
                    };
                    text.extend_from_slice(field);
                    let is_last = place + 1 == width;
                    let end: &[u8] =
                        [&b","[..], b"\n", b"\r\n"][usize::from(is_last) * (1 + draw(2) as usize)];
                    text.extend_from_slice(end);
                }
            }
            if draw(2) == 0 {
                text.pop();
            }
            let slowly = rows(&text, &options, width, false);
            let fast = rows(&text, &options, width, true);
            assert_eq!(
                fast,
                slowly,
                "{:?} {width} {:?}",
                text.escape_ascii().to_string(),
                options.dialect
            );
            read += usize::from(slowly.is_some());
            regular += usize::from(Separators::of(&text, &options.dialect, width).is_regular());
        }
        assert!(read > 100_000 && regular > 50_000, "{read} {regular}");
    }
}
