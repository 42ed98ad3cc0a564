//! The format strings of DATE_FORMAT, TIME_FORMAT and STR_TO_DATE (the manual lists the
//! specifiers under DATE_FORMAT).

use super::calendar::{self, WeekMode};
use super::{DateRules, DateTime, Locale, MICROS_PER_SECOND, TIME_MAX_MICROS};

fn number(out: &mut Vec<u8>, value: u64, width: usize) {
    out.extend_from_slice(format!("{value:0width$}").as_bytes());
}

/// A value for [`date_format`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Printed {
    /// The date; for a TIME it is zero.
    pub date: DateTime,
    /// Hours, which for a TIME may exceed a day.
    pub hours: u64,
    /// Whether it is a TIME below zero.
    pub negative: bool,
    /// Whether it is a TIME, which has no date to print.
    pub is_time: bool,
}

impl Printed {
    /// A date and time.
    pub fn of_datetime(value: DateTime) -> Self {
        Self {
            date: value,
            hours: u64::from(value.hour),
            negative: false,
            is_time: false,
        }
    }

    /// A TIME (TIME_FORMAT).
    pub fn of_time(micros: i64) -> Self {
        let absolute = micros.unsigned_abs();
        let seconds = absolute / MICROS_PER_SECOND as u64;
        Self {
            date: DateTime {
                minute: (seconds / 60 % 60) as u8,
                second: (seconds % 60) as u8,
                microsecond: (absolute % MICROS_PER_SECOND as u64) as u32,
                ..DateTime::default()
            },
            hours: seconds / 3600,
            negative: micros < 0,
            is_time: true,
        }
    }
}

/// Appends a value by a format; `None` when a specifier needs what the value does not have (the
/// name of month 0, the weekday of a date with a zero part), which makes the result NULL.
pub fn date_format(
    out: &mut Vec<u8>,
    value: Printed,
    format: &[u8],
    locale: &Locale,
) -> Option<()> {
    let date = value.date;
    if value.negative {
        out.push(b'-');
    }
    let month = usize::from(date.month);
    let weekday = || {
        (!value.is_time && (date.month != 0 || date.year != 0))
            .then(|| calendar::weekday(calendar::day_number(date)))
    };
    let hour12 = (value.hours % 24 + 11) % 12 + 1;
    let half = if value.hours % 24 < 12 { "AM" } else { "PM" };
    let mut at = 0;
    while let Some(&byte) = format.get(at) {
        at += 1;
        if byte != b'%' || at == format.len() {
            out.push(byte);
            continue;
        }
        let specifier = format[at];
        at += 1;
        match specifier {
            b'M' => out.extend_from_slice(locale.month(month)?.as_bytes()),
            b'b' => out.extend_from_slice(locale.short_month(month)?.as_bytes()),
            b'W' => out.extend_from_slice(locale.day(usize::from(weekday()?))?.as_bytes()),
            b'a' => {
                out.extend_from_slice(locale.short_day(usize::from(weekday()?))?.as_bytes());
            }
            b'D' => {
                number(out, u64::from(date.day), 1);
                let suffix = match (date.day / 10, date.day % 10) {
                    (1, _) => "th",
                    (_, 1) => "st",
                    (_, 2) => "nd",
                    (_, 3) => "rd",
                    _ => "th",
                };
                out.extend_from_slice(suffix.as_bytes());
            }
            b'Y' => number(out, u64::from(date.year), 4),
            b'y' => number(out, u64::from(date.year % 100), 2),
            b'm' => number(out, u64::from(date.month), 2),
            b'c' => number(out, u64::from(date.month), 1),
            b'd' => number(out, u64::from(date.day), 2),
            b'e' => number(out, u64::from(date.day), 1),
            b'f' => number(out, u64::from(date.microsecond), 6),
            b'H' => number(out, value.hours, 2),
            b'k' => number(out, value.hours, 1),
            b'h' | b'I' => number(out, hour12, 2),
            b'l' => number(out, hour12, 1),
            b'i' => number(out, u64::from(date.minute), 2),
            b's' | b'S' => number(out, u64::from(date.second), 2),
            b'p' => out.extend_from_slice(half.as_bytes()),
            b'r' => out.extend_from_slice(
                format!("{hour12:02}:{:02}:{:02} {half}", date.minute, date.second).as_bytes(),
            ),
            b'T' => out.extend_from_slice(
                format!("{:02}:{:02}:{:02}", value.hours, date.minute, date.second).as_bytes(),
            ),
            b'j' => {
                weekday()?;
                number(out, calendar::day_of_year(date).max(0) as u64, 3);
            }
            b'w' => number(out, u64::from((weekday()? + 1) % 7), 1),
            b'U' | b'u' | b'V' | b'v' | b'X' | b'x' => {
                weekday()?;
                let mode = match specifier {
                    b'U' => 0,
                    b'u' => 1,
                    b'V' | b'X' => 2,
                    _ => 3,
                };
                let (year, week) = calendar::week(date, WeekMode::new(mode));
                match specifier {
                    b'X' | b'x' => number(out, u64::from(year), 4),
                    _ => number(out, u64::from(week), 2),
                }
            }
            other => out.push(other),
        }
    }
    Some(())
}

