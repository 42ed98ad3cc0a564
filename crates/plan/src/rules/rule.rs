//! Helpers of the rules on statements and expressions.

use std::cell::Cell;

use mayfly_functions::scalar::{self, Fact};
use mayfly_types::{SqlType, TypeKind};

use crate::lower::is_never_true;
use crate::options::PlanOptions;
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{ColumnId, ColumnSet, Computed, Query, Relation, SharedRelation};

/// Generator of numbers for columns that rules create.
pub(super) struct NewColumns(Cell<ColumnId>);

impl NewColumns {
    /// Generator of numbers that a statement does not use; the counter must be written back.
    pub(super) fn of(query: &Query) -> Self {
        Self(Cell::new(query.next_column))
    }

    /// A new number.
    pub(super) fn one(&self) -> ColumnId {
        self.some(1)
    }

    /// First of `count` consecutive new numbers.
    pub(super) fn some(&self, count: usize) -> ColumnId {
        self.0.replace(self.0.get() + count)
    }

    /// Next free number.
    pub(super) fn next(&self) -> ColumnId {
        self.0.get()
    }
}

/// Step budget of a recursive search through joins of joins, or columns computed from each other: what is not found
/// within it counts as not found.
pub(super) struct Steps(Cell<u32>);

impl Steps {
    /// A budget sufficient for statements that people write.
    pub(super) fn enough() -> Self {
        Self(Cell::new(10_000))
    }

    /// Takes a step; false if the budget is used up.
    pub(super) fn take(&self) -> bool {
        let left = self.0.get();
        self.0.set(left.saturating_sub(1));
        left > 0
    }
}

impl Query {
    /// Calls `visit` on the trees of a statement: its own and those of its shared results (not those of subqueries).
    pub(super) fn for_each_tree_mut(&mut self, visit: &mut dyn FnMut(&mut Relation)) {
        for shared in &mut self.shared {
            match &mut shared.source {
                None => {}
                Some(SharedRelation::Plain(relation)) => visit(relation),
                Some(SharedRelation::Recursive { seed, step, .. }) => {
                    visit(seed);
                    visit(step);
                }
            }
        }
        visit(&mut self.relation);
    }

    /// Calls `visit` on the root of each tree of a statement and of each subquery.
    pub(super) fn for_each_block_mut(&mut self, visit: &mut dyn FnMut(&mut Relation)) {
        self.for_each_relation_mut(&mut |relation| {
            relation.for_each_expression_mut(&mut |expression| {
                crate::tree::logical::for_each_subquery_mut(expression, &mut |subquery| {
                    visit(&mut subquery.relation);
                });
            });
        });
        self.for_each_tree_mut(visit);
    }

    /// Whether a statement has a relation for which `is_such` is true.
    pub(super) fn holds(&mut self, is_such: impl Fn(&Relation) -> bool) -> bool {
        let mut found = false;
        self.for_each_relation_mut(&mut |relation| found = found || is_such(relation));
        found
    }

    /// Calls `visit` on every relation of a statement, inputs first, including those of subqueries.
    pub(crate) fn for_each_relation_mut(&mut self, visit: &mut dyn FnMut(&mut Relation)) {
        self.for_each_tree_mut(&mut |tree| crate::tree::logical::visit_relations_mut(tree, visit));
    }

    /// Number of scans of a shared result.
    pub(super) fn scans_of_shared(&mut self, index: usize) -> usize {
        let mut scans = 0;
        self.for_each_relation_mut(&mut |relation| {
            let is_scan =
                matches!(relation, Relation::SharedScan { shared, .. } if *shared == index);
            scans += usize::from(is_scan);
        });
        scans
    }
}

/// Whether an expression may be evaluated elsewhere or a different number of times.
pub(super) fn is_movable(expression: &Expression) -> bool {
    !crate::tree::logical::expression_is_volatile(expression)
}

/// Whether an expression is movable and contains no subquery.
pub(super) fn is_plain(expression: &Expression) -> bool {
    is_movable(expression) && !crate::tree::logical::has_subquery(expression)
}

