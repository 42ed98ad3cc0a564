//! Joins of every kind compared with nested loops over plain rows.

use mayfly_plan::Comparison;
use mayfly_plan::physical::{JoinKey, JoinKind, Operator, Plan, Purpose};
use mayfly_types::{SqlType, Value};

use crate::testing::*;

const KINDS: [JoinKind; 4] = [
    JoinKind::Inner,
    JoinKind::Left,
    JoinKind::Semi,
    JoinKind::Anti,
];

fn sides(world: &mut World, left: i64, right: i64, keys: i64) -> (Vec<Row>, Vec<Row>, Plan, Plan) {
    let rows = |count: i64, factor: i64| -> Vec<Row> {
        (0..count)
            .map(|i| {
                let k = (i * factor) % keys;
                vec![if k == 0 { NULL } else { n(k) }, n(i)]
            })
            .collect()
    };
    let (left, right) = (rows(left, 7), rows(right, 13));
    let l = world.table(&[int(), int()], &left);
    let r = world.table(&[int(), int()], &right);
    (left, right, scan(&l), scan(&r))
}

fn output(kind: JoinKind) -> Vec<SqlType> {
    match kind {
        JoinKind::Inner | JoinKind::Left => vec![int(); 4],
        _ => vec![int(); 2],
    }
}

/// Expected rows of a join, by its definition.
fn oracle(
    kind: JoinKind,
    left: &[Row],
    right: &[Row],
    matches: impl Fn(&Row, &Row) -> bool,
) -> Vec<Row> {
    let mut out = Vec::new();
    for l in left {
        let partners: Vec<&Row> = right.iter().filter(|r| matches(l, r)).collect();
        match kind {
            JoinKind::Inner | JoinKind::Left => {
                for r in &partners {
                    out.push(l.iter().chain(r.iter()).cloned().collect());
                }
                if kind == JoinKind::Left && partners.is_empty() {
                    let mut row = l.clone();
                    row.extend([NULL, NULL]);
                    out.push(row);
                }
            }
            JoinKind::Semi if !partners.is_empty() => out.push(l.clone()),
            JoinKind::Anti if partners.is_empty() => out.push(l.clone()),
            _ => {}
        }
    }
    out
}

fn hash_join(
    kind: JoinKind,
    left: &Plan,
    right: &Plan,
    null_safe: bool,
    residual: Option<mayfly_plan::Expression>,
    build_left: bool,
) -> Plan {
    plan(
        Operator::HashJoin {
            kind,
            left: Box::new(left.clone()),
            right: Box::new(right.clone()),
            keys: vec![JoinKey {
                left: column(0, int()),
                right: column(0, int()),
                null_safe,
            }],
            residual,
            build_left,
            partnered: false,
            filters: Vec::new(),
            temporary: why(Purpose::Join),
        },
        &output(kind),
    )
}

fn equal(l: &Row, r: &Row) -> bool {
    !l[0].is_null() && l[0] == r[0]
}

#[test]
fn hash_joins() {
    for (left, right, keys) in [
        (200, 300, 50),
        (300, 100, 1000),
        (100, 0, 5),
        (0, 100, 5),
        (150, 120, 2),
    ] {
        let mut world = World::new();
        let (l, r, left, right) = sides(&mut world, left, right, keys);
        let residual = compare(Comparison::Less, column(1, int()), column(3, int()));
        for (kind, build_left) in KINDS
            .iter()
            .flat_map(|kind| [(*kind, false), (*kind, true)])
        {
            let join = hash_join(kind, &left, &right, false, None, build_left);
            world.check(query(join), &oracle(kind, &l, &r, equal));
            let join = hash_join(kind, &left, &right, true, None, build_left);
            world.check(query(join), &oracle(kind, &l, &r, |l, r| l[0] == r[0]));
            let residual = Some(residual.clone());
            let join = hash_join(kind, &left, &right, false, residual, build_left);
            world.check(
                query(join),
                &oracle(kind, &l, &r, |l, r| equal(l, r) && less_than(l, r)),
            );
        }
    }
}

