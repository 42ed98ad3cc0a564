//! FROM of a query block: its tables, the names of their columns, and what conditions say about these.

use std::ops::ControlFlow;

use mayfly_syntax::ast::{
    BinaryOperator, Expr, OrderByExpr, Select, SelectItem, visit_expressions,
};

use super::columns::{Named, Names, Place, Table, Value};
use super::text::strip;

/// Use of a query.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Use {
    /// Its rows are buffered.
    pub(super) buffered: bool,
    /// Their order does not matter.
    pub(super) unordered: bool,
}

/// Output of a query as a table.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    pub(super) columns: Vec<(String, Value)>,
    pub(super) one_row: bool,
    /// Estimated number of rows.
    pub(super) rows: u64,
}

/// FROM of a query block.
#[derive(Debug, Default)]
pub(super) struct From {
    pub(super) names: Names,
    /// Columns that conditions say to be equal.
    pub(super) equal: Vec<(Place, Place)>,
    /// Columns that conditions give one value.
    pub(super) given: Vec<Place>,
    /// Whether there is a LEFT or RIGHT JOIN.
    pub(super) has_outer_join: bool,
}

pub(super) fn table_of(rows: Rows, alias: &str) -> From {
    let columns = rows
        .columns
        .into_iter()
        .enumerate()
        .map(|(at, (name, value))| Named::of_table(alias, name, at, value.width));
    From {
        names: Names {
            columns: columns.collect(),
            tables: vec![Table::Rows {
                one_row: rows.one_row,
            }],
        },
        ..From::default()
    }
}

pub(super) fn rows_of(names: &Names) -> Rows {
    let columns = names.columns.iter();
    Rows {
        columns: columns
            .map(|column| (column.name.clone(), column.value.clone()))
            .collect(),
        ..Rows::default()
    }
}

impl Names {
    /// Columns of the single table that the query block reads.
    pub(super) fn used(&self) -> Vec<usize> {
        let used = self.columns.iter().filter(|column| column.is_used);
        used.filter_map(|column| Some(column.value.place?.1))
            .collect()
    }
}

impl From {
    pub(super) fn append(&mut self, mut right: Self) {
        let by = self.names.tables.len();
        let shift = |(table, column): Place| (table + by, column);
        for column in &mut right.names.columns {
            column.value.place = column.value.place.map(shift);
            column
                .value
                .tables
                .iter_mut()
                .for_each(|table| *table += by);
        }
        let equal = right.equal.into_iter();
        self.equal.extend(equal.map(|(a, b)| (shift(a), shift(b))));
        self.given.extend(right.given.into_iter().map(shift));
        self.names.tables.append(&mut right.names.tables);
        self.names.columns.append(&mut right.names.columns);
        self.has_outer_join |= right.has_outer_join;
    }

    /// Marks the columns that a query block reads.
    pub(super) fn used(&mut self, select: &Select, order: &[OrderByExpr]) {
        let mut used: Vec<(String, String)> = Vec::new();
        let mut note = |expr: &Expr| {
            if let Some(column) = self.names.named(expr) {
                used.push((column.table.clone(), column.name.clone()));
            }
            ControlFlow::<()>::Continue(())
        };
        let _ = visit_expressions(&select.projection, &mut note);
        let _ = visit_expressions(&select.selection, &mut note);
        let _ = visit_expressions(&select.group_by.keys, &mut note);
        let _ = visit_expressions(&select.having, &mut note);
        for key in order {
            let _ = visit_expressions(&key.expr, &mut note);
        }
        let stars = select.projection.iter().any(|item| {
            matches!(
                item,
                SelectItem::Wildcard | SelectItem::QualifiedWildcard(_)
            )
        });
        for column in &mut self.names.columns {
            column.is_used |= stars
                || used
                    .iter()
                    .any(|(table, name)| *table == column.table && *name == column.name);
        }
    }

    pub(super) fn note_equalities(&mut self, condition: &Expr) {
        let mut open = vec![condition];
        while let Some(expr) = open.pop() {
            match strip(expr) {
                Expr::BinaryOp {
                    left,
                    op: BinaryOperator::And,
                    right,
                } => open.extend([&**left, &**right]),
                Expr::BinaryOp {
                    left,
                    op: BinaryOperator::Eq,
                    right,
                } => {
                    let place = |expr| self.names.named(expr).and_then(|column| column.value.place);
                    let is_value =
                        |expr: &Expr| matches!(strip(expr), Expr::Value(_) | Expr::Subquery(_));
                    match (place(left), place(right)) {
                        (Some(a), Some(b)) => self.equal.push((a, b)),
                        (Some(a), None) if is_value(right) => self.given.push(a),
                        (None, Some(b)) if is_value(left) => self.given.push(b),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
    }

    /// Number of rows of the largest base table.
    pub(super) fn rows(&self) -> u64 {
        let tables = self.names.tables.iter().filter_map(Table::base);
        tables.map(|table| table.row_count).max().unwrap_or(0)
    }

    /// Whether an equality with another table leads to the first part of an index of a table.
    pub(super) fn is_looked_up(&self, table: usize, unique: bool) -> bool {
        let leads = |column: usize| {
            let mut pairs = self.equal.iter();
            pairs.any(|(a, b)| {
                *a == (table, column) && b.0 != table || *b == (table, column) && a.0 != table
            })
        };
        self.names.tables[table].indexes().any(|index| {
            let first = index.parts.first().is_some_and(|part| leads(part.column));
            first && (!unique || index.unique && index.parts.iter().all(|part| leads(part.column)))
        })
    }

    /// The table that is read first, if all others are looked up.
    pub(super) fn first_table(&self, looks_up_last: bool) -> Option<usize> {
        match self.names.tables.len() {
            0 => None,
            1 => Some(0),
            2 if looks_up_last
                && !self.has_outer_join
                && self.is_looked_up(0, true)
                && !self.is_looked_up(1, true) =>
            {
                Some(1)
            }
            count => {
                let mut others = 1..count;
                others
                    .all(|table| self.is_looked_up(table, false))
                    .then_some(0)
            }
        }
    }
}
