//! The directory of one process under `tmpdir`, its lock file, and the directories of dead
//! processes.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::IoFailure;
use crate::io::{HeldDirectory, IoBackend, IoFile};

const PREFIX: &str = "mayfly-";
const LOCK_SUFFIX: &str = "lock";
/// Number of names that are tried: more than there can be processes of one id.
const NAME_TRIES: u32 = 1000;

/// A directory that belongs to this process while it holds the lock file.
#[derive(Debug)]
pub(super) struct Home {
    directory: PathBuf,
    lock_path: PathBuf,
    lock: Box<dyn IoFile>,
}

impl Home {
    /// Makes and locks a directory of a new name.
    pub(super) fn create(io: &dyn IoBackend, tmpdir: &Path) -> Result<Self, IoFailure> {
        let failure = |path: &Path, source| IoFailure {
            operation: "create",
            path: path.to_owned(),
            offset: 0,
            bytes: 0,
            source,
        };
        let process = std::process::id();
        for attempt in 0..NAME_TRIES {
            let directory = tmpdir.join(format!("{PREFIX}{process}-{attempt}"));
            let lock_path = directory.with_extension(LOCK_SUFFIX);
            if io.exists(&directory) {
                continue;
            }
            let lock = match io.create_file(&lock_path) {
                Ok(lock) => lock,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(failure(&lock_path, error)),
            };
            // Another process that is looking for orphans may lock the new file briefly and remove
            // it: then this name is lost.
            let ours = lock.try_lock().unwrap_or(false) && io.exists(&lock_path);
            if !ours {
                continue;
            }
            let unused = UnusedFile {
                io,
                path: &lock_path,
            };
            match io.create_dir(&directory) {
                Ok(()) => {
                    std::mem::forget(unused);
                    return Ok(Self {
                        directory,
                        lock_path,
                        lock,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failure(&directory, error)),
            }
        }
        Err(failure(tmpdir, io::ErrorKind::AlreadyExists.into()))
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Removes the directory and then the lock file. Failures are not reported: what remains is an
    /// orphan, which the next start removes.
    pub(super) fn remove(self, io: &dyn IoBackend) {
        let place = (self.directory.parent(), self.directory.file_name());
        if let (Some(tmpdir), Some(name)) = place
            && let Ok(held) = HeldDirectory::open(tmpdir)
        {
            held.remove_directory(name);
        }
        let _ = io.remove_file(&self.lock_path);
        drop(self.lock);
    }
}

/// A file that is removed unless all further steps succeed.
struct UnusedFile<'a> {
    io: &'a dyn IoBackend,
    path: &'a Path,
}

impl Drop for UnusedFile<'_> {
    fn drop(&mut self) {
        let _ = self.io.remove_file(self.path);
    }
}

/// Removes the directories under `tmpdir` whose process is dead; returns how many.
pub(super) fn remove_orphans(tmpdir: &Path) -> io::Result<usize> {
    let held = match HeldDirectory::open(tmpdir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        held => held?,
    };
    let mut removed = 0;
    for lock_name in held.names()? {
        let Some(name) = directory_of(&lock_name) else {
            continue;
        };
        // Held until the file is removed, so that no other process removes it too.
        let Some(_lock) = held.lock(&lock_name) else {
            continue;
        };
        held.remove_directory(OsStr::new(name));
        if held.remove_file(&lock_name).is_ok() {
            removed += 1;
        }
    }
    Ok(removed)
}

/// Name of the directory that belongs to a lock file of this name, if it is one of Mayfly's.
fn directory_of(lock_name: &str) -> Option<&str> {
    let (name, suffix) = lock_name.rsplit_once('.')?;
    let number = name.strip_prefix(PREFIX)?;
    let is_ours = suffix == LOCK_SUFFIX && number.starts_with(|first: char| first.is_ascii_digit());
    is_ours.then_some(name)
}
