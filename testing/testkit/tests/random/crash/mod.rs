//! kill -9 at random points in time: a process in which several sessions change rows and definitions is killed
//! repeatedly, and each time its data directory is opened and checked.
//!
//! Every acknowledged transaction is there, any other is there as a whole or not at all, `mayfly check` finds no
//! damage, no temporary file is left, and a finished backup under that load is an undamaged data directory.

mod definitions;
mod model;
mod worker;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use mayfly_engine::{Database, DatabaseOptions};
use mayfly_testkit::fixture::{Fixture, SessionExt, files_in, variables};
use mayfly_testkit::process;
use mayfly_trials::{Random, Trials};

use crate::crash::definitions::{BEFORE, CYCLE, look, looks};
use crate::crash::model::{JOURNAL_EVERY, JOURNAL_ROWS, Model, TABLES, WRITERS, same};
use crate::crash::worker::Report;

/// Tells the test binary that it is the process to be killed.
const WORKER: &str = "MAYFLY_CRASH_WORKER";

/// Greatest lifetime of a process in milliseconds.
const LONGEST_MS: u64 = 900;

/// Works until it is killed, if the environment says that this process is to be killed.
pub(crate) fn work() {
    if let Ok(task) = std::env::var(WORKER) {
        let mut words = task.splitn(3, ' ');
        let mut word = || words.next().unwrap_or_default();
        let (place, flush) = (word().parse().unwrap_or(0), word().to_owned());
        worker::work(Path::new(word()), place, &flush);
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("alone_each_transaction_is_as_the_model", alone),
        Trial::test("killed_at_random_moments", killed),
    ]
}

/// Options with which every process opens the directory.
fn options(directory: &Path) -> DatabaseOptions {
    let mut options = DatabaseOptions::new();
    options.threads = 2;
    options.parallel_rows_min = 500;
    options.datadir = Some(directory.join("data"));
    options.tmpdir = directory.join("tmp");
    options.variables = variables(&[
        ("temptable_max_ram", 2_097_152),
        ("innodb_lock_wait_timeout", 5),
    ]);
    options
}

/// Reports of the killed process.
#[derive(Debug, Default)]
struct Said {
    done: BTreeMap<u64, u64>,
    journal: BTreeMap<u64, u64>,
    /// AUTO_INCREMENT numbers of rows, by table.
    numbers: [BTreeSet<u64>; 2],
    defined: Option<usize>,
    backup: Option<u64>,
    counts: BTreeMap<String, u64>,
}

impl Said {
    fn hear(&mut self, line: &str) -> Result<(), String> {
        let Ok(report) = serde_json::from_str(line) else {
            return Err(line.to_owned());
        };
        let kind = line.split(['{', '"', ':']).find(|word| !word.is_empty());
        let kind = kind.unwrap_or_default().to_owned();
        *self.counts.entry(kind).or_default() += 1;
        match report {
            Report::Done { writer, n } => drop(self.done.insert(writer, n)),
            Report::Journal { writer, n, id } => {
                self.journal.insert(writer, n);
                self.numbers[0].insert(id);
            }
            Report::Number(id) => drop(self.numbers[1].insert(id)),
            Report::Defined(place) => self.defined = Some(place),
            Report::BackedUp(number) => self.backup = Some(number),
            Report::Ready | Report::Overflowed | Report::Shared => {}
            Report::Wrong(text) => return Err(text),
        }
        Ok(())
    }
}

/// Known state of the data directory from round to round.
struct World {
    directory: PathBuf,
    looks: Vec<Vec<String>>,
    models: Vec<Model>,
    place: usize,
    /// The largest numbers that were assigned.
    last_numbers: [u64; 2],
    totals: BTreeMap<String, u64>,
}

/// Number of transactions of each writer.
const ALONE: u64 = 250;

