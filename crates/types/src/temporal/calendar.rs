//! The proleptic Gregorian calendar as MySQL counts it (the manual, TO_DAYS): day 1 is '0000-01-01', and
//! the year 0 is no leap year.

use super::DateTime;

/// The last day number, of '9999-12-31'.
pub(crate) const DAY_NUMBER_MAX: i64 = 3_652_424;
/// The day number of '1970-01-01'.
pub(crate) const DAY_NUMBER_1970: i64 = 719_528;

const DAYS_IN_MONTH: [u8; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// Whether a year has 366 days; the year 0 counts as common.
pub(crate) const fn is_leap_year(year: u16) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || (year.is_multiple_of(400) && year != 0))
}

/// Days in a year: 365 or 366.
pub(crate) const fn days_in_year(year: u16) -> i64 {
    if is_leap_year(year) { 366 } else { 365 }
}

/// Number of days of a month; 31 for the month 0.
pub fn days_in_month(year: u16, month: u8) -> u8 {
    match month {
        2 if is_leap_year(year) => 29,
        1..=12 => DAYS_IN_MONTH[usize::from(month) - 1],
        _ => 31,
    }
}

/// The day number of a date (TO_DAYS). Zero parts count as the day or month before the first.
pub fn day_number(date: DateTime) -> i64 {
    let (mut year, month, day) = (
        i64::from(date.year),
        i64::from(date.month),
        i64::from(date.day),
    );
    if year == 0 && month == 0 {
        return 0;
    }
    let mut days = 365 * year + 31 * (month - 1) + day;
    if month <= 2 {
        year -= 1;
    } else {
        days -= (month * 4 + 23) / 10;
    }
    days + year / 4 - ((year / 100 + 1) * 3) / 4
}

/// The date of a day number (FROM_DAYS); `None` outside of 1 to [`DAY_NUMBER_MAX`].
#[inline]
pub fn date_of_day_number(number: i64) -> Option<DateTime> {
    match number {
        1..=31 => return Some(DateTime::date(0, 1, number as u8)),
        32..60 => return Some(DateTime::date(0, 2, number as u8 - 31)),
        60..=DAY_NUMBER_MAX => {}
        _ => return None,
    }
    // Centuries since 0000-03-01, years of a century, months and days each follow from a division by a constant (Neri and
    // Schneider, "Euclidean affine functions and their application to calendar algorithms", 2022, figure 12).
    let days = 4 * (number - 60) as u32 + 3;
    let (century, day_of_century) = (days / 146_097, days % 146_097 / 4);
    let scaled = 2_939_745 * u64::from(4 * day_of_century + 3);
    let year = 100 * century + (scaled >> 32) as u32;
    let day_of_year = (scaled as u32) / 2_939_745 / 4;
    let scaled = 2141 * day_of_year + 197_913;
    let (month, day) = (scaled >> 16, (scaled & 0xFFFF) / 2141 + 1);
    // The months of a year begin with March.
    let is_next = day_of_year >= 306;
    let year = year + u32::from(is_next);
    let month = if is_next { month - 12 } else { month };
    Some(DateTime::date(year as u16, month as u8, day as u8))
}

/// Weekday of a day number: 0 = Monday … 6 = Sunday (WEEKDAY).
pub const fn weekday(day_number: i64) -> u8 {
    ((day_number + 5).rem_euclid(7)) as u8
}

/// Day of the year, 1 to 366; zero parts count as in [`day_number`].
pub fn day_of_year(date: DateTime) -> i64 {
    day_number(date) - day_number(DateTime::date(date.year, 1, 1)) + 1
}

/// The three independent choices behind the modes of WEEK().
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeekMode {
    /// Weeks begin on Monday, not Sunday.
    pub monday_first: bool,
    /// Days before the first week belong to the last week of the year before, not to week 0.
    pub counts_by_week_year: bool,
    /// The first week is the first with its first weekday in the year, not the first with at
    /// least four days in it.
    pub first_weekday: bool,
}

impl WeekMode {
    /// A mode 0 to 7 as the manual's table of WEEK() lists them.
    pub const fn new(mode: u8) -> Self {
        let monday_first = mode & 1 != 0;
        Self {
            monday_first,
            counts_by_week_year: mode & 2 != 0,
            first_weekday: (mode & 4 != 0) == monday_first,
        }
    }
}

/// The week of a date and the year that the week belongs to.
pub fn week(date: DateTime, mode: WeekMode) -> (u16, u8) {
    let number = day_number(date);
    let mut first = day_number(DateTime::date(date.year, 1, 1));
    let mut year = date.year;
    let mut by_week_year = mode.counts_by_week_year;
    let mut weekday = (first + 5 + i64::from(!mode.monday_first)).rem_euclid(7);
    let starts_late = |weekday: i64| {
        (mode.first_weekday && weekday != 0) || (!mode.first_weekday && weekday >= 4)
    };
    if date.month == 1 && i64::from(date.day) <= 7 - weekday {
        if !by_week_year && starts_late(weekday) {
            return (year, 0);
        }
        by_week_year = true;
        year = year.wrapping_sub(1);
        let days = days_in_year(year);
        first -= days;
        weekday = (weekday + 53 * 7 - days) % 7;
    }
    let days = if starts_late(weekday) {
        number - (first + (7 - weekday))
    } else {
        number - (first - weekday)
    };
    if by_week_year && days >= 52 * 7 {
        weekday = (weekday + days_in_year(year)) % 7;
        if !starts_late(weekday) {
            return (year.wrapping_add(1), 1);
        }
    }
    // A date without a month is before the first week.
    (year, (days.div_euclid(7) + 1).max(0) as u8)
}
