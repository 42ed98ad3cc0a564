//! Adaptive joins: a lookup join of more rows than were estimated goes on as a hash join, with the rows that lookups
//! alone give.
//!
//! A test mode makes every such join change after its first lookups, so that small tables show it.

use mayfly_engine::Session;
use mayfly_testkit::fixture::{Fixture, SessionExt};

/// Cause of the hash table in EXPLAIN ANALYZE.
const CAUSE: &str = "hash join instead of further lookups";

/// Rows of `child`, each of which leads to a row of `parent`, to none, or has no key.
const ROWS: u32 = 300;

/// A session of a database without tables.
fn opened(is_changed: bool, threads: usize, batch_size: usize) -> (Fixture, Session) {
    let fixture = Fixture::open(|options| {
        options.all_rewrites = is_changed;
        options.threads = threads;
        options.parallel_rows_min = 1;
        options.batch_size = batch_size;
    });
    let mut session = fixture.session();
    session.must("SET SESSION cte_max_recursion_depth = 1000000");
    (fixture, session)
}

fn session(is_changed: bool, threads: usize, temporary: Option<u64>) -> (Fixture, Session) {
    let (fixture, mut session) = opened(is_changed, threads, 64);
    session.must("CREATE TABLE parent (id BIGINT PRIMARY KEY, name VARCHAR(40), n INT)");
    session.must("CREATE TABLE named (name VARCHAR(40) PRIMARY KEY, n INT)");
    session.must("CREATE TABLE child (id INT PRIMARY KEY, parent INT, name VARCHAR(40))");
    let rows = "WITH RECURSIVE r (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r WHERE n < ";
    session.must(&format!(
        "INSERT INTO parent {rows} 29999) SELECT n, CONCAT('Parent ', n), n % 7 FROM r"
    ));
    session.must("INSERT INTO named SELECT name, n FROM parent WHERE id % 3 = 0");
    session.must(&format!(
        "INSERT INTO child {rows} {ROWS}) SELECT n, IF(n % 11 = 0, NULL, n * 1700 % 40000), CONCAT('PARENT ', n * 1300 % 50000) FROM r"
    ));
    if let Some(bytes) = temporary {
        session.must(&format!("SET SESSION tmp_table_size = {bytes}"));
    }
    (fixture, session)
}

/// Statements whose joins look up single rows, in each kind of join, by integers and by texts of another case.
const STATEMENTS: [&str; 9] = [
    "SELECT child.id, parent.name, parent.n FROM child JOIN parent ON parent.id = child.parent",
    "SELECT child.id, parent.name FROM child LEFT JOIN parent ON parent.id = child.parent AND parent.n < 3",
    "SELECT child.id FROM child WHERE EXISTS (SELECT 1 FROM parent WHERE parent.id = child.parent AND parent.n > 2)",
    "SELECT child.id FROM child WHERE NOT EXISTS (SELECT 1 FROM parent WHERE parent.id = child.parent AND parent.n = 1)",
    "SELECT child.id, named.n FROM child JOIN named ON named.name = child.name",
    "SELECT child.id, named.name FROM child LEFT JOIN named ON named.name = child.name AND named.n <> child.id % 5",
    "SELECT parent.n, COUNT(*), SUM(child.id) FROM child JOIN parent ON parent.id = child.parent GROUP BY parent.n",
    "SELECT child.id, parent.n FROM child JOIN parent ON parent.id = child.parent ORDER BY child.id LIMIT 200",
    "SELECT child.id, parent.n FROM child JOIN parent ON parent.id = child.parent + 1 WHERE parent.n + child.id % 2 > 3",
];

/// Statement that takes lookups: the left table stands first, and the right one may not be scanned.
fn looking_up(sql: &str) -> String {
    sql.replacen("SELECT", "SELECT STRAIGHT_JOIN", 1)
}

fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort_unstable();
    rows
}

#[test]
fn the_rows_are_those_of_lookups() {
    let (_plain_fixture, mut plain) = session(false, 1, None);
    for threads in [1, 3] {
        let (_fixture, mut changed) = session(true, threads, None);
        let mut made = 0;
        for sql in STATEMENTS.map(looking_up) {
            let expected = sorted(plain.must(&sql));
            assert!(!expected.is_empty(), "{sql}");
            assert_eq!(
                sorted(changed.must(&sql)),
                expected,
                "{threads} threads: {sql}"
            );
            let explained = changed.must(&format!("EXPLAIN ANALYZE {sql}")).concat();
            made += usize::from(explained.contains(CAUSE));
        }
        assert!(made > 4, "{made} joins have changed with {threads} threads");
    }
}

