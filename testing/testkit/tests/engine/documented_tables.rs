//! The tables of `docs/temporary-tables.md` whose statements can be run: operations and their outcome, features, and
//! operators that overflow at each limit.

use mayfly_engine::Session;
use mayfly_testkit::corpus;
use mayfly_testkit::fixture::{Errno, Fixture, SessionExt};

/// The rows of the table below a heading, without its head.
fn table(heading: &str) -> Vec<Vec<String>> {
    let path = corpus::root().join("docs/temporary-tables.md");
    let page = std::fs::read_to_string(path).expect("the page is in the repository");
    let heading = format!("## {heading}\n");
    let (_, section) = page.split_once(&heading).expect("the page has the section");
    let lines = section.lines().skip_while(|line| !line.starts_with('|'));
    let lines = lines.take_while(|line| line.starts_with('|')).skip(2);
    let cells = |line: &str| {
        let cells = line.trim_matches('|').split(" | ");
        cells
            .map(|cell| cell.trim().trim_matches('`').to_owned())
            .collect()
    };
    lines.map(cells).collect()
}

fn session(fixture: &Fixture) -> Session {
    let mut session = fixture.session();
    session.must("CREATE DATABASE d; USE d");
    session
}

#[test]
fn operations_have_their_outcome() {
    let fixture = Fixture::open(|_| {});
    let mut session = session(&fixture);
    session.must("CREATE TABLE base (id INT PRIMARY KEY)");
    let operations = table("Operations");
    assert!(operations.len() >= 20);
    for row in &operations {
        let [operation, statement, outcome] = row.as_slice() else {
            panic!("{row:?}");
        };
        let errno = session.errno(statement);
        let found = if errno == 0 {
            "allowed".to_owned()
        } else {
            format!("error {errno}")
        };
        assert_eq!(found, *outcome, "{operation}: {statement}");
    }
}

#[test]
fn features_can_be_tried() {
    let fixture = Fixture::open(|options| options.allow_tmp_debug = true);
    let mut session = session(&fixture);
    session
        .must("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40)); INSERT INTO t VALUES (1, 'x')");
    let features = table("What no other system has");
    assert_eq!(features.len(), 14);
    for row in &features {
        let [_, feature, statement] = row.as_slice() else {
            panic!("{row:?}");
        };
        if !statement.starts_with("mayfly ") {
            assert_eq!(session.errno(statement), 0, "{feature}: {statement}");
        }
    }
}

#[test]
fn operators_overflow() {
    let fixture = Fixture::open(|_| {});
    let mut session = session(&fixture);
    session.must(
        "SET cte_max_recursion_depth = 100000; CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40)); INSERT INTO t \
         WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i, SHA1(i) FROM n",
    );
    let written = |session: &mut Session| -> u64 {
        let row = session.value("SHOW SESSION STATUS LIKE 'Tmp_bytes_overflowed'");
        row.split_once('\t')
            .map_or(0, |(_, bytes)| bytes.parse().expect("a number"))
    };
    for row in table("Which operators overflow") {
        let [operator, statement, limits] = row.as_slice() else {
            panic!("{row:?}");
        };
        session.must("SET tmp_table_size = DEFAULT");
        let expected = session.must(statement);
        for limit in limits.split(", ") {
            let kibibytes: u64 = limit.trim_end_matches('K').parse().expect("a size");
            session.must(&format!("SET tmp_table_size = {}", kibibytes << 10));
            let before = written(&mut session);
            assert_eq!(session.must(statement), expected, "{operator} at {limit}");
            assert!(
                written(&mut session) > before,
                "{operator} does not overflow at {limit}"
            );
        }
    }
}

/// The planner knows the rows of a table that was loaded in bulk.
#[test]
fn estimates_follow_a_load() {
    let fixture = Fixture::open(|_| {});
    let mut session = session(&fixture);
    session.must(
        "SET cte_max_recursion_depth = 100000; CREATE TEMPORARY TABLE big (id INT, a INT, KEY (a)); \
         CREATE TEMPORARY TABLE small (a INT, KEY (a)); INSERT INTO small VALUES (1), (2)",
    );
    let explain = "EXPLAIN FORMAT=TRADITIONAL SELECT COUNT(*) FROM big JOIN small USING (a)";
    session.must(explain);
    session.must(
        "INSERT INTO big WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n WHERE i < 50000) SELECT i, i % 25000 FROM n",
    );
    let rows = session.must(explain);
    // The small table is read first, and the large one by its index.
    let first: Vec<&str> = rows[0].split('\t').collect();
    let second: Vec<&str> = rows[1].split('\t').collect();
    assert_eq!((first[2], second[2]), ("small", "big"), "{rows:?}");
    let estimated: u64 = second[9].parse().expect("a number");
    assert!((1..=4).contains(&estimated), "{rows:?}");
    assert_eq!(
        session.must("SELECT COUNT(*) FROM big JOIN small USING (a)"),
        ["4"]
    );
    // After the load, single rows, deletions and a rollback find their entries.
    session.must("BEGIN; INSERT INTO big VALUES (50001, 7); DELETE FROM big WHERE a = 8; ROLLBACK");
    assert_eq!(
        session.must("SELECT COUNT(*) FROM big WHERE a BETWEEN 7 AND 8"),
        ["4"]
    );
    session.must("DROP TEMPORARY TABLE big, small");
}

/// A load that fails is undone, whatever it has added, and the table can be loaded again.
#[test]
fn a_load_that_fails_leaves_an_empty_table() {
    let fixture = Fixture::open(|_| {});
    let mut session = session(&fixture);
    session.must(
        "SET cte_max_recursion_depth = 100000; CREATE TEMPORARY TABLE u (id INT PRIMARY KEY, a INT, KEY (a)); \
         CREATE TABLE n WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i FROM n",
    );
    assert_eq!(
        session.errno("INSERT INTO u SELECT i % 19999, i FROM n"),
        1062
    );
    assert_eq!(session.must("SELECT COUNT(*) FROM u WHERE a > 0"), ["0"]);
    session.must("INSERT INTO u SELECT i % 15000, i FROM n ON DUPLICATE KEY UPDATE a = -VALUES(a)");
    assert_eq!(session.must("SELECT COUNT(*) FROM u WHERE a < 0"), ["5000"]);
    session.must("TRUNCATE TABLE u; REPLACE INTO u SELECT i % 15000, i FROM n");
    assert_eq!(
        session.must("SELECT COUNT(*), MIN(a) FROM u WHERE a > 0"),
        ["15000\t5001"]
    );
    session.must("BEGIN; DELETE FROM u; INSERT INTO u SELECT i, -i FROM n; ROLLBACK");
    assert_eq!(
        session.must("SELECT COUNT(*) FROM u WHERE a > 0"),
        ["15000"]
    );
    session.must("DROP TEMPORARY TABLE u");
}
