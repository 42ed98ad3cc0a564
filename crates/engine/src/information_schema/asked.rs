//! Selection of a relation's rows by the names of tables: the conditions of a statement's scans tell which tables are
//! needed. No rows are made for others, so that a statement on one table looks at one.

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

/// Function that plans a view: its columns, or `None` when the view is invalid.
pub(crate) type ViewColumns<'v> = dyn Fn(&ViewDefinition) -> Option<Vec<OutputColumn>> + 'v;

/// The tables and views for which a statement needs rows of a relation.
pub(crate) struct Asked<'a> {
    /// All relations, as the planner sees them.
    relations: &'static [Arc<TableSource>],
    views: &'a ViewColumns<'a>,
    /// (database, name) of the tables and views; `None` for all.
    names: Option<HashSet<(String, String)>>,
}

/// The databases with relations.
pub(super) const SYSTEM_SCHEMAS: [&str; 4] =
    ["information_schema", "mysql", "performance_schema", "sys"];

impl<'a> Asked<'a> {
    /// The tables that a question needs, among those of the catalog and these relations; `source` is the relation
    /// that is read.
    pub(super) fn new(
        context: &StatementContext<'_>,
        question: &Question<'a>,
        source: &TableSource,
        relations: &'static [Arc<TableSource>],
    ) -> Self {
        let names = question.plan.and_then(|plan| {
            let all = all_names(context, relations);
            names(context, source, plan, all, question.execution)
        });
        Self {
            relations,
            views: question.views,
            names,
        }
    }

    /// The columns of a view.
    pub(super) fn view_columns(&self, view: &ViewDefinition) -> Option<Vec<OutputColumn>> {
        (self.views)(view)
    }

    /// Whether a table or view is needed.
    pub(super) fn has(&self, database: &str, name: &str) -> bool {
        let names = self.names.as_ref();
        names.is_none_or(|names| names.contains(&(database.to_owned(), name.to_owned())))
    }

    /// The needed relations of a schema, without those for SHOW statements, whose names begin with `#`.
    pub(super) fn relations(
        &self,
        schema: &str,
    ) -> impl Iterator<Item = &'static Arc<TableSource>> {
        let of_schema = self.relations.iter();
        let of_schema = of_schema.filter(move |source| source.database == schema);
        of_schema
            .filter(move |source| !source.name.starts_with('#') && self.has(schema, &source.name))
    }

    /// The needed base tables that are visible.
    pub(super) fn tables(&self, context: &StatementContext<'_>) -> Vec<Arc<BaseTable>> {
        let mut tables = context.privileges().visible_tables();
        tables.retain(|table| self.has(&table.definition.database, &table.definition.name));
        tables
    }

    /// The needed views that are visible.
    pub(super) fn views(&self, context: &StatementContext<'_>) -> Vec<Arc<ViewDefinition>> {
        let mut views = context.privileges().visible_views();
        views.retain(|view| self.has(view.database(), view.name()));
        views
    }
}

/// The names that the scans need; `None` for all, or when it is unknown.
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
        // The statement itself will raise the error, if it evaluates this.
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
    relations: &[Arc<TableSource>],
) -> Vec<(String, String)> {
    let name = |database: &str, name: &str| (database.to_owned(), name.to_owned());
    let relations = relations.iter();
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

/// Request for a relation's rows by a statement.
pub(crate) struct Question<'a> {
    pub(crate) id: TableId,
    /// The statement's plan, if known.
    pub(crate) plan: Option<&'a QueryPlan>,
    /// The execution context for evaluating expressions.
    pub(crate) execution: &'a Arc<ExecutionContext>,
    /// Plans views.
    pub(crate) views: &'a ViewColumns<'a>,
}
