//! The directory of durable data: one process at a time has it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const LOCK_FILE: &str = "mayfly.lock";

/// A directory that no other process has, as long as this lives. The lock goes with the process,
/// however that ends.
#[derive(Debug)]
pub struct DataDirectory {
    path: PathBuf,
    lock: File,
}

impl DataDirectory {
    /// Takes a directory, which is made if it is not there; `None` when another process has it.
    pub fn lock(path: &Path) -> io::Result<Option<Self>> {
        fs::create_dir_all(path)?;
        let mut options = File::options();
        let options = options.write(true).create(true).truncate(false);
        let lock = options.open(path.join(LOCK_FILE))?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self {
                path: path.to_path_buf(),
                lock,
            })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file of it, which is made if it is not there.
    pub fn file(&self, name: &str) -> io::Result<DirectoryFile> {
        let mut options = File::options();
        let options = options.read(true).write(true).create(true).truncate(false);
        options.open(self.path.join(name)).map(DirectoryFile)
    }

    /// Brings to disk which files there are, and that it is there itself.
    pub fn sync(&self) -> io::Result<()> {
        sync_entries(&self.path)
    }

    /// Makes a directory for a copy; false when there is something in it.
    pub fn make_empty(path: &Path) -> io::Result<bool> {
        fs::create_dir_all(path)?;
        Ok(fs::read_dir(path)?.next().is_none())
    }
}

impl Drop for DataDirectory {
    // Closing the file is not enough: a process that another thread has just forked holds the same open file
    // until it executes its program, and with it the lock (flock(2)).
    fn drop(&mut self) {
        // An error leaves the lock to the file's closing.
        let _ = self.lock.unlock();
    }
}

/// Brings to disk what is in a directory, and that it is there: a directory that was made is an entry
/// of the one above, which may have been made with it.
pub fn sync_entries(directory: &Path) -> io::Result<()> {
    let directory = directory.canonicalize()?;
    File::open(&directory)?.sync_all()?;
    for above in directory.ancestors().skip(1) {
        let synced = File::open(above).and_then(|above| above.sync_all());
        match synced.map_err(|error| error.kind()) {
            // Without the right to read it nothing was made in it, and not every file system syncs directories.
            Ok(()) | Err(io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput) => {}
            Err(kind) => return Err(kind.into()),
        }
    }
    Ok(())
}

/// A file of a data directory.
#[derive(Debug)]
pub struct DirectoryFile(File);

impl DirectoryFile {
    /// How many bytes it has.
    pub fn length(&self) -> io::Result<u64> {
        self.0.metadata().map(|metadata| metadata.len())
    }

    /// Gives it another length.
    pub fn set_length(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    /// Reads as many bytes as there is room for; fewer are an error.
    pub fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        self.0.read_exact_at(bytes, at)
    }

    /// Writes all bytes.
    #[inline]
    pub fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, at)
    }

    /// Brings to disk what was written.
    #[inline]
    pub fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::DataDirectory;

    #[test]
    fn a_directory_is_free_at_once_although_a_forked_process_still_has_its_files() {
        let path = std::env::temp_dir().join(format!("mayfly-lock-{}", std::process::id()));
        let locked = DataDirectory::lock(&path).unwrap().unwrap();
        let inherited = locked.lock.try_clone().unwrap();
        assert!(DataDirectory::lock(&path).unwrap().is_none());
        drop(locked);
        assert!(DataDirectory::lock(&path).unwrap().is_some());
        drop(inherited);
        std::fs::remove_dir_all(&path).unwrap();
    }
}
