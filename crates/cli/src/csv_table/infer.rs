//! The shape of a CSV file: delimiter, header, and a type for each column that holds every value.

use std::io::Read;

use mayfly_engine::Error;
use mayfly_engine::WorkerPool;
use mayfly_engine::delimited::{self, Block, Blocks, Format, Parser, Taker};

use super::column_type::ColumnType;
use super::header;
use super::rows::{Dialect, Field, RowEnd, RowStep, Rows};
use super::source::TextFile;

/// The head of the file from which delimiter and line ends are guessed.
const HEAD_BYTES: usize = 1 << 16;
/// Size from which a row is assumed to have a quote that was never closed.
const ROW_BYTES_MAX: usize = 1 << 28;

/// The format of a file, with its columns.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) columns: Vec<Column>,
    pub(super) dialect: Dialect,
    /// The bytes of the text before the first row of data.
    pub(super) skipped: usize,
    /// Whether rows end in `\r
    /// `.
    pub(super) carriage_returns: bool,
    /// Whether the last row has no line end.
    pub(super) ends_open: bool,
    /// Whether LOAD DATA would read it differently, so that it must be rewritten.
    pub(super) is_irregular: bool,
}

/// A column of the file.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) ty: ColumnType,
    /// Whether a field is empty: NULL.
    pub(super) has_null: bool,
    /// Whether a field consists only of quotes: an empty text, or NULL of another type.
    pub(super) has_empty: bool,
    /// The reason why the column is text although it looks like something else.
    pub(super) unclear: Option<String>,
}

/// Facts about a column.
#[derive(Debug, Clone, Copy)]
pub(super) struct ColumnFound {
    pub(super) ty: ColumnType,
    has_null: bool,
    has_empty: bool,
}

impl ColumnFound {
    const NOTHING: Self = Self {
        ty: ColumnType::Unknown,
        has_null: false,
        has_empty: false,
    };

    /// Extends a column's type by a value. A text column only takes the length.
    fn widen(&mut self, field: Field<'_>) {
        if field.is_null() {
            self.has_null = true;
            return;
        }
        if field.text.is_empty() {
            self.has_empty = true;
            return;
        }
        if !matches!(self.ty, ColumnType::Text(_)) {
            self.ty = self.ty.join(ColumnType::of(field.text));
        }
        if matches!(self.ty, ColumnType::Text(_)) {
            self.ty = self.ty.join(ColumnType::text(field.text));
        }
    }

    fn join(&mut self, other: Self) {
        self.ty = self.ty.join(other.ty);
        self.has_null |= other.has_null;
        self.has_empty |= other.has_empty;
    }
}

/// Reads the whole file in pieces of a given size; the delimiter is guessed if it is not known.
pub(super) fn infer(
    path: &str,
    file: &TextFile,
    delimiter: Option<u8>,
    read_bytes: u64,
) -> Result<Shape, String> {
    let failed = |e: std::io::Error| format!("{path}: {e}");
    let mut head = Vec::new();
    let text = file.open(0).map_err(failed)?;
    text.take(HEAD_BYTES as u64)
        .read_to_end(&mut head)
        .map_err(failed)?;
    let first = FirstRow::read(path, &head, delimiter)?;
    let dialect = first.dialect;
    let width = first.fields.len();

    let format = Format {
        line_end: vec![if dialect.lone_returns { b'\r' } else { b'\n' }],
        ..Format::default()
    };
    let text = file.open(0).map_err(failed)?;
    let mut blocks = Blocks::new(text, path, &format).reading(read_bytes);
    blocks
        .skip_bytes(first.end)
        .map_err(|e| format!("{path}: {e}"))?;
    let mut found = Found::nothing(width);
    found.lines = line_ends(&head[..first.end], dialect);
    found.ends.add(first.row_end);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = WorkerPool::new(threads);
    let reader = TypeReader { dialect, width };
    let read = delimited::read(blocks, threads, &workers, &reader, &mut found);
    if let Some((line, complaint)) = found.wrong {
        return Err(format!("{path}: line {line}, {complaint}"));
    }
    read.map_err(|e| format!("{path}: {e}"))?;

    let names: Vec<String> = first.fields.iter().map(|(name, _)| name.clone()).collect();
    let types: Vec<ColumnType> = found.columns.iter().map(|column| column.ty).collect();
    let has_header = header::is_header(&names, &types);
    if !has_header {
        for (column, (text, is_quoted)) in found.columns.iter_mut().zip(&first.fields) {
            let (text, is_quoted) = (text.as_bytes(), *is_quoted);
            column.widen(Field { text, is_quoted });
        }
    }
    let header = has_header.then_some(names.as_slice());
    let columns = header::names(header, width).into_iter().zip(&found.columns);
    let columns: Vec<Column> = columns
        .map(|(name, column)| {
            let (ty, unclear) = column.ty.settled(dialect.delimiter);
            Column {
                name,
                ty,
                has_null: column.has_null,
                has_empty: column.has_empty,
                unclear,
            }
        })
        .collect();
    // LOAD DATA does not distinguish an empty text in quotes from one without.
    let is_mixed = |column: &Column| column.ty.is_text() && column.has_null && column.has_empty;
    let is_irregular = found.is_irregular || found.ends.are_mixed() || columns.iter().any(is_mixed);
    Ok(Shape {
        dialect,
        skipped: if has_header { first.end } else { first.begin },
        carriage_returns: found.ends.return_newline,
        ends_open: found.ends.file && (found.rows > 0 || !has_header),
        is_irregular,
        columns,
    })
}

