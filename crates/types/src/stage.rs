//! Stages of a running statement: the thread states of SHOW PROCESSLIST, and the profile of a statement.
//!
//! The code that does a part of a statement's work calls [`Stages::enter`], in whichever crate it is: that is one
//! relaxed store. Only with profiling, the time is noted too. A wait for a lock happens [within](Stages::wait_for_lock)
//! a stage that is always timed, since a wait costs more than its measurement.
//!
//! Names are those of MySQL (the manual, "General Thread States") for the same work. MySQL's work that this engine does
//! not do, such as closing a table after each statement, is not a stage here.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

macro_rules! stages {
    ($($name:ident => $text:literal, $documentation:literal;)*) => {
        /// A stage of a statement.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Stage {
            $(#[doc = $documentation] $name),*
        }

        impl Stage {
            /// All stages.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Name in SHOW PROCESSLIST and SHOW PROFILE.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text),*
                }
            }
        }
    };
}

stages! {
    Starting => "starting", "The statement begins: its text is read.";
    CheckingPermissions => "checking permissions", "Whether the session may do it.";
    OpeningTables => "Opening tables", "Names become tables.";
    Optimizing => "optimizing", "A plan is made.";
    Preparing => "preparing", "The operators of a plan are made.";
    Executing => "executing", "Rows are read.";
    Update => "update", "Rows are added.";
    Updating => "updating", "Rows are changed or deleted.";
    CreatingTable => "creating table", "A table is defined.";
    AlteringTable => "altering table", "The definition of a table is changed, where its rows stay.";
    CopyToTmpTable => "copy to tmp table", "Rows are copied for ALTER TABLE.";
    SecondaryLoad => "loading into secondary engine", "Rows are copied into a secondary engine.";
    CreatingTmpTable => "Creating tmp table", "An internal temporary table is filled in memory.";
    ConvertingHeapToOndisk => "converting HEAP to ondisk", "An internal temporary table of the MEMORY engine is copied to disk.";
    CopyingToTmpTableOnDisk => "Copying to tmp table on disk", "An internal temporary table is filled that has overflowed.";
    SortingResult => "Sorting result", "Rows are sorted.";
    RemovingTmpTable => "removing tmp table", "Internal temporary tables are given back.";
    UserSleep => "User sleep", "SLEEP()";
    UserLock => "User lock", "A wait for a lock of GET_LOCK().";
    WaitingForTable => "Waiting for table metadata lock", "A wait for a table that another session uses otherwise.";
    WaitingForRow => "Waiting for row lock", "A wait for rows or keys that another transaction has locked.";
    End => "end", "There are no more rows.";
    QueryEnd => "query end", "What was done is done.";
    WaitingForHandlerCommit => "waiting for handler commit", "A transaction ends.";
    ClosingTables => "closing tables", "Tables are used no more.";
    FreeingItems => "freeing items", "The statement's memory is given back.";
    CleaningUp => "cleaning up", "The statement is counted.";
    SendingToClient => "Sending to client", "Rows are written to the client.";
}

/// Resources used by a process, all of its threads together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResourceUsage {
    /// Time in the program itself.
    pub user: Duration,
    /// Time in the operating system.
    pub system: Duration,
    /// Voluntary context switches.
    pub voluntary_switches: u64,
    /// Involuntary context switches.
    pub involuntary_switches: u64,
    /// Blocks that were read.
    pub blocks_in: u64,
    /// Blocks that were written.
    pub blocks_out: u64,
    /// Messages that were sent.
    pub messages_sent: u64,
    /// Messages that were received.
    pub messages_received: u64,
    /// Page faults that read from a disk.
    pub major_faults: u64,
    /// Page faults that did not read from a disk.
    pub minor_faults: u64,
    /// Times that the process was swapped out.
    pub swaps: u64,
}

impl ResourceUsage {
    /// The difference from an earlier measurement.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            user: self.user.saturating_sub(before.user),
            system: self.system.saturating_sub(before.system),
            voluntary_switches: self
                .voluntary_switches
                .saturating_sub(before.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(before.involuntary_switches),
            blocks_in: self.blocks_in.saturating_sub(before.blocks_in),
            blocks_out: self.blocks_out.saturating_sub(before.blocks_out),
            messages_sent: self.messages_sent.saturating_sub(before.messages_sent),
            messages_received: self
                .messages_received
                .saturating_sub(before.messages_received),
            major_faults: self.major_faults.saturating_sub(before.major_faults),
            minor_faults: self.minor_faults.saturating_sub(before.minor_faults),
            swaps: self.swaps.saturating_sub(before.swaps),
        }
    }
}

