//! Encoding of values for clients: display form in `character_set_results`, or typed values.
//!
//! The conversion of a column is chosen once per batch; a value is then appended to the caller's bytes without an
//! allocation of its own.

use mayfly_types::convert::source::{Datum, Source};
use mayfly_types::convert::{ColumnFormatter, text};
use mayfly_types::temporal::DateTime;
use mayfly_types::{Batch, Charset, CollationId, SqlType, TypeKind, Value};

use super::field::FieldDefinition;
use crate::result::ResultColumn;

/// Encoder of a statement's results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultEncoder {
    /// The collation of `character_set_results`; `None` where values and names are not converted.
    results: Option<CollationId>,
}

/// A typed value, for a binary protocol.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ClientValue {
    /// NULL
    Null,
    /// An integer.
    Int(i64),
    /// An integer UNSIGNED, or a YEAR.
    UInt(u64),
    /// FLOAT
    Float(f32),
    /// DOUBLE
    Double(f64),
    /// A DATE, DATETIME or TIMESTAMP.
    DateTime(DateTime),
    /// A TIME: microseconds.
    Time(i64),
    /// Any other type: its display form, which was appended.
    Bytes,
}

impl ResultEncoder {
    /// An encoder for the character set of a collation; `None` and `binary` convert nothing.
    pub(crate) fn new(results: Option<CollationId>) -> Self {
        Self { results }
    }

    /// The definition of a column.
    #[inline]
    pub fn field(&self, column: &ResultColumn) -> FieldDefinition {
        FieldDefinition::of(column, self.results)
    }

    /// Appends a name or a message.
    pub fn append_text(&self, text: &str, out: &mut Vec<u8>) {
        match self.conversion() {
            Some(charset) => out.extend_from_slice(&charset.encode_lossy(text.as_bytes())),
            None => out.extend_from_slice(text.as_bytes()),
        }
    }

    /// The character set that text is converted to, if any.
    fn conversion(&self) -> Option<Charset> {
        self.results
            .map(CollationId::charset)
            .filter(|charset| !matches!(charset, Charset::Utf8mb4 | Charset::Binary))
    }

    /// The character set that values of a type are converted to, if any.
    fn conversion_of(&self, ty: &SqlType) -> Option<Charset> {
        let is_text = ty.is_string() || matches!(ty.kind, TypeKind::Enum | TypeKind::Set);
        let is_text = is_text && ty.collation != CollationId::BINARY || ty.kind == TypeKind::Json;
        let charset = match self.results.map(CollationId::charset) {
            // Unconverted: for the client they are in the column's character set.
            None | Some(Charset::Binary) => Some(ty.collation.charset()),
            Some(_) => self.conversion(),
        };
        // Numbers and temporal values have the same bytes in these character sets.
        charset.filter(|charset| is_text && !matches!(charset, Charset::Utf8mb4 | Charset::Binary))
    }

    /// Appends the display form of a value; false, and nothing is appended, for NULL.
    pub fn append_value(&self, column: &ResultColumn, value: &Value, out: &mut Vec<u8>) -> bool {
        append_in(self.conversion_of(&column.ty), out, |out| {
            text::append_value(out, value, &column.ty)
        })
    }

    /// A typed value, for a binary protocol.
    pub fn typed_value(
        &self,
        column: &ResultColumn,
        value: &Value,
        out: &mut Vec<u8>,
    ) -> ClientValue {
        let Some(datum) = Datum::of(value) else {
            return ClientValue::Null;
        };
        typed(datum, &column.ty).unwrap_or_else(|| {
            self.append_value(column, value, out);
            ClientValue::Bytes
        })
    }

    /// An encoder of a batch's rows.
    pub fn batch<'a>(&self, columns: &'a [ResultColumn], batch: &'a Batch) -> BatchEncoder<'a> {
        let columns = columns.iter().zip(batch.columns());
        BatchEncoder {
            columns: columns
                .map(|(column, array)| ColumnEncoder {
                    formatter: ColumnFormatter::new(array.as_ref(), &column.ty),
                    source: Source::new(array.as_ref()),
                    ty: &column.ty,
                    conversion: self.conversion_of(&column.ty),
                })
                .collect(),
        }
    }
}

