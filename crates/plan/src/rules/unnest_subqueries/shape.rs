//! Form of a subquery: rows, aggregates over all of them, and expressions over these.

use mayfly_functions::aggregate::Kind;
use mayfly_types::Value;

use super::Unnested;
use super::first_row::FirstRow;
use super::taken::{Taken, for_existence};
use crate::options::PlanOptions;
use crate::predicates::conjunction;
use crate::rules::aggregate_calls::{any_value, row_count};
use crate::rules::rule::{NewColumns, computed_call, is_movable, is_null_with, substitute};
use crate::rules::unique::{compared_column, is_unique};
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{
    ColumnId, ColumnSet, Computed, Relation, has_subquery, produced, visit_expression,
};
use crate::tree::physical::{AggregateCall, Purpose};

/// (column, call) of aggregates.
pub(super) type Calls = Vec<(ColumnId, AggregateCall)>;

/// Expressions of a subquery over its rows.
pub(super) struct Shape {
    /// Aggregates over all rows; `None` when there is no group. EXISTS counts its rows.
    pub(super) calls: Option<Calls>,
    /// The single row that is kept, if it keeps one.
    pub(super) first: Option<FirstRow>,
    result: Wanted,
}

enum Wanted {
    /// A value, if conditions hold (HAVING), over the aggregates of all rows.
    Value(Expression, Vec<Expression>),
    /// A value over the aggregates of a group that may be missing.
    Decided(Expression),
}

impl Shape {
    /// A value over aggregates, which are NULL where there is no group.
    pub(super) fn decided(calls: Calls, value: Expression) -> Self {
        Self {
            calls: Some(calls),
            first: None,
            result: Wanted::Decided(value),
        }
    }

    /// Rows of EXISTS, and its form.
    pub(super) fn existence(
        relation: Relation,
        negated: bool,
        columns: &NewColumns,
        options: &PlanOptions,
    ) -> Option<(Relation, Self)> {
        let (id, call) = (columns.one(), row_count(options)?);
        let ty = call.signature.result.clone();
        let count = Box::new(Expression::column(id, ty, true));
        let is_missing = Expression::predicate(ExpressionKind::IsNull(count), false);
        let value = if negated {
            is_missing
        } else {
            crate::bind::not_expression(is_missing)
        };
        let rows = for_existence(relation)?;
        Some((rows, Self::decided(vec![(id, call)], value)))
    }

    /// Rows of a subquery that gives the value of `value` over its only row, and its form.
    pub(super) fn value(relation: Relation, mut value: Expression) -> Option<(Relation, Self)> {
        if !is_aggregated(&relation) {
            // An order does not change the set of rows.
            let mut shape = Self {
                calls: None,
                first: None,
                result: Wanted::Value(value, Vec::new()),
            };
            if !matches!(relation, Relation::Limit { .. }) {
                return Some((relation, shape));
            }
            let (rows, first) = FirstRow::of(relation)?;
            shape.first = Some(first);
            return Some((rows, shape));
        }
        let mut having: Vec<Expression> = Vec::new();
        let mut rest = relation;
        loop {
            rest = match rest {
                Relation::Extend { input, columns } | Relation::Project { input, columns } => {
                    let mut parts = having.iter_mut().chain([&mut value]);
                    parts.try_for_each(|part| computed(part, &columns))?;
                    *input
                }
                Relation::Filter { input, predicates } => {
                    having.extend(predicates);
                    *input
                }
                Relation::Sort { input, .. }
                | Relation::Block { input, .. }
                | Relation::Limit { input, .. } => *input,
                Relation::Aggregate(aggregate) => {
                    let is_plain = |part: &Expression| is_movable(part) && !has_subquery(part);
                    if !is_plain(&value) || !having.iter().all(is_plain) {
                        return None;
                    }
                    let shape = Self {
                        calls: Some(aggregate.aggregates),
                        first: None,
                        result: Wanted::Value(value, having),
                    };
                    return Some((*aggregate.input, shape));
                }
                _ => return None,
            };
        }
    }

    /// Value over the row that is kept of each group, with its column.
    pub(super) fn value_of_first(self) -> Option<(ColumnId, Expression)> {
        match self.result {
            Wanted::Value(value, _) => Some((value.as_column()?, value)),
            Wanted::Decided(_) => None,
        }
    }

    /// Value over the aggregates of a group that may be missing.
    pub(super) fn value_over(self, calls: &Calls) -> Option<Expression> {
        let (mut value, mut having) = match self.result {
            Wanted::Value(value, having) => (value, having),
            Wanted::Decided(value) => return Some(value),
        };
        let mut counts = Vec::new();
        for (id, call) in calls {
            if call.signature.nullable {
                continue;
            }
            // COUNT is not NULL over no rows.
            if call.function.kind() != Kind::Count {
                return None;
            }
            let ty = call.signature.result.clone();
            let count = Expression::column(*id, ty.clone(), true);
            let is_missing = ExpressionKind::IsNull(Box::new(count.clone()));
            let is_missing = Expression::predicate(is_missing, false);
            let zero = Expression::literal(Value::Int(0), ty.clone());
            let kind = ExpressionKind::Case {
                branches: vec![(is_missing, zero)],
                otherwise: Some(Box::new(count)),
            };
            counts.push(Computed {
                id: *id,
                expression: Expression::new(kind, ty, false),
            });
        }
        let parts = having.iter_mut().chain([&mut value]);
        parts.for_each(|part| substitute(part, &counts));
        Some(match conjunction(having) {
            None => value,
            Some(having) => {
                let ty = value.ty.clone();
                let kind = ExpressionKind::Case {
                    branches: vec![(having, value)],
                    otherwise: None,
                };
                Expression::new(kind, ty, true)
            }
        })
    }