/// A stage that has ended.
#[derive(Debug, Clone, Copy)]
pub struct StageSpan {
    /// The stage.
    pub stage: Stage,
    /// When it began.
    pub began: Instant,
    /// Duration of the stage.
    pub duration: Duration,
    /// Resources used during the stage, where they are measured.
    pub usage: ResourceUsage,
}

/// Function that measures the resources used by the process.
pub type MeasureUsage = fn() -> ResourceUsage;

/// Greatest number of stages noted of a statement; later ones count to the last.
const SPANS_MAX: usize = 4096;

#[derive(Debug, Default)]
struct Timeline {
    measure: Option<MeasureUsage>,
    /// Start of each stage, and the resources used until then.
    begun: Vec<(Stage, Instant, ResourceUsage)>,
}

impl Timeline {
    fn note(&mut self, stage: Stage) {
        let usage = self
            .measure
            .map_or_else(Default::default, |measure| measure());
        if self.begun.len() < SPANS_MAX {
            self.begun.push((stage, Instant::now(), usage));
        }
    }
}

#[derive(Debug, Default)]
struct Shared {
    /// A [`Stage`].
    current: AtomicU8,
    /// Whether the timeline is kept.
    is_timed: AtomicBool,
    nanoseconds_locked: AtomicU64,
    timeline: Mutex<Timeline>,
}

/// The stages of one session's statements. Cloning gives another handle.
#[derive(Debug, Clone, Default)]
pub struct Stages(Arc<Shared>);

impl Stages {
    fn timeline(&self) -> MutexGuard<'_, Timeline> {
        let timeline = self.0.timeline.lock();
        timeline.unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a stage.
    #[inline]
    pub fn enter(&self, stage: Stage) {
        self.0.current.store(stage as u8, Ordering::Relaxed);
        if self.0.is_timed.load(Ordering::Relaxed) {
            self.timeline().note(stage);
        }
    }

    /// The current stage.
    pub fn current(&self) -> Stage {
        let current = usize::from(self.0.current.load(Ordering::Relaxed));
        Stage::ALL.get(current).copied().unwrap_or(Stage::Starting)
    }

    /// Enters a stage until the guard is dropped, which returns to the previous stage.
    #[must_use]
    pub fn within(&self, stage: Stage) -> StageGuard<'_> {
        let before = self.current();
        self.enter(stage);
        StageGuard {
            stages: self,
            before,
        }
    }

    /// [`Self::within`] for a wait for a lock of tables or rows, which is timed.
    #[must_use]
    pub fn wait_for_lock(&self, stage: Stage) -> LockWaitGuard<'_> {
        LockWaitGuard {
            begun: Instant::now(),
            stage: self.within(stage),
        }
    }

    /// Begins a statement. The times of its stages are noted if it `is_timed`, and their resources if there is a
    /// `measure`.
    #[inline]
    pub fn begin(&self, is_timed: bool, measure: Option<MeasureUsage>) {
        if self.0.nanoseconds_locked.load(Ordering::Relaxed) > 0 {
            self.0.nanoseconds_locked.store(0, Ordering::Relaxed);
        }
        if is_timed {
            *self.timeline() = Timeline {
                measure,
                begun: Vec::new(),
            };
            self.0.is_timed.store(true, Ordering::Relaxed);
        }
        self.enter(Stage::Starting);
    }

    /// Time for which the statement has waited for locks of tables and rows.
    #[inline]
    pub fn locked(&self) -> Duration {
        Duration::from_nanos(self.0.nanoseconds_locked.load(Ordering::Relaxed))
    }

    /// The current stage and its start, if the statement is timed.
    pub fn current_since(&self) -> Option<(Stage, Instant)> {
        if !self.0.is_timed.load(Ordering::Relaxed) {
            return None;
        }
        let timeline = self.timeline();
        timeline
            .begun
            .last()
            .map(|(stage, began, _)| (*stage, *began))
    }

    /// Ends the statement; returns its stages, if it was timed.
    #[inline]
    pub fn finish(&self) -> Vec<StageSpan> {
        if !self.0.is_timed.load(Ordering::Relaxed) {
            return Vec::new();
        }
        self.0.is_timed.store(false, Ordering::Relaxed);
        let timeline = std::mem::take(&mut *self.timeline());
        let usage = timeline
            .measure
            .map_or_else(Default::default, |measure| measure());
        let ends = timeline.begun.iter().skip(1);
        let ends = ends.map(|(_, began, usage)| (*began, *usage));
        let ends = ends.chain([(Instant::now(), usage)]);
        let spans = timeline.begun.iter().zip(ends);
        let span = |((stage, began, before), (ended, after)): (
            &(Stage, Instant, ResourceUsage),
            (Instant, ResourceUsage),
        )| StageSpan {
            stage: *stage,
            began: *began,
            duration: ended.saturating_duration_since(*began),
            usage: after.since(before),
        };
        spans.map(span).collect()
    }
}

