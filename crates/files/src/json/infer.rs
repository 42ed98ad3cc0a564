//! The columns of JSON files, from all of their rows.

use std::collections::HashMap;

use mayfly_engine::json::{self, JsonError};
use mayfly_engine::{Result, TableFunctionContext};
use parking_lot::Mutex;

use super::JsonKind;
use super::rows::{Rows, Slice, ValueCut, string};
use crate::csv::guess::{Guess, Kind};
use crate::guard::damaged;
use crate::text::input::{Block, Encoding, Input, Version, check_utf8};
use crate::text::queue::divided;

/// What the values of a column are so far.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) name: String,
    /// The row that has it first: number of its block, number in the block.
    first: (u64, usize),
    /// Rows with a value that is not null.
    values: u64,
    numbers: Guess,
    has_numbers: bool,
    has_booleans: bool,
    has_strings: bool,
    has_nested: bool,
    /// Bytes of the longest string.
    length: usize,
}

impl Column {
    fn new(name: &str, first: (u64, usize)) -> Self {
        Self {
            name: name.to_owned(),
            first,
            values: 0,
            numbers: Guess::new(None, b','),
            has_numbers: false,
            has_booleans: false,
            has_strings: false,
            has_nested: false,
            length: 0,
        }
    }

    /// Adds a value; the reason if it is no JSON.
    fn add(&mut self, value: Slice<'_>) -> std::result::Result<(), String> {
        self.values += u64::from(value != Slice::Null);
        match value {
            Slice::Null => {}
            Slice::Bool(_) => self.has_booleans = true,
            Slice::Number(text) => {
                self.has_numbers = true;
                self.numbers.add(text);
            }
            Slice::String(text) => {
                let text = string(text).ok_or_else(|| fault(text))?;
                self.has_strings = true;
                self.length = self.length.max(text.len());
            }
            Slice::Nested(text) => {
                self.has_nested = true;
                if json::parse(text).is_err() {
                    return Err(fault(text));
                }
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: &Self) {
        self.first = self.first.min(other.first);
        self.values += other.values;
        self.numbers.merge(&other.numbers);
        self.has_numbers |= other.has_numbers;
        self.has_booleans |= other.has_booleans;
        self.has_strings |= other.has_strings;
        self.has_nested |= other.has_nested;
        self.length = self.length.max(other.length);
    }

    pub(super) fn kind(&self) -> JsonKind {
        let text = Kind::Text(u32::try_from(self.length).unwrap_or(u32::MAX));
        let has = (
            self.has_numbers,
            self.has_booleans,
            self.has_strings,
            self.has_nested,
        );
        match has {
            (true, false, false, false) => JsonKind::Plain(self.numbers.kind()),
            (false, true, false, false) => JsonKind::Plain(Kind::Bool),
            (false, false, _, false) => JsonKind::Plain(text),
            _ => JsonKind::Document,
        }
    }

    /// Whether one of a number of rows has no value.
    pub(super) fn has_nulls(&self, rows: u64) -> bool {
        self.values < rows
    }
}

/// Columns by their names.
#[derive(Debug, Default)]
pub(super) struct Columns {
    by_name: HashMap<String, Column>,
    pub(super) rows: u64,
    blocks: u64,
}

impl Columns {
    pub(super) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Adds the columns of a file behind those of the files before.
    pub(super) fn merge(&mut self, other: Self) {
        self.rows += other.rows;
        let before = self.blocks;
        self.blocks += other.blocks;
        for (name, mut column) in other.by_name {
            column.first.0 += before;
            match self.by_name.get_mut(&name) {
                Some(known) => known.merge(&column),
                None => {
                    self.by_name.insert(name, column);
                }
            }
        }
    }

    /// The columns in the order in which they appear.
    pub(super) fn into_columns(self) -> Vec<Column> {
        let mut columns: Vec<Column> = self.by_name.into_values().collect();
        columns.sort_by(|a, b| a.first.cmp(&b.first).then_with(|| a.name.cmp(&b.name)));
        columns
    }
}

/// Reads a file.
pub(super) fn infer(path: &str, context: &TableFunctionContext) -> Result<(Columns, Version)> {
    let (mut input, version) = Input::open(&context.files, path, Encoding::Utf8)?;
    let in_array = input.take(b'[')?;
    input.sample(1 << 16)?;
    let is_small = input.is_at_end();
    let shared = Mutex::new((input, 0));
    let next = || -> Result<Option<(Block, u64)>> {
        context.interrupt.check()?;
        let mut shared = shared.lock();
        let block = shared.0.block(&mut ValueCut::new(in_array))?;
        shared.1 += 1;
        let number = shared.1;
        Ok(block.map(|block| (block, number)))
    };
    let work = || {
        let mut columns = Columns::default();
        let mut ended = false;
        while let Some((block, number)) = next()? {
            let _memory = context.memory.reserve(block.text.len() as u64)?;
            check_utf8(path, &block.text, block.line)?;
            ended |= add(&mut columns, path, &block, number, in_array)?;
        }
        Ok((columns, ended))
    };
    let (mut all, mut ended) = (Columns::default(), false);
    for (part, has_end) in divided(context, is_small, work)? {
        ended |= has_end;
        // The numbers of blocks are those of the file.
        all.merge(part);
    }
    if in_array && !ended {
        return Err(damaged(path, "it ends within an array"));
    }
    all.blocks = shared.into_inner().1;
    Ok((all, version))
}

/// Adds the rows of a block; returns whether an array has ended in it.
fn add(
    columns: &mut Columns,
    path: &str,
    block: &Block,
    number: u64,
    in_array: bool,
) -> Result<bool> {
    let mut rows = Rows::new(&block.text, 0, in_array);
    let mut row: HashMap<String, (usize, Slice<'_>)> = HashMap::new();
    let mut place = 0;
    loop {
        row.clear();
        let start = rows.position();
        let read = rows.row(|key, value| {
            place += 1;
            row.insert(key.into_owned(), (place, value));
        });
        let fail = |at: usize, why: &str| {
            let before = block.text.get(..at).unwrap_or_default();
            let line = block.line + memchr::memchr_iter(b'\n', before).count() as u64;
            damaged(path, format!("line {line}: {why}"))
        };
        match read {
            Ok(true) => columns.rows += 1,
            Ok(false) => return Ok(rows.has_ended()),
            Err(fault) => return Err(fail(fault.at, fault.why)),
        }
        for (key, (place, value)) in row.drain() {
            let first = (number, place);
            let column = match columns.by_name.get_mut(&key) {
                Some(column) => column,
                None => {
                    let new = Column::new(&key, first);
                    columns.by_name.entry(key).or_insert(new)
                }
            };
            column.first = column.first.min(first);
            if let Err(reason) = column.add(value) {
                let name = column.name.clone();
                let why = format!("the value of '{name}' is no JSON: {reason}");
                return Err(fail(start, &why));
            }
        }
    }
}

/// Why a text is no document of MySQL.
fn fault(text: &[u8]) -> String {
    match json::parse(text) {
        Err(JsonError::Syntax { message, .. }) => message.to_owned(),
        Err(JsonError::TooDeep) => format!("it is nested more than {} deep", json::DEPTH_MAX),
        Ok(_) => "it is of another kind".to_owned(),
    }
}
