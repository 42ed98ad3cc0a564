//! Arguments of date functions. Text is read here and not cast before, because functions accept different dates:
//! MONTH('2024-00-05') is 0 where DAYOFWEEK('2024-00-05') is NULL.

use mayfly_types::convert::shown;
use mayfly_types::decimal::Decimal;
use mayfly_types::error::codes;
use mayfly_types::temporal::number::NumberParts;
use mayfly_types::temporal::{
    DateRules, DateTime, Displayed, IntervalUnit, ParsedTime, TIME_MAX_MICROS, TimeZone,
    parse_datetime, parse_time, time_with_fraction,
};
use mayfly_types::{Result, SqlMode, SqlType, TypeKind, Value};

use crate::input::{Decimals, Floats, Ints, Texts, UInts};
use crate::{Argument, Binding, Call, EvaluationContext, Signature, derive};

/// The largest number of fractional digits.
pub(crate) const FRACTION_MAX: u8 = 6;

/// Length of a temporal value as text, as MySQL counts it.
const TEMPORAL_CHARACTERS: u64 = 29;

/// Where either is accepted, a smaller number is a time.
const SMALLEST_DATE: i64 = 10_000;

/// 838:59:59 as a number.
const LARGEST_TIME: i64 = 8_385_959;

/// Whether a function accepts dates whose month or day is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ZeroParts {
    /// Accepts a zero month or day.
    Allowed,
    /// Refuses it: NULL and a warning.
    Refused,
}

/// Type named in the warning about text that is no date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// A DATE
    Date,
    /// A DATETIME
    DateTime,
}

/// The type that an argument is converted to where a date is expected: temporal values and text are unchanged.
pub(crate) fn datetime_type(binding: &Binding<'_>, index: usize) -> SqlType {
    let argument = &binding.arguments[index];
    match argument.ty.kind {
        TypeKind::Time => SqlType::temporal(TypeKind::DateTime, argument.ty.decimals),
        _ => unconverted(binding, index)
            .unwrap_or_else(|| SqlType::temporal(TypeKind::DateTime, decimals_of(argument))),
    }
}

/// The type that an argument is converted to where a date without its time of day is expected.
pub(crate) fn date_type(binding: &Binding<'_>, index: usize) -> SqlType {
    match binding.arguments[index].ty.kind {
        TypeKind::Time => SqlType::temporal(TypeKind::Date, 0),
        _ => datetime_type(binding, index),
    }
}

/// [`date_type`] for a function that accepts a zero month or day.
pub(crate) fn zero_date_type(binding: &Binding<'_>, index: usize) -> SqlType {
    match binding.arguments[index].ty.kind {
        TypeKind::Time => date_type(binding, index),
        _ => zero_datetime_type(binding, index),
    }
}

/// [`datetime_type`] for a function that accepts a zero month or day: a number stays a number, so that 0 is such a
/// date, and a YEAR stays a YEAR, which has neither.
pub(crate) fn zero_datetime_type(binding: &Binding<'_>, index: usize) -> SqlType {
    let argument = &binding.arguments[index];
    match argument.ty.kind {
        TypeKind::Year => argument.ty.clone(),
        _ if argument.ty.is_numeric() => number_type(argument),
        _ => datetime_type(binding, index),
    }
}

/// The type that an argument is converted to where a time is expected.
pub(crate) fn time_type(binding: &Binding<'_>, index: usize) -> SqlType {
    let digits = decimals_of(&binding.arguments[index]);
    unconverted(binding, index).unwrap_or_else(|| SqlType::temporal(TypeKind::Time, digits))
}

/// The type of an argument that is read unconverted.
fn unconverted(binding: &Binding<'_>, index: usize) -> Option<SqlType> {
    let ty = binding.arguments[index].ty;
    match ty.kind {
        TypeKind::Null => Some(ty.clone()),
        TypeKind::Enum | TypeKind::Set => Some(binding.text(index)),
        _ if ty.is_temporal() || ty.is_string() => Some(ty.clone()),
        _ => None,
    }
}

/// The types of a function of a date.
pub(crate) fn of_date(binding: &Binding<'_>, result: SqlType) -> Result<Signature> {
    let types = vec![date_type(binding, 0)];
    Ok(Signature::new(types, result, true))
}

/// The types of a function of a time.
pub(crate) fn of_time(binding: &Binding<'_>, result: SqlType) -> Result<Signature> {
    let types = vec![time_type(binding, 0)];
    Ok(Signature::new(types, result, true))
}

