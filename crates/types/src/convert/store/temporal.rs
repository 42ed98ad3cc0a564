//! Storing in DATE, DATETIME, TIMESTAMP and TIME columns.

use super::context::StoreContext;
use crate::convert::CastContext;
use crate::convert::shown;
use crate::convert::source::Datum;
use crate::convert::temporal::{json_text, local_time, local_value, number_parts, text_of};
use crate::diagnostics::Level;
use crate::error::{Result, codes};
use crate::sql_type::{SqlType, TypeKind};
use crate::temporal::{
    DateRules, DateTime, MICROS_PER_SECOND, TIME_MAX_MICROS, TemporalError, parse_datetime,
    parse_time, time_with_fraction,
};

/// The last second of a TIMESTAMP: 2038-01-19 03:14:07 UTC.
const TIMESTAMP_MAX: i64 = i32::MAX as i64;

/// The first number that is a date with a time where a time is wanted.
const LEAST_DATETIME: i64 = 10_000_000_000;

/// 9999-12-31 23:59:59 as a number.
const LARGEST_DATETIME: u64 = 99_991_231_235_959;

/// Fault of a temporal value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// A date or time that is not valid for the column.
    Range,
    /// Not a date or time, or followed by other text.
    Truncated,
    /// A date or a time of day that was dropped.
    Dropped,
    /// A local time that the session's time zone skips.
    Skipped,
}

impl From<TemporalError> for Fault {
    fn from(error: TemporalError) -> Self {
        match error {
            TemporalError::Malformed => Self::Truncated,
            TemporalError::ZeroDate | TemporalError::ZeroInDate | TemporalError::OutOfRange => {
                Self::Range
            }
        }
    }
}

/// Error or warning for a fault. Strict mode quotes the value; otherwise the text is one of the
/// general ones.
fn complain(
    fault: Fault,
    datum: Datum<'_>,
    from: &SqlType,
    to: &SqlType,
    context: &StoreContext<'_>,
) -> Result<()> {
    let error = || {
        if context.is_strict() {
            let name = match to.kind {
                TypeKind::Date => "date",
                TypeKind::Time => "time",
                _ => "datetime",
            };
            // A date with a time of day is shown with the column's number of fractional digits.
            let value = match from.kind {
                TypeKind::DateTime | TypeKind::Timestamp => SqlType {
                    decimals: to.decimals,
                    ..from.clone()
                },
                _ => from.clone(),
            };
            let value = shown(&text_of(datum, &value));
            let code = codes::ER_WRONG_COLUMN_TEMPORAL_VALUE;
            code.with(&[&name, &value, &context.column, &context.row])
        } else if fault == Fault::Skipped {
            context.column_error(&codes::ER_WARN_INVALID_TIMESTAMP)
        } else if fault == Fault::Range {
            context.column_error(&codes::ER_WARN_DATA_OUT_OF_RANGE)
        } else {
            context.column_error(&codes::WARN_DATA_TRUNCATED)
        }
    };
    if fault == Fault::Dropped {
        context.cast.diagnostics.push_with(Level::Note, error);
        return Ok(());
    }
    context.reject(error)
}

/// The packed value of a DATE, DATETIME or TIMESTAMP column.
pub(super) fn datetime(
    datum: Datum<'_>,
    from: &SqlType,
    to: &SqlType,
    context: &StoreContext<'_>,
) -> Result<i64> {
    let rules = DateRules::of(context.cast.sql_mode);
    let (value, mut fault) = match read_datetime(datum, from, rules, context) {
        Ok(read) => read,
        Err(fault) => (DateTime::default(), Some(fault)),
    };
    let mut stored;
    if to.kind == TypeKind::Date {
        stored = value.at_midnight();
        if stored != value {
            fault = fault.or(Some(Fault::Dropped));
        }
    } else {
        match value.with_fraction(to.decimals, context.cast.truncates_fractions()) {
            Some(value) => stored = value,
            None => {
                fault = Some(Fault::Range);
                stored = DateTime::default();
            }
        }
    }
    if to.kind == TypeKind::Timestamp && stored != DateTime::default() {
        let zone = context.cast.time_zone;
        let instant = zone.instant_of_local(stored);
        let in_range = instant.filter(|instant| {
            let seconds = instant.unix_micros.div_euclid(MICROS_PER_SECOND);
            (1..=TIMESTAMP_MAX).contains(&seconds)
        });
        match in_range {
            Some(instant) if instant.is_skipped => {
                fault = Some(Fault::Skipped);
                stored = zone.local_of_unix(instant.unix_micros).unwrap_or_default();
            }
            Some(_) => {}
            // A number without a complete date is not a date.
            None if value.has_zero_part() && from.is_numeric() => {
                fault = Some(Fault::Truncated);
                stored = DateTime::default();
            }
            None => {
                fault = Some(Fault::Range);
                stored = DateTime::default();
            }
        }
    }
    if let Some(fault) = fault {
        complain(fault, datum, from, to, context)?;
    }
    Ok(stored.pack())
}

