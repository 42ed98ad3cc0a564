//! Power cuts at random points in time while steps are taken: unsynced changes are lost, reordered and torn
//! ([`crate::disk`]). The remaining directory must hold the committed state.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use libtest_mimic::Failed;
use mayfly_testkit::fixture::DataDirectory;
use mayfly_trials::{Random, Trials};

use super::checks;
use crate::disk;
use crate::model::generate::Generator;
use crate::model::rows::{Tables, durable};
use crate::model::run::{self, Sessions, line, open};
use crate::model::steps::Action;
use crate::model::world::World;

/// Number of cuts of a round.
const CUTS: usize = 8;
/// Number of steps of a round.
const STEPS: u64 = 60;
/// Greatest number of rows of a load.
const LOAD: usize = 1500;

fn round(seed: u64) -> Result<usize, String> {
    let directories = ["model-root", "model-copy"].map(disk::directory);
    let [root, copy] = directories.each_ref().map(DataDirectory::path);
    let place = DataDirectory::at(root.join("data"));
    // The directory is created and synced before any cut.
    drop(Sessions::new(open(&place, seed, 1)));
    let done = Arc::new(AtomicU64::new(0));
    let asked = Arc::clone(&done);
    disk::watch(root, seed, CUTS, Box::new(move || vec![asked.load(SeqCst)]));
    let (mut generator, mut world) = (Generator::new(seed, LOAD), World::default());
    let mut sessions = Some(Sessions::new(open(&place, seed, 1)));
    let mut states = vec![durable(&world.committed)];
    // States after steps that have only committed the work before them.
    let mut halves = Vec::new();
    let mut script = Vec::new();
    let mut wrong = Ok(());
    while done.load(SeqCst) < STEPS && wrong.is_ok() {
        let mut then = world.clone();
        let (step, expected) = generator.next(&mut then);
        if matches!(step.action, Action::Restart | Action::Backup) {
            continue;
        }
        halves.push(world.halfway(&expected).committed);
        world = then;
        states.push(durable(&world.committed));
        script.push(line(&expected));
        wrong = run::run(&mut sessions, &place, seed, &expected);
        done.fetch_add(1, SeqCst);
    }
    drop(sessions);
    let (snapshots, ..) = disk::stop();
    let failed = |text: String, until: usize| {
        let script = script[..until.min(script.len())].join("\n");
        format!("MAYFLY_SEED={seed}\n{script}\n{text}")
    };
    wrong.map_err(|text| failed(text, script.len()))?;
    let mut random = Random(seed);
    for snapshot in &snapshots {
        snapshot.cut(root, copy, &mut random);
        let acknowledged = usize::try_from(snapshot.acknowledged[0]).unwrap_or(0);
        let place = DataDirectory::at(copy.join("data"));
        let look = |tables: &Tables| {
            let database = open(&place, seed, 1);
            database.check().map_err(|error| error.to_string())?;
            checks::database(&mut Sessions::new(database).other, tables)
        };
        // A step that was not acknowledged is there or not.
        if let Err(first) = look(&states[acknowledged])
            && halves
                .get(acknowledged)
                .is_none_or(|half| look(half).is_err())
            && let Err(second) = look(&states[(acknowledged + 1).min(states.len() - 1)])
        {
            let text = format!("cut {}:\n{first}\nor\n{second}", snapshot.name);
            return Err(failed(text, acknowledged + 1));
        }
    }
    Ok(snapshots.len())
}

pub(crate) fn cut() -> Result<(), Failed> {
    let mut cuts = 0;
    for seed in Trials::of("model_cuts") {
        cuts += round(seed)?;
    }
    eprintln!("{cuts} power cuts");
    Ok(())
}
