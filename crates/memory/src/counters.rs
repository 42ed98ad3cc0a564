//! Counters of temporary space that SHOW GLOBAL STATUS shows.

use std::sync::atomic::{AtomicU64, Ordering};

/// What the temporary space of a process has done. Bytes in use and their peak
/// (`Tmp_space_used`, `Max_tmp_space_used`) are the [`crate::Budget`]'s, not repeated here.
#[derive(Debug, Default)]
pub struct TempCounters {
    created_files: AtomicU64,
    bytes_written: AtomicU64,
    bytes_read: AtomicU64,
    writes: AtomicU64,
    reads: AtomicU64,
}

impl TempCounters {
    /// `Created_tmp_files`: temporary files that were asked for and got bytes. Space is recycled
    /// from one to the next, so fewer may exist in the file system.
    pub fn created_files(&self) -> u64 {
        self.created_files.load(Ordering::Relaxed)
    }

    /// Bytes written to temporary files.
    pub fn bytes_written(&self) -> u64 {
        self.bytes_written.load(Ordering::Relaxed)
    }

    /// Bytes read back.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// How many extents were written.
    pub fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    /// How many extents were read back.
    pub fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }

    pub(crate) fn count_file(&self) {
        self.created_files.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_write(&self, bytes: u64) {
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.bytes_written.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn count_read(&self, bytes: u64) {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.bytes_read.fetch_add(bytes, Ordering::Relaxed);
    }
}
