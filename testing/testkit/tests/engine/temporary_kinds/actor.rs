//! A session and what it must see. With `temp_ddl_transactional` a rollback restores all of its temporary tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use mayfly_engine::Session;
use mayfly_testkit::fixture::SessionExt;
use mayfly_trials::Random;

use super::SetClock;
use super::shared::{Changes, Common, Life, Rows};

/// What all sessions see.
pub(super) struct World {
    clock: Arc<SetClock>,
    common: BTreeMap<&'static str, Common>,
    /// Whether the clock was set since tables whose time is over were looked for.
    is_due: bool,
}

impl World {
    pub(super) fn new(clock: Arc<SetClock>) -> Self {
        Self {
            clock,
            common: BTreeMap::from([("p", Common::new(None))]),
            is_due: false,
        }
    }

    pub(super) fn advance(&mut self, seconds: i64) {
        self.clock.advance(seconds);
        self.is_due = true;
    }

    /// What the first statement after a change of the clock does.
    pub(super) fn sweep(&mut self) {
        if !std::mem::take(&mut self.is_due) {
            return;
        }
        let now = self.clock.now();
        self.common.retain(|_, table| {
            let is_kept = !table.is_over(now) || !table.users.is_empty();
            if table.is_over(now) {
                table.note_use(now);
            }
            is_kept
        });
    }
}

/// Table of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Table {
    rows: Rows,
    on_commit: OnCommit,
    is_global: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnCommit {
    Preserve,
    Delete,
    Drop,
}

type Tables = BTreeMap<&'static str, Table>;

/// What a rollback to a savepoint restores.
#[derive(Debug, Clone, Default)]
struct Undoable {
    tables: Tables,
    /// Changes of tables that all sessions see.
    changes: BTreeMap<&'static str, Changes>,
}

pub(super) struct Actor {
    number: usize,
    pub(super) session: Session,
    now: Undoable,
    /// The state when the transaction began, and the states of the common tables that it sees.
    begun: Option<(Undoable, BTreeMap<&'static str, usize>)>,
    savepoints: Vec<(u64, Undoable)>,
}

const OWN: [&str; 5] = ["g_delete", "g_keep", "t0", "t1", "t2"];
const COMMON: [&str; 3] = ["p", "s", "e"];

fn global(on_commit: OnCommit) -> Table {
    Table {
        rows: Rows::new(),
        on_commit,
        is_global: true,
    }
}

fn texts(rows: &Rows) -> Vec<String> {
    rows.iter().map(|(a, b)| format!("{a} {b}")).collect()
}

impl Actor {
    pub(super) fn new(number: usize, session: Session) -> Self {
        let tables = Tables::from([
            ("g_delete", global(OnCommit::Delete)),
            ("g_keep", global(OnCommit::Preserve)),
        ]);
        let mut actor = Self {
            number,
            session,
            now: Undoable {
                tables,
                ..Undoable::default()
            },
            begun: None,
            savepoints: Vec::new(),
        };
        actor.prepare();
        actor
    }

    fn prepare(&mut self) {
        self.session.must("USE test");
        self.session.must("SET temp_ddl_transactional = ON");
        self.session.must("SET innodb_lock_wait_timeout = 1");
    }

    pub(super) fn is_in_transaction(&self) -> bool {
        self.begun.is_some()
    }

    pub(super) fn has_kept_rows(&self) -> bool {
        !self.now.tables["g_keep"].rows.is_empty()
    }

    /// Runs a statement, which must end with this error number; 0 for none.
    fn run(&mut self, text: &str, errno: u16) {
        let ended = self.session.execute(text);
        let ended = ended.map_or_else(|error| error.errno(), |_| 0);
        // Shown with a failure.
        eprintln!("{}: {text}: {ended}", self.session.id());
        assert_eq!(ended, errno, "{text}");
    }

    /// The end of a transaction for the tables that all sessions see.
    fn end_common(&mut self, world: &mut World, commits: bool) {
        for (name, changes) in std::mem::take(&mut self.now.changes) {
            if let (Some(table), true) = (world.common.get_mut(name), commits) {
                table.commit(&changes);
            }
        }
        for table in world.common.values_mut() {
            table.users.remove(&self.number);
            table.writer.take_if(|writer| *writer == self.number);
        }
    }

    fn end(&mut self, world: &mut World, commits: bool) {
        self.end_common(world, commits);
        if let Some((begun, _)) = self.begun.take()
            && !commits
        {
            self.now = begun;
        }
        self.savepoints.clear();
        let tables = &mut self.now.tables;
        tables.retain(|_, table| table.on_commit != OnCommit::Drop);
        let emptied = tables.values_mut();
        for table in emptied.filter(|table| table.on_commit == OnCommit::Delete) {
            table.rows.clear();
        }
    }

    /// The end of a statement, which is a transaction outside of one.
    fn end_statement(&mut self, world: &mut World) {
        if self.begun.is_none() {
            self.end(world, true);
        }
    }

