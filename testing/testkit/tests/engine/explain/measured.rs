//! EXPLAIN ANALYZE and MariaDB's ANALYZE: their rows, loops and temporary tables match the execution.

use mayfly_testkit::fixture::{Fixture, SessionExt};
use serde_json::Value as Json;

use crate::explain::text_of;

fn fixture() -> Fixture {
    let (fixture, mut session) = Fixture::with_session();
    session.must("CREATE TABLE t (id INT PRIMARY KEY, a INT, c INT, KEY (a))");
    session.must("CREATE TABLE g (i INT, c CHAR(50))");
    session.must(
        "INSERT INTO t WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 900)
         SELECT n, n % 100, n % 9 FROM s",
    );
    session.must("INSERT INTO g SELECT id, CONCAT('x', a) FROM t WHERE id <= 30");
    session.must("ANALYZE TABLE t, g");
    fixture
}

/// The lines of a tree without costs and times.
fn tree(fixture: &Fixture, sql: &str) -> Vec<String> {
    let lines = text_of(&mut fixture.session(), &format!("EXPLAIN ANALYZE {sql}"));
    let without = |line: &str| {
        let mut line = line.to_owned();
        for (from, to) in [("  (cost=", ")"), ("actual time=", " "), (" [", "]")] {
            while let Some(at) = line.find(from) {
                let behind = at + from.len();
                let end = line[behind..].find(to);
                let end = end.map_or(line.len(), |end| behind + end + to.len());
                line.replace_range(at..end, "");
            }
        }
        line
    };
    let lines = lines.lines().filter(|line| !line.is_empty());
    lines.map(without).collect()
}

#[test]
fn rows_and_loops_are_those_that_were_seen() {
    let fixture = fixture();
    let group = tree(
        &fixture,
        "SELECT c, COUNT(*) FROM t WHERE a < 50 GROUP BY c",
    );
    assert_eq!(
        group,
        [
            "-> Table scan on <temporary> (rows=9 loops=1)",
            "    -> Aggregate using temporary table (rows=9 loops=1)",
            "        -> Filter: (t.a < 50) (rows=450 loops=1)",
            "            -> Table scan on t (rows=900 loops=1)",
        ]
    );
    let join = tree(&fixture, "SELECT * FROM g JOIN t ON g.i = t.id");
    assert_eq!(
        join,
        [
            "-> Nested loop inner join (rows=30 loops=1)",
            "    -> Table scan on g (rows=30 loops=1)",
            "    -> Single-row index lookup on t using PRIMARY (id = g.i) (rows=1 loops=30)",
        ]
    );
    let subquery = tree(
        &fixture,
        "SELECT (SELECT MAX(c) FROM t WHERE t.id = g.i) FROM g WHERE i <= 4",
    );
    let last = subquery.last().expect("lines");
    assert!(last.ends_with("loops=4)"), "{subquery:#?}");
    let never = tree(
        &fixture,
        "SELECT * FROM g LEFT JOIN t ON g.i = t.a AND t.c = 1 WHERE g.c = 'no'",
    );
    assert!(
        never.iter().any(|line| line.ends_with("(never executed)")),
        "{never:#?}"
    );
}

fn document(fixture: &Fixture, sql: &str) -> Json {
    let mut session = fixture.session();
    session.must("SET explain_json_format_version = 2");
    let text = text_of(&mut session, sql);
    serde_json::from_str(&text).expect("a document")
}

/// The first object below a value that has a member.
fn find<'j>(value: &'j Json, member: &str) -> Option<&'j Json> {
    match value {
        Json::Object(members) => match members.get(member) {
            Some(found) => Some(found),
            None => members.values().find_map(|value| find(value, member)),
        },
        Json::Array(values) => values.iter().find_map(|value| find(value, member)),
        _ => None,
    }
}

#[test]
fn a_table_that_fits_says_so_and_one_that_does_not_names_its_limit() {
    let fixture = fixture();
    let sql = "SELECT id, COUNT(*) FROM t GROUP BY id + 0";
    let sql = sql.replace("SELECT id", "SELECT id + 0");
    let fits = document(&fixture, &format!("EXPLAIN ANALYZE FORMAT=JSON {sql}"));
    let table = find(&fits, "temporary_table").expect("a temporary table");
    assert_eq!(table["purpose"], "GROUP BY");
    assert_eq!(table["fits"], true);
    assert_eq!(table["limit"]["name"], "tmp_table_size");
    assert_eq!(
        (&table["actual_rows"], &table["actual_disk_bytes"]),
        (&900.into(), &0.into())
    );
    assert_eq!(table["actual_disk_tables"], 0);
    // The hint applies to planning and to execution.
    let hinted = sql.replace("SELECT", "SELECT /*+ SET_VAR(tmp_table_size = 1024) */");
    let spills = document(&fixture, &format!("EXPLAIN ANALYZE FORMAT=JSON {hinted}"));
    let table = find(&spills, "temporary_table").expect("a temporary table");
    assert_eq!(table["fits"], false);
    assert_eq!(table["limit"]["bytes"], 1024);
    assert_eq!(table["actual_disk_tables"], 1);
    assert!(table["actual_bytes_written"].as_u64() > Some(0), "{table}");
    assert_eq!(table["actual_limit"]["name"], "tmp_table_size");
    assert_eq!(table["actual_limit"]["bytes"], 1024);
}

