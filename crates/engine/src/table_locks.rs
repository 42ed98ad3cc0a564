//! Locks of whole tables: between statements that use a table and those that change what it is, and
//! LOCK TABLES.
//!
//! A session holds a table from its first use in a transaction to the transaction's end, so that its
//! definition stays as the transaction knows it (MySQL calls these metadata locks); LOCK TABLES holds
//! it until UNLOCK TABLES. A table that takes the place of another has the same lock. Whoever waits
//! asks again for the name when it has waited, for the table may be gone.
//!
//! Whoever would wait for ever gets 1213.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mayfly_storage::Participant;
use mayfly_types::error::codes;
use mayfly_types::{Interrupt, Result};

use crate::catalog::BaseTable;
use crate::session::Session;
use crate::waits::Waits;

/// How long a wait sleeps before it looks whether it was killed or goes in a circle.
const LOOK_AROUND: Duration = Duration::from_millis(20);

/// What a holder of a table may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TableUse {
    /// Read it.
    Read,
    /// Change its rows.
    Write,
    /// LOCK TABLES … READ: nobody else changes its rows.
    ReadAlone,
    /// Everything: no other session uses it.
    Alone,
}

impl TableUse {
    fn bears(self, other: Self) -> bool {
        use TableUse::{Alone, Read, ReadAlone, Write};
        match (self, other) {
            (Alone, _) | (_, Alone) => false,
            (Write, ReadAlone) | (ReadAlone, Write) => false,
            (Read | Write | ReadAlone, Read | Write | ReadAlone) => true,
        }
    }
}

/// A table's lock.
#[derive(Debug, Default)]
pub(crate) struct TableLock {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    holders: Vec<(u64, TableUse)>,
    /// Sessions that wait.
    waiting: Vec<Waiter>,
}

#[derive(Debug)]
struct Waiter {
    session: u64,
    how: TableUse,
    waits: Arc<Waits>,
}

impl TableLock {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The sessions that are in the way: those that hold the table, and for whoever holds nothing of
    /// it yet those that wait for it alone.
    fn in_the_way(&self, session: u64, wanted: TableUse) -> impl Iterator<Item = u64> {
        let others = self
            .holders
            .iter()
            .filter(move |(holder, _)| *holder != session);
        let bad = others.filter(move |(_, held)| !wanted.bears(*held));
        let is_own = self.holders.iter().any(|(holder, _)| *holder == session);
        let is_behind = !is_own && wanted < TableUse::ReadAlone;
        let ahead = self.waiting.iter().filter(move |waiter| {
            is_behind && waiter.how == TableUse::Alone && waiter.session != session
        });
        let ahead = ahead.map(|waiter| waiter.session);
        bad.map(|(holder, _)| *holder).chain(ahead)
    }
}

/// A table that a session holds; dropping it lets go.
#[derive(Debug)]
pub(crate) struct HeldTable {
    lock: Arc<TableLock>,
    session: u64,
    how: TableUse,
}

impl Drop for HeldTable {
    fn drop(&mut self) {
        let mut state = self.lock.state();
        let mine = |(session, how): &(u64, TableUse)| *session == self.session && *how == self.how;
        if let Some(place) = state.holders.iter().position(mine) {
            state.holders.swap_remove(place);
        }
        if state.waiting.is_empty() {
            return;
        }
        // They wait no longer for this session, which may go on to wait for one of them before they
        // have looked.
        for waiter in &state.waiting {
            waiter.waits.end(waiter.session);
        }
        drop(state);
        self.lock.changed.notify_all();
    }
}

/// How a session waits.
struct Waiting<'w> {
    /// Its id.
    pub(crate) session: u64,
    /// `lock_wait_timeout`
    longest: Duration,
    /// KILL and `max_execution_time`.
    interrupt: &'w Interrupt,
    /// Of the whole engine.
    waits: &'w Arc<Waits>,
}

