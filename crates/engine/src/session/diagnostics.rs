//! Diagnostics that statements leave for the next one: the diagnostics area, the numbers of LAST_INSERT_ID(),
//! ROW_COUNT() and FOUND_ROWS(), and a summary of temporary tables.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mayfly_storage::temptable::RegistryEntry;
use mayfly_types::{Condition, Diagnostics, Level};
use parking_lot::Mutex;

use crate::result::{ResultUse, StatementSummary};
use crate::statement_options::StatementOptions;

/// Diagnostics area and counters that statements leave for the next statement.
#[derive(Debug)]
pub(crate) struct SessionDiagnostics {
    pub(super) area: Arc<Diagnostics>,
    /// `max_error_count` and `sql_notes` of the area.
    made_for: (usize, bool),
    /// Numbers of conditions that the statement before the running one had left.
    pub(super) before: ConditionCounts,
    /// Conditions in the area that are not the running statement's own.
    inherited: u64,
    pub(super) last_insert_id: Arc<AtomicU64>,
    /// `insert_id`
    pub(crate) insert_id: u64,
    pub(crate) row_count: i64,
    pub(crate) found_rows: u64,
    pub(crate) summary: StatementSummary,
    /// Kept results that the running statement has asked for.
    pub(super) results: Arc<Mutex<ResultUse>>,
    pub(crate) finished_temporary_tables: Vec<RegistryEntry>,
}

impl SessionDiagnostics {
    /// Diagnostics of a new session.
    pub(super) fn new(options: &StatementOptions) -> Self {
        Self {
            area: Arc::new(Diagnostics::new(options.max_error_count)),
            made_for: (options.max_error_count, true),
            before: ConditionCounts::default(),
            inherited: 0,
            last_insert_id: Arc::default(),
            insert_id: 0,
            row_count: -1,
            found_rows: 0,
            summary: StatementSummary::default(),
            results: Arc::default(),
            finished_temporary_tables: Vec::new(),
        }
    }

    /// Begins the summary of a statement.
    pub(super) fn begin_summary(&mut self) {
        if self.summary.results != ResultUse::default() {
            *self.results.lock() = ResultUse::default();
        }
        self.summary = StatementSummary::default();
    }

    /// Diagnostics of a frame: its numbers begin as those of the frame around it, with which it shares the counts of
    /// work done.
    pub(super) fn inner(&mut self, options: &StatementOptions) -> Self {
        Self {
            last_insert_id: Arc::new(AtomicU64::new(self.last_insert_id())),
            row_count: self.row_count,
            found_rows: self.found_rows,
            summary: self.summary,
            results: Arc::clone(&self.results),
            finished_temporary_tables: std::mem::take(&mut self.finished_temporary_tables),
            ..Self::new(options)
        }
    }

    /// Takes the counts of work from the diagnostics of a frame that ends.
    pub(super) fn end_inner(&mut self, inner: &mut Self) {
        let rows_sent = self.summary.rows_sent;
        self.summary = inner.summary;
        self.summary.rows_sent = rows_sent;
        self.finished_temporary_tables = std::mem::take(&mut inner.finished_temporary_tables);
    }

    /// The conditions that SHOW WARNINGS lists.
    pub(crate) fn conditions(&self) -> Vec<Condition> {
        self.area.conditions()
    }

    /// Number of conditions that the running statement has raised.
    #[inline]
    pub(crate) fn own_conditions(&self) -> u64 {
        self.area.count() - self.inherited
    }

    /// `LAST_INSERT_ID()`
    pub(crate) fn last_insert_id(&self) -> u64 {
        self.last_insert_id.load(Ordering::Relaxed)
    }

    pub(crate) fn set_last_insert_id(&self, id: u64) {
        self.last_insert_id.store(id, Ordering::Relaxed);
    }

    /// Prepares for a statement, which keeps the diagnostics of the one before (`keeps`) or clears them.
    pub(super) fn begin(&mut self, keeps: bool, options: &StatementOptions) {
        self.before = ConditionCounts::of(&self.area);
        if keeps {
            self.inherited = self.before.all;
        } else {
            self.reset(options);
        }
    }

    /// Clears the area.
    #[inline]
    pub(super) fn reset(&mut self, options: &StatementOptions) {
        self.inherited = 0;
        let (conditions_max, notes) = (options.max_error_count, options.sql_notes);
        let is_as_made = self.made_for == (conditions_max, notes);
        let is_clean = self.area.count() == 0 && self.area.refuses_nothing();
        if is_as_made && is_clean && Arc::strong_count(&self.area) == 1 {
            return;
        }
        self.made_for = (conditions_max, notes);
        if let Some(area) = Arc::get_mut(&mut self.area) {
            area.reset(conditions_max, notes);
            return;
        }
        let area = Diagnostics::new(conditions_max);
        self.area = Arc::new(if notes { area } else { area.without_notes() });
    }
}

/// Numbers of conditions that a statement has left: `@@warning_count` and `@@error_count` of the next one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ConditionCounts {
    pub(super) all: u64,
    pub(super) errors: u64,
}

impl ConditionCounts {
    pub(super) fn of(diagnostics: &Diagnostics) -> Self {
        let all = diagnostics.count();
        if all == 0 {
            return Self::default();
        }
        let conditions = diagnostics.conditions();
        let errors = conditions.iter().filter(|it| it.level == Level::Error);
        Self {
            all,
            errors: errors.count() as u64,
        }
    }
}