    /// The session ends.
    pub(super) fn leave(&mut self, world: &mut World) {
        self.end(world, false);
    }

    /// COM_RESET_CONNECTION, with or without the temporary tables.
    pub(super) fn reset(&mut self, world: &mut World, keeps: bool) {
        if keeps {
            world.sweep();
            self.run("SET session_keep_temp_tables = ON", 0);
        }
        self.session.reset();
        self.end(world, false);
        if !keeps {
            self.now.tables.retain(|_, table| table.is_global);
            let emptied = self.now.tables.values_mut();
            emptied.for_each(|table| table.rows.clear());
        }
        self.prepare();
        world.sweep();
        self.check(world);
    }

    /// Makes or drops a shared table, while no other session is in a transaction; it commits.
    pub(super) fn define(&mut self, random: &mut Random, world: &mut World) {
        world.sweep();
        let name = ["s", "e"][random.below(2)];
        let exists = world.common.contains_key(name);
        if exists && random.one_in(2) {
            self.run(&format!("DROP TABLE {name}"), 0);
            self.end(world, true);
            world.common.remove(name);
            return self.check(world);
        }
        let (after_creation, now) = (random.one_in(2), world.clock.now());
        let (words, life) = match (name, after_creation) {
            ("s", _) => ("", None),
            (_, true) => (" TTL 10 SECOND AFTER CREATION", Some(true)),
            (_, false) => (" TTL 10 SECOND", Some(false)),
        };
        let text =
            format!("CREATE SHARED TEMPORARY TABLE {name} (a INT PRIMARY KEY, b INT){words}");
        self.run(&text, if exists { 1050 } else { 0 });
        self.end(world, true);
        if !exists {
            let life = life.map(|after_creation| Life {
                after_creation,
                length: 10_000_000,
                created: now,
                used: now,
            });
            world.common.insert(name, Common::new(life));
        }
        self.check(world);
    }

    pub(super) fn step(&mut self, random: &mut Random, world: &mut World) {
        world.sweep();
        if random.one_in(3) {
            self.change_common(random, world);
        } else {
            self.change_own(random, world);
        }
        self.check(world);
    }

    /// Changes a table that all sessions see, unless another transaction would have to be waited for.
    fn change_common(&mut self, random: &mut Random, world: &mut World) {
        let name = COMMON[random.below(3)];
        let (key, value) = (random.below_u64(6), random.below_u64(100));
        let kind = random.below(3);
        let text = match kind {
            0 => format!("DELETE FROM {name} WHERE a = {key}"),
            1 => format!("UPDATE {name} SET b = {value} WHERE a = {key}"),
            _ => format!("INSERT INTO {name} VALUES ({key}, {value})"),
        };
        let Some(table) = world.common.get_mut(name) else {
            return self.run(&text, 1146);
        };
        if table.writer.is_some_and(|writer| writer != self.number) {
            return;
        }
        if self.begun.is_some() {
            table.writer = Some(self.number);
            table.users.insert(self.number);
        }
        table.note_use(world.clock.now());
        let own = self.now.changes.entry(name).or_default();
        let errno = match (kind, table.seen(None, Some(own)).get(&key)) {
            (0, Some(_)) => {
                own.insert(key, None);
                0
            }
            // A row that has the value already is not changed: an older snapshot does not see it.
            (1, Some(known)) if *known == value => 0,
            (0 | 1, None) => 0,
            (2, Some(_)) => 1062,
            _ => {
                own.insert(key, Some(value));
                0
            }
        };
        self.run(&text, errno);
        self.end_statement(world);
    }

