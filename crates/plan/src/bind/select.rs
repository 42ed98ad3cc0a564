//! Query blocks: SELECT with all clauses up to LIMIT.

use std::sync::Arc;

use mayfly_functions::FunctionRef;
use mayfly_functions::scalar::Fact;
use mayfly_syntax::ast::{Expr, ObjectName, OrderByExpr, Select, SelectItem};
use mayfly_types::error::codes;
use mayfly_types::sql_type::DECIMALS_NOT_FIXED;
use mayfly_types::{Result, SqlMode, TypeKind};

use super::buffered::Buffered;
use super::buffering::depends_on_rows;
use super::collation::{apart, claim, unclaimed};
use super::expression::{bare, calls_aggregates, compound_name, is_descending, position_of};
use super::query::{Tail, column_of_item, has_calc_found_rows};
use super::scope::{Clause, ColumnSlot, Item, Name, Scope};
use super::types::{as_value, client_type};
use crate::bind::binder::Binder;
use crate::bind::block::{Block, BlockColumn};
use crate::not_supported::not_supported;
use crate::predicates::conjuncts;
use crate::tree::expression::{Expression, ExpressionKind, same_expression};
use crate::tree::logical::{Aggregate, ColumnId, ColumnSet, Computed, Relation, visit_expression};
use crate::tree::physical::{ClientType, Purpose, SortKey, TemporaryTable};

/// A key of ORDER BY.
pub(super) struct OrderKey {
    pub(super) expression: Expression,
    pub(super) descending: bool,
    /// Select item that it names.
    pub(super) item: Option<usize>,
}

