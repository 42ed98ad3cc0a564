//! FLOAT and DOUBLE to text: the fewest digits that give the same number back (six digits for a
//! FLOAT), with an exponent from 1e15 and below 1e-15.

use std::fmt::{self, Write};
use std::io;

use crate::decimal::text::append_i64;
use crate::sql_type::DECIMALS_NOT_FIXED;

/// The decimal exponent from which on numbers are written with an exponent.
const EXPONENT_FROM: i32 = 15;

/// Appends a DOUBLE. `decimals` is that of the SQL type: a fixed number of them or none.
pub fn append_double(out: &mut Vec<u8>, value: f64, decimals: u8) {
    if decimals < DECIMALS_NOT_FIXED {
        return append_fixed(out, value, decimals);
    }
    if value == 0.0 {
        out.extend_from_slice(if value.is_sign_negative() {
            b"-0"
        } else {
            b"0"
        });
        return;
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
    append_scientific(out, &Printed::of(format_args!("{value:e}")));
}

/// Appends a FLOAT.
pub fn append_float(out: &mut Vec<u8>, value: f64, decimals: u8) {
    if decimals < DECIMALS_NOT_FIXED {
        return append_fixed(out, value, decimals);
    }
    if value == 0.0 {
        return append_double(out, value, decimals);
    }
    append_scientific(out, &Printed::of(format_args!("{:.5e}", value as f32)));
}

/// Appends a FLOAT as a string value has it: with an exponent if it is longer than 12 characters.
pub fn append_short_float(out: &mut Vec<u8>, value: f64, decimals: u8) {
    const WIDTH: usize = 12;
    let start = out.len();
    append_float(out, value, decimals);
    let is_long = out.len() - start > WIDTH && !out[start..].contains(&b'e');
    if is_long && decimals >= DECIMALS_NOT_FIXED {
        let text = Printed::of(format_args!("{:.5e}", value as f32));
        let text = text.as_str();
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        out.truncate(start);
        let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
        out.extend_from_slice(format!("{mantissa}e{exponent}").as_bytes());
    }
}

fn append_fixed(out: &mut Vec<u8>, value: f64, decimals: u8) {
    // Writing to memory does not fail.
    let _ = io::Write::write_fmt(out, format_args!("{value:.*}", usize::from(decimals)));
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
        let place = self.text.get_mut(self.length..end).ok_or(fmt::Error)?;
        place.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// Appends `d.ddde±x` in MySQL's form.
fn append_scientific(out: &mut Vec<u8>, number: &Printed) {
    let text = number.as_str();
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mantissa = match mantissa.strip_prefix('-') {
        Some(mantissa) => {
            out.push(b'-');
            mantissa.as_bytes()
        }
        None => mantissa.as_bytes(),
    };
    // The digit before the point, and those behind it without zeros at the end.
    let first = &mantissa[..mantissa.len().min(1)];
    let rest = mantissa.get(2..).unwrap_or_default();
    let kept = rest
        .iter()
        .rposition(|digit| *digit != b'0')
        .map_or(0, |at| at + 1);
    let rest = &rest[..kept];
    if !(-EXPONENT_FROM..EXPONENT_FROM).contains(&exponent) {
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
        out.extend_from_slice(first);
        out.extend_from_slice(rest);
    } else {
        let before = exponent as usize;
        out.extend_from_slice(first);
        if rest.len() <= before {
            out.extend_from_slice(rest);
            out.resize(out.len() + before - rest.len(), b'0');
        } else {
            out.extend_from_slice(&rest[..before]);
            out.push(b'.');
            out.extend_from_slice(&rest[before..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for step in 0..20_000_u64 {
            let bits =
                0x3F10_0000_0000_0000 + step.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (55 << 52);
            let value = f64::from_bits(bits);
            let mut expected = Vec::new();
            append_scientific(&mut expected, &Printed::of(format_args!("{value:e}")));
            assert_eq!(double(value).as_bytes(), expected, "{value:e}");
        }
    }
}