/// A call of a built-in function with its arguments converted to what it takes.
pub(super) fn computed_call(
    name: &str,
    arguments: Vec<Expression>,
    options: &PlanOptions,
) -> Option<Expression> {
    let function = scalar::by_name(name)?;
    let given: Vec<_> = arguments.iter().map(crate::bind::argument).collect();
    let signature = function.signature(&given, &options.session).ok()?;
    let arguments = arguments.into_iter().zip(&signature.arguments);
    let arguments = arguments.map(|(argument, wanted)| crate::bind::cast(argument, wanted));
    Some(Expression::call(function, arguments.collect(), signature))
}

/// Whether equal values of a type are identical.
pub(super) fn is_exact(ty: &SqlType) -> bool {
    ty.is_temporal() || ty.is_integer() || ty.kind == TypeKind::Decimal
}

/// Whether an expression is NULL whenever all of `columns` are.
///
/// Only columns, conversions, comparisons and arithmetic are recognized.
pub(super) fn is_null_with(expression: &Expression, columns: &ColumnSet) -> bool {
    let any = |operands: &[Expression]| {
        operands
            .iter()
            .any(|operand| is_null_with(operand, columns))
    };
    crate::tree::logical::with_stack(|| match &expression.kind {
        ExpressionKind::Literal(value) => value.is_null(),
        ExpressionKind::Column(id) => columns.contains(*id),
        ExpressionKind::Cast(operand, _) | ExpressionKind::Not(operand) => {
            is_null_with(operand, columns)
        }
        ExpressionKind::Compare {
            comparison,
            left,
            right,
        } => {
            *comparison != Comparison::NullSafeEqual
                && (is_null_with(left, columns) || is_null_with(right, columns))
        }
        ExpressionKind::Call {
            function,
            arguments,
            ..
        } => function.has(Fact::Strict) && any(arguments),
        ExpressionKind::InList { operand, .. } => is_null_with(operand, columns),
        ExpressionKind::And(operands) | ExpressionKind::Or(operands) => {
            !operands.is_empty()
                && operands
                    .iter()
                    .all(|operand| is_null_with(operand, columns))
        }
        _ => false,
    })
}

/// Whether a predicate cannot be true when all of `columns` are NULL.
pub(super) fn rejects_nulls(predicate: &Expression, columns: &ColumnSet) -> bool {
    if is_never_true(predicate) || is_null_with(predicate, columns) {
        return true;
    }
    crate::tree::logical::with_stack(|| match &predicate.kind {
        ExpressionKind::And(operands) => operands
            .iter()
            .any(|operand| rejects_nulls(operand, columns)),
        ExpressionKind::Or(operands) => {
            !operands.is_empty()
                && operands
                    .iter()
                    .all(|operand| rejects_nulls(operand, columns))
        }
        ExpressionKind::Not(operand) => match &operand.kind {
            ExpressionKind::IsNull(inner) => is_null_with(inner, columns),
            _ => false,
        },
        // A value is not NULL.
        ExpressionKind::Compare {
            comparison: Comparison::NullSafeEqual,
            left,
            right,
        } => {
            let is_value = |side: &Expression| side.as_literal().is_some_and(|it| !it.is_null());
            is_value(left) && is_null_with(right, columns)
                || is_value(right) && is_null_with(left, columns)
        }
        ExpressionKind::IsTruth(operand, Some(true)) => rejects_nulls(operand, columns),
        ExpressionKind::IsTruth(operand, Some(false)) => is_null_with(operand, columns),
        _ => false,
    })
}

/// Replaces columns by their expressions.
pub(super) fn substitute(expression: &mut Expression, columns: &[Computed]) {
    if columns.is_empty() {
        return;
    }
    crate::tree::logical::visit_deep_mut(expression, &mut |inner| {
        if let ExpressionKind::Column(id) = &inner.kind
            && let Some(computed) = columns.iter().find(|column| column.id == *id)
        {
            let ty = inner.ty.clone();
            *inner = computed.expression.clone();
            // The collation that the column was read with stays.
            if inner.ty.is_string() && ty.is_string() {
                inner.ty.collation = ty.collation;
            }
            return false;
        }
        true
    });
}
