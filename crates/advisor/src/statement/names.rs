//! Resolution of names to columns of tables.

use std::ops::ControlFlow;

use mayfly_syntax::ast::{BinaryOperator, Expr, Ident, Query, Visit, Visitor};
use mayfly_syntax::encodings;

use super::{Block, TableReference};
use crate::schema::Column;

/// A column of a base table of a block: positions in the block's tables and the table's columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ColumnPlace {
    /// Index of the table in the block.
    pub(crate) table: usize,
    /// Index of the column in the table.
    pub(crate) column: usize,
}

impl Block {
    /// The base table column that an expression consists of; `None` for other expressions and unknown columns.
    pub(crate) fn place(&self, expr: &Expr) -> Option<ColumnPlace> {
        let (qualifier, name) = match expr {
            Expr::Identifier(name) if encodings::variable(expr).is_none() => (None, name),
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [table, name] | [_, table, name] => (Some(table), name),
                _ => return None,
            },
            Expr::Nested(inner) => return self.place(inner),
            _ => return None,
        };
        let mut tables = self.tables.iter().enumerate();
        let found =
            tables.find(|(_, table)| named_by(table, qualifier) && has_column(table, name))?;
        let column = found.1.base()?.column(&name.value)?;
        Some(ColumnPlace {
            table: found.0,
            column,
        })
    }

    /// The column at a place.
    pub(crate) fn column(&self, place: ColumnPlace) -> Option<&Column> {
        self.tables
            .get(place.table)?
            .base()?
            .columns
            .get(place.column)
    }

    /// The columns of this block's base tables that expressions read, directly or in subqueries, each once.
    pub(crate) fn columns_of<'e>(
        &self,
        expressions: impl IntoIterator<Item = &'e Expr>,
    ) -> Vec<ColumnPlace> {
        let mut names = Names {
            block: self,
            places: Vec::new(),
        };
        for expression in expressions {
            let _ = expression.visit(&mut names);
        }
        names.places
    }

    /// The columns that conditions of the block equate with a constant.
    pub(crate) fn fixed_columns(&self) -> Vec<ColumnPlace> {
        let mut fixed = Vec::new();
        for condition in &self.conditions {
            if let Expr::BinaryOp {
                left,
                op: BinaryOperator::Eq | BinaryOperator::Spaceship,
                right,
            } = condition
            {
                if let Some(place) = self.place(left).filter(|_| self.is_constant(right)) {
                    fixed.push(place);
                } else if let Some(place) = self.place(right).filter(|_| self.is_constant(left)) {
                    fixed.push(place);
                }
            }
        }
        fixed
    }

    /// Pairs of columns of two tables that conditions of the block equate.
    pub(crate) fn joined_columns(&self) -> Vec<(ColumnPlace, ColumnPlace)> {
        let mut pairs = Vec::new();
        for condition in &self.conditions {
            if let Expr::BinaryOp {
                left,
                op: BinaryOperator::Eq,
                right,
            } = condition
                && let (Some(left), Some(right)) = (self.place(left), self.place(right))
                && left.table != right.table
            {
                pairs.push((left, right));
            }
        }
        pairs
    }

    /// Whether an expression reads no table.
    pub(crate) fn is_constant(&self, expr: &Expr) -> bool {
        let mut columns = AnyColumn(false);
        let _ = expr.visit(&mut columns);
        !columns.0
    }
}

fn named_by(table: &TableReference, qualifier: Option<&Ident>) -> bool {
    qualifier.is_none_or(|qualifier| table.alias.eq_ignore_ascii_case(&qualifier.value))
}

fn has_column(table: &TableReference, name: &Ident) -> bool {
    table
        .base()
        .is_some_and(|table| table.column(&name.value).is_some())
}

struct Names<'b> {
    block: &'b Block,
    places: Vec<ColumnPlace>,
}

impl Visitor for Names<'_> {
    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Some(place) = self.block.place(expr)
            && !self.places.contains(&place)
        {
            self.places.push(place);
        }
        ControlFlow::Continue(())
    }
}

/// Visitor that finds out whether there is a column or a subquery.
struct AnyColumn(bool);

impl Visitor for AnyColumn {
    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        let is_name = matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_));
        self.0 |= is_name && encodings::variable(expr).is_none();
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, _query: &Query) -> ControlFlow<()> {
        self.0 = true;
        ControlFlow::Break(())
    }
}
