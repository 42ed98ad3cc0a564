//! What a session does, as SHOW PROCESSLIST shows it.
//!
//! A statement that is run again and again only records when it begins and ends: its text stays, and
//! no lock is taken for it.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mayfly_types::Stages;

use crate::status::{COUNTERS, Counter};

/// What a client asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Work {
    /// Nothing: the session waits for its client.
    Nothing,
    /// A statement's text is run.
    Query,
    /// A statement is prepared.
    Prepare,
    /// A prepared statement is run.
    Execute,
}

impl Work {
    /// As SHOW PROCESSLIST names it.
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
    /// The statement that runs, or the last one.
    statement: Option<Arc<str>>,
}

/// What a session is doing. Only the session itself writes it.
#[derive(Debug)]
pub(crate) struct Activity {
    texts: Mutex<Texts>,
    /// A [`Work`].
    work: AtomicU8,
    /// One more than the counter of the running statement's kind.
    kind: AtomicUsize,
    /// What the running statement is busy with.
    pub(crate) stages: Stages,
    created: Instant,
    /// Nanoseconds after `created` when the work began, or ended.
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
            work: AtomicU8::new(Work::Nothing as u8),
            kind: AtomicUsize::new(0),
            stages: Stages::default(),
            created: Instant::now(),
            since: AtomicU64::new(0),
        }
    }

    /// Gives the time since the work before began, or ended.
    #[inline]
    fn set(&self, work: Work, now: Instant) -> Duration {
        let since = now.saturating_duration_since(self.created).as_nanos();
        let since = u64::try_from(since).unwrap_or(u64::MAX);
        let before = self.since.load(Ordering::Relaxed);
        self.since.store(since, Ordering::Relaxed);
        self.work.store(work as u8, Ordering::Release);
        Duration::from_nanos(since.saturating_sub(before))
    }

    /// Work on a statement begins; its text is given unless it is that of the one before.
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

    /// The running statement is of a kind; none is that of a text that is no statement.
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

    /// Another database is in use.
    pub(crate) fn use_database(&self, database: Option<Arc<str>>) {
        self.texts.lock().database = database;
    }

    /// The database in use.
    pub(crate) fn database(&self) -> Option<Arc<str>> {
        self.texts.lock().database.clone()
    }

    /// What is done.
    pub(crate) fn work(&self) -> Work {
        let work = self.work.load(Ordering::Acquire);
        let all = [Work::Nothing, Work::Query, Work::Prepare, Work::Execute];
        all[usize::from(work)]
    }

    /// What the running statement is busy with, as SHOW PROCESSLIST names it; empty for none.
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

    /// How long it has been running, or nothing has.
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
