//! FLOAT and DOUBLE to text: the fewest digits that give the same number back (six digits for a
//! FLOAT), with an exponent from 1e15 and below 1e-15.

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
        return crate::decimal::text::append_i128(out, value as i128, 0);
    }
    append_scientific(out, &format!("{value:e}"));
}

/// Appends a FLOAT.
pub fn append_float(out: &mut Vec<u8>, value: f64, decimals: u8) {
    if decimals < DECIMALS_NOT_FIXED {
        return append_fixed(out, value, decimals);
    }
    if value == 0.0 {
        return append_double(out, value, decimals);
    }
    append_scientific(out, &format!("{:.5e}", value as f32));
}

/// Appends a FLOAT as a string value has it: with an exponent if it is longer than 12 characters.
pub fn append_short_float(out: &mut Vec<u8>, value: f64, decimals: u8) {
    const WIDTH: usize = 12;
    let start = out.len();
    append_float(out, value, decimals);
    let is_long = out.len() - start > WIDTH && !out[start..].contains(&b'e');
    if is_long && decimals >= DECIMALS_NOT_FIXED {
        let text = format!("{:.5e}", value as f32);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        out.truncate(start);
        let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
        out.extend_from_slice(format!("{mantissa}e{exponent}").as_bytes());
    }
}

fn append_fixed(out: &mut Vec<u8>, value: f64, decimals: u8) {
    out.extend_from_slice(format!("{value:.*}", usize::from(decimals)).as_bytes());
}

/// Appends `d.ddde±x` in MySQL's form.
fn append_scientific(out: &mut Vec<u8>, text: &str) {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(mantissa) => ("-", mantissa),
        None => ("", mantissa),
    };
    let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    let kept = digits.iter().rposition(|digit| *digit != b'0').unwrap_or(0) + 1;
    let digits = &digits[..kept];
    out.extend_from_slice(sign.as_bytes());
    if !(-EXPONENT_FROM..EXPONENT_FROM).contains(&exponent) {
        out.push(digits[0]);
        if digits.len() > 1 {
            out.push(b'.');
            out.extend_from_slice(&digits[1..]);
        }
        out.push(b'e');
        out.extend_from_slice(exponent.to_string().as_bytes());
        return;
    }
    if exponent < 0 {
        out.extend_from_slice(b"0.");
        out.resize(out.len() + (-exponent - 1) as usize, b'0');
        out.extend_from_slice(digits);
        return;
    }
    let integer = exponent as usize + 1;
    if digits.len() <= integer {
        out.extend_from_slice(digits);
        out.resize(out.len() + integer - digits.len(), b'0');
    } else {
        out.extend_from_slice(&digits[..integer]);
        out.push(b'.');
        out.extend_from_slice(&digits[integer..]);
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
    }
}
