//! The power is cut at random moments of a random work, before and after syncs and between: what was not
//! synced is lost, reordered and torn ([`crate::disk`]). The directory is opened again, also with the power
//! cut while that is done. What was acknowledged is there, each transaction is there as a whole or not
//! at all, and `mayfly check` finds nothing wrong. In some rounds writes and syncs fail besides, once,
//! for a while or for good.
//!
//! `MAYFLY_POWER_CUTS` says how many rounds (24 cuts each), `MAYFLY_POWER_CUTS_SEED` with which number the
//! first begins; a failure names that of its round. Sessions and threads are not in step, so that a
//! round may need to be run several times to fail again.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use mayfly_engine::{Database, DatabaseOptions, Session};
use mayfly_testkit::fixture::{Watchdog, must, rows, variables};

use crate::calls::{Fault, Where, arm_for, disarm};
use crate::definitions::{BEFORE, CYCLE, look, looks};
use crate::disk::{self, Moment};
use crate::faults::alone;
use crate::model::{Model, Numbers, SHARED_EVERY, TABLES, WRITERS};

/// Cuts of a round.
const CUTS: usize = 24;
/// A load of so many rows is more than what is logged of one.
const LOADED: usize = 900;

/// The places of what is counted: transactions of each writer, definitions, loads.
const DEFINED: usize = WRITERS as usize;
const LOADS: usize = DEFINED + 1;
const COUNTED: usize = LOADS + 1;

/// What is done, of one kind.
#[derive(Debug)]
struct Count {
    /// So many were begun,
    begun: AtomicU64,
    /// so many are done,
    done: AtomicU64,
    /// and so many were acknowledged as durable.
    durable: AtomicU64,
}

impl Count {
    fn new(number: u64) -> Self {
        let number = || AtomicU64::new(number);
        Self {
            begun: number(),
            done: number(),
            durable: number(),
        }
    }

    /// Does the next one.
    fn next(&self, is_durable: &AtomicBool, attempt: impl FnOnce() -> bool) -> bool {
        let number = self.done.load(SeqCst) + 1;
        self.begun.store(number, SeqCst);
        let is_durable = is_durable.load(SeqCst);
        let is_done = attempt();
        if is_done {
            self.done.store(number, SeqCst);
        }
        if is_done && is_durable {
            self.durable.store(number, SeqCst);
        }
        is_done
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn rounds() -> u64 {
    number("MAYFLY_POWER_CUTS").unwrap_or(16)
}

pub(crate) fn first_seed() -> u64 {
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    number("MAYFLY_POWER_CUTS_SEED").unwrap_or_else(|| clock.map_or(0, |now| now.as_secs()) << 16)
}

pub(crate) fn directory(name: &str) -> PathBuf {
    let name = format!("{}-{name}-{}", disk::NAME, std::process::id());
    std::env::temp_dir().canonicalize().unwrap().join(name)
}

/// How a round opens its directory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) threads: usize,
    pub(crate) write_buffer: u64,
    pub(crate) flush: u64,
}

pub(crate) fn try_open(directory: &Path, settings: Settings) -> Result<Arc<Database>, String> {
    let mut options = DatabaseOptions::new();
    options.threads = settings.threads;
    options.parallel_rows_min = 500;
    // A load writes its blocks in smaller steps, and not all of them are in the log.
    options.memory_limit = Some(24 << 20);
    options.variables = variables(&[
        ("write_buffer_size", settings.write_buffer),
        ("innodb_flush_log_at_trx_commit", settings.flush),
        ("innodb_lock_wait_timeout", 5),
        ("cte_max_recursion_depth", 10_000),
    ]);
    options.datadir = Some(directory.join("above").join("data"));
    Database::open(options).map_err(|error| error.to_string())
}

/// What is known of a directory.
#[derive(Debug, Clone)]
struct Known {
    models: Vec<Model>,
    defined: u64,
    loads: u64,
}

/// Runs statements; what failed is rolled back, and tried again a few times.
fn attempt(session: &mut Session, statements: &[String]) -> bool {
    for _ in 0..4 {
        let failed = statements
            .iter()
            .find_map(|statement| rows(session, statement).err());
        let Some(error) = failed else {
            return true;
        };
        assert!(
            [1021, 1024, 1026, 1205, 1213].contains(&error.errno()),
            "{statements:?}: {error}"
        );
        must(session, "ROLLBACK");
    }
    false
}

/// What the sessions of a round share.
struct Work<'d> {
    database: &'d Arc<Database>,
    counts: &'d [Count; COUNTED],
    /// Commits are synced from here on.
    is_durable: &'d AtomicBool,
}

