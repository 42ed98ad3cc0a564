//! Power cuts at random points of random work, before, after and between syncs: unsynced changes are lost, reordered
//! and torn ([`crate::disk`]). The directory is opened again, also with a power cut during that. Acknowledged work is
//! there, each transaction is there as a whole or not at all, and `mayfly check` finds no damage. In some rounds writes
//! and syncs also fail, once, for a while or for good.
//!
//! A failure names the seed of its round. Sessions and threads are not synchronized, so that a round may need several
//! runs to fail again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use mayfly_engine::{Database, DatabaseOptions, Session};
use mayfly_testkit::fixture::{DataDirectory, SessionExt, Watchdog, variables};
use mayfly_trials::{Random, Trials};

use crate::calls::{Fault, Where, arm_for, disarm};
use crate::definitions::{BEFORE, CYCLE, look, looks};
use crate::disk::{self, Snapshot, directory};
use crate::faults::alone;
use crate::model::{self, Model, TABLES, WRITERS, same};

/// Number of cuts of a round.
const CUTS: usize = 24;
/// Number of rows of a load, more than the log holds of one.
const LOADED: usize = 900;

/// Indexes of the counts: transactions of each writer, definitions, loads.
const DEFINED: usize = WRITERS as usize;
const LOADS: usize = DEFINED + 1;
const COUNTED: usize = LOADS + 1;

/// Counts of one kind of work.
#[derive(Debug)]
struct Count {
    /// Number begun,
    begun: AtomicU64,
    /// number done,
    done: AtomicU64,
    /// and number acknowledged as durable.
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

    /// Runs the next one.
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

/// Options with which a round opens its directory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) threads: usize,
    pub(crate) write_buffer: u64,
    pub(crate) flush: u64,
}

/// Every commit is synced, and everything runs on one thread.
pub(crate) const ONE_THREAD: Settings = Settings {
    threads: 1,
    write_buffer: 1 << 20,
    flush: 1,
};

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

/// Known state of a directory.
#[derive(Debug, Clone)]
struct Known {
    models: Vec<Model>,
    defined: u64,
    loads: u64,
}

/// Runs statements; a failed transaction is rolled back, and repeated a few times.
fn attempt(session: &mut Session, statements: &[String]) -> bool {
    for _ in 0..4 {
        let failed = statements
            .iter()
            .find_map(|statement| session.rows(statement).err());
        let Some(error) = failed else {
            return true;
        };
        // 1114: row locks are refused where other transactions hold the memory and write to the table, so that it
        // cannot be locked as a whole instead.
        assert!(
            [1021, 1024, 1026, 1114, 1205, 1213].contains(&error.errno()),
            "{statements:?}: {error}"
        );
        session.must("ROLLBACK");
    }
    false
}

/// State shared by the sessions of a round.
struct Work<'d> {
    database: &'d Arc<Database>,
    counts: &'d [Count; COUNTED],
    /// Whether commits are synced.
    is_durable: &'d AtomicBool,
}

impl Work<'_> {
    fn write(&self, mut model: Model, transactions: u64) {
        let count = &self.counts[usize::try_from(model.writer()).unwrap() - 1];
        let mut session = self.database.session();
        session.must("USE work");
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

    /// Runs the statements of a list repeatedly.
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
    root: DataDirectory,
    copy: DataDirectory,
    looks: Vec<Vec<String>>,
    known: Known,
    cuts: u64,
    snapshots: usize,
    failed_syncs: u64,
}

