//! Parameter values of a prepared statement, in the types that the statement is planned for (the manual, "PREPARE
//! Statement").
//!
//! The type of a `?` is derived from its context when the statement is prepared: `n + ?` of an INT takes a BIGINT. A
//! value of another type is converted once, before the statement is planned, if the derived type holds all values of
//! the value's type: a text in each type, a DECIMAL or an integer in a DOUBLE. If one value's type does not fit, the
//! statement is planned for the actual types of all values. The texts of numbers are numbers in both cases.

use std::borrow::Cow;
use std::sync::Arc;

use mayfly_plan::ParameterPlace;
use mayfly_types::convert::number::parse_integer;
use mayfly_types::convert::{CastContext, cast_value, shown};
use mayfly_types::decimal::{Decimal, parse_decimal};
use mayfly_types::error::codes;
use mayfly_types::sql_type::{DECIMAL_PRECISION_MAX, DECIMAL_SCALE_MAX};
use mayfly_types::temporal::number::datetime_from_number;
use mayfly_types::temporal::{DateRules, DateTime};
use mayfly_types::{
    CollationId, Diagnostics, Error, Refusal, Result, SqlMode, SqlType, TypeKind, Value,
};

use super::prepared::{derived_types, known_types};
use crate::prepared::{DerivedTypes, Prepared};
use crate::session::StatementContext;

/// A value and its type.
type Typed = (Value, SqlType);

/// How a value fits the derived type of its `?`.
enum Fit {
    /// The value is of the derived type.
    Same,
    /// The value converted to the derived type, and the conversion's warning. If other values do not fit, the
    /// original value is used.
    Converted(Typed, Option<Error>),
    /// The value in a type that the statement may be planned for in either case.
    Either(Typed),
    /// The value's type does not fit; the value as the statement is then planned for.
    Other(Typed),
}

/// The parameter values with which a prepared statement is planned and run.
#[inline]
pub(super) fn settle<'v>(
    context: &mut StatementContext<'_>,
    prepared: &Prepared,
    values: &'v [Typed],
) -> Result<Cow<'v, [Typed]>> {
    if values.is_empty() {
        return Ok(Cow::Borrowed(values));
    }
    let is_settled = |derived: &DerivedTypes| {
        let mut pairs = derived.types.iter().zip(values);
        pairs.all(|((derived, place), value)| is_of_type(derived, *place, value))
    };
    if known_types(context, prepared).is_some_and(|known| is_settled(&known)) {
        return Ok(Cow::Borrowed(values));
    }
    let derived = derived_types(context, prepared)?;
    if is_settled(&derived) {
        return Ok(Cow::Borrowed(values));
    }
    // An invalid value ends a statement that changes rows, as it would in the row.
    let refusal = super::refusal(context, prepared.statement());
    context.diagnostics().refuse(refusal);
    let converted = converted(context, &derived.types, values)?;
    context.refuse_warnings()?;
    context.diagnostics().refuse(Refusal::Nothing);
    Ok(Cow::Owned(converted))
}

/// Whether a value needs no conversion, as nearly all values do.
#[inline]
fn is_of_type(derived: &SqlType, place: ParameterPlace, (value, ty): &Typed) -> bool {
    if place == ParameterPlace::Assignment {
        return !value.is_null();
    }
    match derived.kind {
        TypeKind::Year => !value.is_null() && !ty.is_string(),
        TypeKind::BigInt => ty.kind == TypeKind::BigInt && ty.unsigned == derived.unsigned,
        TypeKind::Double => ty.kind == TypeKind::Double,
        _ => false,
    }
}

/// A value as the statement is planned for it if its type does not fit: a TIME gets fractional digits.
fn actual((value, ty): &Typed) -> Typed {
    let ty = match ty.kind {
        kind @ (TypeKind::DateTime | TypeKind::Timestamp | TypeKind::Time) => {
            SqlType::temporal(kind, 6)
        }
        _ => ty.clone(),
    };
    (value.clone(), ty)
}

