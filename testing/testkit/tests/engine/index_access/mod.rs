//! Index access finds the same rows as a table scan: the same random statements over a table with random keys and over
//! the same rows without any. Random types, collations, prefixes and directions; constants of any type; as user
//! temporary tables, durable ones and MEMORY tables, read and changed.

mod kinds;
mod statements;
mod table;

use mayfly_engine::Session;
use mayfly_testkit::fixture::{DataDirectory, Fixture, SessionExt};
use mayfly_trials::{Random, Trials};

use table::Table;

fn fill(session: &mut Session, name: &str, table: &Table, count: usize, random: &mut Random) {
    for id in 0..count {
        let values: Vec<String> = (0..table.kinds.len())
            .map(|column| table.value(column, random))
            .collect();
        let _ = session.rows(&format!(
            "INSERT IGNORE INTO {name} VALUES ({id}, {})",
            values.join(", ")
        ));
    }
}

/// The rows, or the error number; in order only where that is defined.
fn answer(session: &mut Session, sql: &str, ordered: bool) -> Vec<String> {
    match session.rows(sql) {
        Ok(mut rows) => {
            if !ordered {
                rows.sort();
            }
            rows
        }
        Err(error) => vec![format!("error {}", error.errno())],
    }
}

/// Changes rows that are found by an index, and the same rows without one.
fn change(
    session: &mut Session,
    seed: u64,
    table: &Table,
    random: &mut Random,
    failures: &mut Vec<String>,
) {
    for round in 0..4 {
        let condition = table.condition("t.", 1, random);
        let changed = if random.one_in(3) {
            format!("DELETE t FROM {{t}} WHERE {condition}")
        } else {
            format!("UPDATE {{t}} SET id = id + 1000 WHERE {condition}")
        };
        let mut way = "x AS t".to_owned();
        if random.one_in(2) {
            way += &format!(" FORCE INDEX ({})", table.key_names().join(", "));
        }
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
            session.must("DELETE FROM f");
            session.must("INSERT INTO f SELECT * FROM x");
        }
    }
}

/// Tests one random table; appends the differences.
fn one_table(session: &mut Session, seed: u64, failures: &mut Vec<String>) {
    let mut random = Random(seed);
    let for_memory = random.one_in(4);
    let table = Table::random(&mut random, for_memory);
    let mut other = Table::random(&mut random, false);
    if random.one_in(2) {
        other.kinds.clone_from(&table.kinds);
    }
    let zone = random.pick(&["SYSTEM", "+00:00", "+05:30", "Europe/Berlin"]);
    session.must(&format!("SET time_zone = '{zone}'"));
    let temporary = if random.one_in(2) { "TEMPORARY " } else { "" };
    let engine = if for_memory { " ENGINE = MEMORY" } else { "" };
    if let Err(error) = session.rows(&format!(
        "CREATE {temporary}TABLE x {}{engine}",
        table.definition()
    )) {
        failures.push(format!("seed {seed}: {}: {error}", table.definition()));
        return;
    }
    session.must(&format!("CREATE {temporary}TABLE u ({})", other.columns()));
    session.must(&format!("CREATE {temporary}TABLE f ({})", table.columns()));
    let count = 5 + random.below(60);
    fill(session, "x", &table, count, &mut random);
    fill(session, "u", &other, 12, &mut random);
    session.must("INSERT INTO f SELECT * FROM x");
    if random.one_in(2) {
        session.must("ANALYZE TABLE x");
    }
    change(session, seed, &table, &mut random, failures);
    for _ in 0..40 {
        let statement = table.statement(&other, &mut random);
        let ordered = statement.contains(" ORDER BY ");
        let expected = answer(session, &statement.replace("{t}", "f AS t"), ordered);
        let all = table.key_names().join(", ");
        let mut hints = vec![
            String::new(),
            format!(" IGNORE INDEX ({all})"),
            format!(" FORCE INDEX ({all})"),
        ];
        let names = table.key_names().into_iter();
        hints.extend(names.map(|name| format!(" FORCE INDEX ({name})")));
        let merging = statement.replacen("SELECT", "SELECT /*+ INDEX_MERGE(t) */", 1);
        let hinted = hints
            .iter()
            .map(|hint| statement.replace("{t}", &format!("x AS t{hint}")));
        for sql in hinted.chain([merging.replace("{t}", "x AS t")]) {
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
        session.must(&format!("DROP {temporary}TABLE {name}"));
    }
}

#[test]
fn an_index_finds_what_the_table_holds() {
    let trials = Trials::of("index_access");
    let directory = DataDirectory::new("access");
    let fixture = Fixture::open(|options| {
        options.datadir = Some(directory.path().to_owned());
        options.batch_size = 7;
    });
    let mut session = fixture.session();
    session.must("SET GLOBAL innodb_flush_log_at_trx_commit = 0");
    session.must("SET sql_mode = ''");
    session.must("CREATE DATABASE access");
    session.must("USE access");
    let mut failures = Vec::new();
    for seed in trials {
        one_table(&mut session, seed, &mut failures);
        if failures.len() >= 25 {
            break;
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
