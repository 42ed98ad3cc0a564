//! `--memory-limit` holds for the process, not only for the budgets: statements that need much memory either work
//! within it or end with an error that names the limit. The heap is measured as the kernel counts it (RssAnon: without
//! the pages of mapped files, which are its cache).
//!
//! A seed selects a fifth of the cases; `MAYFLY_LIMITS=full` runs all, with millions of rows.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use mayfly_trials::Draw;

/// The memory limit of the program.
const LIMIT: &str = "64M";
/// Greatest memory of the process in KiB: the limit, data of the code, threads, batches in flight, and the allocator's
/// slack.
const MOST_KIB: u64 = (64 + 48) << 10;
/// Greatest time of a statement.
const PATIENCE: Duration = Duration::from_secs(900);

/// A case: a statement with the tables that it needs.
struct Case {
    name: &'static str,
    sql: String,
}

fn is_full() -> bool {
    std::env::var("MAYFLY_LIMITS").is_ok_and(|value| value == "full")
}

/// A number of rows, which is smaller unless `MAYFLY_LIMITS=full`.
fn of(full: usize, usual: usize) -> usize {
    if is_full() { full } else { usual }
}

fn numbers(rows: usize) -> String {
    format!(
        "(WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < {rows}) SELECT n FROM r) AS numbers"
    )
}

fn filled(kind: &str, table: &str, rows: usize) -> String {
    format!(
        "CREATE {kind} TABLE {table} (n INT, c VARCHAR(60)); \
         INSERT INTO {table} SELECT n, SHA1(n) FROM {}; ",
        numbers(rows)
    )
}

fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(",")
}

fn many(count: usize, statement: impl Fn(usize) -> String) -> String {
    (0..count).map(statement).collect()
}

