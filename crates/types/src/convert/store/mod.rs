//! Assignment of values to columns (the manual, "Out-of-Range and Overflow Handling", "Strict SQL
//! Mode", "The IGNORE Keyword").
//!
//! A value that does not fit is an error in strict mode. Otherwise, and with IGNORE, the nearest
//! value that fits is stored with a warning. What is lost without harm (digits after the point of a
//! DECIMAL, spaces at the end of a VARCHAR, the time of day in a DATE) is a note in every mode.
//!
//! Whole arrays whose values fit as they are take no copy: [`store_array`] looks at them in one
//! typed loop first.

mod context;
mod member;
mod number;
mod structured;
mod temporal;
#[cfg(test)]
mod tests;
mod text;

use std::sync::Arc;

use arrow_array::builder::BinaryViewBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Decimal256Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, new_null_array};

pub use self::context::StoreContext;
use super::CastContext;
use super::array::{Native, NativeBuilder, cast_plain_numbers, cast_unchanged};
use super::source::{Datum, Source};
use crate::decimal::Decimal;
use crate::diagnostics::{Diagnostics, Level};
use crate::error::{Result, codes};
use crate::sql_type::{DECIMAL_PRECISION_MAX, DECIMALS_NOT_FIXED, PhysicalType, SqlType, TypeKind};
use crate::temporal::{DateRules, DateTime};
use crate::value::Value;

/// Converts every value of an array to what the column `to` stores. NULL stays NULL: whether the
/// column takes it is the caller's to decide.
pub fn store_array(
    array: &ArrayRef,
    from: &SqlType,
    to: &SqlType,
    context: &StoreContext<'_>,
) -> Result<ArrayRef> {
    let physical = to.physical();
    if from.kind == TypeKind::Null || array.null_count() == array.len() {
        return Ok(new_null_array(&physical.arrow(), array.len()));
    }
    if fits_unchanged(array, from, to, context) {
        return Ok(Arc::clone(array));
    }
    if let Some(stored) = store_plain_numbers(array, from, to) {
        return Ok(stored);
    }
    let source = Source::new(array);
    if physical == PhysicalType::Bytes {
        let mut builder = BinaryViewBuilder::with_capacity(array.len());
        let mut text = Vec::new();
        for row in 0..array.len() {
            match source.get(row) {
                Some(datum) => {
                    text.clear();
                    store_bytes(&mut text, datum, from, to, &context.at_row(row))?;
                    builder.append_value(&text);
                }
                None => builder.append_null(),
            }
        }
        return Ok(Arc::new(builder.finish()));
    }
    let mut builder = NativeBuilder::new(physical, array.len());
    for row in 0..array.len() {
        let native = match source.get(row) {
            Some(datum) => Some(store_native(datum, from, to, &context.at_row(row))?),
            None => None,
        };
        builder.push(native);
    }
    Ok(builder.finish())
}

/// Converts one value to what the column `to` stores.
pub fn store_value(
    value: &Value,
    from: &SqlType,
    to: &SqlType,
    context: &StoreContext<'_>,
) -> Result<Value> {
    let mut stored = Value::Null;
    store_value_in(&mut stored, value, from, to, context)?;
    Ok(stored)
}

/// Converts one value to what the column `to` stores; replaces another, whose memory is used again.
pub fn store_value_in(
    stored: &mut Value,
    value: &Value,
    from: &SqlType,
    to: &SqlType,
    context: &StoreContext<'_>,
) -> Result<()> {
    let datum = Datum::of(value).filter(|_| from.kind != TypeKind::Null);
    let Some(datum) = datum else {
        *stored = Value::Null;
        return Ok(());
    };
    if to.physical() != PhysicalType::Bytes {
        *stored = store_native(datum, from, to, context)?.to_value();
        return Ok(());
    }
    let mut out = match std::mem::take(stored) {
        Value::Bytes(before) => before,
        _ => Vec::new(),
    };
    out.clear();
    store_bytes(&mut out, datum, from, to, context)?;
    *stored = Value::Bytes(out);
    Ok(())
}

/// What a NOT NULL column without a default gets where MySQL puts in an implicit one: 0, the empty
/// string, the first member, the zero date (the manual, "Data Type Default Values").
pub fn implicit_default(to: &SqlType) -> Value {
    match (to.kind, to.physical()) {
        (TypeKind::Json, _) => Value::from("null"),
        (TypeKind::Enum, _) => Value::UInt(u64::from(!to.members.is_empty())),
        (TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp, _) => {
            Value::Int(DateTime::default().pack())
        }
        (TypeKind::Char, PhysicalType::Bytes) if to.is_binary_string() => {
            Value::Bytes(vec![0; to.length as usize])
        }
        (_, PhysicalType::Bytes) => Value::Bytes(Vec::new()),
        (_, PhysicalType::UInt64) => Value::UInt(0),
        (_, PhysicalType::Float64) => Value::Float(0.0),
        (_, PhysicalType::Decimal128(scale) | PhysicalType::Decimal256(scale)) => Value::Decimal {
            unscaled: arrow_buffer::i256::ZERO,
            scale,
        },
        (_, PhysicalType::Bool | PhysicalType::Int64) => Value::Int(0),
    }
}

