//! The directory of durable data: one process at a time has it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

const LOCK_FILE: &str = "mayfly.lock";

/// A directory that no other process has, as long as this lives. The lock goes with the process,
/// however that ends.
#[derive(Debug)]
pub struct DataDirectory {
    _lock: File,
}

impl DataDirectory {
    /// Takes a directory, which is made if it is not there; `None` when another process has it.
    pub fn claim(path: &Path) -> io::Result<Option<Self>> {
        fs::create_dir_all(path)?;
        let mut options = File::options();
        let options = options.write(true).create(true).truncate(false);
        let lock = options.open(path.join(LOCK_FILE))?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self { _lock: lock })),
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
