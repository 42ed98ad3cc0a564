//! `INTERVAL` values and units (the manual, "Temporal Intervals"): reading them, adding them,
//! counting them between two values.

use super::calendar;
use super::{DateTime, MICROS_PER_DAY, MICROS_PER_SECOND, TIME_MAX_MICROS};
use crate::decimal::plain::spaces;

/// A unit of INTERVAL expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum IntervalUnit {
    Microsecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    SecondMicrosecond,
    MinuteMicrosecond,
    MinuteSecond,
    HourMicrosecond,
    HourSecond,
    HourMinute,
    DayMicrosecond,
    DaySecond,
    DayMinute,
    DayHour,
    YearMonth,
}

/// Every unit in the order of its declaration: its keyword, and the first and last part of a compound one; a simple one
/// has one part.
#[rustfmt::skip]
const UNITS: [(&str, IntervalUnit, usize, usize); 20] = [
    ("MICROSECOND", IntervalUnit::Microsecond, MICROSECOND, MICROSECOND),
    ("SECOND", IntervalUnit::Second, SECOND, SECOND),
    ("MINUTE", IntervalUnit::Minute, MINUTE, MINUTE),
    ("HOUR", IntervalUnit::Hour, HOUR, HOUR),
    ("DAY", IntervalUnit::Day, DAY, DAY),
    ("WEEK", IntervalUnit::Week, DAY, DAY),
    ("MONTH", IntervalUnit::Month, MONTH, MONTH),
    ("QUARTER", IntervalUnit::Quarter, MONTH, MONTH),
    ("YEAR", IntervalUnit::Year, YEAR, YEAR),
    ("SECOND_MICROSECOND", IntervalUnit::SecondMicrosecond, SECOND, MICROSECOND),
    ("MINUTE_MICROSECOND", IntervalUnit::MinuteMicrosecond, MINUTE, MICROSECOND),
    ("MINUTE_SECOND", IntervalUnit::MinuteSecond, MINUTE, SECOND),
    ("HOUR_MICROSECOND", IntervalUnit::HourMicrosecond, HOUR, MICROSECOND),
    ("HOUR_SECOND", IntervalUnit::HourSecond, HOUR, SECOND),
    ("HOUR_MINUTE", IntervalUnit::HourMinute, HOUR, MINUTE),
    ("DAY_MICROSECOND", IntervalUnit::DayMicrosecond, DAY, MICROSECOND),
    ("DAY_SECOND", IntervalUnit::DaySecond, DAY, SECOND),
    ("DAY_MINUTE", IntervalUnit::DayMinute, DAY, MINUTE),
    ("DAY_HOUR", IntervalUnit::DayHour, DAY, HOUR),
    ("YEAR_MONTH", IntervalUnit::YearMonth, YEAR, MONTH),
];

// The row of a unit is found by its discriminant.
const _: () = {
    let mut row = 0;
    while row < UNITS.len() {
        assert!(UNITS[row].1 as usize == row);
        row += 1;
    }
};

/// Indexes of the parts of a compound interval.
const YEAR: usize = 0;
const MONTH: usize = 1;
const DAY: usize = 2;
const HOUR: usize = 3;
const MINUTE: usize = 4;
const SECOND: usize = 5;
const MICROSECOND: usize = 6;

/// Greatest number of digits of the fraction of a second.
const FRACTION_DIGITS: usize = 6;

impl IntervalUnit {
    /// The unit of a keyword, in any letter case.
    pub fn by_name(name: &str) -> Option<Self> {
        let mut units = UNITS.iter();
        let row = units.find(|row| row.0.eq_ignore_ascii_case(name));
        row.map(|row| row.1)
    }

    /// The keyword.
    pub fn name(self) -> &'static str {
        UNITS[self as usize].0
    }

    /// Every unit.
    pub fn all() -> impl Iterator<Item = Self> {
        UNITS.iter().map(|row| row.1)
    }

    fn parts(self) -> (usize, usize) {
        let (_, _, first, last) = UNITS[self as usize];
        (first, last)
    }

    /// Whether the interval's value is read as text with several numbers.
    pub fn is_compound(self) -> bool {
        let (first, last) = self.parts();
        first != last
    }

    /// Whether adding it can change the time of day, so that a DATE becomes a DATETIME.
    pub fn has_time(self) -> bool {
        self.parts().1 >= HOUR
    }

    /// Whether it has a part of microseconds.
    pub fn has_microseconds(self) -> bool {
        self.parts().1 == MICROSECOND
    }
}

/// Length of an interval: months and microseconds do not convert into one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Interval {
    /// Months, with years and quarters converted.
    pub months: i64,
    /// Days, with weeks converted.
    pub days: i64,
    /// Microseconds of all smaller units.
    pub micros: i128,
}

impl Interval {
    /// `INTERVAL count unit` of a simple unit, with `micros` more for a SECOND with a fraction.
    pub fn of(unit: IntervalUnit, count: i64, micros: i64) -> Self {
        let scaled = |micros_per_unit: i64| i128::from(count) * i128::from(micros_per_unit);
        let mut interval = Self::default();
        match unit {
            IntervalUnit::Microsecond => interval.micros = i128::from(count),
            IntervalUnit::Second => {
                interval.micros = scaled(MICROS_PER_SECOND) + i128::from(micros);
            }
            IntervalUnit::Minute => interval.micros = scaled(60 * MICROS_PER_SECOND),
            IntervalUnit::Hour => interval.micros = scaled(3600 * MICROS_PER_SECOND),
            IntervalUnit::Day => interval.days = count,
            IntervalUnit::Week => interval.days = count.saturating_mul(7),
            IntervalUnit::Month => interval.months = count,
            IntervalUnit::Quarter => interval.months = count.saturating_mul(3),
            IntervalUnit::Year => interval.months = count.saturating_mul(12),
            _ => {}
        }
        interval
    }

