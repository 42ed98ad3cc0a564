//! FLOAT and DOUBLE to text: the fewest digits that give the same number back (six digits for a
//! FLOAT), with an exponent for whole numbers from 1e15 and for numbers below 1e-15.

use std::fmt::{self, Write};
use std::io;

use crate::decimal::text::append_i64;
use crate::sql_type::DECIMALS_NOT_FIXED;

/// The decimal exponent from which numbers are written with an exponent.
const EXPONENT_FROM: i32 = 15;

/// Appends a DOUBLE. `decimals` is the SQL type's: a fixed number of decimals, or none.
pub fn append_double(out: &mut Vec<u8>, value: f64, decimals: u8) {
    if decimals < DECIMALS_NOT_FIXED {
        return append_fixed(out, value, decimals);
    }
    if value == 0.0 {
        let zero: &[u8] = if value.is_sign_negative() {
            b"-0"
        } else {
            b"0"
        };
        return out.extend_from_slice(zero);
    }
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return append_i64(out, value as i64);
    }
    // In this range the crate's notation is MySQL's.
    if (1e-4..1e15).contains(&value.abs()) {
        let mut buffer = zmij::Buffer::new();
        out.extend_from_slice(buffer.format_finite(value).as_bytes());
        return;
    }
    append_number(out, zmij::Buffer::new().format_finite(value), false);
}

/// Appends a FLOAT.
pub(crate) fn append_float(out: &mut Vec<u8>, value: f64, decimals: u8) {
    if decimals < DECIMALS_NOT_FIXED {
        return append_fixed(out, value, decimals);
    }
    if value == 0.0 {
        return append_double(out, value, decimals);
    }
    let printed = Printed::of(format_args!("{:.5e}", value as f32));
    append_number(out, printed.as_str(), false);
}

/// Appends a FLOAT in the form of string values: with an exponent if it is longer than 12 characters.
pub(crate) fn append_short_float(out: &mut Vec<u8>, value: f64, decimals: u8) {
    const WIDTH: usize = 12;
    let start = out.len();
    append_float(out, value, decimals);
    let is_long = out.len() - start > WIDTH && !out[start..].contains(&b'e');
    if is_long && decimals >= DECIMALS_NOT_FIXED {
        let text = Printed::of(format_args!("{:.5e}", value as f32));
        out.truncate(start);
        append_without_zeros(out, text.as_str());
    }
}

/// Appends a number that is written with an exponent, without the zeros at the end of its mantissa.
fn append_without_zeros(out: &mut Vec<u8>, text: &str) {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    out.extend_from_slice(format!("{mantissa}e{exponent}").as_bytes());
}

/// Greatest number of characters of a computed DOUBLE as a string.
pub const DOUBLE_WIDTH: u32 = 22;

/// Greatest number of characters of a DOUBLE with all of its digits: `-1.2345678901234567e-300`.
pub const WHOLE_DOUBLE_WIDTH: u32 = 24;

/// Appends a DOUBLE as a string of at most `width` (at least 22) characters: with an exponent where it does not fit
/// otherwise, and with fewer digits where it still does not fit.
pub(crate) fn append_short_double(out: &mut Vec<u8>, value: f64, decimals: u8, width: usize) {
    let width = width.max(DOUBLE_WIDTH as usize);
    let start = out.len();
    append_double(out, value, decimals);
    if out.len() - start <= width || decimals < DECIMALS_NOT_FIXED || !value.is_finite() {
        return;
    }
    out.truncate(start);
    let whole = format!("{value:e}");
    if whole.len() <= width {
        out.extend_from_slice(whole.as_bytes());
        return;
    }
    let digits = whole.split_once('e').map_or(0, |(mantissa, _)| {
        mantissa.bytes().filter(u8::is_ascii_digit).count()
    });
    // One digit stands before the point.
    let kept = digits.saturating_sub(whole.len() - width + 1);
    append_without_zeros(out, &format!("{value:.kept$e}"));
}

/// Appends a DOUBLE in at most `width` characters: with an exponent where that shows more digits, and with
/// as many digits as there is room for. Tells whether not even the first one had room, or it is no number.
pub(super) fn append_within(out: &mut Vec<u8>, value: f64, width: usize) -> bool {
    if !value.is_finite() {
        out.push(b'0');
        return true;
    }
    let start = out.len();
    append_double(out, value, DECIMALS_NOT_FIXED);
    if out.len() - start <= width {
        return false;
    }
    out.truncate(start);
    let sign = if value < 0.0 { "-" } else { "" };
    let (text, is_cut) = shortened(value.abs(), width as i32 - sign.len() as i32);
    out.extend(sign.bytes().chain(text.bytes()).take(width));
    is_cut
}

