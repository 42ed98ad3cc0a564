//! What a relation is, and short ways to write its rows.

use mayfly_types::{SqlType, TypeKind, Value};

use super::asked::Asked;
use crate::session::StatementContext;

/// A row: one value a column.
pub(crate) type Row = Vec<Value>;

/// A table made from the engine's state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Relation {
    /// Its name, behind that of its database where this is not `information_schema`. Its columns have this
    /// name in the files of [`standard`](super::standard).
    pub(crate) name: &'static str,
    /// Its rows for a session. The member of an ENUM or SET is its text.
    pub(crate) rows: Rows,
    /// Only those may read it who have the PROCESS privilege.
    pub(super) needs_process: bool,
}

/// Rows of tables and views, of those alone that a statement asks about.
pub(crate) type RowsOfTables = fn(&StatementContext<'_>, &Asked<'_>) -> Vec<Row>;

/// Where the rows of a relation come from.
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

    /// A relation with rows for each table or view, which has their names in `TABLE_SCHEMA` and `TABLE_NAME`.
    pub(super) const fn of_tables(name: &'static str, rows: RowsOfTables) -> Self {
        Self {
            name,
            rows: Rows::OfTables(rows),
            needs_process: false,
        }
    }

    /// The relation for those who have the PROCESS privilege.
    pub(super) const fn of_process(mut self) -> Self {
        self.needs_process = true;
        self
    }

    /// Its database, and its name there.
    pub(super) fn full_name(&self) -> (&'static str, &'static str) {
        let full = self.name.split_once('.');
        full.unwrap_or(("information_schema", self.name))
    }
}

/// A row of values and what can be made one by [`IntoValue`].
macro_rules! row {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::information_schema::relation::IntoValue::into_value($value)),*]
    };
}
pub(crate) use row;

/// What becomes a value of a row.
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

/// NULL for nothing.
impl<V: IntoValue> IntoValue for Option<V> {
    fn into_value(self) -> Value {
        self.map_or(Value::Null, V::into_value)
    }
}

/// A text.
pub(crate) fn text(text: impl Into<String>) -> Value {
    Value::Bytes(text.into().into_bytes())
}

/// YES or NO.
pub(crate) fn yes_no(yes: bool) -> &'static str {
    if yes { "YES" } else { "NO" }
}

/// A row as columns of these types hold it: members of an ENUM or SET as numbers.
pub(super) fn stored(mut row: Row, types: &[SqlType]) -> Row {
    for (value, ty) in row.iter_mut().zip(types) {
        if matches!(ty.kind, TypeKind::Enum | TypeKind::Set) {
            *value = number_of_members(value, ty);
        }
    }
    row
}

/// The number that an ENUM or SET holds for a text; NULL for a text that it cannot hold.
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
