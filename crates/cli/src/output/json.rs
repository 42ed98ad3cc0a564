//! An array of objects, one for each row. Exact numbers stay exact: they are written as they are
//! shown, not through a float.

use std::io::{self, Write};

use mayfly_engine::{ResultColumn, StatementResult, TypeKind};

use super::{Writer, hexadecimal, rows_of};

/// Writes rows as they come.
pub(super) struct JsonWriter {
    columns: Vec<(String, Kind)>,
    row_count: usize,
}

#[derive(Clone, Copy)]
enum Kind {
    /// Shown text is a JSON number or document already.
    Verbatim,
    Text,
}

impl JsonWriter {
    pub(super) fn new(columns: &[ResultColumn]) -> Self {
        let column = |column: &ResultColumn| {
            let verbatim = matches!(
                column.ty.kind,
                TypeKind::Boolean
                    | TypeKind::TinyInt
                    | TypeKind::SmallInt
                    | TypeKind::MediumInt
                    | TypeKind::Int
                    | TypeKind::BigInt
                    | TypeKind::Decimal
                    | TypeKind::Float
                    | TypeKind::Double
                    | TypeKind::Year
                    | TypeKind::Json
            ) && !column.ty.zerofill;
            (
                quoted(&column.name),
                if verbatim { Kind::Verbatim } else { Kind::Text },
            )
        };
        Self {
            columns: columns.iter().map(column).collect(),
            row_count: 0,
        }
    }
}

impl Writer for JsonWriter {
    fn rows(&mut self, out: &mut dyn Write, part: &StatementResult) -> io::Result<()> {
        for row in rows_of(part) {
            out.write_all(if self.row_count == 0 {
                b"[\n{"
            } else {
                b",\n{"
            })?;
            self.row_count += 1;
            for (index, ((name, kind), value)) in self.columns.iter().zip(&row).enumerate() {
                let comma = if index == 0 { "" } else { ", " };
                write!(out, "{comma}{name}: ")?;
                match (value, kind) {
                    (None, _) => out.write_all(b"null")?,
                    (Some(bytes), Kind::Verbatim) => out.write_all(bytes)?,
                    (Some(bytes), Kind::Text) => match std::str::from_utf8(bytes) {
                        Ok(text) => out.write_all(quoted(text).as_bytes())?,
                        Err(_) => out.write_all(quoted(&hexadecimal(bytes)).as_bytes())?,
                    },
                }
            }
            out.write_all(b"}")?;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(if self.row_count == 0 {
            b"[]\n"
        } else {
            b"\n]\n"
        })
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
