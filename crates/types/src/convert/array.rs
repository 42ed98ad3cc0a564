//! Casts of whole arrays, and of single values by way of the same code.

use std::sync::Arc;

use arrow_array::builder::BinaryViewBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, PrimitiveArray, new_null_array};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer, NullBufferBuilder, ScalarBuffer, i256};
use arrow_schema::ArrowError;

use super::number::round_half_even;
use super::source::{Datum, Source};
use super::{CastContext, Room, numeric, string, temporal};
use crate::decimal::convert::i128_to_f64;
use crate::decimal::native::max_unscaled_i128;
use crate::decimal::{pow10_i128, rescale_i128, rescale_i256};
use crate::error::{Result, codes};
use crate::sql_type::{PhysicalType, SqlType, TypeKind};
use crate::temporal::Displayed;
use crate::value::Value;

/// Converts every value of an array, as CAST does.
pub fn cast_array(
    array: &ArrayRef,
    from: &SqlType,
    to: &SqlType,
    context: &CastContext<'_>,
) -> Result<ArrayRef> {
    let physical = to.physical();
    if from.kind == TypeKind::Null || array.null_count() == array.len() {
        return Ok(new_null_array(&physical.arrow(), array.len()));
    }
    // A predicate's values may be used as numbers.
    if *array.data_type() == from.physical().arrow() {
        if let Some(array) = cast_unchanged(array, from, to) {
            return Ok(array);
        }
        if let Some(array) = cast_plain_numbers(array, from, to) {
            return Ok(array);
        }
    }
    let source = Source::new(array);
    if physical == PhysicalType::Bytes {
        return cast_to_bytes(source, array.len(), from, to, context);
    }
    let mut builder = NativeBuilder::new(physical, array.len());
    for row in 0..array.len() {
        builder.push(match source.get(row) {
            Some(datum) => cast_datum(datum, from, to, context)?,
            None => None,
        });
    }
    Ok(builder.finish())
}

/// Converts one value, as CAST does.
pub fn cast_value(
    value: &Value,
    from: &SqlType,
    to: &SqlType,
    context: &CastContext<'_>,
) -> Result<Value> {
    let Some(datum) = Datum::of(value).filter(|_| from.kind != TypeKind::Null) else {
        return Ok(Value::Null);
    };
    if to.physical() != PhysicalType::Bytes {
        let native = cast_datum(datum, from, to, context)?;
        return Ok(native.map_or(Value::Null, Datum::to_value));
    }
    let mut out = Vec::new();
    let value = append_bytes(&mut out, datum, from, to, context)?;
    Ok(value.map_or(Value::Null, |()| Value::Bytes(out)))
}

/// Whether text of one type is, byte for byte, valid text of another, whatever its length.
pub(super) fn same_text(from: &SqlType, to: &SqlType) -> bool {
    if from.kind == TypeKind::Json || to.kind == TypeKind::Json {
        return from.kind == to.kind;
    }
    let (from, to) = (from.collation.charset(), to.collation.charset());
    to.includes(from)
}

/// The array itself, when all its values are values of the target type as they are.
pub(super) fn cast_unchanged(array: &ArrayRef, from: &SqlType, to: &SqlType) -> Option<ArrayRef> {
    if from.physical() != to.physical() {
        return None;
    }
    let same = match (from.physical(), to.kind) {
        (PhysicalType::Int64, TypeKind::Date) => from.kind == TypeKind::Date,
        (PhysicalType::Int64, TypeKind::DateTime | TypeKind::Timestamp) => {
            from.kind == TypeKind::Date
                || (matches!(from.kind, TypeKind::DateTime | TypeKind::Timestamp)
                    && from.decimals <= to.decimals)
        }
        (PhysicalType::Int64, TypeKind::Time) => {
            from.kind == TypeKind::Time && from.decimals <= to.decimals
        }
        (PhysicalType::Int64 | PhysicalType::UInt64, TypeKind::BigInt) => {
            from.is_integer() || matches!(from.kind, TypeKind::Enum | TypeKind::Set)
        }
        (PhysicalType::Float64, TypeKind::Double) => true,
        (PhysicalType::Float64, _) => from.kind == to.kind,
        (PhysicalType::Decimal128(_) | PhysicalType::Decimal256(_), _) => from.length <= to.length,
        (PhysicalType::Bytes, _) => {
            let fits = match string::length_limit(to) {
                None => true,
                // Binary strings of a fixed length are padded.
                Some(_) if to.kind == TypeKind::Char && to.is_binary_string() => false,
                Some(limit) => all_within(array, limit),
            };
            same_text(from, to) && fits
        }
        (PhysicalType::Bool, _) => true,
        _ => from.kind == to.kind && from.length <= to.length,
    };
    let same = same
        && (from.physical() != PhysicalType::UInt64
            || to.members == from.members
            || to.kind == TypeKind::BigInt);
    same.then(|| Arc::clone(array))
}

