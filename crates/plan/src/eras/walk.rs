//! The walk of a statement's text that finds its sites and their facts.
//!
//! Query blocks have the numbers that MySQL gives them: in the order of their SELECT, those of common table expressions
//! at their first reference. A name that is not known gives no facts, since the statement fails anyway.

use std::ops::ControlFlow;
use std::sync::Arc;

use mayfly_syntax::ast::{
    Delete, Expr, FunctionArg, FunctionArguments, Ident, InsertSource, InsertStatement, ObjectName,
    OrderByExpr, Query, Select, SetExpr, SetOperator, SetQuantifier, Statement, UpdateStatement,
    visit_expressions, visit_relations,
};

use super::block::{BlockFacts, SortedRows};
use super::columns::{Place, Width, call_of, is_aggregate};
use super::era::EraOptions;
use super::facts::{Fact, Site};
use super::from::{From, Rows, Use, rows_of};
use super::text::{is_constant, position};
use crate::catalog::{Catalog, TableSource};
use crate::tree::logical::with_stack;

/// Rows of one group of a sort are at least this wide, whatever their columns.
const TEXT_KEY_CHARACTERS: u32 = 1024;

/// Database and name of a table, as written.
pub(super) type TableName = (Option<String>, String);

/// A common table expression in scope.
pub(super) struct CommonTable<'q> {
    pub(super) name: &'q str,
    pub(super) columns: Vec<String>,
    pub(super) query: &'q Query,
    pub(super) recursive: bool,
    pub(super) materialized: Option<bool>,
    /// Its columns, once it was read.
    pub(super) known: Option<Rows>,
}

/// The walk of one statement.
pub(super) struct Walk<'q> {
    pub(super) catalog: &'q dyn Catalog,
    pub(super) options: &'q EraOptions,
    pub(super) sites: Vec<Site>,
    pub(super) next_block: u64,
    pub(super) common: Vec<CommonTable<'q>>,
    pub(super) in_delete: bool,
    /// Base tables that were looked up.
    pub(super) tables: Vec<(TableName, Arc<TableSource>)>,
    /// Whether a name was not known.
    pub(super) failed: bool,
}

impl<'q> Walk<'q> {
    pub(super) fn new(catalog: &'q dyn Catalog, options: &'q EraOptions) -> Self {
        Self {
            catalog,
            options,
            sites: Vec::new(),
            next_block: 1,
            common: Vec::new(),
            in_delete: false,
            tables: Vec::new(),
            failed: false,
        }
    }

    /// The sites of a statement; `None` for one without query blocks, or with an unknown name.
    pub(super) fn statement(mut self, statement: &'q Statement) -> Option<Vec<Site>> {
        match statement {
            Statement::Query(query) => {
                self.query(query, Use::default());
            }
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update(update) => self.update(update),
            Statement::Delete(delete) => self.delete(delete),
            _ => return None,
        }
        for site in &mut self.sites {
            site.note(Fact::BigTables, self.options.big_tables);
        }
        (!self.failed).then_some(self.sites)
    }

