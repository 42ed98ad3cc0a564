//! Writing: `COPY t TO 'sales.parquet'`, `SELECT … INTO OUTFILE 'sales.csv' FORMAT csv`.
//!
//! The format is the option `FORMAT`, or the ending of the path. An [`Encoder`] turns the rows of one file into its bytes;
//! the rows are for one file, or for those of a directory ([`partitions`]). What the encoders hold is charged to the
//! statement; where that reaches a limit, they write what they hold, as a row group that ends early.
//!
//! No value is changed without a word: `docs/files.md` has the type that each SQL type becomes, and a value that this
//! type does not have is an error.

mod arrow;
mod csv;
mod encoder;
mod json;
mod parquet;
mod partitions;
mod text;

use std::collections::HashSet;
use std::sync::Arc;

use mayfly_engine::{
    Batch, FileOutput, NewFile, Result, ResultColumn, RowsToWrite, RowsWriter, TableArguments,
    TableFunctionContext, TimeZone, codes,
};

use self::encoder::Compression::{Gzip, Lz4, Snappy, Zstd};
use self::encoder::{Charge, Compression, Encoder, Rows, Settings};
use crate::stores;

/// Takes the options of a format.
type Configure = fn(&'static str, &mut TableArguments, Compression) -> Result<Box<dyn Settings>>;

/// A format that is written.
struct OutputFormat {
    name: &'static str,
    /// Endings of names, before one of a compression.
    endings: &'static [&'static str],
    /// Its compressions beside none; the first one is that without the option.
    compressions: &'static [Compression],
    configure: Configure,
}

/// The names of compressions.
const COMPRESSIONS: &[(&str, Compression)] = &[
    ("none", Compression::None),
    ("uncompressed", Compression::None),
    ("gzip", Compression::Gzip),
    ("zstd", Compression::Zstd),
    ("snappy", Compression::Snappy),
    ("lz4", Compression::Lz4),
];

const TEXT: &[Compression] = &[Compression::None, Gzip, Zstd];
const IPC: &[Compression] = &[Compression::None, Lz4, Zstd];

const FORMATS: &[OutputFormat] = &[
    OutputFormat {
        name: "csv",
        endings: &["csv"],
        compressions: TEXT,
        configure: csv::configure,
    },
    OutputFormat {
        name: "tsv",
        endings: &["tsv", "tab"],
        compressions: TEXT,
        configure: csv::configure,
    },
    OutputFormat {
        name: "json",
        endings: &["json"],
        compressions: TEXT,
        configure: json::configure,
    },
    OutputFormat {
        name: "ndjson",
        endings: &["ndjson", "jsonl"],
        compressions: TEXT,
        configure: json::configure,
    },
    OutputFormat {
        name: "parquet",
        endings: &["parquet", "pq"],
        compressions: &[Snappy, Compression::None, Gzip, Zstd, Lz4],
        configure: parquet::configure,
    },
    OutputFormat {
        name: "arrow",
        endings: &["arrow", "feather"],
        compressions: IPC,
        configure: arrow::configure,
    },
    OutputFormat {
        name: "arrows",
        endings: &["arrows"],
        compressions: IPC,
        configure: arrow::configure,
    },
];

/// The writer of all formats.
#[derive(Debug)]
pub(crate) struct WriteFiles;

impl FileOutput for WriteFiles {
    fn begin(
        &self,
        rows: RowsToWrite,
        mut options: TableArguments,
        context: &TableFunctionContext,
    ) -> Result<Box<dyn RowsWriter>> {
        let settings = settings(&rows.path, &mut options)?;
        let files = stores::with_options(
            &context.files,
            std::slice::from_ref(&rows.path),
            &mut options,
        )?;
        let replaces = options.flag("overwrite")?.unwrap_or(false);
        options.end()?;
        refuse_same_names(&rows.columns)?;
        let charge = Charge::new(&context.memory);
        let zone = context.session.time_zone.clone();
        if !rows.partition_by.is_empty() {
            return partitions::begin(rows, zone, settings, charge, replaces, &files);
        }
        let file = files.create(&rows.path, replaces)?;
        let known = Rows {
            columns: rows.columns.into(),
            zone,
        };
        let encoder = settings.encoder(file, &known)?;
        Ok(Box::new(OneFile {
            encoder,
            charge: Some(charge),
            written: 0,
        }))
    }
}

