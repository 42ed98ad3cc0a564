//! Sums of one value with different offsets from one sum: `SUM(x), SUM(x + 1), SUM(x + 2)` are computed as `SUM(x)` and
//! `COUNT(x)`, since `SUM(x + c)` is `SUM(x) + c * COUNT(x)`.
//!
//! The value is an integer of at most 32 bits and the offset a literal of as many: no addition exceeds a BIGINT, so that none
//! fails, and all of the arithmetic is exact. A row in which the value is NULL adds to neither side; without other rows both
//! are NULL.

use mayfly_functions::aggregate::Kind;
use mayfly_types::{SqlType, TypeKind, Value};

use super::aggregate_calls::call;
use super::planning::Planning;
use super::rule::{NewColumns, computed_call, is_plain};
use crate::options::PlanOptions;
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{Aggregate, ColumnId, Computed, Query, Relation};
use crate::tree::physical::AggregateCall;

/// Minimum number of sums of a value that are replaced by two calls.
const SUMS_MIN: usize = 3;

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    let is_candidate = |relation: &Relation| match relation {
        Relation::Aggregate(aggregate) => aggregate.aggregates.len() >= SUMS_MIN,
        _ => false,
    };
    if !planning.options.switches.sum_reduction || !query.holds(is_candidate) {
        return;
    }
    let columns = NewColumns::of(query);
    query.for_each_relation_mut(&mut |relation| {
        if let Relation::Aggregate(aggregate) = relation {
            let computed = reduce(aggregate, &columns, planning.options);
            if !computed.is_empty() {
                *relation = relation.take().extended(computed);
            }
        }
    });
    query.next_column = columns.next();
}

/// Sum of a value with an offset.
struct OffsetSum {
    value: Expression,
    offset: i64,
}

impl OffsetSum {
    fn of(call: &AggregateCall) -> Option<Self> {
        let [argument] = call.arguments.as_slice() else {
            return None;
        };
        if call.function.kind() != Kind::Sum || call.distinct || call.merges || !is_plain(argument)
        {
            return None;
        }
        let (value, offset) = with_offset(argument).unwrap_or((argument, 0));
        let value = without_cast(value);
        // A sum of a signed and an unsigned number is unsigned, and fails below zero.
        let keeps_sign = value.ty.unsigned == without_cast(argument).ty.unsigned;
        let is_safe = is_small(&value.ty) && keeps_sign && !(value.ty.unsigned && offset < 0);
        is_safe.then(|| Self {
            value: value.clone(),
            offset,
        })
    }
}

/// The value and the offset of `value + offset`, `offset + value` and `value - offset`.
fn with_offset(expression: &Expression) -> Option<(&Expression, i64)> {
    let ExpressionKind::Call {
        function,
        arguments,
        ..
    } = &expression.kind
    else {
        return None;
    };
    let [left, right] = arguments.as_slice() else {
        return None;
    };
    match (function.name(), offset_of(left), offset_of(right)) {
        ("+", None, Some(offset)) => Some((left, offset)),
        ("+", Some(offset), None) => Some((right, offset)),
        ("-", None, Some(offset)) => Some((left, -offset)),
        _ => None,
    }
}

/// An integer literal of at most 32 bits.
fn offset_of(expression: &Expression) -> Option<i64> {
    let number = match expression.as_literal()? {
        Value::Int(number) => *number,
        Value::UInt(number) => i64::try_from(*number).ok()?,
        _ => return None,
    };
    i32::try_from(number).ok().map(i64::from)
}

/// The operand of conversions between integers.
fn without_cast(expression: &Expression) -> &Expression {
    match &expression.kind {
        ExpressionKind::Cast(operand, _)
            if expression.ty.is_integer() && operand.ty.is_integer() =>
        {
            without_cast(operand)
        }
        _ => expression,
    }
}

/// Whether a type is an integer of at most 32 bits.
fn is_small(ty: &SqlType) -> bool {
    use TypeKind::{Int, MediumInt, SmallInt, TinyInt};
    matches!(ty.kind, TinyInt | SmallInt | MediumInt | Int)
}

/// Replaces sums of an aggregation; returns the columns computed from its results instead of them.
fn reduce(aggregate: &mut Aggregate, columns: &NewColumns, options: &PlanOptions) -> Vec<Computed> {
    let mut values: Vec<(Expression, Vec<(usize, i64)>)> = Vec::new();
    for (at, (_, call)) in aggregate.aggregates.iter().enumerate() {
        let Some(sum) = OffsetSum::of(call) else {
            continue;
        };
        match values.iter_mut().find(|(value, _)| *value == sum.value) {
            Some((_, sums)) => sums.push((at, sum.offset)),
            None => values.push((sum.value, vec![(at, sum.offset)])),
        }
    }
    let mut computed = Vec::new();
    let mut is_replaced = vec![false; aggregate.aggregates.len()];
    let mut added = Vec::new();
    for (value, sums) in values.iter().filter(|(_, sums)| sums.len() >= SUMS_MIN) {
        let (Some(sum), Some(count)) = (
            call("sum", value.clone(), options),
            call("count", value.clone(), options),
        ) else {
            continue;
        };
        let base = columns.some(2);
        let parts = [(base, sum), (base + 1, count)];
        let calls = &aggregate.aggregates;
        let expressions = sums.iter().map(|(at, offset)| {
            let (id, replaced) = &calls[*at];
            let expression = shifted(&parts, *offset, replaced, options)?;
            Some(Computed {
                id: *id,
                expression,
            })
        });
        let Some(expressions) = expressions.collect::<Option<Vec<_>>>() else {
            continue;
        };
        sums.iter().for_each(|(at, _)| is_replaced[*at] = true);
        computed.extend(expressions);
        added.extend(parts);
    }
    let mut is_replaced = is_replaced.into_iter();
    aggregate
        .aggregates
        .retain(|_| !is_replaced.next().unwrap_or(false));
    aggregate.aggregates.extend(added);
    computed
}

/// `sum + offset * count` with the type of the call that it replaces.
fn shifted(
    [sum, count]: &[(ColumnId, AggregateCall); 2],
    offset: i64,
    replaced: &AggregateCall,
    options: &PlanOptions,
) -> Option<Expression> {
    let column = |(id, call): &(ColumnId, AggregateCall)| {
        let signature = &call.signature;
        Expression::column(*id, signature.result.clone(), signature.nullable)
    };
    let decimal = SqlType::decimal(OFFSET_DIGITS, 0);
    let offset = Expression::literal(Value::Int(offset), SqlType::bigint());
    let offset = crate::bind::cast(offset, &decimal);
    let product = computed_call("*", vec![column(count), offset], options)?;
    let total = computed_call("+", vec![column(sum), product], options)?;
    let kind = ExpressionKind::Cast(Box::new(total), None);
    let signature = &replaced.signature;
    Some(Expression::new(
        kind,
        signature.result.clone(),
        signature.nullable,
    ))
}

/// Digits of an offset.
const OFFSET_DIGITS: u8 = 10;
