//! What a scan asks a relation for. A relation names what its rows are about, such as a table's name, and makes the
//! rows that the scan may want, and the values that it reads.

use std::cell::Cell;
use std::sync::Arc;

use itertools::Itertools;
use mayfly_plan::{ColumnSource, TableSource};
use mayfly_storage::{ColumnId, ScanRequest};
use mayfly_types::SqlType;

use super::context::RelationContext;
use super::row::{Row, row};
use crate::builder;
use crate::catalog::BaseTable;
use crate::catalog::view::ViewDefinition;

/// A scan's request to a relation.
pub(crate) struct Asked<'r> {
    columns: &'r [ColumnSource],
    request: &'r ScanRequest<'r>,
    /// Whether rows or values are left out.
    is_narrowed: Cell<bool>,
}

impl<'r> Asked<'r> {
    pub(super) fn new(source: &'r TableSource, request: &'r ScanRequest<'r>) -> Self {
        Self {
            columns: &source.columns,
            request,
            is_narrowed: Cell::new(false),
        }
    }

    /// Whether the rows that were made are not all, or lack values.
    pub(super) fn is_narrowed(&self) -> bool {
        self.is_narrowed.get()
    }

    fn narrow(&self, if_so: bool) {
        self.is_narrowed.set(self.is_narrowed.get() || if_so);
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Whether the scan reads one of these columns. Otherwise their values may be anything.
    pub(super) fn reads(&self, names: &[&str]) -> bool {
        let positions = names.iter().filter_map(|name| self.position(name));
        let positions: Vec<ColumnId> = positions.map(ColumnId).collect();
        let reads = positions.iter().any(|at| self.request.columns.contains(at));
        self.narrow(!reads && !positions.is_empty());
        reads
    }

    /// The items whose rows the scan may want. `values` returns the values of some columns for an item.
    pub(super) fn wanted<T>(
        &self,
        names: &[&str],
        mut items: Vec<T>,
        values: impl Fn(&T) -> Row,
    ) -> Vec<T> {
        let positions = names.iter().map(|name| self.position(name));
        let positions: Option<Vec<usize>> = positions.collect();
        let (Some(predicate), Some(positions)) = (self.request.predicate, positions) else {
            return items;
        };
        let columns: Vec<ColumnId> = positions.iter().copied().map(ColumnId).collect();
        let selected = predicate.select(&columns, &|| {
            let types = positions.iter().map(|at| self.columns[*at].ty.clone());
            let types: Vec<SqlType> = types.collect();
            let rows: Vec<Row> = items.iter().map(&values).collect();
            builder::batch(&types, &rows)
        });
        if let Some(selected) = selected {
            let count = items.len();
            let mut selected = selected.into_iter();
            items.retain(|_| selected.next().unwrap_or(true));
            self.narrow(items.len() < count);
        }
        items
    }

    /// [`Self::wanted`] for items with a database and a name, in these two columns, ordered by the database.
    pub(super) fn named<T>(
        &self,
        columns: [&str; 2],
        mut items: Vec<T>,
        full_name: impl Fn(&T) -> (&str, &str),
    ) -> Vec<T> {
        let databases = items.iter().map(|item| full_name(item).0).dedup();
        let databases: Vec<String> = databases.map(str::to_owned).collect();
        let wanted = self.wanted(&columns[..1], databases, |database| row![database]);
        items.retain(|item| wanted.iter().any(|database| database == full_name(item).0));
        self.wanted(&columns, items, |item| {
            let (database, name) = full_name(item);
            row![database, name]
        })
    }

    /// The wanted relations that are visible, without those for SHOW statements, whose names begin with `#`.
    pub(super) fn relations(&self, context: &RelationContext) -> Vec<&'static TableSource> {
        let rights = context.rights();
        let all = context.relations.iter().map(|source| &**source);
        let shown = all.filter(|source| {
            !source.name.starts_with('#') && rights.sees_table(&source.database, &source.name)
        });
        let shown = shown.sorted_by(|one, other| one.database.cmp(&other.database));
        self.named(TABLE, shown.collect(), |source| {
            (&source.database, &source.name)
        })
    }

    /// The wanted base tables that are visible.
    pub(super) fn tables(&self, context: &RelationContext) -> Vec<Arc<BaseTable>> {
        self.named(TABLE, context.privileges().visible_tables(), |table| {
            (&table.definition.database, &table.definition.name)
        })
    }

    /// The wanted views that are visible.
    pub(super) fn views(&self, context: &RelationContext) -> Vec<Arc<ViewDefinition>> {
        self.named(TABLE, context.privileges().visible_views(), |view| {
            (view.database(), view.name())
        })
    }
}

/// The columns with the database and the name of a table.
const TABLE: [&str; 2] = ["TABLE_SCHEMA", "TABLE_NAME"];
