//! EXPLAIN of statements over the tables of [`crate::testing`].

use super::{JsonVersion, MemoryLimit, Subject, json, traditional, tree};
use crate::catalog::Explanation;
use crate::testing::{Explaining, check_cases, parsed, planned};

#[track_caller]
fn check_tree(cases: &str) {
    check_cases(cases, |sql| tree(&Subject::from(&planned(sql))));
}

#[track_caller]
fn check_rows(cases: &str) {
    check_cases(cases, |sql| {
        let rows = traditional(&Subject::from(&planned(sql)));
        let rows = rows.into_iter().map(|row| {
            format!(
                "{} {} {} {} {}",
                row.id,
                row.select_type,
                row.table.as_deref().unwrap_or("NULL"),
                row.rows.map_or("NULL".to_owned(), |rows| rows.to_string()),
                row.extra.as_deref().unwrap_or("NULL"),
            )
        });
        rows.collect::<Vec<_>>().join("\n")
    });
}

#[test]
fn a_tree_names_columns_costs_and_tables() {
    check_tree(
        "
        SELECT a, count(*) FROM t WHERE b = 'x' GROUP BY a ORDER BY count(*) DESC LIMIT 3
          -> Limit: 3 row(s)  (cost=120..120 rows=3)
              -> Sort: count(0) DESC, limit input to 3 row(s) per chunk  (cost=120..120 rows=3) [ORDER BY has no index to follow: 50 rows, 4 KiB]
                  -> Table scan on <temporary>  (cost=110..115 rows=50)
                      -> Aggregate using temporary table  (cost=110..110 rows=50) [GROUP BY has no index to follow: 50 rows, 8 KiB]
                          -> Filter: (t.b = 'x')  (cost=100 rows=100)
                              -> Table scan on t  (cost=100 rows=1000)
        SELECT t.a + 1 FROM t JOIN u ON t.a = u.a AND t.id < u.c
          -> Inner hash join (t.a = u.a), extra conditions: (t.id < u.c)  (cost=135 rows=333)
              -> Table scan on t  (cost=100 rows=1000)
              -> Hash [join has no index to follow: hash table over its smaller side: 10 rows, 8 KiB]
                  -> Table scan on u  (cost=1.25 rows=10)
        SELECT 1
          -> Rows fetched before execution  (cost=0..0 rows=1)
        SELECT a, (SELECT max(c) FROM u WHERE u.a = t.a) m FROM t WHERE id = 5
          -> Filter: (t.id = 5)  (cost=100 rows=1)
              -> Table scan on t  (cost=100 rows=1000)
          -> Select #2 (subquery in projection; dependent)
              -> Aggregate: max(u.c)  (cost=1.35 rows=1)
                  -> Filter: (u.a = ?)  (cost=1.25 rows=1)
                      -> Table scan on u  (cost=1.25 rows=10)
        ",
    );
}

#[test]
fn rows_are_those_of_mysql() {
    check_rows(
        "
        SELECT 1
          1 SIMPLE NULL NULL No tables used
        SELECT DISTINCT a FROM t ORDER BY a
          1 SIMPLE t 1000 Using temporary; Using filesort
        SELECT a FROM t UNION SELECT a FROM u
          1 PRIMARY t 1000 NULL
          2 UNION u 10 NULL
          3 UNION RESULT <union1,2> NULL Using temporary
        SELECT a FROM t UNION ALL SELECT a FROM u
          1 PRIMARY t 1000 NULL
          2 UNION u 10 NULL
        SELECT * FROM (SELECT a, count(*) n FROM u GROUP BY a) d, t WHERE d.a = t.a
          1 PRIMARY <derived2> 5 NULL
          1 PRIMARY t 1000 Using where; Using join buffer (hash join)
          2 DERIVED u 10 Using temporary
        SELECT (SELECT max(c) FROM u WHERE u.a = t.a) FROM t WHERE b = 'x'
          1 PRIMARY t 1000 Using where
          2 DEPENDENT SUBQUERY u 10 Using where
        WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r
          1 PRIMARY <derived2> 334 NULL
          2 DERIVED NULL NULL No tables used
          3 UNION r 1000 Using where; Recursive
        ",
    );
}

/// Plan and explanation of a statement over the tables of [`crate::testing`].
fn explained(sql: &str, catalog: &Explaining) -> (crate::physical::QueryPlan, Explanation) {
    let plan = crate::bind_query(&parsed(sql), catalog, &crate::PlanOptions::default());
    let plan = plan.expect("the test's SQL plans");
    (plan, catalog.explanation.take().expect("it is explained"))
}

#[test]
fn what_would_remove_a_table_is_said() {
    let removal = |sql: &str| {
        let (_, explanation) = explained(sql, &Explaining::default());
        let texts = explanation.removals.into_iter();
        let texts = texts.map(|text| text.unwrap_or_else(|| "nothing".to_owned()));
        texts.collect::<Vec<_>>().join("\n")
    };
    check_cases(
        "
        # The headline: any ten groups.
        SELECT a, count(*) FROM t GROUP BY a ORDER BY NULL LIMIT 10
          index (a) on t
        SELECT DISTINCT b FROM t
          index (b) on t
        # What WHERE compares with constants comes first.
        SELECT b, count(*) FROM t WHERE a = 5 GROUP BY b
          index (a, b) on t
        # So does the order.
        SELECT a FROM t ORDER BY a DESC
        SELECT a FROM t ORDER BY a
          index (a) on t
        SELECT a, b FROM t ORDER BY a, b DESC LIMIT 3
          index (a, b DESC) on t
        # Rows need not be fetched for other columns.
        SELECT b, max(a) FROM t GROUP BY b
          index (b, a) on t
        # Nothing helps with computed values, or with texts that no key holds.
        SELECT a + 1, count(*) FROM t GROUP BY a + 1
        SELECT d, count(*) FROM v GROUP BY d
        SELECT SUM(n) FROM (SELECT count(*) n FROM u GROUP BY a + 1) d
          nothing
        # Nor do they where rows of several tables are joined.
        SELECT count(*) FROM t JOIN v ON t.b = v.d GROUP BY t.a + v.a ORDER BY NULL
          nothing
          nothing
        SELECT a FROM t UNION SELECT a FROM u
          UNION ALL
        SELECT a FROM t INTERSECT SELECT a FROM u
          nothing
        SELECT SQL_BUFFER_RESULT a FROM t
          leaving out SQL_BUFFER_RESULT
        ",
        removal,
    );
}

