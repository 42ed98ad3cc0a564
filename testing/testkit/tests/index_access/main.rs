//! What an index finds is what the whole table holds: the same random statements over a table with
//! random keys and over the same rows without any. Random types, collations, prefixes and
//! directions; constants of any type; as user temporary tables, durable ones and MEMORY tables, read
//! and changed.
//!
//! `MAYFLY_ACCESS_SECONDS` is how long it looks for a difference, `MAYFLY_ACCESS_SEED` where it
//! begins.

mod kinds;
mod statements;
mod table;

use std::time::{Duration, Instant};

use mayfly_engine::Session;
use mayfly_testkit::fixture::{Fixture, must, rows};

use mayfly_testkit::random::Random;
use table::Table;
fn fill(session: &mut Session, name: &str, table: &Table, count: usize, random: &mut Random) {
    for id in 0..count {
        let values: Vec<String> = (0..table.kinds.len())
            .map(|column| table.value(column, random))
            .collect();
        let _ = rows(
            session,
            &format!(
                "INSERT IGNORE INTO {name} VALUES ({id}, {})",
                values.join(", ")
            ),
        );
    }
}

/// The rows, or the number of the error; in order only where that is defined.
fn answer(session: &mut Session, sql: &str, ordered: bool) -> Vec<String> {
    match rows(session, sql) {
        Ok(mut rows) => {
            if !ordered {
                rows.sort();
            }
            rows
        }
        Err(error) => vec![format!("error {}", error.errno())],
    }
}

/// Changes rows that are found by an index, and the same without one.
fn change(
    session: &mut Session,
    seed: u64,
    table: &Table,
    random: &mut Random,
    failures: &mut Vec<String>,
) {
    for round in 0..4 {
        let condition = table.condition("t.", 1, random);
        let changed = match random.one_in(3) {
            true => format!("DELETE t FROM {{t}} WHERE {condition}"),
            false => format!("UPDATE {{t}} SET id = id + 1000 WHERE {condition}"),
        };
        let all = table.key_names().join(", ");
        let way = match random.one_in(2) {
            true => format!("x AS t FORCE INDEX ({all})"),
            false => "x AS t".to_owned(),
        };
        let sql = changed.replace("{t}", &way);
        let before = answer(session, "SELECT id FROM x", false);
        let found = answer(session, &sql, false);
        let expected = answer(session, &changed.replace("{t}", "f AS t"), false);
        let (x, f) = (
            answer(session, "SELECT id FROM x", false),
            answer(session, "SELECT id FROM f", false),
        );
        if found != expected || x != f {
            failures.push(format!(
                "seed {seed}: change {round}, {}\n  {sql}\n  expected {f:?} of {before:?}\n  found    {x:?}",
                table.definition()
            ));
            must(session, "DELETE FROM f");
            must(session, "INSERT INTO f SELECT * FROM x");
        }
    }
}

/// Looks at one random table; what it finds different.
fn one_table(session: &mut Session, seed: u64, failures: &mut Vec<String>) {
    let mut random = Random(seed);
    let for_memory = random.one_in(4);
    let table = Table::random(&mut random, for_memory);
    let mut other = Table::random(&mut random, false);
    if random.one_in(2) {
        other.kinds.clone_from(&table.kinds);
    }
    let zone = random.pick(&["SYSTEM", "+00:00", "+05:30", "Europe/Berlin"]);
    must(session, &format!("SET time_zone = '{zone}'"));
    let temporary = if random.one_in(2) { "TEMPORARY " } else { "" };
    let engine = if for_memory { " ENGINE = MEMORY" } else { "" };
    if let Err(error) = rows(
        session,
        &format!("CREATE {temporary}TABLE x {}{engine}", table.definition()),
    ) {
        failures.push(format!("seed {seed}: {}: {error}", table.definition()));
        return;
    }
    must(
        session,
        &format!("CREATE {temporary}TABLE u ({})", other.columns()),
    );
    must(
        session,
        &format!("CREATE {temporary}TABLE f ({})", table.columns()),
    );
    let count = 5 + random.below(60);
    fill(session, "x", &table, count, &mut random);
    fill(session, "u", &other, 12, &mut random);
    must(session, "INSERT INTO f SELECT * FROM x");
    if random.one_in(2) {
        must(session, "ANALYZE TABLE x");
    }
    change(session, seed, &table, &mut random, failures);
    for _ in 0..40 {
        let (statement, ordered) = table.statement(&other, &mut random);
        let expected = answer(session, &statement.replace("{t}", "f AS t"), ordered);
        let all = table.key_names().join(", ");
        let mut ways = vec![
            "x AS t".to_owned(),
            format!("x AS t IGNORE INDEX ({all})"),
            format!("x AS t FORCE INDEX ({all})"),
        ];
        let merging = statement.replacen("SELECT", "SELECT /*+ INDEX_MERGE(t) */", 1);
        for name in table.key_names() {
            ways.push(format!("x AS t FORCE INDEX ({name})"));
        }
        let mut all_ways: Vec<String> = ways
            .iter()
            .map(|way| statement.replace("{t}", way))
            .collect();
        all_ways.push(merging.replace("{t}", "x AS t"));
        for sql in all_ways {
            let found = answer(session, &sql, ordered);
            if found != expected {
                let plan = answer(session, &format!("EXPLAIN FORMAT=TREE {sql}"), true);
                failures.push(format!(
                    "seed {seed}: {zone} {temporary}{}{engine}\n  {sql}\n  expected {expected:?}\n  found    {found:?}\n  {}",
                    table.definition(),
                    plan.join("\n").replace("\\n", "\n  "),
                ));
                break;
            }
        }
    }
    for name in ["x", "u", "f"] {
        must(session, &format!("DROP {temporary}TABLE {name}"));
    }
}

#[test]
fn an_index_finds_what_the_table_holds() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let seconds = number("MAYFLY_ACCESS_SECONDS").unwrap_or(5);
    let first = number("MAYFLY_ACCESS_SEED").unwrap_or(1);
    let directory = std::env::temp_dir().join(format!("mayfly-access-{}", std::process::id()));
    let fixture = Fixture::open(|options| {
        options.datadir = Some(directory.clone());
        options.batch_size = 7;
    });
    let mut session = fixture.database.session();
    must(
        &mut session,
        "SET GLOBAL innodb_flush_log_at_trx_commit = 0",
    );
    must(&mut session, "SET sql_mode = ''");
    must(&mut session, "CREATE DATABASE access");
    must(&mut session, "USE access");
    let begun = Instant::now();
    let mut failures = Vec::new();
    let mut tables = 0;
    while begun.elapsed() < Duration::from_secs(seconds) && failures.len() < 25 {
        one_table(&mut session, first + tables, &mut failures);
        tables += 1;
    }
    drop(session);
    fixture.finish();
    let _ = std::fs::remove_dir_all(&directory);
    println!("{tables} tables");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