#[test]
fn a_hash_table_that_does_not_fit_is_given_up() {
    let (_plain_fixture, mut plain) = session(false, 1, None);
    let (_fixture, mut small) = session(true, 1, Some(16 << 10));
    for sql in STATEMENTS.map(looking_up) {
        assert_eq!(sorted(small.must(&sql)), sorted(plain.must(&sql)), "{sql}");
    }
}

/// Rows that a locking statement does not need stay free.
#[test]
fn reads_that_lock_go_on_looking_up() {
    let (fixture, mut locking) = session(true, 1, None);
    locking.must("START TRANSACTION");
    locking.must(
        "UPDATE child STRAIGHT_JOIN parent ON parent.id = child.parent SET child.name = parent.name WHERE child.id < 200",
    );
    // No row of `child` below 200 leads to this one.
    let free = locking.value(
        "SELECT MIN(id) FROM parent WHERE id NOT IN (SELECT parent FROM child WHERE id < 200 AND parent IS NOT NULL)",
    );
    let mut other = fixture.session();
    other.must("SET SESSION innodb_lock_wait_timeout = 1");
    other.must(&format!("UPDATE parent SET n = 100 WHERE id = {free}"));
    locking.must("ROLLBACK");
}

/// Each run of a statement begins with lookups again.
#[test]
fn a_correlated_subquery_begins_again() {
    let sql = "SELECT child.id, (SELECT COUNT(*) FROM child AS c STRAIGHT_JOIN parent ON parent.id = c.parent \
               WHERE c.id % 50 = child.id % 50 AND RAND() >= 0) FROM child WHERE child.id < 60 ORDER BY child.id";
    let (_plain_fixture, mut plain) = session(false, 1, None);
    let (_fixture, mut changed) = session(true, 1, None);
    assert_eq!(changed.must(sql), plain.must(sql));
}

/// A few left rows, each with thousands of right ones, are divided among the threads, and each is looked up once: in
/// every kind of join, with an end before the last row, and where one statement runs after another.
#[test]
fn few_left_rows_are_looked_up_once_each_by_all_threads() {
    let statements = [
        "SELECT few.id, COUNT(*), SUM(many.id) FROM few JOIN many ON many.k = few.id GROUP BY few.id",
        "SELECT few.id, COUNT(many.id) FROM few LEFT JOIN many ON many.k = few.id AND many.id % 3 = 0 GROUP BY few.id",
        "SELECT few.id FROM few WHERE EXISTS (SELECT 1 FROM many WHERE many.k = few.id AND many.id % 5000 = 17)",
        "SELECT COUNT(*) FROM few a JOIN few b ON b.id <= a.id JOIN many ON many.k = b.id",
        "SELECT COUNT(*) FROM (SELECT many.id FROM few JOIN many ON many.k = few.id LIMIT 9000) d",
        "SELECT few.id, many.id FROM few JOIN many ON many.k = few.id ORDER BY many.id DESC LIMIT 5",
    ];
    let answers = [1, 2, 4].map(|threads| {
        let (_fixture, mut session) = opened(false, threads, 256);
        session.must("CREATE TABLE few (id INT PRIMARY KEY)");
        session.must("INSERT INTO few VALUES (1), (2), (3), (4), (5), (6), (7), (77)");
        session.must("CREATE TABLE many (id INT PRIMARY KEY, k INT, v VARCHAR(20), KEY (k))");
        session.must(
            "INSERT INTO many WITH RECURSIVE r (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r WHERE n < 39999) \
             SELECT n, n % 23, CONCAT('v', n) FROM r",
        );
        let mut answers = Vec::new();
        for _ in 0..10 {
            let rows = statements.map(|sql| sorted(session.must(&looking_up(sql))));
            answers.push(rows);
        }
        answers.dedup();
        assert_eq!(answers.len(), 1, "{threads} threads");
        answers.remove(0)
    });
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
    assert_eq!(answers[0][4], ["9000"]);
}
