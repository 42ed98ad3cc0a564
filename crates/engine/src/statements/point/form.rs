//! Which statements may read or change one row by a unique key, as far as their form says.

use mayfly_syntax::ast::{
    BinaryOperator, Expr, GroupByExpr, InsertSource, Query, SetExpr, Statement, TableWithJoins,
};

/// Whether a statement is of one table, and asks for values of columns or gives a row. What keys the
/// table has is not asked.
pub(crate) fn may_be_point(statement: &Statement) -> bool {
    match statement {
        Statement::Query(query) => may_be_read(query),
        Statement::Insert(insert) => {
            let is_one_row =
                matches!(&insert.source, InsertSource::Values(rows) if rows.len() == 1);
            is_one_row && !insert.replace && insert.on_duplicate_key_update.is_empty()
        }
        Statement::Update(update) => {
            update.with.is_none() && is_key_of(&update.tables, update.selection.as_ref())
        }
        Statement::Delete(delete) => {
            delete.with.is_none()
                && delete.targets.is_empty()
                && is_key_of(&delete.from, delete.selection.as_ref())
        }
        _ => false,
    }
}

fn may_be_read(query: &Query) -> bool {
    let SetExpr::Select(select) = query.body.as_ref() else {
        return false;
    };
    let is_grouped = match &select.group_by {
        GroupByExpr::Expressions(expressions, modifiers) => {
            !expressions.is_empty() || !modifiers.is_empty()
        }
        GroupByExpr::All(_) => true,
    };
    query.with.is_none()
        && query.locks.is_empty()
        && !is_grouped
        && select.distinct.is_none()
        && select.having.is_none()
        && is_key_of(&select.from, select.selection.as_ref())
}

fn is_key_of(tables: &[TableWithJoins], selection: Option<&Expr>) -> bool {
    let is_one = matches!(tables, [only] if only.joins.is_empty());
    is_one && selection.is_some_and(asks_for_values)
}

/// Whether a condition is nothing but `=`.
fn asks_for_values(condition: &Expr) -> bool {
    match condition {
        Expr::Nested(inner) => asks_for_values(inner),
        Expr::BinaryOp { left, op, right } => match op {
            BinaryOperator::And => asks_for_values(left) && asks_for_values(right),
            BinaryOperator::Eq => true,
            _ => false,
        },
        _ => false,
    }
}
