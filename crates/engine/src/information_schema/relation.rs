//! What a relation is, and short ways to write its rows.

use mayfly_plan::physical::OutputColumn;
use mayfly_plan::{ColumnSource, ColumnTraits, DefaultSource};
use mayfly_types::{CollationId, SqlType, TypeKind, Value};

use super::standard;
use crate::catalog::view::ViewDefinition;
use crate::session::StatementContext;

/// A row: one value a column.
pub(crate) type Row = Vec<Value>;

/// A table made from the engine's state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Relation {
    /// Its database.
    pub(crate) schema: &'static str,
    /// Its name.
    pub(crate) name: &'static str,
    /// Its columns.
    pub(crate) columns: Columns,
    /// Its rows for a session. The member of an ENUM or SET is its text.
    pub(crate) rows: Rows,
}

/// Plans a view: its columns, or nothing when it is invalid.
pub(crate) type ViewColumns<'v> = dyn Fn(&ViewDefinition) -> Option<Vec<OutputColumn>> + 'v;

/// Rows that tell of the columns of views.
pub(crate) type RowsOfViews = fn(&StatementContext<'_>, &ViewColumns<'_>) -> Vec<Row>;

/// Where the rows of a relation come from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rows {
    /// The engine's state.
    OfState(fn(&StatementContext<'_>) -> Vec<Row>),
    /// That, and the columns of views.
    OfViews(RowsOfViews),
}

/// The columns of a relation.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Columns {
    /// Those that MySQL's relation of a name in `information_schema` has.
    Standard(&'static str),
    /// Those, and its own behind them.
    Extended(&'static str, &'static [(&'static str, Kind)]),
    /// Its own.
    Own(&'static [(&'static str, Kind)]),
}

impl Relation {
    /// A relation of `information_schema` with MySQL's columns.
    pub(super) const fn standard(
        name: &'static str,
        rows: fn(&StatementContext<'_>) -> Vec<Row>,
    ) -> Self {
        Self {
            schema: "information_schema",
            name,
            columns: Columns::Standard(name),
            rows: Rows::OfState(rows),
        }
    }

    /// The same, with rows that tell of the columns of views.
    pub(super) const fn of_views(name: &'static str, rows: RowsOfViews) -> Self {
        Self {
            rows: Rows::OfViews(rows),
            ..Self::standard(name, |_| Vec::new())
        }
    }

    /// Its columns as the planner sees them.
    pub(super) fn column_sources(&self) -> Vec<ColumnSource> {
        let (standard, own) = match self.columns {
            Columns::Standard(name) => (standard::columns(name), &[][..]),
            Columns::Extended(name, columns) => (standard::columns(name), columns),
            Columns::Own(columns) => (&[][..], columns),
        };
        let own = own.iter().map(|(name, kind)| ColumnSource {
            name: (*name).to_owned(),
            ty: kind.sql_type(),
            nullable: true,
            invisible: false,
            hidden: false,
            generated: None,
            default: DefaultSource::None,
            traits: ColumnTraits::default(),
        });
        standard.iter().cloned().chain(own).collect()
    }
}

/// The type of a relation's column.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// VARCHAR of so many characters, in the collation of names.
    Text(u32),
    /// VARCHAR of so many characters, compared byte by byte.
    Binary(u32),
    /// LONGTEXT
    Long,
    /// INT
    Int,
    /// BIGINT UNSIGNED
    UInt,
    /// DOUBLE
    Double,
}

impl Kind {
    /// The SQL type.
    pub(crate) fn sql_type(self) -> SqlType {
        match self {
            Self::Text(length) => SqlType::varchar(length, CollationId::UTF8MB3_GENERAL_CI),
            Self::Binary(length) => SqlType::varchar(length, CollationId::UTF8MB4_BIN),
            Self::Int => SqlType::integer(TypeKind::Int),
            Self::Long => SqlType::text(TypeKind::LongText, CollationId::UTF8MB3_GENERAL_CI),
            Self::UInt => SqlType::bigint_unsigned(),
            Self::Double => SqlType::double(),
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
