//! Workbooks: `read_excel('a.xlsx', sheet => 'Sales', range => 'B2:D100')`, of Excel (`.xlsx`, `.xlsm`, `.xlsb`) and
//! OpenDocument (`.ods`).
//!
//! A cell has a value of its own type, so that the types of columns come from all rows of a sheet. The sheet is read when a
//! statement is planned: its columns are arrays in memory, which count towards the memory of the statement, and a scan
//! gives slices of them.

mod cell;
mod columns;
mod place;
mod sizes;
mod workbook;

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use mayfly_engine::{
    ProvidedColumn, Reservation, Result, TableArguments, TableFunctionContext, Value,
};

use self::place::Area;
pub(crate) use self::workbook::OLD;
use self::workbook::{Cells, SheetName};
use crate::guard::{damaged, guarded};
use crate::kept::KeptRows;
use crate::paths::DataFile;
use crate::table::{COLUMNS_MAX, Format};

/// Reads the sheets of files.
pub(crate) fn open(
    files: &[DataFile],
    arguments: &mut TableArguments,
    context: &TableFunctionContext,
) -> Result<Box<dyn Format>> {
    let sheet = match arguments.option("sheet")? {
        None => SheetName::First,
        Some((Value::Int(number), _)) if number > 0 => SheetName::Number(number.unsigned_abs()),
        Some((Value::Bytes(name), _)) => {
            SheetName::Name(String::from_utf8_lossy(&name).into_owned())
        }
        Some(_) => return Err(arguments.error("option 'sheet' takes a name or a number from 1 on")),
    };
    let area = match arguments.text("range")? {
        None => Area::default(),
        Some(text) => Area::parse(&text).ok_or_else(|| {
            arguments.error(format!("'{text}' is no range of cells like B2:D100"))
        })?,
    };
    let header = arguments.flag("header")?;
    let all_text = arguments.flag("all_text")?.unwrap_or(false);
    let mut sheets = Vec::with_capacity(files.len());
    let mut first: Option<(&str, Vec<String>)> = None;
    for DataFile { path, .. } in files {
        context.interrupt.check()?;
        let mut cells = guarded(path, || workbook::read(path, &sheet, &area, context))?;
        let width = cells.width();
        if width > COLUMNS_MAX {
            return Err(damaged(
                path,
                format!("its sheet has more than {COLUMNS_MAX} columns"),
            ));
        }
        let names = names_of(&mut cells, header);
        match &first {
            None => first = Some((path, names)),
            Some((first, known)) if *known != names => {
                return Err(damaged(
                    path,
                    format!("it has other columns than '{first}'"),
                ));
            }
            Some(_) => {}
        }
        sheets.push((path, cells));
    }
    let Some((path, names)) = first.filter(|(_, names)| !names.is_empty()) else {
        return Err(damaged(&files[0].path, "its sheet has no cell"));
    };
    let mut memory = context.memory.reserve(0)?;
    let mut columns = Vec::with_capacity(names.len());
    let mut arrays: Vec<Vec<ArrayRef>> = sheets.iter().map(|_| Vec::new()).collect();
    for (at, name) in names.into_iter().enumerate() {
        let all: Vec<&Cells> = sheets.iter().map(|(_, cells)| cells).collect();
        let column = columns::Column::of(&all, at, all_text);
        for ((path, cells), arrays) in sheets.iter().zip(&mut arrays) {
            let rows = cells.rows();
            memory = grown(memory, context, columns::bytes_of(cells, at, rows))?;
            arrays.push(column.array(path, &name, cells, at, context));
        }
        columns.push(ProvidedColumn {
            nullable: arrays.iter().any(|arrays| arrays[at].null_count() > 0),
            ty: column.sql_type(),
            name,
        });
    }
    if columns.is_empty() {
        return Err(damaged(path, "its sheet has no cell"));
    }
    Ok(Box::new(KeptRows {
        columns,
        files: arrays.into(),
        batch_rows: context.batch_rows.max(1),
        memory: Arc::new(memory),
    }))
}

/// More memory.
fn grown(held: Reservation, context: &TableFunctionContext, bytes: u64) -> Result<Reservation> {
    let all = held.bytes() + bytes;
    drop(held);
    context.memory.reserve(all)
}

/// The names of the columns; the row that has them is taken from the cells.
fn names_of(cells: &mut Cells, header: Option<bool>) -> Vec<String> {
    let width = cells.width();
    let first = cells.first_row();
    let is_header = header.unwrap_or_else(|| {
        let mut known = std::collections::HashSet::new();
        let mut texts = first.iter().flatten();
        first.iter().any(Option::is_some)
            && texts.all(|cell| cell.is_text() && known.insert(cell.to_text(None).to_lowercase()))
    });
    if !is_header || cells.rows() == 0 {
        return vec![String::new(); width];
    }
    let names = first
        .iter()
        .map(|cell| cell.as_ref().map_or(String::new(), |it| it.to_text(None)));
    let names = names.collect();
    cells.drop_first_row();
    names
}
