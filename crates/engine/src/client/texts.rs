//! Rows of texts, as a server sends them in MySQL's protocol, as a batch of the types of their columns.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{BinaryViewBuilder, UInt64Builder};
use mayfly_types::convert::{CastContext, StoreContext, store_array, store_value};
use mayfly_types::error::codes;
use mayfly_types::temporal::TimeZone;
use mayfly_types::{
    Batch, CollationId, Diagnostics, PhysicalType, Result, SessionParameters, SqlMode, SqlType,
    TypeKind, Value,
};

use crate::builder::ColumnBuilder;
use crate::convert::ZERO_DATE;
use crate::result::ResultColumn;

/// A batch of rows of texts; `None` is NULL. Strings and documents stay as they are. `before` rows came before them,
/// for the texts of errors.
///
/// # Errors
/// A text that is no value of its column's type.
pub fn batch_of_texts(
    columns: &[ResultColumn],
    rows: &[Vec<Option<Vec<u8>>>],
    before: u64,
) -> Result<Batch> {
    let arrays = columns.iter().enumerate().map(|(index, column)| {
        let texts = rows
            .iter()
            .map(|row| row.get(index).and_then(Option::as_deref));
        array_of_texts(column, texts, before)
    });
    Ok(Batch::new(arrays.collect::<Result<_>>()?, rows.len()))
}

/// A column whose values come as texts.
#[derive(Debug)]
pub struct TextColumn {
    name: String,
    ty: SqlType,
    session: Arc<SessionParameters>,
    builder: ColumnBuilder,
}

impl TextColumn {
    /// An empty column. `session` has the time zone of TIMESTAMPs, and `sql_mode`.
    pub fn new(name: &str, ty: &SqlType, session: &Arc<SessionParameters>) -> Self {
        Self {
            name: name.to_owned(),
            ty: ty.clone(),
            session: Arc::clone(session),
            builder: ColumnBuilder::new(ty),
        }
    }

    /// Its type.
    pub fn ty(&self) -> &SqlType {
        &self.ty
    }

    /// Adds a value; `None` is NULL.
    ///
    /// # Errors
    /// The text is no value of the type, or the type would not hold all of it.
    pub fn push(&mut self, text: Option<&[u8]>) -> Result<()> {
        let Some(text) = text else {
            self.builder.push(&Value::Null);
            return Ok(());
        };
        let diagnostics = Diagnostics::new(1);
        let strict = self.session.sql_mode.0 | SqlMode::STRICT_ALL_TABLES.0;
        let context = StoreContext {
            cast: CastContext {
                sql_mode: SqlMode(strict),
                diagnostics: &diagnostics,
                time_zone: &self.session.time_zone,
                now: ZERO_DATE,
                operand: "",
                room: None,
            },
            ignore: false,
            table: "",
            column: &self.name,
            row: 1,
        };
        if self.ty.is_integer() && !is_whole(text) {
            let shown = String::from_utf8_lossy(text);
            let incorrect = codes::ER_TRUNCATED_WRONG_VALUE_FOR_FIELD;
            return Err(incorrect.with(&[&"integer", &shown, &self.name, &1]));
        }
        let digits = std::str::from_utf8(text).ok();
        let digits = digits.filter(|_| self.ty.is_integer());
        let signed = digits.and_then(|digits| digits.parse::<i64>().ok());
        let unsigned = digits.and_then(|digits| digits.parse::<u64>().ok());
        // A text of digits would be the bytes of a BIT.
        let (text, from) = match (signed, unsigned) {
            (Some(number), _) => (Value::Int(number), SqlType::bigint()),
            (None, Some(number)) => (Value::UInt(number), SqlType::bigint_unsigned()),
            (None, None) => {
                let text = Value::Bytes(text.to_vec());
                (text, SqlType::varchar(u32::MAX, CollationId::UTF8MB4_BIN))
            }
        };
        let value = store_value(&text, &from, &self.ty, &context)?;
        if self.ty.is_temporal() && self.ty.decimals < MICROSECONDS {
            // A fraction is rounded without a note.
            let exact = SqlType::temporal(self.ty.kind, MICROSECONDS);
            if store_value(&text, &from, &exact, &context)? != value {
                return Err(codes::WARN_DATA_TRUNCATED.with(&[&self.name, &1]));
            }
        }
        // A note says that something was cut off.
        match diagnostics.conditions().into_iter().next() {
            Some(condition) => Err(condition.error),
            None => {
                self.builder.push(&value);
                Ok(())
            }
        }
    }

