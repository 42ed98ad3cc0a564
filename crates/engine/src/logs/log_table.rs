//! In-memory tables of the logs' last entries.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use mayfly_memory::{Budget, Reservation};
use parking_lot::Mutex;

use super::entry::{GeneralEntry, SlowEntry};

/// Bytes of a row besides its texts.
const ROW_BYTES: usize = 256;

/// A row of a log.
pub(crate) trait LogRow: Clone {
    /// Estimated bytes of the row.
    fn bytes(&self) -> u64;
}

/// A row of `mysql.slow_log`.
#[derive(Debug, Clone)]
pub(crate) struct SlowRow {
    /// Microseconds since 1970 UTC.
    pub(crate) start_time: i64,
    pub(crate) user_host: Arc<str>,
    pub(crate) query_time: Duration,
    pub(crate) lock_time: Duration,
    pub(crate) rows_sent: u64,
    pub(crate) rows_examined: u64,
    pub(crate) database: Option<Arc<str>>,
    pub(crate) server_id: u64,
    pub(crate) text: Arc<str>,
    pub(crate) thread_id: u64,
}

impl SlowRow {
    /// The row of an entry.
    pub(super) fn of(entry: &SlowEntry, server_id: u64) -> Self {
        let summary = &entry.summary;
        Self {
            // MySQL's column has the end time of the statement, too.
            start_time: entry.ended_at,
            user_host: Arc::clone(&entry.user_host),
            query_time: summary.elapsed,
            lock_time: summary.lock_time,
            rows_sent: summary.rows_sent,
            rows_examined: summary.rows_examined,
            database: entry.database.clone(),
            server_id,
            text: Arc::clone(&entry.text),
            thread_id: entry.session_id,
        }
    }
}

impl LogRow for SlowRow {
    fn bytes(&self) -> u64 {
        (ROW_BYTES + self.text.len()) as u64
    }
}

/// A row of `mysql.general_log`.
#[derive(Debug, Clone)]
pub(crate) struct GeneralRow {
    /// Microseconds since 1970 UTC.
    pub(crate) event_time: i64,
    pub(crate) user_host: Arc<str>,
    pub(crate) thread_id: u64,
    pub(crate) server_id: u64,
    pub(crate) command: Box<str>,
    pub(crate) argument: Box<str>,
}

impl GeneralRow {
    /// The row of an entry.
    pub(super) fn of(entry: &GeneralEntry<'_>, server_id: u64) -> Self {
        Self {
            event_time: entry.at,
            user_host: Arc::clone(&entry.user_host),
            thread_id: entry.session_id,
            server_id,
            command: Box::from(entry.command),
            argument: Box::from(entry.argument),
        }
    }
}

impl LogRow for GeneralRow {
    fn bytes(&self) -> u64 {
        (ROW_BYTES + self.command.len() + self.argument.len()) as u64
    }
}

/// The last entries of a log, in memory.
#[derive(Debug)]
pub(crate) struct LogTable<R> {
    budget: Budget,
    rows: Mutex<Rows<R>>,
}

#[derive(Debug)]
struct Rows<R> {
    rows: VecDeque<R>,
    held: Reservation,
}

impl<R: LogRow> LogTable<R> {
    /// An empty table.
    pub(super) fn new(budget: Budget) -> Self {
        let rows = Rows {
            rows: VecDeque::new(),
            held: budget.reservation(),
        };
        Self {
            budget,
            rows: Mutex::new(rows),
        }
    }

    /// Adds a row. The oldest rows are evicted for its memory; a row that does not fit is dropped.
    pub(super) fn add(&self, row: R) {
        let bytes = row.bytes();
        let rows = &mut *self.rows.lock();
        while rows.held.try_grow(bytes).is_err() {
            let Some(oldest) = rows.rows.pop_front() else {
                return;
            };
            rows.held.shrink(oldest.bytes());
        }
        rows.rows.push_back(row);
    }

    /// The rows, the oldest first.
    pub(crate) fn rows(&self) -> Vec<R> {
        self.rows.lock().rows.iter().cloned().collect()
    }

    /// TRUNCATE TABLE
    pub(crate) fn clear(&self) {
        let rows = &mut *self.rows.lock();
        rows.rows = VecDeque::new();
        rows.held.free();
    }

    /// Bytes of the rows.
    pub(super) fn bytes(&self) -> u64 {
        self.budget.used()
    }
}

#[cfg(test)]
mod tests {
    use mayfly_memory::BudgetKind;

    use super::*;

    #[test]
    fn the_oldest_rows_go_when_there_is_no_room() {
        let budget = Budget::root(BudgetKind::Memory, "mysql.general_log", 3000);
        let table = LogTable::new(budget);
        let add = |number: u64, argument: &str| {
            table.add(GeneralRow {
                event_time: 0,
                user_host: Arc::from(""),
                thread_id: number,
                server_id: 1,
                command: Box::from("Query"),
                argument: Box::from(argument),
            });
        };
        let numbers = || {
            let rows = table.rows().into_iter();
            rows.map(|row| row.thread_id).collect::<Vec<_>>()
        };
        for number in 0..20 {
            add(number, "SELECT 1");
        }
        assert_eq!(numbers(), (9..20).collect::<Vec<_>>());
        add(20, &"x".repeat(2000));
        assert_eq!(numbers(), [18, 19, 20]);
        // A row larger than the whole table is dropped.
        add(21, &"x".repeat(4000));
        assert_eq!(numbers(), [0_u64; 0]);
        assert_eq!(table.bytes(), 0);
        add(22, "");
        table.clear();
        assert_eq!((numbers().len(), table.bytes()), (0, 0));
    }
}
