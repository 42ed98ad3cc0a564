//! Named locks of sessions: GET_LOCK().
//!
//! A session may hold several, and each more than once, until it releases them or ends, independent of its
//! transactions. Waiting sessions form a queue. The lock is handed to the first, so that it is never free while a
//! session waits, and the wait-for graph ([`crate::locks::waits`]) is always correct: each session waits for the one
//! before it.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mayfly_functions::context::{UserLocks, memory_exceeded};
use mayfly_memory::{Budget, Reservation};
use mayfly_types::error::codes;
use mayfly_types::{Interrupt, Result, Stage};
use parking_lot::{Condvar, Mutex};

use crate::connections::SessionShared;
use crate::locks::waits::Waits;

/// Interval at which a waiting session checks whether its statement is to end.
const LOOK_AROUND: Duration = Duration::from_millis(20);

/// All held named locks.
#[derive(Debug)]
pub(crate) struct UserLockTable {
    locks: Mutex<HashMap<String, UserLock>>,
    waits: Arc<Waits>,
}

#[derive(Debug)]
struct UserLock {
    holder: u64,
    /// Number of acquisitions by the holder.
    times: u64,
    /// Waiting sessions, the first one first.
    queue: VecDeque<u64>,
    /// Signalled when the lock passes to another session.
    passed_on: Arc<Condvar>,
}

impl UserLock {
    fn of(holder: u64) -> Self {
        Self {
            holder,
            times: 1,
            queue: VecDeque::new(),
            passed_on: Arc::default(),
        }
    }

    /// The session before a position in the queue.
    fn before(&self, position: usize) -> u64 {
        position
            .checked_sub(1)
            .map_or(self.holder, |before| self.queue[before])
    }
}

impl UserLockTable {
    /// No locks.
    pub(crate) fn new(waits: Arc<Waits>) -> Self {
        Self {
            locks: Mutex::default(),
            waits,
        }
    }

    fn holder(&self, name: &str) -> Option<u64> {
        self.locks.lock().get(name).map(|lock| lock.holder)
    }

    /// Acquires a lock that is free or the session's own. Otherwise the session joins the queue, if it may wait.
    fn take(&self, name: &str, session: u64, may_wait: bool) -> Result<Taken> {
        let mut locks = self.locks.lock();
        let lock = match locks.entry(name.to_owned()) {
            Entry::Vacant(entry) => {
                entry.insert(UserLock::of(session));
                return Ok(Taken::Held);
            }
            Entry::Occupied(lock) => lock.into_mut(),
        };
        if lock.holder == session {
            lock.times += 1;
            return Ok(Taken::Held);
        }
        if !may_wait {
            return Ok(Taken::Busy);
        }
        let last = lock.before(lock.queue.len());
        if self.waits.wait(session, vec![last]) {
            self.waits.end(session);
            return Err(codes::ER_USER_LOCK_DEADLOCK.error());
        }
        lock.queue.push_back(session);
        Ok(Taken::Queued(Arc::clone(&lock.passed_on)))
    }

    /// Releases the lock once; false when another session holds it, `None` when no session does.
    fn release(&self, name: &str, session: u64) -> Option<bool> {
        let mut locks = self.locks.lock();
        let lock = locks.get_mut(name)?;
        if lock.holder != session {
            return Some(false);
        }
        lock.times -= 1;
        if lock.times == 0 {
            self.pass_on(&mut locks, name);
        }
        Some(true)
    }

    /// Releases all acquisitions of the lock by the session; returns their number.
    fn release_wholly(&self, name: &str, session: u64) -> u64 {
        let mut locks = self.locks.lock();
        match locks.get(name) {
            Some(lock) if lock.holder == session => {
                let times = lock.times;
                self.pass_on(&mut locks, name);
                times
            }
            _ => 0,
        }
    }

    fn pass_on(&self, locks: &mut HashMap<String, UserLock>, name: &str) {
        let Some(lock) = locks.get_mut(name) else {
            return;
        };
        match lock.queue.pop_front() {
            Some(next) => {
                lock.holder = next;
                lock.times = 1;
                self.waits.end(next);
                lock.passed_on.notify_all();
            }
            None => {
                locks.remove(name);
            }
        }
    }

    /// Removes a session that gives up from the queue; it may just have got the lock.
    fn leave_queue(&self, name: &str, session: u64) {
        let mut locks = self.locks.lock();
        let Some(lock) = locks.get_mut(name) else {
            return;
        };
        if lock.holder == session {
            return self.pass_on(&mut locks, name);
        }
        let Some(position) = lock.queue.iter().position(|waiter| *waiter == session) else {
            return;
        };
        lock.queue.remove(position);
        self.waits.end(session);
        if let Some(behind) = lock.queue.get(position) {
            // The waiting session waited for this session before too, if not directly: there is no new cycle.
            self.waits.wait(*behind, vec![lock.before(position)]);
        }
    }
}

