//! Prepared statements on one row by its key leave what the same statements leave that are not prepared:
//! rows, results, errors, warnings, counters, and what ROLLBACK undoes.

use mayfly_engine::{Session, SqlType, StatementResult, TypeKind, Value};
use mayfly_testkit::fixture::Fixture;

const TABLE: &str = "CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, k INT NOT NULL, \
    v VARCHAR(20), d DECIMAL(10, 2), n BIGINT UNSIGNED DEFAULT 7, u VARCHAR(30), UNIQUE (u), INDEX (k))";

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
    for (mode, transaction) in [
        ("", false),
        ("STRICT_TRANS_TABLES", false),
        ("STRICT_TRANS_TABLES", true),
    ] {
        let fixture = Fixture::open(|_| ());
        let mut sessions = [fixture.database.session(), fixture.database.session()];
        for session in &mut sessions {
            session
                .execute("CREATE DATABASE IF NOT EXISTS d; USE d")
                .expect("a database");
            session
                .execute(&format!("SET sql_mode = '{mode}'"))
                .expect("sets");
            session.execute(TABLE).expect("makes a table");
            if transaction {
                session
                    .execute("INSERT INTO t (id, k, u) VALUES (3, 4, 'kept')")
                    .expect("a row");
                session.execute("BEGIN").expect("begins");
            }
        }
        let [prepared, direct] = &mut sessions;
        let mut statements: Vec<(&str, _)> = Vec::new();
        for (sql, values) in &steps {
            let known = statements.iter().position(|(text, _)| text == sql);
            let known = known.unwrap_or_else(|| {
                statements.push((sql, prepared.prepare(sql).expect("prepares")));
                statements.len() - 1
            });
            let statement = std::sync::Arc::clone(&statements[known].1);
            let result = prepared.execute_prepared(&statement, values);
            let result = show(result.and_then(mayfly_engine::ResultStream::into_result));
            let text = plain(sql, values);
            assert_eq!(result, one(direct, &text), "{text} ({mode})");
            assert_eq!(left(prepared), left(direct), "after {text} ({mode})");
        }
        if transaction {
            for session in [&mut *prepared, &mut *direct] {
                session.execute("ROLLBACK").expect("undoes");
                let rows = one(session, "SELECT id, k, u FROM t");
                assert_eq!(rows, r#"[[Some("3"), Some("4"), Some("kept")]] 0 0 "" 0"#);
            }
        }
        drop(statements);
        drop(sessions);
    }
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
