//! Rows as Arrow IPC: a file (Feather version 2), or a stream.

use std::io::BufWriter;

use arrow_array::RecordBatch;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::ArrowError;
use mayfly_engine::arrow_out::ArrowForm;
use mayfly_engine::{Batch, NewFile, Result, TableArguments};

use super::encoder::{Compression, Encoder, Rows, Settings, cannot_write};

#[derive(Debug, Clone)]
struct Ipc {
    name: &'static str,
    compression: Option<CompressionType>,
}

/// Takes the options of Arrow, of which there are none.
pub(super) fn configure(
    name: &'static str,
    _options: &mut TableArguments,
    compression: Compression,
) -> Result<Box<dyn Settings>> {
    let compression = match compression {
        Compression::Zstd => Some(CompressionType::ZSTD),
        Compression::Lz4 => Some(CompressionType::LZ4_FRAME),
        _ => None,
    };
    Ok(Box::new(Ipc { name, compression }))
}

impl Settings for Ipc {
    fn ending(&self) -> String {
        self.name.to_owned()
    }

    fn encoder(&self, file: NewFile, rows: &Rows) -> Result<Box<dyn Encoder>> {
        let path = file.path().to_owned();
        let failed = |error: ArrowError| cannot_write(&path, error);
        let form = ArrowForm::of_file(&rows.zone, false);
        let schema = form.schema(&rows.columns);
        let options = IpcWriteOptions::default().try_with_compression(self.compression);
        let options = options.map_err(failed)?;
        let file = BufWriter::new(file);
        let writer = match self.name {
            "arrows" => {
                let writer = StreamWriter::try_new_with_options(file, &schema, options);
                Writer::Stream(Box::new(writer.map_err(failed)?))
            }
            _ => {
                let writer = FileWriter::try_new_with_options(file, &schema, options);
                Writer::File(Box::new(writer.map_err(failed)?))
            }
        };
        Ok(Box::new(IpcFile {
            path,
            form,
            rows: rows.clone(),
            writer,
        }))
    }
}

enum Writer {
    File(Box<FileWriter<BufWriter<NewFile>>>),
    Stream(Box<StreamWriter<BufWriter<NewFile>>>),
}

impl Writer {
    fn write(&mut self, record: &RecordBatch) -> std::result::Result<(), ArrowError> {
        match self {
            Self::File(writer) => writer.write(record),
            Self::Stream(writer) => writer.write(record),
        }
    }
}

struct IpcFile {
    path: String,
    form: ArrowForm,
    rows: Rows,
    writer: Writer,
}

impl Encoder for IpcFile {
    fn write(&mut self, batch: &Batch, before: u64) -> Result<()> {
        let record = self.form.record_batch(&self.rows.columns, batch, before)?;
        let written = self.writer.write(&record);
        written.map_err(|error| cannot_write(&self.path, error))
    }

    fn held(&self) -> u64 {
        // The message of a batch.
        1 << 20
    }

    fn finish(self: Box<Self>) -> Result<NewFile> {
        let failed = |error: ArrowError| cannot_write(&self.path, error);
        let buffered = match self.writer {
            Writer::File(writer) => writer.into_inner().map_err(failed)?,
            Writer::Stream(writer) => writer.into_inner().map_err(failed)?,
        };
        let file = buffered.into_inner();
        file.map_err(|error| cannot_write(&self.path, error.error()))
    }
}
