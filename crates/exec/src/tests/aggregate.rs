//! Aggregation compared with a plain map.

use std::collections::BTreeMap;
use std::sync::Arc;

use mayfly_plan::physical::{AggregateCall, Grouping, Plan, Purpose};
use mayfly_types::Value;

use crate::testing::*;

/// Rows (key, number, text) with repeating keys.
fn rows(count: i64, keys: i64) -> Vec<Row> {
    (0..count)
        .map(|i| {
            let k = (i * 7919) % keys;
            let number = if i % 11 == 0 { NULL } else { n(i % 5) };
            vec![
                if k == 1 { NULL } else { n(k) },
                number,
                s(&format!("v{}", (i * 31) % 17)),
            ]
        })
        .collect()
}

fn table(world: &mut World, rows: &[Row]) -> Plan {
    scan(&world.table(&[int(), int(), binary()], rows))
}

fn sums(rows: &[Row]) -> Vec<Row> {
    let mut groups: BTreeMap<String, (Value, i64, i64, Option<i64>)> = BTreeMap::new();
    for row in rows {
        let group = groups
            .entry(format!("{:?}", row[0]))
            .or_insert((row[0].clone(), 0, 0, None));
        group.1 += 1;
        if let Value::Int(value) = row[1] {
            group.2 += 1;
            *group.3.get_or_insert(0) += value;
        }
    }
    let row = |(key, all, some, sum): (Value, i64, i64, Option<i64>)| {
        vec![key, n(all), n(some), sum.map_or(NULL, d)]
    };
    groups.into_values().map(row).collect()
}

fn calls() -> Vec<AggregateCall> {
    vec![
        count(None),
        count(Some(column(1, int()))),
        sum(column(1, int())),
    ]
}

#[test]
fn groups_that_repeat_and_groups_that_do_not() {
    for keys in [1, 7, 3000] {
        let mut world = World::new();
        let rows = rows(3000, keys);
        let input = table(&mut world, &rows);
        let plan = group(input, vec![column(0, int())], calls());
        world.check(query(plan), &sums(&rows));
    }
}

#[test]
fn many_rows_turn_to_partitions() {
    // More rows than the sample after which a worker decides.
    let mut world = World::new();
    let rows: Vec<Row> = (0..80_000_i64)
        .map(|i| vec![n(i / 2), n(1), s("x")])
        .collect();
    let input = table(&mut world, &rows);
    let plan = group(input, vec![column(0, int())], vec![count(None)]);
    let expected: Vec<Row> = (0..40_000).map(|i| vec![n(i), n(2)]).collect();
    world.check_many_keys(query(plan), &expected);
}

#[test]
fn repeating_first_and_unique_later() {
    let mut world = World::new();
    let rows: Vec<Row> = (0..60_000_i64)
        .map(|i| vec![n(if i < 40_000 { i % 3 } else { i }), n(1), s("x")])
        .collect();
    let input = table(&mut world, &rows);
    let plan = group(input, vec![column(0, int())], vec![count(None)]);
    let mut expected: Vec<Row> = (0..3)
        .map(|i| vec![n(i), n(13_333 + i64::from(i == 0))])
        .collect();
    expected.extend((40_000..60_000).map(|i| vec![n(i), n(1)]));
    world.check_many_keys(query(plan), &expected);
}