#[test]
fn not_in_knows_nulls() {
    let rows = |values: &[Value]| {
        values
            .iter()
            .map(|v| vec![v.clone(), n(0)])
            .collect::<Vec<Row>>()
    };
    let cases = [
        (vec![n(1), n(2), NULL], vec![n(1), n(3)], vec![n(2)]),
        (vec![n(1), n(2), NULL], vec![n(1), NULL], vec![]),
        (vec![n(1), NULL], vec![], vec![n(1), NULL]),
        (vec![n(1), n(2)], vec![n(5)], vec![n(1), n(2)]),
    ];
    for (left, right, expected) in cases {
        let mut world = World::new();
        let l = world.table(&[int(), int()], &rows(&left));
        let r = world.table(&[int(), int()], &rows(&right));
        let join = hash_join(
            JoinKind::NullAwareAnti,
            &scan(&l),
            &scan(&r),
            false,
            None,
            false,
        );
        world.check(query(join), &rows(&expected));
    }
}

#[test]
fn not_in_of_rows_knows_nulls() {
    // (1, NULL) NOT IN ((2, 3)) is true: 1 differs from 2 whatever NULL is.
    let mut world = World::new();
    let l = world.table(
        &[int(), int()],
        &[
            vec![n(1), NULL],
            vec![n(2), NULL],
            vec![n(2), n(3)],
            vec![n(2), n(4)],
        ],
    );
    let r = world.table(&[int(), int()], &[vec![n(2), n(3)]]);
    let key = |index| JoinKey {
        left: column(index, int()),
        right: column(index, int()),
        null_safe: false,
    };
    let join = plan(
        Operator::HashJoin {
            kind: JoinKind::NullAwareAnti,
            left: Box::new(scan(&l)),
            right: Box::new(scan(&r)),
            keys: vec![key(0), key(1)],
            residual: None,
            build_left: false,
            partnered: false,
            filters: Vec::new(),
            temporary: why(Purpose::Join),
        },
        &[int(), int()],
    );
    world.check(query(join), &[vec![n(1), NULL], vec![n(2), n(4)]]);
}

#[test]
fn nested_loops() {
    for (left, right) in [(50, 70), (3, 200), (200, 3), (0, 5), (5, 0)] {
        let mut world = World::new();
        let (l, r, left, right) = sides(&mut world, left, right, 40);
        let condition = compare(Comparison::Less, column(0, int()), column(2, int()));
        let less =
            |a: &Row, b: &Row| matches!((&a[0], &b[0]), (Value::Int(a), Value::Int(b)) if a < b);
        for kind in KINDS {
            let join = |condition| {
                plan(
                    Operator::NestedLoopJoin {
                        kind,
                        left: Box::new(left.clone()),
                        right: Box::new(right.clone()),
                        condition,
                        temporary: why(Purpose::Join),
                    },
                    &output(kind),
                )
            };
            world.check(
                query(join(Some(condition.clone()))),
                &oracle(kind, &l, &r, less),
            );
            world.check(query(join(None)), &oracle(kind, &l, &r, |_, _| true));
        }
    }
}

#[test]
fn apply_runs_the_right_side_for_each_row() {
    let mut world = World::new();
    let (l, r, left, right) = sides(&mut world, 30, 40, 10);
    // LATERAL (SELECT * FROM right WHERE right.c0 = left.c0)
    let predicate = compare(Comparison::Equal, column(0, int()), parameter(0, int()));
    let inner = filter(right, predicate);
    let condition = compare(Comparison::Less, column(1, int()), column(3, int()));
    for kind in KINDS {
        let apply = plan(
            Operator::Apply {
                kind,
                left: Box::new(left.clone()),
                right: Box::new(inner.clone()),
                parameters: vec![(0, column(0, int()))],
                condition: Some(condition.clone()),
            },
            &output(kind),
        );
        world.check(
            query_with(apply, Vec::new(), 1),
            &oracle(kind, &l, &r, |l, r| equal(l, r) && less_than(l, r)),
        );
    }
}

#[test]
fn one_left_row_with_very_many_partners() {
    let mut world = World::new();
    let l = world.table(&[int(), int()], &[vec![n(1), n(0)], vec![n(2), n(0)]]);
    let rows: Vec<Row> = (0..20_000).map(|i| vec![n(1), n(i)]).collect();
    let r = world.table(&[int(), int()], &rows);
    for build_left in [false, true] {
        let join = hash_join(
            JoinKind::Left,
            &scan(&l),
            &scan(&r),
            false,
            None,
            build_left,
        );
        let calls = vec![count(Some(column(3, int())))];
        let counted = query(group(join, vec![column(0, int())], calls));
        world.check(counted, &[vec![n(1), n(20_000)], vec![n(2), n(0)]]);
    }
}

