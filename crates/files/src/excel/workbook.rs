//! The cells of a workbook's sheet.

use std::io::{Cursor, Read};

use calamine::{Ods, Reader, Sheet, SheetType, Xlsb, Xlsx};
use mayfly_engine::{Reservation, Result, TableFunctionContext};

use super::cell::Cell;
use super::place::Area;
use super::sizes::{BookKind, Bytes, Growing, inspect};
use crate::guard::damaged;
use crate::text::input::version;

/// The sheet of a call.
#[derive(Debug, Clone)]
pub(super) enum SheetName {
    First,
    /// By its place, from 1 on.
    Number(u64),
    Name(String),
}

/// First bytes of workbooks of Excel 97 to 2003, and of those that a password encrypts.
pub(crate) const OLD: &[u8] = &[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1];

/// Most rows of a sheet of Excel.
const ROWS_MAX: u32 = 1_048_576;

/// The cells of a sheet that have values, within the area of the call.
pub(super) struct Cells {
    /// Their rows and columns counted from the first ones, column by column.
    cells: Vec<((u32, u32), Cell)>,
    /// Where each column begins in the cells.
    columns: Vec<usize>,
    first: (u32, u32),
    rows: u32,
    _memory: Option<Reservation>,
}

impl Cells {
    fn new(path: &str, found: Collected<'_, '_>) -> Result<Self> {
        let Collected {
            area,
            memory,
            mut cells,
        } = found;
        // Of several cells in one place the last one counts.
        cells.sort_by_key(|((row, column), _)| (*column, *row));
        cells.reverse();
        cells.dedup_by_key(|(place, _)| *place);
        cells.reverse();
        let rows = cells.iter().map(|((row, _), _)| *row);
        let (low, high) = (rows.clone().min(), rows.max());
        let columns = |cell: Option<&((u32, u32), Cell)>| cell.map(|((_, column), _)| *column);
        let (left, right) = (columns(cells.first()), columns(cells.last()));
        let first = (
            area.first.0.or(low).unwrap_or(0),
            area.first.1.or(left).unwrap_or(0),
        );
        let count = |first: u32, given: Option<u32>, found: Option<u32>| {
            // An area that goes beyond the cells has no rows there, but columns.
            given
                .or(found)
                .map_or(0, |last| last.saturating_add(1).saturating_sub(first))
        };
        let rows = count(first.0, None, high);
        let width = count(first.1, area.last.1, right);
        if rows > ROWS_MAX || width > ROWS_MAX {
            return Err(damaged(path, "its sheet has more rows than there are"));
        }
        for (place, _) in &mut cells {
            *place = (place.0 - first.0, place.1 - first.1);
        }
        let begin = |column| cells.partition_point(|((_, at), _)| *at < column);
        Ok(Self {
            columns: (0..=width).map(begin).collect(),
            cells,
            first,
            rows,
            _memory: memory.into_held(),
        })
    }

