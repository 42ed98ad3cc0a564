//! Where new rows go: a table, or the table below a view.
//!
//! A statement that adds rows through a view names the view's columns. To it, they are the table's under
//! other names ([`RowTarget::names`]); the columns that the view does not have cannot be named.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray};
use mayfly_plan::ChangedTable;
use mayfly_syntax::ast::{Ident, TableName};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Error, Result};

use super::insert::listed_columns;
use crate::accounts::check;
use crate::catalog::BaseTable;
use crate::catalog::definition::{TableDefinition, same_name};
use crate::catalog::session_catalog::SessionCatalog;
use crate::catalog::view::ViewDefinition;
use crate::expressions::Bound;
use crate::session::Session;

/// Where rows go.
pub(super) struct RowTarget {
    pub(super) table: Arc<BaseTable>,
    /// The table as the statement names it and its columns.
    pub(super) names: Arc<TableDefinition>,
    /// The view.
    pub(super) view: Option<RowView>,
    /// The columns that a statement without a list means, if these are not the table's own.
    unlisted: Option<Vec<usize>>,
}

/// A view that rows come through.
pub(crate) struct RowView {
    database: String,
    name: String,
    /// WITH CHECK OPTION
    check: Option<Bound>,
}

/// What a statement does to the table or view that it adds rows to, for the privileges that this needs.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Additions<'n> {
    /// Rows that are in the way go.
    pub(crate) replaces: bool,
    /// The columns that rows which are in the way get other values in.
    pub(crate) updated: &'n [&'n str],
    /// The columns that the statement names, if it names some.
    pub(crate) listed: Option<&'n [&'n str]>,
    /// Columns that get values of their own beside those of the list.
    pub(crate) assigned: &'n [&'n str],
}

impl RowTarget {
    /// The table that is changed, as the statement names it.
    pub(super) fn changed(&self) -> ChangedTable<'_> {
        ChangedTable {
            table: self.table.id,
            name: &self.names.name,
            view_of: self.view.as_ref().map(|view| view.database.as_str()),
            alone: false,
        }
    }

    /// The table or view of a name, which the session may add rows to.
    pub(super) fn find(
        session: &Session,
        name: &TableName,
        partitions: &[String],
        additions: Additions<'_>,
    ) -> Result<Self> {
        let (database, name) = super::qualified(session, name)?;
        let own = session.temporary_table(&database, &name).is_some();
        if !own && !session.is_unrestricted() {
            check::added_rows(&session.rights(), (&database, &name), additions)?;
        }
        let list = additions.listed.map(|names| names.iter().copied());
        let catalog = &session.database.catalog;
        if !own && let Some(view) = catalog.view(&database, &name) {
            if !partitions.is_empty() {
                return Err(mayfly_plan::refuse_partitions(false));
            }
            return Self::of_view(session, &view, list);
        }
        let table = super::writable_table(session, &database, &name)?;
        if !partitions.is_empty() {
            let partitioned = table.definition.partitioning.is_some();
            return Err(mayfly_plan::refuse_partitions(partitioned));
        }
        Ok(Self {
            names: Arc::clone(&table.definition),
            table,
            view: None,
            unlisted: None,
        })
    }

    fn of_view<'n>(
        session: &Session,
        view: &ViewDefinition,
        list: Option<impl Iterator<Item = &'n str>>,
    ) -> Result<Self> {
        let source = &view.source;
        let place = |name: &str| {
            let place = source.columns.iter().position(|own| same_name(own, name));
            place.ok_or_else(|| codes::ER_BAD_FIELD_ERROR.with(&[&name, &"field list"]))
        };
        let listed: Option<Vec<usize>> =
            list.map(|names| names.map(place).collect()).transpose()?;
        let session_catalog = SessionCatalog::new(session, &[]);
        let options = &session.options().plan;
        let target = mayfly_plan::bind_view_target(
            source,
            listed.as_deref(),
            "INSERT",
            &session_catalog,
            options,
        )?;
        let (database, name) = (&target.table.database, &target.table.name);
        let table = super::writable_table(session, database, name)?;
        let mut names = TableDefinition::clone(&table.definition);
        view.database().clone_into(&mut names.database);
        view.name().clone_into(&mut names.name);
        let mut known = vec![false; names.columns.len()];
        for (name, column) in source.columns.iter().zip(&target.columns) {
            if let Some(column) = column {
                known[*column] = true;
                names.columns[*column].name.clone_from(name);
            }
        }
        for (column, known) in names.columns.iter_mut().zip(known) {
            if !known {
                // No identifier is empty.
                column.name.clear();
                column.invisible = true;
            }
        }
        let context = session.statement_context(session_catalog.into_tables().0);
        Ok(Self {
            table,
            names: Arc::new(names),
            view: Some(RowView {
                database: view.database().to_owned(),
                name: view.name().to_owned(),
                check: target.check.map(|check| Bound::of_plan(check, &context)),
            }),
            unlisted: Some(target.columns.into_iter().flatten().collect()),
        })
    }

    /// The positions in the table of the columns that a statement lists; those that it means without
    /// a list.
    pub(super) fn columns(&self, list: Option<&[Vec<Ident>]>) -> Result<Vec<usize>> {
        match (&self.unlisted, list) {
            (Some(unlisted), None) => Ok(unlisted.clone()),
            _ => listed_columns(&self.names, list),
        }
    }
}

impl RowView {
    /// The rows of the table that the view would show; `None`: all.
    pub(super) fn shows(&self, rows: &Batch) -> Result<Option<BooleanArray>> {
        match &self.check {
            None => Ok(None),
            Some(check) => Ok(true_rows(&check.evaluate(rows)?)),
        }
    }

    /// Error 1369: the view would not show a row.
    pub(super) fn refusal(&self) -> Error {
        codes::ER_VIEW_CHECK_FAILED.with(&[&self.database, &self.name])
    }

    /// Error 1423: a column that the view does not have has no default.
    pub(super) fn no_default(&self) -> Error {
        codes::ER_NO_DEFAULT_FOR_VIEW_FIELD.with(&[&self.database, &self.name])
    }
}

/// The rows at which a condition is true; `None`: at all.
pub(super) fn true_rows(values: &arrow_array::ArrayRef) -> Option<BooleanArray> {
    let values = values.as_boolean_opt()?;
    let is_true = |row: usize| values.is_valid(row) && values.value(row);
    let rows: Vec<bool> = (0..values.len()).map(is_true).collect();
    rows.contains(&false).then(|| BooleanArray::from(rows))
}
