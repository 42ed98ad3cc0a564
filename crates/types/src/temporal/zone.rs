//! Time zones and Unix time (the manual, "MySQL Server Time Zone Support"). Named zones come from
//! the `jiff` crate, which reads the system's database or its own copy.

use jiff::civil;
use jiff::tz::{AmbiguousOffset, Offset};

use super::calendar::{DAY_NUMBER_1970, date_of_day_number};
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

/// The instant of a local date and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instant {
    /// Microseconds since 1970.
    pub unix_micros: i64,
    /// Whether the clocks skip that local time.
    pub is_skipped: bool,
    /// Whether the clocks show that local time a second time, later.
    pub is_repeated: bool,
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

    /// The zone by a name or offset that means the same on every machine; `None` for a zone of the operating system
    /// without either.
    pub fn portable(&self) -> Option<Self> {
        let Self::System = self else {
            return Some(self.clone());
        };
        let system = jiff::tz::TimeZone::system();
        match system.to_fixed_offset() {
            Ok(offset) if offset.seconds() % 60 == 0 => Some(Self::Offset(offset.seconds())),
            _ => system.iana_name().is_some().then_some(Self::Named(system)),
        }
    }

    /// Seconds east of UTC at an instant.
    pub fn offset_at(&self, unix_seconds: i64) -> i64 {
        let named = |zone: &jiff::tz::TimeZone| {
            jiff::Timestamp::from_second(unix_seconds)
                .map_or(0, |instant| i64::from(zone.to_offset(instant).seconds()))
        };
        match self {
            Self::System => named(&jiff::tz::TimeZone::system()),
            Self::Offset(seconds) => i64::from(*seconds),
            Self::Named(zone) => named(zone),
        }
    }

    /// The local date and time of an instant in microseconds since 1970; `None` outside of the
    /// calendar.
    pub fn local_of_unix(&self, unix_micros: i64) -> Option<DateTime> {
        let offset = self.offset_at(unix_micros.div_euclid(MICROS_PER_SECOND));
        let local = i128::from(unix_micros)
            + i128::from(offset) * i128::from(MICROS_PER_SECOND)
            + i128::from(DAY_NUMBER_1970) * i128::from(MICROS_PER_DAY);
        DateTime::from_micros(local)
    }

    /// The instant of a local date and time, in microseconds since 1970. A time that the clocks
    /// skip gives the instant of the skip, one that they repeat the first occurrence. `None` for
    /// dates with a zero part.
    pub fn unix_of_local(&self, local: DateTime) -> Option<i64> {
        self.instant_of_local(local)
            .map(|instant| instant.unix_micros)
    }

    /// [`TimeZone::unix_of_local`], and whether the clocks skip or repeat that time.
    pub fn instant_of_local(&self, local: DateTime) -> Option<Instant> {
        if local.has_zero_part() {
            return None;
        }
        let as_utc = local.to_micros() - DAY_NUMBER_1970 * MICROS_PER_DAY;
        match self {
            Self::Offset(seconds) => Some(Instant {
                unix_micros: as_utc - i64::from(*seconds) * MICROS_PER_SECOND,
                is_skipped: false,
                is_repeated: false,
            }),
            Self::System => instant_in_zone(&jiff::tz::TimeZone::system(), local, as_utc),
            Self::Named(zone) => instant_in_zone(zone, local, as_utc),
        }
    }

    /// Local time on another zone's clock of the instant of a local time.
    pub fn convert(&self, local: DateTime, to: &Self) -> Option<DateTime> {
        to.local_of_unix(self.unix_of_local(local)?)
    }
}

/// Clock of a zone for many instants: it remembers the last interval between two changes of the
/// offset, so that instants near each other cost one addition each.
#[derive(Debug, Clone)]
pub struct ZoneClock {
    zone: TimeZone,
    /// Microseconds since 1970 between which `offset` holds.
    from: i64,
    until: i64,
    offset: i64,
}

impl ZoneClock {
    /// The clock of a zone.
    pub fn new(zone: &TimeZone) -> Self {
        let zone = match zone {
            TimeZone::System => TimeZone::Named(jiff::tz::TimeZone::system()),
            zone => zone.clone(),
        };
        let fixed = match &zone {
            TimeZone::Offset(seconds) => Some(i64::from(*seconds)),
            TimeZone::Named(zone) => only_offset(zone),
            TimeZone::System => None,
        };
        let (from, until) = match fixed {
            Some(_) => (i64::MIN, i64::MAX),
            None => (0, 0),
        };
        Self {
            zone,
            from,
            until,
            offset: fixed.unwrap_or(0) * MICROS_PER_SECOND,
        }
    }

