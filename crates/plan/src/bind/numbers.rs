//! Hexadecimal and bit literals where a number is wanted (the manual, "Hexadecimal Literals").

use mayfly_functions::derive;
use mayfly_types::decimal::native::max_unscaled;
use mayfly_types::sql_type::DECIMAL_PRECISION_MAX;
use mayfly_types::{SqlType, TypeKind, Value};

use super::literal::{convert, is_hexadecimal};
use super::types::cast;
use crate::tree::expression::Expression;

/// A hexadecimal or bit literal as the number that it is, NULL as a DOUBLE without digits, anything else
/// as it is.
pub(crate) fn as_number(expression: Expression) -> Expression {
    // MIN(NULL) is of the type of NULL and no literal.
    if expression.ty.kind == TypeKind::Null {
        let no_digits = SqlType {
            length: 0,
            decimals: 0,
            ..SqlType::double()
        };
        return cast(expression, &no_digits);
    }
    if !is_hexadecimal(&expression) {
        return expression;
    }
    let known = |ty: SqlType| {
        let value = convert(expression.as_literal()?, &expression.ty, &ty)?;
        Some(Expression::literal(value, ty))
    };
    let digits = digits_of_bytes(expression.ty.length);
    let signed = SqlType {
        length: digits + 1,
        ..SqlType::bigint()
    };
    let unsigned = SqlType {
        length: digits,
        ..SqlType::bigint_unsigned()
    };
    let number = if expression.ty.unsigned {
        known(unsigned)
    } else {
        known(signed).or_else(|| known(unsigned))
    };
    number.unwrap_or(expression)
}

/// A value of a column of a type as [`as_number`], if it is a column of numbers. A hexadecimal or bit
/// literal of more bytes than a BIGINT has is larger than any of them.
pub fn as_stored_number(expression: Expression, column: &SqlType) -> Expression {
    if !column.is_numeric() {
        return expression;
    }
    if !is_hexadecimal(&expression) || expression.ty.length <= BIGINT_BYTES {
        return as_number(expression);
    }
    if column.kind == TypeKind::Decimal {
        let ty = SqlType::decimal(DECIMAL_PRECISION_MAX, 0);
        let unscaled = max_unscaled(DECIMAL_PRECISION_MAX);
        return Expression::literal(Value::Decimal { unscaled, scale: 0 }, ty);
    }
    Expression::literal(Value::Float(f64::INFINITY), SqlType::double())
}

/// The bytes of a BIGINT.
const BIGINT_BYTES: u32 = 8;

/// How many digits the largest number of so many bytes has; longer ones are cut to a BIGINT's.
fn digits_of_bytes(bytes: u32) -> u32 {
    match bytes {
        0..8 => ((1_u64 << (8 * bytes)) - 1).max(1).ilog10() + 1,
        _ => 20,
    }
}

/// As [`as_number`], but as the DOUBLE that functions of one number take such a literal for.
pub(crate) fn as_double(expression: Expression) -> Expression {
    let is_hexadecimal = is_hexadecimal(&expression);
    let number = as_number(expression);
    if !is_hexadecimal {
        return number;
    }
    let ty = SqlType {
        unsigned: number.ty.unsigned,
        ..derive::double_of_decimals(0)
    };
    let value = number.as_literal();
    match value.and_then(|value| convert(value, &number.ty, &ty)) {
        Some(value) => Expression::literal(value, ty),
        None => number,
    }
}
