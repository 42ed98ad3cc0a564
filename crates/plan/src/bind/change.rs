//! UPDATE and DELETE: the query that finds their rows, and the changes of these rows; see [`mod@crate::change`].

use std::sync::Arc;

use mayfly_syntax::ast::{
    Delete, Expr, OrderByExpr, TableName, TableWithJoins, UpdateStatement, With,
};
use mayfly_syntax::encodings;
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::expression::{bare, compound_name, is_descending, position_of};
use super::scope::{Clause, ColumnSlot, Scope};
use super::types::as_value;
use crate::bind::binder::{Binder, CountedDerived};
use crate::bind::block::BlockColumn;
use crate::bind::numbers;
use crate::catalog::{Catalog, ParameterPlace, Usage};
use crate::change::{Assignment, BoundChange, ChangeTarget, NewValue, RowCheck};
use crate::options::PlanOptions;
use crate::predicates::conjuncts;
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{Buffering, ColumnId, Computed, Relation, Scan};
use crate::tree::physical::{SortKey, position_type};

/// State shared by UPDATE and DELETE.
struct Found<'q> {
    selection: Option<&'q Expr>,
    order_by: &'q [OrderByExpr],
    limit: Option<&'q Expr>,
}

/// Binds an UPDATE.
pub(crate) fn bind_update(
    update: &UpdateStatement,
    catalog: &dyn Catalog,
    options: &PlanOptions,
) -> Result<BoundChange> {
    let mut binder = Binder::new(catalog, options);
    if !matches!(update.tables.as_slice(), [only] if only.joins.is_empty()) {
        let usage = |what: &str| Err(codes::ER_WRONG_USAGE.with(&[&"UPDATE", &what]));
        if !update.order_by.is_empty() {
            return usage("ORDER BY");
        }
        if update.limit.is_some() {
            return usage("LIMIT");
        }
    }
    let usage = Usage::ReadOrUpdate;
    binder.own_reads.derived = CountedDerived::Merged;
    let relation = binder.begin_change(update.with.as_ref(), &update.tables, usage)?;
    binder.own_reads.derived = CountedDerived::ByHint;
    let mut slots: Vec<ColumnSlot> = Vec::with_capacity(update.assignments.len());
    for assignment in &update.assignments {
        slots.push(binder.assigned_column(&assignment.column)?);
    }
    let written = binder.written_columns(&slots, &relation)?;
    let scans = binder.update_targets(&written)?;
    refuse_moving_keys(&scans, &written)?;

    let relation = binder.filter(relation, update.selection.as_ref())?;
    let mut values = Vec::with_capacity(slots.len());
    binder.scope().clause = Clause::Values;
    for (assignment, slot) in update.assignments.iter().zip(&slots) {
        values.push(if encodings::is_default(&assignment.value) {
            None
        } else {
            Some(binder.assigned_value(&assignment.value, *slot)?)
        });
    }
    let found = Found {
        selection: None,
        order_by: &update.order_by,
        limit: update.limit.as_ref(),
    };
    let targets_of = scans.iter().map(|(_, scan)| scan);
    let is_safe = update.limit.is_some() || all_found_by_key(&relation, targets_of);
    binder.own_reads.derived = CountedDerived::All;
    let relation = binder.order_and_limit_change(relation, &found)?;

    let mut change = ChangeColumns::default();
    let mut targets: Vec<ChangeTarget> = Vec::with_capacity(scans.len());
    for (table, scan) in &scans {
        let mut target = change.target(scan, true);
        target.check = binder.row_check(*table, &mut change);
        targets.push(target);
    }
    let mut computed = Vec::new();
    let mut set: Vec<ColumnId> = Vec::new();
    for (column, value) in written.iter().zip(values) {
        let is_target = |(_, scan): &(usize, Scan)| scan.position() == column.position;
        let at = scans.iter().position(is_target).unwrap_or(0);
        let scan = &scans[at].1;
        let own = scan.first..scan.position();
        let value = match value {
            None => NewValue::Default,
            Some(value) => {
                let read = value.columns();
                let reads_set = set
                    .iter()
                    .any(|column| own.contains(column) && read.contains(*column));
                if reads_set {
                    for column in read.iter() {
                        change.add(column, &value);
                    }
                    NewValue::Computed(Arc::new(value))
                } else {
                    NewValue::Column(binder.value_column(value, &mut change, &mut computed))
                }
            }
        };
        targets[at].assignments.push(Assignment {
            column: column.column,
            value,
        });
        set.push(column.id);
    }
    let relation = relation.extended(computed);
    binder.refuse_own_reads("UPDATE")?;
    Ok(binder.finish_change(relation, change, targets, is_safe))
}

