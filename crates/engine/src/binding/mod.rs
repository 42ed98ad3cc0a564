//! Name resolution: the planner's interface to tables, views and variables, and expressions outside of queries.

pub(crate) mod expressions;
pub(crate) mod session_catalog;
pub(crate) mod table_functions;
