//! File access of statements, within `secure_file_priv` and outside of the engine's own directories; and access to objects
//! that URLs name, under `remote_file_access`.

mod input;
mod new;
mod stores;

use std::fs::File;
use std::io::{Error as IoError, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mayfly_functions::context::{FileContents, ServerFiles};
use mayfly_memory::TempSpace;
use mayfly_memory::io::private_file;
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};
use parking_lot::Mutex;

use crate::error::refuse;
use crate::options::FileAccess;

pub use self::input::{InputCursor, InputFile};
pub use self::new::{NewDirectory, NewFile};
pub(crate) use self::stores::StatementStores;
pub use self::stores::{
    FileVersion, ListedObject, NewObject, ObjectStores, StoreAccess, StoreOptions, StoredObject,
    shown_path, url_scheme,
};

/// First bytes of a log file.
const LOG_BEGIN: &[u8; 17] = b"mayfly, Version: ";

fn refused() -> Error {
    codes::ER_OPTION_PREVENTS_STATEMENT.with(&[&"--secure-file-priv"])
}

/// Rules of file access for statements.
#[derive(Debug)]
pub(crate) struct FileRules {
    access: FileAccess,
    /// `remote_file_access`.
    allows_urls: bool,
    /// The engine's own directories, which statements can neither read nor write: they have other users' rows and the
    /// server's keys.
    own: Mutex<Vec<PathBuf>>,
    temp_space: TempSpace,
}

impl FileRules {
    /// The rules of an engine.
    pub(crate) fn new(
        access: FileAccess,
        allows_urls: bool,
        datadir: Option<&Path>,
        temp_space: &TempSpace,
    ) -> Self {
        Self {
            access,
            allows_urls,
            own: Mutex::new(datadir.map(Path::to_owned).into_iter().collect()),
            temp_space: temp_space.clone(),
        }
    }

    /// Adds one of the engine's own directories.
    pub(crate) fn add_own(&self, directory: &Path) {
        let mut own = self.own.lock();
        own.push(directory.to_owned());
    }

    fn is_own(&self, path: &Path) -> bool {
        let own = self.own.lock();
        let own = own.iter().cloned().chain(self.temp_space.directories());
        // A directory that does not exist has no files.
        let mut own = own.filter_map(|directory| directory.canonicalize().ok());
        own.any(|directory| path.starts_with(directory))
    }

    /// Whether a file may be a log: it is none of the engine's own, and no option file.
    pub(crate) fn may_be_log(&self, path: &Path) -> bool {
        let is_option_file = path
            .extension()
            .is_some_and(|end| end == "cnf" || end == "ini");
        let Some(real) = real_path(path) else {
            return false;
        };
        let is_special = |metadata: std::fs::Metadata| !metadata.is_file();
        if is_option_file || std::fs::metadata(&real).is_ok_and(is_special) {
            return false;
        }
        let is_log = || {
            let mut begin = [0; LOG_BEGIN.len()];
            let read = File::open(&real).and_then(|mut file| file.read_exact(&mut begin));
            read.is_ok() && begin == *LOG_BEGIN
        };
        let is_new_log = || {
            let is_named = real.extension().is_some_and(|end| end == "log");
            is_named && !real.ends_with("redo.log") && !real.exists()
        };
        if self.is_own(&real) && !is_log() && !is_new_log() {
            return false;
        }
        // Opening it as a log tests whether it can be written.
        let is_there = real.symlink_metadata().is_ok();
        let opened = private_file().create(true).append(true).open(&real);
        if opened.is_ok() && !is_there {
            // Nothing was written to it, and the log creates it when needed.
            let _ = std::fs::remove_file(&real);
        }
        opened.is_ok()
    }

    /// 1290 unless objects that URLs name may be accessed.
    fn check_urls(&self) -> Result<()> {
        refuse(self.access == FileAccess::Disabled, refused)?;
        refuse(!self.allows_urls, || {
            codes::ER_OPTION_PREVENTS_STATEMENT.with(&[&"--remote-file-access=OFF"])
        })
    }