/// Begins the file of a result in the format of a name (`parquet`, `arrow`, …), with that format's usual options; `zone`
/// is that in which its TIMESTAMPs are shown. What the writer holds is charged to nobody: a row group at most.
///
/// # Errors
/// 1210 for a format that there is not, 1060 for columns of one name.
pub fn result_file(
    format: &str,
    columns: Arc<[ResultColumn]>,
    zone: TimeZone,
    file: NewFile,
) -> Result<Box<dyn RowsWriter>> {
    let mut options = TableArguments::none("FORMAT");
    let settings = settings(&format!("result.{format}"), &mut options)?;
    refuse_same_names(&columns)?;
    let encoder = settings.encoder(file, &Rows { columns, zone })?;
    Ok(Box::new(OneFile {
        encoder,
        charge: None,
        written: 0,
    }))
}

/// The format that the options or the ending of a path say, with its options.
fn settings(path: &str, options: &mut TableArguments) -> Result<Box<dyn Settings>> {
    let (ending, by_ending) = endings(path);
    let names = || FORMATS.iter().map(|format| format.name).collect::<Vec<_>>();
    let format = match options.text("format")? {
        Some(name) => {
            let name = name.to_ascii_lowercase();
            let mut formats = FORMATS.iter();
            let found = formats.find(|it| it.name == name || it.endings.contains(&&*name));
            found.ok_or_else(|| {
                let names = names().join(", ");
                options.error(format!(
                    "there is no format '{name}'; the formats are {names}"
                ))
            })?
        }
        None => {
            let mut formats = FORMATS.iter();
            let found = formats.find(|it| it.endings.contains(&&*ending));
            found.ok_or_else(|| {
                let names = names().join(", ");
                options.error(format!(
                    "the path tells no format; FORMAT is one of {names}"
                ))
            })?
        }
    };
    // In other formats an ending of a compressed text says nothing.
    let by_ending = by_ending.filter(|_| format.compressions == TEXT);
    let compression = match options.text("compression")? {
        None => by_ending.unwrap_or(format.compressions[0]),
        Some(name) => {
            let name = name.to_ascii_lowercase();
            let mut known = COMPRESSIONS.iter();
            let found = known.find(|it| it.0 == name).map(|it| it.1);
            let found = found.filter(|found| {
                format.compressions.contains(found) && by_ending.is_none_or(|it| it == *found)
            });
            found.ok_or_else(|| {
                let of = format.name;
                options.error(format!(
                    "'{name}' is no compression of '{path}' in the format {of}"
                ))
            })?
        }
    };
    (format.configure)(format.name, options, compression)
}

/// The ending of a path in lower case, and the compression that an ending behind it says.
fn endings(path: &str) -> (String, Option<Compression>) {
    let name = path.rsplit('/').next().unwrap_or_default();
    let mut parts = name.rsplit('.').map(str::to_ascii_lowercase);
    let last = parts.next().unwrap_or_default();
    let compression = match &*last {
        "gz" => Some(Gzip),
        "zst" => Some(Zstd),
        _ => None,
    };
    match compression {
        None => (last, None),
        Some(_) => (parts.next().unwrap_or_default(), compression),
    }
}

/// 1060: columns of one name, which most readers refuse.
fn refuse_same_names(columns: &[ResultColumn]) -> Result<()> {
    let mut known = HashSet::new();
    let mut columns = columns.iter();
    match columns.find(|column| !known.insert(column.name.to_lowercase())) {
        Some(column) => Err(codes::ER_DUP_FIELDNAME.with(&[&column.name])),
        None => Ok(()),
    }
}

/// The writer of one file.
struct OneFile {
    encoder: Box<dyn Encoder>,
    /// The memory of its statement.
    charge: Option<Charge>,
    written: u64,
}

impl RowsWriter for OneFile {
    fn write(&mut self, batch: &Batch) -> Result<()> {
        self.encoder.write(batch, self.written)?;
        if let Some(charge) = &mut self.charge {
            charge.update(&mut [&mut self.encoder])?;
        }
        self.written += batch.row_count() as u64;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.encoder.finish()?.keep()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_of_paths() {
        for (path, ending, compression) in [
            ("a.csv", "csv", None),
            ("d.x/a.CSV.GZ", "csv", Some(Gzip)),
            ("a.ndjson.zst", "ndjson", Some(Zstd)),
            ("d.csv/a", "a", None),
            ("a.gz", "a", Some(Gzip)),
        ] {
            assert_eq!(endings(path), (ending.to_owned(), compression), "{path}");
        }
    }
}
