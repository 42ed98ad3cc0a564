//! Files and directories that appear whole or not at all: they are written under a temporary name beside their place,
//! synced, and renamed.
//!
//! A file of that name is not replaced unless the statement says so. What is dropped before it is kept is removed: a
//! statement that fails, is killed or loses its client leaves nothing. After a crash the temporary name, which begins
//! with `.mayfly-`, remains. Objects of a store appear when their upload ends; those of a directory are uploaded first, and
//! then let appear one after another.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{Error as IoError, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mayfly_memory::io::{create_private_directory, private_file, rename_to_new};
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};
use parking_lot::Mutex;

use super::stores::{NewObject, StatementStores};
use super::{StatementFiles, system_text, url_scheme, write_error};
use crate::error::refuse;

/// Attempts to find a temporary name that no file of an earlier process has.
const ATTEMPTS: usize = 1000;

/// Where a new file or directory will appear.
#[derive(Debug)]
struct Place {
    /// The path as the statement has it, for errors.
    path: String,
    target: PathBuf,
    temporary: PathBuf,
    replaces: bool,
    is_directory: bool,
    /// Whether it has been renamed.
    is_kept: bool,
}

/// A file that is being written.
#[derive(Debug)]
pub struct NewFile {
    content: Content,
    path: String,
}

/// Where the bytes of a file go.
#[derive(Debug)]
enum Content {
    File {
        file: File,
        /// Where it is renamed to; none for a file of a [`NewDirectory`], and for an output.
        place: Option<Place>,
    },
    Object {
        object: Box<dyn NewObject>,
        /// The uploaded objects of its directory, if it has one: they appear together.
        directory: Option<Uploads>,
    },
}

type Uploads = Arc<Mutex<Vec<Box<dyn NewObject>>>>;

/// A directory whose files are being written.
#[derive(Debug)]
pub struct NewDirectory(Directory);

#[derive(Debug)]
enum Directory {
    Local(Place),
    Objects(NewObjects),
}

/// The objects of a directory that are being written.
#[derive(Debug)]
struct NewObjects {
    url: String,
    stores: StatementStores,
    uploads: Uploads,
    /// The URLs that are written.
    written: Mutex<HashSet<String>>,
    /// The objects that the new ones replace.
    old: Vec<String>,
}

fn cannot_create(path: &str, error: &IoError) -> Error {
    let errno = error.raw_os_error().unwrap_or(0);
    codes::EE_CANTCREATEFILE.with(&[&path, &errno, &system_text(error)])
}

fn exists(path: &str) -> Error {
    codes::ER_FILE_EXISTS_ERROR.with(&[&path])
}

impl StatementFiles {
    /// A new file, which appears when it is kept.
    ///
    /// # Errors
    /// 1227 without the FILE privilege, 1290 outside of `secure_file_priv`, 1086 for a file that exists and is not to be
    /// replaced, or that is none, 1 if it cannot be made.
    pub fn create(&self, path: &str, replaces: bool) -> Result<NewFile> {
        if url_scheme(path).is_some() {
            let object = self.stores()?.create(path, replaces)?;
            return Ok(NewFile {
                content: Content::Object {
                    object,
                    directory: None,
                },
                path: path.to_owned(),
            });
        }
        let target = self.allowed(path)?;
        let is_taken = match target.symlink_metadata() {
            Ok(metadata) => !replaces || !metadata.is_file(),
            Err(_) => false,
        };
        refuse(is_taken, || exists(path))?;
        let make = |temporary: &Path| {
            let mut options = private_file();
            options.write(true).create_new(true).open(temporary)
        };
        let (temporary, file) = with_temporary_name(path, &target, make)?;
        let place = Place {
            path: path.to_owned(),
            target,
            temporary,
            replaces,
            is_directory: false,
            is_kept: false,
        };
        Ok(NewFile {
            content: Content::File {
                file,
                place: Some(place),
            },
            path: path.to_owned(),
        })
    }

