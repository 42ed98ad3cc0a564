//! Conversions, which are `types`' work: here only constants are kept constant.

use mayfly_functions::{Column, EvaluationContext};
use mayfly_types::{PhysicalType, Result, SqlType, Value};

use super::values::{repeat, value_at};

/// Converts a column from one type to another, as CAST does.
pub(super) fn cast(
    input: Column,
    from: &SqlType,
    to: &SqlType,
    _row_count: usize,
    context: &EvaluationContext,
) -> Result<Column> {
    let (source, target) = (from.physical(), to.physical());
    match input {
        Column::Constant(Value::Null) => Ok(Column::Constant(Value::Null)),
        Column::Constant(value) => {
            let one = repeat(&value, source, 1);
            let one = convert(&one, from, to, context)?;
            Ok(Column::Constant(value_at(&one, 0, target)))
        }
        Column::Array(array) => Ok(Column::Array(convert(&array, from, to, context)?)),
    }
}

fn convert(
    array: &arrow_array::ArrayRef,
    from: &SqlType,
    to: &SqlType,
    _context: &EvaluationContext,
) -> Result<arrow_array::ArrayRef> {
    let (source, target) = (from.physical(), to.physical());
    if source == target {
        return Ok(std::sync::Arc::clone(array));
    }
    let rows: Vec<Value> = (0..array.len())
        .map(|row| match (value_at(array, row, source), target) {
            (Value::Int(v), PhysicalType::UInt64) => Value::UInt(v as u64),
            (Value::UInt(v), PhysicalType::Int64) => Value::Int(v as i64),
            (Value::Int(v), PhysicalType::Float64) => Value::Float(v as f64),
            (Value::UInt(v), PhysicalType::Float64) => Value::Float(v as f64),
            (v, _) => v,
        })
        .collect();
    Ok(super::values::array_of(&rows, target))
}
