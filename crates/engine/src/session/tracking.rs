//! Changes of a session that its client wants to be told of: `session_track_…` (the manual, "Server
//! Tracking of Client Session State").
//!
//! Nothing is gathered unless the client asked for it.

use std::ops::BitOr;

use super::Session;
use crate::transaction::{Characteristics, Isolation};
use crate::variables::typed;
use crate::variables::{self, Setting};

/// What a statement has changed in its session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateChanges {
    /// The new current database; empty when there is none any more.
    pub schema: Option<String>,
    /// System variables with their new values.
    pub variables: Vec<(String, String)>,
    /// `session_track_state_change`: whether anything was changed.
    pub state: bool,
    /// `session_track_transaction_info`: the statements that would begin such a transaction.
    pub transaction_characteristics: Option<String>,
    /// `session_track_transaction_info`: what the transaction has done, as eight letters.
    pub transaction_state: Option<String>,
}

impl StateChanges {
    /// Whether nothing is to be reported.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What a statement or a transaction has done.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TransactionWork {
    /// Tables without transactions were read.
    pub(crate) read_without: bool,
    /// Tables with transactions were read.
    pub(crate) read: bool,
    /// Tables without transactions were changed.
    pub(crate) written_without: bool,
    /// Tables with transactions were changed.
    pub(crate) written: bool,
    /// Something ran that might do something else if its text were run again.
    pub(crate) is_unsafe: bool,
    /// Rows were sent.
    pub(crate) sent_rows: bool,
}

impl BitOr for TransactionWork {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self {
            read_without: self.read_without | other.read_without,
            read: self.read | other.read,
            written_without: self.written_without | other.written_without,
            written: self.written | other.written,
            is_unsafe: self.is_unsafe | other.is_unsafe,
            sent_rows: self.sent_rows | other.sent_rows,
        }
    }
}

impl TransactionWork {
    /// Whether a table was used: that begins a transaction where `autocommit` is off.
    pub(crate) fn has_used_tables(self) -> bool {
        self.read_without || self.read || self.written_without || self.written
    }

    /// Reads without and with transactions, changes without and with them, whether a statement was
    /// unsafe, and whether rows were sent.
    pub(crate) fn letters(self) -> [char; 6] {
        let letter = |is: bool, letter: char| if is { letter } else { '_' };
        [
            letter(self.read_without, 'r'),
            letter(self.read, 'R'),
            letter(self.written_without, 'w'),
            letter(self.written, 'W'),
            letter(self.is_unsafe, 's'),
            letter(self.sent_rows, 'S'),
        ]
    }
}

/// What is gathered, and what was reported last.
#[derive(Debug, Default)]
pub(super) struct Tracker {
    changes: StateChanges,
    schema: bool,
    /// Positions of variables with the values they had.
    variables: Vec<usize>,
    reported_characteristics: String,
    reported_state: String,
    work: TransactionWork,
}

impl Session {
    /// Whether the client wants to be told of changes of its session.
    pub fn track_state(&mut self, wanted: bool) {
        self.client.tracker = wanted.then(Box::default);
    }

    /// The changes since this was last asked; `None` when there are none, or none are tracked.
    pub fn take_state_changes(&mut self) -> Option<StateChanges> {
        self.client.tracker.as_ref()?;
        let transaction = self
            .settings
            .variables()
            .get(typed::SESSION_TRACK_TRANSACTION_INFO);
        let state = (transaction >= 1).then(|| self.transaction_state());
        let characteristics = (transaction >= 2).then(|| self.transaction_characteristics());
        let database = self.settings.current_database.clone();
        let tracker = self.client.tracker.as_mut()?;
        let mut changes = std::mem::take(&mut tracker.changes);
        if std::mem::take(&mut tracker.schema) {
            changes.schema = Some(database.as_deref().unwrap_or_default().to_owned());
        }
        let changed = |now: Option<String>, reported: &mut String| {
            let now = now?;
            (*reported != now).then(|| {
                reported.clone_from(&now);
                now
            })
        };
        changes.transaction_state = changed(state, &mut tracker.reported_state);
        changes.transaction_characteristics =
            changed(characteristics, &mut tracker.reported_characteristics);
        let mut positions = std::mem::take(&mut tracker.variables);
        positions.sort_unstable();
        positions.dedup();
        for position in positions {
            let variable = variables::all()[position];
            let value = variable.display(self.settings.variables().at(position));
            let value = value.unwrap_or_default();
            changes.variables.push((variable.name.to_owned(), value));
        }
        (!changes.is_empty()).then_some(changes)
    }

