//! Random statements that change rows and tables, against a model of them: a list of rows for each
//! table, and MySQL's rules written by hand ([`values`], [`table`]).
//!
//! Durable, temporary and MEMORY tables with hostile keys; every statement that changes rows, bulk
//! loads, ALTER, indexes made and dropped; a session that writes, with transactions and savepoints,
//! another that looks at one moment, and one that sees what is committed; restarts, and `kill -9` at
//! random moments. After each step the tables must show what the model holds, by every index.
//!
//! Each run has a new seed and prints it. `MAYFLY_MODEL_SEED` repeats one, `MAYFLY_MODEL_SECONDS` says
//! how long to go on (10 by default), `MAYFLY_MODEL_LOAD` how many rows a load may have (2,000 by
//! default, at most 200,000), `MAYFLY_MODEL_KILLS` how often a process is killed (4 by default). What
//! fails is printed as a script of SQL.

mod changes;
mod checks;
mod definitions;
mod kills;
mod table;
mod values;
mod world;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use mayfly_engine::{Database, DatabaseOptions, Session};
use mayfly_testkit::fixture::{DataDirectory, must, rows};
use mayfly_testkit::random::Random;

use crate::world::{Act, Step, World};

/// Steps of one seed, after which everything is dropped.
const STEPS: usize = 120;

fn main() -> ExitCode {
    if let Ok(task) = std::env::var(kills::WORKER) {
        kills::work(&task);
    }
    let arguments = Arguments::from_args();
    let trials = vec![
        Trial::test("each_statement_leaves_what_the_model_holds", statements),
        Trial::test("killed_at_random_moments", kills::killed),
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The seed to begin with.
fn first_seed() -> u64 {
    let seed = number("MAYFLY_MODEL_SEED").unwrap_or_else(Random::new_seed);
    eprintln!("MAYFLY_MODEL_SEED={seed}");
    seed
}

fn largest_load() -> usize {
    let rows = number("MAYFLY_MODEL_LOAD").unwrap_or(2_000);
    usize::try_from(rows).unwrap_or(1).clamp(1, 200_000)
}

/// Opens a directory; with a small memory now and then.
fn open(directory: &DataDirectory, seed: u64) -> Arc<Database> {
    let mut options = DatabaseOptions::new();
    options.threads = 2;
    options.datadir = Some(directory.path().to_owned());
    options.batch_size = if seed.is_multiple_of(3) { 7 } else { 1024 };
    if seed.is_multiple_of(4) {
        options.memory_limit = Some(24 << 20);
    }
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    options.variables = vec![
        variable("innodb_flush_log_at_trx_commit", "2"),
        variable("innodb_lock_wait_timeout", "5"),
    ];
    Database::open(options).expect("a data directory opens")
}

/// The sessions of one database.
struct Sessions {
    database: Arc<Database>,
    writer: Session,
    reader: Session,
    other: Session,
}

impl Sessions {
    fn new(database: Arc<Database>) -> Self {
        let session = || {
            let mut session = database.session();
            must(&mut session, "CREATE DATABASE IF NOT EXISTS model");
            must(&mut session, "USE model");
            must(&mut session, "SET cte_max_recursion_depth = 1000000");
            must(&mut session, "SET sql_mode = 'STRICT_TRANS_TABLES'");
            session
        };
        Self {
            writer: session(),
            reader: session(),
            other: session(),
            database,
        }
    }
}

/// Runs a step; what it answered wrongly.
fn run(sessions: &mut Sessions, step: &Step) -> Result<(), String> {
    let session = match step.act {
        Act::Write => &mut sessions.writer,
        Act::Read => &mut sessions.reader,
        Act::Restart => return Ok(()),
    };
    let errno = match rows(session, &step.sql) {
        Ok(_) => 0,
        Err(error) => error.errno(),
    };
    match errno == step.errno {
        true => Ok(()),
        false => Err(format!("error {errno} instead of {}", step.errno)),
    }
}

fn check(
    sessions: &mut Sessions,
    world: &World,
    step: &Step,
    random: &mut Random,
) -> Result<(), String> {
    if let Some(table) = step.table.as_ref().and_then(|name| world.tables.get(name)) {
        checks::table(&mut sessions.writer, table, random)?;
    }
    if random.one_in(10) {
        checks::tables(&mut sessions.writer, &world.tables, random)?;
        checks::tables(&mut sessions.other, &world.committed(), random)
            .map_err(|text| format!("another session: {text}"))?;
    }
    if let Some(snapshot) = &world.snapshot
        && random.one_in(4)
    {
        let mut durable = snapshot.clone();
        durable.retain(|_, table| table.store == table::Store::Durable);
        checks::tables(&mut sessions.reader, &durable, random)
            .map_err(|text| format!("the session with a snapshot: {text}"))?;
    }
    if world.is_quiet() && random.one_in(6) {
        for table in world.tables.values() {
            checks::definition(&mut sessions.writer, table)?;
        }
    }
    Ok(())
}

/// The statements so far that matter: those about tables that are still there.
fn script(done: &[Step], world: &World) -> String {
    let line = |step: &Step| {
        let who = match step.act {
            Act::Write => "",
            Act::Read => "-- the other session: ",
            Act::Restart => "",
        };
        let error = match step.errno {
            0 => String::new(),
            errno => format!(" -- error {errno}"),
        };
        format!("{who}{};{error}", step.sql.replace('\0', "\\0"))
    };
    let last = done.last().and_then(|step| step.table.clone());
    let matters = |step: &&Step| match (&step.table, &last) {
        (Some(table), Some(last)) => {
            table == last || step.sql.contains(" JOIN ") || !world.tables.contains_key(table)
        }
        _ => true,
    };
    let lines: Vec<String> = done.iter().filter(matters).map(line).collect();
    lines.join("\n")
}

fn one_seed(directory: &DataDirectory, seed: u64) -> Result<usize, String> {
    let mut sessions = Sessions::new(open(directory, seed));
    let mut world = World::new(seed, largest_load(), true);
    let mut random = Random(seed ^ 0x5eed);
    let mut done: Vec<Step> = Vec::new();
    for _ in 0..STEPS {
        let step = world.step();
        done.push(step.clone());
        if step.act == Act::Restart {
            drop(sessions);
            sessions = Sessions::new(open(directory, seed));
        }
        let result = run(&mut sessions, &step)
            .and_then(|()| check(&mut sessions, &world, &step, &mut random));
        if let Err(text) = result {
            return Err(format!(
                "MAYFLY_MODEL_SEED={seed} MAYFLY_MODEL_LOAD={}\n{}\n\n{text}",
                largest_load(),
                script(&done, &world)
            ));
        }
    }
    let Sessions {
        database,
        writer,
        reader,
        other,
    } = sessions;
    drop((writer, reader));
    let mut other = other;
    must(&mut other, "DROP DATABASE model");
    drop(other);
    match database.memory_used() {
        0 => Ok(done.len()),
        bytes => Err(format!("MAYFLY_MODEL_SEED={seed}: {bytes} bytes are left")),
    }
}

fn statements() -> Result<(), Failed> {
    let first = first_seed();
    let seconds = Duration::from_secs(number("MAYFLY_MODEL_SECONDS").unwrap_or(10));
    let begun = Instant::now();
    let directory = DataDirectory::new("model");
    let (mut seed, mut steps) = (first, 0);
    while seed == first || begun.elapsed() < seconds {
        steps += one_seed(&directory, seed)?;
        seed += 1;
    }
    eprintln!("{steps} statements");
    Ok(())
}