    /// The path in a statement, if access is allowed: 1290 otherwise.
    fn allowed(&self, path: &str) -> Result<PathBuf> {
        if self.access == FileAccess::Disabled {
            return Err(refused());
        }
        let path = Path::new(path);
        let real = real_path(path);
        if let FileAccess::Directory(directory) = &self.access {
            let directory = directory.canonicalize().map_err(|_| refused())?;
            if !real
                .as_ref()
                .is_some_and(|real| real.starts_with(directory))
            {
                return Err(refused());
            }
        }
        match real {
            Some(real) if self.is_own(&real) => Err(refused()),
            Some(real) => Ok(real),
            // The directory does not exist: using the path will fail.
            None => Ok(path.to_owned()),
        }
    }
}

/// The path with all links resolved. The file itself need not exist yet.
fn real_path(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    let parent = match path.parent()? {
        parent if parent.as_os_str().is_empty() => Path::new("."),
        parent => parent,
    };
    Some(parent.canonicalize().ok()?.join(path.file_name()?))
}

/// File access of LOAD_FILE().
impl ServerFiles for FileRules {
    fn read(&self, path: &str, most: u64) -> FileContents {
        let Ok(path) = self.allowed(path) else {
            return FileContents::Missing;
        };
        let Ok(metadata) = std::fs::metadata(&path) else {
            return FileContents::Missing;
        };
        if !metadata.is_file() {
            return FileContents::NotAFile;
        }
        if metadata.len() > most {
            return FileContents::TooLong;
        }
        std::fs::read(&path).map_or(FileContents::Missing, FileContents::Bytes)
    }
}

/// File access of a user without the FILE privilege: none.
#[derive(Debug)]
pub(crate) struct NoFiles;

impl ServerFiles for NoFiles {
    fn read(&self, _path: &str, _most: u64) -> FileContents {
        FileContents::Missing
    }
}

/// The files that a statement may read as tables, and those of a data format that it may write: those that its
/// [`FileRules`] allow, and none without the FILE privilege. A path that is a URL names an object of a store. Cloning shares it.
#[derive(Debug, Clone)]
pub struct StatementFiles {
    rules: Arc<FileRules>,
    has_privilege: bool,
    stores: StatementStores,
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirectoryEntry {
    /// Its name in the directory.
    pub name: String,
    /// Whether it is a directory, or a link to one.
    pub is_directory: bool,
}

impl StatementFiles {
    /// The files of a session with or without the FILE privilege.
    pub(crate) fn new(
        rules: &Arc<FileRules>,
        has_privilege: bool,
        stores: StatementStores,
    ) -> Self {
        Self {
            rules: Arc::clone(rules),
            has_privilege,
            stores,
        }
    }

    /// These files, whose objects are accessed with the options of a call.
    #[must_use]
    pub fn with_store_options(&self, options: StoreOptions) -> Self {
        Self {
            rules: Arc::clone(&self.rules),
            has_privilege: self.has_privilege,
            stores: self.stores.with_options(options),
        }
    }

    /// 1227 without the FILE privilege.
    fn check_privilege(&self) -> Result<()> {
        refuse(!self.has_privilege, || {
            codes::ER_SPECIFIC_ACCESS_DENIED_ERROR.with(&[&"FILE"])
        })
    }

    /// The path with all links resolved, if access is allowed.
    fn allowed(&self, path: &str) -> Result<PathBuf> {
        self.check_privilege()?;
        self.rules.allowed(path)
    }

    /// The stores, if access is allowed.
    fn stores(&self) -> Result<&StatementStores> {
        self.check_privilege()?;
        self.rules.check_urls()?;
        Ok(&self.stores)
    }

