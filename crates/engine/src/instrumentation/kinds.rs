//! Statement totals by kind, of a session or of an account's ended sessions.
//!
//! A session runs few of the many kinds, and there may be thousands of sessions: the totals are an append-only list
//! of the kinds that were run, so that readers need no lock.

use std::sync::OnceLock;

use super::sums::{Alone, StatementSums, StatementTotals};
use crate::result::StatementSummary;
use crate::status::Counter;

/// Totals by statement kind: an append-only list that is read without a lock.
#[derive(Debug, Default)]
pub(crate) struct TotalsByKind(OnceLock<Box<Kind>>);

#[derive(Debug)]
struct Kind {
    /// The counter of its statements; `None` for texts with a syntax error.
    counter: Option<Counter>,
    totals: StatementTotals,
    next: OnceLock<Box<Kind>>,
}

impl TotalsByKind {
    #[inline]
    fn of(&self, counter: Option<Counter>) -> &StatementTotals {
        let mut place = &self.0;
        loop {
            let kind = place.get_or_init(|| {
                Box::new(Kind {
                    counter,
                    totals: StatementTotals::default(),
                    next: OnceLock::new(),
                })
            });
            if kind.counter == counter {
                return &kind.totals;
            }
            place = &kind.next;
        }
    }

    fn kinds(&self) -> impl Iterator<Item = &Kind> {
        let first = self.0.get();
        std::iter::successors(first, |kind| kind.next.get()).map(|kind| &**kind)
    }

    /// Counts a statement. Only the session's thread calls this.
    #[inline]
    pub(crate) fn add(
        &self,
        counter: Option<Counter>,
        summary: &StatementSummary,
        has_failed: bool,
    ) {
        self.of(counter).add::<Alone>(summary, has_failed);
    }

    /// The kinds with statements, and their totals.
    pub(crate) fn get(&self) -> impl Iterator<Item = (Option<Counter>, StatementSums)> {
        let kinds = self.kinds().map(|kind| (kind.counter, kind.totals.get()));
        kinds.filter(|(_, sums)| sums.count > 0)
    }

    /// Moves all totals into others.
    pub(crate) fn move_into(&self, others: &Self) {
        for kind in self.kinds() {
            kind.totals.move_into(others.of(kind.counter));
        }
    }

    /// Clears all totals.
    pub(crate) fn clear(&self) {
        self.kinds().for_each(|kind| kind.totals.clear());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_added_up_apart_and_moved() {
        let (session, account) = (TotalsByKind::default(), TotalsByKind::default());
        let summary = StatementSummary::default();
        let (select, insert) = (Some(Counter::ComSelect), Some(Counter::ComInsert));
        for counter in [select, insert, select, None, select] {
            session.add(counter, &summary, counter.is_none());
        }
        account.add(insert, &summary, false);
        session.move_into(&account);
        assert_eq!(session.get().count(), 0);
        let counts: Vec<_> = account
            .get()
            .map(|(counter, sums)| (counter, sums.count, sums.errors))
            .collect();
        assert_eq!(counts, [(insert, 2, 0), (select, 3, 0), (None, 1, 1)]);
        account.clear();
        assert_eq!(account.get().count(), 0);
    }
}
