//! Planner: from a statement's AST to a plan (bind → logical → rules → physical).
//!
//! Plans are immutable, printable data; all run state lives in `exec`. Tables are seen only
//! through this crate's own [`Catalog`].

mod access;
mod asked;
pub mod bind;
pub mod catalog;
pub mod change;
mod constants;
mod date_text;
mod document;
pub mod eras;
mod estimate;
pub mod explain;
mod lower;
mod not_supported;
pub mod options;
mod predicates;
mod removal;
mod rules;
mod stack;
pub mod statistics;
mod table_size;
#[cfg(test)]
mod testing;
mod text;
mod trace;
pub mod tree;
mod walk;
pub mod window;

pub use access::key_value;
pub use bind::is_built_in;
pub use bind::{ChangedTable, ScalarColumn, ScalarNames, bind_returning, bind_scalar};
pub use bind::{ViewTarget, bind_view_target};
pub use bind::{array_cast, array_element_type};
pub use bind::{as_stored_number, check_user_variable, parameter_type};
pub use bind::{calls_aggregates, has_aggregates, has_outer_join, has_window_functions};
pub use catalog::{
    Catalog, ColumnSource, ColumnTraits, DefaultSource, Explanation, IndexContent, IndexPartSource,
    IndexSource, ParameterPlace, ScanCapabilities, TableId, TableSource, TableStatistics, Usage,
    ValueRange, ViewSource, refuse_partitions,
};
pub use change::RowLock;
pub use change::{Assignment, ChangePlan, ChangeTarget, LockingPlan, NewValue, RowCheck};
pub use constants::Constants;
pub use date_text::check_date_text;
pub use options::{OptimizerSwitches, PlanOptions};
pub use stack::with_stack;
pub use statistics::ColumnStatistics;
pub use trace::{Trace, TraceFeatures, TraceLayout};
pub use tree::access::{GroupRows, KeyRanges};
pub use tree::expression::{Comparison, Expression, ExpressionKind, LENGTH_CASTS};

pub use tree::{expression, logical, physical};

use mayfly_syntax::ast;
use mayfly_types::{Result, Stage};

use crate::document::Document;
use crate::explain::{ChangeKind, MemoryLimit, Subject};
use crate::rules::Planning;

/// Plans an UPDATE.
pub fn bind_update(
    update: &ast::UpdateStatement,
    catalog: &dyn Catalog,
    options: &PlanOptions,
) -> Result<ChangePlan> {
    traced(catalog, || {
        let bound = bind::bind_update(update, catalog, options)?;
        change(bound, ChangeKind::Update, false, catalog, options)
    })
}

/// Plans a DELETE.
pub fn bind_delete(
    delete: &ast::Delete,
    catalog: &dyn Catalog,
    options: &PlanOptions,
) -> Result<ChangePlan> {
    traced(catalog, || {
        let bound = bind::bind_delete(delete, catalog, options)?;
        let names_targets = !delete.targets.is_empty();
        change(bound, ChangeKind::Delete, names_targets, catalog, options)
    })
}

fn change(
    bound: change::BoundChange,
    kind: ChangeKind,
    names_targets: bool,
    catalog: &dyn Catalog,
    options: &PlanOptions,
) -> Result<ChangePlan> {
    let planning = Planning::new(options, catalog);
    if !planning.sizes_tables {
        return change::plan(bound, &planning);
    }
    let (query, targets) = (bound.query.clone(), &bound.targets);
    let text = |query: &logical::Query| explain::change_text(query, targets, kind, names_targets);
    let rewritten = text(&explain::shaped(&query, options));
    if let Some(trace) = planning.trace {
        trace.prepared(trace::object("expanded_query", text(&query)));
        trace.rewritten(rewritten.clone());
    }
    let plan = change::plan(bound, &planning)?;
    let explanation = Explanation {
        rewritten,
        removals: removal::removals(&query, &plan.query, options),
    };
    explained(catalog, &plan.query, explanation);
    Ok(plan)
}

