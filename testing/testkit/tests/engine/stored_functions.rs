//! Stored functions in expressions. Results, errors and numbers of evaluations are those of MySQL 9.7 for functions of
//! CREATE FUNCTION that do the same.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mayfly_engine::{
    CollationId, DataAccess, FunctionBody, FunctionDefinition, Session, SqlType, TypeKind, Value,
};
use mayfly_testkit::fixture::{Errno, Fixture, SessionExt};

fn int() -> SqlType {
    SqlType::integer(TypeKind::Int)
}

fn text(length: u32) -> SqlType {
    SqlType::varchar(length, CollationId::default())
}

/// A function `name(x)` of INT.
fn of_number(name: &str, access: DataAccess, body: FunctionBody) -> FunctionDefinition {
    FunctionDefinition {
        name: name.to_owned(),
        parameters: vec![("x".to_owned(), int())],
        result: int(),
        is_deterministic: false,
        access,
        body,
    }
}

/// A function without parameters.
fn of_nothing(name: &str, access: DataAccess, statement: &str) -> FunctionDefinition {
    FunctionDefinition {
        parameters: Vec::new(),
        ..of_number(name, access, statement_of(statement))
    }
}

fn statement_of(text: &str) -> FunctionBody {
    FunctionBody::Statement(Arc::from(text))
}

/// A function that adds 1, and counts its evaluations.
fn counting(name: &str, is_deterministic: bool, count: &Arc<AtomicU64>) -> FunctionDefinition {
    let count = Arc::clone(count);
    let body = FunctionBody::Work(Arc::new(move |arguments, _| {
        count.fetch_add(1, Ordering::Relaxed);
        let value = match arguments[0].0 {
            Value::Int(number) => Value::Int(number + 1),
            _ => Value::Null,
        };
        Ok((value, SqlType::bigint()))
    }));
    FunctionDefinition {
        is_deterministic,
        ..of_number(name, DataAccess::ContainsSql, body)
    }
}

/// An engine with the table `t (a, b)` of four rows, the table `log (x)`, and functions of the database `test`:
/// `inc(x)` (deterministic), `ins(x)` adds a row to `log` and gives 1, `logged()` counts its rows.
fn engine() -> (Fixture, Session) {
    let (fixture, mut session) = Fixture::with_session();
    session.must_all([
        "CREATE TABLE t (a INT PRIMARY KEY, b INT, KEY (b))",
        "INSERT INTO t VALUES (1, 10), (2, 20), (3, 30), (4, 40)",
        "CREATE TABLE log (x INT)",
    ]);
    let inc = FunctionDefinition {
        is_deterministic: true,
        ..of_number("inc", DataAccess::NoSql, statement_of("SELECT ? + 1"))
    };
    let insert = statement_of("INSERT INTO log VALUES (?)");
    for function in [
        inc,
        of_number("ins", DataAccess::ModifiesSqlData, insert),
        of_nothing(
            "logged",
            DataAccess::ReadsSqlData,
            "SELECT COUNT(*) FROM log",
        ),
    ] {
        fixture.database.add_function("test", function).unwrap();
    }
    (fixture, session)
}

/// The error of a statement, with its number.
fn error_of(session: &mut Session, sql: &str) -> String {
    let error = session.execute(sql).expect_err(sql);
    format!("{} {}", error.errno(), error.message())
}