/// Guard of [`Stages::within`].
#[derive(Debug)]
pub struct StageGuard<'s> {
    stages: &'s Stages,
    before: Stage,
}

impl Drop for StageGuard<'_> {
    fn drop(&mut self) {
        self.stages.enter(self.before);
    }
}

/// Guard of [`Stages::wait_for_lock`].
#[derive(Debug)]
pub struct LockWaitGuard<'s> {
    begun: Instant,
    stage: StageGuard<'s>,
}

impl Drop for LockWaitGuard<'_> {
    fn drop(&mut self) {
        let waited = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let locked = &self.stage.stages.0.nanoseconds_locked;
        locked.fetch_add(waited, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(spans: &[StageSpan]) -> Vec<&'static str> {
        spans.iter().map(|span| span.stage.name()).collect()
    }

    #[test]
    fn stages_are_noted_where_somebody_asks() {
        let stages = Stages::default();
        stages.begin(false, None);
        stages.enter(Stage::Executing);
        assert_eq!(stages.current(), Stage::Executing);
        assert!(stages.finish().is_empty() && stages.current_since().is_none());
        stages.begin(true, None);
        stages.enter(Stage::Executing);
        drop(stages.within(Stage::UserSleep));
        let since = stages.current_since().map(|(stage, _)| stage);
        assert_eq!(since, Some(Stage::Executing));
        let spans = stages.finish();
        assert_eq!(
            names(&spans),
            ["starting", "executing", "User sleep", "executing"]
        );
        for pair in spans.windows(2) {
            assert_eq!(pair[0].began + pair[0].duration, pair[1].began);
        }
        assert!(stages.finish().is_empty());
    }

    #[test]
    fn a_wait_for_a_lock_is_timed_always() {
        let stages = Stages::default();
        stages.begin(false, None);
        stages.enter(Stage::Updating);
        {
            let _wait = stages.wait_for_lock(Stage::WaitingForRow);
            assert_eq!(stages.current().name(), "Waiting for row lock");
            std::thread::sleep(Duration::from_millis(2));
        }
        assert_eq!(stages.current(), Stage::Updating);
        assert!(stages.locked() >= Duration::from_millis(2));
        stages.begin(false, None);
        assert_eq!(stages.locked(), Duration::ZERO);
    }

    #[test]
    fn a_span_has_what_was_used_in_it() {
        static USED: AtomicU64 = AtomicU64::new(0);
        let measure: MeasureUsage = || ResourceUsage {
            minor_faults: USED.fetch_add(3, Ordering::Relaxed),
            ..ResourceUsage::default()
        };
        let stages = Stages::default();
        stages.begin(true, Some(measure));
        stages.enter(Stage::End);
        let faults = stages
            .finish()
            .into_iter()
            .map(|span| span.usage.minor_faults);
        assert_eq!(faults.collect::<Vec<_>>(), [3, 3]);
    }

    #[test]
    fn a_statement_of_very_many_stages_takes_little() {
        let stages = Stages::default();
        stages.begin(true, None);
        for _ in 0..SPANS_MAX {
            drop(stages.within(Stage::CreatingTmpTable));
        }
        assert_eq!(stages.finish().len(), SPANS_MAX);
    }
}
