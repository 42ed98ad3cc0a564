//! From a statement's AST to a plan: bind → logical → rules → physical.
//!
//! Plans are immutable, printable data; all run state lives in `exec`. Tables are seen only
//! through this crate's own [`Catalog`].

pub mod access;
pub mod bind;
pub mod catalog;
pub mod change;
pub mod date_parameter;
pub mod explain;
pub mod expression;
pub mod logical;
pub mod options;
pub mod physical;
mod rules;
#[cfg(test)]
mod testing;
mod text;

pub use bind::{ChangedTable, ScalarColumn, ScalarNames, bind_returning, bind_scalar};
pub use bind::{LENGTH_CASTS, RowLock, has_aggregates};
pub use bind::{ViewTarget, bind_view_target};
pub use bind::{as_number, parameter_type};
pub use catalog::{
    Catalog, ColumnSource, ColumnTraits, DefaultSource, IndexPartSource, IndexSource, TableId,
    TableSource, TableStatistics, Usage, ValueRange, ViewSource, refuse_partitions,
};
pub use change::{Assignment, ChangePlan, ChangeTarget, LockingPlan, NewValue, RowCheck};
pub use expression::{Comparison, Expression, ExpressionKind};
pub use options::{OptimizerSwitches, PlanOptions};

use mayfly_syntax::ast;
use mayfly_types::Result;

/// Plans an UPDATE.
pub fn bind_update(
    update: &ast::UpdateStatement,
    catalog: &dyn Catalog,
    options: &PlanOptions,
) -> Result<ChangePlan> {
    change::plan(bind::bind_update(update, catalog, options)?, options)
}

/// Plans a DELETE.
pub fn bind_delete(
    delete: &ast::Delete,
    catalog: &dyn Catalog,
    options: &PlanOptions,
) -> Result<ChangePlan> {
    change::plan(bind::bind_delete(delete, catalog, options)?, options)
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
    rules::rewrite(&mut bound, options);
    physical::build::lower(bound)
}