/// Statements whose rows are the same for every place of the call, with the number of evaluations of a function that is
/// not deterministic.
const EVALUATIONS: &[(&str, &[&str], u64)] = &[
    ("SELECT nd(1)", &["2"], 1),
    ("SELECT nd(1) FROM t", &["2", "2", "2", "2"], 4),
    (
        "SELECT nd(a), nd(a) FROM t WHERE a < 3",
        &["2\t2", "3\t3"],
        4,
    ),
    ("SELECT a FROM t WHERE a = nd(1)", &["2"], 4),
    ("SELECT a FROM t WHERE b = nd(9)", &["1"], 4),
    (
        "SELECT a FROM t WHERE b + 0 > 15 AND a + 0 > nd(0)",
        &["2", "3", "4"],
        3,
    ),
    ("SELECT nd(a) x FROM t ORDER BY x", &["2", "3", "4", "5"], 4),
    (
        "SELECT a FROM t ORDER BY nd(a) DESC",
        &["4", "3", "2", "1"],
        4,
    ),
    (
        "SELECT nd(a) x, COUNT(*) FROM t GROUP BY x ORDER BY 1 LIMIT 1",
        &["2\t1"],
        4,
    ),
    (
        "SELECT COUNT(*) FROM t GROUP BY nd(a)",
        &["1", "1", "1", "1"],
        4,
    ),
    ("SELECT nd(a) FROM t LIMIT 2", &["2", "3"], 2),
    ("SELECT a FROM t WHERE nd(a) > 0 LIMIT 2", &["1", "2"], 2),
    ("SELECT DISTINCT nd(a) FROM t", &["2", "3", "4", "5"], 4),
    (
        "SELECT x FROM (SELECT nd(a) x FROM t) d",
        &["2", "3", "4", "5"],
        4,
    ),
    (
        "SELECT COUNT(*) FROM (SELECT nd(a) x FROM t LIMIT 2) d",
        &["2"],
        2,
    ),
    (
        "SELECT t.a FROM t JOIN t u ON t.b = u.b WHERE nd(t.a) > 2",
        &["2", "3", "4"],
        4,
    ),
    ("SELECT a FROM t WHERE nd(1) = 3", &[], 4),
    (
        "SELECT a FROM t WHERE a < 3 AND nd(1) BETWEEN 0 AND 5",
        &["1", "2"],
        2,
    ),
    (
        "SELECT a, (SELECT nd(1)) FROM t WHERE a > 2",
        &["3\t2", "4\t2"],
        2,
    ),
    ("SELECT MAX(nd(a)) FROM t", &["5"], 4),
    ("SELECT nd(SUM(a)) FROM t", &["11"], 1),
    (
        "SELECT IF(a > 2, nd(a), 0) FROM t",
        &["0", "0", "4", "5"],
        2,
    ),
    ("SELECT nd(nd(a)) FROM t", &["3", "4", "5", "6"], 8),
    (
        "SELECT CASE nd(a) WHEN 2 THEN 1 WHEN 3 THEN 2 END FROM t WHERE a < 3",
        &["1", "2"],
        2,
    ),
    ("SELECT nd(1) UNION SELECT nd(1)", &["2"], 2),
    ("UPDATE t SET b = nd(b) - 1", &[], 4),
    ("UPDATE t SET b = b ORDER BY nd(a)", &[], 4),
    ("DELETE FROM t WHERE nd(a) = 100", &[], 4),
    ("INSERT INTO log VALUES (nd(1)), (nd(2))", &[], 2),
    ("DO nd(1), nd(2)", &[], 2),
    ("SET @z = nd(4)", &[], 1),
];

