//! Results in boxes of `+`, `-` and `|`, as the `mysql` client draws them.

use std::io::{self, Write};

use mayfly_engine::{ResultColumn, StatementResult};
use unicode_width::UnicodeWidthStr;

use super::result_writer::Writer;
use super::values::{is_number, rows_of, shown};

/// Keeps all rows, then draws.
pub(super) struct TableWriter {
    names: Vec<String>,
    right_aligned: Vec<bool>,
    widths: Vec<usize>,
    rows: Vec<Vec<String>>,
    with_names: bool,
}

impl TableWriter {
    pub(super) fn new(columns: &[ResultColumn], with_names: bool) -> Self {
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        let width = |name: &String| if with_names { name.width() } else { 0 };
        Self {
            widths: names.iter().map(width).collect(),
            right_aligned: columns
                .iter()
                .map(|column| is_number(column.ty.kind))
                .collect(),
            names,
            rows: Vec::new(),
            with_names,
        }
    }

    fn line(&self, out: &mut dyn Write) -> io::Result<()> {
        for width in &self.widths {
            write!(out, "+{}", "-".repeat(width + 2))?;
        }
        writeln!(out, "+")
    }

    fn row(&self, out: &mut dyn Write, cells: &[String], align: bool) -> io::Result<()> {
        for ((cell, &width), &right) in cells.iter().zip(&self.widths).zip(&self.right_aligned) {
            let space = " ".repeat(width.saturating_sub(cell.width()));
            if right && align {
                write!(out, "| {space}{cell} ")?;
            } else {
                write!(out, "| {cell}{space} ")?;
            }
        }
        writeln!(out, "|")
    }
}

impl Writer for TableWriter {
    fn rows(&mut self, _out: &mut dyn Write, part: &StatementResult) -> io::Result<()> {
        for row in rows_of(part) {
            let cells: Vec<String> = row.iter().map(|value| shown(value.as_deref())).collect();
            for (width, cell) in self.widths.iter_mut().zip(&cells) {
                *width = cell.width().max(*width);
            }
            self.rows.push(cells);
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        self.line(out)?;
        if self.with_names {
            self.row(out, &self.names, false)?;
            self.line(out)?;
        }
        for row in &self.rows {
            self.row(out, row, true)?;
        }
        self.line(out)
    }
}