/// The first row of a file, from which the dialect is guessed.
struct FirstRow {
    /// The fields, and whether they are in quotes.
    fields: Vec<(String, bool)>,
    dialect: Dialect,
    begin: usize,
    end: usize,
    row_end: RowEnd,
}

impl FirstRow {
    fn read(path: &str, head: &[u8], delimiter: Option<u8>) -> Result<Self, String> {
        let (counted, lone_returns) = first_line(head);
        let mut dialect = Dialect {
            delimiter: delimiter.unwrap_or(counted),
            lone_returns,
            skips_blank_lines: true,
        };
        let is_whole = head.len() < HEAD_BYTES;
        let mut rows = Rows::new(dialect, head, is_whole);
        let mut fields = Vec::new();
        let mut wrong = None;
        let step = rows.next_row(|column, field| match std::str::from_utf8(field.text) {
            Ok(text) => fields.push((text.to_owned(), field.is_quoted)),
            Err(e) => wrong = Some(format!("column {}: {e}", column + 1)),
        });
        let line = |at: usize| line_ends(&head[..at], dialect) + 1;
        if let RowStep::Wrong {
            column,
            at,
            complaint,
        } = step
        {
            return Err(format!(
                "{path}: line {}, column {column}: {complaint}",
                line(at)
            ));
        }
        if let Some(complaint) = wrong {
            let line = line(rows.row_begin());
            return Err(format!("{path}: line {line}, {complaint}"));
        }
        let RowStep::Row { end: row_end, .. } = step else {
            let complaint = match step {
                RowStep::End => "the file is empty",
                _ => "the first row is too long",
            };
            return Err(format!("{path}: {complaint}"));
        };
        // In a file of one column, a blank line is a row without a value.
        dialect.skips_blank_lines = fields.len() > 1;
        Ok(Self {
            fields,
            dialect,
            begin: rows.row_begin(),
            end: rows.row_end(),
            row_end,
        })
    }
}

/// The most frequent one of `,`, tab, `;` and `|` in the first row outside of quotes; and whether `\r` alone ends it.
fn first_line(head: &[u8]) -> (u8, bool) {
    // Of equally frequent ones, the last is taken.
    let mut counts = [(b'|', 0), (b';', 0), (b'\t', 0), (b',', 0)];
    let mut is_quoted = false;
    let mut lone_returns = false;
    let mut begun = false;
    for (at, &byte) in head.iter().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b'\r' if head.get(at + 1) != Some(&b'\n') => {
                lone_returns = true;
                if begun {
                    break;
                }
            }
            b'\n' if begun => break,
            _ => {
                for (delimiter, count) in &mut counts {
                    *count += usize::from(*delimiter == byte);
                }
            }
        }
        begun |= !matches!(byte, b'\r' | b'\n');
    }
    let best = counts.into_iter().max_by_key(|(_, count)| *count);
    (best.map_or(b',', |(delimiter, _)| delimiter), lone_returns)
}

/// The line ends that rows have.
#[derive(Debug, Clone, Copy, Default)]
struct Ends {
    newline: bool,
    return_newline: bool,
    lone_return: bool,
    file: bool,
}

impl Ends {
    fn add(&mut self, end: RowEnd) {
        match end {
            RowEnd::Newline => self.newline = true,
            RowEnd::ReturnNewline => self.return_newline = true,
            RowEnd::Return => self.lone_return = true,
            RowEnd::File => self.file = true,
        }
    }