/// Calls `append`, and converts what it has appended.
#[inline]
fn append_in(
    conversion: Option<Charset>,
    out: &mut Vec<u8>,
    append: impl FnOnce(&mut Vec<u8>) -> bool,
) -> bool {
    let start = out.len();
    if !append(out) {
        return false;
    }
    if let Some(charset) = conversion
        && let std::borrow::Cow::Owned(converted) = charset.encode_lossy(&out[start..])
    {
        out.truncate(start);
        out.extend_from_slice(&converted);
    }
    true
}

/// The typed value of a type that is not sent as bytes.
fn typed(datum: Datum<'_>, ty: &SqlType) -> Option<ClientValue> {
    Some(match (ty.kind, datum) {
        (TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp, Datum::Int(packed)) => {
            ClientValue::DateTime(DateTime::unpack(packed))
        }
        (TypeKind::Time, Datum::Int(microseconds)) => ClientValue::Time(microseconds),
        (TypeKind::Bit | TypeKind::Enum | TypeKind::Set, _) => return None,
        (TypeKind::Float, Datum::Float(number)) => ClientValue::Float(number as f32),
        (_, Datum::Float(number)) => ClientValue::Double(number),
        (_, Datum::Int(number)) => ClientValue::Int(number),
        (_, Datum::UInt(number)) => ClientValue::UInt(number),
        (_, Datum::Decimal(_) | Datum::Bytes(_)) => return None,
    })
}

/// Encoder of a batch's rows.
#[derive(Debug)]
pub struct BatchEncoder<'a> {
    columns: Vec<ColumnEncoder<'a>>,
}

#[derive(Debug)]
struct ColumnEncoder<'a> {
    formatter: ColumnFormatter<'a>,
    source: Source<'a>,
    ty: &'a SqlType,
    conversion: Option<Charset>,
}

impl BatchEncoder<'_> {
    /// Appends the display form of a row's value; false, and nothing is appended, for NULL.
    pub fn append(&self, column: usize, row: usize, out: &mut Vec<u8>) -> bool {
        match self.columns.get(column) {
            Some(column) => append_in(column.conversion, out, |out| {
                column.formatter.append(row, out)
            }),
            None => false,
        }
    }

    /// A row's typed value, for a binary protocol.
    pub fn typed(&self, column: usize, row: usize, out: &mut Vec<u8>) -> ClientValue {
        let Some(encoder) = self.columns.get(column) else {
            return ClientValue::Null;
        };
        let Some(datum) = encoder.source.get(row) else {
            return ClientValue::Null;
        };
        typed(datum, encoder.ty).unwrap_or_else(|| {
            self.append(column, row, out);
            ClientValue::Bytes
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(ty: SqlType) -> ResultColumn {
        ResultColumn::new("c", ty)
    }

    #[test]
    fn text_is_given_in_the_results_character_set() {
        let column = column(SqlType::varchar(10, CollationId::UTF8MB4_0900_AI_CI));
        let value = Value::from("ä€");
        let mut out = b"x".to_vec();
        assert!(
            ResultEncoder::new(Some(Charset::Latin1.row().default_collation))
                .append_value(&column, &value, &mut out)
        );
        assert_eq!(out, b"x\xE4\x80");
        out.clear();
        assert!(ResultEncoder::new(None).append_value(&column, &value, &mut out));
        assert_eq!(out, "ä€".as_bytes());
        let mut out = Vec::new();
        assert!(!ResultEncoder::new(None).append_value(&column, &Value::Null, &mut out));
        assert_eq!(out, b"");
    }

    #[test]
    fn bytes_are_given_as_they_are() {
        let column = column(SqlType::varchar(10, CollationId::BINARY));
        let value = Value::Bytes(vec![0xE4, 0xFF]);
        let mut out = Vec::new();
        assert!(
            ResultEncoder::new(Some(Charset::Latin1.row().default_collation))
                .append_value(&column, &value, &mut out)
        );
        assert_eq!(out, [0xE4, 0xFF]);
    }

    #[test]
    fn typed_values_are_not_appended() {
        let column = column(SqlType::temporal(TypeKind::Time, 6));
        let mut out = Vec::new();
        let typed = ResultEncoder::new(None).typed_value(&column, &Value::Int(-4), &mut out);
        assert_eq!(typed, ClientValue::Time(-4));
        assert_eq!(out, b"");
    }
}
