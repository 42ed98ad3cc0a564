//! Copies of tables: Parquet files below the place of data that all processes see.
//!
//! A part of a table is a file, with its rows in the order of the primary key and in groups that tasks divide among themselves.
//! The name of a part is the path of its file below the place and the size of the file.
//!
//! One coordinator keeps copies in a place. In a directory, a lock sees to it. An object store has no locks: there a
//! coordinator that starts writes its mark, and one whose mark is gone loads nothing more.

use std::fs::File as OpenFile;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::Arc;

use datafusion::parquet::arrow::AsyncArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;
use futures_util::TryStreamExt;
use mayfly_engine::{PartToLoad, TablePart};
use mayfly_offload::Rows;
use mayfly_types::error::codes;
use mayfly_types::{Error, Result, SqlType};
use object_store::buffered::BufWriter;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStore, ObjectStoreExt};
use tokio::runtime::Handle;

use crate::data::DataPlace;
use crate::scan::File;
use crate::{bridge, convert};

/// Rows of a group: a part has several, so that few parts are divided among many tasks.
const GROUP_ROWS: usize = 1 << 17;
/// The directory of copies below the place of data.
const COPIES: &str = "copies";
/// The object with the mark of the coordinator.
const OWNER: &str = "copies.owner";

/// The copies that a coordinator keeps.
#[derive(Debug)]
pub struct CopyStore {
    store: Arc<dyn ObjectStore>,
    runtime: Handle,
    kept_by: KeptBy,
}

/// What keeps others from a place.
#[derive(Debug)]
enum KeptBy {
    Lock { _file: OpenFile },
    Mark(String),
}

impl CopyStore {
    /// The copies in a place. Those of a former process are deleted, since nothing knows them any more.
    ///
    /// # Errors
    /// The reason why the place cannot be used.
    pub fn open(place: &DataPlace, runtime: Handle) -> std::result::Result<Self, String> {
        let store = place.store()?;
        let kept_by = match place {
            DataPlace::Directory(path) => KeptBy::Lock {
                _file: locked(path)?,
            },
            DataPlace::Url(_) => KeptBy::Mark(format!(
                "{:016x}",
                RandomState::new().hash_one(std::process::id())
            )),
        };
        let new = Self {
            store,
            runtime,
            kept_by,
        };
        let begun = new.runtime.block_on(async {
            if let KeptBy::Mark(mark) = &new.kept_by {
                new.store.put(&OWNER.into(), mark.clone().into()).await?;
            }
            let old = new.store.list(Some(&COPIES.into()));
            let old: Vec<_> = old.try_collect().await?;
            for object in old {
                if object.location.extension() == Some("parquet") {
                    new.store.delete(&object.location).await?;
                }
            }
            Ok(())
        });
        begun.map_err(|error: object_store::Error| format!("{place}: {error}"))?;
        Ok(new)
    }

    /// Writes a part. Nothing is left of one that fails.
    ///
    /// # Errors
    /// 3889 where it cannot be written; those of the rows.
    pub fn load(&self, part: &PartToLoad<'_>, rows: &mut dyn Rows) -> Result<TablePart> {
        self.runtime.block_on(self.check_owner())?;
        let name = format!("{COPIES}/{}.parquet", part.number);
        let path = ObjectPath::from(name.as_str());
        let written = self.write(&path, part, rows);
        if written.is_err() {
            let _ = self.runtime.block_on(self.store.delete(&path));
        }
        let (rows, bytes) = written?;
        Ok(TablePart {
            location: format!("{name}#{bytes}"),
            rows,
            bytes,
        })
    }

    /// Deletes a part.
    ///
    /// # Errors
    /// 3889 where it cannot be deleted.
    pub fn unload(&self, part: &TablePart) -> Result<()> {
        let Some(file) = file(&part.location) else {
            return Err(Error::internal(format_args!(
                "'{}' is no part of a table",
                part.location
            )));
        };
        self.runtime.block_on(async {
            self.check_owner().await?;
            match self
                .store
                .delete(&ObjectPath::from(file.path.as_str()))
                .await
            {
                Err(error) if !is_missing(&error) => Err(failed(&file.path, &error)),
                _ => Ok(()),
            }
        })
    }

    /// 3889: another coordinator keeps its copies here.
    async fn check_owner(&self) -> Result<()> {
        let KeptBy::Mark(mark) = &self.kept_by else {
            return Ok(());
        };
        let found = async { self.store.get(&OWNER.into()).await?.bytes().await };
        let found = found.await.map_err(|error| failed(OWNER, &error))?;
        match found == mark.as_bytes() {
            true => Ok(()),
            false => Err(codes::ER_SECONDARY_ENGINE
                .with(&[&"another coordinator has taken over the place of the tables' files"])),
        }
    }

    /// Writes the file of a part, and returns the number of rows and bytes.
    fn write(
        &self,
        path: &ObjectPath,
        part: &PartToLoad<'_>,
        rows: &mut dyn Rows,
    ) -> Result<(u64, u64)> {
        let wrong = |error: &dyn std::error::Error| failed(path.as_ref(), error);
        let columns = part.columns.iter();
        let types: Vec<SqlType> = columns.map(|column| column.ty.clone()).collect();
        let schema = convert::stored(&types);
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let object = BufWriter::new(Arc::clone(&self.store), path.clone());
        let writer = AsyncArrowWriter::try_new(object, schema.clone(), Some(properties));
        let mut writer = writer.map_err(|error| wrong(&error))?;
        let mut count = 0;
        while let Some(batch) = rows.next_batch()? {
            part.interrupt.check()?;
            count += batch.row_count() as u64;
            let batches = bridge::outward(&batch.decoded(), &schema);
            for batch in batches.map_err(|error| wrong(&error))? {
                let written = self.runtime.block_on(writer.write(&batch));
                written.map_err(|error| wrong(&error))?;
            }
        }
        let closed = self.runtime.block_on(writer.close());
        closed.map_err(|error| wrong(&error))?;
        let object = self.runtime.block_on(self.store.head(path));
        Ok((count, object.map_err(|error| wrong(&error))?.size))
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

/// The lock of a directory.
fn locked(data: &Path) -> std::result::Result<OpenFile, String> {
    let path = data.join("copies.lock");
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let lock = OpenFile::create(&path).map_err(|error| named(&error))?;
    lock.try_lock().map_err(|error| named(&error))?;
    Ok(lock)
}

fn is_missing(error: &object_store::Error) -> bool {
    matches!(error, object_store::Error::NotFound { .. })
}

/// Error 3889 for a file.
fn failed(path: &str, error: &dyn std::error::Error) -> Error {
    codes::ER_SECONDARY_ENGINE.with(&[&format!("{path}: {error}")])
}
