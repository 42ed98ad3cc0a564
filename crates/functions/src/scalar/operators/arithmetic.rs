//! `a + b`, `a - b` and `a * b`.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type,
};
use arrow_buffer::i256;
use mayfly_types::decimal::{Decimal, DecimalOperation, DecimalOverflow, pow10_i128};
use mayfly_types::{Error, PhysicalType, Result, SqlMode, Value};

use super::numeric::{self, text_of_row};
use crate::input::{self, Numbers};
use crate::scalar::Row;
use crate::scalar::facts::{Fact, ParameterType, Parameters, Printed};
use crate::{Binding, Call, Column, Signature, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["+"], 2..=2, add_signature, evaluate::<Add>)
        .with(&[Fact::Strict, Fact::Overflows, Fact::ReadsIntegers(2)])
        .parameters(Parameters::OfOthers(ParameterType::Double))
        .printed(Printed::Infix("+"))
        .total_where(is_total::<Add>)
        .by_value(value::<Add>),
    Row::new(&["-"], 2..=2, subtract_signature, evaluate::<Subtract>)
        .with(&[Fact::Strict, Fact::Overflows, Fact::ReadsIntegers(2)])
        .parameters(Parameters::OfOthers(ParameterType::Double))
        .printed(Printed::Infix("-"))
        .total_where(is_total::<Subtract>)
        .by_value(value::<Subtract>),
    Row::new(&["*"], 2..=2, multiply_signature, evaluate::<Multiply>)
        .with(&[Fact::Strict, Fact::Overflows, Fact::ReadsIntegers(2)])
        .parameters(Parameters::OfOthers(ParameterType::Double))
        .printed(Printed::Infix("*"))
        .total_where(is_total::<Multiply>)
        .by_value(value::<Multiply>),
];

/// Whether every result fits its type: a DECIMAL with room for all digits of both operands, or a signed integer of
/// operands that are short enough.
fn is_total<O: Arithmetic>(signature: &Signature) -> bool {
    let [left, right] = &signature.arguments[..] else {
        return false;
    };
    if signature.result.unsigned || left.unsigned || right.unsigned {
        return false;
    }
    match signature.result.physical() {
        PhysicalType::Decimal128(scale) => {
            O::ALIGNS_SCALES || left.decimals + right.decimals == scale
        }
        PhysicalType::Int64 => match (left.integer_bits(), right.integer_bits()) {
            (Some(left), Some(right)) if O::ALIGNS_SCALES => left.max(right) < i64::BITS,
            (Some(left), Some(right)) => left + right <= i64::BITS,
            _ => false,
        },
        _ => false,
    }
}

fn add_signature(binding: &Binding<'_>) -> Result<Signature> {
    Ok(numeric::signature(binding, DecimalOperation::Add))
}

fn subtract_signature(binding: &Binding<'_>) -> Result<Signature> {
    let mut signature = numeric::signature(binding, DecimalOperation::Subtract);
    if binding
        .session
        .sql_mode
        .has(SqlMode::NO_UNSIGNED_SUBTRACTION)
    {
        signature.result.unsigned = false;
    }
    Ok(signature)
}

fn multiply_signature(binding: &Binding<'_>) -> Result<Signature> {
    Ok(numeric::signature(binding, DecimalOperation::Multiply))
}

/// Arithmetic operator, with one method per number type. A trait rather than a table of function pointers, so that
/// every loop is compiled for its operation.
trait Arithmetic {
    /// The operator's symbol.
    const SYMBOL: &'static str;
    /// Whether decimal operands are brought to equal scale first.
    const ALIGNS_SCALES: bool;
    /// Two signed operands: the value and whether it overflowed.
    fn signed(a: i64, b: i64) -> (i64, bool);
    /// Two unsigned operands.
    fn unsigned(a: u64, b: u64) -> (u64, bool);
    /// Mixed operands.
    fn wide(a: i128, b: i128) -> i128;
    /// DOUBLE
    fn double(a: f64, b: f64) -> f64;
    /// Unscaled decimals that cannot overflow 128 bits.
    fn narrow_decimal(a: i128, b: i128) -> i128;
    /// Decimals of any scale.
    fn decimal(a: Decimal, b: Decimal) -> Result<Decimal, DecimalOverflow>;
}

