//! Names of the columns of a plan's rows, in the three forms of EXPLAIN: `t.a` in a tree, `` `db`.`t`.`a` `` in
//! conditions of FORMAT=JSON version 1, and `db.t.a` where columns are listed.

use crate::catalog::TableSource;
use crate::predicates::conjunction;
use crate::text::{Names, call_text, expression_text, window_text};
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::visit_expression;
use crate::tree::physical::{AggregateCall, Grouping, PushedTerm};
use crate::window::{WindowCall, WindowKeys};

/// Name of a column.
#[derive(Debug, Clone, Default)]
struct ColumnName {
    /// `t.a`, or the text of its expression.
    plain: String,
    /// The name quoted and with its database.
    quoted: String,
    /// `db.t.a`; `None` for an expression.
    full: Option<String>,
}

/// Names of the columns of rows, by index.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns(Vec<ColumnName>);

/// A name in backquotes.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// Names in backquotes, behind that of their database unless that is empty.
pub(crate) fn in_database(database: &str, names: &[&str]) -> String {
    let database = Some(database).filter(|database| !database.is_empty());
    let parts = database.into_iter().chain(names.iter().copied());
    parts.map(quoted).collect::<Vec<_>>().join(".")
}

fn named(names: &[ColumnName], column: usize, form: fn(&ColumnName) -> &String) -> String {
    let name = names.get(column).map(form);
    name.map_or_else(|| format!("column_{column}"), String::clone)
}

/// Names in the form of trees.
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
                // A hidden column is named by its expression.
                Some(column) if column.hidden => ColumnName {
                    plain: column.name.clone(),
                    quoted: column.name.clone(),
                    full: None,
                },
                _ => {
                    let column = column.map_or("", |column| &column.name);
                    ColumnName {
                        plain: format!("{alias}.{column}"),
                        quoted: in_database(&table.database, &[alias, column]),
                        full: (!table.is_call)
                            .then(|| format!("{}.{alias}.{column}", table.database)),
                    }
                }
            }
        };
        Self(columns.iter().map(name).collect())
    }

    /// All columns of a table, and the conjunction of the terms that it answers, if there are any.
    pub(super) fn of_pushed_terms(
        terms: &[PushedTerm],
        table: &TableSource,
        alias: &str,
    ) -> Option<(Self, Expression)> {
        let columns: Vec<usize> = (0..table.columns.len()).collect();
        let terms = terms.iter().map(|term| term.predicate.clone());
        let condition = conjunction(terms.collect())?;
        Some((Self::of_table(table, alias, &columns), condition))
    }

    /// Columns of a derived table or common table expression.
    pub(super) fn of_derived(alias: &str, columns: &[String]) -> Self {
        let name = |column: &String| ColumnName {
            plain: format!("{alias}.{column}"),
            quoted: format!("{}.{}", quoted(alias), quoted(column)),
            full: Some(format!("{alias}.{column}")),
        };
        Self(columns.iter().map(name).collect())
    }

    /// Columns without tables, as of a set operation.
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

    /// Columns computed from these.
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

    /// Group keys, and aggregates over the groups.
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

    /// These columns, then those of window functions.
    pub(super) fn windowed(&self, window: &WindowKeys<'_>, calls: &[WindowCall]) -> Self {
        let mut names = self.clone();
        names.0.extend(calls.iter().map(|call| ColumnName {
            plain: window_text(window, call, &self.plain()),
            quoted: window_text(window, call, &self.quoted()),
            full: None,
        }));
        names
    }

    /// Text of a window function over these columns.
    pub(super) fn window_text(&self, window: &WindowKeys<'_>, call: &WindowCall) -> String {
        window_text(window, call, &self.plain())
    }

    /// These columns, then those of another input.
    pub(super) fn beside(&self, right: Self) -> Self {
        let mut both = self.clone();
        both.0.extend(right.0);
        both
    }

    /// Names for texts of a tree.
    pub(super) fn plain(&self) -> Plain<'_> {
        Plain(self)
    }

    /// Names for texts with quotes.
    pub(crate) fn quoted(&self) -> Quoted<'_> {
        Quoted(self)
    }

    /// Text of an expression over these columns, in the form of trees.
    pub(super) fn plain_text(&self, expression: &Expression) -> String {
        expression_text(expression, &self.plain())
    }

    /// Text of an expression over these columns, with quotes.
    pub(crate) fn quoted_text(&self, expression: &Expression) -> String {
        expression_text(expression, &self.quoted())
    }

    /// Text of an aggregate over these columns.
    pub(super) fn call_text(&self, call: &AggregateCall) -> String {
        call_text(call, &self.plain())
    }

    /// Value that a key is compared with, as listed in `ref`.
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

    /// Columns that expressions read, each once, in order.
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