impl World {
    fn new() -> Self {
        let settings = Settings {
            threads: 2,
            ..ONE_THREAD
        };
        let (root, copy) = (directory("root"), directory("copy"));
        let mut seen = Vec::new();
        for path in [copy.path(), root.path()] {
            let database = try_open(path, settings).unwrap();
            let mut session = database.session();
            session.must_all(TABLES.iter().chain(BEFORE));
            if path == copy.path() {
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
            snapshots: 0,
            failed_syncs: 0,
        }
    }

    /// Works for a while, and checks states after power cuts.
    fn round(&mut self, seed: u64) -> Result<(), String> {
        let mut random = Random(seed);
        let settings = Settings {
            threads: 1 + random.below(2),
            write_buffer: random.pick(&[0, 64 << 10, 8 << 20]),
            flush: random.pick(&[1, 1, 2, 2]),
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
        disk::watch(self.root.path(), seed, CUTS, Box::new(ask));
        let opened = try_open(self.root.path(), settings);
        let failing = random.one_in(2);
        if let Ok(database) = &opened {
            let mut loads = random.below_u64(4);
            if failing {
                let fault = random.pick(&[Fault::DeviceError, Fault::DiskFull, Fault::LateError]);
                let (place, most) = random.pick(&[
                    (Where::Files, 400),
                    (Where::Syncs, 60),
                    (Where::DataSyncs, 6),
                    (Where::LogSyncs, 12),
                ]);
                if place == Where::DataSyncs {
                    loads += 4;
                }
                let times = random.pick(&[1, 1, 3, 20, u64::MAX]);
                arm_for(fault, place, 1 + random.below_u64(most), times);
            }
            let sessions = random.pick(&[1, 2, WRITERS]);
            let definitions = random.below_u64(5);
            let transactions = 2 + random.below_u64(10);
            let is_durable = AtomicBool::new(settings.flush == 1);
            let switches = settings.flush != 1 && random.below(3) > 0;
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
                    database
                        .session()
                        .must("SET GLOBAL innodb_flush_log_at_trx_commit = 1");
                    is_durable.store(true, SeqCst);
                }
            });
        }
        if random.one_in(2) {
            // The disk works again when the database is closed.
            disarm();
        }
        let is_open = opened.map(drop);
        disarm();
        let (snapshots, seen, failed_syncs) = disk::stop();
        is_open.map_err(|error| format!("it does not open: {error}"))?;
        self.snapshots += seen;
        self.failed_syncs += failed_syncs;
        let last = random.below(snapshots.len());
        for (place, snapshot) in snapshots.iter().enumerate() {
            snapshot.cut(self.root.path(), self.copy.path(), &mut random);
            let found = self.verify(&before, snapshot, settings, &mut random);
            let known = found.map_err(|problem| {
                format!("{settings:?}, cut {place} {}: {problem}", snapshot.name)
            })?;
            if place == last {
                // The next round continues from here.
                std::fs::remove_dir_all(self.root.path()).unwrap();
                std::fs::rename(self.copy.path(), self.root.path()).unwrap();
                self.known = known;
            }
        }
        Ok(())
    }

    /// Checks a state after a cut; returns the known state then.
    fn verify(
        &mut self,
        before: &Known,
        snapshot: &Snapshot,
        settings: Settings,
        random: &mut Random,
    ) -> Result<Known, String> {
        self.cuts += 1;
        // The power is also cut during opening.
        let again = random.one_in(4);
        let known = if again {
            let wanted = snapshot.acknowledged.clone();
            let seed = random.below_u64(u64::MAX);
            disk::watch(self.copy.path(), seed, 3, Box::new(move || wanted.clone()));
            let known = self.look(&self.copy, before, &snapshot.acknowledged, settings);
            let (snapshots, seen, _) = disk::stop();
            let known = known?;
            self.snapshots += seen;
            let second = directory("second");
            for later in &snapshots {
                self.cuts += 1;
                later.cut(self.copy.path(), second.path(), random);
                let found = self.look(&second, before, &snapshot.acknowledged, settings);
                let found =
                    found.map_err(|problem| format!("and again {}: {problem}", later.name))?;
                let ns =
                    |known: &Known| known.models.iter().map(|model| model.n).collect::<Vec<_>>();
                if ns(&found) != ns(&known) {
                    return Err(format!(
                        "{:?}, then {:?} after another cut",
                        ns(&known),
                        ns(&found)
                    ));
                }
            }
            known
        } else {
            self.look(&self.copy, before, &snapshot.acknowledged, settings)?
        };
        Ok(known)
    }

    fn look(
        &self,
        directory: &DataDirectory,
        before: &Known,
        wanted: &[u64],
        settings: Settings,
    ) -> Result<Known, String> {
        let database = try_open(directory.path(), settings)?;
        database.check().map_err(|error| error.to_string())?;
        let mut session = database.session();
        let mut known = before.clone();
        let (least, most) = wanted.split_at(COUNTED);
        model::verify(&mut session, &mut known.models, |model| {
            let place = usize::try_from(model.writer()).unwrap() - 1;
            least[place]..=most[place]
        })?;
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
        let loaded = session.rows(loaded);
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
        Ok(known)
    }
}

#[test]
fn nothing_is_lost_when_the_power_is_cut() {
    let _alone = alone();
    let _watchdog = Watchdog::new();
    let mut world = World::new();
    for seed in Trials::of("power_cuts") {
        if let Err(problem) = world.round(seed) {
            let kept = world.copy.path().display();
            panic!("MAYFLY_SEED={seed}, {kept}: {problem}");
        }
    }
    println!(
        "{} power cuts of {} snapshots, with {} failed syncs",
        world.cuts, world.snapshots, world.failed_syncs
    );
}

