//! What the arithmetic operators share: which number type an operation works in, its result type,
//! overflow errors and division by zero (the manual, "Arithmetic Operators").

use std::fmt::Display;

use arrow_array::ArrayRef;
use arrow_array::types::{ArrowPrimitiveType, Decimal128Type, Int64Type, UInt64Type};
use mayfly_types::decimal::{
    Decimal, DecimalOperation, DecimalOverflow, decimal_of_numeric, decimal_result_type, pow10_i128,
};
use mayfly_types::error::codes;
use mayfly_types::sql_type::DECIMALS_NOT_FIXED;
use mayfly_types::{Error, PhysicalType, Result, SqlMode, SqlType, TypeKind, Value};
use std::sync::Arc;

use crate::input::{self, Numbers};
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, derive, output};

/// The number types that operators work in.
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
    if is_hexadecimal(argument) {
        Kind::Integer
    } else {
        kind_of(argument.ty)
    }
}

/// Whether an argument is a literal written 0x41 or b'1', which is a number where one is wanted.
pub(crate) fn is_hexadecimal(argument: &Argument<'_>) -> bool {
    argument.ty.kind == TypeKind::VarChar
        && argument.ty.is_binary_string()
        && matches!(argument.constant, Some(Value::Bytes(_)))
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
        // A literal like 0x41.
        TypeKind::VarChar if ty.is_binary_string() => SqlType::bigint_unsigned(),
        _ => SqlType::bigint(),
    }
}

/// The type to convert an operand to for decimal arithmetic: literals count their own digits.
pub(crate) fn decimal_argument(argument: &Argument<'_>) -> SqlType {
    let digits = match argument.constant {
        Some(Value::Int(value)) if argument.ty.is_integer() => Decimal::from(*value).precision(),
        Some(Value::UInt(value)) if argument.ty.is_integer() => Decimal::from(*value).precision(),
        Some(Value::Bytes(_)) if is_hexadecimal(argument) => 20,
        _ => return decimal_of_numeric(argument.ty),
    };
    // A number is as wide as it is written: X'0A' has room for 255.
    let is_written = argument.ty.kind == TypeKind::BigInt && argument.ty.length < 19;
    let written = decimal_of_numeric(argument.ty).length;
    match u8::try_from(written) {
        Ok(written) if is_written => SqlType::decimal(digits.max(written), 0),
        _ => SqlType::decimal(digits, 0),
    }
}

/// An integer result of a display width: INT while it fits, as MySQL shows it.
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

/// The digits that an operand of integer arithmetic may have.
pub(crate) fn integer_digits(argument: &Argument<'_>) -> u32 {
    let ty = integer_argument(argument.ty);
    // The width includes the sign.
    let sign = u32::from(!ty.unsigned);
    ty.length.saturating_sub(sign).max(1)
}

/// Types of `+`, `-`, `*` and `%`.
pub(crate) fn signature(
    arguments: &[Argument<'_>],
    operation: DecimalOperation,
    context: &SignatureContext,
) -> Result<Signature> {
    let kinds = [
        kind_of_argument(&arguments[0]),
        kind_of_argument(&arguments[1]),
    ];
    let nullable = derive::any_nullable(arguments);
    if kinds.contains(&Kind::Double) {
        return Ok(double_signature(arguments, 0, nullable));
    }
    if kinds.contains(&Kind::Decimal) {
        return Ok(decimal_signature(arguments, operation, context));
    }
    let digits = [integer_digits(&arguments[0]), integer_digits(&arguments[1])];
    let digits = match operation {
        DecimalOperation::Multiply => digits[0] + digits[1],
        _ => digits[0].max(digits[1]) + 1,
    };
    let unsigned = arguments.iter().any(|argument| is_unsigned(argument.ty));
    let types = arguments
        .iter()
        .map(|argument| integer_argument(argument.ty));
    let result = integer_result(digits + u32::from(!unsigned), unsigned);
    Ok(Signature::new(types.collect(), result, nullable))
}

/// Whether values of a type are unsigned in integer arithmetic.
pub(crate) fn is_unsigned(ty: &SqlType) -> bool {
    ty.physical() == PhysicalType::UInt64
}

/// A double result shows as many decimals as its operands and `increment` more, when those of all
/// operands are fixed.
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
    let double = SqlType::double();
    // Of a quotient the dividend alone decides how many digits stand before the point.
    let wide = if increment > 0 {
        &arguments[..1]
    } else {
        arguments
    };
    let whole = wide.iter().map(whole_width).max().unwrap_or_default();
    let result = if decimals < DECIMALS_NOT_FIXED {
        SqlType {
            decimals,
            length: whole + u32::from(decimals),
            ..double.clone()
        }
    } else {
        double.clone()
    };
    Signature::new(vec![double.clone(), double], result, nullable)
}

