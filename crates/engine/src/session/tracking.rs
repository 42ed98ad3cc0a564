//! Changes of a session that are reported to its client: `session_track_…` (the manual, "Server
//! Tracking of Client Session State").
//!
//! Nothing is recorded unless the client asked for it.

use super::Session;
use super::state_changes::{StateChanges, Tracker, TransactionWork};
use crate::transaction::{Characteristics, Isolation};
use crate::variables::typed::{self, Variable};
use crate::variables::{self, Setting};

impl Session {
    /// Whether changes of the session are reported to the client.
    pub fn track_state(&mut self, wanted: bool) {
        self.client.tracker = wanted.then(Box::default);
    }

    /// Takes the changes since the last call; `None` when there are none, or tracking is off.
    pub fn take_state_changes(&mut self) -> Option<StateChanges> {
        self.client.tracker.as_ref()?;
        let variables = self.settings.variables();
        let transaction = variables.get(typed::SESSION_TRACK_TRANSACTION_INFO);
        let state = (transaction >= 1).then(|| self.transaction_state());
        let characteristics = (transaction >= 2).then(|| self.transaction_characteristics());
        let variables = self.settings.variables();
        let tracker = self.client.tracker.as_mut()?;
        let mut changes = std::mem::take(&mut tracker.changes);
        if std::mem::take(&mut tracker.schema) {
            let database = self.settings.current_database.as_deref();
            changes.schema = Some(database.unwrap_or_default().to_owned());
        }
        let changed = |now: Option<String>, reported: &mut String| {
            let now = now.filter(|now| now != reported)?;
            reported.clone_from(&now);
            Some(now)
        };
        changes.transaction_state = changed(state, &mut tracker.reported_state);
        changes.transaction_characteristics =
            changed(characteristics, &mut tracker.reported_characteristics);
        for position in std::mem::take(&mut tracker.variables) {
            let variable = variables::all()[position];
            let value = variable.display(variables.at(position)).unwrap_or_default();
            changes.variables.push((variable.name.to_owned(), value));
        }
        (!changes.is_empty()).then_some(changes)
    }

    /// The tracker, if tracking and the kind of change that the variable stands for are on.
    fn tracker(&mut self, wanted: Variable<bool>) -> Option<&mut Tracker> {
        let tracker = self.client.tracker.as_deref_mut()?;
        self.settings.variables().get(wanted).then_some(tracker)
    }

    /// Records that the session's state has changed.
    pub(crate) fn note_state_change(&mut self) {
        if let Some(tracker) = self.tracker(typed::SESSION_TRACK_STATE_CHANGE) {
            tracker.changes.state = true;
        }
    }

    pub(super) fn note_database(&mut self) {
        self.note_state_change();
        if let Some(tracker) = self.tracker(typed::SESSION_TRACK_SCHEMA) {
            tracker.schema = true;
        }
    }

    /// Records that SET has changed the session's value of a variable.
    pub(crate) fn note_variable(&mut self, position: usize) {
        self.note_state_change();
        let Some(tracker) = &mut self.client.tracker else {
            return;
        };
        let name = variables::all()[position].name;
        let variables = self.settings.variables();
        let listed = variables.get(typed::SESSION_TRACK_SYSTEM_VARIABLES);
        let mut names = listed
            .iter()
            .flat_map(|listed| listed.split(','))
            .map(str::trim);
        if names.any(|tracked| tracked == "*" || tracked.eq_ignore_ascii_case(name)) {
            tracker.variables.insert(position);
        }
    }

    /// Whether the transaction's work is tracked.
    pub(crate) fn tracks_transaction(&self) -> bool {
        let variables = self.settings.variables();
        self.client.tracker.is_some() && variables.get(typed::SESSION_TRACK_TRANSACTION_INFO) > 0
    }

    /// Records the work of a statement that is about to run, and whether it begins or ends a transaction.
    pub(crate) fn note_work(&mut self, work: TransactionWork, begins_or_ends: bool) {
        if let Some(tracker) = &mut self.client.tracker {
            if begins_or_ends {
                tracker.work = TransactionWork::default();
            }
            tracker.work.add_if(true, work);
        }
    }

    /// The letters: transaction, unsafe and safe reads, unsafe and safe writes, unsafe statement, rows sent, LOCK
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
        let letters = tracker.work.letters();
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
        let mut statements = Vec::new();
        if isolation != usual.isolation {
            let level = match isolation {
                Isolation::ReadUncommitted => "READ UNCOMMITTED",
                Isolation::ReadCommitted => "READ COMMITTED",
                Isolation::RepeatableRead => "REPEATABLE READ",
                Isolation::Serializable => "SERIALIZABLE",
            };
            statements.push(format!("SET TRANSACTION ISOLATION LEVEL {level};"));
        }
        let access = match (read_only, read_only == usual.read_only) {
            (_, true) => "",
            (true, _) => " READ ONLY",
            (false, _) => " READ WRITE",
        };
        if self.transaction.current.is_begun() {
            statements.push(format!("START TRANSACTION{access};"));
        } else if !access.is_empty() {
            statements.push(format!("SET TRANSACTION{access};"));
        }
        statements.join(" ")
    }

    /// Sets a variable as SET does, and tracks the change.
    pub(crate) fn set_tracked(&mut self, position: usize, setting: Setting) {
        self.set_setting(position, setting);
        self.note_variable(position);
    }
}
