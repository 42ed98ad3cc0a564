//! Needless groups and joins, and groups below joins.

use super::check;
use crate::testing::{check_cases, rewritten_wholly};

#[test]
fn rows_that_differ_are_not_grouped() {
    check(
        "
        SELECT id, count(*), count(a), sum(a), min(b) FROM t GROUP BY id
          extend: #4=1 #5=(case when (t.a is null) then 0 else 1 end) #6=t.a #7=t.b
            scan t
        SELECT id, group_concat(a) FROM t GROUP BY id
          aggregate by t.id: group_concat(cast(t.a as char charset utf8mb4) separator ',')
            scan t
        SELECT DISTINCT t.id, w.id FROM t JOIN w ON t.a < w.a
          inner join: (t.a < w.a)
            scan t
            scan w
        SELECT DISTINCT a, n FROM (SELECT a, count(*) n FROM t GROUP BY a) d
          derived d (select #2)
            aggregate by t.a: count(0)
              scan t
        SELECT DISTINCT a FROM (SELECT a FROM t UNION SELECT c FROM u) d
          derived d (select #2)
            Union
              select #2
                scan t
              select #3
                scan u
        SELECT a, count(*) FROM t GROUP BY a
          aggregate by t.a: count(0)
            scan t
        SELECT id, count(*) FROM t GROUP BY id WITH ROLLUP
          aggregate by t.id: count(0) with rollup
            scan t
        ",
    );
}

#[test]
fn joins_that_nobody_reads_are_left_out() {
    check(
        "
        SELECT v.d FROM v LEFT JOIN t ON t.id = v.a
          scan v
        SELECT v.d FROM v LEFT JOIN t ON t.id = v.a LEFT JOIN w ON w.id = t.a
          scan v
        SELECT v.d FROM v LEFT JOIN (SELECT a, count(*) FROM u GROUP BY a) d ON d.a = v.a
          scan v
        SELECT v.d FROM v LEFT JOIN u ON u.a = v.a
          left join: (u.a = v.a)
            scan v
            scan u
        SELECT DISTINCT v.d FROM v LEFT JOIN u ON u.a = v.a
          aggregate by v.d:
            scan v
        SELECT max(v.d), count(DISTINCT v.a) FROM v LEFT JOIN u ON u.a = v.a
          aggregate by: max(#8) count(#9)
            aggregate by v.a: max(v.d)
              scan v
        SELECT count(*) FROM v LEFT JOIN u ON u.a = v.a
          aggregate by: count(0)
            left join: (u.a = v.a)
              scan v
              scan u
        SELECT v.d FROM v LEFT JOIN t ON t.id = v.a AND rand() > 0.5
          left join: (t.id = v.a) and (rand() > 0.5)
            scan v
            scan t
        ",
    );
}

#[test]
fn rows_without_a_partner_are_those_of_an_antijoin() {
    check(
        "
        SELECT u.c FROM u LEFT JOIN t ON t.a = u.a WHERE t.id IS NULL
          anti join: (t.a = u.a)
            scan u
            scan t
        SELECT u.c, t.b FROM u LEFT JOIN t ON t.a = u.a WHERE t.a IS NULL AND u.c > 3
          extend: #4=NULL
            anti join: (t.a = u.a)
              scan u: (u.c > 3)
              scan t
        SELECT u.c FROM u LEFT JOIN t ON t.a = u.a WHERE t.b IS NULL
          filter: (t.b is null)
            left join: (t.a = u.a)
              scan u
              scan t
        SELECT u.c FROM u LEFT JOIN t ON t.a <=> u.a WHERE t.a IS NULL
          filter: (t.a is null)
            left join: (t.a <=> u.a)
              scan u
              scan t
        ",
    );
}

#[test]
fn rows_are_grouped_before_they_are_joined() {
    check_cases(
        "
        SELECT u.c, count(*), sum(v.a), avg(v.a), max(v.a), max(u.a) FROM v JOIN u ON v.a = u.a GROUP BY u.c
          aggregate by u.c: count(#11) sum(#12) avg(#13,#14) max(#15) max(u.a)
            inner join: (v.a = u.a)
              aggregate by v.a: count(0) sum(v.a) sum(v.a) count(v.a) max(v.a)
                scan v
              scan u
        SELECT u.c, sum(u.a) FROM v JOIN u ON v.a = u.a GROUP BY u.c
          aggregate by u.c: sum(#7)
            inner join: (v.a = u.a)
              scan v
              aggregate by u.c u.a: sum(u.a)
                scan u
        SELECT u.c, count(DISTINCT v.a) FROM v LEFT JOIN u ON v.a = u.a GROUP BY u.c
          aggregate by u.c: count(#7)
            aggregate by u.c v.a:
              left join: (v.a = u.a)
                aggregate by v.a:
                  scan v
                scan u
        SELECT u.c, count(v.a) FROM u LEFT JOIN v ON v.a = u.a GROUP BY u.c
          aggregate by u.c: count(v.a)
            left join: (v.a = u.a)
              scan u
              scan v
        SELECT n, sum(x) FROM (SELECT u.c n, v.a + 1 x FROM v JOIN u ON v.a = u.a) d GROUP BY n
          aggregate by u.c: sum(#8)
            inner join: (v.a = u.a)
              aggregate by v.a: sum((v.a + 1))
                scan v
              scan u
        SELECT count(*) FROM u, v
          aggregate by: count(0)
            inner join
              scan u
              scan v
        ",
        |sql| rewritten_wholly(sql).to_string(),
    );
}