impl Binder<'_> {
    pub(super) fn bind_select(&mut self, select: &Select, tail: Tail<'_>) -> Result<Block> {
        let select_id = self.new_select();
        if select_id > 1 && has_calc_found_rows(select) {
            return Err(codes::ER_CANT_USE_OPTION_HERE.with(&[&"SQL_CALC_FOUND_ROWS"]));
        }
        self.scopes.push(Scope::new(Clause::From, select_id));
        let block = self.bind_select_in_scope(select, tail, select_id);
        self.scopes.pop();
        block
    }

    fn bind_select_in_scope(
        &mut self,
        select: &Select,
        tail: Tail<'_>,
        select_id: usize,
    ) -> Result<Block> {
        let ignores_distinct = std::mem::take(&mut self.ignores_distinct);
        let straight = select.select_modifiers.straight_join;
        self.take_index_hints(&select.optimizer_hints, select_id);
        let straight = straight | std::mem::take(&mut self.fixed_order);
        let mut relation = self.bind_from(&select.from, straight)?;
        self.end_index_hints(select_id);
        if let Some(selection) = &select.selection {
            self.scope().clause = Clause::Where;
            let predicate = self.bind_condition(selection)?;
            let predicates = conjuncts(predicate);
            self.note_selection(&predicates);
            relation = relation.filtered(predicates);
        }
        self.scope().rollup = select.group_by.with_rollup;
        self.scope().one_group = makes_one_group(select, tail.order_by);

        self.scope().windows.allowed = true;
        self.bind_named_windows(&select.named_window)?;
        self.scope().clause = Clause::FieldList;
        self.bind_items(&select.projection)?;
        self.scope().clause = Clause::GroupBy;
        let keys = self.bind_group_keys(&select.group_by.keys)?;
        self.scope().group_keys = keys;
        let having = match &select.having {
            Some(having) => {
                self.scope().clause = Clause::Having;
                Some(self.bind_predicate(having)?)
            }
            None => None,
        };
        self.scope().clause = Clause::OrderBy;
        let mut order = self.bind_order_keys(tail.order_by)?;
        if self.options.sorts_groups && tail.order_by.is_empty() && !select.distinct {
            order = self.order_of_groups();
        }
        if select.group_by.several_sets {
            return Err(self.no_secondary_engine());
        }

        let distinct = select.distinct && !ignores_distinct;
        let buffer = select.select_modifiers.sql_buffer_result
            || self.options.sql_buffer_result && select_id == 1;
        self.assemble(Parts {
            relation,
            having,
            order,
            distinct,
            buffer,
            limit: tail.limit,
            select_id,
        })
    }

    /// The keys of GROUP BY as those of ORDER BY.
    fn order_of_groups(&mut self) -> Vec<OrderKey> {
        let keys = self.scope().group_keys.iter();
        keys.filter(|key| !matches!(key.kind, ExpressionKind::Literal(_)))
            .map(|key| OrderKey {
                expression: key.clone(),
                descending: false,
                item: None,
            })
            .collect()
    }

    /// Error 3889: grouping that needs a secondary engine.
    fn no_secondary_engine(&mut self) -> mayfly_types::Error {
        let mut tables = self.scope().tables.iter();
        let named = tables.find_map(|table| {
            let database = table.database.as_ref()?;
            Some(format!(" [{database}.{}]", table.alias))
        });
        let reason = format!(
            "Reason: \"You have not defined the secondary engine for at least one of the query tables{}.\".",
            named.unwrap_or_default()
        );
        codes::ER_SECONDARY_ENGINE.with(&[&reason])
    }

    /// Assembles the bound parts of a query block.
    fn assemble(&mut self, parts: Parts) -> Result<Block> {
        let Parts {
            mut relation,
            mut having,
            mut order,
            distinct,
            buffer,
            limit,
            select_id,
        } = parts;
        let keys = order.iter_mut().map(|key| &mut key.expression);
        self.dissolve_any_values(having.iter_mut().chain(keys));
        let scope = self.scope();
        let keys: Vec<&Expression> = order.iter().map(|key| &key.expression).collect();
        let buffering = scope.buffering(&keys, distinct, buffer);
        let buffered: Vec<Buffered> = scope
            .items
            .iter()
            .map(|item| scope.buffered(item))
            .collect();
        let kept = scope
            .items
            .iter()
            .any(|item| depends_on_rows(&item.expression));
        let grouped = {
            let scope = self.scope();
            !scope.group_keys.is_empty() || !scope.aggregates.is_empty()
        };
        let windowed = !self.scope().windows.is_empty();
        let scope = self.scope();
        if scope.group_keys.is_empty() && !scope.groupings.is_empty() {
            return Err(codes::ER_INVALID_GROUP_FUNC_USE.error());
        }
        if grouped {
            if distinct {
                self.check_distinct_order(&order)?;
            }
            relation = self.group(relation, having.as_mut(), &mut order)?;
            // A single row has only one order.
            if self.scope().group_keys.is_empty() {
                order.clear();
            }
        }
        if let Some(having) = having {
            relation = relation.filtered(conjuncts(having));
        }
        relation = self.put_windows(relation);
        let has_tables = !self.scope().tables.is_empty();
        let mut items = self.scope().items.iter();
        let assigns = items.any(|item| sets_variable(&item.expression));
        let unique_keys = self.unique_keys(grouped, distinct);

        // Items that ORDER BY or DISTINCT needs are computed first, the others as late as possible.
        let items = std::mem::take(&mut self.scope().items);
        let ids: Vec<ColumnId> = items
            .iter()
            .map(|item| match item.expression.kind {
                ExpressionKind::Column(id) if !self.is_of_outer_query(id) => id,
                _ => self.new_column(),
            })
            .collect();
        let mut early = vec![distinct; items.len()];
        for key in &mut order {
            let item = key.item.or_else(|| {
                items
                    .iter()
                    .position(|item| same_expression(&item.expression, &key.expression))
            });
            if let Some(item) = item {
                early[item] = true;
                key.expression = Expression::column(
                    ids[item],
                    items[item].expression.ty.clone(),
                    items[item].expression.nullable,
                );
            }
            key.item = item;
        }
        if order.is_empty() {
            early.fill(true);
        }
        let mut columns = Vec::with_capacity(items.len());
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let items = items.into_iter().zip(buffered);
        for (((item, buffered), id), early) in items.zip(&ids).zip(early) {
            if !matches!(item.expression.kind, ExpressionKind::Column(own) if own == *id) {
                let target = if early { &mut first } else { &mut second };
                target.push(Computed {
                    id: *id,
                    expression: item.expression.clone(),
                });
            }
            columns.push(column_of_item(item, *id, buffered));
        }
        relation = relation.extended(first);
        if distinct {
            relation = self.distinct(relation, &columns, &mut order)?;
        }
        if !order.is_empty() {
            let keys = order.into_iter().map(|key| SortKey {
                expression: key.expression,
                descending: key.descending,
            });
            relation = relation.sorted(keys.collect());
        }
        if let Some((offset, count)) = limit {
            relation = relation.limited(offset, count);
        }
        relation = relation.extended(second);
        if buffer {
            relation = Relation::Materialize {
                input: Box::new(relation),
                temporary: TemporaryTable::new(Purpose::Buffer, "SQL_BUFFER_RESULT"),
            };
        }
        if grouped || distinct || windowed {
            columns.iter_mut().for_each(BlockColumn::copy);
        }
        Ok(Block {
            relation,
            columns,
            select_id,
            mergeable: !grouped
                && !windowed
                && !distinct
                && limit.is_none()
                && has_tables
                && !buffer
                && !assigns,
            kept,
            buffering,
            unique_keys,
        })
    }

    pub(super) fn bind_items(&mut self, projection: &[SelectItem]) -> Result<()> {
        for written in projection {
            match written {
                SelectItem::Wildcard => {
                    if self.scope().tables.is_empty() {
                        return Err(codes::ER_NO_TABLES_USED.error());
                    }
                    let slots = self.scope().wildcard();
                    self.check_read_all(&slots)?;
                    self.add_slots(&slots);
                }
                SelectItem::QualifiedWildcard(name) => {
                    let slots = self.qualified_wildcard(name)?;
                    self.check_read_all(&slots)?;
                    self.add_slots(&slots);
                }
                SelectItem::UnnamedExpr(expr) => {
                    let name = match bare(expr) {
                        Expr::Identifier(ident) => ident.value.clone(),
                        Expr::CompoundIdentifier(parts) => parts
                            .last()
                            .map_or_else(String::new, |part| part.value.clone()),
                        other => other.to_string(),
                    };
                    self.add_item(expr, name)?;
                    self.scope().name_item_of_system_view();
                }
                SelectItem::ExprWithAlias { expr, alias, .. } => {
                    self.add_item(expr, alias.value.clone())?;
                }
            }
        }
        Ok(())
    }

    fn qualified_wildcard(&mut self, name: &ObjectName) -> Result<Vec<ColumnSlot>> {
        let mut parts = name.0.iter();
        let (database, table) = match (parts.next(), parts.next()) {
            (Some(database), Some(table)) => (Some(database.value.as_str()), &table.value),
            (Some(table), None) => (None, &table.value),
            _ => return Err(not_supported(&name.to_string())),
        };
        self.scope()
            .table_wildcard(database, table)
            .ok_or_else(|| codes::ER_BAD_TABLE_ERROR.with(&[table]))
    }

    fn add_slots(&mut self, slots: &[ColumnSlot]) {
        let scope = self.scope();
        scope.items.reserve(slots.len());
        for slot in slots {
            let item = Item {
                name: scope.tables[slot.table].name(slot.column).to_owned(),
                expression: scope.column(*slot),
                column: Some(*slot),
                origin: scope.origin(*slot),
                client_type: scope.client_type_at(*slot),
                claim: scope.tables[slot.table].claim(slot.column),
            };
            scope.items.push(item);
        }
    }

    fn add_item(&mut self, expr: &Expr, name: String) -> Result<()> {
        let expression = as_value(self.bind_expression(expr)?);
        let claim = claim(&expression);
        self.has_claims |= claim.is_some();
        let mut expression = unclaimed(expression);
        match &mut expression.kind {
            ExpressionKind::Cast(_, text) if !expression.ty.is_string() => {
                text.get_or_insert_with(|| name.as_str().into());
            }
            ExpressionKind::Call {
                function: FunctionRef::Stored(_),
                signature,
                ..
            } => Arc::make_mut(signature).text = Some(name.as_str().into()),
            _ => {}
        }
        let scope = self.scope();
        let column = match expression.kind {
            ExpressionKind::Column(id) => scope.slot_of(id),
            _ => None,
        };
        // With COLLATE it is not a column to clients.
        let is_collated = matches!(bare(expr), Expr::Collate { .. });
        let origin = column
            .filter(|_| !is_collated)
            .and_then(|slot| scope.origin(slot));
        let client_type = client_type(&expression, &|id| scope.client_type(id));
        let client_type = match client_type {
            _ if is_collated && expression.ty.kind == TypeKind::Char => {
                ClientType::Choice(TypeKind::VarChar)
            }
            ClientType::Choice(kind) if is_ifnull(expr) && expression.ty.is_integer() => {
                ClientType::Kept(kind)
            }
            ClientType::Computed if is_ifnull(expr) && expression.ty.is_integer() => {
                ClientType::Kept(TypeKind::BigInt)
            }
            ClientType::Computed
                if is_ifnull(expr)
                    && expression.ty.kind == TypeKind::Double
                    && expression.ty.decimals < DECIMALS_NOT_FIXED =>
            {
                ClientType::Kept(TypeKind::Double)
            }
            other => other,
        };
        scope.items.push(Item {
            name,
            expression,
            column,
            origin,
            client_type,
            claim,
        });
        Ok(())
    }

    fn bind_group_keys(&mut self, written: &[Expr]) -> Result<Vec<Expression>> {
        let mut keys: Vec<Expression> = Vec::with_capacity(written.len());
        let mut grouped_items: Vec<usize> = Vec::new();
        for expr in written {
            let expr = bare(expr);
            let of_item: Option<usize>;
            let key = match position_of(expr) {
                Some(position) => {
                    let at = position.wrapping_sub(1);
                    self.dissolve_grouped_any_values(at);
                    let scope = self.scope();
                    let item = scope.items.get(at);
                    let item = item.ok_or_else(|| Clause::GroupBy.unknown(&position))?;
                    if scope.is_made_after_grouping(&item.expression) {
                        return Err(codes::ER_WRONG_GROUP_FIELD.with(&[&item.name]));
                    }
                    of_item = Some(position - 1);
                    item.expression.clone()
                }
                None => {
                    let item = match name_in(expr) {
                        Some(name) => self.grouped_item(name)?,
                        None => None,
                    };
                    of_item = item;
                    let bound = match item {
                        Some(item) => {
                            self.dissolve_grouped_any_values(item);
                            Ok(self.scope().items[item].expression.clone())
                        }
                        None => self.bind_stored(expr).map(unclaimed),
                    };
                    let key = match bound {
                        // The number names a select item that cannot be a GROUP BY key.
                        Err(error)
                            if error.is(&codes::ER_INVALID_GROUP_FUNC_USE)
                                && self.has_item(&name_of(expr)) =>
                        {
                            return Err(codes::ER_WRONG_GROUP_FIELD.with(&[&name_of(expr)]));
                        }
                        bound => bound?,
                    };
                    if self.scope().is_made_after_grouping(&key) {
                        return Err(codes::ER_WRONG_GROUP_FIELD.with(&[&name_of(expr)]));
                    }
                    key
                }
            };
            self.refuse_grouping(&key)?;
            // Each of several equal items is NULL where its own key is rolled up. A volatile item is the group's key, and
            // not evaluated once more.
            let known = |other: &Expression| same_expression(other, &key);
            let is_repeated = self.scope().rollup && keys.iter().any(known);
            let is_volatile = !same_expression(&key, &key);
            if let Some(item) = of_item
                && !grouped_items.contains(&item)
                && (is_repeated || is_volatile)
            {
                let key = apart(&format!("key {}", self.new_column()), key);
                self.scope().items[item].expression = key.clone();
                keys.push(key);
            } else {
                keys.push(key);
            }
            grouped_items.extend(of_item);
        }
        Ok(keys)
    }

    /// Select item that GROUP BY refers to by a name: none if a table has another column of the name, with warning
    /// 1052.
    fn grouped_item(&mut self, name: Name<'_>) -> Result<Option<usize>> {
        let scope = self.scope();
        let Some(item) = scope.find_item(name)? else {
            return Ok(None);
        };
        // An ambiguous name refers to no column here.
        let Ok(Some(column)) = scope.find_column(name) else {
            return Ok(Some(item));
        };
        if scope.items[item].column == Some(column) {
            return Ok(Some(item));
        }
        let warning = scope.ambiguous(name);
        self.catalog.warn(warning);
        Ok(None)
    }

    fn bind_order_keys(&mut self, written: &[OrderByExpr]) -> Result<Vec<OrderKey>> {
        let mut keys = Vec::with_capacity(written.len());
        let plain = {
            let scope = self.scope();
            scope.aggregates.is_empty() && scope.group_keys.is_empty()
        };
        for (index, key) in written.iter().enumerate() {
            let expr = bare(&key.expr);
            let item = match position_of(expr) {
                Some(position) => {
                    let at = position.wrapping_sub(1);
                    if at >= self.scope().items.len() {
                        return Err(Clause::OrderBy.unknown(&position));
                    }
                    Some(at)
                }
                None => match name_in(expr) {
                    // A bare name refers to the select list first.
                    Some(name) => self.scope().find_item(name)?,
                    None => None,
                },
            };
            let expression = match item {
                Some(item) => self.scope().items[item].expression.clone(),
                None => unclaimed(self.bind_stored(expr)?),
            };
            if plain && self.scope().makes_groups() {
                return Err(codes::ER_AGGREGATE_ORDER_NON_AGG_QUERY.with(&[&(index + 1)]));
            }
            if matches!(expression.kind, ExpressionKind::Literal(_)) {
                continue;
            }
            keys.push(OrderKey {
                expression,
                descending: is_descending(key),
                item,
            });
        }
        Ok(keys)
    }

    fn has_item(&mut self, name: &str) -> bool {
        let mut items = self.scope().items.iter();
        items.any(|item| super::block::same_name(&item.name, name))
    }

    /// Whether a column belongs to an enclosing query block.
    pub(super) fn is_of_outer_query(&self, id: ColumnId) -> bool {
        self.scopes.split_last().is_some_and(|(_, outer)| {
            outer.iter().any(|scope| {
                scope.slot_of(id).is_some()
                    || scope.windows.makes(id)
                    || scope.aggregates.iter().any(|(known, _)| *known == id)
            })
        })
    }

    /// Removes duplicates; sort keys applied afterwards must be in the select list.
    fn distinct(
        &mut self,
        relation: Relation,
        columns: &[BlockColumn],
        order: &mut [OrderKey],
    ) -> Result<Relation> {
        let mut seen = ColumnSet::new();
        let keys: Vec<Computed> = columns
            .iter()
            .filter(|column| seen.insert(column.id))
            .map(|column| Computed {
                id: column.id,
                expression: Expression::column(column.id, column.ty.clone(), column.nullable),
            })
            .collect();
        let mut aggregates = Vec::new();
        for (index, key) in order.iter().enumerate() {
            for id in key.expression.columns().iter() {
                if seen.contains(id) {
                    continue;
                }
                let Some(slot) = self.scope().slot_of(id) else {
                    // A column of the groups, which is not of a table.
                    if !self.is_of_outer_query(id)
                        && let Some(column) = column_in(&key.expression, id)
                    {
                        aggregates.push((id, self.any_value(column)?));
                        seen.insert(id);
                    }
                    continue;
                };
                if self
                    .options
                    .session
                    .sql_mode
                    .has(SqlMode::ONLY_FULL_GROUP_BY)
                {
                    let name = self.scope().full_name(slot);
                    return Err(codes::ER_FIELD_IN_ORDER_NOT_SELECT.with(&[&(index + 1), &name]));
                }
                let column = self.scope().column(slot);
                aggregates.push((id, self.any_value(column)?));
                seen.insert(id);
            }
        }
        let cause = "DISTINCT drops duplicates";
        let distinct = Aggregate::new(relation, keys, aggregates, Purpose::Distinct, cause);
        Ok(Relation::Aggregate(distinct))
    }

    /// Errors 3066 and 3065: sort keys over the groups of SELECT DISTINCT must be in the select list.
    fn check_distinct_order(&mut self, order: &[OrderKey]) -> Result<()> {
        if !self
            .options
            .session
            .sql_mode
            .has(SqlMode::ONLY_FULL_GROUP_BY)
        {
            return Ok(());
        }
        let scope = self.scope();
        for (index, key) in order.iter().enumerate() {
            let is_key = |item: &Item| same_expression(&item.expression, &key.expression);
            if key.item.is_some() || scope.items.iter().any(is_key) {
                continue;
            }
            if scope.reads_aggregate(&key.expression) {
                return Err(codes::ER_AGGREGATE_IN_ORDER_NOT_SELECT.with(&[&(index + 1)]));
            }
            for id in key.expression.columns().iter() {
                let is_it = |item: &Item| matches!(item.expression.kind, ExpressionKind::Column(own) if own == id);
                if let Some(slot) = scope.slot_of(id)
                    && !scope.items.iter().any(is_it)
                {
                    let name = scope.full_name(slot);
                    return Err(codes::ER_FIELD_IN_ORDER_NOT_SELECT.with(&[&(index + 1), &name]));
                }
            }
        }
        Ok(())
    }

    /// Sets of result columns in which no two rows are equal.
    fn unique_keys(&mut self, grouped: bool, distinct: bool) -> Vec<Vec<usize>> {
        let scope = self.scope();
        let mut keys = Vec::new();
        if distinct {
            keys.push((0..scope.items.len()).collect());
        }
        let position_of = |wanted: &Expression| {
            scope
                .items
                .iter()
                .position(|item| same_expression(&item.expression, wanted))
        };
        if grouped {
            if !scope.rollup
                && let Some(key) = scope
                    .group_keys
                    .iter()
                    .map(position_of)
                    .collect::<Option<Vec<_>>>()
            {
                keys.push(key);
            }
            return keys;
        }
        if let [table] = scope.tables.as_slice() {
            for unique in &table.unique_keys {
                let slot = |column: &usize| {
                    scope.items.iter().position(|item| {
                        item.column
                            == Some(ColumnSlot {
                                table: 0,
                                column: *column,
                            })
                    })
                };
                if let Some(key) = unique.iter().map(slot).collect() {
                    keys.push(key);
                }
            }
        }
        keys
    }
}