    fn insert(&mut self, insert: &'q InsertStatement) {
        let InsertSource::Query(query) = &insert.source else {
            return;
        };
        let target = &insert.table.name;
        let reads_target = visit_relations(&**query, |name: &ObjectName| {
            match name
                .0
                .last()
                .is_some_and(|name| name.value.eq_ignore_ascii_case(target))
            {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        let buffered = reads_target.is_break();
        self.query(
            query,
            Use {
                buffered,
                ..Use::default()
            },
        );
    }

    fn update(&mut self, update: &'q UpdateStatement) {
        let block = self.new_block();
        let mut from = self.from(&update.tables);
        if let Some(condition) = &update.selection {
            self.condition(condition, &mut from, block);
        }
        if from.names.tables.len() > 1 {
            self.sites.push(Site::new(block, &[Fact::UpdateOfJoin]));
            return;
        }
        let begins_index = |column: usize| {
            let table = from.names.tables.first();
            table.is_some_and(|table| {
                let mut indexes = table.indexes();
                indexes.any(|index| {
                    index
                        .parts
                        .first()
                        .is_some_and(|part| part.column == column)
                })
            })
        };
        let place = |name: &str| from.names.find(None, name)?.value.place;
        let assigned = update
            .assignments
            .iter()
            .filter_map(|assignment| place(&assignment.column.last()?.value));
        let assigned: Vec<Place> = assigned.collect();
        let is_read = |(_, column): &Place| {
            begins_index(*column)
                && update.selection.as_ref().is_some_and(|condition| {
                    visit_expressions(condition, |expr| match from.names.named(expr) {
                        Some(named)
                            if named.value.place.is_some_and(|place| place.1 == *column) =>
                        {
                            ControlFlow::Break(())
                        }
                        _ => ControlFlow::Continue(()),
                    })
                    .is_break()
                })
        };
        if assigned.iter().any(is_read) {
            self.sites.push(Site::new(block, &[Fact::UpdateOfReadKey]));
        }
        if !update.order_by.is_empty() {
            self.sites
                .push(Site::new(block, &[Fact::Block, Fact::Order]));
        }
    }

    fn delete(&mut self, delete: &'q Delete) {
        self.in_delete = true;
        let block = self.new_block();
        let mut from = self.from(&delete.from);
        if let Some(condition) = &delete.selection {
            self.condition(condition, &mut from, block);
        }
        if !delete.order_by.is_empty() {
            self.sites
                .push(Site::new(block, &[Fact::Block, Fact::Order]));
        }
    }

    pub(super) fn new_block(&mut self) -> u64 {
        self.next_block += 1;
        self.next_block - 1
    }

    pub(super) fn query(&mut self, query: &'q Query, used: Use) -> Rows {
        with_stack(|| {
            let before = self.common.len();
            if let Some(with) = &query.with {
                for cte in &with.cte_tables {
                    let columns = cte.alias.columns.iter();
                    self.common.push(CommonTable {
                        name: &cte.alias.name.value,
                        columns: columns.map(|name| name.value.clone()).collect(),
                        query: &cte.query,
                        recursive: with.recursive
                            && visit_relations(&*cte.query, |name: &ObjectName| {
                                match name.0.last() {
                                    Some(last)
                                        if last
                                            .value
                                            .eq_ignore_ascii_case(&cte.alias.name.value) =>
                                    {
                                        ControlFlow::Break(())
                                    }
                                    _ => ControlFlow::Continue(()),
                                }
                            })
                            .is_break(),
                        materialized: cte.materialized,
                        known: None,
                    });
                }
            }
            let limited = query.limit_clause.is_some();
            let rows = self.body(&query.body, (&query.order_by, limited), used);
            self.common.truncate(before);
            rows
        })
    }

    pub(super) fn body(
        &mut self,
        body: &'q SetExpr,
        (order, limited): (&'q [OrderByExpr], bool),
        used: Use,
    ) -> Rows {
        match body {
            SetExpr::Select(select) => self.select(select, (order, limited), used),
            SetExpr::Query(query) if order.is_empty() => self.query(query, used),
            SetExpr::Query(query) => {
                let rows = self.query(query, used);
                self.sites.push(Site::new(
                    0,
                    &[Fact::SetOperation, Fact::UnionAll, Fact::Order],
                ));
                rows
            }
            SetExpr::SetOperation { .. } => self.set_operation(body, (order, limited), used),
            SetExpr::Values(_) => {
                self.new_block();
                Rows::default()
            }
            SetExpr::Table(table) => {
                self.new_block();
                let name = ObjectName(vec![Ident::new(&table.name)]);
                let from = self.table(&name, &table.name);
                rows_of(&from.names)
            }
        }
    }

    fn set_operation(
        &mut self,
        body: &'q SetExpr,
        (order, limited): (&'q [OrderByExpr], bool),
        used: Use,
    ) -> Rows {
        let mut all = true;
        let (mut arms, mut rest) = (Vec::new(), body);
        while let SetExpr::SetOperation {
            op,
            set_quantifier,
            left,
            right,
        } = rest
        {
            all &= *op == SetOperator::Union && *set_quantifier == SetQuantifier::All;
            arms.push(&**right);
            rest = left;
        }
        arms.push(rest);
        let mut result = Rows::default();
        for arm in arms.into_iter().rev() {
            let rows = self.body(arm, (&[], false), Use::default());
            result.rows += rows.rows;
            if result.columns.is_empty() {
                result.columns = rows.columns;
            } else {
                for ((_, known), (_, more)) in result.columns.iter_mut().zip(rows.columns) {
                    known.width.blob |= more.width.blob;
                    known.width.characters = known.width.characters.max(more.width.characters);
                }
            }
        }
        for (_, value) in &mut result.columns {
            (value.place, value.aggregate, value.is_wide) = (None, false, false);
            value.tables.clear();
        }
        let mut site = Site::new(0, &[Fact::SetOperation]);
        let ordered = order
            .iter()
            .any(|key| position(&key.expr).is_some() || !is_constant(&key.expr));
        site.note(Fact::UnionAll, all && !used.buffered);
        site.note(Fact::Order, ordered);
        let widths = result.columns.iter().map(|(_, value)| value.width);
        site.note(Fact::HasBlob, widths.clone().any(|width| width.blob));
        site.note(Fact::WideUnion, widths.clone().any(Width::is_wide));
        let keys: Vec<Width> = widths.clone().collect();
        site.note(
            Fact::WideSort,
            ordered && !limited && all && self.is_wide_sort(&keys, widths, result.rows),
        );
        self.sites.push(site);
        result
    }

    /// Whether a sort of some rows by keys exceeds `sort_buffer_size`.
    fn is_wide_sort(
        &self,
        keys: &[Width],
        columns: impl Iterator<Item = Width>,
        rows: u64,
    ) -> bool {
        let of_key = |width: &Width| match width {
            Width {
                blob: true,
                binary: true,
                ..
            } => 8,
            Width { blob: true, .. } => TEXT_KEY_CHARACTERS,
            width => width.characters,
        };
        let of_column = |width: Width| if width.blob { 8 } else { width.characters };
        let wide: u32 = keys.iter().map(of_key).sum::<u32>() + columns.map(of_column).sum::<u32>();
        let is_narrow = keys.iter().all(|key| of_key(key) < Width::LIMIT);
        !is_narrow && u64::from(wide).saturating_mul(rows) > self.options.sort_buffer_size
    }

    pub(super) fn select(
        &mut self,
        select: &'q Select,
        (order, limited): (&'q [OrderByExpr], bool),
        used: Use,
    ) -> Rows {
        let block = self.new_block();
        let mut from = self.from(&select.from);
        from.used(select, order);
        if let Some(condition) = &select.selection {
            self.condition(condition, &mut from, block);
        }
        let items = self.items(select, &from.names, block);
        if let Some(having) = &select.having {
            self.subqueries(having, &from.names, block, false);
        }
        let facts = BlockFacts {
            select,
            order,
            limited,
            used,
            items: &items,
            from: &from,
            options: self.options,
        };
        let (mut site, sorted) = facts.site(block);
        if let Some(SortedRows { keys, columns }) = sorted {
            let rows = from.rows();
            site.note(
                Fact::WideSort,
                self.is_wide_sort(&keys, columns.into_iter(), rows),
            );
        }
        let groups_once = site.has(Fact::OneGroup);
        self.sites.push(site);
        self.aggregates(select, order, &from, block);
        let rows = from.rows();
        let columns = items.into_iter().map(|(name, mut value)| {
            (value.place, value.aggregate) = (None, false);
            value.tables.clear();
            (name, value)
        });
        Rows {
            columns: columns.collect(),
            one_row: groups_once || select.from.is_empty(),
            rows: rows.max(1),
        }
    }

    /// Sites of aggregates that keep values of their own.
    fn aggregates(
        &mut self,
        select: &'q Select,
        order: &'q [OrderByExpr],
        from: &From,
        block: u64,
    ) {
        let mut sites = Vec::new();
        let mut note = |expr: &Expr| {
            let Some((name, FunctionArguments::List(list))) = call_of(expr) else {
                return ControlFlow::<()>::Continue(());
            };
            if name.eq_ignore_ascii_case("GROUP_CONCAT") {
                sites.push(Site::new(block, &[Fact::GroupConcat]));
            } else if list.distinct && is_aggregate(name) {
                let mut site = Site::new(block, &[Fact::DistinctAggregate]);
                let argument = list.args.first().and_then(|argument| match argument {
                    FunctionArg::Expr(expr) => from.names.named(expr)?.value.place,
                    FunctionArg::Wildcard => None,
                });
                let begins = argument.is_some_and(|(table, column)| {
                    let mut indexes = from.names.tables[table].indexes();
                    indexes.any(|index| {
                        index
                            .parts
                            .first()
                            .is_some_and(|part| part.column == column)
                    })
                });
                let single = from.names.tables.len() == 1 && select.group_by.keys.is_empty();
                site.note(Fact::LooseScan, begins && single);
                sites.push(site);
            }
            ControlFlow::Continue(())
        };
        let _ = visit_expressions(&select.projection, &mut note);
        let _ = visit_expressions(&select.having, &mut note);
        for key in order {
            let _ = visit_expressions(&key.expr, &mut note);
        }
        self.sites.append(&mut sites);
    }
}
