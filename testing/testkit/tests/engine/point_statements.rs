//! Point statements with cached plans, because they are prepared or because similar texts came before, have the same
//! effects as without a cached plan: rows, results, errors, warnings, counters, and what ROLLBACK undoes.

use mayfly_engine::{Session, SqlType, StatementResult, TypeKind, Value};
use mayfly_testkit::fixture::{Fixture, SessionExt};
use mayfly_testkit::groups::Groups;

const TABLE: &str = "CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, k INT NOT NULL, \
    v VARCHAR(20), d DECIMAL(10, 2), n BIGINT UNSIGNED DEFAULT 7, u VARCHAR(30), UNIQUE (u), INDEX (k))";

/// A table of each store: a temporary one, one in the data directory, and one without transactions.
fn tables(temporary: &str) -> [String; 3] {
    let durable = temporary.replace("TEMPORARY ", "");
    let direct = format!("{durable} ENGINE = MyISAM");
    [temporary.to_owned(), durable, direct]
}

/// The compared counters, which statements on rows change.
const STATUS: &str = "SHOW SESSION STATUS WHERE Variable_name IN ('Questions', 'Com_select', \
    'Com_insert', 'Com_update', 'Com_delete', 'Handler_read_key', 'Handler_read_next', \
    'Handler_read_rnd_next', 'Handler_write', 'Handler_update', 'Handler_delete', 'Select_range', \
    'Select_scan')";

fn text(text: &str) -> (Value, SqlType) {
    let length = u32::try_from(text.len()).expect("it is short");
    (
        Value::from(text),
        SqlType::varchar(length, Default::default()),
    )
}

fn number(number: i64) -> (Value, SqlType) {
    (Value::Int(number), SqlType::integer(TypeKind::BigInt))
}

/// A statement with `?`, and their values.
type Step = (&'static str, Vec<(Value, SqlType)>);

/// The steps of a text.
fn steps(text: &'static str) -> Vec<Step> {
    let value = |of: &str| match of.strip_prefix('\'') {
        Some(quoted) => self::text(quoted.trim_end_matches('\'')),
        None if of == "NULL" => (Value::Null, SqlType::null()),
        None => number(of.parse().expect("a number")),
    };
    let groups = Groups::read(text);
    let steps = groups.iter().flat_map(|(sql, lines)| {
        let lines = lines.iter();
        let steps = lines.map(move |line| (sql, line.split(" | ").map(value).collect()));
        steps.collect::<Vec<_>>()
    });
    steps.collect()
}

/// The statement with its values as literals.
fn plain(sql: &str, values: &[(Value, SqlType)]) -> String {
    let mut out = String::new();
    let mut values = values.iter();
    for part in sql.split_inclusive('?') {
        out.push_str(part.trim_end_matches('?'));
        if part.ends_with('?') {
            match values.next().map(|(value, _)| value) {
                Some(Value::Int(number)) => out.push_str(&number.to_string()),
                Some(Value::Bytes(text)) => {
                    out.push_str(&format!("'{}'", String::from_utf8_lossy(text)));
                }
                _ => out.push_str("NULL"),
            }
        }
    }
    out
}

fn show(result: Result<StatementResult, mayfly_engine::Error>) -> String {
    match result {
        Err(error) => error.to_string(),
        Ok(result) => format!(
            "{:?} {} {} {:?} {}",
            result.rows_text(),
            result.affected_rows,
            result.last_insert_id,
            result.info,
            result.warning_count,
        ),
    }
}

fn one(session: &mut Session, sql: &str) -> String {
    let results = session.execute(sql);
    show(results.map(|mut results| results.pop().unwrap_or_default()))
}

/// All effects of statements.
fn left(session: &mut Session) -> Vec<String> {
    [
        "SHOW WARNINGS",
        "SELECT ROW_COUNT(), FOUND_ROWS(), LAST_INSERT_ID()",
        STATUS,
        "SELECT * FROM t ORDER BY id",
        "SELECT id FROM t FORCE INDEX (k) WHERE k >= 0 ORDER BY k, id",
        "SELECT id FROM t WHERE u > '' ORDER BY u",
    ]
    .map(|sql| one(session, sql))
    .to_vec()
}

fn begin(session: &mut Session, mode: &str) {
    session.must(&format!("SET sql_mode = '{mode}'"));
}

/// Kind of the cached plan.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kept {
    Prepared,
    /// The plan of texts that differ only in literals.
    Text,
}

