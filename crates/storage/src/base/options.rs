//! How a store is opened.

use std::path::{Path, PathBuf};

use mayfly_memory::{Budget, BudgetKind, StableRanges, TempDirectory};

/// Where a store's files are.
#[derive(Debug)]
pub enum StoreLocation {
    /// A data directory, made if it is not there.
    DataDirectory(PathBuf),
    /// A directory that goes with the store: nothing is ever synced.
    Temporary(TempDirectory),
}

/// How a store is opened.
#[derive(Debug)]
pub struct StoreOptions {
    /// Where its files are.
    pub location: StoreLocation,
    /// The file's map is registered here: temporary tables may point into it.
    pub stable: StableRanges,
    /// Memory for what was committed and is not in the file yet. Without any, every commit writes to the
    /// file.
    pub write_buffer: Budget,
}

impl StoreOptions {
    /// A data directory with as much memory as it wants, which nobody else points into.
    pub fn of_directory(directory: &Path) -> Self {
        Self {
            location: StoreLocation::DataDirectory(directory.to_path_buf()),
            stable: StableRanges::new(),
            write_buffer: Budget::unlimited(BudgetKind::Memory),
        }
    }
}