    fn join(&mut self, other: Self) {
        self.newline |= other.newline;
        self.return_newline |= other.return_newline;
        self.lone_return |= other.lone_return;
        self.file |= other.file;
    }

    /// Whether LOAD DATA, which knows one line end, would read other rows.
    fn are_mixed(self) -> bool {
        self.lone_return || (self.newline && self.return_newline)
    }
}

/// Finds the types of a block's rows.
struct TypeReader {
    dialect: Dialect,
    width: usize,
}

/// Facts about some rows.
struct Found {
    columns: Vec<ColumnFound>,
    rows: u64,
    ends: Ends,
    is_irregular: bool,
    /// Number of line ends in them.
    lines: usize,
    /// The line of the first row that cannot be read, and its error.
    wrong: Option<(usize, String)>,
}

impl Found {
    fn nothing(width: usize) -> Self {
        Self {
            columns: vec![ColumnFound::NOTHING; width],
            rows: 0,
            ends: Ends::default(),
            is_irregular: false,
            lines: 0,
            wrong: None,
        }
    }
}

impl Parser for TypeReader {
    type Parsed = (Found, usize);

    fn parse(&self, bytes: &[u8], is_last: bool) -> (Found, usize) {
        let mut rows = Rows::new(self.dialect, bytes, is_last);
        let mut found = Found::nothing(self.width);
        // Checked as a whole, because fields are short.
        let is_text = std::str::from_utf8(bytes).is_ok();
        let line = |at: usize| line_ends(bytes.get(..at).unwrap_or_default(), self.dialect) + 1;
        loop {
            let mut complaint = None;
            // A row cut by the end of the block is read again with the next one, with the same result.
            let step = rows.next_row(|column, field| {
                let Some(into) = found.columns.get_mut(column) else {
                    return;
                };
                into.widen(field);
                if !is_text && let Err(error) = std::str::from_utf8(field.text) {
                    complaint.get_or_insert(format!("column {}: {error}", column + 1));
                }
            });
            match step {
                RowStep::End | RowStep::Incomplete => break,
                RowStep::Wrong {
                    column,
                    at,
                    complaint,
                } => {
                    found.wrong = Some((line(at), format!("column {column}: {complaint}")));
                    break;
                }
                RowStep::Row { fields, end } => {
                    let width = self.width;
                    if fields != width && complaint.is_none() {
                        let column = fields.min(width) + 1;
                        complaint = Some(format!(
                            "column {column}: the row has {fields} columns, the first one has {width}"
                        ));
                    }
                    if let Some(complaint) = complaint {
                        found.wrong = Some((line(rows.row_begin()), complaint));
                        break;
                    }
                    found.rows += 1;
                    found.ends.add(end);
                }
            }
        }
        found.is_irregular = rows.is_irregular();
        let end = rows.row_begin();
        found.lines = line(end) - 1;
        (found, end)
    }
}

/// Number of line ends in some bytes.
fn line_ends(bytes: &[u8], dialect: Dialect) -> usize {
    let end = if dialect.lone_returns { b'\r' } else { b'\n' };
    memchr::memchr_iter(end, bytes).count()
}

/// The error that ends reading at a row that cannot be read.
fn unreadable() -> Error {
    Error::internal("a row cannot be read")
}

impl Taker<(Found, usize)> for Found {
    fn take(&mut self, _: &Block, (found, end): (Found, usize)) -> Result<usize, Error> {
        if let Some((line, complaint)) = found.wrong {
            self.wrong = Some((self.lines + line, complaint));
            return Err(unreadable());
        }
        for (column, new) in self.columns.iter_mut().zip(found.columns) {
            column.join(new);
        }
        self.rows += found.rows;
        self.lines += found.lines;
        self.ends.join(found.ends);
        self.is_irregular |= found.is_irregular;
        Ok(end)
    }