    /// The number of columns.
    pub(super) fn width(&self) -> usize {
        self.columns.len() - 1
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> u32 {
        self.rows
    }

    /// The place of the first cell in the sheet.
    pub(super) fn first(&self) -> (u32, u32) {
        self.first
    }

    /// The cells of a column with their places, by rows.
    pub(super) fn column(&self, at: usize) -> impl Iterator<Item = (&(u32, u32), &Cell)> {
        let range = match self.columns.get(at..=at + 1) {
            Some(&[begin, end]) => begin..end,
            _ => 0..0,
        };
        self.cells[range].iter().map(|(place, cell)| (place, cell))
    }

    /// The cells of the first row.
    pub(super) fn first_row(&self) -> Vec<Option<Cell>> {
        let first = |at| {
            let mut cells = self.column(at);
            let first = cells.next().filter(|((row, _), _)| *row == 0);
            first.map(|(_, cell)| cell.clone())
        };
        (0..self.width()).map(first).collect()
    }

    /// Takes the first row away.
    pub(super) fn drop_first_row(&mut self) {
        let width = self.width() as u32;
        self.cells.retain(|((row, _), _)| *row > 0);
        for ((row, _), _) in &mut self.cells {
            *row -= 1;
        }
        let begin = |column| self.cells.partition_point(|((_, at), _)| *at < column);
        self.columns = (0..=width).map(begin).collect();
        self.first.0 += 1;
        self.rows -= 1;
    }
}

/// Cells that are collected, with their memory.
struct Collected<'a, 'c> {
    area: &'a Area,
    memory: Growing<'c>,
    cells: Vec<((u32, u32), Cell)>,
}

impl Collected<'_, '_> {
    fn add(&mut self, (row, column): (u32, u32), cell: Option<Cell>) -> Result<()> {
        /// A cell, and the room behind it in a list that grows.
        const CELL: u64 = 2 * size_of::<((u32, u32), Cell)>() as u64;
        let Some(cell) = cell.filter(|_| self.area.contains(row, column)) else {
            return Ok(());
        };
        self.memory.add(CELL + cell.bytes() as u64)?;
        self.cells.push(((row, column), cell));
        Ok(())
    }
}

/// Reads the cells of a sheet.
pub(super) fn read(
    path: &str,
    sheet: &SheetName,
    area: &Area,
    context: &TableFunctionContext,
) -> Result<Cells> {
    let mut memory = Growing::new(context);
    let file = context.files.open(path)?;
    let length = version(path, &file)?.length;
    memory.add(length.saturating_mul(2))?;
    let mut content = Vec::new();
    let read = file
        .reader()
        .and_then(|reader| reader.take(length).read_to_end(&mut content));
    read.map_err(|error| damaged(path, error))?;
    if content.starts_with(OLD) {
        let why = "workbooks of Excel 97 to 2003 and those with a password are not read: save it as .xlsx without one";
        return Err(damaged(path, why));
    }
    let content = Bytes::from(content);
    let kind = inspect(path, &content, &mut memory)?;
    let content = Cursor::new(content);
    let mut found = Collected {
        area,
        memory: Growing::new(context),
        cells: Vec::new(),
    };
    match kind {
        BookKind::Xlsx => {
            let mut book = Xlsx::new(content).map_err(|error| damaged(path, error))?;
            let name = named(path, book.sheets_metadata(), sheet)?;
            let reader = book.worksheet_cells_reader(&name);
            let mut reader = reader.map_err(|error| damaged(path, error))?;
            while let Some(cell) = reader.next_cell().map_err(|error| damaged(path, error))? {
                found.add(cell.get_position(), Cell::of_ref(cell.get_value().clone()))?;
            }
        }
        BookKind::Xlsb => {
            let mut book = Xlsb::new(content).map_err(|error| damaged(path, error))?;
            let name = named(path, book.sheets_metadata(), sheet)?;
            let reader = book.worksheet_cells_reader(&name);
            let mut reader = reader.map_err(|error| damaged(path, error))?;
            while let Some(cell) = reader.next_cell().map_err(|error| damaged(path, error))? {
                found.add(cell.get_position(), Cell::of_ref(cell.get_value().clone()))?;
            }
        }
        BookKind::Ods => {
            let mut book = Ods::new(content).map_err(|error| damaged(path, error))?;
            let name = named(path, book.sheets_metadata(), sheet)?;
            let range = book.worksheet_range(&name);
            let range = range.map_err(|error| damaged(path, error))?;
            let (row, column) = range.start().unwrap_or((0, 0));
            for (down, right, value) in range.used_cells() {
                let place = (row + down as u32, column + right as u32);
                found.add(place, Cell::of(value.clone()))?;
            }
        }
    }
    drop(memory);
    Cells::new(path, found)
}

/// The name of the sheet.
fn named(path: &str, sheets: &[Sheet], wanted: &SheetName) -> Result<String> {
    let mut tables = sheets
        .iter()
        .filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let found = match wanted {
        SheetName::First => tables.next(),
        SheetName::Number(number) => {
            let at = usize::try_from(number - 1).unwrap_or(usize::MAX);
            tables.nth(at)
        }
        SheetName::Name(name) => tables
            .clone()
            .find(|sheet| sheet.name == *name)
            .or_else(|| tables.find(|sheet| sheet.name.to_lowercase() == name.to_lowercase())),
    };
    found.map(|sheet| sheet.name.clone()).ok_or_else(|| {
        let names = sheets.iter().map(|sheet| format!("'{}'", sheet.name));
        let names = names.collect::<Vec<_>>().join(", ");
        damaged(
            path,
            format!("it has no such sheet; its sheets are {names}"),
        )
    })
}
