//! Random queries: the results are those of MariaDB and MySQL, the same in every way of execution here ([`ways`]), and
//! obey the laws of all queries ([`laws`]); rows added by VALUES and by SELECT are equal.
//!
//! `MAYFLY_MARIADB_SOCKET` and `MAYFLY_MYSQL_SOCKET` name the servers; without them the ways are compared with each
//! other. MariaDB gets tables whose types, functions and comparisons all servers treat alike, and no subqueries; MySQL
//! gets all types, all functions, all pairs of types in comparisons, and everything else. `MAYFLY_QUERIES_FAILURES` is
//! the number of differences that end the test, 10 by default. Each difference is reduced as far as possible, and
//! printed as a script.

mod answers;
mod case;
mod columns;
mod compared;
mod functions;
mod generate;
mod known;
mod laws;
mod peers;
mod reduced;
mod round;
mod schema;
mod tree;
mod ways;

use libtest_mimic::{Failed, Trial};
use mayfly_testkit::server::Flavour;
use mayfly_trials::{Random, Trials, number};

use self::case::Case;
use self::generate::Generator;
use self::peers::Peer;
use self::round::Round;
use self::schema::Schema;
use self::ways::Databases;

/// Number of queries on each set of tables.
const QUERIES: usize = 60;

/// Number of queries between two laws.
const LAWS: usize = 6;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![Trial::test("random_queries_give_what_others_give", queries)];
    if number("MAYFLY_QUERIES_COMPARED").is_some() {
        let compared = Trial::test("random_queries_are_counted", compared::compare);
        trials.push(compared);
    }
    trials
}

fn queries() -> Result<(), Failed> {
    let mut trials = Trials::of("queries");
    let most = number("MAYFLY_QUERIES_FAILURES").unwrap_or(10);
    let (_databases, ways) = Databases::open();
    let peers = [Flavour::MySql, Flavour::MariaDb]
        .into_iter()
        .filter_map(Peer::find);
    let empty = Schema::random(&mut Random(trials.first()), true);
    let mut round = Round::new(ways, peers.collect(), empty);
    let (mut failures, mut queries, mut laws) = (0, 0, 0);
    while failures < most
        && let Some(seed) = trials.next()
    {
        let mut random = Random(seed);
        let schema = Schema::random(&mut random, seed.is_multiple_of(3));
        round.begin(&schema, seed);
        if let Some(difference) = round.ways[0].copies(&schema) {
            eprintln!("seed {seed}:\n{difference}\n");
            failures += 1;
        }
        for at in 0..QUERIES {
            if trials.is_over() {
                break;
            }
            let mut generator = Generator::new(&mut random, &schema);
            let case = match at % LAWS {
                0 => {
                    let (law, tree) = generator.law();
                    laws += 1;
                    Case {
                        tree,
                        law: Some(law),
                    }
                }
                _ => {
                    queries += 1;
                    Case {
                        tree: generator.statement(),
                        law: None,
                    }
                }
            };
            if let Some(found) = round.difference(&case) {
                let script = round.reduce(case, &found);
                let switch = round.switch;
                eprintln!("seed {seed}, {switch}:\n{script}\n");
                failures += 1;
                break;
            }
        }
        round.end();
    }
    for peer in &mut round.peers {
        peer.end();
        for fault in &peer.faults {
            eprintln!("{:?} ended the connection: {fault}", peer.flavour);
        }
    }
    let sets = trials.begun();
    let explained = &round.explained;
    eprintln!("{queries} queries and {laws} laws over {sets} sets of tables; {explained:?}");
    match failures {
        0 => Ok(()),
        count => {
            let first = trials.first();
            Err(format!("{count} differences, MAYFLY_SEED={first}").into())
        }
    }
}