/// Outcome of an attempt to acquire a lock.
enum Taken {
    Held,
    Busy,
    Queued(Arc<Condvar>),
}

/// A session waiting for a lock.
struct Waiter<'w> {
    locks: &'w SessionLocks,
    name: &'w str,
    has_got_it: bool,
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let session = &self.locks.session;
        if !self.has_got_it {
            self.locks.table.leave_queue(self.name, session.id);
        }
    }
}

impl Waiter<'_> {
    /// Waits; returns whether the session gets the lock in time.
    fn wait(
        mut self,
        passed_on: &Condvar,
        longest: Duration,
        interrupt: &Interrupt,
    ) -> Result<bool> {
        let SessionLocks { session, table, .. } = self.locks;
        let _stage = session.activity.stages.within(Stage::UserLock);
        let begun = Instant::now();
        loop {
            interrupt.check()?;
            let mut locks = table.locks.lock();
            if locks.get(self.name).map(|lock| lock.holder) == Some(session.id) {
                self.has_got_it = true;
                return Ok(true);
            }
            let rest = longest.saturating_sub(begun.elapsed());
            if rest.is_zero() {
                return Ok(false);
            }
            passed_on.wait_for(&mut locks, rest.min(LOOK_AROUND));
        }
    }
}

/// Named locks held by a session.
#[derive(Debug)]
pub(crate) struct SessionLocks {
    table: Arc<UserLockTable>,
    session: Arc<SessionShared>,
    held: Mutex<Held>,
}

/// Names of the held locks.
#[derive(Debug)]
struct Held {
    names: HashSet<String>,
    /// Memory of the names.
    memory: Reservation,
}

/// Estimated bytes of a lock, here and in the table.
const LOCK_BYTES: u64 = 512;
/// Step, in locks, in which memory is charged.
const LOCKS_STEP: u64 = 32;

impl Held {
    /// Charges memory for `locks` locks.
    fn charge(&mut self, locks: usize) -> Result<()> {
        let bytes = (locks as u64).next_multiple_of(LOCKS_STEP) * LOCK_BYTES;
        if bytes == self.memory.bytes() {
            Ok(())
        } else {
            self.memory
                .try_resize(bytes)
                .map_err(|error| memory_exceeded(&error))
        }
    }

    /// Shrinks the reservation to the present number of locks.
    fn shrink(&mut self) {
        // Shrinking a reservation never fails.
        let _ = self.charge(self.names.len());
    }
}

impl SessionLocks {
    /// No locks; the memory of those taken later is charged to `memory`.
    pub(crate) fn new(
        table: Arc<UserLockTable>,
        session: Arc<SessionShared>,
        memory: &Budget,
    ) -> Self {
        Self {
            table,
            session,
            held: Mutex::new(Held {
                names: HashSet::new(),
                memory: memory.reservation(),
            }),
        }
    }
}

impl UserLocks for SessionLocks {
    fn acquire(&self, name: &str, longest: Duration, interrupt: &Interrupt) -> Result<bool> {
        {
            let mut held = self.held.lock();
            if !held.names.contains(name) {
                let locks = held.names.len() + 1;
                held.charge(locks)?;
            }
        }
        let is_held = match self.table.take(name, self.session.id, !longest.is_zero())? {
            Taken::Held => true,
            Taken::Busy => false,
            Taken::Queued(passed_on) => {
                let waiter = Waiter {
                    locks: self,
                    name,
                    has_got_it: false,
                };
                waiter.wait(&passed_on, longest, interrupt)?
            }
        };
        if is_held {
            self.held.lock().names.insert(name.to_owned());
        }
        Ok(is_held)
    }

    fn release(&self, name: &str) -> Option<bool> {
        let released = self.table.release(name, self.session.id);
        if released == Some(true) && self.holder(name) != Some(self.session.id) {
            let mut held = self.held.lock();
            held.names.remove(name);
            held.shrink();
        }
        released
    }

    fn holder(&self, name: &str) -> Option<u64> {
        self.table.holder(name)
    }

    fn release_all(&self) -> u64 {
        let names = {
            let mut held = self.held.lock();
            let names = std::mem::take(&mut held.names);
            held.shrink();
            names
        };
        let release = |name: &String| self.table.release_wholly(name, self.session.id);
        names.iter().map(release).sum()
    }
}
