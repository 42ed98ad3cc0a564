//! Sorts with LIMIT tell their inputs which values of the first key are still wanted: the rows are those of the whole sort,
//! whatever the order of the table, and scans give fewer rows.

use mayfly_engine::Session;
use mayfly_testkit::fixture::{Fixture, SessionExt};

/// Rows of `t`: several times the rows that a sort with LIMIT holds before it drops some.
const ROWS: u32 = 30_000;

/// Columns of every type that has a bound, in the order of the table, against it and strewn, and ones without a bound.
const COLUMNS: &str = "id INT NOT NULL PRIMARY KEY, up INT NOT NULL, down SMALLINT NOT NULL, strewn INT NOT NULL, \
     same INT NOT NULL, large BIGINT UNSIGNED NOT NULL, price DECIMAL(12,2) NOT NULL, wide DECIMAL(40,2) NOT NULL, \
     day DATE NOT NULL, at DATETIME(3) NOT NULL, real_number DOUBLE NOT NULL, name VARCHAR(30) NOT NULL, \
     n INT, nullable_day DATE";

const KEYS: &[&str] = &[
    "up",
    "down",
    "strewn",
    "same",
    "large",
    "price",
    "wide",
    "day",
    "at",
    "real_number",
    "name",
    "n",
    "nullable_day",
];

/// Statements with a key in the place of KEY and its order in that of ORDER; all end with a total order.
const STATEMENTS: &[&str] = &[
    "SELECT id, KEY FROM t ORDER BY KEY ORDER, id",
    "SELECT id, name FROM t WHERE strewn % 3 = 1 ORDER BY KEY ORDER, id",
    "SELECT id, k FROM (SELECT id, KEY AS k, up + 1 AS more FROM t WHERE name LIKE '%7%') AS d ORDER BY k ORDER, more",
    "SELECT a.id, b.up FROM t AS a JOIN t AS b ON b.id = a.strewn WHERE b.same < 6 ORDER BY a.KEY ORDER, a.id",
    "SELECT a.id, b.KEY FROM t AS a LEFT JOIN t AS b ON b.id = a.strewn AND b.same > 5 ORDER BY b.KEY ORDER, a.id",
    "SELECT KEY, COUNT(*), MIN(id) FROM t GROUP BY KEY ORDER BY KEY ORDER",
    "SELECT id, KEY AS k FROM t UNION ALL SELECT -id, KEY FROM t WHERE same = 3 ORDER BY k ORDER, id",
    "SELECT x.id, (SELECT MAX(q.id) FROM (SELECT t.id FROM t WHERE t.same <> x.id ORDER BY t.KEY ORDER, t.id LIMIT 3) AS q) AS m \
     FROM t AS x WHERE x.id BETWEEN 3 AND 5 ORDER BY x.KEY ORDER, x.id",
];

fn opened(threads: usize, batch_size: usize, kind: &str) -> (Fixture, Session) {
    let fixture = Fixture::open(|options| {
        options.threads = threads;
        options.parallel_rows_min = 1;
        options.batch_size = batch_size;
    });
    let mut session = fixture.session();
    session.must("SET SESSION cte_max_recursion_depth = 1000000");
    session.must(&format!("CREATE {kind} TABLE s ({COLUMNS})"));
    session.must(&format!(
        "INSERT INTO s WITH RECURSIVE r (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM r WHERE i < {ROWS} - 1) \
         SELECT i, i, 15000 - i, i * 7919 % {ROWS}, i % 10, 18446744073709000000 + i * 7919 % {ROWS}, \
         (i * 7919 % {ROWS} - 9000) / 100, (9000 - i) * 1000000000000000000000000000000 / 7, \
         '2024-01-01' + INTERVAL i * 7919 % 3000 DAY, '2024-01-01' + INTERVAL i MINUTE, i * 7919 % {ROWS} / 7, \
         CONCAT('name ', i * 7919 % 5000), IF(i % 9 = 4, NULL, 20000 - i), IF(i < 20, NULL, '2020-01-01' + INTERVAL i HOUR) FROM r"
    ));
    session.must(&format!("CREATE {kind} TABLE t LIKE s"));
    session.must("INSERT INTO t SELECT * FROM s");
    (fixture, session)
}

#[test]
fn the_rows_are_the_first_ones_of_the_whole_sort() {
    for (threads, batch_size, kind) in [(1, 4096, ""), (3, 100, ""), (2, 1024, "TEMPORARY")] {
        let (_fixture, mut session) = opened(threads, batch_size, kind);
        for (at, key) in KEYS.iter().enumerate() {
            for order in ["", "DESC"] {
                for (number, statement) in STATEMENTS.iter().enumerate() {
                    // As in MySQL, a statement reads a temporary table once.
                    let is_left_out = kind == "TEMPORARY" && number > 2;
                    if is_left_out || threads > 1 && (at + number) % 3 > 0 {
                        continue;
                    }
                    let sql = statement
                        .replace("KEY", key)
                        .replace("ORDER,", &format!("{order},"));
                    let sql = sql
                        .strip_suffix("ORDER")
                        .map_or(sql.clone(), |sql| format!("{sql}{order}"));
                    let all = session.must(&sql);
                    for (offset, count) in [(0, 1), (7, 25), (5000, 40), (26_600, 90)] {
                        let found = session.must(&format!("{sql} LIMIT {count} OFFSET {offset}"));
                        let wanted = all.iter().skip(offset).take(count);
                        assert!(
                            found.iter().eq(wanted),
                            "{threads} threads, {sql} LIMIT {count} OFFSET {offset}"
                        );
                    }
                }
            }
        }
    }
}

/// Rows that the scan of a statement gives.
fn scanned(session: &mut Session, sql: &str) -> u64 {
    let plan = session.must(&format!("EXPLAIN ANALYZE {sql}")).join("\n");
    let scan = plan.split("Table scan on t").nth(1).expect(&plan);
    let actual = scan.split("(actual").nth(1).expect(&plan);
    let rows = actual.split(" rows=").nth(1).expect(&plan);
    let rows = rows.split_whitespace().next().expect(&plan);
    rows.parse::<f64>().expect(&plan) as u64
}

#[test]
fn scans_give_fewer_rows() {
    let (_fixture, mut session) = opened(1, 1024, "");
    let all = u64::from(ROWS);
    for (order, limit) in [
        ("up", 10),
        ("strewn", 10),
        ("day, id", 20),
        ("price DESC", 10),
        ("large DESC", 10),
        ("n DESC", 10),
    ] {
        let rows = scanned(
            &mut session,
            &format!("SELECT * FROM t ORDER BY {order} LIMIT {limit}"),
        );
        assert!(rows < all / 2, "{order}: {rows}");
    }
    // NULLs come first, so that no number tells that a row is not among the first.
    for order in ["n", "nullable_day", "up + 1", "wide"] {
        let rows = scanned(
            &mut session,
            &format!("SELECT * FROM t ORDER BY {order} LIMIT 10"),
        );
        assert_eq!(rows, all, "{order}");
    }
    // Rows give their warnings although they are not among the first.
    session.must("SELECT id FROM t WHERE CAST(name AS SIGNED) >= 0 ORDER BY up LIMIT 10");
    assert_eq!(session.must("SELECT @@warning_count"), [all.to_string()]);
}