#[test]
fn an_index_that_is_proposed_removes_its_table() {
    let statements = [
        "SELECT a, count(*) FROM t GROUP BY a",
        "SELECT b, sum(a) FROM t WHERE id > 3 GROUP BY b",
        "SELECT DISTINCT a, b FROM t",
        "SELECT b FROM t WHERE a = 3 ORDER BY b",
        "SELECT a, b FROM t ORDER BY b, a DESC LIMIT 4",
        "SELECT * FROM t ORDER BY b LIMIT 10",
        "SELECT a, d FROM v ORDER BY a LIMIT 5",
        "SELECT g, count(*) FROM w GROUP BY g",
        "SELECT g, b FROM w WHERE c = 5 ORDER BY g",
        "SELECT u.c, count(*) FROM u JOIN v ON u.a = v.a GROUP BY u.c",
    ];
    let mut proposed = 0;
    for sql in statements {
        let (plan, explanation) = explained(sql, &Explaining::default());
        let before = crate::explain::facts::temporary_tables(&plan).len();
        for text in explanation.removals.into_iter().flatten() {
            let index = text
                .strip_prefix("index (")
                .expect("only indexes help here");
            let (columns, table) = index.split_once(") on ").expect("its table");
            let catalog = Explaining::with_index(table, columns);
            let (plan, _) = explained(sql, &catalog);
            let after = crate::explain::facts::temporary_tables(&plan).len();
            assert!(after < before, "{sql}: {text}");
            proposed += 1;
        }
    }
    assert!(proposed >= 8, "{proposed}");
}

#[test]
fn facts_name_the_limit_and_what_removes() {
    let (plan, explanation) = explained(
        "SELECT a, count(*) FROM t GROUP BY a",
        &Explaining::default(),
    );
    let limits = [
        MemoryLimit {
            setting: "memory_limit".to_owned(),
            bytes: 1 << 30,
        },
        MemoryLimit {
            setting: "tmp_table_size".to_owned(),
            bytes: 1024,
        },
    ];
    let subject = Subject {
        removals: &explanation.removals,
        rewritten: Some(&explanation.rewritten),
        limits: &limits,
        ..Subject::from(&plan)
    };
    let text = tree(&subject);
    let facts = "[GROUP BY has no index to follow: 500 rows, 27.5 KiB, exceeds tmp_table_size=1 KiB; index (a) on t would remove it]";
    assert!(text.contains(facts), "{text}");
    for version in [
        JsonVersion::Steps,
        JsonVersion::Blocks { end_markers: false },
    ] {
        let text = json(&subject, version);
        for member in [
            "\"temporary_table\": {",
            "\"purpose\": \"GROUP BY\"",
            "\"estimated_rows\": 500.0",
            "\"name\": \"tmp_table_size\"",
            "\"fits\": false",
            "\"removed_by\": \"index (a) on t\"",
        ] {
            assert!(text.contains(member), "{member}\n{text}");
        }
    }
    let marked = json(&subject, JsonVersion::Blocks { end_markers: true });
    assert!(marked.contains("} /* temporary_table */"), "{marked}");
}

#[test]
fn what_a_statement_is_rewritten_to() {
    check_cases(
        "
        SELECT x.a FROM t x WHERE x.b = 'q' ORDER BY x.a
          /* select#1 */ select `test`.`x`.`a` AS `a` from `test`.`t` `x` where (`test`.`x`.`b` = 'q') order by `test`.`x`.`a`
        SELECT a FROM (SELECT a, id FROM t WHERE id > 2) d WHERE a < 5
          /* select#1 */ select `test`.`t`.`a` AS `a` from `test`.`t` where ((`test`.`t`.`id` > 2) and (`test`.`t`.`a` < 5))
        SELECT * FROM t WHERE id IN (SELECT c FROM u)
          /* select#1 */ select `test`.`t`.`a` AS `a`,`test`.`t`.`b` AS `b`,`test`.`t`.`id` AS `id` from `test`.`t` semi join (`test`.`u`) where (`test`.`t`.`id` = `test`.`u`.`c`)
        ",
        |sql| explained(sql, &Explaining::default()).1.rewritten,
    );
}

#[test]
fn deep_statements_are_explained() {
    let mut sql = "SELECT a FROM t".to_owned();
    for depth in 0..40 {
        sql = format!("SELECT a FROM ({sql} UNION SELECT a FROM u) d{depth}");
    }
    let explaining = Explaining::default();
    let (plan, explanation) = explained(&sql, &explaining);
    let subject = Subject {
        rewritten: Some(&explanation.rewritten),
        ..Subject::from(&plan)
    };
    assert!(tree(&subject).len() > 1000);
    assert!(json(&subject, JsonVersion::Steps).len() > 1000);
    let blocks = JsonVersion::Blocks { end_markers: false };
    assert!(json(&subject, blocks).len() > 1000);
    assert_eq!(traditional(&subject).len(), 40 * 3 + 1);
}
