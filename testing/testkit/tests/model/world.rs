//! The whole of the model: tables, the writing session's transaction with its savepoints, and what
//! others see. A step is one statement, what it must answer, and what it leaves.

use std::collections::BTreeMap;
use std::rc::Rc;

use mayfly_testkit::random::Random;

use crate::table::{Store, Table};

pub(crate) type Tables = BTreeMap<String, Rc<Table>>;

/// What a step does besides running a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    /// The writing session runs it.
    Write,
    /// The reading session runs it.
    Read,
    /// Everything is closed and opened again.
    Restart,
}

/// One step.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) act: Act,
    pub(crate) sql: String,
    /// The number of the error that it must end with; 0: none.
    pub(crate) errno: u16,
    /// The table that it changes, if it is one.
    pub(crate) table: Option<String>,
}

/// The model.
#[derive(Debug, Clone)]
pub(crate) struct World {
    random: Random,
    /// As the writing session sees them.
    pub(crate) tables: Tables,
    /// As they were when its transaction began.
    begun: Option<Tables>,
    savepoints: Vec<(String, Tables)>,
    /// What the reading session's transaction sees.
    pub(crate) snapshot: Option<Tables>,
    names: usize,
    /// The most rows of a bulk load.
    largest_load: usize,
    /// Whether it is closed and opened again now and then.
    restarts: bool,
}

impl World {
    pub(crate) fn new(seed: u64, largest_load: usize, restarts: bool) -> Self {
        Self {
            random: Random(seed),
            tables: Tables::new(),
            begun: None,
            savepoints: Vec::new(),
            snapshot: None,
            names: 0,
            largest_load,
            restarts,
        }
    }

    /// As sessions see the tables that have not changed them.
    pub(crate) fn committed(&self) -> Tables {
        let begun = self.begun.as_ref().unwrap_or(&self.tables);
        let tables = begun.iter().map(|(name, table)| {
            let now = match table.store {
                Store::Memory => self.tables.get(name).unwrap_or(table),
                _ => table,
            };
            (name.clone(), Rc::clone(now))
        });
        tables
            .filter(|(_, table)| table.store != Store::Temporary)
            .collect()
    }

    /// What a crash leaves.
    pub(crate) fn crash(&mut self) {
        let mut left = self.committed();
        for table in left.values_mut() {
            if table.store == Store::Memory {
                Rc::make_mut(table).rows.clear();
            }
        }
        self.tables = left;
        self.begun = None;
        self.savepoints.clear();
        self.snapshot = None;
    }

    /// The next step; the model is as it leaves it.
    pub(crate) fn step(&mut self) -> Step {
        loop {
            if let Some(step) = self.try_step() {
                return step;
            }
        }
    }

    fn write(sql: String, errno: u16, table: Option<&str>) -> Option<Step> {
        Some(Step {
            act: Act::Write,
            sql,
            errno,
            table: table.map(str::to_owned),
        })
    }

    fn try_step(&mut self) -> Option<Step> {
        if self.tables.len() < 2 {
            self.end_transaction();
            return self.create();
        }
        match self.random.below(100) {
            0..=9 => self.transaction(),
            10..=13 => self.reader(),
            14 => self.restart(),
            15..=24 => self.define(),
            25..=29 => self.load(),
            30..=33 => self.change_two(),
            _ => self.change(),
        }
    }

    /// A table that statements change, and its name.
    pub(crate) fn any_table(&mut self) -> String {
        let names: Vec<&String> = self.tables.keys().collect();
        names[self.random.below(names.len())].clone()
    }

    pub(crate) fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    pub(crate) fn largest_load(&self) -> usize {
        self.largest_load
    }

    pub(crate) fn new_name(&mut self) -> String {
        self.names += 1;
        format!("t{}", self.names)
    }

    /// Puts a statement's rows in place.
    pub(crate) fn set(&mut self, table: Table) {
        self.tables.insert(table.name.clone(), Rc::new(table));
    }

    /// Statements that define tables commit.
    pub(crate) fn end_transaction(&mut self) {
        self.begun = None;
        self.savepoints.clear();
    }

    /// Whether nobody's transaction holds tables.
    pub(crate) fn is_quiet(&self) -> bool {
        self.begun.is_none() && self.snapshot.is_none()
    }

    /// Back to what the tables were; MEMORY tables stay as they are.
    fn back_to(&mut self, before: Tables) {
        for (name, table) in before {
            if table.store != Store::Memory {
                self.tables.insert(name, table);
            }
        }
    }

    fn transaction(&mut self) -> Option<Step> {
        let Some(before) = self.begun.clone() else {
            self.begun = Some(self.tables.clone());
            return Self::write("BEGIN".to_owned(), 0, None);
        };
        match self.random.below(8) {
            0 | 1 => {
                self.end_transaction();
                Self::write("COMMIT".to_owned(), 0, None)
            }
            2 => {
                self.back_to(before);
                self.end_transaction();
                Self::write("ROLLBACK".to_owned(), 0, None)
            }
            3 | 4 => {
                let name = format!("s{}", self.random.below(3));
                self.savepoints.retain(|(other, _)| *other != name);
                self.savepoints.push((name.clone(), self.tables.clone()));
                Self::write(format!("SAVEPOINT {name}"), 0, None)
            }
            5 | 6 => {
                let place = self.random.below(self.savepoints.len().max(1));
                let (name, then) = self.savepoints.get(place).cloned()?;
                self.savepoints.truncate(place + 1);
                self.back_to(then);
                Self::write(format!("ROLLBACK TO {name}"), 0, None)
            }
            _ => {
                let place = self.random.below(self.savepoints.len().max(1));
                let (name, _) = self.savepoints.get(place).cloned()?;
                self.savepoints.truncate(place);
                Self::write(format!("RELEASE SAVEPOINT {name}"), 0, None)
            }
        }
    }

    /// The other session begins or ends a transaction that sees one moment.
    fn reader(&mut self) -> Option<Step> {
        let sql = match self.snapshot.take() {
            Some(_) => "COMMIT",
            None => {
                self.snapshot = Some(self.committed());
                "START TRANSACTION WITH CONSISTENT SNAPSHOT"
            }
        };
        Some(Step {
            act: Act::Read,
            sql: sql.to_owned(),
            errno: 0,
            table: None,
        })
    }

    fn restart(&mut self) -> Option<Step> {
        // A transaction that is open is lost, as by a crash.
        if !self.restarts || !self.random.one_in(4) {
            return None;
        }
        self.crash();
        Some(Step {
            act: Act::Restart,
            sql: "-- restart".to_owned(),
            errno: 0,
            table: None,
        })
    }

    pub(crate) fn create(&mut self) -> Option<Step> {
        if !self.is_quiet() {
            return None;
        }
        let name = self.new_name();
        let store = match self.random.below(5) {
            0 | 1 => Store::Temporary,
            2 => Store::Memory,
            _ => Store::Durable,
        };
        let table = Table::random(name, store, &mut self.random);
        let sql = table.create();
        let name = table.name.clone();
        self.set(table);
        Self::write(sql, 0, Some(&name))
    }
}
