//! Binder: from names and MySQL's types to a logical plan.
//!
//! The binder walks the AST once. The context of an expression (visible tables, its clause, the aggregates of its query
//! block) is in a stack of [`scope::Scope`]s, one for each query block that is being bound, the innermost last; a name
//! that is not found in the innermost one is resolved in the enclosing ones, which makes a correlated subquery.
//!
//! Aggregates: an aggregate call becomes a new column of its query block. After the whole block is
//! bound, [`group`] puts an Aggregate below the expressions that stand above it and decides which
//! columns they may read.

mod binder;
mod block;
mod buffered;
mod buffering;
mod change;
mod collation;
mod comparison;
mod expression;
mod from;
mod group;
mod having;
mod index_hints;
mod inserted_view;
mod kept;
mod literal;
mod locking;
mod numbers;
mod own_reads;
mod parameters;
mod query;
mod rights;
mod scalar;
mod scalar_names;
mod scope;
mod select;
mod structured;
mod types;
mod variables;
mod view_target;
mod window;
mod window_scope;
mod with;

use binder::Binder;
use mayfly_syntax::ast;
use mayfly_types::Result;

use crate::catalog::Catalog;
use crate::options::PlanOptions;
use crate::tree::logical::Query;
pub(crate) use change::{bind_delete, bind_update};
pub use expression::{array_cast, array_element_type};
pub use expression::{calls_aggregates, has_aggregates, has_window_functions, is_built_in};
pub use inserted_view::{ViewTarget, bind_view_target};
pub(crate) use locking::bind_locking;
pub use numbers::as_stored_number;
pub use parameters::parameter_type;
pub use scalar::{bind_returning, bind_scalar};
pub use scalar_names::{ChangedTable, ScalarColumn, ScalarNames};
pub(crate) use types::{argument, cast, compare as compare_expression, not as not_expression};
pub use variables::check_user_variable;
pub use view_target::has_outer_join;

/// Binds a query to a logical plan; [`crate::bind_query`] plans it down to operators.
pub fn bind(query: &ast::Query, catalog: &dyn Catalog, options: &PlanOptions) -> Result<Query> {
    let mut binder = Binder::new(catalog, options);
    let mut block = binder.bind_query_expression(query, true)?;
    binder.show_variables(&mut block);
    Ok(binder.finish(block))
}