    /// The value of a compound unit: numbers separated by anything. With fewer numbers than parts the first parts are
    /// missing. A last number of microseconds is a fraction of a second, also alone. Text without a number is an
    /// interval of 0; `None` when a number is too large, or there are more numbers than parts.
    pub fn parse_compound(unit: IntervalUnit, text: &[u8]) -> Option<Self> {
        let (first, last) = unit.parts();
        let wanted = last - first + 1;
        let mut rest = &text[spaces(text)..];
        let negative = rest.first() == Some(&b'-');
        rest = &rest[usize::from(negative)..];
        let mut numbers = [0_i64; 7];
        let (mut count, mut last_length) = (0, 0);
        while count < wanted {
            let skipped = rest
                .iter()
                .take_while(|byte| !byte.is_ascii_digit())
                .count();
            rest = &rest[skipped..];
            if rest.is_empty() {
                break;
            }
            let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let mut value = 0_i64;
            for byte in &rest[..length] {
                value = value.checked_mul(10)?.checked_add(i64::from(byte - b'0'))?;
            }
            numbers[count] = value;
            last_length = length;
            count += 1;
            rest = &rest[length..];
        }
        if last == MICROSECOND && count > 0 {
            // The missing digits of the fraction are zeros.
            for _ in last_length..FRACTION_DIGITS {
                numbers[count - 1] = numbers[count - 1].checked_mul(10)?;
            }
        }
        if count == wanted && rest.iter().any(u8::is_ascii_digit) {
            return None;
        }
        let mut parts = [0_i64; 7];
        for (index, number) in numbers[..count].iter().enumerate() {
            parts[last + 1 + index - count] = *number;
        }
        let sign = if negative { -1 } else { 1 };
        let seconds = i128::from(parts[HOUR]) * 3600
            + i128::from(parts[MINUTE]) * 60
            + i128::from(parts[SECOND]);
        let micros = seconds * i128::from(MICROS_PER_SECOND) + i128::from(parts[MICROSECOND]);
        Some(Self {
            months: sign * parts[YEAR].checked_mul(12)?.checked_add(parts[MONTH])?,
            days: sign * parts[DAY],
            micros: i128::from(sign) * micros,
        })
    }

    /// The negated interval.
    pub fn negate(self) -> Self {
        Self {
            months: self.months.saturating_neg(),
            days: self.days.saturating_neg(),
            micros: -self.micros,
        }
    }
}

/// A date and time plus an interval. Adding months keeps the day, or takes the last day of a shorter month. `None` when
/// the result is outside of the years 0 to 9999 (MySQL warns 1441 and gives NULL) or the value has a zero part.
pub fn add_interval(value: DateTime, interval: Interval) -> Option<DateTime> {
    let mut value = value;
    if interval.months != 0 {
        let months = (i64::from(value.year) * 12 + i64::from(value.month) - 1)
            .checked_add(interval.months)?;
        if !(0..120_000).contains(&months) {
            return None;
        }
        value.year = (months / 12) as u16;
        value.month = (months % 12 + 1) as u8;
        value.day = value
            .day
            .min(calendar::days_in_month(value.year, value.month));
    }
    if interval.days == 0 && interval.micros == 0 {
        return Some(value);
    }
    let micros = i128::from(value.time_of_day()) + interval.micros;
    let per_day = i128::from(MICROS_PER_DAY);
    let days = i64::try_from(micros.div_euclid(per_day))
        .ok()?
        .checked_add(interval.days)?;
    let time = micros.rem_euclid(per_day) as i64;
    if days == 0 {
        return Some(value.with_time_of_day(time));
    }
    let number = calendar::day_number(value).checked_add(days)?;
    Some(calendar::date_of_day_number(number)?.with_time_of_day(time))
}

/// A TIME plus an interval; `None` outside of the range of TIME, or for intervals with months.
pub fn add_interval_to_time(micros: i64, interval: Interval) -> Option<i64> {
    if interval.months != 0 {
        return None;
    }
    let total = i128::from(micros)
        + i128::from(interval.days) * i128::from(MICROS_PER_DAY)
        + interval.micros;
    let total = i64::try_from(total).ok()?;
    (total.abs() <= TIME_MAX_MICROS).then_some(total)
}

/// `TIMESTAMPDIFF(unit, from, to)`: whole units, cut towards zero.
pub fn timestamp_diff(unit: IntervalUnit, from: DateTime, to: DateTime) -> i64 {
    let micros = || to.to_micros() - from.to_micros();
    let months = || {
        let (early, late, sign) = if from <= to {
            (from, to, 1)
        } else {
            (to, from, -1)
        };
        let mut months = (i64::from(late.year) - i64::from(early.year)) * 12
            + i64::from(late.month)
            - i64::from(early.month);
        if (late.day, late.time_of_day()) < (early.day, early.time_of_day()) {
            months -= 1;
        }
        months * sign
    };
    match unit {
        IntervalUnit::Year | IntervalUnit::YearMonth => months() / 12,
        IntervalUnit::Quarter => months() / 3,
        IntervalUnit::Month => months(),
        IntervalUnit::Week => micros() / (7 * MICROS_PER_DAY),
        IntervalUnit::Day => micros() / MICROS_PER_DAY,
        IntervalUnit::Hour => micros() / (3600 * MICROS_PER_SECOND),
        IntervalUnit::Minute => micros() / (60 * MICROS_PER_SECOND),
        IntervalUnit::Second => micros() / MICROS_PER_SECOND,
        _ => micros(),
    }
}