/// Whether no value has more bytes than `limit`, and so no more characters.
pub(super) fn all_within(array: &ArrayRef, limit: usize) -> bool {
    // The lower half of a view is the length.
    let fits = |view: &u128| *view as u32 as usize <= limit;
    let array = array.as_binary_view_opt();
    array.is_some_and(|array| array.views().iter().all(fits))
}

fn unary<F: ArrowPrimitiveType, T: ArrowPrimitiveType>(
    array: &ArrayRef,
    convert: impl Fn(F::Native) -> T::Native,
) -> ArrayRef {
    Arc::new(array.as_primitive::<F>().unary::<_, T>(convert))
}

/// Conversions between numbers that neither fail nor warn for these values, one typed loop each.
pub(super) fn cast_plain_numbers(
    array: &ArrayRef,
    from: &SqlType,
    to: &SqlType,
) -> Option<ArrayRef> {
    if from.is_temporal() || matches!(to.kind, TypeKind::Year | TypeKind::Bit | TypeKind::Float) {
        return None;
    }
    cast_all_numbers(array, from, to).or_else(|| cast_checked_numbers(array, from, to))
}

/// Conversions between numbers that neither fail nor warn for any value.
fn cast_all_numbers(array: &ArrayRef, from: &SqlType, to: &SqlType) -> Option<ArrayRef> {
    Some(match (from.physical(), to.physical()) {
        (PhysicalType::Int64, PhysicalType::Float64) => {
            unary::<Int64Type, Float64Type>(array, |value| value as f64)
        }
        (PhysicalType::UInt64, PhysicalType::Float64) => {
            unary::<UInt64Type, Float64Type>(array, |value| value as f64)
        }
        (PhysicalType::Decimal128(scale), PhysicalType::Float64) => {
            unary::<Decimal128Type, Float64Type>(array, |value| i128_to_f64(value, scale))
        }
        (PhysicalType::Int64, PhysicalType::UInt64) if to.kind == TypeKind::BigInt => {
            unary::<Int64Type, UInt64Type>(array, |value| value as u64)
        }
        (PhysicalType::UInt64, PhysicalType::Int64) if to.kind == TypeKind::BigInt => {
            unary::<UInt64Type, Int64Type>(array, |value| value as i64)
        }
        (PhysicalType::Bool, PhysicalType::Int64) if !to.is_temporal() => {
            let array = array.as_boolean_opt()?;
            let values = array.values().iter().map(i64::from).collect();
            primitive::<Int64Type>(values, array.nulls().cloned())
        }
        (from_physical, PhysicalType::Decimal128(scale)) => {
            let whole = crate::decimal::decimal_of_numeric(from);
            let integer_digits = |ty: &SqlType| ty.length.saturating_sub(u32::from(ty.decimals));
            // A smaller scale may round up into one more digit.
            let spare = u32::from(to.decimals < whole.decimals);
            if !from.is_numeric() || integer_digits(to) < integer_digits(&whole) + spare {
                return None;
            }
            // Only what stands under NULLs may be too large.
            let factor_from = |from: u8| scale.checked_sub(from).and_then(pow10_i128);
            let factor = factor_from(0).unwrap_or(0);
            let shifted = |value: i128| value.wrapping_mul(factor);
            let array = match from_physical {
                PhysicalType::Int64 => {
                    unary::<Int64Type, Decimal128Type>(array, |value| shifted(value.into()))
                }
                PhysicalType::UInt64 => {
                    unary::<UInt64Type, Decimal128Type>(array, |value| shifted(value.into()))
                }
                PhysicalType::Decimal128(from) => match factor_from(from) {
                    Some(factor) => unary::<Decimal128Type, Decimal128Type>(array, |value| {
                        value.wrapping_mul(factor)
                    }),
                    None => unary::<Decimal128Type, Decimal128Type>(array, |value| {
                        rescale_i128(value, from, scale).unwrap_or(0)
                    }),
                },
                _ => return None,
            };
            of_type::<Decimal128Type>(&array, to)
        }
        (PhysicalType::Decimal256(from_scale), PhysicalType::Decimal256(scale))
            if to.length - u32::from(scale) > from.length - u32::from(from_scale) =>
        {
            let array = unary::<Decimal256Type, Decimal256Type>(array, |value| {
                rescale_i256(value, from_scale, scale).unwrap_or(value)
            });
            of_type::<Decimal256Type>(&array, to)
        }
        _ => return None,
    })
}

