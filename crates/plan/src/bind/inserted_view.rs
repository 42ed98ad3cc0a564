//! Insertable views.

use std::sync::Arc;

use mayfly_types::error::codes;
use mayfly_types::{Result, Value};

use super::scope::{Clause, Scope, ViewParts};
use super::view_target::merged_scans;
use crate::bind::binder::Binder;
use crate::catalog::{Catalog, TableSource, Usage, ViewSource};
use crate::lower::lower_over;
use crate::options::PlanOptions;
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{ColumnId, Scan, visit_expression_mut};

/// Target of rows that are inserted through a view.
#[derive(Debug, Clone)]
pub struct ViewTarget {
    /// Base table of the rows.
    pub table: Arc<TableSource>,
    /// Column of the table for each column of the view.
    pub columns: Vec<Option<usize>>,
    /// WITH CHECK OPTION condition for a row of the table.
    pub check: Option<Expression>,
}

/// Finds the base table of rows that are inserted through a view: error 1471 if there is none. A view of several tables
/// needs the target named: by the columns of the statement's list (1394 without one, 1393 when they are of several
/// tables).
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
    let is_open = |parts: &&ViewParts| parts.merged && !parts.fixed;
    let parts = binder.view_at(0).filter(is_open).cloned();
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
    // Each column of the view must be a distinct column of a table.
    if repeats || ids.iter().any(|id| owner(*id).is_none()) {
        return Err(not_insertable());
    }
    let layout: Vec<ColumnId> = own.clone().collect();
    let mut check = parts.check();
    if let Some(check) = &mut check {
        // The other tables have no row.
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
