//! What statements of each kind did: the sums of a session, or of all sessions of an account that have ended.

use std::sync::OnceLock;

use super::sums::{Alone, StatementSums, StatementTotals};
use crate::result::StatementSummary;
use crate::status::{COUNTERS, Counter};

/// One for each counter of statements, and one behind them for texts that are no statement.
const KINDS: usize = COUNTERS.len() + 1;

/// See the module. What a session never runs takes a word.
#[derive(Debug)]
pub(crate) struct TotalsByKind([OnceLock<Box<StatementTotals>>; KINDS]);

impl Default for TotalsByKind {
    fn default() -> Self {
        Self([const { OnceLock::new() }; KINDS])
    }
}

impl TotalsByKind {
    fn of(&self, position: usize) -> &StatementTotals {
        self.0[position].get_or_init(Box::default)
    }

    /// Counts a statement. Only the session's thread does.
    #[inline]
    pub(crate) fn add(
        &self,
        command: Option<Counter>,
        summary: &StatementSummary,
        has_failed: bool,
    ) {
        let position = command.map_or(KINDS - 1, |counter| counter as usize);
        self.of(position).add::<Alone>(summary, has_failed);
    }

    /// The kinds of which there were any, with their sums.
    pub(crate) fn get(&self) -> impl Iterator<Item = (Option<Counter>, StatementSums)> {
        let kinds = self.0.iter().enumerate();
        kinds.filter_map(|(position, totals)| {
            let sums = totals.get()?.get();
            let counter = COUNTERS.get(position).map(|(counter, _)| *counter);
            (sums.count > 0).then_some((counter, sums))
        })
    }

    /// Moves all into others.
    pub(crate) fn move_into(&self, others: &Self) {
        for (position, totals) in self.0.iter().enumerate() {
            if let Some(totals) = totals.get() {
                totals.move_into(others.of(position));
            }
        }
    }

    /// Forgets all.
    pub(crate) fn clear(&self) {
        self.0
            .iter()
            .filter_map(OnceLock::get)
            .for_each(|totals| totals.clear());
    }
}