    /// Something of the session has changed.
    pub(crate) fn note_state_change(&mut self) {
        if self.client.tracker.is_some()
            && self
                .settings
                .variables()
                .get(typed::SESSION_TRACK_STATE_CHANGE)
            && let Some(tracker) = &mut self.client.tracker
        {
            tracker.changes.state = true;
        }
    }

    pub(super) fn note_database(&mut self) {
        self.note_state_change();
        if self.client.tracker.is_some()
            && self.settings.variables().get(typed::SESSION_TRACK_SCHEMA)
            && let Some(tracker) = &mut self.client.tracker
        {
            tracker.schema = true;
        }
    }

    /// SET has changed the session's value of a variable.
    pub(crate) fn note_variable(&mut self, position: usize) {
        if self.client.tracker.is_none() {
            return;
        }
        self.note_state_change();
        let name = variables::all()[position].name;
        let listed = self
            .settings
            .variables()
            .get(typed::SESSION_TRACK_SYSTEM_VARIABLES);
        let is_tracked = listed.is_some_and(|listed| {
            let mut names = listed.split(',').map(str::trim);
            names.any(|tracked| tracked == "*" || tracked.eq_ignore_ascii_case(name))
        });
        if let (true, Some(tracker)) = (is_tracked, &mut self.client.tracker) {
            tracker.variables.push(position);
        }
    }

    /// Whether the client is told what its transaction does.
    pub(crate) fn tracks_transaction(&self) -> bool {
        let variables = self.settings.variables();
        self.client.tracker.is_some() && variables.get(typed::SESSION_TRACK_TRANSACTION_INFO) > 0
    }

    /// A statement is about to run that does this in the transaction, or begins or ends one.
    pub(crate) fn note_work(&mut self, work: TransactionWork, begins_or_ends: bool) {
        if let Some(tracker) = &mut self.client.tracker {
            let before = if begins_or_ends {
                TransactionWork::default()
            } else {
                tracker.work
            };
            tracker.work = before | work;
        }
    }

    /// Transaction, unsafe and safe reads, unsafe and safe writes, unsafe statement, rows sent, LOCK
    /// TABLES.
    fn transaction_state(&mut self) -> String {
        let begun = self.transaction.current.is_begun();
        let begins_itself = !self.settings.options().autocommit;
        let locked = self.transaction.has_locked_tables();
        let Some(tracker) = &mut self.client.tracker else {
            return String::new();
        };
        let kind = match begun {
            true => 'T',
            false if begins_itself && tracker.work.has_used_tables() => 'I',
            false => {
                tracker.work = TransactionWork::default();
                '_'
            }
        };
        let locked = if locked { 'L' } else { '_' };
        let letters = tracker.work.letters().into_iter();
        std::iter::once(kind)
            .chain(letters)
            .chain([locked])
            .collect()
    }

    fn transaction_characteristics(&self) -> String {
        let usual = self.settings.options().transaction;
        let Characteristics {
            isolation,
            read_only,
        } = self.transaction.current.characteristics().unwrap_or(usual);
        let mut text = String::new();
        if isolation != usual.isolation {
            let level = match isolation {
                Isolation::ReadUncommitted => "READ UNCOMMITTED",
                Isolation::ReadCommitted => "READ COMMITTED",
                Isolation::RepeatableRead => "REPEATABLE READ",
                Isolation::Serializable => "SERIALIZABLE",
            };
            text.push_str(&format!("SET TRANSACTION ISOLATION LEVEL {level};"));
        }
        let access = match (read_only, read_only == usual.read_only) {
            (_, true) => "",
            (true, _) => " READ ONLY",
            (false, _) => " READ WRITE",
        };
        let last = match self.transaction.current.is_begun() {
            true => format!("START TRANSACTION{access};"),
            false if access.is_empty() => return text,
            false => format!("SET TRANSACTION{access};"),
        };
        if !text.is_empty() {
            text.push(' ');
        }
        text + &last
    }

    /// Sets a variable as SET does, and notes it.
    pub(crate) fn set_tracked(&mut self, position: usize, setting: Setting) {
        self.set_setting(position, setting);
        self.note_variable(position);
    }
}
