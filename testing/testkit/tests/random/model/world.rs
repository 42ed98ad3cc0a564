//! The whole model: tables, sessions with their transactions, and the rows that each of them sees. Taking a step
//! returns its expected answer; a step that the model cannot follow is not taken.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::model::rows::{Change, Fail, Tables, durable, settle};
use crate::model::steps::{Lock, Step};
use crate::model::table::{Row, Store, Table};

/// Number of sessions.
pub(crate) const SESSIONS: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

impl Level {
    pub(crate) fn sql(self) -> &'static str {
        match self {
            Self::ReadUncommitted => "READ UNCOMMITTED",
            Self::ReadCommitted => "READ COMMITTED",
            Self::RepeatableRead => "REPEATABLE READ",
            Self::Serializable => "SERIALIZABLE",
        }
    }
}

/// State that a savepoint rolls back to.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    tables: Tables,
    temporary: Tables,
    touched: BTreeMap<String, BTreeSet<u64>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Transaction {
    level: Level,
    /// Its snapshot, once it has one.
    pub(crate) snapshot: Option<Tables>,
    /// Durable tables that no other session writes until the transaction ends.
    owned: BTreeSet<String>,
    /// Tables that no other session writes because it has read them with locks.
    read: BTreeSet<String>,
    /// Tables that no other session may redefine.
    used: BTreeSet<String>,
    touched: BTreeMap<String, BTreeSet<u64>>,
    /// Its temporary tables before.
    temporary: Tables,
    pub(crate) savepoints: Vec<(String, Kept)>,
}

impl Transaction {
    fn savepoint_index(&self, name: &str) -> Option<usize> {
        let mut savepoints = self.savepoints.iter();
        savepoints.position(|(other, _)| other == name)
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    pub(crate) temporary: Tables,
    pub(crate) transaction: Option<Transaction>,
}

/// Expected answer of a session.
#[derive(Debug, Clone)]
pub(crate) struct Expected {
    pub(crate) session: usize,
    pub(crate) answer: Answer,
}

#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// Expected error number of a statement (0: none), with the text of the file that it reads.
    Statement {
        sql: String,
        file: Option<String>,
        errno: u16,
    },
    /// The rows of a table that the session sees.
    Rows {
        table: Rc<Table>,
        lock: Lock,
        seed: u64,
    },
    /// SHOW CREATE TABLE and CHECK TABLE.
    Definition(Rc<Table>),
    /// Closes and opens everything.
    Restart,
    /// `mayfly check`, and a backup that holds these tables.
    Backup(Tables),
}

/// The model.
#[derive(Debug, Clone, Default)]
pub(crate) struct World {
    /// Durable and MEMORY tables with uncommitted changes: no other session writes those.
    pub(crate) now: Tables,
    /// The tables as seen by sessions that have not changed them.
    pub(crate) committed: Tables,
    pub(crate) sessions: [Known; SESSIONS],
    next_row: u64,
    next_version: u64,
}

impl World {
    /// Takes a step, if the model knows its effect.
    pub(crate) fn take(&mut self, step: &Step) -> Option<Expected> {
        // A step that cannot be taken has no effect.
        let before = self.clone();
        let session = step.session;
        let answer = step.action.apply(self, session);
        if answer.is_none() {
            *self = before;
        }
        answer.map(|answer| Expected { session, answer })
    }

    /// Keeps the state that remains after everything is closed, or killed.
    pub(crate) fn crash(&mut self) {
        self.committed = durable(&self.committed);
        self.now = self.committed.clone();
        self.sessions = Default::default();
    }

    /// The state after the commit of the session's work by a statement, before the statement's own effect.
    pub(crate) fn halfway(&self, expected: &Expected) -> Self {
        let mut world = self.clone();
        if let Answer::Statement { .. } = expected.answer {
            world.commit(expected.session);
        }
        world.crash();
        world
    }

    pub(crate) fn new_version(&mut self) -> u64 {
        self.next_version += 1;
        self.next_version
    }

    pub(crate) fn new_rows(&mut self, count: usize) -> u64 {
        self.next_row += count as u64;
        self.next_row - count as u64
    }

