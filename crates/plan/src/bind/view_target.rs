//! Views that rows are changed through: which base tables are below one, which of its columns are
//! theirs, and what WITH CHECK OPTION asks of a row.
//!
//! A view that MySQL would merge is bound into the statement's own query, so that its columns are those
//! of the tables below it wherever they are no expressions: nothing has to be translated.

use std::sync::Arc;

use mayfly_types::error::codes;
use mayfly_types::{Result, Value};

use super::scope::{Clause, ColumnPlace, Scope, ScopeColumns};
use super::types::and;
use super::{Binder, Block};
use crate::catalog::{Catalog, TableId, TableSource, Usage, ViewSource};
use crate::expression::{Expression, ExpressionKind};
use crate::logical::{ColumnId, Relation, Scan, visit_expression_mut};
use crate::options::PlanOptions;
use crate::physical::build::lower_over;

/// A view that is part of the statement's query.
#[derive(Debug, Clone)]
pub(crate) struct ViewParts {
    pub(crate) database: String,
    pub(crate) name: String,
    /// It is merged: it has a row of each of its tables for each of its own.
    pub(crate) merged: bool,
    /// The positions of its tables.
    pub(crate) scans: Vec<ColumnId>,
    /// The tables that its subqueries read: no row of these is changed through it.
    pub(crate) subqueries: Vec<TableId>,
    /// What WITH CHECK OPTION, its own or that of a view below it, asks of its rows.
    pub(crate) checks: Vec<Expression>,
}

impl ViewParts {
    /// Whether its subqueries read a table.
    fn reads(&self, scan: &Scan) -> bool {
        self.subqueries.contains(&scan.table.id)
    }

    /// The condition of WITH CHECK OPTION.
    pub(super) fn check(&self) -> Option<Expression> {
        (!self.checks.is_empty()).then(|| and(self.checks.clone()))
    }
}

/// While views are bound: what WITH CHECK OPTION asks.
#[derive(Debug, Default)]
pub(super) struct ViewChecks {
    /// How many scopes there are inside the innermost view's own query block.
    depth: usize,
    /// A view around has WITH CASCADED CHECK OPTION.
    cascades: bool,
    /// The WHERE and the ON of the innermost view.
    selection: Vec<Expression>,
    /// The conditions of the views that were bound in the innermost one's FROM.
    below: Vec<Expression>,
}

/// What a view leaves to be restored.
pub(super) struct OuterChecks(ViewChecks);

impl Binder<'_> {
    /// A view's query is about to be bound.
    pub(super) fn enter_view(&mut self, view: &ViewSource) -> OuterChecks {
        let cascades = self.view_checks.cascades || view.check_option == Some(true);
        let inner = ViewChecks {
            depth: self.scopes.len() + 1,
            cascades,
            ..ViewChecks::default()
        };
        OuterChecks(std::mem::replace(&mut self.view_checks, inner))
    }

    /// The WHERE of a query block, or the ON of a join in it, was bound.
    pub(super) fn note_selection(&mut self, predicates: &[Expression]) {
        if self.scopes.len() == self.view_checks.depth {
            self.view_checks.selection.extend_from_slice(predicates);
        }
    }

    /// A view's query was bound.
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
        ViewParts {
            database: view.database.clone(),
            name: view.name.clone(),
            merged: block.mergeable,
            subqueries,
            scans: scans.iter().map(|scan| scan.position()).collect(),
            checks,
        }
    }

    /// The scan of the table that a table of FROM is, or that a column of a view belongs to, and which
    /// of its columns that is: 1288 for what is no table, 1348 for an expression.
    pub(super) fn written_column(
        &mut self,
        place: ColumnPlace,
        relation: &Relation,
        statement: &str,
    ) -> Result<(Scan, usize)> {
        let scope = self.scope();
        let table = &scope.tables[place.table];
        if let ScopeColumns::Base { .. } = table.columns {
            let scan = self.written_table(place.table, relation, statement)?;
            return Ok((scan, place.column));
        }
        let parts = scope.views.iter().find(|(at, _)| *at == place.table);
        let Some((_, parts)) = parts.filter(|(_, parts)| parts.merged) else {
            return Err(codes::ER_NON_UPDATABLE_TABLE.with(&[&table.alias, &statement]));
        };
        let id = table.id(place.column);
        let mut scans = Vec::new();
        merged_scans(relation, &mut scans);
        let owner = scans.into_iter().find(|scan| {
            let own = scan.first..scan.position();
            parts.scans.contains(&scan.position()) && own.contains(&id)
        });
        match owner {
            Some(scan) if parts.reads(scan) => {
                Err(codes::ER_NON_UPDATABLE_TABLE.with(&[&table.alias, &statement]))
            }
            Some(scan) => Ok((scan.clone(), id - scan.first)),
            None => Err(codes::ER_NONUPDATEABLE_COLUMN.with(&[&table.name(place.column)])),
        }
    }

    /// The scan of a table of FROM, or of the one table below a view: 1288 for what is no table, 1395
    /// for a view of several.
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
                let same_place = scan.alias == table.alias && scan.select_id == select_id;
                scan.table.id == source.id && same_place
            };
            let scan = scans.iter().find(is_it);
            return scan
                .map(|scan| Scan::clone(scan))
                .ok_or_else(|| not_updatable(&table.alias));
        }
        let parts = scope.views.iter().find(|(view, _)| *view == at);
        let Some((_, parts)) = parts.filter(|(_, parts)| parts.merged) else {
            return Err(not_updatable(&table.alias));
        };
        merged_scans(relation, &mut scans);
        scans.retain(|scan| parts.scans.contains(&scan.position()));
        match scans.as_slice() {
            [only] if !parts.reads(only) => Ok(Scan::clone(only)),
            [] | [_] => Err(not_updatable(&table.alias)),
            _ => Err(codes::ER_VIEW_DELETE_MERGE_VIEW.with(&[&parts.database, &parts.name])),
        }
    }

    /// The view that a table of FROM is.
    pub(super) fn view_at(&mut self, at: usize) -> Option<&ViewParts> {
        let views = &self.scope().views;
        views
            .iter()
            .find(|(view, _)| *view == at)
            .map(|(_, parts)| parts)
    }
}

