//! The columns of a file: their names from its first row, their types from all rows.

use mayfly_engine::{Result, TableFunctionContext};
use parking_lot::Mutex;

use super::checks::Checks;
use super::cut::RowCut;
use super::dialect::Dialect;
use super::fields::{Field, Fields, Next};
use super::guess::{Guess, Kind};
use super::options::Options;
use super::reject::{REJECTS_MAX, Reject};
use super::rows::{CHUNK, RowBlock, Rows};
use super::separators::Separators;
use super::sniff::SAMPLE;
use crate::text::input::{Block, Input, Version, check_utf8};
use crate::text::queue::divided;

/// A column of a file.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) guess: Guess,
}

/// Blocks of the first file, and of each further one, from which types are sampled.
const SAMPLED_BLOCKS: (usize, usize) = (4, 1);

/// What was found in a file.
pub(crate) struct Found {
    /// Whether all of it was read.
    pub(crate) is_whole: bool,
    pub(crate) columns: Vec<Column>,
    /// Number of rows; an estimate if not all of it was read.
    pub(crate) rows: u64,
    /// Rows that were left out.
    pub(crate) ignored: u64,
    /// The first ones of them, where they are kept.
    pub(crate) rejects: Vec<Reject>,
    pub(crate) version: Version,
}

/// Reads a file, or its first blocks where types are `sampled`. The first file settles what the options leave open. `None` for an
/// empty file.
pub(crate) fn infer(
    path: &str,
    options: &mut Options,
    sampled: bool,
    context: &TableFunctionContext,
) -> Result<Option<Found>> {
    let blocks = match (sampled, options.is_settled) {
        (false, _) => usize::MAX,
        (true, false) => SAMPLED_BLOCKS.0,
        (true, true) => SAMPLED_BLOCKS.1,
    };
    let (mut input, version) = Input::open(&context.files, path, options.encoding)?;
    input.skip_lines(options.skip)?;
    let sample = input.sample(SAMPLE)?.to_vec();
    let is_whole = input.is_at_end();
    if sample.is_empty() {
        return Ok(None);
    }
    if !options.is_settled {
        options.dialect = Dialect::of(&sample, &options.dialect, options.delimiter);
        if options.header.is_none() {
            options.header = Some(options.names.is_none() && has_header(&sample, options));
        }
        options.is_settled = true;
    }
    let first = first_row(&sample, options);
    let has_header = options.header == Some(true);
    let columns = first.iter().enumerate().map(|(at, field)| {
        let given = options.names.as_ref().and_then(|names| names.get(at));
        let name = match given {
            Some(name) => name.clone(),
            None if has_header => {
                let name = field.bytes();
                let name = String::from_utf8_lossy(&name);
                let words: Vec<&str> = name.split_whitespace().collect();
                if words.is_empty() {
                    numbered(at)
                } else {
                    words.join(" ")
                }
            }
            None => numbered(at),
        };
        let mut guess = options.guess();
        if options.all_text || options.declared.of_column(&name).is_some() {
            guess.keep_text();
        }
        Column { name, guess }
    });
    let mut columns: Vec<Column> = columns.collect();
    let shared = Mutex::new((input, has_header, blocks));
    let next = || -> Result<Option<(Block, bool)>> {
        context.interrupt.check()?;
        let mut shared = shared.lock();
        let (input, is_header, left) = &mut *shared;
        if *left == 0 {
            return Ok(None);
        }
        *left -= 1;
        let block = input.block(&mut RowCut::new(&options.dialect))?;
        Ok(block.map(|block| (block, std::mem::take(is_header))))
    };
    let names = columns.iter().enumerate();
    let checks = Checks::of(
        names.map(|(at, it)| (at, it.name.as_str())),
        options,
        context,
    );
    let blank: Vec<Guess> = columns.iter().map(|column| column.guess).collect();
    let work = || guess_blocks(path, (&*options, &checks), blank.clone(), &next, context);
    // A small file is read before a thread has begun.
    let parts = divided(context, is_whole, work)?;
    let (mut input, ..) = shared.into_inner();
    let is_whole = input.sample(1)?.is_empty();
    let (mut rows, mut ignored) = (0, 0);
    let mut rejects = Vec::new();
    for part in parts {
        rows += part.rows;
        ignored += part.ignored;
        rejects.extend(part.rejects);
        for (column, guess) in columns.iter_mut().zip(&part.guesses) {
            column.guess.merge(guess);
        }
    }
    if !is_whole {
        let share = version.length as f64 / input.offset().max(1) as f64;
        rows = rows.max((rows as f64 * share) as u64);
    }
    Ok(Some(Found {
        is_whole,
        columns,
        rows,
        ignored,
        rejects,
        version,
    }))
}

fn numbered(at: usize) -> String {
    format!("column{}", at + 1)
}

/// What a worker has found.
struct Part {
    guesses: Vec<Guess>,
    rows: u64,
    ignored: u64,
    rejects: Vec<Reject>,
}

