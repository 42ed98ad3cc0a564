//! Decimals that a file has as big-endian numbers of a fixed length, as Arrow's C++ writers leave them.
//!
//! The reader gives the bytes, because it would extend the sign of each number byte by byte, which takes most of the time of a scan;
//! here a number is one load and one shift.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Decimal128Array};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::Type as Physical;
use parquet::file::metadata::{FileMetaData, ParquetMetaData};
use parquet::schema::types::{SchemaDescriptor, Type};

/// Greatest length in bytes of a number that is decoded here.
const LENGTH_MAX: i32 = 16;

/// The metadata by which a reader gives the bytes of such decimals; `None` if the file has none.
pub(super) fn as_bytes(footer: &ArrowReaderMetadata) -> Option<ArrowReaderMetadata> {
    let root = footer.parquet_schema().root_schema();
    let mut has_decimals = false;
    let mut fields = Vec::with_capacity(root.get_fields().len());
    let mut types = Vec::with_capacity(fields.capacity());
    for (ty, field) in root.get_fields().iter().zip(footer.schema().fields()) {
        match (&**ty, digits_of(field.data_type())) {
            (
                Type::PrimitiveType {
                    basic_info,
                    physical_type: Physical::FIXED_LEN_BYTE_ARRAY,
                    type_length: length @ 1..=LENGTH_MAX,
                    ..
                },
                Some(_),
            ) => {
                let plain = Type::primitive_type_builder(ty.name(), Physical::FIXED_LEN_BYTE_ARRAY);
                let plain = plain.with_repetition(basic_info.repetition());
                types.push(Arc::new(plain.with_length(*length).build().ok()?));
                let field = Field::clone(field);
                fields.push(Arc::new(
                    field.with_data_type(DataType::FixedSizeBinary(*length)),
                ));
                has_decimals = true;
            }
            _ => {
                types.push(Arc::clone(ty));
                fields.push(Arc::clone(field));
            }
        }
    }
    if !has_decimals {
        return None;
    }
    let root = Type::group_type_builder(root.name()).with_fields(types);
    let schema = SchemaDescriptor::new(Arc::new(root.build().ok()?));
    let metadata = footer.metadata();
    let file = metadata.file_metadata();
    let file = FileMetaData::new(
        file.version(),
        file.num_rows(),
        file.created_by().map(str::to_owned),
        None,
        Arc::new(schema),
        file.column_orders().cloned(),
    );
    let metadata = ParquetMetaData::new(file, metadata.row_groups().to_vec());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(Schema::new(fields)));
    ArrowReaderMetadata::try_new(Arc::new(metadata), options).ok()
}

/// Precision and scale of a type of decimals of at most 38 digits.
fn digits_of(ty: &DataType) -> Option<(u8, i8)> {
    match ty {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale) => Some((*precision, *scale)),
        _ => None,
    }
}

/// An array of a field, decoded if it has the bytes of its decimals.
pub(super) fn decoded(array: &ArrayRef, field: &Field) -> ArrayRef {
    let bytes = array
        .as_fixed_size_binary_opt()
        .zip(digits_of(field.data_type()));
    let Some((bytes, (precision, scale))) = bytes else {
        return Arc::clone(array);
    };
    let length = usize::try_from(bytes.value_length()).unwrap_or(0);
    let numbers = numbers(bytes.value_data(), length, bytes.len());
    let decimals = Decimal128Array::new(numbers.into(), bytes.nulls().cloned());
    Arc::new(decimals.with_data_type(DataType::Decimal128(precision, scale)))
}

/// Big-endian numbers of a length of 1 to 16 bytes.
fn numbers(bytes: &[u8], length: usize, count: usize) -> Vec<i128> {
    if !(1..=16).contains(&length) {
        return vec![0; count];
    }
    // A load reads beyond its number, except near the end.
    let short = |at: usize| {
        let rest = bytes.get(at..at + 8)?.first_chunk()?;
        Some(i128::from(i64::from_be_bytes(*rest) >> (64 - 8 * length)))
    };
    let long = |at: usize| {
        let rest = bytes.get(at..at + 16)?.first_chunk()?;
        Some(i128::from_be_bytes(*rest) >> (128 - 8 * length))
    };
    let last = |at: usize| {
        let mut padded = [0; 16];
        padded[..length].copy_from_slice(&bytes[at..at + length]);
        i128::from_be_bytes(padded) >> (128 - 8 * length)
    };
    let places = (0..count).map(|row| row * length);
    match length {
        ..=8 => places
            .map(|at| short(at).unwrap_or_else(|| last(at)))
            .collect(),
        _ => places
            .map(|at| long(at).unwrap_or_else(|| last(at)))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_each_length() {
        for length in 1..=16_usize {
            let greatest = i128::MAX >> (128 - 8 * length);
            let expected = [
                0,
                1,
                -1,
                greatest,
                -greatest - 1,
                greatest / 3,
                -greatest / 7,
            ];
            let bytes = expected.iter();
            let bytes: Vec<u8> = bytes
                .flat_map(|it: &i128| it.to_be_bytes()[16 - length..].to_vec())
                .collect();
            assert_eq!(
                numbers(&bytes, length, expected.len()),
                expected,
                "{length}"
            );
        }
    }
}
