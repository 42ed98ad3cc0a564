//! Common parts of the arithmetic operators: the number type of an operation, its result type, overflow errors and
//! division by zero (the manual, "Arithmetic Operators").

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::types::{Int64Type, UInt64Type};
use mayfly_types::decimal::{Decimal, DecimalOperation, decimal_of_numeric, decimal_result_type};
use mayfly_types::error::codes;
use mayfly_types::sql_type::DECIMALS_NOT_FIXED;
use mayfly_types::{Error, PhysicalType, Result, SqlMode, SqlType, TypeKind, Value};

use crate::input::{Ints, UInts};
use crate::{Argument, Binding, Call, Column, EvaluationContext, Signature, derive, output};

/// Number types of arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// 64 bits, signed or not.
    Integer,
    /// DECIMAL
    Decimal,
    /// DOUBLE
    Double,
}

/// The number type of a value in numeric context.
pub(crate) fn kind_of(ty: &SqlType) -> Kind {
    match ty.kind {
        TypeKind::Decimal => Kind::Decimal,
        TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp if ty.decimals > 0 => {
            Kind::Decimal
        }
        _ if ty.is_integer() || ty.is_temporal() => Kind::Integer,
        _ => Kind::Double,
    }
}

/// The number type of an argument: a literal like 0x41 is an integer.
pub(crate) fn kind_of_argument(argument: &Argument<'_>) -> Kind {
    if derive::is_hexadecimal(argument) {
        Kind::Integer
    } else {
        kind_of(argument.ty)
    }
}

/// Whether values are integers in numeric context, or NULL.
pub(crate) fn is_integer(ty: &SqlType) -> bool {
    kind_of(ty) == Kind::Integer || ty.kind == TypeKind::Null
}

/// The type to convert an operand to for integer arithmetic.
pub(crate) fn integer_argument(ty: &SqlType) -> SqlType {
    match ty.kind {
        TypeKind::TinyInt
        | TypeKind::SmallInt
        | TypeKind::MediumInt
        | TypeKind::Int
        | TypeKind::BigInt => ty.without_display_width(),
        TypeKind::Year | TypeKind::Bit | TypeKind::Null => ty.clone(),
        TypeKind::Boolean => derive::int_of_width(ty.length),
        TypeKind::Date => derive::bigint_of_width(9),
        TypeKind::Time => derive::bigint_of_width(8),
        TypeKind::DateTime | TypeKind::Timestamp => derive::bigint_of_width(15),
        // A literal like 0x41 is an integer.
        TypeKind::VarChar if ty.is_binary_string() => SqlType::bigint_unsigned(),
        _ => SqlType::bigint(),
    }
}

/// The type to convert an operand to where its 64 bits are wanted.
pub(crate) fn bits_argument(argument: &Argument<'_>) -> SqlType {
    match argument.ty.kind {
        // The bits of any of the values are those of the number itself.
        TypeKind::Decimal if argument.mixes_integers => argument.ty.clone(),
        _ => integer_argument(argument.ty),
    }
}

/// The type of an argument where an integer is expected: its integer type, or else BIGINT.
pub(crate) fn integer_or_bigint(argument: &Argument<'_>) -> SqlType {
    if is_integer(argument.ty) {
        integer_argument(argument.ty)
    } else {
        SqlType::bigint()
    }
}

/// The type to convert an operand to for decimal arithmetic: a literal has its own number of digits.
pub(crate) fn decimal_argument(argument: &Argument<'_>) -> SqlType {
    let digits = match argument.constant {
        Some(Value::Int(value)) if argument.ty.is_integer() => Decimal::from(*value).precision(),
        Some(Value::UInt(value)) if argument.ty.is_integer() => Decimal::from(*value).precision(),
        Some(Value::Bytes(_)) if derive::is_hexadecimal(argument) => 20,
        _ => return decimal_of_numeric(argument.ty),
    };
    // An integer literal has its written digits: X'0A' has those of 255.
    let is_written = argument.ty.kind == TypeKind::BigInt && argument.ty.length < 19;
    let written = decimal_of_numeric(argument.ty).length;
    match u8::try_from(written) {
        Ok(written) if is_written => SqlType::decimal(digits.max(written), 0),
        _ => SqlType::decimal(digits, 0),
    }
}

/// An integer result with a display width: INT if the width fits, as in MySQL.
pub(crate) fn integer_result(length: u32, unsigned: bool) -> SqlType {
    let kind = if length <= 11 {
        TypeKind::Int
    } else {
        TypeKind::BigInt
    };
    SqlType {
        length,
        unsigned,
        ..SqlType::integer(kind)
    }
}

