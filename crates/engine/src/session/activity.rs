//! What a session does, for others to see: SHOW PROCESSLIST.
//!
//! A statement that is run again and again only says when it begins and ends: its text stays, and
//! nobody is locked out for it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[derive(Debug)]
struct Texts {
    database: Option<Arc<str>>,
    /// The statement that runs, or the last one.
    statement: Option<Arc<str>>,
}

/// See the module. The session alone writes it.
#[derive(Debug)]
pub(crate) struct Activity {
    texts: Mutex<Texts>,
    is_running: AtomicBool,
    created: Instant,
    /// Nanoseconds after `created` when the statement began, or ended.
    since: AtomicU64,
}

impl Activity {
    /// Idle.
    pub(crate) fn new(database: Option<Arc<str>>) -> Self {
        Self {
            texts: Mutex::new(Texts {
                database,
                statement: None,
            }),
            is_running: AtomicBool::new(false),
            created: Instant::now(),
            since: AtomicU64::new(0),
        }
    }

    fn texts(&self) -> MutexGuard<'_, Texts> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, is_running: bool, now: Instant) {
        let since = now.saturating_duration_since(self.created).as_nanos();
        let since = u64::try_from(since).unwrap_or(u64::MAX);
        self.since.store(since, Ordering::Relaxed);
        self.is_running.store(is_running, Ordering::Release);
    }

    /// A statement begins; its text is given unless it is that of the one before.
    pub(crate) fn begin(&self, text: Option<&Arc<str>>, now: Instant) {
        if let Some(text) = text {
            self.texts().statement = Some(Arc::clone(text));
        }
        self.set(true, now);
    }

    /// It has ended.
    pub(crate) fn end(&self, now: Instant) {
        self.set(false, now);
    }

    /// Another database is in use.
    pub(crate) fn use_database(&self, database: Option<Arc<str>>) {
        self.texts().database = database;
    }

    /// The database in use.
    pub(crate) fn database(&self) -> Option<Arc<str>> {
        self.texts().database.clone()
    }

    /// The running statement.
    pub(crate) fn statement(&self) -> Option<Arc<str>> {
        match self.is_running.load(Ordering::Acquire) {
            true => self.texts().statement.clone(),
            false => None,
        }
    }

    /// How long it has been running, or nothing has.
    pub(crate) fn duration(&self) -> Duration {
        let since = Duration::from_nanos(self.since.load(Ordering::Relaxed));
        self.created.elapsed().saturating_sub(since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_seen_while_its_statement_runs() {
        let activity = Activity::new(Some(Arc::from("test")));
        assert_eq!(activity.statement(), None);
        let text: Arc<str> = Arc::from("SELECT 1");
        activity.begin(Some(&text), Instant::now());
        assert_eq!(activity.statement(), Some(Arc::clone(&text)));
        activity.end(Instant::now());
        assert_eq!(activity.statement(), None);
        activity.begin(None, Instant::now());
        assert_eq!(activity.statement(), Some(text));
        activity.use_database(None);
        assert_eq!(activity.database(), None);
    }
}