/// Few groups at first; then more than the limit holds, of which some are much more frequent than others, or none is.
#[test]
fn groups_that_outgrow_memory_pass_by_those_that_stay() {
    for often in [0, 6] {
        let mut world = World::new();
        let rows: Vec<Row> = (0..160_000_u64)
            .map(|i| {
                let random = i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
                let key = match i {
                    0..40_000 => i % 3,
                    _ if random % 8 < often => 1000 + random % 500,
                    _ => 2000 + random % 40_000,
                };
                let text = format!("{random:040}");
                vec![n(key as i64), n((i % 7) as i64), s(&text)]
            })
            .collect();
        let mut groups: BTreeMap<String, (Row, i64, i64, Value)> = BTreeMap::new();
        for row in &rows {
            let Value::Int(number) = row[1] else { continue };
            let group = groups.entry(format!("{:?}", row[0])).or_insert((
                vec![row[0].clone()],
                0,
                0,
                row[2].clone(),
            ));
            group.1 += 1;
            group.2 += number;
            if format!("{:?}", row[2]) > format!("{:?}", group.3) {
                group.3 = row[2].clone();
            }
        }
        let expected: Vec<Row> = groups
            .into_values()
            .map(|(mut row, count, sum, greatest)| {
                row.extend([n(count), d(sum), greatest]);
                row
            })
            .collect();
        let input = table(&mut world, &rows);
        let greatest = call("max", Some(column(2, binary())));
        let calls = vec![count(None), sum(column(1, int())), greatest];
        let plan = group(input, vec![column(0, int())], calls);
        world.check_within(4 << 20, query(plan), &expected);
    }
}

#[test]
fn no_keys_and_no_rows() {
    let mut world = World::new();
    let empty = table(&mut world, &[]);
    world.check(
        query(group(empty.clone(), Vec::new(), calls())),
        &[vec![n(0), n(0), NULL]],
    );
    world.check(query(group(empty, vec![column(0, int())], calls())), &[]);
    let rows = rows(1000, 7);
    let input = table(&mut world, &rows);
    let total: i64 = rows
        .iter()
        .map(|row| if let Value::Int(v) = row[1] { v } else { 0 })
        .sum();
    let counted = rows.iter().filter(|row| !row[1].is_null()).count() as i64;
    world.check(
        query(group(input, Vec::new(), calls())),
        &[vec![n(1000), n(counted), d(total)]],
    );
}

#[test]
fn collations_decide_groups() {
    let mut world = World::new();
    let table = world.table(&[text()], &[vec![s("a")], vec![s("A")], vec![s("b")]]);
    let plan = group(scan(&table), vec![column(0, text())], vec![count(None)]);
    world.check(query(plan), &[vec![s("a"), n(2)], vec![s("b"), n(1)]]);
}

#[test]
fn first_groups_counts_all_their_rows() {
    let mut world = World::new();
    let rows = rows(3000, 50);
    let input = table(&mut world, &rows);
    let plan = group_by(
        input,
        Grouping {
            keys: vec![column(0, int())],
            aggregates: calls(),
            first_groups: Some(4),
            temporary: Some(why(Purpose::GroupBy)),
            ..Grouping::default()
        },
    );
    let mut keys: Vec<Value> = Vec::new();
    for row in &rows {
        if !keys.contains(&row[0]) && keys.len() < 4 {
            keys.push(row[0].clone());
        }
    }
    let all = sums(&rows);
    let expected: Vec<Row> = keys
        .iter()
        .map(|key| all.iter().find(|row| row[0] == *key).unwrap().clone())
        .collect();
    world.check_ordered(query(plan), &expected);
}

fn mergeable_calls() -> Vec<AggregateCall> {
    let more = ["avg", "min", "bit_xor"];
    let more = more.map(|name| call(name, Some(column(1, int()))));
    let any = call("any_value", Some(column(0, int())));
    calls().into_iter().chain(more).chain([any]).collect()
}

/// Merges the partial states of groupings of two halves of some rows.
fn in_two_steps(world: &mut World, rows: &[Row], rollup: bool) -> Plan {
    let calls = || mergeable_calls().into_iter();
    let keys = vec![column(0, int())];
    let halves = rows.split_at(rows.len() / 2);
    let halves = [halves.0, halves.1].map(|half| {
        let partial = Grouping {
            keys: keys.clone(),
            aggregates: calls().collect(),
            gives_states: true,
            temporary: Some(why(Purpose::GroupBy)),
            ..Grouping::default()
        };
        group_by(table(world, half), partial)
    });
    let states = union_all(halves.into());
    let mut first = keys.len();
    let merging = calls().map(|call| {
        let columns = call.signature.state.iter().zip(first..);
        let columns = columns.map(|(ty, at)| column(at, ty.clone()));
        let arguments: Vec<_> = columns.collect();
        first += arguments.len();
        AggregateCall {
            arguments,
            merges: true,
            ..call
        }
    });
    let merging = Grouping {
        aggregates: merging.collect(),
        keys,
        rollup,
        temporary: Some(why(Purpose::GroupBy)),
        ..Grouping::default()
    };
    group_by(states, merging)
}

