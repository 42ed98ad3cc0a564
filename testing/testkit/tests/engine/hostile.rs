//! Deeply nested and huge statements end in an error or a result, never in a stack overflow, a panic or a process
//! without memory.

use mayfly_engine::{Error, Session};
use mayfly_testkit::fixture::{Fixture, SessionExt};
use mayfly_testkit::words::words;
use mayfly_trials::Random;

/// Runs a test on a thread with the stack of a server's connections.
fn on_a_small_stack(test: impl FnOnce(&mut Session) + Send + 'static) {
    let run = || {
        let (_fixture, mut session) = Fixture::with_session();
        session.must("CREATE TABLE t (a INT, b TEXT)");
        session.must("INSERT INTO t VALUES (1, 'x'), (2, NULL)");
        test(&mut session);
    };
    std::thread::Builder::new()
        .stack_size(1 << 20)
        .spawn(run)
        .expect("a thread can be started")
        .join()
        .expect("no panic");
}

/// Whether an error says what was wrong with the statement, not that Mayfly has a bug.
fn is_clear(error: &Error) -> bool {
    !error.message().contains("internal error")
}

fn answers(session: &mut Session, what: &str, sql: &str) -> Option<Vec<String>> {
    match session.rows(sql) {
        Ok(rows) => Some(rows),
        Err(error) => {
            assert!(is_clear(&error), "{what}: {error}");
            None
        }
    }
}

/// Statements of any depth: the part in « » is repeated once per level.
const DEEP: &[&str] = &[
    "SELECT «(»1«)»",
    "SELECT «NOT »1",
    "SELECT «- »1",
    "SELECT EXTRACTVALUE('<a/>', '«(»1«)»')",
    "SELECT EXTRACTVALUE('<a/>', '«/a»')",
    "SELECT «~»1",
    "SELECT «ABS(»1«)»",
    "SELECT «CASE WHEN 1 THEN »1« END»",
    "SELECT «IF(1, »1«, 0)»",
    "SELECT «(SELECT »1«)»",
    "SELECT «1 IN (SELECT »1«)»",
    "SELECT «EXISTS (SELECT »1«)»",
    "SELECT * FROM «(SELECT * FROM »t«) AS d»",
    "SELECT * FROM «(»t«)»",
    "SELECT «1 + (»1«)»",
    "SELECT 1« + 1»",
    "SELECT 1« AND 1»",
    "SELECT a FROM t WHERE a = 0« OR a = 1»",
    "SELECT 1« = 1»",
    "SELECT 1« UNION ALL SELECT 1»",
    "«(»SELECT 1«)»",
    "SELECT '2024-01-01'« + INTERVAL 1 DAY»",
    "SELECT 'a'« COLLATE utf8mb4_bin»",
    "EXPLAIN SELECT «(»1«)»",
];

/// [`DEEP`] for statements that need not work at any depth.
const DEEP_ERRORS: &[&str] = &[
    "SELECT «ROW(1, »1«)» = 1",
    "SELECT «/*»x«*/ » 1",
    "SELECT «(»",
    "SELECT «f(»",
];

/// A text of this shape with `n` levels.
fn deep(shape: &str, n: usize) -> String {
    let mut text = String::new();
    for part in shape.split_inclusive('»') {
        let (once, repeated) = part.split_once('«').unwrap_or((part, ""));
        text += once;
        text += &repeated.trim_end_matches('»').repeat(n);
    }
    text
}

#[test]
fn deep_nesting_ends_in_an_answer() {
    on_a_small_stack(|session| {
        for n in [10, 100, 1_000, 10_000, 100_000] {
            for shape in DEEP.iter().chain(DEEP_ERRORS) {
                let most = if shape.contains("UNION") { 5_000 } else { n };
                let what = format!("{shape}, {n} deep");
                let answer = answers(session, &what, &deep(shape, n.min(most)));
                let has_to_work = n == 10 && DEEP.contains(shape);
                assert!(answer.is_some() || !has_to_work, "{what}");
            }
        }
    });
}

