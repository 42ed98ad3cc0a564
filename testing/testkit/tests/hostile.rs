//! Deeply nested and huge statements end in an error or a result, never in a stack overflow, a
//! panic or a process without memory.

use mayfly_engine::{Error, Session};
use mayfly_testkit::fixture::{Fixture, must, rows};
use mayfly_testkit::random::{Random, words};

/// Runs on a thread with the stack that a server gives its connections.
fn on_a_small_stack(test: impl FnOnce(&mut Session) + Send + 'static) {
    let run = || {
        let fixture = Fixture::open(|_| {});
        let mut session = fixture.database.session();
        must(&mut session, "CREATE TABLE t (a INT, b TEXT)");
        must(&mut session, "INSERT INTO t VALUES (1, 'x'), (2, NULL)");
        test(&mut session);
        must(&mut session, "DROP TABLE t");
        drop(session);
        fixture.finish();
    };
    std::thread::Builder::new()
        .stack_size(1 << 20)
        .spawn(run)
        .expect("a thread can be started")
        .join()
        .expect("no panic");
}

/// An error that says what was wrong with the statement, not that Mayfly has a bug.
fn is_clear(error: &Error) -> bool {
    !error.message().contains("internal error")
}

fn answers(session: &mut Session, what: &str, sql: &str) -> Option<Vec<String>> {
    match rows(session, sql) {
        Ok(rows) => Some(rows),
        Err(error) => {
            assert!(is_clear(&error), "{what}: {error}");
            None
        }
    }
}

/// `head` n times, then `middle`, then `tail` n times.
fn nest(n: usize, head: &str, middle: &str, tail: &str) -> String {
    [&head.repeat(n), middle, &tail.repeat(n)].concat()
}

#[test]
fn deep_nesting_ends_in_an_answer() {
    on_a_small_stack(|session| {
        for n in [10, 100, 1_000, 10_000, 100_000] {
            let shapes = [
                ("parentheses", format!("SELECT {}", nest(n, "(", "1", ")"))),
                ("NOT", format!("SELECT {}1", "NOT ".repeat(n))),
                ("minus", format!("SELECT {}1", "- ".repeat(n))),
                (
                    "XPath",
                    format!("SELECT EXTRACTVALUE('<a/>', '{}')", nest(n, "(", "1", ")")),
                ),
                (
                    "steps of XPath",
                    format!("SELECT EXTRACTVALUE('<a/>', '{}')", "/a".repeat(n)),
                ),
                ("tilde", format!("SELECT {}1", "~".repeat(n))),
                ("calls", format!("SELECT {}", nest(n, "ABS(", "1", ")"))),
                (
                    "CASE",
                    format!("SELECT {}", nest(n, "CASE WHEN 1 THEN ", "1", " END")),
                ),
                ("IF", format!("SELECT {}", nest(n, "IF(1, ", "1", ", 0)"))),
                (
                    "scalar subqueries",
                    format!("SELECT {}", nest(n, "(SELECT ", "1", ")")),
                ),
                (
                    "IN subqueries",
                    format!("SELECT {}", nest(n, "1 IN (SELECT ", "1", ")")),
                ),
                (
                    "EXISTS",
                    format!("SELECT {}", nest(n, "EXISTS (SELECT ", "1", ")")),
                ),
                (
                    "derived tables",
                    format!(
                        "SELECT * FROM {}",
                        nest(n, "(SELECT * FROM ", "t", ") AS d")
                    ),
                ),
                (
                    "joins in parentheses",
                    format!("SELECT * FROM {}", nest(n, "(", "t", ")")),
                ),
                (
                    "sums to the right",
                    format!("SELECT {}", nest(n, "1 + (", "1", ")")),
                ),
                ("sums to the left", format!("SELECT 1{}", " + 1".repeat(n))),
                (
                    "concatenated conditions",
                    format!("SELECT 1{}", " AND 1".repeat(n)),
                ),
                (
                    "alternatives",
                    format!("SELECT a FROM t WHERE a = 0{}", " OR a = 1".repeat(n)),
                ),
                ("comparisons", format!("SELECT 1{}", " = 1".repeat(n))),
                (
                    "unions",
                    format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(n.min(5_000))),
                ),
                ("unions in parentheses", nest(n, "(", "SELECT 1", ")")),
                (
                    "intervals",
                    format!("SELECT '2024-01-01'{}", " + INTERVAL 1 DAY".repeat(n)),
                ),
                (
                    "COLLATE",
                    format!("SELECT 'a'{}", " COLLATE utf8mb4_bin".repeat(n)),
                ),
                (
                    "rows",
                    format!("SELECT {} = 1", nest(n, "ROW(1, ", "1", ")")),
                ),
                (
                    "comments",
                    format!("SELECT {} 1", nest(n, "/*", "x", "*/ ")),
                ),
                (
                    "EXPLAIN",
                    format!("EXPLAIN SELECT {}", nest(n, "(", "1", ")")),
                ),
                ("open parentheses", format!("SELECT {}", "(".repeat(n))),
                ("open calls", format!("SELECT {}", "f(".repeat(n))),
            ];
            for (what, sql) in shapes {
                let answer = answers(session, &format!("{what}, {n} deep"), &sql);
                if n == 10
                    && !matches!(
                        what,
                        "open parentheses" | "open calls" | "comments" | "rows"
                    )
                {
                    assert!(answer.is_some(), "{what}: ten levels must work");
                }
            }
        }
    });
}

