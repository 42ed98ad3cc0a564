//! Arguments of kernels: a column of values, or one value for all rows.

use arrow_array::ArrayRef;
use mayfly_types::Value;

/// One argument of a vectorised call.
#[derive(Debug, Clone)]
pub enum Column {
    /// A value for each row.
    Array(ArrayRef),
    /// One value for every row: literals, parameters and variables are never expanded unless a kernel asks for it.
    Constant(Value),
}

impl Column {
    /// Whether it is the constant NULL.
    pub fn is_constant_null(&self) -> bool {
        matches!(self, Self::Constant(Value::Null))
    }
}