/// Statements that programs generate are long, not deep.
#[test]
fn long_chains_have_answers() {
    on_a_small_stack(|session| {
        let joined = |n: usize, part: &str, between: &str| vec![part; n].join(between);
        let chains = [
            (joined(50_000, "a", " + "), ["50000", "100000"]),
            (joined(20_001, "a", " - "), ["-19999", "-39998"]),
            (joined(20_001, "(a = 1)", " XOR "), ["1", "0"]),
            (joined(5_000, "1", " DIV ") + " + a", ["2", "3"]),
            (deep("«IF(a = 7, 1, »a«)»", 5_000), ["1", "2"]),
        ];
        for (chain, expected) in chains {
            let found = session.rows(&format!("SELECT {chain} AS x FROM t ORDER BY a"));
            assert_eq!(found.expect("it is not deep"), expected);
        }
        let arms = joined(10_000, "SELECT a FROM t WHERE a = 1", " UNION ALL ");
        let sql = format!("SELECT COUNT(*), SUM(a) FROM ({arms}) d");
        assert_eq!(
            session.rows(&sql).expect("it is not deep"),
            ["10000\t10000"]
        );
        let mixed = joined(
            100,
            "SELECT 1 AS a UNION ALL SELECT 2 EXCEPT SELECT 2",
            " UNION ",
        );
        let found = session.rows(&format!("SELECT COUNT(*) FROM ({mixed}) d"));
        assert_eq!(found.expect("it is not deep"), ["1"]);
    });
}

/// The cost of walking all of them must not double with each level.
#[test]
fn subqueries_in_each_other_above_groups_have_answers() {
    on_a_small_stack(|session| {
        let nested = deep("«(SELECT 1 + »MAX(t.a)«)»", 40);
        let found = session.rows(&format!(
            "SELECT COUNT(*), {nested} FROM t GROUP BY b ORDER BY 2"
        ));
        assert_eq!(found.expect("it is not deep"), ["1\t41", "1\t42"]);
    });
}

/// Expressions over a column `@`, in the form of [`DEEP`].
const DEEP_EXPRESSIONS: &[&str] = &[
    "«(»@«)»",
    "«NOT »@",
    "«ABS(»@«)»",
    "«CAST(»@« AS CHAR)»",
    "«CASE WHEN @ THEN 1 ELSE »@« END»",
    "CASE «WHEN @ > 9 THEN 1 » END",
    "«COALESCE(NULL, »@«)»",
    "@« + @»",
    "«1 + (»@«)»",
    "@« AND @ > 0»",
    "@« OR @ > 9»",
    "«(@ > 0 AND @ < 9 OR »@«)»",
    "@« = @»",
    "@ IN (0«, @ + 1»)",
    "«(@ IN (1, »@«))»",
    "«(@ BETWEEN 0 AND »@«)»",
    "«(@ LIKE »@«)»",
    "«JSON_ARRAY(»@«)»",
    "«(SELECT »@«)»",
    "«EXISTS (SELECT 1 FROM t AS x WHERE »@«)»",
    "«@ IN (SELECT »@«)»",
];

