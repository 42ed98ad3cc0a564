//! Temporal values as numbers: 20240131, 20240131235959, 235959, and back.

use super::{DateRules, DateTime, MICROS_PER_SECOND, TIME_MAX_MICROS, TemporalError};
use crate::decimal::Decimal;

/// The first year of two digits that belongs to the last century.
const CENTURY_PIVOT: i64 = 70;

/// Parts of a number that is read as a date or time.
#[derive(Debug, Clone, Copy)]
pub struct NumberParts {
    /// The digits before the point.
    pub whole: i64,
    /// Whether the number is below zero, also where there are only zeros before the point.
    pub is_negative: bool,
    /// The first six digits behind the point.
    pub micros: u32,
    /// Whether the digits after those round the microseconds up by one.
    pub rounds_up: bool,
}

impl NumberParts {
    /// The parts of an exact number. `truncates`: digits after the sixth are cut off.
    pub fn of_decimal(value: Decimal, truncates: bool) -> Option<Self> {
        let whole = value.truncate(0);
        let fraction = value.subtract(whole).ok()?.abs();
        let micros = fraction.truncate(6).rescale(6).ok()?.unscaled.as_i128();
        let rounded = fraction.rescale(6).ok()?.unscaled.as_i128();
        Some(Self {
            whole: whole.to_i64().ok()?,
            is_negative: value.is_negative(),
            micros: u32::try_from(micros).ok()?,
            rounds_up: rounded > micros && !truncates,
        })
    }

    /// The date of the number, and whether it had no time of day.
    pub fn datetime(self, rules: DateRules) -> Result<(DateTime, bool), TemporalError> {
        if self.is_negative {
            return Err(TemporalError::OutOfRange);
        }
        let (value, is_date) = datetime_from_number(self.whole, self.micros, rules)?;
        let value = match (is_date, self.rounds_up) {
            // A date has no fraction.
            (true, _) => value.at_midnight(),
            (false, true) => value.add_micros(1).ok_or(TemporalError::OutOfRange)?,
            (false, false) => value,
        };
        Ok((value, is_date))
    }

    /// The time of the number in microseconds, and whether it was clamped.
    pub fn time(self) -> Result<(i64, bool), TemporalError> {
        let (micros, is_cut) = time_from_number(self.whole, self.micros)?;
        let more = i64::from(self.rounds_up && !is_cut);
        let micros = if self.whole == 0 && self.is_negative {
            -micros
        } else {
            micros
        };
        let rounded = if micros < 0 || self.is_negative && micros == 0 {
            micros - more
        } else {
            micros + more
        };
        let clamped = rounded.clamp(-TIME_MAX_MICROS, TIME_MAX_MICROS);
        Ok((clamped, is_cut || clamped != rounded))
    }
}

/// Reads a number as a date or a date and time; the flag says whether it had no time of day.
pub fn datetime_from_number(
    number: i64,
    microsecond: u32,
    rules: DateRules,
) -> Result<(DateTime, bool), TemporalError> {
    const TIME: i64 = 1_000_000;
    let (number, is_date) = match number {
        0 => (0, false),
        10_000_101_000_000.. => (number, false),
        ..101 => return Err(TemporalError::OutOfRange),
        _ if number <= (CENTURY_PIVOT - 1) * 10_000 + 1231 => ((number + 20_000_000) * TIME, true),
        _ if number < CENTURY_PIVOT * 10_000 + 101 => return Err(TemporalError::OutOfRange),
        _ if number <= 991_231 => ((number + 19_000_000) * TIME, true),
        _ if number <= 99_991_231 => (number * TIME, true),
        _ if number < 101_000_000 => return Err(TemporalError::OutOfRange),
        _ if number <= (CENTURY_PIVOT - 1) * 10_000_000_000 + 1_231_235_959 => {
            (number + 20_000_000_000_000, false)
        }
        _ if number < CENTURY_PIVOT * 10_000_000_000 + 101_000_000 => {
            return Err(TemporalError::OutOfRange);
        }
        _ if number <= 991_231_235_959 => (number + 19_000_000_000_000, false),
        _ => (number, false),
    };
    let (date, time) = (number / TIME, number % TIME);
    let year = u16::try_from(date / 10_000).map_err(|_| TemporalError::OutOfRange)?;
    let value = DateTime {
        year,
        month: (date / 100 % 100) as u8,
        day: (date % 100) as u8,
        hour: (time / 10_000) as u8,
        minute: (time / 100 % 100) as u8,
        second: (time % 100) as u8,
        microsecond,
    };
    value.check(rules)?;
    Ok((value, is_date))
}

/// Reads a number as a TIME: hhmmss. Larger numbers are read as a date and time, of which the
/// time of day remains. `Ok((micros, out_of_range))`: the flag says that the value was clamped.
pub fn time_from_number(number: i64, microsecond: u32) -> Result<(i64, bool), TemporalError> {
    const LARGEST: i64 = 8_385_959;
    if number > LARGEST {
        if number >= 10_000_000_000
            && let Ok((value, _)) = datetime_from_number(number, microsecond, DateRules::default())
        {
            return Ok((value.time_of_day(), false));
        }
        return Ok((TIME_MAX_MICROS, true));
    }
    if number < -LARGEST {
        return Ok((-TIME_MAX_MICROS, true));
    }
    let digits = number.abs();
    let (hours, minutes, seconds) = (digits / 10_000, digits / 100 % 100, digits % 100);
    if minutes > 59 || seconds > 59 {
        return Err(TemporalError::OutOfRange);
    }
    let micros =
        ((hours * 60 + minutes) * 60 + seconds) * MICROS_PER_SECOND + i64::from(microsecond);
    let clamped = micros.min(TIME_MAX_MICROS);
    let signed = if number < 0 { -clamped } else { clamped };
    Ok((signed, clamped != micros))
}

/// 20240131
pub(crate) const fn date_to_number(packed: i64) -> i64 {
    let value = DateTime::unpack(packed);
    (value.year as i64 * 100 + value.month as i64) * 100 + value.day as i64
}

/// 20240131235959, without the fraction.
pub(crate) const fn datetime_to_number(packed: i64) -> i64 {
    let value = DateTime::unpack(packed);
    date_to_number(packed) * 1_000_000
        + (value.hour as i64 * 100 + value.minute as i64) * 100
        + value.second as i64
}

/// 20240131235959 with six more digits for the microseconds.
pub(crate) const fn datetime_to_micro_number(packed: i64) -> i128 {
    datetime_to_number(packed) as i128 * 1_000_000 + (packed & 0xF_FFFF) as i128
}

/// 235959, without the fraction; negative for a negative TIME.
pub const fn time_to_number(micros: i64) -> i64 {
    time_to_micro_number(micros) / 1_000_000
}

/// 235959 with six more digits for the microseconds; negative for a negative TIME.
pub(crate) const fn time_to_micro_number(micros: i64) -> i64 {
    let absolute = micros.abs();
    let seconds = absolute / MICROS_PER_SECOND;
    let number = ((seconds / 3600) * 100 + seconds / 60 % 60) * 100 + seconds % 60;
    let number = number * 1_000_000 + absolute % MICROS_PER_SECOND;
    if micros < 0 { -number } else { number }
}