    /// Whether no session has a transaction.
    pub(crate) fn is_quiet(&self) -> bool {
        self.sessions
            .iter()
            .all(|known| known.transaction.is_none())
    }

    /// A table that a session knows, as its writing statements see it.
    pub(crate) fn table(&self, session: usize, name: &str) -> Option<&Rc<Table>> {
        let temporary = self.sessions[session].temporary.get(name);
        temporary.or_else(|| self.now.get(name))
    }

    fn others(&self, session: usize) -> impl Iterator<Item = &Transaction> {
        let sessions = self.sessions.iter().enumerate();
        sessions
            .filter(move |(number, _)| *number != session)
            .filter_map(|(_, known)| known.transaction.as_ref())
    }

    /// A table, and those connected with it by foreign keys.
    pub(crate) fn family(&self, name: &str) -> BTreeSet<String> {
        let mut all = BTreeSet::from([name.to_owned()]);
        loop {
            let before = all.len();
            for (other, table) in &self.now {
                for key in &table.foreign {
                    if all.contains(other) || all.contains(&key.parent) {
                        all.insert(other.clone());
                        all.insert(key.parent.clone());
                    }
                }
            }
            if all.len() == before {
                return all;
            }
        }
    }

    fn is_durable(&self, session: usize, name: &str) -> bool {
        self.table(session, name)
            .is_some_and(|table| table.store == Store::Durable)
    }

    /// Notes that a session writes a table; `None` if it would have to wait for others.
    pub(crate) fn writes(&mut self, session: usize, name: &str) -> Option<()> {
        self.table(session, name)?;
        if self.sessions[session].temporary.contains_key(name) {
            return Some(());
        }
        let family = self.family(name);
        let is_free = |other: &Transaction| {
            other.owned.is_disjoint(&family) && other.read.is_disjoint(&family)
        };
        if !self.others(session).all(is_free) {
            return None;
        }
        self.is_as_seen(session, name)?;
        let durable = self.is_durable(session, name);
        if let Some(transaction) = &mut self.sessions[session].transaction {
            transaction.used.extend(family.iter().cloned());
            if durable {
                transaction.owned.extend(family);
            }
        }
        Some(())
    }

    /// Notes that a session reads the newest rows of a table with locks.
    pub(crate) fn reads_newest(&mut self, session: usize, name: &str) -> Option<()> {
        self.table(session, name)?;
        if self.others(session).any(|other| other.owned.contains(name)) {
            return None;
        }
        self.is_as_seen(session, name)?;
        if let Some(transaction) = &mut self.sessions[session].transaction {
            transaction.used.insert(name.to_owned());
            transaction.read.insert(name.to_owned());
        }
        Some(())
    }

    /// Whether a table still has the definition in a session's snapshot: otherwise its statements fail.
    fn is_as_seen(&self, session: usize, name: &str) -> Option<()> {
        let snapshot = self.sessions[session]
            .transaction
            .as_ref()
            .and_then(|transaction| transaction.snapshot.as_ref());
        let Some(snapshot) = snapshot else {
            return Some(());
        };
        if self.sessions[session].temporary.contains_key(name) {
            return Some(());
        }
        let version = |tables: &Tables| tables.get(name).map(|table| table.version);
        (version(snapshot) == version(&self.now)).then_some(())
    }

    /// A table as a session sees it without locks.
    pub(crate) fn sees(&mut self, session: usize, name: &str) -> Option<Rc<Table>> {
        if let Some(table) = self.sessions[session].temporary.get(name) {
            return Some(Rc::clone(table));
        }
        let newest = Rc::clone(self.now.get(name)?);
        let committed = Rc::clone(self.committed.get(name)?);
        let all = self.committed.clone();
        let Some(transaction) = &mut self.sessions[session].transaction else {
            return Some(match newest.store {
                Store::Memory => newest,
                _ => committed,
            });
        };
        if newest.store == Store::Memory {
            transaction.used.insert(name.to_owned());
            return Some(newest);
        }
        if transaction.level == Level::Serializable {
            self.reads_newest(session, name)?;
            return Some(newest);
        }
        transaction.used.insert(name.to_owned());
        let is_owned = transaction.owned.contains(name);
        if transaction.level != Level::RepeatableRead {
            return Some(if is_owned { newest } else { committed });
        }
        let snapshot = transaction.snapshot.get_or_insert(all);
        let seen = Rc::clone(snapshot.get(name)?);
        if seen.version != newest.version {
            return None;
        }
        let touched = transaction.touched.get(name);
        match (is_owned, touched) {
            (false, _) | (_, None) => Some(seen),
            _ if Rc::ptr_eq(&seen, &committed) => Some(newest),
            (true, Some(touched)) => merged(&seen, &committed, &newest, touched).map(Rc::new),
        }
    }