/// Without concurrency, a transaction leaves the rows of the model in its tables, as seen by its own session and by
/// others.
fn alone() -> Result<(), Failed> {
    let fixture = Fixture::open(|options| {
        options.parallel_rows_min = 500;
        options.variables = vec![("temptable_max_ram".to_owned(), "2097152".to_owned())];
    });
    let mut session = fixture.session();
    let mut other = fixture.session();
    TABLES.iter().for_each(|table| drop(session.must(table)));
    session.must("USE work");
    other.must("USE work");
    session.must("SET cte_max_recursion_depth = 10000");
    for writer in 1..=WRITERS {
        let mut model = Model::new(writer);
        for n in 1..=ALONE {
            let shown = format!("SELECT id, v, u, s FROM t WHERE w = {writer} ORDER BY id");
            let before = model.clone();
            let transaction = model.step();
            session.must("BEGIN");
            session.must_all(&transaction.undone);
            session.must("ROLLBACK");
            let what = format!(
                "writer {writer}, rolled back before {n}: {:?}",
                transaction.undone
            );
            same(&what, &session.must(&shown), &before.shown_rows())?;
            session.must("BEGIN");
            session.must_all(&transaction.statements);
            let own = session.must(&shown);
            session.must("COMMIT");
            let what = format!(
                "writer {writer}, transaction {n}: {:?}",
                transaction.statements
            );
            for seen in [own, other.must(&shown)] {
                same(&what, &seen, &model.shown_rows())?;
            }
        }
    }
    Ok(())
}

fn killed() -> Result<(), Failed> {
    let mut trials = Trials::of("crash");
    let seed = trials.first();
    let directory = std::env::temp_dir().join(format!("mayfly-crash-{}", std::process::id()));
    let mut world = World::new(directory)?;
    let mut random = Random(seed);
    while trials.next().is_some() {
        let time = Duration::from_millis(random.below_u64(LONGEST_MS));
        let flush = random.below_u64(3);
        let outcome = world
            .run_and_kill(time, flush)
            .and_then(|said| world.verify(&said));
        outcome.map_err(|problem| {
            format!(
                "round {}, killed after {time:?}, flush {flush}, MAYFLY_SEED={seed}, \
                 {}: {problem}",
                trials.begun(),
                world.directory.display()
            )
        })?;
    }
    println!("{} processes killed: {:?}", trials.begun(), world.totals);
    std::fs::remove_dir_all(&world.directory)?;
    Ok(())
}

/// Of shared and global temporary tables there are the definitions of the global ones, and no row.
fn verify_temporary(said: &Said, database: &Arc<Database>) -> Result<(), String> {
    let mut session = database.session();
    let tables = session
        .must("SELECT table_name FROM information_schema.tables WHERE table_schema = 'volatile'");
    if tables.is_empty() && !said.counts.contains_key("Shared") {
        return Ok(());
    }
    same("temporary tables", &tables, &["own".to_owned()])?;
    let rows = session.must("SELECT COUNT(*) FROM volatile.own");
    same("rows of a global temporary table", &rows, &["0".to_owned()])
}

impl World {
    fn new(directory: PathBuf) -> Result<Self, Failed> {
        let _ = std::fs::remove_dir_all(&directory);
        // The states of the cycle of definitions, on a database that is not killed.
        let reference = directory.join("reference");
        let mut seen = Vec::new();
        for path in [&reference, &directory] {
            std::fs::create_dir_all(path.join("tmp"))?;
            let database = Database::open(options(path))?;
            let mut session = database.session();
            session.must_all(TABLES.iter().chain(BEFORE));
            if *path == reference {
                seen = looks(&database);
            }
        }
        std::fs::remove_dir_all(&reference)?;
        Ok(Self {
            directory,
            looks: seen,
            models: (1..=WRITERS).map(Model::new).collect(),
            place: 0,
            last_numbers: [0; 2],
            totals: BTreeMap::new(),
        })
    }

    /// Lets a process work for a while and kills it.
    fn run_and_kill(&mut self, time: Duration, flush: u64) -> Result<Said, String> {
        let text = |error: std::io::Error| error.to_string();
        let (place, path) = (self.place, self.directory.display());
        let mut child = process::again("worker")
            .env(WORKER, format!("{place} {flush} {path}"))
            .stdout(Stdio::piped())
            .spawn()
            .map_err(text)?;
        let out = child.stdout.take().ok_or("no pipe")?;
        let reader = std::thread::spawn(move || {
            let mut said = Said::default();
            for line in BufReader::new(out).lines() {
                match line {
                    Ok(line) => said.hear(&line)?,
                    Err(error) => return Err(error.to_string()),
                }
            }
            Ok(said)
        });
        std::thread::sleep(time);
        child.kill().map_err(text)?;
        child.wait().map_err(text)?;
        reader.join().map_err(|_| "the reader panicked")?
    }

