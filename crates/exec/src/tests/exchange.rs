//! Roots that several workers run: early ends, and the end of all workers.

use std::sync::Arc;

use mayfly_functions::{Signature, scalar};
use mayfly_plan::physical::QueryPlan;
use mayfly_plan::{Comparison, Expression};

use crate::testing::*;

const ROWS: i64 = 20_000;

fn plus(left: Expression, right: Expression) -> Expression {
    let function = scalar::by_name("+").unwrap();
    let signature = Signature::new(vec![int(), int()], int(), true);
    Expression::call(function, vec![left, right], signature)
}

/// A filter at the root over many rows, with a predicate that fails for some of them.
fn filtered(world: &mut World, fails_from: i64) -> QueryPlan {
    let rows: Vec<Row> = (0..ROWS).map(|i| vec![n(i)]).collect();
    let input = scan(&world.table(&[int()], &rows));
    let far = literal(n(i64::MAX - fails_from), int());
    let sum = plus(column(0, int()), far);
    query(filter(
        input,
        compare(Comparison::Greater, sum, literal(n(0), int())),
    ))
}

#[test]
fn an_error_of_any_worker_ends_the_statement() {
    let mut world = World::new();
    for fails_from in [0, 5000, ROWS - 2] {
        let query = Arc::new(filtered(&mut world, fails_from));
        for config in configs() {
            let error = world.run(&query, &config).unwrap_err();
            assert_eq!(error.errno(), 1690, "{}", config.name);
        }
    }
    let all: Vec<Row> = (0..ROWS).map(|i| vec![n(i)]).collect();
    let never = filtered(&mut world, ROWS);
    world.check(never, &all);
}

#[test]
fn a_reader_that_stops_or_is_killed_takes_the_workers_with_it() {
    let mut world = World::new();
    let query = Arc::new(filtered(&mut world, ROWS));
    for config in configs() {
        for batches in [0, 1, 3] {
            let statement = world.statement(&config);
            let mut stream = crate::execute(&query, &statement, &[]).unwrap();
            stream.give_in_any_order();
            for _ in 0..batches {
                assert!(stream.next_batch().unwrap().is_some());
            }
            if batches == 3 {
                statement.evaluation.interrupt.kill();
                let error = loop {
                    match stream.next_batch() {
                        Ok(Some(_)) => {}
                        Ok(None) => panic!("the statement was killed"),
                        Err(error) => break error,
                    }
                };
                assert_eq!(error.errno(), 1317);
                assert!(stream.next_batch().unwrap().is_none());
            }
            drop(stream);
            // No worker holds the statement any more.
            assert_eq!(Arc::strong_count(&statement), 1, "{}", config.name);
        }
    }
    assert!(world.resources.registry.is_empty());
}
