//! The place of the tables' files, which all processes of a cluster see: a directory, or a URL of an object store.
//!
//! Settings and credentials of object stores come from the environment, under the names that the stores' own tools use.

use std::convert::Infallible;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use object_store::local::LocalFileSystem;
use object_store::prefix::PrefixStore;
use object_store::{ObjectStore, parse_url_opts};
use url::Url;

/// A place of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataPlace {
    /// A directory that this machine sees.
    Directory(PathBuf),
    /// A URL, such as `s3://bucket/mayfly`.
    Url(String),
}

impl FromStr for DataPlace {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text.contains("://") {
            true => Self::Url(text.to_owned()),
            false => Self::Directory(text.into()),
        })
    }
}

impl Display for DataPlace {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(path) => path.display().fmt(formatter),
            Self::Url(url) => url.fmt(formatter),
        }
    }
}

impl DataPlace {
    /// Creates the directory, if it is one.
    ///
    /// # Errors
    /// The reason why it cannot be created.
    pub fn create(&self) -> Result<(), String> {
        match self {
            Self::Directory(path) => std::fs::create_dir_all(path),
            Self::Url(_) => Ok(()),
        }
        .map_err(|error| format!("{self}: {error}"))
    }

    /// The files of the place, by their paths below it: nothing else is reached.
    ///
    /// # Errors
    /// The reason why the place cannot be used.
    pub fn store(&self) -> Result<Arc<dyn ObjectStore>, String> {
        let store: object_store::Result<Arc<dyn ObjectStore>> = match self {
            Self::Directory(path) => {
                LocalFileSystem::new_with_prefix(path).map(|store| Arc::new(store) as _)
            }
            Self::Url(url) => {
                let parsed = Url::parse(url).map_err(|error| format!("{url}: {error}"))?;
                let opened = parse_url_opts(&parsed, std::env::vars());
                opened.map(|(store, path)| Arc::new(PrefixStore::new(store, path)) as _)
            }
        };
        store.map_err(|error| format!("{self}: {error}"))
    }
}
