//! Statements on one row by its key whose plans are kept, because they are prepared or because texts
//! like theirs came before, leave what they leave without a kept plan: rows, results, errors, warnings,
//! counters, and what ROLLBACK undoes.

use mayfly_engine::{Session, SqlType, StatementResult, TypeKind, Value};
use mayfly_testkit::fixture::Fixture;

const TABLE: &str = "CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, k INT NOT NULL, \
    v VARCHAR(20), d DECIMAL(10, 2), n BIGINT UNSIGNED DEFAULT 7, u VARCHAR(30), UNIQUE (u), INDEX (k))";

/// A table of each store: that of a session, the data directory, and the same without transactions.
fn tables(temporary: &str) -> [String; 3] {
    let durable = temporary.replace("TEMPORARY ", "");
    let direct = format!("{durable} ENGINE = MyISAM");
    [temporary.to_owned(), durable, direct]
}

/// What is compared: counters that statements on rows change.
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

fn null() -> (Value, SqlType) {
    (Value::Null, SqlType::null())
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

/// Everything that statements leave behind.
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
    let database = "CREATE DATABASE IF NOT EXISTS d; USE d";
    session.execute(database).expect("a database");
    let mode = format!("SET sql_mode = '{mode}'");
    session.execute(&mode).expect("sets");
}

/// Why a plan is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kept {
    Prepared,
    /// It was the plan of texts that differ in literals alone.
    Text,
}

/// Two engines: one keeps plans of texts, the other does not.
fn engines() -> [Fixture; 2] {
    let engines = [Fixture::open(|_| ()), Fixture::open(|_| ())];
    let mut session = engines[1].database.session();
    let off = session.execute("SET GLOBAL statement_cache_size = 0");
    off.expect("sets");
    engines
}

