//! Snapshots that transactions hold from statement to statement, and their expiry when there are too many.
//!
//! LMDB has a fixed number of readers, and a commit needs one. Transactions that began after the same commit share
//! one; of more than [`MOST_SNAPSHOTS`], the oldest that no statement is using is taken away from its transactions,
//! whose next read fails.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use mayfly_memory::sync::{UsedMutex, lock};
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::data_file::MOST_SNAPSHOTS;
use super::snapshot::Snapshot;

/// Snapshot slot of a transaction.
#[derive(Debug, Default)]
pub(super) struct TransactionSnapshot(UsedMutex<State>);

#[derive(Debug, Default)]
enum State {
    #[default]
    None,
    Held(Arc<Snapshot>),
    /// Expired because there were too many snapshots.
    Expired,
}

fn expired() -> mayfly_types::Error {
    codes::ER_UNKNOWN_ERROR.with(&[&format!(
        "the snapshot of this transaction was the oldest of more than {MOST_SNAPSHOTS} that transactions keep, and was \
         ended; roll back and begin again, or use READ COMMITTED for transactions that last"
    )])
}

impl State {
    fn get(&self) -> Result<Option<Arc<Snapshot>>> {
        match self {
            Self::None => Ok(None),
            Self::Held(snapshot) => Ok(Some(Arc::clone(snapshot))),
            Self::Expired => Err(expired()),
        }
    }
}

impl TransactionSnapshot {
    /// The snapshot, if the transaction has one.
    pub(super) fn get(&self) -> Result<Option<Arc<Snapshot>>> {
        self.0.used().map_or(Ok(None), |state| state.get())
    }

    /// The transaction's snapshot, set to `snapshot` if there is none yet.
    pub(super) fn get_or_set(&self, snapshot: Arc<Snapshot>) -> Result<Arc<Snapshot>> {
        let mut state = self.0.lock();
        if let Some(snapshot) = state.get()? {
            return Ok(snapshot);
        }
        *state = State::Held(Arc::clone(&snapshot));
        Ok(snapshot)
    }

    /// Replaces the snapshot.
    pub(super) fn set(&self, snapshot: Arc<Snapshot>) {
        let before = std::mem::replace(&mut *self.0.lock(), State::Held(snapshot));
        drop(before);
    }

    /// Ends the snapshot with its transaction.
    pub(super) fn end(&self) {
        drop(self.0.take());
    }
}

/// Snapshots of all transactions.
#[derive(Debug, Default)]
pub(super) struct TransactionSnapshots(Mutex<Transactions>);

#[derive(Debug, Default)]
struct Transactions {
    all: Vec<Weak<TransactionSnapshot>>,
    /// Length of the list at which entries of ended transactions are removed.
    most: usize,
}

impl TransactionSnapshots {
    /// Adds a slot for the snapshots of a session's transactions.
    pub(super) fn add(&self) -> Arc<TransactionSnapshot> {
        let added = Arc::new(TransactionSnapshot::default());
        let mut transactions = lock(&self.0);
        if transactions.all.len() >= transactions.most {
            transactions.all.retain(|one| one.strong_count() > 0);
            transactions.most = 2 * transactions.all.len().max(32);
        }
        transactions.all.push(Arc::downgrade(&added));
        added
    }

    /// Expires the oldest snapshot that no statement is using; returns whether there was one.
    pub(super) fn expire_oldest(&self) -> bool {
        let transactions = lock(&self.0);
        let all: Vec<Arc<TransactionSnapshot>> =
            transactions.all.iter().filter_map(Weak::upgrade).collect();
        drop(transactions);
        let used = all.iter().filter_map(|one| one.0.used());
        let mut all: Vec<MutexGuard<'_, State>> = used.collect();
        let mut keepers: HashMap<*const Snapshot, usize> = HashMap::new();
        for one in &all {
            if let State::Held(snapshot) = &**one {
                *keepers.entry(Arc::as_ptr(snapshot)).or_default() += 1;
            }
        }
        let unused = all.iter().filter_map(|one| match &**one {
            State::Held(snapshot) => Some(snapshot),
            _ => None,
        });
        let unused = unused.filter(|snapshot| {
            keepers.get(&Arc::as_ptr(snapshot)) == Some(&Arc::strong_count(snapshot))
        });
        let Some(oldest) = unused.min_by_key(|snapshot| snapshot.version()) else {
            return false;
        };
        let oldest = Arc::as_ptr(oldest);
        for one in &mut all {
            if matches!(&**one, State::Held(snapshot) if Arc::as_ptr(snapshot) == oldest) {
                **one = State::Expired;
            }
        }
        true
    }
}
