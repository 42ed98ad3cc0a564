//! Statements of many levels: planning stays within its step budgets.

use crate::testing::{planned, rewritten};
use crate::tree::physical::Operator;

#[test]
fn groups_of_groups_over_a_join_are_estimated_once_each() {
    let mut sql = "SELECT t.a s, count(*) n FROM t, v WHERE t.id = v.a GROUP BY t.a".to_owned();
    for _ in 0..40 {
        sql = format!("SELECT n s, count(*) n FROM ({sql}) d GROUP BY n");
    }
    let query = planned(&sql);
    let (mut groupings, mut plans) = (0, vec![&query.root]);
    while let Some(plan) = plans.pop() {
        groupings += usize::from(matches!(plan.operator, Operator::Aggregate { .. }));
        plan.for_each_input(&mut |input| plans.push(input));
    }
    assert_eq!(groupings, 41);
}

#[test]
fn a_distinct_over_many_joins_is_planned() {
    let tables: Vec<String> = (0..50).map(|table| format!("t t{table}")).collect();
    let joined: Vec<String> = (1..50)
        .map(|table| format!("t{table}.id = t{}.id", table - 1))
        .collect();
    let joins = format!("FROM {} WHERE {}", tables.join(", "), joined.join(" AND "));
    // The first table's key is unique in all rows, its other columns are not.
    let unique = rewritten(&format!("SELECT DISTINCT t0.id {joins}")).to_string();
    assert!(!unique.contains("aggregate"), "{unique}");
    let grouped = rewritten(&format!("SELECT DISTINCT t0.a {joins}")).to_string();
    assert!(grouped.contains("aggregate by t0.a"), "{grouped}");
}