impl Work<'_> {
    fn write(&self, mut model: Model, transactions: u64) {
        let count = &self.counts[usize::try_from(model.writer()).unwrap() - 1];
        let mut session = self.database.session();
        must(&mut session, "USE work");
        for _ in 0..transactions {
            let transaction = model.step();
            let begin = std::iter::once("BEGIN".to_owned());
            let undone = begin.clone().chain(transaction.undone);
            let undone: Vec<String> = undone.chain(["ROLLBACK".to_owned()]).collect();
            let all = begin.chain(transaction.statements);
            let all: Vec<String> = all.chain(["COMMIT".to_owned()]).collect();
            let is_done = count.next(self.is_durable, || {
                attempt(&mut session, &undone) && attempt(&mut session, &all)
            });
            if !is_done {
                return;
            }
        }
    }

    /// Runs the statements of a list that begins anew at its end.
    fn run(&self, place: usize, statements: u64, statement: impl Fn(u64) -> String) {
        let count = &self.counts[place];
        let mut session = self.database.session();
        for _ in 0..statements {
            let statement = [statement(count.done.load(SeqCst))];
            if !count.next(self.is_durable, || attempt(&mut session, &statement)) {
                return;
            }
        }
    }
}

fn definition(number: u64) -> String {
    CYCLE[usize::try_from(number).unwrap() % CYCLE.len()].to_owned()
}

fn load_statement(number: u64) -> String {
    match number % 2 {
        0 => format!(
            "CREATE TABLE work.loaded AS WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r \
             WHERE i < {LOADED}) SELECT i, CONCAT(i, REPEAT('x', 3000)) s FROM r"
        ),
        _ => "DROP TABLE work.loaded".to_owned(),
    }
}

struct World {
    root: PathBuf,
    copy: PathBuf,
    looks: Vec<Vec<String>>,
    known: Known,
    cuts: u64,
    moments: u64,
    failed_syncs: u64,
}

impl World {
    fn new() -> Self {
        let settings = Settings {
            threads: 2,
            write_buffer: 1 << 20,
            flush: 1,
        };
        let (root, copy) = (directory("root"), directory("copy"));
        let mut seen = Vec::new();
        for path in [&copy, &root] {
            let _ = std::fs::remove_dir_all(path);
            std::fs::create_dir_all(path).unwrap();
            let database = try_open(path, settings).unwrap();
            let mut session = database.session();
            for statement in TABLES.iter().chain(BEFORE) {
                must(&mut session, statement);
            }
            if *path == copy {
                seen = looks(&database);
            }
        }
        Self {
            root,
            copy,
            looks: seen,
            known: Known {
                models: (1..=WRITERS).map(Model::new).collect(),
                defined: 0,
                loads: 0,
            },
            cuts: 0,
            moments: 0,
            failed_syncs: 0,
        }
    }

