//! Constants: literals of the statement, and their conversion to other types.

use arrow_buffer::i256;
use mayfly_types::convert::number::parse_integer;
use mayfly_types::decimal::{Decimal, parse_decimal};
use mayfly_types::{CollationId, PhysicalType, SqlType, TypeKind, Value};

use crate::tree::expression::{Expression, ExpressionKind};

/// NULL
pub(crate) fn null() -> Expression {
    Expression::literal(Value::Null, SqlType::null())
}

/// An integer with a display width, which includes the sign.
pub(crate) fn integer(value: i64, width: u32) -> Expression {
    let ty = SqlType {
        length: width,
        ..SqlType::bigint()
    };
    Expression::literal(Value::Int(value), ty)
}

/// A string.
pub(crate) fn string(text: &str, collation: CollationId) -> Expression {
    let characters = if text.is_ascii() {
        text.len()
    } else {
        text.chars().count()
    };
    let length = u32::try_from(characters).unwrap_or(u32::MAX);
    Expression::literal(Value::from(text), SqlType::varchar(length, collation))
}

pub(super) fn decimal(value: Decimal) -> Expression {
    // The zero before the point counts as a digit: 0.5 is a DECIMAL(2,1).
    let precision = value.precision().max(value.scale.saturating_add(1));
    let ty = SqlType::decimal(precision, value.scale);
    Expression::literal(
        Value::Decimal {
            unscaled: value.unscaled,
            scale: value.scale,
        },
        ty,
    )
}

/// TRUE and FALSE as predicates, which a document distinguishes from 1 and 0; any other expression unchanged. They are
/// recognized by their display width, which no number literal has.
pub(crate) fn as_boolean(expression: Expression) -> Expression {
    let ty = &expression.ty;
    match expression.kind {
        ExpressionKind::Literal(Value::Int(truth @ (0 | 1)))
            if ty.kind == TypeKind::BigInt && ty.length == 1 =>
        {
            Expression::literal(Value::Int(truth), SqlType::boolean())
        }
        _ => expression,
    }
}

/// Whether an expression is a literal x'41' or b'1', which is a number where a number is wanted.
pub(crate) fn is_hexadecimal(expression: &Expression) -> bool {
    expression.ty.is_bytes_literal
        && matches!(expression.kind, ExpressionKind::Literal(Value::Bytes(_)))
}

/// Negative of a number literal.
pub(crate) fn negated(expression: &Expression) -> Option<Expression> {
    let ExpressionKind::Literal(value) = &expression.kind else {
        return None;
    };
    let width = match value {
        // The width of a signed literal has room for the sign; that of TRUE has none.
        Value::Int(0..=9) => expression.ty.length.max(2),
        Value::Int(_) => expression.ty.length,
        _ => expression.ty.length.saturating_add(1),
    };
    match value {
        // MySQL checks whether the bits of the operand, taken as unsigned, fit a BIGINT.
        Value::Int(number) if *number < 0 && expression.ty.kind == TypeKind::BigInt => {
            Some(decimal(Decimal::from(*number).negate()))
        }
        Value::Int(number) if expression.ty.kind == TypeKind::BigInt => {
            Some(integer(number.checked_neg()?, width))
        }
        Value::UInt(number) if *number == 1 << 63 => Some(integer(i64::MIN, width)),
        Value::UInt(number) => Some(decimal(Decimal::new(
            i256::from_parts(u128::from(*number), 0).wrapping_neg(),
            0,
        ))),
        Value::Float(number) => Some(Expression::literal(
            Value::Float(-number),
            SqlType::double(),
        )),
        Value::Decimal { unscaled, scale } => Some(Expression::literal(
            Value::Decimal {
                unscaled: unscaled.wrapping_neg(),
                scale: *scale,
            },
            expression.ty.clone(),
        )),
        Value::Null | Value::Int(_) | Value::Bytes(_) => None,
    }
}

/// Value of a literal in another type, if the conversion is exact and raises no warning.
pub(crate) fn convert(value: &Value, from: &SqlType, to: &SqlType) -> Option<Value> {
    if value.is_null() {
        return Some(Value::Null);
    }
    let number = match value {
        Value::Int(number) if from.is_integer() => Decimal::from_i128(i128::from(*number), 0),
        Value::UInt(number) if from.is_integer() => {
            Decimal::new(i256::from_parts(u128::from(*number), 0), 0)
        }
        Value::Decimal { unscaled, scale } => Decimal::new(*unscaled, *scale),
        Value::Bytes(bytes) if to.is_numeric() => return convert_string(bytes, from, to),
        _ => return None,
    };
    if to.kind == TypeKind::Boolean {
        return Some(Value::Int(i64::from(!number.is_zero())));
    }
    if !to.is_numeric() || matches!(to.kind, TypeKind::Year | TypeKind::Bit) {
        return None;
    }
    match to.physical() {
        PhysicalType::Int64 if number.scale == 0 && to.kind == TypeKind::BigInt => {
            Some(Value::Int(number.to_i64().ok()?))
        }
        PhysicalType::UInt64 if number.scale == 0 && to.kind == TypeKind::BigInt => {
            Some(Value::UInt(number.to_u64().ok()?))
        }
        PhysicalType::Float64 if to.kind == TypeKind::Double => Some(Value::Float(number.to_f64())),
        PhysicalType::Decimal128(scale) | PhysicalType::Decimal256(scale)
            if scale >= number.scale =>
        {
            let precision = u8::try_from(to.length).ok()?;
            let converted = number.to_precision(precision, scale).ok()?;
            Some(Value::Decimal {
                unscaled: converted.unscaled,
                scale: converted.scale,
            })
        }
        _ => None,
    }
}

fn convert_string(bytes: &[u8], from: &SqlType, to: &SqlType) -> Option<Value> {
    if from.is_bytes_literal {
        // x'41' is the number 65.
        let tail = bytes.get(bytes.len().saturating_sub(8)..)?;
        let number = tail
            .iter()
            .fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
        let unsigned = SqlType::bigint_unsigned();
        return match to.physical() {
            PhysicalType::UInt64 => Some(Value::UInt(number)),
            _ => convert(&Value::UInt(number), &unsigned, to),
        };
    }
    if to.is_integer() {
        let parsed = parse_integer(bytes);
        if parsed.consumed != bytes.len() || parsed.overflow || bytes.is_empty() {
            return None;
        }
        return match to.physical() {
            PhysicalType::Int64 => Some(Value::Int(i64::try_from(parsed.value).ok()?)),
            PhysicalType::UInt64 => Some(Value::UInt(u64::try_from(parsed.value).ok()?)),
            _ => None,
        };
    }
    let parsed = parse_decimal(bytes);
    if parsed.consumed != bytes.len() || parsed.overflow || parsed.rounded || bytes.is_empty() {
        return None;
    }
    match to.physical() {
        PhysicalType::Float64 if to.kind == TypeKind::Double => {
            let text = std::str::from_utf8(bytes).ok()?;
            Some(Value::Float(text.trim().parse().ok()?))
        }
        _ => {
            let value = Value::Decimal {
                unscaled: parsed.value.unscaled,
                scale: parsed.value.scale,
            };
            let ty = SqlType::decimal(parsed.value.precision(), parsed.value.scale);
            convert(&value, &ty, to)
        }
    }
}

/// A constant keyword of a function, such as a unit.
pub(crate) fn word(text: &str) -> Expression {
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    Expression::literal(
        Value::from(text),
        SqlType::varchar(length, mayfly_types::CollationId::UTF8MB4_0900_AI_CI),
    )
}