fn store_native(
    datum: Datum<'_>,
    from: &SqlType,
    to: &SqlType,
    context: &StoreContext<'_>,
) -> Result<Native> {
    if from.kind == TypeKind::Json && context.is_strict() {
        return store_document(datum, from, to, context);
    }
    convert_native(datum, from, to, context)
}

/// Stores in a JSON column. What CAST only warns of is an error.
fn store_document(
    datum: Datum<'_>,
    from: &SqlType,
    to: &SqlType,
    context: &StoreContext<'_>,
) -> Result<Native> {
    let diagnostics = Diagnostics::new(1);
    let cast = CastContext {
        diagnostics: &diagnostics,
        ..context.cast
    };
    let stored = convert_native(datum, from, to, &StoreContext { cast, ..*context })?;
    match diagnostics.conditions().into_iter().next() {
        Some(condition) if condition.error.is(&codes::ER_INVALID_JSON_VALUE_FOR_CAST) => {
            let type_name = match to.kind {
                TypeKind::Decimal => "DECIMAL",
                TypeKind::Float | TypeKind::Double => "DOUBLE",
                _ => "INTEGER",
            };
            let code = codes::ER_INVALID_JSON_VALUE_FOR_CAST;
            Err(code.with(&[&type_name, &context.column, &context.row]))
        }
        Some(condition) if condition.level != Level::Note => Err(condition.error),
        Some(condition) => {
            context
                .cast
                .diagnostics
                .push(condition.level, condition.error);
            Ok(stored)
        }
        None => Ok(stored),
    }
}

fn convert_native(
    datum: Datum<'_>,
    from: &SqlType,
    to: &SqlType,
    context: &StoreContext<'_>,
) -> Result<Native> {
    // A literal like `b'101'` is a number in a numeric context.
    if let (true, true, Datum::Bytes(bytes)) = (from.is_bytes_literal, to.is_numeric(), datum) {
        let is_bit = to.kind == TypeKind::Bit;
        let number = SqlType::bigint_unsigned();
        if bytes.len() > BIGINT_BYTES {
            let largest = if to.unsigned || is_bit {
                u64::MAX
            } else {
                i64::MAX as u64
            };
            let complaints = context.cast.diagnostics.count();
            let stored = convert_native(Datum::UInt(largest), &number, to, context)?;
            if context.cast.diagnostics.count() == complaints {
                context.out_of_range()?;
            }
            return Ok(stored);
        }
        if !is_bit {
            return convert_native(Datum::UInt(number_of_bytes(bytes)), &number, to, context);
        }
    }
    Ok(match to.kind {
        TypeKind::Float | TypeKind::Double => {
            Native::Float(number::float(datum, from, to, context)?)
        }
        TypeKind::Decimal => Native::Decimal(number::decimal(datum, from, to, context)?),
        TypeKind::Year => Native::UInt(number::year(datum, from, context)?),
        TypeKind::Bit => Native::UInt(number::bit(datum, from, to, context)?),
        TypeKind::Enum => Native::UInt(member::enumeration(datum, from, to, context)?),
        TypeKind::Set => Native::UInt(member::set(datum, from, to, context)?),
        TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp => {
            Native::Int(temporal::datetime(datum, from, to, context)?)
        }
        TypeKind::Time => Native::Int(temporal::time(datum, from, to, context)?),
        _ => {
            let value = number::integer(datum, from, to, context)?;
            if to.unsigned {
                Native::UInt(value as u64)
            } else {
                Native::Int(value as i64)
            }
        }
    })
}

/// The most bytes of a literal that is a number.
const BIGINT_BYTES: usize = 8;

