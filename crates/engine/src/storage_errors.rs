//! Errors of disks that statements end with, told to who runs the server, too.
//!
//! A client is told that the disk is full, but whoever can free space reads the server's log. A full disk ends one
//! statement after the other, so the log gets one report a minute, with the number of those in between.

use std::sync::Mutex;

use mayfly_types::Error;
use mayfly_types::error::codes;

use crate::options::BackgroundErrors;

/// Microseconds between two reports.
const INTERVAL: i64 = 60_000_000;

/// Reports of errors of disks.
#[derive(Debug, Default)]
pub(crate) struct StorageErrors(Mutex<Reports>);

#[derive(Debug, Default)]
struct Reports {
    /// Time of the last report: microseconds since 1970 UTC.
    last: Option<i64>,
    /// Number of errors since.
    since: u64,
}

impl StorageErrors {
    /// Reports the error of a statement at a time, if a disk caused it and the last report is old enough.
    pub(crate) fn note(&self, error: &Error, now: i64, receiver: &dyn BackgroundErrors) {
        let causes = [
            &codes::ER_DISK_FULL,
            &codes::ER_ERROR_ON_WRITE,
            &codes::ER_ERROR_ON_READ,
        ];
        if !causes.iter().any(|cause| error.is(cause)) {
            return;
        }
        let mut reports = mayfly_memory::sync::lock(&self.0);
        let is_due = |last: i64| !(0..INTERVAL).contains(&now.saturating_sub(last));
        if !reports.last.is_none_or(is_due) {
            reports.since += 1;
            return;
        }
        reports.last = Some(now);
        let unreported = std::mem::take(&mut reports.since);
        drop(reports);
        receiver.storage(error, unreported);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default)]
    struct Received(Mutex<Vec<(u16, u64)>>);

    impl BackgroundErrors for Received {
        fn sync(&self, _error: Option<&Error>) {}

        fn storage(&self, error: &Error, unreported: u64) {
            let mut received = mayfly_memory::sync::lock(&self.0);
            received.push((error.errno(), unreported));
        }
    }

    #[test]
    fn one_report_a_minute_counts_the_others() {
        let (errors, received) = (StorageErrors::default(), Received::default());
        let full = codes::ER_DISK_FULL.with(&[&"data", &"no space"]);
        let unread = codes::ER_ERROR_ON_READ.with(&[&"data", &5]);
        let other = codes::ER_NO_DB_ERROR.error();
        let start = 1_700_000_000_000_000;
        for (error, second) in [
            (&other, 0),
            (&full, 0),
            (&full, 1),
            (&unread, 59),
            (&other, 59),
            (&unread, 60),
            (&full, 119),
            (&full, 200),
        ] {
            errors.note(error, start + second * 1_000_000, &received);
        }
        // A clock that was set back is no reason for silence.
        errors.note(&full, start, &received);
        let expected = [(1021, 0), (1024, 2), (1021, 1), (1021, 0)];
        assert_eq!(*mayfly_memory::sync::lock(&received.0), expected);
    }
}
