//! Rows of texts, as a server sends them in MySQL's protocol, as a batch of the types of their columns.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{BinaryViewBuilder, UInt64Builder};
use mayfly_types::convert::{CastContext, StoreContext, store_array};
use mayfly_types::temporal::TimeZone;
use mayfly_types::{
    Batch, CollationId, Diagnostics, PhysicalType, Result, SqlMode, SqlType, TypeKind,
};

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
        let number = crate::convert::value_at(batch.column(0), 0, &SqlType::bit(16));
        assert_eq!(format!("{number:?}"), "UInt(258)");
    }
}
