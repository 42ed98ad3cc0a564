//! How many rows operators are thought to give. Without statistics on values these are the fixed
//! fractions that MySQL uses for conditions it knows nothing about.

use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{Relation, Scan, with_stack};
use crate::tree::physical::{JoinKind, SetOperationKind};

/// What a result that is read more than once is thought to hold.
pub(crate) const SHARED_ROWS: f64 = 1000.0;

/// The fraction of rows for which a predicate is thought to hold.
pub(crate) fn selectivity(predicate: &Expression) -> f64 {
    match &predicate.kind {
        ExpressionKind::Compare {
            comparison: Comparison::Equal | Comparison::NullSafeEqual,
            ..
        } => 0.1,
        ExpressionKind::Compare {
            comparison: Comparison::NotEqual,
            ..
        } => 0.9,
        ExpressionKind::Compare { .. } => 0.3333,
        ExpressionKind::And(operands) => operands.iter().map(selectivity).product(),
        ExpressionKind::Or(operands) => {
            let none: f64 = operands
                .iter()
                .map(|operand| 1.0 - selectivity(operand))
                .product();
            1.0 - none
        }
        ExpressionKind::Not(operand) => 1.0 - selectivity(operand),
        ExpressionKind::IsNull(_) => 0.1,
        ExpressionKind::InList { list, negated, .. } => {
            let found = (list.len() as f64 * 0.1).min(0.5);
            if *negated { 1.0 - found } else { found }
        }
        ExpressionKind::Literal(value) => match value {
            mayfly_types::Value::Int(0) | mayfly_types::Value::Null => 0.0,
            _ => 1.0,
        },
        ExpressionKind::Call { function, .. } if function.names()[0] == "like" => 0.1111,
        _ => 0.5,
    }
}

pub(crate) fn filtered(rows: f64, predicates: &[Expression]) -> f64 {
    predicates.iter().map(selectivity).product::<f64>() * rows
}

/// How many rows of a table meet its conditions.
pub(crate) fn of_scan(scan: &Scan) -> f64 {
    scan.rows
        .unwrap_or_else(|| filtered(scan.table.row_count as f64, &scan.predicates))
}

pub(crate) fn limited(rows: f64, limit: Option<(u64, u64)>) -> f64 {
    match limit {
        Some((offset, count)) => (rows - offset as f64).max(0.0).min(count as f64),
        None => rows,
    }
}

pub(crate) fn grouped(rows: f64, keys: usize, first_groups: Option<u64>) -> f64 {
    if keys == 0 {
        return 1.0;
    }
    let groups = (rows * 0.5).max(rows.min(1.0));
    match first_groups {
        Some(first) => groups.min(first as f64),
        None => groups,
    }
}

pub(crate) fn joined(
    kind: JoinKind,
    left: f64,
    right: f64,
    equalities: usize,
    residual: bool,
) -> f64 {
    let residual = if residual { 0.3333 } else { 1.0 };
    let pairs = if equalities > 0 {
        // Each row of the larger side is thought to have one partner.
        left.max(right) * residual
    } else {
        left * right * residual
    };
    match kind {
        JoinKind::Inner => pairs,
        JoinKind::Left => pairs.max(left),
        JoinKind::Semi => left * 0.5,
        JoinKind::Anti | JoinKind::NullAwareAnti => left * 0.5,
    }
}

/// How many rows a join gives of whose left rows so many pairs are made.
pub(crate) fn of_pairs(kind: JoinKind, left: f64, pairs: f64) -> f64 {
    match kind {
        JoinKind::Inner => pairs,
        JoinKind::Left => pairs.max(left),
        JoinKind::Semi => pairs.min(left),
        JoinKind::Anti | JoinKind::NullAwareAnti => (left - pairs).max(left * 0.1),
    }
}

/// How many rows a relation is thought to give, before it is lowered.
pub(crate) fn estimate(relation: &Relation) -> f64 {
    with_stack(|| match relation {
        Relation::Values { rows, .. } => rows.len() as f64,
        Relation::Scan(scan) => of_scan(scan),
        Relation::SharedScan { .. } => SHARED_ROWS,
        Relation::Filter { input, predicates } => filtered(estimate(input), predicates),
        Relation::Project { input, .. }
        | Relation::Extend { input, .. }
        | Relation::Block { input, .. }
        | Relation::Materialize { input, .. } => estimate(input),
        Relation::Window(window) => estimate(&window.input),
        Relation::Aggregate(aggregate) => grouped(
            estimate(&aggregate.input),
            aggregate.keys.len(),
            aggregate.first_groups,
        ),
        Relation::Sort { input, limit, .. } => limited(estimate(input), *limit),
        Relation::Limit {
            input,
            offset,
            count,
        } => limited(estimate(input), Some((*offset, *count))),
        Relation::SetOperation { kind, inputs, .. } => {
            let mut estimates = inputs.iter().map(|(input, _)| estimate(input));
            match kind {
                SetOperationKind::Union => estimates.sum(),
                SetOperationKind::Intersect | SetOperationKind::Except => {
                    estimates.next().unwrap_or(0.0)
                }
            }
        }
        Relation::Join(join) => {
            if let (Some(lookup), Relation::Scan(scan)) = (&join.lookup, &*join.right) {
                let left = estimate(&join.left);
                let pairs = filtered(left * lookup.rows_per_key, &join.on);
                return of_pairs(join.kind, left, filtered(pairs, &scan.predicates));
            }
            let equality = |predicate: &&Expression| {
                matches!(
                    predicate.kind,
                    ExpressionKind::Compare {
                        comparison: Comparison::Equal | Comparison::NullSafeEqual,
                        ..
                    }
                )
            };
            let equalities = join.on.iter().filter(equality).count() + join.null_aware.len();
            joined(
                join.kind,
                estimate(&join.left),
                estimate(&join.right),
                equalities,
                join.on.len() > equalities,
            )
        }
    })
}
