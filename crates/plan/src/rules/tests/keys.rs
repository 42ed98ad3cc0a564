//! Group keys and outer joins simplified by keys of tables and conditions.

use super::check;

#[test]
fn what_keys_determine_is_no_key() {
    check(
        "
        SELECT id, b, a, count(*) FROM t GROUP BY id, b, a
          extend: #4=1
            scan t
        SELECT t.id, t.b, u.c, sum(u.a) FROM t, u WHERE t.a = u.a GROUP BY t.id, t.b, u.c
          aggregate by t.id u.c: sum(u.a) any_value(t.b)
            inner join: (t.a = u.a)
              scan t
              scan u
        SELECT t.id, w.b, count(*) FROM t, w WHERE t.a = w.id GROUP BY t.id, t.b, w.b, w.g
          extend: #13=1
            inner join: (t.a = w.id)
              scan t
              scan w
        # Of an outer join's other side nothing is known.
        SELECT t.a, w.b, count(*) FROM t LEFT JOIN w ON t.a = w.id GROUP BY t.a, w.b
          aggregate by t.a w.b: count(0)
            left join
              scan t
              scan w
        SELECT a, b, count(*) FROM t WHERE a = 3 GROUP BY a, b
          aggregate by t.b: count(0) any_value(t.a)
            scan t: (t.a = 3)
        SELECT a, b, count(*) FROM t GROUP BY a, b WITH ROLLUP
          aggregate by t.a t.b: count(0) with rollup
            scan t
        ",
    );
}

#[test]
fn joins_by_keys_have_no_equal_rows() {
    check(
        "
        SELECT DISTINCT w.id, t.b FROM w JOIN t ON w.a = t.id
          inner join: (w.a = t.id)
            scan w
            scan t
        SELECT DISTINCT w.id, u.c FROM w JOIN u ON w.a = u.a
          aggregate by w.id u.c:
            inner join
              scan u
              scan w
        ",
    );
}

#[test]
fn conditions_above_reach_outer_joins() {
    check(
        "
        SELECT * FROM (SELECT t.id, u.c + 1 n FROM t LEFT JOIN u ON t.a = u.a) d WHERE n > 3
          extend: #7=(u.c + 1)
            inner join: (t.a = u.a)
              scan t
              scan u: ((u.c + 1) > 3)
        SELECT * FROM (SELECT u.c, count(*) n FROM t LEFT JOIN u ON t.a = u.a GROUP BY u.c) d WHERE c > 3
          derived d (select #2)
            aggregate by u.c: count(0)
              inner join: (t.a = u.a)
                scan t
                scan u: (u.c > 3)
        SELECT * FROM (SELECT u.c FROM t LEFT JOIN u ON t.a = u.a UNION ALL SELECT id FROM t) d WHERE c > 3
          derived d (select #2)
            Union all
              select #2
                inner join: (t.a = u.a)
                  scan t
                  scan u: (u.c > 3)
              select #3
                scan t: (t.id > 3)
        SELECT 1 FROM t LEFT JOIN u ON t.a = u.a LEFT JOIN w ON u.c = w.id WHERE concat(w.b, 'x') = 'yx'
          extend: #16=1
            inner join: (t.a = u.a)
              scan t
              inner join
                scan u
                scan w: (concat(w.b,'x') = 'yx')
        SELECT * FROM (SELECT count(u.c) n FROM t LEFT JOIN u ON t.a = u.a) d WHERE n > 3
          derived d (select #2)
            filter: (#7 > 3)
              aggregate by: count(u.c)
                left join: (t.a = u.a)
                  scan t
                  scan u
        ",
    );
}
