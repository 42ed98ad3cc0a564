//! What a relation is, and short ways to write its rows.

use mayfly_types::{CollationId, SqlType, TypeKind, Value};

use crate::session::Session;

/// A row: one value a column.
pub(crate) type Row = Vec<Value>;

/// A table made from the engine's state.
pub(crate) struct Relation {
    /// Its database.
    pub(crate) schema: &'static str,
    /// Its name.
    pub(crate) name: &'static str,
    /// Its columns.
    pub(crate) columns: &'static [(&'static str, Kind)],
    /// Its rows for a session.
    pub(crate) rows: fn(&Session) -> Vec<Row>,
}

/// The type of a relation's column.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// VARCHAR of so many characters, in the collation of names.
    Text(u32),
    /// LONGTEXT
    Long,
    /// BIGINT
    Int,
    /// BIGINT UNSIGNED
    UInt,
    /// DOUBLE
    Double,
    /// DATETIME
    Moment,
}

impl Kind {
    /// The SQL type.
    pub(crate) fn sql_type(self) -> SqlType {
        match self {
            Self::Text(length) => SqlType::varchar(length, CollationId::UTF8MB3_GENERAL_CI),
            Self::Long => SqlType::text(TypeKind::LongText, CollationId::UTF8MB3_GENERAL_CI),
            Self::Int => SqlType::bigint(),
            Self::UInt => SqlType::bigint_unsigned(),
            Self::Double => SqlType::double(),
            Self::Moment => SqlType::temporal(TypeKind::DateTime, 0),
        }
    }
}

/// A text.
pub(crate) fn text(text: impl Into<String>) -> Value {
    Value::Bytes(text.into().into_bytes())
}

/// A text, or NULL.
pub(crate) fn text_or_null(value: Option<impl Into<String>>) -> Value {
    value.map_or(Value::Null, text)
}

/// YES or NO.
pub(crate) fn yes_no(yes: bool) -> Value {
    text(if yes { "YES" } else { "NO" })
}
