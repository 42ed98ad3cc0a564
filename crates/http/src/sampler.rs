//! Samples the source once a second, for the charts.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::api::{status, watch};
use crate::history::{History, Values};
use crate::source::{Row, Source};

const INTERVAL: Duration = Duration::from_secs(1);

/// The history, and the stop signal of its thread.
#[derive(Debug, Default)]
pub(crate) struct Sampler {
    history: Mutex<History>,
    is_ended: Mutex<bool>,
    end: Condvar,
}

impl Sampler {
    /// Samples until [`Self::end`].
    pub(crate) fn run(&self, source: &Arc<dyn Source>) {
        loop {
            let values = read(&**source);
            self.history().record(now(), values);
            let ended = lock(&self.is_ended);
            let waited = self
                .end
                .wait_timeout_while(ended, INTERVAL, |ended| !*ended);
            let (ended, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if *ended {
                return;
            }
        }
    }

    pub(crate) fn end(&self) {
        *lock(&self.is_ended) = true;
        self.end.notify_all();
    }

    pub(crate) fn history(&self) -> MutexGuard<'_, History> {
        lock(&self.history)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX))
}

/// One value for each of [`crate::history::SERIES`].
fn read(source: &dyn Source) -> Values {
    let tables = watch(source, TABLES).ok();
    let rows = tables.as_ref().map(|tables| {
        let is_foreign = |row: &Row<'_>| {
            !row.whole("SESSION_ID")
                .is_some_and(|id| source.is_watching(id))
        };
        tables.rows().filter(is_foreign).collect::<Vec<_>>()
    });
    let sum = |column: &str| {
        let values = rows.iter().flatten().filter_map(|row| row.number(column));
        rows.is_some().then(|| values.sum::<f64>())
    };
    let status = status::read(source).unwrap_or_default();
    let counter = |name: &str| status.get(name).copied();
    [
        sum("MEMORY_BYTES"),
        sum("DISK_BYTES"),
        rows.as_ref().map(|rows| rows.len() as f64),
        counter("threads_connected"),
        counter("threads_running"),
        counter("questions"),
        counter("created_tmp_tables"),
        counter("created_tmp_disk_tables"),
    ]
}

/// The live temporary tables, with all columns that the source has.
pub(crate) const TABLES: &str = "SELECT * FROM information_schema.TEMP_TABLES";
