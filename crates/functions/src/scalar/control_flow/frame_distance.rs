//! The offset of a window frame's bound, which must be neither NULL nor negative. The planner adds this call around
//! offsets that are known only at run time.

use arrow_array::ArrayRef;
use mayfly_types::convert::array_value;
use mayfly_types::error::codes;
use mayfly_types::{Result, Value};

use crate::scalar::Row;
use crate::scalar::facts::Printed;
use crate::{Binding, Call, Column, Signature, input, output};

pub(crate) const FUNCTIONS: &[Row] =
    &[Row::new(&["frame distance"], 2..=2, signature, evaluate).printed(Printed::FirstArgument)];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let distance = &binding.arguments[0];
    let types = binding.each(|argument| argument.ty.clone());
    Ok(
        Signature::new(types, distance.ty.clone(), distance.nullable)
            .with_coercibility(distance.coercibility),
    )
}

/// The first argument; error 3586 if it is no valid offset, with the window's name from the second.
fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let refuse = |row: usize| {
        let name = input::texts(&call.arguments[1])?;
        let name = String::from_utf8_lossy(name.get(row).unwrap_or_default()).into_owned();
        Err(codes::ER_WINDOW_FRAME_ILLEGAL.with(&[&name]))
    };
    match &call.arguments[0] {
        Column::Constant(value) if !is_distance(value) && call.rows > 0 => refuse(0)?,
        Column::Constant(_) => {}
        Column::Array(array) => {
            let mut rows = 0..call.rows;
            if let Some(row) = rows.find(|row| !is_distance(&array_value(array, *row))) {
                refuse(row)?;
            }
        }
    }
    Ok(match &call.arguments[0] {
        Column::Constant(value) => output::repeat(value, call.ty(0), call.rows),
        Column::Array(array) => ArrayRef::clone(array),
    })
}

/// Whether a value is a valid offset of a frame's bound.
pub fn is_distance(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Int(number) => *number >= 0,
        Value::Float(number) => *number >= 0.0,
        Value::Decimal { unscaled, .. } => !unscaled.is_negative(),
        // `-0` is not negative.
        Value::Bytes(text) => {
            let text = text.trim_ascii_start();
            !text.starts_with(b"-") || !text.iter().any(|byte| (b'1'..=b'9').contains(byte))
        }
        _ => true,
    }
}
