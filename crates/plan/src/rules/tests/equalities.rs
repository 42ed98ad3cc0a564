//! Equalities, constants and common parts of OR.

use super::check;

#[test]
fn constants_reach_all_columns_that_are_equal() {
    check(
        "
        SELECT 1 FROM t, u, v WHERE t.a = u.a AND u.a = v.a AND v.a = 5
          extend: #10=1
            inner join
              inner join
                scan t: (t.a = 5)
                scan u: (u.a = 5)
              scan v: (v.a = 5)
        # The preserved side keeps its rows, and the other one has partners for those alone that WHERE leaves.
        SELECT 1 FROM t LEFT JOIN u ON t.a = u.a WHERE t.a = 5
          extend: #7=1
            left join: (t.a = u.a)
              scan t: (t.a = 5)
              scan u: (u.a = 5)
        SELECT 1 FROM t LEFT JOIN u ON t.a = u.a AND u.a = 5
          extend: #7=1
            left join: (t.a = u.a)
              scan t
              scan u: (u.a = 5)
        SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND u.a = 3)
          extend: #8=1
            semi join: (u.a = t.a)
              scan t: (t.a = 3)
              scan u: (u.a = 3)
        # A text is compared by each collation apart.
        SELECT 1 FROM w, w x WHERE w.b = x.b AND x.b = 'k'
          extend: #18=1
            inner join
              scan w: (w.b = 'k')
              scan x: (x.b = 'k')
        SELECT 1 FROM w, w x WHERE w.b = x.b COLLATE utf8mb4_bin AND w.b = 'k'
          extend: #18=1
            inner join: (w.b = collate(cast(x.b as char charset utf8mb4),'utf8mb4_bin'))
              scan w: (w.b = 'k')
              scan x
        # Of numbers and texts nothing follows.
        SELECT 1 FROM t, w WHERE t.a = w.b AND w.b = '7'
          extend: #13=1
            inner join: (t.a = w.b)
              scan t
              scan w: (w.b = '7')
        ",
    );
}

#[test]
fn outer_columns_are_no_constants() {
    check(
        "
        SELECT (SELECT max(u.c) FROM u, v WHERE u.a = v.a AND v.a = t.a AND u.a + 0 > t.id) FROM t
          extend: #11=#34
            left join: (#32 <=> t.a) and (#33 = t.id)
              scan t
              derived derived_1_2 (select #2)
                aggregate by #24 #25: max(u.c)
                  inner join: (v.a = #24)
                    inner join: ((u.a + 0) > #25) and (u.a = #24)
                      extend: #24=t.a #25=t.id
                        scan t
                      scan u
                    scan v
        ",
    );
}

#[test]
fn common_parts_leave_or() {
    check(
        "
        SELECT 1 FROM t, u WHERE (t.a = u.a AND t.b = 'x' AND u.c = 1) OR (u.a = t.a AND t.b = 'y' AND u.c = 2)
          extend: #7=1
            inner join: (t.a = u.a) and (((t.b = 'x') and (u.c = 1)) or ((t.b = 'y') and (u.c = 2)))
              scan t: ((t.b = 'x') or (t.b = 'y'))
              scan u: ((u.c = 1) or (u.c = 2))
        SELECT a FROM t WHERE (a = 1 AND b = 'x') OR a = 1
          scan t: (t.a = 1)
        SELECT 1 FROM t, u WHERE (t.a = 1 AND u.c = 2) OR (t.a = 2 AND u.c = 3)
          extend: #7=1
            inner join: (((t.a = 1) and (u.c = 2)) or ((t.a = 2) and (u.c = 3)))
              scan t: ((t.a = 1) or (t.a = 2))
              scan u: ((u.c = 2) or (u.c = 3))
        SELECT 1 FROM t LEFT JOIN u ON (t.a = 1 AND u.c = 2) OR (t.a = 2 AND u.c = 3)
          extend: #7=1
            left join: (((t.a = 1) and (u.c = 2)) or ((t.a = 2) and (u.c = 3)))
              scan t
              scan u: ((u.c = 2) or (u.c = 3))
        SELECT 1 FROM t, u WHERE (t.a = 1 AND u.c = 2) OR t.a = u.a
          extend: #7=1
            inner join: (((t.a = 1) and (u.c = 2)) or (t.a = u.a))
              scan t
              scan u
        ",
    );
}
