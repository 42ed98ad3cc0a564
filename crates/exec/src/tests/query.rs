//! Streaming operators, sorts, set operations, shared results.

use std::sync::Arc;

use mayfly_plan::physical::{
    JoinKey, JoinKind, Operator, Plan, Purpose, SetOperationKind, SharedId, SharedResult,
    SharedSource,
};
use mayfly_plan::{Comparison, ExpressionKind};
use mayfly_types::Value;

use crate::testing::*;

fn numbers(world: &mut World, count: i64) -> Plan {
    let rows: Vec<Row> = (0..count)
        .map(|i| vec![n(i), s(&format!("row {i}"))])
        .collect();
    let table = world.table(&[int(), text()], &rows);
    scan(&table)
}

#[test]
fn values_project_filter_limit() {
    let mut world = World::new();
    let one = values(vec![literal(n(1), int()), literal(NULL, text())]);
    world.check(query(one), &[vec![n(1), NULL]]);

    let input = numbers(&mut world, 1000);
    let predicate = compare(
        Comparison::GreaterOrEqual,
        column(0, int()),
        literal(n(500), int()),
    );
    let filtered = filter(input, predicate.clone());
    let project = project(filtered, vec![column(0, int()), predicate]);
    let expected: Vec<Row> = (510..515).map(|i| vec![n(i), n(1)]).collect();
    world.check_ordered(query(limit(project, 10, 5)), &expected);
}

#[test]
fn limit_reads_no_more_than_it_needs() {
    let mut world = World::new();
    let input = numbers(&mut world, 1000);
    let read = world.rows_examined(query(limit(input, 0, 5)));
    assert!(read < 1000, "{read}");
}

#[test]
fn sorts_give_ranges() {
    let mut world = World::new();
    let rows: Vec<Row> = (0..997)
        .map(|i| {
            let value = (i * 7919) % 997;
            vec![
                if value == 5 { NULL } else { n(value) },
                s(&format!("{}", value % 10)),
            ]
        })
        .collect();
    let table = world.table(&[int(), text()], &rows);
    let sort = |limit, descending| {
        query(over(scan(&table), |input| Operator::Sort {
            input,
            keys: vec![
                key(column(1, text()), descending),
                key(column(0, int()), false),
            ],
            limit,
            for_windows: None,
            temporary: why(Purpose::OrderBy),
        }))
    };
    for descending in [false, true] {
        let mut expected = rows.clone();
        expected.sort_by(|a, b| {
            let text = |row: &Row| format!("{:?}", row[1]);
            let number = |row: &Row| match row[0] {
                Value::Int(n) => n,
                _ => -1,
            };
            let by_text = text(a).cmp(&text(b));
            let by_text = if descending {
                by_text.reverse()
            } else {
                by_text
            };
            by_text.then(number(a).cmp(&number(b)))
        });
        let ranges = [
            (None, &expected[..]),
            (Some((0, 7)), &expected[..7]),
            (Some((500, 10)), &expected[500..510]),
            (Some((990, 100)), &expected[990..]),
            (Some((5000, 10)), &[]),
            (Some((0, 0)), &[]),
        ];
        for (range, expected) in ranges {
            world.check_ordered(sort(range, descending), expected);
        }
    }
}

#[test]
fn set_operations_count_duplicates() {
    let mut world = World::new();
    let rows = |values: &[i64]| values.iter().map(|v| vec![n(*v)]).collect::<Vec<Row>>();
    let a = world.table(&[int()], &rows(&[1, 1, 1, 2, 2, 3]));
    let b = world.table(&[int()], &rows(&[1, 1, 2, 4]));
    let null = world.table(&[int()], &[vec![NULL], vec![NULL], vec![n(1)]]);
    let operation = |kind, all: bool, inputs: &[Arc<mayfly_plan::TableSource>]| {
        let temporary =
            (kind != SetOperationKind::Union || !all).then(|| why(Purpose::SetOperation));
        query(plan(
            Operator::SetOperation {
                kind,
                all,
                inputs: inputs.iter().map(scan).collect(),
                temporary,
            },
            &[int()],
        ))
    };
    use SetOperationKind::{Except, Intersect, Union};
    let ab = [a.clone(), b.clone()];
    world.check(
        operation(Union, true, &ab),
        &rows(&[1, 1, 1, 1, 1, 2, 2, 2, 3, 4]),
    );
    world.check(operation(Union, false, &ab), &rows(&[1, 2, 3, 4]));
    world.check(operation(Intersect, true, &ab), &rows(&[1, 1, 2]));
    world.check(operation(Intersect, false, &ab), &rows(&[1, 2]));
    world.check(operation(Except, true, &ab), &rows(&[1, 2, 3]));
    world.check(operation(Except, false, &ab), &rows(&[3]));
    let with_null = [null.clone(), null.clone(), a];
    world.check(operation(Except, true, &with_null), &[]);
    world.check(operation(Intersect, false, &with_null), &rows(&[1]));
    world.check(
        operation(Union, false, &with_null),
        &[vec![NULL], vec![n(1)], vec![n(2)], vec![n(3)]],
    );
    world.check(
        operation(Intersect, true, &[null.clone(), null]),
        &[vec![NULL], vec![NULL], vec![n(1)]],
    );
}