/// Maximum digits of an operand of integer arithmetic.
pub(crate) fn integer_digits(argument: &Argument<'_>) -> u32 {
    let ty = integer_argument(argument.ty);
    // The width includes the sign.
    let sign = u32::from(!ty.unsigned);
    ty.length.saturating_sub(sign).max(1)
}

/// Types of `+`, `-`, `*` and `%`.
pub(crate) fn signature(binding: &Binding<'_>, operation: DecimalOperation) -> Signature {
    let arguments = binding.arguments;
    let nullable = binding.any_nullable();
    let has_kind = |kind| arguments.iter().any(|it| kind_of_argument(it) == kind);
    if has_kind(Kind::Double) {
        return double_signature(arguments, 0, nullable);
    }
    if has_kind(Kind::Decimal) {
        return decimal_signature(binding, operation);
    }
    let digits = [integer_digits(&arguments[0]), integer_digits(&arguments[1])];
    let digits = match operation {
        DecimalOperation::Multiply => digits[0] + digits[1],
        _ => digits[0].max(digits[1]) + 1,
    };
    let unsigned = arguments.iter().any(|argument| is_unsigned(argument.ty));
    let types = binding.each(|argument| integer_argument(argument.ty));
    let result = integer_result(digits + u32::from(!unsigned), unsigned);
    Signature::new(types, result, nullable)
}

/// Whether values of a type are unsigned in integer arithmetic.
pub(crate) fn is_unsigned(ty: &SqlType) -> bool {
    ty.physical() == PhysicalType::UInt64
}

