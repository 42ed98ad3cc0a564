//! Table locks: between statements that use a table and statements that change its definition, and for LOCK TABLES.
//!
//! A session holds a table from its first use in a transaction to the transaction's end, so that its definition is
//! stable within the transaction (MySQL's metadata locks); LOCK TABLES holds it until UNLOCK TABLES. A table that
//! replaces another has the same lock. A session that has waited looks the name up again, for the table may have been
//! dropped.
//!
//! A wait that would close a deadlock cycle fails with 1213.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mayfly_memory::sync::UsedMutex;
use mayfly_storage::Participant;
use mayfly_types::error::codes;
use mayfly_types::{Interrupt, Result, Stage};
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::waits::Waits;

/// Interval at which a waiting session checks for KILL and for a deadlock.
const LOOK_AROUND: Duration = Duration::from_millis(20);

/// Mode of a table lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TableUse {
    /// Reading.
    Read,
    /// Changing rows.
    Write,
    /// LOCK TABLES … READ: excludes changes by others.
    ReadAlone,
    /// Exclusive: no other session uses the table.
    Alone,
}

impl TableUse {
    /// Whether two sessions may hold a table in these modes at once.
    #[inline]
    fn is_compatible_with(self, other: Self) -> bool {
        use TableUse::{Alone, ReadAlone, Write};
        !matches!(
            (self, other),
            (Alone, _) | (_, Alone) | (Write, ReadAlone) | (ReadAlone, Write)
        )
    }
}

/// A table's lock.
#[derive(Debug, Default)]
pub(crate) struct TableLock {
    state: Mutex<State>,
    changed: Condvar,
}

impl TableLock {
    /// The sessions that hold the table or wait for it: (session, mode, whether it holds it).
    pub(crate) fn users(&self) -> Vec<(u64, TableUse, bool)> {
        let state = self.state.lock();
        let holders = state
            .holders
            .iter()
            .map(|(session, how)| (*session, *how, true));
        let waiting = state.waiting.iter();
        let waiting = waiting.map(|waiter| (waiter.session, waiter.how, false));
        holders.chain(waiting).collect()
    }
}

#[derive(Debug, Default)]
struct State {
    holders: Vec<(u64, TableUse)>,
    /// Waiting sessions.
    waiting: Vec<Waiter>,
}

#[derive(Debug)]
struct Waiter {
    session: u64,
    how: TableUse,
    waits: Arc<Waits>,
}

impl State {
    /// The sessions that a lock conflicts with: those that hold the table in an incompatible mode, and, for a session
    /// that does not hold it yet, those that wait for an exclusive lock.
    fn conflicts(&self, session: u64, wanted: TableUse) -> impl Iterator<Item = u64> {
        let is_own = self.holders.iter().any(|(holder, _)| *holder == session);
        let is_behind = !is_own && wanted < TableUse::ReadAlone;
        let holders = self.holders.iter().copied();
        let holders = holders.filter(move |(_, held)| !wanted.is_compatible_with(*held));
        let ahead = self
            .waiting
            .iter()
            .map(|waiter| (waiter.session, waiter.how));
        let ahead = ahead.filter(move |(_, how)| is_behind && *how == TableUse::Alone);
        let sessions = holders.chain(ahead).map(|(other, _)| other);
        sessions.filter(move |other| *other != session)
    }
}

/// A held table lock; dropping it releases the lock.
#[derive(Debug)]
pub(crate) struct HeldTable {
    lock: Arc<TableLock>,
    session: u64,
    how: TableUse,
}

impl Drop for HeldTable {
    fn drop(&mut self) {
        let mut state = self.lock.state.lock();
        let mine = |(session, how): &(u64, TableUse)| *session == self.session && *how == self.how;
        if let Some(position) = state.holders.iter().position(mine) {
            state.holders.swap_remove(position);
        }
        if state.waiting.is_empty() {
            return;
        }
        // Removes the edges to this session at once: it may go on to wait for one of the waiters before they have
        // woken.
        for waiter in &state.waiting {
            waiter.waits.end(waiter.session);
        }
        drop(state);
        self.lock.changed.notify_all();
    }
}

