//! Temporal values: DATE, DATETIME, TIMESTAMP and TIME.
//!
//! DATE, DATETIME and TIMESTAMP share one 64-bit encoding, [`DateTime::pack`], whose integer order
//! is the order of the values, so that they compare without a conversion and group by their
//! number. TIME is a signed count of microseconds. See the manual, "Date and Time Data Types".
//!
//! * [`calendar`]: day numbers, weeks, month lengths
//! * [`parse`]: text to values; [`number`]: numbers to values and back; [`mod@format`]: values to text;
//!   [`displayed`]: these texts to the same values
//! * [`interval`]: `INTERVAL` units, adding them, differences
//! * [`zone`]: time zones and Unix time
//! * [`locale`]: names of days and months
//! * [`pattern`]: the format strings of DATE_FORMAT and STR_TO_DATE

pub mod calendar;
pub mod displayed;
pub mod format;
pub mod interval;
pub mod locale;
pub mod number;
pub mod parse;
pub mod pattern;
#[cfg(test)]
mod tests;
pub mod zone;

use crate::sql_mode::SqlMode;

pub use displayed::Displayed;
pub use format::{append_date, append_datetime, append_time};
pub use interval::{Interval, IntervalUnit, add_interval, add_interval_to_time, timestamp_diff};
pub use locale::Locale;
pub use parse::{ParsedDateTime, ParsedTime, parse_datetime, parse_time};
pub use zone::{TimeZone, ZoneClock};

/// Microseconds in a second.
pub const MICROS_PER_SECOND: i64 = 1_000_000;
/// Microseconds in a day.
pub const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;
/// The largest TIME, 838:59:59, in microseconds.
pub const TIME_MAX_MICROS: i64 = (838 * 3600 + 59 * 60 + 59) * MICROS_PER_SECOND;

/// Fault of a date or time. All kinds give the same user error; the rules in force decide which
/// kinds are errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemporalError {
    /// The text does not start with a date or time, as with month 13 or hour 25.
    Malformed,
    /// '0000-00-00', which NO_ZERO_DATE forbids.
    ZeroDate,
    /// A zero month or day, which NO_ZERO_IN_DATE forbids.
    ZeroInDate,
    /// A day that its month does not have, a time beyond the range of TIME.
    OutOfRange,
}

/// Rules for valid dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DateRules {
    /// '0000-00-00' is wrong.
    pub no_zero_date: bool,
    /// A zero month or day is wrong.
    pub no_zero_in_date: bool,
    /// Days are checked against 31 only.
    pub allow_invalid_dates: bool,
}

impl DateRules {
    /// The rules of a `sql_mode`.
    pub fn of(mode: SqlMode) -> Self {
        Self {
            no_zero_date: mode.has(SqlMode::NO_ZERO_DATE),
            no_zero_in_date: mode.has(SqlMode::NO_ZERO_IN_DATE),
            allow_invalid_dates: mode.has(SqlMode::ALLOW_INVALID_DATES),
        }
    }
}

/// A date with a time of day; a DATE has midnight. Months and days may be 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct DateTime {
    /// 0 to 9999
    pub year: u16,
    /// 0 to 12
    pub month: u8,
    /// 0 to 31
    pub day: u8,
    /// 0 to 23
    pub hour: u8,
    /// 0 to 59
    pub minute: u8,
    /// 0 to 59
    pub second: u8,
    /// 0 to 999,999
    pub microsecond: u32,
}

impl DateTime {
    /// '9999-12-31 23:59:59.999999'
    pub const MAX: Self = Self {
        year: 9999,
        month: 12,
        day: 31,
        hour: 23,
        minute: 59,
        second: 59,
        microsecond: 999_999,
    };

    /// Midnight of a day.
    pub const fn date(year: u16, month: u8, day: u8) -> Self {
        Self {
            year,
            month,
            day,
            hour: 0,
            minute: 0,
            second: 0,
            microsecond: 0,
        }
    }

    /// The packed form. From the lowest bit: 20 bits of microseconds, 6 of seconds, 6 of minutes,
    /// 5 of hours, 5 of days, 4 of months, 14 of years; 60 in all, so never negative, and 0 is
    /// '0000-00-00 00:00:00'.
    pub const fn pack(self) -> i64 {
        self.microsecond as i64
            | (self.second as i64) << 20
            | (self.minute as i64) << 26
            | (self.hour as i64) << 32
            | (self.day as i64) << 37
            | (self.month as i64) << 42
            | (self.year as i64) << 46
    }

    /// The parts of a packed value.
    pub const fn unpack(packed: i64) -> Self {
        Self {
            year: (packed >> 46) as u16 & 0x3FFF,
            month: (packed >> 42) as u8 & 0xF,
            day: (packed >> 37) as u8 & 0x1F,
            hour: (packed >> 32) as u8 & 0x1F,
            minute: (packed >> 26) as u8 & 0x3F,
            second: (packed >> 20) as u8 & 0x3F,
            microsecond: packed as u32 & 0xF_FFFF,
        }
    }

