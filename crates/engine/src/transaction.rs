//! A session's transaction.
//!
//! It is open from BEGIN, or from the first statement when autocommit is off, until COMMIT, ROLLBACK
//! or a statement that commits by itself. Without one, every statement is a transaction of its own.
//! Each store that it changes takes part in it as a [`Participant`]; what is here is the order of
//! things: savepoints by name, a savepoint for each statement (a statement that fails leaves nothing
//! behind), and what ends with the transaction.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use mayfly_storage::Participant;
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};
use smallvec::SmallVec;

/// What a transaction sees of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Isolation {
    /// As READ COMMITTED: what is not committed is seen by nobody here.
    ReadUncommitted,
    /// Each statement sees what was committed when it began.
    ReadCommitted,
    /// All statements see what was committed when the first one read.
    #[default]
    RepeatableRead,
    /// As REPEATABLE READ, and what is read is locked.
    Serializable,
}

impl Isolation {
    /// By its position among the values of `transaction_isolation`.
    pub(crate) fn of_setting(position: u64) -> Self {
        match position {
            0 => Self::ReadUncommitted,
            1 => Self::ReadCommitted,
            3 => Self::Serializable,
            _ => Self::RepeatableRead,
        }
    }
}

/// What SET TRANSACTION says of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Characteristics {
    /// ISOLATION LEVEL
    pub(crate) isolation: Isolation,
    /// READ ONLY
    pub(crate) read_only: bool,
}

/// A point of a transaction that it can be rolled back to: a savepoint of each participant that there was. Inline are
/// those that most transactions have: the session's undo log, its transaction in the store of durable tables, and its
/// changes of tables that know no transactions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Savepoint(SmallVec<[u64; 3]>);

/// A change that ROLLBACK cannot undo, and warns of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NotUndone {
    /// Rows of tables without transactions.
    Rows,
    /// CREATE TEMPORARY TABLE
    TablesMade,
    /// DROP TEMPORARY TABLE
    TablesDropped,
}

/// A session's transaction, open or not.
pub(crate) struct Transaction {
    first: Box<dyn Participant>,
    /// What is released when everything else has ended.
    last: Box<dyn Participant>,
    /// Those that take part from their first statement on.
    late: RefCell<Vec<Box<dyn Participant>>>,
    savepoints: Vec<(String, Savepoint)>,
    begun: Option<Characteristics>,
    /// Rows of tables that are not temporary may have been changed.
    has_written: Cell<bool>,
    not_undone: BTreeSet<NotUndone>,
    /// SET TRANSACTION without a scope: for the next one.
    next: Option<Characteristics>,
}

impl std::fmt::Debug for Transaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transaction")
            .field("begun", &self.begun)
            .finish_non_exhaustive()
    }
}

impl Transaction {
    /// A transaction in which this store takes part; `last` is released when all others have ended.
    pub(crate) fn new(participant: Box<dyn Participant>, last: Box<dyn Participant>) -> Self {
        Self {
            first: participant,
            last,
            late: RefCell::default(),
            savepoints: Vec::new(),
            begun: None,
            has_written: Cell::new(false),
            not_undone: BTreeSet::new(),
            next: None,
        }
    }

    /// Whether there was a BEGIN, or autocommit is off and a statement has been run.
    pub(crate) fn is_begun(&self) -> bool {
        self.begun.is_some()
    }

    /// Rows of a table that is not temporary are about to be changed.
    pub(crate) fn note_write(&self) {
        self.has_written.set(true);
    }

    /// Whether that has happened since the transaction began.
    pub(crate) fn has_written(&self) -> bool {
        self.is_begun() && self.has_written.get()
    }

    /// Begins.
    pub(crate) fn begin(&mut self, characteristics: Characteristics) {
        self.next = None;
        self.has_written.set(false);
        self.begun = Some(characteristics);
    }

    /// What SET TRANSACTION said of the open transaction, or else of the next one.
    #[inline]
    pub(crate) fn characteristics(&self) -> Option<Characteristics> {
        self.begun.or(self.next)
    }

    /// SET TRANSACTION without a scope: 1568 inside a transaction.
    pub(crate) fn set_next(&mut self, characteristics: Characteristics) -> Result<()> {
        if self.is_begun() {
            return Err(codes::ER_CANT_CHANGE_TX_CHARACTERISTICS.error());
        }
        self.next = Some(characteristics);
        Ok(())
    }

    /// A store takes part from now on.
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

    /// Something was done that ROLLBACK will warn of.
    pub(crate) fn note(&mut self, what: NotUndone) {
        self.not_undone.insert(what);
    }

    /// Rolls back to a savepoint; gives what the transaction has done that cannot be undone.
    pub(crate) fn roll_back_to(&mut self, savepoint: &Savepoint) -> Vec<NotUndone> {
        let mut incomplete = false;
        // A participant that joined later had changed nothing then: its savepoint is 0.
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

    /// A statement has ended: what was held for it alone is released, and what it has changed in tables
    /// without transactions is durable.
    pub(crate) fn end_statement(&mut self) -> Result<()> {
        let mut ended = Ok(());
        for participant in self.participants() {
            ended = ended.and(participant.end_statement());
        }
        ended
    }

    /// Commits what was changed, and ends.
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

    /// The running statement, a transaction of its own, has changed what it would not undo.
    pub(crate) fn changed_alone(&mut self) {
        if !self.is_begun() {
            self.next = None;
        }
    }

    /// Undoes what can be undone and ends; gives what could not be.
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
            // What SET TRANSACTION said was for the statement's own transaction.
            self.next = None;
        }
    }

    /// SAVEPOINT: one of the same name goes.
    pub(crate) fn set_savepoint(&mut self, name: &str) {
        self.savepoints.retain(|(other, _)| !same(other, name));
        let savepoint = self.new_savepoint();
        self.savepoints.push((name.to_owned(), savepoint));
    }

    /// ROLLBACK TO SAVEPOINT: later ones go. 1305 without it. Gives what the transaction has done
    /// that cannot be undone.
    pub(crate) fn roll_back_to_savepoint(&mut self, name: &str) -> Result<Vec<NotUndone>> {
        let position = self.savepoint(name)?;
        self.savepoints.truncate(position + 1);
        let savepoint = self.savepoints[position].1.clone();
        Ok(self.roll_back_to(&savepoint))
    }

    /// RELEASE SAVEPOINT: it and later ones go. 1305 without it.
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

    /// A store whose changes are numbers; shared, so that a test can look into it.
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

    /// The number that a store is not prepared to commit.
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
            match self.0.lock().unwrap().0.contains(&REFUSED) {
                true => Err(codes::ER_UNKNOWN_ERROR.with(&[&"not prepared"])),
                false => Ok(()),
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