/// Which parts of a date and time a format string holds, which decides the result's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FormatParts {
    /// Whether there is a specifier of a date.
    pub date: bool,
    /// Whether there is a specifier of a time.
    pub time: bool,
    /// Whether there is `%f`.
    pub microsecond: bool,
}

impl FormatParts {
    /// The parts of a format.
    pub fn of(format: &[u8]) -> Self {
        let mut parts = Self::default();
        let mut bytes = format.iter();
        while let Some(byte) = bytes.next() {
            if *byte != b'%' {
                continue;
            }
            match bytes.next() {
                Some(b'f') => {
                    parts.time = true;
                    parts.microsecond = true;
                }
                Some(
                    b'H' | b'k' | b'h' | b'I' | b'l' | b'i' | b's' | b'S' | b'p' | b'r' | b'T',
                ) => {
                    parts.time = true;
                }
                Some(
                    b'M' | b'b' | b'W' | b'a' | b'D' | b'Y' | b'y' | b'm' | b'c' | b'd' | b'e'
                    | b'j' | b'w' | b'U' | b'u' | b'V' | b'v' | b'X' | b'x',
                ) => parts.date = true,
                _ => {}
            }
        }
        parts
    }
}

/// Result of [`str_to_date`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StrToDate {
    /// The date and the time of day.
    pub value: DateTime,
    /// Whether text was left after the format's end, which MySQL warns about.
    pub truncated: bool,
}

struct Reader<'a> {
    text: &'a [u8],
}

impl Reader<'_> {
    fn digits(&mut self, most: usize) -> Option<u32> {
        let length = self
            .text
            .iter()
            .take(most)
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if length == 0 {
            return None;
        }
        let (digits, rest) = self.text.split_at(length);
        self.text = rest;
        Some(
            digits
                .iter()
                .fold(0, |value, byte| value * 10 + u32::from(byte - b'0')),
        )
    }

    /// Index of the name that comes next, abbreviated to three letters or in full.
    fn name(&mut self, names: &[&str], abbreviated: bool) -> Option<usize> {
        let matches = |name: &[u8]| {
            self.text.len() >= name.len() && self.text[..name.len()].eq_ignore_ascii_case(name)
        };
        let (index, length) = names.iter().enumerate().find_map(|(index, name)| {
            let name = if abbreviated { &name[..3] } else { name };
            matches(name.as_bytes()).then_some((index, name.len()))
        })?;
        self.text = &self.text[length..];
        Some(index)
    }

    fn skip_spaces(&mut self) {
        while let [byte, rest @ ..] = self.text
            && byte.is_ascii_whitespace()
        {
            self.text = rest;
        }
    }

    fn literal(&mut self, byte: u8) -> Option<()> {
        self.skip_spaces();
        let (first, rest) = self.text.split_first()?;
        (*first == byte).then(|| self.text = rest)
    }
}

