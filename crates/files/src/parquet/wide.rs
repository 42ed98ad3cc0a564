//! Integers of 128 bits, which Polars writes as FIXED_LEN_BYTE_ARRAY(16) with the lowest byte first.
//!
//! Neither Parquet nor Arrow has such a type: only the Arrow schema that is kept in the file tells, as an integer of 128 bits,
//! for which readers refuse that schema. Here such a column is a DECIMAL(39, 0).

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Decimal256Array};
use arrow_buffer::i256;
use arrow_schema::{DataType, Field};
use data_encoding::BASE64;
use parquet::arrow::ARROW_SCHEMA_META_KEY;
use parquet::file::metadata::ParquetMetaData;

/// Key of a field's metadata, whose value is `signed` or `unsigned`.
const KEY: &str = "mayfly.int128";

/// Digits of the largest number.
const DIGITS: u8 = 39;

/// The names of the columns that are such integers, and whether they have a sign.
pub(super) fn columns(metadata: &ParquetMetaData) -> Vec<(String, bool)> {
    known(metadata).unwrap_or_default()
}

fn known(metadata: &ParquetMetaData) -> Option<Vec<(String, bool)>> {
    let pairs = metadata.file_metadata().key_value_metadata()?;
    let pair = pairs
        .iter()
        .find(|pair| pair.key == ARROW_SCHEMA_META_KEY)?;
    let bytes = BASE64.decode(pair.value.as_ref()?.as_bytes()).ok()?;
    // Behind a mark and the length, but in old files.
    let message = match bytes.strip_prefix(&[0xFF; 4]) {
        Some(rest) => rest.get(4..)?,
        None => &bytes,
    };
    let message = arrow_ipc::root_as_message(message).ok()?;
    let fields = message.header_as_schema()?.fields()?;
    let found = fields.iter().filter_map(|field| {
        let ty = field.type_as_int()?;
        (ty.bitWidth() == 128).then_some((field.name()?.to_owned(), ty.is_signed()))
    });
    Some(found.collect())
}

/// The field of such a column, from the one of its bytes.
pub(super) fn field(field: &Field, columns: &[(String, bool)]) -> Option<Field> {
    let (_, is_signed) = columns.iter().find(|(name, _)| name == field.name())?;
    if *field.data_type() != DataType::FixedSizeBinary(16) {
        return None;
    }
    let sign = if *is_signed { "signed" } else { "unsigned" };
    let mut metadata = field.metadata().clone();
    metadata.insert(KEY.to_owned(), sign.to_owned());
    let ty = DataType::Decimal256(DIGITS, 0);
    Some(field.clone().with_data_type(ty).with_metadata(metadata))
}

/// Whether a field is that of such a column.
pub(super) fn is_wide(field: &Field) -> bool {
    field.metadata().contains_key(KEY)
}

/// The numbers of such a column; an array of another one as it is.
pub(super) fn numbers(array: &ArrayRef, field: &Field) -> ArrayRef {
    let (Some(sign), Some(bytes)) = (field.metadata().get(KEY), array.as_fixed_size_binary_opt())
    else {
        return Arc::clone(array);
    };
    let number = |bytes: Option<&[u8]>| {
        let bytes = <[u8; 16]>::try_from(bytes?).ok()?;
        Some(match sign.as_str() {
            "signed" => i256::from_i128(i128::from_le_bytes(bytes)),
            _ => i256::from_parts(u128::from_le_bytes(bytes), 0),
        })
    };
    let numbers: Decimal256Array = bytes.iter().map(number).collect();
    match numbers.with_precision_and_scale(DIGITS, 0) {
        Ok(numbers) => Arc::new(numbers),
        // Numbers of 128 bits have no more digits.
        Err(_) => Arc::clone(array),
    }
}