    /// The values.
    pub fn finish(mut self) -> ArrayRef {
        self.builder.finish()
    }
}

/// Digits of a fraction of a second.
const MICROSECONDS: u8 = 6;

/// Whether a text is a whole number in digits, perhaps with a sign.
fn is_whole(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+"));
    let digits = digits.unwrap_or(text);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

fn array_of_texts<'t>(
    column: &ResultColumn,
    texts: impl Iterator<Item = Option<&'t [u8]>>,
    before: u64,
) -> Result<ArrayRef> {
    if column.ty.kind == TypeKind::Bit {
        let mut bits = UInt64Builder::new();
        let number = |text: &[u8]| {
            let bytes = text.iter();
            bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
        };
        texts.for_each(|text| bits.append_option(text.map(number)));
        return Ok(Arc::new(bits.finish()));
    }
    let mut bytes = BinaryViewBuilder::new();
    texts.for_each(|text| bytes.append_option(text));
    let bytes: ArrayRef = Arc::new(bytes.finish());
    if column.ty.physical() == PhysicalType::Bytes {
        return Ok(bytes);
    }
    let from = SqlType::varchar(u32::MAX, CollationId::UTF8MB4_BIN);
    let context = StoreContext {
        cast: CastContext {
            sql_mode: SqlMode::STRICT_ALL_TABLES,
            diagnostics: &Diagnostics::new(0),
            time_zone: &TimeZone::UTC,
            now: ZERO_DATE,
            operand: "",
            room: None,
        },
        ignore: false,
        table: "",
        column: &column.name,
        row: before + 1,
    };
    store_array(&bytes, &from, &column.ty, &context)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::StatementResult;

    #[test]
    fn texts_are_values_of_their_types() {
        let temporal = |kind| SqlType::temporal(kind, 3);
        let columns: Arc<[ResultColumn]> = [
            ("i", SqlType::bigint_unsigned(), "18446744073709551615"),
            (
                "d",
                SqlType::decimal(65, 30),
                "-1.500000000000000000000000000000",
            ),
            ("f", SqlType::double(), "1e300"),
            ("t", temporal(TypeKind::Time), "-838:59:59.000"),
            ("n", temporal(TypeKind::DateTime), "0000-00-00 00:00:00.000"),
            ("y", SqlType::temporal(TypeKind::Year, 0), "2024"),
            ("j", SqlType::json(), "{\"a\": 1}"),
            ("b", SqlType::varchar(2, CollationId::BINARY), "\u{0}é"),
        ]
        .map(|(name, ty, text)| (ResultColumn::new(name, ty), text))
        .map(|(column, text)| {
            let rows = [vec![Some(text.as_bytes().to_vec())], vec![None]];
            let batch = batch_of_texts(std::slice::from_ref(&column), &rows, 0);
            let result = StatementResult {
                columns: Arc::from(vec![column.clone()]),
                batches: vec![batch.expect("a value")],
                ..StatementResult::default()
            };
            assert_eq!(result.row_bytes(0), rows[0], "{}", column.name);
            assert_eq!(result.row_bytes(1), rows[1], "{}", column.name);
            column
        })
        .into();
        let wrong = [vec![Some(b"x".to_vec())]];
        let error = batch_of_texts(&columns[..1], &wrong, 6).expect_err("no number");
        assert!(error.message().contains("at row 7"), "{error}");
    }

    #[test]
    fn bits_are_bytes() {
        let column = ResultColumn::new("b", SqlType::bit(16));
        let rows = [vec![Some(vec![1, 2])]];
        let batch = batch_of_texts(&[column], &rows, 0).expect("bits");
        let number = crate::convert::value_at(batch.column(0), 0);
        assert_eq!(number, Value::UInt(258));
    }
}