    fn verify(&mut self, said: &Said) -> Result<(), String> {
        for (kind, count) in &said.counts {
            *self.totals.entry(kind.clone()).or_default() += count;
        }
        {
            let options = options(&self.directory);
            let database = Database::open(options).map_err(|error| error.to_string())?;
            database.check().map_err(|error| error.to_string())?;
            self.verify_rows(said, &database)?;
            self.verify_definitions(said, &database)?;
            verify_temporary(said, &database)?;
        }
        self.verify_files(said)
    }

    fn verify_rows(&mut self, said: &Said, database: &Arc<Database>) -> Result<(), String> {
        let mut session = database.session();
        model::verify(&mut session, &mut self.models, |model| {
            let acknowledged = said.done.get(&model.writer()).copied();
            let acknowledged = acknowledged.unwrap_or(model.n);
            acknowledged..=acknowledged + 1
        })?;
        for model in &self.models {
            let (w, done) = (model.writer(), model.n);
            // A transaction that was not acknowledged may be there.
            let last = format!("SELECT IFNULL(MAX(n), 0) FROM journal WHERE w = {w}");
            let last: u64 = session
                .value(&last)
                .parse()
                .map_err(|_| "the journal has no number")?;
            if last < said.journal.get(&w).copied().unwrap_or(0) || last > done + 1 {
                return Err(format!("the journal of writer {w} ends at {last}"));
            }
            let rows = format!("SELECT COUNT(*), COUNT(DISTINCT n) FROM journal WHERE w = {w}");
            let times = last / JOURNAL_EVERY;
            let expected = format!("{}\t{times}", times * JOURNAL_ROWS);
            let what = format!("journal of writer {w}");
            same(&what, &session.must(&rows), &[expected])?;
        }
        for (last, given) in self.last_numbers.iter_mut().zip(&said.numbers) {
            if given.first().is_some_and(|first| first <= last) {
                return Err(format!("{:?} was given before: {last}", given.first()));
            }
            *last = given.last().copied().unwrap_or(*last);
        }
        Ok(())
    }

    fn verify_definitions(&mut self, said: &Said, database: &Arc<Database>) -> Result<(), String> {
        let seen = look(&mut database.session());
        let next = |place: usize| (place + 1) % CYCLE.len();
        let acknowledged = said.defined.map_or(self.place, next);
        for place in [acknowledged, next(acknowledged)] {
            if self.looks[place] == seen {
                self.place = place;
                return Ok(());
            }
        }
        let statement = CYCLE[acknowledged];
        Err(format!(
            "before or after {statement}\n{:#?}\nis expected, not\n{seen:#?}",
            self.looks[acknowledged]
        ))
    }

    fn verify_files(&self, said: &Said) -> Result<(), String> {
        let temporary = files_in(&self.directory.join("tmp"));
        same("the directory of temporary files", &temporary, &[])?;
        let data = files_in(&self.directory.join("data"));
        let known =
            ["data.mdb", "lock.mdb", "mayfly.lock", "redo.log", "reserve"].map(str::to_owned);
        same("the data directory", &data, &known)?;
        if let Some(number) = said.backup {
            let path = self.directory.join(format!("backup-{number}"));
            let mut options = options(&self.directory);
            options.datadir = Some(path);
            let database = Database::open(options).map_err(|error| error.to_string())?;
            let checked = database.check();
            checked.map_err(|error| format!("backup {number}: {error}"))?;
            let mut session = database.session();
            let counted = session.must(
                "SELECT (SELECT n FROM work.shared) = (SELECT SUM(n DIV 4) FROM work.progress)",
            );
            same("a backup", &counted, &["1".to_owned()])?;
        }
        for name in files_in(&self.directory) {
            if name.starts_with("backup-") {
                let _ = std::fs::remove_dir_all(self.directory.join(name));
            }
        }
        Ok(())
    }
}