fn cases() -> Vec<Case> {
    let case = |name, sql: String| Case { name, sql };
    let temporary = |rows| filled("TEMPORARY", "t", rows);
    let durable = |rows| {
        format!(
            "CREATE TABLE t (n INT PRIMARY KEY, c VARCHAR(60)); \
             INSERT INTO t SELECT n, SHA1(n) FROM {}; ",
            numbers(rows)
        )
    };
    let wide = of(120, 40);
    let long = "REPEAT('a', n * 0 + 10000000)";
    let rows = of(5_000_000, 200_000);
    let literals = of(1_000_000, 200_000);
    let concat = "SET group_concat_max_len = 1000000000; ";
    vec![
        case("nothing", "SELECT 1".into()),
        case(
            "REPEAT in a derived table",
            format!(
                "SELECT SUM(LENGTH(a)) FROM (SELECT {long} AS a FROM {}) AS d",
                numbers(wide)
            ),
        ),
        case(
            "REPEAT in an aggregate",
            format!("SELECT SUM(LENGTH({long})) FROM {}", numbers(wide)),
        ),
        case(
            "REPEAT in WHERE",
            format!(
                "SELECT COUNT(*) FROM {} WHERE {long} LIKE '%b%'",
                numbers(wide)
            ),
        ),
        case(
            "REPEAT as result",
            format!("SELECT {long} FROM {}", numbers(wide)),
        ),
        case(
            "CAST in an aggregate",
            format!(
                "SELECT SUM(LENGTH(CAST(n AS BINARY(10000000)))) FROM {}",
                numbers(wide)
            ),
        ),
        case(
            "CASE as result",
            format!(
                "SELECT CASE WHEN n % 2 THEN {long} ELSE REPEAT('b', n * 0 + 10000000) END FROM {}",
                numbers(wide)
            ),
        ),
        case(
            "CAST and CASE in a derived table",
            format!(
                "SELECT MAX(a), COUNT(*) FROM (SELECT CASE WHEN n % 2 THEN CAST(n AS BINARY(10000000)) \
                 ELSE CAST(-n AS BINARY(10000000)) END AS a FROM {}) AS d",
                numbers(wide)
            ),
        ),
        case(
            "REPEAT of one row",
            "SELECT LENGTH(REPEAT('a', 60000000))".into(),
        ),
        case(
            "nested long strings",
            "SELECT LENGTH(TO_BASE64(CONCAT(REPEAT('a', 30000000), REPEAT('b', 20000000))))".into(),
        ),
        case(
            "EXPORT_SET",
            format!(
                "SELECT SUM(LENGTH(EXPORT_SET(n, REPEAT('a', 100000), 'b'))) FROM {}",
                numbers(of(2000, 200))
            ),
        ),
        case(
            "wide GROUP BY",
            temporary(of(300_000, 100_000))
                + "SELECT COUNT(*) FROM (SELECT CONCAT(REPEAT(c, 10), n) AS k, COUNT(*) FROM t GROUP BY k) AS g",
        ),
        case(
            "GROUP BY of many groups",
            format!(
                "SELECT COUNT(*) FROM (SELECT n % {} AS k, SUM(n), AVG(n), MIN(n), MAX(n) FROM {} GROUP BY k) AS g",
                rows / 2,
                numbers(rows)
            ),
        ),
        case(
            "UNION",
            durable(rows)
                + "SELECT COUNT(*) FROM (SELECT n, c FROM t UNION SELECT n + 1, c FROM t) AS u",
        ),
        case(
            "ORDER BY",
            temporary(rows) + &format!("SELECT n, c FROM t ORDER BY c LIMIT 1 OFFSET {}", rows - 1),
        ),
        case(
            "GROUP_CONCAT of one group",
            format!(
                "{concat}SELECT LENGTH(GROUP_CONCAT(REPEAT('a', 1000))) FROM {}",
                numbers(80_000)
            ),
        ),
        case(
            "GROUP_CONCAT of groups",
            format!(
                "{concat}SELECT SUM(LENGTH(g)) FROM (SELECT GROUP_CONCAT(SHA2(n, 512)) AS g FROM {} GROUP BY n % 1000) AS d",
                numbers(of(1_000_000, 300_000))
            ),
        ),
        case(
            "JSON_ARRAYAGG",
            format!(
                "SELECT LENGTH(JSON_ARRAYAGG(REPEAT('a', 1000))) FROM {}",
                numbers(66_000)
            ),
        ),
        case(
            "a cache of subqueries",
            temporary(of(20_000, 5000))
                + "SELECT SUM(LENGTH((SELECT REPEAT('x', 50000 + t.n)))) FROM t",
        ),
        case(
            "IN of numbers",
            format!("SELECT 5 IN ({})", list(literals, |n| n.to_string())),
        ),
        case(
            "IN of strings",
            format!("SELECT 'x' IN ({})", list(literals, |n| format!("'s{n}'"))),
        ),
        case(
            "VALUES",
            format!(
                "SELECT COUNT(*) FROM (VALUES {}) AS v",
                list(literals, |n| format!("ROW({n})"))
            ),
        ),
        case(
            "INSERT of rows",
            "CREATE TABLE v (a INT, b VARCHAR(20)); INSERT INTO v VALUES ".to_owned()
                + &list(40_000, |n| format!("({n}, 'abc{n}')")),
        ),
        case("a load into a temporary table", temporary(rows)),
        case("a load into a durable table", durable(rows)),
        case(
            "LOAD DATA",
            format!(
                "SELECT n, SHA1(n) FROM {} INTO OUTFILE '{{TMP}}/rows.tsv'; \
                 CREATE TABLE l (n INT PRIMARY KEY, c VARCHAR(60)); LOAD DATA INFILE '{{TMP}}/rows.tsv' INTO TABLE l; \
                 CREATE TEMPORARY TABLE lt (n INT PRIMARY KEY, c VARCHAR(60), KEY (c)); \
                 LOAD DATA INFILE '{{TMP}}/rows.tsv' INTO TABLE lt",
                numbers(rows / 4)
            ),
        ),
        case(
            "a load into a MEMORY table",
            "SET max_heap_table_size = 1000000000; ".to_owned()
                + &format!(
                    "CREATE TABLE m (n INT, c VARCHAR(60)) ENGINE=MEMORY; INSERT INTO m SELECT n, SHA1(n) FROM {}",
                    numbers(1_000_000)
                ),
        ),
        case(
            "UPDATE in a transaction",
            durable(rows) + "BEGIN; UPDATE t SET c = CONCAT(c, 'x'); COMMIT",
        ),
        case(
            "DELETE in a transaction",
            durable(rows) + "BEGIN; DELETE FROM t; COMMIT",
        ),
        case(
            "INSERT in a transaction",
            format!(
                "CREATE TABLE w (n INT PRIMARY KEY, c VARCHAR(60)); INSERT INTO w VALUES (-1, ''); {}\
                 BEGIN; INSERT INTO w SELECT * FROM t; COMMIT",
                durable(rows)
            ),
        ),
        case(
            "temporary tables",
            many(of(5000, 2000), |n| {
                format!(
                    "CREATE TEMPORARY TABLE t{n} (a INT, b VARCHAR(100)); INSERT INTO t{n} VALUES (1, REPEAT('x', 100)); "
                )
            }),
        ),
        case(
            "user variables",
            many(30, |n| format!("SET @v{n} = REPEAT('x', 5000000); ")),
        ),
        case(
            "many user variables",
            many(of(100_000, 60_000), |n| {
                format!("SET @v{n} = REPEAT('x', 1000); ")
            }),
        ),
        case(
            "locks by name",
            format!(
                "SELECT SUM(GET_LOCK(CONCAT('l', n), 0)) FROM {}",
                numbers(50_000)
            ),
        ),
        case(
            "warnings",
            format!(
                "SET max_error_count = 65535; SELECT COUNT(CAST(CONCAT('x', n) AS SIGNED)) FROM {}",
                numbers(of(1_000_000, 100_000))
            ),
        ),
        case(
            "prepared statements",
            many(of(16_000, 6000), |n| {
                format!(
                    "PREPARE s{n} FROM 'SELECT {n}, REPEAT(?, 3), (SELECT COUNT(*) FROM information_schema.tables WHERE table_name = ? AND table_schema IN (1, 2, 3, 4, 5, {n}))'; "
                )
            }),
        ),
    ]
}

