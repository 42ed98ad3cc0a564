//! Values of cells.
//!
//! Excel counts days from 1900 on, where the day 60 is a 29 February that was none (it is read as the 28th), or from 1904 on.
//! A number below 1 in the format of a date is a time of day. What has the format `[h]:mm` is an interval, in days too. Times
//! are exact to the millisecond, as Excel shows them. OpenDocument has dates and intervals as texts (ISO 8601).

use calamine::{Data, DataRef, ExcelDateTime, ExcelDateTimeType};
use mayfly_engine::{DateTime, SqlType, TypeKind, Value, format_value};

/// The value of a cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Number(f64),
    Text(Box<str>),
    Bool(bool),
    /// A date with a time, packed.
    Point(i64),
    /// An interval or a time of day in microseconds.
    Time(i64),
    /// An error, as Excel shows it, or a date that there is not.
    Error(Box<str>),
}

/// Greatest TIME in microseconds.
const TIME_MAX: i64 = (838 * 3600 + 59 * 60 + 59) * 1_000_000;

const DAY_MILLIS: i64 = 86_400_000;

impl Cell {
    /// A cell of a sheet of Excel; `None` for an empty one.
    pub(super) fn of_ref(value: DataRef<'_>) -> Option<Self> {
        match value {
            DataRef::SharedString(text) => Some(Self::Text(text.into())),
            other => Self::of(other.into()),
        }
    }

    /// A cell; `None` for an empty one.
    pub(super) fn of(value: Data) -> Option<Self> {
        Some(match value {
            Data::Empty => return None,
            Data::Int(number) => Self::Number(number as f64),
            Data::Float(number) if number.is_finite() => Self::Number(number),
            Data::Float(_) => Self::Error("#NUM!".into()),
            Data::String(text) => Self::Text(text.into()),
            Data::Bool(value) => Self::Bool(value),
            Data::DateTime(serial) => Self::of_serial(serial),
            Data::DateTimeIso(text) => match point(&text) {
                Some(packed) => Self::Point(packed),
                None => Self::Text(text.into()),
            },
            Data::DurationIso(text) => match interval(&text) {
                Some(micros) => Self::Time(micros),
                None => Self::Text(text.into()),
            },
            Data::Error(error) => Self::Error(error.to_string().into()),
        })
    }

    fn of_serial(serial: ExcelDateTime) -> Self {
        let days = serial.as_f64();
        let shown = || Self::Error(format!("the date {days:?}").into());
        let millis = (days * DAY_MILLIS as f64).round();
        if millis.is_nan() || millis.abs() >= 1e18 {
            return shown();
        }
        let millis = millis as i64;
        let is_time = serial.is_duration() || (0..DAY_MILLIS).contains(&millis);
        if is_time && (millis * 1000).abs() <= TIME_MAX {
            return Self::Time(millis * 1000);
        }
        if serial.is_duration() {
            let (hours, rest) = (millis.abs() / 3_600_000, millis.abs() % 3_600_000);
            let sign = if millis < 0 { "-" } else { "" };
            let (minutes, seconds) = (rest / 60_000, rest / 1000 % 60);
            return Self::Text(format!("{sign}{hours}:{minutes:02}:{seconds:02}").into());
        }
        if millis < 0 {
            return shown();
        }
        let millis = match has_epoch_1904(serial) {
            true => millis + 1462 * DAY_MILLIS,
            false => millis,
        };
        // Days up to 59 are one more than they seem, because Excel has a 29 February 1900.
        let millis = match millis < 60 * DAY_MILLIS {
            true => millis + DAY_MILLIS,
            false => millis,
        };
        let epoch = i128::from(DateTime::date(1899, 12, 30).to_micros());
        match DateTime::from_micros(epoch + i128::from(millis) * 1000) {
            Some(point) if point.year <= 9999 => Self::Point(point.pack()),
            _ => shown(),
        }
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }

    /// The text that shows the value; of points as dates if a type of such is given.
    pub(super) fn to_text(&self, ty: Option<&SqlType>) -> String {
        match self {
            Self::Text(text) | Self::Error(text) => text.to_string(),
            Self::Bool(true) => "TRUE".to_owned(),
            Self::Bool(false) => "FALSE".to_owned(),
            Self::Number(number) => format!("{number}"),
            Self::Point(packed) => {
                let own = match is_date(*packed) {
                    true => SqlType::temporal(TypeKind::Date, 0),
                    false => SqlType::temporal(TypeKind::DateTime, fraction(self)),
                };
                shown(*packed, ty.unwrap_or(&own))
            }
            Self::Time(micros) => {
                shown(*micros, &SqlType::temporal(TypeKind::Time, fraction(self)))
            }
        }
    }

    /// Bytes beside the cell itself.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::Error(text) => text.len(),
            _ => 0,
        }
    }
}

/// The digits of a second's fraction that a time needs: none, three or six.
pub(super) fn fraction(cell: &Cell) -> u8 {
    let micros = match cell {
        Cell::Time(micros) => micros.rem_euclid(1_000_000),
        Cell::Point(packed) => i64::from(DateTime::unpack(*packed).microsecond),
        _ => 0,
    };
    match micros {
        0 => 0,
        _ if micros % 1000 == 0 => 3,
        _ => 6,
    }
}

fn shown(number: i64, ty: &SqlType) -> String {
    let text = format_value(&Value::Int(number), ty).unwrap_or_default();
    String::from_utf8_lossy(&text).into_owned()
}

/// Whether a serial of a date counts from 1904 on.
fn has_epoch_1904(serial: ExcelDateTime) -> bool {
    serial == ExcelDateTime::new(serial.as_f64(), ExcelDateTimeType::DateTime, true)
}

