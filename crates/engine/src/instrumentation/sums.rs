//! Statement totals: by digest, and by kind for each session and account.

use std::sync::atomic::{AtomicU64, Ordering};

use super::time::nanoseconds;
use crate::result::StatementSummary;

macro_rules! sums {
    (
        sums { $($name:ident: $documentation:literal;)* }
        maxima { $($most:ident: $most_documentation:literal;)* }
    ) => {
        /// Snapshot of statement totals.
        #[derive(Debug, Clone, Copy, Default)]
        pub(crate) struct StatementSums {
            $(#[doc = $documentation] pub(crate) $name: u64,)*
            $(#[doc = $most_documentation] pub(crate) $most: u64,)*
        }

        impl StatementSums {
            /// Adds the totals of other statements.
            #[inline]
            pub(crate) fn add(&mut self, other: &Self) {
                $(self.$name = self.$name.wrapping_add(other.$name);)*
                $(self.$most = self.$most.max(other.$most);)*
            }
        }

        /// Concurrent statement totals.
        #[derive(Debug, Default)]
        pub(crate) struct StatementTotals {
            $($name: AtomicU64,)*
            $($most: AtomicU64,)*
        }

        impl StatementTotals {
            /// A snapshot of the totals.
            pub(crate) fn get(&self) -> StatementSums {
                StatementSums {
                    $($name: self.$name.load(Ordering::Relaxed),)*
                    $($most: self.$most.load(Ordering::Relaxed),)*
                }
            }

            /// Clears all totals.
            pub(crate) fn clear(&self) {
                $(self.$name.store(0, Ordering::Relaxed);)*
                $(self.$most.store(0, Ordering::Relaxed);)*
            }

            /// Moves all totals into others.
            pub(crate) fn move_into(&self, other: &Self) {
                $(other.$name.fetch_add(self.$name.swap(0, Ordering::Relaxed), Ordering::Relaxed);)*
                $(other.$most.fetch_max(self.$most.swap(0, Ordering::Relaxed), Ordering::Relaxed);)*
            }
        }
    };
}

sums! {
    sums {
        count: "Statements that have ended.";
        nanoseconds: "The time that they took.";
        nanoseconds_locked: "The time of it that they waited for locks.";
        errors: "Those that ended with an error.";
        warnings: "Warnings and notes that they raised.";
        rows_affected: "Rows that they changed.";
        rows_sent: "Rows that they gave.";
        rows_examined: "Rows that they read.";
        created_tmp_tables: "Internal temporary tables.";
        created_tmp_disk_tables: "Those that went to disk.";
        hit_tmp_table_size: "Those that went to disk at tmp_table_size.";
        hit_max_ram: "Those that went to disk at temptable_max_ram.";
        tmp_bytes: "The most memory of each statement's temporary tables.";
        tmp_bytes_written: "Bytes that went to temporary files.";
        on_secondary: "Those that a secondary engine computed.";
        bytes_exchanged: "Bytes of rows that processes of a secondary engine sent each other.";
        select_full_join: "Joins without an index.";
        select_full_range_join: "Joins that read ranges of a later table.";
        select_range: "Those that read ranges of their first table.";
        select_scan: "Those that scan their first table.";
        sort_merge_passes: "Merges of sorted runs.";
        sort_range: "Sorts over ranges.";
        sort_rows: "Rows that were sorted.";
        sort_scan: "Sorts over scans.";
        no_index_used: "Those that read a table without an index.";
    }
    maxima {
        nanoseconds_most: "The longest time.";
        nanoseconds_least_complement: "The complement of the shortest time, so that it is a maximum too.";
        tmp_bytes_most: "The most memory that the temporary tables of one statement held.";
        tmp_disk_bytes_most: "The most bytes in temporary files of one statement.";
    }
}

impl StatementSums {
    /// The shortest time in nanoseconds.
    pub(crate) fn nanoseconds_least(&self) -> u64 {
        match self.count {
            0 => 0,
            _ => !self.nanoseconds_least_complement,
        }
    }
}

/// Mode of addition.
pub(super) trait Adding {
    fn add(sum: &AtomicU64, amount: u64);
    fn raise(most: &AtomicU64, value: u64);
}

/// Atomic addition by several threads.
pub(super) struct Together;

impl Adding for Together {
    #[inline]
    fn add(sum: &AtomicU64, amount: u64) {
        if amount > 0 {
            sum.fetch_add(amount, Ordering::Relaxed);
        }
    }

    /// Raises a maximum; it is read before it is written, since it seldom changes.
    #[inline]
    fn raise(most: &AtomicU64, value: u64) {
        if value > most.load(Ordering::Relaxed) {
            most.fetch_max(value, Ordering::Relaxed);
        }
    }
}

/// Addition by one thread, with other readers: load and store may be separate.
pub(super) struct Alone;

impl Adding for Alone {
    #[inline]
    fn add(sum: &AtomicU64, amount: u64) {
        if amount > 0 {
            let sum_before = sum.load(Ordering::Relaxed);
            sum.store(sum_before.wrapping_add(amount), Ordering::Relaxed);
        }
    }

    #[inline]
    fn raise(most: &AtomicU64, value: u64) {
        if value > most.load(Ordering::Relaxed) {
            most.store(value, Ordering::Relaxed);
        }
    }
}

impl StatementTotals {
    /// Number of statements.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// The longest time in nanoseconds.
    pub(crate) fn nanoseconds_most(&self) -> u64 {
        self.nanoseconds_most.load(Ordering::Relaxed)
    }

    /// Counts a statement.
    #[inline]
    pub(super) fn add<A: Adding>(&self, summary: &StatementSummary, has_failed: bool) {
        let locked = nanoseconds(summary.lock_time);
        let nanoseconds = nanoseconds(summary.elapsed);
        for (sum, amount) in [
            (&self.count, 1),
            (&self.nanoseconds, nanoseconds),
            (&self.nanoseconds_locked, locked),
            (&self.errors, u64::from(has_failed)),
            (&self.warnings, summary.warnings),
            (&self.rows_affected, summary.rows_affected),
            (&self.rows_sent, summary.rows_sent),
            (&self.rows_examined, summary.rows_examined),
        ] {
            A::add(sum, amount);
        }
        if summary.has_worked {
            for (sum, amount) in [
                (&self.created_tmp_tables, summary.temporary_tables),
                (&self.created_tmp_disk_tables, summary.disk_tables),
                (&self.hit_tmp_table_size, summary.hit_tmp_table_size),
                (&self.hit_max_ram, summary.hit_max_ram),
                (&self.tmp_bytes, summary.memory_peak),
                (&self.tmp_bytes_written, summary.bytes_overflowed),
                (&self.on_secondary, u64::from(summary.on_secondary)),
                (&self.bytes_exchanged, summary.bytes_exchanged),
                (&self.select_full_join, summary.select_full_join),
                (&self.select_full_range_join, summary.select_full_range_join),
                (&self.select_range, summary.select_range),
                (&self.select_scan, summary.select_scan),
                (&self.sort_merge_passes, summary.sort_merge_passes),
                (&self.sort_range, summary.sort_range),
                (&self.sort_rows, summary.sort_rows),
                (&self.sort_scan, summary.sort_scan),
                (&self.no_index_used, u64::from(summary.no_index_used)),
            ] {
                A::add(sum, amount);
            }
            A::raise(&self.tmp_bytes_most, summary.memory_peak);
            A::raise(&self.tmp_disk_bytes_most, summary.disk_peak);
        }
        A::raise(&self.nanoseconds_most, nanoseconds);
        A::raise(&self.nanoseconds_least_complement, !nanoseconds);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn summary(nanoseconds: u64, rows_sent: u64) -> StatementSummary {
        StatementSummary {
            elapsed: Duration::from_nanos(nanoseconds),
            rows_sent,
            ..StatementSummary::default()
        }
    }

    #[test]
    fn statements_are_added_up_in_either_way_and_moved() {
        let (alone, together) = (StatementTotals::default(), StatementTotals::default());
        assert_eq!(alone.get().nanoseconds_least(), 0);
        for (nanoseconds, rows) in [(7, 1), (3, 0), (5, 2)] {
            alone.add::<Alone>(&summary(nanoseconds, rows), false);
            together.add::<Together>(&summary(nanoseconds, rows), true);
        }
        alone.move_into(&together);
        assert_eq!((alone.count(), alone.nanoseconds_most()), (0, 0));
        let mut sums = together.get();
        assert_eq!((sums.count, sums.nanoseconds, sums.rows_sent), (6, 30, 6));
        assert_eq!(sums.errors, 3);
        assert_eq!((sums.nanoseconds_least(), sums.nanoseconds_most), (3, 7));
        alone.add::<Alone>(&summary(1, 0), false);
        sums.add(&alone.get());
        assert_eq!((sums.count, sums.nanoseconds_least()), (7, 1));
    }
}