impl Kept {
    const ALL: [Self; 2] = [Self::Prepared, Self::Text];
}

/// Two engines: one caches plans of texts, the other does not.
fn engines() -> [Fixture; 2] {
    let engines = [Fixture::open(|_| {}), Fixture::open(|_| {})];
    let mut session = engines[1].database.session();
    let off = session.execute("SET GLOBAL statement_cache_size = 0");
    off.expect("sets");
    engines
}

/// Runs statements with cached plans in one session and without in the other.
fn run_both(sessions: &mut [Session; 2], steps: &[Step], mode: &str, why: Kept) {
    let [kept, direct] = sessions;
    let mut statements: Vec<(&str, _)> = Vec::new();
    for (sql, values) in steps {
        let text = plain(sql, values);
        let result = match why {
            Kept::Text => one(kept, &text),
            Kept::Prepared => {
                let known = statements.iter().position(|(text, _)| text == sql);
                let known = known.unwrap_or_else(|| {
                    statements.push((sql, kept.prepare(sql).expect("prepares")));
                    statements.len() - 1
                });
                let statement = std::sync::Arc::clone(&statements[known].1);
                let result = kept.execute_prepared(&statement, values);
                show(result.and_then(mayfly_engine::ResultStream::into_result))
            }
        };
        assert_eq!(result, one(direct, &text), "{text} ({mode}, {why:?})");
        assert_eq!(left(kept), left(direct), "after {text} ({mode}, {why:?})");
    }
    if why == Kept::Text {
        assert!(parameterized(kept) > steps.len() / 4, "few plans were used");
    }
}

/// Number of a session's statements with a cached plan, without those of [`left`].
fn parameterized(session: &mut Session) -> usize {
    let sql = "SHOW SESSION STATUS LIKE 'Statement_cache_parameterized'";
    let rows = session.execute(sql).expect("runs").remove(0).rows_text();
    let hits = rows[0][1].as_ref().expect("a number");
    hits.parse().expect("a number")
}

/// Statements, each followed by the values that it runs with.
const STEPS: &str = "\
INSERT INTO t (id, k, v, d, u) VALUES (?, ?, ?, ?, ?)
  1 | 10 | 'one' | 5 | 'first'
  2 | 20 | 'thirteen letters' | -7 | 'second of them'
  3 | 30 | 'three' | 0 | 'third'
  3 | 31 | 'again' | 0 | 'other'
  4 | 31 | 'again' | 0 | 'THIRD'
  5 | 31 | 'a value that is longer than a cell' | 0 | 'fifth'
  1099511627776 | 31 | 'x' | 0 | 'sixth'
  NULL | 31 | 'x' | 0 | 'seventh'
  8 | 31 | NULL | NULL | NULL
  9 | 31 | NULL | NULL | NULL
INSERT INTO t (id, k) VALUES (?, ?)
  10 | 1
  11 | 1
  11 | 1
  12 | NULL
UPDATE t SET v = ?, k = ? WHERE id = ?
  'changed' | 11 | 1
  'changed' | 11 | 1
  'changed again, and longer' | 12 | 2
  'no such row' | 12 | 77
  'short' | 13 | 2
  NULL | 13 | 2
  'x' | NULL | 2
  'x' | 2 | NULL
UPDATE t SET id = ?, u = ? WHERE id = ?
  20 | 'moved to a longer key' | 2
  2 | 'moved back' | 20
  3 | 'in the way' | 2
  40 | 'FIRST' | 2
  41 | 'moved' | 2