/// Plans a query with FOR UPDATE or FOR SHARE; `None` if it locks nothing.
pub fn bind_locking(
    query: &ast::Query,
    catalog: &dyn Catalog,
    options: &PlanOptions,
) -> Result<Option<LockingPlan>> {
    traced(catalog, || {
        let Some(bound) = bind::bind_locking(query, catalog, options)? else {
            // The change is planned as a query instead.
            catalog.trace().inspect(|trace| trace.abandon());
            return Ok(None);
        };
        let planning = Planning::new(options, catalog);
        let Some(trace) = planning.trace else {
            return change::plan_locking(bound, &planning).map(Some);
        };
        let query = bound.query.clone();
        note_query(trace, &query, explain::rewritten(&query, options));
        let plan = change::plan_locking(bound, &planning)?;
        let removals = removal::removals(&query, &plan.query, options);
        note_temporary_tables(trace, &plan.query, &removals);
        Ok(Some(plan))
    })
}

/// Plans a query, from binding to operators.
pub fn bind_query(
    query: &ast::Query,
    catalog: &(impl Catalog + Constants),
    options: &PlanOptions,
) -> Result<physical::QueryPlan> {
    plan_query(query, (catalog, catalog), options)
}

fn plan_query(
    query: &ast::Query,
    (catalog, constants): (&dyn Catalog, &dyn Constants),
    options: &PlanOptions,
) -> Result<physical::QueryPlan> {
    traced(catalog, || {
        let mut bound = bind::bind(query, catalog, options)?;
        let planning = Planning {
            constants: Some(constants),
            ..Planning::new(options, catalog)
        };
        let before = planning
            .sizes_tables
            .then(|| (bound.clone(), explain::rewritten(&bound, options)));
        if let (Some(trace), Some((bound, rewritten))) = (planning.trace, &before) {
            note_query(trace, bound, rewritten.clone());
        }
        catalog.enters(Stage::Optimizing);
        rules::rewrite(&mut bound, &planning);
        let plan = lower::lower(bound, &planning)?;
        if let Some((bound, rewritten)) = before {
            let removals = removal::removals(&bound, &plan, options);
            let explanation = Explanation {
                rewritten,
                removals,
            };
            explained(catalog, &plan, explanation);
        }
        Ok(plan)
    })
}

/// Runs `plan`; the trace of a failed plan is discarded.
fn traced<T>(catalog: &dyn Catalog, plan: impl FnOnce() -> Result<T>) -> Result<T> {
    let Some(trace) = catalog.trace() else {
        return plan();
    };
    trace.begin();
    plan().inspect_err(|_| trace.abandon())
}

fn note_query(trace: &Trace, bound: &logical::Query, rewritten: String) {
    let text = explain::query_text(bound);
    trace.prepared(trace::object("expanded_query", text));
    trace.rewritten(rewritten);
}

/// Reports the results of EXPLAIN to the catalog.
fn explained(catalog: &dyn Catalog, plan: &physical::QueryPlan, explanation: Explanation) {
    if let Some(trace) = catalog.trace() {
        note_temporary_tables(trace, plan, &explanation.removals);
    }
    if catalog.explains() {
        catalog.explain(explanation);
    }
}

fn note_temporary_tables(trace: &Trace, plan: &physical::QueryPlan, removals: &[Option<String>]) {
    let limits = trace.limits().iter().cloned();
    let limits = limits.map(|(setting, bytes)| MemoryLimit { setting, bytes });
    let limits: Vec<MemoryLimit> = limits.collect();
    let subject = Subject {
        query: Some(plan),
        removals,
        limits: &limits,
        ..Subject::default()
    };
    for (select_id, table) in explain::planned_tables(&subject, plan) {
        let table = Document::from(vec![("adding_tmp_table", table)]);
        trace.note(select_id, trace::Step::TemporaryTables, table);
    }
}
