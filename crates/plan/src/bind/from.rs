//! FROM: tables, derived tables and joins.

use std::ops::Range;
use std::sync::Arc;

use mayfly_syntax::ast::{
    Ident, Join as AstJoin, JoinConstraint, JoinOperator, ObjectName, Query, TableAlias,
    TableFactor, TableFunctionCall, TableIndexHints, TableWithJoins,
};
use mayfly_types::error::codes;
use mayfly_types::{Error, Result, SqlMode, TypeKind};

use super::scope::{Clause, ColumnSlot, Name, Scope, ScopeColumns, ScopeTable};
use crate::bind::binder::Binder;
use crate::bind::block::{Block, BlockColumn, same_name};
use crate::bind::literal;
use crate::catalog::{ColumnSource, TableSource, Usage, ViewSource, refuse_partitions};
use crate::document::{Document, Members};
use crate::explain::names::quoted;
use crate::not_supported::not_supported;
use crate::predicates::conjuncts;
use crate::trace::{Trace, number, object};
use crate::tree::access::Access;
use crate::tree::expression::{Comparison, Expression};
use crate::tree::logical::{
    ColumnId, Computed, DerivedTable, Join, Relation, Scan, ScanStatistics, free_columns, produced,
};
use crate::tree::physical::{ColumnOrigin, JoinKind, Purpose, TemporaryTable, ViewColumn};

/// Columns of a part of FROM that `*` and unqualified names refer to.
struct Seen {
    tables: Range<usize>,
    /// Columns in order, where NATURAL or USING merged two columns into one.
    slots: Option<Vec<ColumnSlot>>,
}

impl Seen {
    fn list(&self, scope: &Scope) -> Vec<ColumnSlot> {
        match &self.slots {
            Some(slots) => slots.clone(),
            None => scope.slots(self.tables.clone()).collect(),
        }
    }

    /// Columns of this part and of the one behind it.
    fn beside(self, right: &Self, scope: &Scope) -> Self {
        let merges = self.slots.is_some() || right.slots.is_some();
        let slots = merges.then(|| {
            let mut all = self.list(scope);
            all.extend(right.list(scope));
            all
        });
        Self {
            tables: self.tables.start..right.tables.end,
            slots,
        }
    }
}

