//! Values of AUTO_INCREMENT columns.

use mayfly_types::{SqlMode, SqlType, TypeKind, Value};

/// Whether a value is an explicit AUTO_INCREMENT number; otherwise the row gets the next one.
#[inline]
pub(super) fn is_explicit(value: &Value, mode: SqlMode) -> bool {
    match value {
        Value::Null => false,
        Value::Int(0) | Value::UInt(0) => mode.has(SqlMode::NO_AUTO_VALUE_ON_ZERO),
        Value::Float(number) if *number == 0.0 => mode.has(SqlMode::NO_AUTO_VALUE_ON_ZERO),
        _ => true,
    }
}

/// A value of an AUTO_INCREMENT column as a number; 0 for a negative one.
#[inline]
pub(super) fn number_of(value: &Value) -> u64 {
    match value {
        Value::Int(number) => u64::try_from(*number).unwrap_or(0),
        Value::UInt(number) => *number,
        Value::Float(number) if *number > 0.0 => *number as u64,
        _ => 0,
    }
}

/// The greatest number of an AUTO_INCREMENT column's type.
pub(super) fn greatest(ty: &SqlType) -> u64 {
    let bits = match ty.kind {
        TypeKind::TinyInt => 8,
        TypeKind::SmallInt => 16,
        TypeKind::MediumInt => 24,
        TypeKind::Int => 32,
        _ => 64,
    };
    u64::MAX >> (64 - bits + u32::from(!ty.unsigned))
}
