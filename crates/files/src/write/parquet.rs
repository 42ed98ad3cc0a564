//! Rows as Parquet.
//!
//! The types are Parquet's own, without the schema of Arrow that other writers add, so that all readers see the same ones.
//! A row group is written when it has the given number of rows or 128 MiB, or when the memory of the statement is needed.

use std::io::BufWriter;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use mayfly_engine::arrow_out::ArrowForm;
use mayfly_engine::{Batch, NewFile, Result, ResultColumn, TableArguments, TypeKind};
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::basic::{Compression as Codec, LogicalType, Repetition, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::{SchemaDescriptor, Type};

use super::encoder::{Compression, Encoder, Rows, Settings, cannot_write};

/// Rows of a row group without the option, as DuckDB has them.
const ROW_GROUP_ROWS: u64 = 122_880;

/// Most bytes of a row group.
const ROW_GROUP_BYTES: usize = 128 << 20;

/// Most bytes of a column's dictionary in a row group. Values that are mostly different would otherwise fill one with all values of
/// a row group of this size, at twice the time and more space than values without one take.
const DICTIONARY_BYTES: usize = 256 << 10;

#[derive(Debug, Clone)]
struct Parquet {
    properties: WriterProperties,
}

/// Takes the options of Parquet.
pub(super) fn configure(
    _name: &'static str,
    options: &mut TableArguments,
    compression: Compression,
) -> Result<Box<dyn Settings>> {
    let rows = options.count("row_group_size")?.unwrap_or(ROW_GROUP_ROWS);
    let rows = usize::try_from(rows).ok().filter(|rows| *rows > 0);
    let rows = rows.ok_or_else(|| options.error("row_group_size takes a number from 1 on"))?;
    let codec = match compression {
        Compression::None => Codec::UNCOMPRESSED,
        Compression::Gzip => Codec::GZIP(Default::default()),
        Compression::Zstd => Codec::ZSTD(Default::default()),
        Compression::Snappy => Codec::SNAPPY,
        Compression::Lz4 => Codec::LZ4_RAW,
    };
    let properties = WriterProperties::builder()
        .set_compression(codec)
        .set_created_by(format!("mayfly version {}", env!("CARGO_PKG_VERSION")))
        .set_dictionary_page_size_limit(DICTIONARY_BYTES)
        .set_max_row_group_row_count(Some(rows))
        .set_max_row_group_bytes(Some(ROW_GROUP_BYTES));
    Ok(Box::new(Parquet {
        properties: properties.build(),
    }))
}

impl Settings for Parquet {
    fn ending(&self) -> String {
        "parquet".to_owned()
    }

    fn encoder(&self, file: NewFile, rows: &Rows) -> Result<Box<dyn Encoder>> {
        let path = file.path().to_owned();
        let form = ArrowForm::of_file(&rows.zone, true);
        let schema = form.schema(&rows.columns);
        let begun = parquet_schema(&schema, &rows.columns).and_then(|parquet| {
            let options = ArrowWriterOptions::new()
                .with_properties(self.properties.clone())
                .with_skip_arrow_metadata(true)
                .with_parquet_schema(parquet);
            ArrowWriter::try_new_with_options(BufWriter::new(file), Arc::clone(&schema), options)
        });
        let writer = begun.map_err(|error| cannot_write(&path, error))?;
        Ok(Box::new(ParquetFile {
            path,
            form,
            rows: rows.clone(),
            writer,
        }))
    }
}

/// The schema of a file: that of Arrow's columns, in which documents have the type JSON.
fn parquet_schema(
    schema: &SchemaRef,
    columns: &[ResultColumn],
) -> std::result::Result<SchemaDescriptor, ParquetError> {
    let converted = ArrowSchemaConverter::new().convert(schema)?;
    let fields = converted.root_schema().get_fields().iter().zip(columns);
    let fields = fields.map(|(field, column)| match column.ty.kind {
        TypeKind::Json => Type::primitive_type_builder(&column.name, Physical::BYTE_ARRAY)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(Some(LogicalType::Json))
            .build()
            .map(Arc::new),
        _ => Ok(Arc::clone(field)),
    });
    let fields = fields.collect::<std::result::Result<_, _>>()?;
    let root = Type::group_type_builder(converted.root_schema().name());
    let root = root.with_fields(fields).build()?;
    Ok(SchemaDescriptor::new(Arc::new(root)))
}

struct ParquetFile {
    path: String,
    form: ArrowForm,
    rows: Rows,
    writer: ArrowWriter<BufWriter<NewFile>>,
}

impl Encoder for ParquetFile {
    fn write(&mut self, batch: &Batch, before: u64) -> Result<()> {
        let record = self.form.record_batch(&self.rows.columns, batch, before)?;
        let written = self.writer.write(&record);
        written.map_err(|error| cannot_write(&self.path, error))
    }

    fn held(&self) -> u64 {
        self.writer.memory_size() as u64
    }

    fn relieve(&mut self) -> Result<()> {
        let flushed = self.writer.flush();
        flushed.map_err(|error| cannot_write(&self.path, error))
    }

    fn finish(self: Box<Self>) -> Result<NewFile> {
        let path = self.path;
        let failed = |error: ParquetError| cannot_write(&path, error);
        let file = self.writer.into_inner().map_err(failed)?.into_inner();
        file.map_err(|error| cannot_write(&path, error.error()))
    }
}
