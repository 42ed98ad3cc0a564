//! Number and duration of waits for row locks: `Innodb_row_lock_…`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Counters of waits for row locks.
#[derive(Debug, Default)]
pub(in crate::base) struct LockWaits {
    waiting: AtomicU64,
    waits: AtomicU64,
    nanoseconds: AtomicU64,
    nanoseconds_most: AtomicU64,
}

/// Waits for row locks of all transactions since the store was opened.
#[derive(Debug, Clone, Copy, Default)]
pub struct RowLockWaits {
    /// Number of requests that wait now.
    pub waiting: u64,
    /// Number of requests that have waited.
    pub waits: u64,
    /// Total time waited.
    pub time: Duration,
    /// Longest time waited.
    pub longest: Duration,
}

impl LockWaits {
    /// Counts a wait until the guard is dropped; `is_new` unless the request has waited before.
    pub(super) fn begin(&self, is_new: bool) -> Waiting<'_> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.waits.fetch_add(u64::from(is_new), Ordering::Relaxed);
        Waiting {
            waits: self,
            since: Instant::now(),
        }
    }

    /// The current counts.
    pub(in crate::base) fn get(&self) -> RowLockWaits {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        RowLockWaits {
            waiting: get(&self.waiting),
            waits: get(&self.waits),
            time: Duration::from_nanos(get(&self.nanoseconds)),
            longest: Duration::from_nanos(get(&self.nanoseconds_most)),
        }
    }
}

pub(super) struct Waiting<'w> {
    waits: &'w LockWaits,
    since: Instant,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let waited = u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let waits = self.waits;
        waits.waiting.fetch_sub(1, Ordering::Relaxed);
        waits.nanoseconds.fetch_add(waited, Ordering::Relaxed);
        waits.nanoseconds_most.fetch_max(waited, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_counted_once_and_its_time_whenever() {
        let waits = LockWaits::default();
        let first = waits.begin(true);
        assert_eq!((waits.get().waiting, waits.get().waits), (1, 1));
        std::thread::sleep(Duration::from_millis(1));
        drop(first);
        let before = waits.get().time;
        drop(waits.begin(false));
        let after = waits.get();
        assert_eq!((after.waiting, after.waits), (0, 1));
        assert!(after.time > before && after.longest >= Duration::from_millis(1));
    }
}
