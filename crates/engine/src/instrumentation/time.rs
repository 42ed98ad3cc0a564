//! Conversion of times to integers.

use std::time::Duration;

/// A time in nanoseconds: up to 584 years.
#[inline]
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    let whole = time.as_secs().saturating_mul(1_000_000_000);
    whole.saturating_add(u64::from(time.subsec_nanos()))
}

/// A time in picoseconds, the unit of performance_schema.
pub(crate) fn picoseconds(time: Duration) -> u64 {
    nanoseconds(time).saturating_mul(1000)
}