/// What programs write by the thousand is long, not deep.
#[test]
fn long_chains_have_answers() {
    on_a_small_stack(|session| {
        let joined = |n: usize, part: &str, between: &str| vec![part; n].join(between);
        let chains = [
            (joined(50_000, "a", " + "), ["50000", "100000"]),
            (joined(20_001, "a", " - "), ["-19999", "-39998"]),
            (joined(20_001, "(a = 1)", " XOR "), ["1", "0"]),
            (joined(5_000, "1", " DIV ") + " + a", ["2", "3"]),
            (nest(5_000, "IF(a = 7, 1, ", "a", ")"), ["1", "2"]),
        ];
        for (chain, expected) in chains {
            let found = rows(session, &format!("SELECT {chain} AS x FROM t ORDER BY a"));
            assert_eq!(found.expect("it is not deep"), expected);
        }
        let arms = joined(10_000, "SELECT a FROM t WHERE a = 1", " UNION ALL ");
        let sql = format!("SELECT COUNT(*), SUM(a) FROM ({arms}) d");
        assert_eq!(
            rows(session, &sql).expect("it is not deep"),
            ["10000\t10000"]
        );
        let mixed = joined(
            100,
            "SELECT 1 AS a UNION ALL SELECT 2 EXCEPT SELECT 2",
            " UNION ",
        );
        let found = rows(session, &format!("SELECT COUNT(*) FROM ({mixed}) d"));
        assert_eq!(found.expect("it is not deep"), ["1"]);
    });
}

/// What a walk of them all takes doubles with no level.
#[test]
fn subqueries_in_each_other_above_groups_have_answers() {
    on_a_small_stack(|session| {
        let nested = nest(40, "(SELECT 1 + ", "MAX(t.a)", ")");
        let found = rows(
            session,
            &format!("SELECT COUNT(*), {nested} FROM t GROUP BY b ORDER BY 2"),
        );
        assert_eq!(found.expect("it is not deep"), ["1\t41", "1\t42"]);
    });
}