#[test]
fn columns_that_nobody_reads_are_not_missed() {
    let mut world = World::new();
    let (l, r, left, right) = sides(&mut world, 300, 200, 40);
    for (kind, build_left) in [
        (JoinKind::Inner, false),
        (JoinKind::Inner, true),
        (JoinKind::Left, false),
        (JoinKind::Left, true),
    ] {
        for with_residual in [false, true] {
            let less = compare(Comparison::Less, column(1, int()), column(3, int()));
            let residual = with_residual.then_some(less);
            let join = hash_join(kind, &left, &right, false, residual, build_left);
            let rows = oracle(kind, &l, &r, |l, r| {
                equal(l, r) && (!with_residual || less_than(l, r))
            });
            let expected = [vec![n(rows.len() as i64)]];
            world.check(
                query(group(join.clone(), Vec::new(), vec![count(None)])),
                &expected,
            );
            let not_three = compare(Comparison::NotEqual, column(2, int()), literal(n(3), int()));
            let right_only = project(filter(join, not_three), vec![column(3, int())]);
            let kept = rows
                .iter()
                .filter(|row| !row[2].is_null() && row[2] != n(3));
            let expected: Vec<Row> = kept.map(|row| vec![row[3].clone()]).collect();
            world.check(query(right_only), &expected);
        }
    }
}

/// A chain of joins: the filters of all joins reach the scan of the first table.
#[test]
fn filters_reach_through_joins() {
    let mut world = World::new();
    let (l, r, left, right) = sides(&mut world, 300, 200, 40);
    let few: Vec<Row> = [3, 5, 39, 39, 1000].map(|k| vec![n(k), n(k)]).to_vec();
    let third = scan(&world.table(&[int(), int()], &few));
    let keys = |left: usize| {
        vec![JoinKey {
            left: column(left, int()),
            right: column(0, int()),
            null_safe: false,
        }]
    };
    for kind in KINDS {
        let lower = oracle(kind, &l, &r, equal);
        let width = output(kind).len();
        // Keys: a column of the lower join's left side, and where it has one, of its right side.
        for key in (0..width).step_by(2) {
            for upper in [
                JoinKind::Inner,
                JoinKind::Semi,
                JoinKind::Left,
                JoinKind::Anti,
            ] {
                let below = hash_join(kind, &left, &right, false, None, key == 2);
                let mut columns = output(kind);
                if matches!(upper, JoinKind::Inner | JoinKind::Left) {
                    columns.extend([int(), int()]);
                }
                let join = plan(
                    Operator::HashJoin {
                        kind: upper,
                        left: Box::new(below),
                        right: Box::new(third.clone()),
                        keys: keys(key),
                        residual: None,
                        build_left: false,
                        partnered: false,
                        filters: Vec::new(),
                        temporary: why(Purpose::Join),
                    },
                    &columns,
                );
                let expected = oracle(upper, &lower, &few, |l, r| {
                    !l[key].is_null() && l[key] == r[0]
                });
                world.check(query(join), &expected);
            }
        }
    }
}

/// Each run of a joined side makes its own filters: those of an earlier run refuse nothing.
#[test]
fn filters_are_of_one_run() {
    let mut world = World::new();
    let (l, r, left, right) = sides(&mut world, 40, 30, 10);
    let less = compare(Comparison::Less, column(1, int()), parameter(0, int()));
    let join = hash_join(
        JoinKind::Inner,
        &left,
        &filter(right, less),
        false,
        None,
        false,
    );
    let counted = group(join, Vec::new(), vec![count(None)]);
    let limits: Vec<Row> = [0, 30, 1, 0, 12, 30].map(|limit| vec![n(limit)]).to_vec();
    let outer = scan(&world.table(&[int()], &limits));
    let apply = plan(
        Operator::Apply {
            kind: JoinKind::Inner,
            left: Box::new(outer),
            right: Box::new(counted),
            parameters: vec![(0, column(0, int()))],
            condition: None,
        },
        &[int(), int()],
    );
    let expected: Vec<Row> = limits
        .iter()
        .map(|limit| {
            let below: Vec<Row> = r
                .iter()
                .filter(|r| less_than(&vec![NULL, r[1].clone()], &vec![NULL, limit[0].clone()]))
                .cloned()
                .collect();
            let pairs = oracle(JoinKind::Inner, &l, &below, equal).len();
            vec![limit[0].clone(), n(pairs as i64)]
        })
        .collect();
    world.check(query_with(apply, Vec::new(), 1), &expected);
}

fn less_than(l: &Row, r: &Row) -> bool {
    matches!((&l[1], &r[1]), (Value::Int(l), Value::Int(r)) if l < r)
}
