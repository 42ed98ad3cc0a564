//! Random queries give what MariaDB and MySQL give, and the same whichever way they are run here:
//! prepared, without indexes, on temporary tables, with a switch of the optimizer off, without its
//! optional rules, at tiny limits.
//!
//! `MAYFLY_MARIADB_SOCKET` and `MAYFLY_MYSQL_SOCKET` name the servers; without them the ways are compared
//! with each other. `MAYFLY_QUERIES_SECONDS` is how long it looks, `MAYFLY_QUERIES_SEED` where it begins:
//! each run begins elsewhere, and says where. What is found is made as small as it goes.

mod generate;
mod known;
#[path = "../index_access/random.rs"]
mod random;
mod schema;
mod tree;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mayfly_engine::Session;
use mayfly_testkit::cell::escape;
use mayfly_testkit::client::{Answer, Client};
use mayfly_testkit::fixture::{Fixture, must, rows};
use mayfly_testkit::server::{self, Flavour};

use generate::Generator;
use known::KNOWN;
use random::Random;
use schema::{Schema, VIEW};
use tree::Tree;

/// Switches that are off in turn.
const SWITCHES: [&str; 6] = [
    "derived_merge=off",
    "semijoin=off",
    "subquery_to_derived=on",
    "index_merge=off",
    "block_nested_loop=off",
    "materialization=off",
];

/// How many queries each set of tables sees.
const QUERIES: usize = 60;

/// A way to run queries in this process.
struct Way {
    name: &'static str,
    session: Session,
    keys: bool,
    temporary: bool,
    prepares: bool,
}

impl Way {
    fn begin(&mut self, schema: &Schema, number: u64) {
        let database = format!("queries_{number}");
        must(&mut self.session, &format!("CREATE DATABASE {database}"));
        must(&mut self.session, &format!("USE {database}"));
        for statement in schema.statements(self.keys, self.temporary) {
            let _ = rows(&mut self.session, &statement);
        }
    }

    fn end(&mut self, schema: &Schema, number: u64) {
        if self.temporary {
            for table in &schema.tables {
                let drop = format!("DROP TEMPORARY TABLE IF EXISTS {}", table.name);
                must(&mut self.session, &drop);
            }
        }
        must(
            &mut self.session,
            &format!("DROP DATABASE queries_{number}"),
        );
    }

    fn answer(&mut self, query: &str) -> Vec<String> {
        if !self.prepares {
            return sorted(rows(&mut self.session, query).map_err(|error| error.to_string()));
        }
        let quoted = query.replace('\\', "\\\\").replace('\'', "''");
        let prepared = rows(&mut self.session, &format!("PREPARE q FROM '{quoted}'"));
        let found = prepared.and_then(|_| {
            let _ = rows(&mut self.session, "EXECUTE q")?;
            rows(&mut self.session, "EXECUTE q")
        });
        let _ = rows(&mut self.session, "DEALLOCATE PREPARE q");
        sorted(found.map_err(|error| error.to_string()))
    }
}

/// A server that is asked too.
struct Peer {
    flavour: Flavour,
    client: Client,
}

impl Peer {
    fn find(flavour: Flavour) -> Option<Self> {
        let socket = server::socket(flavour)?;
        let mut client =
            Client::connect(&socket, "root").expect("the server that is named answers");
        for statement in ["SET NAMES utf8mb4", "SET sql_mode = 'STRICT_TRANS_TABLES'"] {
            client.query(statement).expect("the server takes settings");
        }
        Some(Self { flavour, client })
    }

    fn begin(&mut self, schema: &Schema, database: &str) {
        for statement in [
            format!("DROP DATABASE IF EXISTS {database}"),
            format!("CREATE DATABASE {database}"),
            format!("USE {database}"),
        ] {
            self.client.query(&statement).expect("a database is made");
        }
        for statement in schema.statements(true, false) {
            let _ = self.client.query(&statement);
        }
    }

    fn answer(&mut self, query: &str) -> Vec<String> {
        let found = match self.client.query(query) {
            Ok(Answer::Rows { rows, .. }) => {
                let cells = |row: &Vec<Option<Vec<u8>>>| {
                    let cells = row.iter().map(|cell| escape(cell.as_deref()));
                    cells.collect::<Vec<_>>().join("\t")
                };
                Ok(rows.iter().map(cells).collect())
            }
            Ok(Answer::Done(_)) => Ok(Vec::new()),
            Err(error) => Err(error.to_string()),
        };
        sorted(found)
    }
}

/// Rows in an order of their own, or an error, which each says in its words.
fn sorted(found: Result<Vec<String>, String>) -> Vec<String> {
    match found {
        Ok(mut rows) => {
            rows.sort();
            rows
        }
        Err(error) => vec![format!("error: {error}")],
    }
}

fn is_error(answer: &[String]) -> bool {
    matches!(answer, [only] if only.starts_with("error: "))
}

/// Whether two answers are one: errors are, whatever they say, but those of a planner that fails.
fn agree(a: &[String], b: &[String]) -> bool {
    let failed = |answer: &[String]| is_error(answer) && answer[0].contains("planner: ");
    a == b || (is_error(a) && is_error(b) && !failed(a) && !failed(b))
}

/// Everybody who answers.
struct Round {
    ways: Vec<Way>,
    peers: Vec<Peer>,
    explained: std::collections::BTreeMap<&'static str, usize>,
}

