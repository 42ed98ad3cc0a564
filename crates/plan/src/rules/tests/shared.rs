//! Conditions on common table expressions with several readers.

use super::check;

#[test]
fn a_shared_result_has_the_rows_that_a_reader_reads() {
    check(
        "
        WITH s AS (SELECT a, b, count(*) AS n FROM t GROUP BY a, b) SELECT x.n FROM s x, s y WHERE x.a = 1 AND y.a = 2
          inner join
            filter: (#5 = 1)
              shared 0 as x
            filter: (#8 = 2)
              shared 0 as y
          shared 0 s:
            select #2
              aggregate by t.a t.b: count(0)
                scan t: ((t.a = 1) or (t.a = 2))
        WITH s AS (SELECT a, b, count(*) AS n FROM t GROUP BY a, b) SELECT x.n FROM s x, s y WHERE x.a = 1 AND x.n > 3 AND y.a = 2
          inner join
            filter: (#5 = 1) and (#7 > 3)
              shared 0 as x
            filter: (#8 = 2)
              shared 0 as y
          shared 0 s:
            select #2
              filter: (((t.a = 1) and (#4 > 3)) or (t.a = 2))
                aggregate by t.a t.b: count(0)
                  scan t: ((t.a = 1) or (t.a = 2))
        # One reader reads all of it.
        WITH s AS (SELECT a, b, count(*) AS n FROM t GROUP BY a, b) SELECT x.n FROM s x, s y WHERE x.a = 1
          inner join
            filter: (#5 = 1)
              shared 0 as x
            shared 0 as y
          shared 0 s:
            select #2
              aggregate by t.a t.b: count(0)
                scan t
        # Which rows a LIMIT leaves does not depend on who reads them.
        WITH s AS (SELECT a, b FROM t LIMIT 3) SELECT x.b FROM s x, s y WHERE x.a = 1 AND y.a = 2
          inner join
            filter: (#4 = 1)
              shared 0 as x
            filter: (#6 = 2)
              shared 0 as y
          shared 0 s:
            select #2
              filter: ((t.a = 1) or (t.a = 2))
                limit 0,3
                  scan t
        ",
    );
}

/// A join with more rows than its tables, of which readers only ask whether there is a row.
#[test]
fn a_result_that_is_only_tested_is_copied() {
    check(
        "
        WITH s AS (SELECT x.a, y.b FROM t x, t y WHERE x.b <> y.b) SELECT b FROM t WHERE a IN (SELECT a FROM s) AND b IN (SELECT b FROM s)
          semi join: (t.b = y.b)
            semi join: (t.a = x.a)
              scan t
              inner join: (x.b <> y.b)
                scan x
                scan y
            inner join: (x.b <> y.b)
              scan x
              scan y
        # Rows that come out are made once.
        WITH s AS (SELECT x.a, y.b FROM t x, t y WHERE x.b <> y.b) SELECT t.b FROM t, s WHERE t.a IN (SELECT a FROM s)
          inner join
            semi join: (t.a = #14)
              scan t
              shared 0 as s
            shared 0 as s
          shared 0 s:
            select #2
              inner join: (x.b <> y.b)
                scan x
                scan y
        # Each reading of a random number would have its own.
        WITH s AS (SELECT x.a, RAND() AS b FROM t x, t y) SELECT b FROM t WHERE a IN (SELECT a FROM s) AND b IN (SELECT b FROM s)
          semi join: (t.b = #16)
            semi join: (t.a = #13)
              scan t
              shared 0 as s
            shared 0 as s
          shared 0 s:
            select #2
              extend: #8=rand()
                inner join
                  scan x
                  scan y
        # No more rows than the table has.
        WITH s AS (SELECT a, b FROM t) SELECT b FROM t WHERE a IN (SELECT a FROM s) AND b IN (SELECT b FROM s)
          semi join: (t.b = #11)
            semi join: (t.a = #8)
              scan t
              shared 0 as s
            shared 0 as s
          shared 0 s:
            select #2
              scan t
        ",
    );
}

#[test]
fn the_writer_decides_what_is_materialized() {
    check(
        "
        WITH s AS (SELECT a, b FROM t) SELECT s.b FROM s WHERE a = 1
          scan t: (t.a = 1)
        WITH s AS MATERIALIZED (SELECT a, b FROM t) SELECT s.b FROM s WHERE a = 1
          filter: (#4 = 1)
            shared 0 as s
          shared 0 s:
            select #2
              scan t
        WITH s AS (SELECT a, b FROM t) SELECT /*+ NO_MERGE(s) */ s.b FROM s WHERE a = 1
          filter: (#4 = 1)
            shared 0 as s
          shared 0 s:
            select #2
              scan t
        WITH s AS NOT MATERIALIZED (SELECT a, b FROM t) SELECT x.b FROM s x, s y WHERE x.a = y.b
          inner join: (t.a = t.b)
            scan t
            scan t
        ",
    );
}
