//! Selection of statements for the slow log.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::entry::{SlowEntry, StatementKind};
use super::log_options::LogOptions;
use crate::result::StatementSummary;
use crate::variables::logs::{RATE_OF_QUERIES, SessionLogOptions, kind_bit};

const MICROSECONDS_OF_MINUTE: i64 = 60_000_000;

/// Decision about a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    No,
    /// The statement exceeded `long_query_time`.
    IsSlow,
    /// The statement is fast, but reads a table without an index.
    ForIndex,
}

/// Decides by the statement alone.
pub(super) fn decide(
    entry: &SlowEntry,
    session: &SessionLogOptions,
    options: &LogOptions,
) -> Decision {
    let summary = &entry.summary;
    let is_administration = entry.kind == StatementKind::Administration;
    if is_administration && (!options.administration || session.no_administration) {
        return Decision::No;
    }
    if summary.rows_examined < session.rows_examined_min {
        return Decision::No;
    }
    if session.filter != 0 && session.filter & kinds(summary, is_administration) == 0 {
        return Decision::No;
    }
    if summary.elapsed.as_secs_f64() > session.long_query_time {
        return Decision::IsSlow;
    }
    let wants_index = options.without_index || session.filter & kind_bit("not_using_index") != 0;
    // SHOW reads relations without indexes.
    if wants_index && summary.no_index_used && entry.kind != StatementKind::Show {
        return Decision::ForIndex;
    }
    Decision::No
}

/// The statement's kinds for `log_slow_filter`.
fn kinds(summary: &StatementSummary, is_administration: bool) -> u64 {
    [
        ("admin", is_administration),
        ("filesort", has_filesort(summary)),
        ("filesort_on_disk", has_filesort_on_disk(summary)),
        ("filesort_priority_queue", summary.sort_priority_queue > 0),
        ("full_join", summary.select_full_join > 0),
        ("full_scan", summary.select_scan > 0),
        ("not_using_index", summary.no_index_used),
        // There is no query cache: every statement misses it.
        ("query_cache_miss", true),
        ("tmp_table", summary.temporary_tables > 0),
        ("tmp_table_on_disk", summary.disk_tables > 0),
    ]
    .iter()
    .filter(|(_, is_of)| *is_of)
    .fold(0, |kinds, (word, _)| kinds | kind_bit(word))
}

/// Whether it sorted rows.
pub(super) fn has_filesort(summary: &StatementSummary) -> bool {
    summary.sort_scan + summary.sort_range > 0
}

/// Whether sorted rows went to disk.
pub(super) fn has_filesort_on_disk(summary: &StatementSummary) -> bool {
    summary.sort_merge_passes > 0
}

/// Whether a slow statement is in the sample of `log_slow_rate_limit`. `number` counts slow statements.
pub(super) fn is_in_sample(
    entry: &SlowEntry,
    session: &SessionLogOptions,
    options: &LogOptions,
    number: u64,
) -> bool {
    let limit = session.rate_limit.max(1);
    let chosen = if options.rate_type == RATE_OF_QUERIES {
        number
    } else {
        entry.session_id
    };
    chosen.is_multiple_of(limit) || entry.summary.elapsed.as_secs_f64() > options.always_above
}

/// `log_throttle_queries_not_using_indexes`: limit per minute of statements that are logged because they use no
/// index, and the summary line with the number of the suppressed ones.
#[derive(Debug, Default)]
pub(super) struct Throttle(Mutex<Window>);

#[derive(Debug, Default)]
struct Window {
    /// Microseconds since 1970 UTC.
    begun_at: i64,
    written: u64,
    suppressed: u64,
    elapsed: Duration,
    lock_time: Duration,
}

