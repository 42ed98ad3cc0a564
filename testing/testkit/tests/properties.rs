//! What must hold of every statement, over generated statements and rows:
//! ternary logic partitions a table (Rigger and Su, "Finding Bugs in Database Systems via Query
//! Partitioning", 2020), the optimizer changes no count (the same, "NoREC", 2020), two ways to say
//! the same give the same rows, and no configuration changes a result.

use mayfly_engine::{HashMode, Session};
use mayfly_testkit::fixture::{Fixture, must, rows};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// A small deterministic choice of rows, with NULLs, duplicates, and strings equal but for case.
fn fill(session: &mut Session) {
    for (table, n) in [("t", 60), ("u", 40)] {
        must(
            session,
            &format!(
                "CREATE TABLE {table} (i INT, j BIGINT UNSIGNED, s VARCHAR(20), d DECIMAL(8,2), f DOUBLE, x TEXT)"
            ),
        );
        let row = |k: u64| {
            let k = k.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            let or_null = |bit: u64, text: String| {
                if (k >> bit).is_multiple_of(7) {
                    "NULL".to_owned()
                } else {
                    text
                }
            };
            let words = ["a", "A", "b", "B ", "ab", "10", "1e1", "", "ä", "zz"];
            format!(
                "({},{},{},{},{},{})",
                or_null(3, (((k >> 5) % 9) as i64 - 4).to_string()),
                or_null(6, ((k >> 7) % 5).to_string()),
                or_null(9, format!("'{}'", words[(k >> 11) as usize % words.len()])),
                or_null(13, format!("{}.{:02}", (k >> 14) % 3, (k >> 16) % 4 * 25)),
                or_null(17, format!("{}e-1", (k >> 19) % 6)),
                or_null(21, format!("'{}'", words[(k >> 23) as usize % words.len()])),
            )
        };
        let values: Vec<String> = (1..=n).map(row).collect();
        must(
            session,
            &format!("INSERT INTO {table} VALUES {}", values.join(",")),
        );
    }
}

fn empty(mut session: Session) {
    must(&mut session, "DROP TABLE t, u");
}

/// An expression over the columns of table `of`.
fn scalar(of: &'static str) -> impl Strategy<Value = String> {
    let column = prop::sample::select(vec!["i", "j", "s", "d", "f", "x"])
        .prop_map(move |name| format!("{of}.{name}"));
    let literal = prop::sample::select(vec![
        "0", "1", "-2", "NULL", "'a'", "'10'", "''", "0.5", "1e1",
    ])
    .prop_map(str::to_owned);
    let leaf = prop_oneof![4 => column, 1 => literal];
    leaf.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("COALESCE({a}, {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("CONCAT({a}, {b})")),
            inner.clone().prop_map(|a| format!("LENGTH({a})")),
            inner.clone().prop_map(|a| format!("UPPER({a})")),
            (inner.clone(), inner)
                .prop_map(|(a, b)| format!("(CASE WHEN {a} IS NULL THEN {b} ELSE 3 END)")),
        ]
    })
}

/// A condition over the columns of table `of`.
fn condition(of: &'static str) -> impl Strategy<Value = String> {
    let operator = prop::sample::select(vec!["=", "<=>", "<>", "<", "<=", ">", ">="]);
    let leaf = prop_oneof![
        4 => (scalar(of), operator, scalar(of)).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
        1 => scalar(of).prop_map(|a| format!("({a} IS NULL)")),
        1 => (scalar(of), scalar(of), scalar(of)).prop_map(|(a, b, c)| format!("({a} BETWEEN {b} AND {c})")),
        1 => (scalar(of), scalar(of), scalar(of)).prop_map(|(a, b, c)| format!("({a} IN ({b}, {c}))")),
        1 => scalar(of).prop_map(|a| format!("({a} LIKE '%a%')")),
        1 => scalar(of).prop_map(|a| format!("({a} IN (SELECT u.i FROM u))")),
        1 => scalar(of).prop_map(move |a| format!("EXISTS (SELECT 1 FROM u WHERE u.i = {a})")),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} AND {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} OR {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} XOR {b})")),
            inner.prop_map(|a| format!("(NOT {a})")),
        ]
    })
}

fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort();
    rows
}