#[test]
fn merged_states_give_the_results_of_the_rows() {
    let mut world = World::new();
    for (rollup, keys) in [(false, 1), (true, 7), (false, 900), (true, 900)] {
        let rows = rows(3000, keys);
        let whole = Grouping {
            keys: vec![column(0, int())],
            aggregates: mergeable_calls(),
            rollup,
            temporary: Some(why(Purpose::GroupBy)),
            ..Grouping::default()
        };
        let input = table(&mut world, &rows);
        let whole = Arc::new(query(group_by(input, whole)));
        let expected = world.run(&whole, &configs()[0]).unwrap();
        let merged = in_two_steps(&mut world, &rows, rollup);
        world.check(query(merged), &expected);
    }
}

#[test]
fn distinct_and_ordered_calls() {
    let mut world = World::new();
    let rows = rows(2000, 4);
    let input = table(&mut world, &rows);
    let distinct_count = AggregateCall {
        distinct: true,
        ..count(Some(column(1, int())))
    };
    let ordered = AggregateCall {
        distinct: true,
        order_by: vec![key(column(2, binary()), true)],
        ..concat(column(2, binary()))
    };
    let calls = vec![distinct_count, ordered, count(None)];
    let expect = |rows: &[&Row]| {
        let mut numbers: Vec<i64> = rows
            .iter()
            .filter_map(|row| match row[1] {
                Value::Int(v) => Some(v),
                _ => None,
            })
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut texts: Vec<Vec<u8>> = rows
            .iter()
            .filter_map(|row| match &row[2] {
                Value::Bytes(v) => Some(v.clone()),
                _ => None,
            })
            .collect();
        texts.sort();
        texts.dedup();
        texts.reverse();
        vec![
            n(numbers.len() as i64),
            Value::Bytes(texts.join(&b',')),
            n(rows.len() as i64),
        ]
    };
    let all: Vec<&Row> = rows.iter().collect();
    world.check(
        query(group(input.clone(), Vec::new(), calls.clone())),
        &[expect(&all)],
    );
    let mut expected = Vec::new();
    for k in [n(0), NULL, n(2), n(3)] {
        let of_key: Vec<&Row> = rows.iter().filter(|row| row[0] == k).collect();
        let mut row = vec![k];
        row.extend(expect(&of_key));
        expected.push(row);
    }
    world.check(
        query(group(input, vec![column(0, int())], calls)),
        &expected,
    );
}

#[test]
fn order_sensitive_calls_see_rows_in_order() {
    let mut world = World::new();
    let rows: Vec<Row> = (0..50)
        .map(|i| vec![n(i % 2), n(i), s(&format!("{i}"))])
        .collect();
    let input = table(&mut world, &rows);
    let list = |keep: fn(i64) -> bool| {
        let list: Vec<String> = (0..50)
            .filter(|i| keep(*i))
            .map(|i| i.to_string())
            .collect();
        s(&list.join(","))
    };
    let calls = vec![concat(column(2, binary()))];
    let all = group(input.clone(), Vec::new(), calls.clone());
    world.check(query(all), &[vec![list(|_| true)]]);
    let (even, odd) = (list(|i| i % 2 == 0), list(|i| i % 2 == 1));
    let halves = group(input, vec![column(0, int())], calls);
    world.check(query(halves), &[vec![n(0), even], vec![n(1), odd]]);
}

