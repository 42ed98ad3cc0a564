//! Casts to DATE, DATETIME, TIMESTAMP and TIME.

use std::borrow::Cow;

use super::CastContext;
use super::source::Datum;
use super::text::append_text;
use crate::decimal::Decimal;
use crate::json::{JsonScalar, scalar_of};
use crate::sql_type::{SqlType, TypeKind};
use crate::temporal::number::NumberParts;
use crate::temporal::{
    DateRules, DateTime, ParsedDateTime, ParsedTime, TemporalError, parse_datetime, parse_time,
    time_with_fraction,
};

/// The text of a value, for messages.
pub(super) fn text_of(datum: Datum<'_>, from: &SqlType) -> Vec<u8> {
    let mut out = Vec::new();
    append_text(&mut out, datum, from);
    out
}

/// The parts of a number that a date or time is read from.
pub(super) fn number_parts(datum: Datum<'_>, truncates: bool) -> Option<NumberParts> {
    let integer = |whole: i64| NumberParts {
        whole,
        is_negative: whole < 0,
        micros: 0,
        rounds_up: false,
    };
    let of_decimal = |value: Decimal| NumberParts::of_decimal(value, truncates);
    match datum {
        Datum::Int(value) => Some(integer(value)),
        Datum::UInt(value) => i64::try_from(value).ok().map(integer),
        Datum::Float(value) => of_decimal(Decimal::from_f64(value)?.value),
        Datum::Decimal(value) => of_decimal(value),
        Datum::Bytes(_) => None,
    }
}

/// The local date and time of parsed text: one with an offset is converted to the session's time
/// zone.
pub(super) fn local_value(parsed: &ParsedDateTime, context: &CastContext<'_>) -> Option<DateTime> {
    match parsed.offset {
        None => Some(parsed.value),
        Some(offset) => {
            let unix = crate::temporal::TimeZone::Offset(offset).unix_of_local(parsed.value)?;
            context.time_zone.local_of_unix(unix)
        }
    }
}

/// The time of parsed text: of a date with an offset, the time in the session's time zone.
pub(super) fn local_time(parsed: &ParsedTime, context: &CastContext<'_>) -> i64 {
    let local = parsed
        .moment
        .and_then(|moment| local_value(&moment, context));
    local.map_or(parsed.micros, DateTime::time_of_day)
}

/// The text inside a JSON string; of other documents, their text.
pub(super) fn json_text<'a>(datum: Datum<'a>, from: &SqlType) -> Option<Cow<'a, [u8]>> {
    match datum {
        Datum::Bytes(bytes) if from.kind == TypeKind::Json => match scalar_of(bytes) {
            JsonScalar::String(text) => Some(text),
            _ => Some(Cow::Borrowed(bytes)),
        },
        _ => None,
    }
}

