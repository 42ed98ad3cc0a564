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

/// Writes two digits.
fn put(text: &mut [u8], at: usize, value: u8) {
    text[at] = b'0' + value / 10 % 10;
    text[at + 1] = b'0' + value % 10;
}

fn put_date(text: &mut [u8], value: DateTime) {
    put(text, 0, (value.year / 100) as u8);
    put(text, 2, (value.year % 100) as u8);
    put(text, 5, value.month);
    put(text, 8, value.day);
}

/// Appends `YYYY-MM-DD` of a packed value.
pub fn append_date(out: &mut Vec<u8>, packed: i64) {
    let mut text = *b"0000-00-00";
    put_date(&mut text, DateTime::unpack(packed));
    out.extend_from_slice(&text);
}

/// Appends `YYYY-MM-DD hh:mm:ss` and `digits` fractional digits of a packed value.
pub fn append_datetime(out: &mut Vec<u8>, packed: i64, digits: u8) {
    let value = DateTime::unpack(packed);
    let mut text = *b"0000-00-00 00:00:00";
    put_date(&mut text, value);
    put(&mut text, 11, value.hour);
    put(&mut text, 14, value.minute);
    put(&mut text, 17, value.second);
    out.extend_from_slice(&text);
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