/// Bound parts of a query block.
struct Parts {
    relation: Relation,
    having: Option<Expression>,
    order: Vec<OrderKey>,
    distinct: bool,
    buffer: bool,
    limit: Option<(u64, u64)>,
    select_id: usize,
}

/// The column of this number in an expression.
fn column_in(expression: &Expression, id: ColumnId) -> Option<Expression> {
    let mut found = None;
    visit_expression(expression, &mut |inner| {
        if matches!(inner.kind, ExpressionKind::Column(own) if own == id) {
            found = Some(inner.clone());
        }
        found.is_none()
    });
    found
}

/// Whether a query block without GROUP BY makes one group, judged by its text.
fn makes_one_group(select: &Select, order_by: &[OrderByExpr]) -> bool {
    select.group_by.keys.is_empty()
        && (calls_aggregates(&select.projection)
            || calls_aggregates(&select.having)
            || order_by.iter().any(|key| calls_aggregates(&key.expr)))
}

/// Whether an expression assigns a user variable.
fn sets_variable(expression: &Expression) -> bool {
    let mut found = false;
    visit_expression(expression, &mut |inner| {
        if let ExpressionKind::Call { function, .. } = &inner.kind {
            found |= function.has(Fact::SetsVariable);
        }
        !found
    });
    found
}

/// Name that an expression consists of.
fn name_in(expr: &Expr) -> Option<Name<'_>> {
    match expr {
        Expr::Identifier(ident) if mayfly_syntax::encodings::variable(expr).is_none() => {
            Some(Name::unqualified(&ident.value))
        }
        Expr::CompoundIdentifier(parts) => compound_name(parts).ok(),
        _ => None,
    }
}

fn name_of(expr: &Expr) -> String {
    match expr {
        Expr::Identifier(ident) => ident.value.clone(),
        other => other.to_string(),
    }
}

/// Whether an expression is a call of IFNULL(), for which a table column has the type that a set operation gives.
fn is_ifnull(expr: &Expr) -> bool {
    let Expr::Function(call) = bare(expr) else {
        return false;
    };
    let name = call.name.0.as_slice();
    matches!(name, [name] if name.value.eq_ignore_ascii_case("ifnull"))
}