/// The width of an operand without its decimals.
fn whole_width(operand: &Argument<'_>) -> u32 {
    let ty = operand.ty;
    match kind_of(ty) {
        Kind::Integer => integer_argument(ty).length,
        Kind::Decimal if ty.kind == TypeKind::Decimal => {
            ty.length + u32::from(ty.decimals > 0) + u32::from(!ty.unsigned)
                - u32::from(ty.decimals)
        }
        _ => ty.length.saturating_sub(ty.decimals.into()),
    }
}

fn decimal_signature(
    arguments: &[Argument<'_>],
    operation: DecimalOperation,
    context: &SignatureContext,
) -> Signature {
    let types = [
        decimal_argument(&arguments[0]),
        decimal_argument(&arguments[1]),
    ];
    let increment = context.div_precision_increment;
    let mut operands = arguments.iter();
    let unsigned = match operation {
        DecimalOperation::Remainder => arguments[0].ty.unsigned,
        _ => operands.all(|operand| operand.ty.unsigned),
    };
    let result = SqlType {
        unsigned,
        ..decimal_result_type(operation, &types[0], &types[1], increment)
    };
    Signature::new(types.to_vec(), result, derive::any_nullable(arguments))
}

/// Types of `/`: integers are divided as decimals.
pub(crate) fn division_signature(
    arguments: &[Argument<'_>],
    context: &SignatureContext,
) -> Signature {
    if arguments
        .iter()
        .any(|argument| kind_of_argument(argument) == Kind::Double)
    {
        return double_signature(arguments, context.div_precision_increment, true);
    }
    decimal_signature(arguments, DecimalOperation::Divide, context)
}

/// NULL with warning 1365, or the error where a strict statement stores the value.
pub(crate) fn division_by_zero<T>(context: &EvaluationContext) -> Result<Option<T>> {
    if context.sql_mode.has(SqlMode::ERROR_FOR_DIVISION_BY_ZERO) {
        let error = codes::ER_DIVISION_BY_ZERO.error();
        if context.is_strict_store {
            return Err(error);
        }
        context.diagnostics.warn(error);
    }
    Ok(None)
}

/// A double result, or error 1690 when it is none.
pub(crate) fn finite(value: f64, text: impl FnOnce() -> String) -> Result<f64> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(output::out_of_range("DOUBLE", Some(&text())))
    }
}

/// The text of an operation for error 1690: the user's, or one made of its values.
pub(crate) fn text(signature: &Signature, symbol: &str, operands: &[&dyn Display; 2]) -> String {
    match &signature.text {
        Some(text) => text.to_string(),
        None => format!("({} {symbol} {})", operands[0], operands[1]),
    }
}