    /// Works for a while, and looks at what power cuts leave.
    fn round(&mut self, seed: u64) -> Result<(), String> {
        let mut numbers = Numbers::new(seed);
        let settings = Settings {
            threads: 1 + usize::try_from(numbers.below(2)).unwrap(),
            write_buffer: [0, 64 << 10, 8 << 20][usize::try_from(numbers.below(3)).unwrap()],
            flush: [1, 1, 2, 2][usize::try_from(numbers.below(4)).unwrap()],
        };
        let before = self.known.clone();
        let counts: Arc<[Count; COUNTED]> = Arc::new(std::array::from_fn(|place| {
            Count::new(match place {
                LOADS => before.loads,
                DEFINED => before.defined,
                writer => before.models[writer].n,
            })
        }));
        let asked = Arc::clone(&counts);
        let ask = move || {
            let durable = asked.iter().map(|count| count.durable.load(SeqCst));
            let mut all: Vec<u64> = durable.collect();
            all.extend(asked.iter().map(|count| count.begun.load(SeqCst)));
            all
        };
        disk::watch(&self.root, seed, CUTS, Box::new(ask));
        let opened = try_open(&self.root, settings);
        let failing = numbers.below(2) == 0;
        if let Ok(database) = &opened {
            let mut loads = numbers.below(4);
            if failing {
                let faults = [Fault::DeviceError, Fault::DiskFull, Fault::LateError];
                let fault = faults[usize::try_from(numbers.below(3)).unwrap()];
                let (place, most) = [
                    (Where::Files, 400),
                    (Where::Syncs, 60),
                    (Where::DataSyncs, 6),
                    (Where::LogSyncs, 12),
                ][usize::try_from(numbers.below(4)).unwrap()];
                if place == Where::DataSyncs {
                    loads += 4;
                }
                let times = [1, 1, 3, 20, u64::MAX][usize::try_from(numbers.below(5)).unwrap()];
                arm_for(fault, place, 1 + numbers.below(most), times);
            }
            let sessions = [1, 2, WRITERS][usize::try_from(numbers.below(3)).unwrap()];
            let definitions = numbers.below(5);
            let transactions = 2 + numbers.below(10);
            let is_durable = AtomicBool::new(settings.flush == 1);
            let switches = settings.flush != 1 && numbers.below(3) > 0;
            let work = Work {
                database,
                counts: &counts,
                is_durable: &is_durable,
            };
            let work = &work;
            std::thread::scope(|scope| {
                for model in before
                    .models
                    .iter()
                    .take(usize::try_from(sessions).unwrap())
                {
                    let model = model.clone();
                    scope.spawn(move || work.write(model, transactions));
                }
                scope.spawn(move || work.run(DEFINED, definitions, definition));
                scope.spawn(move || work.run(LOADS, loads, load_statement));
                if switches {
                    let done = || {
                        counts
                            .iter()
                            .map(|count| count.done.load(SeqCst))
                            .sum::<u64>()
                    };
                    let wanted = done() + transactions / 2;
                    let begun = std::time::Instant::now();
                    while done() < wanted && begun.elapsed().as_millis() < 300 {
                        std::thread::sleep(std::time::Duration::from_millis(1));
                    }
                    must(
                        &mut database.session(),
                        "SET GLOBAL innodb_flush_log_at_trx_commit = 1",
                    );
                    is_durable.store(true, SeqCst);
                }
            });
        }
        if numbers.below(2) == 0 {
            // Whoever closes it has a disk that works.
            disarm();
        }
        let is_open = opened.map(drop);
        disarm();
        let (moments, seen, failed_syncs) = disk::stop();
        is_open.map_err(|error| format!("it does not open: {error}"))?;
        self.moments += seen;
        self.failed_syncs += failed_syncs;
        let last = usize::try_from(numbers.below(moments.len() as u64)).unwrap();
        for (place, moment) in moments.iter().enumerate() {
            moment.cut(&self.root, &self.copy, &mut numbers);
            let found = self.verify(&before, moment, settings, &mut numbers);
            let known = found.map_err(|problem| {
                format!("{settings:?}, cut {place} {}: {problem}", moment.name)
            })?;
            if place == last {
                // The next round goes on from here.
                std::fs::remove_dir_all(&self.root).unwrap();
                std::fs::rename(&self.copy, &self.root).unwrap();
                self.known = known;
            }
        }
        Ok(())
    }

    /// Looks at what a cut has left; what is known of it then.
    fn verify(
        &mut self,
        before: &Known,
        moment: &Moment,
        settings: Settings,
        numbers: &mut Numbers,
    ) -> Result<Known, String> {
        self.cuts += 1;
        // The power is cut while it is opened, too.
        let again = numbers.below(4) == 0;
        let known = match again {
            false => self.look(before, &moment.acknowledged, settings)?,
            true => {
                let wanted = moment.acknowledged.clone();
                disk::watch(
                    &self.copy,
                    numbers.below(u64::MAX),
                    3,
                    Box::new(move || wanted.clone()),
                );
                let known = self.look(before, &moment.acknowledged, settings);
                let (moments, seen, _) = disk::stop();
                let known = known?;
                self.moments += seen;
                let second = directory("second");
                for later in &moments {
                    self.cuts += 1;
                    later.cut(&self.copy, &second, numbers);
                    let first = std::mem::replace(&mut self.copy, second.clone());
                    let found = self.look(before, &moment.acknowledged, settings);
                    self.copy = first;
                    let found =
                        found.map_err(|problem| format!("and again {}: {problem}", later.name))?;
                    let ns = |known: &Known| {
                        known.models.iter().map(|model| model.n).collect::<Vec<_>>()
                    };
                    if ns(&found) != ns(&known) {
                        return Err(format!(
                            "{:?}, then {:?} after another cut",
                            ns(&known),
                            ns(&found)
                        ));
                    }
                }
                let _ = std::fs::remove_dir_all(second);
                known
            }
        };
        Ok(known)
    }