/// As above over a column, so that nothing is folded away: through every way of explaining, through
/// PREPARE, and with an error at the bottom.
#[test]
fn deep_nesting_is_explained_prepared_and_refused() {
    on_a_small_stack(|session| {
        for n in [100, 10_000, 100_000] {
            let few = n.min(1_000);
            let shapes = [
                ("parentheses", nest(n, "(", "@", ")")),
                ("NOT", format!("{}@", "NOT ".repeat(n))),
                ("calls", nest(n, "ABS(", "@", ")")),
                ("conversions", nest(n, "CAST(", "@", " AS CHAR)")),
                ("CASE", nest(n, "CASE WHEN @ THEN 1 ELSE ", "@", " END")),
                (
                    "many WHEN",
                    format!("CASE {} END", "WHEN @ > 9 THEN 1 ".repeat(n)),
                ),
                ("COALESCE", nest(n, "COALESCE(NULL, ", "@", ")")),
                ("sum", format!("@{}", " + @".repeat(n))),
                ("sum to the right", nest(n, "1 + (", "@", ")")),
                ("AND", format!("@{}", " AND @ > 0".repeat(n))),
                ("OR", format!("@{}", " OR @ > 9".repeat(n))),
                ("AND and OR", nest(n, "(@ > 0 AND @ < 9 OR ", "@", ")")),
                ("comparisons", format!("@{}", " = @".repeat(n))),
                ("IN list", format!("@ IN (0{})", ", @ + 1".repeat(n))),
                ("IN lists", nest(n, "(@ IN (1, ", "@", "))")),
                ("BETWEEN", nest(n, "(@ BETWEEN 0 AND ", "@", ")")),
                ("LIKE", nest(n, "(@ LIKE ", "@", ")")),
                ("JSON", nest(n, "JSON_ARRAY(", "@", ")")),
                ("scalar subqueries", nest(few, "(SELECT ", "@", ")")),
                (
                    "EXISTS",
                    nest(few, "EXISTS (SELECT 1 FROM t AS x WHERE ", "@", ")"),
                ),
                ("IN subqueries", nest(few, "@ IN (SELECT ", "@", ")")),
            ];
            for (what, shape) in shapes {
                let what = format!("{what}, {n} deep");
                for (column, suffix) in [("t.a", ""), ("t.nothing", " of an error")] {
                    let sql = format!("SELECT {} FROM t", shape.replace('@', column));
                    let what = format!("{what}{suffix}");
                    answers(session, &what, &sql);
                    answers(
                        session,
                        &what,
                        &format!("SELECT 1 FROM t WHERE {}", &sql[7..sql.len() - 7]),
                    );
                    if n == 10_000 {
                        for explain in ["", "FORMAT=TREE ", "FORMAT=JSON ", "ANALYZE "] {
                            answers(session, &what, &format!("EXPLAIN {explain}{sql}"));
                        }
                        answers(session, &what, "SHOW WARNINGS");
                        let quoted = sql.replace('\'', "\'\'");
                        answers(session, &what, &format!("PREPARE p FROM '{quoted}'"));
                        answers(session, &what, "EXECUTE p");
                        answers(session, &what, "DEALLOCATE PREPARE p");
                    }
                }
            }
            let unions = format!(
                "SELECT a FROM t{}",
                " UNION SELECT a + 1 FROM t".repeat(n.min(10_000))
            );
            let tables = format!(
                "WITH c0 AS (SELECT 1 AS a){} SELECT * FROM c{few}",
                (1..=few)
                    .map(|i| format!(", c{i} AS (SELECT a + 1 AS a FROM c{})", i - 1))
                    .collect::<String>()
            );
            let derived = format!(
                "SELECT * FROM {}",
                nest(few, "(SELECT a + 1 AS a FROM ", "t", ") AS d")
            );
            let grouped = format!(
                "SELECT * FROM {}",
                nest(few.min(100), "(SELECT DISTINCT a FROM ", "t", ") AS d")
            );
            for (what, sql) in [
                ("unions", unions),
                ("tables", tables),
                ("derived", derived),
                ("grouped", grouped),
            ] {
                let what = format!("{what}, {n} deep");
                for prefix in [
                    "",
                    "EXPLAIN ",
                    "EXPLAIN FORMAT=TREE ",
                    "EXPLAIN FORMAT=JSON ",
                ] {
                    let begun = std::time::Instant::now();
                    answers(session, &what, &format!("{prefix}{sql}"));
                    let taken = begun.elapsed().as_secs();
                    assert!(taken < 100, "{prefix}{what}: {taken} s");
                }
            }
        }
    });
}

#[test]
fn deep_json_ends_in_an_answer() {
    on_a_small_stack(|session| {
        let ok = format!("SELECT JSON_DEPTH('{}')", nest(99, "[", "1", "]"));
        assert_eq!(answers(session, "JSON", &ok), Some(vec!["100".to_owned()]));
        for n in [101, 10_000, 1_000_000] {
            for (head, tail) in [("[", "]"), ("{\"a\":", "}")] {
                let sql = format!("SELECT CAST('{}' AS JSON)", nest(n, head, "1", tail));
                let error = rows(session, &sql).expect_err("more than 100 levels");
                assert_eq!(error.errno(), 3157, "{error}");
            }
        }
        let path = format!("SELECT JSON_EXTRACT('[1]', '${}')", "[0]".repeat(100_000));
        answers(session, "path", &path);
    });
}

#[test]
fn huge_statements_end_in_an_answer() {
    on_a_small_stack(|session| {
        let list = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
        let sql = format!("SELECT COUNT(*) FROM t WHERE a IN ({})", list(100_000));
        assert_eq!(
            answers(session, "long IN", &sql),
            Some(vec!["2".to_owned()])
        );
        let sql = format!("SELECT LENGTH('{}')", "x".repeat(16 << 20));
        answers(session, "long literal", &sql);
        let sql = format!("SELECT {}", list(4096));
        assert!(answers(session, "4096 columns", &sql).is_some());
        let sql = format!("SELECT {}", list(100_000));
        answers(session, "100000 columns", &sql);
        let sql = format!("INSERT INTO t (a) VALUES {}", vec!["(7)"; 50_000].join(","));
        assert!(answers(session, "long INSERT", &sql).is_some());
        assert_eq!(
            must(session, "SELECT COUNT(*) FROM t WHERE a = 7"),
            ["50000"]
        );
        must(session, "TRUNCATE t");
        let sql = format!(
            "SELECT * FROM {}",
            vec!["t"; 70]
                .iter()
                .enumerate()
                .map(|(i, t)| format!("{t} AS t{i}"))
                .collect::<Vec<_>>()
                .join(",")
        );
        answers(session, "70 tables", &sql);
        let sql = format!("SELECT `{}` FROM t", "c".repeat(100_000));
        answers(session, "long name", &sql);
        let sql = format!("SELECT 1{}", ";SELECT 1".repeat(10_000));
        assert!(answers(session, "many statements", &sql).is_some());
        let sql = format!("SELECT {}", "9".repeat(1_000_000));
        answers(session, "long number", &sql);
        let sql = format!("SELECT 'a' LIKE '{}'", "%a".repeat(50_000));
        answers(session, "long pattern", &sql);
        let sql = format!("SELECT REPEAT('a', 3000) LIKE '{}b'", "%a".repeat(30));
        assert_eq!(
            answers(session, "backtracking", &sql),
            Some(vec!["0".to_owned()])
        );
        let sql = format!("SELECT CONCAT({})", vec!["'a'"; 50_000].join(","));
        answers(session, "many arguments", &sql);
    });
}

