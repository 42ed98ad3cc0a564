//! Removal of the parts that read outer columns from a subquery's relation.

use crate::bind::compare_expression as compare;
use crate::predicates::conjuncts;
use crate::rules::equality_classes::compare_alike;
use crate::rules::rule::{NewColumns, is_movable};
use crate::tree::expression::{Comparison, Expression, ExpressionKind, same_expression};
use crate::tree::logical::{ColumnSet, Computed, Relation, free_columns, has_subquery, with_stack};
use crate::tree::physical::{JoinKind, Purpose};

/// Correlation `inner = outer`, which a row of the subquery must meet.
pub(super) struct Correlation {
    /// Expression over the subquery's columns.
    pub(super) inner: Expression,
    /// Expression over the outer row's columns.
    pub(super) outer: Expression,
    comparison: Comparison,
}

impl Correlation {
    /// The condition itself.
    pub(super) fn condition(&self) -> Expression {
        self.of(self.inner.clone(), self.outer.clone())
    }

    /// This condition applied to other expressions.
    pub(super) fn of(&self, inner: Expression, outer: Expression) -> Expression {
        compare(self.comparison, inner, outer)
    }
}

/// Parts taken out of a subquery.
pub(super) struct Taken<'a> {
    outer: &'a ColumnSet,
    columns: &'a NewColumns,
    /// Equalities between both sides.
    pub(super) equalities: Vec<Correlation>,
    /// Conditions on outer columns alone.
    pub(super) of_outer: Vec<Expression>,
    /// All other correlated conditions.
    pub(super) others: Vec<Expression>,
}

impl<'a> Taken<'a> {
    pub(super) fn new(outer: &'a ColumnSet, columns: &'a NewColumns) -> Self {
        Self {
            outer,
            columns,
            equalities: Vec::new(),
            of_outer: Vec::new(),
            others: Vec::new(),
        }
    }

    /// Columns of the outer rows.
    pub(super) fn outer(&self) -> &'a ColumnSet {
        self.outer
    }

    /// Takes the correlated parts out of a relation; the rest gives all columns that these read. `None` if that is not
    /// possible.
    pub(super) fn take(&mut self, relation: Relation) -> Option<Relation> {
        if !free_columns(&relation).intersects(self.outer) {
            return Some(relation);
        }
        with_stack(|| match relation {
            Relation::Scan(mut scan) => {
                scan.predicates = self.conditions(std::mem::take(&mut scan.predicates))?;
                Some(Relation::Scan(scan))
            }
            Relation::Filter { input, predicates } => {
                let input = self.take(*input)?;
                Some(input.filtered(self.conditions(predicates)?))
            }
            Relation::Extend { input, columns } => {
                let reads_outer =
                    |column: &Computed| column.expression.columns().intersects(self.outer);
                if columns.iter().any(reads_outer) {
                    return None;
                }
                Some(self.take(*input)?.extended(columns))
            }
            Relation::Sort {
                input, limit: None, ..
            } => self.take(*input),
            Relation::Block {
                input,
                select_id,
                derived: None,
            } => Some(Relation::Block {
                input: Box::new(self.take(*input)?),
                select_id,
                derived: None,
            }),
            Relation::Join(mut join) if !join.lateral && join.null_aware.is_empty() => {
                *join.left = self.take(join.left.take())?;
                if join.kind == JoinKind::Inner {
                    *join.right = self.take(join.right.take())?;
                    join.on = self.conditions(std::mem::take(&mut join.on))?;
                }
                let rest = Relation::Join(join);
                (!free_columns(&rest).intersects(self.outer)).then_some(rest)
            }
            _ => None,
        })
    }

    /// Takes the correlated conditions out; returns the others.
    fn conditions(&mut self, predicates: Vec<Expression>) -> Option<Vec<Expression>> {
        let mut stay = Vec::with_capacity(predicates.len());
        for predicate in predicates.into_iter().flat_map(conjuncts) {
            let read = predicate.columns();
            if !read.intersects(self.outer) {
                stay.push(predicate);
                continue;
            }
            if has_subquery(&predicate) || !is_movable(&predicate) {
                return None;
            }
            if read.is_subset(self.outer) {
                self.of_outer.push(predicate);
                continue;
            }
            match self.correlation(&predicate) {
                Some(correlation) => self.equalities.push(correlation),
                None => self.others.push(predicate),
            }
        }
        Some(stay)
    }

    fn correlation(&self, predicate: &Expression) -> Option<Correlation> {
        let ExpressionKind::Compare {
            comparison: comparison @ (Comparison::Equal | Comparison::NullSafeEqual),
            left,
            right,
        } = &predicate.kind
        else {
            return None;
        };
        let (left_columns, right_columns) = (left.columns(), right.columns());
        let is_inner = |columns: &ColumnSet| !columns.intersects(self.outer);
        let (inner, outer) = if is_inner(&left_columns) && right_columns.is_subset(self.outer) {
            (left, right)
        } else if is_inner(&right_columns) && left_columns.is_subset(self.outer) {
            (right, left)
        } else {
            return None;
        };
        compare_alike(&inner.ty, &outer.ty).then(|| Correlation {
            inner: Expression::clone(inner),
            outer: Expression::clone(outer),
            comparison: *comparison,
        })
    }

    /// (group keys by which each outer row finds its group, conditions that find it).
    pub(super) fn keys(&self) -> (Vec<Computed>, Vec<Expression>) {
        let mut keys: Vec<Computed> = Vec::with_capacity(self.equalities.len());
        let mut on = Vec::with_capacity(self.equalities.len() + self.of_outer.len());
        for correlation in &self.equalities {
            let inner = &correlation.inner;
            let known = keys
                .iter()
                .find(|key| same_expression(&key.expression, inner));
            let id = match known {
                Some(key) => key.id,
                None => {
                    let id = self.columns.one();
                    keys.push(Computed {
                        id,
                        expression: inner.clone(),
                    });
                    id
                }
            };
            let key = Expression::column(id, inner.ty.clone(), inner.nullable);
            on.push(correlation.of(key, correlation.outer.clone()));
        }
        on.extend(self.of_outer.iter().cloned());
        (keys, on)
    }

    /// All conditions taken out, in their original form.
    pub(super) fn all_conditions(&self) -> Vec<Expression> {
        let equalities = self.equalities.iter().map(Correlation::condition);
        let rest = self.of_outer.iter().chain(&self.others).cloned();
        equalities.chain(rest).collect()
    }
}

/// A relation of which only the existence of rows matters, without clauses that do not change it.
pub(super) fn for_existence(relation: Relation) -> Option<Relation> {
    match relation {
        Relation::Extend { input, .. }
        | Relation::Project { input, .. }
        | Relation::Sort {
            input, limit: None, ..
        } => for_existence(*input),
        Relation::Limit {
            input,
            offset: 0,
            count,
        } if count > 0 => for_existence(*input),
        Relation::Aggregate(aggregate)
            if aggregate.purpose == Purpose::Distinct
                || (!aggregate.keys.is_empty() && aggregate.rollup.is_none()) =>
        {
            for_existence(*aggregate.input)
        }
        Relation::Aggregate(_) | Relation::Limit { .. } => None,
        other => Some(other),
    }
}
