//! Facts of a query block: how its groups, its order and its windows could be computed.

use std::ops::ControlFlow;

use mayfly_syntax::ast::{
    Expr, Function, FunctionArguments, OrderByExpr, Select, WindowSpec, WindowType,
    visit_expressions,
};

use super::columns::{Table, Value, Width};
use super::era::EraOptions;
use super::facts::{Fact, Site};
use super::from::{From, Use};
use super::text::{calls, is_constant, is_plain_aggregate, position, strip};

/// Widths of the keys and columns of rows that are sorted.
pub(super) struct SortedRows {
    pub(super) keys: Vec<Width>,
    pub(super) columns: Vec<Width>,
}

/// What the facts of a query block are found from.
pub(super) struct BlockFacts<'f> {
    pub(super) select: &'f Select,
    pub(super) order: &'f [OrderByExpr],
    pub(super) limited: bool,
    pub(super) used: Use,
    pub(super) items: &'f [(String, Value)],
    pub(super) from: &'f From,
    pub(super) options: &'f EraOptions,
}

/// A key of GROUP BY or ORDER BY.
#[derive(Debug, Clone)]
struct Key {
    value: Value,
    text: String,
    descending: bool,
}

impl BlockFacts<'_> {
    fn key(&self, expr: &Expr, descending: bool) -> Option<Key> {
        if let Some(at) = position(expr) {
            let (name, value) = self.items.get(at.checked_sub(1)?)?;
            return Some(Key {
                value: value.clone(),
                text: name.clone(),
                descending,
            });
        }
        if is_constant(expr) {
            return None;
        }
        let of_item = match strip(expr) {
            Expr::Identifier(name) => {
                let mut items = self.items.iter();
                items.find(|(item, _)| item.eq_ignore_ascii_case(&name.value))
            }
            _ => None,
        };
        let value = of_item.map_or_else(|| self.from.names.value(expr), |(_, value)| value.clone());
        Some(Key {
            value,
            text: strip(expr).to_string().to_ascii_lowercase(),
            descending,
        })
    }

    /// Whether an index of the table that is read first gives keys in their order.
    fn index_gives(&self, keys: &[Key], first: Option<usize>, in_order: bool) -> bool {
        let Some(first) = first else {
            return false;
        };
        let mut columns = Vec::with_capacity(keys.len());
        for key in keys {
            match key.value.place {
                Some((table, column)) if table == first => columns.push(column),
                _ => return false,
            }
        }
        if keys
            .windows(2)
            .any(|pair| pair[0].descending != pair[1].descending)
        {
            return false;
        }
        let table = &self.from.names.tables[first];
        let used: Vec<usize> = {
            let names = self
                .from
                .names
                .columns
                .iter()
                .filter(|column| column.is_used);
            let own = names.filter_map(|column| column.value.place);
            own.filter(|(table, _)| *table == first)
                .map(|(_, column)| column)
                .collect()
        };
        table.indexes().any(|index| {
            let parts: Vec<usize> = index.parts.iter().map(|part| part.column).collect();
            let begins = parts.len() >= columns.len()
                && index
                    .parts
                    .iter()
                    .take(columns.len())
                    .all(|part| part.prefix.is_none())
                && match in_order {
                    true => parts[..columns.len()] == columns[..],
                    false => columns
                        .iter()
                        .all(|column| parts[..columns.len()].contains(column)),
                };
            // An index that is read for its order alone must have all columns, or few rows must be wanted.
            let is_cheap =
                !in_order || index.name == "PRIMARY" || self.limited || table.covers(index, &used);
            begins && is_cheap
        })
    }

    /// The site, and the keys and columns of its sort if it sorts rows of tables.
    pub(super) fn site(&self, block: u64) -> (Site, Option<SortedRows>) {
        let (select, era) = (self.select, self.options.era);
        let mut site = Site::new(block, &[Fact::Block]);
        let tables = &self.from.names.tables;
        let first = self.from.first_table(era.looks_up_last());
        let group = &select.group_by.keys;
        let group: Vec<Key> = group
            .iter()
            .filter_map(|expr| self.key(expr, false))
            .collect();
        let is_open = |key: &Key| {
            !key.value
                .place
                .is_some_and(|place| self.from.given.contains(&place))
        };
        let had_groups = !select.group_by.keys.is_empty();
        let group: Vec<Key> = group.into_iter().filter(is_open).collect();
        let descending =
            |key: &OrderByExpr| key.sort == Some(mayfly_syntax::ast::OrderBySort::Desc);
        let order = self
            .order
            .iter()
            .filter_map(|key| self.key(&key.expr, descending(key)));
        let order: Vec<Key> = order.filter(is_open).collect();
        let is_grouped = !group.is_empty();
        let calls_aggregates = calls(&select.projection, is_plain_aggregate)
            || calls(&select.having, is_plain_aggregate)
            || self
                .order
                .iter()
                .any(|key| calls(&key.expr, is_plain_aggregate));
        site.note(
            Fact::OneGroup,
            !is_grouped && (calls_aggregates || had_groups),
        );
        let is_one_row = |table: &Table| matches!(table, Table::Rows { one_row: true });
        site.note(Fact::OneRow, tables.iter().all(is_one_row));
        site.note(Fact::SeveralTables, tables.len() > 1);
        let modifiers = &select.select_modifiers;
        site.note(
            Fact::Buffer,
            modifiers.sql_buffer_result || self.used.buffered,
        );
        site.note(Fact::BigResult, modifiers.sql_big_result);

        let is_by_index = is_grouped && self.index_gives(&group, first, false);
        site.note(Fact::Group, is_grouped);
        site.note(Fact::GroupByIndex, is_by_index);
        let is_contiguous = |call: &Function| {
            let FunctionArguments::List(list) = &call.args else {
                return false;
            };
            let name = call.name.0.first().map_or("", |name| name.value.as_str());
            is_plain_aggregate(call) && (list.distinct || name.eq_ignore_ascii_case("GROUP_CONCAT"))
        };
        let contiguous = select.group_by.with_rollup
            || modifiers.sql_big_result
            || calls(&select.projection, is_contiguous)
            || calls(&select.having, is_contiguous);
        site.note(Fact::ContiguousGroups, contiguous);

        let is_group_order = order.len() <= group.len()
            && order.iter().zip(&group).all(|(key, group)| {
                match (key.value.place, group.value.place) {
                    (Some(a), Some(b)) => a == b,
                    _ => key.text == group.text,
                }
            });
        let is_given =
            is_grouped && is_group_order && (is_by_index || contiguous || era.sorts_groups());
        let has_order =
            !order.is_empty() && !is_given && !site.has(Fact::OneGroup) && !self.used.unordered;
        site.note(Fact::Order, has_order);
        let is_null = !self.order.is_empty() && order.is_empty();
        site.note(Fact::OrderNull, is_null || self.used.unordered);
        site.note(
            Fact::OrderByIndex,
            has_order && !is_grouped && self.index_gives(&order, first, true),
        );
        let sorted = if is_grouped && !has_order {
            &group
        } else {
            &order
        };
        let is_first = |key: &Key| {
            !key.value.aggregate && key.value.tables.iter().all(|table| Some(*table) == first)
        };
        site.note(
            Fact::FirstTableGives,
            first.is_some() && sorted.iter().all(is_first),
        );

        // Groups whose keys are all selected are distinct.
        let is_selected = |key: &Key| {
            let mut items = self.items.iter();
            items.any(|(name, value)| {
                value.place.is_some() && value.place == key.value.place
                    || name.eq_ignore_ascii_case(&key.text)
            })
        };
        let distinct = select.distinct
            && !site.has(Fact::OneGroup)
            && !(is_grouped && group.iter().all(is_selected));
        site.note(Fact::Distinct, distinct);
        site.note(Fact::DistinctByKey, distinct && self.is_distinct_by_key());
        self.windows(&mut site);

        let widths = || self.items.iter().map(|(_, value)| value.width);
        let keys = group.iter().map(|key| key.value.width);
        site.note(
            Fact::HasBlob,
            widths().chain(keys.clone()).any(|width| width.blob),
        );
        let is_wide_item = distinct && widths().any(Width::is_wide);
        site.note(
            Fact::WideKey,
            is_wide_item || keys.clone().any(Width::is_wide),
        );
        site.note(
            Fact::WideValue,
            self.items.iter().any(|(_, value)| value.is_wide),
        );
        let key_widths: Vec<Width> = match (is_grouped, site.has(Fact::Window)) {
            (_, true) => self.window_keys(),
            (true, _) if contiguous && !is_by_index => keys.collect(),
            (true, _) => Vec::new(),
            _ if distinct => Vec::new(),
            _ => order.iter().map(|key| key.value.width).collect(),
        };
        let is_text = |width: &Width| width.blob && !width.binary;
        let sorts_all = !self.limited || key_widths.iter().any(is_text);
        let of_tables = tables.iter().all(|table| table.base().is_some());
        let wide = (sorts_all && of_tables && !key_widths.is_empty()).then(|| SortedRows {
            keys: key_widths,
            columns: widths().collect(),
        });
        (site, wide)
    }

    fn is_distinct_by_key(&self) -> bool {
        let [table] = self.from.names.tables.as_slice() else {
            return false;
        };
        let places: Option<Vec<usize>> = self
            .items
            .iter()
            .map(|(_, value)| Some(value.place?.1))
            .collect();
        let Some(source) = table.base() else {
            return false;
        };
        let is_unique = self.items.iter().filter_map(|(_, value)| value.place);
        let selected: Vec<usize> = is_unique.map(|place| place.1).collect();
        let tells_apart = source
            .unique_keys
            .iter()
            .any(|key| key.iter().all(|column| selected.contains(column)));
        let in_order = places.is_some_and(|columns| {
            table.indexes().any(|index| {
                let parts: Vec<usize> = index.parts.iter().map(|part| part.column).collect();
                parts.len() >= columns.len()
                    && columns
                        .iter()
                        .all(|column| parts[..columns.len()].contains(column))
            })
        });
        tells_apart || in_order
    }

    fn specification<'s>(&'s self, window: &'s WindowType) -> Option<&'s WindowSpec> {
        match window {
            WindowType::WindowSpec(spec) => Some(spec),
            WindowType::NamedWindow(name) => {
                let mut named = self.select.named_window.iter();
                let found = named.find(|window| window.0.value.eq_ignore_ascii_case(&name.value));
                found.map(|window| &window.1)
            }
        }
    }

    fn window_keys(&self) -> Vec<Width> {
        let mut widths = Vec::new();
        let _ = visit_expressions(&self.select.projection, |expr| {
            if let Expr::Function(Function {
                over: Some(window), ..
            }) = expr
                && let Some(spec) = self.specification(window)
            {
                let keys = spec
                    .partition_by
                    .iter()
                    .chain(spec.order_by.iter().map(|key| &key.expr));
                widths.extend(keys.map(|expr| self.from.names.value(expr).width));
            }
            ControlFlow::<()>::Continue(())
        });
        widths
    }

    /// Notes the windows: their number, and those that keep rows of their frames.
    fn windows(&self, site: &mut Site) {
        let mut windows: Vec<(String, bool, bool)> = Vec::new();
        let mut note = |expr: &Expr| {
            let Expr::Function(call) = expr else {
                return ControlFlow::<()>::Continue(());
            };
            let Some(spec) = call
                .over
                .as_ref()
                .and_then(|window| self.specification(window))
            else {
                return ControlFlow::Continue(());
            };
            let name = call.name.0.first().map_or("", |name| name.value.as_str());
            let is_streamed = ["ROW_NUMBER", "RANK", "DENSE_RANK"]
                .iter()
                .any(|streamed| streamed.eq_ignore_ascii_case(name));
            let sorts = !spec.partition_by.is_empty() || !spec.order_by.is_empty();
            let text = format!("{spec:?}");
            match windows.iter_mut().find(|(known, ..)| *known == text) {
                Some((_, buffered, _)) => *buffered |= !is_streamed,
                None => windows.push((text, !is_streamed, sorts)),
            }
            ControlFlow::Continue(())
        };
        let _ = visit_expressions(&self.select.projection, &mut note);
        for key in self.order {
            let _ = visit_expressions(&key.expr, &mut note);
        }
        let count = windows.len() as u64;
        let of = |wanted: fn(&(String, bool, bool)) -> bool| {
            windows.iter().filter(|window| wanted(window)).count() as u64
        };
        site.note(Fact::Window, count > 0);
        site.window_tables = of(|(_, buffered, _)| *buffered) + count.saturating_sub(1);
        site.sorted_windows = of(|(.., sorts)| *sorts);
        site.note(Fact::SortedWindow, site.sorted_windows > 0);
    }
}
