//! TSV as `mysql --batch` writes it, and CSV by RFC 4180.

use std::io::{self, Write};

use mayfly_engine::ResultColumn;

use super::part::{Part, Row};
use super::result_writer::Writer;

/// Writes rows as they come.
pub(super) struct DelimitedWriter {
    delimiter: u8,
    escape: fn(&[u8], &mut Vec<u8>),
    null: &'static [u8],
    header: Option<Row>,
    line: Vec<u8>,
}

impl DelimitedWriter {
    pub(super) fn tsv(columns: &[ResultColumn], names: bool) -> Self {
        let name = |column: &ResultColumn| Some(column.name.clone().into_bytes());
        Self {
            delimiter: b'\t',
            escape: escape_tsv,
            null: b"NULL",
            header: names.then(|| columns.iter().map(name).collect()),
            line: Vec::new(),
        }
    }

    pub(super) fn csv(columns: &[ResultColumn], names: bool) -> Self {
        Self {
            delimiter: b',',
            escape: quote_csv,
            null: b"",
            ..Self::tsv(columns, names)
        }
    }

    fn write_row(&mut self, out: &mut dyn Write, row: &Row) -> io::Result<()> {
        self.line.clear();
        for (index, value) in row.iter().enumerate() {
            if index > 0 {
                self.line.push(self.delimiter);
            }
            match value {
                Some(bytes) => (self.escape)(bytes, &mut self.line),
                None => self.line.extend_from_slice(self.null),
            }
        }
        self.line.push(b'\n');
        out.write_all(&self.line)
    }

    fn write_header(&mut self, out: &mut dyn Write) -> io::Result<()> {
        match self.header.take() {
            Some(header) => self.write_row(out, &header),
            None => Ok(()),
        }
    }
}

impl Writer for DelimitedWriter {
    fn rows(&mut self, out: &mut dyn Write, part: Part<'_>) -> io::Result<()> {
        self.write_header(out)?;
        for row in part.rows() {
            self.write_row(out, &row)?;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        // `mysql --batch` prints nothing for an empty result; a CSV without rows keeps its header.
        if self.delimiter == b',' {
            self.write_header(out)
        } else {
            Ok(())
        }
    }
}

fn escape_tsv(bytes: &[u8], line: &mut Vec<u8>) {
    for &byte in bytes {
        match byte {
            b'\n' => line.extend_from_slice(b"\\n"),
            b'\t' => line.extend_from_slice(b"\\t"),
            b'\0' => line.extend_from_slice(b"\\0"),
            b'\\' => line.extend_from_slice(b"\\\\"),
            _ => line.push(byte),
        }
    }
}

/// Quotes a value where necessary. An empty string is quoted too, and so is the word NULL: readers of the file, LOAD
/// DATA among them, take an empty field and that word for NULL.
fn quote_csv(bytes: &[u8], line: &mut Vec<u8>) {
    let needs_quotes = |byte: &u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
    let means_null = bytes.is_empty() || bytes == b"NULL";
    if !means_null && !bytes.iter().any(needs_quotes) {
        line.extend_from_slice(bytes);
        return;
    }
    line.push(b'"');
    for &byte in bytes {
        if byte == b'"' {
            line.push(b'"');
        }
        line.push(byte);
    }
    line.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        let field = |escape: fn(&[u8], &mut Vec<u8>), text: &str| {
            let mut line = Vec::new();
            escape(text.as_bytes(), &mut line);
            String::from_utf8(line).expect("still text")
        };
        assert_eq!(field(escape_tsv, "a\tb\\c\nd\0"), "a\\tb\\\\c\\nd\\0");
        assert_eq!(field(quote_csv, "plain"), "plain");
        assert_eq!(field(quote_csv, ""), "\"\"");
        assert_eq!(field(quote_csv, "NULL"), "\"NULL\"");
        assert_eq!(field(quote_csv, "a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