/// An array of DECIMALs with the scale of a type.
fn of_type<T: ArrowPrimitiveType>(array: &ArrayRef, to: &SqlType) -> ArrayRef {
    let array = array.as_primitive::<T>().clone();
    Arc::new(array.with_data_type(to.physical().arrow()))
}

fn primitive<T: ArrowPrimitiveType>(
    values: ScalarBuffer<T::Native>,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(values, nulls))
}

/// Conversions between numbers that may fail, if no value does.
fn cast_checked_numbers(array: &ArrayRef, from: &SqlType, to: &SqlType) -> Option<ArrayRef> {
    let largest = max_unscaled_i128(to.length.min(38) as u8).unsigned_abs();
    let within = |value: &i128| value.unsigned_abs() <= largest;
    match (from.physical(), to.physical()) {
        (PhysicalType::Decimal128(scale), PhysicalType::Int64) if !to.is_temporal() => {
            checked_unary::<Decimal128Type, Int64Type>(array, |value| {
                i64::try_from(rescale_i128(value, scale, 0)?).ok()
            })
        }
        (PhysicalType::Float64, PhysicalType::Int64) if !to.is_temporal() => {
            // Doubles below 2^63 fit 64-bit integers once they are rounded.
            checked_unary::<Float64Type, Int64Type>(array, |value| {
                (value.abs() < 9.2e18).then(|| round_half_even(value) as i64)
            })
        }
        (PhysicalType::Decimal128(scale), PhysicalType::Decimal128(new_scale)) => {
            let array = checked_unary::<Decimal128Type, Decimal128Type>(array, |value| {
                rescale_i128(value, scale, new_scale).filter(within)
            })?;
            Some(of_type::<Decimal128Type>(&array, to))
        }
        (PhysicalType::Int64, PhysicalType::Decimal128(scale)) => {
            let array = checked_unary::<Int64Type, Decimal128Type>(array, |value| {
                rescale_i128(i128::from(value), 0, scale).filter(within)
            })?;
            Some(of_type::<Decimal128Type>(&array, to))
        }
        _ => None,
    }
}

/// Converts every value; `None` when a value other than NULL cannot be converted.
fn checked_unary<F: ArrowPrimitiveType, T: ArrowPrimitiveType>(
    array: &ArrayRef,
    convert: impl Fn(F::Native) -> Option<T::Native>,
) -> Option<ArrayRef> {
    let array = array.as_primitive::<F>();
    let mut values = Vec::with_capacity(array.len());
    for (row, value) in array.values().iter().enumerate() {
        values.push(match convert(*value) {
            Some(value) => value,
            None if array.is_null(row) => T::Native::default(),
            None => return None,
        });
    }
    Some(primitive::<T>(values.into(), array.nulls().cloned()))
}

/// A value of a physical type other than Bytes.
pub(super) type Native = Datum<'static>;

/// The temporal value that a text was displayed from, and its type; a text of another form is a plain one.
fn displayed<'a>(text: &'a [u8], ty: &SqlType) -> (Datum<'a>, SqlType) {
    let temporal = |kind, decimals, value| (Datum::Int(value), SqlType::temporal(kind, decimals));
    match Displayed::read(text) {
        Some(Displayed::Date(date)) => temporal(TypeKind::Date, 0, date.pack()),
        Some(Displayed::DateTime(value)) => temporal(TypeKind::DateTime, 6, value.pack()),
        Some(Displayed::Time(micros)) => temporal(TypeKind::Time, 6, micros),
        None => {
            let plain = SqlType {
                temporal_text: false,
                ..ty.clone()
            };
            (Datum::Bytes(text), plain)
        }
    }
}