    /// A new directory, which appears when it is kept. An empty one may exist.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub fn create_directory(&self, path: &str, replaces: bool) -> Result<NewDirectory> {
        let path = match path.trim_end_matches('/') {
            "" => path,
            trimmed => trimmed,
        };
        if url_scheme(path).is_some() {
            let stores = self.stores()?;
            let most = if replaces { usize::MAX } else { 1 };
            let old = stores.list(&format!("{path}/"), false, most)?;
            refuse(!old.is_empty() && !replaces, || exists(path))?;
            return Ok(NewDirectory(Directory::Objects(NewObjects {
                url: path.to_owned(),
                stores: stores.clone(),
                uploads: Uploads::default(),
                written: Mutex::default(),
                old,
            })));
        }
        let target = self.allowed(path)?;
        let is_taken = match target.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => !replaces && !is_empty(&target),
            Ok(_) => true,
            Err(_) => false,
        };
        refuse(is_taken, || exists(path))?;
        let make = |temporary: &Path| match temporary.symlink_metadata() {
            Ok(_) => Err(ErrorKind::AlreadyExists.into()),
            Err(_) if !target.parent().is_some_and(Path::is_dir) => Err(ErrorKind::NotFound.into()),
            Err(_) => create_private_directory(temporary),
        };
        let (temporary, ()) = with_temporary_name(path, &target, make)?;
        Ok(NewDirectory(Directory::Local(Place {
            path: path.to_owned(),
            target,
            temporary,
            replaces,
            is_directory: true,
            is_kept: false,
        })))
    }
}

/// Whether a directory has no entries.
fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_none())
}

/// Makes a file or a directory beside a path, under a name that begins with a point, so that readers of the directory
/// leave it out.
fn with_temporary_name<T>(
    path: &str,
    target: &Path,
    make: impl Fn(&Path) -> std::io::Result<T>,
) -> Result<(PathBuf, T)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut last = IoError::from(ErrorKind::AlreadyExists);
    for _ in 0..ATTEMPTS {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".mayfly-{}-{number}.tmp", process::id());
        let temporary = target.with_file_name(name);
        match make(&temporary) {
            Ok(made) => return Ok((temporary, made)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(cannot_create(path, &error)),
        }
    }
    Err(cannot_create(path, &last))
}

/// Writes the entries of a path's directory to the disk.
fn sync_parent(path: &Path) -> std::io::Result<()> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => File::open(parent)?.sync_all(),
        _ => File::open(".")?.sync_all(),
    }
}

impl NewFile {
    /// A file that its caller has opened and lets appear, or a pipe; messages name it as `path`.
    pub fn of_output(file: File, path: &str) -> Self {
        Self {
            content: Content::File { file, place: None },
            path: path.to_owned(),
        }
    }

    /// Its path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Lets the file appear, after its content is on the disk or in the store. A file of a [`NewDirectory`] appears with it.
    ///
    /// # Errors
    /// 1026 if it cannot be written, 1086 if a file of its name has appeared in between, 1105 for a store that refuses.
    pub fn keep(self) -> Result<()> {
        let Self { content, path } = self;
        match content {
            Content::File { file, place } => keep_file(&file, place, &path),
            Content::Object {
                mut object,
                directory,
            } => {
                object.upload()?;
                match directory {
                    None => object.keep(),
                    Some(directory) => {
                        directory.lock().push(object);
                        Ok(())
                    }
                }
            }
        }
    }
}

/// Lets a file of this machine appear at its place.
fn keep_file(file: &File, mut place: Option<Place>, path: &str) -> Result<()> {
    let failed = |error: &IoError| write_error(path, error);
    match file.sync_all() {
        // A pipe or a device.
        Err(error) if error.kind() == ErrorKind::InvalidInput => {}
        synced => synced.map_err(|error| failed(&error))?,
    }
    let Some(known) = &mut place else {
        return Ok(());
    };
    let renamed = match known.replaces {
        true => fs::rename(&known.temporary, &known.target),
        false => rename_to_new(&known.temporary, &known.target),
    };
    renamed.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => exists(path),
        _ => failed(&error),
    })?;
    known.is_kept = true;
    sync_parent(&known.target).map_err(|error| failed(&error))
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &mut self.content {
            Content::File { file, .. } => file.write(bytes),
            Content::Object { object, .. } => object.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match &mut self.content {
            Content::File { file, .. } => file.flush(),
            Content::Object { object, .. } => object.flush(),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        // What cannot be removed stays under its temporary name.
        let _ = match self.is_directory {
            true => fs::remove_dir_all(&self.temporary),
            false => fs::remove_file(&self.temporary),
        };
    }
}

