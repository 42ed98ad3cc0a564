//! The columns of a Parquet file as Arrow's types.
//!
//! The Arrow schema that many writers leave in the file is used where the file can be read by it. Some types are asked for
//! in another form: strings as views, which are not copied, and the timestamps of 12 bytes (INT96) in microseconds, because
//! nanoseconds of 64 bits end in 2262.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, TimeUnit};
use mayfly_engine::Result;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::{LogicalType, Type as Physical};
use parquet::schema::types::SchemaDescriptor;

use super::source::Source;
use super::wide;
use crate::guard::damaged;

/// Reads the footer of a file: what its reader needs, and the fields that SQL types are found by.
pub(super) fn footer(path: &str, file: &Source) -> Result<(ArrowReaderMetadata, Vec<Field>)> {
    let plain = || ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let failed = |error| damaged(path, error);
    // A schema of Arrow that has other types than the file is of no use.
    let loaded = ArrowReaderMetadata::load(file, ArrowReaderOptions::new())
        .or_else(|_| ArrowReaderMetadata::load(file, plain()))
        .map_err(failed)?;
    let is_supported = |footer: &ArrowReaderMetadata| {
        let fields = footer.schema().fields();
        fields.len() == footer.parquet_schema().root_schema().get_fields().len()
    };
    let metadata = loaded.metadata();
    let wide = wide::columns(metadata);
    let adapted = |footer: &ArrowReaderMetadata| {
        let schema = Arc::new(adapted(footer.schema(), footer.parquet_schema()));
        let options = ArrowReaderOptions::new().with_schema(schema);
        ArrowReaderMetadata::try_new(Arc::clone(metadata), options)
    };
    let without = || ArrowReaderMetadata::try_new(Arc::clone(metadata), plain());
    let footer = match adapted(&loaded) {
        Ok(footer) => footer,
        Err(_) => match without().and_then(|footer| adapted(&footer)) {
            Ok(footer) => footer,
            // INT96 would be read in nanoseconds.
            Err(error) if has_int96(loaded.parquet_schema()) => return Err(failed(error)),
            Err(_) => loaded,
        },
    };
    if !is_supported(&footer) {
        return Err(damaged(path, "its columns cannot be read"));
    }
    let fields = footer.schema().fields().iter().enumerate();
    let fields = fields.map(|(root, field)| {
        let wide = wide::field(field, &wide);
        wide.unwrap_or_else(|| named(field, root, footer.parquet_schema()))
    });
    let fields = fields.collect();
    Ok((footer, fields))
}

fn has_int96(schema: &SchemaDescriptor) -> bool {
    let mut columns = schema.columns().iter();
    columns.any(|column| column.physical_type() == Physical::INT96)
}

/// The schema to read a file by.
fn adapted(schema: &Schema, parquet: &SchemaDescriptor) -> Schema {
    let fields = schema.fields().iter().enumerate().map(|(root, field)| {
        let ty = match field.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
            DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
            DataType::Timestamp(TimeUnit::Nanosecond, zone) if is_int96(root, parquet) => {
                DataType::Timestamp(TimeUnit::Microsecond, zone.clone())
            }
            // Shorter numbers are decoded faster.
            DataType::Decimal128(precision @ ..=9, scale) => {
                DataType::Decimal32(*precision, *scale)
            }
            DataType::Decimal128(precision @ ..=18, scale) => {
                DataType::Decimal64(*precision, *scale)
            }
            nested if is_int96(root, parquet) => in_micros(nested),
            other => other.clone(),
        };
        Field::clone(field).with_data_type(ty)
    });
    Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone())
}

/// Whether a column of the schema's root has timestamps of 12 bytes, and no others.
fn is_int96(root: usize, parquet: &SchemaDescriptor) -> bool {
    let mut found = false;
    for leaf in 0..parquet.num_columns() {
        if parquet.get_column_root_idx(leaf) != root {
            continue;
        }
        let column = parquet.column(leaf);
        match column.physical_type() {
            Physical::INT96 => found = true,
            Physical::INT64 if column.logical_type_ref().is_some() => return false,
            _ => {}
        }
    }
    found
}

/// A type with timestamps in microseconds.
fn in_micros(ty: &DataType) -> DataType {
    let field = |field: &Arc<Field>| {
        let ty = in_micros(field.data_type());
        Arc::new(Field::clone(field).with_data_type(ty))
    };
    match ty {
        DataType::Timestamp(_, zone) => DataType::Timestamp(TimeUnit::Microsecond, zone.clone()),
        DataType::List(it) => DataType::List(field(it)),
        DataType::LargeList(it) => DataType::LargeList(field(it)),
        DataType::Map(it, sorted) => DataType::Map(field(it), *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(field).collect()),
        other => other.clone(),
    }
}

/// The field of a column, with the UUID that Parquet calls it.
fn named(field: &Field, root: usize, parquet: &SchemaDescriptor) -> Field {
    let is_uuid = |leaf: usize| {
        let column = parquet.column(leaf);
        parquet.get_column_root_idx(leaf) == root
            && matches!(column.logical_type_ref(), Some(LogicalType::Uuid))
    };
    let field = field.clone();
    let is_bytes = *field.data_type() == DataType::FixedSizeBinary(16);
    if !is_bytes || !(0..parquet.num_columns()).any(is_uuid) {
        return field;
    }
    let mut metadata = field.metadata().clone();
    metadata.insert("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned());
    field.with_metadata(metadata)
}
