//! From a statement's AST to a plan: bind → logical → rules → physical.
//!
//! Plans are immutable, printable data; all run state lives in `exec`. Tables are seen only
//! through this crate's own [`Catalog`].

mod access;
pub mod bind;
pub mod catalog;
pub mod change;
pub mod date_parameter;
mod estimate;
pub mod explain;
mod lower;
mod not_supported;
pub mod options;
mod predicates;
mod removal;
mod rules;
mod table_size;
#[cfg(test)]
mod testing;
mod text;
pub mod tree;
mod walk;

pub use access::key_value;
pub use bind::has_aggregates;
pub use bind::{ChangedTable, ScalarColumn, ScalarNames, bind_returning, bind_scalar};
pub use bind::{ViewTarget, bind_view_target};
pub use bind::{as_number, parameter_type};
pub use catalog::{
    Catalog, ColumnSource, ColumnTraits, DefaultSource, Explanation, IndexContent, IndexPartSource,
    IndexSource, TableId, TableSource, TableStatistics, Usage, ValueRange, ViewSource,
    refuse_partitions,
};
pub use change::RowLock;
pub use change::{Assignment, ChangePlan, ChangeTarget, LockingPlan, NewValue, RowCheck};
pub use options::{OptimizerSwitches, PlanOptions};
pub use tree::access::GroupRows;
pub use tree::expression::{Comparison, Expression, ExpressionKind, LENGTH_CASTS};
pub use tree::key_ranges::KeyRanges;
pub use tree::{expression, logical, physical};

use mayfly_syntax::ast;
use mayfly_types::{Result, Stage};

use crate::explain::ChangeKind;

/// Plans an UPDATE.
pub fn bind_update(
    update: &ast::UpdateStatement,
    catalog: &dyn Catalog,
    options: &PlanOptions,
) -> Result<ChangePlan> {
    let bound = bind::bind_update(update, catalog, options)?;
    change(bound, ChangeKind::Update, false, catalog, options)
}

/// Plans a DELETE.
pub fn bind_delete(
    delete: &ast::Delete,
    catalog: &dyn Catalog,
    options: &PlanOptions,
) -> Result<ChangePlan> {
    let bound = bind::bind_delete(delete, catalog, options)?;
    let names_targets = !delete.targets.is_empty();
    change(bound, ChangeKind::Delete, names_targets, catalog, options)
}

fn change(
    bound: change::BoundChange,
    kind: ChangeKind,
    names_targets: bool,
    catalog: &dyn Catalog,
    options: &PlanOptions,
) -> Result<ChangePlan> {
    if !catalog.explains() {
        return change::plan(bound, options);
    }
    let (query, targets) = (bound.query.clone(), &bound.targets);
    let rewritten = explain::rewritten_change(&query, targets, kind, names_targets, options);
    let plan = change::plan(bound, options)?;
    catalog.explain(Explanation {
        rewritten,
        removals: removal::removals(&query, &plan.query, options),
    });
    Ok(plan)
}

/// Plans a query with FOR UPDATE or FOR SHARE; `None` when it locks nothing.
pub fn bind_locking(
    query: &ast::Query,
    catalog: &dyn Catalog,
    options: &PlanOptions,
) -> Result<Option<LockingPlan>> {
    let bound = bind::bind_locking(query, catalog, options)?;
    bound
        .map(|bound| change::plan_locking(bound, options))
        .transpose()
}

/// Plans a query, all the way to operators.
pub fn bind_query(
    query: &ast::Query,
    catalog: &dyn Catalog,
    options: &PlanOptions,
) -> Result<physical::QueryPlan> {
    let mut bound = bind::bind(query, catalog, options)?;
    let before = catalog.explains().then(|| bound.clone());
    catalog.enters(Stage::Optimizing);
    rules::rewrite(&mut bound, options);
    let plan = lower::lower(bound)?;
    if let Some(bound) = before {
        catalog.explain(Explanation {
            rewritten: explain::rewritten(&bound, options),
            removals: removal::removals(&bound, &plan, options),
        });
    }
    Ok(plan)
}