    /// Whether the date part is '0000-00-00'.
    pub const fn is_zero_date(self) -> bool {
        self.year == 0 && self.month == 0 && self.day == 0
    }

    /// Whether the month or the day is 0, so that the date is not a real day.
    pub const fn has_zero_part(self) -> bool {
        self.month == 0 || self.day == 0
    }

    /// Midnight of the value's day.
    pub const fn at_midnight(self) -> Self {
        Self::date(self.year, self.month, self.day)
    }

    /// The time of day in microseconds.
    pub const fn time_of_day(self) -> i64 {
        ((self.hour as i64 * 60 + self.minute as i64) * 60 + self.second as i64) * MICROS_PER_SECOND
            + self.microsecond as i64
    }

    /// The value's day at another time of day, which is below 24 hours.
    pub const fn with_time_of_day(self, micros: i64) -> Self {
        let seconds = micros / MICROS_PER_SECOND;
        Self {
            hour: (seconds / 3600) as u8,
            minute: (seconds / 60 % 60) as u8,
            second: (seconds % 60) as u8,
            microsecond: (micros % MICROS_PER_SECOND) as u32,
            ..self
        }
    }

    /// The value a signed number of microseconds after the day numbered 0; `None` outside of the
    /// years 0 to 9999.
    pub fn from_micros(micros: i128) -> Option<Self> {
        let micros = i64::try_from(micros).ok()?;
        let date = calendar::date_of_day_number(micros.div_euclid(MICROS_PER_DAY))?;
        Some(date.with_time_of_day(micros.rem_euclid(MICROS_PER_DAY)))
    }

    /// Midnight of a day counted from 1970-01-01; `None` outside of the years 0 to 9999.
    #[inline]
    pub fn of_unix_day(days: i64) -> Option<Self> {
        calendar::date_of_day_number(days.checked_add(calendar::DAY_NUMBER_1970)?)
    }

    /// Microseconds since the day numbered 0, for differences.
    pub fn to_micros(self) -> i64 {
        calendar::day_number(self) * MICROS_PER_DAY + self.time_of_day()
    }

    /// Checks the day against the calendar and the rules; the ranges of the single parts too.
    pub fn check(self, rules: DateRules) -> Result<(), TemporalError> {
        if self.year > 9999
            || self.month > 12
            || self.day > 31
            || self.hour > 23
            || self.minute > 59
            || self.second > 59
        {
            return Err(TemporalError::Malformed);
        }
        self.check_date(rules, self != Self::default())
    }

    /// Checks the date; `not_zero`: whether any digit was not 0.
    fn check_date(self, rules: DateRules, not_zero: bool) -> Result<(), TemporalError> {
        if !not_zero {
            return if rules.no_zero_date {
                Err(TemporalError::ZeroDate)
            } else {
                Ok(())
            };
        }
        if rules.no_zero_in_date && self.has_zero_part() {
            return Err(TemporalError::ZeroInDate);
        }
        if !rules.allow_invalid_dates
            && self.month != 0
            && self.day > calendar::days_in_month(self.year, self.month)
        {
            return Err(TemporalError::OutOfRange);
        }
        Ok(())
    }

    /// The value with at most `digits` fractional digits: rounded half up, or cut off with
    /// `truncate`. `None` when rounding leaves the year 9999.
    pub fn with_fraction(self, digits: u8, truncate: bool) -> Option<Self> {
        let unit = fraction_unit(digits);
        let rest = i64::from(self.microsecond) % unit;
        if rest == 0 {
            return Some(self);
        }
        let cut = Self {
            microsecond: self.microsecond - rest as u32,
            ..self
        };
        if truncate || rest * 2 < unit {
            Some(cut)
        } else {
            cut.add_micros(unit)
        }
    }

    /// The value plus microseconds; a date with a zero part only within its day.
    pub fn add_micros(self, micros: i64) -> Option<Self> {
        let time = self.time_of_day() + micros;
        if (0..MICROS_PER_DAY).contains(&time) {
            return Some(self.with_time_of_day(time));
        }
        if self.has_zero_part() {
            return None;
        }
        Self::from_micros(i128::from(self.to_micros()) + i128::from(micros))
    }
}

/// Microseconds of one unit of the last of `digits` fractional digits.
pub const fn fraction_unit(digits: u8) -> i64 {
    match digits {
        0 => 1_000_000,
        1 => 100_000,
        2 => 10_000,
        3 => 1_000,
        4 => 100,
        5 => 10,
        _ => 1,
    }
}

/// A TIME with at most `digits` fractional digits: rounded half away from zero, or cut off with
/// `truncate`; kept within the range of TIME.
pub fn time_with_fraction(micros: i64, digits: u8, truncate: bool) -> i64 {
    let unit = fraction_unit(digits);
    let rest = micros % unit;
    let cut = micros - rest;
    let rounded = if truncate || rest.abs() * 2 < unit {
        cut
    } else {
        cut + unit * micros.signum()
    };
    rounded.clamp(-TIME_MAX_MICROS, TIME_MAX_MICROS)
}
