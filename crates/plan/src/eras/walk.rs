//! The walk of a statement's text that finds its sites and their facts.
//!
//! Query blocks have the numbers that MySQL gives them: in the order of their SELECT, those of common table expressions
//! at their first reference. A name that is not known gives no facts, since the statement fails anyway.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use mayfly_syntax::ast::{
    Delete, Expr, Function, FunctionArguments, InsertSource, InsertStatement, JoinConstraint,
    JoinOperator, ObjectName, OrderByExpr, Query, Select, SelectItem, SetExpr, SetOperator,
    SetQuantifier, Statement, TableFactor, TableWithJoins, UnaryOperator, UpdateStatement, Visit,
    WindowSpec, WindowType, visit_expressions, visit_relations,
};

use super::EraOptions;
use super::columns::{Named, Names, Place, Table, Value, Width, call_of, is_aggregate};
use super::facts::{Fact, Site};
use crate::catalog::{Catalog, TableSource};
use crate::tree::logical::with_stack;

/// Rows of one group of a sort are at least this wide, whatever their columns.
const TEXT_KEY_CHARACTERS: u32 = 1024;

/// A common table expression in scope.
struct CommonTable<'q> {
    name: &'q str,
    columns: Vec<String>,
    query: &'q Query,
    recursive: bool,
    materialized: Option<bool>,
    /// Its columns, once it was read.
    known: Option<Rows>,
}

/// Output of a query as a table.
#[derive(Debug, Clone, Default)]
struct Rows {
    columns: Vec<(String, Value)>,
    one_row: bool,
    /// Estimated number of rows.
    rows: u64,
}

/// FROM of a query block.
#[derive(Debug, Default)]
struct From {
    names: Names,
    /// Columns that conditions say to be equal.
    equal: Vec<(Place, Place)>,
    /// Columns that conditions give one value.
    given: Vec<Place>,
    /// Whether there is a LEFT or RIGHT JOIN.
    has_outer_join: bool,
}

/// Use of a query.
#[derive(Debug, Clone, Copy, Default)]
struct Use {
    /// Its rows are buffered.
    buffered: bool,
    /// Their order does not matter.
    unordered: bool,
}

/// The walk of one statement.
pub(super) struct Walk<'q> {
    catalog: &'q dyn Catalog,
    options: &'q EraOptions,
    sites: Vec<Site>,
    next_block: u64,
    common: Vec<CommonTable<'q>>,
    in_delete: bool,
    /// Base tables that were looked up.
    tables: Vec<((Option<String>, String), Arc<TableSource>)>,
    /// Whether a name was not known.
    failed: bool,
}

fn strip(expr: &Expr) -> &Expr {
    match expr {
        Expr::Nested(inner) => strip(inner),
        other => other,
    }
}

/// The position that a key of GROUP BY or ORDER BY is.
fn position(expr: &Expr) -> Option<usize> {
    match strip(expr) {
        Expr::Value(mayfly_syntax::ast::Value::Number(digits)) => digits.parse().ok(),
        _ => None,
    }
}

fn is_constant(expr: &Expr) -> bool {
    matches!(strip(expr), Expr::Value(_))
}

fn calls(node: &dyn Visit, wanted: impl Fn(&Function) -> bool) -> bool {
    visit_expressions(node, |expr| match expr {
        Expr::Function(call) if wanted(call) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    })
    .is_break()
}

fn is_plain_aggregate(call: &Function) -> bool {
    let name = call.name.0.first();
    call.over.is_none() && name.is_some_and(|name| is_aggregate(&name.value))
}

fn has_subquery(node: &dyn Visit) -> bool {
    visit_expressions(node, |expr| match expr {
        Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    })
    .is_break()
}

/// Whether a query block without its FROM gives a row for each of its FROM's.
fn is_plain(select: &Select, query: &Query) -> bool {
    select.group_by.keys.is_empty()
        && select.having.is_none()
        && !select.distinct
        && !select.from.is_empty()
        && query.limit_clause.is_none()
        && !calls(&select.projection, |call| call.over.is_some() || is_plain_aggregate(call))
}

