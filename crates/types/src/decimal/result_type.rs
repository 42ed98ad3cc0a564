//! Precision and scale of the results of DECIMAL operations (the manual, "Arithmetic Operators"
//! and "DECIMAL Data Type Characteristics").

use crate::sql_type::{
    DECIMAL_PRECISION_MAX, DECIMAL_SCALE_MAX, DECIMALS_NOT_FIXED, SqlType, TypeKind,
};

/// An arithmetic operation on exact numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecimalOperation {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
}

/// The DECIMAL that holds every value of an integer type, or the DECIMAL itself. Integers have 3,
/// 5, 8, 10, 19 (unsigned 20) digits; a BIGINT of a smaller `length` (a literal) has `length`
/// digits. Temporal values have the digits of their numeric form. Others (strings, floats) count as
/// the widest decimal.
pub fn decimal_of_numeric(sql_type: &SqlType) -> SqlType {
    let digits = match sql_type.kind {
        TypeKind::Decimal => return SqlType::decimal(sql_type.length as u8, sql_type.decimals),
        TypeKind::Null | TypeKind::Boolean => 1,
        TypeKind::TinyInt => 3,
        TypeKind::SmallInt => 5,
        TypeKind::MediumInt => 8,
        TypeKind::Int if sql_type.zerofill => 10,
        // A result of arithmetic is an INT of as many digits as its operands allow.
        TypeKind::Int => {
            let sign = u32::from(!sql_type.unsigned);
            sql_type.length.saturating_sub(sign).clamp(1, 11) as u8
        }
        TypeKind::BigInt => {
            let sign = u32::from(!sql_type.unsigned);
            sql_type.length.saturating_sub(sign).clamp(1, 20) as u8
        }
        TypeKind::Year => 4,
        // MySQL counts bits as digits.
        TypeKind::Bit => sql_type.length.clamp(1, 64) as u8,
        TypeKind::Date => 8,
        TypeKind::Time => 7 + sql_type.decimals,
        TypeKind::DateTime | TypeKind::Timestamp => 14 + sql_type.decimals,
        TypeKind::Enum => 5,
        TypeKind::Set => 20,
        _ => {
            let scale = match sql_type.decimals {
                DECIMALS_NOT_FIXED => DECIMAL_SCALE_MAX,
                decimals => decimals.min(DECIMAL_SCALE_MAX),
            };
            return SqlType::decimal(DECIMAL_PRECISION_MAX, scale);
        }
    };
    let scale = if sql_type.is_temporal() && sql_type.kind != TypeKind::Date {
        sql_type.decimals
    } else {
        0
    };
    SqlType::decimal(digits, scale)
}

/// The type of `left operation right` where both are exact (integers or DECIMAL); division uses
/// `div_precision_increment`.
pub fn decimal_result_type(
    operation: DecimalOperation,
    left: &SqlType,
    right: &SqlType,
    div_precision_increment: u8,
) -> SqlType {
    let (left, right) = (decimal_of_numeric(left), decimal_of_numeric(right));
    let (precision, other_precision) = (left.length, right.length);
    let (scale, other_scale) = (u32::from(left.decimals), u32::from(right.decimals));
    let scale_max = u32::from(DECIMAL_SCALE_MAX);
    let (precision, scale) = match operation {
        DecimalOperation::Add | DecimalOperation::Subtract => {
            let integer = (precision - scale).max(other_precision - other_scale);
            let scale = scale.max(other_scale);
            (integer + 1 + scale, scale)
        }
        DecimalOperation::Multiply => (
            precision + other_precision,
            (scale + other_scale).min(scale_max),
        ),
        DecimalOperation::Divide => {
            let increment = u32::from(div_precision_increment);
            (
                precision + other_scale + increment,
                (scale + increment).min(scale_max),
            )
        }
        DecimalOperation::Remainder => (precision.max(other_precision), scale.max(other_scale)),
    };
    let most = u32::from(DECIMAL_PRECISION_MAX);
    SqlType::decimal(precision.min(most) as u8, scale as u8)
}

/// The types of `SUM(x)` and `AVG(x)` of an exact `x`: SUM has 22 more digits; AVG has 4 (or
/// `div_precision_increment`) more, all after the point.
pub fn decimal_aggregate_type(argument: &SqlType, average_increment: Option<u8>) -> SqlType {
    let argument = decimal_of_numeric(argument);
    let most = u32::from(DECIMAL_PRECISION_MAX);
    match average_increment {
        None => SqlType::decimal((argument.length + 22).min(most) as u8, argument.decimals),
        Some(increment) => SqlType::decimal(
            (argument.length + u32::from(increment)).min(most) as u8,
            argument
                .decimals
                .saturating_add(increment)
                .min(DECIMAL_SCALE_MAX),
        ),
    }
}
