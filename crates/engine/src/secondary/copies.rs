//! The copy of a table in a secondary engine, and the place where a table keeps it.
//!
//! A copy never changes: a refresh makes another one, which shares the parts that are unchanged. A part is removed from
//! the engine when nobody has it any more, so a statement may read a copy that has been replaced meanwhile. A change of the
//! table's definition ends its copy, and whatever load is under way: the load finds that the
//! place is another one ([`CopyPlace::end`]) and keeps nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mayfly_storage::{TableState, WatchedRanges};
use mayfly_types::error::codes;
use mayfly_types::{Error, Interrupt, Result};
use parking_lot::{Condvar, Mutex};

use super::{SecondaryEngine, TablePart};
use crate::error::refuse;
use crate::kept_results::AsOf;

/// How often a wait for another load looks whether it is to end.
const LOOK: Duration = Duration::from_millis(20);

/// Time until a failed refresh is tried again at first, and at most: it doubles with each failure.
const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(60);

/// A part that an engine keeps; dropping it removes it there.
#[derive(Debug)]
pub(crate) struct Part {
    engine: Arc<dyn SecondaryEngine>,
    pub(crate) stored: TablePart,
}

impl Part {
    pub(crate) fn new(engine: &Arc<dyn SecondaryEngine>, stored: TablePart) -> Arc<Self> {
        Arc::new(Self {
            engine: Arc::clone(engine),
            stored,
        })
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // Nobody is left to tell: what stays takes space until the engine starts again, and is never read.
        let _ = self.engine.unload(&self.stored);
    }
}

/// The copy of a table as of a version.
#[derive(Debug)]
pub(crate) struct LoadedCopy {
    /// The positions of its columns in the table.
    pub(crate) columns: Vec<usize>,
    /// The parts, in the order of the table's rows.
    pub(crate) parts: Vec<Arc<Part>>,
    /// The ranges of the table's rows that are the parts, and for each the number of changes that the part has; `None`
    /// for a part that may lack some of them.
    pub(crate) ranges: Arc<WatchedRanges>,
    pub(crate) changes: Vec<Option<u64>>,
    pub(crate) as_of: AsOf,
    /// Number of the snapshot that it was read from.
    pub(crate) version: u64,
    /// When the load began and ended: microseconds since 1970 UTC.
    pub(crate) began: i64,
    pub(crate) ended: i64,
}

impl LoadedCopy {
    /// Number of its rows.
    pub(crate) fn rows(&self) -> u64 {
        self.parts.iter().map(|part| part.stored.rows).sum()
    }

    /// Bytes that it takes in the engine.
    pub(crate) fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.stored.bytes).sum()
    }

    /// Whether the table is unchanged since.
    pub(crate) fn is_fresh(&self) -> bool {
        self.as_of.is_current()
    }

    /// Whether a statement that reads a table in this state reads the copy's rows.
    pub(crate) fn serves(&self, reader: &TableState) -> bool {
        self.is_fresh() && self.as_of.is_seen_by(reader)
    }
}

/// A load that is under way, as its place knows it.
#[derive(Debug)]
struct Load {
    progress: Arc<LoadProgress>,
    began: i64,
}

/// Progress of a load.
#[derive(Debug, Default)]
pub(crate) struct LoadProgress {
    pub(crate) rows: AtomicU64,
    pub(crate) expected: AtomicU64,
    /// Whether its rows are wanted no more.
    is_void: AtomicBool,
}

impl LoadProgress {
    /// 1317 when its rows are wanted no more.
    pub(crate) fn check(&self) -> Result<()> {
        refuse(self.is_void.load(Ordering::Relaxed), || {
            codes::ER_QUERY_INTERRUPTED.error()
        })
    }

    /// Its part that is done, in percent; less than 100.
    fn percent(&self) -> f64 {
        let rows = self.rows.load(Ordering::Relaxed) as f64;
        let expected = self.expected.load(Ordering::Relaxed) as f64;
        (100.0 * rows / expected.max(1.0)).min(99.0)
    }
}

#[derive(Debug, Default)]
struct State {
    copy: Option<Arc<LoadedCopy>>,
    load: Option<Load>,
    /// Number of changes of the definition.
    generation: u64,
    /// Whether the table is to have a copy: it was loaded when the process ended, or is loaded.
    is_wanted: bool,
    failures: u32,
    retry: Option<Instant>,
    error: Option<String>,
}

/// State of a table in its secondary engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoadStatus {
    /// A table that is not loaded.
    Absent,
    /// A table that is being loaded, and has no copy yet.
    Loading,
    /// A table whose copy has all changes.
    Fresh,
    /// A table whose copy lacks changes.
    Stale,
    /// A table that was loaded, and is to be loaded again.
    Recovering,
}

/// What others see of the place of a copy.
#[derive(Debug)]
pub(crate) struct CopyStatus {
    pub(crate) status: LoadStatus,
    pub(crate) copy: Option<Arc<LoadedCopy>>,
    /// In percent.
    pub(crate) progress: f64,
    /// When the load under way began, or else the last one: microseconds since 1970 UTC.
    pub(crate) began: Option<i64>,
    pub(crate) queries: u64,
    pub(crate) queried: Option<i64>,
    /// The error of the last load.
    pub(crate) error: Option<String>,
}

/// The place of a table's copy, which its definitions share.
#[derive(Debug, Default)]
pub(crate) struct CopyPlace {
    state: Mutex<State>,
    load_ended: Condvar,
    /// Whether there is, or is to be, a copy.
    is_used: AtomicBool,
    queries: AtomicU64,
    queried: AtomicI64,
}

