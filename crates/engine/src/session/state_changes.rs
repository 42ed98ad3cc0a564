//! Changes of a session that its client tracks, and the work of the transaction, as plain data. [`super::tracking`]
//! records and reports them; each is reported once.

use std::collections::BTreeSet;

/// Changes that a statement has made in its session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateChanges {
    /// The new current database; empty when there is none.
    pub schema: Option<String>,
    /// System variables with their new values.
    pub variables: Vec<(String, String)>,
    /// `session_track_state_change`: whether anything was changed.
    pub state: bool,
    /// `session_track_transaction_info`: the statements that would begin an equal transaction.
    pub transaction_characteristics: Option<String>,
    /// `session_track_transaction_info`: the transaction's work as eight letters.
    pub transaction_state: Option<String>,
}

impl StateChanges {
    /// Whether nothing is to be reported.
    #[inline]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Set of a statement's or transaction's kinds of work.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TransactionWork(u8);

impl TransactionWork {
    /// Non-transactional tables were read.
    pub(crate) const READ_WITHOUT: Self = Self(1);
    /// Transactional tables were read.
    pub(crate) const READ: Self = Self(1 << 1);
    /// Non-transactional tables were changed.
    pub(crate) const WRITTEN_WITHOUT: Self = Self(1 << 2);
    /// Transactional tables were changed.
    pub(crate) const WRITTEN: Self = Self(1 << 3);
    /// An unsafe statement ran: repeating its text might have another effect.
    pub(crate) const UNSAFE: Self = Self(1 << 4);
    /// Rows were sent.
    pub(crate) const SENT_ROWS: Self = Self(1 << 5);

    /// Letters of the kinds, in bit order.
    const LETTERS: &str = "rRwWsS";

    /// Adds another set, if `is_so`.
    pub(crate) fn add_if(&mut self, is_so: bool, other: Self) {
        if is_so {
            self.0 |= other.0;
        }
    }

    /// Removes another set.
    pub(crate) fn remove(&mut self, other: Self) {
        self.0 &= !other.0;
    }

    /// Whether a table was used: that begins a transaction when `autocommit` is off.
    pub(super) fn has_used_tables(self) -> bool {
        self.0 & (Self::UNSAFE.0 - 1) != 0
    }

    /// For each kind its letter if it is in the set, else `_`.
    pub(super) fn letters(self) -> impl Iterator<Item = char> {
        let letters = Self::LETTERS.chars().enumerate();
        letters.map(move |(bit, letter)| if self.0 >> bit & 1 == 1 { letter } else { '_' })
    }
}

/// Tracked changes, and the last reported state.
#[derive(Debug, Default)]
pub(super) struct Tracker {
    pub(super) changes: StateChanges,
    pub(super) schema: bool,
    /// Positions of changed variables.
    pub(super) variables: BTreeSet<usize>,
    pub(super) reported_characteristics: String,
    pub(super) reported_state: String,
    pub(super) work: TransactionWork,
}