    fn change_own(&mut self, random: &mut Random, world: &mut World) {
        let name = OWN[random.below(5)];
        let own = OWN[2 + random.below(3)];
        let (key, value) = (random.below_u64(6), random.below_u64(100));
        let savepoint = random.below_u64(3);
        let is_there = self.now.tables.contains_key(name);
        let missing = if is_there { 0 } else { 1146 };
        match random.below(16) {
            0 => {
                self.run("START TRANSACTION WITH CONSISTENT SNAPSHOT", 0);
                self.end(world, true);
                let common = world.common.iter();
                let seen = common.map(|(name, table)| (*name, table.states.len() - 1));
                self.begun = Some((self.now.clone(), seen.collect()));
            }
            1 => {
                self.run("COMMIT", 0);
                self.end(world, true);
            }
            2 => {
                self.run("ROLLBACK", 0);
                let was_open = self.begun.is_some();
                self.end(world, !was_open);
            }
            3 => {
                self.run(&format!("SAVEPOINT s{savepoint}"), 0);
                if self.begun.is_some() {
                    self.savepoints.retain(|(known, _)| *known != savepoint);
                    self.savepoints.push((savepoint, self.now.clone()));
                }
            }
            4 => {
                let mut all = self.savepoints.iter();
                let known = all.position(|(known, _)| *known == savepoint);
                let errno = if known.is_some() { 0 } else { 1305 };
                self.run(&format!("ROLLBACK TO s{savepoint}"), errno);
                if let Some(known) = known {
                    self.savepoints.truncate(known + 1);
                    self.now = self.savepoints[known].1.clone();
                }
            }
            5 | 6 => {
                let (words, on_commit) = [
                    ("", OnCommit::Preserve),
                    (" ON COMMIT DELETE ROWS", OnCommit::Delete),
                    (" ON COMMIT DROP", OnCommit::Drop),
                ][random.below(3)];
                let exists = self.now.tables.contains_key(own);
                let text =
                    format!("CREATE TEMPORARY TABLE {own} (a INT PRIMARY KEY, b INT){words}");
                self.run(&text, if exists { 1050 } else { 0 });
                if !exists {
                    let table = Table {
                        is_global: false,
                        ..global(on_commit)
                    };
                    self.now.tables.insert(own, table);
                }
                self.end_statement(world);
            }
            7 => {
                let dropped = self.now.tables.remove(own).is_some();
                let errno = if dropped { 0 } else { 1051 };
                self.run(&format!("DROP TEMPORARY TABLE {own}"), errno);
                self.end_statement(world);
            }
            // Of a missing table it commits, as for a base table.
            8 if is_there => {
                self.run(&format!("TRUNCATE TABLE {name}"), 0);
                if let Some(table) = self.now.tables.get_mut(name) {
                    table.rows.clear();
                }
                self.end_statement(world);
            }
            9 if is_there && !self.now.tables[name].is_global => {
                self.run(&format!("ALTER TABLE {name} MODIFY b INT"), 0);
                self.end_statement(world);
            }
            10 => {
                self.run(&format!("DELETE FROM {name} WHERE a >= {key}"), missing);
                if let Some(table) = self.now.tables.get_mut(name) {
                    table.rows.retain(|known, _| *known < key);
                }
                self.end_statement(world);
            }
            11 => {
                let text = format!("UPDATE {name} SET b = {value} WHERE a = {key}");
                self.run(&text, missing);
                let table = self.now.tables.get_mut(name);
                if let Some(row) = table.and_then(|table| table.rows.get_mut(&key)) {
                    *row = value;
                }
                self.end_statement(world);
            }
            _ => {
                let table = self.now.tables.get(name);
                let taken = table.is_some_and(|table| table.rows.contains_key(&key));
                let errno = if taken { 1062 } else { missing };
                // A failing statement leaves no row of those before the one that fails.
                let before = if taken { "(1000, 0), " } else { "" };
                let text = format!("INSERT INTO {name} VALUES {before}({key}, {value})");
                self.run(&text, errno);
                if let (Some(table), false) = (self.now.tables.get_mut(name), taken) {
                    table.rows.insert(key, value);
                }
                self.end_statement(world);
            }
        }
    }

    fn rows_of(&mut self, name: &str, hint: &str) -> Result<Vec<String>, u16> {
        let text = format!("SELECT {hint}CONCAT(a, ' ', b) FROM {name} ORDER BY a");
        let seen = self.session.execute(&text).map_err(|error| error.errno())?;
        let rows = seen[0].rows_text().into_iter().flatten().flatten();
        Ok(rows.collect())
    }

    fn check(&mut self, world: &mut World) {
        for name in OWN {
            let expected = self.now.tables.get(name);
            let expected = expected.map(|table| texts(&table.rows)).ok_or(1146);
            assert_eq!(self.rows_of(name, ""), expected, "{name}");
        }
        for name in COMMON {
            let Some(table) = world.common.get_mut(name) else {
                assert_eq!(self.rows_of(name, ""), Err(1146), "{name}");
                continue;
            };
            if self.begun.is_some() {
                table.users.insert(self.number);
            }
            table.note_use(world.clock.now());
            let snapshot = self.begun.as_ref().map(|(_, seen)| seen.get(name).copied());
            let snapshot = snapshot.map(|state| state.unwrap_or(0));
            let own = self.now.changes.get(name);
            let (expected, is_changed) = (
                texts(&table.seen(snapshot, own)),
                own.is_some_and(|own| !own.is_empty()),
            );
            let newest = snapshot.unwrap_or(table.states.len() - 1);
            let states: Vec<Vec<String>> = table.states[..=newest].iter().map(texts).collect();
            let what = |how: &str| format!("{how} of {name} by {}", self.session.id());
            let (plain, kept, timed) = (what("rows"), what("unchanged rows"), what("kept rows"));
            assert_eq!(self.rows_of(name, ""), Ok(expected.clone()), "{plain}");
            let hint = "/*+ RESULT_CACHE(UNTIL CHANGED) */ ";
            assert_eq!(self.rows_of(name, hint), Ok(expected.clone()), "{kept}");
            let seen = self.rows_of(name, "/*+ RESULT_CACHE(60s) */ ").unwrap();
            let is_known = seen == expected || !is_changed && states.contains(&seen);
            assert!(is_known, "{timed}: {seen:?}");
        }
    }
}
