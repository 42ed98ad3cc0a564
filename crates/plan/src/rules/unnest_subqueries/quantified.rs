//! ANY and ALL over correlated rows, by aggregates of their group.
//!
//! `x > ANY (…)` is true if `x` is greater than the least value of the group. Otherwise it is unknown if `x` or one of
//! the values is NULL, and false else, or without a group. `x = ANY (…)`, which is IN, is true if a row with the value
//! `x` exists. ALL is the negation of ANY of the opposite comparison.

use mayfly_types::{SqlType, TypeKind, Value};

use super::shape::{Calls, Shape, for_values};
use crate::bind::{compare_expression as compare, not_expression as not};
use crate::options::PlanOptions;
use crate::predicates::{and, or};
use crate::rules::aggregate_calls::{call, row_count};
use crate::rules::rule::{NewColumns, is_movable};
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{Relation, Subquery, SubqueryKind, has_subquery};

/// A comparison with some row of a subquery, possibly negated.
pub(super) struct Quantified {
    left: Expression,
    /// Value of a row.
    right: Expression,
    comparison: Comparison,
    /// NOT
    pub(super) negated: bool,
}

impl Quantified {
    /// The comparison of a subquery predicate; `None` for several columns, and for values without a plain order.
    pub(super) fn of(subquery: &Subquery) -> Option<Self> {
        let SubqueryKind::Quantified {
            left,
            comparison,
            all,
        } = &subquery.kind
        else {
            return None;
        };
        let ([left], [id]) = (left.as_slice(), subquery.columns.as_slice()) else {
            return None;
        };
        let is_plain = is_movable(left) && !has_subquery(left);
        (is_plain && left.ty.kind != TypeKind::Json).then(|| Self {
            left: left.clone(),
            right: Expression::column(*id, left.ty.clone(), subquery.nullable),
            comparison: *comparison,
            negated: *all,
        })
    }

    /// Condition that a row must meet to decide IN and NOT IN.
    pub(super) fn membership(&self) -> Option<Expression> {
        match (self.comparison, self.negated) {
            (Comparison::Equal, false) | (Comparison::NotEqual, true) => {
                let (left, right) = (self.left.clone(), self.right.clone());
                Some(compare(Comparison::Equal, left, right))
            }
            _ => None,
        }
    }

    /// Whether the result may be unknown.
    pub(super) fn may_be_unknown(&self) -> bool {
        self.left.nullable || self.right.nullable
    }

    /// Form of the subquery that decides the comparison, and otherwise whether it is unknown. `decides`: by the extreme
    /// values; else another subquery finds such a row.
    pub(super) fn shape(
        &self,
        relation: Relation,
        decides: bool,
        columns: &NewColumns,
        options: &PlanOptions,
    ) -> Option<(Relation, Shape)> {
        let mut calls: Calls = vec![(columns.one(), row_count(options)?)];
        let read = |calls: &Calls, at: usize| {
            let (id, call) = calls.get(at)?;
            Some(Expression::column(*id, call.signature.result.clone(), true))
        };
        let rows = read(&calls, 0)?;
        let mut unknown = Vec::new();
        if self.left.nullable {
            unknown.push(is_null(self.left.clone()));
        }
        if self.right.nullable {
            calls.push((columns.one(), call("count", self.right.clone(), options)?));
            let values = read(&calls, 1)?;
            unknown.push(compare(Comparison::NotEqual, values, rows.clone()));
        }
        let mut outcomes = Vec::new();
        if decides {
            let mut ends = Vec::new();
            for name in self.ends() {
                let end = call(name, self.right.clone(), options)?;
                let (own, other) = (&end.signature.result, &self.left.ty);
                if own.physical() != other.physical() || own.collation != other.collation {
                    return None;
                }
                calls.push((columns.one(), end));
                let end = read(&calls, calls.len() - 1)?;
                let holds = compare(self.comparison, self.left.clone(), end);
                ends.push(if self.negated { not(holds) } else { holds });
            }
            let is_decided = ExpressionKind::IsTruth(Box::new(or(ends)), Some(true));
            outcomes.push(Expression::predicate(is_decided, false));
        }
        if !unknown.is_empty() {
            let null = Expression::literal(Value::Null, SqlType::boolean());
            outcomes.push(and(vec![not(is_null(rows)), or(unknown), null]));
        }
        let value = or(outcomes);
        let value = if decides { self.told(value) } else { value };
        Some((for_values(relation), Shape::decided(calls, value)))
    }

    /// Result of the predicate, from the result for some row.
    pub(super) fn told(&self, decided: Expression) -> Expression {
        if self.negated { not(decided) } else { decided }
    }

    /// Extreme values of a group that decide the comparison for some of its values.
    fn ends(&self) -> &'static [&'static str] {
        match (self.comparison, self.negated) {
            (Comparison::Less | Comparison::LessOrEqual, false)
            | (Comparison::Greater | Comparison::GreaterOrEqual, true) => &["max"],
            (Comparison::Greater | Comparison::GreaterOrEqual, false)
            | (Comparison::Less | Comparison::LessOrEqual, true) => &["min"],
            _ => &["min", "max"],
        }
    }
}

fn is_null(value: Expression) -> Expression {
    Expression::predicate(ExpressionKind::IsNull(Box::new(value)), false)
}
