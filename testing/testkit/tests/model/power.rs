//! The power is cut at random moments while steps are taken: what was not synced is lost, reordered and
//! torn ([`crate::disk`]). The directory that is left must hold what was committed.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use libtest_mimic::Failed;
use mayfly_testkit::fixture::DataDirectory;
use mayfly_testkit::random::Numbers;

use crate::generate::Generator;
use crate::rows::Tables;
use crate::run::{self, Sessions, line, open};
use crate::steps::Step;
use crate::table::Store;
use crate::world::World;
use crate::{checks, disk, first_seed, number};

/// Cuts of a round.
const CUTS: usize = 8;
/// Steps of a round.
const STEPS: u64 = 60;
/// The most rows of a load.
const LOAD: usize = 1500;

/// What a cut leaves of what is committed.
fn left(world: &World) -> Tables {
    let mut tables = world.committed.clone();
    for table in tables.values_mut() {
        if table.store == Store::Memory && !table.rows.is_empty() {
            Rc::make_mut(table).rows.clear();
        }
    }
    tables
}

fn directory(name: &str) -> std::path::PathBuf {
    let name = format!("{}-model-{name}-{}", disk::NAME, std::process::id());
    let above = std::env::temp_dir();
    above.canonicalize().unwrap_or(above).join(name)
}

fn round(seed: u64) -> Result<usize, String> {
    let (root, copy) = (directory("root"), directory("copy"));
    let _ = std::fs::remove_dir_all(&root);
    std::fs::create_dir_all(&root).map_err(|error| error.to_string())?;
    let place = DataDirectory::at(root.join("data"));
    // It is there, and on disk, before anything is cut.
    drop(Sessions::new(open(&place, seed, 1)));
    let done = Arc::new(AtomicU64::new(0));
    let asked = Arc::clone(&done);
    disk::watch(
        &root,
        seed,
        CUTS,
        Box::new(move || vec![asked.load(SeqCst)]),
    );
    let (mut generator, mut world) = (Generator::new(seed, LOAD), World::default());
    let mut sessions = Some(Sessions::new(open(&place, seed, 1)));
    let mut states = vec![left(&world)];
    // After steps that have committed what was before them, and no more.
    let mut halves = Vec::new();
    let mut script = Vec::new();
    let mut wrong = Ok(());
    while done.load(SeqCst) < STEPS && wrong.is_ok() {
        let mut then = world.clone();
        let (step, told) = generator.next(&mut then);
        if matches!(step, Step::Restart | Step::Backup) {
            continue;
        }
        halves.push(left(&world.halfway(&told)));
        world = then;
        states.push(left(&world));
        script.push(line(&told));
        wrong = run::run(&mut sessions, &place, seed, &told);
        done.fetch_add(1, SeqCst);
    }
    drop(sessions);
    let (moments, ..) = disk::stop();
    let failed = |text: String, until: usize| {
        let script = script[..until.min(script.len())].join("\n");
        format!("MAYFLY_MODEL_SEED={seed}\n{script}\n{text}")
    };
    wrong.map_err(|text| failed(text, script.len()))?;
    let mut numbers = Numbers::new(seed);
    for moment in &moments {
        moment.cut(&root, &copy, &mut numbers);
        let acknowledged = usize::try_from(moment.acknowledged[0]).unwrap_or(0);
        let place = DataDirectory::at(copy.join("data"));
        let look = |tables: &Tables| {
            let database = open(&place, seed, 1);
            database.check().map_err(|error| error.to_string())?;
            checks::database(&mut Sessions::new(database).other, tables)
        };
        // A step that was not acknowledged is there or is not.
        if let Err(first) = look(&states[acknowledged])
            && halves
                .get(acknowledged)
                .is_none_or(|half| look(half).is_err())
            && let Err(second) = look(&states[(acknowledged + 1).min(states.len() - 1)])
        {
            let text = format!("cut {}:\n{first}\nor\n{second}", moment.name);
            return Err(failed(text, acknowledged + 1));
        }
    }
    let _ = std::fs::remove_dir_all(&root);
    let _ = std::fs::remove_dir_all(&copy);
    Ok(moments.len())
}

pub(crate) fn cut() -> Result<(), Failed> {
    let first = first_seed();
    let rounds = number("MAYFLY_MODEL_CUTS").unwrap_or(2);
    let mut cuts = 0;
    for seed in first..first + rounds {
        cuts += round(seed)?;
    }
    eprintln!("{cuts} power cuts");
    Ok(())
}