/// The text of a positive number that has too many characters for `width`, as MySQL's `my_gcvt` makes it, and
/// whether digits before the point are missing.
fn shortened(value: f64, mut width: i32) -> (String, bool) {
    let (digits, point) = significant_digits(value, width);
    let count = digits.len() as i32;
    let with_point = match point {
        ..=0 => count - point + 2,
        _ if point < count => count + 1,
        _ => point,
    };
    let has_room = with_point <= width;
    let is_small = -EXPONENT_FROM < point;
    let is_plain = if has_room {
        is_small && (point <= EXPONENT_FROM || count > point)
    } else {
        point <= width && (-2..=EXPONENT_FROM).contains(&point)
    };
    let mut is_cut = false;
    if is_plain {
        width -= i32::from(point < count) + if point <= 0 { 1 - point } else { 0 };
        if width >= count {
            return (placed(&digits, point), false);
        }
        is_cut = width < point;
        let decimals = (width.max(point) - point) as usize;
        let text = format!("{value:.decimals$}");
        let text = if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.')
        } else {
            &text
        };
        return (text.to_owned(), is_cut);
    }
    let exponent = point - 1;
    let exponent_text = exponent.to_string();
    width -= 1 + exponent_text.len() as i32 + i32::from(count > 1);
    if width <= 0 {
        is_cut = true;
        width = 0;
    }
    let (digits, point) = if width < count {
        significant_digits(value, width)
    } else {
        (digits, point)
    };
    let (first, rest) = digits.split_at(1);
    let separator = if rest.is_empty() { "" } else { "." };
    (format!("{first}{separator}{rest}e{}", point - 1), is_cut)
}

/// The digits that tell a positive number from its neighbours, or `most` of them, and the place of the point:
/// `0.DIGITS × 10^place`.
fn significant_digits(value: f64, most: i32) -> (String, i32) {
    let parts = |text: String| {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = mantissa.replace('.', "");
        let digits = match digits.trim_end_matches('0') {
            "" => "0",
            digits => digits,
        };
        (digits.to_owned(), exponent.parse().unwrap_or(0) + 1)
    };
    let most = most.max(1) as usize;
    let (digits, point) = parts(format!("{value:e}"));
    if digits.len() > most {
        parts(format!("{value:.*e}", most - 1))
    } else {
        (digits, point)
    }
}

/// Digits with a point: `0.DIGITS × 10^point`.
fn placed(digits: &str, point: i32) -> String {
    match usize::try_from(point) {
        Ok(point) if point >= digits.len() => format!("{digits:0<point$}"),
        Ok(point) if point > 0 => {
            let (before, behind) = digits.split_at(point);
            format!("{before}.{behind}")
        }
        _ => {
            let width = digits.len() + point.unsigned_abs() as usize;
            format!("0.{digits:0>width$}")
        }
    }
}

/// Appends a number with `decimals` decimals. Digits beyond those that distinguish the double from its neighbours are
/// zeros: pi to 18 places is 3.141592653589793000.
fn append_fixed(out: &mut Vec<u8>, value: f64, decimals: u8) {
    let decimals = usize::from(decimals);
    let start = out.len();
    if value == 0.0 {
        append_double(out, value, DECIMALS_NOT_FIXED);
    } else {
        append_number(out, zmij::Buffer::new().format_finite(value), true);
    }
    let point = out[start..].iter().position(|byte| *byte == b'.');
    let fraction = point.map_or(0, |point| out.len() - start - point - 1);
    if fraction <= decimals {
        if point.is_none() && decimals > 0 {
            out.push(b'.');
        }
        out.resize(out.len() + decimals - fraction, b'0');
        return;
    }
    out.truncate(start);
    // Writing to memory does not fail.
    let _ = io::Write::write_fmt(out, format_args!("{value:.decimals$}"));
}

/// A number as Rust prints it, without an allocation.
struct Printed {
    text: [u8; 32],
    length: usize,
}

impl Printed {
    fn of(number: fmt::Arguments<'_>) -> Self {
        let mut printed = Self {
            text: [0; 32],
            length: 0,
        };
        // What does not fit is dropped; `-d.dddddddddddddddde-ddd` has 24 characters.
        let _ = printed.write_fmt(number);
        printed
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.text[..self.length]).unwrap_or_default()
    }
}

