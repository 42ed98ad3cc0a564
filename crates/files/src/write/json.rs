//! Rows as JSON objects: an array of them (`json`), or one a line (`ndjson`).
//!
//! Numbers have all of their digits, bytes are strings in base64, and documents stand as they are.

use mayfly_engine::{Batch, NewFile, Result, TableArguments};

use super::encoder::{Compression, Encoder, Rows, Settings, ending};
use super::text::{Form, TextFile, Texts};

#[derive(Debug, Clone)]
struct Json {
    name: &'static str,
    compression: Compression,
}

/// Takes the options of JSON, of which there are none.
pub(super) fn configure(
    name: &'static str,
    _options: &mut TableArguments,
    compression: Compression,
) -> Result<Box<dyn Settings>> {
    Ok(Box::new(Json { name, compression }))
}

impl Settings for Json {
    fn ending(&self) -> String {
        ending(self.name, self.compression)
    }

    fn encoder(&self, file: NewFile, rows: &Rows) -> Result<Box<dyn Encoder>> {
        let names = rows.columns.iter().map(|column| {
            let mut name = Vec::new();
            string(column.name.as_bytes(), &mut name);
            name.push(b':');
            name
        });
        Ok(Box::new(JsonFile {
            is_array: self.name == "json",
            is_first: true,
            names: names.collect(),
            file: TextFile::new(file, self.compression)?,
            rows: rows.clone(),
        }))
    }
}

struct JsonFile {
    is_array: bool,
    /// Whether no row is written yet.
    is_first: bool,
    /// The names of the columns as keys.
    names: Vec<Vec<u8>>,
    file: TextFile,
    rows: Rows,
}

/// Appends a text as a string.
fn string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(*byte),
        }
    }
    out.push(b'"');
}

impl Encoder for JsonFile {
    fn write(&mut self, batch: &Batch, before: u64) -> Result<()> {
        let rows = self.rows.clone();
        let columns = Texts::of_batch(batch, &rows);
        let (mut line, mut text) = (Vec::new(), Vec::new());
        for row in 0..batch.row_count() {
            line.clear();
            if self.is_array {
                line.extend_from_slice(if self.is_first { b"[\n" } else { b",\n" });
            }
            self.is_first = false;
            line.push(b'{');
            for (at, (column, name)) in columns.iter().zip(&self.names).enumerate() {
                if at > 0 {
                    line.push(b',');
                }
                line.extend_from_slice(name);
                text.clear();
                if !column.append(row, before, &mut text)? {
                    line.extend_from_slice(b"null");
                    continue;
                }
                match column.form {
                    Form::Number | Form::Integer | Form::Float | Form::Json => {
                        line.extend_from_slice(&text);
                    }
                    Form::Text | Form::Time | Form::Timestamp | Form::Bytes => {
                        string(&text, &mut line);
                    }
                }
            }
            line.push(b'}');
            if !self.is_array {
                line.push(b'\n');
            }
            self.file.write(&line)?;
        }
        Ok(())
    }

    fn held(&self) -> u64 {
        self.file.held()
    }

    fn finish(mut self: Box<Self>) -> Result<NewFile> {
        if self.is_array {
            self.file
                .write(if self.is_first { b"[]\n" } else { b"\n]\n" })?;
        }
        self.file.finish()
    }
}
