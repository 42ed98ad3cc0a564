//! Subqueries in expressions: scalar, EXISTS, IN, ANY and ALL, row comparisons.

use std::ops::ControlFlow;

use mayfly_syntax::ast::{
    BinaryOperator, Expr, GroupBy, Query, SelectItem, SetExpr, Value, visit_expressions,
};
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType};

use super::aggregate::{has_aggregates, has_window_functions};
use super::operator::{bare, row_of};
use super::{comparison_of, comparison_text, one_column};
use crate::bind::binder::Binder;
use crate::bind::block::{Block, BlockColumn};
use crate::bind::comparison::unify_for_comparison;
use crate::not_supported::not_supported;
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{ColumnId, Relation, Subquery, SubqueryKind, outer_columns};
use crate::tree::physical::ClientType;

impl Binder<'_> {
    pub(super) fn bind_scalar_subquery(&mut self, query: &Query) -> Result<Expression> {
        let mut values = self.bind_row_of_subquery(query)?;
        match (values.pop(), values.is_empty()) {
            (Some(value), true) => Ok(value),
            _ => Err(one_column()),
        }
    }

    /// Values of the single row of a subquery.
    pub(super) fn bind_row_of_subquery(&mut self, query: &Query) -> Result<Vec<Expression>> {
        if let Some(value) = only_value(query) {
            return Ok(vec![self.bind_expression(value)?]);
        }
        let block = self.bind_query_expression(query, false)?;
        let surely = gives_one_row(&block.relation);
        let value = |block: Block, column: BlockColumn| {
            let ty = column.ty.without_display_width();
            let nullable = column.nullable || !surely;
            let columns = vec![column.id];
            let mut value = subquery(SubqueryKind::Scalar, block, columns, ty, nullable);
            if let ExpressionKind::LogicalSubquery(subquery) = &mut value.kind {
                subquery.claim = column.claim;
                subquery.client_type = column.client_type;
            }
            value
        };
        let mut columns = block.columns.clone();
        let Some(last) = columns.pop() else {
            return Err(one_column());
        };
        let columns = columns.into_iter();
        let mut values: Vec<Expression> =
            columns.map(|column| value(block.clone(), column)).collect();
        values.push(value(block, last));
        Ok(values)
    }

    pub(super) fn bind_exists(&mut self, query: &Query, negated: bool) -> Result<Expression> {
        let block = self.bind_query_expression(query, false)?;
        let kind = SubqueryKind::Exists { negated };
        Ok(subquery(kind, block, Vec::new(), SqlType::boolean(), false))
    }

    pub(super) fn bind_in_subquery(
        &mut self,
        expr: &Expr,
        query: &Query,
        negated: bool,
    ) -> Result<Expression> {
        let comparison = if negated {
            Comparison::NotEqual
        } else {
            Comparison::Equal
        };
        self.quantified(expr, comparison, query, negated)
    }

    pub(super) fn bind_quantified(
        &mut self,
        left: &Expr,
        op: &BinaryOperator,
        right: &Expr,
        all: bool,
    ) -> Result<Expression> {
        let comparison = comparison_of(op).filter(|one| *one != Comparison::NullSafeEqual);
        let Some(comparison) = comparison else {
            return Err(not_supported(&op.to_string()));
        };
        match bare(right) {
            Expr::Subquery(query) => self.quantified(left, comparison, query, all),
            other => Err(not_supported(&other.to_string())),
        }
    }

    fn quantified(
        &mut self,
        left: &Expr,
        comparison: Comparison,
        query: &Query,
        all: bool,
    ) -> Result<Expression> {
        let left = self.left_side(left)?;
        let is_membership = matches!(
            (comparison, all),
            (Comparison::Equal, false) | (Comparison::NotEqual, true)
        );
        if left.len() > 1 && !is_membership {
            return Err(super::one_column());
        }
        if query.limit_clause.is_some() {
            return Err(not_supported("LIMIT & IN/ALL/ANY/SOME subquery"));
        }
        // Membership does not depend on duplicates, and DISTINCT may equate values by the collation of a column that
        // the comparison distinguishes.
        self.ignores_distinct = matches!(&*query.body, SetExpr::Select(_)) && query.with.is_none();
        let block = self.bind_query_expression(query, false);
        self.ignores_distinct = false;
        let mut block = block?;
        if is_membership || !outer_columns(&[&block.relation]).is_empty() {
            self.check_constant_texts(&left, &block)?;
        }
        let (left, columns) = self.unify_sides(left, comparison, &mut block)?;
        let kind = SubqueryKind::Quantified {
            left,
            comparison,
            all,
        };
        Ok(subquery(kind, block, columns, SqlType::boolean(), true))
    }

    /// Checks texts that a subquery gives in all of its rows where they are compared with dates.
    fn check_constant_texts(&mut self, left: &[Expression], block: &Block) -> Result<()> {
        let pairs = left.iter().zip(&block.columns);
        let known = pairs.filter_map(|(value, column)| Some((value, column.constant.as_ref()?)));
        for (value, constant) in known {
            self.check_temporal_texts(value, constant)?;
        }
        Ok(())
    }

    /// `(a, b) comparison (subquery)`
    pub(super) fn bind_row_subquery(
        &mut self,
        row: &[Expr],
        comparison: Comparison,
        query: &Query,
    ) -> Result<Expression> {
        let left = row
            .iter()
            .map(|item| self.bind_stored(item))
            .collect::<Result<Vec<_>>>()?;
        self.compare_row_with(left, comparison, query)
    }

    /// `(values) comparison (subquery)`
    pub(super) fn compare_row_with(
        &mut self,
        left: Vec<Expression>,
        comparison: Comparison,
        query: &Query,
    ) -> Result<Expression> {
        let mut block = self.bind_query_expression(query, false)?;
        let (left, columns) = self.unify_sides(left, comparison, &mut block)?;
        let kind = SubqueryKind::Row { left, comparison };
        Ok(subquery(kind, block, columns, SqlType::boolean(), true))
    }

    fn left_side(&mut self, left: &Expr) -> Result<Vec<Expression>> {
        let left = bare(left);
        match row_of(left) {
            Some(row) => row.iter().map(|item| self.bind_stored(item)).collect(),
            None => match left {
                Expr::Subquery(query) => self.bind_row_of_subquery(query),
                _ => Ok(vec![self.bind_stored(left)?]),
            },
        }
    }

    /// Converts both sides to their comparison types; a column of the subquery that needs a conversion is computed
    /// beside the others.
    fn unify_sides(
        &mut self,
        left: Vec<Expression>,
        comparison: Comparison,
        block: &mut Block,
    ) -> Result<(Vec<Expression>, Vec<ColumnId>)> {
        if left.len() != block.columns.len() {
            return Err(codes::ER_OPERAND_COLUMNS.with(&[&left.len()]));
        }
        let mut columns = Vec::with_capacity(left.len());
        let mut computed = Vec::new();
        let mut unified = Vec::with_capacity(left.len());
        for (value, column) in left.into_iter().zip(&block.columns) {
            self.check_temporal_texts(&value, &column.value())?;
            let text = comparison_text(comparison);
            let (value, right) = unify_for_comparison(self.catalog, value, column.value(), text)?;
            columns.push(self.column_of(right, &mut computed));
            unified.push(value);
        }
        block.relation = block.relation.take().extended(computed);
        Ok((unified, columns))
    }
}

