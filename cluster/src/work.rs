//! The directory of a process's temporary files: exchanges of DataFusion, and overflow of Mayfly's operators.
//!
//! Nothing in it outlives the process, so that it is emptied at the start: a process that was killed leaves its files. A lock
//! keeps two processes from using one directory.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use object_store::ObjectStore;
use url::Url;

const LOCK: &str = "lock";

/// A directory of temporary files, locked.
#[derive(Debug)]
pub struct WorkDirectory {
    path: PathBuf,
    _lock: File,
}

impl WorkDirectory {
    /// Locks and empties the directory `path`.
    pub fn open(path: &Path) -> io::Result<Self> {
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        fs::create_dir_all(path).map_err(named)?;
        let path = path.canonicalize().map_err(named)?;
        let lock = File::create(path.join(LOCK)).map_err(named)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::new(
                    io::ErrorKind::WouldBlock,
                    format!("{} is used by another process", path.display()),
                ));
            }
            Err(TryLockError::Error(error)) => return Err(named(error)),
        }
        for kind in [Self::EXCHANGES, Self::OPERATORS] {
            let files = path.join(kind);
            match fs::remove_dir_all(&files) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(named(error)),
                _ => fs::create_dir(&files).map_err(named)?,
            }
        }
        Ok(Self { path, _lock: lock })
    }

    const EXCHANGES: &str = "exchanges";
    const OPERATORS: &str = "operators";

    /// Where exchanges overflow.
    pub fn exchanges(&self) -> PathBuf {
        self.path.join(Self::EXCHANGES)
    }

    /// Where operators overflow.
    pub fn operators(&self) -> PathBuf {
        self.path.join(Self::OPERATORS)
    }
}

/// The memory of a process, divided.
#[derive(Debug, Clone, Copy)]
pub struct MemoryShares {
    /// Bytes for operators, which overflow to disk beyond.
    pub operators: u64,
    /// Bytes for exchanges.
    pub exchanges: u64,
    /// Bytes for pages of files that are tables without a load.
    pub files: u64,
}

impl MemoryShares {
    /// The shares of `memory` bytes: five eighths, two, and one.
    pub fn of(memory: u64) -> Self {
        let (exchanges, files) = (memory / 4, memory / 8);
        Self {
            operators: memory - exchanges - files,
            exchanges,
            files,
        }
    }
}

/// What DataFusion may use in this process: `files`, `memory` bytes, and `space` bytes of temporary files in
/// `directory`.
pub fn runtime(
    files: Arc<dyn ObjectStore>,
    directory: &Path,
    memory: u64,
    space: u64,
) -> Result<Arc<RuntimeEnv>> {
    let disk = DiskManagerBuilder::default()
        .with_mode(DiskManagerMode::Directories(vec![directory.to_owned()]))
        .with_max_temp_directory_size(space);
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(FairSpillPool::new(
            usize::try_from(memory).unwrap_or(usize::MAX),
        )))
        .with_disk_manager_builder(disk)
        .build_arc()?;
    // A plan names files by their paths below the directory, and reaches no others.
    if let Ok(all) = Url::parse("file:///") {
        runtime.register_object_store(&all, files);
    }
    Ok(runtime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_process_that_was_killed_are_deleted_and_a_running_one_keeps_its_directory() {
        let directory = tempfile::tempdir().expect("directory");
        let work = WorkDirectory::open(directory.path()).expect("work");
        fs::write(work.exchanges().join("left"), "x").expect("file");
        let second = WorkDirectory::open(directory.path()).expect_err("locked");
        assert!(
            second.to_string().contains("used by another process"),
            "{second}"
        );
        drop(work);
        let work = WorkDirectory::open(directory.path()).expect("work");
        assert!(!work.exchanges().join("left").exists());
    }
}
