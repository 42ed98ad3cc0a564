//! Scalar expressions over the columns of one row, outside of a query block: VALUES of INSERT, ON DUPLICATE KEY UPDATE,
//! RETURNING, SET, DEFAULT, CHECK, generated columns, SET of LOAD DATA.

use std::sync::Arc;

use mayfly_syntax::ast;
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::scalar_names::{ScalarColumn, ScalarNames};
use super::scope::{Clause, Scope};
use super::types;
use crate::bind::binder::{Binder, CountedDerived, NamedTable};
use crate::catalog::{Catalog, DefaultSource, TableSource};
use crate::options::PlanOptions;
use crate::rules;
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{
    ColumnId, Computed, Query, for_each_subquery_mut, visit_expression_mut,
};
use crate::tree::physical::OutputColumn;

/// Binds an expression to the columns of a row. Subqueries are planned.
pub fn bind_scalar(
    expr: &ast::Expr,
    names: ScalarNames<'_>,
    catalog: &dyn Catalog,
    options: &PlanOptions,
) -> Result<Expression> {
    let mut binder = begin(names, catalog, options);
    binder.keeps_value = true;
    if names.inserted.is_some() {
        binder.own_reads.derived = CountedDerived::All;
    }
    let expression = match names.key_part_of {
        Some(index) => binder.bind_key_part(expr, index)?,
        None => binder.bind_expression(expr)?,
    };
    binder.refuse_aggregates()?;
    if names.target.is_some_and(|target| target.alone) {
        binder.forget_renamed_reads();
    }
    binder.refuse_own_reads("INSERT")?;
    let expression = binder.with_rules(types::as_value(expression));
    let columns = names.columns.len();
    crate::lower::lower_scalar(expression, binder.shared, columns, options)
}

/// Binds a select list to the columns of a row: RETURNING.
pub fn bind_returning(
    items: &[ast::SelectItem],
    names: ScalarNames<'_>,
    catalog: &dyn Catalog,
    options: &PlanOptions,
) -> Result<Vec<(OutputColumn, Expression)>> {
    let mut binder = begin(names, catalog, options);
    binder.scope().clause = Clause::FieldList;
    binder.bind_items(items)?;
    binder.refuse_aggregates()?;
    let items = std::mem::take(&mut binder.scope().items);
    let mut bound = Vec::with_capacity(items.len());
    for item in items {
        let column = OutputColumn {
            name: item.name,
            ty: item.expression.ty.clone(),
            nullable: item.expression.nullable,
            origin: item.origin,
            client_type: item.client_type,
            buffered: None,
        };
        let shared = binder.shared.clone();
        let columns = names.columns.len();
        let expression = binder.with_rules(item.expression);
        let expression = crate::lower::lower_scalar(expression, shared, columns, options)?;
        bound.push((column, expression));
    }
    Ok(bound)
}

fn begin<'a>(
    names: ScalarNames<'_>,
    catalog: &'a dyn Catalog,
    options: &'a PlanOptions,
) -> Binder<'a> {
    let mut binder = Binder::new(catalog, options);
    let mut scope = Scope::new(Clause::Values, 1);
    scope.add_scalar_columns(names.columns);
    binder.next_column = names.columns.len();
    binder.scalar_defaults = names
        .columns
        .iter()
        .map(|column| column.default.clone())
        .collect();
    binder.scopes.push(scope);
    binder.next_select = 2;
    binder.inserted = names.inserted;
    if let Some(target) = names.target {
        let view = target
            .view_of
            .map(|of| (of.to_owned(), target.name.to_owned()));
        let alias = target.name.to_owned();
        binder.note_change(target.table, NamedTable { alias, view });
    }
    binder
}

impl Binder<'_> {
    /// Expressions of a table's generated columns that an index is over; `first` is the number of the table's first
    /// column.
    pub(super) fn bind_generated(&self, table: &TableSource, first: ColumnId) -> Arc<[Computed]> {
        if table
            .columns
            .iter()
            .all(|column| column.generated.is_none())
        {
            return Arc::new([]);
        }
        let columns: Vec<ScalarColumn<'_>> = table
            .columns
            .iter()
            .map(|column| ScalarColumn {
                database: None,
                table: &table.name,
                name: if column.hidden { "" } else { &column.name },
                ty: &column.ty,
                nullable: column.nullable,
                default: DefaultSource::None,
            })
            .collect();
        let names = ScalarNames {
            columns: &columns,
            ..ScalarNames::default()
        };
        let computed = table.columns.iter().enumerate().filter_map(|(at, column)| {
            let mut binder = begin(names, self.catalog, self.options);
            binder.keeps_value = true;
            // An expression that does not bind under the session's settings matches no other either.
            let bound = binder
                .bind_key_part(column.generated.as_deref()?, "")
                .ok()?;
            let mut expression = types::as_value(bound);
            visit_expression_mut(&mut expression, &mut |inner| {
                if let ExpressionKind::Column(id) = &mut inner.kind {
                    *id += first;
                }
                true
            });
            let id = first + at;
            Some(Computed { id, expression })
        });
        computed.collect()
    }

    /// Optimizes the subqueries of an expression outside of a query: each is a query.
    fn with_rules(&mut self, mut expression: Expression) -> Expression {
        if !self.shared.is_empty() {
            return expression;
        }
        let mut next_column = self.next_column;
        for_each_subquery_mut(&mut expression, &mut |subquery| {
            let mut query = Query {
                relation: subquery.relation.clone(),
                columns: subquery.columns.clone(),
                output: Vec::new(),
                shared: Vec::new(),
                next_column,
                parameter_count: self.parameter_count,
                date_operands: self.date_operands.clone(),
                tables: self.tables.clone(),
                join_hints: self.join_hints.clone(),
                limit: None,
                buffering: crate::tree::logical::Buffering::default(),
                kept: None,
            };
            let planning = rules::Planning::new(self.options, self.catalog);
            planning.trace.inspect(|trace| trace.begin());
            rules::rewrite(&mut query, &planning);
            next_column = query.next_column;
            subquery.relation = query.relation;
            subquery.columns = query.columns;
        });
        self.next_column = next_column;
        expression
    }

    /// Error 1111: an aggregate or GROUPING() without a group.
    pub(super) fn refuse_aggregates(&mut self) -> Result<()> {
        let scope = self.scope();
        if scope.aggregates.is_empty() && scope.groupings.is_empty() {
            Ok(())
        } else {
            Err(codes::ER_INVALID_GROUP_FUNC_USE.error())
        }
    }
}
