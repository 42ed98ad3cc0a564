//! Locks of rows and keys, which transactions hold until they end.
//!
//! A lock has a name, the bytes of a tree and a key, and exists while somebody holds or wants it.
//! Waiters are served in the order in which they came; who holds a lock already may go on to a
//! stronger one before them. A transaction waits for one lock at a time, so that who waits for whom is
//! a graph that is walked before each wait: the one that would close a circle gives up (1213).

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mayfly_types::error::codes;
use mayfly_types::{Interrupt, Result};

use crate::table::{LockMode, LockWait};

/// So often a waiter looks whether its statement was killed.
const MOMENT: Duration = Duration::from_millis(50);

/// The number of a transaction.
pub(super) type TransactionId = u64;

type Name = Arc<[u8]>;

#[derive(Debug, Default)]
struct Lock {
    holders: Vec<(TransactionId, LockMode)>,
    waiters: VecDeque<(TransactionId, LockMode)>,
}

#[derive(Debug, Default)]
struct State {
    locks: HashMap<Name, Lock>,
    /// What each waiting transaction waits for.
    waits: HashMap<TransactionId, Name>,
}

/// All locks of a store.
#[derive(Debug, Default)]
pub(super) struct Locks {
    state: Mutex<State>,
    released: Condvar,
}

/// The locks that a transaction holds.
#[derive(Debug, Default)]
pub(super) struct Held(HashMap<Name, LockMode>);

fn conflict(a: LockMode, b: LockMode) -> bool {
    a == LockMode::Exclusive || b == LockMode::Exclusive
}

impl Lock {
    /// Those who keep a transaction from getting the lock.
    fn blockers(&self, of: TransactionId, mode: LockMode) -> impl Iterator<Item = TransactionId> {
        let is_holder = self.holders.iter().any(|(holder, _)| *holder == of);
        let ahead = self
            .waiters
            .iter()
            .take_while(move |(waiter, _)| *waiter != of && !is_holder);
        let all = self.holders.iter().chain(ahead);
        all.filter(move |(other, other_mode)| *other != of && conflict(*other_mode, mode))
            .map(|(other, _)| *other)
    }

    fn grant(&mut self, to: TransactionId, mode: LockMode) {
        match self.holders.iter_mut().find(|(holder, _)| *holder == to) {
            Some((_, held)) => *held = mode.max(*held),
            None => self.holders.push((to, mode)),
        }
    }
}

impl State {
    /// Whether waiting for `name` would never end.
    fn is_deadlock(&self, waiter: TransactionId, mode: LockMode, name: &Name) -> bool {
        let mut seen = vec![waiter];
        let mut next: Vec<TransactionId> = match self.locks.get(name) {
            Some(lock) => lock.blockers(waiter, mode).collect(),
            None => return false,
        };
        while let Some(transaction) = next.pop() {
            if transaction == waiter {
                return true;
            }
            if seen.contains(&transaction) {
                continue;
            }
            seen.push(transaction);
            let Some(lock) = self
                .waits
                .get(&transaction)
                .and_then(|name| self.locks.get(name))
            else {
                continue;
            };
            let wanted = lock
                .waiters
                .iter()
                .find(|(waiter, _)| *waiter == transaction);
            if let Some((_, mode)) = wanted {
                next.extend(lock.blockers(transaction, *mode));
            }
        }
        false
    }
}

impl Locks {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gets the lock of a name (a tree and a key) for a transaction, or waits for it; false when it is held by another and shall be
    /// skipped.
    pub(super) fn acquire(
        &self,
        transaction: TransactionId,
        held: &Mutex<Held>,
        name: Vec<u8>,
        mode: LockMode,
        wait: LockWait,
        interrupt: &Interrupt,
    ) -> Result<bool> {
        let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.0.get(name.as_slice()).is_some_and(|has| *has >= mode) {
            return Ok(true);
        }
        let name: Name = name.into();
        let mut state = self.state();
        let lock = state.locks.entry(Arc::clone(&name)).or_default();
        if lock.blockers(transaction, mode).next().is_none() {
            lock.grant(transaction, mode);
            held.0.insert(name, mode);
            return Ok(true);
        }
        let patience = match wait {
            LockWait::For(patience) => patience,
            LockWait::No => return Err(codes::ER_LOCK_NOWAIT.error()),
            LockWait::Skip => return Ok(false),
        };
        if state.is_deadlock(transaction, mode, &name) {
            return Err(codes::ER_LOCK_DEADLOCK.error());
        }
        if let Some(lock) = state.locks.get_mut(&name) {
            lock.waiters.push_back((transaction, mode));
        }
        state.waits.insert(transaction, Arc::clone(&name));
        let start = Instant::now();
        let ended = loop {
            let left = patience.saturating_sub(start.elapsed());
            let waited = self.released.wait_timeout(state, left.min(MOMENT));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            let blocked = state
                .locks
                .get(&name)
                .is_some_and(|lock| lock.blockers(transaction, mode).next().is_some());
            if !blocked {
                break Ok(true);
            }
            if let Err(error) = interrupt.check() {
                break Err(error);
            }
            if start.elapsed() >= patience {
                break Err(codes::ER_LOCK_WAIT_TIMEOUT.error());
            }
        };
        state.waits.remove(&transaction);
        let lock = state.locks.entry(Arc::clone(&name)).or_default();
        lock.waiters.retain(|(waiter, _)| *waiter != transaction);
        if ended.is_ok() {
            lock.grant(transaction, mode);
            held.0.insert(name, mode);
        } else if lock.holders.is_empty() && lock.waiters.is_empty() {
            state.locks.remove(&name);
        }
        drop(state);
        // Others may have waited behind this one, which is gone or shares the lock with them.
        self.released.notify_all();
        ended
    }

    /// Lets go of everything that a transaction holds.
    pub(super) fn release(&self, transaction: TransactionId, held: &Mutex<Held>) {
        let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.0.is_empty() {
            return;
        }
        let mut state = self.state();
        for (name, _) in held.0.drain() {
            let Some(lock) = state.locks.get_mut(&name) else {
                continue;
            };
            lock.holders.retain(|(holder, _)| *holder != transaction);
            if lock.holders.is_empty() && lock.waiters.is_empty() {
                state.locks.remove(&name);
            }
        }
        let wakes = !state.waits.is_empty();
        drop(state);
        if wakes {
            self.released.notify_all();
        }
    }
}
