//! DECIMAL from and to text.

use std::fmt;

use arrow_buffer::i256;

use super::native::{digits_i256, pow10_i256, rescale_i256};
use super::plain::{plain_number, spaces};
use super::{DECIMAL_DIGITS_MAX, Decimal};
use crate::sql_type::{DECIMAL_PRECISION_MAX, DECIMAL_SCALE_MAX};

/// The outcome of [`parse_decimal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParsedDecimal {
    /// The number; the extreme one of its sign when there was an overflow.
    pub value: Decimal,
    /// How many bytes of the text were read; 0 when it starts with no number. Trailing spaces
    /// count as read.
    pub consumed: usize,
    /// Whether the number has more digits before the point than [`DECIMAL_DIGITS_MAX`].
    pub overflow: bool,
    /// Whether digits after the point were rounded away.
    pub rounded: bool,
}

/// Digits gathered so far: in 128 bits as long as they fit, since nearly all numbers do.
struct Digits {
    small: u128,
    large: Option<i256>,
    count: u16,
}

impl Digits {
    fn push(&mut self, digit: u8) {
        if self.count == 0 && digit == 0 {
            return;
        }
        self.count = self.count.saturating_add(1);
        match &mut self.large {
            None if self.count <= 38 => self.small = self.small * 10 + u128::from(digit),
            large => {
                let value = large.unwrap_or_else(|| i256::from_parts(self.small, 0));
                *large = Some(
                    value
                        .wrapping_mul(i256::from_i128(10))
                        .wrapping_add(i256::from_i128(i128::from(digit))),
                );
            }
        }
    }

    fn value(&self) -> i256 {
        self.large
            .unwrap_or_else(|| i256::from_parts(self.small, 0))
    }
}

/// Reads the number that a text starts with, as MySQL does in a DECIMAL context: leading spaces, sign, digits, point,
/// digits, exponent. The caller warns of text behind it.
pub fn parse_decimal(text: &[u8]) -> ParsedDecimal {
    if let Some((digits, scale)) = plain_number(text) {
        return ParsedDecimal {
            value: Decimal::from_i128(i128::from(digits), scale),
            consumed: text.len(),
            overflow: false,
            rounded: false,
        };
    }
    let mut at = spaces(text);
    let negative = text.get(at) == Some(&b'-');
    at += usize::from(matches!(text.get(at), Some(b'-' | b'+')));
    let mut digits = Digits {
        small: 0,
        large: None,
        count: 0,
    };
    let mut scale = 0_i64;
    let mut seen = false;
    let mut after_point = false;
    let mut rounded = false;
    // Only the first dropped digit decides about rounding.
    let mut round_up = None;
    loop {
        match text.get(at) {
            Some(byte @ b'0'..=b'9') => {
                seen = true;
                if digits.count < u16::from(DECIMAL_PRECISION_MAX) + 7 || !after_point {
                    if digits.count < u16::from(DECIMAL_DIGITS_MAX) {
                        digits.push(byte - b'0');
                    } else {
                        digits.count = digits.count.saturating_add(1);
                    }
                    scale += i64::from(after_point);
                } else {
                    rounded |= *byte != b'0';
                    round_up.get_or_insert(*byte >= b'5');
                }
            }
            Some(b'.') if !after_point => after_point = true,
            _ => break,
        }
        at += 1;
    }
    if !seen {
        return ParsedDecimal {
            value: Decimal::ZERO,
            consumed: 0,
            overflow: false,
            rounded: false,
        };
    }
    if let Some((exponent, length)) = parse_exponent(&text[at..]) {
        scale -= exponent;
        at += length;
    }
    at += spaces(&text[at..]);
    let mut unscaled = digits.value();
    let overflow = digits.count > u16::from(DECIMAL_DIGITS_MAX)
        || i64::from(digits.count) - scale > i64::from(DECIMAL_DIGITS_MAX)
            && unscaled != i256::ZERO;
    if overflow {
        let largest = Decimal::largest(DECIMAL_PRECISION_MAX, 0);
        return ParsedDecimal {
            value: if negative { largest.negate() } else { largest },
            consumed: at,
            overflow: true,
            rounded: false,
        };
    }
    if scale < 0 {
        let power = u8::try_from(-scale).ok().and_then(pow10_i256);
        unscaled = power
            .and_then(|power| unscaled.checked_mul(power))
            .unwrap_or(i256::ZERO);
        scale = 0;
    } else if round_up == Some(true) && scale <= i64::from(DECIMAL_SCALE_MAX) {
        unscaled = unscaled.wrapping_add(i256::ONE);
    }
    // The integer part always fits; the fraction gets what is left of 65 digits, at most 30.
    let integer_digits = (i64::from(digits_i256(unscaled)) - scale).max(0);
    let room =
        (i64::from(DECIMAL_PRECISION_MAX) - integer_digits).clamp(0, i64::from(DECIMAL_SCALE_MAX));
    let mut kept_scale = scale as u8;
    if scale > room {
        let from = u8::try_from(scale).unwrap_or(u8::MAX);
        let shorter = rescale_i256(unscaled, from, room as u8).unwrap_or(i256::ZERO);
        rounded |= rescale_i256(shorter, room as u8, from) != Some(unscaled);
        unscaled = shorter;
        kept_scale = room as u8;
    }
    let value = Decimal::new(unscaled, kept_scale);
    ParsedDecimal {
        value: if negative { value.negate() } else { value },
        consumed: at,
        overflow: false,
        rounded,
    }
}

