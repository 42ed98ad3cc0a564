//! What a session's transaction has changed in its temporary tables, so that it can be undone.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use mayfly_types::Result;

use super::Core;
use super::rows::Row;
use crate::transaction::Participant;

/// One change.
#[derive(Debug)]
enum Change {
    Inserted,
    Updated(Row),
    Deleted(Row),
}

#[derive(Debug)]
struct Record {
    table: Weak<Core>,
    position: u64,
    change: Change,
}

#[derive(Debug, Default)]
struct Inner {
    records: Vec<Record>,
    /// Tables were changed that know no transactions.
    not_undone: bool,
}

/// A session's undo log. Cloning gives another handle.
#[derive(Debug, Clone, Default)]
pub struct UndoLog(Arc<Mutex<Inner>>);

impl UndoLog {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, table: &Arc<Core>, position: u64, change: Change) {
        self.lock().records.push(Record {
            table: Arc::downgrade(table),
            position,
            change,
        });
    }

    pub(super) fn inserted(&self, table: &Arc<Core>, position: u64) {
        self.add(table, position, Change::Inserted);
    }

    pub(super) fn updated(&self, table: &Arc<Core>, position: u64, old: Row) {
        self.add(table, position, Change::Updated(old));
    }

    pub(super) fn deleted(&self, table: &Arc<Core>, position: u64, old: Row) {
        self.add(table, position, Change::Deleted(old));
    }

    pub(super) fn note_not_undone(&self) {
        self.lock().not_undone = true;
    }

    /// Forgets a table's changes.
    pub(super) fn forget(&self, table: &Arc<Core>) {
        let mut inner = self.lock();
        for record in &mut inner.records {
            if std::ptr::eq(record.table.as_ptr(), Arc::as_ptr(table)) {
                record.table = Weak::new();
            }
        }
    }

    /// How many changes there are.
    pub(super) fn len(&self) -> u64 {
        self.lock().records.len() as u64
    }

    /// Undoes all but the first `savepoint` changes.
    pub(super) fn undo_to(&self, savepoint: u64) {
        let mut inner = self.lock();
        while inner.records.len() as u64 > savepoint {
            let Some(record) = inner.records.pop() else {
                break;
            };
            let Some(table) = record.table.upgrade() else {
                continue;
            };
            let mut rows = table.rows.write().unwrap_or_else(PoisonError::into_inner);
            let rows = Arc::make_mut(&mut rows);
            let position = record.position;
            match record.change {
                Change::Inserted => {
                    rows.delete(&table, position);
                }
                Change::Updated(old) => {
                    rows.delete(&table, position);
                    rows.put(&table, position, old);
                }
                Change::Deleted(old) => rows.put(&table, position, old),
            }
        }
    }
}

impl Participant for UndoLog {
    fn savepoint(&mut self) -> u64 {
        self.len()
    }

    fn roll_back_to(&mut self, savepoint: u64) {
        self.undo_to(savepoint);
    }

    fn commit(&mut self) -> Result<()> {
        *self.lock() = Inner::default();
        Ok(())
    }

    fn roll_back(&mut self) -> bool {
        self.undo_to(0);
        std::mem::take(&mut *self.lock()).not_undone
    }
}