/// The type of a temporal value's text, computed from a text.
pub(crate) fn temporal_text(binding: &Binding<'_>) -> SqlType {
    SqlType {
        temporal_text: true,
        ..binding.string(TEMPORAL_CHARACTERS)
    }
}

/// Maximum number of fractional digits among all arguments.
pub(crate) fn decimals_of_all(binding: &Binding<'_>) -> u8 {
    let arguments = binding.arguments.iter();
    arguments.map(decimals_of).max().unwrap_or(0)
}

/// Maximum number of fractional digits of an argument.
pub(crate) fn decimals_of(argument: &Argument<'_>) -> u8 {
    let ty = argument.ty;
    match ty.kind {
        TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp | TypeKind::Decimal => {
            ty.decimals.min(FRACTION_MAX)
        }
        TypeKind::Date | TypeKind::Null => 0,
        _ if ty.is_integer() => 0,
        _ => match argument.constant {
            // A temporal literal shows its number of digits.
            Some(Value::Bytes(text)) if is_temporal(text) => {
                let fraction = text.iter().position(|byte| *byte == b'.');
                fraction.map_or(0, |point| {
                    let digits = text[point + 1..].iter().take_while(|b| b.is_ascii_digit());
                    digits.count().min(usize::from(FRACTION_MAX)) as u8
                })
            }
            _ => FRACTION_MAX,
        },
    }
}

fn is_temporal(text: &[u8]) -> bool {
    parse_datetime(text, DateRules::default(), false).is_ok() || parse_time(text, false).is_ok()
}

/// The number of fractional digits given by a literal argument (error 1426).
pub(crate) fn fraction_argument(argument: Option<&Argument<'_>>, name: &str) -> Result<u8> {
    let Some(argument) = argument else {
        return Ok(0);
    };
    match derive::constant_integer(argument) {
        Some(digits @ 0..=6) => Ok(digits as u8),
        Some(digits) => Err(codes::ER_TOO_BIG_PRECISION.with(&[&digits, &name, &FRACTION_MAX])),
        None => Err(codes::ER_WRONG_ARGUMENTS.with(&[&name])),
    }
}

/// `Truncated incorrect date value: 'x'`
pub(crate) fn warn_truncated(kind: &str, text: &[u8], context: &EvaluationContext) {
    context
        .diagnostics
        .warn_with(|| codes::ER_TRUNCATED_WRONG_VALUE.with(&[&kind, &shown(text)]));
}

/// `Incorrect date value: 'x' for column 'd' at row 1`
pub(crate) fn warn_column(kind: &[u8], text: &[u8], column: &[u8], context: &EvaluationContext) {
    context.diagnostics.warn_with(|| {
        let (kind, column) = (shown(kind), shown(column));
        codes::ER_WRONG_COLUMN_TEMPORAL_VALUE.with(&[&kind, &shown(text), &column, &1])
    });
}

/// `Incorrect datetime value: 'x'`
pub(crate) fn warn_incorrect(kind: &str, text: &[u8], context: &EvaluationContext) {
    context
        .diagnostics
        .warn_with(|| codes::ER_WRONG_TEMPORAL_VALUE.with(&[&kind, &shown(text)]));
}

/// NULL with warning 1441, for results outside of the calendar.
pub(crate) fn overflow<T>(kind: &str, context: &EvaluationContext) -> Option<T> {
    context
        .diagnostics
        .warn(codes::ER_DATETIME_FUNCTION_OVERFLOW.with(&[&kind]));
    None
}

/// A TIME rounded to a number of digits; one out of range is clamped, with a warning.
pub(crate) fn time_result(micros: i128, digits: u8, context: &EvaluationContext) -> i64 {
    let largest = i128::from(TIME_MAX_MICROS);
    if micros.abs() > largest {
        let seconds = micros.unsigned_abs() / 1_000_000;
        let sign = if micros < 0 { "-" } else { "" };
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        let text = format!("{sign}{hours:02}:{minutes:02}:{:02}", seconds % 60);
        warn_truncated("time", text.as_bytes(), context);
    }
    let micros = micros.clamp(-largest, largest) as i64;
    let truncate = context
        .session
        .sql_mode
        .has(SqlMode::TIME_TRUNCATE_FRACTIONAL);
    time_with_fraction(micros, digits, truncate)
}

