//! `LOAD DATA` and the targets of `SELECT ... INTO`.

use super::{Expr, Ident, SetAssignment, TableName};

/// `LOAD DATA`.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadData {
    /// `LOW_PRIORITY` or `CONCURRENT`.
    pub concurrency: Option<LoadConcurrency>,
    /// `LOCAL`: the client's file.
    pub local: bool,
    /// The file.
    pub path: String,
    /// `REPLACE` or `IGNORE`.
    pub duplicates: LoadDuplicate,
    /// The table.
    pub table: TableName,
    /// `PARTITION (...)`.
    pub partitions: Vec<String>,
    /// `CHARACTER SET`.
    pub charset: Option<String>,
    /// `FIELDS ...`.
    pub fields: FieldsOptions,
    /// `LINES ...`.
    pub lines: LinesOptions,
    /// `IGNORE n LINES | ROWS`.
    pub ignore_lines: u64,
    /// The column and variable list; empty means all columns in order.
    pub targets: Vec<LoadTarget>,
    /// `SET column = expression, ...`.
    pub assignments: Vec<SetAssignment>,
}

/// Scheduling words of `LOAD DATA`; parsed and without effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are MySQL's own keywords")]
pub enum LoadConcurrency {
    LowPriority,
    Concurrent,
}

/// Handling of a row that duplicates a unique key in `LOAD DATA`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadDuplicate {
    /// Nothing written: an error, or as `Ignore` with `LOCAL`.
    Unspecified,
    /// `IGNORE`.
    Ignore,
    /// `REPLACE`.
    Replace,
}

/// Target of a field of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadTarget {
    /// A column, perhaps qualified.
    Column(Vec<Ident>),
    /// A user variable, without its `@`.
    Variable(String),
}

/// `FIELDS | COLUMNS ...`; `None` means not written, that is MySQL's default: terminated by a tab,
/// enclosed by nothing, escaped by a backslash.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldsOptions {
    /// `TERMINATED BY`.
    pub terminated_by: Option<String>,
    /// `ENCLOSED BY`.
    pub enclosed_by: Option<String>,
    /// `OPTIONALLY` before `ENCLOSED BY`.
    pub optionally_enclosed: bool,
    /// `ESCAPED BY`.
    pub escaped_by: Option<String>,
}

/// `LINES ...`; `None` means not written: starting by nothing, terminated by a newline.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinesOptions {
    /// `STARTING BY`.
    pub starting_by: Option<String>,
    /// `TERMINATED BY`.
    pub terminated_by: Option<String>,
}

/// Target of the rows of `SELECT ... INTO`.
#[derive(Debug, Clone, PartialEq)]
pub enum IntoTarget {
    /// `INTO OUTFILE`.
    OutFile {
        /// The file.
        path: String,
        /// `CHARACTER SET`.
        charset: Option<String>,
        /// `FIELDS ...`.
        fields: FieldsOptions,
        /// `LINES ...`.
        lines: LinesOptions,
    },
    /// `COPY … TO`, `INTO OUTFILE … FORMAT`.
    DataFile(DataFile),
    /// `INTO DUMPFILE`.
    DumpFile(String),
    /// `INTO @a, @b`: names without `@`.
    Variables(Vec<String>),
}

/// A file, or a directory of files, that rows are written into.
#[derive(Debug, Clone, PartialEq)]
pub struct DataFile {
    /// Its path.
    pub path: String,
    /// The options but `PARTITION_BY`.
    pub options: Vec<FileOption>,
    /// `PARTITION_BY (columns)`; empty without.
    pub partition_by: Vec<Ident>,
}

/// `NAME value` of a file that is written.
#[derive(Debug, Clone, PartialEq)]
pub struct FileOption {
    /// The name.
    pub name: Ident,
    /// The value; TRUE where none is written, and a string where a word is.
    pub value: Expr,
}