/// Reads text by a format; `None` when it does not match or no such date exists (the caller adds
/// the warning and checks the date by `sql_mode`).
pub fn str_to_date(text: &[u8], format: &[u8]) -> Option<StrToDate> {
    let mut reader = Reader { text };
    let mut value = DateTime::default();
    let mut state = Gathered::default();
    let mut at = 0;
    while at < format.len() && !reader.text.is_empty() {
        reader.skip_spaces();
        if reader.text.is_empty() {
            break;
        }
        let byte = format[at];
        at += 1;
        if byte == b'%' && at < format.len() {
            let specifier = format[at];
            at += 1;
            read_specifier(&mut reader, &mut value, &mut state, specifier)?;
        } else if !byte.is_ascii_whitespace() {
            reader.literal(byte)?;
        }
    }
    state.finish(&mut value)?;
    let any_day = DateRules {
        allow_invalid_dates: true,
        ..DateRules::default()
    };
    let checked = value.check(any_day).ok();
    checked.map(|()| StrToDate {
        value,
        truncated: !reader.text.iter().all(u8::is_ascii_whitespace),
    })
}

/// Parts that become a date only together.
#[derive(Default)]
struct Gathered {
    afternoon: Option<bool>,
    twelve_hours: bool,
    day_of_year: Option<u32>,
    weekday: Option<u32>,
    week: Option<(u32, u8)>,
    week_year: Option<(u32, u8)>,
}

impl Gathered {
    fn finish(self, value: &mut DateTime) -> Option<()> {
        // On a twelve-hour clock it is morning without AM or PM.
        if self.twelve_hours {
            if !(1..=12).contains(&value.hour) {
                return None;
            }
            let afternoon = self.afternoon.unwrap_or(false);
            value.hour = value.hour % 12 + if afternoon { 12 } else { 0 };
        } else if self.afternoon.is_some() {
            return None;
        }
        if let Some(day) = self.day_of_year {
            let first = calendar::day_number(DateTime::date(value.year, 1, 1));
            let date = calendar::date_of_day_number(first + i64::from(day) - 1)?;
            (value.year, value.month, value.day) = (date.year, date.month, date.day);
        }
        if let (Some((week, specifier)), Some(weekday)) = (self.week, self.weekday) {
            let monday_first = matches!(specifier, b'u' | b'v');
            let by_week_year = matches!(specifier, b'V' | b'v');
            let year = match (by_week_year, self.week_year) {
                (true, Some((year, b'X'))) if !monday_first => year,
                (true, Some((year, b'x'))) if monday_first => year,
                (false, None) => u32::from(value.year),
                _ => return None,
            };
            let year = u16::try_from(year).ok()?;
            let first = calendar::day_number(DateTime::date(year, 1, 1));
            let first_weekday = (first + 5 + i64::from(!monday_first)).rem_euclid(7);
            let (week, weekday) = (i64::from(week), i64::from(weekday));
            let number = if monday_first {
                let shift = if first_weekday <= 3 { 0 } else { 7 };
                first + shift - first_weekday + (week - 1) * 7 + weekday - 1
            } else {
                let shift = if first_weekday == 0 { 0 } else { 7 };
                first + shift - first_weekday + (week - 1) * 7 + weekday % 7
            };
            let date = calendar::date_of_day_number(number)?;
            (value.year, value.month, value.day) = (date.year, date.month, date.day);
        }
        Some(())
    }
}

