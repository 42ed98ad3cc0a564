//! What names in a statement mean: the planner's way to tables, views and variables, and expressions outside of
//! queries.

pub(crate) mod expressions;
pub(crate) mod session_catalog;
