//! Accounts of the bytes that files use and may use: of one directory, and of all together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::budget::UNLIMITED;

/// After this many refused requests a full device is asked again: files of others may have been removed.
const ASK_AGAIN: u64 = 64;

/// The limit that a file cannot grow within.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoRoom {
    /// The limit of all directories together.
    Total,
    /// The capacity of this directory.
    Capacity,
    /// The device of this directory, which was found full.
    Device,
}

/// Account of the space of a directory, or of all directories.
#[derive(Debug)]
pub(super) struct DiskSpace {
    used: AtomicU64,
    limit: u64,
    /// Bytes in use when the device was found full.
    device: AtomicU64,
    turned_away: AtomicU64,
    total: Option<Arc<DiskSpace>>,
}

impl DiskSpace {
    /// The account of all directories.
    pub(super) fn total(limit: u64) -> Arc<Self> {
        Arc::new(Self::new(limit, None))
    }

    /// The account of a directory.
    pub(super) fn part(limit: u64, total: &Arc<Self>) -> Self {
        Self::new(limit, Some(Arc::clone(total)))
    }

    fn new(limit: u64, total: Option<Arc<Self>>) -> Self {
        Self {
            used: AtomicU64::new(0),
            limit,
            device: AtomicU64::new(UNLIMITED),
            turned_away: AtomicU64::new(0),
            total,
        }
    }

    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Takes `bytes` more if no limit forbids it.
    pub(super) fn grow(&self, bytes: u64) -> Result<(), NoRoom> {
        if bytes == 0 {
            return Ok(());
        }
        let device = self.device.load(Ordering::Relaxed);
        let ceiling = self.limit.min(device);
        let more = |used: u64| used.checked_add(bytes).filter(|used| *used <= ceiling);
        let grown = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        if let Err(used) = grown {
            if used.saturating_add(bytes) > self.limit {
                let is_part = self.total.is_some();
                return Err(if is_part {
                    NoRoom::Capacity
                } else {
                    NoRoom::Total
                });
            }
            if self.turned_away.fetch_add(1, Ordering::Relaxed) % ASK_AGAIN == ASK_AGAIN - 1 {
                self.forget_full_device();
            }
            return Err(NoRoom::Device);
        }
        let total = self
            .total
            .as_ref()
            .map_or(Ok(()), |total| total.grow(bytes));
        if total.is_err() {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
        }
        total
    }

    pub(super) fn shrink(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(total) = &self.total {
            total.shrink(bytes);
        }
    }

    /// Notes that a file that took `before` bytes now takes `now`.
    pub(super) fn changed(&self, before: u64, now: u64) {
        match before.checked_sub(now) {
            Some(fewer) => self.shrink(fewer),
            None => {
                self.used.fetch_add(now - before, Ordering::Relaxed);
                if let Some(total) = &self.total {
                    total.changed(before, now);
                }
            }
        }
    }

    /// Notes that the device has no more than the bytes in use.
    pub(super) fn note_full_device(&self) {
        self.device.store(self.used(), Ordering::Relaxed);
    }

    /// Forgets that the device was full.
    pub(super) fn forget_full_device(&self) {
        self.device.store(UNLIMITED, Ordering::Relaxed);
    }
}
