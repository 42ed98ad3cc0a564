//! The diagnostics area of a statement: what SHOW WARNINGS lists.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Error;

/// The severity of a [`Condition`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Something worth knowing.
    Note,
    /// Something that was adjusted.
    Warning,
    /// What ended the statement.
    Error,
}

/// One line of SHOW WARNINGS.
#[derive(Debug, Clone)]
pub struct Condition {
    /// How severe.
    pub level: Level,
    /// Errno, SQLSTATE and text.
    pub error: Error,
}

/// Places for conditions that stay from one statement to the next.
const USUAL_CONDITIONS: usize = 64;

/// Collects the conditions of one statement, from any number of threads.
#[derive(Debug)]
pub struct Diagnostics {
    conditions: Mutex<Vec<Condition>>,
    count: AtomicU64,
    kept_max: usize,
    keeps_notes: bool,
}

impl Diagnostics {
    /// An empty area that keeps the first `kept_max` conditions (`max_error_count`) and counts all.
    pub fn new(kept_max: usize) -> Self {
        Self {
            conditions: Mutex::new(Vec::new()),
            count: AtomicU64::new(0),
            kept_max,
            keeps_notes: true,
        }
    }

    /// Forgets notes, as `sql_notes = 0` asks.
    pub fn without_notes(mut self) -> Self {
        self.keeps_notes = false;
        self
    }

    /// An empty area again.
    pub fn reset(&mut self, kept_max: usize, keeps_notes: bool) {
        let conditions = self.conditions.get_mut();
        let conditions = conditions.unwrap_or_else(|e| e.into_inner());
        conditions.clear();
        conditions.shrink_to(USUAL_CONDITIONS);
        *self.count.get_mut() = 0;
        self.kept_max = kept_max;
        self.keeps_notes = keeps_notes;
    }

    /// Adds a condition.
    pub fn push(&self, level: Level, error: Error) {
        self.push_with(level, || error);
    }

    /// Adds a condition whose text is made only if it is kept: a column of a million wrong values
    /// costs a million texts otherwise.
    pub fn push_with(&self, level: Level, error: impl FnOnce() -> Error) {
        if level == Level::Note && !self.keeps_notes {
            return;
        }
        let before = self.count.fetch_add(1, Ordering::Relaxed);
        if before >= self.kept_max as u64 {
            return;
        }
        let error = error();
        let mut conditions = self.conditions.lock().unwrap_or_else(|e| e.into_inner());
        if conditions.len() < self.kept_max {
            conditions.push(Condition { level, error });
        }
    }

    /// Adds a warning whose text is made only if it is kept.
    pub fn warn_with(&self, error: impl FnOnce() -> Error) {
        self.push_with(Level::Warning, error);
    }

    /// Adds a warning.
    pub fn warn(&self, error: Error) {
        self.push(Level::Warning, error);
    }

    /// How many conditions there were (`@@warning_count`), kept or not.
    #[inline]
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// The kept conditions, in order.
    pub fn conditions(&self) -> Vec<Condition> {
        self.conditions
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .clone()
    }
}