/// The scans that have a row for each row of a relation.
fn merged_scans<'r>(relation: &'r Relation, scans: &mut Vec<&'r Scan>) {
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

/// What rows that are added through a view are to its table.
#[derive(Debug, Clone)]
pub struct ViewTarget {
    /// The table that the rows go to.
    pub table: Arc<TableSource>,
    /// For each column of the view, which of the table's it is.
    pub columns: Vec<Option<usize>>,
    /// What WITH CHECK OPTION asks of a row of the table.
    pub check: Option<Expression>,
}

/// Finds the table that rows go to which are added through a view: 1471 when there is none. A view of
/// several tables must be told which: by the columns of the statement's list (1394 without one, 1393
/// when they are of several tables).
pub fn bind_view_target(
    view: &ViewSource,
    listed: Option<&[usize]>,
    statement: &str,
    catalog: &dyn Catalog,
    options: &PlanOptions,
) -> Result<ViewTarget> {
    let mut binder = Binder::new(catalog, options);
    let select_id = binder.new_select();
    binder.scopes.push(Scope::new(Clause::From, select_id));
    binder.merges_views = true;
    let relation = binder.bind_view(view, &view.name)?;
    let not_insertable = || codes::ER_NON_INSERTABLE_TABLE.with(&[&view.name, &statement]);
    let parts = binder.view_at(0).filter(|parts| parts.merged).cloned();
    let parts = parts.ok_or_else(not_insertable)?;
    let mut scans = Vec::new();
    merged_scans(&relation, &mut scans);
    let ids: Vec<ColumnId> = {
        let table = &binder.scope().tables[0];
        (0..table.len()).map(|column| table.id(column)).collect()
    };
    let owner = |id: ColumnId| {
        let owns = |scan: &&&Scan| (scan.first..scan.position()).contains(&id);
        scans.iter().find(owns).copied()
    };
    let all: Vec<usize> = (0..ids.len()).collect();
    for column in listed.unwrap_or(&all) {
        if owner(ids[*column]).is_none() {
            return Err(codes::ER_NONUPDATEABLE_COLUMN.with(&[&view.columns[*column]]));
        }
    }
    let target = match (scans.as_slice(), listed) {
        ([only], _) => *only,
        ([], _) => return Err(not_insertable()),
        (_, None | Some([])) => {
            let needs_list = codes::ER_VIEW_NO_INSERT_FIELD_LIST;
            return Err(needs_list.with(&[&parts.database, &parts.name]));
        }
        (_, Some(listed)) => {
            let mut owners = listed.iter().filter_map(|column| owner(ids[*column]));
            let first = owners.next().ok_or_else(not_insertable)?;
            if owners.any(|other| other.position() != first.position()) {
                let several = codes::ER_VIEW_MULTIUPDATE;
                return Err(several.with(&[&parts.database, &parts.name]));
            }
            first
        }
    };
    if parts.reads(target) {
        return Err(not_insertable());
    }
    binder.check_changed(0, target, Usage::Insert)?;
    let own = target.first..target.position();
    let columns: Vec<Option<usize>> = ids
        .iter()
        .map(|id| own.contains(id).then(|| id - target.first))
        .collect();
    let known = columns.iter().flatten();
    let repeats = known.clone().count() != known.collect::<std::collections::BTreeSet<_>>().len();
    // Each column of the view is a column of a table, and no other of its columns is the same.
    if repeats || ids.iter().any(|id| owner(*id).is_none()) {
        return Err(not_insertable());
    }
    let layout: Vec<ColumnId> = own.clone().collect();
    let mut check = parts.check();
    if let Some(check) = &mut check {
        // There is no row of the other tables.
        visit_expression_mut(check, &mut |inner| {
            if let ExpressionKind::Column(column) = inner.kind
                && !own.contains(&column)
            {
                inner.kind = ExpressionKind::Literal(Value::Null);
                inner.nullable = true;
            }
            true
        });
    }
    let shared = std::mem::take(&mut binder.shared);
    let check = check.map(|check| lower_over(check, shared, &layout, options));
    Ok(ViewTarget {
        table: Arc::clone(&target.table),
        columns,
        check: check.transpose()?,
    })
}