impl Throttle {
    /// Counts a statement. Returns whether it is suppressed, and the summary entry of the window that has ended, if
    /// it had suppressed ones.
    pub(super) fn count(
        &self,
        entry: &SlowEntry,
        is_for_index: bool,
        limit: u64,
    ) -> (bool, Option<SlowEntry>) {
        if limit == 0 {
            return (false, None);
        }
        let window = &mut *self.0.lock();
        let mut ended = None;
        if entry.ended_at - window.begun_at >= MICROSECONDS_OF_MINUTE {
            let last = std::mem::take(window);
            window.begun_at = entry.ended_at;
            ended = (last.suppressed > 0).then(|| last.sum(entry));
        }
        if !is_for_index {
            return (false, ended);
        }
        window.written += 1;
        if window.written <= limit {
            return (false, ended);
        }
        window.suppressed += 1;
        window.elapsed += entry.summary.elapsed;
        window.lock_time += entry.summary.lock_time;
        (true, ended)
    }
}

impl Window {
    fn sum(&self, next: &SlowEntry) -> SlowEntry {
        let text = format!(
            "throttle: {:10} 'index not used' warning(s) suppressed.",
            self.suppressed
        );
        SlowEntry {
            session_id: next.session_id,
            user_host: Arc::clone(&next.user_host),
            text: Arc::from(text),
            ended_at: next.ended_at,
            timestamp: next.ended_at / 1_000_000,
            summary: StatementSummary {
                elapsed: self.elapsed,
                lock_time: self.lock_time,
                ..StatementSummary::default()
            },
            ..SlowEntry::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::variables::Settings;
    use crate::variables::typed;

    fn entry(seconds: f64, change: impl FnOnce(&mut StatementSummary)) -> SlowEntry {
        let mut summary = StatementSummary {
            elapsed: Duration::from_secs_f64(seconds),
            ..StatementSummary::default()
        };
        change(&mut summary);
        SlowEntry {
            summary,
            ..SlowEntry::default()
        }
    }

    fn decision(entry: &SlowEntry, set: impl FnOnce(&mut Settings)) -> Decision {
        let mut settings = Settings::defaults();
        settings.put(typed::LONG_QUERY_TIME, 1.0);
        set(&mut settings);
        let session = SessionLogOptions::read(&settings);
        decide(entry, &session, &LogOptions::read(&settings, Path::new("")))
    }

    #[test]
    fn long_query_time_and_the_rows_that_are_read_decide() {
        assert_eq!(decision(&entry(1.0, |_| {}), |_| {}), Decision::No);
        let slow = entry(1.001, |summary| summary.rows_examined = 5);
        assert_eq!(decision(&slow, |_| {}), Decision::IsSlow);
        for (least, expected) in [(5, Decision::IsSlow), (6, Decision::No)] {
            let decided = decision(&slow, |set| set.put(typed::MIN_EXAMINED_ROW_LIMIT, least));
            assert_eq!(decided, expected);
        }
    }

    #[test]
    fn a_filter_takes_the_kinds_that_it_names() {
        let only = |word: &str| {
            let bit = kind_bit(word);
            move |set: &mut Settings| set.put(typed::LOG_SLOW_FILTER, bit)
        };
        let scan = entry(2.0, |summary| summary.select_scan = 1);
        let temporary = entry(2.0, |summary| summary.temporary_tables = 1);
        let on_disk = entry(2.0, |summary| {
            (summary.temporary_tables, summary.disk_tables) = (1, 1);
        });
        let sorted = entry(2.0, |summary| {
            (summary.sort_scan, summary.sort_priority_queue) = (1, 1);
        });
        for (entry, words) in [
            (&scan, &["full_scan", "query_cache_miss"][..]),
            (&temporary, &["tmp_table", "query_cache_miss"]),
            (
                &on_disk,
                &["tmp_table", "tmp_table_on_disk", "query_cache_miss"],
            ),
            (
                &sorted,
                &["filesort", "filesort_priority_queue", "query_cache_miss"],
            ),
        ] {
            for word in [
                "admin",
                "filesort",
                "filesort_on_disk",
                "filesort_priority_queue",
                "full_join",
                "full_scan",
                "query_cache",
                "query_cache_miss",
                "tmp_table",
                "tmp_table_on_disk",
            ] {
                let is_taken = decision(entry, only(word)) == Decision::IsSlow;
                assert_eq!(is_taken, words.contains(&word), "{word}");
            }
            let any = decision(entry, |set| set.put(typed::LOG_SLOW_FILTER, 0));
            assert_eq!(any, Decision::IsSlow);
        }
    }

    #[test]
    fn statements_without_an_index_are_taken_where_that_is_asked() {
        let mut scan = entry(0.0, |summary| summary.no_index_used = true);
        let asked = |set: &mut Settings| set.put(typed::LOG_QUERIES_NOT_USING_INDEXES, true);
        let filter =
            |set: &mut Settings| set.put(typed::LOG_SLOW_FILTER, kind_bit("not_using_index"));
        assert_eq!(decision(&scan, |_| {}), Decision::No);
        assert_eq!(decision(&scan, asked), Decision::ForIndex);
        assert_eq!(decision(&scan, filter), Decision::ForIndex);
        scan.kind = StatementKind::Show;
        assert_eq!(decision(&scan, asked), Decision::No);
    }

    #[test]
    fn administration_is_taken_where_both_variables_say_so() {
        let mut slow = entry(2.0, |_| {});
        slow.kind = StatementKind::Administration;
        assert_eq!(decision(&slow, |_| {}), Decision::No);
        let on = |set: &mut Settings| set.put(typed::LOG_SLOW_ADMIN_STATEMENTS, true);
        assert_eq!(decision(&slow, on), Decision::IsSlow);
        let disabled = |set: &mut Settings| {
            on(set);
            set.put(typed::LOG_SLOW_DISABLED_STATEMENTS, 1);
        };
        assert_eq!(decision(&slow, disabled), Decision::No);
    }

    #[test]
    fn a_rate_takes_one_of_so_many_and_all_that_are_very_slow() {
        let mut settings = Settings::defaults();
        settings.put(typed::LOG_SLOW_RATE_LIMIT, 10);
        let (fast, slow) = (entry(1.0, |_| {}), entry(11.0, |_| {}));
        let session = SessionLogOptions::read(&settings);
        let options = LogOptions::read(&settings, Path::new(""));
        let taken = (0..100).filter(|number| is_in_sample(&fast, &session, &options, *number));
        assert_eq!(taken.count(), 10);
        let taken = (0..100).filter(|number| is_in_sample(&slow, &session, &options, *number));
        assert_eq!(taken.count(), 100);
        settings.put(typed::LOG_SLOW_RATE_TYPE, 0);
        let options = LogOptions::read(&settings, Path::new(""));
        let taken = |session_id| {
            let of_session = SlowEntry {
                session_id,
                ..fast.clone()
            };
            (0..100).all(|number| is_in_sample(&of_session, &session, &options, number))
        };
        assert!(taken(20) && !taken(21));
    }

    #[test]
    fn a_throttle_sums_up_what_it_left_out() {
        let throttle = Throttle::default();
        let at = |seconds: i64| SlowEntry {
            ended_at: seconds * 1_000_000,
            ..entry(0.5, |_| {})
        };
        let count = |seconds, for_index| throttle.count(&at(seconds), for_index, 2);
        let suppressed: Vec<bool> = (0..5).map(|more| count(1000 + more, true).0).collect();
        assert_eq!(suppressed, [false, false, true, true, true]);
        // A slow statement is always written.
        assert!(!count(1010, false).0);
        let (suppressed, sum) = count(1060, true);
        assert!(!suppressed);
        let sum = sum.expect("something was left out");
        assert_eq!(
            &*sum.text,
            "throttle:          3 'index not used' warning(s) suppressed."
        );
        assert_eq!(sum.summary.elapsed, Duration::from_millis(1500));
        assert!(count(1200, true).1.is_none());
        let (suppressed, sum) = throttle.count(&at(1), true, 0);
        assert!(!suppressed && sum.is_none());
    }
}
