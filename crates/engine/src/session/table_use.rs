//! Use of tables by their names: a session holds the lock ([`crate::locks::table`]) of a table that it uses until the
//! transaction ends, and under LOCK TABLES may only use the tables locked by it.

use std::sync::Arc;
use std::time::Duration;

use itertools::Itertools;
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

use super::StatementContext;
use crate::catalog::definition::TableDefinition;
use crate::catalog::view::ViewDefinition;
use crate::catalog::{BaseTable, FullName};
use crate::error::refuse;
use crate::locks::table::{self, HeldTable, TableLock, TableUse, Waiting};
use crate::system_schemas::is_schema;
use crate::variables::typed;

impl StatementContext<'_> {
    /// The table of a name, for reading: the session's temporary table, or else the base table, which is held until
    /// the transaction ends.
    pub(crate) fn use_table(&self, database: &str, name: &str) -> Result<Option<Arc<BaseTable>>> {
        self.use_table_as(database, name, None, TableUse::Read)
    }

    /// [`Self::use_table`] for any kind of use and under an alias: 1099 and 1100 when LOCK TABLES does not cover it.
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

    /// [`Self::use_table_as`] that ignores temporary tables.
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
            self.note_use(&table);
            // Its rows are the session's: what others have to wait for is the definition alone.
            let is_private = table.private().is_some();
            let how = if is_private { TableUse::Read } else { how };
            if self.session.transaction.has_locked_tables() && !is_private {
                self.check_locked(database, name, alias, how)?;
                return Ok(Some(table));
            }
            // Planning alone neither waits for locks nor holds them.
            if self.ahead.is_some() {
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

    /// The view of a name, for reading: it is held unchanged until the transaction ends. A view that is only
    /// described is not waited for.
    pub(crate) fn use_view(
        &self,
        database: &str,
        name: &str,
        describes: bool,
    ) -> Result<Option<Arc<ViewDefinition>>> {
        let catalog = &self.database().catalog;
        let found = catalog.view(database, name);
        let transaction = &self.session.transaction;
        if found.is_none()
            || describes
            || self.ahead.is_some()
            || is_schema(database)
            || transaction.has_locked_tables()
        {
            return Ok(found);
        }
        let lock = catalog.view_lock(database, name);
        if !transaction.tables.has(&lock, TableUse::Read) {
            transaction.tables.add(self.take(&lock, TableUse::Read)?);
        }
        Ok(catalog.view(database, name))
    }

    /// Holds the lock of a view's name, whether or not the view exists.
    pub(crate) fn hold_view(&self, database: &str, name: &str, how: TableUse) -> Result<HeldTable> {
        self.take(&self.database().catalog.view_lock(database, name), how)
    }

    /// A base table that a foreign key of a used table leads to: LOCK TABLES need not name it.
    pub(crate) fn use_related_table(
        &self,
        database: &str,
        name: &str,
        how: TableUse,
    ) -> Result<Option<Arc<BaseTable>>> {
        match self.session.transaction.has_locked_tables() {
            // A related table was locked together with the table that leads to it.
            true => Ok(self.database().catalog.table(database, name)),
            false => self.use_base_table(database, name, None, how),
        }
    }

    /// Holds a known base table until the transaction ends; false under LOCK TABLES. The caller re-checks that the
    /// table exists.
    pub(crate) fn hold_known(&self, table: &BaseTable, how: TableUse) -> Result<bool> {
        self.note_use(table);
        if self.session.transaction.has_locked_tables() {
            return Ok(false);
        }
        let is_private = table.private().is_some();
        let how = if is_private { TableUse::Read } else { how };
        if !self.session.transaction.tables.has(table.lock(), how) {
            let held = self.take(table.lock(), how)?;
            self.session.transaction.tables.add(held);
        }
        Ok(true)
    }

    /// Notes a use of a table with a time to live.
    #[inline]
    fn note_use(&self, table: &BaseTable) {
        if table.definition.ttl.is_some() {
            table.note_use(self.database().options.clock.now_utc_microseconds());
        }
    }

    /// 1105 for changing the definition of a global temporary table in which other sessions have rows.
    pub(crate) fn refuse_rows_of_others(&self, table: &BaseTable) -> Result<()> {
        let others = table
            .private()
            .map(|store| store.others_with_rows(self.id()));
        let others = others.unwrap_or_default();
        refuse(!others.is_empty(), || {
            let TableDefinition { database, name, .. } = &*table.definition;
            let others = match &others[..] {
                [one] => format!("connection {one} has"),
                several => format!("connections {} have", several.iter().join(", ")),
            };
            let text = format!(
                "The definition of the global temporary table '{database}.{name}' cannot be changed: {others} rows in it"
            );
            codes::ER_UNKNOWN_ERROR.with(&[&text])
        })
    }

    /// The base table of a name, held; `None` when there is none of that name.
    pub(crate) fn hold_table(
        &self,
        database: &str,
        name: &str,
        how: TableUse,
    ) -> Result<Option<(Arc<BaseTable>, HeldTable)>> {
        let catalog = &self.database().catalog;
        let is_checked = |table: Arc<BaseTable>| table.private().is_none();
        if self.session.transaction.has_locked_tables()
            && catalog.table(database, name).is_some_and(is_checked)
        {
            self.check_locked(database, name, None, TableUse::Write)?;
        }
        loop {
            let Some(table) = catalog.table(database, name) else {
                return Ok(None);
            };
            let changes = how == TableUse::Alone;
            if changes {
                self.refuse_rows_of_others(&table)?;
            }
            let held = self.take(table.lock(), how)?;
            if is_still(catalog.table(database, name), &table) {
                if changes {
                    self.refuse_rows_of_others(&table)?;
                }
                return Ok(Some((table, held)));
            }
        }
    }

    /// FLUSH TABLES WITH READ LOCK: waits for all changes and definitions to end, and blocks new ones. Tables are
    /// locked in the order of their names.
    pub(crate) fn take_read_lock(&mut self) -> Result<()> {
        self.session.transaction.refuse_under_locks()?;
        let mut held = vec![self.take(&self.database().definitions, TableUse::ReadAlone)?];
        let mut names: Vec<FullName> = Vec::new();
        for (database, entry) in self.catalog().databases().iter() {
            let tables = entry.tables.keys();
            names.extend(tables.map(|name| (database.clone(), name.clone())));
        }
        for (database, name) in names {
            let table = self.hold_table(&database, &name, TableUse::ReadAlone)?;
            held.extend(table.map(|(_, held)| held));
        }
        self.session.transaction.read_lock = held;
        Ok(())
    }

    /// Holds the lock for changing definitions; waits for sessions that have the global read lock.
    pub(crate) fn hold_definitions(&self) -> Result<()> {
        let held = self.take(&self.database().definitions, TableUse::Write)?;
        self.session.transaction.tables.add(held);
        Ok(())
    }

    /// The error of a name that means no table: 1109 in information_schema, else 1049 or 1146.
    pub(crate) fn missing_table(&self, database: &str, name: &str) -> Error {
        if database.eq_ignore_ascii_case("information_schema") {
            let name = name.to_uppercase();
            return codes::ER_UNKNOWN_TABLE.with(&[&name, &"information_schema"]);
        }
        self.catalog().missing_table(database, name)
    }

    /// The error of a missing table that a statement reads or changes: 1100 under LOCK TABLES, which cannot have named
    /// the table.
    pub(crate) fn missing_for_use(&self, database: &str, name: &str) -> Error {
        if self.session.transaction.has_locked_tables() {
            codes::ER_TABLE_NOT_LOCKED.with(&[&name])
        } else {
            self.missing_table(database, name)
        }
    }

    /// The table that the program which embeds the engine has for a name without a database.
    pub(crate) fn table_of_program(&self, name: &str) -> Result<Option<BaseTable>> {
        let Some(tables) = &self.session.missing_tables else {
            return Ok(None);
        };
        let provider = tables.table(name)?;
        Ok(provider.map(|provider| {
            let id = self.database().catalog.next_table_id();
            BaseTable::provided(id, ("", name), &provider, self.now())
        }))
    }

    #[inline]
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
            let is_alias = match (&table.alias, alias) {
                (Some(locked), Some(alias)) => locked == alias,
                _ => true,
            };
            if table.is(database, name) && is_alias {
                if how == TableUse::Read || table.writes {
                    return Ok(());
                }
                found = true;
            }
        }
        Err(if found {
            codes::ER_TABLE_NOT_LOCKED_FOR_WRITE.with(&[&name])
        } else {
            codes::ER_TABLE_NOT_LOCKED.with(&[&alias.unwrap_or(name)])
        })
    }
}

