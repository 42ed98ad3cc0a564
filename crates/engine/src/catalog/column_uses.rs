//! Whether expressions of a definition name a column.

use std::ops::ControlFlow;

use mayfly_syntax::ast::{Expr, Ident, visit_expressions};

use crate::names::same_name;

/// Whether an expression names a column.
pub(crate) fn names_column(expression: &Expr, name: &str) -> bool {
    let is_it = |ident: &Ident| same_name(&ident.value, name);
    let flow = visit_expressions(expression, |expr| {
        let found = match expr {
            Expr::Identifier(ident) => is_it(ident),
            Expr::CompoundIdentifier(parts) => parts.last().is_some_and(is_it),
            _ => false,
        };
        if found {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    flow.is_break()
}