#[test]
fn a_few_groups_are_no_more_than_that_under_the_least_limit() {
    let fixture = fixture();
    let sql = "SELECT /*+ SET_VAR(tmp_table_size = 1024) */ COUNT(*), id + 0 FROM t
               GROUP BY id + 0 ORDER BY NULL LIMIT 10";
    let lines = text_of(&mut fixture.session(), &format!("EXPLAIN ANALYZE {sql}"));
    assert!(lines.contains("first 10 group(s)"), "{lines}");
    let document = document(&fixture, &format!("EXPLAIN ANALYZE FORMAT=JSON {sql}"));
    let table = find(&document, "temporary_table").expect("a temporary table");
    // Ten groups, and not all nine hundred.
    assert!(
        table["actual_bytes_written"].as_u64().unwrap_or(0) < 1 << 20,
        "{table}"
    );
}

#[test]
fn explain_analyze_changes_nothing_and_analyze_changes() {
    let fixture = fixture();
    let mut session = fixture.session();
    let count = |session: &mut mayfly_engine::Session| {
        session.must("SELECT COUNT(*), SUM(c) FROM t").remove(0)
    };
    let before = count(&mut session);
    for sql in [
        "UPDATE t SET c = c + 1 WHERE id <= 20",
        "DELETE FROM t WHERE id <= 20",
        "INSERT INTO t SELECT id + 1000, a, c FROM t",
        "INSERT INTO t VALUES (5000, 1, 1)",
        "REPLACE INTO t VALUES (1, 1, 1)",
    ] {
        session.must(&format!("EXPLAIN ANALYZE {sql}"));
        assert_eq!(count(&mut session), before, "{sql}");
    }
    let rows = session.must("ANALYZE UPDATE t SET c = c + 1 WHERE id <= 20");
    let row: Vec<&str> = rows[0].split('\t').collect();
    // id, select_type, table, type, possible_keys, key, key_len, ref, rows, r_rows, filtered, r_filtered, Extra
    assert_eq!((row.len(), row[1], row[2]), (13, "UPDATE", "t"));
    assert_eq!((row[9], row[11]), ("20.00", "100.00"));
    assert_ne!(count(&mut session), before);
    session.must("ANALYZE INSERT INTO t VALUES (5000, 1, 1)");
    session.must("ANALYZE FORMAT=JSON DELETE FROM t WHERE id = 5000");
    assert_eq!(session.must("SELECT COUNT(*) FROM t"), ["900"]);
}

#[test]
fn analyze_has_the_shape_of_mariadb() {
    let fixture = fixture();
    let mut session = fixture.session();
    let rows = session.must("ANALYZE SELECT * FROM t WHERE c = 3");
    assert_eq!(
        rows,
        ["1\tSIMPLE\tt\tALL\tNULL\tNULL\tNULL\tNULL\t900\t900.00\t11.11\t11.11\tUsing where"]
    );
    let sql = "ANALYZE FORMAT=JSON SELECT c, COUNT(*) n FROM t WHERE a <> 1 GROUP BY c ORDER BY n DESC LIMIT 3";
    let document = document(&fixture, sql);
    let block = &document["query_block"];
    assert_eq!(
        (&block["select_id"], &block["r_loops"]),
        (&1.into(), &1.into())
    );
    let sort = &block["filesort"];
    assert_eq!(
        (&sort["r_limit"], &sort["r_used_priority_queue"]),
        (&3.into(), &true.into())
    );
    let temporary = &sort["temporary_table"];
    assert_eq!(temporary["r_temporary_table"]["actual_rows"], 9);
    let table = &temporary["nested_loop"][0]["table"];
    assert_eq!(
        (&table["rows"], &table["r_rows"]),
        (&900.into(), &900.into())
    );
    assert_eq!(table["r_filtered"], 99);
    assert!(document["query_optimization"]["r_total_time_ms"].as_f64() > Some(0.0));
}

#[test]
fn errors_are_those_of_mysql_and_mariadb() {
    let fixture = fixture();
    let mut session = fixture.session();
    let mut number = |sql: &str| session.execute(sql).expect_err(sql).errno();
    assert_eq!(number("EXPLAIN ANALYZE FORMAT=TRADITIONAL SELECT 1"), 1235);
    assert_eq!(number("ANALYZE FORMAT=TREE SELECT 1"), 1791);
    assert_eq!(number("ANALYZE FORMAT=JSON TABLE"), 1064);
    assert_eq!(number("ANALYZE UPDATE nosuch SET a = 1"), 1146);
    session.must("SET explain_json_format_version = 1");
    let mut number = |sql: &str| session.execute(sql).expect_err(sql).errno();
    assert_eq!(number("EXPLAIN ANALYZE FORMAT=JSON SELECT 1"), 6412);
}