#[test]
fn a_function_is_evaluated_as_often_as_in_mysql() {
    let (fixture, mut session) = engine();
    let count = Arc::default();
    let function = counting("nd", false, &count);
    fixture.database.add_function("test", function).unwrap();
    let mut wrong = Vec::new();
    for (sql, rows, evaluations) in EVALUATIONS {
        // Also by the plan that was cached.
        for _ in 0..3 {
            assert_eq!(session.must(sql), *rows, "{sql}");
            let evaluated = count.swap(0, Ordering::Relaxed);
            if evaluated != *evaluations {
                wrong.push(format!("{sql}: {evaluated}, not {evaluations}"));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
    // Conditions that call no function come first, where MySQL keeps the order (`function-evaluations`).
    let sql = "SELECT a FROM t WHERE a + 0 > nd(0) AND b + 0 > 15";
    assert_eq!(session.must(sql), ["2", "3", "4"]);
    assert_eq!(count.swap(0, Ordering::Relaxed), 3);
    assert_eq!(session.value("SELECT @z"), "5");
}

#[test]
fn a_deterministic_function_of_constants_finds_rows_by_an_index() {
    let (fixture, mut session) = engine();
    let count = Arc::default();
    let function = counting("det", true, &count);
    fixture.database.add_function("test", function).unwrap();
    for (sql, rows) in [
        ("SELECT a FROM t WHERE a = det(1)", "2"),
        ("SELECT a FROM t WHERE b = det(9)", "1"),
    ] {
        assert_eq!(session.must(sql), [rows]);
        let evaluations = count.swap(0, Ordering::Relaxed);
        assert!(evaluations < 4, "{sql}: {evaluations}");
        let plan = session
            .must(&format!("EXPLAIN FORMAT=TREE {sql}"))
            .join("\n");
        assert!(plan.contains("lookup on t"), "{plan}");
    }
    let plan = session.must("EXPLAIN FORMAT=TREE SELECT a FROM t WHERE a = ins(1)");
    assert!(plan.join("\n").contains("scan on t"), "{plan:?}");
    assert_eq!(
        count.load(Ordering::Relaxed),
        0,
        "EXPLAIN evaluates nothing"
    );
    assert_eq!(session.value("SELECT COUNT(*) FROM log"), "0");
    // A condition without columns is computed once, and a value for each row.
    session.must("SELECT a FROM t WHERE a + 1 = det(2)");
    assert_eq!(count.swap(0, Ordering::Relaxed), 1);
    session.must("SELECT det(a) FROM t");
    assert_eq!(count.swap(0, Ordering::Relaxed), 4);
}

#[test]
fn names_lead_to_functions_as_in_mysql() {
    let (fixture, mut session) = engine();
    let abs = of_number("abs", DataAccess::NoSql, statement_of("SELECT 77"));
    fixture.database.add_function("test", abs).unwrap();
    let count = of_number("count", DataAccess::NoSql, statement_of("SELECT 78"));
    fixture.database.add_function("test", count).unwrap();
    let again = of_number("INC", DataAccess::NoSql, statement_of("SELECT 1"));
    let taken = fixture.database.add_function("test", again).unwrap_err();
    assert_eq!(
        taken.to_string(),
        "ERROR 1304 (42000): FUNCTION INC already exists"
    );
    let lost = of_number("f", DataAccess::NoSql, statement_of("SELECT 1"));
    let lost = fixture.database.add_function("nowhere", lost).unwrap_err();
    assert_eq!(lost.errno(), 1049);
    for (sql, row) in [
        ("SELECT abs(-3), test.abs(-3), `test`.`aBs`(1)", "3\t77\t77"),
        (
            "SELECT INC(1), test.inc(inc(1)), inc('5'), inc(1.5), inc(NULL)",
            "2\t3\t6\t3\tNULL",
        ),
        ("SELECT inc(a = 1) FROM t WHERE a = 1", "2"),
        (
            "SELECT COUNT(a), count (1), test.count(1), abs (-3) FROM t GROUP BY 'x'",
            "4\t78\t78\t3",
        ),
    ] {
        assert_eq!(session.must(sql), [row], "{sql}");
    }
    for (sql, error) in [
        (
            "SELECT missing(1)",
            "1305 FUNCTION test.missing does not exist",
        ),
        (
            "SELECT test.missing(1)",
            "1305 FUNCTION test.missing does not exist",
        ),
        (
            "SELECT nowhere.inc(1)",
            "1305 FUNCTION nowhere.inc does not exist",
        ),
        (
            "SELECT sum (1)",
            "1630 FUNCTION test.sum does not exist. Check the 'Function Name Parsing and Resolution' \
             section in the Reference Manual",
        ),
        (
            "SELECT inc()",
            "1318 Incorrect number of arguments for FUNCTION test.inc; expected 1, got 0",
        ),
        (
            "SELECT test.inc(1, 2)",
            "1318 Incorrect number of arguments for FUNCTION test.inc; expected 1, got 2",
        ),
        (
            "CREATE TABLE g (a INT, b INT AS (inc(a)))",
            "3763 Expression of generated column 'b' contains a disallowed function: `inc`.",
        ),
        (
            "CREATE TABLE g (a INT, b INT AS (ABS(NoFunc(a))))",
            "3763 Expression of generated column 'b' contains a disallowed function: `NoFunc`.",
        ),
        (
            "CREATE TABLE g (a INT, CHECK (test.inc(a) > 0))",
            "3814 An expression of a check constraint 'g_chk_1' contains disallowed function: \
             `test`.`inc`.",
        ),
        (
            "CREATE TABLE g (a INT DEFAULT (inc(1)))",
            "3770 Default value expression of column 'a' contains a disallowed function: `inc`.",
        ),
        (
            "CREATE TABLE g (a INT, KEY ((inc(a))))",
            "3758 Expression of functional index 'functional_index' contains a disallowed function.",
        ),
    ] {
        assert_eq!(error_of(&mut session, sql), error, "{sql}");
    }
    session.must("CREATE DATABASE other; USE other");
    assert_eq!(
        error_of(&mut session, "SELECT inc(1)"),
        "1305 FUNCTION other.inc does not exist"
    );
    assert_eq!(session.value("SELECT test.inc(1)"), "2");
}

#[test]
fn functions_are_listed() {
    let (fixture, mut session) = engine();
    let gross = FunctionDefinition {
        name: "gross".to_owned(),
        parameters: vec![
            ("net".to_owned(), SqlType::decimal(10, 2)),
            ("name".to_owned(), text(20)),
        ],
        result: SqlType::decimal(10, 2),
        is_deterministic: true,
        access: DataAccess::ReadsSqlData,
        body: statement_of("SELECT ? * 2 + LENGTH(?)"),
    };
    fixture.database.add_function("test", gross).unwrap();
    let counting = counting("counting", false, &Arc::default());
    fixture.database.add_function("test", counting).unwrap();
    assert_eq!(
        session.must(
            "SELECT SPECIFIC_NAME, ROUTINE_SCHEMA, ROUTINE_TYPE, DATA_TYPE, NUMERIC_PRECISION, NUMERIC_SCALE, \
             DTD_IDENTIFIER, ROUTINE_BODY, ROUTINE_DEFINITION, IS_DETERMINISTIC, SQL_DATA_ACCESS, \
             DATEDIFF(CREATED, NOW()) BETWEEN -1 AND 0 FROM information_schema.ROUTINES \
             WHERE ROUTINE_NAME IN ('counting', 'gross') ORDER BY 1"
        ),
        [
            "counting\ttest\tFUNCTION\tint\t10\t0\tint\tEXTERNAL\tNULL\tNO\tCONTAINS SQL\t1",
            "gross\ttest\tFUNCTION\tdecimal\t10\t2\tdecimal(10,2)\tSQL\tSELECT ? * 2 + LENGTH(?)\tYES\t\
             READS SQL DATA\t1",
        ]
    );
    assert_eq!(
        session.must(
            "SELECT ORDINAL_POSITION, PARAMETER_MODE, PARAMETER_NAME, DTD_IDENTIFIER, CHARACTER_OCTET_LENGTH \
             FROM information_schema.PARAMETERS WHERE SPECIFIC_NAME = 'gross' ORDER BY 1"
        ),
        [
            "0\tNULL\tNULL\tdecimal(10,2)\tNULL",
            "1\tIN\tnet\tdecimal(10,2)\tNULL",
            "2\tIN\tname\tvarchar(20)\t80",
        ]
    );
    let names = |rows: Vec<String>| {
        let name = |row: &String| row.split('\t').nth(1).unwrap_or_default().to_owned();
        rows.iter().map(name).collect::<Vec<String>>()
    };
    let shown = session.must("SHOW FUNCTION STATUS WHERE Db = 'test'");
    assert_eq!(names(shown), ["counting", "gross", "inc", "ins", "logged"]);
    let created = session.must("SHOW CREATE FUNCTION gross");
    assert_eq!(created.len(), 1);
    assert!(
        created[0].starts_with("gross\t(empty)\tNULL\t"),
        "{created:?}"
    );
    assert_eq!(session.errno("SHOW CREATE FUNCTION missing"), 1305);
    session.must("DROP FUNCTION gross");
    assert_eq!(session.errno("SHOW CREATE FUNCTION gross"), 1305);
}

#[test]
fn arguments_and_results_are_converted_as_by_assignment() {
    let (fixture, mut session) = engine();
    let twice = FunctionDefinition {
        name: "s".to_owned(),
        parameters: vec![("x".to_owned(), text(3))],
        result: text(5),
        is_deterministic: true,
        access: DataAccess::NoSql,
        body: statement_of("SELECT CONCAT(@s := ?, @s)"),
    };
    fixture.database.add_function("test", twice).unwrap();
    assert_eq!(
        session.must("SELECT s('ab'), s(12), s('é')"),
        ["abab\t1212\téé"]
    );
    for (sql, error) in [
        (
            "SELECT s('abcd')",
            "1406 Data too long for column 'x' at row 1",
        ),
        (
            "SELECT s('abc')",
            "1406 Data too long for column 's('abc')' at row 1",
        ),
        (
            "SELECT s('abc') AS alias",
            "1406 Data too long for column 'alias' at row 1",
        ),
        (
            "SELECT 1 FROM t WHERE s('abc') = 'x'",
            "1406 Data too long for column 's' at row 1",
        ),
        (
            "SELECT inc('abc')",
            "1366 Incorrect integer value: 'abc' for column 'x' at row 1",
        ),
        (
            "SELECT inc('5x')",
            "1265 Data truncated for column 'x' at row 1",
        ),
        (
            "SELECT inc(99999999999)",
            "1264 Out of range value for column 'x' at row 1",
        ),
        (
            "SELECT inc(2147483647)",
            "1264 Out of range value for column 'inc(2147483647)' at row 1",
        ),
    ] {
        assert_eq!(error_of(&mut session, sql), error, "{sql}");
    }
    session.must("CREATE TABLE made AS SELECT inc(1) x, s('a') y");
    let made = session.must("SHOW CREATE TABLE made").join("");
    assert!(made.contains("`x` int DEFAULT NULL"), "{made}");
    assert!(made.contains("`y` varchar(5) DEFAULT NULL"), "{made}");
}

#[test]
fn changes_of_a_function_are_part_of_the_statement() {
    let (fixture, mut session) = engine();
    // Each row sees what the calls for the rows before it have changed.
    assert_eq!(
        session.must("SELECT a, ins(a), logged() FROM t"),
        ["1\t1\t1", "2\t1\t2", "3\t1\t3", "4\t1\t4"]
    );
    session.must("DELETE FROM log");
    session.must("BEGIN; SELECT ins(7)");
    assert_eq!(session.value("SELECT logged()"), "1");
    session.must("ROLLBACK");
    assert_eq!(session.value("SELECT logged()"), "0");
    // Committed with the statement, and seen by others.
    session.must("SELECT ins(1)");
    assert_eq!(fixture.session().value("SELECT COUNT(*) FROM log"), "1");
    session.must("DELETE FROM log");
    let bad = FunctionBody::Work(Arc::new(|arguments, statements| {
        statements.run("INSERT INTO log VALUES (?)", arguments)?;
        if matches!(arguments[0].0, Value::Int(3)) {
            statements.run("INSERT INTO nosuch VALUES (1)", &[])?;
        }
        Ok(arguments[0].clone())
    }));
    let bad = of_number("bad", DataAccess::ModifiesSqlData, bad);
    fixture.database.add_function("test", bad).unwrap();
    assert_eq!(session.must("SELECT bad(1)"), ["1"]);
    assert_eq!(
        error_of(&mut session, "SELECT bad(a) FROM t"),
        "1146 Table 'test.nosuch' doesn't exist"
    );
    assert_eq!(session.must("SELECT * FROM log"), ["1"]);
    session.must("BEGIN; INSERT INTO log VALUES (9)");
    assert_eq!(session.errno("SELECT bad(a) FROM t"), 1146);
    assert_eq!(session.must("SELECT * FROM log"), ["1", "9"]);
    session.must("ROLLBACK; DELETE FROM log");
    session.must("CREATE TABLE e (a INT PRIMARY KEY); INSERT INTO e VALUES (1)");
    assert_eq!(
        session.errno("INSERT INTO e VALUES (bad(5)), (bad(1))"),
        1062
    );
    assert_eq!(session.value("SELECT logged()"), "0");
    session.must("INSERT IGNORE INTO e VALUES (bad(5)), (bad(1))");
    assert_eq!(session.must("SELECT * FROM log"), ["5", "1"]);
    session.must("INSERT INTO e VALUES (1) ON DUPLICATE KEY UPDATE a = bad(20)");
    assert_eq!(session.must("SELECT * FROM e"), ["5", "20"]);
    assert_eq!(session.must("SELECT * FROM log"), ["5", "1", "20"]);
}

#[test]
fn a_table_in_use_outside_is_read_and_not_changed() {
    let (_fixture, mut session) = engine();
    for sql in [
        "INSERT INTO log VALUES (ins(1))",
        "INSERT INTO log SELECT ins(a) FROM t",
        "SELECT ins(1) FROM log, t",
    ] {
        session.must("INSERT INTO log VALUES (0)");
        assert_eq!(
            error_of(&mut session, sql),
            "1442 Can't update table 'log' in stored function/trigger because it is already used \
             by statement which invoked this stored function/trigger.",
            "{sql}"
        );
    }
    session.must("DELETE FROM log");
    session.must("INSERT INTO log SELECT logged() FROM t");
    session.must("INSERT INTO log VALUES (logged()), (logged())");
    assert_eq!(
        session.must("SELECT * FROM log"),
        ["0", "1", "2", "3", "4", "5"]
    );
}

#[test]
fn a_frame_has_numbers_of_its_own() {
    let (fixture, mut session) = engine();
    session.must("CREATE TABLE n (i INT AUTO_INCREMENT PRIMARY KEY, x INT)");
    let add = FunctionBody::Work(Arc::new(|arguments, statements| {
        statements.run("INSERT INTO n (x) VALUES (?)", arguments)?;
        let id = statements.run("SELECT LAST_INSERT_ID()", &[])?;
        let id = id.rows_text()[0][0].clone().unwrap();
        Ok((Value::Int(id.parse().unwrap()), SqlType::bigint()))
    }));
    let add = of_number("add", DataAccess::ModifiesSqlData, add);
    fixture.database.add_function("test", add).unwrap();
    assert_eq!(session.must("SELECT `add`(1), LAST_INSERT_ID()"), ["1\t0"]);
    assert_eq!(session.must("SELECT `add`(2), LAST_INSERT_ID()"), ["2\t0"]);
    assert_eq!(session.must("SELECT LAST_INSERT_ID()"), ["0"]);
    session.must("SELECT ins(1)");
    assert_eq!(session.must("SELECT ROW_COUNT()"), ["-1"]);
}

#[test]
fn recursion_and_commits_are_refused() {
    let (fixture, mut session) = engine();
    for function in [
        of_nothing("ra", DataAccess::ContainsSql, "SELECT rb()"),
        of_nothing("rb", DataAccess::ContainsSql, "SELECT ra()"),
        of_number(
            "rec",
            DataAccess::ContainsSql,
            statement_of("SELECT IF(@r := ?, rec(@r - 1), 0)"),
        ),
        of_nothing("com", DataAccess::ModifiesSqlData, "COMMIT"),
    ] {
        fixture.database.add_function("test", function).unwrap();
    }
    assert_eq!(session.value("SELECT rec(0)"), "0");
    for sql in ["SELECT ra()", "SELECT rec(2)"] {
        assert_eq!(
            error_of(&mut session, sql),
            "1424 Recursive stored functions and triggers are not allowed."
        );
    }
    assert_eq!(session.errno("SELECT com()"), 1422);
    assert_eq!(session.value("SELECT inc(1)"), "2");
}

#[test]
fn a_view_calls_functions_of_its_database() {
    let (_fixture, mut session) = engine();
    session.must("CREATE VIEW v AS SELECT a, inc(a) o FROM t WHERE inc(a) > 2");
    session.must("CREATE DATABASE other; USE other");
    assert_eq!(
        session.must("SELECT * FROM test.v"),
        ["2\t3", "3\t4", "4\t5"]
    );
    assert_eq!(
        session.must("SELECT o FROM test.v WHERE o = test.inc(3)"),
        ["4"]
    );
    session.must("DROP FUNCTION test.inc");
    assert_eq!(session.errno("SELECT * FROM test.v"), 1356);
    assert_eq!(session.errno("DROP FUNCTION test.inc"), 1305);
}

#[test]
fn a_prepared_statement_sees_another_function_of_the_name() {
    let (fixture, mut session) = engine();
    session.must("PREPARE p FROM 'SELECT inc(?)'; SET @x = 4");
    let statement = session.prepare("SELECT inc(a) FROM t WHERE a = 1").unwrap();
    let rows = |session: &mut Session| {
        let stream = session.execute_prepared(&statement, &[])?;
        let result = stream.into_result()?;
        Ok::<_, mayfly_engine::Error>(result.rows_text()[0][0].clone().unwrap())
    };
    for _ in 0..3 {
        assert_eq!(session.must("EXECUTE p USING @x"), ["5"]);
        assert_eq!(rows(&mut session).unwrap(), "2");
    }
    session.must("DROP FUNCTION inc");
    assert_eq!(session.errno("EXECUTE p USING @x"), 1305);
    assert_eq!(rows(&mut session).unwrap_err().errno(), 1305);
    let other = FunctionDefinition {
        result: text(20),
        ..of_number(
            "inc",
            DataAccess::NoSql,
            statement_of("SELECT CONCAT('new', ?)"),
        )
    };
    fixture.database.add_function("test", other).unwrap();
    assert_eq!(session.must("EXECUTE p USING @x"), ["new4"]);
    assert_eq!(rows(&mut session).unwrap(), "new1");
}

#[test]
fn temporary_tables_and_several_threads_are_left_to_the_session() {
    let fixture = Fixture::open(|options| {
        options.threads = 4;
        options.parallel_rows_min = 1;
    });
    let mut session = fixture.session();
    session.must_all([
        "SET cte_max_recursion_depth = 5000",
        "CREATE TABLE many AS WITH RECURSIVE s (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM s \
         WHERE a < 5000) SELECT * FROM s",
        "CREATE TEMPORARY TABLE seen (x INT)",
    ]);
    let keep = statement_of("INSERT INTO seen VALUES (?)");
    let keep = of_number("keep", DataAccess::ModifiesSqlData, keep);
    let inc = FunctionDefinition {
        is_deterministic: true,
        ..of_number("inc", DataAccess::NoSql, statement_of("SELECT ? + 1"))
    };
    fixture.database.add_function("test", keep).unwrap();
    fixture.database.add_function("test", inc).unwrap();
    assert_eq!(session.value("SELECT SUM(inc(a)) FROM many"), "12507500");
    assert_eq!(
        session.value("SELECT COUNT(*) FROM many WHERE inc(a) > 100"),
        "4901"
    );
    assert_eq!(
        session.value("SELECT SUM(keep(a)) FROM many WHERE a <= 500"),
        "500"
    );
    assert_eq!(
        session.must("SELECT COUNT(*), SUM(x) FROM seen"),
        ["500\t125250"]
    );
}

#[test]
fn a_temporary_table_in_use_outside_is_read_and_not_changed() {
    let (fixture, mut session) = engine();
    session.must("CREATE TEMPORARY TABLE tt (a INT); INSERT INTO tt VALUES (1), (2)");
    let add = statement_of("INSERT INTO tt VALUES (?)");
    for function in [
        of_number("fill", DataAccess::ModifiesSqlData, add),
        of_nothing(
            "filled",
            DataAccess::ReadsSqlData,
            "SELECT COUNT(*) FROM tt",
        ),
    ] {
        fixture.database.add_function("test", function).unwrap();
    }
    assert_eq!(
        session.must("SELECT a, fill(a) FROM t"),
        ["1\t1", "2\t1", "3\t1", "4\t1"]
    );
    assert_eq!(session.value("SELECT filled()"), "6");
    assert_eq!(
        error_of(&mut session, "SELECT fill(a) FROM tt"),
        "1137 Can't reopen table: 'tt'"
    );
    // A temporary table may be read twice (`temporary-table-reuse`).
    assert_eq!(
        session.must("SELECT a FROM tt WHERE filled() > a + 3"),
        ["1", "2", "1", "2"]
    );
    session.must("UPDATE tt SET a = filled()");
    assert_eq!(session.must("SELECT DISTINCT a FROM tt"), ["6"]);
    session.must("INSERT INTO tt SELECT filled() FROM t WHERE a < 3");
    assert_eq!(session.must("SELECT a FROM tt WHERE a > 6"), ["7"]);
    session.must("DELETE FROM tt WHERE filled() > 0");
    assert_eq!(session.value("SELECT filled()"), "0");
}

#[test]
fn every_statement_calls_functions() {
    let (_fixture, mut session) = engine();
    for (sql, rows) in [
        ("SELECT inc(1) INTO @v; SELECT @v", "2"),
        ("SET @v = inc(@v); SELECT @v", "3"),
        ("SET @v = (SELECT SUM(inc(a)) FROM t); SELECT @v", "14"),
        (
            "SET sql_select_limit = inc(9); SELECT @@sql_select_limit",
            "10",
        ),
        (
            "CREATE TABLE c AS SELECT inc(a) x FROM t; SELECT SUM(x) FROM c",
            "14",
        ),
        (
            "REPLACE INTO t VALUES (inc(0), inc(99)); SELECT b FROM t WHERE a = 1",
            "100",
        ),
        (
            "UPDATE t SET b = inc(b) WHERE a = inc(0); SELECT b FROM t WHERE a = 1",
            "101",
        ),
        (
            "UPDATE t, (SELECT 1 k UNION SELECT 2) d SET b = inc(b) WHERE a = 1; SELECT b FROM t \
             WHERE a = 1",
            "102",
        ),
        ("SELECT a FROM t WHERE inc(a) = 3 FOR UPDATE", "2"),
        ("SELECT a FROM t WHERE a = (SELECT inc(2) FOR UPDATE)", "3"),
        ("SHOW TABLES WHERE inc(1) = 2 AND Tables_in_test = 'c'", "c"),
        ("PREPARE p FROM 'SELECT ?'; EXECUTE p USING @v", "14"),
        (
            "WITH RECURSIVE r AS (SELECT 1 n UNION SELECT inc(n) FROM r WHERE n < 9) SELECT MAX(n) FROM r",
            "9",
        ),
        (
            "SELECT SUM(a) OVER (ORDER BY inc(a)) FROM t ORDER BY a LIMIT 1",
            "1",
        ),
        (
            "SELECT t.a FROM t LEFT JOIN c ON c.x = inc(t.a) WHERE c.x = 4",
            "3",
        ),
        (
            "DELETE FROM t WHERE inc(a) = 5; SELECT COUNT(*) FROM t",
            "3",
        ),
    ] {
        assert_eq!(session.must(sql), [rows], "{sql}");
    }
    let measured = session
        .must("EXPLAIN ANALYZE SELECT a FROM t WHERE inc(a) > 2")
        .join("\n");
    assert!(measured.contains("(inc(t.a) > 2)"), "{measured}");
    session.must("EXPLAIN FORMAT=TRADITIONAL SELECT inc(a) FROM t");
    let rewritten = session.must("SHOW WARNINGS").join("\n");
    let call = "`inc`(`test`.`t`.`a`) AS `inc(a)`";
    assert!(rewritten.contains(call), "{rewritten}");
    session.must("CREATE VIEW few AS SELECT * FROM t WHERE inc(a) < 9 WITH CHECK OPTION");
    session.must("INSERT INTO few VALUES (7, 7)");
    assert_eq!(session.errno("INSERT INTO few VALUES (8, 8)"), 1369);
    assert_eq!(session.errno("UPDATE few SET a = 8 WHERE a = 7"), 1369);
}

#[test]
fn a_panic_in_a_function_leaves_the_session() {
    let (fixture, mut session) = engine();
    mayfly_testkit::fixture::quiet_panics();
    let broken = FunctionBody::Work(Arc::new(|_, _| panic!("a fault of a function")));
    let broken = of_number("broken", DataAccess::NoSql, broken);
    fixture.database.add_function("test", broken).unwrap();
    session.must("BEGIN; INSERT INTO log VALUES (1)");
    assert_eq!(session.errno("SELECT broken(a) FROM t"), 1105);
    assert_eq!(
        session.must("SELECT DATABASE(), COUNT(*) FROM log"),
        ["test\t1"]
    );
    session.must("ROLLBACK");
    assert_eq!(session.value("SELECT logged()"), "0");
}
