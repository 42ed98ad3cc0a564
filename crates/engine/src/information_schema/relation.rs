//! Relations, and shorthands for their rows.

use mayfly_types::{SqlType, TypeKind, Value};

use super::asked::Asked;
use super::context::RelationContext;
use crate::builder::ColumnBuilder;

/// A row: one value per column.
pub(crate) type Row = Vec<Value>;

/// A table computed from the engine's state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Relation {
    /// Its name, prefixed by its database's unless that is `information_schema`. The files of
    /// [`standard`](super::standard) list its columns under this name.
    pub(crate) name: &'static str,
    /// Its rows for a session. An ENUM or SET value is given as text.
    rows: Rows,
    /// Estimated number of its rows.
    pub(super) row_count: fn(&RelationContext) -> u64,
    /// Whether it needs the PROCESS privilege.
    pub(super) needs_process: bool,
}

/// Function that makes the rows of a relation.
#[derive(Debug, Clone, Copy)]
enum Rows {
    /// All rows.
    All(fn(&RelationContext) -> Vec<Row>),
    /// At least those that are asked for.
    Asked(fn(&RelationContext, &Asked<'_>) -> Vec<Row>),
}

impl Relation {
    pub(super) const fn new(name: &'static str, rows: fn(&RelationContext) -> Vec<Row>) -> Self {
        Self::of(name, Rows::All(rows))
    }

    /// A relation that makes only the rows that are asked for.
    pub(super) const fn asked(
        name: &'static str,
        rows: fn(&RelationContext, &Asked<'_>) -> Vec<Row>,
    ) -> Self {
        Self::of(name, Rows::Asked(rows))
    }

    const fn of(name: &'static str, rows: Rows) -> Self {
        Self {
            name,
            rows,
            row_count: |_| 100,
            needs_process: false,
        }
    }

    /// Sets the estimated number of rows.
    pub(super) const fn with_row_count(mut self, row_count: fn(&RelationContext) -> u64) -> Self {
        self.row_count = row_count;
        self
    }

    /// The rows that are asked for.
    pub(super) fn rows(&self, context: &RelationContext, asked: &Asked<'_>) -> Vec<Row> {
        match self.rows {
            Rows::All(rows) => rows(context),
            Rows::Asked(rows) => rows(context, asked),
        }
    }

    /// Marks a relation that needs the PROCESS privilege.
    pub(super) const fn of_process(mut self) -> Self {
        self.needs_process = true;
        self
    }

    /// (database, name) of the relation.
    pub(super) fn full_name(&self) -> (&'static str, &'static str) {
        let full = self.name.split_once('.');
        full.unwrap_or(("information_schema", self.name))
    }
}

/// Makes a row of values, converted by [`IntoValue`].
macro_rules! row {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::information_schema::relation::IntoValue::into_value($value)),*]
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