SELECT v, d, n, u FROM t WHERE id = ?
  1
  1
  41
  77
  NULL
  '1'
  8
SELECT id FROM t WHERE u = ?
  'first'
  'FIRST'
  'nothing'
DELETE FROM t WHERE id = ?
  1
  1
  41
  3
INSERT INTO t (id, k) VALUES (?, ?)
  1 | 2
DELETE FROM t WHERE id = ?
  1
";

/// Runs the steps in sessions of two engines that have the same table, in each store, each SQL mode and each way to
/// cache plans; `prepare` runs before the steps, and `compare` checks the sessions afterwards.
fn each_way(
    table: &str,
    steps: &'static str,
    modes: &[&str],
    prepare: impl Fn(&mut Session),
    compare: impl Fn(&mut [Session; 2], &str),
) {
    let steps = self::steps(steps);
    for table in tables(table) {
        for (mode, why) in modes
            .iter()
            .flat_map(|mode| Kept::ALL.map(|why| (mode, why)))
        {
            let engines = engines();
            let mut sessions = engines.each_ref().map(Fixture::session);
            for session in &mut sessions {
                begin(session, mode);
                session.must(&table);
                prepare(session);
            }
            run_both(&mut sessions, &steps, mode, why);
            compare(&mut sessions, &table);
        }
    }
}

#[test]
fn they_leave_what_others_leave() {
    let modes = ["", "STRICT_TRANS_TABLES"];
    each_way(TABLE, STEPS, &modes, |_| {}, |_, _| {});
}

#[test]
fn transactions_of_them_are_undone() {
    let begin = |session: &mut Session| {
        session.must("INSERT INTO t (id, k, u) VALUES (3, 4, 'kept')");
        session.must("BEGIN");
    };
    each_way(
        TABLE,
        STEPS,
        &["STRICT_TRANS_TABLES"],
        begin,
        |sessions, table| {
            let rows = sessions.each_mut().map(|session| {
                session.must("ROLLBACK");
                one(session, "SELECT id, k, u FROM t")
            });
            assert_eq!(rows[0], rows[1], "{table}");
            let is_undone = rows[0] == r#"[[Some("3"), Some("4"), Some("kept")]] 0 0 "" 0"#;
            assert_eq!(is_undone, !table.contains("MyISAM"), "{}", rows[0]);
        },
    );
}

/// [`STEPS`] with statements that generate numbers, times or sums.
const MAKING_STEPS: &str = "\
INSERT INTO t (u) VALUES (?)
  'one'
  'two'
  'ONE'
  'three, which is longer than the others'
  'three'
INSERT INTO t (id, u) VALUES (?, ?)
  NULL | 'four'
  0 | 'five'
  20 | 'twenty'
  -3 | 'negative'
  20 | 'twenty again'
INSERT INTO t (u) VALUES (?)
  'after twenty'
INSERT INTO t (id, u) VALUES (?, ?)
  126 | 'last but one'
  200 | 'too large'
INSERT INTO t (u) VALUES (?)
  'last'
  'none is left'
INSERT INTO t (u, seen) VALUES (?, ?)
  's' | '2024-07-01 12:00:00.123'
UPDATE t SET seen = ? WHERE id = ?
  '2024-07-01 12:00:00.123' | 1
  '2024-01-01 12:00:00.5' | 2
  '2024-01-01 12:00:00.5' | 2
  '2024-03-31 02:30:00' | 2
  'no moment' | 2
  NULL | 20
SELECT made, seen, on_day, k, n FROM t WHERE id = ?
  1
  2
  2
UPDATE t SET k = k + ? WHERE id = ?
  3 | 1
  3 | 1
  0 | 1
  -30 | 1
  NULL | 1
  9223372036854775807 | 1
  2147483648 | 1
  1 | 99
UPDATE t SET n = n + 1, k = k - n WHERE id = ?
  1
  1
  1
  1
  1
  1
UPDATE t SET n = n - ? WHERE id = ?
  250 | 1
  5 | 1
