//! Results in boxes of `+`, `-` and `|`, as the `mysql` client draws them, within limits of rows and of width.
//!
//! Line ends and other control characters of a value are shown by their escapes, which keeps the frame whole.

use std::borrow::Cow;
use std::io::{self, Write};

use mayfly_engine::ResultColumn;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::TableLimits;
use super::part::Part;
use super::result_writer::Writer;
use super::values::{is_number, shown};

/// Most bytes of the rows that are kept.
const BYTES_MAX: usize = 1 << 30;
/// Least width to which a column is cut.
const CUT_WIDTH: usize = 12;

/// Keeps the shown rows, then draws.
pub(super) struct TableWriter {
    names: Vec<String>,
    right_aligned: Vec<bool>,
    widths: Vec<usize>,
    rows: Vec<Vec<String>>,
    row_count: usize,
    /// Bytes of the rows that are kept.
    bytes: usize,
    with_names: bool,
    limits: TableLimits,
}

impl TableWriter {
    pub(super) fn new(columns: &[ResultColumn], with_names: bool, limits: TableLimits) -> Self {
        let names: Vec<String> = columns.iter().map(|it| on_one_line(&it.name)).collect();
        let width = |name: &String| if with_names { name.width() } else { 0 };
        Self {
            widths: names.iter().map(width).collect(),
            right_aligned: columns
                .iter()
                .map(|column| is_number(column.ty.kind))
                .collect(),
            names,
            rows: Vec::new(),
            row_count: 0,
            bytes: 0,
            with_names,
            limits,
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
            let cell = cut(cell, width);
            let space = " ".repeat(width.saturating_sub(cell.width()));
            if right && align {
                write!(out, "| {space}{cell} ")?;
            } else {
                write!(out, "| {cell}{space} ")?;
            }
        }
        writeln!(out, "|")
    }

    /// Narrows the widest columns until a line fits the terminal, or no column can be cut further; returns whether one was
    /// narrowed.
    fn narrow(&mut self) -> bool {
        let frame = 3 * self.widths.len() + 1;
        let room = self.limits.width.saturating_sub(frame);
        let mut is_narrowed = false;
        while self.limits.width > 0 {
            let excess = self.widths.iter().sum::<usize>().saturating_sub(room);
            let widest = self.widths.iter().copied().max().unwrap_or(0);
            if excess == 0 || widest <= CUT_WIDTH {
                break;
            }
            // All of the widest ones down to the next width.
            let next = self
                .widths
                .iter()
                .copied()
                .filter(|width| *width < widest)
                .max();
            let count = self.widths.iter().filter(|width| **width == widest).count();
            let needed = widest.saturating_sub(excess.div_ceil(count));
            let width = needed.max(next.unwrap_or(0)).max(CUT_WIDTH);
            for it in self.widths.iter_mut().filter(|it| **it == widest) {
                *it = width;
            }
            is_narrowed = true;
        }
        is_narrowed
    }
}

/// A text without characters that would break its line.
fn on_one_line(text: &str) -> String {
    if !text.contains(char::is_control) {
        return text.to_owned();
    }
    let mut line = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            _ if character.is_control() => line.extend(character.escape_default()),
            _ => line.push(character),
        }
    }
    line
}

/// The beginning of a text that fits a width, with an ellipsis if it is not the whole text.
fn cut(text: &str, width: usize) -> Cow<'_, str> {
    if text.width() <= width {
        return text.into();
    }
    let mut kept = String::new();
    let mut room = width.saturating_sub(1);
    for character in text.chars() {
        let Some(left) = room.checked_sub(character.width().unwrap_or(0)) else {
            break;
        };
        room = left;
        kept.push(character);
    }
    kept.push('…');
    kept.into()
}

impl Writer for TableWriter {
    fn rows(&mut self, _out: &mut dyn Write, part: Part<'_>) -> io::Result<()> {
        self.row_count += part.row_count();
        let room = match self.limits.rows {
            0 => usize::MAX,
            rows => rows.saturating_sub(self.rows.len()),
        };
        for row in part.rows().take(room) {
            let cells = row
                .iter()
                .map(|value| on_one_line(&shown(value.as_deref())));
            let cells: Vec<String> = cells.collect();
            for (width, cell) in self.widths.iter_mut().zip(&cells) {
                *width = cell.width().max(*width);
                self.bytes += cell.len() + size_of::<String>();
            }
            if self.bytes > BYTES_MAX {
                return Err(io::Error::other(
                    "the rows of a table take more than 1 GiB; other formats keep none: --format tsv",
                ));
            }
            self.rows.push(cells);
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let is_narrowed = self.narrow();
        self.line(out)?;
        if self.with_names {
            self.row(out, &self.names, false)?;
            self.line(out)?;
        }
        for row in &self.rows {
            self.row(out, row, true)?;
        }
        self.line(out)?;
        if self.rows.len() < self.row_count {
            let (shown, all) = (self.rows.len(), self.row_count);
            writeln!(
                out,
                "The first {shown} of {all} rows; \\maxrows 0 shows all."
            )?;
        }
        if is_narrowed {
            writeln!(
                out,
                "Values that end in … are cut; \\G instead of ; shows them whole."
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writer(widths: &[usize], width: usize) -> TableWriter {
        TableWriter {
            names: Vec::new(),
            right_aligned: Vec::new(),
            widths: widths.to_vec(),
            rows: Vec::new(),
            row_count: 0,
            bytes: 0,
            with_names: true,
            limits: TableLimits { rows: 0, width },
        }
    }

    #[test]
    fn the_widest_columns_are_narrowed_first() {
        for (widths, width, expected) in [
            (&[5, 10][..], 0, &[5, 10][..]),
            (&[5, 10], 22, &[5, 10]),
            (&[5, 100, 30], 60, &[5, 22, 22]),
            (&[100, 100], 27, &[12, 12]),
            (&[40, 5], 20, &[12, 5]),
        ] {
            let mut writer = writer(widths, width);
            let is_narrowed = writer.narrow();
            assert_eq!(writer.widths, expected, "{widths:?} in {width}");
            assert_eq!(is_narrowed, widths != expected);
        }
    }

    #[test]
    fn cells_stay_on_their_line() {
        assert_eq!(on_one_line("a\nb\tc\u{1b}"), "a\\nb\\tc\\u{1b}");
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("longer text", 7), "longer…");
        assert_eq!(cut("日本語", 4), "日…");
    }
}