fn converted(
    context: &mut StatementContext<'_>,
    derived: &[(SqlType, ParameterPlace)],
    values: &[Typed],
) -> Result<Vec<Typed>> {
    let options = Arc::clone(context.options());
    let now = context.now();
    let quiet = Diagnostics::new(0);
    let conversion = CastContext {
        sql_mode: options.session.sql_mode,
        diagnostics: &quiet,
        time_zone: &options.session.time_zone,
        // A TIME counts from midnight here, also as a DATE.
        now: options
            .session
            .time_zone
            .local_of_unix(now)
            .unwrap_or(DateTime::date(0, 0, 0))
            .at_midnight(),
        operand: "?",
        room: None,
    };
    let mut fits = Vec::with_capacity(values.len());
    for ((derived, place), value) in derived.iter().zip(values) {
        let collation = options.session.collation_connection;
        fits.push(fit(derived, *place, value, collation, &conversion)?);
    }
    let is_other = fits.iter().any(|fit| matches!(fit, Fit::Other(_)));
    let mut settled = Vec::with_capacity(values.len());
    for (fit, value) in fits.into_iter().zip(values) {
        settled.push(match fit {
            Fit::Either(number) | Fit::Other(number) => number,
            Fit::Converted(converted, warning) if !is_other || value.0.is_null() => {
                if let Some(warning) = warning {
                    context.diagnostics().warn(warning);
                }
                converted
            }
            Fit::Converted(..) => actual(value),
            Fit::Same => value.clone(),
        });
    }
    Ok(settled)
}

fn fit(
    derived: &SqlType,
    place: ParameterPlace,
    typed: &Typed,
    collation_connection: CollationId,
    conversion: &CastContext<'_>,
) -> Result<Fit> {
    let (value, ty) = typed;
    if is_of_type(derived, place, typed) {
        return Ok(Fit::Same);
    }
    let text = match value {
        Value::Null => return Ok(Fit::Converted((Value::Null, derived.clone()), None)),
        Value::Bytes(text) if ty.is_string() => Some(text.as_slice()),
        _ => None,
    };
    let other = || Fit::Other(actual(typed));
    Ok(match (derived.kind, text) {
        (TypeKind::BigInt | TypeKind::Bit, Some(text)) => integer_of_text(derived, place, text),
        (TypeKind::BigInt | TypeKind::Bit, None) => match value {
            Value::UInt(_) if ty.is_integer() && derived.kind == TypeKind::Bit => Fit::Same,
            // A non-integer is refused later, but for a date, which stays a date.
            _ if place == ParameterPlace::Count && !ty.is_temporal() => Fit::Same,
            _ if place == ParameterPlace::Count => {
                return Err(codes::ER_WRONG_ARGUMENTS.with(&[&"EXECUTE"]));
            }
            Value::Decimal { unscaled, scale } => {
                Fit::Other(widest_decimal(Decimal::new(*unscaled, *scale)))
            }
            _ => other(),
        },
        (TypeKind::Year, Some(text)) => integer_beside_year(text),
        (TypeKind::Decimal, Some(text)) => {
            let parsed = parse_decimal(text);
            let is_whole = parsed.consumed == text.len() && !text.is_empty() && !parsed.overflow;
            let warning = (!is_whole).then(|| truncated("DECIMAL", text));
            Fit::Converted(widest_decimal(parsed.value), warning)
        }
        (TypeKind::Decimal, None) => match value {
            Value::Decimal { unscaled, scale } => {
                Fit::Converted(widest_decimal(Decimal::new(*unscaled, *scale)), None)
            }
            Value::Int(number) if ty.is_integer() => {
                Fit::Converted(widest_decimal(Decimal::from(*number)), None)
            }
            Value::UInt(number) if ty.is_integer() => {
                Fit::Converted(widest_decimal(Decimal::from(*number)), None)
            }
            _ => other(),
        },
        (TypeKind::Double, _) if text.is_some() || ty.is_numeric() => {
            let told = Diagnostics::new(1);
            let number = cast_value(
                value,
                ty,
                derived,
                &CastContext {
                    diagnostics: &told,
                    ..*conversion
                },
            )?;
            let warning = text.filter(|text| !text.is_empty() && told.count() > 0);
            let warning = warning.map(|text| truncated("DOUBLE", text));
            Fit::Converted((number, derived.clone()), warning)
        }
        (TypeKind::Date | TypeKind::DateTime | TypeKind::Time, _)
            if text.is_some() || ty.is_numeric() =>
        {
            temporal_of(derived, place, typed, text, conversion)?
        }
        (TypeKind::DateTime, None) if ty.is_temporal() => {
            let instant = cast_value(value, ty, derived, conversion)?;
            Fit::Converted((instant, derived.clone()), None)
        }
        (TypeKind::Date, None) if ty.kind == TypeKind::Date => Fit::Same,
        (TypeKind::Time, None) => match ty.kind {
            TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp => {
                let time = cast_value(value, ty, derived, conversion)?;
                Fit::Converted((time, derived.clone()), None)
            }
            _ => other(),
        },
        // Where binary is expected, a text is its bytes.
        (TypeKind::VarChar | TypeKind::LongText, Some(_))
            if derived.collation == CollationId::BINARY && !ty.is_binary_string() =>
        {
            let written = SqlType {
                collation: collation_connection,
                ..ty.clone()
            };
            let bytes = cast_value(value, &written, derived, conversion)?;
            Fit::Converted((bytes, derived.clone()), None)
        }
        (TypeKind::VarChar | TypeKind::LongText, Some(text)) => {
            // Where text is expected, binary is a text if it is valid; where binary is expected, each byte stands for
            // itself.
            let is_kept = ty.is_binary_string() && std::str::from_utf8(text).is_err();
            let collation = match derived.collation {
                CollationId::BINARY => CollationId::BINARY,
                _ if is_kept => CollationId::BINARY,
                collation => collation,
            };
            let ty = match derived.kind {
                TypeKind::LongText => SqlType::text(TypeKind::LongText, collation),
                _ => mayfly_plan::parameter_type(Some(&SqlType::varchar(0, collation)), collation),
            };
            Fit::Either((value.clone(), ty))
        }
        // Where JSON is expected, binary is the document's text.
        (TypeKind::Json, Some(text))
            if ty.is_binary_string() && std::str::from_utf8(text).is_ok() =>
        {
            let text = SqlType::varchar(0, collation_connection);
            let ty = mayfly_plan::parameter_type(Some(&text), collation_connection);
            Fit::Either((value.clone(), ty))
        }
        (_, Some(_)) => Fit::Same,
        _ => other(),
    })
}