    /// Whether a unique key finds the only row of a subquery without aggregates.
    pub(super) fn is_by_key(&self, taken: &Taken<'_>, inner: &Relation) -> bool {
        let equalities = taken.equalities.iter();
        let found = equalities.filter_map(|one| compared_column(&one.inner, inner));
        let is_only = self.first.as_ref().is_none_or(FirstRow::is_only_row);
        self.calls.is_none() && is_only && is_unique(inner, &found.collect())
    }

    /// The join by that key.
    pub(super) fn by_key(self, taken: &Taken<'_>, inner: Relation) -> Option<Unnested> {
        let (Wanted::Value(mut value, _) | Wanted::Decided(mut value)) = self.result;
        let inner = match self.first {
            Some(first) if !first.is_of_group(taken.outer()) => return None,
            Some(first) => first.computed(inner),
            None => inner,
        };
        let on = taken.all_conditions();
        let mut asked = ColumnSet::new();
        asked.add_read_by(&on);
        // A column that is NULL without the row may be computed after the join, which then can be an index lookup join.
        let right = match inner {
            Relation::Extend { input, columns }
                if columns.iter().all(|column| {
                    is_null_with(&column.expression, &produced(&input))
                        && is_movable(&column.expression)
                        && !asked.contains(column.id)
                }) =>
            {
                computed(&mut value, &columns)?;
                *input
            }
            other => other,
        };
        Some(Unnested { right, on, value })
    }

    /// A subquery without aggregates as one with aggregates: a value of each group, and its number of rows, of which
    /// more than one is an error.
    pub(super) fn as_groups(self, columns: &NewColumns, options: &PlanOptions) -> Option<Self> {
        let Wanted::Value(value, _) = &self.result else {
            return None;
        };
        let (count_id, mut count) = (columns.one(), row_count(options)?);
        let any_value = any_value(value, options)?;
        let any_id = columns.one();
        let rows = Expression::column(count_id, count.signature.result.clone(), true);
        let rows = computed_call("only row", vec![rows], options)?;
        let one = Expression::literal(Value::Int(1), rows.ty.clone());
        let is_only = crate::bind::compare_expression(Comparison::Equal, rows, one);
        let ty = value.ty.clone();
        let branches = vec![(is_only, Expression::column(any_id, ty.clone(), true))];
        let kind = ExpressionKind::Case {
            branches,
            otherwise: None,
        };
        // Without a group the count is NULL, and so is the value.
        count.signature.nullable = true;
        Some(Self {
            calls: Some(vec![(count_id, count), (any_id, any_value)]),
            first: None,
            result: Wanted::Value(Expression::new(kind, ty, true), Vec::new()),
        })
    }
}

/// Whether a subquery gives expressions over aggregates of all of its rows.
fn is_aggregated(relation: &Relation) -> bool {
    match relation {
        Relation::Extend { input, .. }
        | Relation::Project { input, .. }
        | Relation::Filter { input, .. }
        | Relation::Sort { input, .. }
        | Relation::Block {
            input,
            derived: None,
            ..
        } => is_aggregated(input),
        Relation::Limit {
            input,
            offset: 0,
            count,
        } => *count > 0 && is_aggregated(input),
        Relation::Aggregate(aggregate) => aggregate.keys.is_empty() && aggregate.rollup.is_none(),
        _ => false,
    }
}

/// Rows of a subquery whose values are compared, without clauses that do not change the set of values.
pub(super) fn for_values(relation: Relation) -> Relation {
    match relation {
        Relation::Sort {
            input, limit: None, ..
        } => for_values(*input),
        Relation::Aggregate(aggregate)
            if aggregate.purpose == Purpose::Distinct
                && aggregate.aggregates.is_empty()
                && aggregate
                    .keys
                    .iter()
                    .all(|key| key.expression.as_column() == Some(key.id)) =>
        {
            for_values(*aggregate.input)
        }
        other => other,
    }
}

/// Replaces columns by their expressions, unless that would copy a subquery.
fn computed(part: &mut Expression, columns: &[Computed]) -> Option<()> {
    let read = part.columns();
    let used = columns.iter().filter(|column| read.contains(column.id));
    for column in used {
        if has_subquery(&column.expression) || !is_movable(&column.expression) {
            return None;
        }
    }
    substitute(part, columns);
    Some(())
}

/// Columns among `outer` that expressions read, each once.
pub(super) fn column_types<'e>(
    expressions: impl Iterator<Item = &'e Expression>,
    outer: &ColumnSet,
) -> Vec<Expression> {
    let mut known = ColumnSet::new();
    let mut columns = Vec::new();
    for expression in expressions {
        visit_expression(expression, &mut |inner| {
            if let ExpressionKind::Column(id) = inner.kind
                && outer.contains(id)
                && known.insert(id)
            {
                columns.push(inner.clone());
            }
            true
        });
    }
    columns
}
