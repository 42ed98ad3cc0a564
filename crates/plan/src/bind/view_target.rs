//! Updatable views: the base tables below a view, its columns in them, and WITH CHECK OPTION.
//!
//! A view that MySQL would merge is bound into the statement's own query, so that its columns are those of the tables
//! below it unless they are expressions: nothing has to be translated.

use mayfly_syntax::ast::{JoinOperator, Query, SetExpr, TableFactor, TableWithJoins};
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::binder::ViewChecks;
use super::scope::{ColumnSlot, ScopeColumns, ViewParts};
use crate::bind::binder::Binder;
use crate::bind::block::Block;
use crate::catalog::{TableId, ViewSource};
use crate::tree::expression::Expression;
use crate::tree::logical::{ColumnId, Relation, Scan};

/// State to restore after a view.
pub(super) struct OuterChecks(ViewChecks);

impl Binder<'_> {
    /// Begins a view's query.
    pub(super) fn enter_view(&mut self, view: &ViewSource) -> OuterChecks {
        let cascades = self.view_checks.cascades || view.check_option == Some(true);
        let inner = ViewChecks {
            depth: self.scopes.len() + 1,
            cascades,
            ..ViewChecks::default()
        };
        OuterChecks(std::mem::replace(&mut self.view_checks, inner))
    }

    /// Records the WHERE of a query block, or the ON of a join in it.
    pub(super) fn note_selection(&mut self, predicates: &[Expression]) {
        if self.scopes.len() == self.view_checks.depth {
            self.view_checks.selection.extend_from_slice(predicates);
        }
    }

    /// Ends a view's query.
    pub(super) fn leave_view(
        &mut self,
        view: &ViewSource,
        block: &Block,
        subqueries: Vec<TableId>,
        outer: OuterChecks,
    ) -> ViewParts {
        let inner = std::mem::replace(&mut self.view_checks, outer.0);
        let mut checks = inner.below;
        if view.check_option.is_some() || self.view_checks.cascades {
            checks.extend(inner.selection);
        }
        if self.scopes.len() == self.view_checks.depth {
            self.view_checks.below.extend(checks.clone());
        }
        let mut scans = Vec::new();
        if block.mergeable {
            merged_scans(&block.relation, &mut scans);
        }
        let scans: Vec<ColumnId> = scans.iter().map(|scan| scan.position()).collect();
        let mut fixed = scans.clone();
        if !has_outer_join(&view.query) {
            fixed.retain(|scan| inner.fixed.contains(scan));
        }
        if self.scopes.len() == self.view_checks.depth {
            self.view_checks.fixed.extend_from_slice(&fixed);
        }
        ViewParts {
            database: view.database.clone(),
            name: view.name.clone(),
            merged: block.mergeable,
            fixed: !scans.is_empty() && fixed.len() == scans.len(),
            subqueries,
            scans,
            checks,
        }
    }

    /// Scan and column of the base table behind a column of a table of FROM: error 1288 if it is not a table, 1348 for
    /// an expression.
    pub(super) fn written_column(
        &mut self,
        slot: ColumnSlot,
        relation: &Relation,
        statement: &str,
    ) -> Result<(Scan, usize)> {
        let scope = self.scope();
        let table = &scope.tables[slot.table];
        if let ScopeColumns::Base { .. } = table.columns {
            let scan = self.written_table(slot.table, relation, statement)?;
            return Ok((scan, slot.column));
        }
        let parts = scope.views.iter().find(|(at, _)| *at == slot.table);
        let Some((_, parts)) = parts.filter(|(_, parts)| parts.merged) else {
            return Err(codes::ER_NON_UPDATABLE_TABLE.with(&[&table.alias, &statement]));
        };
        let id = table.id(slot.column);
        let mut scans = Vec::new();
        merged_scans(relation, &mut scans);
        let owner = scans.into_iter().find(|scan| {
            let own = scan.first..scan.position();
            parts.scans.contains(&scan.position()) && own.contains(&id)
        });
        match owner {
            Some(scan) if parts.reads(scan) || scan.table.is_call => {
                Err(codes::ER_NON_UPDATABLE_TABLE.with(&[&table.alias, &statement]))
            }
            Some(scan) => Ok((scan.clone(), id - scan.first)),
            None => Err(codes::ER_NONUPDATEABLE_COLUMN.with(&[&table.name(slot.column)])),
        }
    }

    /// Scan of a table of FROM, or of the single table below a view: error 1288 if it is not a table, 1395 for a view
    /// of several.
    pub(super) fn written_table(
        &mut self,
        at: usize,
        relation: &Relation,
        statement: &str,
    ) -> Result<Scan> {
        let scope = self.scope();
        let select_id = scope.select_id;
        let not_updatable = |alias: &str| codes::ER_NON_UPDATABLE_TABLE.with(&[&alias, &statement]);
        let Some(table) = scope.tables.get(at) else {
            return Err(not_updatable("dual"));
        };
        let mut scans = Vec::new();
        if let ScopeColumns::Base { table: source, .. } = &table.columns {
            all_scans(relation, &mut scans);
            let is_it = |scan: &&&Scan| {
                let same_block = scan.alias == table.alias && scan.select_id == select_id;
                scan.table.id == source.id && same_block
            };
            let scan = scans.iter().find(is_it);
            return scan
                .filter(|scan| !scan.table.is_call)
                .map(|scan| Scan::clone(scan))
                .ok_or_else(|| not_updatable(&table.alias));
        }
        let parts = scope.views.iter().find(|(view, _)| *view == at);
        let Some((_, parts)) = parts.filter(|(_, parts)| parts.merged) else {
            return Err(not_updatable(&table.alias));
        };
        if parts.fixed {
            return Err(not_updatable(&table.alias));
        }
        merged_scans(relation, &mut scans);
        scans.retain(|scan| parts.scans.contains(&scan.position()));
        match scans.as_slice() {
            [only] if !parts.reads(only) && !only.table.is_call => Ok(Scan::clone(only)),
            [] | [_] => Err(not_updatable(&table.alias)),
            _ => Err(codes::ER_VIEW_DELETE_MERGE_VIEW.with(&[&parts.database, &parts.name])),
        }
    }

    /// The view of a table of FROM.
    pub(super) fn view_at(&mut self, at: usize) -> Option<&ViewParts> {
        let views = &self.scope().views;
        views
            .iter()
            .find(|(view, _)| *view == at)
            .map(|(_, parts)| parts)
    }
}

