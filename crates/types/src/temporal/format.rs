//! Temporal values to text.

use super::{DateTime, MICROS_PER_SECOND};

fn two(out: &mut Vec<u8>, value: u8) {
    out.extend_from_slice(&[b'0' + value / 10 % 10, b'0' + value % 10]);
}

/// `.` and `digits` of the microseconds; nothing for 0 digits.
fn fraction(out: &mut Vec<u8>, microsecond: u32, digits: u8) {
    if digits == 0 {
        return;
    }
    let mut text = [b'.', 0, 0, 0, 0, 0, 0];
    let mut rest = microsecond;
    for place in text[1..].iter_mut().rev() {
        *place = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(&text[..=usize::from(digits.min(6))]);
}

/// Appends `YYYY-MM-DD` of a packed value.
pub fn append_date(out: &mut Vec<u8>, packed: i64) {
    let value = DateTime::unpack(packed);
    two(out, (value.year / 100) as u8);
    two(out, (value.year % 100) as u8);
    out.push(b'-');
    two(out, value.month);
    out.push(b'-');
    two(out, value.day);
}

/// Appends `YYYY-MM-DD hh:mm:ss` and `digits` fractional digits of a packed value.
pub fn append_datetime(out: &mut Vec<u8>, packed: i64, digits: u8) {
    append_date(out, packed);
    let value = DateTime::unpack(packed);
    out.push(b' ');
    two(out, value.hour);
    out.push(b':');
    two(out, value.minute);
    out.push(b':');
    two(out, value.second);
    fraction(out, value.microsecond, digits);
}

/// Appends `[-]hh:mm:ss` and `digits` fractional digits of a TIME; hours have two digits or three.
pub fn append_time(out: &mut Vec<u8>, micros: i64, digits: u8) {
    if micros < 0 {
        out.push(b'-');
    }
    let micros = micros.unsigned_abs();
    let seconds = micros / MICROS_PER_SECOND as u64;
    let hours = seconds / 3600;
    if hours >= 100 {
        out.push(b'0' + (hours / 100 % 10) as u8);
    }
    two(out, (hours % 100) as u8);
    out.push(b':');
    two(out, (seconds / 60 % 60) as u8);
    out.push(b':');
    two(out, (seconds % 60) as u8);
    fraction(out, (micros % MICROS_PER_SECOND as u64) as u32, digits);
}
