//! Forms of results: a table, a line per column, or one of the formats that programs read.
//!
//! Table and vertical need all rows to know the widths; TSV, CSV and JSON are written as rows come,
//! so that a result of any size can be piped.

mod delimited;
mod json;
mod table;
mod vertical;

use std::io::{self, Write};

use data_encoding::HEXUPPER;
use mayfly_engine::{ResultColumn, StatementResult, TypeKind};

/// A format of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Boxes, as on a terminal.
    Table,
    /// A line for each column, as after `\G`.
    Vertical,
    /// Tab-separated, escaped as by `mysql --batch`.
    Tsv,
    /// Comma-separated (RFC 4180).
    Csv,
    /// An array of objects.
    Json,
}

/// A row in its displayed form: the bytes of each value, `None` for NULL.
pub(crate) type Row = Vec<Option<Vec<u8>>>;

/// Writer of the result of one statement.
pub(crate) trait Writer {
    /// Adds rows.
    fn rows(&mut self, out: &mut dyn Write, rows: &StatementResult) -> io::Result<()>;

    /// Ends the result after the last row.
    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()>;
}

/// A writer of a format for a result with these columns.
pub(crate) fn writer(format: Format, columns: &[ResultColumn], names: bool) -> Box<dyn Writer> {
    match format {
        Format::Table => Box::new(table::TableWriter::new(columns, names)),
        Format::Vertical => Box::new(vertical::VerticalWriter::new(columns)),
        Format::Tsv => Box::new(delimited::DelimitedWriter::tsv(columns, names)),
        Format::Csv => Box::new(delimited::DelimitedWriter::csv(columns, names)),
        Format::Json => Box::new(json::JsonWriter::new(columns)),
    }
}

/// The rows of a part of a result.
fn rows_of(part: &StatementResult) -> impl Iterator<Item = Row> + '_ {
    (0..part.row_count()).map(|row| part.row_bytes(row))
}

/// A value as readable text: invalid UTF-8 in hexadecimal, and `NULL`.
fn shown(value: Option<&[u8]>) -> String {
    value.map_or_else(|| "NULL".to_owned(), text_or_hexadecimal)
}

fn text_or_hexadecimal(bytes: &[u8]) -> String {
    let text = str::from_utf8(bytes).map(str::to_owned);
    text.unwrap_or_else(|_| hexadecimal(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    format!("0x{}", HEXUPPER.encode(bytes))
}

/// Whether the values of a type are shown as numbers.
fn is_number(kind: TypeKind) -> bool {
    matches!(
        kind,
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
    )
}