SELECT made, seen, on_day, k, n FROM t WHERE id = ?
  1
";

#[test]
fn values_are_made() {
    let table = "CREATE TEMPORARY TABLE t (id TINYINT AUTO_INCREMENT PRIMARY KEY, \
        k INT NOT NULL DEFAULT 5, u VARCHAR(30), n TINYINT UNSIGNED NOT NULL DEFAULT 250, \
        made TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP, seen TIMESTAMP(3) NULL, \
        on_day DATETIME DEFAULT CURRENT_TIMESTAMP, UNIQUE (u), INDEX (k))";
    let modes = ["", "STRICT_TRANS_TABLES", "NO_AUTO_VALUE_ON_ZERO"];
    let clock = |session: &mut Session| {
        session.must("SET timestamp = 1700000000.5, time_zone = 'Europe/Berlin'");
    };
    each_way(
        table,
        MAKING_STEPS,
        &modes,
        clock,
        |[prepared, direct], _| {
            for sql in [
                "SHOW CREATE TABLE t",
                "SET time_zone = '+00:00'",
                "SELECT * FROM t",
            ] {
                assert_eq!(one(prepared, sql), one(direct, sql), "{sql}");
            }
        },
    );
}

/// Statements on all rows of a key.
const KEY_STEPS: &str = "\
SELECT id, v, d FROM t WHERE k = ?
  3
  4
  3
  99
  '5'
  NULL
  9223372036854775807
UPDATE t SET v = ? WHERE k = ?
  'set' | 3
  'set' | 3
  'other' | 4
  'no such key' | 99
  'a value that is longer than its column' | 5
  NULL | 6
  'x' | '7'
  12 | 8
UPDATE t SET d = ?, v = ? WHERE k = ?
  5 | 'five' | 9
  '7.5' | 'text' | 9
  'none' | 'no number' | 9
  -3 | 'minus' | 10
  123456789012 | 'too large' | 10
UPDATE t SET c = ? WHERE k = ?
  5 | 3
  6 | 4
  -1 | 3
  7 | 3
SELECT id, u FROM t WHERE v = ?
  'set'
  'SET'
  'none'
SELECT id FROM t WHERE k = ? AND v = ?
  3 | 'set'
  4 | 'other'
  3 | 'other'
UPDATE t SET k = ? WHERE k = ?
  400 | 3
  401 | 4
  NULL | 5
  401 | 400
UPDATE t SET u = ? WHERE k = ?
  'one key for two rows' | 11
  'one key for two rows' | 11
  'another key' | 12
UPDATE t SET c = c + ? WHERE k = ?
  1 | 13
  1 | 13
  1 | 14
DELETE FROM t WHERE k = ?
  401
  20
  20
  99
  21
  22
DELETE FROM t WHERE v = ?
  'none'
  'filled'
";

#[test]
fn all_rows_of_a_key_are_read_and_changed() {
    let table = "CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, k INT NOT NULL, v VARCHAR(20), d DECIMAL(10, 2), \
        u VARCHAR(30), c INT NOT NULL DEFAULT 1 CHECK (c > 0), g INT AS (k + 1), \
        touched TIMESTAMP NULL ON UPDATE CURRENT_TIMESTAMP, n INT DEFAULT 7, UNIQUE (u), INDEX (k), INDEX (v, k))";
    let fill = |session: &mut Session| {
        session.must("SET timestamp = 1700000000");
        session.must(
            "INSERT INTO t (id, k, v) WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 400) \
             SELECT n, n DIV 5, CONCAT('v', n % 90) FROM r",
        );
        session.must("UPDATE t SET v = 'filled' WHERE id > 390");
    };
    let modes = [
        "",
        "STRICT_TRANS_TABLES",
        "ANSI_QUOTES,NO_BACKSLASH_ESCAPES",
    ];
    each_way(table, KEY_STEPS, &modes, fill, |_, _| {});
}

