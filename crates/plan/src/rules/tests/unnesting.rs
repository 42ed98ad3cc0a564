//! Correlated subqueries that become joins with groups.

use super::check;
use crate::testing::{check_cases, rewritten_wholly};

#[test]
fn aggregates_are_grouped_by_what_correlates_them() {
    check(
        "
        SELECT id FROM t WHERE a < (SELECT avg(c) FROM v, u WHERE u.a = t.a AND v.a = u.c)
          inner join: (t.a < #27) and (#26 = t.a)
            scan t
            derived derived_1_2 (select #2)
              aggregate by u.a: avg(u.c)
                inner join: (v.a = u.c)
                  scan v
                  semi join: (u.a = t.a)
                    scan u
                    scan t
        # No group is a count of zero.
        SELECT id, (SELECT count(*) FROM v WHERE v.a = t.a) FROM t ORDER BY b
          extend: #8=(case when (#22 is null) then 0 else #22 end)
            sort: t.b
              left join: (#21 = t.a)
                scan t
                derived derived_1_2 (select #2)
                  aggregate by v.a: count(0)
                    semi join: (v.a = t.a)
                      scan v
                      scan t
        SELECT id FROM t WHERE id = (SELECT max(v.a) FROM v WHERE v.a = t.a HAVING count(*) > 3)
          filter: (t.id = (case when ((case when (#23 is null) then 0 else #23 end) > 3) then #22 end))
            left join: (#21 = t.a)
              scan t
              derived derived_1_2 (select #2)
                aggregate by v.a: max(v.a) count(0)
                  semi join: (v.a = t.a)
                    scan v
                    scan t
        SELECT a FROM t GROUP BY a HAVING sum(id) > (SELECT sum(c) FROM v, u WHERE v.a = t.a and u.a = v.a)
          inner join: (#4 > #20) and (#19 = t.a)
            aggregate by t.a: sum(t.id)
              scan t
            derived derived_1_2 (select #2)
              aggregate by v.a: sum(u.c)
                inner join: (u.a = v.a)
                  scan v
                  scan u
        # What the outer rows ask for is few of it.
        SELECT 1 FROM v, t WHERE v.a = t.id AND t.b = 'x' AND v.a < (SELECT 0.2 * avg(x.a) FROM v x WHERE x.a = t.id)
          extend: #12=1
            inner join: (v.a < (0.2 * #26)) and (v.a = #25)
              scan v
              inner join: (#25 = t.id)
                scan t: (t.b = 'x')
                derived derived_1_2 (select #2)
                  aggregate by x.a: avg(x.a)
                    semi join: (x.a = t.id)
                      scan x
                      scan t: (t.b = 'x')
        ",
    );
}

#[test]
fn other_conditions_are_joined_with_the_outer_values() {
    check(
        "
        SELECT v.a, (SELECT max(t.id) FROM t WHERE t.a = v.a AND t.id < v.a) FROM v
          extend: #8=#23
            left join: (#22 = v.a)
              scan v
              derived derived_1_2 (select #2)
                aggregate by #17: max(t.id)
                  inner join: (t.a = #17) and (t.id < #17)
                    aggregate by v.a:
                      scan v
                    scan t
        SELECT v.a, (SELECT sum(t.id + v.a) FROM t WHERE t.a = v.a) FROM v
          extend: #8=#23
            left join: (#22 = v.a)
              scan v
              derived derived_1_2 (select #2)
                aggregate by #17: sum((t.id + #17))
                  inner join: (t.a = #17)
                    aggregate by v.a:
                      scan v
                    scan t
        ",
    );
}

#[test]
fn existence_in_an_expression_counts() {
    check(
        "
        SELECT id FROM t WHERE a = 1 OR EXISTS (SELECT 1 FROM v WHERE v.a = t.a)
          filter: ((t.a = 1) or (#22 is not null))
            left join: (#21 = t.a)
              scan t
              derived derived_1_2 (select #2)
                aggregate by v.a: count(0)
                  semi join: (v.a = t.a)
                    scan v
                    scan t
        SELECT id, NOT EXISTS (SELECT 1 FROM v WHERE v.a = t.a) FROM t
          extend: #8=(#23 is null)
            left join: (#22 = t.a)
              scan t
              derived derived_1_2 (select #2)
                aggregate by v.a: count(0)
                  semi join: (v.a = t.a)
                    scan v
                    scan t
        ",
    );
}

#[test]
fn a_unique_key_needs_no_groups() {
    check(
        "
        SELECT v.a, (SELECT b FROM t WHERE t.id = v.a) FROM v
          extend: #7=t.b
            left join: (t.id = v.a)
              scan v
              scan t
        SELECT v.a, (SELECT coalesce(b, 'x') FROM t WHERE t.id = v.a) FROM v
          extend: #8=#13
            left join: (t.id = v.a)
              scan v
              extend: #13=(case when (t.b is not null) then t.b else 'x' end)
                scan t
        ",
    );
}

#[test]
fn a_group_of_more_than_one_row_is_no_value() {
    check(
        "
        SELECT v.a, (SELECT b FROM t WHERE t.a = v.a) FROM v
          extend: #7=(case when (only row(#16) = 1) then #17 end)
            left join: (#15 = v.a)
              scan v
              derived derived_1_2 (select #2)
                aggregate by t.a: count(0) any_value(t.b)
                  scan t
        ",
    );
}

#[test]
fn some_subqueries_stay() {
    check(
        "
        # For so few rows it is no loss.
        SELECT id, (SELECT count(*) FROM t x WHERE x.a = t.a) FROM t LIMIT 3
          extend: #9=(select #2)
            subquery:
              aggregate by: count(0)
                scan x: (x.a = t.a)
            limit 0,3
              scan t
        # The index finds what the one row asks for.
        SELECT w.id FROM w WHERE w.id = 3 AND g < (SELECT max(x.g) FROM w x WHERE x.a = w.a)
          filter: (w.g < (select #2))
            subquery:
              aggregate by: max(x.g)
                scan x: (x.a = w.a)
            scan w: (w.id = 3)
        # Nothing of the outer row says which rows there are.
        SELECT id FROM t WHERE a = 1 OR EXISTS (SELECT t.a FROM v WHERE v.a > 3)
          filter: ((t.a = 1) or exists(select #2))
            subquery:
              extend: #7=t.a
                scan v: (v.a > 3)
            scan t
        SELECT id, (SELECT count(*) FROM v WHERE v.a > t.a) FROM t
          extend: #8=(select #2)
            subquery:
              aggregate by: count(0)
                scan v: (v.a > t.a)
            scan t
        ",
    );
}

#[test]
fn any_and_all_ask_the_ends_of_groups() {
    check_cases(
        "
        SELECT t.b FROM t WHERE t.id = 3 OR t.a > ANY (SELECT v.a FROM v WHERE v.a = t.id)
          filter: ((t.id = 3) or (((t.a > #23) is true) or ((#22 is not null) and (t.a is null) and NULL)))
            left join: (#21 = t.id)
              scan t
              derived derived_1_2 (select #2)
                aggregate by v.a: count(#24) min(#25)
                  semi join: (v.a = t.id)
                    aggregate by v.a: count(0) min(v.a)
                      scan v
                    scan t
        SELECT t.id <= ALL (SELECT u.c FROM u WHERE u.a = t.a) FROM t
          extend: #7=(not((((not((t.id <= #18))) is true) or ((#16 is not null) and (#17 <> #16) and NULL))))
            left join: (#15 = t.a)
              scan t
              derived derived_1_2 (select #2)
                aggregate by u.a: count(0) count(u.c) min(u.c)
                  scan u
        SELECT t.b FROM t WHERE t.id = 3 OR t.id IN (SELECT v.a FROM v WHERE v.a = t.a)
          filter: ((t.id = 3) or (#21 is not null))
            left join: (#20 = t.a) and (#20 = t.id)
              scan t
              derived derived_1_2 (select #2)
                aggregate by v.a: count(#22)
                  semi join: (v.a = t.a) and (v.a = t.id)
                    aggregate by v.a: count(0)
                      scan v
                    scan t
        SELECT t.a NOT IN (SELECT u.c FROM u WHERE u.a = t.id) FROM t
          extend: #7=(not(((#16 is not null) or ((#24 is not null) and ((t.a is null) or (#25 <> #24)) and NULL))))
            left join: (#23 = t.id)
              left join: (#14 = t.id) and (#15 = t.a)
                scan t
                derived derived_1_2 (select #2)
                  aggregate by u.a u.c: count(0)
                    scan u
              derived derived_1_2 (select #2)
                aggregate by u.a: count(0) count(u.c)
                  scan u
        ",
        |sql| rewritten_wholly(sql).to_string(),
    );
}
