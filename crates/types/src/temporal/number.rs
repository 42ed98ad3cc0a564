//! Temporal values as numbers: 20240131, 20240131235959, 235959, and back.

use super::{DateRules, DateTime, MICROS_PER_SECOND, TIME_MAX_MICROS, TemporalError};

/// The first year of two digits that belongs to the last century.
const CENTURY_PIVOT: i64 = 70;

/// Reads a number as a date or a date and time; the flag says whether it was a mere date.
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
pub const fn date_to_number(packed: i64) -> i64 {
    let value = DateTime::unpack(packed);
    (value.year as i64 * 100 + value.month as i64) * 100 + value.day as i64
}

/// 20240131235959, without the fraction.
pub const fn datetime_to_number(packed: i64) -> i64 {
    let value = DateTime::unpack(packed);
    date_to_number(packed) * 1_000_000
        + (value.hour as i64 * 100 + value.minute as i64) * 100
        + value.second as i64
}

/// 20240131235959 with six more digits for the microseconds.
pub const fn datetime_to_micro_number(packed: i64) -> i128 {
    datetime_to_number(packed) as i128 * 1_000_000 + (packed & 0xF_FFFF) as i128
}

/// 235959, without the fraction; negative for a negative TIME.
pub const fn time_to_number(micros: i64) -> i64 {
    time_to_micro_number(micros) / 1_000_000
}

/// 235959 with six more digits for the microseconds; negative for a negative TIME.
pub const fn time_to_micro_number(micros: i64) -> i64 {
    let absolute = micros.abs();
    let seconds = absolute / MICROS_PER_SECOND;
    let number = ((seconds / 3600) * 100 + seconds / 60 % 60) * 100 + seconds % 60;
    let number = number * 1_000_000 + absolute % MICROS_PER_SECOND;
    if micros < 0 { -number } else { number }
}
