//! Tests of the rules: plans before and after.

mod deep;
mod equalities;
mod keys;
mod needless;
mod shared;
mod unnesting;
mod windows;

use crate::testing::{check_cases, rewritten};

/// Checks statements with their plans below each.
#[track_caller]
fn check(cases: &str) {
    check_cases(cases, |sql| rewritten(sql).to_string());
}

#[test]
fn limit_without_order_makes_no_more_groups() {
    check(
        "
        SELECT count(*) cnt, b FROM t GROUP BY b ORDER BY NULL LIMIT 10
          limit 0,10
            aggregate by t.b: count(0) first 10
              scan t
        SELECT a, count(*) FROM t GROUP BY a HAVING count(*) > 1 LIMIT 10
          limit 0,10
            filter: (#4 > 1)
              aggregate by t.a: count(0)
                scan t
        SELECT DISTINCT a FROM t LIMIT 5, 2
          limit 5,2
            aggregate by t.a: first 7
              scan t
        ",
    );
}

#[test]
fn limit_goes_into_the_sort() {
    check(
        "
        SELECT a, a + 1 FROM t ORDER BY b LIMIT 10 OFFSET 5
          extend: #4=(t.a + 1)
            sort: t.b limit 5,10
              scan t
        ",
    );
}

#[test]
fn limit_goes_into_the_arms_of_union_all() {
    check(
        "
        SELECT a FROM t UNION ALL SELECT c FROM u LIMIT 3
          limit 0,3
            Union all
              select #1
                limit 0,3
                  scan t
              select #2
                limit 0,3
                  scan u
        ",
    );
}

#[test]
fn distinct_values_are_grouped_first() {
    check(
        "
        SELECT a, count(DISTINCT b) FROM t GROUP BY a
          aggregate by t.a: count(#5)
            aggregate by t.a t.b:
              scan t
        SELECT count(DISTINCT a), count(*) FROM t
          aggregate by: count(distinct t.a) count(0)
            scan t
        SELECT count(DISTINCT a), max(a) FROM t
          aggregate by: count(#6) max(#7)
            aggregate by t.a: max(t.a)
              scan t
        ",
    );
}

#[test]
fn conditions_reach_the_scans() {
    check(
        "
        SELECT * FROM t, u WHERE t.a = u.a AND t.b = 'x' AND u.c > 5 AND t.a < u.c
          inner join: (t.a = u.a) and (t.a < u.c)
            scan t: (t.b = 'x')
            scan u: (u.c > 5)
        SELECT * FROM t LEFT JOIN u ON t.a = u.a AND u.c = 1 AND t.b = 'y' WHERE t.b = 'x' AND u.c IS NULL
          extend: #4=NULL #5=NULL
            anti join: (t.a = u.a) and (t.b = 'y')
              scan t: (t.b = 'x')
              scan u: (u.c = 1)
        SELECT * FROM (SELECT a, count(*) n FROM t GROUP BY a) d WHERE a = 3 AND n > 1
          derived d (select #2)
            filter: (#4 > 1)
              aggregate by t.a: count(0)
                scan t: (t.a = 3)
        SELECT * FROM (SELECT a FROM t UNION SELECT c FROM u) d WHERE a = 3
          derived d (select #2)
            Union
              select #2
                scan t: (t.a = 3)
              select #3
                scan u: (u.c = 3)
        SELECT * FROM (SELECT a + 1 x FROM t) d WHERE x = 3
          extend: #4=(t.a + 1)
            scan t: ((t.a + 1) = 3)
        ",
    );
}

#[test]
fn sums_with_offsets_are_one_sum() {
    check(
        "
        SELECT SUM(a), SUM(a + 1), SUM(2 + a), SUM(a - 3), MAX(a) FROM t
          extend: #4=(#9 + (#10 * 0)) #5=(#9 + (#10 * 1)) #6=(#9 + (#10 * 2)) #7=(#9 + (#10 * -(3)))
            aggregate by: max(t.a) sum(t.a) count(t.a)
              scan t
        SELECT b, SUM(a + 1), SUM(a + 2), SUM(a + 3) FROM t GROUP BY b
          extend: #4=(#7 + (#8 * 1)) #5=(#7 + (#8 * 2)) #6=(#7 + (#8 * 3))
            aggregate by t.b: sum(t.a) count(t.a)
              scan t
        # Two sums take no more than a sum and a count.
        SELECT SUM(a), SUM(a + 1) FROM t
          aggregate by: sum(t.a) sum((t.a + 1))
            scan t
        SELECT SUM(DISTINCT a), SUM(DISTINCT a + 1), SUM(DISTINCT a + 2), SUM(a + 1.5), SUM(a + id) FROM t
          aggregate by: sum(distinct t.a) sum(distinct (t.a + 1)) sum(distinct (t.a + 2)) sum((t.a + 1.5)) sum((t.a + t.id))
            scan t
        ",
    );
}

#[test]
fn grouped_strings_are_not_told_apart() {
    check(
        "
        # 'a' and 'A' are one group: which of them stands for it is known above only.
        SELECT b FROM t GROUP BY b HAVING length(b) = 1 AND b = 'x'
          filter: (length(t.b) = 1)
            aggregate by t.b:
              scan t: (t.b = 'x')
        ",
    );
}

#[test]
fn outer_joins_whose_rows_are_refused_are_inner() {
    check(
        "
        SELECT * FROM t LEFT JOIN u ON t.a = u.a WHERE u.c > 5
          inner join: (t.a = u.a)
            scan t
            scan u: (u.c > 5)
        SELECT * FROM t LEFT JOIN u ON t.a = u.a WHERE coalesce(u.c, 0) > 5 OR u.a = 1
          filter: (((case when (u.c is not null) then u.c else 0 end) > 5) or (u.a = 1))
            left join: (t.a = u.a)
              scan t
              scan u
        ",
    );
}

#[test]
fn subqueries_become_joins() {
    check(
        "
        SELECT * FROM t WHERE a IN (SELECT a FROM u WHERE c = 1)
          semi join: (t.a = u.a)
            scan t
            scan u: (u.c = 1)
        SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND u.c > t.id)
          semi join: (u.a = t.a) and (u.c > t.id)
            scan t
            scan u
        SELECT * FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a)
          anti join: (u.a = t.a)
            scan t
            scan u
        SELECT * FROM t WHERE a NOT IN (SELECT c FROM u)
          null-aware anti join: t.a not in u.c
            scan t
            scan u
        SELECT * FROM t WHERE id NOT IN (SELECT a FROM v WHERE d = t.b)
          anti join: (t.id = v.a) and (v.d = t.b)
            scan t
            scan v
        # Nothing says which rows the aggregate is over but the row at hand.
        SELECT * FROM t WHERE a IN (SELECT max(c) FROM u WHERE u.a = t.a)
          filter: (t.a in (select #2))
            subquery:
              aggregate by: max(u.c)
                scan u: (u.a = t.a)
            scan t
        ",
    );
}

#[test]
fn a_common_table_that_is_read_once_is_no_table() {
    check(
        "
        WITH w AS (SELECT a x, c FROM u) SELECT x FROM w WHERE c = 2
          scan u: (u.c = 2)
        WITH w AS (SELECT a x, count(*) n FROM u GROUP BY a) SELECT n FROM w WHERE x = 2
          derived w (select #2)
            aggregate by u.a: count(0)
              scan u: (u.a = 2)
        WITH w AS (SELECT a FROM u) SELECT 1 FROM w w1 JOIN w w2 USING (a)
          extend: #5=1
            inner join: (#3 = #4)
              shared 0 as w1
              shared 0 as w2
          shared 0 w:
            select #2
              scan u
        ",
    );
}

#[test]
fn joins_stay_connected_and_small() {
    check(
        "
        SELECT 1 FROM v, t, u WHERE v.a = t.a AND t.id = u.c
          extend: #10=1
            inner join: (v.a = t.a)
              scan v
              inner join: (t.id = u.c)
                scan t
                scan u
        SELECT 1 FROM v STRAIGHT_JOIN t STRAIGHT_JOIN u WHERE v.a = t.a AND t.id = u.c
          extend: #10=1
            inner join: (t.id = u.c)
              inner join: (v.a = t.a)
                scan v
                scan t
              scan u
        ",
    );
}

#[test]
fn hints_say_the_order_of_joins() {
    check(
        "
        SELECT /*+ JOIN_ORDER(t, v, u) */ t.id, v.d FROM v, t, u WHERE v.a = t.a AND t.id = u.c
          inner join: (t.id = u.c)
            inner join: (v.a = t.a)
              scan t
              scan v
            scan u
        SELECT /*+ JOIN_PREFIX(u) */ t.id, v.d FROM v, t, u WHERE v.a = t.a AND t.id = u.c
        SELECT /*+ JOIN_SUFFIX(v) JOIN_ORDER(u, t) */ t.id, v.d FROM v, t, u WHERE v.a = t.a AND t.id = u.c
          inner join: (v.a = t.a)
            inner join: (t.id = u.c)
              scan u
              scan t
            scan v
        SELECT /*+ JOIN_FIXED_ORDER() */ t.id, v.d FROM v JOIN t ON v.a = t.a JOIN u ON t.id = u.c
          inner join: (t.id = u.c)
            inner join: (v.a = t.a)
              scan v
              scan t
            scan u
        ",
    );
}

#[test]
fn straight_joins_keep_their_order() {
    check(
        "
        SELECT STRAIGHT_JOIN t.id, v.d FROM v JOIN t ON v.a = t.a JOIN u ON t.id = u.c
        SELECT STRAIGHT_JOIN t.id, v.d FROM v, t, u WHERE v.a = t.a AND t.id = u.c
        SELECT t.id, v.d FROM v STRAIGHT_JOIN t ON v.a = t.a STRAIGHT_JOIN u ON t.id = u.c
          inner join: (t.id = u.c)
            inner join: (v.a = t.a)
              scan v
              scan t
            scan u
        ",
    );
}

#[test]
fn orders_that_nobody_sees_and_needless_distinct_go() {
    check(
        "
        SELECT count(*) FROM (SELECT a FROM t ORDER BY b) d
          aggregate by: count(0)
            scan t
        SELECT DISTINCT id, a FROM t
          scan t
        SELECT DISTINCT a, count(*) FROM t GROUP BY a
          aggregate by t.a: count(0)
            scan t
        ",
    );
}

#[test]
fn constant_conditions_are_decided() {
    check(
        "
        SELECT a FROM t WHERE 1 = 1 AND (a = 2 OR 1 = 0)
          scan t: (t.a = 2)
        SELECT a FROM t WHERE a = 2 AND 1 = 0
          scan t: false
        SELECT a FROM t WHERE (a = 2 OR a = 3 OR a = 2) AND (a = 2 OR a = 3) AND 'x' = 'X'
          scan t: ((t.a = 2) or (t.a = 3))
        SELECT a FROM t WHERE RAND() < 0.5 AND RAND() < 0.5
          filter: (rand() < 0.5) and (rand() < 0.5)
            scan t
        ",
    );
}
