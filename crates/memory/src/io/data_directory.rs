//! The directory of durable data: one process at a time has it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

const LOCK_FILE: &str = "mayfly.lock";

/// A directory that no other process has, as long as this lives. The lock goes with the process,
/// however that ends.
#[derive(Debug)]
pub struct DataDirectory {
    path: PathBuf,
    _lock: File,
    ephemeral: bool,
}

impl DataDirectory {
    /// Takes a directory, which is made if it is not there; `None` when another process has it. An
    /// ephemeral one is removed with everything in it when this is dropped.
    pub fn claim(path: &Path, ephemeral: bool) -> io::Result<Option<Self>> {
        fs::create_dir_all(path)?;
        let mut options = File::options();
        let options = options.write(true).create(true).truncate(false);
        let lock = options.open(path.join(LOCK_FILE))?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self {
                path: path.to_path_buf(),
                _lock: lock,
                ephemeral,
            })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Makes a directory for a copy; false when there is something in it.
    pub fn make_empty(path: &Path) -> io::Result<bool> {
        fs::create_dir_all(path)?;
        Ok(fs::read_dir(path)?.next().is_none())
    }
}

impl Drop for DataDirectory {
    fn drop(&mut self) {
        if self.ephemeral {
            // Nobody reads it again; what cannot be removed is only in the way.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}
