//! What a subquery is made of: rows, aggregates over all of them, and what is computed of these.

use mayfly_functions::scalar;
use mayfly_types::{SqlType, Value};

use super::Unnested;
use super::taken::{Taken, for_existence};
use crate::options::PlanOptions;
use crate::predicates::conjunction;
use crate::rules::aggregate_calls::{any_value, row_count};
use crate::rules::combine_distinct::is_unique;
use crate::rules::rule::{NewColumns, is_movable, is_null_with, substitute};
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{
    ColumnId, ColumnSet, Computed, Relation, Scan, has_subquery, produced, visit_expression,
    with_stack,
};
use crate::tree::physical::AggregateCall;

/// Aggregates and their columns.
pub(super) type Calls = Vec<(ColumnId, AggregateCall)>;

/// A subquery, taken apart.
pub(super) struct Shape {
    /// Its rows, before they are grouped.
    pub(super) input: Relation,
    /// Its aggregates over all rows; none when there is no group. EXISTS counts its rows.
    pub(super) calls: Option<Calls>,
    result: Wanted,
}

enum Wanted {
    /// A value, if conditions hold (HAVING), over the aggregates.
    Value(Expression, Vec<Expression>),
    /// Whether there are rows, or none.
    Rows { negated: bool },
}

impl Shape {
    pub(super) fn existence(
        relation: Relation,
        negated: bool,
        columns: &NewColumns,
        options: &PlanOptions,
    ) -> Option<Self> {
        Some(Self {
            input: for_existence(relation)?,
            calls: Some(vec![(columns.one(), row_count(options)?)]),
            result: Wanted::Rows { negated },
        })
    }

    /// A subquery that gives the value of `value` over its only row.
    pub(super) fn value(relation: Relation, mut value: Expression) -> Option<Self> {
        let whole = value.clone();
        let mut having: Vec<Expression> = Vec::new();
        let mut rest = relation.clone();
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
                | Relation::Block {
                    input,
                    derived: None,
                    ..
                } => *input,
                Relation::Limit {
                    input,
                    offset: 0,
                    count,
                } if count > 0 => *input,
                Relation::Aggregate(aggregate)
                    if aggregate.keys.is_empty() && aggregate.rollup.is_none() =>
                {
                    let is_plain = |part: &Expression| is_movable(part) && !has_subquery(part);
                    if !is_plain(&value) || !having.iter().all(is_plain) {
                        return None;
                    }
                    return Some(Self {
                        input: *aggregate.input,
                        calls: Some(aggregate.aggregates),
                        result: Wanted::Value(value, having),
                    });
                }
                _ => break,
            };
        }
        // Rows as they are: which of them there are is not changed by an order.
        let input = match relation {
            Relation::Limit { .. } => return None,
            other => other,
        };
        Some(Self {
            input,
            calls: None,
            result: Wanted::Value(whole, Vec::new()),
        })
    }

    /// The value over the aggregates of a group that may be missing.
    pub(super) fn value_over(self, calls: &Calls) -> Option<Expression> {
        let (mut value, mut having) = match self.result {
            Wanted::Value(value, having) => (value, having),
            Wanted::Rows { negated } => {
                let (id, call) = calls.first()?;
                let ty = call.signature.result.clone();
                let count = Box::new(Expression::column(*id, ty, true));
                let is_missing = Expression::predicate(ExpressionKind::IsNull(count), false);
                return Some(if negated {
                    is_missing
                } else {
                    crate::bind::not_expression(is_missing)
                });
            }
        };
        let mut counts = Vec::new();
        for (id, call) in calls {
            if call.signature.nullable {
                continue;
            }
            // Over no rows it is no NULL.
            if call.function.names()[0] != "count" {
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

    /// The join that a subquery without aggregates is when a unique key finds its only row.
    pub(super) fn by_key(&self, taken: &Taken<'_>, inner: &Relation) -> Option<Unnested> {
        let Wanted::Value(value, _) = &self.result else {
            return None;
        };
        let mut found = ColumnSet::new();
        for one in &taken.equalities {
            if let ExpressionKind::Column(id) = one.inner.kind
                && has_collation_of(inner, id, &one.inner.ty)
            {
                found.insert(id);
            }
        }
        if !is_unique(inner, &found) {
            return None;
        }
        let (mut value, on) = (value.clone(), taken.all_conditions());
        let mut asked = ColumnSet::new();
        asked.add_read_by(&on);
        // What is NULL without the row may be computed after the join, which then can follow an index.
        let right = match inner {
            Relation::Extend { input, columns }
                if columns.iter().all(|column| {
                    is_null_with(&column.expression, &produced(input))
                        && is_movable(&column.expression)
                        && !asked.contains(column.id)
                }) =>
            {
                computed(&mut value, columns)?;
                Relation::clone(input)
            }
            other => other.clone(),
        };
        Some(Unnested { right, on, value })
    }

    /// A subquery without aggregates as one that has some: a value of each group, and how many rows it has, of which
    /// more than one is an error.
    pub(super) fn as_groups(self, columns: &NewColumns, options: &PlanOptions) -> Option<Self> {
        let Wanted::Value(value, _) = &self.result else {
            return None;
        };
        let context = options.signature_context();
        let (count_id, mut count) = (columns.one(), row_count(options)?);
        let any_value = any_value(value, options)?;
        let any_id = columns.one();
        let rows = Expression::column(count_id, count.signature.result.clone(), true);
        let only = scalar::by_name("only row")?;
        let known = [crate::bind::argument(&rows)];
        let signature = only.signature(&known, &context).ok()?;
        let rows = Expression::call(only, vec![rows], signature);
        let one = Expression::literal(Value::Int(1), rows.ty.clone());
        let is_only = crate::bind::compare_expression(Comparison::Equal, rows, one);
        let ty = value.ty.clone();
        let branches = vec![(is_only, Expression::column(any_id, ty.clone(), true))];
        let kind = ExpressionKind::Case {
            branches,
            otherwise: None,
        };
        // Without a group it is NULL, and so is the value.
        count.signature.nullable = true;
        Some(Self {
            input: self.input,
            calls: Some(vec![(count_id, count), (any_id, any_value)]),
            result: Wanted::Value(Expression::new(kind, ty, true), Vec::new()),
        })
    }
}

/// Puts what columns are computed of in their place, unless that would compute a subquery.
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

/// Whether texts of a column are read by the collation that the column's table has for it.
fn has_collation_of(relation: &Relation, id: ColumnId, ty: &SqlType) -> bool {
    let of_scan = |scan: &Scan| {
        let at = id.checked_sub(scan.first)?;
        scan.table.columns.get(at).map(|column| column.ty.collation)
    };
    !ty.is_string()
        || with_stack(|| match relation {
            Relation::Scan(scan) => of_scan(scan) == Some(ty.collation),
            _ => {
                let mut inputs = relation.inputs().into_iter();
                inputs.any(|input| has_collation_of(input, id, ty))
            }
        })
}

/// The columns among `outer` that expressions read, each once.
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

/// Whether values that are equal are the same.
pub(super) fn is_exact(ty: &SqlType) -> bool {
    ty.is_temporal() || ty.is_integer() || ty.kind == mayfly_types::TypeKind::Decimal
}
