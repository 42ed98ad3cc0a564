//! Columns of the temporary tables that MySQL reads query blocks from, which have types of their own.
//!
//! A value that is computed becomes a column as it would in a table that is made for it: a whole number an INT or a
//! BIGINT by its digits, a string a VARCHAR or a TEXT by its length. That is what clients are told of a result, and what
//! a derived table has.

use mayfly_types::{CollationId, SqlType, TypeKind};

/// What a temporary table has for a value of a query block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Buffered {
    /// A column like the one that the value is.
    #[default]
    Unchanged,
    /// Nothing, unless it is that of a derived table: a constant, or what is computed of aggregates.
    Recomputed,
    /// A column for an aggregate, in which numbers keep their type.
    Aggregate,
    /// A column of the value's own.
    Computed,
}

impl Buffered {
    /// The type of the column through which a query block's own result is read, if that has a type of its own.
    pub(crate) fn of_result(self, ty: &SqlType) -> Option<SqlType> {
        match self {
            Self::Unchanged | Self::Recomputed => None,
            Self::Aggregate if !ty.is_string() && ty.kind != TypeKind::Null => None,
            Self::Aggregate | Self::Computed => column_type(ty),
        }
    }

    /// The type of a derived table's column, if that is another.
    pub(crate) fn of_derived(self, ty: &SqlType) -> Option<SqlType> {
        match self {
            Self::Recomputed => column_type(ty),
            other => other.of_result(ty),
        }
    }
}

/// The most characters of a computed string that is a VARCHAR.
const VARCHAR_MAX: u32 = 512;

/// From how many digits on a whole number is a BIGINT.
const BIGINT_DIGITS: u32 = 10;

/// The type of a temporary table's column for a computed value.
fn column_type(ty: &SqlType) -> Option<SqlType> {
    match ty.kind {
        TypeKind::Null => Some(SqlType::varchar(0, CollationId::BINARY)),
        // Their values are shown otherwise as numbers and texts.
        TypeKind::Bit | TypeKind::Enum | TypeKind::Set => None,
        _ if ty.is_integer() => {
            let kind = match ty.length {
                0..BIGINT_DIGITS => TypeKind::Int,
                _ => TypeKind::BigInt,
            };
            Some(SqlType {
                unsigned: ty.unsigned || ty.kind == TypeKind::Year,
                length: ty.length,
                ..SqlType::integer(kind)
            })
        }
        _ if !ty.is_string() => Some(ty.clone()),
        _ if ty.length > VARCHAR_MAX => Some(SqlType {
            length: ty.length,
            ..SqlType::text(TypeKind::Text, ty.collation)
        }),
        _ => Some(SqlType::varchar(ty.length, ty.collation)),
    }
}
