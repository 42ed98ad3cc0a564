//! A process that takes the steps of a seed is killed repeatedly; each time its directory must hold the state committed
//! at its end.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use libtest_mimic::Failed;
use mayfly_testkit::fixture::DataDirectory;
use mayfly_testkit::process::{self, report};
use mayfly_trials::{Random, Trials};

use super::checks;
use crate::model::generate::Generator;
use crate::model::run::{self, Sessions, line, open};
use crate::model::steps::Action;
use crate::model::world::{Expected, World};

/// Tells the test binary that it is the process to be killed: the seed, the directory, and the numbers of steps before
/// the earlier kills.
pub(crate) const WORKER: &str = "MAYFLY_MODEL_WORKER";

/// Greatest number of rows of a load.
const LOAD: usize = 500;

/// The next step of a process that runs until it is killed.
fn step(generator: &mut Generator, world: &mut World) -> Expected {
    loop {
        let mut then = world.clone();
        let (step, expected) = generator.next(&mut then);
        if !matches!(step.action, Action::Restart | Action::Backup) {
            *world = then;
            return expected;
        }
    }
}

/// The model after kills at the given numbers of steps.
fn replayed(seed: u64, kills: &[usize]) -> (Generator, World) {
    let (mut generator, mut world) = (Generator::new(seed, LOAD), World::default());
    for steps in kills {
        for _ in 0..*steps {
            step(&mut generator, &mut world);
        }
        world.crash();
    }
    (generator, world)
}

/// Works until it is killed.
pub(crate) fn work(task: &str) -> ! {
    let mut words = task.split(' ');
    let seed: u64 = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
    let path = words.next().unwrap_or_default();
    let kills: Vec<usize> = words.filter_map(|word| word.parse().ok()).collect();
    let (mut generator, mut world) = replayed(seed, &kills);
    let directory = std::mem::ManuallyDrop::new(DataDirectory::at(path));
    let mut sessions = Some(Sessions::open(&directory, seed));
    for done in 1.. {
        let expected = step(&mut generator, &mut world);
        if let Err(text) = run::run(&mut sessions, &directory, seed, &expected) {
            let text = format!("wrong {}: {text}", line(&expected));
            report(&text.replace('\n', " "));
            std::process::abort();
        }
        report(&format!("done {done}"));
    }
    std::process::abort()
}

/// Compares a directory with the model.
fn compare(directory: &DataDirectory, seed: u64, world: &World) -> Result<(), String> {
    let database = open(directory, seed, 2);
    database.check().map_err(|error| error.to_string())?;
    let mut sessions = Sessions::new(database);
    checks::database(&mut sessions.other, &world.committed)
}

pub(crate) fn killed() -> Result<(), Failed> {
    let mut trials = Trials::of("model_kills");
    let seed = trials.first();
    let directory = DataDirectory::new("model-kills");
    let mut random = Random(seed);
    let mut history: Vec<usize> = Vec::new();
    let mut steps = 0;
    while trials.next().is_some() {
        // An empty database is faster than replaying a long history.
        if history.len() == 12 {
            history.clear();
            std::fs::remove_dir_all(directory.path())?;
        }
        let before: Vec<String> = history.iter().map(ToString::to_string).collect();
        let task = format!("{seed} {} {}", directory.path().display(), before.join(" "));
        let mut child = process::again("worker")
            .env(WORKER, task)
            .stdout(Stdio::piped())
            .spawn()?;
        let wanted = 1 + random.below(80);
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
                // Later output of the process is ignored.
                std::thread::sleep(std::time::Duration::from_micros(random.below(3000) as u64));
                child.kill()?;
            }
        }
        child.wait()?;
        if let Some(wrong) = wrong {
            return Err(
                format!("MAYFLY_SEED={seed}, after {history:?} and {done} steps: {wrong}").into(),
            );
        }
        steps += done;
        history.push(done);
        // A step that was not acknowledged is there or not; or it has only committed the work before it.
        let (mut generator, mut world) = replayed(seed, &history[..history.len() - 1]);
        for _ in 0..done {
            step(&mut generator, &mut world);
        }
        let before = world.clone();
        let expected = step(&mut generator, &mut world);
        if let Err(first) = compare(&directory, seed, &replayed(seed, &history).1) {
            if compare(&directory, seed, &before.halfway(&expected)).is_ok() {
                // The continuation of the model would have to be stored, too.
                history.clear();
                std::fs::remove_dir_all(directory.path())?;
                continue;
            }
            history.pop();
            history.push(done + 1);
            if let Err(second) = compare(&directory, seed, &replayed(seed, &history).1) {
                return Err(format!(
                    "MAYFLY_SEED={seed}, killed after {history:?}, {}:\n{first}\nor\n{second}",
                    line(&expected)
                )
                .into());
            }
        }
    }
    eprintln!("{} kills, {steps} steps", trials.begun());
    Ok(())
}