fn shared(source: SharedSource) -> SharedResult {
    SharedResult {
        source,
        output: vec![int()],
        name: "r".into(),
        columns: vec!["a".into()],
        select_id: 1,
        temporary: why(Purpose::CommonTableExpression),
        kept: None,
    }
}

fn shared_scan() -> Plan {
    plan(
        Operator::SharedScan {
            shared: SharedId(0),
            alias: "r".into(),
            arguments: Vec::new(),
        },
        &[int()],
    )
}

#[test]
fn recursion_ends_when_a_round_adds_nothing() {
    let mut world = World::new();
    // Edges of a ring: from i to (i + 3) % 10.
    let edges: Vec<Row> = (0..10).map(|i| vec![n(i), n((i + 3) % 10)]).collect();
    let edges = world.table(&[int(), int()], &edges);
    // WITH RECURSIVE r(a) AS (SELECT 0 UNION [ALL] SELECT next FROM r JOIN edges ON …)
    let working = Operator::WorkingTable {
        shared: SharedId(0),
        alias: "r".into(),
    };
    let join = plan(
        Operator::HashJoin {
            kind: JoinKind::Inner,
            left: Box::new(plan(working, &[int()])),
            right: Box::new(scan(&edges)),
            keys: vec![JoinKey {
                left: column(0, int()),
                right: column(0, int()),
                null_safe: false,
            }],
            residual: None,
            build_left: false,
            partnered: false,
            filters: Vec::new(),
            temporary: why(Purpose::Join),
        },
        &[int(), int(), int()],
    );
    let step = project(join, vec![column(2, int())]);
    let recursive = |distinct| {
        let source = SharedSource::Recursive {
            seed: values(vec![literal(n(0), int())]),
            step: step.clone(),
            distinct,
            enough: None,
        };
        query_with(shared_scan(), vec![shared(source)], 0)
    };
    let expected: Vec<Row> = (0..10).map(|i| vec![n(i * 3 % 10)]).collect();
    world.check_ordered(recursive(true), &expected);

    // Without DISTINCT the ring never ends: 3636.
    let endless = Arc::new(recursive(false));
    for config in configs() {
        let error = world.run(&endless, &config).unwrap_err();
        assert_eq!(error.errno(), 3636);
        assert!(error.message().contains("1001 iterations"), "{error}");
    }
}

#[test]
fn a_shared_result_is_made_once_and_read_twice() {
    let mut world = World::new();
    let input = numbers(&mut world, 300);
    let first = project(input, vec![column(0, int())]);
    let twice = plan(
        Operator::SetOperation {
            kind: SetOperationKind::Union,
            all: true,
            inputs: vec![shared_scan(), shared_scan()],
            temporary: None,
        },
        &[int()],
    );
    let expected: Vec<Row> = (0..300).chain(0..300).map(|i| vec![n(i)]).collect();
    let query = query_with(twice, vec![shared(SharedSource::Plan(first))], 0);
    world.check_ordered(query.clone(), &expected);
    assert_eq!(world.rows_examined(query), 300);
}

#[test]
fn a_killed_statement_ends_with_1317() {
    let mut world = World::new();
    let input = numbers(&mut world, 1000);
    let sort = over(input, |input| Operator::Sort {
        input,
        keys: vec![key(column(0, int()), true)],
        limit: None,
        for_windows: None,
        temporary: why(Purpose::OrderBy),
    });
    let query = Arc::new(query(sort));
    for config in configs() {
        let statement = world.statement(&config);
        let mut stream = crate::execute(&query, &statement, &[]).unwrap();
        stream.next_batch().unwrap();
        statement.evaluation.interrupt.kill();
        assert_eq!(stream.next_batch().unwrap_err().errno(), 1317);
        assert!(
            stream.next_batch().unwrap().is_none(),
            "an ended stream stays ended"
        );
    }
    assert!(world.resources.registry.is_empty());
}

#[test]
fn materialize_keeps_order() {
    let mut world = World::new();
    let input = numbers(&mut world, 1000);
    let expected: Vec<Row> = (0..1000)
        .map(|i| vec![n(i), s(&format!("row {i}"))])
        .collect();
    let plan = over(input, |input| Operator::Materialize {
        input,
        temporary: why(Purpose::DerivedTable),
    });
    world.check_ordered(query(plan), &expected);
}

#[test]
fn a_long_chain_of_operators_does_not_overflow_the_stack() {
    let world = World::new();
    let mut input = values(vec![literal(n(1), int())]);
    for _ in 0..300 {
        input = limit(input, 0, 10);
    }
    let mut predicate = compare(
        Comparison::Equal,
        literal(n(1), int()),
        literal(n(1), int()),
    );
    for _ in 0..20_000 {
        predicate = boolean(ExpressionKind::Not(Box::new(predicate)));
    }
    let query = Arc::new(query(filter(input, predicate)));
    assert_eq!(world.run(&query, &configs()[0]).unwrap(), [vec![n(1)]]);
    // The plan's own tree is dropped recursively, which is the planner's concern.
    std::mem::forget(query);
}