#[test]
fn rollup_sums_up_each_level() {
    let mut world = World::new();
    let rows = [("x", "a", 1), ("x", "b", 2), ("y", "a", 4), ("x", "a", 8)];
    let rows: Vec<Row> = rows
        .iter()
        .map(|(a, b, v)| vec![s(a), s(b), n(*v)])
        .collect();
    let table = world.table(&[text(), text(), int()], &rows);
    let rollup = |input, keys, aggregates| {
        let grouping = Grouping {
            keys,
            aggregates,
            rollup: true,
            temporary: Some(why(Purpose::GroupBy)),
            ..Grouping::default()
        };
        group_by(input, grouping)
    };
    let keys = vec![column(0, text()), column(1, text())];
    let plan = rollup(scan(&table), keys, vec![sum(column(2, int()))]);
    let row = |a: Value, b: Value, v, level| vec![a, b, d(v), n(level)];
    world.check_ordered(
        query(plan),
        &[
            row(s("x"), s("a"), 9, 0),
            row(s("x"), s("b"), 2, 0),
            row(s("x"), NULL, 11, 1),
            row(s("y"), s("a"), 4, 0),
            row(s("y"), NULL, 4, 1),
            row(NULL, NULL, 15, 2),
        ],
    );
    let empty = world.table(&[int()], &[]);
    let calls = vec![count(None), sum(column(0, int()))];
    let plan = rollup(scan(&empty), vec![column(0, int())], calls);
    world.check_ordered(query(plan), &[vec![NULL, n(0), NULL, n(1)]]);
}

#[test]
fn distinct_is_a_grouping_without_calls() {
    let mut world = World::new();
    let rows = rows(5000, 13);
    let input = table(&mut world, &rows);
    let plan = group(input, vec![column(0, int())], Vec::new());
    let expected: Vec<Row> = sums(&rows)
        .into_iter()
        .map(|row| vec![row[0].clone()])
        .collect();
    world.check(query(plan), &expected);
}

#[test]
fn calls_that_are_all_distinct_group_their_arguments_first() {
    let mut world = World::new();
    let rows = rows(3000, 40);
    let input = table(&mut world, &rows);
    let distinct = |call: AggregateCall| AggregateCall {
        distinct: true,
        ..call
    };
    let calls = vec![
        distinct(count(Some(column(1, int())))),
        distinct(sum(column(1, int()))),
    ];
    // Numbers are 0 to 4, and NULL.
    let expected = [vec![n(5), d(10)]];
    let plan = group(input.clone(), Vec::new(), calls.clone());
    world.check(query(plan), &expected);
    let mut seen: BTreeMap<String, (Value, std::collections::BTreeSet<i64>)> = BTreeMap::new();
    for row in &rows {
        let (_, numbers) = seen
            .entry(format!("{:?}", row[0]))
            .or_insert((row[0].clone(), Default::default()));
        if let Value::Int(number) = row[1] {
            numbers.insert(number);
        }
    }
    let expected: Vec<Row> = seen
        .into_values()
        .map(|(key, numbers)| {
            let total = numbers.iter().sum();
            let total = if numbers.is_empty() { NULL } else { d(total) };
            vec![key, n(numbers.len() as i64), total]
        })
        .collect();
    let plan = group(input.clone(), vec![column(0, int())], calls);
    world.check(query(plan), &expected);
    // Calls with different arguments do not share a grouping.
    let calls = vec![
        distinct(count(Some(column(1, int())))),
        distinct(count(Some(column(2, binary())))),
    ];
    world.check(query(group(input, Vec::new(), calls)), &[vec![n(5), n(17)]]);
}

#[test]
fn a_panic_ends_its_statement_only() {
    let mut world = World::new();
    let input = table(&mut world, &rows(3000, 40));
    for keys in [Vec::new(), vec![column(0, int())]] {
        let panicking = vec![panicking(column(1, int()))];
        let query = Arc::new(query(group(input.clone(), keys, panicking)));
        for config in configs() {
            let error = world.run(&query, &config).unwrap_err().to_string();
            assert!(error.contains(": a bug. "), "{error}");
        }
    }
}