    fn hold(&mut self, bytes: usize) -> Result<(), Error> {
        if bytes > ROW_BYTES_MAX {
            let complaint = format!(
                "the row has more than {} MiB: a quote in it may never be closed",
                ROW_BYTES_MAX >> 20
            );
            self.wrong = Some((self.lines + 1, complaint));
            return Err(unreadable());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Result<Shape, String> {
        let mut file = tempfile::NamedTempFile::new().expect("a file for the test");
        std::io::Write::write_all(&mut file, text.as_bytes()).expect("it is written");
        let path = file.path().to_str().expect("a plain path");
        let progress = std::sync::Arc::new(crate::load_progress::LoadProgress::hidden());
        let text = TextFile::new(path, progress).expect("it is there");
        infer(path, &text, None, 8192)
    }

    fn types(text: &str) -> Vec<String> {
        let shape = shape(text).expect("a readable file");
        shape
            .columns
            .iter()
            .map(|column| format!("{} {}", column.name, column.ty.sql()))
            .collect()
    }

    #[test]
    fn every_type() {
        let text = "a,b,c,d,e,f,g,h,zip\n\
                    1,3000000000,1.5,1e3,2024-02-29,2024-02-29 10:00:00,10:00:00,x,01234\n\
                    -7,18446744073709551615,22.25,2,2024-03-01,2024-03-01T10:00:00.123,10:00:01,y,99999\n";
        assert_eq!(
            types(text),
            [
                "a INT",
                "b BIGINT UNSIGNED",
                "c DECIMAL(4, 2)",
                "d DOUBLE",
                "e DATE",
                "f DATETIME(3)",
                "g TIME",
                "h VARCHAR(255)",
                "zip VARCHAR(255)"
            ]
        );
    }

    #[test]
    fn mixed_values_widen() {
        assert_eq!(types("n\n1\n2.5\n"), ["n DECIMAL(2, 1)"]);
        assert_eq!(types("n\n1\nx\n"), ["n VARCHAR(255)"]);
        assert_eq!(
            types("n\n2024-01-01\n2024-01-01 00:00:01\n"),
            ["n DATETIME"]
        );
        assert_eq!(types("n\n2023-02-29\n"), ["n VARCHAR(255)"]);
        assert_eq!(types("n\n-1\n18446744073709551615\n"), ["n DECIMAL(20, 0)"]);
    }

    #[test]
    fn headers() {
        assert_eq!(types("id,name\n1,x\n"), ["id INT", "name VARCHAR(255)"]);
        assert_eq!(
            types("first;last\nA;B\n"),
            ["first VARCHAR(255)", "last VARCHAR(255)"]
        );
        assert_eq!(types("a,a\n1,2\n"), ["a INT", "a_2 INT"]);
        assert_eq!(types(",n\n1,2\n"), ["column1 INT", "n INT"]);
        assert_eq!(types("id,2024\n1,2\n"), ["id INT", "2024 INT"]);
        assert_eq!(types("\"a\nb\",c\n1,2\n"), ["a b INT", "c INT"]);
        assert_eq!(types("a,b\n"), ["a VARCHAR(255)", "b VARCHAR(255)"]);
        assert_eq!(types("1,2\n"), ["column1 INT", "column2 INT"]);
        assert_eq!(types("1,x\n2,y\n"), ["column1 INT", "column2 VARCHAR(255)"]);
    }

    #[test]
    fn unreadable_rows_are_named() {
        let error = shape("a,b\n1,2\n3\n").expect_err("a short row");
        assert!(error.contains("line 3, column 2"), "{error}");
        let error = shape("").expect_err("nothing there");
        assert!(error.contains("empty"), "{error}");
    }

    #[test]
    fn empty_fields_make_a_column_nullable() {
        let shape = shape("a,b\n1,\n,2\n").expect("readable");
        assert!(shape.columns.iter().all(|column| column.has_null));
        assert_eq!(shape.columns[0].ty.sql(), "INT");
    }

    #[test]
    fn files_that_load_data_would_read_otherwise() {
        for (text, is_irregular) in [
            ("a,b\n1,x\n", false),
            ("a,b\r\n1,x", false),
            ("a,b\n1,x\r\n", true),
            ("a,b\r1,x\r", true),
            ("a,b\n1,\"x\" \n", true),
            ("a,b\n1,x\n\n", true),
            ("a\n1\n\n2\n", false),
            ("a,b\n1,\n2,x\n", false),
            ("a,b\n1,\n2,\"\"\n3,x\n", true),
        ] {
            assert_eq!(
                shape(text).expect("readable").is_irregular,
                is_irregular,
                "{text:?}"
            );
        }
    }

    #[test]
    fn the_delimiter_stands_outside_of_quotes() {
        for (text, delimiter, lone_returns) in [
            ("a,b;c;d\n", b';', false),
            ("\"a;b;c\",d\n;;;;", b',', false),
            ("a\tb\r\n", b'\t', false),
            ("\n\na|b\n", b'|', false),
            ("a;b\r1,2,3\r", b';', true),
        ] {
            assert_eq!(
                first_line(text.as_bytes()),
                (delimiter, lone_returns),
                "{text:?}"
            );
        }
    }
}
