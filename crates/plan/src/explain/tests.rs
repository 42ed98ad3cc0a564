//! EXPLAIN of statements over the tables of [`crate::testing`].

use super::{traditional, tree};
use crate::testing::{check_cases, planned};

#[track_caller]
fn check_tree(cases: &str) {
    check_cases(cases, |sql| tree(&(&planned(sql)).into()));
}

#[track_caller]
fn check_rows(cases: &str) {
    check_cases(cases, |sql| {
        let rows = traditional(&(&planned(sql)).into());
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
fn a_tree_names_columns_costs_and_causes() {
    check_tree(
        "
        SELECT a, count(*) FROM t WHERE b = 'x' GROUP BY a ORDER BY count(*) DESC LIMIT 3
          -> Limit: 3 row(s)  (cost=116 rows=3)
              -> Sort: count(0) DESC, limit input to 3 row(s) per chunk  (cost=116 rows=3)
                  -> Table scan on <temporary>  (cost=115 rows=50)
                      -> Aggregate using temporary table  (cost=110 rows=50) [GROUP BY has no index to follow]
                          -> Filter: (t.b = 'x')  (cost=100 rows=100)
                              -> Table scan on t  (cost=100 rows=1000)
        SELECT t.a + 1 FROM t JOIN u ON t.a = u.a AND t.id < u.c
          -> Inner hash join (t.a = u.a), extra conditions: (t.id < u.c)  (cost=135 rows=333)
              -> Table scan on t  (cost=100 rows=1000)
              -> Hash [join has no index to follow: hash table over its smaller side]
                  -> Table scan on u  (cost=1.25 rows=10)
        SELECT 1
          -> Rows fetched before execution  (cost=0 rows=1)
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
        SELECT (SELECT max(c) FROM u WHERE u.a = t.a) FROM t WHERE b > 'x'
          1 PRIMARY t 1000 Using where
          2 DEPENDENT SUBQUERY u 10 Using where
        WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r
          1 PRIMARY <derived2> 334 NULL
          2 DERIVED NULL NULL No tables used
          3 UNION r 1000 Using where; Recursive
        ",
    );
}
