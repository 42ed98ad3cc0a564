//! Time zones and Unix time (the manual, "MySQL Server Time Zone Support"). Named zones come from
//! the `jiff` crate, which reads the system's database or its own copy.

use jiff::civil;
use jiff::tz::{AmbiguousOffset, Offset};

use super::calendar::DAY_NUMBER_1970;
use super::{DateTime, MICROS_PER_DAY, MICROS_PER_SECOND};
use crate::error::{Error, codes};

/// A value of the `time_zone` variable.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum TimeZone {
    /// The zone of the operating system.
    #[default]
    System,
    /// Seconds east of UTC.
    Offset(i32),
    /// A zone of the database of zones.
    Named(jiff::tz::TimeZone),
}

impl TimeZone {
    /// UTC
    pub const UTC: Self = Self::Offset(0);

    /// `SYSTEM`, an offset of `-13:59` to `+14:00`, or a name.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let unknown = || codes::ER_UNKNOWN_TIME_ZONE.with(&[&text]);
        if text.eq_ignore_ascii_case("SYSTEM") {
            return Ok(Self::System);
        }
        if text.starts_with(['+', '-']) {
            return parse_offset(text).map(Self::Offset).ok_or_else(unknown);
        }
        jiff::tz::TimeZone::get(text)
            .map(Self::Named)
            .map_err(|_| unknown())
    }

    /// The text that [`TimeZone::parse`] reads.
    pub fn name(&self) -> String {
        match self {
            Self::System => "SYSTEM".to_owned(),
            Self::Offset(seconds) => {
                let sign = if *seconds < 0 { '-' } else { '+' };
                let minutes = seconds.abs() / 60;
                format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
            Self::Named(zone) => zone.iana_name().unwrap_or("UTC").to_owned(),
        }
    }

    /// Seconds east of UTC at a moment.
    pub fn offset_at(&self, unix_seconds: i64) -> i64 {
        let named = |zone: &jiff::tz::TimeZone| {
            jiff::Timestamp::from_second(unix_seconds)
                .map_or(0, |moment| i64::from(zone.to_offset(moment).seconds()))
        };
        match self {
            Self::System => named(&jiff::tz::TimeZone::system()),
            Self::Offset(seconds) => i64::from(*seconds),
            Self::Named(zone) => named(zone),
        }
    }

    /// The local date and time of a moment in microseconds since 1970; `None` outside of the
    /// calendar.
    pub fn local_of_unix(&self, unix_micros: i64) -> Option<DateTime> {
        let offset = self.offset_at(unix_micros.div_euclid(MICROS_PER_SECOND));
        let local = i128::from(unix_micros)
            + i128::from(offset) * i128::from(MICROS_PER_SECOND)
            + i128::from(DAY_NUMBER_1970) * i128::from(MICROS_PER_DAY);
        DateTime::from_micros(local)
    }

    /// The moment of a local date and time, in microseconds since 1970. A time that the clocks
    /// skip gives the moment of the skip, one that they repeat the first occurrence. `None` for
    /// dates with a zero part.
    pub fn unix_of_local(&self, local: DateTime) -> Option<i64> {
        if local.has_zero_part() {
            return None;
        }
        let as_utc = local.to_micros() - DAY_NUMBER_1970 * MICROS_PER_DAY;
        let offset = match self {
            Self::Offset(seconds) => i64::from(*seconds),
            Self::System => return unix_in_zone(&jiff::tz::TimeZone::system(), local, as_utc),
            Self::Named(zone) => return unix_in_zone(zone, local, as_utc),
        };
        Some(as_utc - offset * MICROS_PER_SECOND)
    }

    /// The same moment on another zone's clock.
    pub fn convert(&self, local: DateTime, to: &Self) -> Option<DateTime> {
        to.local_of_unix(self.unix_of_local(local)?)
    }
}

fn unix_in_zone(zone: &jiff::tz::TimeZone, local: DateTime, as_utc: i64) -> Option<i64> {
    let civil = civil::DateTime::new(
        i16::try_from(local.year).ok()?,
        i8::try_from(local.month).ok()?,
        i8::try_from(local.day).ok()?,
        i8::try_from(local.hour).ok()?,
        i8::try_from(local.minute).ok()?,
        i8::try_from(local.second).ok()?,
        0,
    )
    .ok()?;
    let less = |offset: Offset| as_utc - i64::from(offset.seconds()) * MICROS_PER_SECOND;
    match zone.to_ambiguous_timestamp(civil).offset() {
        AmbiguousOffset::Unambiguous { offset } => Some(less(offset)),
        AmbiguousOffset::Fold { before, .. } => Some(less(before)),
        AmbiguousOffset::Gap { before, after } => {
            let earliest = less(after).div_euclid(MICROS_PER_SECOND);
            let start = jiff::Timestamp::from_second(earliest - 1).ok()?;
            match zone.following(start).next() {
                Some(transition) => Some(transition.timestamp().as_microsecond()),
                None => Some(less(before)),
            }
        }
    }
}

fn parse_offset(text: &str) -> Option<i32> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+')?),
    };
    let (hours, minutes) = digits.split_once(':')?;
    let number = |text: &str| -> Option<i32> {
        let valid = matches!(text.len(), 1 | 2) && text.bytes().all(|byte| byte.is_ascii_digit());
        valid.then(|| text.parse().ok()).flatten()
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let total = sign * (hours * 3600 + minutes * 60);
    (minutes < 60 && (-(14 * 3600 - 60)..=14 * 3600).contains(&total)).then_some(total)
}