/// `e`, an optional sign and at least one digit; the exponent saturates.
fn parse_exponent(text: &[u8]) -> Option<(i64, usize)> {
    if !matches!(text.first(), Some(b'e' | b'E')) {
        return None;
    }
    let negative = text.get(1) == Some(&b'-');
    let start = 1 + usize::from(matches!(text.get(1), Some(b'-' | b'+')));
    let mut at = start;
    let mut exponent = 0_i64;
    while let Some(byte @ b'0'..=b'9') = text.get(at) {
        exponent = (exponent * 10 + i64::from(byte - b'0')).min(100_000);
        at += 1;
    }
    (at > start).then_some((if negative { -exponent } else { exponent }, at))
}

/// `00` to `99`.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
};

/// Writes the digits of a number that end before `end`; gives the index of the first.
fn write_digits(buffer: &mut [u8], end: usize, value: u64) -> usize {
    let mut at = end;
    let mut rest = value;
    while rest >= 100 {
        at -= 2;
        buffer[at..at + 2].copy_from_slice(&PAIRS[(rest % 100) as usize]);
        rest /= 100;
    }
    if rest >= 10 {
        at -= 2;
        buffer[at..at + 2].copy_from_slice(&PAIRS[rest as usize]);
    } else {
        at -= 1;
        buffer[at] = b'0' + rest as u8;
    }
    at
}

const NINETEEN_DIGITS: u128 = 10_000_000_000_000_000_000;

/// Writes the last nineteen digits of a number, with zeros before them; gives the index of the first.
fn write_nineteen(buffer: &mut [u8], end: usize, value: u64) -> usize {
    let mut rest = value;
    for digit in buffer[end - 19..end].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    end - 19
}

/// Appends an integer.
pub(crate) fn append_u64(out: &mut Vec<u8>, value: u64) {
    let mut buffer = [0; 20];
    let first = write_digits(&mut buffer, 20, value);
    out.extend_from_slice(&buffer[first..]);
}

/// Appends an integer.
pub(crate) fn append_i64(out: &mut Vec<u8>, value: i64) {
    let mut buffer = [0; 20];
    let mut first = write_digits(&mut buffer, 20, value.unsigned_abs());
    if value < 0 {
        first -= 1;
        buffer[first] = b'-';
    }
    out.extend_from_slice(&buffer[first..]);
}

/// Appends the digits of an unscaled integer with the point in its place.
pub(crate) fn append_i128(out: &mut Vec<u8>, value: i128, scale: u8) {
    let mut buffer = [b'0'; 80];
    let mut at = buffer.len();
    let mut rest = value.unsigned_abs();
    // 128-bit division is slow: nineteen digits at a time in 64 bits.
    while rest > u128::from(u64::MAX) {
        at = write_nineteen(&mut buffer, at, (rest % NINETEEN_DIGITS) as u64);
        rest /= NINETEEN_DIGITS;
    }
    let part = rest as u64;
    if part > 0 {
        at = write_digits(&mut buffer, at, part);
    }
    append_digits(out, value < 0, &buffer, at, scale);
}

/// Appends the digits of an unscaled integer with the point in its place.
pub(crate) fn append_i256(out: &mut Vec<u8>, value: i256, scale: u8) {
    if let Some(small) = value.to_i128() {
        return append_i128(out, small, scale);
    }
    let mut buffer = [b'0'; 80];
    let mut at = buffer.len();
    let mut rest = value.wrapping_abs();
    let chunk = i256::from_parts(NINETEEN_DIGITS, 0);
    while rest > i256::ZERO {
        let (quotient, remainder) = rest.wrapping_div_rem(chunk);
        at = write_nineteen(&mut buffer, at, remainder.as_i128() as u64);
        rest = quotient;
    }
    while at < buffer.len() && buffer[at] == b'0' {
        at += 1;
    }
    append_digits(out, value.is_negative(), &buffer, at, scale);
}

/// `buffer` holds '0' before `first`, the first digit that is not one.
fn append_digits(out: &mut Vec<u8>, negative: bool, buffer: &[u8; 80], first: usize, scale: u8) {
    if negative {
        out.push(b'-');
    }
    let point = buffer.len() - usize::from(scale).min(buffer.len() - 1);
    let first = first.min(point - 1);
    out.extend_from_slice(&buffer[first..point]);
    if scale > 0 {
        out.push(b'.');
        out.extend_from_slice(&buffer[point..]);
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::with_capacity(40);
        append_i256(&mut text, self.unscaled, self.scale);
        f.pad(&String::from_utf8_lossy(&text))
    }
}
