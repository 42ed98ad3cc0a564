//! Relations, and shorthands for their rows.

use mayfly_types::{SqlType, TypeKind, Value};

use super::asked::Asked;
use crate::session::StatementContext;

/// A row: one value per column.
pub(crate) type Row = Vec<Value>;

/// A table computed from the engine's state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Relation {
    /// Its name, prefixed by its database's unless that is `information_schema`. The files of
    /// [`standard`](super::standard) list its columns under this name.
    pub(crate) name: &'static str,
    /// Its rows for a session. An ENUM or SET value is given as text.
    pub(crate) rows: Rows,
    /// Whether it needs the PROCESS privilege.
    pub(super) needs_process: bool,
}

/// Function that returns rows about the tables and views that a statement needs.
pub(crate) type RowsOfTables = fn(&StatementContext<'_>, &Asked<'_>) -> Vec<Row>;

/// Source of a relation's rows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rows {
    /// The engine's state.
    OfState(fn(&StatementContext<'_>) -> Vec<Row>),
    /// Tables and views.
    OfTables(RowsOfTables),
}

impl Relation {
    pub(super) const fn new(
        name: &'static str,
        rows: fn(&StatementContext<'_>) -> Vec<Row>,
    ) -> Self {
        Self {
            name,
            rows: Rows::OfState(rows),
            needs_process: false,
        }
    }

    /// A relation with rows about tables or views, whose names are in `TABLE_SCHEMA` and `TABLE_NAME`.
    pub(super) const fn of_tables(name: &'static str, rows: RowsOfTables) -> Self {
        Self {
            name,
            rows: Rows::OfTables(rows),
            needs_process: false,
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

/// Converts a row to its columns' storage types: ENUM and SET values to numbers.
pub(super) fn stored(mut row: Row, types: &[SqlType]) -> Row {
    for (value, ty) in row.iter_mut().zip(types) {
        if matches!(ty.kind, TypeKind::Enum | TypeKind::Set) {
            *value = number_of_members(value, ty);
        }
    }
    row
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