    /// The newest rows, as locking reads see them.
    pub(crate) fn sees_newest(
        &mut self,
        session: usize,
        name: &str,
        for_update: bool,
    ) -> Option<Rc<Table>> {
        if self.table(session, name)?.store != Store::Durable {
            return self.sees(session, name);
        }
        if for_update {
            self.writes(session, name)?
        } else {
            self.reads_newest(session, name)?
        }
        self.now.get(name).cloned()
    }

    /// Whether no other session has used a table in an open transaction.
    pub(crate) fn may_define(&self, session: usize, name: &str) -> bool {
        let family = self.family(name);
        let is_free = |other: &Transaction| other.used.is_disjoint(&family);
        self.others(session).all(is_free)
    }

    /// Applies a statement's changes of rows.
    pub(crate) fn change(
        &mut self,
        session: usize,
        orders: usize,
        body: impl Fn(&mut Change<'_>) -> Result<(), Fail>,
    ) -> Option<u16> {
        let next = self.next_row;
        let temporary = &self.sessions[session].temporary;
        let (change, errno) = settle(temporary, &self.now, next, orders, body)?;
        let Change {
            tables,
            touched,
            next,
            ..
        } = change;
        self.next_row = next;
        let changed: Vec<Table> = tables
            .into_iter()
            .filter(|(name, _)| touched.get(name).is_some_and(|touched| !touched.is_empty()))
            .map(|(_, table)| table)
            .collect();
        if let Some(transaction) = &mut self.sessions[session].transaction {
            for (name, more) in touched {
                transaction.touched.entry(name).or_default().extend(more);
            }
        }
        for table in changed {
            self.put(session, table);
        }
        Some(errno)
    }

    /// Replaces a table by one with other rows.
    pub(crate) fn put(&mut self, session: usize, table: Table) {
        let (name, table) = (table.name.clone(), Rc::new(table));
        let known = &mut self.sessions[session];
        if table.store == Store::Temporary {
            known.temporary.insert(name, table);
            return;
        }
        if table.store == Store::Memory || known.transaction.is_none() {
            self.committed.insert(name.clone(), Rc::clone(&table));
        }
        self.now.insert(name, table);
    }

    /// Replaces a table by a redefined one; the session's transaction has ended, unless it is one of its temporary
    /// tables.
    pub(crate) fn define(&mut self, session: usize, mut table: Table) {
        table.version = self.new_version();
        table.forget_maps();
        self.put(session, table);
    }

    pub(crate) fn remove(&mut self, session: usize, name: &str) {
        self.sessions[session].temporary.remove(name);
        self.now.remove(name);
        self.committed.remove(name);
    }

    pub(crate) fn begin(&mut self, session: usize, level: Level, has_snapshot: bool) {
        self.commit(session);
        let sees = has_snapshot && level == Level::RepeatableRead;
        let snapshot = sees.then(|| self.committed.clone());
        let known = &mut self.sessions[session];
        known.transaction = Some(Transaction {
            level,
            snapshot,
            owned: BTreeSet::new(),
            read: BTreeSet::new(),
            used: BTreeSet::new(),
            touched: BTreeMap::new(),
            temporary: known.temporary.clone(),
            savepoints: Vec::new(),
        });
    }

    pub(crate) fn commit(&mut self, session: usize) {
        let Some(transaction) = self.sessions[session].transaction.take() else {
            return;
        };
        for name in transaction.owned {
            if let Some(table) = self.now.get(&name) {
                self.committed.insert(name, Rc::clone(table));
            }
        }
    }

    pub(crate) fn rollback(&mut self, session: usize) {
        let Some(transaction) = self.sessions[session].transaction.take() else {
            return;
        };
        for name in transaction.owned {
            if let Some(table) = self.committed.get(&name) {
                self.now.insert(name, Rc::clone(table));
            }
        }
        self.temporary_back(session, &transaction.temporary);
    }

    /// Restores the rows of temporary tables; those that did not exist then have none.
    fn temporary_back(&mut self, session: usize, before: &Tables) {
        for (name, table) in &mut self.sessions[session].temporary {
            match before.get(name) {
                Some(known) => *table = Rc::clone(known),
                None => {
                    let table = Rc::make_mut(table);
                    table.rows.clear();
                    table.forget_maps();
                }
            }
        }
    }

    pub(crate) fn savepoint(&mut self, session: usize, name: &str) -> Option<()> {
        let known = &mut self.sessions[session];
        let transaction = known.transaction.as_mut()?;
        let owned = transaction.owned.iter();
        let tables = owned.filter_map(|name| Some((name.clone(), Rc::clone(self.now.get(name)?))));
        let kept = Kept {
            tables: tables.collect(),
            temporary: known.temporary.clone(),
            touched: transaction.touched.clone(),
        };
        transaction.savepoints.retain(|(other, _)| other != name);
        transaction.savepoints.push((name.to_owned(), kept));
        Some(())
    }

    pub(crate) fn rollback_to(&mut self, session: usize, name: &str) -> Option<()> {
        let transaction = self.sessions[session].transaction.as_mut()?;
        let place = transaction.savepoint_index(name)?;
        let kept = transaction.savepoints[place].1.clone();
        transaction.savepoints.truncate(place + 1);
        transaction.touched = kept.touched;
        for name in transaction.owned.clone() {
            let before = kept.tables.get(&name).or_else(|| self.committed.get(&name));
            if let Some(table) = before {
                self.now.insert(name, Rc::clone(table));
            }
        }
        self.temporary_back(session, &kept.temporary);
        Some(())
    }

    pub(crate) fn release(&mut self, session: usize, name: &str) -> Option<()> {
        let transaction = self.sessions[session].transaction.as_mut()?;
        let place = transaction.savepoint_index(name)?;
        transaction.savepoints.truncate(place);
        Some(())
    }
}

/// A snapshot's rows, except those that its own transaction has changed since. `committed`: the current rows, without
/// that transaction's changes. With unique keys other than the primary key, it is not known which rows are the same.
fn merged(
    seen: &Table,
    committed: &Table,
    newest: &Table,
    touched: &BTreeSet<u64>,
) -> Option<Table> {
    let mut table = Table::new(seen.name.clone(), seen.store, seen.columns.clone());
    table.version = seen.version;
    let uniques = seen.indexes.iter().filter(|index| index.unique);
    if uniques.clone().any(|index| index.name != "PRIMARY") {
        return None;
    }
    table.indexes.clone_from(&seen.indexes);
    let versions = |id: &u64| [committed.rows.get(id), newest.rows.get(id)];
    for (id, row) in &seen.rows {
        if touched.contains(id) {
            continue;
        }
        let primary = seen.index("PRIMARY");
        if let (Some(primary), false) = (primary, committed.rows.contains_key(id)) {
            // For the transaction that changed it, a row removed by others whose key was given to another row is that
            // other row.
            let key = seen.unique_key(primary, row);
            let has_key = |row: &Rc<Row>| seen.unique_key(primary, row) == key;
            let mut touched_rows = touched.iter().flat_map(versions).flatten();
            if touched_rows.any(has_key) {
                continue;
            }
            // The transaction may have had the key for a while.
            if touched.iter().any(|id| versions(id) == [None, None]) {
                return None;
            }
        }
        table.rows.insert(*id, Rc::clone(row));
    }
    for (id, row) in newest.rows.iter().filter(|(id, _)| touched.contains(id)) {
        table.rows.insert(*id, Rc::clone(row));
    }
    let is_clear = table
        .indexes
        .iter()
        .all(|index| !table.has_duplicates(index));
    is_clear.then_some(table)
}
