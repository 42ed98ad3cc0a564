//! Counters of temporary space, as SHOW GLOBAL STATUS shows them.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of the temporary space of a process. Bytes in use and their peak (`Tmp_space_used`,
/// `Max_tmp_space_used`) are counted by the [`crate::Budget`].
#[derive(Debug, Default)]
pub struct TempCounters {
    created_files: AtomicU64,
    writes: AtomicU64,
}

impl TempCounters {
    /// `Created_tmp_files`: temporary files into which bytes were written. Space is recycled from
    /// one to the next, so fewer may exist in the file system.
    pub fn created_files(&self) -> u64 {
        self.created_files.load(Ordering::Relaxed)
    }

    /// Number of extents written.
    pub fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    pub(crate) fn count_file(&self) {
        self.created_files.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_write(&self) {
        self.writes.fetch_add(1, Ordering::Relaxed);
    }
}