/// The value, and the fault of one that can be stored nevertheless.
fn read_datetime(
    datum: Datum<'_>,
    from: &SqlType,
    rules: DateRules,
    context: &StoreContext<'_>,
) -> Result<(DateTime, Option<Fault>), Fault> {
    let json = json_text(datum, from);
    let datum = json.as_deref().map_or(datum, Datum::Bytes);
    match datum {
        Datum::Int(micros) if from.kind == TypeKind::Time => {
            let value = context.cast.datetime_of_time(micros).ok_or(Fault::Range)?;
            Ok((value, None))
        }
        Datum::Int(packed) if from.is_temporal() => {
            let value = DateTime::unpack(packed);
            value.check(rules).map_err(|_| Fault::Range)?;
            Ok((value, None))
        }
        Datum::Bytes(bytes) => {
            let parsed = parse_datetime(bytes, rules, context.cast.truncates_fractions())?;
            let value = local_value(&parsed, &context.cast).ok_or(Fault::Range)?;
            Ok((value, parsed.truncated.then_some(Fault::Truncated)))
        }
        _ if matches!(from.kind, TypeKind::Enum | TypeKind::Set) => {
            let text = text_of(datum, from);
            let as_text = SqlType::varchar(from.length, from.collation);
            read_datetime(Datum::Bytes(&text), &as_text, rules, context)
        }
        _ => {
            let truncates = context.cast.truncates_fractions();
            let parts = number_parts(datum, truncates).ok_or(Fault::Truncated)?;
            match parts.datetime(rules) {
                // A date has no fraction.
                Ok((value, true)) if parts.micros != 0 => {
                    Ok((value.at_midnight(), Some(Fault::Truncated)))
                }
                Ok((value, _)) => Ok((value, None)),
                Err(TemporalError::ZeroDate) => Err(Fault::Range),
                Err(_) => Err(Fault::Truncated),
            }
        }
    }
}

/// The microseconds of a TIME column.
pub(super) fn time(
    datum: Datum<'_>,
    from: &SqlType,
    to: &SqlType,
    context: &StoreContext<'_>,
) -> Result<i64> {
    let truncate = context.cast.truncates_fractions();
    let (micros, fault) = match read_time(datum, from, &context.cast) {
        Ok(read) => read,
        Err(fault) => (0, Some(fault)),
    };
    if let Some(fault) = fault {
        complain(fault, datum, from, to, context)?;
    }
    Ok(time_with_fraction(micros, to.decimals, truncate))
}

fn read_time(
    datum: Datum<'_>,
    from: &SqlType,
    context: &CastContext<'_>,
) -> Result<(i64, Option<Fault>), Fault> {
    let truncate = context.truncates_fractions();
    let json = json_text(datum, from);
    let datum = json.as_deref().map_or(datum, Datum::Bytes);
    Ok(match datum {
        Datum::Int(micros) if from.kind == TypeKind::Time => (micros, None),
        Datum::Int(packed) if from.is_temporal() => (DateTime::unpack(packed).time_of_day(), None),
        // Unlike everywhere else, an empty text is midnight.
        Datum::Bytes(bytes) if bytes.trim_ascii().is_empty() => (0, None),
        Datum::Bytes(bytes) => {
            let parsed = parse_time(bytes, truncate)?;
            let fault = if parsed.out_of_range {
                Some(Fault::Range)
            } else if parsed.truncated {
                Some(Fault::Truncated)
            } else {
                parsed.moment.map(|_| Fault::Dropped)
            };
            (local_time(&parsed, context), fault)
        }
        _ if matches!(from.kind, TypeKind::Enum | TypeKind::Set) => {
            let text = text_of(datum, from);
            let as_text = SqlType::varchar(from.length, from.collation);
            return read_time(Datum::Bytes(&text), &as_text, context);
        }
        _ => {
            let least_or_most = |is_negative| {
                let sign = if is_negative { -1 } else { 1 };
                (sign * TIME_MAX_MICROS, Some(Fault::Range))
            };
            let Some(parts) = number_parts(datum, truncate) else {
                return Ok(least_or_most(is_negative(datum)));
            };
            match parts.time() {
                // A date with a time.
                Ok((micros, false)) if parts.whole >= LEAST_DATETIME => {
                    (micros, Some(Fault::Dropped))
                }
                Ok((micros, clamped)) => (micros, clamped.then_some(Fault::Range)),
                // Beyond every date and time.
                Err(_) if parts.whole.unsigned_abs() > LARGEST_DATETIME => {
                    least_or_most(parts.whole < 0)
                }
                Err(_) => return Err(Fault::Range),
            }
        }
    })
}

fn is_negative(datum: Datum<'_>) -> bool {
    match datum {
        Datum::Int(number) => number < 0,
        Datum::Float(number) => number < 0.0,
        Datum::Decimal(number) => number.is_negative(),
        Datum::UInt(_) | Datum::Bytes(_) => false,
    }
}
