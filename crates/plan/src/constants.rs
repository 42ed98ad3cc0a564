//! Constant folding before a statement runs.

use mayfly_types::Value;

use crate::tree::expression::Expression;

/// Evaluator of constants for the planner, which has no evaluator of its own.
pub trait Constants {
    /// Value of an immutable expression without columns, if it can be computed without an error.
    fn constant(&self, expression: &Expression) -> Option<Value> {
        let _ = expression;
        None
    }
}
