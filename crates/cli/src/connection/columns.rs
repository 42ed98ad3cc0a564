//! Types of a server's columns, from the metadata of the protocol.
//!
//! Values stay the texts that the server has sent; the type says how they are aligned, which of them are numbers, and
//! what they become in a file that has types.

use mayfly_client::Column;
use mayfly_engine::{CollationId, FieldFlags, ResultColumn, SqlType, TypeKind};

/// The collation of bytes.
const BINARY: u16 = 63;
/// Greatest precision and scale of a DECIMAL.
const DIGITS_MAX: u32 = 65;
const SCALE_MAX: u8 = 30;
/// Decimals of numbers whose digits are not fixed.
const NOT_FIXED: u8 = 31;
/// Most bytes of a character, in utf8mb4.
const CHARACTER_BYTES: u32 = 4;

/// The column as the engine has them.
pub(super) fn of(column: &Column) -> ResultColumn {
    ResultColumn::new(&column.name, type_of(column))
}

fn type_of(column: &Column) -> SqlType {
    let flags = FieldFlags(column.flags);
    let mut ty = match column.field_type {
        0 | 246 => decimal(column),
        1 => SqlType::integer(TypeKind::TinyInt),
        2 => SqlType::integer(TypeKind::SmallInt),
        3 => SqlType::integer(TypeKind::Int),
        8 => SqlType::integer(TypeKind::BigInt),
        9 => SqlType::integer(TypeKind::MediumInt),
        4 => float(TypeKind::Float, column.decimals),
        5 => float(TypeKind::Double, column.decimals),
        6 => SqlType::null(),
        // The time zone in which the server shows it is not known here.
        7 => temporal(TypeKind::DateTime, column),
        10 | 14 => SqlType::temporal(TypeKind::Date, 0),
        11 => temporal(TypeKind::Time, column),
        12 => temporal(TypeKind::DateTime, column),
        13 => SqlType::temporal(TypeKind::Year, 0),
        16 => SqlType::bit(column.length.clamp(1, 64)),
        245 => SqlType::json(),
        _ => text(column),
    };
    if ty.is_integer() || ty.kind == TypeKind::Decimal {
        ty.unsigned = flags.has(FieldFlags::UNSIGNED);
    }
    ty.zerofill = flags.has(FieldFlags::ZEROFILL) && ty.is_integer();
    if ty.zerofill {
        ty.length = column.length.min(255);
    }
    ty
}

fn decimal(column: &Column) -> SqlType {
    let scale = column.decimals.min(SCALE_MAX);
    let sign = u32::from(!FieldFlags(column.flags).has(FieldFlags::UNSIGNED));
    let digits = column
        .length
        .saturating_sub(sign + u32::from(scale > 0))
        .clamp(u32::from(scale).max(1), DIGITS_MAX);
    SqlType::decimal(digits as u8, scale)
}

fn float(kind: TypeKind, decimals: u8) -> SqlType {
    let mut ty = SqlType::double();
    ty.kind = kind;
    ty.decimals = if decimals < NOT_FIXED {
        decimals
    } else {
        NOT_FIXED
    };
    ty
}

fn temporal(kind: TypeKind, column: &Column) -> SqlType {
    // MariaDB gives the digits of some as not fixed.
    let digits = if column.decimals > 6 {
        6
    } else {
        column.decimals
    };
    SqlType::temporal(kind, digits)
}

fn text(column: &Column) -> SqlType {
    if column.collation == BINARY {
        return SqlType::varchar(column.length, CollationId::BINARY);
    }
    SqlType::varchar(
        column.length / CHARACTER_BYTES,
        CollationId::UTF8MB4_0900_AI_CI,
    )
}
