//! Types of the columns that a query makes: in a table made of its rows, and in a view.

use mayfly_plan::physical::{ClientType, OutputColumn};
use mayfly_types::sql_type::DECIMALS_NOT_FIXED;
use mayfly_types::{CollationId, SqlType, TypeKind};

/// Longest VARCHAR that a computed column of a query becomes.
const COMPUTED_VARCHAR_MAX: u32 = 512;

/// The type of a column of a query, which is a UNION or the like if `is_union`, as a column of a table.
pub(crate) fn selected_type(column: &OutputColumn, is_union: bool) -> SqlType {
    let is_member = matches!(column.client_type, ClientType::Member(_));
    let ty = match column.client_type {
        ClientType::Member(kind) | ClientType::Kept(kind) => &SqlType {
            kind,
            ..column.ty.clone()
        },
        _ => &column.ty,
    };
    // A table stores the text of a date as plain text.
    let ty = &SqlType {
        temporal_text: false,
        ..ty.clone()
    };
    let origin = column.origin.as_ref();
    let is_computed = origin.is_none_or(|origin| !origin.is_of_table());
    match ty.kind {
        TypeKind::Null => SqlType::varchar(0, CollationId::BINARY),
        TypeKind::Boolean => SqlType {
            length: 1,
            ..SqlType::integer(TypeKind::Int)
        },
        TypeKind::VarChar
            if u64::from(ty.length) * u64::from(ty.collation.charset().max_length())
                > u64::from(u16::MAX) =>
        {
            SqlType::text(TypeKind::LongText, ty.collation)
        }
        // A computed geometry may be in any SRID.
        _ if ty.is_structured_bytes() => SqlType {
            srid: ty.srid.filter(|_| !is_computed),
            ..ty.clone()
        },
        _ if ty.is_blob() => SqlType::text(ty.kind, ty.collation),
        // A value computed from an ENUM or SET is its text.
        TypeKind::Enum | TypeKind::Set if is_computed && !is_member => {
            SqlType::varchar(ty.length, ty.collation)
        }
        TypeKind::Char if !ty.members.is_empty() => SqlType::varchar(ty.length, ty.collation),
        // That a binary literal was a number is not remembered.
        TypeKind::VarChar if ty.is_bytes_literal => SqlType::varchar(ty.length, ty.collation),
        // A choice (CASE, IF, …) between BITs is a number of that many digits.
        TypeKind::Bit if matches!(column.client_type, ClientType::Choice(_)) => {
            let kind = match ty.length {
                0..10 => TypeKind::Int,
                _ => TypeKind::BigInt,
            };
            SqlType {
                unsigned: true,
                ..SqlType::integer(kind)
            }
        }
        // A computed DOUBLE with the number of decimals of its computation has the most digits possible.
        TypeKind::Double
            if is_computed
                && column.client_type == ClientType::Computed
                && ty.decimals < DECIMALS_NOT_FIXED
                && !is_union =>
        {
            SqlType {
                length: SqlType::double().length,
                ..ty.clone()
            }
        }
        // A computed string that may be long becomes a TEXT.
        TypeKind::VarChar if ty.length > COMPUTED_VARCHAR_MAX && is_computed => {
            SqlType::text(TypeKind::Text, ty.collation)
        }
        TypeKind::TinyInt
        | TypeKind::SmallInt
        | TypeKind::MediumInt
        | TypeKind::Int
        | TypeKind::BigInt
            if !(ty.zerofill || ty.kind == TypeKind::TinyInt && ty.length == 1) =>
        {
            // Numbers of few digits become INT, unless they come from a BIGINT column or a UNION.
            let is_kept = matches!(column.client_type, ClientType::Kept(_));
            let is_short = ty.kind == TypeKind::BigInt && ty.length < 10 && !is_union && !is_kept;
            let kind = if is_short { TypeKind::Int } else { ty.kind };
            SqlType {
                unsigned: ty.unsigned,
                ..SqlType::integer(kind)
            }
        }
        _ => ty.clone(),
    }
}
