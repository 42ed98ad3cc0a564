//! Filters of shared results: a common table expression with several readers needs only the rows that one of them
//! reads: `x.year = 2021` in one reader and `x.year = 2022` in the other imply `year = 2021 OR year = 2022` for the
//! materialized rows. Each reader keeps its own condition.
//!
//! A disjunction with an aggregate stays above the groups; the condition that it implies on their keys alone is pushed
//! below.

use super::planning::Planning;
use super::push_predicates::push_into;
use super::rule::{Steps, is_plain};
use crate::predicates::{and, implied, or};
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{
    ColumnId, ColumnSet, Computed, Query, Relation, SharedRelation, produced, with_stack,
};

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    if !planning.options.switches.derived_condition_pushdown {
        return;
    }
    // A common table expression reads those before it, and passes conditions on to them.
    for index in (0..query.shared.len()).rev() {
        let shared = &query.shared[index];
        let is_plain = matches!(shared.source, Some(SharedRelation::Plain(_)));
        if !is_plain || shared.readers < 2 || shared.kept_by.is_some() {
            continue;
        }
        let columns = shared.columns.clone();
        let Some(read) = rows_read(query, index, &columns) else {
            continue;
        };
        let Some(SharedRelation::Plain(source)) = &mut query.shared[index].source else {
            continue;
        };
        let read_columns = read.columns();
        let steps = Steps::enough();
        let deep: ColumnSet = read_columns
            .iter()
            .filter(|id| goes_below_groups(source, *id, &steps))
            .collect();
        let mut predicates = Vec::new();
        if !read_columns.is_subset(&deep) {
            predicates.extend(implied(&read, &deep));
        }
        predicates.push(read);
        push_into(source, predicates, planning.options);
    }
}

/// Condition for the rows of a shared result that its readers read, over its own columns; `None` if one reads all.
fn rows_read(query: &mut Query, index: usize, own: &[ColumnId]) -> Option<Expression> {
    let mut arms = Vec::new();
    query.for_each_relation_mut(&mut |relation| {
        let Relation::Filter { input, predicates } = relation else {
            return;
        };
        let Relation::SharedScan {
            shared,
            columns,
            working: false,
            ..
        } = &**input
        else {
            return;
        };
        if *shared != index {
            return;
        }
        let of_scan: ColumnSet = columns.iter().copied().collect();
        let usable = predicates.iter().filter(|one| {
            let read = one.columns();
            !read.is_empty() && read.is_subset(&of_scan) && is_plain(one)
        });
        let usable: Vec<Expression> = usable.cloned().collect();
        if usable.is_empty() {
            return;
        }
        let mut arm = and(usable);
        crate::tree::logical::visit_expression_mut(&mut arm, &mut |inner| {
            if let ExpressionKind::Column(id) = &mut inner.kind
                && let Some(position) = columns.iter().position(|column| column == id)
            {
                *id = own[position];
            }
            true
        });
        arms.push(arm);
    });
    // A reader without a condition of its own reads every row.
    (arms.len() == query.scans_of_shared(index)).then(|| or(arms))
}

/// Whether a condition on a column can be pushed below the grouping; false if the search exceeds its step budget.
fn goes_below_groups(relation: &Relation, column: ColumnId, steps: &Steps) -> bool {
    if !steps.take() {
        return false;
    }
    let computed_below = |input: &Relation, columns: &[Computed]| match columns
        .iter()
        .find(|computed| computed.id == column)
    {
        Some(computed) => {
            let read = computed.expression.columns();
            is_plain(&computed.expression)
                && read.iter().all(|id| goes_below_groups(input, id, steps))
        }
        None => goes_below_groups(input, column, steps),
    };
    with_stack(|| match relation {
        Relation::Extend { input, columns } | Relation::Project { input, columns } => {
            computed_below(input, columns)
        }
        Relation::Aggregate(aggregate) => {
            aggregate.keys.iter().any(|key| key.id == column)
                && computed_below(&aggregate.input, &aggregate.keys)
        }
        Relation::Window(window) => window
            .partition
            .iter()
            .any(|key| key.as_column() == Some(column)),
        Relation::SetOperation {
            inputs, columns, ..
        } => columns
            .iter()
            .position(|id| *id == column)
            .is_some_and(|position| {
                inputs
                    .iter()
                    .all(|(input, ids)| goes_below_groups(input, ids[position], steps))
            }),
        Relation::Join(join) => {
            let side = if produced(&join.left).contains(column) {
                &join.left
            } else {
                &join.right
            };
            goes_below_groups(side, column, steps)
        }
        Relation::Filter { input, .. }
        | Relation::Sort {
            input, limit: None, ..
        }
        | Relation::Block { input, .. } => goes_below_groups(input, column, steps),
        Relation::Scan(_) | Relation::SharedScan { .. } => true,
        _ => false,
    })
}
