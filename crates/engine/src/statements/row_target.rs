//! Targets of new rows: a table, or the table below a view.
//!
//! A statement that adds rows through a view names the view's columns. For it they are the table's columns under
//! other names ([`RowTarget::names`]); columns that the view does not have cannot be named.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray};
use mayfly_exec::ExecutionContext;
use mayfly_plan::{ChangedTable, Expression, PlanOptions, ScalarNames};
use mayfly_syntax::ast::{Expr, Ident, TableName};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Error, Result, SqlType};

use super::listed_columns::listed_columns;
use crate::binding::expressions::Bound;
use crate::binding::session_catalog::SessionCatalog;
use crate::cached_plan::RowView;
use crate::catalog::BaseTable;
use crate::catalog::definition::TableDefinition;
use crate::catalog::view::ViewDefinition;
use crate::names::same_name;
use crate::session::StatementContext;
use crate::statements::admission::{self, Additions};
use crate::statements::table_names::{changeable_table, qualified};

/// Target of new rows.
pub(super) struct RowTarget {
    pub(super) table: Arc<BaseTable>,
    /// The table's definition with the names that the statement uses.
    pub(super) names: Arc<TableDefinition>,
    /// The view.
    pub(super) view: Option<RowView>,
    /// The columns that a statement without a column list means, if not the table's own.
    unlisted: Option<Vec<usize>>,
}

/// A view through which a running statement adds rows.
pub(crate) struct RunningView<'v> {
    view: &'v RowView,
    check: Option<Bound>,
}

impl RowTarget {
    /// The changed table, under the statement's names.
    pub(super) fn changed(&self) -> ChangedTable<'_> {
        ChangedTable {
            table: self.table.id,
            name: &self.names.name,
            view_of: self.view.as_ref().map(|view| view.database.as_str()),
            alone: false,
        }
    }

    /// The table or view of a name, if the session may add rows to it.
    pub(super) fn find(
        context: &StatementContext<'_>,
        (session_catalog, options): (&SessionCatalog<'_>, &PlanOptions),
        name: &TableName,
        partitions: &[String],
        additions: Additions<'_>,
    ) -> Result<Self> {
        let (database, name) = qualified(context, name)?;
        let own = context.temporary_table(&database, &name).is_some();
        if !own && !context.privileges().is_unrestricted() {
            admission::added_rows(&context.rights(), (&database, &name), additions)?;
        }
        let list = additions.listed.map(|names| names.iter().copied());
        let catalog = context.catalog();
        if !own && let Some(view) = catalog.view(&database, &name) {
            if !partitions.is_empty() {
                return Err(mayfly_plan::refuse_partitions(false));
            }
            return Self::of_view(context, (session_catalog, options), &view, list);
        }
        let table = changeable_table(context, &database, &name)?;
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
        context: &StatementContext<'_>,
        (session_catalog, options): (&SessionCatalog<'_>, &PlanOptions),
        view: &ViewDefinition,
        list: Option<impl Iterator<Item = &'n str>>,
    ) -> Result<Self> {
        let source = &view.source;
        let position = |name: &str| {
            let position = source.columns.iter().position(|own| same_name(own, name));
            position.ok_or_else(|| codes::ER_BAD_FIELD_ERROR.with(&[&name, &"field list"]))
        };
        let listed: Option<Vec<usize>> = list
            .map(|names| names.map(position).collect())
            .transpose()?;
        let listed = listed.as_deref();
        let target =
            mayfly_plan::bind_view_target(source, listed, "INSERT", session_catalog, options)?;
        let (database, name) = (&target.table.database, &target.table.name);
        let table = changeable_table(context, database, name)?;
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
        for (column, _) in names
            .columns
            .iter_mut()
            .zip(known)
            .filter(|(_, known)| !known)
        {
            // No identifier is empty.
            column.name.clear();
            column.invisible = true;
        }
        Ok(Self {
            table,
            names: Arc::new(names),
            view: Some(RowView {
                database: view.database().to_owned(),
                name: view.name().to_owned(),
                check: target.check.map(Arc::new),
            }),
            unlisted: Some(target.columns.into_iter().flatten().collect()),
        })
    }

    /// The positions in the table of the listed columns, or of those meant without a list.
    pub(super) fn columns(&self, list: Option<&[Vec<Ident>]>) -> Result<Vec<usize>> {
        match (&self.unlisted, list) {
            (Some(unlisted), None) => Ok(unlisted.clone()),
            _ => listed_columns(&self.names, list),
        }
    }
}

impl RowView {
    /// The view bound for a running statement, which has opened the tables that its condition reads.
    pub(super) fn run(&self, execution: &Arc<ExecutionContext>) -> RunningView<'_> {
        let check = self.check.as_ref();
        RunningView {
            view: self,
            check: check.map(|check| Bound::of_plan(Arc::clone(check), execution)),
        }
    }
}

impl RunningView<'_> {
    /// The rows that pass WITH CHECK OPTION; `None`: all.
    pub(super) fn shows(&self, rows: &Batch) -> Result<Option<BooleanArray>> {
        match &self.check {
            None => Ok(None),
            Some(check) => Ok(true_rows(&check.evaluate(rows)?)),
        }
    }

    /// Error 1369: a row fails WITH CHECK OPTION.
    pub(super) fn refusal(&self) -> Error {
        codes::ER_VIEW_CHECK_FAILED.with(&[&self.view.database, &self.view.name])
    }

    /// Error 1423: a column outside of the view has no default.
    pub(super) fn no_default(&self) -> Error {
        codes::ER_NO_DEFAULT_FOR_VIEW_FIELD.with(&[&self.view.database, &self.view.name])
    }
}

/// Binds the value of a column of a type: for a column of numbers `x'41'` is a number.
pub(super) fn bind_value(
    expr: &Expr,
    names: ScalarNames<'_>,
    (catalog, options): (&SessionCatalog<'_>, &PlanOptions),
    ty: &SqlType,
) -> Result<Expression> {
    let value = mayfly_plan::bind_scalar(expr, names, catalog, options)?;
    Ok(mayfly_plan::as_stored_number(value, ty))
}

/// The rows at which a condition is true; `None`: all.
pub(super) fn true_rows(values: &arrow_array::ArrayRef) -> Option<BooleanArray> {
    let values = values.as_boolean_opt()?;
    let is_true = |row: usize| values.is_valid(row) && values.value(row);
    let rows: Vec<bool> = (0..values.len()).map(is_true).collect();
    rows.contains(&false).then(|| BooleanArray::from(rows))
}