impl fmt::Write for Printed {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        let free = self.text.get_mut(self.length..end).ok_or(fmt::Error)?;
        free.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// Appends a number (not zero) that is written in any of the usual ways in MySQL's way or, if `plain`, without an
/// exponent.
fn append_number(out: &mut Vec<u8>, text: &str, plain: bool) {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let mantissa = match mantissa.strip_prefix('-') {
        Some(mantissa) => {
            out.push(b'-');
            mantissa
        }
        None => mantissa,
    };
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut buffer = [0; 40];
    let mut count = 0;
    for (slot, digit) in buffer
        .iter_mut()
        .zip(integer.bytes().chain(fraction.bytes()))
    {
        *slot = digit;
        count += 1;
    }
    let digits = &buffer[..count];
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    let kept = digits
        .iter()
        .rposition(|digit| *digit != b'0')
        .map_or(zeros, |at| at + 1);
    let digits = &digits[zeros..kept];
    // The power of ten of the first digit.
    let exponent = exponent.parse().unwrap_or(0_i32) + integer.len() as i32 - 1 - zeros as i32;
    let (first, rest) = digits.split_at(digits.len().min(1));
    // Of large numbers, only those without a fraction get an exponent.
    let is_whole = digits.len() as i32 <= exponent + 1;
    let is_extreme = exponent < -EXPONENT_FROM || (exponent >= EXPONENT_FROM && is_whole);
    if is_extreme && !plain {
        out.extend_from_slice(first);
        if !rest.is_empty() {
            out.push(b'.');
            out.extend_from_slice(rest);
        }
        out.push(b'e');
        append_i64(out, i64::from(exponent));
    } else if exponent < 0 {
        out.extend_from_slice(b"0.");
        out.resize(out.len() + (-exponent - 1) as usize, b'0');
        out.extend_from_slice(digits);
    } else {
        let before = exponent as usize + 1;
        if digits.len() <= before {
            out.extend_from_slice(digits);
            out.resize(out.len() + before - digits.len(), b'0');
        } else {
            out.extend_from_slice(&digits[..before]);
            out.push(b'.');
            out.extend_from_slice(&digits[before..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_doubles_fit_in_22_characters() {
        for (value, expected) in [
            (-1.7976931348623157e308, "-1.797693134862316e308"),
            (1.7976931348623157e-300, "1.797693134862316e-300"),
            (-1.7976931348623157e-300, "-1.79769313486232e-300"),
            (-1.2345678901234567e-5, "-1.2345678901234568e-5"),
            (-0.00012345678901234567, "-1.2345678901234567e-4"),
            (-0.0012345678901234567, "-0.0012345678901234567"),
            (-1.2345678901234567e100, "-1.234567890123457e100"),
            (-1e300, "-1e300"),
        ] {
            let mut out = Vec::new();
            append_short_double(&mut out, value, DECIMALS_NOT_FIXED, 22);
            assert_eq!(String::from_utf8_lossy(&out), expected);
        }
    }

    #[test]
    fn prints_as_mysql() {
        let double = |value: f64| {
            let mut out = Vec::new();
            append_double(&mut out, value, DECIMALS_NOT_FIXED);
            String::from_utf8(out).unwrap()
        };
        for (value, expected) in [
            (0.1, "0.1"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (1e14, "100000000000000"),
            (1e15, "1e15"),
            (1234567890123456.8, "1234567890123456.8"),
            (123456789012345678.0, "1.2345678901234568e17"),
            (1e-5, "0.00001"),
            (1e-15, "0.000000000000001"),
            (1e-16, "1e-16"),
            (1.7976931348623157e308, "1.7976931348623157e308"),
            (1.0 / 3.0, "0.3333333333333333"),
            (123456.789, "123456.789"),
        ] {
            assert_eq!(double(value), expected);
        }
        let float = |value: f32| {
            let mut out = Vec::new();
            append_float(&mut out, f64::from(value), DECIMALS_NOT_FIXED);
            String::from_utf8(out).unwrap()
        };
        for (value, expected) in [
            (1.1, "1.1"),
            (16777216.0, "16777200"),
            (0.1, "0.1"),
            (3.4e38, "3.4e38"),
            (123456.7, "123457"),
        ] {
            assert_eq!(float(value), expected);
        }
        let mut out = Vec::new();
        append_double(&mut out, 2.345, 2);
        assert_eq!(out, b"2.35");
        for (value, decimals, expected) in [
            (std::f64::consts::PI, 18, "3.141592653589793000"),
            (std::f64::consts::PI, 6, "3.141593"),
            (1.005, 2, "1.00"),
            (1e23, 1, "100000000000000000000000.0"),
            (-0.001, 2, "-0.00"),
            (0.0, 3, "0.000"),
            (5.0, 0, "5"),
        ] {
            let mut out = Vec::new();
            append_double(&mut out, value, decimals);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
        // Ties between the shortest texts go to the even digit.
        assert_eq!(double(23_757_076_287_409.0 / 32.0), "742408633981.5312");
        for step in 0..20_000_u64 {
            let value = f64::from_bits(step.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            if value.is_finite() {
                assert_eq!(double(value).parse(), Ok(value), "{value:e}");
            }
        }
    }
}