/// A DATETIME rounded to a number of digits, packed.
pub(crate) fn datetime_result(
    value: DateTime,
    digits: u8,
    context: &EvaluationContext,
) -> Option<i64> {
    let truncate = context
        .session
        .sql_mode
        .has(SqlMode::TIME_TRUNCATE_FRACTIONAL);
    match value.with_fraction(digits, truncate) {
        Some(value) => Some(value.pack()),
        None => overflow("datetime", context),
    }
}

#[derive(Debug, Clone, Copy)]
enum Source<'a> {
    /// DATE, DATETIME, TIMESTAMP
    Packed(Ints<'a>),
    /// TIME
    Micros(Ints<'a>),
    Texts(Texts<'a>),
    /// Texts that functions returned for a date or time.
    Displayed(Texts<'a>),
    /// Numbers of [`number_type`], with their scale.
    Numbers(Decimals<'a>, u8),
    /// DOUBLE of [`number_type`].
    Doubles(Floats<'a>),
    /// YEAR
    Years(UInts<'a>),
}

impl Source<'_> {
    /// The number of a row. A DOUBLE has the digits that it is shown with.
    fn number(&self, row: usize) -> Option<Decimal> {
        match self {
            Self::Numbers(numbers, scale) => Some(Decimal::new(numbers.get(row)?, *scale)),
            Self::Doubles(numbers) => {
                Decimal::from_f64(numbers.get(row)?).map(|number| number.value)
            }
            _ => None,
        }
    }
}

fn source<'a>(call: &Call<'a>, index: usize) -> Result<Source<'a>> {
    Ok(match call.ty(index) {
        ty if ty.kind == TypeKind::Time => Source::Micros(call.ints(index)?),
        ty if ty.temporal_text => Source::Displayed(call.texts(index)?),
        ty if ty.is_string() => Source::Texts(call.texts(index)?),
        ty if ty.kind == TypeKind::Decimal => Source::Numbers(call.decimals(index)?, ty.decimals),
        ty if ty.kind == TypeKind::Year => Source::Years(call.uints(index)?),
        ty if ty.kind == TypeKind::Double => Source::Doubles(call.floats(index)?),
        _ => Source::Packed(call.ints(index)?),
    })
}

/// Integer digits of a number that is read as a date or time, as of a BIGINT.
const NUMBER_DIGITS: u8 = 20;

/// The type of a number that the function itself reads as a date or time: the conversion must not round fractional
/// seconds.
fn number_type(argument: &Argument<'_>) -> SqlType {
    let decimals = match argument.ty.kind {
        _ if argument.ty.is_integer() => 0,
        TypeKind::Decimal => argument.ty.decimals,
        _ => return SqlType::double(),
    };
    SqlType::decimal(NUMBER_DIGITS + decimals, decimals)
}

/// Digits beyond microseconds of a number other than a DECIMAL.
pub(crate) const MORE_DIGITS: u8 = 9;

/// The parts of a number that is read as a date or time.
fn number_parts(number: Decimal, context: &EvaluationContext) -> Option<NumberParts> {
    let truncates = context
        .session
        .sql_mode
        .has(SqlMode::TIME_TRUNCATE_FRACTIONAL);
    NumberParts::of_decimal(number, truncates)
}

/// The type that an argument is converted to where the function reads numbers itself, too.
pub(crate) fn moment_type(binding: &Binding<'_>, index: usize) -> SqlType {
    let argument = &binding.arguments[index];
    if argument.ty.is_numeric() && argument.ty.kind != TypeKind::Year {
        number_type(argument)
    } else {
        time_type(binding, index)
    }
}

/// An argument of [`datetime_type`].
#[derive(Debug)]
pub(crate) struct DateTimes<'a> {
    source: Source<'a>,
    /// The value of a constant text, read once.
    constant: Option<Option<DateTime>>,
    zero_parts: ZeroParts,
    wanted: Wanted,
    context: &'a EvaluationContext,
}

impl<'a> DateTimes<'a> {
    pub(crate) fn new(
        call: &Call<'a>,
        index: usize,
        wanted: Wanted,
        zero_parts: ZeroParts,
    ) -> Result<Self> {
        let mut dates = Self {
            source: source(call, index)?,
            constant: None,
            zero_parts,
            wanted,
            context: call.context,
        };
        if let Source::Texts(texts) = dates.source
            && let Some(text) = texts.constant()
        {
            dates.constant = Some(text.and_then(|text| dates.parse(text)));
        }
        Ok(dates)
    }

    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<DateTime> {
        match self.source {
            Source::Numbers(..) | Source::Doubles(_) => {
                let rules = DateRules {
                    no_zero_date: self.zero_parts == ZeroParts::Refused,
                    ..self.rules()
                };
                let number = self.source.number(row)?;
                let parts = number_parts(number, self.context);
                let read = parts.and_then(|parts| parts.datetime(rules).ok());
                let read = read.map(|(value, _)| value);
                if read.is_none() {
                    warn_incorrect("datetime", number.to_string().as_bytes(), self.context);
                }
                read
            }
            Source::Years(years) => {
                let year = u16::try_from(years.get(row)?).ok()?;
                let date = DateTime::date(year, 0, 0);
                Some(date).filter(|_| self.zero_parts == ZeroParts::Allowed)
            }
            Source::Packed(values) | Source::Micros(values) => {
                self.with_parts(DateTime::unpack(values.get(row)?))
            }
            Source::Displayed(texts) => {
                let text = texts.get(row)?;
                let value = match (Displayed::read(text), self.wanted) {
                    (None, _) => return self.parse(text),
                    (Some(Displayed::Date(value) | Displayed::DateTime(value)), _) => Some(value),
                    (Some(Displayed::Time(micros)), Wanted::Date) => {
                        self.context.cast("").date_of_time(micros)
                    }
                    (Some(Displayed::Time(micros)), Wanted::DateTime) => {
                        self.context.cast("").datetime_of_time(micros)
                    }
                };
                if value.is_none() {
                    warn_incorrect("datetime", text, self.context);
                }
                self.with_parts(value?)
            }
            Source::Texts(texts) => match self.constant {
                Some(value) => value,
                None => self.parse(texts.get(row)?),
            },
        }
    }

    /// A value that is not read from a user's text, if its month and day are accepted.
    #[inline]
    fn with_parts(&self, value: DateTime) -> Option<DateTime> {
        if self.zero_parts == ZeroParts::Refused && value.has_zero_part() {
            let mut text = Vec::new();
            mayfly_types::temporal::append_date(&mut text, value.pack());
            warn_incorrect("datetime", &text, self.context);
            return None;
        }
        Some(value)
    }

    fn rules(&self) -> DateRules {
        DateRules {
            no_zero_in_date: self.zero_parts == ZeroParts::Refused,
            ..DateRules::of(self.context.session.sql_mode)
        }
    }

    fn parse(&self, text: &[u8]) -> Option<DateTime> {
        let kind = match self.wanted {
            Wanted::Date => "date",
            Wanted::DateTime => "datetime",
        };
        let value = parse_local(text, self.rules(), kind, self.context);
        if value.is_none() {
            match self.wanted {
                Wanted::Date => warn_truncated(kind, text, self.context),
                Wanted::DateTime => warn_incorrect(kind, text, self.context),
            }
        }
        value.filter(|value| self.zero_parts == ZeroParts::Allowed || !value.has_zero_part())
    }
}

/// The type of an argument that itself tells whether it has a time of day: a number is unchanged.
pub(crate) fn whole_type(binding: &Binding<'_>, index: usize) -> SqlType {
    let argument = &binding.arguments[index];
    if argument.ty.is_numeric() && argument.ty.kind != TypeKind::Year {
        number_type(argument)
    } else {
        binding.text(index)
    }
}

/// An argument of [`whole_type`].
#[derive(Debug)]
pub(crate) struct WholeDates<'a> {
    source: Source<'a>,
    context: &'a EvaluationContext,
}

impl<'a> WholeDates<'a> {
    pub(crate) fn new(call: &Call<'a>, index: usize) -> Result<Self> {
        Ok(Self {
            source: source(call, index)?,
            context: call.context,
        })
    }

    /// The datetime, and whether it was a date without time; `None` with a warning when it is invalid.
    pub(crate) fn get(&self, row: usize) -> Option<(DateTime, bool)> {
        match self.source {
            Source::Texts(texts) => parse_whole(texts.get(row)?, self.context),
            Source::Displayed(texts) => {
                let text = texts.get(row)?;
                match Displayed::read(text) {
                    Some(Displayed::Time(micros)) => {
                        let value = self.context.cast("").datetime_of_time(micros);
                        if value.is_none() {
                            warn_incorrect("datetime", text, self.context);
                        }
                        Some((value?, false))
                    }
                    _ => parse_whole(text, self.context),
                }
            }
            Source::Numbers(..) | Source::Doubles(_) => {
                let number = self.source.number(row)?;
                let rules = DateRules {
                    no_zero_in_date: true,
                    ..DateRules::of(self.context.session.sql_mode)
                };
                let parts = number_parts(number, self.context);
                let read = parts.and_then(|parts| parts.datetime(rules).ok());
                let read = read.filter(|(value, _)| !value.has_zero_part());
                if read.is_none() {
                    warn_incorrect("datetime", number.to_string().as_bytes(), self.context);
                }
                read
            }
            Source::Packed(values) | Source::Micros(values) => {
                Some((DateTime::unpack(values.get(row)?), false))
            }
            Source::Years(_) => None,
        }
    }
}

/// Parses text as a valid datetime, and whether it was a date without time; `None` with a warning when it is invalid.
fn parse_whole(text: &[u8], context: &EvaluationContext) -> Option<(DateTime, bool)> {
    let rules = DateRules {
        no_zero_in_date: true,
        ..DateRules::of(context.session.sql_mode)
    };
    let is_date = parse_datetime(text, rules, false).is_ok_and(|parsed| parsed.is_date);
    match parse_local(text, rules, "datetime", context) {
        Some(value) if !value.has_zero_part() => Some((value, is_date)),
        _ => {
            warn_incorrect("datetime", text, context);
            None
        }
    }
}

/// Parses a datetime; one with an offset is converted to the session's time zone.
fn parse_local(
    text: &[u8],
    rules: DateRules,
    kind: &str,
    context: &EvaluationContext,
) -> Option<DateTime> {
    let truncate = context
        .session
        .sql_mode
        .has(SqlMode::TIME_TRUNCATE_FRACTIONAL);
    let parsed = parse_datetime(text, rules, truncate).ok()?;
    if parsed.truncated {
        warn_truncated(kind, text, context);
    }
    local_of(parsed.value, parsed.offset, context)
}

/// A datetime in the session's time zone, converted if it has an offset from UTC.
pub(crate) fn local_of(
    value: DateTime,
    offset: Option<i32>,
    context: &EvaluationContext,
) -> Option<DateTime> {
    let Some(offset) = offset else {
        return Some(value);
    };
    let instant = TimeZone::Offset(offset).unix_of_local(value)?;
    context.session.time_zone.local_of_unix(instant)
}

/// A value of a function that accepts both times and datetimes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Temporal {
    /// A date with a time of day.
    DateTime(DateTime),
    /// Signed microseconds.
    Time(i64),
}