    fn look(&self, before: &Known, wanted: &[u64], settings: Settings) -> Result<Known, String> {
        let database = try_open(&self.copy, settings)?;
        database.check().map_err(|error| error.to_string())?;
        let mut session = database.session();
        must(&mut session, "USE work");
        let mut known = before.clone();
        let (least, most) = wanted.split_at(COUNTED);
        let mut shared = 0;
        for model in &mut known.models {
            let w = model.writer();
            let done = must(
                &mut session,
                &format!("SELECT n FROM progress WHERE w = {w}"),
            );
            let done: u64 = done[0].parse().map_err(|_| "progress is no number")?;
            let place = usize::try_from(w).unwrap() - 1;
            let (least, most) = (least[place], most[place]);
            if !(least..=most).contains(&done) {
                return Err(format!(
                    "writer {w} was told of {least} transactions of {most}, there are {done}"
                ));
            }
            while model.n < done {
                model.step();
            }
            shared += done / SHARED_EVERY;
            let shown = format!("SELECT id, v, u, s FROM t WHERE w = {w} ORDER BY id");
            same(
                &format!("t of writer {w}"),
                &must(&mut session, &shown),
                &model.shown_rows(),
            )?;
            let shown = format!("SELECT n, id, v FROM copies WHERE w = {w} ORDER BY n, id, v");
            same(
                &format!("copies of writer {w}"),
                &must(&mut session, &shown),
                &model.shown_copies(),
            )?;
        }
        let counted = must(&mut session, "SELECT n FROM shared");
        same("shared", &counted, &[shared.to_string()])?;
        let seen = look(&mut session);
        let place = |number: u64| usize::try_from(number).unwrap() % CYCLE.len();
        let mut all = least[DEFINED]..=most[DEFINED];
        known.defined = all
            .find(|number| self.looks[place(*number)] == seen)
            .ok_or_else(|| {
                let statement = CYCLE[place(least[DEFINED])];
                format!("before or after {statement}: {seen:#?}")
            })?;
        let loaded = "SELECT COUNT(*), COUNT(DISTINCT i), SUM(LENGTH(s)) FROM loaded";
        let loaded = rows(&mut session, loaded);
        let is_there = match loaded {
            Ok(rows) => {
                let length: usize = (1..=LOADED).map(|i| 3000 + i.to_string().len()).sum();
                same("loaded", &rows, &[format!("{LOADED}\t{LOADED}\t{length}")])?;
                true
            }
            Err(error) if error.errno() == 1146 => false,
            Err(error) => return Err(error.to_string()),
        };
        let mut all = least[LOADS]..=most[LOADS];
        known.loads = all
            .find(|number| is_there == (number % 2 == 1))
            .ok_or_else(|| format!("after {} loads and removals: {is_there}", least[LOADS]))?;
        drop(session);
        drop(database);
        Ok(known)
    }
}

fn same(what: &str, seen: &[String], expected: &[String]) -> Result<(), String> {
    if seen == expected {
        return Ok(());
    }
    let more: Vec<_> = seen.iter().filter(|row| !expected.contains(row)).collect();
    let fewer: Vec<_> = expected.iter().filter(|row| !seen.contains(row)).collect();
    Err(format!("{what}: {more:?} is there, {fewer:?} is not"))
}

#[test]
fn nothing_is_lost_when_the_power_is_cut() {
    let _alone = alone();
    let _watchdog = Watchdog::new();
    let first = first_seed();
    let mut world = World::new();
    for seed in first..first + rounds() {
        if let Err(problem) = world.round(seed) {
            let kept = world.copy.display();
            panic!("MAYFLY_POWER_CUTS_SEED={seed}, {kept}: {problem}");
        }
    }
    println!(
        "{} power cuts of {} moments, with {} failed syncs (MAYFLY_POWER_CUTS_SEED={first})",
        world.cuts, world.moments, world.failed_syncs
    );
    let _ = std::fs::remove_dir_all(&world.root);
    let _ = std::fs::remove_dir_all(&world.copy);
}

