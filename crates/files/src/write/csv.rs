//! Rows as CSV: fields with quotes where they need them, NULL as nothing and an empty text as `""`.

use mayfly_engine::{Batch, NewFile, Result, ResultColumn, TableArguments};
use memchr::memchr3;

use super::encoder::{Compression, Encoder, Rows, Settings, ending};
use super::text::{Form, TextFile, Texts};

#[derive(Debug, Clone)]
struct Csv {
    name: &'static str,
    delimiter: u8,
    header: bool,
    compression: Compression,
}

/// Takes the options of CSV and TSV.
pub(super) fn configure(
    name: &'static str,
    options: &mut TableArguments,
    compression: Compression,
) -> Result<Box<dyn Settings>> {
    let header = options.flag("header")?.unwrap_or(true);
    let mut delimiter = options.text("delimiter")?;
    for other in ["delim", "sep"] {
        delimiter = delimiter.or(options.text(other)?);
    }
    let delimiter = match delimiter.as_deref().map(str::as_bytes) {
        None if name == "tsv" => b'\t',
        None => b',',
        Some(&[one]) if one.is_ascii() && !matches!(one, b'"' | b'\n' | b'\r' | b'\\' | 0) => one,
        Some(_) => {
            return Err(options.error("delimiter takes one ASCII character that is no quote"));
        }
    };
    Ok(Box::new(Csv {
        name,
        delimiter,
        header,
        compression,
    }))
}

impl Settings for Csv {
    fn ending(&self) -> String {
        ending(self.name, self.compression)
    }

    fn encoder(&self, file: NewFile, rows: &Rows) -> Result<Box<dyn Encoder>> {
        let mut encoder = CsvFile {
            delimiter: self.delimiter,
            file: TextFile::new(file, self.compression)?,
            rows: rows.clone(),
        };
        if self.header {
            encoder.write_header(&rows.columns)?;
        }
        Ok(Box::new(encoder))
    }
}

/// Bytes of rows that are written at once.
const LINES: usize = 64 << 10;

struct CsvFile {
    delimiter: u8,
    file: TextFile,
    rows: Rows,
}

impl CsvFile {
    fn write_header(&mut self, columns: &[ResultColumn]) -> Result<()> {
        let mut line = Vec::new();
        for (at, column) in columns.iter().enumerate() {
            if at > 0 {
                line.push(self.delimiter);
            }
            self.field(column.name.as_bytes(), &mut line);
        }
        line.push(b'\n');
        self.file.write(&line)
    }

    /// Appends a field that is not NULL.
    fn field(&self, text: &[u8], line: &mut Vec<u8>) {
        // Readers take the text `\N` without quotes for NULL, and leave out spaces and a byte order mark.
        let is_space = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_whitespace);
        let needs_quotes = text.is_empty()
            || matches!(text, b"\\N" | b"NULL")
            || is_space(text.first())
            || is_space(text.last())
            || text.starts_with("\u{FEFF}".as_bytes())
            || memchr3(b'"', b'\n', b'\r', text).is_some()
            || text.contains(&self.delimiter);
        if !needs_quotes {
            line.extend_from_slice(text);
            return;
        }
        line.push(b'"');
        for byte in text {
            if *byte == b'"' {
                line.push(b'"');
            }
            line.push(*byte);
        }
        line.push(b'"');
    }
}

impl Encoder for CsvFile {
    fn write(&mut self, batch: &Batch, before: u64) -> Result<()> {
        let rows = self.rows.clone();
        let columns = Texts::of_batch(batch, &rows);
        let (mut line, mut text) = (Vec::new(), Vec::new());
        // Such a delimiter is in no number, date or time.
        let is_plain = matches!(self.delimiter, b',' | b';' | b'\t' | b'|');
        for row in 0..batch.row_count() {
            for (at, column) in columns.iter().enumerate() {
                if at > 0 {
                    line.push(self.delimiter);
                }
                if matches!(column.form, Form::Integer | Form::Time) && is_plain {
                    column.append(row, before, &mut line)?;
                    continue;
                }
                text.clear();
                if !column.append(row, before, &mut text)? {
                    continue;
                }
                match column.form {
                    Form::Text | Form::Json | Form::Bytes => self.field(&text, &mut line),
                    // A delimiter may be a digit or a sign.
                    _ if text.contains(&self.delimiter) => self.field(&text, &mut line),
                    _ => line.extend_from_slice(&text),
                }
            }
            line.push(b'\n');
            if line.len() >= LINES {
                self.file.write(&line)?;
                line.clear();
            }
        }
        self.file.write(&line)
    }

    fn held(&self) -> u64 {
        self.file.held()
    }

    fn finish(self: Box<Self>) -> Result<NewFile> {
        self.file.finish()
    }
}