fn block_of(query: &Query) -> Option<&Select> {
    match &*query.body {
        SetExpr::Select(select) => Some(select),
        SetExpr::Query(query) => block_of(query),
        _ => None,
    }
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
            match name.0.last().is_some_and(|name| name.value.eq_ignore_ascii_case(target)) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        let buffered = reads_target.is_break();
        self.query(query, Use { buffered, ..Use::default() });
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
                indexes.any(|index| index.parts.first().is_some_and(|part| part.column == column))
            })
        };
        let place = |name: &str| from.names.find(None, name)?.value.place;
        let assigned = update.assignments.iter().filter_map(|assignment| {
            place(&assignment.column.last()?.value)
        });
        let assigned: Vec<Place> = assigned.collect();
        let is_read = |(_, column): &Place| {
            begins_index(*column)
                && update.selection.as_ref().is_some_and(|condition| {
                    visit_expressions(condition, |expr| match from.names.named(expr) {
                        Some(named) if named.value.place.is_some_and(|place| place.1 == *column) => {
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
            self.sites.push(Site::new(block, &[Fact::Block, Fact::Order]));
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
            self.sites.push(Site::new(block, &[Fact::Block, Fact::Order]));
        }
    }

    fn new_block(&mut self) -> u64 {
        self.next_block += 1;
        self.next_block - 1
    }

    fn query(&mut self, query: &'q Query, used: Use) -> Rows {
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
                                        if last.value.eq_ignore_ascii_case(&cte.alias.name.value) =>
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

    fn body(
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
                self.sites.push(Site::new(0, &[Fact::SetOperation, Fact::UnionAll, Fact::Order]));
                rows
            }
            SetExpr::SetOperation { .. } => self.set_operation(body, (order, limited), used),
            SetExpr::Values(_) => {
                self.new_block();
                Rows::default()
            }
            SetExpr::Table(table) => {
                self.new_block();
                let name = ObjectName(vec![mayfly_syntax::ast::Ident::new(&table.name)]);
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
        let ordered = order.iter().any(|key| position(&key.expr).is_some() || !is_constant(&key.expr));
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
            Width { blob: true, binary: true, .. } => 8,
            Width { blob: true, .. } => TEXT_KEY_CHARACTERS,
            width => width.characters,
        };
        let of_column = |width: Width| if width.blob { 8 } else { width.characters };
        let wide: u32 = keys.iter().map(of_key).sum::<u32>() + columns.map(of_column).sum::<u32>();
        let is_narrow = keys.iter().all(|key| of_key(key) < Width::LIMIT);
        !is_narrow && u64::from(wide).saturating_mul(rows) > self.options.sort_buffer_size
    }

    /// Adds the tables of FROM.
    fn from(&mut self, tables: &'q [TableWithJoins]) -> From {
        let mut from = From::default();
        for item in tables {
            let joined = self.joined(item);
            from.append(joined);
        }
        from
    }

    fn joined(&mut self, item: &'q TableWithJoins) -> From {
        let mut from = self.factor(&item.relation);
        for join in &item.joins {
            let right = self.factor(&join.relation);
            let is_outer = matches!(join.join_operator, JoinOperator::Left(_) | JoinOperator::Right(_));
            if matches!(join.join_operator, JoinOperator::Right(_)) {
                let left = std::mem::replace(&mut from, right);
                from.append(left);
            } else {
                from.append(right);
            }
            from.has_outer_join |= is_outer;
            match join.join_operator.constraint() {
                JoinConstraint::On(condition) => from.note_equalities(condition),
                JoinConstraint::Using(names) => {
                    for name in names {
                        let places = from.names.columns.iter();
                        let places = places.filter(|column| column.name.eq_ignore_ascii_case(&name.value));
                        let places: Vec<Place> = places.filter_map(|column| column.value.place).collect();
                        if let [.., a, b] = places.as_slice() {
                            from.equal.push((*a, *b));
                        }
                    }
                }
                JoinConstraint::Natural | JoinConstraint::None => {}
            }
        }
        from
    }

    fn factor(&mut self, factor: &'q TableFactor) -> From {
        match factor {
            TableFactor::Table { name, alias, .. } => {
                let own = name.0.last().map_or("", |name| name.value.as_str());
                let alias = alias.as_ref().map_or(own, |alias| alias.name.value.as_str());
                self.table(name, alias)
            }
            TableFactor::Derived { subquery, alias, .. } => {
                let name = alias.as_ref().map_or("", |alias| alias.name.value.as_str());
                let columns = alias.iter().flat_map(|alias| &alias.columns);
                let columns: Vec<String> = columns.map(|name| name.value.clone()).collect();
                self.derived(subquery, name, &columns, None)
            }
            TableFactor::NestedJoin { table_with_joins } => self.joined(table_with_joins),
            TableFactor::JsonTable { .. } | TableFactor::Function { .. } => {
                self.failed = true;
                From::default()
            }
        }
    }

    fn table(&mut self, name: &ObjectName, alias: &str) -> From {
        let (database, table) = match name.0.as_slice() {
            [table] => (None, table.value.as_str()),
            [database, table] => (Some(database.value.as_str()), table.value.as_str()),
            _ => return From::default(),
        };
        if database.is_none() {
            if table.eq_ignore_ascii_case("dual") {
                return From::default();
            }
            let found = self.common.iter().rposition(|cte| cte.name.eq_ignore_ascii_case(table));
            if let Some(found) = found {
                return self.common_table(found, alias);
            }
        }
        match self.catalog.view(database, table) {
            Ok(Some(view)) => return self.view(&view, alias),
            Ok(None) => {}
            Err(_) => {
                self.failed = true;
                return From::default();
            }
        }
        let Some(source) = self.base_table(database, table) else {
            self.failed = true;
            return From::default();
        };
        let columns = source.columns.iter().enumerate().filter(|(_, column)| !column.hidden);
        let columns = columns.map(|(at, column)| Named {
            table: alias.to_owned(),
            name: column.name.clone(),
            value: Value {
                place: Some((0, at)),
                tables: vec![0],
                width: Width::of(&column.ty),
                aggregate: false,
                is_wide: false,
            },
            is_used: false,
        });
        From {
            names: Names {
                columns: columns.collect(),
                tables: vec![Table::Base(source.clone())],
            },
            ..From::default()
        }
    }

    /// A base table. It is looked up once: a second reference to a temporary table may be an error.
    fn base_table(&mut self, database: Option<&str>, table: &str) -> Option<Arc<TableSource>> {
        let key = (database.map(str::to_owned), table.to_owned());
        if let Some((_, known)) = self.tables.iter().find(|(known, _)| *known == key) {
            return Some(Arc::clone(known));
        }
        let source = self.catalog.table(database, table).ok()?;
        self.tables.push((key, Arc::clone(&source)));
        Some(source)
    }

    /// A view, whose text is not the statement's: its sites are found by a walk of its own.
    fn view(&mut self, view: &crate::catalog::ViewSource, alias: &str) -> From {
        let mut inner = Walk {
            next_block: self.next_block,
            sites: std::mem::take(&mut self.sites),
            ..Walk::new(self.catalog, self.options)
        };
        let merges = (!view.materialized).then_some(true);
        let from = match merges {
            Some(_) => inner.derived(&view.query, alias, &view.columns, None),
            None => inner.derived(&view.query, alias, &view.columns, Some(true)),
        };
        self.next_block = inner.next_block;
        self.sites = std::mem::take(&mut inner.sites);
        self.failed |= inner.failed;
        from
    }

    fn common_table(&mut self, at: usize, alias: &str) -> From {
        let CommonTable {
            query,
            recursive,
            materialized,
            ..
        } = self.common[at];
        let columns = self.common[at].columns.clone();
        let is_known = self.common[at].known.clone();
        if let Some(known) = is_known.filter(|_| recursive || !self.options.era.copies_common_tables()) {
            return table_of(known, alias);
        }
        // Names behind it are not visible in it, nor it in itself unless it is recursive.
        let behind = self.common.split_off(at + usize::from(recursive));
        let from = if recursive {
            self.recursive(at, query, alias, &columns)
        } else {
            self.derived(query, alias, &columns, materialized)
        };
        self.common.extend(behind);
        let is_table = matches!(from.names.tables.as_slice(), [Table::Rows { .. }]);
        if is_table {
            let columns = from.names.columns.iter();
            let columns = columns.map(|column| (column.name.clone(), column.value.clone()));
            self.common[at].known = Some(Rows {
                columns: columns.collect(),
                one_row: matches!(from.names.tables.as_slice(), [Table::Rows { one_row: true }]),
                rows: 0,
            });
        }
        from
    }

    fn recursive(&mut self, at: usize, query: &'q Query, alias: &str, names: &[String]) -> From {
        let mut all = true;
        let mut seed = &*query.body;
        while let SetExpr::SetOperation { set_quantifier, left, .. } = seed {
            all &= *set_quantifier == SetQuantifier::All;
            seed = left;
        }
        let mut rows = self.body(seed, (&[], false), Use::default());
        for ((name, _), given) in rows.columns.iter_mut().zip(names) {
            name.clone_from(given);
        }
        (rows.one_row, rows.rows) = (false, 0);
        self.common[at].known = Some(rows.clone());
        let mut site = Site::new(0, &[Fact::Recursive]);
        site.note(Fact::UnionAll, all);
        site.note(Fact::HasBlob, rows.columns.iter().any(|(_, value)| value.width.blob));
        self.sites.push(site);
        table_of(rows, alias)
    }

    /// A derived table. `materialized` is said by the statement, or by the view.
    fn derived(
        &mut self,
        query: &'q Query,
        alias: &str,
        names: &[String],
        materialized: Option<bool>,
    ) -> From {
        let merges_all = self.options.era.merges() && self.options.derived_merge;
        if let Some(select) = block_of(query)
            && materialized != Some(true)
            && merges_all
            && query.with.is_none()
            && is_plain(select, query)
            && (self.options.era.merges_selected_subqueries() || !has_subquery(&select.projection))
        {
            let block = self.new_block();
            let mut from = self.from(&select.from);
            if let Some(condition) = &select.selection {
                self.condition(condition, &mut from, block);
            }
            let mut columns = self.items(select, &from.names, block);
            for ((name, _), given) in columns.iter_mut().zip(names) {
                name.clone_from(given);
            }
            let columns = columns.into_iter().map(|(name, value)| Named {
                table: alias.to_owned(),
                name,
                value,
                is_used: false,
            });
            from.names.columns = columns.collect();
            return from;
        }
        let mut rows = self.query(query, Use::default());
        for ((name, _), given) in rows.columns.iter_mut().zip(names) {
            name.clone_from(given);
        }
        let mut site = Site::new(0, &[Fact::Derived]);
        site.note(Fact::HasBlob, rows.columns.iter().any(|(_, value)| value.width.blob));
        site.note(Fact::WideValue, rows.columns.iter().any(|(_, value)| value.is_wide));
        self.sites.push(site);
        table_of(rows, alias)
    }

    /// Notes the equalities of a condition, and its subqueries.
    fn condition(&mut self, condition: &'q Expr, from: &mut From, block: u64) {
        from.note_equalities(condition);
        self.subqueries(condition, &from.names, block, true);
    }

    /// Names and values of the select list.
    fn items(&mut self, select: &'q Select, names: &Names, block: u64) -> Vec<(String, Value)> {
        let mut items = Vec::new();
        for item in &select.projection {
            match item {
                SelectItem::Wildcard => {
                    let columns = names.columns.iter();
                    items.extend(columns.map(|column| (column.name.clone(), column.value.clone())));
                }
                SelectItem::QualifiedWildcard(table) => {
                    let table = table.0.last().map_or("", |name| name.value.as_str());
                    let columns = names.columns.iter();
                    let own = columns.filter(|column| column.table.eq_ignore_ascii_case(table));
                    items.extend(own.map(|column| (column.name.clone(), column.value.clone())));
                }
                SelectItem::UnnamedExpr(expr) => {
                    let name = names.named(expr).map_or("", |column| column.name.as_str());
                    let value = self.item(select, expr, names, block);
                    items.push((name.to_owned(), value));
                }
                SelectItem::ExprWithAlias { expr, alias, .. } => {
                    let value = self.item(select, expr, names, block);
                    items.push((alias.value.clone(), value));
                }
            }
        }
        items
    }

    /// The value of an item of the select list.
    fn item(&mut self, select: &'q Select, expr: &'q Expr, names: &Names, block: u64) -> Value {
        let mut value = names.value(expr);
        let Expr::Subquery(query) = strip(expr) else {
            self.subqueries(expr, names, block, false);
            return value;
        };
        let uncorrelated = !self.is_correlated(query, names);
        let rows = self.query(query, Use::default());
        if let Some((_, first)) = rows.columns.first() {
            value.width = first.width;
            value.is_wide = first.width.is_wide();
        }
        // The values of a few columns are kept for the groups.
        if !select.group_by.keys.is_empty() && !value.is_wide && !value.width.blob {
            let mut site = Site::new(block, &[Fact::ScalarSubquery]);
            site.note(Fact::Uncorrelated, uncorrelated);
            self.sites.push(site);
        }
        value
    }

    /// Adds the sites of the subqueries of an expression, of which `is_condition` is the top level of a condition.
    fn subqueries(&mut self, expr: &'q Expr, outer: &Names, block: u64, is_condition: bool) {
        let expr = strip(expr);
        if is_condition {
            if let Expr::BinaryOp {
                left,
                op: mayfly_syntax::ast::BinaryOperator::And,
                right,
            } = expr
            {
                with_stack(|| {
                    self.subqueries(left, outer, block, true);
                    self.subqueries(right, outer, block, true);
                });
                return;
            }
            let (inner, negation) = match expr {
                Expr::UnaryOp {
                    op: UnaryOperator::Not,
                    expr,
                } => (strip(expr), true),
                other => (other, false),
            };
            match inner {
                Expr::InSubquery { subquery, negated, .. } | Expr::Exists { subquery, negated } => {
                    self.membership(subquery, *negated != negation, outer, block);
                    return;
                }
                _ => {}
            }
        }
        let mut inside: HashSet<*const Expr> = HashSet::new();
        let mut found: Vec<(&'q Query, bool)> = Vec::new();
        let mut collect = |inner: &'q Expr| match inner {
            Expr::Subquery(query) => found.push((query, true)),
            Expr::InSubquery { subquery, .. } | Expr::Exists { subquery, .. } => {
                found.push((subquery, false));
            }
            _ => {}
        };
        each_outside_of_subqueries(expr, &mut inside, &mut collect);
        for (query, is_scalar) in found {
            if is_scalar {
                self.scalar(query, outer, block);
            } else {
                self.query(query, Use { unordered: true, ..Use::default() });
            }
        }
    }

    fn scalar(&mut self, query: &'q Query, outer: &Names, block: u64) {
        let uncorrelated = !self.is_correlated(query, outer);
        self.query(query, Use::default());
        let mut site = Site::new(block, &[Fact::ScalarSubquery]);
        site.note(Fact::Uncorrelated, uncorrelated);
        self.sites.push(site);
    }

    /// A subquery of IN or EXISTS at the top of a condition.
    fn membership(&mut self, query: &'q Query, negated: bool, outer: &Names, block: u64) {
        let uncorrelated = !self.is_correlated(query, outer);
        let own = self.next_block;
        let before = self.sites.len();
        self.query(query, Use { unordered: true, ..Use::default() });
        let kind = match block_of(query) {
            _ if negated => Fact::NotInSubquery,
            None => Fact::UnionInSubquery,
            Some(select) if is_plain(select, query) => {
                // It becomes a join: its own order and duplicates do not matter.
                let mut at = 0;
                self.sites.retain(|site| {
                    at += 1;
                    at <= before || site.block != own || !site.has(Fact::Block)
                });
                Fact::InSubquery
            }
            Some(_) => Fact::GroupedInSubquery,
        };
        let mut site = Site::new(block, &[kind]);
        site.note(Fact::Uncorrelated, uncorrelated);
        site.note(Fact::InDelete, self.in_delete);
        site.note(Fact::InnerIndex, self.reads_by_index(query));
        if let [table] = outer.tables.as_slice() {
            site.note(Fact::OuterCovered, table.is_covered(&outer.used()));
        }
        self.sites.push(site);
    }

    /// The names of a query's FROM, without its sites.
    fn names_of(&mut self, query: &'q Query) -> Option<Names> {
        let select = block_of(query)?;
        let (sites, next) = (self.sites.len(), self.next_block);
        let from = self.from(&select.from);
        self.sites.truncate(sites);
        self.next_block = next;
        Some(from.names)
    }

    fn is_correlated(&mut self, query: &'q Query, outer: &Names) -> bool {
        let Some(names) = self.names_of(query) else {
            return false;
        };
        let reads_outer = |expr: &Expr| names.named(expr).is_none() && outer.named(expr).is_some();
        visit_expressions(query, |expr| match reads_outer(expr) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
        .is_break()
    }

    /// Whether the column that a subquery compares begins an index.
    fn reads_by_index(&mut self, query: &'q Query) -> bool {
        let Some(names) = self.names_of(query) else {
            return false;
        };
        let begins = |expr: &Expr| {
            let place = names.named(expr).and_then(|column| column.value.place);
            place.is_some_and(|(table, column)| {
                let mut indexes = names.tables[table].indexes();
                indexes.any(|index| index.parts.first().is_some_and(|part| part.column == column))
            })
        };
        let Some(select) = block_of(query) else {
            return false;
        };
        let is_item = select.projection.iter().any(|item| match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => begins(expr),
            _ => false,
        });
        is_item
            || select.selection.as_ref().is_some_and(|condition| {
                visit_expressions(condition, |expr| match begins(expr) {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                })
                .is_break()
            })
    }

    fn select(
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
        let (site, wide) = facts.site(block);
        let mut site = site;
        if let Some((keys, columns)) = wide {
            let rows = from.rows();
            site.note(Fact::WideSort, self.is_wide_sort(&keys, columns.into_iter(), rows));
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
    fn aggregates(&mut self, select: &'q Select, order: &'q [OrderByExpr], from: &From, block: u64) {
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
                    mayfly_syntax::ast::FunctionArg::Expr(expr) => from.names.named(expr)?.value.place,
                    mayfly_syntax::ast::FunctionArg::Wildcard => None,
                });
                let begins = argument.is_some_and(|(table, column)| {
                    let mut indexes = from.names.tables[table].indexes();
                    indexes.any(|index| index.parts.first().is_some_and(|part| part.column == column))
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

/// Calls a function with the expressions of a tree that are not in its subqueries.
fn each_outside_of_subqueries<'q>(
    expr: &'q Expr,
    inside: &mut HashSet<*const Expr>,
    each: &mut dyn FnMut(&'q Expr),
) {
    // The walk has no way to leave a part out, so what is inside is noted first.
    let _ = visit_expressions(expr, |found| {
        if inside.contains(&std::ptr::from_ref(found)) {
            return ControlFlow::<()>::Continue(());
        }
        let query: Option<&Query> = match found {
            Expr::Subquery(query) => Some(query),
            Expr::InSubquery { subquery, .. } | Expr::Exists { subquery, .. } => Some(subquery),
            _ => None,
        };
        if let Some(query) = query {
            let _ = visit_expressions(query, |inner| {
                inside.insert(std::ptr::from_ref(inner));
                ControlFlow::<()>::Continue(())
            });
        }
        ControlFlow::Continue(())
    });
    expr_tree(expr, inside, each);
}

/// Calls a function with the subqueries of a tree, except those in other ones.
fn expr_tree<'q>(expr: &'q Expr, inside: &HashSet<*const Expr>, each: &mut dyn FnMut(&'q Expr)) {
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        if inside.contains(&std::ptr::from_ref(expr)) {
            continue;
        }
        each(expr);
        match expr {
            Expr::Nested(inner)
            | Expr::UnaryOp { expr: inner, .. }
            | Expr::IsNull(inner)
            | Expr::IsNotNull(inner)
            | Expr::IsTrue(inner)
            | Expr::IsNotTrue(inner)
            | Expr::IsFalse(inner)
            | Expr::IsNotFalse(inner)
            | Expr::Cast { expr: inner, .. }
            | Expr::Convert { expr: inner, .. }
            | Expr::Collate { expr: inner, .. }
            | Expr::InSubquery { expr: inner, .. } => open.push(inner),
            Expr::BinaryOp { left, right, .. }
            | Expr::AnyOp { left, right, .. }
            | Expr::AllOp { left, right, .. } => open.extend([&**right, &**left]),
            Expr::Between { expr, low, high, .. } => open.extend([&**high, &**low, &**expr]),
            Expr::InList { expr, list, .. } => {
                open.extend(list);
                open.push(expr);
            }
            Expr::Like { expr, pattern, .. } | Expr::RLike { expr, pattern, .. } => {
                open.extend([&**pattern, &**expr]);
            }
            Expr::Tuple(list) => open.extend(list),
            Expr::Case { operand, conditions, else_result } => {
                open.extend(operand.iter().chain(else_result).map(|expr| &**expr));
                for case in conditions {
                    open.extend([&case.condition, &case.result]);
                }
            }
            Expr::Function(call) => {
                if let FunctionArguments::List(list) = &call.args {
                    open.extend(list.args.iter().filter_map(|argument| match argument {
                        mayfly_syntax::ast::FunctionArg::Expr(expr) => Some(expr),
                        mayfly_syntax::ast::FunctionArg::Wildcard => None,
                    }));
                }
            }
            _ => {}
        }
    }
}

fn table_of(rows: Rows, alias: &str) -> From {
    let columns = rows.columns.into_iter().enumerate().map(|(at, (name, value))| Named {
        table: alias.to_owned(),
        name,
        value: Value {
            place: Some((0, at)),
            tables: vec![0],
            width: value.width,
            aggregate: false,
            is_wide: false,
        },
        is_used: false,
    });
    From {
        names: Names {
            columns: columns.collect(),
            tables: vec![Table::Rows { one_row: rows.one_row }],
        },
        ..From::default()
    }
}

fn rows_of(names: &Names) -> Rows {
    let columns = names.columns.iter();
    Rows {
        columns: columns.map(|column| (column.name.clone(), column.value.clone())).collect(),
        ..Rows::default()
    }
}

impl Names {
    /// Columns of the single table that the query block reads.
    fn used(&self) -> Vec<usize> {
        let used = self.columns.iter().filter(|column| column.is_used);
        used.filter_map(|column| Some(column.value.place?.1)).collect()
    }
}

impl From {
    fn append(&mut self, mut right: Self) {
        let by = self.names.tables.len();
        let shift = |(table, column): Place| (table + by, column);
        for column in &mut right.names.columns {
            column.value.place = column.value.place.map(shift);
            column.value.tables.iter_mut().for_each(|table| *table += by);
        }
        let equal = right.equal.into_iter();
        self.equal.extend(equal.map(|(a, b)| (shift(a), shift(b))));
        self.given.extend(right.given.into_iter().map(shift));
        self.names.tables.append(&mut right.names.tables);
        self.names.columns.append(&mut right.names.columns);
        self.has_outer_join |= right.has_outer_join;
    }

    /// Marks the columns that a query block reads.
    fn used(&mut self, select: &Select, order: &[OrderByExpr]) {
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
            matches!(item, SelectItem::Wildcard | SelectItem::QualifiedWildcard(_))
        });
        for column in &mut self.names.columns {
            column.is_used |=
                stars || used.iter().any(|(table, name)| *table == column.table && *name == column.name);
        }
    }

    fn note_equalities(&mut self, condition: &Expr) {
        let mut open = vec![condition];
        while let Some(expr) = open.pop() {
            match strip(expr) {
                Expr::BinaryOp {
                    left,
                    op: mayfly_syntax::ast::BinaryOperator::And,
                    right,
                } => open.extend([&**left, &**right]),
                Expr::BinaryOp {
                    left,
                    op: mayfly_syntax::ast::BinaryOperator::Eq,
                    right,
                } => {
                    let place = |expr| self.names.named(expr).and_then(|column| column.value.place);
                    let is_value = |expr: &Expr| matches!(strip(expr), Expr::Value(_) | Expr::Subquery(_));
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
    fn rows(&self) -> u64 {
        let tables = self.names.tables.iter().filter_map(Table::base);
        tables.map(|table| table.row_count).max().unwrap_or(0)
    }

    /// Whether an equality with another table leads to the first part of an index of a table.
    fn is_looked_up(&self, table: usize, unique: bool) -> bool {
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
    fn first_table(&self, looks_up_last: bool) -> Option<usize> {
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
                others.all(|table| self.is_looked_up(table, false)).then_some(0)
            }
        }
    }
}

/// What the facts of a query block are found from.
struct BlockFacts<'f> {
    select: &'f Select,
    order: &'f [OrderByExpr],
    limited: bool,
    used: Use,
    items: &'f [(String, Value)],
    from: &'f From,
    options: &'f EraOptions,
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
        if keys.windows(2).any(|pair| pair[0].descending != pair[1].descending) {
            return false;
        }
        let table = &self.from.names.tables[first];
        let used: Vec<usize> = {
            let names = self.from.names.columns.iter().filter(|column| column.is_used);
            let own = names.filter_map(|column| column.value.place);
            own.filter(|(table, _)| *table == first).map(|(_, column)| column).collect()
        };
        table.indexes().any(|index| {
            let parts: Vec<usize> = index.parts.iter().map(|part| part.column).collect();
            let begins = parts.len() >= columns.len()
                && index.parts.iter().take(columns.len()).all(|part| part.prefix.is_none())
                && match in_order {
                    true => parts[..columns.len()] == columns[..],
                    false => columns.iter().all(|column| parts[..columns.len()].contains(column)),
                };
            // An index that is read for its order alone must have all columns, or few rows must be wanted.
            let is_cheap = !in_order
                || index.name == "PRIMARY"
                || self.limited
                || table.covers(index, &used);
            begins && is_cheap
        })
    }

    /// The site, and the keys and columns of its sort if it sorts rows of tables.
    fn site(&self, block: u64) -> (Site, Option<(Vec<Width>, Vec<Width>)>) {
        let (select, era) = (self.select, self.options.era);
        let mut site = Site::new(block, &[Fact::Block]);
        let tables = &self.from.names.tables;
        let first = self.from.first_table(era.looks_up_last());
        let group = &select.group_by.keys;
        let group: Vec<Key> = group.iter().filter_map(|expr| self.key(expr, false)).collect();
        let is_open = |key: &Key| !key.value.place.is_some_and(|place| self.from.given.contains(&place));
        let had_groups = !select.group_by.keys.is_empty();
        let group: Vec<Key> = group.into_iter().filter(is_open).collect();
        let descending = |key: &OrderByExpr| key.sort == Some(mayfly_syntax::ast::OrderBySort::Desc);
        let order = self.order.iter().filter_map(|key| self.key(&key.expr, descending(key)));
        let order: Vec<Key> = order.filter(is_open).collect();
        let is_grouped = !group.is_empty();
        let calls_aggregates = calls(&select.projection, is_plain_aggregate)
            || calls(&select.having, is_plain_aggregate)
            || self.order.iter().any(|key| calls(&key.expr, is_plain_aggregate));
        site.note(Fact::OneGroup, !is_grouped && (calls_aggregates || had_groups));
        let is_one_row = |table: &Table| matches!(table, Table::Rows { one_row: true });
        site.note(Fact::OneRow, tables.iter().all(is_one_row));
        site.note(Fact::SeveralTables, tables.len() > 1);
        let modifiers = &select.select_modifiers;
        site.note(Fact::Buffer, modifiers.sql_buffer_result || self.used.buffered);
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
            && order.iter().zip(&group).all(|(key, group)| match (key.value.place, group.value.place) {
                (Some(a), Some(b)) => a == b,
                _ => key.text == group.text,
            });
        let is_given = is_grouped
            && is_group_order
            && (is_by_index || contiguous || era.sorts_groups());
        let has_order = !order.is_empty() && !is_given && !site.has(Fact::OneGroup) && !self.used.unordered;
        site.note(Fact::Order, has_order);
        let is_null = !self.order.is_empty() && order.is_empty();
        site.note(Fact::OrderNull, is_null || self.used.unordered);
        site.note(Fact::OrderByIndex, has_order && !is_grouped && self.index_gives(&order, first, true));
        let sorted = if is_grouped && !has_order { &group } else { &order };
        let is_first = |key: &Key| !key.value.aggregate && key.value.tables.iter().all(|table| Some(*table) == first);
        site.note(Fact::FirstTableGives, first.is_some() && sorted.iter().all(is_first));

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
        site.note(Fact::HasBlob, widths().chain(keys.clone()).any(|width| width.blob));
        let is_wide_item = distinct && widths().any(Width::is_wide);
        site.note(Fact::WideKey, is_wide_item || keys.clone().any(Width::is_wide));
        site.note(Fact::WideValue, self.items.iter().any(|(_, value)| value.is_wide));
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
        let wide = (sorts_all && of_tables && !key_widths.is_empty())
            .then(|| (key_widths, widths().collect()));
        (site, wide)
    }

    fn is_distinct_by_key(&self) -> bool {
        let [table] = self.from.names.tables.as_slice() else {
            return false;
        };
        let places: Option<Vec<usize>> =
            self.items.iter().map(|(_, value)| Some(value.place?.1)).collect();
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
                    && columns.iter().all(|column| parts[..columns.len()].contains(column))
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
            if let Expr::Function(Function { over: Some(window), .. }) = expr
                && let Some(spec) = self.specification(window)
            {
                let keys = spec.partition_by.iter().chain(spec.order_by.iter().map(|key| &key.expr));
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
            let Some(spec) = call.over.as_ref().and_then(|window| self.specification(window)) else {
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
