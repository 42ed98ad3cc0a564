//! Checks of privileges for tables and columns, made where names are resolved; the catalog decides them.
//!
//! The tables below a view are checked with the privileges of its definer: the catalog is told where a view's query
//! begins and ends, and numbers the privileges that apply in between.

use mayfly_types::{Error, Result};

use super::scope::{ColumnSlot, Scope, ScopeColumns};
use crate::bind::binder::Binder;
use crate::catalog::Usage;
use crate::tree::logical::{ColumnId, Scan};

/// (database, name) of a table.
type TableNames<'n> = (&'n str, &'n str);

/// Database and name of the table or view of a table of FROM; `None` if no privilege is needed: for derived tables,
/// results of table functions and the session's own temporary tables.
fn names(scope: &Scope, at: usize) -> Option<TableNames<'_>> {
    match &scope.tables.get(at)?.columns {
        ScopeColumns::Base { table, .. } if table.temporary || table.is_call => None,
        ScopeColumns::Base { table, .. } => Some((&table.database, &table.name)),
        ScopeColumns::Derived(_) => {
            let lasting = scope.lasting.iter().find(|(table, _)| *table == at);
            if let Some((_, database)) = lasting {
                return Some((database, &scope.tables[at].alias));
            }
            let (_, parts) = scope.views.iter().find(|(view, _)| *view == at)?;
            Some((&parts.database, &parts.name))
        }
    }
}

impl Binder<'_> {
    /// Checks reading a column of a query block.
    pub(super) fn check_read(&self, depth: usize, slot: ColumnSlot) -> Result<()> {
        self.check_slot(depth, slot, Usage::Read)
    }

    /// Checks reading all of these columns of the innermost query block, as `*` does.
    pub(super) fn check_read_all(&self, slots: &[ColumnSlot]) -> Result<()> {
        let mut slots = slots.iter();
        slots.try_for_each(|slot| self.check_slot(self.scopes.len() - 1, *slot, Usage::ReadAll))
    }

    fn check_slot(&self, depth: usize, slot: ColumnSlot, usage: Usage) -> Result<()> {
        if !self.catalog.checks_columns() {
            return Ok(());
        }
        let scope = &self.scopes[depth];
        let Some(table) = names(scope, slot.table) else {
            return Ok(());
        };
        let column = scope.tables[slot.table].name(slot.column);
        let rights = self.catalog.current_rights();
        self.catalog.check_column(rights, table, column, usage)
    }

    /// Records the privileges with which a table below a view is changed.
    pub(super) fn note_rights(&mut self, position: ColumnId) {
        if !self.views.is_empty() {
            let rights = self.catalog.current_rights();
            self.rights_below.push((position, rights));
        }
    }

    /// Checks changing a column named by an assignment: in the view, if there is one, and in the table.
    pub(super) fn check_written(
        &self,
        slot: ColumnSlot,
        scan: &Scan,
        column: usize,
        usage: Usage,
    ) -> Result<()> {
        let scope = &self.scopes[self.scopes.len() - 1];
        if let Some(table) = names(scope, slot.table) {
            let name = scope.tables[slot.table].name(slot.column);
            let rights = self.catalog.current_rights();
            self.catalog.check_column(rights, table, name, usage)?;
        }
        let column = &scan.table.columns[column].name;
        let table = (scan.table.database.as_str(), scan.table.name.as_str());
        self.check_below(scan, |rights| {
            self.catalog.check_column(rights, table, column, usage)
        })
    }

    /// Checks removing rows from a table of FROM, or adding rows to it.
    pub(super) fn check_changed(&self, at: usize, scan: &Scan, usage: Usage) -> Result<()> {
        let scope = &self.scopes[self.scopes.len() - 1];
        if let Some(table) = names(scope, at) {
            let rights = self.catalog.current_rights();
            self.catalog.check_change(rights, table, usage)?;
        }
        let table = (scan.table.database.as_str(), scan.table.name.as_str());
        self.check_below(scan, |rights| {
            self.catalog.check_change(rights, table, usage)
        })
    }

    /// Checks a table below a view: a refusal is reported as an error of the view.
    fn check_below(&self, scan: &Scan, check: impl Fn(usize) -> Result<()>) -> Result<()> {
        let position = scan.position();
        let mut below = self.rights_below.iter();
        let Some((_, rights)) = below.find(|(known, _)| *known == position) else {
            return Ok(());
        };
        check(*rights).map_err(|error| self.fault_of_view(position, error))
    }

    fn fault_of_view(&self, position: ColumnId, error: Error) -> Error {
        let views = self.scopes.iter().flat_map(|scope| &scope.views);
        let mut views = views.filter(|(_, parts)| parts.scans.contains(&position));
        match views.next() {
            Some((_, parts)) => super::from::view_error((&parts.database, &parts.name), error),
            None => error,
        }
    }
}
