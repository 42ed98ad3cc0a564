//! Counter of the AUTO_INCREMENT numbers of a table's rows (the manual, "AUTO_INCREMENT Handling in InnoDB").

use std::sync::atomic::{AtomicU64, Ordering};

/// Counter of AUTO_INCREMENT numbers: the number of the next row.
#[derive(Debug)]
pub(crate) struct AutoIncrement(AtomicU64);

impl AutoIncrement {
    /// A counter that starts at `next`.
    pub(super) fn new(next: u64) -> Self {
        Self(AtomicU64::new(next.max(1)))
    }

    /// The number of the next row.
    pub(crate) fn next(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Takes the next number of the series `offset`, `offset` + `step`, …
    pub(crate) fn take(&self, step: u64, offset: u64) -> u64 {
        self.take_several(1, step, offset)
    }

    /// Takes the next `count` numbers of the series and returns the first.
    pub(crate) fn take_several(&self, count: u64, step: u64, offset: u64) -> u64 {
        // An offset beyond the step is ignored, as the manual says of auto_increment_offset.
        let offset = if offset > step { 1 } else { offset };
        let in_series = |next: u64| {
            let steps = next.saturating_sub(offset).div_ceil(step);
            steps.saturating_mul(step).saturating_add(offset)
        };
        let more = count.saturating_sub(1).saturating_mul(step);
        let take = |next: u64| Some(in_series(next).saturating_add(more).saturating_add(1));
        let order = Ordering::Relaxed;
        let (Ok(next) | Err(next)) = self.0.fetch_update(order, order, take);
        in_series(next)
    }

    /// Returns unused numbers: the next row gets the number that it had before, unless others were taken since.
    pub(crate) fn give_back(&self, taken_to: u64, next: u64) {
        let order = Ordering::Relaxed;
        let _ = self.0.compare_exchange(taken_to, next, order, order);
    }

    /// Sets the number of the next row.
    pub(crate) fn set(&self, next: u64) {
        self.0.store(next.max(1), Ordering::Relaxed);
    }

    /// Advances the counter to `next`, if it is less.
    #[inline]
    pub(crate) fn advance(&self, next: u64) {
        self.0.fetch_max(next, Ordering::Relaxed);
    }
}