/// From the first call on that makes a directory, with syncs that fail or without: whenever the power is cut, it opens, and what was
/// acknowledged is there; a backup that was finished is a directory in order.
#[test]
fn a_new_directory_and_a_backup_outlive_power_cuts() {
    let _alone = alone();
    let _watchdog = Watchdog::new();
    let settings = Settings {
        threads: 1,
        write_buffer: 1 << 20,
        flush: 1,
    };
    let statements = [
        "CREATE DATABASE work",
        "CREATE TABLE work.t (i INT PRIMARY KEY)",
        "INSERT INTO work.t VALUES (1), (2)",
    ];
    let (root, copy) = (directory("new"), directory("new-copy"));
    let first = first_seed();
    for seed in first..first + rounds().div_ceil(4) {
        let mut numbers = Numbers::new(seed);
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root).unwrap();
        let done = Arc::new(AtomicU64::new(0));
        let asked = Arc::clone(&done);
        disk::watch(&root, seed, 40, Box::new(move || vec![asked.load(SeqCst)]));
        {
            if numbers.below(2) == 0 {
                // Of a directory, or of the files: it does not open, and does the next time.
                arm_for(
                    Fault::DeviceError,
                    Where::Syncs,
                    1 + numbers.below(9),
                    1 + numbers.below(2),
                );
            }
            let opened = (0..4).find_map(|_| try_open(&root, settings).ok());
            disarm();
            let database = opened.unwrap();
            let mut session = database.session();
            for statement in statements {
                must(&mut session, statement);
                done.fetch_add(1, SeqCst);
            }
            let backup = root.join("over").join("backups").join("above").join("data");
            database.backup(&backup).unwrap();
            done.fetch_add(1, SeqCst);
        }
        let (moments, _, _) = disk::stop();
        for moment in moments {
            moment.cut(&root, &copy, &mut numbers);
            let done = moment.acknowledged[0];
            let here = format!(
                "MAYFLY_POWER_CUTS_SEED={seed}, {}, {done} done",
                moment.name
            );
            let look = |directory: &Path, done: u64| {
                let database = match try_open(directory, settings) {
                    Ok(database) => database,
                    Err(error) => panic!("{here}: {error}"),
                };
                database.check().unwrap();
                let mut session = database.session();
                let seen = rows(&mut session, "SELECT i FROM work.t ORDER BY i");
                match done {
                    0 | 1 => {}
                    2 => assert!(seen.is_ok(), "{here}: {seen:?}"),
                    _ => assert_eq!(seen.unwrap(), ["1", "2"], "{here}"),
                }
                if done == 1 {
                    must(&mut session, "USE work");
                }
            };
            look(&copy, done);
            if done == 4 {
                look(&copy.join("over").join("backups"), done);
            }
        }
    }
    let _ = std::fs::remove_dir_all(&root);
    let _ = std::fs::remove_dir_all(&copy);
}

/// What a cut has left in the log behind its end does not come back when the log goes on.
#[test]
fn what_was_lost_once_stays_lost() {
    let _alone = alone();
    let _watchdog = Watchdog::new();
    let settings = |flush| Settings {
        threads: 1,
        write_buffer: 1 << 20,
        flush,
    };
    let (new, root, copy) = (
        directory("lost-new"),
        directory("lost"),
        directory("lost-copy"),
    );
    let _ = std::fs::remove_dir_all(&new);
    must(
        &mut try_open(&new, settings(1)).unwrap().session(),
        "CREATE TABLE test.t (i INT PRIMARY KEY, s TEXT)",
    );
    // About two pages of the log each.
    let insert = |i: u64| format!("INSERT INTO test.t VALUES ({i}, REPEAT('x', 7000))");
    let shown = |directory: &Path| {
        let database = try_open(directory, settings(1)).unwrap();
        must(&mut database.session(), "SELECT i FROM test.t ORDER BY i")
    };
    let first = first_seed();
    for seed in first..first + 6 * rounds() {
        let mut numbers = Numbers::new(seed);
        let mut cut = |from: &Path, to: &Path, flush: u64, rows: std::ops::Range<u64>| {
            disk::watch(from, seed, 0, Box::new(Vec::new));
            let database = try_open(from, settings(flush)).unwrap();
            let mut session = database.session();
            rows.for_each(|i| drop(must(&mut session, &insert(i))));
            let moment = disk::now();
            drop((session, database));
            disk::stop();
            moment.cut(from, to, &mut numbers);
        };
        let _ = std::fs::remove_dir_all(&root);
        copy_directory(&new, &root);
        cut(&root, &copy, 2, 1..7);
        let left = shown(&copy);
        let expected: Vec<String> = (1..=left.len()).map(|i| i.to_string()).collect();
        assert_eq!(left, expected, "MAYFLY_POWER_CUTS_SEED={seed}");
        cut(&copy, &root, 1, 100..101);
        let expected: Vec<String> = left.into_iter().chain(["100".to_owned()]).collect();
        assert_eq!(shown(&root), expected, "MAYFLY_POWER_CUTS_SEED={seed}");
    }
    for directory in [new, root, copy] {
        let _ = std::fs::remove_dir_all(directory);
    }
}

fn copy_directory(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true => copy_directory(&path, &copy),
            false => drop(std::fs::copy(path, copy).unwrap()),
        }
    }
}