impl NewDirectory {
    /// A new file in it, in directories that are made; `None` if there is one of that name.
    ///
    /// # Errors
    /// 1 if it cannot be made, 1105 for a store that refuses.
    pub fn file(&self, directories: &str, name: &str) -> Result<Option<NewFile>> {
        match &self.0 {
            Directory::Local(place) => place.file(directories, name),
            Directory::Objects(objects) => objects.file(directories, name),
        }
    }

    /// Lets the directory appear, after the names of its files are on the disk. A directory that it replaces is removed.
    ///
    /// # Errors
    /// 1026 if it cannot be written, 1086 if something of its name has appeared in between, 1105 for a store that refuses.
    pub fn keep(self) -> Result<()> {
        match self.0 {
            Directory::Local(place) => place.keep_directory(),
            Directory::Objects(objects) => objects.keep(),
        }
    }
}

impl NewObjects {
    fn file(&self, directories: &str, name: &str) -> Result<Option<NewFile>> {
        let path = format!("{}/{directories}/{name}", self.url);
        if !self.written.lock().insert(path.clone()) {
            return Ok(None);
        }
        Ok(Some(NewFile {
            content: Content::Object {
                object: self.stores.create(&path, true)?,
                directory: Some(Arc::clone(&self.uploads)),
            },
            path,
        }))
    }

    fn keep(self) -> Result<()> {
        for mut object in std::mem::take(&mut *self.uploads.lock()) {
            object.keep()?;
        }
        let written = self.written.into_inner();
        let old = self.old.into_iter().filter(|url| !written.contains(url));
        let old: Vec<String> = old.collect();
        match old.is_empty() {
            true => Ok(()),
            false => self.stores.delete(&old),
        }
    }
}

impl Place {
    /// A new file in the directory.
    fn file(&self, directories: &str, name: &str) -> Result<Option<NewFile>> {
        let path = format!("{}/{directories}/{name}", self.path);
        let directory = self.temporary.join(directories);
        let made = create_private_directory(&directory).and_then(|()| {
            let mut options = private_file();
            options
                .write(true)
                .create_new(true)
                .open(directory.join(name))
        });
        match made {
            Ok(file) => Ok(Some(NewFile {
                content: Content::File { file, place: None },
                path,
            })),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(cannot_create(&path, &error)),
        }
    }

    /// Lets the directory appear.
    fn keep_directory(mut self) -> Result<()> {
        let Self {
            path,
            target,
            temporary,
            replaces,
            ..
        } = &self;
        let failed = |error: IoError| match error.kind() {
            ErrorKind::DirectoryNotEmpty | ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
                exists(path)
            }
            _ => write_error(path, &error),
        };
        sync_directories(temporary).map_err(failed)?;
        let mut old = None;
        if *replaces && target.is_dir() {
            let aside = |aside: &Path| match aside.symlink_metadata() {
                Ok(_) => Err(ErrorKind::AlreadyExists.into()),
                Err(_) => fs::rename(target, aside),
            };
            old = Some(with_temporary_name(path, target, aside)?.0);
        }
        // An empty directory is replaced; any other, and a file, is not.
        if let Err(error) = fs::rename(temporary, target) {
            if let Some(old) = &old {
                let _ = fs::rename(old, target);
            }
            return Err(failed(error));
        }
        sync_parent(target).map_err(failed)?;
        if let Some(old) = old {
            fs::remove_dir_all(old).map_err(failed)?;
        }
        self.is_kept = true;
        Ok(())
    }
}

/// Writes the entries of a directory and of those below it to the disk.
fn sync_directories(directory: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_directories(&entry.path())?;
        }
    }
    File::open(directory)?.sync_all()
}
