//! How a session uses tables by their names: whoever uses a table holds its lock
//! ([`crate::locks::table`]) until the transaction ends, and under LOCK TABLES only the tables that it names
//! are there.

use std::sync::Arc;
use std::time::Duration;

use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

use super::{SessionTransaction, StatementContext};
use crate::catalog::BaseTable;
use crate::error::refuse;
use crate::locks::table::{self, HeldTable, TableLock, TableUse, Waiting};
use crate::variables::typed;

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

impl SessionTransaction {
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
        refuse(self.has_locked_tables(), || {
            codes::ER_TABLE_NOT_LOCKED.with(&[&name])
        })
    }
}

impl StatementContext<'_> {
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
        if let Some(table) = self.session.temporary_tables.get(database, name) {
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
        let catalog = &self.database().catalog;
        loop {
            let Some(table) = catalog.table(database, name) else {
                return Ok(None);
            };
            if self.session.transaction.has_locked_tables() {
                self.check_locked(database, name, alias, how)?;
                return Ok(Some(table));
            }
            if self.session.transaction.tables.has(table.lock(), how) {
                return Ok(Some(table));
            }
            let held = self.take(table.lock(), how)?;
            if is_still(catalog.table(database, name), &table) {
                self.session.transaction.tables.add(held);
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
        match self.session.transaction.has_locked_tables() {
            // It was locked with the table that it is related to.
            true => Ok(self.database().catalog.table(database, name)),
            false => self.use_base_table(database, name, None, how),
        }
    }

    /// A base table that the session found before, held until its transaction ends; false
    /// when LOCK TABLES has its say. Whether it is still there is to be seen then.
    pub(crate) fn hold_known(&self, table: &BaseTable, how: TableUse) -> Result<bool> {
        if self.session.transaction.has_locked_tables() {
            return Ok(false);
        }
        if !self.session.transaction.tables.has(table.lock(), how) {
            let held = self.take(table.lock(), how)?;
            self.session.transaction.tables.add(held);
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
        let catalog = &self.database().catalog;
        if self.session.transaction.has_locked_tables() && catalog.table(database, name).is_some() {
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

    /// The error of a name that means no table: 1109 in information_schema, else 1049 or 1146.
    pub(crate) fn missing_table(&self, database: &str, name: &str) -> Error {
        if database.eq_ignore_ascii_case("information_schema") {
            let name = name.to_uppercase();
            return codes::ER_UNKNOWN_TABLE.with(&[&name, &"information_schema"]);
        }
        self.catalog().missing_table(database, name)
    }

    fn take(&self, lock: &Arc<TableLock>, how: TableUse) -> Result<HeldTable> {
        let waiting = Waiting {
            session: self.id(),
            longest: Duration::from_secs(self.settings().get(typed::LOCK_WAIT_TIMEOUT)),
            interrupt: self.interrupt(),
            waits: &self.database().waits,
        };
        table::take(lock, how, &waiting)
    }

    fn check_locked(
        &self,
        database: &str,
        name: &str,
        alias: Option<&str>,
        how: TableUse,
    ) -> Result<()> {
        let mut found = false;
        for table in &self.session.transaction.locked_tables.tables {
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
        if found {
            Err(codes::ER_TABLE_NOT_LOCKED_FOR_WRITE.with(&[&name]))
        } else {
            Err(codes::ER_TABLE_NOT_LOCKED.with(&[&alias.unwrap_or(name)]))
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
