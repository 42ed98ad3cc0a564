//! A line for each column, as after `\G`.

use std::io::{self, Write};

use mayfly_engine::ResultColumn;
use unicode_width::UnicodeWidthStr;

use super::part::Part;
use super::result_writer::Writer;
use super::values::shown;

/// Writes rows as they come.
pub(super) struct VerticalWriter {
    names: Vec<String>,
    width: usize,
    row_count: usize,
}

impl VerticalWriter {
    pub(super) fn new(columns: &[ResultColumn]) -> Self {
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        let width = names.iter().map(|name| name.width()).max().unwrap_or(0);
        Self {
            names,
            width,
            row_count: 0,
        }
    }
}

impl Writer for VerticalWriter {
    fn rows(&mut self, out: &mut dyn Write, part: Part<'_>) -> io::Result<()> {
        for row in part.rows() {
            self.row_count += 1;
            let stars = "*".repeat(27);
            writeln!(out, "{stars} {}. row {stars}", self.row_count)?;
            for (name, value) in self.names.iter().zip(&row) {
                let space = " ".repeat(self.width.saturating_sub(name.width()));
                writeln!(out, "{space}{name}: {}", shown(value.as_deref()))?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}
