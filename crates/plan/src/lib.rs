//! From a statement's AST to a plan: bind → logical → rules → physical.
//!
//! Plans are immutable, printable data; all run state lives in `exec`. Tables are seen only
//! through this crate's own [`Catalog`].

pub mod catalog;
pub mod expression;
pub mod logical;
pub mod options;
pub mod physical;

pub use catalog::{Catalog, ColumnSource, TableId, TableSource};
pub use expression::{Comparison, Expression, ExpressionKind};
pub use options::{OptimizerSwitches, PlanOptions};