    /// Opens a regular file or an object for reading.
    ///
    /// # Errors
    /// 1227 without the FILE privilege, 1290 outside of `secure_file_priv` and for a URL without `remote_file_access`, 1017 if
    /// there is none, 1016 if it cannot be opened, 1105 for a store that refuses.
    pub fn open(&self, path: &str) -> Result<InputFile> {
        if url_scheme(path).is_some() {
            return Ok(self.stores()?.open(path)?.into());
        }
        let real = self.allowed(path)?;
        let is_file = std::fs::metadata(&real).map(|it| it.is_file());
        let is_file = is_file.map_err(|error| read_error(path, &error))?;
        refuse(!is_file, || {
            codes::ER_CANT_OPEN_FILE.with(&[&path, &"it is no regular file"])
        })?;
        let file = File::open(&real).map_err(|error| read_error(path, &error))?;
        Ok(file.into())
    }

    /// Whether a URL names an object.
    ///
    /// # Errors
    /// As [`Self::open`], but for an object that there is not.
    pub fn is_object(&self, url: &str) -> Result<bool> {
        Ok(self.stores()?.find(url)?.is_some())
    }

    /// The URLs of the objects that begin with one, in their order, up to a number of them; without those that have a further
    /// `/` if `in_directory`.
    ///
    /// # Errors
    /// As [`Self::open`]; 1235 for a store without lists.
    pub fn objects(&self, url: &str, in_directory: bool, most: usize) -> Result<Vec<String>> {
        self.stores()?.list(url, in_directory, most)
    }

    /// Whether a path is a directory; `None` where there is nothing.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn is_directory(&self, path: &str) -> Result<Option<bool>> {
        let real = self.allowed(path)?;
        match std::fs::metadata(real) {
            Ok(metadata) => Ok(Some(metadata.is_dir())),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(read_error(path, &error)),
        }
    }

    /// The entries of a directory in the order of their names; names that are not UTF-8 are left out.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn entries(&self, directory: &str) -> Result<Vec<DirectoryEntry>> {
        let failed = |error: IoError| read_error(directory, &error);
        let real = self.allowed(directory)?;
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(real).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            // Of a link its target counts; one that leads nowhere fails when it is opened.
            let metadata = std::fs::metadata(entry.path());
            entries.push(DirectoryEntry {
                name,
                is_directory: metadata.is_ok_and(|it| it.is_dir()),
            });
        }
        entries.sort_unstable();
        Ok(entries)
    }
}

fn is_missing(error: &IoError) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The error of a file that cannot be opened: 1017 if there is none, otherwise 1016.
pub(crate) fn read_error(path: &str, error: &IoError) -> Error {
    let code = match is_missing(error) {
        true => codes::ER_FILE_NOT_FOUND,
        false => codes::ER_CANT_OPEN_FILE,
    };
    let errno = error.raw_os_error().unwrap_or(0);
    code.with(&[&path, &format!("{errno} - {}", system_text(error))])
}

/// A new file for SELECT … INTO: 1086 when it exists.
pub(crate) fn create(rules: &FileRules, path: &str) -> Result<File> {
    let real = rules.allowed(path)?;
    refuse(real.exists(), || codes::ER_FILE_EXISTS_ERROR.with(&[&path]))?;
    private_file()
        .write(true)
        .create_new(true)
        .open(real)
        .map_err(|error| {
            let errno = error.raw_os_error().unwrap_or(0);
            codes::EE_CANTCREATEFILE.with(&[&path, &errno, &system_text(&error)])
        })
}

/// An existing file for LOAD DATA.
pub(crate) fn open(rules: &FileRules, path: &str, local: bool) -> Result<File> {
    let (real, code) = if local {
        (PathBuf::from(path), codes::EE_FILENOTFOUND)
    } else {
        (rules.allowed(path)?, codes::EE_FILE_NOT_READABLE)
    };
    File::open(&real).map_err(|error| {
        let errno = error.raw_os_error().unwrap_or(0);
        code.with(&[&path, &errno, &system_text(&error)])
    })
}

/// The system's message of an error, without the number that Rust appends.
pub(crate) fn system_text(error: &IoError) -> String {
    let text = error.to_string();
    text.split(" (os error")
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// 1026: the error of a write that failed, with its file.
pub fn write_error(path: &str, error: &IoError) -> Error {
    let errno = error.raw_os_error().unwrap_or(0);
    codes::ER_ERROR_ON_WRITE.with(&[&path, &format!("{errno} - {}", system_text(error))])
}