impl Binder<'_> {
    /// Binds FROM into the current scope; all of its joins keep their order if `straight`.
    pub(super) fn bind_from(
        &mut self,
        from: &[TableWithJoins],
        straight: bool,
    ) -> Result<Relation> {
        let mut relation: Option<Relation> = None;
        let mut seen = Seen {
            tables: 0..0,
            slots: None,
        };
        for item in from {
            let (right, columns) = self.bind_joined(item)?;
            let scope = self.scope();
            seen = seen.beside(&columns, scope);
            scope.visible.clone_from(&seen.slots);
            relation = Some(match relation {
                None => right,
                Some(left) => cross_join(left, right),
            });
        }
        let mut relation = relation.unwrap_or_else(Relation::one_row);
        if straight {
            straighten(&mut relation);
        }
        Ok(relation)
    }

    fn bind_joined(&mut self, item: &TableWithJoins) -> Result<(Relation, Seen)> {
        let (mut relation, mut seen) = self.bind_factor(&item.relation)?;
        for join in &item.joins {
            (relation, seen) = self.bind_join(relation, seen, join)?;
        }
        Ok((relation, seen))
    }

    fn bind_join(
        &mut self,
        left: Relation,
        left_seen: Seen,
        join: &AstJoin,
    ) -> Result<(Relation, Seen)> {
        let first = left_seen.tables.start;
        let swapped = matches!(join.join_operator, JoinOperator::Right(_));
        let has_lateral = has_lateral(&join.relation);
        let outer_visible = (has_lateral && !swapped).then(|| self.see_also(&left_seen));
        // The right side of a RIGHT JOIN is read first.
        self.set_unseen(&left_seen, swapped);
        let right = self.bind_factor(&join.relation);
        self.set_unseen(&left_seen, false);
        if let Some(outer) = outer_visible {
            self.scope().visible = outer;
        }
        let (right, right_seen) = right?;
        let lateral = !swapped && has_lateral && reads(&right, &left);
        let middle = right_seen.tables.start;
        let end = right_seen.tables.end;
        let (kind, constraint, straight) = match &join.join_operator {
            JoinOperator::Inner(constraint) => (JoinKind::Inner, constraint, false),
            JoinOperator::StraightJoin(constraint) => (JoinKind::Inner, constraint, true),
            JoinOperator::Left(constraint) | JoinOperator::Right(constraint) => {
                (JoinKind::Left, constraint, false)
            }
        };
        let (on, seen) = match constraint {
            JoinConstraint::None => {
                let scope = self.scope();
                (Vec::new(), left_seen.beside(&right_seen, scope))
            }
            JoinConstraint::On(condition) => {
                let scope = self.scope();
                let seen = left_seen.beside(&right_seen, scope);
                let outer_clause = std::mem::replace(&mut scope.clause, Clause::On);
                let outer_visible = std::mem::replace(&mut scope.visible, seen.slots.clone());
                let outer_range = scope.on_range.replace(first..end);
                let bound = self.bind_predicate(condition);
                let scope = self.scope();
                scope.on_range = outer_range;
                scope.visible = outer_visible;
                scope.clause = outer_clause;
                (conjuncts(bound?), seen)
            }
            JoinConstraint::Using(names) => {
                let names: Vec<String> = names.iter().map(|name| name.value.clone()).collect();
                self.join_using(&left_seen, &right_seen, &names, swapped)?
            }
            JoinConstraint::Natural => {
                let scope = self.scope();
                let (left, right) = (left_seen.list(scope), right_seen.list(scope));
                let name_of = |slot: &ColumnSlot| scope.tables[slot.table].name(slot.column);
                let is_hidden =
                    |slot: &&ColumnSlot| scope.tables[slot.table].is_hidden(slot.column);
                let names: Vec<String> = left
                    .iter()
                    .filter(|slot| !is_hidden(slot))
                    .map(name_of)
                    .filter(|name| right.iter().any(|slot| same_name(name_of(slot), name)))
                    .map(str::to_owned)
                    .collect();
                self.join_using(&left_seen, &right_seen, &names, swapped)?
            }
        };
        if kind == JoinKind::Inner {
            self.note_selection(&on);
        }
        if kind == JoinKind::Left {
            let inner = if swapped { first..middle } else { middle..end };
            for table in &mut self.scope().tables[inner] {
                table.null_extended = true;
            }
        }
        let (left, right) = if swapped {
            (right, left)
        } else {
            (left, right)
        };
        let relation = Relation::Join(Join {
            lateral,
            straight,
            ..Join::new(kind, left, right, on)
        });
        Ok((relation, seen))
    }

    /// Sets whether lateral tables that are bound from here on see the left side of their join.
    fn set_unseen(&mut self, left: &Seen, unseen: bool) {
        for table in &mut self.scope().tables[left.tables.clone()] {
            table.unseen = unseen;
        }
    }

    /// Lets a lateral table see the left side of its join too; returns the previous visibility.
    fn see_also(&mut self, left: &Seen) -> Option<Vec<ColumnSlot>> {
        let scope = self.scope();
        let outer = scope.visible.clone();
        if outer.is_some() || left.slots.is_some() {
            let mut all = match &outer {
                Some(visible) => visible.clone(),
                None => scope.slots(0..left.tables.start).collect(),
            };
            all.extend(left.list(scope));
            scope.visible = Some(all);
        }
        outer
    }

    /// Binds USING, and the meaning of names after it: the common columns first, once and in the order of the first
    /// table, then its others, then those of the second. A RIGHT JOIN is a LEFT JOIN with its tables exchanged.
    fn join_using(
        &mut self,
        left: &Seen,
        right: &Seen,
        names: &[String],
        swapped: bool,
    ) -> Result<(Vec<Expression>, Seen)> {
        let tables = left.tables.start..right.tables.end;
        let scope = self.scope();
        let (left, right) = (left.list(scope), right.list(scope));
        let clause = std::mem::replace(&mut scope.clause, Clause::From);
        let mut on = Vec::with_capacity(names.len());
        let mut common: Vec<(ColumnSlot, ColumnSlot)> = Vec::with_capacity(names.len());
        for name in names {
            let left_slot = self.single(&left, name)?;
            let right_slot = self.single(&right, name)?;
            if common.contains(&(left_slot, right_slot)) {
                continue;
            }
            let depth = self.scopes.len() - 1;
            self.check_read(depth, left_slot)?;
            self.check_read(depth, right_slot)?;
            let left_column = self.claimed_column(depth, left_slot);
            let right_column = self.claimed_column(depth, right_slot);
            on.push(self.compare_bound(left_column, Comparison::Equal, right_column)?);
            common.push((left_slot, right_slot));
        }
        self.scope().clause = clause;
        let is_common = |slot: &ColumnSlot| {
            let mut pairs = common.iter();
            pairs.any(|(a, b)| a == slot || b == slot)
        };
        let (first, second) = if swapped {
            (right, left)
        } else {
            (left, right)
        };
        let (mut slots, rest): (Vec<_>, Vec<_>) = first.into_iter().partition(is_common);
        slots.extend(rest);
        slots.extend(second.into_iter().filter(|slot| !is_common(slot)));
        let slots = Some(slots);
        Ok((on, Seen { tables, slots }))
    }

    fn single(&mut self, slots: &[ColumnSlot], name: &str) -> Result<ColumnSlot> {
        let scope = self.scope();
        let is_named = |slot: &ColumnSlot| {
            let column = scope.tables[slot.table].name(slot.column);
            same_name(column, name)
        };
        let named = slots.iter().copied().filter(is_named);
        let found = scope.only(Name::unqualified(name), named)?;
        found.ok_or_else(|| Clause::From.unknown(&name))
    }

    fn bind_factor(&mut self, factor: &TableFactor) -> Result<(Relation, Seen)> {
        let before = self.scope().tables.len();
        let relation = match factor {
            TableFactor::Table {
                name,
                alias,
                index_hints,
                partitions,
            } => {
                let relation = self.bind_table(name, alias.as_ref(), index_hints)?;
                if !partitions.is_empty() {
                    let table = self.scope().tables.get(before);
                    let partitioned = table.is_some_and(ScopeTable::is_partitioned);
                    return Err(refuse_partitions(partitioned));
                }
                relation
            }
            TableFactor::Derived {
                lateral,
                subquery,
                alias,
            } => self.bind_derived(*lateral, subquery, alias.as_ref())?,
            TableFactor::NestedJoin { table_with_joins } => {
                return self.bind_joined(table_with_joins);
            }
            TableFactor::Function { call, alias } => {
                self.bind_table_function(call, alias.as_ref())?
            }
            TableFactor::JsonTable { .. } => return Err(not_supported("JSON_TABLE")),
        };
        let seen = Seen {
            tables: before..self.scope().tables.len(),
            slots: None,
        };
        Ok((relation, seen))
    }

    fn bind_table(
        &mut self,
        name: &ObjectName,
        alias: Option<&TableAlias>,
        hints: &[TableIndexHints],
    ) -> Result<Relation> {
        let table_name = last_part(name)?;
        let database = match name.0.as_slice() {
            [database, _] => Some(database.value.as_str()),
            _ => None,
        };
        let alias = alias.map_or(table_name.value.as_str(), |alias| alias.name.value.as_str());
        if database.is_none() {
            if table_name.quote_style.is_none()
                && table_name.value.eq_ignore_ascii_case("dual")
                && self.scope().tables.is_empty()
            {
                return Ok(Relation::one_row());
            }
            if let Some(relation) = self.bind_cte_reference(&table_name.value, alias)? {
                return Ok(relation);
            }
        }
        self.bind_base_table(database, &table_name.value, alias, hints)
    }

    /// Binds a table by its name, in TABLE t or FROM.
    pub(super) fn bind_named_table(
        &mut self,
        database: Option<&str>,
        name: &str,
    ) -> Result<Relation> {
        if database.is_none()
            && let Some(relation) = self.bind_cte_reference(name, name)?
        {
            return Ok(relation);
        }
        self.bind_base_table(database, name, name, &[])
    }

    fn bind_base_table(
        &mut self,
        database: Option<&str>,
        name: &str,
        alias: &str,
        hints: &[TableIndexHints],
    ) -> Result<Relation> {
        let usage = if self.views.is_empty() {
            self.table_usage
        } else {
            Usage::Read
        };
        self.catalog.check_table(database, name, usage)?;
        if let Some(view) = self.catalog.view(database, name)? {
            return self.bind_view(&view, alias);
        }
        let table = if self.views.is_empty() {
            self.catalog.table_as(database, name, alias)?
        } else {
            self.catalog.table_of_view(database, name)?
        };
        self.bind_source(&table, alias, hints)
    }

    /// Binds a call of a table function, whose columns an alias may rename.
    fn bind_table_function(
        &mut self,
        call: &TableFunctionCall,
        alias: Option<&TableAlias>,
    ) -> Result<Relation> {
        let mut table = self.catalog.table_function(call)?;
        let names = alias.map_or(&[][..], |alias| &alias.columns);
        if !names.is_empty() {
            if names.len() != table.columns.len() {
                return Err(codes::ER_VIEW_WRONG_LIST.error());
            }
            let columns = &mut Arc::make_mut(&mut table).columns;
            for (index, name) in names.iter().enumerate() {
                if names[..index]
                    .iter()
                    .any(|it| same_name(&it.value, &name.value))
                {
                    return Err(codes::ER_DUP_FIELDNAME.with(&[&name.value]));
                }
                columns[index].name.clone_from(&name.value);
            }
        }
        let alias = alias.map_or_else(|| table.name.clone(), |alias| alias.name.value.clone());
        self.bind_source(&table, &alias, &[])
    }

    /// Adds a table of the catalog to FROM under a name.
    fn bind_source(
        &mut self,
        table: &Arc<TableSource>,
        alias: &str,
        hints: &[TableIndexHints],
    ) -> Result<Relation> {
        self.note_read(table.id, alias);
        let statistics = self.catalog.statistics(table.id);
        let statistics = statistics.map(|known| Arc::new(ScanStatistics::new(known)));
        let hints = Arc::new(self.index_hints(table, alias, hints)?);
        // One column more, for the position.
        let first = self.new_columns(table.columns.len() + 1);
        self.note_rights(first + table.columns.len());
        if !self.tables.iter().any(|known| known.id == table.id) {
            self.tables.push(table.clone());
        }
        let unique_keys = table.unique_keys.clone();
        self.add_table(ScopeTable {
            database: Some(table.database.clone()),
            alias: alias.to_owned(),
            columns: ScopeColumns::Base {
                table: table.clone(),
                first,
            },
            null_extended: false,
            unseen: false,
            merged: false,
            unique_keys,
        })?;
        let select_id = self.scope().select_id;
        let scan = |first: ColumnId, generated: Arc<[Computed]>| {
            Relation::Scan(Scan {
                table: table.clone(),
                alias: alias.to_owned(),
                first,
                generated,
                predicates: Vec::new(),
                select_id,
                statistics: statistics.clone(),
                hints: hints.clone(),
                rows: None,
                access: Access::Table,
                possible: Vec::new(),
            })
        };
        let is_padded = |column: &ColumnSource| {
            column.ty.kind == TypeKind::Char && !column.ty.is_binary_string()
        };
        let pads = self
            .options
            .session
            .sql_mode
            .has(SqlMode::PAD_CHAR_TO_FULL_LENGTH);
        if !pads || !table.columns.iter().any(is_padded) {
            let generated = self.bind_generated(table, first);
            return Ok(scan(first, generated));
        }
        let read = self.new_columns(table.columns.len() + 1);
        let mut columns = Vec::with_capacity(table.columns.len());
        for (index, column) in table.columns.iter().enumerate() {
            let mut expression =
                Expression::column(read + index, column.ty.clone(), column.nullable);
            if is_padded(column) {
                let length = literal::integer(column.ty.length.into(), 10);
                let space = literal::string(" ", column.ty.collation);
                expression = self.call_bound("rpad", vec![expression, length, space])?;
            }
            columns.push(Computed {
                id: first + index,
                expression,
            });
        }
        Ok(scan(read, Arc::new([])).extended(columns))
    }

    fn bind_derived(
        &mut self,
        lateral: bool,
        query: &Query,
        alias: Option<&TableAlias>,
    ) -> Result<Relation> {
        let Some(alias) = alias else {
            return Err(codes::ER_DERIVED_MUST_HAVE_ALIAS.error());
        };
        let depth = self.scopes.len() - 1;
        let outer_clause = self.scopes[depth].clause;
        self.scopes[depth].hidden = !lateral;
        self.scopes[depth].clause = Clause::From;
        let outer_reads = self.begin_derived_reads();
        let block = self.bind_query_expression(query, false);
        self.scopes[depth].hidden = false;
        self.scopes[depth].clause = outer_clause;
        let hint = self.merge_hint(&alias.name.value);
        let mergeable = block.as_ref().is_ok_and(|block| block.mergeable);
        self.end_derived_reads(&outer_reads, mergeable, hint);
        let mut block = block?;
        rename_columns(&mut block, &alias.columns)?;
        self.add_derived(block, &alias.name.value, None, None)
    }

    /// Binds a view as a derived table without access to names of the statement.
    pub(super) fn bind_view(&mut self, view: &ViewSource, alias: &str) -> Result<Relation> {
        let key = (view.database.clone(), view.name.clone());
        if self.views.contains(&key) {
            return Err(codes::ER_VIEW_RECURSIVE.with(&[&view.database, &view.name]));
        }
        self.catalog.enter_view(view)?;
        self.views.push(key);
        let ctes = std::mem::take(&mut self.ctes);
        let hidden: Vec<bool> = self.scopes.iter().map(|scope| scope.hidden).collect();
        let outer_clause = self.scope().clause;
        self.scope().clause = Clause::From;
        for scope in &mut self.scopes {
            scope.hidden = true;
        }
        let outer_checks = self.enter_view(view);
        let outer_reads = self.begin_view_reads(view, alias);
        let block = self.bind_query_expression(&view.query, false);
        for (scope, hidden) in self.scopes.iter_mut().zip(hidden) {
            scope.hidden = hidden;
        }
        self.scope().clause = outer_clause;
        self.ctes = ctes;
        self.views.pop();
        self.catalog.leave_view();
        let mut block = block.map_err(|error| view_error((&view.database, &view.name), error))?;
        block.mergeable &= !view.materialized;
        let hint = self.merge_hint(alias);
        let merges = hint.unwrap_or(self.options.switches.derived_merge) || self.merges_views;
        let subqueries = self.end_view_reads(outer_reads, block.mergeable && merges);
        let parts = self.leave_view(view, &block, subqueries, outer_checks);
        if block.columns.len() != view.columns.len() {
            return Err(codes::ER_VIEW_INVALID.with(&[&view.database, &view.name]));
        }
        for (column, name) in block.columns.iter_mut().zip(&view.columns) {
            column.name.clone_from(name);
            if block.mergeable {
                let origin = column.origin.take();
                let origin = origin.unwrap_or_else(|| ColumnOrigin::computed(name));
                column.origin = Some(ColumnOrigin {
                    view: Some(ViewColumn {
                        view: view.name.clone(),
                        column: name.clone(),
                    }),
                    ..origin
                });
            }
        }
        let relation = self.add_derived(block, alias, Some(&view.database), None)?;
        let scope = self.scope();
        scope.views.push((scope.tables.len() - 1, parts));
        Ok(relation)
    }

    /// Adds a bound query expression to FROM under a name; `merges` overrules hints and `optimizer_switch`.
    pub(super) fn add_derived(
        &mut self,
        mut block: Block,
        alias: &str,
        database: Option<&str>,
        merges: Option<bool>,
    ) -> Result<Relation> {
        refuse_same_names(&block.columns)?;
        block.settle_types();
        let hint = merges.or_else(|| self.merge_hint(alias));
        let merges = hint.unwrap_or(self.options.switches.derived_merge)
            || (self.merges_views && database.is_some());
        // User variables set above must not be seen below, nor the other way round.
        let sets_variables =
            self.options.sets_variables && !(self.merges_views && database.is_some());
        let merged = block.mergeable && merges && !sets_variables;
        let materialize = (block.mergeable && !merged || sets_variables).then(|| {
            let why = match hint {
                _ if sets_variables => "the statement sets user variables",
                Some(_) => "hint NO_MERGE",
                None => "optimizer_switch derived_merge=off",
            };
            let cause = format!("derived table {alias} is not merged: {why}");
            TemporaryTable::new(Purpose::DerivedTable, cause)
        });
        if let Some(trace) = self.catalog.trace() {
            let cause = materialize.as_ref().map(|table| table.cause.to_string());
            note_derived(trace, (alias, database), &block, (merged, cause));
        }
        let relation = if merged {
            let is_merged = !block.kept;
            block
                .columns
                .iter_mut()
                .for_each(|column| column.merge(is_merged));
            block.relation
        } else {
            block.columns.iter_mut().for_each(BlockColumn::copy);
            block
                .columns
                .iter_mut()
                .for_each(BlockColumn::become_column);
            let columns = block.columns.iter();
            let columns = columns
                .map(|column| (column.id, column.name.clone()))
                .collect();
            Relation::Block {
                input: Box::new(block.relation),
                select_id: block.select_id,
                derived: Some(Box::new(DerivedTable {
                    alias: alias.to_owned(),
                    columns,
                    materialize,
                })),
            }
        };
        self.add_table(ScopeTable {
            database: database.map(str::to_owned),
            unique_keys: block.unique_keys,
            merged,
            ..ScopeTable::derived(alias.to_owned(), block.columns)
        })?;
        Ok(relation)
    }

    /// Adds a table to the scope: error 1066 if its name is taken.
    pub(super) fn add_table(&mut self, table: ScopeTable) -> Result<()> {
        let scope = self.scope();
        let taken = scope
            .tables
            .iter()
            .any(|other| other.alias == table.alias && other.database == table.database);
        if taken {
            return Err(codes::ER_NONUNIQ_TABLE.with(&[&table.alias]));
        }
        scope.tables.push(table);
        Ok(())
    }
}

