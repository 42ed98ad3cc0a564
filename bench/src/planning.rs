//! Planning times of statements that are parsed and planned, and never run.
//!
//! The statements are article 1's, TPC-H's, and joins of many tables in four shapes. Statistics of the tables are
//! sampled before anything is timed, as the engine caches them. `Session::prepare` plans a statement for the column
//! metadata that it sends to the client, and parses it first: parsing is timed separately, too, and subtracted.

use std::fmt::Write as _;
use std::time::Instant;

use mayfly_engine::Session;
use mayfly_syntax::ParseOptions;

const TPCH_TABLES: &str = include_str!("../planning/tpch.sql");
const TPCH: &str = include_str!("../reports/tpch.sql");
/// Least time in seconds, and least number of runs, of a measurement.
const SECONDS: f64 = 0.4;
const ROUNDS_MIN: usize = 5;

/// Times all statements; without TPC-H's tables in the data directory, small ones are created.
pub(crate) fn all(session: &mut Session, article: &[&str; 3]) {
    for sql in &article[..2] {
        session.execute(sql).expect("the article's table is made");
    }
    planned(session, "article 1, derived table", article[2]);
    if session.execute("SELECT 1 FROM lineitem LIMIT 1").is_err() {
        session
            .execute(TPCH_TABLES)
            .expect("TPC-H's tables are made");
    }
    let mut times = Vec::new();
    for (name, sql) in reports(TPCH) {
        times.push(planned(session, &format!("TPC-H {name}"), sql));
    }
    times.sort_by(f64::total_cmp);
    println!("TPC-H's median: {:.1} µs", times[times.len() / 2]);
    for tables in [20, 60] {
        make_tables(session, tables);
        for (shape, sql) in shapes(tables) {
            planned(session, &format!("{shape} of {tables} tables"), &sql);
        }
    }
}

/// The median time of a plan in microseconds.
fn planned(session: &mut Session, name: &str, sql: &str) -> f64 {
    let options = ParseOptions::MYSQL_DEFAULT;
    let parse = median(&mut || {
        mayfly_syntax::parse_one(sql, &options).expect("the statement is right");
    });
    let mut plan = || drop(session.prepare(sql).expect("the statement is planned"));
    let start = Instant::now();
    plan();
    let first = start.elapsed().as_secs_f64() * 1e6;
    let both = median(&mut plan);
    let plan = both - parse;
    println!(
        "{name}: planned in {plan:.1} µs; parsed in {parse:.1} µs; the first time both took {first:.1} µs"
    );
    plan
}

fn median(run: &mut dyn FnMut()) -> f64 {
    let begin = Instant::now();
    let mut times = Vec::new();
    while times.len() < ROUNDS_MIN || begin.elapsed().as_secs_f64() < SECONDS {
        let start = Instant::now();
        run();
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The statements of a file of reports, each under its `-- name: …`.
fn reports(file: &str) -> impl Iterator<Item = (&str, &str)> {
    file.split("\n-- ").skip(1).filter_map(|part| {
        let (heading, sql) = part.split_once('\n')?;
        let (name, _) = heading.split_once(':')?;
        Some((name, sql.trim().trim_end_matches(';')))
    })
}

/// Creates tables `t0`, `t1`, … of different sizes, with a key and columns that reference others.
fn make_tables(session: &mut Session, count: usize) {
    for number in 0..count {
        let rows = 100 + number * 37 % 900;
        let sql = format!(
            "CREATE TABLE IF NOT EXISTS t{number} (id INT PRIMARY KEY, next INT, hub INT, other INT, KEY (next)); \
             REPLACE INTO t{number} WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) \
             SELECT i, i * 7 MOD 100, i * 11 MOD 50, i * 13 MOD 90 FROM n"
        );
        session.execute(&sql).expect("a table is made");
    }
}

/// (table, column, table, column): an equality between columns of two tables.
type Equality = (usize, &'static str, usize, &'static str);

/// Joins of `tables` tables: the pairs with a condition.
fn shapes(tables: usize) -> Vec<(&'static str, String)> {
    let chain = (1..tables).map(|to| (to - 1, "next", to, "id"));
    let chain: Vec<_> = chain.collect();
    let star = (1..tables).map(|to| (0, "hub", to, "id")).collect();
    // The columns differ, so that the hub is not the only table that leads to the others.
    let star_by_rows = (1..tables).map(|to| (0, "id", to, "next")).collect();
    let mut cycle = chain.clone();
    cycle.push((tables - 1, "next", 0, "id"));
    let pairs = (1..tables).flat_map(|to| (0..to).map(move |from| (from, "other", to, "hub")));
    let list: Vec<(&'static str, Vec<Equality>)> = vec![
        ("chain", chain),
        ("star of lookups", star),
        ("star of rows", star_by_rows),
        ("cycle", cycle),
        ("clique", pairs.collect()),
    ];
    let joined = |(shape, conditions): (&'static str, Vec<Equality>)| {
        let mut sql = "SELECT COUNT(*) FROM t0".to_owned();
        (1..tables).for_each(|table| write!(sql, ", t{table}").expect("a text has room"));
        for (number, (from, a, to, b)) in conditions.into_iter().enumerate() {
            let word = if number == 0 { "WHERE" } else { "AND" };
            write!(sql, " {word} t{from}.{a} = t{to}.{b}").expect("a text has room");
        }
        (shape, sql)
    };
    list.into_iter().map(joined).collect()
}