/// A plan for a key of few rows is none for a key of many.
#[test]
fn a_key_of_many_rows_is_planned_by_its_text() {
    let (_fixture, mut session) = Fixture::with_session();
    session.must("CREATE TABLE s (id INT PRIMARY KEY, k INT, v INT, INDEX (k))");
    session.must(
        "INSERT INTO s WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 1000) \
         SELECT n, IF(n < 600, 0, n), n FROM r",
    );
    let mut runs = |k: u32| {
        let before = parameterized(&mut session);
        session.must(&format!("SELECT id, v FROM s WHERE k = {k}"));
        parameterized(&mut session) - before
    };
    let runs: Vec<usize> = [700, 701, 702, 703, 0, 0, 704].map(&mut runs).into();
    assert_eq!(runs[3..], [1, 0, 0, 1]);
}

/// A change without a transaction is not undone by a later one.
#[test]
fn only_a_transaction_is_undone() {
    let (_fixture, mut session) = Fixture::with_session();
    begin(&mut session, "");
    session.must(TABLE);
    let insert = session.prepare("INSERT INTO t (id, k) VALUES (?, ?)");
    let insert = insert.expect("prepares");
    let add = |session: &mut Session, id: i64| {
        let values = [number(id), number(id)];
        let stream = session.execute_prepared(&insert, &values);
        assert_eq!(stream.expect("inserts").result().affected_rows, 1);
    };
    (0..3).for_each(|id| add(&mut session, id));
    session.must("BEGIN");
    (3..6).for_each(|id| add(&mut session, id));
    session.must("SAVEPOINT s");
    (6..9).for_each(|id| add(&mut session, id));
    session.must("ROLLBACK TO s");
    assert!(one(&mut session, "SELECT COUNT(*) FROM t").contains("Some(\"6\")"));
    session.must("ROLLBACK");
    assert!(one(&mut session, "SELECT COUNT(*) FROM t").contains("Some(\"3\")"));
    session.must("SET autocommit = 0");
    add(&mut session, 10);
    session.must("ROLLBACK");
    assert!(one(&mut session, "SELECT COUNT(*) FROM t").contains("Some(\"3\")"));
}

#[test]
fn rows_are_given_one_by_one() {
    let fixture = Fixture::open(|options| options.batch_size = 3);
    let mut session = fixture.session();
    session.must("CREATE TABLE t (a INT, b VARCHAR(9))");
    session.must("INSERT INTO t VALUES (1, 'x'), (2, NULL), (3, 'z'), (4, ''), (5, 'v')");
    let mut stream = session
        .query("SELECT a, b FROM t ORDER BY a")
        .expect("runs");
    let first = stream.next_row().expect("reads").expect("a row").to_vec();
    assert_eq!(first, [Value::Int(1), Value::from("x")]);
    let second = stream.next_row().expect("reads").expect("a row").to_vec();
    assert_eq!(second, [Value::Int(2), Value::Null]);
    let mut rest = 0;
    while let Some(batch) = stream.next_batch().expect("reads") {
        rest += batch.row_count();
    }
    assert_eq!(
        rest, 3,
        "what is left of a batch that was begun, and the others"
    );
    assert!(stream.next_row().expect("reads").is_none());
}

#[test]
fn a_dropped_table_goes_though_its_plan_is_kept() {
    let (fixture, mut session) = Fixture::with_session();
    session.must(TABLE);
    let sql = "INSERT INTO t (id, k) VALUES (?, ?)";
    let statement = session.prepare(sql).expect("prepares");
    for id in 0..3 {
        let values = [number(id), number(id)];
        let stream = session.execute_prepared(&statement, &values);
        assert_eq!(stream.expect("inserts").result().affected_rows, 1);
    }
    assert_eq!(fixture.database.temporary_table_count(), 1);
    session.must("DROP TABLE t");
    assert_eq!(fixture.database.temporary_table_count(), 0);
    let values = [number(1), number(1)];
    let gone = session.execute_prepared(&statement, &values);
    assert_eq!(gone.expect_err("there is no table").errno(), 1146);
}
