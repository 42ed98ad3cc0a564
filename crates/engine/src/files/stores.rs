//! Stores of objects that URLs name: `s3://bucket/key`, `gs://…`, `az://…`, `https://…`.
//!
//! The engine knows no protocol of a store: a program gives it [`ObjectStores`], and what is read and written goes through
//! [`super::StatementFiles`], where privileges are checked, as for files of this machine. What one statement has looked at
//! is remembered until its end ([`StoreAccess`]): an object is asked for once, and read only as it was then.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use mayfly_memory::Reservation;
use mayfly_types::error::codes;
use mayfly_types::{Interrupt, Result};
use parking_lot::Mutex;

use crate::statement_memory::StatementMemory;

/// Schemes of URLs that name objects.
const SCHEMES: &[&str] = &[
    "s3", "s3a", "gs", "gcs", "az", "azure", "abfs", "abfss", "http", "https",
];

/// The scheme of a path that is the URL of an object.
pub fn url_scheme(path: &str) -> Option<&'static str> {
    let (scheme, _) = path.split_once("://")?;
    let mut schemes = SCHEMES.iter().copied();
    schemes.find(|known| known.eq_ignore_ascii_case(scheme))
}

/// A path as messages and columns show it: of a URL of HTTP without user, password and query, which may hold credentials.
pub fn shown_path(path: &str) -> Cow<'_, str> {
    if !matches!(url_scheme(path), Some("http" | "https")) {
        return Cow::Borrowed(path);
    }
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = path.split_once("://").unwrap_or(("", path));
    let (authority, key) = match rest.split_once('/') {
        Some((authority, key)) => (authority, Some(key)),
        None => (rest, None),
    };
    let Some((_, host)) = authority.rsplit_once('@') else {
        return Cow::Borrowed(path);
    };
    Cow::Owned(match key {
        Some(key) => format!("{scheme}://{host}/{key}"),
        None => format!("{scheme}://{host}"),
    })
}

/// Length of a file and what else shows that it has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileVersion {
    /// Length in bytes.
    pub length: u64,
    /// Time of the last change.
    pub modified: Option<SystemTime>,
    /// The store's tag of the content.
    pub tag: Option<String>,
}

/// The protocols of stores.
pub trait ObjectStores: Debug + Send + Sync {
    /// Looks at an object; `None` if there is none.
    ///
    /// # Errors
    /// 1105 for a store that cannot be reached or refuses, 1317 for a killed statement.
    fn open(&self, url: &str, access: &StoreAccess) -> Result<Option<Arc<dyn StoredObject>>>;

    /// The objects whose URLs begin with one, with their URLs, up to a number of them; without those that have a further `/`
    /// if `in_directory`.
    ///
    /// # Errors
    /// As [`Self::open`]; 1235 for a store that has no list.
    fn list(
        &self,
        url: &str,
        in_directory: bool,
        most: usize,
        access: &StoreAccess,
    ) -> Result<Vec<ListedObject>>;

    /// A new object, in place of one of its name only if `replaces`.
    ///
    /// # Errors
    /// As [`Self::open`]; 1086 for an object that exists and is not replaced.
    fn create(&self, url: &str, replaces: bool, access: &StoreAccess)
    -> Result<Box<dyn NewObject>>;

    /// Deletes objects.
    ///
    /// # Errors
    /// As [`Self::open`].
    fn delete(&self, urls: &[String], access: &StoreAccess) -> Result<()>;
}

/// An object of a list, with its URL.
pub type ListedObject = (String, Arc<dyn StoredObject>);

/// An object that is read, as it was when it was looked at: reading a changed one is an error.
pub trait StoredObject: Debug + Send + Sync {
    /// Its length and tag.
    fn version(&self) -> FileVersion;

    /// The bytes of ranges, each whole.
    ///
    /// # Errors
    /// For a store that cannot be reached, a changed object, and a killed statement.
    fn ranges(&self, ranges: &[Range<u64>], access: &StoreAccess) -> io::Result<Vec<Vec<u8>>>;

    /// All bytes, one after another.
    ///
    /// # Errors
    /// As [`Self::ranges`].
    fn reader(&self, access: &StoreAccess) -> io::Result<Box<dyn Read + Send>>;
}

/// An object that is written: it appears when it is kept, and one that is dropped before leaves nothing.
pub trait NewObject: Write + Send + Debug {
    /// Brings what was written to the store.
    ///
    /// # Errors
    /// For a store that cannot be reached or refuses, and a killed statement.
    fn upload(&mut self) -> Result<()>;

    /// Lets the object appear after its upload.
    ///
    /// # Errors
    /// As [`Self::upload`]; 1086 if an object of its name has appeared in between.
    fn keep(&mut self) -> Result<()>;
}

/// Options of a statement for its stores: where the environment of the process does not say them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct StoreOptions {
    /// URL of a service that speaks S3's protocol.
    pub endpoint: Option<String>,
    /// Region of S3.
    pub region: Option<String>,
    /// Whether requests are not signed: of public objects.
    pub anonymous: bool,
}