/// Deep expressions over a column, so that nothing is constant-folded: through every form of EXPLAIN, through PREPARE,
/// and with an error at the bottom.
#[test]
fn deep_nesting_is_explained_prepared_and_refused() {
    on_a_small_stack(|session| {
        for n in [100, 10_000, 100_000] {
            let few = n.min(1_000);
            for shape in DEEP_EXPRESSIONS {
                let what = format!("{shape}, {n} deep");
                let shape = deep(shape, if shape.contains("SELECT") { few } else { n });
                for (column, suffix) in [("t.a", ""), ("t.nothing", " of an error")] {
                    let sql = format!("SELECT {} FROM t", shape.replace('@', column));
                    let what = format!("{what}{suffix}");
                    answers(session, &what, &sql);
                    answers(
                        session,
                        &what,
                        &format!("SELECT 1 FROM t WHERE {}", &sql[7..sql.len() - 7]),
                    );
                    // Refused statements are refused before they are explained.
                    if n == 10_000 && suffix.is_empty() {
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
            let unions = deep("SELECT a FROM t« UNION SELECT a + 1 FROM t»", n.min(10_000));
            let tables = format!(
                "WITH c0 AS (SELECT 1 AS a){} SELECT * FROM c{few}",
                (1..=few)
                    .map(|i| format!(", c{i} AS (SELECT a + 1 AS a FROM c{})", i - 1))
                    .collect::<String>()
            );
            let derived = deep("SELECT * FROM «(SELECT a + 1 AS a FROM »t«) AS d»", few);
            let grouped = "SELECT * FROM «(SELECT DISTINCT a FROM »t«) AS d»";
            let grouped = deep(grouped, few.min(100));
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

/// Derived tables, common table expressions and views that cannot be merged make a plan as deep as they are. The
/// nesting of a statement is limited, that of views is not.
#[test]
fn deep_plans_have_answers() {
    on_a_small_stack(|session| {
        for (shape, expected) in [
            ("«(SELECT DISTINCT a FROM »t«) AS d»", ["1", "2"]),
            ("«(SELECT a FROM »t« LIMIT 5) AS d»", ["1", "2"]),
            ("«(SELECT a FROM »t« ORDER BY a LIMIT 5) AS d»", ["1", "2"]),
            (
                "«(SELECT a, COUNT(*) FROM »t« GROUP BY a) AS d»",
                ["1\t1", "2\t1"],
            ),
            (
                "«(SELECT a, RANK() OVER (ORDER BY a) FROM »t«) AS d»",
                ["1\t1", "2\t2"],
            ),
        ] {
            let sql = format!("SELECT * FROM {} ORDER BY a", deep(shape, 80));
            assert_eq!(session.rows(&sql).expect(shape), expected, "{shape}");
        }
        let chain: String = (1..=2_000)
            .map(|i| {
                let before = i - 1;
                format!(", c{i} AS (SELECT l.a FROM c{before} l JOIN c{before} r USING (a) GROUP BY l.a)")
            })
            .collect();
        let chain = format!("WITH c0 AS (SELECT a FROM t){chain} SELECT * FROM c2000 ORDER BY a");
        assert_eq!(session.rows(&chain).expect("not deep"), ["1", "2"]);
        session.must("CREATE VIEW v0 AS SELECT a FROM t");
        for i in 1..=200 {
            let before = i - 1;
            session.must(&format!(
                "CREATE VIEW v{i} AS SELECT a, COUNT(*) FROM v{before} GROUP BY a"
            ));
        }
        for explain in ["", "EXPLAIN ", "EXPLAIN FORMAT=TREE ", "EXPLAIN ANALYZE "] {
            let rows = session.must(&format!("{explain}SELECT * FROM v200 ORDER BY a"));
            assert!(!explain.is_empty() || rows == ["1\t1", "2\t1"], "{rows:?}");
        }
    });
}

#[test]
fn deep_json_ends_in_an_answer() {
    on_a_small_stack(|session| {
        let ok = deep("SELECT JSON_DEPTH('«[»1«]»')", 99);
        assert_eq!(answers(session, "JSON", &ok), Some(vec!["100".to_owned()]));
        for n in [101, 10_000, 1_000_000] {
            for json in ["«[»1«]»", "«{\"a\":»1«}»"] {
                let sql = format!("SELECT CAST('{}' AS JSON)", deep(json, n));
                let error = session.rows(&sql).expect_err("more than 100 levels");
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
        let tables: Vec<String> = (0..70).map(|i| format!("t AS t{i}")).collect();
        // Queries that must return rows, or these rows.
        let none: &[&str] = &[];
        for (sql, expected) in [
            (format!("SELECT {}", list(4096)), none),
            (format!("SELECT 1{}", ";SELECT 1".repeat(10_000)), none),
            (
                format!("SELECT COUNT(*) FROM t WHERE a IN ({})", list(100_000)),
                &["2"][..],
            ),
            (
                deep("SELECT REPEAT('a', 3000) LIKE '«%a»b'", 30),
                &["0"][..],
            ),
        ] {
            let what: String = sql.chars().take(60).collect();
            let found = answers(session, &what, &sql);
            let found = found.unwrap_or_else(|| panic!("{what}: no answer"));
            assert!(
                expected.is_empty() || found == expected,
                "{what}: {found:?}"
            );
        }
        session.must(&deep("INSERT INTO t (a) VALUES (7)«,(7)»", 49_999));
        let count = session.must("SELECT COUNT(*) FROM t WHERE a = 7");
        assert_eq!(count, ["50000"]);
        // Many tables without rows.
        session.must("TRUNCATE t");
        for sql in [
            deep("SELECT LENGTH('«x»')", 16 << 20),
            format!("SELECT {}", list(100_000)),
            format!("SELECT * FROM {}", tables.join(",")),
            deep("SELECT `«c»` FROM t", 100_000),
            deep("SELECT «9»", 1_000_000),
            deep("SELECT 'a' LIKE '«%a»'", 50_000),
            format!("SELECT CONCAT({})", vec!["'a'"; 50_000].join(",")),
        ] {
            let what: String = sql.chars().take(60).collect();
            answers(session, &what, &sql);
        }
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
fn nested_calls_end_at_the_longest_packet() {
    on_a_small_stack(|session| {
        for (value, is_null) in [
            ("HEX(REPEAT('a', 20000000))", "0"),
            ("HEX(HEX(REPEAT('a', 20000000)))", "1"),
            ("HEX(HEX(HEX(HEX(HEX(REPEAT('a', 20000000))))))", "1"),
            ("TO_BASE64(HEX(REPEAT('a', 30000000)))", "1"),
            ("QUOTE(REPEAT('a', 67108864))", "1"),
        ] {
            let sql = format!("SELECT {value} IS NULL");
            assert_eq!(session.value(&sql), is_null, "{value}");
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
            if session
                .rows("SELECT COUNT(*) FROM t")
                .is_ok_and(|count| count.len() == 1 && count[0].len() > 3)
            {
                session.must("TRUNCATE t");
            }
        }
    });
}