/// Whether a relation always has one row: SELECT without FROM, WHERE and LIMIT.
fn gives_one_row(relation: &Relation) -> bool {
    match relation {
        Relation::Values { rows, .. } => rows.len() == 1,
        Relation::Project { input, .. } | Relation::Extend { input, .. } => gives_one_row(input),
        _ => false,
    }
}

fn subquery(
    kind: SubqueryKind,
    block: Block,
    columns: Vec<ColumnId>,
    ty: SqlType,
    nullable: bool,
) -> Expression {
    let ty = SqlType {
        temporal_text: false,
        ..ty
    };
    // A column that is not the block's own is a conversion of one, which may give NULL.
    let may_be_null = |id: &ColumnId| {
        let own = block.columns.iter().find(|column| column.id == *id);
        own.is_none_or(|column| column.nullable)
    };
    let client_type = block
        .columns
        .first()
        .map_or(ClientType::Plain, |column| column.client_type);
    let columns_nullable = columns.iter().any(may_be_null);
    let subquery = Subquery {
        kind,
        relation: block.relation,
        columns,
        nullable: columns_nullable,
        select_id: block.select_id,
        client_type,
        claim: None,
    };
    let kind = ExpressionKind::LogicalSubquery(Box::new(subquery));
    Expression::new(kind, ty, nullable)
}

/// The expression of `(SELECT expression)`, which reads no table: MySQL puts it in the place of the subquery (note 1249).
/// Functions over groups and windows and a `?`, whose type a subquery decides, stay in a subquery.
fn only_value(query: &Query) -> Option<&Expr> {
    let is_plain = query.with.is_none()
        && query.order_by.is_empty()
        && query.limit_clause.is_none()
        && query.locks.is_empty();
    let SetExpr::Select(select) = &*query.body else {
        return None;
    };
    let reads_nothing = select.from.is_empty()
        && select.selection.is_none()
        && select.having.is_none()
        && select.group_by == GroupBy::default()
        && select.named_window.is_empty();
    let [SelectItem::ExprWithAlias { expr, .. }] = select.projection.as_slice() else {
        return None;
    };
    let is_kept = |inner: &Expr| match inner {
        Expr::Value(Value::Placeholder(_)) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let is_value = is_plain
        && reads_nothing
        && visit_expressions(expr, is_kept).is_continue()
        && !has_aggregates(expr)
        && !has_window_functions(expr);
    is_value.then_some(expr)
}