impl Round {
    /// What is different about a query; none if nothing is.
    fn difference(&mut self, query: &str) -> Option<String> {
        let first = self.ways[0].answer(query);
        for way in &mut self.ways[1..] {
            if way.temporary && query.contains(VIEW) {
                continue;
            }
            let found = way.answer(query);
            if !agree(&first, &found) {
                return Some(format!("{}: {found:?}\nas it is: {first:?}", way.name));
            }
        }
        let mut against = Vec::new();
        for peer in &mut self.peers {
            let theirs = peer.answer(query);
            if agree(&first, &theirs) {
                // MySQL's word counts.
                if peer.flavour == Flavour::MySql {
                    return None;
                }
                continue;
            }
            let mut known = KNOWN.iter();
            let rule = known.find(|rule| (rule.explains)(peer.flavour, query, &first, &theirs));
            match rule {
                Some(rule) => *self.explained.entry(rule.slug).or_default() += 1,
                None => against.push(format!("{:?}: {theirs:?}", peer.flavour)),
            }
        }
        (!against.is_empty()).then(|| format!("{}\nMayfly: {first:?}", against.join("\n")))
    }

    /// The smallest query with a difference that leaving out parts leads to.
    fn reduce(&mut self, query: Tree) -> (Tree, String) {
        let mut query = query;
        let mut difference = self.difference(&query.text()).unwrap_or_default();
        let begun = Instant::now();
        'smaller: while begun.elapsed() < Duration::from_secs(20) {
            let size = query.text().len();
            for candidate in query.smaller() {
                let text = candidate.text();
                if text.len() < size
                    && let Some(found) = self.difference(&text)
                {
                    query = candidate;
                    difference = found;
                    continue 'smaller;
                }
            }
            break;
        }
        (query, difference)
    }
}

#[test]
fn random_queries_give_what_others_give() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let Some(seconds) = number("MAYFLY_QUERIES_SECONDS") else {
        eprintln!("skipped: MAYFLY_QUERIES_SECONDS says how long it runs");
        return;
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let first = number("MAYFLY_QUERIES_SEED")
        .unwrap_or_else(|| now.map_or(1, |elapsed| elapsed.as_secs()) * 1_000);
    println!("MAYFLY_QUERIES_SEED={first}");
    let plain = Fixture::open(|_| {});
    let tiny = Fixture::open(|options| {
        options.memory_limit = Some(16 << 20);
        options.batch_size = 3;
        options.force_overflow = true;
    });
    let simple = Fixture::open(|options| options.optimizer = false);
    let way = |name, fixture: &Fixture, keys, temporary, prepares| {
        let mut session = fixture.database.session();
        must(&mut session, "SET sql_mode = 'STRICT_TRANS_TABLES'");
        Way {
            name,
            session,
            keys,
            temporary,
            prepares,
        }
    };
    let mut round = Round {
        ways: vec![
            way("as it is", &plain, true, false, false),
            way("prepared", &plain, true, false, true),
            way("without indexes", &plain, false, false, false),
            way("temporary tables", &plain, true, true, false),
            way("a switch off", &plain, true, false, false),
            way("tiny limits", &tiny, true, false, false),
            way("without optional rules", &simple, true, false, false),
        ],
        peers: [Flavour::MySql, Flavour::MariaDb]
            .into_iter()
            .filter_map(Peer::find)
            .collect(),
        explained: std::collections::BTreeMap::new(),
    };
    let has_mysql = round
        .peers
        .iter()
        .any(|peer| peer.flavour == Flavour::MySql);
    let database = format!("mayfly_queries_{}", std::process::id());
    let begun = Instant::now();
    let mut failures: Vec<String> = Vec::new();
    let (mut tables, mut queries) = (0, 0);
    while begun.elapsed() < Duration::from_secs(seconds) && failures.len() < 10 {
        let seed = first + tables;
        let mut random = Random(seed);
        let schema = Schema::random(&mut random);
        for (at, way) in round.ways.iter_mut().enumerate() {
            way.begin(&schema, seed * 10 + at as u64);
        }
        let switch = random.pick(&SWITCHES);
        let set = format!("SET optimizer_switch = '{switch}'");
        let _ = rows(&mut round.ways[4].session, &set);
        for peer in &mut round.peers {
            peer.begin(&schema, &database);
        }
        for _ in 0..QUERIES {
            if begun.elapsed() >= Duration::from_secs(seconds) {
                break;
            }
            let query = Generator::new(&mut random, &schema, has_mysql).statement();
            queries += 1;
            if round.difference(&query.text()).is_some() {
                let (query, difference) = round.reduce(query);
                failures.push(format!(
                    "seed {seed}, {switch}:\n{};\n{};\n{difference}",
                    schema.statements(true, false).join(";\n"),
                    query.text(),
                ));
                break;
            }
        }
        must(&mut round.ways[4].session, "SET optimizer_switch = DEFAULT");
        for (at, way) in round.ways.iter_mut().enumerate() {
            way.end(&schema, seed * 10 + at as u64);
        }
        tables += 1;
    }
    for peer in &mut round.peers {
        let drop = format!("DROP DATABASE IF EXISTS {database}");
        peer.client.query(&drop).expect("the database is dropped");
    }
    println!(
        "{queries} queries over {tables} sets of tables; {:?}",
        round.explained
    );
    drop(round);
    for fixture in [plain, tiny, simple] {
        fixture.finish();
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
