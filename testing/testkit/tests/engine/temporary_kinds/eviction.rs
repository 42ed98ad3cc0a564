//! Kept results under pressure: those that are worth least go first, whether a new result or a statement wants the memory.

use mayfly_engine::{Defaults, Session};
use mayfly_testkit::fixture::{Fixture, SessionExt, variables};

/// Rows of the table; a result of half of them takes about 3 MB.
const ROWS: u32 = 50_000;
const SMALL: &str = "SELECT /*+ RESULT_CACHE(1h) */ COUNT(*), MAX(s) FROM big WHERE s LIKE '%7%'";

fn large(first: u32) -> String {
    format!("SELECT /*+ RESULT_CACHE(1h) */ a, s FROM big WHERE a > {first} ORDER BY a LIMIT 25000")
}

fn hits(session: &mut Session) -> u64 {
    counter(session, "Result_cache_hits")
}

fn counter(session: &mut Session, name: &str) -> u64 {
    let sql = format!(
        "SELECT variable_value FROM performance_schema.global_status WHERE variable_name = '{name}'"
    );
    session.must(&sql)[0].parse().unwrap()
}

/// Whether a statement is answered from the cache.
fn is_kept(session: &mut Session, sql: &str) -> bool {
    let before = hits(session);
    session.must(sql);
    hits(session) > before
}

fn filled() -> (Fixture, Session) {
    let fixture = Fixture::open(|options| {
        options.defaults = Defaults::Embedded;
        options.memory_limit = Some(48 << 20);
        options.variables = variables(&[("result_cache_size", "8388608")]);
    });
    let mut session = fixture.session();
    session.must("USE test");
    session.must("SET cte_max_recursion_depth = 100000");
    session.must("CREATE TABLE big (a INT PRIMARY KEY, s VARCHAR(100))");
    session.must(&format!(
        "INSERT INTO big WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < {ROWS}) \
         SELECT n, CONCAT(MD5(n), MD5(n + 1), MD5(n + 2)) FROM r"
    ));
    (fixture, session)
}

#[test]
fn a_new_result_takes_the_place_of_those_that_are_worth_less() {
    let (_fixture, mut session) = filled();
    session.must(SMALL);
    session.must(&large(0));
    for _ in 0..20 {
        assert!(is_kept(&mut session, SMALL) && is_kept(&mut session, &large(0)));
    }
    // Each of these needs the room of another: that of a row, and that which was read twenty times, stay.
    for first in 1..12 {
        session.must(&large(first));
    }
    assert!(is_kept(&mut session, SMALL), "a row that is read often");
    assert!(is_kept(&mut session, &large(0)), "rows that are read often");
    assert!(counter(&mut session, "Result_cache_bytes") <= 8 << 20);
}

#[test]
fn a_statement_that_needs_memory_gets_that_of_the_results_that_are_worth_least() {
    let (_fixture, mut session) = filled();
    session.must(SMALL);
    session.must(&large(0));
    assert!(is_kept(&mut session, SMALL) && is_kept(&mut session, &large(0)));
    let before = counter(&mut session, "Result_cache_evicted");
    // Its share of the memory would send the statement to disk before all memory is used.
    session.must("SET tmp_table_size = 1073741824");
    session.must(
        "SELECT COUNT(*) FROM (SELECT DISTINCT x.s, y.a FROM big x JOIN big y ON y.a <= 60) d",
    );
    assert!(counter(&mut session, "Result_cache_evicted") > before);
    assert!(!is_kept(&mut session, &large(0)), "the large one went");
}