/// Casts one value to a type whose physical type is not Bytes.
fn cast_datum(
    datum: Datum<'_>,
    from: &SqlType,
    to: &SqlType,
    context: &CastContext<'_>,
) -> Result<Option<Native>> {
    if from.temporal_text
        && (to.is_numeric() || to.is_temporal())
        && let Datum::Bytes(text) = datum
    {
        let (datum, ty) = displayed(text, from);
        return cast_datum(datum, &ty, to, context);
    }
    Ok(match to.kind {
        TypeKind::Null => None,
        TypeKind::Boolean => {
            let truth = match datum {
                Datum::Int(value) => value != 0,
                Datum::UInt(value) => value != 0,
                Datum::Decimal(value) => !value.is_zero(),
                _ => numeric::to_double(datum, from, context) != 0.0,
            };
            Some(Native::Int(i64::from(truth)))
        }
        TypeKind::TinyInt
        | TypeKind::SmallInt
        | TypeKind::MediumInt
        | TypeKind::Int
        | TypeKind::BigInt => {
            let bits = numeric::to_integer(datum, from, to.unsigned, context);
            Some(if to.unsigned {
                Native::UInt(bits as u64)
            } else {
                Native::Int(bits)
            })
        }
        TypeKind::Bit | TypeKind::Enum | TypeKind::Set => {
            let bits = numeric::to_integer(datum, from, true, context);
            Some(Native::UInt(bits as u64))
        }
        TypeKind::Year => numeric::to_year(datum, from, context).map(Native::UInt),
        TypeKind::Float => Some(Native::Float(numeric::to_float(datum, from, context)?)),
        TypeKind::Double => Some(Native::Float(numeric::to_double(datum, from, context))),
        TypeKind::Decimal => {
            let value = numeric::to_decimal(datum, from, to, context);
            Some(Native::Decimal(value))
        }
        TypeKind::Time => temporal::to_time(datum, from, to, context).map(Native::Int),
        TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp => {
            temporal::to_datetime(datum, from, to, context).map(Native::Int)
        }
        _ => None,
    })
}

/// Casts one value to a type whose physical type is Bytes.
fn append_bytes(
    out: &mut Vec<u8>,
    datum: Datum<'_>,
    from: &SqlType,
    to: &SqlType,
    context: &CastContext<'_>,
) -> Result<Option<()>> {
    if to.kind == TypeKind::Json {
        string::append_json(out, datum, from)?;
        return Ok(Some(()));
    }
    Ok(string::append_string(out, datum, from, to, context))
}

/// A longer string gets its own buffer, without a copy.
const OWN_BUFFER_MIN: usize = 64 << 10;

fn append_text(builder: &mut BinaryViewBuilder, text: &mut Vec<u8>) -> Result<()> {
    let too_long = |error: ArrowError| codes::ER_UNKNOWN_ERROR.with(&[&error]);
    if text.len() < OWN_BUFFER_MIN {
        return builder.try_append_value(text).map_err(too_long);
    }
    let mut own = std::mem::take(text);
    own.shrink_to_fit();
    let length = own.len() as u32;
    let block = builder.append_block(own.into());
    builder.try_append_view(block, 0, length).map_err(too_long)
}

fn cast_to_bytes(
    source: Source<'_>,
    rows: usize,
    from: &SqlType,
    to: &SqlType,
    context: &CastContext<'_>,
) -> Result<ArrayRef> {
    let mut builder = BinaryViewBuilder::with_capacity(rows);
    let mut text = Vec::new();
    for row in 0..rows {
        text.clear();
        let value = match source.get(row) {
            Some(datum) => append_bytes(&mut text, datum, from, to, context)?,
            None => None,
        };
        match value {
            Some(()) => {
                if let Some(Room(more)) = context.room {
                    more(text.len())?;
                }
                append_text(&mut builder, &mut text)?;
            }
            None => builder.append_null(),
        }
    }
    Ok(Arc::new(builder.finish()))
}

/// Builder for arrays of any physical type but Bytes.
pub(super) struct NativeBuilder {
    values: NativeValues,
    nulls: NullBufferBuilder,
}

enum NativeValues {
    Bool(BooleanBufferBuilder),
    Int(Vec<i64>),
    UInt(Vec<u64>),
    Float(Vec<f64>),
    Decimal128(Vec<i128>, u8),
    Decimal256(Vec<i256>, u8),
}