/// Implements [`Arithmetic`] by the standard methods of integers for an operator.
macro_rules! arithmetic {
    ($name:ident, $symbol:tt, $aligns:literal, $overflowing:ident, $wrapping:ident, $decimal:ident) => {
        struct $name;

        impl Arithmetic for $name {
            const SYMBOL: &'static str = stringify!($symbol);
            const ALIGNS_SCALES: bool = $aligns;

            #[inline]
            fn signed(a: i64, b: i64) -> (i64, bool) {
                a.$overflowing(b)
            }

            #[inline]
            fn unsigned(a: u64, b: u64) -> (u64, bool) {
                a.$overflowing(b)
            }

            #[inline]
            fn wide(a: i128, b: i128) -> i128 {
                a $symbol b
            }

            #[inline]
            fn double(a: f64, b: f64) -> f64 {
                a $symbol b
            }

            #[inline]
            fn narrow_decimal(a: i128, b: i128) -> i128 {
                a.$wrapping(b)
            }

            fn decimal(a: Decimal, b: Decimal) -> Result<Decimal, DecimalOverflow> {
                a.$decimal(b)
            }
        }
    };
}

arithmetic!(Add, +, true, overflowing_add, wrapping_add, add);
arithmetic!(Subtract, -, true, overflowing_sub, wrapping_sub, subtract);
arithmetic!(Multiply, *, false, overflowing_mul, wrapping_mul, multiply);

/// Computes one row of signed integers or doubles without overflow.
fn value<O: Arithmetic>(arguments: &[Column], signature: &Signature) -> Option<Value> {
    match (arguments, signature.result.physical()) {
        (
            [
                Column::Constant(Value::Int(left)),
                Column::Constant(Value::Int(right)),
            ],
            PhysicalType::Int64,
        ) => {
            let (value, overflows) = O::signed(*left, *right);
            (!overflows).then_some(Value::Int(value))
        }
        (
            [
                Column::Constant(Value::Float(left)),
                Column::Constant(Value::Float(right)),
            ],
            PhysicalType::Float64,
        ) => Some(O::double(*left, *right))
            .filter(|value| value.is_finite())
            .map(Value::Float),
        _ => None,
    }
}

fn evaluate<O: Arithmetic>(call: &Call<'_>) -> Result<ArrayRef> {
    let result = &call.signature.result;
    match result.physical() {
        PhysicalType::Float64 => doubles::<O>(call),
        PhysicalType::Int64 | PhysicalType::UInt64 => integers::<O>(call),
        _ => {
            let values = decimals::<O>(call)?;
            if result.unsigned {
                check_not_negative::<O>(call, &values)?;
            }
            Ok(values)
        }
    }
}

/// Error 1690 for a negative value of an unsigned DECIMAL.
fn check_not_negative<O: Arithmetic>(call: &Call<'_>, values: &ArrayRef) -> Result<()> {
    let column = Column::Array(Arc::clone(values));
    let values = input::decimals(&column, call.signature.result.decimals)?;
    let is_negative = |row: &usize| values.get(*row).is_some_and(|value| value.is_negative());
    match (0..call.rows).find(is_negative) {
        Some(row) => Err(overflow::<O>(call, "DECIMAL UNSIGNED", row)),
        None => Ok(()),
    }
}

fn overflow<O: Arithmetic>(call: &Call<'_>, kind: &str, row: usize) -> Error {
    call.out_of_range(kind, || text_of_row(call, O::SYMBOL, row))
}

fn doubles<O: Arithmetic>(call: &Call<'_>) -> Result<ArrayRef> {
    let (left, right) = (call.floats(0)?, call.floats(1)?);
    let compute = |a, b| {
        let value = O::double(a, b);
        (value, !value.is_finite())
    };
    let fail = |row| overflow::<O>(call, "DOUBLE", row);
    checked::<_, _, Float64Type>(left, right, call.rows, compute, fail)
}

fn integers<O: Arithmetic>(call: &Call<'_>) -> Result<ArrayRef> {
    let is_unsigned = [0, 1].map(|index| numeric::is_unsigned(call.ty(index)));
    match (is_unsigned, call.signature.result.unsigned) {
        ([false, false], false) => {
            let fail = |row| overflow::<O>(call, "BIGINT", row);
            let (left, right) = (call.ints(0)?, call.ints(1)?);
            checked::<_, _, Int64Type>(left, right, call.rows, O::signed, fail)
        }
        ([true, true], true) => {
            let fail = |row| overflow::<O>(call, "BIGINT UNSIGNED", row);
            let (left, right) = (call.uints(0)?, call.uints(1)?);
            checked::<_, _, UInt64Type>(left, right, call.rows, O::unsigned, fail)
        }
        ([false, true], _) => mixed::<O, _, _>(call, call.ints(0)?, call.uints(1)?),
        ([true, false], _) => mixed::<O, _, _>(call, call.uints(0)?, call.ints(1)?),
        ([true, true], false) => mixed::<O, _, _>(call, call.uints(0)?, call.uints(1)?),
        ([false, false], true) => mixed::<O, _, _>(call, call.ints(0)?, call.ints(1)?),
    }
}