#[test]
fn huge_values_end_in_an_answer() {
    on_a_small_stack(|session| {
        for sql in [
            "SELECT REPEAT('x', 1000000000000)",
            "SELECT LENGTH(REPEAT('x', 67108864))",
            "SELECT LPAD('x', 18446744073709551615, 'y')",
            "SELECT RPAD('x', 9223372036854775807, 'y')",
            "SELECT SPACE(4294967296)",
            "SELECT INSERT('a', 1, 1, REPEAT('x', 100000000))",
            "SELECT REPLACE(REPEAT('x', 1000000), 'x', REPEAT('y', 1000))",
            "SELECT LENGTH(HEX(REPEAT('x', 60000000)))",
            "SELECT 1e308 * 10, -1e308 * 10, 1e308 + 1e308",
            "SELECT 9223372036854775807 + 1",
            "SELECT -9223372036854775808 DIV -1",
            "SELECT -9223372036854775808 % -1",
            "SELECT ABS(-9223372036854775808)",
            "SELECT 99999999999999999999999999999999999999999999999999999999999999999 * 99999",
            "SELECT POW(10, 400), EXP(1000), COT(0), LOG(-1), SQRT(-1)",
            "SELECT '9999-12-31' + INTERVAL 9223372036854775807 YEAR",
            "SELECT '0001-01-01' - INTERVAL 1000000 DAY",
            "SELECT FROM_DAYS(-9223372036854775808), FROM_DAYS(9223372036854775807)",
            "SELECT FROM_UNIXTIME(-1), FROM_UNIXTIME(1e300)",
            "SELECT SEC_TO_TIME(9223372036854775807), MAKETIME(99999999999, 1, 1)",
            "SELECT MAKEDATE(9223372036854775807, 1), PERIOD_ADD(9223372036854775807, 1)",
            "SELECT SUBSTRING('abc', -9223372036854775808, 9223372036854775807)",
            "SELECT CHAR(18446744073709551615), CONV('zzzzzzzzzzzzzzzzzzzz', 36, 2)",
            "SELECT FORMAT(1e300, 100), ROUND(1e300, -400), TRUNCATE(1, 9223372036854775807)",
            "SELECT ROUND(9223372036854775807, -19), ROUND(5, -9223372036854775808)",
            "SELECT 1 << 64, 1 >> -1, ~0, -1 & 18446744073709551615",
            "SELECT a FROM t LIMIT 18446744073709551615 OFFSET 18446744073709551615",
            "SELECT CAST('1e400' AS DOUBLE), CAST('1e400' AS DECIMAL(65, 30)), CAST('x' AS SIGNED)",
            "SELECT GROUP_CONCAT(REPEAT('x', 1000000)) FROM t",
            "SELECT STR_TO_DATE(REPEAT('9', 100000), '%Y%m%d'), DATE_FORMAT(NOW(), REPEAT('%M', 100000)) IS NULL",
            "SELECT REGEXP_LIKE(REPEAT('a', 1000), '(a+)+$'), REGEXP_LIKE(REPEAT('a', 30), '(a|aa)+b')",
        ] {
            answers(session, sql, sql);
        }
    });
}

#[test]
fn word_salad_gives_answers() {
    on_a_small_stack(|session| {
        let (mut random, all) = (Random(1), words());
        for _ in 0..6_000 {
            let words = (0..=random.below(24)).map(|_| &*all[random.below(all.len())]);
            let sql = words.collect::<Vec<_>>().join(" ");
            answers(session, &sql, &sql);
            let sql = format!("SELECT {sql}");
            answers(session, &sql, &sql);
            if rows(session, "SELECT COUNT(*) FROM t")
                .is_ok_and(|count| count.len() == 1 && count[0].len() > 3)
            {
                must(session, "TRUNCATE t");
            }
        }
        // A statement of the salad may have made it.
        must(session, "USE test");
        must(session, "DROP TABLE IF EXISTS u");
    });
}
