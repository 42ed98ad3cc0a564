//! Forms of results: a table, a line per column, or one of the formats that programs read.
//!
//! Table and vertical need all rows to know the widths; TSV, CSV and JSON are written as rows come,
//! so that a result of any size can be piped.

mod delimited;
mod json;
mod result_writer;
mod table;
mod values;
mod vertical;

use mayfly_engine::ResultColumn;

use self::result_writer::Writer;

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