/// As [`text`], with the values of a row.
pub(crate) fn text_of_row(
    signature: &Signature,
    symbol: &str,
    arguments: &[Column],
    row: usize,
) -> String {
    let operand = |index: usize| -> String {
        let (column, ty) = (&arguments[index], &signature.arguments[index]);
        let shown = match ty.physical() {
            PhysicalType::Float64 => input::floats(column)
                .ok()
                .and_then(|values| values.get(row))
                .map(show_double),
            PhysicalType::Decimal128(scale) | PhysicalType::Decimal256(scale) => {
                input::decimals(column, scale)
                    .ok()
                    .and_then(|values| values.get(row))
                    .map(|unscaled| Decimal::new(unscaled, scale).to_string())
            }
            _ => input::any_ints(column)
                .ok()
                .and_then(|values| values.get(row))
                .map(|value| value.to_string()),
        };
        shown.unwrap_or_else(|| "NULL".to_owned())
    };
    text(signature, symbol, &[&operand(0), &operand(1)])
}

fn show_double(value: f64) -> String {
    if value.abs() >= 1e15 {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// The two decimal operands of a row, or `None` when one is NULL.
pub(crate) fn decimal_pair(
    arguments: &[Column],
    signature: &Signature,
    row: usize,
) -> Result<Option<(Decimal, Decimal)>> {
    let scales = [
        signature.arguments[0].decimals,
        signature.arguments[1].decimals,
    ];
    let left = input::decimals(&arguments[0], scales[0])?.get(row);
    let right = input::decimals(&arguments[1], scales[1])?.get(row);
    let pair = left.zip(right);
    Ok(pair.map(|(a, b)| (Decimal::new(a, scales[0]), Decimal::new(b, scales[1]))))
}

/// A decimal operation row by row; its values are brought to the result's scale.
pub(crate) fn decimal_rows(
    arguments: &[Column],
    row_count: usize,
    signature: &Signature,
    mut compute: impl FnMut(Decimal, Decimal) -> Result<Option<Decimal>>,
) -> Result<ArrayRef> {
    let scales = [
        signature.arguments[0].decimals,
        signature.arguments[1].decimals,
    ];
    let left = input::decimals(&arguments[0], scales[0])?;
    let right = input::decimals(&arguments[1], scales[1])?;
    let overflow = |_| output::out_of_range("DECIMAL", signature.text.as_deref());
    output::decimals(row_count, &signature.result, |row| {
        let (Some(a), Some(b)) = (left.get(row), right.get(row)) else {
            return Ok(None);
        };
        match compute(Decimal::new(a, scales[0]), Decimal::new(b, scales[1]))? {
            None => Ok(None),
            Some(value) => {
                let value = value.rescale(signature.result.decimals).map_err(overflow)?;
                Ok(Some(value.checked().map_err(overflow)?.unscaled))
            }
        }
    })
}

/// An integer operation by a constant that is positive, as nearly every divisor is: then there is
/// neither overflow nor division by zero. `None` where it is otherwise.
pub(crate) fn by_positive_constant(
    arguments: &[Column],
    row_count: usize,
    signature: &Signature,
    signed: impl Fn(i64, i64) -> i64,
    unsigned: impl Fn(u64, u64) -> u64,
) -> Result<Option<ArrayRef>> {
    let divisor = match &arguments[1] {
        Column::Constant(Value::Int(number)) => *number,
        Column::Constant(Value::UInt(number)) => i64::try_from(*number).unwrap_or(0),
        _ => return Ok(None),
    };
    let (from, to) = (
        signature.arguments[0].physical(),
        signature.result.physical(),
    );
    if divisor <= 0 || from != to {
        return Ok(None);
    }
    Ok(Some(match from {
        PhysicalType::Int64 => {
            let left = input::ints(&arguments[0])?;
            let right = Numbers::<Int64Type>::Constant(Some(divisor));
            Arc::new(output::binary::<_, _, Int64Type>(
                left, right, row_count, signed,
            ))
        }
        PhysicalType::UInt64 => {
            let left = input::uints(&arguments[0])?;
            let right = Numbers::<UInt64Type>::Constant(Some(divisor.cast_unsigned()));
            Arc::new(output::binary::<_, _, UInt64Type>(
                left, right, row_count, unsigned,
            ))
        }
        _ => return Ok(None),
    }))
}

/// One of `+`, `-`, `*` in each number type. A trait rather than a table of function pointers, so
/// that every loop is compiled for its operation.
pub(crate) trait Arithmetic {
    /// As written.
    const SYMBOL: &'static str;
    /// Both operands signed: the value and whether it overflowed.
    fn signed(a: i64, b: i64) -> (i64, bool);
    /// Both operands unsigned.
    fn unsigned(a: u64, b: u64) -> (u64, bool);
    /// Mixed operands.
    fn wide(a: i128, b: i128) -> i128;
    /// DOUBLE
    fn double(a: f64, b: f64) -> f64;
    /// Whether decimal operands are brought to equal scale first.
    const ALIGNS_SCALES: bool;
    /// Unscaled decimals that cannot overflow 128 bits.
    fn narrow_decimal(a: i128, b: i128) -> i128;
    /// Decimals of any scale.
    fn decimal(a: Decimal, b: Decimal) -> Result<Decimal, DecimalOverflow>;
}

/// Computes all rows of an operation.
pub(crate) fn evaluate<O: Arithmetic>(
    arguments: &[Column],
    row_count: usize,
    signature: &Signature,
) -> Result<ArrayRef> {
    match signature.result.physical() {
        PhysicalType::Float64 => doubles::<O>(arguments, row_count, signature),
        PhysicalType::Int64 | PhysicalType::UInt64 => {
            integers::<O>(arguments, row_count, signature)
        }
        _ => {
            let values = decimals::<O>(arguments, row_count, signature)?;
            match signature.result.unsigned {
                true => without_negative::<O>(values, arguments, row_count, signature),
                false => Ok(values),
            }
        }
    }
}

/// The values of an unsigned DECIMAL, or error 1690 for one below zero.
fn without_negative<O: Arithmetic>(
    values: ArrayRef,
    arguments: &[Column],
    row_count: usize,
    signature: &Signature,
) -> Result<ArrayRef> {
    let column = Column::Array(Arc::clone(&values));
    let known = input::decimals(&column, signature.result.decimals)?;
    let negative = |row: &usize| known.get(*row).is_some_and(|value| value.is_negative());
    if let Some(row) = (0..row_count).find(negative) {
        return Err(overflow::<O>("DECIMAL UNSIGNED", arguments, row, signature));
    }
    Ok(values)
}

fn overflow<O: Arithmetic>(
    kind: &str,
    arguments: &[Column],
    row: usize,
    signature: &Signature,
) -> Error {
    let text = text_of_row(signature, O::SYMBOL, arguments, row);
    output::out_of_range(kind, Some(&text))
}

fn doubles<O: Arithmetic>(
    arguments: &[Column],
    row_count: usize,
    signature: &Signature,
) -> Result<ArrayRef> {
    let (left, right) = (input::floats(&arguments[0])?, input::floats(&arguments[1])?);
    let mut all_finite = true;
    let array =
        output::binary::<_, _, arrow_array::types::Float64Type>(left, right, row_count, |a, b| {
            let value = O::double(a, b);
            all_finite &= value.is_finite();
            value
        });
    if !all_finite {
        for row in 0..row_count {
            if let (Some(a), Some(b)) = (left.get(row), right.get(row))
                && !O::double(a, b).is_finite()
            {
                return Err(overflow::<O>("DOUBLE", arguments, row, signature));
            }
        }
    }
    Ok(Arc::new(array))
}

fn integers<O: Arithmetic>(
    arguments: &[Column],
    row_count: usize,
    signature: &Signature,
) -> Result<ArrayRef> {
    let is_unsigned = |index: usize| {
        let ty: &SqlType = &signature.arguments[index];
        ty.physical() == PhysicalType::UInt64
    };
    let result_unsigned = signature.result.unsigned;
    let kind = if result_unsigned {
        "BIGINT UNSIGNED"
    } else {
        "BIGINT"
    };
    let fail = |row: usize| overflow::<O>(kind, arguments, row, signature);
    match (is_unsigned(0), is_unsigned(1)) {
        (false, false) if !result_unsigned => {
            let (left, right) = (input::ints(&arguments[0])?, input::ints(&arguments[1])?);
            checked::<Int64Type, Int64Type>(left, right, row_count, O::signed, fail)
        }
        (true, true) if result_unsigned => {
            let (left, right) = (input::uints(&arguments[0])?, input::uints(&arguments[1])?);
            checked::<UInt64Type, UInt64Type>(left, right, row_count, O::unsigned, fail)
        }
        _ => {
            let (left, right) = (
                input::any_ints(&arguments[0])?,
                input::any_ints(&arguments[1])?,
            );
            let value = |row: usize| Some(O::wide(left.get(row)?, right.get(row)?));
            if result_unsigned {
                output::uints(row_count, |row| {
                    let Some(value) = value(row) else {
                        return Ok(None);
                    };
                    u64::try_from(value).map(Some).map_err(|_| fail(row))
                })
            } else {
                output::ints(row_count, |row| {
                    let Some(value) = value(row) else {
                        return Ok(None);
                    };
                    i64::try_from(value).map(Some).map_err(|_| fail(row))
                })
            }
        }
    }
}

fn decimals<O: Arithmetic>(
    arguments: &[Column],
    row_count: usize,
    signature: &Signature,
) -> Result<ArrayRef> {
    let scales = [
        signature.arguments[0].decimals,
        signature.arguments[1].decimals,
    ];
    if let PhysicalType::Decimal128(scale) = signature.result.physical() {
        let left = input::narrow(input::decimals(&arguments[0], scales[0])?);
        let right = input::narrow(input::decimals(&arguments[1], scales[1])?);
        let factor = |own: u8| scale.checked_sub(own).and_then(pow10_i128);
        if let (Some(left), Some(right)) = (left, right) {
            if let (true, Some(left_factor), Some(right_factor)) =
                (O::ALIGNS_SCALES, factor(scales[0]), factor(scales[1]))
            {
                // The result's precision bounds the values, so nothing overflows; what stands
                // under NULLs may, harmlessly.
                let array =
                    output::binary::<_, _, Decimal128Type>(left, right, row_count, |a, b| {
                        O::narrow_decimal(a.wrapping_mul(left_factor), b.wrapping_mul(right_factor))
                    });
                return Ok(Arc::new(
                    array.with_data_type(signature.result.physical().arrow()),
                ));
            }
            if !O::ALIGNS_SCALES && scales[0] + scales[1] == scale {
                let array = output::binary::<_, _, Decimal128Type>(
                    left,
                    right,
                    row_count,
                    O::narrow_decimal,
                );
                return Ok(Arc::new(
                    array.with_data_type(signature.result.physical().arrow()),
                ));
            }
        }
    }
    decimal_rows(arguments, row_count, signature, |a, b| {
        O::decimal(a, b).map(Some).map_err(|_| {
            output::out_of_range("DECIMAL", Some(&text(signature, O::SYMBOL, &[&a, &b])))
        })
    })
}

/// A loop that notes overflow on the way and looks for the guilty row only when there was one: most
/// batches have none, and then the loop has no branch.
fn checked<A, O>(
    left: Numbers<'_, A>,
    right: Numbers<'_, A>,
    row_count: usize,
    compute: impl Fn(A::Native, A::Native) -> (O::Native, bool),
    fail: impl Fn(usize) -> Error,
) -> Result<ArrayRef>
where
    A: ArrowPrimitiveType,
    O: ArrowPrimitiveType,
{
    let mut overflowed = false;
    let array = output::binary::<A, A, O>(left, right, row_count, |a, b| {
        let (value, overflow) = compute(a, b);
        overflowed |= overflow;
        value
    });
    if overflowed {
        for row in 0..row_count {
            if let (Some(a), Some(b)) = (left.get(row), right.get(row))
                && compute(a, b).1
            {
                return Err(fail(row));
            }
        }
    }
    Ok(Arc::new(array))
}
