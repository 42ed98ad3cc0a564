//! Column references in expressions of a definition.

use std::ops::ControlFlow;

use mayfly_syntax::ast::{Expr, Ident, visit_expressions};

use crate::names::same_name;

/// Whether an expression refers to a column.
pub(crate) fn names_column(expression: &Expr, name: &str) -> bool {
    let is_it = |ident: &Ident| same_name(&ident.value, name);
    let flow = visit_expressions(expression, |expr| match expr {
        Expr::Identifier(ident) if is_it(ident) => ControlFlow::Break(()),
        Expr::CompoundIdentifier(parts) if parts.last().is_some_and(is_it) => {
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    flow.is_break()
}