impl NativeBuilder {
    pub(super) fn new(physical: PhysicalType, capacity: usize) -> Self {
        let values = match physical {
            PhysicalType::Bool => NativeValues::Bool(BooleanBufferBuilder::new(capacity)),
            PhysicalType::Int64 | PhysicalType::Bytes => {
                NativeValues::Int(Vec::with_capacity(capacity))
            }
            PhysicalType::UInt64 => NativeValues::UInt(Vec::with_capacity(capacity)),
            PhysicalType::Float64 => NativeValues::Float(Vec::with_capacity(capacity)),
            PhysicalType::Decimal128(scale) => {
                NativeValues::Decimal128(Vec::with_capacity(capacity), scale)
            }
            PhysicalType::Decimal256(scale) => {
                NativeValues::Decimal256(Vec::with_capacity(capacity), scale)
            }
        };
        let nulls = NullBufferBuilder::new(capacity);
        Self { values, nulls }
    }

    pub(super) fn push(&mut self, value: Option<Native>) {
        let int = match value {
            Some(Native::Int(value)) => value,
            Some(Native::UInt(value)) => value as i64,
            _ => 0,
        };
        let decimal = |scale: u8| match value {
            Some(Native::Decimal(value)) if value.scale == scale => value.unscaled,
            Some(Native::Decimal(value)) => {
                value.rescale(scale).map_or(value.unscaled, |v| v.unscaled)
            }
            _ => i256::ZERO,
        };
        match &mut self.values {
            NativeValues::Bool(values) => values.append(int != 0),
            NativeValues::Int(values) => values.push(int),
            NativeValues::UInt(values) => values.push(int as u64),
            NativeValues::Float(values) => values.push(match value {
                Some(Native::Float(value)) => value,
                _ => 0.0,
            }),
            NativeValues::Decimal128(values, scale) => values.push(decimal(*scale).as_i128()),
            NativeValues::Decimal256(values, scale) => values.push(decimal(*scale)),
        }
        self.nulls.append(value.is_some());
    }

    pub(super) fn finish(mut self) -> ArrayRef {
        let nulls = self.nulls.finish();
        match self.values {
            NativeValues::Bool(mut values) => Arc::new(BooleanArray::new(values.finish(), nulls)),
            NativeValues::Int(values) => primitive::<Int64Type>(values.into(), nulls),
            NativeValues::UInt(values) => primitive::<UInt64Type>(values.into(), nulls),
            NativeValues::Float(values) => primitive::<Float64Type>(values.into(), nulls),
            NativeValues::Decimal128(values, scale) => {
                let array = PrimitiveArray::<Decimal128Type>::new(values.into(), nulls);
                Arc::new(array.with_data_type(PhysicalType::Decimal128(scale).arrow()))
            }
            NativeValues::Decimal256(values, scale) => {
                let array = PrimitiveArray::<Decimal256Type>::new(values.into(), nulls);
                Arc::new(array.with_data_type(PhysicalType::Decimal256(scale).arrow()))
            }
        }
    }
}

/// The value of one row of an array.
pub fn array_value(array: &dyn Array, row: usize) -> Value {
    Source::new(array)
        .get(row)
        .map_or(Value::Null, Datum::to_value)
}

/// Whether an array of a physical type holds the value unchanged.
fn is_of_type(value: &Value, physical: PhysicalType) -> bool {
    match physical {
        PhysicalType::Bool | PhysicalType::Int64 | PhysicalType::UInt64 => {
            matches!(value, Value::Null | Value::Int(_) | Value::UInt(_))
        }
        PhysicalType::Float64 => matches!(value, Value::Null | Value::Float(_)),
        PhysicalType::Decimal128(_) | PhysicalType::Decimal256(_) => {
            matches!(value, Value::Null | Value::Decimal { .. })
        }
        PhysicalType::Bytes => matches!(value, Value::Null | Value::Bytes(_)),
    }
}

/// An array of single values of one type.
pub fn array_of_values(values: &[Value], physical: PhysicalType) -> ArrayRef {
    debug_assert!(values.iter().all(|value| is_of_type(value, physical)));
    if physical == PhysicalType::Bytes {
        let mut builder = BinaryViewBuilder::with_capacity(values.len());
        for value in values {
            match value {
                Value::Bytes(bytes) => builder.append_value(bytes),
                _ => builder.append_null(),
            }
        }
        return Arc::new(builder.finish());
    }
    let mut builder = NativeBuilder::new(physical, values.len());
    for value in values {
        builder.push(Datum::of(value).and_then(Datum::to_native));
    }
    builder.finish()
}