fn read_specifier(
    reader: &mut Reader<'_>,
    value: &mut DateTime,
    state: &mut Gathered,
    specifier: u8,
) -> Option<()> {
    // STR_TO_DATE reads names of the default locale only.
    let english = <&Locale>::default();
    match specifier {
        b'Y' => {
            let before = reader.text.len();
            let year = reader.digits(4)?;
            value.year = if before - reader.text.len() <= 2 {
                century(year)
            } else {
                year
            } as u16;
        }
        b'y' => value.year = century(reader.digits(2)?) as u16,
        b'm' | b'c' => value.month = reader.digits(2)? as u8,
        b'M' => value.month = reader.name(english.months(), false)? as u8 + 1,
        b'b' => value.month = reader.name(english.months(), true)? as u8 + 1,
        b'd' | b'e' => value.day = reader.digits(2)? as u8,
        b'D' => {
            value.day = reader.digits(2)? as u8;
            let skipped = reader.text.len().min(2);
            reader.text = &reader.text[skipped..];
        }
        b'H' | b'k' => value.hour = reader.digits(2)? as u8,
        b'h' | b'I' | b'l' => {
            state.twelve_hours = true;
            value.hour = reader.digits(2)? as u8;
        }
        b'i' => value.minute = reader.digits(2)? as u8,
        b's' | b'S' => value.second = reader.digits(2)? as u8,
        b'f' => {
            let before = reader.text.len();
            let micros = reader.digits(6)?;
            let missing = 6 - (before - reader.text.len()).min(6);
            value.microsecond = micros * 10_u32.pow(missing as u32);
        }
        b'p' => {
            let half = reader.text.get(..2)?;
            state.afternoon = Some(if half.eq_ignore_ascii_case(b"PM") {
                true
            } else if half.eq_ignore_ascii_case(b"AM") {
                false
            } else {
                return None;
            });
            reader.text = &reader.text[2..];
        }
        b'W' => state.weekday = Some(reader.name(english.days(), false)? as u32 + 1),
        b'a' => state.weekday = Some(reader.name(english.days(), true)? as u32 + 1),
        b'w' => {
            let day = reader.digits(1)?;
            if day >= 7 {
                return None;
            }
            state.weekday = Some(if day == 0 { 7 } else { day });
        }
        b'j' => state.day_of_year = Some(reader.digits(3)?).filter(|day| *day > 0),
        b'V' | b'U' | b'v' | b'u' => {
            let week = reader.digits(2)?;
            if week > 53 || (week == 0 && matches!(specifier, b'v' | b'V')) {
                return None;
            }
            state.week = Some((week, specifier));
        }
        b'X' | b'x' => state.week_year = Some((reader.digits(4)?, specifier)),
        b'r' => {
            read_parts(reader, value, state, b"%I:%i:%S %p")?;
        }
        b'T' => {
            read_parts(reader, value, state, b"%H:%i:%S")?;
        }
        b'.' => skip_while(reader, |byte| byte.is_ascii_punctuation()),
        b'@' => skip_while(reader, |byte| byte.is_ascii_alphabetic()),
        b'#' => skip_while(reader, |byte| byte.is_ascii_digit()),
        b'%' => reader.literal(b'%')?,
        _ => return None,
    }
    Some(())
}

fn read_parts(
    reader: &mut Reader<'_>,
    value: &mut DateTime,
    state: &mut Gathered,
    format: &[u8],
) -> Option<()> {
    let mut at = 0;
    while at < format.len() && !reader.text.is_empty() {
        reader.skip_spaces();
        if format[at] == b'%' {
            read_specifier(reader, value, state, format[at + 1])?;
            at += 2;
        } else {
            if format[at] != b' ' {
                reader.literal(format[at])?;
            }
            at += 1;
        }
    }
    Some(())
}

fn skip_while(reader: &mut Reader<'_>, skipped: impl Fn(&u8) -> bool) {
    let length = reader.text.iter().take_while(|byte| skipped(byte)).count();
    reader.text = &reader.text[length..];
}

fn century(year: u32) -> u32 {
    if year < 70 { year + 2000 } else { year + 1900 }
}

/// The TIME of a STR_TO_DATE without a date, within its range.
pub fn time_of(value: DateTime) -> i64 {
    (i64::from(value.day) * super::MICROS_PER_DAY + value.time_of_day()).min(TIME_MAX_MICROS)
}
