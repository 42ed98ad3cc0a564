//! Removal of grouping where no two rows are in one group: DISTINCT keeps all rows, and GROUP BY makes a group of each
//! row, whose SUM() is the value, and whose COUNT() is 0 or 1 by NULL.

use mayfly_functions::aggregate::Kind;
use mayfly_types::{SqlType, TypeKind, Value};

use super::planning::Planning;
use super::rule::is_movable;
use super::unique::{compared_column, is_unique};
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{Aggregate, Computed, Query, Relation};
use crate::tree::physical::AggregateCall;

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    if !planning.options.switches.group_elimination {
        return;
    }
    query.for_each_relation_mut(&mut |relation| {
        if let Relation::Aggregate(aggregate) = relation
            && let Some(columns) = without_groups(aggregate)
        {
            *relation = aggregate.input.take().extended(columns);
        }
    });
}

/// Columns computed from each row instead of its group.
fn without_groups(aggregate: &Aggregate) -> Option<Vec<Computed>> {
    let input = &aggregate.input;
    let keys = aggregate.keys.iter();
    let keys = keys.filter_map(|key| compared_column(&key.expression, input));
    // One group of all rows exists even over no rows.
    if aggregate.keys.is_empty() || aggregate.rollup.is_some() || !is_unique(input, &keys.collect())
    {
        return None;
    }
    let computed = aggregate.keys.iter().filter(|key| !is_itself(key));
    let mut columns: Vec<Computed> = computed.cloned().collect();
    for (id, call) in &aggregate.aggregates {
        let expression = of_one_row(call)?;
        columns.push(Computed {
            id: *id,
            expression,
        });
    }
    Some(columns)
}

/// Whether a key is a column of the input under its own number.
fn is_itself(key: &Computed) -> bool {
    key.expression.as_column() == Some(key.id)
}

/// Result of a call over one row.
fn of_one_row(call: &AggregateCall) -> Option<Expression> {
    if !call.arguments.iter().all(is_movable) {
        return None;
    }
    let result = &call.signature.result;
    match (call.function.kind(), call.arguments.as_slice()) {
        (Kind::Count, arguments) => Some(count(arguments, result)),
        (Kind::Sum | Kind::Avg, [value]) if is_exact_number(&value.ty) => {
            let kind = ExpressionKind::Cast(Box::new(value.clone()), None);
            Some(Expression::new(kind, result.clone(), value.nullable))
        }
        (Kind::Min | Kind::Max | Kind::AnyValue, [value]) if value.ty == *result => {
            Some(value.clone())
        }
        _ => None,
    }
}

/// COUNT over one row: 1, or 0 if a value is NULL.
fn count(arguments: &[Expression], ty: &SqlType) -> Expression {
    let number = |number| Expression::literal(Value::Int(number), ty.clone());
    let open = arguments.iter().filter(|value| value.nullable);
    let branches = open.map(|value| {
        let is_null = ExpressionKind::IsNull(Box::new(value.clone()));
        (Expression::predicate(is_null, false), number(0))
    });
    let branches: Vec<_> = branches.collect();
    if branches.is_empty() {
        return number(1);
    }
    let kind = ExpressionKind::Case {
        branches,
        otherwise: Some(Box::new(number(1))),
    };
    Expression::new(kind, ty.clone(), false)
}

/// Whether a conversion to the type of a sum keeps the value.
fn is_exact_number(ty: &SqlType) -> bool {
    ty.is_integer() || ty.kind == TypeKind::Decimal
}
