//! A process that runs the steps of a seed is killed again and again; each time its directory must
//! hold what was committed when it died.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use libtest_mimic::Failed;
use mayfly_testkit::fixture::DataDirectory;
use mayfly_testkit::random::Random;

use crate::table::Store;
use crate::world::{Act, Tables, World};
use crate::{Sessions, checks, first_seed, number, open, run};

/// Says to the test binary that it is the process to be killed: the seed, the directory, and after how
/// many steps it was killed before.
pub(crate) const WORKER: &str = "MAYFLY_MODEL_WORKER";

/// The most rows of a load.
const LOAD: usize = 500;

/// The next step that is no restart.
fn step(world: &mut World) -> crate::world::Step {
    loop {
        let step = world.step();
        if step.act == Act::Write {
            return step;
        }
        if step.act == Act::Read {
            world.snapshot = None;
        }
    }
}

/// The model after it was killed after so many steps, again and again.
fn replayed(seed: u64, kills: &[usize]) -> World {
    let mut world = World::new(seed, LOAD, false);
    for steps in kills {
        for _ in 0..*steps {
            step(&mut world);
        }
        world.crash();
    }
    world
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let written = out
        .write_all(format!("{line}\n").as_bytes())
        .and_then(|()| out.flush());
    if written.is_err() {
        std::process::abort();
    }
}

/// Works until it is killed.
pub(crate) fn work(task: &str) -> ! {
    let mut words = task.split(' ');
    let seed: u64 = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
    let path = words.next().unwrap_or_default();
    let kills: Vec<usize> = words.filter_map(|word| word.parse().ok()).collect();
    let mut world = replayed(seed, &kills);
    let directory = std::mem::ManuallyDrop::new(DataDirectory::at(path));
    let mut sessions = Sessions::new(open(&directory, 1));
    for done in 1.. {
        let step = step(&mut world);
        if let Err(text) = run(&mut sessions, &step) {
            say(&format!("wrong {}: {text}", step.sql.replace('\n', " ")));
            std::process::abort();
        }
        say(&format!("done {done}"));
    }
    std::process::abort()
}

fn durable(world: &World) -> Tables {
    let mut tables = world.committed();
    tables.retain(|_, table| table.store != Store::Temporary);
    for table in tables.values_mut() {
        if table.store == Store::Memory {
            std::rc::Rc::make_mut(table).rows.clear();
        }
    }
    tables
}

/// What a directory must hold; the model's tables are all that are there.
fn compare(directory: &DataDirectory, tables: &Tables) -> Result<(), String> {
    let mut sessions = Sessions::new(open(directory, 1));
    let mut found = mayfly_testkit::fixture::must(&mut sessions.other, "SHOW TABLES");
    found.sort_unstable();
    let known: Vec<String> = tables.keys().cloned().collect();
    if found != known {
        return Err(format!("tables {found:?} instead of {known:?}"));
    }
    checks::tables(&mut sessions.other, tables, &mut Random(1))
}

pub(crate) fn killed() -> Result<(), Failed> {
    let seed = first_seed();
    let kills = number("MAYFLY_MODEL_KILLS").unwrap_or(4);
    let directory = DataDirectory::new("model-kills");
    let mut random = Random(seed);
    let mut history: Vec<usize> = Vec::new();
    let program = std::env::current_exe()?;
    for _ in 0..kills {
        let before: Vec<String> = history.iter().map(ToString::to_string).collect();
        let task = format!("{seed} {} {}", directory.path().display(), before.join(" "));
        let mut child = Command::new(&program)
            .env(WORKER, task)
            .stdout(Stdio::piped())
            .spawn()?;
        let wanted = 1 + random.below(60);
        let mut done = 0;
        let output = child.stdout.take().ok_or("no output")?;
        let mut wrong = None;
        for line in BufReader::new(output).lines() {
            let line = line?;
            match line.strip_prefix("done ") {
                Some(number) => done = number.parse()?,
                None => wrong = Some(line),
            }
            if done == wanted {
                // Whatever it does next is cut off.
                std::thread::sleep(std::time::Duration::from_micros(random.below(3000) as u64));
                child.kill()?;
            }
        }
        child.wait()?;
        if let Some(wrong) = wrong {
            return Err(format!(
                "MAYFLY_MODEL_SEED={seed}, after {history:?} and {done} steps: {wrong}"
            )
            .into());
        }
        history.push(done);
        let at_least = replayed(seed, &history);
        // A step that was not acknowledged is there or is not.
        if let Err(first) = compare(&directory, &durable(&at_least)) {
            history.pop();
            history.push(done + 1);
            let at_most = replayed(seed, &history);
            if let Err(second) = compare(&directory, &durable(&at_most)) {
                return Err(format!(
                    "MAYFLY_MODEL_SEED={seed}, killed after {history:?}:\n{first}\nor\n{second}"
                )
                .into());
            }
        }
    }
    Ok(())
}
