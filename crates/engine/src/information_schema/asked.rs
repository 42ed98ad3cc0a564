//! Which tables a statement asks a relation about: what the conditions of its scans say of their names. Of others no
//! rows are made, so that a statement on one table looks at one.

use std::collections::HashSet;
use std::sync::Arc;

use mayfly_exec::{ExecutionContext, Program, RunContext, Selection};
use mayfly_plan::physical::{OutputColumn, QueryPlan};
use mayfly_plan::{Expression, TableId, TableSource, scan_conditions};
use mayfly_types::{Batch, Result, SqlType, Value};

use crate::builder;
use crate::catalog::BaseTable;
use crate::catalog::view::ViewDefinition;
use crate::session::StatementContext;

/// Plans a view: its columns, or nothing when it is invalid.
pub(crate) type ViewColumns<'v> = dyn Fn(&ViewDefinition) -> Option<Vec<OutputColumn>> + 'v;

/// The request of a statement to a relation: the columns and rows that it needs.
pub(crate) struct Asked<'a> {
    views: &'a ViewColumns<'a>,
    /// The databases and names of tables and views; all, where nothing is known.
    names: Option<HashSet<(String, String)>>,
}

/// The databases whose tables are relations.
pub(super) const SYSTEM_SCHEMAS: [&str; 4] =
    ["information_schema", "mysql", "performance_schema", "sys"];

impl<'a> Asked<'a> {
    /// What a question asks about the tables of the catalog and these relations, of which `source` is the one that is
    /// read.
    pub(super) fn new(
        context: &StatementContext<'_>,
        question: &Question<'a>,
        source: &TableSource,
        relations: impl Iterator<Item = &'static Arc<TableSource>>,
    ) -> Self {
        let names = question.plan.and_then(|plan| {
            let all = all_names(context, relations);
            names(context, source, plan, all, question.execution)
        });
        Self {
            views: question.views,
            names,
        }
    }

    /// The columns of a view.
    pub(super) fn view_columns(&self, view: &ViewDefinition) -> Option<Vec<OutputColumn>> {
        (self.views)(view)
    }

    /// Whether it asks about a table or view.
    pub(super) fn has(&self, database: &str, name: &str) -> bool {
        let names = self.names.as_ref();
        names.is_none_or(|names| names.contains(&(database.to_owned(), name.to_owned())))
    }

    /// The base tables that it asks about and that are shown.
    pub(super) fn tables(&self, context: &StatementContext<'_>) -> Vec<Arc<BaseTable>> {
        let mut tables = context.privileges().visible_tables();
        tables.retain(|table| self.has(&table.definition.database, &table.definition.name));
        tables
    }

    /// The views that it asks about and that are shown.
    pub(super) fn views(&self, context: &StatementContext<'_>) -> Vec<Arc<ViewDefinition>> {
        let mut views = context.privileges().visible_views();
        views.retain(|view| self.has(view.database(), view.name()));
        views
    }
}

/// The names that some scan asks about; nothing where one asks about any, or it cannot be told.
fn names(
    context: &StatementContext<'_>,
    source: &TableSource,
    plan: &QueryPlan,
    all: Vec<(String, String)>,
    execution: &Arc<ExecutionContext>,
) -> Option<HashSet<(String, String)>> {
    let position = |name: &str| source.columns.iter().position(|column| column.name == name);
    let columns = [position("TABLE_SCHEMA")?, position("TABLE_NAME")?];
    let values = &context.parameters().values;
    let scans = scan_conditions(plan, source.id, &columns, values.len());
    if scans.iter().any(Vec::is_empty) {
        return None;
    }
    let types: Vec<SqlType> = columns
        .iter()
        .map(|column| source.columns[*column].ty.clone())
        .collect();
    let row = |(database, name): &(String, String)| {
        vec![Value::from(database.as_str()), Value::from(name.as_str())]
    };
    let rows: Vec<Vec<Value>> = all.iter().map(row).collect();
    let batch = builder::batch(&types, &rows);
    let run = RunContext::for_expressions(Arc::clone(execution), values);
    let mut names = HashSet::new();
    for conditions in scans {
        // An error is the statement's own, if it comes to it.
        let selected = selected(&conditions, &batch, &run).ok()?;
        let named = all.iter().enumerate();
        let named = named.filter(|(row, _)| selected.contains(*row));
        names.extend(named.map(|(_, name)| name.clone()));
    }
    Some(names)
}

fn selected(conditions: &[Expression], batch: &Batch, run: &RunContext) -> Result<Selection> {
    let mut selected = Selection::All;
    for condition in conditions {
        selected = selected.and_also(Program::compile(condition).select(batch, run)?);
    }
    Ok(selected)
}

/// The databases and names of all tables, views and relations.
fn all_names(
    context: &StatementContext<'_>,
    relations: impl Iterator<Item = &'static Arc<TableSource>>,
) -> Vec<(String, String)> {
    let name = |database: &str, name: &str| (database.to_owned(), name.to_owned());
    let relations = relations.map(|source| name(&source.database, &source.name));
    let mut names: Vec<_> = relations.collect();
    let catalog = context.catalog();
    names.extend(catalog.all_tables().iter().map(|table| {
        let definition = &table.definition;
        name(&definition.database, &definition.name)
    }));
    let views = catalog.all_views();
    names.extend(views.iter().map(|view| name(view.database(), view.name())));
    names
}

/// The relation that a number is of, as a statement asks it.
pub(crate) struct Question<'a> {
    pub(crate) id: TableId,
    /// The statement's plan, where it is known.
    pub(crate) plan: Option<&'a QueryPlan>,
    /// What its expressions are evaluated with.
    pub(crate) execution: &'a Arc<ExecutionContext>,
    /// Plans views.
    pub(crate) views: &'a ViewColumns<'a>,
}