/// Integers whose result may differ in signedness from an operand.
fn mixed<O: Arithmetic, A: ArrowPrimitiveType, B: ArrowPrimitiveType>(
    call: &Call<'_>,
    left: Numbers<'_, A>,
    right: Numbers<'_, B>,
) -> Result<ArrayRef>
where
    A::Native: Into<i128>,
    B::Native: Into<i128>,
{
    let value = |a: A::Native, b: B::Native| O::wide(a.into(), b.into());
    if call.signature.result.unsigned {
        let fail = |row| overflow::<O>(call, "BIGINT UNSIGNED", row);
        let compute = |a, b| narrowed::<u64>(value(a, b));
        checked::<_, _, UInt64Type>(left, right, call.rows, compute, fail)
    } else {
        let fail = |row| overflow::<O>(call, "BIGINT", row);
        let compute = |a, b| narrowed::<i64>(value(a, b));
        checked::<_, _, Int64Type>(left, right, call.rows, compute, fail)
    }
}

/// A number in a type, and whether it overflows it.
fn narrowed<T: TryFrom<i128> + Default>(value: i128) -> (T, bool) {
    T::try_from(value).map_or_else(|_| (T::default(), true), |value| (value, false))
}

fn decimals<O: Arithmetic>(call: &Call<'_>) -> Result<ArrayRef> {
    let physical = call.signature.result.physical();
    if let PhysicalType::Decimal256(scale) = physical
        && !O::ALIGNS_SCALES
        && call.ty(0).decimals + call.ty(1).decimals == scale
        && call.ty(0).length + call.ty(1).length <= call.signature.result.length
        && let Some(left) = input::narrow(call.decimals(0)?)
        && let Some(right) = input::narrow(call.decimals(1)?)
    {
        // The result has room for all digits of both operands.
        let product = output::binary::<_, _, Decimal256Type>(left, right, call.rows, wide_product);
        return Ok(Arc::new(product.with_data_type(physical.arrow())));
    }
    if let PhysicalType::Decimal128(scale) = physical
        && let Some(left) = input::narrow(call.decimals(0)?)
        && let Some(right) = input::narrow(call.decimals(1)?)
    {
        let own = [call.ty(0).decimals, call.ty(1).decimals];
        let factors = own.map(|own| scale.checked_sub(own).and_then(pow10_i128));
        let typed = |array: arrow_array::Decimal128Array| -> Result<ArrayRef> {
            Ok(Arc::new(array.with_data_type(physical.arrow())))
        };
        if let (true, [Some(left_factor), Some(right_factor)]) = (O::ALIGNS_SCALES, factors) {
            // The result's precision bounds the values, so nothing overflows; values under NULLs may, harmlessly.
            return typed(output::binary::<_, _, Decimal128Type>(
                left,
                right,
                call.rows,
                |a, b| O::narrow_decimal(a.wrapping_mul(left_factor), b.wrapping_mul(right_factor)),
            ));
        }
        if !O::ALIGNS_SCALES && own[0] + own[1] == scale {
            let product =
                output::binary::<_, _, Decimal128Type>(left, right, call.rows, O::narrow_decimal);
            return typed(product);
        }
    }
    numeric::decimal_rows(call, |a, b| {
        let value = O::decimal(a, b);
        let text = || format!("({a} {} {b})", O::SYMBOL);
        value
            .map(Some)
            .map_err(|_| call.out_of_range("DECIMAL", text))
    })
}

/// The product of two numbers, with a fast path for small ones.
#[inline]
fn wide_product(a: i128, b: i128) -> i256 {
    if let (Ok(a), Ok(b)) = (i64::try_from(a), i64::try_from(b)) {
        return i256::from_i128(i128::from(a) * i128::from(b));
    }
    match a.checked_mul(b) {
        Some(product) => i256::from_i128(product),
        None => i256::from_i128(a).wrapping_mul(i256::from_i128(b)),
    }
}

/// A loop that only records whether any row overflowed, and finds the row only in that case: so the usual loop has no
/// branch.
fn checked<A: ArrowPrimitiveType, B: ArrowPrimitiveType, T: ArrowPrimitiveType>(
    left: Numbers<'_, A>,
    right: Numbers<'_, B>,
    row_count: usize,
    compute: impl Fn(A::Native, B::Native) -> (T::Native, bool),
    fail: impl Fn(usize) -> Error,
) -> Result<ArrayRef> {
    let mut overflowed = false;
    let array = output::binary::<A, B, T>(left, right, row_count, |a, b| {
        let (value, overflow) = compute(a, b);
        overflowed |= overflow;
        value
    });
    let overflows = |row: &usize| {
        let pair = left.get(*row).zip(right.get(*row));
        pair.is_some_and(|(a, b)| compute(a, b).1)
    };
    if overflowed && let Some(row) = (0..row_count).find(overflows) {
        return Err(fail(row));
    }
    Ok(Arc::new(array))
}
