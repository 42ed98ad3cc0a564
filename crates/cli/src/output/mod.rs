//! Forms of results: a table, a line per column, or one of the formats that programs read.
//!
//! Table and vertical need all rows to know the widths; TSV, CSV and JSON are written as rows come,
//! so that a result of any size can be piped.

mod columnar;
mod delimited;
mod html;
mod json;
mod markdown;
mod part;
mod result_writer;
mod table;
mod values;
mod vertical;

use mayfly_engine::ResultColumn;

pub(crate) use self::columnar::ColumnarFile;
pub(crate) use self::part::{Part, Row};
pub(crate) use self::result_writer::Writer;
pub(crate) use self::values::{is_number, shown};

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
    /// An object on each line.
    #[value(alias = "ndjson")]
    Jsonl,
    /// A table of Markdown.
    Markdown,
    /// A table of HTML, as `mysql --html` writes it.
    Html,
    /// A file of Parquet.
    Parquet,
    /// A file of Arrow IPC.
    Arrow,
}

impl Format {
    /// The name of a format of files with typed columns, which are for programs alone.
    pub(crate) fn columnar(self) -> Option<&'static str> {
        match self {
            Self::Parquet => Some("parquet"),
            Self::Arrow => Some("arrow"),
            _ => None,
        }
    }
}

/// Greatest size of a table; what is beyond it is left out with a note. 0 is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TableLimits {
    /// Rows.
    pub(crate) rows: usize,
    /// Columns of the terminal.
    pub(crate) width: usize,
}

/// A writer of a format of text for a result with these columns.
pub(crate) fn writer(
    format: Format,
    columns: &[ResultColumn],
    names: bool,
    limits: TableLimits,
) -> Box<dyn Writer> {
    match format {
        Format::Table => Box::new(table::TableWriter::new(columns, names, limits)),
        Format::Vertical => Box::new(vertical::VerticalWriter::new(columns)),
        Format::Tsv => Box::new(delimited::DelimitedWriter::tsv(columns, names)),
        Format::Csv => Box::new(delimited::DelimitedWriter::csv(columns, names)),
        Format::Json => Box::new(json::JsonWriter::array(columns)),
        Format::Jsonl => Box::new(json::JsonWriter::lines(columns)),
        Format::Markdown => Box::new(markdown::MarkdownWriter::new(columns)),
        Format::Html | Format::Parquet | Format::Arrow => {
            Box::new(html::HtmlWriter::new(columns, names))
        }
    }
}
