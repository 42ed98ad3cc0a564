//! Arguments of kernels: a column of values, or one value for all rows.

use arrow_array::{Array as _, ArrayRef};
use arrow_buffer::BooleanBuffer;
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

/// The rows in which none of some columns is NULL.
pub fn not_null(columns: &[Column], rows: usize) -> BooleanBuffer {
    let mut all = BooleanBuffer::new_set(rows);
    for column in columns {
        match column {
            Column::Constant(value) if value.is_null() => return BooleanBuffer::new_unset(rows),
            Column::Constant(_) => {}
            Column::Array(array) => {
                if let Some(nulls) = array.logical_nulls() {
                    all = &all & nulls.inner();
                }
            }
        }
    }
    all
}
