//! EXPLAIN: a plan as MySQL's users know it, in the traditional format, as a tree, and as JSON.
//!
//! All formats read the physical plan alone, so that they show what will run. In the tree a
//! temporary table is followed by the reason why it exists, in brackets:
//! `-> Aggregate using temporary table  (cost=0.55 rows=2) [GROUP BY has no index to follow]`.

mod access;
mod json;
mod outline;
mod traditional;
mod tree;

pub use json::json;
pub use traditional::{ExplainRow, traditional};
pub use tree::tree;

#[cfg(test)]
mod tests;
