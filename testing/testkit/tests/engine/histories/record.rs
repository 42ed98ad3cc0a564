//! Random transactions with their outcomes.

use std::sync::{Arc, Mutex};

use mayfly_engine::{Database, KillHandle, Session};
use mayfly_testkit::fixture::SessionExt;
use mayfly_trials::Random;
use serde::{Deserialize, Serialize};

use crate::histories::check::Level;
use crate::histories::events::{Event, Record};

/// An operation of a transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Operation {
    /// (key, value): appended to a list.
    Append(usize, u64),
    /// A list.
    List(usize, Vec<u64>),
    /// (key, value): written to a register.
    Write(usize, u64),
    /// (key, version, value): read of a register.
    Register(usize, u64, u64),
    /// (key, row): added to a set.
    Add(usize, u64),
    /// A set.
    Set(usize, Vec<u64>),
}

/// Outcome of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum End {
    Committed,
    RolledBack,
    /// COMMIT returned an error.
    Unknown,
}

/// A transaction with its operations.
#[derive(Debug, Clone)]
pub(crate) struct Transaction {
    pub(crate) number: u64,
    pub(crate) operations: Vec<Operation>,
    pub(crate) end: End,
}

impl Transaction {
    pub(crate) fn is_committed(&self) -> bool {
        self.end == End::Committed
    }

    /// Whether it has changed nothing.
    pub(crate) fn only_reads(&self) -> bool {
        let writes = |operation: &Operation| {
            matches!(
                operation,
                Operation::Append(..) | Operation::Write(..) | Operation::Add(..)
            )
        };
        !self.operations.iter().any(writes)
    }
}

/// Kill handles of the sessions, for those who end statements and sessions.
pub(crate) type Handles = Arc<Mutex<Vec<KillHandle>>>;

/// A session that runs transactions and records them.
pub(crate) struct Recorder {
    database: Arc<Database>,
    session: Session,
    place: usize,
    handles: Handles,
    level: Level,
    random: Random,
    keys: usize,
    record: Record,
}

fn numbers(text: &[String]) -> Vec<u64> {
    let parts = text.iter().flat_map(|row| row.split([',', '\t']));
    parts.filter_map(|part| part.parse().ok()).collect()
}

impl Recorder {
    /// A recorder whose kill handle is at an index of `handles`.
    pub(crate) fn new(
        database: &Arc<Database>,
        (handles, place): (&Handles, usize),
        level: Level,
        (random, keys): (Random, usize),
        record: Record,
    ) -> Self {
        Self {
            session: connect(database, level, handles, place),
            database: Arc::clone(database),
            place,
            handles: Arc::clone(handles),
            level,
            random,
            keys,
            record,
        }
    }

    /// Runs a statement. A session that was closed has rolled back.
    fn run(&mut self, sql: &str) -> Result<Vec<String>, u16> {
        if self.session.kill_handle().is_closed() {
            let new = connect(&self.database, self.level, &self.handles, self.place);
            drop(std::mem::replace(&mut self.session, new));
            return Err(0);
        }
        self.session.rows(sql).map_err(|error| error.errno())
    }

    fn locks(&self) -> bool {
        self.level == Level::LockingReads
    }

