//! The directory of one process under `tmpdir`, its lock file, and what dead processes left.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::IoFailure;
use crate::io::{IoBackend, IoFile};

const PREFIX: &str = "mayfly-";
const LOCK_SUFFIX: &str = "lock";
/// How many names are tried before giving up: more than there can be processes of one id.
const NAME_TRIES: u32 = 1000;

/// A directory that is ours while we hold its lock file.
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
            // Another process that is looking for orphans may lock the new file briefly and
            // remove it: then this name is not ours.
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

    /// Removes the directory and then the lock file. What cannot be removed is an orphan that the
    /// next start removes, so failures are not reported.
    pub(super) fn remove(self, io: &dyn IoBackend) {
        remove_directory(io, &self.directory);
        let _ = io.remove_file(&self.lock_path);
        drop(self.lock);
    }
}

/// A file that nobody needs unless everything else succeeds.
struct UnusedFile<'a> {
    io: &'a dyn IoBackend,
    path: &'a Path,
}

impl Drop for UnusedFile<'_> {
    fn drop(&mut self) {
        let _ = self.io.remove_file(self.path);
    }
}

/// Removes a directory with its files, and the directories in it that hold but files.
fn remove_directory(io: &dyn IoBackend, directory: &Path) {
    for entry in io.list(directory).unwrap_or_default() {
        if io.remove_file(&entry).is_ok() {
            continue;
        }
        for file in io.list(&entry).unwrap_or_default() {
            let _ = io.remove_file(&file);
        }
        let _ = io.remove_dir(&entry);
    }
    let _ = io.remove_dir(directory);
}

/// Removes the directories under `tmpdir` whose process is dead; says how many.
pub(super) fn remove_orphans(io: &dyn IoBackend, tmpdir: &Path) -> io::Result<usize> {
    let mut removed = 0;
    let entries = match io.list(tmpdir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    for entry in entries {
        let is_ours = entry
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.strip_prefix(PREFIX))
            .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
        if !is_ours
            || entry
                .extension()
                .is_none_or(|extension| extension != LOCK_SUFFIX)
        {
            continue;
        }
        let Ok(lock) = io.open_file(&entry) else {
            continue;
        };
        if lock.try_lock().unwrap_or(false) {
            remove_directory(io, &entry.with_extension(""));
            if io.remove_file(&entry).is_ok() {
                removed += 1;
            }
        }
    }
    Ok(removed)
}
