//! Rows: as text or, for prepared statements, in binary.

use mayfly_engine::{
    Batch, BatchEncoder, ClientValue, FieldType, ResultColumn, ResultEncoder, Value,
};

use super::{NULL, append_measured};
use crate::values::{append_datetime, append_time};

/// Format of the values of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowFormat {
    /// Each value as text.
    Text,
    /// Numbers and dates in binary.
    Binary,
}

/// Writer of the rows of one result.
#[derive(Debug)]
pub(crate) struct Rows {
    encoder: ResultEncoder,
    format: RowFormat,
    types: Vec<FieldType>,
}

/// Values of one row, independent of their storage.
trait RowValues {
    /// Appends a value's displayed bytes; false, without appending, for NULL.
    fn append(&self, column: usize, out: &mut Vec<u8>) -> bool;
    /// A value in its binary form; without one, its displayed bytes are appended.
    fn typed(&self, column: usize, out: &mut Vec<u8>) -> ClientValue;
}

/// A row of a batch.
struct BatchRow<'r> {
    values: &'r BatchEncoder<'r>,
    row: usize,
}

impl RowValues for BatchRow<'_> {
    fn append(&self, column: usize, out: &mut Vec<u8>) -> bool {
        self.values.append(column, self.row, out)
    }

    fn typed(&self, column: usize, out: &mut Vec<u8>) -> ClientValue {
        self.values.typed(column, self.row, out)
    }
}

/// A row of single values.
struct ValueRow<'r> {
    encoder: ResultEncoder,
    columns: &'r [ResultColumn],
    values: &'r [Value],
}

impl RowValues for ValueRow<'_> {
    fn append(&self, column: usize, out: &mut Vec<u8>) -> bool {
        let value = (&self.columns[column], &self.values[column]);
        self.encoder.append_value(value.0, value.1, out)
    }

    fn typed(&self, column: usize, out: &mut Vec<u8>) -> ClientValue {
        let value = (&self.columns[column], &self.values[column]);
        self.encoder.typed_value(value.0, value.1, out)
    }
}

impl Rows {
    pub(crate) fn new(columns: &[ResultColumn], encoder: ResultEncoder, format: RowFormat) -> Self {
        let fields = columns.iter().map(|column| encoder.field(column));
        Self {
            types: fields.map(|field| field.field_type).collect(),
            encoder,
            format,
        }
    }

    /// The rows of a batch of the result.
    pub(crate) fn of<'b>(&'b self, columns: &'b [ResultColumn], batch: &'b Batch) -> BatchRows<'b> {
        BatchRows {
            rows: self,
            values: self.encoder.batch(columns, batch),
        }
    }

    /// Appends the payload of a row of single values.
    pub(crate) fn append(&self, columns: &[ResultColumn], values: &[Value], out: &mut Vec<u8>) {
        let encoder = self.encoder;
        self.append_row(
            &ValueRow {
                encoder,
                columns,
                values,
            },
            out,
        );
    }

    fn append_row(&self, values: &impl RowValues, out: &mut Vec<u8>) {
        match self.format {
            RowFormat::Text => {
                for column in 0..self.types.len() {
                    if !append_text(values, column, out) {
                        out.push(NULL);
                    }
                }
            }
            RowFormat::Binary => self.append_binary(values, out),
        }
    }

    /// Appends a zero, a null bitmap (its first two bits are not used), and the other values.
    fn append_binary(&self, values: &impl RowValues, out: &mut Vec<u8>) {
        out.push(0);
        let bits = out.len();
        out.resize(bits + (self.types.len() + 2).div_ceil(8), 0);
        for (column, ty) in self.types.iter().enumerate() {
            if !append_binary_value(values, column, *ty, out) {
                out[bits + (column + 2) / 8] |= 1 << ((column + 2) % 8);
            }
        }
    }
}

/// The rows of a batch.
#[derive(Debug)]
pub(crate) struct BatchRows<'b> {
    rows: &'b Rows,
    values: BatchEncoder<'b>,
}

impl BatchRows<'_> {
    /// Appends a row's payload.
    pub(crate) fn append(&self, row: usize, out: &mut Vec<u8>) {
        let values = &self.values;
        self.rows.append_row(&BatchRow { values, row }, out);
    }
}

/// Appends a value as text behind its length; false, without appending, for NULL.
fn append_text(values: &impl RowValues, column: usize, out: &mut Vec<u8>) -> bool {
    let begin = out.len();
    let is_some = append_measured(out, |out| values.append(column, out));
    if !is_some {
        out.truncate(begin);
    }
    is_some
}

fn append_binary_value(
    values: &impl RowValues,
    column: usize,
    ty: FieldType,
    out: &mut Vec<u8>,
) -> bool {
    let width = match ty {
        FieldType::Tiny => 1,
        FieldType::Short | FieldType::Year => 2,
        FieldType::Long | FieldType::Int24 => 4,
        FieldType::LongLong => 8,
        FieldType::Float
        | FieldType::Double
        | FieldType::Date
        | FieldType::DateTime
        | FieldType::Timestamp
        | FieldType::Time => 0,
        _ => return append_text(values, column, out),
    };
    let begin = out.len();
    match values.typed(column, out) {
        ClientValue::Null => return false,
        ClientValue::Int(number) => out.extend_from_slice(&number.to_le_bytes()[..width]),
        ClientValue::UInt(number) => out.extend_from_slice(&number.to_le_bytes()[..width]),
        ClientValue::Float(number) => out.extend_from_slice(&number.to_le_bytes()),
        ClientValue::Double(number) => out.extend_from_slice(&number.to_le_bytes()),
        ClientValue::DateTime(value) => append_datetime(out, value),
        ClientValue::Time(value) => append_time(out, value),
        ClientValue::Bytes => {
            out.truncate(begin);
            return append_text(values, column, out);
        }
    }
    true
}
