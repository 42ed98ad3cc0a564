//! Rules: each turns a logical plan into one that gives the same rows at less cost.
//!
//! They run once each, in the order of [`RULES`]; the order is part of what they do, and the
//! comment at each says why it stands where it does. None is needed for a right answer, and
//! [`PlanOptions::optimizer`] turns all of them off, so that tests can compare.

mod access_paths;
mod combine_distinct;
mod distinct_aggregates;
mod drop_orders;
mod first_groups;
mod generated_columns;
mod index_ends;
mod index_orders;
mod index_skips;
mod inline_common_tables;
mod join_order;
mod outer_to_inner;
mod push_limits;
mod push_predicates;
mod scan_rows;
mod semijoins;
mod simplify_predicates;
mod subqueries_to_joins;
#[cfg(test)]
mod tests;

use crate::expression::{Expression, ExpressionKind};
use crate::logical::{ColumnId, ColumnSet, Query, Relation, SharedRelation};
use crate::options::PlanOptions;
use crate::physical::build::is_never_true;

/// A rule.
trait Rule: Sync {
    /// Its name, for tests and people.
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests ask for it"))]
    fn name(&self) -> &'static str;

    /// Whether `optimizer_switch` leaves it on.
    fn is_on(&self, _options: &PlanOptions) -> bool {
        true
    }

    /// Rewrites a statement.
    fn apply(&self, query: &mut Query, options: &PlanOptions);
}

/// All rules, in the order in which they run.
const RULES: &[&dyn Rule] = &[
    // What is read once becomes part of its reader before anything else looks at the tree.
    &inline_common_tables::InlineCommonTables,
    &simplify_predicates::SimplifyPredicates,
    // Correlated conditions are found where the user wrote them, not where they are pushed to.
    &subqueries_to_joins::SubqueriesToJoins,
    &outer_to_inner::OuterToInner,
    &push_predicates::PushPredicates,
    // Each condition stands where the columns are that it is computed of.
    &generated_columns::GeneratedColumns,
    &scan_rows::ScanRows,
    // Knows how many rows remain of each table after its own conditions.
    &join_order::JoinOrder,
    &drop_orders::DropOrders,
    &combine_distinct::CombineDistinct,
    &distinct_aggregates::DistinctAggregates,
    // Last: a limit binds an operator to what stands above it.
    &push_limits::PushLimits,
    &first_groups::FirstGroups,
    // Nothing moves any more: what each table is asked for is known.
    &access_paths::AccessPaths,
    &index_orders::IndexOrders,
    // What is read of a table must be chosen before one row of it is enough.
    &index_ends::IndexEnds,
];

/// Runs the rules.
pub(crate) fn rewrite(query: &mut Query, options: &PlanOptions) {
    if !options.optimizer {
        return;
    }
    for rule in RULES {
        if rule.is_on(options) {
            rule.apply(query, options);
        }
    }
}

impl Query {
    /// The trees of a statement: its own and those of its shared results (not those of subqueries).
    fn for_each_tree_mut(&mut self, visit: &mut dyn FnMut(&mut Relation)) {
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

    /// The uppermost relation of each tree of a statement and of each subquery.
    fn for_each_block_mut(&mut self, visit: &mut dyn FnMut(&mut Relation)) {
        self.for_each_relation_mut(&mut |relation| {
            relation.for_each_expression_mut(&mut |expression| {
                crate::logical::for_each_subquery_mut(expression, &mut |subquery| {
                    visit(&mut subquery.relation);
                });
            });
        });
        self.for_each_tree_mut(visit);
    }

    /// Every relation of a statement, inputs first, those of subqueries too.
    fn for_each_relation_mut(&mut self, visit: &mut dyn FnMut(&mut Relation)) {
        self.for_each_tree_mut(&mut |tree| crate::logical::visit_relations_mut(tree, visit));
    }
}

/// Whether an expression may be evaluated elsewhere or another number of times.
fn is_movable(expression: &Expression) -> bool {
    !crate::physical::build::expression_is_volatile(expression)
}

/// Whether an expression holds a subquery.
pub(crate) fn has_subquery(expression: &Expression) -> bool {
    let mut found = false;
    crate::logical::visit_expression(expression, &mut |inner| {
        found |= matches!(
            inner.kind,
            ExpressionKind::LogicalSubquery(_) | ExpressionKind::Subquery(_)
        );
        !found
    });
    found
}

/// Whether an expression is NULL whenever all of `columns` are.
///
/// Known of columns, conversions, comparisons and arithmetic only.
fn is_null_with(expression: &Expression, columns: &ColumnSet) -> bool {
    use crate::expression::Comparison;
    const STRICT: &[&str] = &[
        "+",
        "-",
        "*",
        "/",
        "%",
        "div",
        "negate",
        "&",
        "|",
        "^",
        "<<",
        ">>",
        "~",
        "like",
        "abs",
        "lower",
        "upper",
        "length",
        "char_length",
        "substring",
        "left",
        "right",
        "round",
        "floor",
        "ceiling",
        "year",
        "month",
    ];
    let any = |operands: &[Expression]| {
        operands
            .iter()
            .any(|operand| is_null_with(operand, columns))
    };
    crate::logical::with_stack(|| match &expression.kind {
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
        } => STRICT.contains(&function.names()[0]) && any(arguments),
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
fn rejects_nulls(predicate: &Expression, columns: &ColumnSet) -> bool {
    if is_never_true(predicate) || is_null_with(predicate, columns) {
        return true;
    }
    crate::logical::with_stack(|| match &predicate.kind {
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
        ExpressionKind::IsTruth(operand, Some(true)) => rejects_nulls(operand, columns),
        ExpressionKind::IsTruth(operand, Some(false)) => is_null_with(operand, columns),
        _ => false,
    })
}

/// Puts expressions in the place of columns.
fn substitute(expression: &mut Expression, columns: &[(ColumnId, &Expression)]) {
    crate::logical::visit_deep_mut(expression, &mut |inner| {
        let known = |id: &ColumnId| columns.iter().find(|(known, _)| known == id);
        if let ExpressionKind::Column(id) = &inner.kind
            && let Some((_, by)) = known(id)
        {
            let ty = inner.ty.clone();
            *inner = (*by).clone();
            // The collation that the place asked for stays.
            if inner.ty.is_string() && ty.is_string() {
                inner.ty.collation = ty.collation;
            }
            return false;
        }
        true
    });
}