/// Power cuts from the first call that makes a directory on, with and without failing syncs: the directory opens, and
/// acknowledged work is there; a finished backup is an undamaged directory.
#[test]
fn a_new_directory_and_a_backup_outlive_power_cuts() {
    let _alone = alone();
    let _watchdog = Watchdog::new();
    let statements = [
        "CREATE DATABASE work",
        "CREATE TABLE work.t (i INT PRIMARY KEY)",
        "INSERT INTO work.t VALUES (1), (2)",
    ];
    // Syncs of the directory, or of the files, fail: the first opening fails, and the next one succeeds.
    let faults = (1..10).flat_map(|call| [1, 2].map(|times| Some((call, times))));
    let faults: Vec<Option<(u64, u64)>> = std::iter::once(None).chain(faults).collect();
    for seed in Trials::of("new_directory") {
        let fault = faults[usize::try_from(seed).unwrap() % faults.len()];
        let mut random = Random(seed);
        let (root, copy) = (directory("new"), directory("new-copy"));
        let (root, copy) = (root.path(), copy.path());
        let done = Arc::new(AtomicU64::new(0));
        let asked = Arc::clone(&done);
        disk::watch(root, seed, 40, Box::new(move || vec![asked.load(SeqCst)]));
        {
            if let Some((call, times)) = fault {
                arm_for(Fault::DeviceError, Where::Syncs, call, times);
            }
            let opened = (0..4).find_map(|_| try_open(root, ONE_THREAD).ok());
            disarm();
            let database = opened.unwrap();
            let mut session = database.session();
            for statement in statements {
                session.must(statement);
                done.fetch_add(1, SeqCst);
            }
            let backup = root.join("over").join("backups").join("above").join("data");
            database.backup(&backup).unwrap();
            done.fetch_add(1, SeqCst);
        }
        let (snapshots, _, _) = disk::stop();
        for snapshot in snapshots {
            snapshot.cut(root, copy, &mut random);
            let done = snapshot.acknowledged[0];
            let here = format!(
                "MAYFLY_SEED={seed}, {fault:?}, {}, {done} done",
                snapshot.name
            );
            let look = |directory: &Path, done: u64| {
                let database = try_open(directory, ONE_THREAD);
                let database = database.unwrap_or_else(|error| panic!("{here}: {error}"));
                database.check().unwrap();
                let mut session = database.session();
                let seen = session.rows("SELECT i FROM work.t ORDER BY i");
                match done {
                    0 | 1 => {}
                    2 => assert!(seen.is_ok(), "{here}: {seen:?}"),
                    _ => assert_eq!(seen.unwrap(), ["1", "2"], "{here}"),
                }
                if done == 1 {
                    session.must("USE work");
                }
            };
            look(copy, done);
            if done == 4 {
                look(&copy.join("over").join("backups"), done);
            }
        }
    }
}

/// Log records behind the end after a cut do not reappear when the log continues.
#[test]
fn what_was_lost_once_stays_lost() {
    let _alone = alone();
    let _watchdog = Watchdog::new();
    let directories = ["lost-new", "lost", "lost-copy"].map(directory);
    let [new, root, copy] = directories.each_ref().map(DataDirectory::path);
    try_open(new, ONE_THREAD)
        .unwrap()
        .session()
        .must("CREATE TABLE test.t (i INT PRIMARY KEY, s TEXT)");
    // About two pages of the log each.
    let insert = |i: u64| format!("INSERT INTO test.t VALUES ({i}, REPEAT('x', 7000))");
    let shown = |directory: &Path| {
        let database = try_open(directory, ONE_THREAD).unwrap();
        database.session().must("SELECT i FROM test.t ORDER BY i")
    };
    for seed in Trials::of("last_log") {
        let mut random = Random(seed);
        let mut cut = |from: &Path, to: &Path, flush: u64, rows: std::ops::Range<u64>| {
            disk::watch(from, seed, 0, Box::new(Vec::new));
            let settings = Settings {
                flush,
                ..ONE_THREAD
            };
            let database = try_open(from, settings).unwrap();
            let mut session = database.session();
            rows.for_each(|i| drop(session.must(&insert(i))));
            let snapshot = disk::now();
            drop((session, database));
            disk::stop();
            snapshot.cut(from, to, &mut random);
        };
        let _ = std::fs::remove_dir_all(root);
        copy_directory(new, root);
        cut(root, copy, 2, 1..7);
        let left = shown(copy);
        let expected: Vec<String> = (1..=left.len()).map(|i| i.to_string()).collect();
        assert_eq!(left, expected, "MAYFLY_SEED={seed}");
        cut(copy, root, 1, 100..101);
        let expected: Vec<String> = left.into_iter().chain(["100".to_owned()]).collect();
        assert_eq!(shown(root), expected, "MAYFLY_SEED={seed}");
    }
}

fn copy_directory(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_directory(&path, &copy);
        } else {
            std::fs::copy(path, copy).unwrap();
        }
    }
}
