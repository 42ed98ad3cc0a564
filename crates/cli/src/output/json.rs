//! Results as objects, one for each row, in an array or on a line each. Exact numbers stay exact: they are written as
//! displayed, without conversion to a float.

use std::io::{self, Write};

use mayfly_engine::{ResultColumn, TypeKind};

use super::part::Part;
use super::result_writer::Writer;
use super::values::{is_number, text_or_hexadecimal};

/// Writes rows as they come.
pub(super) struct JsonWriter {
    /// Each column's name, quoted, and whether its displayed text is a valid JSON number or
    /// document.
    columns: Vec<(String, bool)>,
    in_array: bool,
    row_count: usize,
}

impl JsonWriter {
    /// Writer of an array.
    pub(super) fn array(columns: &[ResultColumn]) -> Self {
        Self {
            in_array: true,
            ..Self::lines(columns)
        }
    }

    /// Writer of lines.
    pub(super) fn lines(columns: &[ResultColumn]) -> Self {
        let column = |column: &ResultColumn| {
            let kind = column.ty.kind;
            let is_json = (is_number(kind) || kind == TypeKind::Json) && !column.ty.zerofill;
            (quoted(&column.name), is_json)
        };
        Self {
            columns: columns.iter().map(column).collect(),
            in_array: false,
            row_count: 0,
        }
    }
}

impl Writer for JsonWriter {
    fn rows(&mut self, out: &mut dyn Write, part: Part<'_>) -> io::Result<()> {
        for row in part.rows() {
            out.write_all(match (self.in_array, self.row_count) {
                (false, _) => b"{",
                (true, 0) => b"[\n{",
                (true, _) => b",\n{",
            })?;
            self.row_count += 1;
            for (index, ((name, is_json), value)) in self.columns.iter().zip(&row).enumerate() {
                let comma = if index == 0 { "" } else { ", " };
                write!(out, "{comma}{name}: ")?;
                match value {
                    None => out.write_all(b"null")?,
                    Some(bytes) if *is_json => out.write_all(bytes)?,
                    Some(bytes) => out.write_all(quoted(&text_or_hexadecimal(bytes)).as_bytes())?,
                }
            }
            out.write_all(if self.in_array { b"}" } else { b"}\n" })?;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(match (self.in_array, self.row_count) {
            (false, _) => b"",
            (true, 0) => b"[]\n",
            (true, _) => b"\n]\n",
        })
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
