//! Text to integers and doubles, as far as it is a number.

use crate::decimal::convert::i128_to_f64;
pub use crate::decimal::plain::plain_number;
use crate::decimal::plain::spaces;

/// A number that text starts with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parsed<T> {
    /// The number; 0 when there is none.
    pub value: T,
    /// How many bytes were read, spaces at both ends included; 0 when there is no number.
    pub consumed: usize,
    /// Whether the number does not fit; `value` is then the nearest that does.
    pub overflow: bool,
}

impl<T> Parsed<T> {
    fn fitting(value: T, consumed: usize) -> Self {
        Self {
            value,
            consumed,
            overflow: false,
        }
    }
}

/// The integer that a text starts with.
pub fn parse_integer(text: &[u8]) -> Parsed<i128> {
    if let Some((value, 0)) = plain_number(text)
        && text.last() != Some(&b'.')
    {
        return Parsed::fitting(i128::from(value), text.len());
    }
    let mut at = spaces(text);
    let negative = text.get(at) == Some(&b'-');
    at += usize::from(matches!(text.get(at), Some(b'-' | b'+')));
    let start = at;
    let mut value = 0_i128;
    while let Some(byte @ b'0'..=b'9') = text.get(at) {
        value = value
            .saturating_mul(10)
            .saturating_add(i128::from(byte - b'0'));
        at += 1;
    }
    if at == start {
        return Parsed::fitting(0, 0);
    }
    at += spaces(&text[at..]);
    let value = if negative { -value } else { value };
    let clamped = value.clamp(i128::from(i64::MIN), i128::from(u64::MAX));
    Parsed {
        value: clamped,
        consumed: at,
        overflow: clamped != value,
    }
}

/// The double that a text starts with.
pub fn parse_double(text: &[u8]) -> Parsed<f64> {
    // Digits and power of ten are exact doubles, so that their quotient is the nearest one.
    if let Some((digits, scale)) = plain_number(text)
        && digits.unsigned_abs() <= 1 << 53
        && !text.starts_with(b"-0")
    {
        return Parsed::fitting(i128_to_f64(i128::from(digits), scale), text.len());
    }
    let start = spaces(text);
    let mut at = start + usize::from(matches!(text.get(start), Some(b'-' | b'+')));
    let digits = |at: usize| {
        let rest = text.get(at..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let integer = digits(at);
    at += integer;
    let mut fraction = 0;
    if text.get(at) == Some(&b'.') {
        fraction = digits(at + 1);
        if integer + fraction > 0 {
            at += 1 + fraction;
        }
    }
    if integer + fraction == 0 {
        return Parsed::fitting(0.0, 0);
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'-' | b'+')));
        let exponent = digits(at + 1 + sign);
        if exponent > 0 {
            at += 1 + sign + exponent;
        }
    }
    let value: f64 = std::str::from_utf8(&text[start..at])
        .ok()
        .and_then(|number| number.parse().ok())
        .unwrap_or(0.0);
    let clamped = value.clamp(f64::MIN, f64::MAX);
    at += spaces(&text[at..]);
    Parsed {
        value: clamped,
        consumed: at,
        overflow: clamped != value,
    }
}

/// A double rounded to the nearest integer, halves to the even one.
pub(crate) fn round_half_even(value: f64) -> f64 {
    value.round_ties_even()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes() {
        for (text, value, consumed) in [
            ("12", 12.0, 2),
            (" -1.5e2 ", -150.0, 8),
            ("1e", 1.0, 1),
            ("1e+", 1.0, 1),
            (".5x", 0.5, 2),
            ("5.", 5.0, 2),
            (".", 0.0, 0),
            ("abc", 0.0, 0),
            ("", 0.0, 0),
            ("inf", 0.0, 0),
        ] {
            let parsed = parse_double(text.as_bytes());
            assert_eq!((parsed.value, parsed.consumed), (value, consumed), "{text}");
        }
        assert!(parse_double(b"1e400").overflow);
        for (text, expected) in [
            ("12", Some((12, 0))),
            ("-1.50", Some((-150, 2))),
            ("+.5", Some((5, 1))),
            ("5.", Some((5, 0))),
            ("123456789012345678", Some((123_456_789_012_345_678, 0))),
            ("1234567890123456789", None),
            ("1.2.3", None),
            ("-", None),
            (".", None),
            ("1e1", None),
            (" 1", None),
        ] {
            assert_eq!(plain_number(text.as_bytes()), expected, "{text}");
        }
        assert!(parse_double(b"-0").value.is_sign_negative());
        assert_eq!(parse_integer(b"5.").consumed, 1);
        let integer = parse_integer(b" -12x");
        assert_eq!((integer.value, integer.consumed), (-12, 4));
        assert!(parse_integer(b"99999999999999999999").overflow);
        assert_eq!(
            parse_integer(b"18446744073709551615").value,
            i128::from(u64::MAX)
        );
    }
}