    /// Whether local time is UTC at every instant.
    pub fn is_utc(&self) -> bool {
        self.offset == 0 && self.from == i64::MIN && self.until == i64::MAX
    }

    /// Whether the offset never changes, so that local times have the order of the instants.
    pub fn is_never_set(&self) -> bool {
        self.from == i64::MIN && self.until == i64::MAX
    }

    /// Local date and time of a packed date and time in UTC. Zero dates are unchanged.
    pub fn local_of_utc(&mut self, packed: i64) -> i64 {
        let utc = DateTime::unpack(packed);
        if utc.has_zero_part() {
            return packed;
        }
        let unix = utc.to_micros() - DAY_NUMBER_1970 * MICROS_PER_DAY;
        if !(self.from..self.until).contains(&unix) {
            self.find_offset(unix);
        }
        packed_of_unix(unix.saturating_add(self.offset)).unwrap_or(packed)
    }

    /// Packed date and time in UTC of a local one; see [`TimeZone::unix_of_local`] for times that
    /// the clock skips or repeats.
    pub fn utc_of_local(&mut self, packed: i64) -> i64 {
        let local = DateTime::unpack(packed);
        if local.has_zero_part() {
            return packed;
        }
        let unix = local.to_micros() - DAY_NUMBER_1970 * MICROS_PER_DAY - self.offset;
        // A day away from both changes, a local time has only one instant.
        let certain =
            self.from.saturating_add(MICROS_PER_DAY)..self.until.saturating_sub(MICROS_PER_DAY);
        let unix = if certain.contains(&unix) {
            Some(unix)
        } else {
            let unix = self.zone.unix_of_local(local);
            if let (Some(unix), TimeZone::Named(_)) = (unix, &self.zone) {
                self.find_offset(unix);
            }
            unix
        };
        unix.and_then(packed_of_unix).unwrap_or(packed)
    }

    fn find_offset(&mut self, unix: i64) {
        let TimeZone::Named(zone) = &self.zone else {
            return;
        };
        let seconds = unix.div_euclid(MICROS_PER_SECOND);
        self.offset = self.zone.offset_at(seconds) * MICROS_PER_SECOND;
        let after = |seconds: i64| jiff::Timestamp::from_second(seconds).ok();
        self.from = after(seconds + 1)
            .and_then(|next| zone.preceding(next).next())
            .map_or(i64::MIN, |change| change.timestamp().as_microsecond());
        self.until = after(seconds)
            .and_then(|now| zone.following(now).next())
            .map_or(i64::MAX, |change| change.timestamp().as_microsecond());
    }
}

fn packed_of_unix(unix_micros: i64) -> Option<i64> {
    let day = unix_micros.div_euclid(MICROS_PER_DAY) + DAY_NUMBER_1970;
    let date = date_of_day_number(day)?;
    Some(
        date.with_time_of_day(unix_micros.rem_euclid(MICROS_PER_DAY))
            .pack(),
    )
}

fn instant_in_zone(zone: &jiff::tz::TimeZone, local: DateTime, as_utc: i64) -> Option<Instant> {
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
    let offset = zone.to_ambiguous_timestamp(civil).offset();
    let (unix_micros, is_skipped) = match offset {
        AmbiguousOffset::Unambiguous { offset } => (less(offset), false),
        AmbiguousOffset::Fold { before, .. } => (less(before), false),
        AmbiguousOffset::Gap { before, after } => {
            let earliest = less(after).div_euclid(MICROS_PER_SECOND);
            let start = jiff::Timestamp::from_second(earliest - 1).ok()?;
            let instant = match zone.following(start).next() {
                // The fraction of the second stays.
                Some(transition) => {
                    transition.timestamp().as_microsecond() + i64::from(local.microsecond)
                }
                None => less(before),
            };
            (instant, true)
        }
    };
    Some(Instant {
        unix_micros,
        is_skipped,
        is_repeated: matches!(offset, AmbiguousOffset::Fold { .. }),
    })
}

/// The offset in seconds of a zone that never changes it: UTC has many names.
fn only_offset(zone: &jiff::tz::TimeZone) -> Option<i64> {
    let fixed = zone.to_fixed_offset().ok();
    let offset = fixed.or_else(|| {
        let is_never_set = zone.following(jiff::Timestamp::MIN).next().is_none();
        is_never_set.then(|| zone.to_offset(jiff::Timestamp::UNIX_EPOCH))
    });
    offset.map(|offset| i64::from(offset.seconds()))
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
