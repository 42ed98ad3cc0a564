//! DECIMAL to and from integers and floats.

use arrow_buffer::i256;

use super::{Decimal, ParsedDecimal, parse_decimal};

/// Powers of ten that are exact doubles.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The double nearest to an unscaled integer at a scale.
pub(crate) fn i128_to_f64(value: i128, scale: u8) -> f64 {
    const EXACT_INTEGER: u128 = 1 << 53;
    if value.unsigned_abs() <= EXACT_INTEGER
        && let Some(power) = EXACT_POWERS.get(usize::from(scale))
    {
        // Both are exact, so the quotient is correctly rounded.
        return value as f64 / power;
    }
    let mut text = Vec::with_capacity(44);
    super::text::append_i128(&mut text, value, scale);
    text_to_f64(&text)
}

fn text_to_f64(text: &[u8]) -> f64 {
    std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0.0)
}

impl Decimal {
    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        if let Some(small) = self.unscaled.to_i128() {
            return i128_to_f64(small, self.scale);
        }
        let mut text = Vec::with_capacity(80);
        super::text::append_i256(&mut text, self.unscaled, self.scale);
        text_to_f64(&text)
    }

    /// The decimal of the shortest text of a double (MySQL converts by way of text); clamped with
    /// `overflow` set when it is too large. `None` for NaN and infinities.
    pub fn from_f64(value: f64) -> Option<ParsedDecimal> {
        if !value.is_finite() {
            return None;
        }
        let mut buffer = zmij::Buffer::new();
        let text = buffer.format_finite(value);
        Some(parse_decimal(
            text.strip_suffix(".0").unwrap_or(text).as_bytes(),
        ))
    }

    /// The nearest integer; `Err` holds the clamped extreme.
    pub fn to_i64(self) -> Result<i64, i64> {
        let rounded = self.rescale(0).unwrap_or(self);
        match rounded
            .unscaled
            .to_i128()
            .and_then(|value| i64::try_from(value).ok())
        {
            Some(value) => Ok(value),
            None if self.is_negative() => Err(i64::MIN),
            None => Err(i64::MAX),
        }
    }

    /// The nearest unsigned integer; `Err` holds the clamped extreme.
    pub fn to_u64(self) -> Result<u64, u64> {
        let rounded = self.rescale(0).unwrap_or(self);
        match rounded
            .unscaled
            .to_i128()
            .and_then(|value| u64::try_from(value).ok())
        {
            Some(value) => Ok(value),
            None if self.is_negative() => Err(0),
            None => Err(u64::MAX),
        }
    }
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Self {
        Self::new(i256::from_i128(i128::from(value)), 0)
    }
}

impl From<u64> for Decimal {
    fn from(value: u64) -> Self {
        Self::new(i256::from_i128(i128::from(value)), 0)
    }
}
