//! Measurements of operators and temporary tables compared with the rows.

use std::sync::Arc;

use mayfly_plan::physical::QueryPlan;
use mayfly_storage::RegistryEntry;
use mayfly_types::Value;

use crate::measure::Measure;
use crate::testing::*;

/// Runs a query; returns the measurements of its operators 0 and 1, its temporary tables, and its number of rows.
fn run(
    world: &World,
    query: QueryPlan,
    config: &Config,
) -> (Measure, Measure, Vec<RegistryEntry>, u64) {
    let statement = world.statement(config);
    let query = Arc::new(query);
    let mut stream = crate::execute(&query, &statement, &[]).unwrap();
    stream.give_in_any_order();
    let mut rows = 0;
    while let Some(batch) = stream.next_batch().unwrap() {
        rows += batch.row_count() as u64;
    }
    drop(stream);
    let measures = statement.measures.as_ref().unwrap();
    let tables = statement.temp.counters().finished_tables();
    (measures.of(0), measures.of(1), tables, rows)
}

/// 1,000 rows of the numbers 0 to 999, and their remainders by 10.
fn world() -> (World, mayfly_plan::physical::Plan) {
    let mut world = World::new();
    let rows: Vec<Row> = (0..1000).map(|i| vec![n(i), n(i % 10)]).collect();
    let scan = scan(&world.table(&[int(), int()], &rows));
    (world, scan)
}

#[test]
fn a_scan_counts_what_it_read_and_what_it_gave() {
    let (world, scan) = world();
    let half = compare(
        mayfly_plan::Comparison::Less,
        column(0, int()),
        literal(Value::Int(500), int()),
    );
    let mut filtered = filter(scan, half);
    filtered.number = 1;
    for config in configs() {
        let (scan, filter, tables, rows) = run(&world, query(filtered.clone()), &config);
        assert_eq!((scan.loops, scan.rows, scan.rows_read), (1, 1000, 1000));
        assert_eq!((filter.loops, filter.rows, rows), (1, 500, 500));
        assert!(scan.first_row <= scan.last_row && filter.first_row <= filter.last_row);
        assert!(
            scan.last_row <= filter.last_row,
            "an operator's time has that of its input"
        );
        assert!(tables.is_empty());
    }
}

#[test]
fn a_grouping_tells_its_groups_whether_they_fit_or_not() {
    for (key, groups) in [(0, 1000), (1, 10)] {
        let (world, scan) = world();
        let mut grouped = group(scan, vec![column(key, int())], vec![count(None)]);
        grouped.number = 1;
        for config in configs() {
            let (_, aggregate, tables, rows) = run(&world, query(grouped.clone()), &config);
            assert_eq!((aggregate.loops, aggregate.rows, rows), (1, groups, groups));
            let [table] = tables.as_slice() else {
                panic!("one table for one GROUP BY: {tables:?}");
            };
            assert_eq!(table.groups, groups);
            assert_eq!((table.tables, table.engine), (1, "TempTable"));
            assert!(table.memory_peak > 0 && table.memory_bytes == 0 && table.disk_bytes == 0);
            assert_eq!(table.overflowed > 0, table.bytes_written > 0);
            assert_eq!(table.overflowed > 0, table.limit.is_some());
        }
    }
}

#[test]
fn first_groups_are_the_rows_of_their_table_and_counted_once() {
    for aggregates in [vec![count(None)], Vec::new()] {
        let (world, scan) = world();
        let grouping = mayfly_plan::physical::Grouping {
            keys: vec![column(1, int())],
            aggregates,
            first_groups: Some(4),
            temporary: Some(why(mayfly_plan::physical::Purpose::GroupBy)),
            ..Default::default()
        };
        let mut grouped = group_by(scan, grouping);
        grouped.number = 1;
        // A table that overflows at once gives every group.
        for config in configs().iter().filter(|config| !config.force_overflow) {
            let (_, aggregate, tables, rows) = run(&world, query(grouped.clone()), config);
            assert_eq!((aggregate.rows, rows), (4, 4));
            let [table] = tables.as_slice() else {
                panic!("one table for one GROUP BY: {tables:?}");
            };
            assert_eq!((table.rows, table.groups), (4, 4), "{}", config.name);
        }
    }
}

#[test]
fn a_sort_in_a_file_tells_its_runs_and_its_bytes() {
    let (world, scan) = world();
    let mut sorted = over(scan, |input| mayfly_plan::physical::Operator::Sort {
        input,
        keys: vec![key(column(1, int()), true)],
        limit: None,
        for_windows: None,
        temporary: why(mayfly_plan::physical::Purpose::OrderBy),
    });
    sorted.number = 1;
    for config in configs() {
        let (_, sort, tables, rows) = run(&world, query(sorted.clone()), &config);
        assert_eq!((sort.rows, rows), (1000, 1000));
        let [table] = tables.as_slice() else {
            panic!("one table for one ORDER BY: {tables:?}");
        };
        assert_eq!(table.rows, 1000);
        if table.overflowed > 0 {
            assert!(table.partitions > 1 && table.bytes_read > 0 && table.disk_peak > 0);
        } else {
            assert_eq!(
                (table.bytes_written, table.bytes_read, table.disk_peak),
                (0, 0, 0)
            );
        }
    }
}

/// A filter of the build side's keys is applied to each input of UNION ALL before expressions are computed.
#[test]
fn a_filter_of_keys_reaches_each_scan_of_a_union() {
    use mayfly_plan::physical::{JoinKey, JoinKind, Operator, Purpose, SetOperationKind};

    let (mut world, numbers) = world();
    let few: Vec<Row> = [3, 77, 5000].map(|key| vec![n(key)]).to_vec();
    let mut other = project(numbers.clone(), vec![column(1, int()), column(0, int())]);
    other.number = 1;
    let union = plan(
        Operator::SetOperation {
            kind: SetOperationKind::Union,
            all: true,
            inputs: vec![numbers, other],
            temporary: None,
        },
        &[int(), int()],
    );
    let join = plan(
        Operator::HashJoin {
            kind: JoinKind::Inner,
            left: Box::new(union),
            right: Box::new(scan(&world.table(&[int()], &few))),
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
    for config in configs() {
        let (_, projected, _, rows) = run(&world, query(join.clone()), &config);
        // Matches: 3 and 77 among the numbers 0 to 999, and the 100 remainders by 10 that are 3.
        assert_eq!(rows, 2 + 100, "{}", config.name);
        if !config.force_overflow {
            assert_eq!(projected.rows, 100, "{}", config.name);
        }
    }
}
