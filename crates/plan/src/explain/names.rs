//! The names of the columns of a plan's rows, in the three forms in which EXPLAIN shows them: `t.a` in a tree,
//! `` `db`.`t`.`a` `` in conditions of FORMAT=JSON version 1, and `db.t.a` where columns are listed.

use crate::catalog::TableSource;
use crate::text::{Names, call_text, expression_text, window_text};
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::visit_expression;
use crate::tree::physical::{AggregateCall, Grouping};
use crate::tree::window::{WindowCall, WindowKeys};

/// The name of a column.
#[derive(Debug, Clone, Default)]
struct ColumnName {
    /// `t.a`, or the expression that it is the value of.
    plain: String,
    /// The name quoted and with its database.
    quoted: String,
    /// `db.t.a`; none of an expression.
    full: Option<String>,
}

/// The names of the columns of rows, by position.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns(Vec<ColumnName>);

/// A name in backquotes.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn named(names: &[ColumnName], column: usize, form: fn(&ColumnName) -> &String) -> String {
    let name = names.get(column).map(form);
    name.map_or_else(|| format!("column_{column}"), String::clone)
}

/// Names as trees show them.
pub(super) struct Plain<'c>(&'c Columns);

impl Names for Plain<'_> {
    fn column(&self, column: usize) -> String {
        named(&self.0.0, column, |name| &name.plain)
    }
}

/// Names in quotes.
pub(super) struct Quoted<'c>(&'c Columns);

impl Names for Quoted<'_> {
    fn column(&self, column: usize) -> String {
        named(&self.0.0, column, |name| &name.quoted)
    }

    fn window(&self, name: &str) -> String {
        quoted(name)
    }
}

impl Columns {
    /// Some columns of a table.
    pub(super) fn of_table(table: &TableSource, alias: &str, columns: &[usize]) -> Self {
        let name = |index: &usize| {
            let column = table.columns.get(*index);
            match column {
                // Its name is an expression.
                Some(column) if column.hidden => ColumnName {
                    plain: column.name.clone(),
                    quoted: column.name.clone(),
                    full: None,
                },
                _ => {
                    let column = column.map_or("", |column| &column.name);
                    let quotes = [&table.database, alias, column].map(quoted);
                    ColumnName {
                        plain: format!("{alias}.{column}"),
                        quoted: quotes.join("."),
                        full: Some(format!("{}.{alias}.{column}", table.database)),
                    }
                }
            }
        };
        Self(columns.iter().map(name).collect())
    }

    /// The columns of a derived table or common table expression.
    pub(super) fn of_derived(alias: &str, columns: &[String]) -> Self {
        let name = |column: &String| ColumnName {
            plain: format!("{alias}.{column}"),
            quoted: format!("{}.{}", quoted(alias), quoted(column)),
            full: Some(format!("{alias}.{column}")),
        };
        Self(columns.iter().map(name).collect())
    }

    /// Columns without tables, as a set operation gives them.
    pub(super) fn unqualified(self) -> Self {
        let names = self.0.into_iter().map(|name| {
            let Some(full) = &name.full else { return name };
            let column = full
                .rsplit_once('.')
                .map_or(full.as_str(), |(_, last)| last);
            ColumnName {
                plain: column.to_owned(),
                quoted: quoted(column),
                full: None,
            }
        });
        Self(names.collect())
    }

    /// Columns that have no names.
    pub(super) fn unnamed(count: usize) -> Self {
        let name = |index| {
            let text = format!("column_{index}");
            ColumnName {
                plain: text.clone(),
                quoted: text,
                full: None,
            }
        };
        Self((0..count).map(name).collect())
    }

    /// Values that are computed of these columns.
    pub(super) fn computed(&self, expressions: &[Expression]) -> Self {
        Self(expressions.iter().map(|one| self.name_of(one)).collect())
    }

    fn name_of(&self, expression: &Expression) -> ColumnName {
        if let ExpressionKind::Column(column) = expression.kind
            && let Some(name) = self.0.get(column)
        {
            return name.clone();
        }
        ColumnName {
            plain: self.plain_text(expression),
            quoted: self.quoted_text(expression),
            full: None,
        }
    }

    /// The keys of groups, and aggregates over them.
    pub(super) fn grouped(&self, grouping: &Grouping) -> Self {
        let mut names = self.computed(&grouping.keys);
        let calls = grouping.aggregates.iter().map(|call| ColumnName {
            plain: self.call_text(call),
            quoted: call_text(call, &self.quoted()),
            full: None,
        });
        names.0.extend(calls);
        if grouping.rollup {
            let level = "<rollup level>".to_owned();
            names.0.push(ColumnName {
                plain: level.clone(),
                quoted: level,
                full: None,
            });
        }
        names
    }

    /// These columns, then those of functions over a window.
    pub(super) fn windowed(&self, window: &WindowKeys<'_>, calls: &[WindowCall]) -> Self {
        let mut names = self.clone();
        names.0.extend(calls.iter().map(|call| ColumnName {
            plain: window_text(window, call, &self.plain()),
            quoted: window_text(window, call, &self.quoted()),
            full: None,
        }));
        names
    }

    /// A function over a window of these columns.
    pub(super) fn window_text(&self, window: &WindowKeys<'_>, call: &WindowCall) -> String {
        window_text(window, call, &self.plain())
    }

    /// These columns, then those of another input.
    pub(super) fn beside(&self, right: Self) -> Self {
        let mut both = self.clone();
        both.0.extend(right.0);
        both
    }

    /// The names for texts of a tree.
    pub(super) fn plain(&self) -> Plain<'_> {
        Plain(self)
    }

    /// The names for texts with quotes.
    pub(crate) fn quoted(&self) -> Quoted<'_> {
        Quoted(self)
    }

    /// An expression over these columns, as trees show it.
    pub(super) fn plain_text(&self, expression: &Expression) -> String {
        expression_text(expression, &self.plain())
    }

    /// An expression over these columns, with quotes.
    pub(crate) fn quoted_text(&self, expression: &Expression) -> String {
        expression_text(expression, &self.quoted())
    }

    /// An aggregate over these columns.
    pub(super) fn call_text(&self, call: &AggregateCall) -> String {
        call_text(call, &self.plain())
    }

    /// A value that a key is compared with, as `ref` lists it.
    pub(super) fn reference(&self, value: &Expression) -> String {
        match value.kind {
            ExpressionKind::Literal(_) | ExpressionKind::Parameter(_) => "const".to_owned(),
            ExpressionKind::Column(column) => {
                let full = self.0.get(column).and_then(|name| name.full.clone());
                full.unwrap_or_else(|| "func".to_owned())
            }
            _ => "func".to_owned(),
        }
    }

    /// The columns that expressions read, each once, in order.
    pub(super) fn read_by<'e>(
        &self,
        expressions: impl IntoIterator<Item = &'e Expression>,
    ) -> Vec<String> {
        let mut found = Vec::new();
        for expression in expressions {
            visit_expression(expression, &mut |inner| {
                if let ExpressionKind::Column(column) = inner.kind
                    && let Some(full) = self.0.get(column).and_then(|name| name.full.clone())
                {
                    found.push(full);
                }
                true
            });
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}