/// CAST(... AS DATE), DATETIME or TIMESTAMP: the packed value; `None` is NULL, with a warning.
pub(super) fn to_datetime(
    datum: Datum<'_>,
    from: &SqlType,
    to: &SqlType,
    context: &CastContext<'_>,
) -> Option<i64> {
    let rules = DateRules::of(context.sql_mode);
    let is_date = to.kind == TypeKind::Date;
    let name = if is_date { "date" } else { "datetime" };
    let value = match datum {
        Datum::Bytes(_) if from.kind == TypeKind::Json => {
            let text = json_text(datum, from).unwrap_or_default();
            let parsed = parse_datetime(&text, rules, context.truncates_fractions());
            let Some(parsed) = parsed.ok().filter(|parsed| !parsed.truncated) else {
                let name = if is_date {
                    "DATE"
                } else {
                    "DATETIME/TIMESTAMP"
                };
                context.refuse_json(name);
                return None;
            };
            local_value(&parsed, context)
        }
        Datum::Int(micros) if from.kind == TypeKind::Time && is_date => {
            context.date_of_time(micros)
        }
        Datum::Int(micros) if from.kind == TypeKind::Time => context.datetime_of_time(micros),
        Datum::Int(packed) if from.is_temporal() => {
            let value = DateTime::unpack(packed);
            if value
                .check(DateRules {
                    allow_invalid_dates: true,
                    ..rules
                })
                .is_err()
            {
                context.warn_incorrect("datetime", &text_of(datum, from));
                return None;
            }
            Some(value)
        }
        Datum::UInt(year) if from.kind == TypeKind::Year => {
            // A YEAR is a number; MySQL reads it as a date only for the zero date.
            number_to_datetime(Datum::UInt(year), rules, context)
        }
        Datum::Bytes(bytes) => match parse_datetime(bytes, rules, context.truncates_fractions()) {
            Ok(parsed) => {
                if parsed.truncated {
                    let name = if parsed.is_date { "date" } else { name };
                    context.warn_truncated(name, bytes);
                }
                local_value(&parsed, context)
            }
            Err(_) => {
                if is_date {
                    context.warn_truncated(name, bytes);
                } else {
                    context.warn_incorrect(name, bytes);
                }
                return None;
            }
        },
        _ if matches!(from.kind, TypeKind::Enum | TypeKind::Set) => {
            let text = text_of(datum, from);
            let as_text = SqlType::varchar(from.length, from.collation);
            return to_datetime(Datum::Bytes(&text), &as_text, to, context);
        }
        _ => number_to_datetime(datum, rules, context),
    };
    let value = value.and_then(|value| {
        if is_date {
            Some(value.at_midnight())
        } else {
            value.with_fraction(to.decimals, context.truncates_fractions())
        }
    });
    if value.is_none() {
        match datum {
            Datum::Float(number) if is_date && number.abs() < 9e18 => {
                let whole = (number as i64).to_string();
                context.warn_incorrect("datetime", whole.as_bytes());
            }
            Datum::Float(_) | Datum::Decimal(_) if is_date => {
                context.warn_truncated("date", &text_of(datum, from));
            }
            _ => context.warn_incorrect("datetime", &text_of(datum, from)),
        }
    }
    value.map(DateTime::pack)
}

fn number_to_datetime(
    datum: Datum<'_>,
    rules: DateRules,
    context: &CastContext<'_>,
) -> Option<DateTime> {
    let parts = number_parts(datum, context.truncates_fractions())?;
    parts.datetime(rules).ok().map(|(value, _)| value)
}

/// CAST(... AS TIME): microseconds; `None` is NULL, with a warning.
pub(super) fn to_time(
    datum: Datum<'_>,
    from: &SqlType,
    to: &SqlType,
    context: &CastContext<'_>,
) -> Option<i64> {
    let truncate = context.truncates_fractions();
    let micros = match datum {
        Datum::Bytes(_) if from.kind == TypeKind::Json => {
            let text = json_text(datum, from).unwrap_or_default();
            let is_time = |parsed: &ParsedTime| !parsed.truncated && text.contains(&b':');
            let Some(parsed) = parse_time(&text, truncate).ok().filter(is_time) else {
                context.refuse_json("TIME");
                return None;
            };
            local_time(&parsed, context)
        }
        Datum::Int(micros) if from.kind == TypeKind::Time => micros,
        // A year has no time of day either.
        Datum::Int(_) | Datum::UInt(_) if matches!(from.kind, TypeKind::Date | TypeKind::Year) => 0,
        Datum::Int(packed) if from.is_temporal() => DateTime::unpack(packed).time_of_day(),
        Datum::Bytes(bytes) => match parse_time(bytes, truncate) {
            Ok(parsed) => {
                if parsed.truncated || parsed.out_of_range {
                    context.warn_truncated("time", bytes);
                }
                local_time(&parsed, context)
            }
            Err(_) => {
                context.warn_truncated("time", bytes);
                return None;
            }
        },
        _ if matches!(from.kind, TypeKind::Enum | TypeKind::Set) => {
            let text = text_of(datum, from);
            let as_text = SqlType::varchar(from.length, from.collation);
            return to_time(Datum::Bytes(&text), &as_text, to, context);
        }
        _ => {
            let complain = || context.warn_truncated("time", &text_of(datum, from));
            let parsed = number_parts(datum, truncate)
                .ok_or(TemporalError::OutOfRange)
                .and_then(NumberParts::time);
            match parsed {
                Ok((micros, false)) => micros,
                // Out of range as a number is NULL, unlike as text.
                Ok(_) | Err(_) => {
                    complain();
                    return None;
                }
            }
        }
    };
    Some(time_with_fraction(micros, to.decimals, truncate))
}