/// The number that has these bytes.
fn number_of_bytes(bytes: &[u8]) -> u64 {
    let bytes = bytes.iter();
    bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn store_bytes(
    out: &mut Vec<u8>,
    datum: Datum<'_>,
    from: &SqlType,
    to: &SqlType,
    context: &StoreContext<'_>,
) -> Result<()> {
    match to.kind {
        TypeKind::Json => text::json(out, datum, from, context),
        TypeKind::Geometry(kind) => structured::geometry(out, datum, kind, to, context),
        TypeKind::Vector => structured::vector(out, datum, from, to, context),
        _ => text::string(out, datum, from, to, context),
    }
}

/// Whether all values of a primitive array lie in a range; those under a NULL count too, which
/// costs no more than the slow path when one of them does not.
fn all_in<T: ArrowPrimitiveType>(array: &ArrayRef, least: T::Native, most: T::Native) -> bool
where
    T::Native: PartialOrd,
{
    array.as_primitive_opt::<T>().is_some_and(|array| {
        // No early exit: this way the loop works on several values at once.
        array.values().iter().fold(true, |fits, value| {
            fits & (*value >= least) & (*value <= most)
        })
    })
}

fn fits_unchanged(
    array: &ArrayRef,
    from: &SqlType,
    to: &SqlType,
    context: &StoreContext<'_>,
) -> bool {
    let physical = to.physical();
    if from.physical() != physical || *array.data_type() != physical.arrow() {
        return false;
    }
    let is_plain = |ty: &SqlType| {
        ty.is_integer() && !matches!(ty.kind, TypeKind::Year | TypeKind::Bit | TypeKind::Boolean)
    };
    match to.kind {
        _ if is_plain(to) && is_plain(from) => {
            let (least, most) = number::range(to);
            match physical {
                PhysicalType::UInt64 => all_in::<UInt64Type>(array, 0, most as u64),
                _ => all_in::<Int64Type>(array, least as i64, most as i64),
            }
        }
        TypeKind::Year | TypeKind::Bit => from.kind == to.kind && from.length <= to.length,
        TypeKind::Enum | TypeKind::Set => from.kind == to.kind && from.members == to.members,
        TypeKind::Date | TypeKind::DateTime => {
            cast_unchanged(array, from, to).is_some()
                && all_dates_allowed(array, DateRules::of(context.cast.sql_mode))
        }
        // A TIMESTAMP is in its range already.
        TypeKind::Timestamp => {
            from.kind == TypeKind::Timestamp
                && from.decimals <= to.decimals
                && all_dates_allowed(array, DateRules::of(context.cast.sql_mode))
        }
        TypeKind::Double if to.unsigned || to.decimals < DECIMALS_NOT_FIXED => false,
        TypeKind::Float | TypeKind::Decimal if to.unsigned || from.kind != to.kind => false,
        TypeKind::Decimal => {
            let integer_digits = |ty: &SqlType| ty.length.saturating_sub(ty.decimals.into());
            // A computed number of the most digits may have more.
            from.decimals == to.decimals
                && integer_digits(from) <= integer_digits(to)
                && (from.length < u32::from(DECIMAL_PRECISION_MAX) || {
                    let largest = Decimal::largest(DECIMAL_PRECISION_MAX, from.decimals);
                    let least = largest.negate().unscaled;
                    all_in::<Decimal256Type>(array, least, largest.unscaled)
                })
        }
        // A parameter may be an infinity or NaN.
        TypeKind::Float | TypeKind::Double => {
            cast_unchanged(array, from, to).is_some()
                && all_in::<Float64Type>(array, f64::MIN, f64::MAX)
        }
        TypeKind::Json => from.kind == TypeKind::Json,
        _ if to.is_structured_bytes() => structured::all_fit(from, to),
        _ if to.is_string() => text::all_fit(array, from, to),
        _ => cast_unchanged(array, from, to).is_some(),
    }
}

/// Stores numbers in a column of another kind of numbers, if all of them fit and lose nothing that
/// would need a warning.
fn store_plain_numbers(array: &ArrayRef, from: &SqlType, to: &SqlType) -> Option<ArrayRef> {
    if !from.is_numeric() || *array.data_type() != from.physical().arrow() {
        return None;
    }
    let is_exact = from.is_integer() || from.kind == TypeKind::Decimal;
    match to.kind {
        TypeKind::Double if is_exact && !to.unsigned && to.decimals == DECIMALS_NOT_FIXED => {
            cast_plain_numbers(array, from, to)
        }
        TypeKind::Decimal if is_exact && !to.unsigned && from.decimals <= to.decimals => {
            cast_plain_numbers(array, from, to)
        }
        TypeKind::TinyInt
        | TypeKind::SmallInt
        | TypeKind::MediumInt
        | TypeKind::Int
        | TypeKind::BigInt
            if !to.unsigned && matches!(from.kind, TypeKind::Decimal | TypeKind::Double) =>
        {
            let (least, most) = number::range(to);
            let stored = cast_plain_numbers(array, from, to)?;
            all_in::<Int64Type>(&stored, least as i64, most as i64).then_some(stored)
        }
        _ => None,
    }
}

fn all_dates_allowed(array: &ArrayRef, rules: DateRules) -> bool {
    if !rules.no_zero_date && !rules.no_zero_in_date {
        return true;
    }
    let allowed = |packed: i64| !DateTime::unpack(packed).has_zero_part();
    array
        .as_primitive_opt::<Int64Type>()
        .is_some_and(|array| array.iter().flatten().all(allowed))
}