/// Whether a query has outer joins: no row is added or removed through a view of such a query.
pub fn has_outer_join(query: &Query) -> bool {
    fn is_outer(item: &TableWithJoins) -> bool {
        let joins = item.joins.iter();
        let factors = std::iter::once(&item.relation).chain(joins.map(|join| &join.relation));
        let mut nested = factors.filter_map(|factor| match factor {
            TableFactor::NestedJoin { table_with_joins } => Some(table_with_joins),
            _ => None,
        });
        let mut joins = item.joins.iter();
        joins.any(|join| {
            matches!(
                join.join_operator,
                JoinOperator::Left(_) | JoinOperator::Right(_)
            )
        }) || nested.any(|nested| is_outer(nested))
    }
    match &*query.body {
        SetExpr::Select(select) => select.from.iter().any(is_outer),
        _ => false,
    }
}

/// Scans that have a row for each row of a relation.
pub(super) fn merged_scans<'r>(relation: &'r Relation, scans: &mut Vec<&'r Scan>) {
    match relation {
        Relation::Scan(scan) => scans.push(scan),
        Relation::Filter { .. }
        | Relation::Join(_)
        | Relation::Extend { .. }
        | Relation::Sort { .. } => {
            for input in relation.inputs() {
                merged_scans(input, scans);
            }
        }
        _ => {}
    }
}

fn all_scans<'r>(relation: &'r Relation, scans: &mut Vec<&'r Scan>) {
    if let Relation::Scan(scan) = relation {
        scans.push(scan);
    }
    for input in relation.inputs() {
        all_scans(input, scans);
    }
}