impl Temporal {
    /// The time, or the time of day.
    pub(crate) fn micros(self) -> i64 {
        match self {
            Self::DateTime(value) => value.time_of_day(),
            Self::Time(micros) => micros,
        }
    }
}

/// Interpretation of a value that is both a valid time and a valid date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Preferred {
    /// A time, also for a text or number that is a date without a time of day.
    Time,
    /// A date for text; a time for a number, if it is a valid one.
    DateOfText,
    /// A date, if it is a valid one.
    Date,
}

/// An argument of [`time_type`], or of [`moment_type`].
#[derive(Debug)]
pub(crate) struct Temporals<'a> {
    source: Source<'a>,
    /// The value of a constant text, read once.
    constant: Option<Option<Temporal>>,
    preferred: Preferred,
    context: &'a EvaluationContext,
}

impl<'a> Temporals<'a> {
    pub(crate) fn new(call: &Call<'a>, index: usize) -> Result<Self> {
        Self::preferring(Preferred::Time, call, index)
    }

    pub(crate) fn preferring(preferred: Preferred, call: &Call<'a>, index: usize) -> Result<Self> {
        let mut values = Self {
            source: source(call, index)?,
            constant: None,
            preferred,
            context: call.context,
        };
        if let Source::Texts(texts) = values.source
            && let Some(text) = texts.constant()
        {
            values.constant = Some(text.and_then(|text| values.parse(text)));
        }
        Ok(values)
    }

