//! Counters of temporary space: what SHOW GLOBAL STATUS shows, and what files hold before and after
//! compression.

use std::sync::atomic::{AtomicU64, Ordering};

/// What the temporary space of a process has done. Bytes in use and their peak
/// (`Tmp_space_used`, `Max_tmp_space_used`) are the [`crate::Budget`]'s, not repeated here.
#[derive(Debug, Default)]
pub struct TempCounters {
    created_files: AtomicU64,
    writes: AtomicU64,
}

impl TempCounters {
    /// `Created_tmp_files`: temporary files that were asked for and got bytes. Space is recycled
    /// from one to the next, so fewer may exist in the file system.
    pub fn created_files(&self) -> u64 {
        self.created_files.load(Ordering::Relaxed)
    }

    /// How many extents were written.
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

/// Bytes of temporary files as tables gave them, and as files hold them: compressed, in whole units of 4 KiB.
#[derive(Debug, Default)]
pub struct TempUsage {
    logical: AtomicU64,
    logical_peak: AtomicU64,
    stored: AtomicU64,
    written_logical: AtomicU64,
    written_stored: AtomicU64,
}

impl TempUsage {
    /// Bytes of extents that exist, before compression.
    pub fn logical_bytes(&self) -> u64 {
        self.logical.load(Ordering::Relaxed)
    }

    /// The most that [`Self::logical_bytes`] ever was.
    pub fn logical_peak(&self) -> u64 {
        self.logical_peak.load(Ordering::Relaxed)
    }

    /// Bytes that extents take of files; what budgets are charged.
    pub fn stored_bytes(&self) -> u64 {
        self.stored.load(Ordering::Relaxed)
    }

    /// Bytes of all extents that were ever written, before compression.
    pub fn written_logical_bytes(&self) -> u64 {
        self.written_logical.load(Ordering::Relaxed)
    }

    /// Bytes that all extents that were ever written took of files.
    pub fn written_stored_bytes(&self) -> u64 {
        self.written_stored.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, logical: u64, stored: u64) {
        let now = self.logical.fetch_add(logical, Ordering::Relaxed) + logical;
        self.logical_peak.fetch_max(now, Ordering::Relaxed);
        self.stored.fetch_add(stored, Ordering::Relaxed);
    }

    pub(crate) fn remove(&self, logical: u64, stored: u64) {
        self.logical.fetch_sub(logical, Ordering::Relaxed);
        self.stored.fetch_sub(stored, Ordering::Relaxed);
    }

    pub(crate) fn count_written(&self, logical: u64, stored: u64) {
        self.written_logical.fetch_add(logical, Ordering::Relaxed);
        self.written_stored.fetch_add(stored, Ordering::Relaxed);
    }
}
