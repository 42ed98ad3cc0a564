//! kill -9 at random moments: a process in which several sessions change rows and definitions is
//! killed again and again, and each time its data directory is opened and looked through.
//!
//! Every transaction that was acknowledged is there, one that was not is there as a whole or not at
//! all, `mayfly check` finds nothing wrong, no temporary file is left, and a backup that was finished
//! under that load is a data directory in order.
//!
//! `MAYFLY_CRASH_ROUNDS` says how often (12 by default), `MAYFLY_CRASH_SEED` from which number the
//! moments come, which a failure names.

mod definitions;
mod model;
mod worker;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};
use mayfly_engine::{Database, DatabaseOptions};
use mayfly_testkit::fixture::{Fixture, must, variables};

use crate::definitions::{BEFORE, CYCLE, look, looks};
use crate::model::{JOURNAL_EVERY, JOURNAL_ROWS, Model, Numbers, SHARED_EVERY, TABLES, WRITERS};

/// Says to the test binary that it is the process to be killed.
const WORKER: &str = "MAYFLY_CRASH_WORKER";

/// The longest that a process lives.
const LONGEST_MS: u64 = 900;

fn main() -> ExitCode {
    if let Ok(task) = std::env::var(WORKER) {
        let mut words = task.splitn(3, ' ');
        let mut word = || words.next().unwrap_or_default();
        let (place, flush) = (word().parse().unwrap_or(0), word().to_owned());
        worker::work(Path::new(word()), place, &flush);
    }
    let arguments = Arguments::from_args();
    let trials = vec![
        Trial::test("alone_each_transaction_is_as_the_model", alone),
        Trial::test("killed_at_random_moments", killed),
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// How every process opens it.
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

/// What the killed process said.
#[derive(Debug, Default)]
struct Said {
    ready: bool,
    done: BTreeMap<u64, u64>,
    journal: BTreeMap<u64, u64>,
    /// Numbers of rows, by table.
    numbers: [BTreeSet<u64>; 2],
    defined: Option<usize>,
    backup: Option<u64>,
    counts: BTreeMap<String, u64>,
}

impl Said {
    fn hear(&mut self, line: &str) -> Result<(), String> {
        let mut words = line.split(' ');
        let kind = words.next().unwrap_or_default();
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
        *self.counts.entry(kind.to_owned()).or_default() += 1;
        let mut heard = || -> Option<()> {
            match kind {
                "ready" => self.ready = true,
                "done" => {
                    self.done.insert(number()?, number()?);
                }
                "journal" => {
                    self.journal.insert(number()?, number()?);
                    self.numbers[0].insert(number()?);
                }
                "number" => {
                    self.numbers[1].insert(number()?);
                }
                "defined" => self.defined = usize::try_from(number()?).ok(),
                "backup" => self.backup = number(),
                "overflowed" => {}
                _ => return None,
            }
            Some(())
        };
        heard().ok_or_else(|| line.to_owned())
    }
}

/// What is known of the data directory from round to round.
struct World {
    directory: PathBuf,
    looks: Vec<Vec<String>>,
    models: Vec<Model>,
    place: usize,
    /// The largest numbers that were given.
    last_numbers: [u64; 2],
    totals: BTreeMap<String, u64>,
}

/// Transactions of each writer.
const ALONE: u64 = 250;

/// With nobody beside it, a transaction leaves in its own tables what the model says, as its own
/// session and as others see it.
fn alone() -> Result<(), Failed> {
    let fixture = Fixture::open(|options| {
        options.parallel_rows_min = 500;
        options.variables = vec![("temptable_max_ram".to_owned(), "2097152".to_owned())];
    });
    let mut session = fixture.database.session();
    let mut other = fixture.database.session();
    TABLES
        .iter()
        .for_each(|table| drop(must(&mut session, table)));
    must(&mut session, "USE work");
    must(&mut other, "USE work");
    must(&mut session, "SET cte_max_recursion_depth = 10000");
    for writer in 1..=WRITERS {
        let mut model = Model::new(writer);
        for n in 1..=ALONE {
            let shown = format!("SELECT id, v, u, s FROM t WHERE w = {writer} ORDER BY id");
            let before = model.clone();
            let transaction = model.step();
            must(&mut session, "BEGIN");
            for statement in &transaction.undone {
                must(&mut session, statement);
            }
            must(&mut session, "ROLLBACK");
            let seen = must(&mut session, &shown);
            if seen != before.shown_rows() {
                return Err(format!(
                    "writer {writer}, rolled back before {n}: {:?}",
                    transaction.undone
                )
                .into());
            }
            must(&mut session, "BEGIN");
            for statement in &transaction.statements {
                must(&mut session, statement);
            }
            let own = must(&mut session, &shown);
            must(&mut session, "COMMIT");
            for seen in [own, must(&mut other, &shown)] {
                let expected = model.shown_rows();
                if seen != expected {
                    let differ: Vec<_> =
                        seen.iter().filter(|row| !expected.contains(row)).collect();
                    let text = format!(
                        "writer {writer}, transaction {n}: {differ:?} {:?}",
                        transaction.statements
                    );
                    return Err(text.into());
                }
            }
        }
    }
    Ok(())
}

fn killed() -> Result<(), Failed> {
    let rounds = number("MAYFLY_CRASH_ROUNDS").unwrap_or(12);
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = number("MAYFLY_CRASH_SEED").unwrap_or_else(|| clock.map_or(0, |now| now.as_secs()));
    let directory = std::env::temp_dir().join(format!("mayfly-crash-{}", std::process::id()));
    let mut world = World::new(directory)?;
    let mut moments = Numbers::new(seed);
    for round in 1..=rounds {
        let moment = Duration::from_millis(moments.below(LONGEST_MS));
        let flush = moments.below(3);
        let outcome = world
            .run_and_kill(moment, flush)
            .and_then(|said| world.verify(&said));
        outcome.map_err(|problem| {
            format!(
                "round {round}, killed after {moment:?}, flush {flush}, MAYFLY_CRASH_SEED={seed}, \
                 {}: {problem}",
                world.directory.display()
            )
        })?;
    }
    println!(
        "{rounds} processes killed (MAYFLY_CRASH_SEED={seed}): {:?}",
        world.totals
    );
    std::fs::remove_dir_all(&world.directory)?;
    Ok(())
}

impl World {
    fn new(directory: PathBuf) -> Result<Self, Failed> {
        let _ = std::fs::remove_dir_all(&directory);
        // What the cycle of definitions looks like, on a database that nobody kills.
        let reference = directory.join("reference");
        let mut seen = Vec::new();
        for path in [&reference, &directory] {
            std::fs::create_dir_all(path.join("tmp"))?;
            let database = Database::open(options(path))?;
            let mut session = database.session();
            for statement in TABLES.iter().chain(BEFORE) {
                must(&mut session, statement);
            }
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
    fn run_and_kill(&mut self, moment: Duration, flush: u64) -> Result<Said, String> {
        let text = |error: std::io::Error| error.to_string();
        let (place, path) = (self.place, self.directory.display());
        let mut child = Command::new(std::env::current_exe().map_err(text)?)
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
        std::thread::sleep(moment);
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
        }
        self.verify_files(said)
    }

    fn verify_rows(&mut self, said: &Said, database: &Arc<Database>) -> Result<(), String> {
        let mut session = database.session();
        must(&mut session, "USE work");
        let mut shared = 0;
        for model in &mut self.models {
            let w = model.writer();
            let mut ask = |what: &str| must(&mut session, what);
            let done = ask(&format!("SELECT n FROM progress WHERE w = {w}"));
            let done: u64 = done[0].parse().map_err(|_| "progress is no number")?;
            let acknowledged = said.done.get(&w).copied().unwrap_or(model.n);
            if done < acknowledged || done > acknowledged + 1 {
                return Err(format!(
                    "writer {w} was told of {acknowledged} transactions, and there are {done}"
                ));
            }
            while model.n < done {
                model.step();
            }
            shared += done / SHARED_EVERY;
            let rows = ask(&format!(
                "SELECT id, v, u, s FROM t WHERE w = {w} ORDER BY id"
            ));
            same(&format!("t of writer {w}"), &rows, &model.shown_rows())?;
            let copies = format!("SELECT n, id, v FROM copies WHERE w = {w} ORDER BY n, id, v");
            same(
                &format!("copies of writer {w}"),
                &ask(&copies),
                &model.shown_copies(),
            )?;
            // One that was not acknowledged may be there.
            let last = ask(&format!(
                "SELECT IFNULL(MAX(n), 0) FROM journal WHERE w = {w}"
            ));
            let last: u64 = last[0].parse().map_err(|_| "the journal has no number")?;
            if last < said.journal.get(&w).copied().unwrap_or(0) || last > done + 1 {
                return Err(format!("the journal of writer {w} ends at {last}"));
            }
            let rows = ask(&format!(
                "SELECT COUNT(*), COUNT(DISTINCT n) FROM journal WHERE w = {w}"
            ));
            let times = last / JOURNAL_EVERY;
            let expected = format!("{}\t{times}", times * JOURNAL_ROWS);
            same(&format!("journal of writer {w}"), &rows, &[expected])?;
        }
        let counted = must(&mut session, "SELECT n FROM shared");
        same("shared", &counted, &[shared.to_string()])?;
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
        let names = |path: &Path| -> Vec<String> {
            let files = std::fs::read_dir(path).into_iter().flatten().flatten();
            let mut names: Vec<String> = files
                .map(|file| file.file_name().to_string_lossy().into_owned())
                .collect();
            names.sort();
            names
        };
        let temporary = names(&self.directory.join("tmp"));
        same("the directory of temporary files", &temporary, &[])?;
        let data = names(&self.directory.join("data"));
        let known = ["data.mdb", "lock.mdb", "mayfly.lock", "redo.log"].map(str::to_owned);
        same("the data directory", &data, &known)?;
        if let Some(number) = said.backup {
            let path = self.directory.join(format!("backup-{number}"));
            let mut options = options(&self.directory);
            options.datadir = Some(path);
            let database = Database::open(options).map_err(|error| error.to_string())?;
            let checked = database.check();
            checked.map_err(|error| format!("backup {number}: {error}"))?;
            let mut session = database.session();
            let counted = must(
                &mut session,
                "SELECT (SELECT n FROM work.shared) = (SELECT SUM(n DIV 4) FROM work.progress)",
            );
            same("a backup", &counted, &["1".to_owned()])?;
        }
        for name in names(&self.directory) {
            if name.starts_with("backup-") {
                let _ = std::fs::remove_dir_all(self.directory.join(name));
            }
        }
        Ok(())
    }
}

fn same(what: &str, actual: &[String], expected: &[String]) -> Result<(), String> {
    if actual == expected {
        return Ok(());
    }
    let missing: Vec<_> = expected
        .iter()
        .filter(|row| !actual.contains(row))
        .collect();
    let surplus: Vec<_> = actual
        .iter()
        .filter(|row| !expected.contains(row))
        .collect();
    Err(format!(
        "{what}: missing {missing:?}, and not expected {surplus:?}"
    ))
}