/// The integer value of a text where an integer is expected. The text of another number makes its `?` a DECIMAL.
fn integer_of_text(derived: &SqlType, place: ParameterPlace, text: &[u8]) -> Fit {
    let parsed = parse_integer(text);
    let is_integer = parsed.consumed == text.len() && parsed.consumed > 0 && !parsed.overflow;
    let ty = SqlType {
        unsigned: derived.unsigned,
        ..mayfly_plan::parameter_type(Some(&SqlType::bigint()), CollationId::BINARY)
    };
    let number = match (i64::try_from(parsed.value), u64::try_from(parsed.value)) {
        (Ok(number), Err(_)) if place == ParameterPlace::Count => {
            return Fit::Either((Value::Int(number), SqlType::bigint()));
        }
        (_, Ok(number)) if derived.unsigned => Some(Value::UInt(number)),
        (Ok(number @ 0..), _) => Some(Value::Int(number)),
        _ => None,
    };
    match number {
        Some(number) if is_integer || place == ParameterPlace::Count => Fit::Either((number, ty)),
        _ => {
            let decimal = parse_decimal(text);
            let is_number = decimal.consumed == text.len() && !text.is_empty();
            if is_number && derived.kind != TypeKind::Bit {
                return Fit::Other(widest_decimal(decimal.value));
            }
            // The integer prefix, also of a negative number.
            let number = match number {
                Some(number) => (number, ty),
                None => {
                    let nearest = i64::try_from(parsed.value).unwrap_or(i64::MAX);
                    (
                        Value::Int(nearest),
                        SqlType {
                            unsigned: false,
                            ..ty
                        },
                    )
                }
            };
            Fit::Converted(number, Some(truncated("INTEGER", text)))
        }
    }
}

/// The integer prefix of a text where a YEAR is expected.
fn integer_beside_year(text: &[u8]) -> Fit {
    let parsed = parse_integer(text);
    let ty = mayfly_plan::parameter_type(Some(&SqlType::bigint()), CollationId::BINARY);
    let number = i64::try_from(parsed.value).unwrap_or(i64::MAX);
    let is_integer = parsed.consumed == text.len() && parsed.consumed > 0 && !parsed.overflow;
    if is_integer {
        Fit::Either((Value::Int(number), ty))
    } else {
        Fit::Converted((Value::Int(number), ty), Some(truncated("INTEGER", text)))
    }
}