/// The type of a DOUBLE result: it has the decimals of its operands plus `increment`, if both operands have fixed
/// decimals.
fn double_signature(arguments: &[Argument<'_>], increment: u8, nullable: bool) -> Signature {
    let decimals = arguments
        .iter()
        .map(|argument| match kind_of_argument(argument) {
            Kind::Double if !matches!(argument.ty.kind, TypeKind::Float | TypeKind::Double) => {
                DECIMALS_NOT_FIXED
            }
            Kind::Double | Kind::Decimal => argument.ty.decimals,
            Kind::Integer => 0,
        })
        .max()
        .unwrap_or(DECIMALS_NOT_FIXED)
        .saturating_add(increment);
    // The integer digits of a quotient depend on the dividend alone.
    let wide = if increment > 0 {
        &arguments[..1]
    } else {
        arguments
    };
    let whole = wide.iter().map(whole_width).max().unwrap_or_default();
    // The digits of a quotient are limited by a DOUBLE's.
    let whole = match increment {
        0 => whole,
        _ => whole.min(DOUBLE_WHOLE_MAX),
    };
    let mut result = SqlType::double();
    if decimals < DECIMALS_NOT_FIXED {
        result.decimals = decimals;
        result.length = whole + u32::from(decimals);
    }
    Signature::new(vec![SqlType::double(); 2], result, nullable)
}

/// Integer digits of a DOUBLE, with a sign and the point.
const DOUBLE_WHOLE_MAX: u32 = 17;

/// The width of an operand without its decimals.
fn whole_width(operand: &Argument<'_>) -> u32 {
    let ty = operand.ty;
    match kind_of(ty) {
        Kind::Integer if ty.is_temporal() => ty.length,
        Kind::Integer => integer_argument(ty).length,
        Kind::Decimal if ty.kind == TypeKind::Decimal => {
            ty.length + u32::from(ty.decimals > 0) + u32::from(!ty.unsigned)
                - u32::from(ty.decimals)
        }
        _ => ty.length.saturating_sub(ty.decimals.into()),
    }
}

fn decimal_signature(binding: &Binding<'_>, operation: DecimalOperation) -> Signature {
    let types = binding.each(decimal_argument);
    let mut operands = binding.arguments.iter();
    let unsigned = match operation {
        DecimalOperation::Remainder => binding.arguments[0].ty.unsigned,
        _ => operands.all(|operand| operand.ty.unsigned),
    };
    let increment = binding.session.div_precision_increment;
    let result = SqlType {
        unsigned,
        ..decimal_result_type(operation, &types[0], &types[1], increment)
    };
    Signature::new(types, result, binding.any_nullable())
}

/// Types of `/`: integers are divided as decimals.
pub(crate) fn division_signature(binding: &Binding<'_>) -> Result<Signature> {
    let mut operands = binding.arguments.iter();
    let signature = if operands.any(|operand| kind_of_argument(operand) == Kind::Double) {
        let increment = binding.session.div_precision_increment;
        double_signature(binding.arguments, increment, true)
    } else {
        decimal_signature(binding, DecimalOperation::Divide)
    };
    Ok(Signature {
        nullable: true,
        ..signature
    })
}

/// NULL with warning 1365, or the error where a strict statement stores the value.
pub(crate) fn division_by_zero<T>(context: &EvaluationContext) -> Result<Option<T>> {
    if context
        .session
        .sql_mode
        .has(SqlMode::ERROR_FOR_DIVISION_BY_ZERO)
    {
        let error = codes::ER_DIVISION_BY_ZERO.error();
        if context.is_strict_store {
            return Err(error);
        }
        context.diagnostics.warn(error);
    }
    Ok(None)
}

/// The text of an operation with the values of a row, for error 1690.
pub(crate) fn text_of_row(call: &Call<'_>, symbol: &str, row: usize) -> String {
    let operand = |index: usize| -> String {
        let shown = match call.ty(index).physical() {
            PhysicalType::Float64 => {
                let values = call.floats(index).ok();
                values.and_then(|values| values.get(row)).map(show_double)
            }
            PhysicalType::Decimal128(scale) | PhysicalType::Decimal256(scale) => {
                let values = call.decimals(index).ok();
                let unscaled = values.and_then(|values| values.get(row));
                unscaled.map(|unscaled| Decimal::new(unscaled, scale).to_string())
            }
            _ => {
                let values = call.any_ints(index).ok();
                let value = values.and_then(|values| values.get(row));
                value.map(|value| value.to_string())
            }
        };
        shown.unwrap_or_else(|| "NULL".to_owned())
    };
    format!("({} {symbol} {})", operand(0), operand(1))
}

fn show_double(value: f64) -> String {
    if value.abs() >= 1e15 {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// A decimal operation row by row; the results are rescaled to the result's scale.
pub(crate) fn decimal_rows(
    call: &Call<'_>,
    mut compute: impl FnMut(Decimal, Decimal) -> Result<Option<Decimal>>,
) -> Result<ArrayRef> {
    let result = &call.signature.result;
    let (left, right) = (decimal_values(call, 0)?, decimal_values(call, 1)?);
    let overflow = |_| output::out_of_range("DECIMAL", call.signature.text.as_deref());
    output::decimals(call.rows, result, |row| {
        let (Some(a), Some(b)) = (left(row), right(row)) else {
            return Ok(None);
        };
        let Some(value) = compute(a, b)? else {
            return Ok(None);
        };
        let value = value.rescale(result.decimals).map_err(overflow)?;
        Ok(Some(value.checked().map_err(overflow)?.unscaled))
    })
}

/// The values of a DECIMAL operand.
pub(crate) fn decimal_values<'a>(
    call: &Call<'a>,
    index: usize,
) -> Result<impl Fn(usize) -> Option<Decimal> + use<'a>> {
    let (values, scale) = (call.decimals(index)?, call.ty(index).decimals);
    Ok(move |row| Some(Decimal::new(values.get(row)?, scale)))
}

/// Integers of the result's type; `fail` returns the error of a row whose value is out of range.
pub(crate) fn integers_of_type(
    call: &Call<'_>,
    mut compute: impl FnMut(usize) -> Result<Option<i128>>,
    fail: impl Fn(usize, &str) -> Error,
) -> Result<ArrayRef> {
    if call.signature.result.unsigned {
        output::uints(call.rows, |row| {
            let value = compute(row)?.map(u64::try_from).transpose();
            value.map_err(|_| fail(row, "BIGINT UNSIGNED"))
        })
    } else {
        output::ints(call.rows, |row| {
            let value = compute(row)?.map(i64::try_from).transpose();
            value.map_err(|_| fail(row, "BIGINT"))
        })
    }
}

/// An integer operation with a positive constant as right operand, as nearly every divisor is: there is neither
/// overflow nor division by zero. `None` otherwise.
pub(crate) fn by_positive_constant(
    call: &Call<'_>,
    signed: impl Fn(i64, i64) -> i64,
    unsigned: impl Fn(u64, u64) -> u64,
) -> Result<Option<ArrayRef>> {
    let divisor = match &call.arguments[1] {
        Column::Constant(Value::Int(number)) => *number,
        Column::Constant(Value::UInt(number)) => i64::try_from(*number).unwrap_or(0),
        _ => return Ok(None),
    };
    let (from, to) = (call.ty(0).physical(), call.signature.result.physical());
    if divisor <= 0 || from != to {
        return Ok(None);
    }
    Ok(Some(match from {
        PhysicalType::Int64 => {
            let (left, right) = (call.ints(0)?, Ints::Constant(Some(divisor)));
            let quotients = output::binary::<_, _, Int64Type>(left, right, call.rows, signed);
            Arc::new(quotients)
        }
        PhysicalType::UInt64 => {
            let right = UInts::Constant(Some(divisor.cast_unsigned()));
            let left = call.uints(0)?;
            let quotients = output::binary::<_, _, UInt64Type>(left, right, call.rows, unsigned);
            Arc::new(quotients)
        }
        _ => return Ok(None),
    }))
}