/// Binds a DELETE.
pub(crate) fn bind_delete(
    delete: &Delete,
    catalog: &dyn Catalog,
    options: &PlanOptions,
) -> Result<BoundChange> {
    let mut binder = Binder::new(catalog, options);
    let usage = if delete.targets.is_empty() {
        Usage::ReadOrDelete
    } else {
        Usage::Read
    };
    let relation = binder.begin_change(delete.with.as_ref(), &delete.from, usage)?;
    if !delete.targets.is_empty() {
        binder.forget_reads_of_views();
    }
    let tables = if delete.targets.is_empty() {
        vec![0]
    } else {
        binder.named_targets(&delete.targets)?
    };
    let scans = binder.targets(&tables, &relation, "DELETE")?;
    let found = Found {
        selection: delete.selection.as_ref(),
        order_by: &delete.order_by,
        limit: delete.limit.as_ref(),
    };
    let relation = binder.filter(relation, found.selection)?;
    let is_safe = delete.limit.is_some() || all_found_by_key(&relation, scans.iter());
    let relation = binder.order_and_limit_change(relation, &found)?;
    binder.refuse_own_reads("DELETE")?;
    let mut change = ChangeColumns::default();
    let keeps_rows = !delete.returning.is_empty();
    let targets = scans
        .iter()
        .map(|scan| change.target(scan, keeps_rows))
        .collect();
    Ok(binder.finish_change(relation, change, targets, is_safe))
}

/// Position column of a table.
pub(super) fn position_column(scan: &Scan) -> BlockColumn {
    BlockColumn::new(scan.position(), String::new(), position_type(), true)
}

/// Columns of a change's query.
#[derive(Default)]
struct ChangeColumns(Vec<BlockColumn>);

impl ChangeColumns {
    fn target(&mut self, scan: &Scan, with_row: bool) -> ChangeTarget {
        let position = self.0.len();
        self.0.push(position_column(scan));
        if with_row {
            for (index, column) in scan.table.columns.iter().enumerate() {
                let (name, ty) = (column.name.clone(), column.ty.clone());
                self.0
                    .push(BlockColumn::new(scan.first + index, name, ty, true));
            }
        }
        ChangeTarget {
            table: scan.table.clone(),
            alias: scan.alias.clone(),
            position,
            row: with_row.then_some(position + 1),
            assignments: Vec::new(),
            check: None,
        }
    }

    /// Index of a column that an expression reads or is; adds the column.
    fn add(&mut self, id: ColumnId, read_by: &Expression) -> usize {
        if let Some(position) = self.0.iter().position(|column| column.id == id) {
            return position;
        }
        let mut ty = read_by.ty.clone();
        crate::tree::logical::visit_expression(read_by, &mut |inner| {
            if matches!(inner.kind, ExpressionKind::Column(column) if column == id) {
                ty = inner.ty.clone();
            }
            true
        });
        self.0.push(BlockColumn::new(id, String::new(), ty, true));
        self.0.len() - 1
    }
}

