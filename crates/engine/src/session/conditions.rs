//! The diagnostics area: what the running statement raised, and what the one before it left.

use std::sync::Arc;

use mayfly_types::{Diagnostics, Level};

use super::Session;

impl Session {
    pub(crate) fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// How many conditions the running statement has raised.
    pub(crate) fn own_conditions(&self) -> u64 {
        self.diagnostics.count() - self.conditions_kept
    }

    pub(crate) fn diagnostics_handle(&self) -> Arc<Diagnostics> {
        Arc::clone(&self.diagnostics)
    }

    /// An empty diagnostics area from here on.
    pub(super) fn reset_diagnostics(&mut self) {
        self.conditions_kept = 0;
        let (kept_max, notes) = (self.options.max_error_count, self.options.sql_notes);
        let is_as_made = self.diagnostics_made_for == (kept_max, notes);
        if is_as_made && self.diagnostics.count() == 0 && Arc::strong_count(&self.diagnostics) == 1
        {
            return;
        }
        self.diagnostics_made_for = (kept_max, notes);
        if let Some(diagnostics) = Arc::get_mut(&mut self.diagnostics) {
            diagnostics.reset(kept_max, notes);
            return;
        }
        let diagnostics = Diagnostics::new(kept_max);
        self.diagnostics = Arc::new(match notes {
            true => diagnostics,
            false => diagnostics.without_notes(),
        });
    }
}

/// How many conditions a statement has left: `@@warning_count` and `@@error_count` of the next one.
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