/// Runs statements with kept plans in one session and without in the other.
fn run_both(
    sessions: &mut [Session; 2],
    steps: &[(&str, Vec<(Value, SqlType)>)],
    mode: &str,
    why: Kept,
) {
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

/// How many of a session's statements had a known plan; those of [`left`] are not counted.
fn parameterized(session: &mut Session) -> usize {
    let sql = "SHOW SESSION STATUS LIKE 'Statement_cache_parameterized'";
    let rows = session.execute(sql).expect("runs").remove(0).rows_text();
    let hits = rows[0][1].as_ref().expect("a number");
    hits.parse().expect("a number")
}

#[test]
fn they_leave_what_others_leave() {
    let insert = "INSERT INTO t (id, k, v, d, u) VALUES (?, ?, ?, ?, ?)";
    let few = "INSERT INTO t (id, k) VALUES (?, ?)";
    let update = "UPDATE t SET v = ?, k = ? WHERE id = ?";
    let move_key = "UPDATE t SET id = ?, u = ? WHERE id = ?";
    let read = "SELECT v, d, n, u FROM t WHERE id = ?";
    let read_text = "SELECT id FROM t WHERE u = ?";
    let delete = "DELETE FROM t WHERE id = ?";
    let long = "a value that is longer than a cell";
    let steps: Vec<(&str, Vec<(Value, SqlType)>)> = vec![
        (
            insert,
            vec![number(1), number(10), text("one"), number(5), text("first")],
        ),
        (
            insert,
            vec![
                number(2),
                number(20),
                text("thirteen letters"),
                number(-7),
                text("second of them"),
            ],
        ),
        (
            insert,
            vec![
                number(3),
                number(30),
                text("three"),
                number(0),
                text("third"),
            ],
        ),
        (
            insert,
            vec![
                number(3),
                number(31),
                text("again"),
                number(0),
                text("other"),
            ],
        ),
        (
            insert,
            vec![
                number(4),
                number(31),
                text("again"),
                number(0),
                text("THIRD"),
            ],
        ),
        (
            insert,
            vec![number(5), number(31), text(long), number(0), text("fifth")],
        ),
        (
            insert,
            vec![
                number(1 << 40),
                number(31),
                text("x"),
                number(0),
                text("sixth"),
            ],
        ),
        (
            insert,
            vec![null(), number(31), text("x"), number(0), text("seventh")],
        ),
        (insert, vec![number(8), number(31), null(), null(), null()]),
        (insert, vec![number(9), number(31), null(), null(), null()]),
        (few, vec![number(10), number(1)]),
        (few, vec![number(11), number(1)]),
        (few, vec![number(11), number(1)]),
        (few, vec![number(12), null()]),
        (update, vec![text("changed"), number(11), number(1)]),
        (update, vec![text("changed"), number(11), number(1)]),
        (
            update,
            vec![text("changed again, and longer"), number(12), number(2)],
        ),
        (update, vec![text("no such row"), number(12), number(77)]),
        (update, vec![text("short"), number(13), number(2)]),
        (update, vec![null(), number(13), number(2)]),
        (update, vec![text("x"), null(), number(2)]),
        (update, vec![text("x"), number(2), null()]),
        (
            move_key,
            vec![number(20), text("moved to a longer key"), number(2)],
        ),
        (move_key, vec![number(2), text("moved back"), number(20)]),
        (move_key, vec![number(3), text("in the way"), number(2)]),
        (move_key, vec![number(40), text("FIRST"), number(2)]),
        (move_key, vec![number(41), text("moved"), number(2)]),
        (read, vec![number(1)]),
        (read, vec![number(1)]),
        (read, vec![number(41)]),
        (read, vec![number(77)]),
        (read, vec![null()]),
        (read, vec![text("1")]),
        (read, vec![number(8)]),
        (read_text, vec![text("first")]),
        (read_text, vec![text("FIRST")]),
        (read_text, vec![text("nothing")]),
        (delete, vec![number(1)]),
        (delete, vec![number(1)]),
        (delete, vec![number(41)]),
        (delete, vec![number(3)]),
        (few, vec![number(1), number(2)]),
        (delete, vec![number(1)]),
    ];
    let ways = [
        ("", false, Kept::Prepared),
        ("STRICT_TRANS_TABLES", false, Kept::Prepared),
        ("STRICT_TRANS_TABLES", true, Kept::Prepared),
        ("", false, Kept::Text),
        ("STRICT_TRANS_TABLES", false, Kept::Text),
        ("STRICT_TRANS_TABLES", true, Kept::Text),
    ];
    for (table, (mode, transaction, why)) in tables(TABLE)
        .iter()
        .flat_map(|table| ways.map(|way| (table, way)))
    {
        let engines = engines();
        let mut sessions = engines.each_ref().map(|engine| engine.database.session());
        for session in &mut sessions {
            begin(session, mode);
            session.execute(table).expect("makes a table");
            if transaction {
                session
                    .execute("INSERT INTO t (id, k, u) VALUES (3, 4, 'kept')")
                    .expect("a row");
                session.execute("BEGIN").expect("begins");
            }
        }
        run_both(&mut sessions, &steps, mode, why);
        if transaction {
            let rows = sessions.each_mut().map(|session| {
                session.execute("ROLLBACK").expect("undoes");
                one(session, "SELECT id, k, u FROM t")
            });
            assert_eq!(rows[0], rows[1], "{table}");
            let is_undone = rows[0] == r#"[[Some("3"), Some("4"), Some("kept")]] 0 0 "" 0"#;
            assert_eq!(is_undone, !table.contains("MyISAM"), "{}", rows[0]);
        }
    }
}

/// Each statement makes numbers, moments or sums.
#[test]
fn values_are_made() {
    let table = "CREATE TEMPORARY TABLE t (id TINYINT AUTO_INCREMENT PRIMARY KEY, \
        k INT NOT NULL DEFAULT 5, u VARCHAR(30), n TINYINT UNSIGNED NOT NULL DEFAULT 250, \
        made TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP, seen TIMESTAMP(3) NULL, \
        on_day DATETIME DEFAULT CURRENT_TIMESTAMP, UNIQUE (u), INDEX (k))";
    let named = "INSERT INTO t (u) VALUES (?)";
    let numbered = "INSERT INTO t (id, u) VALUES (?, ?)";
    let seen = "INSERT INTO t (u, seen) VALUES (?, ?)";
    let see = "UPDATE t SET seen = ? WHERE id = ?";
    let read = "SELECT made, seen, on_day, k, n FROM t WHERE id = ?";
    let more = "UPDATE t SET k = k + ? WHERE id = ?";
    let both = "UPDATE t SET n = n + 1, k = k - n WHERE id = ?";
    let less = "UPDATE t SET n = n - ? WHERE id = ?";
    let steps: Vec<(&str, Vec<(Value, SqlType)>)> = vec![
        (named, vec![text("one")]),
        (named, vec![text("two")]),
        (named, vec![text("ONE")]),
        (named, vec![text("three, which is longer than the others")]),
        (named, vec![text("three")]),
        (numbered, vec![null(), text("four")]),
        (numbered, vec![number(0), text("five")]),
        (numbered, vec![number(20), text("twenty")]),
        (numbered, vec![number(-3), text("negative")]),
        (numbered, vec![number(20), text("twenty again")]),
        (named, vec![text("after twenty")]),
        (numbered, vec![number(126), text("last but one")]),
        (numbered, vec![number(200), text("too large")]),
        (named, vec![text("last")]),
        (named, vec![text("none is left")]),
        (seen, vec![text("s"), text("2024-07-01 12:00:00.123")]),
        (see, vec![text("2024-07-01 12:00:00.123"), number(1)]),
        (see, vec![text("2024-01-01 12:00:00.5"), number(2)]),
        (see, vec![text("2024-01-01 12:00:00.5"), number(2)]),
        (see, vec![text("2024-03-31 02:30:00"), number(2)]),
        (see, vec![text("no moment"), number(2)]),
        (see, vec![null(), number(20)]),
        (read, vec![number(1)]),
        (read, vec![number(2)]),
        (read, vec![number(2)]),
        (more, vec![number(3), number(1)]),
        (more, vec![number(3), number(1)]),
        (more, vec![number(0), number(1)]),
        (more, vec![number(-30), number(1)]),
        (more, vec![null(), number(1)]),
        (more, vec![number(i64::MAX), number(1)]),
        (more, vec![number(1 << 31), number(1)]),
        (more, vec![number(1), number(99)]),
        (both, vec![number(1)]),
        (both, vec![number(1)]),
        (both, vec![number(1)]),
        (both, vec![number(1)]),
        (both, vec![number(1)]),
        (both, vec![number(1)]),
        (less, vec![number(250), number(1)]),
        (less, vec![number(5), number(1)]),
        (read, vec![number(1)]),
    ];
    let ways = [
        ("", Kept::Prepared),
        ("STRICT_TRANS_TABLES", Kept::Prepared),
        ("NO_AUTO_VALUE_ON_ZERO", Kept::Prepared),
        ("", Kept::Text),
        ("STRICT_TRANS_TABLES", Kept::Text),
        ("NO_AUTO_VALUE_ON_ZERO", Kept::Text),
    ];
    for (table, (mode, why)) in tables(table)
        .iter()
        .flat_map(|table| ways.map(|way| (table, way)))
    {
        let engines = engines();
        let mut sessions = engines.each_ref().map(|engine| engine.database.session());
        for session in &mut sessions {
            begin(session, mode);
            let clock = "SET timestamp = 1700000000.5, time_zone = 'Europe/Berlin'";
            session.execute(clock).expect("sets");
            session.execute(table).expect("makes a table");
        }
        run_both(&mut sessions, &steps, mode, why);
        let [prepared, direct] = &mut sessions;
        for sql in [
            "SHOW CREATE TABLE t",
            "SET time_zone = '+00:00'",
            "SELECT * FROM t",
        ] {
            assert_eq!(one(prepared, sql), one(direct, sql), "{sql}");
        }
    }
}

/// What is changed without a transaction is not undone by a later one.
#[test]
fn only_a_transaction_is_undone() {
    let fixture = Fixture::open(|_| ());
    let mut session = fixture.database.session();
    begin(&mut session, "");
    session.execute(TABLE).expect("a table");
    let insert = session.prepare("INSERT INTO t (id, k) VALUES (?, ?)");
    let insert = insert.expect("prepares");
    let add = |session: &mut Session, id: i64| {
        let values = [number(id), number(id)];
        let stream = session.execute_prepared(&insert, &values);
        assert_eq!(stream.expect("inserts").result().affected_rows, 1);
    };
    (0..3).for_each(|id| add(&mut session, id));
    session.execute("BEGIN").expect("begins");
    (3..6).for_each(|id| add(&mut session, id));
    session.execute("SAVEPOINT s").expect("a savepoint");
    (6..9).for_each(|id| add(&mut session, id));
    session.execute("ROLLBACK TO s").expect("goes back");
    assert!(one(&mut session, "SELECT COUNT(*) FROM t").contains("Some(\"6\")"));
    session.execute("ROLLBACK").expect("undoes");
    assert!(one(&mut session, "SELECT COUNT(*) FROM t").contains("Some(\"3\")"));
    session.execute("SET autocommit = 0").expect("sets");
    add(&mut session, 10);
    session.execute("ROLLBACK").expect("undoes");
    assert!(one(&mut session, "SELECT COUNT(*) FROM t").contains("Some(\"3\")"));
}

#[test]
fn rows_are_given_one_by_one() {
    let fixture = Fixture::open(|options| options.batch_size = 3);
    let mut session = fixture.database.session();
    session
        .execute("CREATE DATABASE d; USE d; CREATE TABLE t (a INT, b VARCHAR(9))")
        .expect("a table");
    session
        .execute("INSERT INTO t VALUES (1, 'x'), (2, NULL), (3, 'z'), (4, ''), (5, 'v')")
        .expect("rows");
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
    let fixture = Fixture::open(|_| ());
    let mut session = fixture.database.session();
    session
        .execute("CREATE DATABASE d; USE d")
        .expect("a database");
    session.execute(TABLE).expect("a table");
    let sql = "INSERT INTO t (id, k) VALUES (?, ?)";
    let statement = session.prepare(sql).expect("prepares");
    for id in 0..3 {
        let values = [number(id), number(id)];
        let stream = session.execute_prepared(&statement, &values);
        assert_eq!(stream.expect("inserts").result().affected_rows, 1);
    }
    assert_eq!(fixture.database.temporary_table_count(), 1);
    session.execute("DROP TABLE t").expect("drops");
    assert_eq!(fixture.database.temporary_table_count(), 0);
    let values = [number(1), number(1)];
    let gone = session.execute_prepared(&statement, &values);
    assert_eq!(gone.expect_err("there is no table").errno(), 1146);
}

/// Texts of the same kind as point statements that mean something else.
#[test]
fn a_literal_that_is_no_value_is_read_as_it_stands() {
    let fixture = Fixture::open(|_| ());
    let mut session = fixture.database.session();
    begin(&mut session, "");
    session.execute(TABLE).expect("a table");
    let rows = "INSERT INTO t (id, k, v) VALUES (1, 10, 'one'), (2, 20, 'two'), (3, 30, 'three')";
    session.execute(rows).expect("rows");
    let mut run = |sql: &str| one(&mut session, sql);
    for id in 1..=3 {
        let row = |text: &str| format!("[[Some(\"{text}\")]] 0 0 \"\" 0");
        let k = (id * 10).to_string();
        assert_eq!(
            run(&format!("SELECT k FROM t WHERE id = {id} ORDER BY 1")),
            row(&k)
        );
        // There is no second column.
        let wrong = run(&format!("SELECT k FROM t WHERE id = {id} ORDER BY 2"));
        assert!(wrong.contains("Unknown column '2'"), "{wrong}");
        assert_eq!(
            run(&format!("SELECT k FROM t WHERE id = {id} LIMIT 0")),
            "[] 0 0 \"\" 0"
        );
        assert_eq!(
            run(&format!("SELECT k FROM t WHERE id = {id} LIMIT 1")),
            row(&k)
        );
        let both = format!("SELECT k FROM t WHERE id = {id} AND k = {k}");
        assert_eq!(run(&both), row(&k));
        assert_eq!(
            run(&format!("SELECT {id} FROM t WHERE id = 1")),
            row(&id.to_string())
        );
        assert_eq!(
            run(&format!("SELECT k FROM t WHERE id = {id} FOR UPDATE")),
            row(&k)
        );
        assert_eq!(run(&format!("SELECT k FROM t WHERE id = '{id}'")), row(&k));
        assert_eq!(
            run(&format!("SELECT k FROM t WHERE id = '{id}x'")),
            format!("[[Some(\"{k}\")]] 0 0 \"\" 1")
        );
    }
}

/// A name means the table that it is now.
#[test]
fn tables_come_and_go_between_texts() {
    let fixture = Fixture::open(|_| ());
    let mut sessions = [fixture.database.session(), fixture.database.session()];
    for session in &mut sessions {
        begin(session, "");
    }
    let [one_session, other] = &mut sessions;
    let read =
        |session: &mut Session, id: i64| one(session, &format!("SELECT v FROM t WHERE id = {id}"));
    let found = |text: &str| format!("[[Some(\"{text}\")]] 0 0 \"\" 0");
    for _ in 0..4 {
        assert!(read(one_session, 1).contains("doesn't exist"));
    }
    let base = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20)); INSERT INTO t VALUES (1, 'base'), (2, 'base')";
    one_session.execute(base).expect("a table");
    let hides =
        "CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 5), (2, 5)";
    for _ in 0..4 {
        assert_eq!(read(one_session, 1), found("base"));
        assert_eq!(read(other, 2), found("base"));
    }
    other.execute(hides).expect("a temporary table");
    for id in [1, 2, 1, 2] {
        assert_eq!(read(one_session, id), found("base"));
        assert_eq!(read(other, id), found("5"));
    }
    assert_eq!(fixture.database.temporary_table_count(), 1);
    other.execute("DROP TEMPORARY TABLE t").expect("drops");
    assert_eq!(fixture.database.temporary_table_count(), 0);
    one_session
        .execute("ALTER TABLE t ADD COLUMN w INT FIRST")
        .expect("alters");
    for id in [1, 2, 1, 2] {
        assert_eq!(read(one_session, id), found("base"));
        assert_eq!(read(other, id), found("base"));
    }
    one_session.execute("DROP TABLE t").expect("drops");
    assert!(read(other, 1).contains("doesn't exist"));
    assert!(read(one_session, 1).contains("doesn't exist"));
}
