//! Column types of the temporary tables through which MySQL reads query blocks.
//!
//! A computed value becomes a column as it would in a table created from it: an integer an INT or a BIGINT by its
//! digits, a string a VARCHAR or a TEXT by its length. These are the types that clients see of a result, and those of a
//! derived table.

use mayfly_types::common_type::string_of;
use mayfly_types::{CollationId, SqlType, TypeKind};

/// Column of a temporary table for a value of a query block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Buffered {
    /// A column of the value's own type.
    #[default]
    Unchanged,
    /// No column except in a derived table: a constant, or a value computed from aggregates.
    Recomputed,
    /// A column for an aggregate of a computed value: integers are BIGINT, and floating-point numbers DOUBLE.
    Aggregate,
    /// A column for a computed value.
    Computed,
}

impl Buffered {
    /// Type of the column through which a query block's own result is read, if it differs.
    pub(crate) fn of_result(self, ty: &SqlType) -> Option<SqlType> {
        match self {
            Self::Unchanged | Self::Recomputed => None,
            Self::Aggregate if ty.is_integer() => {
                (ty.kind != TypeKind::BigInt).then(|| integer_type(ty, TypeKind::BigInt))
            }
            Self::Aggregate if ty.kind == TypeKind::Float => Some(SqlType::double()),
            Self::Aggregate if !ty.is_string() && ty.kind != TypeKind::Null => None,
            Self::Aggregate | Self::Computed => column_type(ty),
        }
    }

    /// Type of a derived table's column, if it differs.
    pub(crate) fn of_derived(self, ty: &SqlType) -> Option<SqlType> {
        match self {
            Self::Recomputed => column_type(ty),
            other => other.of_result(ty),
        }
    }
}

/// Maximum number of characters of a computed string that becomes a VARCHAR.
const VARCHAR_MAX: u32 = 512;

/// Number of digits from which an integer becomes a BIGINT.
const BIGINT_DIGITS: u32 = 10;

/// Integer type of a kind with the width of another, unsigned for a YEAR.
fn integer_type(ty: &SqlType, kind: TypeKind) -> SqlType {
    SqlType {
        unsigned: ty.unsigned || ty.kind == TypeKind::Year,
        length: ty.length,
        ..SqlType::integer(kind)
    }
}

/// Type of a temporary table's column for a computed value.
fn column_type(ty: &SqlType) -> Option<SqlType> {
    match ty.kind {
        TypeKind::Null => Some(SqlType::varchar(0, CollationId::BINARY)),
        TypeKind::Bit => None,
        TypeKind::Enum | TypeKind::Set => Some(string_of(ty, ty.collation)),
        _ if ty.is_integer() => {
            let kind = match ty.length {
                0..BIGINT_DIGITS => TypeKind::Int,
                _ => TypeKind::BigInt,
            };
            Some(integer_type(ty, kind))
        }
        _ if !ty.is_string() || ty.is_structured_bytes() => Some(ty.clone()),
        _ => Some(string_column(ty)),
    }
}

/// Type of a temporary table's column for a computed string.
pub(super) fn string_column(ty: &SqlType) -> SqlType {
    match ty.length {
        0..=VARCHAR_MAX => SqlType::varchar(ty.length, ty.collation),
        length => SqlType {
            length,
            ..SqlType::text(TypeKind::Text, ty.collation)
        },
    }
}