/// Whether a name still means the same table.
fn is_still(now: Option<Arc<BaseTable>>, table: &Arc<BaseTable>) -> bool {
    now.is_some_and(|now| Arc::ptr_eq(&now, table))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread::JoinHandle;
    use std::time::Duration;

    use crate::{Database, DatabaseOptions, Session};

    /// The error number of running a text, or 0.
    fn error(session: &mut Session, text: &str) -> u16 {
        session.execute(text).err().map_or(0, |error| error.errno())
    }

    /// Runs a text in another thread.
    fn begin(mut session: Session, text: &'static str) -> JoinHandle<(Session, u16)> {
        let thread = std::thread::spawn(move || {
            let outcome = error(&mut session, text);
            (session, outcome)
        });
        std::thread::sleep(Duration::from_millis(100));
        thread
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
    fn a_statement_that_has_waited_sees_the_new_definition() {
        let database = engine();
        let mut holder = database.session();
        holder.execute("LOCK TABLES t WRITE").expect("locks");
        let waiter = begin(database.session(), "SELECT a, b FROM t");
        let change = "ALTER TABLE t ADD b INT; UNLOCK TABLES";
        holder.execute(change).expect("changes");
        assert_eq!(waiter.join().expect("ends").1, 0);
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
    fn a_cycle_through_an_exclusive_wait_is_broken() {
        let database = engine();
        let mut first = database.session();
        first.execute("BEGIN; SELECT * FROM t").expect("reads");
        let mut third = database.session();
        third.execute("SELECT GET_LOCK('x', 0)").expect("locks");
        let changer = begin(database.session(), "ALTER TABLE t ADD b INT");
        // The reader queues behind the thread that waits for the first.
        let reader = std::thread::spawn(move || error(&mut third, "SELECT * FROM t"));
        std::thread::sleep(Duration::from_millis(100));
        let outcome = error(&mut first, "SELECT GET_LOCK('x', 60)");
        drop(first);
        // The session that sees the cycle first fails.
        let mut failed = vec![outcome, changer.join().expect("ends").1];
        failed.push(reader.join().expect("ends"));
        failed.retain(|errno| *errno != 0);
        assert!(matches!(failed[..], [1213 | 3058]), "{failed:?}");
    }

    #[test]
    fn a_cycle_of_waits_is_broken() {
        let database = engine();
        let (mut first, mut second) = (database.session(), database.session());
        first.execute("BEGIN; SELECT * FROM t").expect("reads");
        second.execute("LOCK TABLES u WRITE").expect("locks");
        // The lock of u is released when it asks for t.
        let thread = begin(second, "LOCK TABLES t WRITE");
        assert_eq!(error(&mut first, "SELECT * FROM u"), 0);
        first.execute("COMMIT").expect("commits");
        assert_eq!(thread.join().expect("ends").1, 0);
    }
}
