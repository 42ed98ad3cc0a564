//! The diagnostics area of a statement: what SHOW WARNINGS lists.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::error::{Error, ErrorCode, codes};

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
    /// Severity.
    pub level: Level,
    /// Errno, SQLSTATE and text.
    pub error: Error,
}

/// Number of conditions whose memory is kept from one statement to the next.
const USUAL_CONDITIONS: usize = 64;

/// Collects the conditions of one statement, from any number of threads.
#[derive(Debug)]
pub struct Diagnostics {
    conditions: Mutex<Vec<Condition>>,
    count: AtomicU64,
    kept_max: usize,
    keeps_notes: bool,
    /// A [`Refusal`]: which warnings are errors of the statement.
    refusal: AtomicU8,
    /// The first such warning.
    refused: Mutex<Option<Error>>,
}

/// Which warnings of expressions are errors of a statement that changes rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// None.
    Nothing,
    /// In strict mode, warnings about values that are invalid or do not fit.
    Values,
    /// As `Values`, and with ERROR_FOR_DIVISION_BY_ZERO also warnings about divisions.
    ValuesAndDivisions,
}

impl Refusal {
    fn of(number: u8) -> Self {
        match number {
            0 => Self::Nothing,
            1 => Self::Values,
            _ => Self::ValuesAndDivisions,
        }
    }

    fn refuses(self, error: &Error) -> bool {
        match self {
            Self::Nothing => false,
            _ if REFUSED.iter().any(|code| error.is(code)) => true,
            Self::Values => false,
            Self::ValuesAndDivisions => error.is(&codes::ER_DIVISION_BY_ZERO),
        }
    }
}

/// Warnings that strict mode makes errors.
const REFUSED: &[&ErrorCode] = &[
    &codes::ER_TRUNCATED_WRONG_VALUE,
    &codes::ER_WRONG_TEMPORAL_VALUE,
    &codes::ER_WRONG_VALUE_FOR_TYPE,
    &codes::ER_WARN_DATA_OUT_OF_RANGE,
    &codes::ER_WARN_ALLOWED_PACKET_OVERFLOWED,
    &codes::ER_DATETIME_FUNCTION_OVERFLOW,
    &codes::ER_INVALID_ARGUMENT_FOR_LOGARITHM,
    &codes::ER_CUT_VALUE_GROUP_CONCAT,
];

impl Diagnostics {
    /// An empty area that keeps the first `kept_max` conditions (`max_error_count`) and counts all.
    pub fn new(kept_max: usize) -> Self {
        Self {
            conditions: Mutex::new(Vec::new()),
            count: AtomicU64::new(0),
            kept_max,
            keeps_notes: true,
            refusal: AtomicU8::new(Refusal::Nothing as u8),
            refused: Mutex::new(None),
        }
    }

    /// Makes the area ignore notes (`sql_notes = 0`).
    pub fn without_notes(mut self) -> Self {
        self.keeps_notes = false;
        self
    }

    /// Empties the area for the next statement.
    pub fn reset(&mut self, kept_max: usize, keeps_notes: bool) {
        let conditions = self.conditions.get_mut();
        let conditions = conditions.unwrap_or_else(|e| e.into_inner());
        conditions.clear();
        conditions.shrink_to(USUAL_CONDITIONS);
        *self.count.get_mut() = 0;
        *self.refusal.get_mut() = Refusal::Nothing as u8;
        let refused = self.refused.get_mut();
        *refused.unwrap_or_else(|e| e.into_inner()) = None;
        self.kept_max = kept_max;
        self.keeps_notes = keeps_notes;
    }

    /// Adds a condition.
    pub fn push(&self, level: Level, error: Error) {
        self.push_with(level, || error);
    }

    /// Adds the conditions of other processes: `count`, of which these are the first.
    pub fn receive(&self, count: u64, conditions: &[Condition]) {
        for condition in conditions {
            self.push(condition.level, condition.error.clone());
        }
        let others = count.saturating_sub(conditions.len() as u64);
        self.count.fetch_add(others, Ordering::Relaxed);
    }

    /// Number of conditions that are kept at most, and whether notes are.
    pub fn limits(&self) -> (usize, bool) {
        (self.kept_max, self.keeps_notes)
    }

    /// Adds a condition whose text is made only if it is kept: otherwise a column of a million wrong values would make
    /// a million texts.
    pub(crate) fn push_with(&self, level: Level, error: impl FnOnce() -> Error) {
        if level == Level::Note && !self.keeps_notes {
            return;
        }
        let refusal = Refusal::of(self.refusal.load(Ordering::Relaxed));
        if refusal == Refusal::Nothing || level != Level::Warning {
            return self.keep(level, error);
        }
        let error = error();
        if refusal.refuses(&error) {
            let mut refused = self.refused.lock().unwrap_or_else(|e| e.into_inner());
            refused.get_or_insert(error);
        } else {
            self.keep(level, || error);
        }
    }

    fn keep(&self, level: Level, error: impl FnOnce() -> Error) {
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

    /// Makes some warnings errors of the statement from here on: they are not added as conditions, and
    /// [`Self::refused`] gives the first.
    pub fn refuse(&self, refusal: Refusal) {
        self.refusal.store(refusal as u8, Ordering::Relaxed);
    }

    /// Which warnings are errors of the statement.
    pub fn refusal(&self) -> Refusal {
        Refusal::of(self.refusal.load(Ordering::Relaxed))
    }

    /// Whether no warning is an error of the statement.
    pub fn refuses_nothing(&self) -> bool {
        self.refusal.load(Ordering::Relaxed) == Refusal::Nothing as u8
    }

    /// Takes the first warning since [`Self::refuse`] that is an error.
    pub fn refused(&self) -> Option<Error> {
        if self.refuses_nothing() {
            return None;
        }
        let mut refused = self.refused.lock().unwrap_or_else(|e| e.into_inner());
        refused.take()
    }

    /// Adds a warning whose text is made only if it is kept.
    pub fn warn_with(&self, error: impl FnOnce() -> Error) {
        self.push_with(Level::Warning, error);
    }

    /// Adds a warning.
    pub fn warn(&self, error: Error) {
        self.push(Level::Warning, error);
    }

    /// Number of conditions (`@@warning_count`), kept or not.
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