impl Binder<'_> {
    /// Binds WITH and the tables.
    fn begin_change(
        &mut self,
        with: Option<&With>,
        tables: &[TableWithJoins],
        usage: Usage,
    ) -> Result<Relation> {
        let own = with.is_some().then(|| self.new_select());
        self.enter_with(with)?;
        self.reserved_select = own;
        let select_id = self.new_select();
        self.scopes.push(Scope::new(Clause::From, select_id));
        self.merges_views = true;
        self.table_usage = usage;
        let relation = self.bind_from(tables, false);
        self.table_usage = Usage::Read;
        self.merges_views = false;
        relation
    }

    /// Columns that the assignments write.
    fn written_columns(
        &mut self,
        slots: &[ColumnSlot],
        relation: &Relation,
    ) -> Result<Vec<WrittenColumn>> {
        let mut written: Vec<WrittenColumn> = Vec::with_capacity(slots.len());
        for slot in slots {
            let (scan, column) = self.written_column(*slot, relation, "UPDATE")?;
            self.check_written(*slot, &scan, column, Usage::Update)?;
            let other = written.iter().find(|other| other.table == slot.table);
            if other.is_some_and(|other| other.position != scan.position())
                && let Some(view) = self.view_at(slot.table)
            {
                return Err(codes::ER_VIEW_MULTIUPDATE.with(&[&view.database, &view.name]));
            }
            written.push(WrittenColumn {
                table: slot.table,
                position: scan.position(),
                id: self.scope().tables[slot.table].id(slot.column),
                column,
                scan,
            });
        }
        Ok(written)
    }

    /// Changed tables, by their positions in FROM.
    fn update_targets(&mut self, written: &[WrittenColumn]) -> Result<Vec<(usize, Scan)>> {
        let mut scans: Vec<(usize, Scan)> = Vec::new();
        for column in written {
            if !scans
                .iter()
                .any(|(_, scan)| scan.position() == column.position)
            {
                scans.push((column.table, column.scan.clone()));
            }
        }
        scans.sort_by_key(|(table, _)| *table);
        for (_, scan) in &scans {
            // Errors name the first table of FROM, whichever table is changed.
            let named = self.named_table(0);
            self.note_change(scan.table.id, named);
        }
        Ok(scans)
    }

    /// WITH CHECK OPTION condition of a view for a changed row; its inputs become columns.
    fn row_check(&mut self, table: usize, change: &mut ChangeColumns) -> Option<RowCheck> {
        let view = self.view_at(table)?;
        let condition = view.check()?;
        let view = (view.database.clone(), view.name.clone());
        for column in condition.columns().iter() {
            change.add(column, &condition);
        }
        Some(RowCheck {
            view,
            condition: Arc::new(condition),
        })
    }

    /// Column that an assignment names.
    fn assigned_column(&mut self, written: &[mayfly_syntax::ast::Ident]) -> Result<ColumnSlot> {
        let name = compound_name(written)?;
        let scope = self.scope();
        scope.clause = Clause::FieldList;
        let found = scope.find_column(name)?;
        found.ok_or_else(|| Clause::FieldList.unknown(&name))
    }

    /// Tables that the multi-table forms of DELETE name.
    fn named_targets(&mut self, names: &[TableName]) -> Result<Vec<usize>> {
        let scope = self.scope();
        let mut targets = Vec::with_capacity(names.len());
        for name in names {
            let unknown = || codes::ER_UNKNOWN_TABLE.with(&[&name.name, &"MULTI DELETE"]);
            let database = name.database.as_deref();
            let table = scope
                .tables
                .iter()
                .position(|table| table.is_called(database, &name.name))
                .ok_or_else(unknown)?;
            if targets.contains(&table) {
                return Err(codes::ER_NONUNIQ_TABLE.with(&[&name.name]));
            }
            targets.push(table);
        }
        Ok(targets)
    }

    /// Scans of the tables whose rows are removed. From here on subqueries may not read these tables.
    fn targets(
        &mut self,
        tables: &[usize],
        relation: &Relation,
        statement: &str,
    ) -> Result<Vec<Scan>> {
        let mut scans = Vec::with_capacity(tables.len());
        for at in tables {
            let scan = self.written_table(*at, relation, statement)?;
            self.check_changed(*at, &scan, Usage::Delete)?;
            let named = self.named_table(*at);
            self.note_change(scan.table.id, named);
            scans.push(scan);
        }
        Ok(scans)
    }

    fn filter(&mut self, relation: Relation, selection: Option<&Expr>) -> Result<Relation> {
        let Some(selection) = selection else {
            return Ok(relation);
        };
        self.scope().clause = Clause::Where;
        let predicate = self.bind_condition(selection)?;
        Ok(relation.filtered(conjuncts(predicate)))
    }

    fn assigned_value(&mut self, value: &Expr, slot: ColumnSlot) -> Result<Expression> {
        let kept = std::mem::replace(&mut self.keeps_value, true);
        let bound = self.bind_expression(value);
        self.keeps_value = kept;
        let bound = as_value(bound?);
        let column = self.scope().column(slot);
        if let ExpressionKind::Parameter(index) = bound.kind {
            let place = ParameterPlace::Assignment;
            self.catalog.parameter_meets(index, &column.ty, place);
        }
        Ok(numbers::as_stored_number(bound, &column.ty))
    }

    fn order_and_limit_change(
        &mut self,
        relation: Relation,
        found: &Found<'_>,
    ) -> Result<Relation> {
        let mut relation = relation;
        self.scope().clause = Clause::OrderBy;
        let mut keys = Vec::with_capacity(found.order_by.len());
        for key in found.order_by {
            let expr = bare(&key.expr);
            if let Some(position) = position_of(expr) {
                return Err(Clause::OrderBy.unknown(&position));
            }
            let expression = self.bind_stored(expr)?;
            if !matches!(expression.kind, ExpressionKind::Literal(_)) {
                keys.push(SortKey {
                    expression,
                    descending: is_descending(key),
                });
            }
        }
        self.refuse_aggregates()?;
        if !keys.is_empty() {
            relation = relation.sorted(keys);
        }
        if let Some(limit) = found.limit {
            relation = relation.limited(0, self.limit_number(limit)?);
        }
        Ok(relation)
    }

    /// Index of a new value among the columns of the query.
    fn value_column(
        &mut self,
        value: Expression,
        change: &mut ChangeColumns,
        computed: &mut Vec<Computed>,
    ) -> usize {
        if let ExpressionKind::Column(id) = value.kind {
            return change.add(id, &value);
        }
        let id = self.new_column();
        let position = change.add(id, &value);
        computed.push(Computed {
            id,
            expression: value,
        });
        position
    }

    fn finish_change(
        mut self,
        relation: Relation,
        columns: ChangeColumns,
        targets: Vec<ChangeTarget>,
        is_safe: bool,
    ) -> BoundChange {
        let select_id = self.scope().select_id;
        let repeats = has_join(&relation);
        let block = super::block::Block {
            relation,
            columns: columns.0,
            select_id,
            mergeable: false,
            kept: false,
            buffering: Buffering::default(),
            unique_keys: Vec::new(),
        };
        BoundChange {
            query: self.finish(block),
            targets,
            is_safe,
            repeats,
        }
    }
}

