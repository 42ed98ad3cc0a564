//! Random statements that change rows and tables, against a model of them: a list of rows for each
//! table, and MySQL's rules written by hand ([`values`], [`table`], [`rows`]).
//!
//! Durable, temporary and MEMORY tables with hostile keys, foreign keys and generated columns; every
//! statement that changes rows, bulk loads, every kind of ALTER; three sessions with transactions of all
//! isolation levels and savepoints, each of which must see what its snapshot says ([`world`]); small
//! limits; restarts, backups, `kill -9` at random points in time ([`kills`]), and power cuts ([`power`]).
//! Tables must show what the model holds, by every index.
//!
//! `MAYFLY_MODEL_LOAD` is the greatest number of rows of a load (400 by default, at most 200,000). A failure is reduced
//! to a short script, by leaving out steps as long as it still fails.

mod checks;
mod definitions;
mod generate;
mod kills;
mod power;
mod rows;
mod run;
mod steps;
mod table;
mod values;
mod world;

use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use mayfly_testkit::fixture::DataDirectory;
use mayfly_trials::{Trials, number};

use crate::model::generate::Generator;
use crate::model::run::{Sessions, line};
use crate::model::steps::Step;
use crate::model::world::World;

/// Greatest time to reduce a failure.
const REDUCING: Duration = Duration::from_secs(40);
/// Number of steps of one seed, after which everything is dropped.
const STEPS: usize = 150;

/// Works until it is killed, if the environment says that this process is to be killed.
pub(crate) fn work() {
    if let Ok(task) = std::env::var(kills::WORKER) {
        kills::work(&task);
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("each_statement_leaves_what_the_model_holds", statements),
        Trial::test("killed_at_random_moments", kills::killed),
        Trial::test("power_cut_at_random_moments", power::cut),
    ]
}

fn largest_load() -> usize {
    let rows = number("MAYFLY_MODEL_LOAD").unwrap_or(400);
    usize::try_from(rows).unwrap_or(1).clamp(1, 200_000)
}

/// Takes steps; returns the failure, and the number of steps taken.
fn take(directory: &DataDirectory, seed: u64, steps: &[Step]) -> Option<(String, Vec<String>)> {
    let mut world = World::default();
    let mut sessions = Some(Sessions::open(directory, seed));
    let mut script = Vec::new();
    let mut wrong = None;
    for step in steps {
        let Some(expected) = world.take(step) else {
            continue;
        };
        script.push(line(&expected));
        if let Err(text) = run::run(&mut sessions, directory, seed, &expected) {
            wrong = Some(text);
            break;
        }
    }
    let wrong = wrong.or_else(|| run::finish(sessions.take(), &mut world).err());
    wrong.map(|text| (text, script))
}

/// The shortest failing script found by leaving out steps.
fn reduced(seed: u64, steps: &[Step]) -> Option<(String, Vec<String>)> {
    let begun = Instant::now();
    let directory = DataDirectory::new("model-reduced");
    let run = |steps: &[Step]| {
        let _ = std::fs::remove_dir_all(directory.path());
        take(&directory, seed, steps)
    };
    let mut known = run(steps)?;
    let mut steps = steps.to_vec();
    let mut chunk = (steps.len() / 2).max(1);
    while begun.elapsed() < REDUCING {
        let mut place = 0;
        let before = steps.len();
        while place < steps.len() && begun.elapsed() < REDUCING {
            let mut fewer = steps.clone();
            fewer.drain(place..(place + chunk).min(steps.len()));
            match run(&fewer) {
                Some(other) => {
                    known = other;
                    steps = fewer;
                }
                None => place += chunk,
            }
        }
        if chunk == 1 && steps.len() == before {
            break;
        }
        chunk = (chunk / 2).max(1);
    }
    Some(known)
}

fn one_seed(directory: &DataDirectory, seed: u64, failures: &mut Vec<String>) {
    let mut world = World::default();
    let mut generator = Generator::new(seed, largest_load());
    let steps = (0..STEPS).map(|_| generator.next(&mut world).0);
    let steps: Vec<Step> = steps.collect();
    if let Some((text, _)) = take(directory, seed, &steps) {
        let _ = std::fs::remove_dir_all(directory.path());
        let (text, script) =
            reduced(seed, &steps).unwrap_or((text, vec!["(only once)".to_owned()]));
        let failure = format!(
            "MAYFLY_SEED={seed} MAYFLY_MODEL_LOAD={}\n{}\n\n{text}\n",
            largest_load(),
            script.join("\n")
        );
        eprintln!("{failure}");
        failures.push(failure);
    }
}

fn statements() -> Result<(), Failed> {
    let mut trials = Trials::of("model");
    let directory = DataDirectory::new("model");
    let mut failures = Vec::new();
    while failures.is_empty()
        && let Some(seed) = trials.next()
    {
        one_seed(&directory, seed, &mut failures);
    }
    eprintln!("{} seeds of {STEPS} steps", trials.begun());
    if failures.is_empty() {
        Ok(())
    } else {
        Err(failures.join("\n").into())
    }
}
