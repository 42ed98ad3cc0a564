//! A session's transaction.
//!
//! A transaction is open from BEGIN, or from the first statement when autocommit is off, until COMMIT, ROLLBACK or an
//! implicit commit. Without one, every statement is a transaction of its own. Each store that it changes takes part
//! in it as a [`Participant`]; this module coordinates them: named savepoints, a savepoint per statement (a failing
//! statement leaves nothing behind), and the end of the transaction.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use mayfly_storage::Participant;
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};
use smallvec::SmallVec;

/// Isolation level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Isolation {
    /// As READ COMMITTED: uncommitted changes are never visible to others.
    ReadUncommitted,
    /// Each statement sees what was committed when it began.
    ReadCommitted,
    /// All statements see what was committed when the first one read.
    #[default]
    RepeatableRead,
    /// As REPEATABLE READ, but reads lock rows.
    Serializable,
}

impl Isolation {
    /// The isolation level at a position among the values of `transaction_isolation`.
    pub(crate) fn of_setting(position: u64) -> Self {
        match position {
            0 => Self::ReadUncommitted,
            1 => Self::ReadCommitted,
            3 => Self::Serializable,
            _ => Self::RepeatableRead,
        }
    }
}

/// Characteristics set by SET TRANSACTION.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Characteristics {
    /// ISOLATION LEVEL
    pub(crate) isolation: Isolation,
    /// READ ONLY
    pub(crate) read_only: bool,
}

/// A point that a transaction can be rolled back to: a savepoint of each participant at the time. Inline are those of
/// most transactions: the session's undo log, its transaction in the store of durable tables, and its
/// non-transactional changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Savepoint(SmallVec<[u64; 3]>);

/// The named savepoints of a transaction, in order.
pub(crate) type SavepointNames = Vec<(String, Savepoint)>;

/// A change that ROLLBACK cannot undo, and warns of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NotUndone {
    /// Rows of non-transactional tables.
    Rows,
    /// CREATE TEMPORARY TABLE
    TablesMade,
    /// DROP TEMPORARY TABLE
    TablesDropped,
}

/// A session's transaction, open or not.
pub(crate) struct Transaction {
    first: Box<dyn Participant>,
    /// The participant that ends last.
    last: Box<dyn Participant>,
    /// Participants that join at their first statement.
    late: RefCell<Vec<Box<dyn Participant>>>,
    savepoints: SavepointNames,
    begun: Option<Characteristics>,
    /// Whether rows of tables other than temporary ones may have been changed.
    has_written: Cell<bool>,
    not_undone: BTreeSet<NotUndone>,
    /// SET TRANSACTION without a scope: characteristics of the next transaction.
    next: Cell<Option<Characteristics>>,
}

impl std::fmt::Debug for Transaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transaction")
            .field("begun", &self.begun)
            .finish_non_exhaustive()
    }
}

impl Transaction {
    /// A transaction with a first participant; `last` ends after all others.
    pub(crate) fn new(participant: Box<dyn Participant>, last: Box<dyn Participant>) -> Self {
        Self {
            first: participant,
            last,
            late: RefCell::default(),
            savepoints: Vec::new(),
            begun: None,
            has_written: Cell::new(false),
            not_undone: BTreeSet::new(),
            next: Cell::default(),
        }
    }

    /// Whether there was a BEGIN, or autocommit is off and a statement has been run.
    pub(crate) fn is_begun(&self) -> bool {
        self.begun.is_some()
    }

    /// Records that rows of a table other than a temporary one are about to be changed.
    pub(crate) fn note_write(&self) {
        self.has_written.set(true);
    }

    /// Whether such rows were changed since the transaction began.
    pub(crate) fn has_written(&self) -> bool {
        self.is_begun() && self.has_written.get()
    }

    /// Begins the transaction.
    pub(crate) fn begin(&mut self, characteristics: Characteristics) {
        self.next.take();
        self.has_written.set(false);
        self.begun = Some(characteristics);
    }

    /// The characteristics of the open transaction, or else of the next one.
    #[inline]
    pub(crate) fn characteristics(&self) -> Option<Characteristics> {
        self.begun.or(self.next.get())
    }