/// Whether a packed date and time is the begin of a day.
pub(super) fn is_date(packed: i64) -> bool {
    let value = DateTime::unpack(packed);
    (value.hour, value.minute, value.second, value.microsecond) == (0, 0, 0, 0)
}

/// The packed date and time of an ISO text: `2026-01-31`, `2026-01-31T12:30:00.5`.
fn point(text: &str) -> Option<i64> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (date, time) = match text.split_once(['T', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let is_long = year.len() == 4 && month.len() == 2 && day.len() == 2;
    if parts.next().is_some() || !is_long {
        return None;
    }
    let date = DateTime::date(
        u16::try_from(digits(year)?).ok()?,
        u8::try_from(digits(month)?).ok()?,
        u8::try_from(digits(day)?).ok()?,
    );
    let micros = date.to_micros();
    // A day that the month does not have would be another one.
    if date.has_zero_part() || DateTime::from_micros(micros.into()) != Some(date) {
        return None;
    }
    let Some(time) = time else {
        return Some(date.pack());
    };
    let mut parts = time.splitn(3, ':');
    let (hours, minutes) = (digits(parts.next()?)?, digits(parts.next()?)?);
    let seconds = seconds(parts.next().unwrap_or("0"))?;
    if hours > 23 || minutes > 59 || seconds >= 60_000_000 {
        return None;
    }
    let micros = micros + (hours * 3600 + minutes * 60) * 1_000_000 + seconds;
    DateTime::from_micros(micros.into()).map(DateTime::pack)
}

/// The microseconds of an ISO interval: `PT30H15M0.5S`, `-P1DT2H`.
fn interval(text: &str) -> Option<i64> {
    let (is_negative, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text),
    };
    let mut rest = text.strip_prefix('P')?;
    let (mut micros, mut in_time, mut has_part) = (0_i64, false, false);
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix('T') {
            (rest, in_time) = (behind, true);
            continue;
        }
        let end = rest.find(|it: char| it.is_ascii_alphabetic())?;
        let (number, unit) = (&rest[..end], rest.as_bytes()[end]);
        let part = match (unit, in_time) {
            (b'D', false) => digits(number)?.checked_mul(86_400_000_000)?,
            (b'H', true) => digits(number)?.checked_mul(3_600_000_000)?,
            (b'M', true) => digits(number)?.checked_mul(60_000_000)?,
            (b'S', true) => seconds(number)?,
            _ => return None,
        };
        micros = micros.checked_add(part)?;
        (rest, has_part) = (&rest[end + 1..], true);
    }
    let micros = if is_negative { -micros } else { micros };
    (has_part && micros.abs() <= TIME_MAX).then_some(micros)
}

fn digits(text: &str) -> Option<i64> {
    let is_number = !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// The microseconds of seconds with a fraction; further digits are cut.
fn seconds(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once(['.', ',']).unwrap_or((text, ""));
    let mut micros = digits(whole)?.checked_mul(1_000_000)?;
    let mut unit = 100_000;
    for digit in fraction.bytes() {
        micros += i64::from(digit.is_ascii_digit().then(|| digit - b'0')?) * unit;
        unit /= 10;
    }
    Some(micros)
}

#[cfg(test)]
mod tests {
    use calamine::ExcelDateTimeType::{DateTime as Date, TimeDelta};

    use super::*;

    #[test]
    fn serials() {
        for (days, kind, is_1904, text) in [
            (0.5, Date, false, "12:00:00"),
            (1.0, Date, false, "1900-01-01"),
            (59.0, Date, false, "1900-02-28"),
            (60.0, Date, false, "1900-02-28"),
            (61.0, Date, false, "1900-03-01"),
            (45_943.541, Date, false, "2025-10-13 12:59:02.400"),
            (44_481.541, Date, true, "2025-10-13 12:59:02.400"),
            (1.0, Date, true, "1904-01-02"),
            (0.25, Date, true, "06:00:00"),
            (0.999_999_999, Date, false, "1900-01-01"),
            (2_958_465.0, Date, false, "9999-12-31"),
            (2_958_466.0, Date, false, "the date 2958466.0"),
            (-1.0, Date, false, "the date -1.0"),
            (f64::NAN, Date, false, "the date NaN"),
            (1e300, TimeDelta, false, "the date 1e300"),
            (30.25 / 24.0, TimeDelta, false, "30:15:00"),
            (-1.5 / 24.0, TimeDelta, false, "-01:30:00"),
            (50.0, TimeDelta, true, "1200:00:00"),
        ] {
            let cell = Cell::of(Data::DateTime(ExcelDateTime::new(days, kind, is_1904)));
            let shown = cell.expect("has a value").to_text(None);
            assert_eq!(shown, text, "{days}");
        }
    }

    #[test]
    fn iso_texts() {
        let text = |data| Cell::of(data).expect("has a value").to_text(None);
        for (iso, shown) in [
            ("2026-01-31", "2026-01-31"),
            ("2026-01-31T00:00:00", "2026-01-31"),
            ("2026-01-31T12:30:00.5", "2026-01-31 12:30:00.500"),
            ("2026-02-31", "2026-02-31"),
            ("-0044-03-15", "-0044-03-15"),
        ] {
            assert_eq!(text(Data::DateTimeIso(iso.to_owned())), shown, "{iso}");
        }
        for (iso, shown) in [
            ("PT30H15M00S", "30:15:00"),
            ("-PT1H0M0.25S", "-01:00:00.250"),
            ("P1DT1H", "25:00:00"),
            ("PT900H", "PT900H"),
            ("P1Y", "P1Y"),
            ("P", "P"),
            ("PT", "PT"),
        ] {
            assert_eq!(text(Data::DurationIso(iso.to_owned())), shown, "{iso}");
        }
    }
}