/// Records in the trace whether a derived table or view is merged or materialized.
fn note_derived(
    trace: &Trace,
    (alias, database): (&str, Option<&str>),
    block: &Block,
    (merged, cause): (bool, Option<String>),
) {
    let mut members: Members = vec![
        ("table", Document::from(quoted(alias))),
        ("select#", number(block.select_id)),
    ];
    if merged {
        members.push(("merged", Document::from(true)));
    } else {
        let shape = "it has groups, DISTINCT, LIMIT, a set operation or no table";
        // Its rows are only materialized where an operator needs all of them at once.
        members.push(("merged", Document::from(false)));
        members.push(("materialized", Document::from(cause.is_some())));
        let cause = cause.unwrap_or_else(|| shape.to_owned());
        members.push(("cause", Document::from(cause)));
    }
    let name = if database.is_some() {
        "view"
    } else {
        "derived"
    };
    trace.prepared(object(name, members));
}

/// Error of a view for an error of the tables below it.
pub(super) fn view_error((database, name): (&str, &str), error: Error) -> Error {
    let codes = [
        &codes::ER_NO_SUCH_TABLE,
        &codes::ER_BAD_DB_ERROR,
        &codes::ER_BAD_FIELD_ERROR,
        &codes::ER_BAD_TABLE_ERROR,
        &codes::ER_VIEW_INVALID,
        &codes::ER_TABLEACCESS_DENIED_ERROR,
        &codes::ER_COLUMNACCESS_DENIED_ERROR,
        &codes::ER_DBACCESS_DENIED_ERROR,
        &codes::ER_SP_DOES_NOT_EXIST,
        &codes::ER_PROCACCESS_DENIED_ERROR,
    ];
    if codes.iter().any(|code| error.is(code)) {
        codes::ER_VIEW_INVALID.with(&[&database, &name])
    } else {
        error
    }
}

