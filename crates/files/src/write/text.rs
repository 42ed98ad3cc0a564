//! Files of text: values as texts, and the compression of the file.

use std::io::{BufWriter, Write};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use flate2::write::GzEncoder;
use mayfly_engine::{
    Batch, CollationId, ColumnFormatter, DateTime, NewFile, Result, ResultColumn, TimeZone,
    TypeKind, Value, arrow_out, format_value, write_error,
};

use super::encoder::{Compression, Rows};

/// How the values of a column are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// DECIMAL and truth values.
    Number,
    /// Whole numbers, YEAR and bits, without the zeros that a client is shown before them.
    Integer,
    /// Digits with a point or an exponent, as many as the value needs.
    Float,
    /// A text.
    Text,
    /// A text of digits and signs: dates and times.
    Time,
    /// A date and time in UTC.
    Timestamp,
    /// A JSON document.
    Json,
    /// Bytes in base64.
    Bytes,
}

impl Form {
    pub(super) fn of(column: &ResultColumn) -> Self {
        let ty = &column.ty;
        match ty.kind {
            TypeKind::Float | TypeKind::Double => Self::Float,
            TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt | TypeKind::Int => {
                Self::Integer
            }
            TypeKind::BigInt | TypeKind::Bit | TypeKind::Year => Self::Integer,
            TypeKind::Timestamp => Self::Timestamp,
            TypeKind::Date | TypeKind::DateTime | TypeKind::Time => Self::Time,
            TypeKind::Json => Self::Json,
            TypeKind::Enum | TypeKind::Set => Self::Text,
            _ if ty.is_string() && ty.collation == CollationId::BINARY => Self::Bytes,
            _ if ty.is_string() => Self::Text,
            _ => Self::Number,
        }
    }
}

/// The values of a column as texts.
pub(super) struct Texts<'a> {
    pub(super) form: Form,
    array: &'a ArrayRef,
    column: &'a ResultColumn,
    zone: &'a TimeZone,
    formatter: ColumnFormatter<'a>,
}

impl<'a> Texts<'a> {
    pub(super) fn new(array: &'a ArrayRef, column: &'a ResultColumn, zone: &'a TimeZone) -> Self {
        Self {
            form: Form::of(column),
            array,
            column,
            zone,
            formatter: ColumnFormatter::new(array.as_ref(), &column.ty),
        }
    }

    /// The columns of a batch of rows.
    pub(super) fn of_batch(batch: &'a Batch, rows: &'a Rows) -> Vec<Self> {
        let columns = batch.columns().iter().zip(&*rows.columns);
        let texts = columns.map(|(array, column)| Self::new(array, column, &rows.zone));
        texts.collect()
    }

    /// Appends the text of a row; `false` for NULL. `before` rows of the statement came before the batch.
    pub(super) fn append(&self, row: usize, before: u64, out: &mut Vec<u8>) -> Result<bool> {
        if self.array.is_null(row) || self.column.ty.kind == TypeKind::Null {
            return Ok(false);
        }
        match self.form {
            Form::Float => {
                let number = self.array.as_primitive::<Float64Type>().value(row);
                let text = match self.column.ty.kind {
                    TypeKind::Float => format!("{:?}", number as f32),
                    _ => format!("{number:?}"),
                };
                out.extend_from_slice(text.as_bytes());
            }
            Form::Integer => {
                // A vector takes all that is written to it.
                let _ = match self.array.as_primitive_opt::<UInt64Type>() {
                    Some(numbers) => write!(out, "{}", numbers.value(row)),
                    None => {
                        let numbers = self.array.as_primitive::<Int64Type>();
                        write!(out, "{}", numbers.value(row))
                    }
                };
            }
            Form::Bytes => {
                let bytes = self.array.as_binary_view().value(row);
                out.extend_from_slice(data_encoding::BASE64.encode(bytes).as_bytes());
            }
            Form::Timestamp => self.append_timestamp(row, before, out)?,
            Form::Number | Form::Text | Form::Time | Form::Json => {
                self.formatter.append(row, out);
            }
        }
        Ok(true)
    }

    /// A point in time, with the offset of UTC; a date with a zero part, which is none, as it is.
    fn append_timestamp(&self, row: usize, before: u64, out: &mut Vec<u8>) -> Result<()> {
        let local = DateTime::unpack(self.array.as_primitive::<Int64Type>().value(row));
        if local.has_zero_part() {
            self.formatter.append(row, out);
            return Ok(());
        }
        let utc = arrow_out::instant(local, self.zone).map_err(|why| {
            let mut shown = Vec::new();
            self.formatter.append(row, &mut shown);
            arrow_out::refused_in_file(self.column, &shown, before + row as u64 + 1, why)
        })?;
        let utc = TimeZone::UTC.local_of_unix(utc).unwrap_or(local);
        let text = format_value(&Value::Int(utc.pack()), &self.column.ty);
        out.extend_from_slice(&text.unwrap_or_default());
        out.extend_from_slice(b"+00:00");
        Ok(())
    }
}

/// A file of text that is being written, perhaps compressed.
pub(super) enum TextFile {
    Plain(BufWriter<NewFile>),
    Gzip(GzEncoder<BufWriter<NewFile>>),
    Zstd(zstd::Encoder<'static, BufWriter<NewFile>>),
}

impl TextFile {
    pub(super) fn new(file: NewFile, compression: Compression) -> Result<Self> {
        let path = file.path().to_owned();
        let file = BufWriter::with_capacity(BUFFER, file);
        Ok(match compression {
            Compression::Gzip => Self::Gzip(GzEncoder::new(file, flate2::Compression::default())),
            Compression::Zstd => {
                let encoder = zstd::Encoder::new(file, 0);
                Self::Zstd(encoder.map_err(|error| write_error(&path, &error))?)
            }
            _ => Self::Plain(file),
        })
    }

    fn path(&self) -> String {
        let file = match self {
            Self::Plain(file) => file,
            Self::Gzip(encoder) => encoder.get_ref(),
            Self::Zstd(encoder) => encoder.get_ref(),
        };
        file.get_ref().path().to_owned()
    }

    /// Bytes that it holds: its buffer, and what a compressor keeps of what it has seen.
    pub(super) fn held(&self) -> u64 {
        BUFFER as u64
            + match self {
                Self::Plain(_) => 0,
                Self::Gzip(_) => 512 << 10,
                Self::Zstd(_) => 4 << 20,
            }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = match self {
            Self::Plain(file) => file.write_all(bytes),
            Self::Gzip(encoder) => encoder.write_all(bytes),
            Self::Zstd(encoder) => encoder.write_all(bytes),
        };
        written.map_err(|error| write_error(&self.path(), &error))
    }

    /// Ends the content of the file.
    pub(super) fn finish(self) -> Result<NewFile> {
        let path = self.path();
        let ended = match self {
            Self::Plain(file) => Ok(file),
            Self::Gzip(encoder) => encoder.finish(),
            Self::Zstd(encoder) => encoder.finish(),
        };
        let file = ended.and_then(|file| file.into_inner().map_err(|error| error.into_error()));
        file.map_err(|error| write_error(&path, &error))
    }
}

const BUFFER: usize = 128 << 10;