/// Conditions of a wait.
pub(crate) struct Waiting<'w> {
    /// The session's id.
    pub(crate) session: u64,
    /// `lock_wait_timeout`
    pub(crate) longest: Duration,
    /// KILL and `max_execution_time`.
    pub(crate) interrupt: &'w Interrupt,
    /// The wait-for graph of the engine.
    pub(crate) waits: &'w Arc<Waits>,
}

/// Acquires a table's lock: 1205 on timeout, 1213 on deadlock.
pub(crate) fn take(
    lock: &Arc<TableLock>,
    how: TableUse,
    waiting: &Waiting<'_>,
) -> Result<HeldTable> {
    let session = waiting.session;
    let mut state = lock.state.lock();
    if state.conflicts(session, how).next().is_some() {
        state.waiting.push(Waiter {
            session,
            how,
            waits: Arc::clone(waiting.waits),
        });
        let outcome = {
            let stages = waiting.interrupt.stages();
            let _stage = stages.wait_for_lock(Stage::WaitingForTable);
            wait(lock, &mut state, how, waiting)
        };
        state.waiting.retain(|waiter| waiter.session != session);
        waiting.waits.end(session);
        if let Err(error) = outcome {
            drop(state);
            lock.changed.notify_all();
            return Err(error);
        }
    }
    state.holders.push((session, how));
    let lock = Arc::clone(lock);
    Ok(HeldTable { lock, session, how })
}

/// Acquires a table's lock for the server itself, if no session has to be waited for.
pub(crate) fn try_take(lock: &Arc<TableLock>, how: TableUse) -> Option<HeldTable> {
    /// No session's number.
    const SERVER: u64 = 0;
    let mut state = lock.state.lock();
    let is_free = state.waiting.is_empty() && state.conflicts(SERVER, how).next().is_none();
    is_free.then(|| {
        state.holders.push((SERVER, how));
        let lock = Arc::clone(lock);
        HeldTable {
            lock,
            session: SERVER,
            how,
        }
    })
}

fn wait(
    lock: &TableLock,
    state: &mut MutexGuard<'_, State>,
    how: TableUse,
    waiting: &Waiting<'_>,
) -> Result<()> {
    let begun = Instant::now();
    loop {
        let others: Vec<u64> = state.conflicts(waiting.session, how).collect();
        if others.is_empty() {
            return Ok(());
        }
        if waiting.waits.wait(waiting.session, others) {
            return Err(codes::ER_LOCK_DEADLOCK.error());
        }
        waiting.interrupt.check()?;
        if begun.elapsed() >= waiting.longest {
            return Err(codes::ER_LOCK_WAIT_TIMEOUT.error());
        }
        lock.changed.wait_for(state, LOOK_AROUND);
    }
}

/// Table locks that a session holds until its transaction ends.
#[derive(Debug, Clone, Default)]
pub(crate) struct TransactionTables(Arc<UsedMutex<Vec<HeldTable>>>);

impl TransactionTables {
    fn release(&self) {
        if let Some(mut tables) = self.0.used() {
            tables.clear();
            self.0.end_use(tables);
        }
    }

    /// Whether a table is held in this mode or a stronger one.
    pub(crate) fn has(&self, lock: &Arc<TableLock>, how: TableUse) -> bool {
        let is_it = |table: &HeldTable| Arc::ptr_eq(&table.lock, lock) && table.how >= how;
        let tables = self.0.used();
        tables.is_some_and(|tables| tables.iter().any(is_it))
    }

    /// Whether any lock is held.
    pub(crate) fn is_any(&self) -> bool {
        self.0.used().is_some()
    }

    /// Adds a held lock.
    pub(crate) fn add(&self, table: HeldTable) {
        self.0.lock().push(table);
    }
}

impl Participant for TransactionTables {
    fn savepoint(&mut self) -> u64 {
        0
    }

    fn roll_back_to(&mut self, _: u64) -> bool {
        false
    }

    fn commit(&mut self) -> Result<()> {
        self.release();
        Ok(())
    }

    fn roll_back(&mut self) -> bool {
        self.release();
        false
    }
}