    fn suffix(&mut self) -> &'static str {
        match (self.locks(), self.random.below(2)) {
            (false, _) => "",
            (true, 0) => " FOR SHARE",
            (true, _) => " FOR UPDATE",
        }
    }

    fn list(&mut self, key: usize) -> Result<Operation, u16> {
        let lock = self.suffix();
        // Different access paths to the same row.
        let sql = match (self.locks(), self.random.below(3)) {
            (false, 0) => format!("SELECT v FROM (SELECT v FROM list WHERE k = {key} LIMIT 1) x"),
            (false, 1) => format!("SELECT (SELECT v FROM list WHERE k = {key})"),
            _ => format!("SELECT v FROM list WHERE k = {key}{lock}"),
        };
        let values = numbers(&self.run(&sql)?);
        Ok(Operation::List(key, values))
    }

    fn register(&mut self, key: usize) -> Result<Operation, u16> {
        let lock = self.suffix();
        let sql = format!("SELECT n, v FROM register WHERE k = {key}{lock}");
        let read = numbers(&self.run(&sql)?);
        let (version, value) = (read[0], read[1]);
        Ok(Operation::Register(key, version, value))
    }

    fn set(&mut self, copy: u64, key: usize) -> Result<Operation, u16> {
        let lock = self.suffix();
        let sql = match (self.locks(), self.random.below(3)) {
            // INSERT … SELECT locks the rows that it reads at every level.
            (true, 0) => {
                self.run(&format!(
                    "INSERT INTO copied SELECT {copy}, x FROM item WHERE k = {key}"
                ))?;
                format!("SELECT x FROM copied WHERE t = {copy}")
            }
            (false, 0) => format!("SELECT x FROM (SELECT DISTINCT x FROM item WHERE k = {key}) y"),
            (false, 1) => format!("SELECT GROUP_CONCAT(x) FROM item WHERE k = {key}"),
            _ => format!("SELECT x FROM item WHERE k = {key}{lock}"),
        };
        let values = numbers(&self.run(&sql)?);
        Ok(Operation::Set(key, values))
    }

    /// Runs one operation, which is recorded when it is done.
    fn operation(&mut self, number: u64, place: usize, reads: bool) -> Result<(), u16> {
        let key = self.random.below(self.keys);
        let value = number * 100 + place as u64;
        let done = match (self.random.below(3), reads || self.random.below(2) == 0) {
            (0, true) => self.list(key)?,
            (1, true) => self.register(key)?,
            (_, true) => self.set(value, key)?,
            (0, false) => {
                self.run(&format!(
                    "UPDATE list SET v = CONCAT(v, '{value},') WHERE k = {key}"
                ))?;
                Operation::Append(key, value)
            }
            (1, false) => {
                self.run(&format!(
                    "UPDATE register SET n = n + 1, v = {value} WHERE k = {key}"
                ))?;
                self.done(number, Operation::Write(key, value));
                // Reads the version back.
                self.register(key)?
            }
            (_, false) => {
                self.run(&format!("INSERT INTO item VALUES ({value}, {key})"))?;
                Operation::Add(key, value)
            }
        };
        self.done(number, done);
        Ok(())
    }

    fn done(&mut self, number: u64, operation: Operation) {
        (self.record)(number, Event::Done(operation));
    }

    /// A transaction of a few operations.
    pub(crate) fn transaction(&mut self, number: u64) {
        (self.record)(number, Event::Begins);
        let reads = self.random.below(4) == 0;
        let length = 1 + self.random.below(4);
        let mut done = self.run("START TRANSACTION").map(|_| ());
        for place in 0..length {
            done = done.and_then(|()| self.operation(number, place, reads));
        }
        let rolls_back = self.random.below(10) == 0;
        let end = match done {
            Ok(()) if !rolls_back => {
                (self.record)(number, Event::Commits);
                match self.run("COMMIT") {
                    Ok(_) => End::Committed,
                    Err(_) => End::Unknown,
                }
            }
            _ => End::RolledBack,
        };
        // The killed statement may be this one.
        while end != End::Committed && self.run("ROLLBACK").is_err() {}
        (self.record)(number, Event::Ends(end));
    }

    /// A transaction that reads all there is.
    pub(crate) fn everything(&mut self, number: u64) {
        (self.record)(number, Event::Begins);
        for key in 0..self.keys {
            for read in [
                self.list(key),
                self.register(key),
                self.set(number * 100, key),
            ] {
                self.done(number, read.expect("nobody else is there"));
            }
        }
        (self.record)(number, Event::Ends(End::Committed));
    }
}

fn connect(database: &Arc<Database>, level: Level, handles: &Handles, place: usize) -> Session {
    let mut session = database.session();
    session.must(&format!(
        "USE histories; SET innodb_lock_wait_timeout = 1, group_concat_max_len = 1048576;
             SET SESSION TRANSACTION ISOLATION LEVEL {}",
        level.sql()
    ));
    let mut handles = handles.lock().expect("nobody panics with it");
    match handles.get_mut(place) {
        Some(handle) => *handle = session.kill_handle(),
        None => handles.push(session.kill_handle()),
    }
    session
}