    /// SET TRANSACTION without a scope: 1568 inside a transaction.
    pub(crate) fn set_next(&mut self, characteristics: Characteristics) -> Result<()> {
        if self.is_begun() {
            return Err(codes::ER_CANT_CHANGE_TX_CHARACTERISTICS.error());
        }
        self.next.set(Some(characteristics));
        Ok(())
    }

    /// Adds a participant.
    pub(crate) fn join(&self, participant: Box<dyn Participant>) {
        self.late.borrow_mut().push(participant);
    }

    fn participants(&mut self) -> impl Iterator<Item = &mut Box<dyn Participant>> {
        std::iter::once(&mut self.first).chain(self.late.get_mut())
    }

    /// Sets a savepoint in each participant.
    pub(crate) fn new_savepoint(&mut self) -> Savepoint {
        let participants = self.participants();
        Savepoint(
            participants
                .map(|participant| participant.savepoint())
                .collect(),
        )
    }

    /// Records a change that ROLLBACK will warn of.
    pub(crate) fn note(&mut self, what: NotUndone) {
        self.not_undone.insert(what);
    }

    /// Rolls back to a savepoint; returns the changes of the transaction that cannot be undone.
    pub(crate) fn roll_back_to(&mut self, savepoint: &Savepoint) -> Vec<NotUndone> {
        let mut incomplete = false;
        // A participant that joined later had no changes then: its savepoint is 0.
        let positions = savepoint.0.iter().copied().chain(std::iter::repeat(0));
        for (position, participant) in positions.zip(self.participants()) {
            incomplete |= participant.roll_back_to(position);
        }
        self.noted(incomplete)
    }

    fn noted(&mut self, rows: bool) -> Vec<NotUndone> {
        if rows {
            self.note(NotUndone::Rows);
        }
        self.not_undone.iter().copied().collect()
    }

    /// Ends a statement: releases what was held for it alone, and makes its non-transactional changes durable.
    pub(crate) fn end_statement(&mut self) -> Result<()> {
        let mut ended = Ok(());
        for participant in self.participants() {
            ended = ended.and(participant.end_statement());
        }
        ended
    }

    /// Commits and ends the transaction.
    pub(crate) fn commit(&mut self) -> Result<()> {
        self.savepoints.clear();
        self.end();
        let mut committed = Ok(());
        for participant in self.participants() {
            committed = committed.and_then(|()| participant.prepare());
        }
        for participant in self.participants() {
            match &committed {
                Ok(()) => committed = participant.commit(),
                Err(_) => {
                    participant.roll_back();
                }
            }
        }
        self.forget_not_undone();
        self.last.commit()?;
        committed
    }

    fn forget_not_undone(&mut self) {
        if !self.not_undone.is_empty() {
            self.not_undone.clear();
        }
    }

    /// Records that the running statement, a transaction of its own, has made changes that it cannot undo.
    pub(crate) fn changed_alone(&self) {
        if !self.is_begun() {
            self.next.take();
        }
    }

    /// Rolls back and ends the transaction; returns the changes that could not be undone.
    pub(crate) fn roll_back(&mut self) -> Vec<NotUndone> {
        self.savepoints.clear();
        self.end();
        let mut incomplete = false;
        for participant in self.participants() {
            incomplete |= participant.roll_back();
        }
        self.last.roll_back();
        let noted = self.noted(incomplete);
        self.not_undone.clear();
        noted
    }

    fn end(&mut self) {
        let changed = self.first.savepoint() > 0;
        if self.begun.take().is_none() && changed {
            // SET TRANSACTION was for the statement's own transaction.
            self.next.take();
        }
    }

    /// SAVEPOINT: replaces one of the same name.
    pub(crate) fn set_savepoint(&mut self, name: &str) {
        self.savepoints.retain(|(other, _)| !same(other, name));
        let savepoint = self.new_savepoint();
        self.savepoints.push((name.to_owned(), savepoint));
    }

    /// Takes the named savepoints away for the time of a frame, which has its own.
    pub(crate) fn take_savepoints(&mut self) -> SavepointNames {
        std::mem::take(&mut self.savepoints)
    }

    /// Puts back the named savepoints that a frame has taken, unless the transaction has ended since.
    pub(crate) fn put_savepoints(&mut self, mut savepoints: SavepointNames) {
        if !self.is_begun() {
            savepoints.clear();
        }
        self.savepoints = savepoints;
    }