/// Memory that a process has from the system, in KiB, without the pages of mapped files.
fn anonymous(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
    let status = status.unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Runs a script; returns its peak, and its message when it ended with an error.
fn run(case: &Case) -> (u64, Option<String>) {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("script.sql");
    let sql = format!(
        "SET SESSION cte_max_recursion_depth = 100000000; {};\n",
        case.sql
    );
    let sql = sql.replace("{TMP}", directory.path().to_str().unwrap());
    std::fs::write(&script, sql).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_mayfly"))
        .args(["--memory-limit", LIMIT, "--threads", "2", "-N", "--tmpdir"])
        .arg(directory.path())
        .arg("--datadir")
        .arg(directory.path().join("data"))
        .arg(&script)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = child.stdout.take().unwrap();
    let drained = thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
    // Warnings go to standard error, and may be more than a pipe holds.
    let mut stderr = child.stderr.take().unwrap();
    let errors = thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).map(|_| text)
    });
    let begun = Instant::now();
    let mut peak = 0;
    let status = loop {
        peak = peak.max(anonymous(&child));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
        }
        thread::sleep(Duration::from_millis(2));
    };
    drained.join().unwrap().unwrap();
    let errors = errors.join().unwrap().unwrap();
    (peak, (!status.success()).then_some(errors))
}

#[test]
fn the_process_stays_below_its_limit() {
    let mut wrong = Vec::new();
    println!("{:<32} {:>9}  outcome", "statement", "peak KiB");
    let draw = if is_full() {
        Draw::all()
    } else {
        Draw::of("limits")
    };
    let cases = (0..).zip(cases()).filter(|(number, _)| draw.has(*number));
    for (_, case) in cases {
        let (peak, error) = run(&case);
        let names_limit = error.as_ref().is_none_or(|error| {
            ["memory_limit", "max_heap_table_size"]
                .iter()
                .any(|limit| error.contains(limit))
        });
        let outcome = error.as_deref().and_then(|error| error.lines().next());
        println!("{:<32} {peak:>9}  {}", case.name, outcome.unwrap_or("done"));
        if peak > MOST_KIB {
            wrong.push(format!("{}: {peak} KiB", case.name));
        }
        if !names_limit {
            wrong.push(format!("{}: {}", case.name, outcome.unwrap_or_default()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
