//! Copies of tables: Parquet files below the directory of data that all processes see.
//!
//! A part of a table is a file, with its rows in the order of the primary key and in groups that tasks divide among themselves.
//! The name of a part is the path of its file below the directory and the size of the file.

use std::fs::{self, File as OpenFile};
use std::io;
use std::path::{Path, PathBuf};

use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;
use mayfly_engine::{PartToLoad, TablePart};
use mayfly_offload::Rows;
use mayfly_types::error::codes;
use mayfly_types::{Error, Result, SqlType};

use crate::scan::File;
use crate::{bridge, convert};

/// Rows of a group: a part has several, so that few parts are divided among many tasks.
const GROUP_ROWS: usize = 1 << 17;
/// The directory of copies below the directory of data.
const COPIES: &str = "copies";

/// The directory in which a coordinator keeps copies.
#[derive(Debug)]
pub struct CopyDirectory {
    data: PathBuf,
    _lock: OpenFile,
}

impl CopyDirectory {
    /// The copies below `data`. Those of a former process are deleted, since nothing knows them any more.
    pub fn open(data: &Path) -> io::Result<Self> {
        let data = data.canonicalize()?;
        let copies = data.join(COPIES);
        fs::create_dir_all(&copies)?;
        let lock = OpenFile::create(data.join("copies.lock"))?;
        lock.try_lock()
            .map_err(|error| io::Error::other(format!("{}: {error}", copies.display())))?;
        for entry in fs::read_dir(&copies)? {
            let path = entry?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "parquet")
            {
                fs::remove_file(path)?;
            }
        }
        Ok(Self { data, _lock: lock })
    }

    /// Writes a part. Nothing is left of one that fails.
    pub fn load(&self, part: &PartToLoad<'_>, rows: &mut dyn Rows) -> Result<TablePart> {
        let name = format!("{COPIES}/{}.parquet", part.number);
        let path = self.data.join(&name);
        let written = write(&path, part, rows);
        if written.is_err() {
            let _ = fs::remove_file(&path);
        }
        let (rows, bytes) = written?;
        Ok(TablePart {
            location: format!("{name}#{bytes}"),
            rows,
            bytes,
        })
    }

    /// Deletes a part.
    pub fn unload(&self, part: &TablePart) -> Result<()> {
        let Some(file) = file(&part.location) else {
            return Err(Error::internal(format_args!(
                "'{}' is no part of a table",
                part.location
            )));
        };
        match fs::remove_file(self.data.join(&file.path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(failed(&path_text(&file.path), &error))
            }
            _ => Ok(()),
        }
    }
}

/// The file of a part.
pub fn file(location: &str) -> Option<File> {
    let (path, size) = location.rsplit_once('#')?;
    Some(File {
        path: path.to_owned(),
        size: size.parse().ok()?,
    })
}

/// Writes the file of a part, and returns the number of rows and bytes.
fn write(path: &Path, part: &PartToLoad<'_>, rows: &mut dyn Rows) -> Result<(u64, u64)> {
    let text = path_text(path);
    let types: Vec<SqlType> = part
        .columns
        .iter()
        .map(|column| column.ty.clone())
        .collect();
    let schema = convert::stored(&types);
    let file = OpenFile::create(path).map_err(|error| failed(&text, &error))?;
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .build();
    let mut writer = ArrowWriter::try_new(file, schema.clone(), Some(properties))
        .map_err(|error| failed(&text, &error))?;
    let mut count = 0;
    while let Some(batch) = rows.next_batch()? {
        part.interrupt.check()?;
        count += batch.row_count() as u64;
        for batch in
            bridge::outward(&batch.decoded(), &schema).map_err(|error| failed(&text, &error))?
        {
            writer
                .write(&batch)
                .map_err(|error| failed(&text, &error))?;
        }
    }
    let file = writer.into_inner().map_err(|error| failed(&text, &error))?;
    file.sync_all().map_err(|error| failed(&text, &error))?;
    let bytes = file
        .metadata()
        .map_err(|error| failed(&text, &error))?
        .len();
    Ok((count, bytes))
}

/// A path as text.
fn path_text(path: impl AsRef<Path>) -> String {
    path.as_ref().display().to_string()
}

/// Error 3889 for a file.
fn failed(path: &str, error: &dyn std::error::Error) -> Error {
    codes::ER_SECONDARY_ENGINE.with(&[&format!("{path}: {error}")])
}