/// Whether the relation joins several tables.
fn has_join(relation: &Relation) -> bool {
    matches!(relation, Relation::Join(_)) || relation.inputs().into_iter().any(has_join)
}

/// A column that an assignment writes.
struct WrittenColumn {
    /// Index in FROM of the table or view that the statement names.
    table: usize,
    /// Scan of the base table, and its position column.
    scan: Scan,
    position: ColumnId,
    /// Number of the column in the query, and its index in its table.
    id: ColumnId,
    column: usize,
}

/// Error 1706: a table that is changed under two names keeps its primary key.
fn refuse_moving_keys(scans: &[(usize, Scan)], written: &[WrittenColumn]) -> Result<()> {
    for (index, (_, one)) in scans.iter().enumerate() {
        for (_, other) in &scans[index + 1..] {
            let moves = |column: &WrittenColumn| {
                let key = one.table.unique_keys.first();
                (column.position == one.position() || column.position == other.position())
                    && key.is_some_and(|key| key.contains(&column.column))
            };
            if one.table.id == other.table.id && written.iter().any(moves) {
                let names = (&one.alias, &other.alias);
                return Err(codes::ER_MULTI_UPDATE_KEY_CONFLICT.with(&[names.0, names.1]));
            }
        }
    }
    Ok(())
}

/// Whether a condition of the query compares the first column of a key of each target with another value.
fn all_found_by_key<'s>(relation: &Relation, mut scans: impl Iterator<Item = &'s Scan>) -> bool {
    scans.all(|scan| {
        let indexes = scan.table.indexes.iter();
        let indexes = indexes.filter(|index| index.id.is_some() && index.visible);
        let firsts = indexes.filter_map(|index| index.parts.first().map(|part| part.column));
        let keys = scan.table.unique_keys.iter();
        let firsts = firsts.chain(keys.filter_map(|key| key.first().copied()));
        let firsts: Vec<ColumnId> = firsts.map(|column| scan.first + column).collect();
        found_by(relation, &firsts)
    })
}

fn found_by(relation: &Relation, columns: &[ColumnId]) -> bool {
    let is_key = |expression: &Expression| matches!(expression.kind, ExpressionKind::Column(id) if columns.contains(&id));
    let finds = |predicate: &Expression| match &predicate.kind {
        ExpressionKind::Compare {
            comparison,
            left,
            right,
        } => *comparison != Comparison::NotEqual && (is_key(left) || is_key(right)),
        ExpressionKind::InList {
            operand, negated, ..
        } => !negated && is_key(operand),
        ExpressionKind::IsNull(operand) => is_key(operand),
        _ => false,
    };
    let here = match relation {
        Relation::Filter { predicates, .. } => predicates.iter().any(finds),
        Relation::Join(join) => join.on.iter().any(finds),
        _ => false,
    };
    here || relation
        .inputs()
        .into_iter()
        .any(|input| found_by(input, columns))
}
