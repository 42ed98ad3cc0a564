//! Rows of relations, and shorthands for their values.

use mayfly_types::{SqlType, TypeKind, Value};

use crate::builder::ColumnBuilder;

/// A row: one value per column.
pub(crate) type Row = Vec<Value>;

/// Makes a row of values, converted by [`IntoValue`].
macro_rules! row {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::information_schema::row::IntoValue::into_value($value)),*]
    };
}
pub(crate) use row;

/// Conversion to a value of a row.
pub(crate) trait IntoValue {
    fn into_value(self) -> Value;
}

impl IntoValue for Value {
    fn into_value(self) -> Value {
        self
    }
}

impl IntoValue for u64 {
    fn into_value(self) -> Value {
        Value::UInt(self)
    }
}

impl IntoValue for String {
    fn into_value(self) -> Value {
        Value::Bytes(self.into_bytes())
    }
}

impl IntoValue for &String {
    fn into_value(self) -> Value {
        self.as_str().into_value()
    }
}

impl IntoValue for &str {
    fn into_value(self) -> Value {
        Value::from(self)
    }
}

/// `None` is NULL.
impl<V: IntoValue> IntoValue for Option<V> {
    fn into_value(self) -> Value {
        self.map_or(Value::Null, V::into_value)
    }
}

/// A text value.
pub(crate) fn text(text: impl Into<String>) -> Value {
    Value::Bytes(text.into().into_bytes())
}

/// YES or NO.
pub(crate) fn yes_no(yes: bool) -> &'static str {
    if yes { "YES" } else { "NO" }
}

/// Appends a value in its column's storage type: an ENUM or SET value as a number.
pub(super) fn push_stored(column: &mut ColumnBuilder, value: &Value, ty: &SqlType) {
    match ty.kind {
        TypeKind::Enum | TypeKind::Set => column.push(&number_of_members(value, ty)),
        _ => column.push(value),
    }
}

/// The number of an ENUM's or SET's text; NULL for an invalid one.
fn number_of_members(value: &Value, ty: &SqlType) -> Value {
    let Value::Bytes(text) = value else {
        return Value::Null;
    };
    let position = |text: &[u8]| {
        let mut members = ty.members.iter();
        members.position(|member| member.as_bytes() == text)
    };
    let number = match ty.kind {
        TypeKind::Enum => position(text).map(|position| position as u64 + 1),
        _ => Some(
            text.split(|byte| *byte == b',')
                .filter_map(position)
                .fold(0, |bits, position| bits | 1 << (position & 63)),
        ),
    };
    number.map_or(Value::Null, Value::UInt)
}