    /// ROLLBACK TO SAVEPOINT: removes later savepoints. 1305 for an unknown name. Returns the changes of the
    /// transaction that cannot be undone.
    pub(crate) fn roll_back_to_savepoint(&mut self, name: &str) -> Result<Vec<NotUndone>> {
        let position = self.savepoint(name)?;
        self.savepoints.truncate(position + 1);
        let savepoint = self.savepoints[position].1.clone();
        Ok(self.roll_back_to(&savepoint))
    }

    /// RELEASE SAVEPOINT: removes it and later ones. 1305 for an unknown name.
    pub(crate) fn release_savepoint(&mut self, name: &str) -> Result<()> {
        let position = self.savepoint(name)?;
        self.savepoints.truncate(position);
        Ok(())
    }

    fn savepoint(&self, name: &str) -> Result<usize> {
        let position = self
            .savepoints
            .iter()
            .position(|(other, _)| same(other, name));
        position.ok_or_else(|| codes::ER_SP_DOES_NOT_EXIST.with(&[&"SAVEPOINT", &name]))
    }
}

fn same(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}

/// Whether an error ends the transaction and not only the statement.
pub(crate) fn ends_transaction(error: &Error) -> bool {
    error.is(&codes::ER_LOCK_DEADLOCK)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// A store of numbers; shared, so that a test can inspect it.
    #[derive(Debug, Clone, Default)]
    struct Numbers(Arc<Mutex<(Vec<u64>, Vec<u64>)>>);

    impl Numbers {
        fn add(&self, number: u64) {
            self.0.lock().unwrap().0.push(number);
        }

        fn committed(&self) -> Vec<u64> {
            self.0.lock().unwrap().1.clone()
        }
    }

    /// The number that a store refuses to commit.
    const REFUSED: u64 = 13;

    impl Participant for Numbers {
        fn savepoint(&mut self) -> u64 {
            self.0.lock().unwrap().0.len() as u64
        }

        fn roll_back_to(&mut self, savepoint: u64) -> bool {
            let length = usize::try_from(savepoint).unwrap();
            self.0.lock().unwrap().0.truncate(length);
            false
        }

        fn prepare(&mut self) -> Result<()> {
            if self.0.lock().unwrap().0.contains(&REFUSED) {
                Err(codes::ER_UNKNOWN_ERROR.with(&[&"not prepared"]))
            } else {
                Ok(())
            }
        }

        fn commit(&mut self) -> Result<()> {
            let (changes, committed) = &mut *self.0.lock().unwrap();
            committed.append(changes);
            Ok(())
        }

        fn roll_back(&mut self) -> bool {
            self.roll_back_to(0)
        }
    }

    fn transaction(stores: &[Numbers]) -> Transaction {
        let [first, others @ ..] = stores else {
            panic!("there is a store");
        };
        let last = Box::new(Numbers::default());
        let transaction = Transaction::new(Box::new(first.clone()), last);
        for store in others {
            transaction.join(Box::new(store.clone()));
        }
        transaction
    }

    fn stores(count: usize) -> Vec<Numbers> {
        (0..count).map(|_| Numbers::default()).collect()
    }

    #[test]
    fn every_participant_is_rolled_back_to_a_savepoint() {
        for count in 1..9 {
            let stores = stores(count);
            let mut transaction = transaction(&stores);
            let late = Numbers::default();
            for (number, store) in (1..).zip(&stores) {
                store.add(number);
            }
            transaction.set_savepoint("s");
            transaction.join(Box::new(late.clone()));
            for store in stores.iter().chain([&late]) {
                store.add(100);
            }
            transaction.roll_back_to_savepoint("S").unwrap();
            transaction.commit().unwrap();
            for (number, store) in (1..).zip(&stores) {
                assert_eq!(store.committed(), [number], "of {count}");
            }
            assert!(late.committed().is_empty(), "of {count}");
        }
    }

    #[test]
    fn nobody_commits_when_one_is_not_prepared() {
        let stores = stores(5);
        let mut transaction = transaction(&stores);
        for store in &stores {
            store.add(1);
        }
        stores[4].add(REFUSED);
        transaction.commit().unwrap_err();
        for store in &stores {
            assert!(store.committed().is_empty());
        }
        stores[0].add(2);
        transaction.commit().unwrap();
        assert_eq!(stores[0].committed(), [2], "what was rolled back is gone");
    }
}
