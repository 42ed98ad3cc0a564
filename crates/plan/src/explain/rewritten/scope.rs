//! Text of column numbers inside a query block.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::super::names::{in_database, quoted};
use super::select::Writer;
use crate::text::{Names, call_text, expression_text, window_text};
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{self, ColumnId, Relation, with_stack};
use crate::tree::physical::AggregateCall;
use crate::window::WindowCall;

/// Meaning of a column number.
#[derive(Debug, Clone)]
enum Meaning<'q> {
    /// A column of a table.
    Name(String),
    /// An expression over other columns.
    Computed(&'q Expression),
    /// An aggregate over other columns.
    Call(&'q AggregateCall),
    /// A key of a grouping with ROLLUP, with its index.
    RolledUp(&'q Expression, usize),
    /// An aggregate of a grouping with ROLLUP.
    RolledUpCall(&'q AggregateCall),
    /// A window function.
    Windowed(&'q logical::Window, &'q WindowCall),
}

/// Maximum depth of expressions over expressions that are written out.
const DEPTH_MAX: usize = 200;

/// Columns known in a query block and those around it.
pub(super) struct Scope<'q> {
    writer: &'q Writer<'q>,
    outer: Option<&'q Scope<'q>>,
    columns: BTreeMap<ColumnId, Meaning<'q>>,
    depth: Cell<usize>,
}

impl<'q> Scope<'q> {
    pub(super) fn new(writer: &'q Writer<'q>, outer: Option<&'q Scope<'q>>) -> Self {
        Self {
            writer,
            outer,
            columns: BTreeMap::new(),
            depth: Cell::new(0),
        }
    }

    pub(super) fn name(&mut self, id: ColumnId, text: String) {
        self.columns.entry(id).or_insert(Meaning::Name(text));
    }

    /// Adds a column with the value of an expression.
    pub(super) fn compute(&mut self, id: ColumnId, expression: &'q Expression) {
        // A grouped column keeps its number.
        let is_itself = matches!(expression.kind, ExpressionKind::Column(own) if own == id);
        if !is_itself {
            self.columns
                .entry(id)
                .or_insert(Meaning::Computed(expression));
        }
    }

    /// Adds the keys and calls of a grouping.
    pub(super) fn group(&mut self, aggregate: &'q logical::Aggregate) {
        let rolls_up = aggregate.rollup.is_some();
        for (index, key) in aggregate.keys.iter().enumerate() {
            if rolls_up {
                let meaning = Meaning::RolledUp(&key.expression, index);
                self.columns.entry(key.id).or_insert(meaning);
            } else {
                self.compute(key.id, &key.expression);
            }
        }
        for (id, call) in &aggregate.aggregates {
            let is_same = |argument: &Expression| matches!(argument.kind, ExpressionKind::Column(own) if own == *id);
            // ANY_VALUE of a column keeps the column's number.
            if call.arguments.iter().any(is_same) {
                continue;
            }
            let meaning = if rolls_up {
                Meaning::RolledUpCall(call)
            } else {
                Meaning::Call(call)
            };
            self.columns.entry(*id).or_insert(meaning);
        }
    }

    /// Adds the functions of a window.
    pub(super) fn window(&mut self, window: &'q logical::Window) {
        for (id, call) in &window.calls {
            let meaning = Meaning::Windowed(window, call);
            self.columns.entry(*id).or_insert(meaning);
        }
    }

    /// Adds the columns of the tables of FROM.
    pub(super) fn add_tables(&mut self, relation: &'q Relation) {
        with_stack(|| match relation {
            Relation::Scan(scan) => {
                for (index, column) in scan.table.columns.iter().enumerate() {
                    let text = if column.hidden {
                        column.name.clone()
                    } else {
                        in_database(&scan.table.database, &[&scan.alias, &column.name])
                    };
                    self.name(scan.first + index, text);
                }
            }
            Relation::SharedScan {
                shared,
                alias,
                columns,
                ..
            } => {
                for (id, name) in columns.iter().zip(self.writer.shared_names(*shared)) {
                    self.name(*id, format!("{}.{}", quoted(alias), quoted(name)));
                }
            }
            Relation::Block {
                derived: Some(derived),
                ..
            } => {
                for (id, name) in &derived.columns {
                    self.name(*id, format!("{}.{}", quoted(&derived.alias), quoted(name)));
                }
            }
            Relation::Values { columns, .. } => {
                for (index, id) in columns.iter().enumerate() {
                    self.name(*id, quoted(&format!("column_{index}")));
                }
            }
            Relation::Extend { input, columns } | Relation::Project { input, columns } => {
                self.add_tables(input);
                for column in columns {
                    self.compute(column.id, &column.expression);
                }
            }
            Relation::Aggregate(aggregate) => {
                self.add_tables(&aggregate.input);
                self.group(aggregate);
            }
            Relation::Window(window) => {
                self.add_tables(&window.input);
                self.window(window);
            }
            Relation::SetOperation {
                inputs, columns, ..
            } => {
                if let Some((first, ids)) = inputs.first() {
                    let mut inner = Scope::new(self.writer, None);
                    inner.add_tables(first);
                    for (own, id) in columns.iter().zip(ids) {
                        let text = inner.text_of(*id);
                        let last = text
                            .rsplit_once('.')
                            .map_or(text.as_str(), |(_, last)| last);
                        self.name(*own, last.to_owned());
                    }
                }
            }
            other => other
                .inputs()
                .into_iter()
                .for_each(|input| self.add_tables(input)),
        });
    }

    /// Text of a column.
    pub(super) fn text_of(&self, id: ColumnId) -> String {
        let Some(meaning) = self.columns.get(&id) else {
            return match self.outer {
                Some(outer) => outer.text_of(id),
                None => format!("column_{id}"),
            };
        };
        if self.depth.get() > DEPTH_MAX {
            return "…".to_owned();
        }
        self.depth.set(self.depth.get() + 1);
        let text = with_stack(|| match meaning {
            Meaning::Name(name) => name.clone(),
            Meaning::Computed(expression) => self.text(expression),
            Meaning::Call(call) => call_text(call, self),
            Meaning::Windowed(window, call) => window_text(&window.keys(), call, self),
            Meaning::RolledUp(key, index) => {
                // Below the grouping the key has its ungrouped meaning.
                let mut below = Scope::new(self.writer, Some(self));
                for (known, meaning) in &self.columns {
                    if !matches!(meaning, Meaning::RolledUp(..)) {
                        below.columns.insert(*known, meaning.clone());
                    }
                }
                format!("rollup_group_item({},{index})", below.text(key))
            }
            Meaning::RolledUpCall(call) => {
                format!("rollup_sum_switcher({})", call_text(call, self))
            }
        });
        self.depth.set(self.depth.get() - 1);
        text
    }

    /// Text of an expression.
    pub(super) fn text(&self, expression: &Expression) -> String {
        expression_text(expression, self)
    }
}

impl Names for Scope<'_> {
    fn column(&self, column: usize) -> String {
        self.text_of(column)
    }

    fn function(&self, name: &str) -> String {
        quoted(name)
    }

    fn window(&self, name: &str) -> String {
        quoted(name)
    }

    fn subquery(&self, subquery: &logical::Subquery) -> Option<String> {
        Some(self.writer.query(
            &subquery.relation,
            &subquery.columns,
            None,
            subquery.select_id,
            Some(self),
        ))
    }
}