/// Takes a table's lock: 1205 when it took too long, 1213 when it would never end.
fn take(lock: &Arc<TableLock>, how: TableUse, waiting: &Waiting<'_>) -> Result<HeldTable> {
    let session = waiting.session;
    let mut state = lock.state();
    if state.in_the_way(session, how).next().is_some() {
        state.waiting.push(Waiter {
            session,
            how,
            waits: Arc::clone(waiting.waits),
        });
        let (after, outcome) = wait(lock, state, how, waiting);
        state = after;
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

fn wait<'l>(
    lock: &'l TableLock,
    mut state: MutexGuard<'l, State>,
    how: TableUse,
    waiting: &Waiting<'_>,
) -> (MutexGuard<'l, State>, Result<()>) {
    let begun = Instant::now();
    loop {
        let others: Vec<u64> = state.in_the_way(waiting.session, how).collect();
        if others.is_empty() {
            return (state, Ok(()));
        }
        if waiting.waits.wait(waiting.session, others) {
            return (state, Err(codes::ER_LOCK_DEADLOCK.error()));
        }
        if let Err(error) = waiting.interrupt.check() {
            return (state, Err(error));
        }
        if begun.elapsed() >= waiting.longest {
            return (state, Err(codes::ER_LOCK_WAIT_TIMEOUT.error()));
        }
        let slept = lock.changed.wait_timeout(state, LOOK_AROUND);
        state = slept.unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// The tables that a session holds until its transaction ends.
#[derive(Debug, Clone, Default)]
pub(crate) struct TransactionTables(Arc<Held>);

#[derive(Debug, Default)]
struct Held {
    tables: Mutex<Vec<HeldTable>>,
    /// Whether there are any: a transaction that holds none ends without a look.
    is_any: AtomicBool,
}

impl TransactionTables {
    fn held(&self) -> MutexGuard<'_, Vec<HeldTable>> {
        let tables = self.0.tables.lock();
        tables.unwrap_or_else(PoisonError::into_inner)
    }

    fn let_go(&self) {
        if self.0.is_any.load(Ordering::Acquire) {
            self.0.is_any.store(false, Ordering::Release);
            self.held().clear();
        }
    }

    /// Whether it is held in this way or in one that allows more.
    pub(crate) fn has(&self, lock: &Arc<TableLock>, how: TableUse) -> bool {
        let is_it = |table: &HeldTable| Arc::ptr_eq(&table.lock, lock) && table.how >= how;
        self.held().iter().any(is_it)
    }

    /// Whether any is held.
    pub(crate) fn is_any(&self) -> bool {
        self.0.is_any.load(Ordering::Acquire)
    }

    /// Holds another.
    pub(crate) fn add(&self, table: HeldTable) {
        self.held().push(table);
        self.0.is_any.store(true, Ordering::Release);
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
        self.let_go();
        Ok(())
    }

    fn roll_back(&mut self) -> bool {
        self.let_go();
        false
    }
}

/// A table of LOCK TABLES.
#[derive(Debug)]
pub(crate) struct LockedTable {
    /// Its database.
    pub(crate) database: String,
    /// Its name.
    pub(crate) name: String,
    /// The name that statements must use for it; `None` for one that is below a locked view.
    pub(crate) alias: Option<String>,
    /// WRITE
    pub(crate) writes: bool,
}

/// What LOCK TABLES has locked for a session.
#[derive(Debug, Default)]
pub(crate) struct LockedTables {
    tables: Vec<LockedTable>,
    /// Let go with it.
    _held: Vec<HeldTable>,
}

impl Session {
    /// A table by its name, for a statement that reads it: the session's temporary table, or else the
    /// base table, which it holds until its transaction ends.
    pub(crate) fn use_table(&self, database: &str, name: &str) -> Result<Option<Arc<BaseTable>>> {
        self.use_table_as(database, name, None, TableUse::Read)
    }

    /// The same, for a use of any kind, and under an alias: 1099 and 1100 when LOCK TABLES is not for
    /// that.
    pub(crate) fn use_table_as(
        &self,
        database: &str,
        name: &str,
        alias: Option<&str>,
        how: TableUse,
    ) -> Result<Option<Arc<BaseTable>>> {
        if let Some(table) = self.temporary_table(database, name) {
            return Ok(Some(table));
        }
        self.use_base_table(database, name, alias, how)
    }

    /// The same, whatever temporary table hides it.
    pub(crate) fn use_base_table(
        &self,
        database: &str,
        name: &str,
        alias: Option<&str>,
        how: TableUse,
    ) -> Result<Option<Arc<BaseTable>>> {
        let catalog = &self.database.catalog;
        loop {
            let Some(table) = catalog.table(database, name) else {
                return Ok(None);
            };
            if self.has_locked_tables() {
                self.check_locked(database, name, alias, how)?;
                return Ok(Some(table));
            }
            if self.transaction_tables.has(table.lock(), how) {
                return Ok(Some(table));
            }
            let held = self.take(table.lock(), how)?;
            if is_still(catalog.table(database, name), &table) {
                self.transaction_tables.add(held);
                return Ok(Some(table));
            }
        }
    }

    /// A base table that a foreign key of a table in use leads to: LOCK TABLES needs not name it.
    pub(crate) fn use_related_table(
        &self,
        database: &str,
        name: &str,
        how: TableUse,
    ) -> Result<Option<Arc<BaseTable>>> {
        match self.has_locked_tables() {
            // It was locked with the table that it is related to.
            true => Ok(self.database.catalog.table(database, name)),
            false => self.use_base_table(database, name, None, how),
        }
    }

    /// A base table that the session found before, held until its transaction ends to be read; false
    /// when LOCK TABLES has its say. Whether it is still there is to be seen then.
    pub(crate) fn hold_known(&self, table: &BaseTable) -> Result<bool> {
        if self.has_locked_tables() {
            return Ok(false);
        }
        if !self.transaction_tables.has(table.lock(), TableUse::Read) {
            let held = self.take(table.lock(), TableUse::Read)?;
            self.transaction_tables.add(held);
        }
        Ok(true)
    }

    /// A base table that the caller holds; `None` when there is none of that name.
    pub(crate) fn hold_table(
        &self,
        database: &str,
        name: &str,
        how: TableUse,
    ) -> Result<Option<(Arc<BaseTable>, HeldTable)>> {
        let catalog = &self.database.catalog;
        if self.has_locked_tables() && catalog.table(database, name).is_some() {
            self.check_locked(database, name, None, TableUse::Write)?;
        }
        loop {
            let Some(table) = catalog.table(database, name) else {
                return Ok(None);
            };
            let held = self.take(table.lock(), how)?;
            if is_still(catalog.table(database, name), &table) {
                return Ok(Some((table, held)));
            }
        }
    }

    fn take(&self, lock: &Arc<TableLock>, how: TableUse) -> Result<HeldTable> {
        let waiting = Waiting {
            session: self.id(),
            longest: Duration::from_secs(self.settings().unsigned("lock_wait_timeout")),
            interrupt: self.interrupt(),
            waits: &self.database.waits,
        };
        take(lock, how, &waiting)
    }

    /// Whether LOCK TABLES is in force.
    pub(crate) fn has_locked_tables(&self) -> bool {
        !self.locked_tables.tables.is_empty()
    }

    /// LOCK TABLES has locked these.
    pub(crate) fn set_locked_tables(&mut self, tables: Vec<LockedTable>, held: Vec<HeldTable>) {
        self.locked_tables = LockedTables {
            tables,
            _held: held,
        };
    }

    /// UNLOCK TABLES
    pub(crate) fn unlock_tables(&mut self) {
        self.locked_tables = LockedTables::default();
    }

    /// 1100 for a table that is made while tables are locked.
    pub(crate) fn refuse_new_table(&self, name: &str) -> Result<()> {
        match self.has_locked_tables() {
            true => Err(codes::ER_TABLE_NOT_LOCKED.with(&[&name])),
            false => Ok(()),
        }
    }

    fn check_locked(
        &self,
        database: &str,
        name: &str,
        alias: Option<&str>,
        how: TableUse,
    ) -> Result<()> {
        let mut found = false;
        for table in &self.locked_tables.tables {
            let is_it = table.database == database && table.name == name;
            let is_alias = match (&table.alias, alias) {
                (Some(locked), Some(alias)) => locked == alias,
                _ => true,
            };
            if is_it && is_alias {
                if how == TableUse::Read || table.writes {
                    return Ok(());
                }
                found = true;
            }
        }
        match found {
            true => Err(codes::ER_TABLE_NOT_LOCKED_FOR_WRITE.with(&[&name])),
            false => Err(codes::ER_TABLE_NOT_LOCKED.with(&[&alias.unwrap_or(name)])),
        }
    }
}

/// Whether a name still means the table that it meant.
fn is_still(now: Option<Arc<BaseTable>>, table: &Arc<BaseTable>) -> bool {
    now.is_some_and(|now| Arc::ptr_eq(&now, table))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use crate::{Database, DatabaseOptions, Session};

    fn error(session: &mut Session, text: &str) -> u16 {
        match session.execute(text) {
            Ok(_) => 0,
            Err(error) => error.errno(),
        }
    }

    fn engine() -> Arc<Database> {
        let database = Database::open(DatabaseOptions::default()).expect("opens");
        let mut session = database.session();
        session
            .execute("CREATE TABLE t (a INT); CREATE TABLE u (a INT); INSERT INTO t VALUES (1)")
            .expect("makes tables");
        database
    }

    #[test]
    fn a_definition_stays_for_a_transaction() {
        let database = engine();
        let (mut reader, mut changer) = (database.session(), database.session());
        changer.execute("SET lock_wait_timeout = 1").expect("sets");
        reader.execute("BEGIN; SELECT * FROM t").expect("reads");
        for text in [
            "ALTER TABLE t ADD b INT",
            "DROP TABLE t",
            "RENAME TABLE t TO v",
            "TRUNCATE TABLE t",
            "LOCK TABLES t WRITE",
        ] {
            assert_eq!(error(&mut changer, text), 1205, "{text}");
        }
        assert_eq!(error(&mut changer, "INSERT INTO t VALUES (2)"), 0);
        assert_eq!(error(&mut changer, "ALTER TABLE u ADD b INT"), 0);
        reader.execute("COMMIT").expect("commits");
        assert_eq!(error(&mut changer, "ALTER TABLE t ADD b INT"), 0);
    }

    #[test]
    fn whoever_waits_sees_the_new_definition() {
        let database = engine();
        let mut holder = database.session();
        holder.execute("LOCK TABLES t WRITE").expect("locks");
        let other = Arc::clone(&database);
        let waiter = std::thread::spawn(move || {
            let mut session = other.session();
            let results = session
                .execute("SELECT * FROM t")
                .expect("reads in the end");
            results[0].columns.len()
        });
        std::thread::sleep(Duration::from_millis(100));
        holder
            .execute("ALTER TABLE t ADD b INT; UNLOCK TABLES")
            .expect("changes");
        assert_eq!(waiter.join().expect("ends"), 2);
    }

    #[test]
    fn read_locks_keep_others_from_writing() {
        let database = engine();
        let (mut holder, mut other) = (database.session(), database.session());
        other.execute("SET lock_wait_timeout = 1").expect("sets");
        holder.execute("LOCK TABLES t READ").expect("locks");
        assert_eq!(error(&mut other, "SELECT * FROM t"), 0);
        assert_eq!(error(&mut other, "LOCK TABLES t READ; UNLOCK TABLES"), 0);
        assert_eq!(error(&mut other, "INSERT INTO t VALUES (2)"), 1205);
        assert_eq!(error(&mut holder, "INSERT INTO t VALUES (2)"), 1099);
        assert_eq!(error(&mut holder, "SELECT * FROM u"), 1100);
        drop(holder);
        assert_eq!(error(&mut other, "INSERT INTO t VALUES (2)"), 0);
    }

    #[test]
    fn a_circle_through_one_that_waits_alone_is_broken() {
        let database = engine();
        let mut first = database.session();
        first.execute("BEGIN; SELECT * FROM t").expect("reads");
        let mut third = database.session();
        third.execute("SELECT GET_LOCK('x', 0)").expect("locks");
        let mut second = database.session();
        let changer = std::thread::spawn(move || error(&mut second, "ALTER TABLE t ADD b INT"));
        std::thread::sleep(Duration::from_millis(100));
        // It waits behind the one that waits for the first.
        let reader = std::thread::spawn(move || {
            let outcome = error(&mut third, "SELECT * FROM t");
            drop(third);
            outcome
        });
        std::thread::sleep(Duration::from_millis(100));
        let outcome = error(&mut first, "SELECT GET_LOCK('x', 60)");
        drop(first);
        let others = [changer.join(), reader.join()].map(|it| it.expect("ends"));
        // Whoever sees the circle first gives up.
        let given_up = [outcome, others[0], others[1]];
        let given_up = given_up.into_iter().filter(|errno| *errno != 0);
        let given_up: Vec<u16> = given_up.collect();
        assert!(matches!(given_up[..], [1213 | 3058]), "{given_up:?}");
    }

    #[test]
    fn a_circle_of_waits_is_broken() {
        let database = engine();
        let (mut first, mut second) = (database.session(), database.session());
        first.execute("BEGIN; SELECT * FROM t").expect("reads");
        second.execute("LOCK TABLES u WRITE").expect("locks");
        let thread = std::thread::spawn(move || {
            // The lock of u goes when it asks for t.
            let outcome = error(&mut second, "LOCK TABLES t WRITE");
            (second, outcome)
        });
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(error(&mut first, "SELECT * FROM u"), 0);
        first.execute("COMMIT").expect("commits");
        assert_eq!(thread.join().expect("ends").1, 0);
    }
}