/// A text or a number as a value of a temporal type; NULL if it is none.
fn temporal_of(
    derived: &SqlType,
    place: ParameterPlace,
    typed: &Typed,
    text: Option<&[u8]>,
    conversion: &CastContext<'_>,
) -> Result<Fit> {
    let (value, ty) = typed;
    let told = Diagnostics::new(1);
    let mut conversion = CastContext {
        diagnostics: &told,
        ..*conversion
    };
    // Invalid dates are compared, and dates with zero parts are read, whatever may be stored.
    let refused = SqlMode::NO_ZERO_IN_DATE.0 | SqlMode::NO_ZERO_DATE.0;
    let mode = SqlMode(conversion.sql_mode.0 & !refused);
    conversion.sql_mode = if place == ParameterPlace::Comparison {
        SqlMode(mode.0 | SqlMode::ALLOW_INVALID_DATES.0)
    } else {
        mode
    };
    if derived.kind == TypeKind::Date {
        let moment = match text {
            None => moment_of_number(value, conversion.sql_mode),
            Some(text) if has_time(text) => {
                let instant = SqlType::temporal(TypeKind::DateTime, 6);
                let quiet = CastContext {
                    diagnostics: &Diagnostics::new(0),
                    ..conversion
                };
                Some((cast_value(value, ty, &instant, &quiet)?, instant))
                    .filter(|(moment, _)| !moment.is_null())
            }
            Some(_) => None,
        };
        // The statement is then planned for the actual value.
        if let Some(moment) = moment {
            return Ok(Fit::Other(moment));
        }
    }
    let converted = match (derived.kind, text) {
        (TypeKind::Date, None) => day_of_number(value, conversion.sql_mode),
        _ => cast_value(value, ty, derived, &conversion)?,
    };
    let warning = (converted.is_null() || told.count() > 0).then(|| {
        let written = mayfly_types::convert::text::format_value(value, ty).unwrap_or_default();
        match (derived.kind, text) {
            (TypeKind::Time, _) => truncated("time", &written),
            (TypeKind::Date, Some(_)) => truncated("date", &written),
            _ => codes::ER_WRONG_TEMPORAL_VALUE.with(&[&"datetime", &shown(&written)]),
        }
    });
    Ok(Fit::Converted((converted, derived.clone()), warning))
}

/// Whether the text of a date has a time part: such a text is a DATETIME where a DATE is expected.
fn has_time(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let is_digits = text.iter().all(u8::is_ascii_digit);
    text.iter().any(|byte| matches!(byte, b' ' | b'T' | b't')) || is_digits && text.len() > 8
}

/// The date of a number like 20240506; NULL if it is none.
fn day_of_number(value: &Value, sql_mode: SqlMode) -> Value {
    let day = date_of_number(value, sql_mode);
    day.map_or(Value::Null, |(day, _)| Value::Int(day.at_midnight().pack()))
}

/// The datetime of a number like 20240506070809, and also of 0.
fn moment_of_number(value: &Value, sql_mode: SqlMode) -> Option<Typed> {
    let (moment, is_date) = date_of_number(value, sql_mode)?;
    let ty = SqlType::temporal(TypeKind::DateTime, 6);
    (!is_date).then(|| (Value::Int(moment.pack()), ty))
}

fn date_of_number(value: &Value, sql_mode: SqlMode) -> Option<(DateTime, bool)> {
    let number = match value {
        Value::Int(number) => Some(*number),
        Value::UInt(number) => i64::try_from(*number).ok(),
        // A negative fraction is not 0.
        Value::Float(number) => Some(*number as i64).filter(|_| *number >= 0.0),
        Value::Decimal { unscaled, scale } => {
            let number = Decimal::new(*unscaled, *scale);
            let whole = number.truncate(0).to_i64().ok();
            whole.filter(|_| !number.is_negative())
        }
        Value::Null | Value::Bytes(_) => None,
    };
    datetime_from_number(number?, 0, DateRules::of(sql_mode)).ok()
}

/// A number as a DECIMAL with the largest possible scale.
fn widest_decimal(number: Decimal) -> Typed {
    let whole = number.precision().saturating_sub(number.scale);
    let scale = DECIMAL_SCALE_MAX.min(DECIMAL_PRECISION_MAX.saturating_sub(whole));
    let number = match number.to_precision(DECIMAL_PRECISION_MAX, scale) {
        Ok(number) | Err(number) => number,
    };
    let value = Value::Decimal {
        unscaled: number.unscaled,
        scale: number.scale,
    };
    (value, SqlType::decimal(DECIMAL_PRECISION_MAX, number.scale))
}

/// `Truncated incorrect INTEGER value: 'abc'`
fn truncated(type_name: &str, text: &[u8]) -> Error {
    codes::ER_TRUNCATED_WRONG_VALUE.with(&[&type_name, &shown(text)])
}