/// Error 1060 for two columns of one name.
pub(super) fn refuse_same_names(columns: &[BlockColumn]) -> Result<()> {
    for (index, column) in columns.iter().enumerate() {
        let mut before = columns[..index].iter();
        if before.any(|other| same_name(&other.name, &column.name)) {
            return Err(codes::ER_DUP_FIELDNAME.with(&[&column.name]));
        }
    }
    Ok(())
}

/// Gives the columns of a derived table or common table expression the names in its column list.
pub(super) fn rename_columns(block: &mut Block, names: &[Ident]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    if names.len() != block.columns.len() {
        return Err(codes::ER_VIEW_WRONG_LIST.error());
    }
    for (column, name) in block.columns.iter_mut().zip(names) {
        column.name.clone_from(&name.value);
    }
    Ok(())
}

fn cross_join(left: Relation, right: Relation) -> Relation {
    Relation::Join(Join {
        lateral: reads(&right, &left),
        ..Join::new(JoinKind::Inner, left, right, Vec::new())
    })
}

/// SELECT STRAIGHT_JOIN: tables are read in the order in which they are named.
fn straighten(relation: &mut Relation) {
    if let Relation::Join(join) = relation {
        join.straight = true;
        straighten(&mut join.left);
        straighten(&mut join.right);
    }
}

/// Whether a part of FROM contains a lateral table.
fn has_lateral(factor: &TableFactor) -> bool {
    match factor {
        TableFactor::Derived { lateral, .. } => *lateral,
        TableFactor::NestedJoin { table_with_joins } => {
            let mut joins = table_with_joins.joins.iter();
            has_lateral(&table_with_joins.relation) || joins.any(|join| has_lateral(&join.relation))
        }
        _ => false,
    }
}

/// Whether a relation reads columns of another one.
fn reads(reader: &Relation, other: &Relation) -> bool {
    free_columns(reader).intersects(&produced(other))
}

/// Last part of a name.
pub(super) fn last_part(name: &ObjectName) -> Result<&Ident> {
    name.0.last().ok_or_else(|| not_supported(""))
}
