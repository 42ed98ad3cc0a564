//! Shapes of a statement's text: constants, calls of aggregates, query blocks that can be merged.

use std::ops::ControlFlow;

use mayfly_syntax::ast::{Expr, Function, Query, Select, SetExpr, Visit, visit_expressions};

use super::columns::is_aggregate;

pub(super) fn strip(expr: &Expr) -> &Expr {
    match expr {
        Expr::Nested(inner) => strip(inner),
        other => other,
    }
}

/// The position that a key of GROUP BY or ORDER BY is.
pub(super) fn position(expr: &Expr) -> Option<usize> {
    match strip(expr) {
        Expr::Value(mayfly_syntax::ast::Value::Number(digits)) => digits.parse().ok(),
        _ => None,
    }
}

pub(super) fn is_constant(expr: &Expr) -> bool {
    matches!(strip(expr), Expr::Value(_))
}

pub(super) fn calls(node: &dyn Visit, wanted: impl Fn(&Function) -> bool) -> bool {
    visit_expressions(node, |expr| match expr {
        Expr::Function(call) if wanted(call) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    })
    .is_break()
}

pub(super) fn is_plain_aggregate(call: &Function) -> bool {
    let name = call.name.0.first();
    call.over.is_none() && name.is_some_and(|name| is_aggregate(&name.value))
}

pub(super) fn has_subquery(node: &dyn Visit) -> bool {
    visit_expressions(node, |expr| match expr {
        Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    })
    .is_break()
}

/// Whether a query block without its FROM gives a row for each of its FROM's.
pub(super) fn is_plain(select: &Select, query: &Query) -> bool {
    select.group_by.keys.is_empty()
        && select.having.is_none()
        && !select.distinct
        && !select.from.is_empty()
        && query.limit_clause.is_none()
        && !calls(&select.projection, |call| {
            call.over.is_some() || is_plain_aggregate(call)
        })
}

pub(super) fn block_of(query: &Query) -> Option<&Select> {
    match &*query.body {
        SetExpr::Select(select) => Some(select),
        SetExpr::Query(query) => block_of(query),
        _ => None,
    }
}
