//! Windows over rows that are sorted partition by partition, by one worker or by several.

use std::collections::HashMap;
use std::sync::Arc;

use mayfly_plan::physical::{FirstRows, Operator, Plan, Purpose, WindowOrder};
use mayfly_plan::window::{Frame, Over, WindowCall, WindowFunction};
use mayfly_types::{SqlType, Value};

use crate::testing::{
    Config, NULL, Row, World, column, compare, filter, int, key, literal, n, over, plan, query, s,
    scan, text, why,
};

const ROWS: i64 = 3000;

/// The partition of a row, its place there, and its number.
fn row(number: i64) -> Row {
    let partition = match number * number % 23 {
        3 => NULL,
        // Strings that are equal under their collation.
        rest if number % 2 == 0 => s(&format!("p{rest}")),
        rest => s(&format!("P{rest}")),
    };
    vec![partition, n(number * 7919 % 1009 / 3), n(number)]
}

fn partition_of(row: &Row) -> String {
    match &row[0] {
        Value::Bytes(text) => String::from_utf8_lossy(text).to_lowercase(),
        _ => String::new(),
    }
}

fn number_of(value: &Value) -> i64 {
    match value {
        Value::Int(number) => *number,
        _ => i64::MIN,
    }
}

fn call(function: WindowFunction) -> WindowCall {
    WindowCall {
        function,
        arguments: Vec::new(),
        frame: Frame::usual(true),
        result: SqlType::bigint_unsigned(),
        nullable: false,
        over: Over::default(),
    }
}

fn windowed(input: Plan, order: WindowOrder, functions: &[WindowFunction]) -> Plan {
    let keys = [
        key(column(0, text()), false),
        key(column(1, int()), true),
        key(column(2, int()), false),
    ];
    let sort = over(input, |input| Operator::Sort {
        input,
        keys: keys.to_vec(),
        limit: None,
        for_windows: Some(order),
        temporary: why(Purpose::OrderBy),
    });
    let mut output = sort.output.clone();
    output.extend(functions.iter().map(|_| SqlType::bigint_unsigned()));
    let operator = Operator::Window {
        input: Box::new(sort),
        partition: vec![column(0, text())],
        order: keys[1..].to_vec(),
        calls: functions.iter().cloned().map(call).collect(),
        temporary: why(Purpose::Window),
    };
    plan(operator, &output)
}

/// Rows in the order of the windows, with their numbers in their partitions.
fn expected() -> Vec<(Row, i64)> {
    let mut rows: Vec<Row> = (0..ROWS).map(row).collect();
    rows.sort_by_key(|row| {
        let place = (-number_of(&row[1]), number_of(&row[2]));
        (row[0] != NULL, partition_of(row), place)
    });
    let mut counts: HashMap<String, i64> = HashMap::new();
    let numbered = rows.into_iter().map(|row| {
        let count = counts.entry(partition_of(&row)).or_default();
        *count += 1;
        (row, *count)
    });
    numbered.collect()
}

fn unsigned(value: i64) -> Value {
    Value::UInt(value.cast_unsigned())
}

const ANY_ORDER: WindowOrder = WindowOrder {
    partition_keys: 1,
    orders_partitions: false,
    first: None,
};

fn world() -> (World, Plan) {
    let mut world = World::new();
    let rows: Vec<Row> = (0..ROWS).map(row).collect();
    let table = world.table(&[text(), int(), int()], &rows);
    let scan = scan(&table);
    (world, scan)
}

#[test]
fn partitions_are_numbered_whoever_sorts_them() {
    let (world, scan) = world();
    // NTILE of one bucket for each row needs the whole partition, ROW_NUMBER the row alone.
    let functions = [
        WindowFunction::RowNumber,
        WindowFunction::Ntile(ROWS as u64),
    ];
    for functions in [&functions[..1], &functions[..]] {
        let rows = expected().into_iter().map(|(mut row, number)| {
            row.extend(functions.iter().map(|_| unsigned(number)));
            row
        });
        let rows: Vec<Row> = rows.collect();
        world.check(query(windowed(scan.clone(), ANY_ORDER, functions)), &rows);
        let in_order = WindowOrder {
            orders_partitions: true,
            ..ANY_ORDER
        };
        world.check_ordered(query(windowed(scan.clone(), in_order, functions)), &rows);
    }
}

#[test]
fn the_first_rows_of_partitions_are_those_of_all_rows() {
    let (world, scan) = world();
    for (function, counts_values) in [
        (WindowFunction::RowNumber, false),
        (WindowFunction::Rank, false),
        (WindowFunction::DenseRank, true),
    ] {
        for count in [0, 1, 3, 50, 100_000] {
            let first = FirstRows {
                count,
                counts_values,
            };
            let order = WindowOrder {
                first: Some(first),
                ..ANY_ORDER
            };
            let numbered = windowed(scan.clone(), order, std::slice::from_ref(&function));
            let ty = SqlType::bigint_unsigned();
            let limit = literal(Value::UInt(count), ty.clone());
            let is_first = compare(mayfly_plan::Comparison::LessOrEqual, column(3, ty), limit);
            let rows = expected().into_iter();
            let rows = rows.filter(|(_, number)| number.cast_unsigned() <= count);
            let rows = rows.map(|(mut row, number)| {
                row.push(unsigned(number));
                row
            });
            world.check(query(filter(numbered, is_first)), &rows.collect::<Vec<_>>());
        }
    }
}

#[test]
fn one_thread_too_sorts_the_partitions_of_many_rows_one_by_one() {
    let (world, scan) = world();
    let query = Arc::new(query(windowed(
        scan,
        ANY_ORDER,
        &[WindowFunction::RowNumber],
    )));
    let configs = crate::testing::configs().into_iter();
    let overflow = { configs }
        .find(|config| config.name == "overflow")
        .unwrap();
    assert_eq!(overflow.threads, 1);
    for (parallel_rows_min, in_order) in [(1, false), (u64::MAX, true)] {
        let config = Config {
            parallel_rows_min,
            ..overflow.clone()
        };
        let rows = world.run(&query, &config).unwrap();
        let partitions: Vec<String> = rows.iter().map(partition_of).collect();
        let is_sorted = partitions.is_sorted();
        assert_eq!(is_sorted, in_order, "{parallel_rows_min}");
    }
}

#[test]
fn few_of_the_rows_that_are_not_first_are_stored() {
    let (world, scan) = world();
    let first = FirstRows {
        count: 2,
        counts_values: false,
    };
    for (first, rows_max) in [(Some(first), ROWS as u64 / 2), (None, ROWS as u64)] {
        let order = WindowOrder { first, ..ANY_ORDER };
        let query = Arc::new(query(windowed(
            scan.clone(),
            order,
            &[WindowFunction::RowNumber],
        )));
        let mut configs = crate::testing::configs();
        configs.retain(|config| ["default", "threads"].contains(&config.name));
        for config in configs {
            let statement = world.statement(&config);
            let mut stream = crate::execute(&query, &statement, &[]).unwrap();
            let mut rows = 0;
            while let Some(batch) = stream.next_batch().unwrap() {
                rows += batch.row_count() as u64;
            }
            assert!(rows <= rows_max, "{}: {rows}", config.name);
            assert!(
                first.is_some() || rows == rows_max,
                "{}: {rows}",
                config.name
            );
        }
    }
}
