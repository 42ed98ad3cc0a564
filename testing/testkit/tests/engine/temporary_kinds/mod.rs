//! All kinds of temporary tables, and kept results, in random work of several sessions against a plain model: what each
//! session sees is what the model says, and nothing is left at the end.
//!
//! `MAYFLY_TEMPORARY_STEPS` is the number of steps of a seed; it takes one seed then.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod actor;
mod eviction;
mod never_stale;
mod shared;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use mayfly_engine::Clock;
use mayfly_testkit::fixture::{DataDirectory, Fixture, SessionExt, variables};
use mayfly_trials::{Random, Trials, number};

use self::actor::{Actor, World};

/// A clock that the test sets.
#[derive(Debug)]
struct SetClock(AtomicI64);

impl SetClock {
    fn now(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    fn advance(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
    }
}

impl Clock for SetClock {
    fn now_utc_microseconds(&self) -> i64 {
        self.now()
    }
}

/// Number of sessions.
const SESSIONS: usize = 4;

#[test]
fn random_work_with_all_kinds_is_that_of_a_model() {
    let steps = number("MAYFLY_TEMPORARY_STEPS");
    for seed in Trials::of("temporary_tables") {
        work(seed, steps.unwrap_or(300), seed % 2 == 1);
        if steps.is_some() {
            break;
        }
    }
}

/// Steps of one seed, with the rows of shared tables in a store of their own if there is a data directory.
fn work(seed: u64, steps: u64, has_directory: bool) {
    let mut random = Random(seed);
    let directory = has_directory.then(|| DataDirectory::new(&format!("kinds-{seed}")));
    let clock = Arc::new(SetClock(AtomicI64::new(1_800_000_000_000_000)));
    let fixture = Fixture::open(|options| {
        options.variables = variables(&[("tmp_table_size", "16384")]);
        options.clock = Arc::clone(&clock) as _;
        options.datadir = directory.as_ref().map(|it| it.path().to_path_buf());
    });
    let mut definer = fixture.session();
    definer.must("USE test");
    definer.must("CREATE GLOBAL TEMPORARY TABLE g_delete (a INT PRIMARY KEY, b INT)");
    definer.must(
        "CREATE GLOBAL TEMPORARY TABLE g_keep (a INT PRIMARY KEY, b INT) ON COMMIT PRESERVE ROWS",
    );
    definer.must("CREATE TABLE p (a INT PRIMARY KEY, b INT)");
    let mut world = World::new(clock);
    let mut actors: Vec<Actor> = (0..SESSIONS)
        .map(|number| Actor::new(number, fixture.session()))
        .collect();
    for _ in 0..steps {
        let who = random.below(SESSIONS);
        match random.below(60) {
            // A session that ends, perhaps in a transaction, or is killed.
            0 | 1 => {
                if random.one_in(2) {
                    actors[who].session.kill_handle().close();
                }
                actors[who].leave(&mut world);
                // The old session ends before the new one runs a statement.
                drop(actors.remove(who));
                actors.insert(who, Actor::new(who, fixture.session()));
            }
            2 => actors[who].reset(&mut world, random.one_in(2)),
            3 => world.advance(5),
            4 => {
                // No transaction uses the definition, but sessions may have rows.
                if actors.iter().all(|actor| !actor.is_in_transaction()) {
                    world.sweep();
                    let refused = actors.iter().any(Actor::has_kept_rows);
                    let ended = definer.execute("ALTER TABLE g_keep COMMENT 'again'");
                    let errno = ended.map_or_else(|error| error.errno(), |_| 0);
                    assert_eq!(errno, if refused { 1105 } else { 0 }, "seed {seed}");
                }
            }
            5 => {
                let others = actors.iter().enumerate();
                let mut others = others.filter(|(other, _)| *other != who);
                if others.all(|(_, actor)| !actor.is_in_transaction()) {
                    actors[who].define(&mut random, &mut world);
                }
            }
            _ => actors[who].step(&mut random, &mut world),
        }
    }
    drop(actors);
    definer.must("DROP TABLE IF EXISTS s, e");
    drop(definer);
}
