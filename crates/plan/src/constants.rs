//! Values of constants before a statement runs.

use mayfly_types::Value;

use crate::tree::expression::Expression;

/// Who computes constants for the planner, which can compute nothing itself.
pub trait Constants {
    /// The value of an expression that reads nothing and always gives the same, if it gives one without an error.
    fn constant(&self, expression: &Expression) -> Option<Value> {
        let _ = expression;
        None
    }
}