/// What stores need of a statement. Cloning shares it.
#[derive(Debug, Clone)]
pub struct StoreAccess {
    /// Ends the statement.
    pub interrupt: Interrupt,
    /// Its memory.
    pub memory: StatementMemory,
    /// Its options.
    pub options: StoreOptions,
}

/// The objects that a statement may access. Cloning shares what it has looked at.
#[derive(Debug, Clone)]
pub(crate) struct StatementStores {
    stores: Option<Arc<dyn ObjectStores>>,
    access: StoreAccess,
    known: Arc<Mutex<Known>>,
}

/// Objects that were looked at, by their URLs, and the memory of their list.
#[derive(Debug, Default)]
struct Known {
    objects: HashMap<String, Arc<dyn StoredObject>>,
    memory: Vec<Reservation>,
}

/// Memory of an object that was looked at.
const OBJECT: u64 = 512;

impl StatementStores {
    pub(crate) fn new(stores: Option<Arc<dyn ObjectStores>>, access: StoreAccess) -> Self {
        Self {
            stores,
            access,
            known: Arc::default(),
        }
    }

    /// These stores with other options, and nothing that is known of their objects.
    pub(crate) fn with_options(&self, options: StoreOptions) -> Self {
        let access = StoreAccess {
            options,
            ..self.access.clone()
        };
        Self::new(self.stores.clone(), access)
    }

    /// The protocols: 1235 in a program without them.
    fn stores(&self) -> Result<&dyn ObjectStores> {
        self.stores.as_deref().ok_or_else(|| {
            let what = "files named by a URL: it was built without the feature object-stores";
            codes::ER_NOT_SUPPORTED_YET.with(&[&what])
        })
    }

    /// An object: 1017 if there is none.
    pub(crate) fn open(&self, url: &str) -> Result<StoreFile> {
        let found = self.find(url)?;
        found.ok_or_else(|| {
            codes::ER_FILE_NOT_FOUND.with(&[&shown_path(url), &"404 - No such object"])
        })
    }

    /// An object; `None` if there is none.
    pub(crate) fn find(&self, url: &str) -> Result<Option<StoreFile>> {
        let known = self.known.lock().objects.get(url).cloned();
        let object = match known {
            Some(object) => Some(object),
            None => self.stores()?.open(url, &self.access)?,
        };
        let Some(object) = object else {
            return Ok(None);
        };
        let mut known = self.known.lock();
        if !known.objects.contains_key(url) {
            known.memory.push(self.access.memory.reserve(OBJECT)?);
            known.objects.insert(url.to_owned(), Arc::clone(&object));
        }
        let access = self.access.clone();
        Ok(Some(StoreFile { object, access }))
    }

    /// The URLs of the objects that begin with one, in their order.
    pub(crate) fn list(&self, url: &str, in_directory: bool, most: usize) -> Result<Vec<String>> {
        let stores = self.stores()?;
        let found = stores.list(url, in_directory, most, &self.access)?;
        let mut known = self.known.lock();
        let memory = self.access.memory.reserve(found.len() as u64 * OBJECT)?;
        known.memory.push(memory);
        let mut urls: Vec<String> = found.iter().map(|(url, _)| url.clone()).collect();
        known.objects.extend(found);
        urls.sort_unstable();
        Ok(urls)
    }

    pub(crate) fn create(&self, url: &str, replaces: bool) -> Result<Box<dyn NewObject>> {
        self.stores()?.create(url, replaces, &self.access)
    }

    pub(crate) fn delete(&self, urls: &[String]) -> Result<()> {
        self.stores()?.delete(urls, &self.access)
    }
}

/// An object that a statement reads. Cloning shares it.
#[derive(Clone)]
pub(crate) struct StoreFile {
    object: Arc<dyn StoredObject>,
    access: StoreAccess,
}

impl Debug for StoreFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.object.fmt(f)
    }
}

impl StoreFile {
    pub(crate) fn version(&self) -> FileVersion {
        self.object.version()
    }

    pub(crate) fn ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        self.object.ranges(ranges, &self.access)
    }

    pub(crate) fn reader(&self) -> io::Result<Box<dyn Read + Send>> {
        self.object.reader(&self.access)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_shown_without_credentials() {
        for (url, shown) in [
            ("s3://bucket/a?b.csv", "s3://bucket/a?b.csv"),
            ("https://host/a.csv?X-Amz-Signature=1", "https://host/a.csv"),
            ("https://user:word@host/a.csv", "https://host/a.csv"),
            ("HTTP://user:w@rd@host", "HTTP://host"),
            (
                "abfss://files@account.dfs.core.windows.net/a",
                "abfss://files@account.dfs.core.windows.net/a",
            ),
            ("a?b.csv", "a?b.csv"),
        ] {
            assert_eq!(shown_path(url), shown);
        }
        assert_eq!(url_scheme("S3://bucket/a"), Some("s3"));
        assert_eq!(url_scheme("file:///a"), None);
        assert_eq!(url_scheme("/a/s3:/b"), None);
    }
}
