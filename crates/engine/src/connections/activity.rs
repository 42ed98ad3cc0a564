//! Present activity of a session, for SHOW PROCESSLIST.
//!
//! A repeated statement only records its start and end: its text stays, and no lock is taken.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mayfly_types::Stages;
use parking_lot::Mutex;

use crate::status::{COUNTERS, Counter};

/// Kind of a client's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Work {
    /// None: the session waits for its client.
    Nothing,
    /// A text query runs.
    Query,
    /// A statement is being prepared.
    Prepare,
    /// A prepared statement runs.
    Execute,
}

impl Work {
    /// Its name in SHOW PROCESSLIST.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nothing => "Sleep",
            Self::Query => "Query",
            Self::Prepare => "Prepare",
            Self::Execute => "Execute",
        }
    }
}

#[derive(Debug)]
struct Texts {
    database: Option<Arc<str>>,
    /// The running statement, or the last one.
    statement: Option<Arc<str>>,
}

/// What a session is doing. Only the session itself writes it.
#[derive(Debug)]
pub(crate) struct Activity {
    texts: Mutex<Texts>,
    /// A [`Work`].
    work: AtomicU8,
    /// One more than the counter of the running statement's kind; 0 for none.
    kind: AtomicUsize,
    /// The stages of the running statement.
    pub(crate) stages: Stages,
    created: Instant,
    /// Nanoseconds after `created` of the last change of `work`.
    since: AtomicU64,
}

impl Activity {
    /// An idle session.
    pub(crate) fn new(database: Option<Arc<str>>) -> Self {
        Self {
            texts: Mutex::new(Texts {
                database,
                statement: None,
            }),
            work: AtomicU8::new(Work::Nothing as u8),
            kind: AtomicUsize::new(0),
            stages: Stages::default(),
            created: Instant::now(),
            since: AtomicU64::new(0),
        }
    }

    /// Changes the work; returns the time since the last change.
    #[inline]
    fn set(&self, work: Work, now: Instant) -> Duration {
        let since = now.saturating_duration_since(self.created).as_nanos();
        let since = u64::try_from(since).unwrap_or(u64::MAX);
        let before = self.since.load(Ordering::Relaxed);
        self.since.store(since, Ordering::Relaxed);
        self.work.store(work as u8, Ordering::Release);
        Duration::from_nanos(since.saturating_sub(before))
    }

    /// Begins work on a statement; its text is given unless it is the previous one's.
    #[inline]
    pub(crate) fn begin(&self, work: Work, text: Option<&Arc<str>>, now: Instant) {
        if let Some(text) = text {
            self.texts.lock().statement = Some(Arc::clone(text));
        }
        self.set(work, now);
    }

    /// Ends the current work; returns how long it took.
    #[inline]
    pub(crate) fn end(&self, now: Instant) -> Duration {
        self.set(Work::Nothing, now)
    }

    /// Sets the kind of the running statement; `None` for a text with a syntax error.
    #[inline]
    pub(crate) fn is_of(&self, kind: Option<Counter>) {
        let number = kind.map_or(0, |counter| counter as usize + 1);
        self.kind.store(number, Ordering::Relaxed);
    }

    /// The kind of the running statement, or of the last one.
    pub(crate) fn kind(&self) -> Option<Counter> {
        let position = self.kind.load(Ordering::Relaxed).checked_sub(1)?;
        COUNTERS.get(position).map(|(counter, _)| *counter)
    }

    /// Changes the current database.
    pub(crate) fn use_database(&self, database: Option<Arc<str>>) {
        self.texts.lock().database = database;
    }

    /// The current database.
    pub(crate) fn database(&self) -> Option<Arc<str>> {
        self.texts.lock().database.clone()
    }

    /// The present work.
    pub(crate) fn work(&self) -> Work {
        let work = self.work.load(Ordering::Acquire);
        let all = [Work::Nothing, Work::Query, Work::Prepare, Work::Execute];
        all[usize::from(work)]
    }

    /// The stage of the running statement, as SHOW PROCESSLIST names it; empty for none.
    pub(crate) fn state(&self) -> &'static str {
        match self.work() {
            Work::Nothing => "",
            _ => self.stages.current().name(),
        }
    }

    /// The running statement.
    pub(crate) fn statement(&self) -> Option<Arc<str>> {
        match self.work() {
            Work::Nothing => None,
            _ => self.texts.lock().statement.clone(),
        }
    }

    /// Time since the present work, or idleness, began.
    pub(crate) fn duration(&self) -> Duration {
        let since = Duration::from_nanos(self.since.load(Ordering::Relaxed));
        self.created.elapsed().saturating_sub(since)
    }
}

#[cfg(test)]
mod tests {
    use mayfly_types::Stage;

    use super::*;

    #[test]
    fn a_text_is_seen_while_its_statement_runs() {
        let activity = Activity::new(Some(Arc::from("test")));
        assert_eq!(activity.statement(), None);
        let text: Arc<str> = Arc::from("SELECT 1");
        activity.begin(Work::Query, Some(&text), Instant::now());
        assert_eq!(activity.statement(), Some(Arc::clone(&text)));
        assert_eq!(activity.work().name(), "Query");
        assert_eq!(activity.state(), "starting");
        let waits = activity.stages.within(Stage::UserLock);
        assert_eq!(activity.state(), "User lock");
        drop(waits);
        activity.end(Instant::now());
        assert_eq!((activity.statement(), activity.state()), (None, ""));
        assert_eq!(activity.work().name(), "Sleep");
        activity.begin(Work::Execute, None, Instant::now());
        assert_eq!(activity.statement(), Some(text));
        activity.use_database(None);
        assert_eq!(activity.database(), None);
    }
}
