//! The trees that a plan consists of: expressions, the logical operators over them, and the physical ones.
//!
//! They are defined together because each contains the others: a subquery is an expression that holds a relation, an
//! operator holds expressions, and an access path holds the values of its keys. These definitions are four files
//! (`access`, `expression`, `logical`, `physical`); what is computed from them stands in files that those do not import.

pub mod access;
pub mod expression;
pub mod logical;
pub mod physical;
