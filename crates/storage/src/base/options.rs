//! Options of opening a store.

use std::path::{Path, PathBuf};

use mayfly_memory::{Budget, BudgetKind, StableRanges, TempDirectory};

/// Location of a store's files.
#[derive(Debug)]
pub enum StoreLocation {
    /// A data directory, created if it does not exist.
    DataDirectory(PathBuf),
    /// A directory that is removed with the store: nothing is ever synced.
    Temporary(TempDirectory),
}

/// Options of opening a store.
#[derive(Debug)]
pub struct StoreOptions {
    /// Location of the files.
    pub location: StoreLocation,
    /// Registry for the file's map: temporary tables may point into it.
    pub stable: StableRanges,
    /// Memory budget of the memtable. With an empty one, every commit writes to the file.
    pub write_buffer: Budget,
}

impl StoreOptions {
    /// Options of a data directory, with unlimited memory and no one else pointing into it.
    pub fn of_directory(directory: &Path) -> Self {
        Self {
            location: StoreLocation::DataDirectory(directory.to_path_buf()),
            stable: StableRanges::new(),
            write_buffer: Budget::unlimited(BudgetKind::Memory),
        }
    }
}