/// The same statement gives the same answer every time, so a run that fails can be repeated.
fn runner(cases: u32) -> TestRunner {
    let config = Config {
        failure_persistence: None,
        ..Config::with_cases(cases)
    };
    let seed = proptest::test_runner::RngAlgorithm::ChaCha;
    TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(seed),
    )
}

#[test]
fn ternary_logic_partitions_a_table() {
    let fixture = Fixture::open(|options| options.batch_size = 7);
    let mut session = fixture.database.session();
    fill(&mut session);
    let cell = std::cell::RefCell::new(&mut session);
    let froms = vec![
        "t",
        "t LEFT JOIN u AS v ON t.i = v.i",
        "t JOIN (SELECT DISTINCT j FROM u) AS w ON t.j <=> w.j",
    ];
    let cases = (condition("t"), prop::sample::select(froms));
    runner(400)
        .run(&cases, |(condition, from)| {
            let session = &mut *cell.borrow_mut();
            let whole = sorted(must(session, &format!("SELECT * FROM {from}")));
            let mut parts = Vec::new();
            for part in [
                condition.clone(),
                format!("NOT {condition}"),
                format!("{condition} IS NULL"),
            ] {
                parts.extend(must(session, &format!("SELECT * FROM {from} WHERE {part}")));
            }
            prop_assert_eq!(whole, sorted(parts), "{}", condition);
            let counted = must(
                session,
                &format!("SELECT COUNT(*) FROM {from} WHERE {condition}"),
            );
            let summed = must(
                session,
                &format!("SELECT SUM({condition} IS TRUE) FROM {from}"),
            );
            prop_assert_eq!(counted, summed, "{}", condition);
            Ok(())
        })
        .expect("the partitions are the table");
    empty(session);
    fixture.finish();
}

#[test]
fn two_ways_to_say_the_same_agree() {
    let fixture = Fixture::open(|_| {});
    let mut session = fixture.database.session();
    fill(&mut session);
    let cell = std::cell::RefCell::new(&mut session);
    let cases = (scalar("t"), scalar("t"), condition("t"));
    runner(250)
        .run(&cases, |(a, b, p)| {
            let session = &mut *cell.borrow_mut();
            let mut same = |one: String, other: String| {
                let given = sorted(must(session, &one));
                let wanted = sorted(must(session, &other));
                prop_assert_eq!(given, wanted, "{}\n{}", one, other);
                Ok(())
            };
            // Equal keys may show any of their spellings: count them.
            same(
                format!("SELECT COUNT(*) FROM (SELECT DISTINCT {a} AS e, {b} AS g FROM t) AS d"),
                format!("SELECT COUNT(*) FROM (SELECT {a} AS e, {b} AS g FROM t GROUP BY e, g) AS d"),
            )?;
            same(
                format!("SELECT SUM(n) FROM (SELECT {a} AS e, COUNT(*) AS n FROM t WHERE {p} GROUP BY e) AS d"),
                format!("SELECT NULLIF(COUNT(*), 0) FROM t WHERE {p}"),
            )?;
            same(
                format!("SELECT COUNT(*) FROM (SELECT {a} AS e FROM t UNION SELECT {a} FROM t WHERE {p}) AS d"),
                format!("SELECT COUNT(*) FROM (SELECT DISTINCT {a} AS e FROM t) AS d"),
            )?;
            same(
                format!("SELECT COUNT(*) FROM (SELECT {a} AS e FROM t WHERE {p} UNION ALL SELECT {a} FROM t WHERE NOT {p}) AS d"),
                format!("SELECT COUNT(*) FROM t WHERE {p} IS NOT NULL"),
            )?;
            same(
                format!("SELECT COUNT(DISTINCT {a}) FROM t"),
                format!("SELECT COUNT(*) FROM (SELECT DISTINCT {a} AS e FROM t) AS d WHERE e IS NOT NULL"),
            )?;
            same(
                format!("SELECT COUNT(*) FROM t AS t JOIN u ON {a} <=> u.i"),
                format!("SELECT COUNT(*) FROM t AS t, u WHERE {a} <=> u.i"),
            )?;
            same(
                format!("SELECT t.* FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.i = t.i AND {p})"),
                format!("SELECT t.* FROM t WHERE t.i IN (SELECT u.i FROM u) AND {p}"),
            )?;
            same(
                format!("SELECT * FROM (SELECT {a} AS e, {b} AS g FROM t WHERE {p}) AS d"),
                format!("WITH d AS (SELECT {a} AS e, {b} AS g FROM t WHERE {p}) SELECT * FROM d"),
            )
        })
        .expect("both ways agree");
    empty(session);
    fixture.finish();
}

