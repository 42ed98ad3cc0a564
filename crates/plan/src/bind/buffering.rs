//! Reasons for which MySQL uses a temporary table in a query block, and its columns.

use mayfly_functions::aggregate::Kind;

use super::buffered::Buffered;
use super::scope::{Item, Scope};
use crate::tree::expression::{Expression, ExpressionKind, same_expression};
use crate::tree::logical::{
    Buffering, ColumnId, expression_is_volatile, has_subquery, is_constant,
};

impl Scope {
    /// Column of a temporary table for an item of the select list.
    pub(super) fn buffered(&self, item: &Item) -> Buffered {
        let expression = &item.expression;
        if self.is_rolled_up(expression) {
            return match self.reads_constants(expression) {
                true => Buffered::Recomputed,
                false => Buffered::Computed,
            };
        }
        if let ExpressionKind::Column(id) = expression.kind {
            return self.buffered_column(id);
        }
        let is_windowed = !self.windows.is_empty();
        let is_known = is_constant(expression) || self.reads_constants(expression);
        if !is_windowed && self.reads_aggregate(expression) || is_known {
            return Buffered::Recomputed;
        }
        Buffered::Computed
    }

    /// Whether an expression is a key of GROUP BY … WITH ROLLUP, whose values are computed.
    fn is_rolled_up(&self, expression: &Expression) -> bool {
        let mut keys = self.group_keys.iter();
        self.rollup && keys.any(|key| same_expression(key, expression))
    }

    /// Whether an item is a rolled-up key, and neither a column of a table nor a constant.
    fn is_rolled_value(&self, item: &Item) -> bool {
        let is_value = match item.expression.kind {
            ExpressionKind::Column(id) => self.is_merged(id),
            _ => !item.expression.columns().is_empty(),
        };
        is_value && self.is_rolled_up(&item.expression)
    }

    /// Whether an expression reads columns, and all of them are constants of merged derived tables.
    fn reads_constants(&self, expression: &Expression) -> bool {
        let columns = expression.columns();
        let is_given = |id| {
            let slot = self.slot_of(id);
            slot.is_some() && self.buffered_column(id) == Buffered::Recomputed
        };
        let is_plain = !has_subquery(expression) && !expression_is_volatile(expression);
        is_plain && !columns.is_empty() && columns.iter().all(is_given)
    }

    /// Reasons for which MySQL may use a temporary table in this query block.
    pub(super) fn buffering(
        &self,
        order: &[&Expression],
        distinct: bool,
        requested: bool,
    ) -> Buffering {
        let keys = &self.group_keys;
        let pairs = order.iter().zip(keys);
        let is_given = order.len() <= keys.len() && !self.rollup;
        let is_given = is_given
            && pairs
                .clone()
                .all(|(key, group)| same_expression(key, group));
        let order: &[&Expression] = if is_given { &[] } else { order };
        let is_late = |expression: &&Expression| {
            let reads_result = self.reads_aggregate(expression) || self.reads_window(expression);
            // A subquery in the select list is evaluated once for each row.
            let is_selected = |item: &Item| same_expression(&item.expression, expression);
            let is_subquery = depends_on_rows(expression) && self.items.iter().any(is_selected);
            reads_result || is_subquery || expression_is_volatile(expression)
        };
        let columns = keys.iter().map(Expression::as_column);
        let is_aggregate = |item: &Item| self.buffered(item) == Buffered::Aggregate;
        let aggregates = self.items.iter().map(is_aggregate);
        let items = self
            .items
            .iter()
            .filter_map(|item| item.expression.as_column());
        Buffering {
            group: read_by(keys.iter()),
            group_columns: columns
                .collect::<Option<Vec<ColumnId>>>()
                .unwrap_or_default(),
            one_group: keys.is_empty() && !self.aggregates.is_empty(),
            rollup: self.rollup,
            aggregates: aggregates.collect(),
            rolled_values: self
                .items
                .iter()
                .map(|item| self.is_rolled_value(item))
                .collect(),
            sorts_groups: self
                .aggregates
                .iter()
                .any(|(_, call)| call.distinct || call.function.is_order_sensitive()),
            distinct,
            selected: items.collect(),
            windowed: !self.windows.is_empty(),
            order: read_by(order.iter().copied()),
            orders_results: order.iter().any(is_late),
            requested,
        }
    }

    fn buffered_column(&self, id: ColumnId) -> Buffered {
        if let Some(slot) = self.slot_of(id) {
            return match self.buffered_at(slot) {
                // A constant of a derived table that an outer join makes NULL.
                Buffered::Recomputed if self.tables[slot.table].null_extended => Buffered::Computed,
                own => own,
            };
        }
        if self.windows.makes(id) {
            return Buffered::Computed;
        }
        let called = self.aggregates.iter().find(|(known, _)| *known == id);
        match called {
            Some((_, call)) if call.function.kind() == Kind::AnyValue => Buffered::Computed,
            Some((_, call)) => {
                let names_column = |argument: &Expression| {
                    let text = match &argument.kind {
                        ExpressionKind::Cast(member, None) if argument.ty.is_string() => &**member,
                        _ => argument,
                    };
                    matches!(text.kind, ExpressionKind::Column(_))
                };
                let is_extreme = matches!(call.function.kind(), Kind::Min | Kind::Max);
                match is_extreme && call.arguments.first().is_some_and(names_column) {
                    true => Buffered::Unchanged,
                    false => Buffered::Aggregate,
                }
            }
            // A column of an outer query block is a constant.
            None => Buffered::Recomputed,
        }
    }
}

/// Columns that each key reads, without keys that read none.
fn read_by<'e>(keys: impl Iterator<Item = &'e Expression>) -> Vec<Vec<ColumnId>> {
    let keys = keys.map(|key| key.columns().iter().collect::<Vec<ColumnId>>());
    keys.filter(|columns| !columns.is_empty()).collect()
}

/// Whether an expression has a subquery and reads columns.
pub(super) fn depends_on_rows(expression: &Expression) -> bool {
    has_subquery(expression) && !expression.columns().is_empty()
}