impl CopyPlace {
    /// The copy, fresh or not.
    pub(crate) fn copy(&self) -> Option<Arc<LoadedCopy>> {
        if !self.is_used() {
            return None;
        }
        self.state.lock().copy.clone()
    }

    /// Whether there is, or is to be, a copy.
    #[inline]
    pub(crate) fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Acquire)
    }

    /// Notes that the table is to be loaded.
    pub(crate) fn want(&self) {
        let mut state = self.state.lock();
        state.is_wanted = true;
        self.is_used.store(true, Ordering::Release);
    }

    /// Whether a refresh is due: there is a copy that is not fresh, or is to be one.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        if !self.is_used() {
            return false;
        }
        let state = self.state.lock();
        let is_fresh = state.copy.as_ref().is_some_and(|copy| copy.is_fresh());
        state.is_wanted
            && !is_fresh
            && state.load.is_none()
            && state.retry.is_none_or(|retry| retry <= now)
    }

    /// Notes that a statement reads the copy.
    pub(crate) fn note_query(&self, now: i64) {
        self.queries.fetch_add(1, Ordering::Relaxed);
        self.queried.store(now, Ordering::Relaxed);
    }

    /// Begins a load, once no other one is under way.
    ///
    /// # Errors
    /// 1317 when the statement ends before.
    pub(crate) fn begin(self: &Arc<Self>, interrupt: &Interrupt, now: i64) -> Result<RunningLoad> {
        let mut state = self.state.lock();
        while state.load.is_some() {
            interrupt.check()?;
            self.load_ended.wait_for(&mut state, LOOK);
        }
        let progress = Arc::<LoadProgress>::default();
        state.load = Some(Load {
            progress: Arc::clone(&progress),
            began: now,
        });
        self.is_used.store(true, Ordering::Release);
        Ok(RunningLoad {
            place: Arc::clone(self),
            generation: state.generation,
            previous: state.copy.clone(),
            progress,
            began: now,
        })
    }

    /// Ends the copy and the load that is under way; returns whether there was either.
    pub(crate) fn end(&self) -> bool {
        if !self.is_used() {
            return false;
        }
        let mut state = self.state.lock();
        let had = state.copy.is_some() || state.is_wanted;
        let copy = state.copy.take();
        if let Some(load) = &state.load {
            load.progress.is_void.store(true, Ordering::Relaxed);
        }
        *state = State {
            generation: state.generation + 1,
            load: state.load.take(),
            ..State::default()
        };
        self.is_used.store(state.load.is_some(), Ordering::Release);
        drop(state);
        // The engine removes the parts outside of the lock.
        drop(copy);
        had
    }

    /// What others see.
    pub(crate) fn status(&self) -> CopyStatus {
        let state = self.state.lock();
        let status = match (&state.copy, &state.load) {
            (Some(copy), _) if copy.is_fresh() => LoadStatus::Fresh,
            (Some(_), _) => LoadStatus::Stale,
            (None, Some(_)) => LoadStatus::Loading,
            (None, None) if state.is_wanted => LoadStatus::Recovering,
            (None, None) => LoadStatus::Absent,
        };
        let load = state.load.as_ref();
        let progress = match (load, &state.copy) {
            (Some(load), _) => load.progress.percent(),
            (None, Some(_)) => 100.0,
            (None, None) => 0.0,
        };
        let began = load.map(|load| load.began);
        let queried = self.queried.load(Ordering::Relaxed);
        CopyStatus {
            status,
            progress,
            began: began.or(state.copy.as_ref().map(|copy| copy.began)),
            copy: state.copy.clone(),
            queries: self.queries.load(Ordering::Relaxed),
            queried: (queried != 0).then_some(queried),
            error: state.error.clone(),
        }
    }
}

/// A load of a table; dropping it without [`Self::finish`] or [`Self::fail`] leaves everything as it was.
#[derive(Debug)]
pub(crate) struct RunningLoad {
    place: Arc<CopyPlace>,
    generation: u64,
    /// The copy until now.
    pub(crate) previous: Option<Arc<LoadedCopy>>,
    pub(crate) progress: Arc<LoadProgress>,
    /// When it began: microseconds since 1970 UTC.
    pub(crate) began: i64,
}

impl RunningLoad {
    /// Puts the new copy in its place; `None` if the table has changed its definition meanwhile, which leaves it
    /// unloaded.
    pub(crate) fn finish(self, copy: LoadedCopy) -> Option<Arc<LoadedCopy>> {
        let copy = Arc::new(copy);
        let mut state = self.place.state.lock();
        if state.generation != self.generation {
            return None;
        }
        let replaced = state.copy.replace(Arc::clone(&copy));
        (state.is_wanted, state.failures) = (true, 0);
        (state.retry, state.error) = (None, None);
        drop(state);
        // The engine removes the parts outside of the lock.
        drop(replaced);
        Some(copy)
    }

    /// Notes that the load has failed. A refresh is tried again, and leaves the old copy.
    pub(crate) fn fail(self, error: &Error) {
        let mut state = self.place.state.lock();
        if state.generation == self.generation {
            let wait = RETRY_MIN.saturating_mul(1 << state.failures.min(16));
            state.retry = Some(Instant::now() + wait.min(RETRY_MAX));
            state.failures += 1;
            state.error = Some(error.message().to_owned());
        }
    }
}

impl Drop for RunningLoad {
    fn drop(&mut self) {
        let mut state = self.place.state.lock();
        state.load = None;
        let is_used = state.copy.is_some() || state.is_wanted;
        self.place.is_used.store(is_used, Ordering::Release);
        drop(state);
        self.place.load_ended.notify_all();
    }
}