    /// The value: a time or a datetime.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<Temporal> {
        match self.source {
            Source::Packed(values) => {
                let value = DateTime::unpack(values.get(row)?);
                Some(Temporal::DateTime(value))
            }
            Source::Micros(values) => values.get(row).map(Temporal::Time),
            Source::Displayed(texts) => {
                let text = texts.get(row)?;
                match Displayed::read(text) {
                    Some(Displayed::Date(value) | Displayed::DateTime(value)) => {
                        Some(Temporal::DateTime(value))
                    }
                    Some(Displayed::Time(micros)) => Some(Temporal::Time(micros)),
                    None => self.parse(text),
                }
            }
            // A year has no time of day.
            Source::Years(years) => years.get(row).map(|_| Temporal::Time(0)),
            Source::Numbers(..) | Source::Doubles(_) => {
                let number = self.source.number(row)?;
                let parts = number_parts(number, self.context);
                let read = parts.and_then(|parts| self.number(parts));
                if read.is_none() {
                    warn_truncated("time", number.to_string().as_bytes(), self.context);
                }
                read
            }
            Source::Texts(texts) => match self.constant {
                Some(value) => value,
                None => self.parse(texts.get(row)?),
            },
        }
    }

    /// The time of day.
    #[inline]
    pub(crate) fn time(&self, row: usize) -> Option<i64> {
        self.get(row).map(Temporal::micros)
    }

    fn number(&self, parts: NumberParts) -> Option<Temporal> {
        let rules = DateRules::of(self.context.session.sql_mode);
        let date = || {
            parts
                .datetime(rules)
                .ok()
                .map(|(date, _)| Temporal::DateTime(date))
        };
        let time = || match parts.time() {
            // A number too large for a time may be a datetime.
            Ok((micros, false)) if parts.whole <= LARGEST_TIME => Some(Temporal::Time(micros)),
            _ => None,
        };
        match self.preferred {
            Preferred::Date if parts.whole >= SMALLEST_DATE => date().or_else(time),
            _ => time().or_else(date),
        }
    }

    /// Parses text as a date, if a date is preferred: not a time like `10:11:12` or `1 10`, which could be read as a
    /// date as well.
    fn date_of_text(&self, text: &[u8], time: Option<&ParsedTime>) -> Option<DateTime> {
        if self.preferred == Preferred::Time {
            return None;
        }
        let text = text.trim_ascii_start();
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_time = matches!(text.get(digits), Some(b':' | b' '));
        if is_time && time.is_some_and(|time| !time.out_of_range) {
            return None;
        }
        let truncate = self
            .context
            .session
            .sql_mode
            .has(SqlMode::TIME_TRUNCATE_FRACTIONAL);
        let rules = DateRules {
            no_zero_date: true,
            no_zero_in_date: is_time,
            ..DateRules::of(self.context.session.sql_mode)
        };
        let parsed = parse_datetime(text, rules, truncate).ok()?;
        if parsed.truncated {
            warn_truncated("datetime", text, self.context);
        }
        local_of(parsed.value, parsed.offset, self.context)
    }

    fn parse(&self, text: &[u8]) -> Option<Temporal> {
        let truncate = self
            .context
            .session
            .sql_mode
            .has(SqlMode::TIME_TRUNCATE_FRACTIONAL);
        let time = parse_time(text, truncate).ok();
        let has_moment = time.is_some_and(|time| time.moment.is_some());
        if !has_moment && let Some(date) = self.date_of_text(text, time.as_ref()) {
            return Some(Temporal::DateTime(date));
        }
        let Some(parsed) = time else {
            warn_truncated("time", text, self.context);
            return None;
        };
        if has_moment {
            let rules = DateRules::of(self.context.session.sql_mode);
            return parse_local(text, rules, "datetime", self.context).map(Temporal::DateTime);
        }
        if parsed.truncated || parsed.out_of_range {
            warn_truncated("time", text, self.context);
        }
        Some(Temporal::Time(parsed.micros))
    }
}

/// A keyword that the parser passed as an argument: a unit or a type.
pub(crate) fn word<'a>(call: &Call<'a>, index: usize) -> Result<&'a [u8]> {
    let texts = call.texts(index)?;
    let word = (0..call.rows.max(1)).find_map(|row| texts.get(row));
    Ok(word.unwrap_or_default())
}

/// The unit of a keyword, or error 1210 of a function.
pub(crate) fn interval_unit(word: &[u8], function: &str) -> Result<IntervalUnit> {
    std::str::from_utf8(word)
        .ok()
        .and_then(IntervalUnit::by_name)
        .ok_or_else(|| codes::ER_WRONG_ARGUMENTS.with(&[&function]))
}