#[test]
fn no_configuration_changes_a_result() {
    let small = |options: &mut mayfly_engine::DatabaseOptions| {
        options
            .variables
            .push(("tmp_table_size".to_owned(), "1024".to_owned()));
    };
    let fixtures = [
        Fixture::open(|_| {}),
        Fixture::open(|options| options.force_overflow = true),
        Fixture::open(|options| options.hash_mode = HashMode::Collide),
        Fixture::open(|options| options.optimizer = false),
        Fixture::open(|options| {
            options.batch_size = 1;
            options.threads = 1;
        }),
        Fixture::open(|options| {
            small(options);
            options.batch_size = 5;
        }),
    ];
    let sessions: Vec<Session> = fixtures
        .iter()
        .map(|fixture| {
            let mut session = fixture.database.session();
            fill(&mut session);
            session
        })
        .collect();
    let sessions = std::cell::RefCell::new(sessions);
    let shape = prop::sample::select(vec![
        "SELECT {a} AS e, COUNT(*), SUM(t.d), MIN({b}), MAX(t.i) FROM t WHERE {p} GROUP BY e",
        "SELECT COUNT(*), COUNT(DISTINCT {a}, {b}), SUM(t.i), AVG(t.d), BIT_XOR(t.j) FROM t WHERE {p}",
        "SELECT DISTINCT {a}, {b} FROM t WHERE {p}",
        "SELECT {a} FROM t WHERE {p} UNION SELECT {b} FROM t",
        "SELECT {a} FROM t INTERSECT SELECT {b} FROM t WHERE {p}",
        "SELECT {a} FROM t EXCEPT ALL SELECT {b} FROM t WHERE {p}",
        "SELECT t.i, {a}, v.j FROM t LEFT JOIN u AS v ON t.s = v.s AND {p}",
        "SELECT t.i, {a}, v.j FROM u AS v RIGHT JOIN t ON t.d = v.d WHERE {p}",
        "SELECT {a}, (SELECT COUNT(*) FROM u WHERE u.s = t.s) FROM t WHERE {p}",
        "SELECT t.i, t.s, COUNT(*) FROM t WHERE {p} GROUP BY t.i, t.s WITH ROLLUP",
        "SELECT GROUP_CONCAT(DISTINCT {a} ORDER BY 1) FROM t WHERE {p} GROUP BY t.j",
        "SELECT d.e, COUNT(*) FROM (SELECT {a} AS e FROM t WHERE {p}) AS d GROUP BY d.e HAVING COUNT(*) > 1",
        "SELECT {a}, {b}, t.i, t.j, t.s, t.d, t.f, t.x FROM t WHERE {p} \
         ORDER BY 1, 2 DESC, t.i, t.j, BINARY t.s, t.d, t.f, BINARY t.x LIMIT 20 OFFSET 3",
    ]);
    let cases = (shape, scalar("t"), scalar("t"), condition("t"));
    runner(400)
        .run(&cases, |(shape, a, b, p)| {
            let sql = shape
                .replace("{a}", &a)
                .replace("{b}", &b)
                .replace("{p}", &p);
            let ordered = sql.contains("LIMIT");
            let mut expected = None;
            for session in sessions.borrow_mut().iter_mut() {
                // Of equal keys any spelling may be shown: compare them as the collation does.
                let answer = match rows(session, &sql) {
                    Ok(rows) if ordered => Ok(rows),
                    Ok(rows) => Ok(sorted(rows.iter().map(|row| folded(row)).collect())),
                    Err(error) => Err(error.errno()),
                };
                match &expected {
                    None => expected = Some(answer),
                    Some(first) => prop_assert_eq!(first, &answer, "{}", sql),
                }
            }
            Ok(())
        })
        .expect("all configurations agree");
    sessions.into_inner().into_iter().for_each(empty);
    fixtures.into_iter().for_each(Fixture::finish);
}

/// The row as the default collation sees it: `a` is `A` is `ä`.
fn folded(row: &str) -> String {
    row.to_lowercase().replace('ä', "a")
}
