//! The rows of a block: each one's fields, as many as the table has columns.

use std::fmt::Display;

use mayfly_engine::{Error, Result};

use super::fields::{Field, Fields, Next};
use super::options::Options;
use crate::guard::damaged;
use crate::text::input::Block;

/// A block that is read row by row.
pub(crate) struct Rows<'b> {
    path: &'b str,
    text: &'b [u8],
    first_line: u64,
    options: &'b Options,
    width: usize,
    fields: Fields<'b>,
    row: Vec<Field<'b>>,
    /// Where the row begins.
    start: usize,
    /// Rows that were left out.
    pub(crate) ignored: u64,
}

impl<'b> Rows<'b> {
    /// The rows of a block from a place on, each of `width` fields.
    pub(crate) fn new(
        path: &'b str,
        block: (&'b [u8], u64),
        options: &'b Options,
        width: usize,
        at: usize,
    ) -> Self {
        Self {
            path,
            text: block.0,
            first_line: block.1,
            options,
            width,
            fields: Fields::new(block.0, &options.dialect, at),
            row: Vec::with_capacity(width),
            start: at,
            ignored: 0,
        }
    }

    /// All rows of a block.
    pub(crate) fn of(path: &'b str, block: &'b Block, options: &'b Options, width: usize) -> Self {
        Self::new(path, (&block.text, block.line), options, width, 0)
    }

    /// Where the next row begins.
    pub(crate) fn position(&self) -> usize {
        self.fields.position()
    }

    /// The fields of the next row: 1105 for one that is malformed, or has another number of fields, unless such rows are
    /// left out.
    pub(crate) fn next(&mut self) -> Result<Option<&[Field<'b>]>> {
        while let Some(start) = self.fields.row_start(self.width > 1) {
            self.start = start;
            self.row.clear();
            match self.read() {
                Ok(()) => return Ok(Some(&self.row)),
                Err(_) if self.options.ignore_errors => self.ignored += 1,
                Err(why) => return Err(self.error(why)),
            }
        }
        Ok(None)
    }

    fn read(&mut self) -> std::result::Result<(), String> {
        loop {
            match self.fields.field() {
                Ok((field, next)) => {
                    self.row.push(field);
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
        let missing = self.width.saturating_sub(self.row.len());
        if missing > 0 && self.options.null_padding {
            self.row.resize(self.width, Field::Plain(b""));
        }
        if self.row.len() == self.width {
            return Ok(());
        }
        Err(format!(
            "the row has {} fields instead of {}; ignore_errors => true leaves such rows out",
            self.row.len(),
            self.width
        ))
    }

    /// 1105: an error of the row, with its line.
    pub(crate) fn error(&self, why: impl Display) -> Error {
        let before = self.text.get(..self.start).unwrap_or_default();
        let line = self.first_line + memchr::memchr_iter(b'\n', before).count() as u64;
        damaged(self.path, format!("line {line}: {why}"))
    }
}