fn guess_blocks(
    path: &str,
    (options, checks): (&Options, &Checks),
    mut guesses: Vec<Guess>,
    next: &(dyn Fn() -> Result<Option<(Block, bool)>> + Sync),
    context: &TableFunctionContext,
) -> Result<Part> {
    let (mut count, mut ignored) = (0, 0);
    let mut rejects = Vec::new();
    while let Some((block, is_header)) = next()? {
        check_utf8(path, &block.text, block.line)?;
        let width = guesses.len();
        let separators = Separators::of(&block.text, &options.dialect, width);
        let held = block.text.capacity() + separators.size();
        let _memory = context.memory.reserve(held as u64)?;
        let row_block = RowBlock {
            path,
            text: &block.text,
            line: block.line,
            offset: block.offset,
            separators: &separators,
        };
        let mut rows = Rows::new(row_block, options, width, 0);
        if is_header {
            rows.next(1)?;
        }
        while let Some(chunk) = rows.next(CHUNK)? {
            let bad = checks.bad_rows(&chunk, options);
            count += (chunk.rows() - bad.len()) as u64;
            ignored += bad.len() as u64;
            for (row, column, reason) in bad {
                if options.keeps_rejects && rejects.len() < REJECTS_MAX {
                    let fields = (&chunk.field(row, 0), &chunk.field(row, width - 1));
                    rejects.push(row_block.reject_of(fields, column, reason));
                }
            }
            for (at, guess) in guesses.iter_mut().enumerate() {
                for field in chunk.column(at) {
                    if options.is_null(&field) {
                        continue;
                    }
                    match field.is_escaped() {
                        true => guess.add(&field.bytes()),
                        false => guess.add(field.raw()),
                    }
                }
            }
        }
        ignored += rows.ignored;
        rejects.append(&mut rows.rejects);
        rejects.truncate(REJECTS_MAX);
    }
    Ok(Part {
        guesses,
        rows: count,
        ignored,
        rejects,
    })
}

/// The fields of the first row of a sample: of several fields behind empty lines, or of one; none if it is malformed.
fn first_row<'t>(sample: &'t [u8], options: &'t Options) -> Vec<Field<'t>> {
    let separators = Separators::of(sample, &options.dialect, 0);
    let row = |passes_empty| {
        let mut fields = Fields::new(sample, &options.dialect, &separators, 0);
        row(&mut fields, passes_empty).unwrap_or_default()
    };
    let several = row(true);
    if several.len() > 1 {
        several
    } else {
        row(false)
    }
}

/// The fields of the next row of a sample; `None` if it is malformed or there is none.
fn row<'t>(fields: &mut Fields<'_, 't>, passes_empty: bool) -> Option<Vec<Field<'t>>> {
    fields.row_start(passes_empty)?;
    let mut row = Vec::new();
    loop {
        let (field, next) = fields.field().ok()?;
        row.push(field);
        if next == Next::Row {
            return Some(row);
        }
    }
}

/// Rows below the first one that are looked at for the header.
const ROWS_BELOW: usize = 1000;

/// Whether the first row of a sample has names: one of its values does not fit the numbers, dates or truth values below it;
/// or all columns are texts, and its values are distinct ones that are no dates or the like. One may be empty, as that of an
/// index often is.
fn has_header(sample: &[u8], options: &Options) -> bool {
    let first = first_row(sample, options);
    let guess_of = |field: &Field<'_>| {
        let mut guess = options.guess();
        guess.add(&field.bytes());
        guess
    };
    let below = guesses_below(sample, options, first.len());
    let is_typed = |guess: &Guess| guess.has_values() && !matches!(guess.kind(), Kind::Text(_));
    let mut typed = first
        .iter()
        .zip(&below)
        .filter(|(_, below)| is_typed(below))
        .peekable();
    if typed.peek().is_some() {
        return typed.any(|(field, below)| {
            let mut both = *below;
            both.merge(&guess_of(field));
            !options.is_null(field) && matches!(both.kind(), Kind::Text(_))
        });
    }
    let mut names = Vec::new();
    for field in first.iter().filter(|field| !field.raw().is_empty()) {
        let guess = guess_of(field);
        // Ambiguous dates are no names either.
        if !matches!(guess.kind(), Kind::Text(_)) || guess.is_date() {
            return false;
        }
        names.push(field.raw());
    }
    names.sort_unstable();
    let are_distinct = names.windows(2).all(|pair| pair[0] != pair[1]);
    are_distinct && !names.is_empty() && names.len() + 1 >= first.len()
}

/// The guesses of the columns of a sample without its first row and its last one, which may be cut off.
fn guesses_below(sample: &[u8], options: &Options, width: usize) -> Vec<Guess> {
    let separators = Separators::of(sample, &options.dialect, 0);
    let mut fields = Fields::new(sample, &options.dialect, &separators, 0);
    let mut guesses = vec![options.guess(); width];
    let mut rows = Vec::new();
    while rows.len() <= ROWS_BELOW
        && let Some(row) = row(&mut fields, width > 1)
    {
        rows.push(row);
    }
    if sample.len() >= SAMPLE {
        rows.pop();
    }
    for row in rows.iter().skip(1) {
        for (field, guess) in row.iter().zip(&mut guesses) {
            if !options.is_null(field) {
                guess.add(&field.bytes());
            }
        }
    }
    guesses
}
