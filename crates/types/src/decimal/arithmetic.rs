//! Addition, subtraction, multiplication, division, remainder, rounding, comparison.

use std::cmp::Ordering;

use arrow_buffer::i256;

use super::native::{multiply_drop, pow10_i256, rescale_i256};
use super::{Decimal, DecimalOverflow, Quotients};
use crate::sql_type::DECIMAL_SCALE_MAX;

type Outcome = Result<Decimal, DecimalOverflow>;

impl Decimal {
    /// The number at another scale, rounded half away from zero.
    pub fn rescale(self, scale: u8) -> Outcome {
        if scale == self.scale {
            return Ok(self);
        }
        rescale_i256(self.unscaled, self.scale, scale)
            .map(|unscaled| Self::new(unscaled, scale))
            .ok_or(DecimalOverflow)
    }

    /// The number with only `scale` fractional digits, the rest cut off.
    pub fn truncate(self, scale: u8) -> Self {
        if scale >= self.scale {
            return self;
        }
        let divisor = pow10_i256(self.scale - scale).unwrap_or(i256::MAX);
        Self::new(self.unscaled.wrapping_div(divisor), scale)
    }

    /// `ROUND(self, places)` or, with `truncate`, `TRUNCATE(self, places)`: `places` may be
    /// negative; the result's scale is `places`, at least 0 and at most the number's own scale.
    pub fn round(self, places: i64, truncate: bool) -> Outcome {
        if places >= i64::from(self.scale) {
            return Ok(self);
        }
        if places >= 0 {
            let places = places as u8;
            return if truncate {
                Ok(self.truncate(places))
            } else {
                self.rescale(places)
            };
        }
        let drop = places
            .unsigned_abs()
            .saturating_add(u64::from(self.scale))
            .min(77) as u8;
        let Some(power) = pow10_i256(drop) else {
            return Ok(Self::ZERO);
        };
        let quotient = if truncate {
            self.unscaled.wrapping_div(power)
        } else {
            super::native::divide_rounding_i256(self.unscaled, power)
        };
        let back = pow10_i256(places.unsigned_abs().min(76) as u8).ok_or(DecimalOverflow)?;
        let unscaled = quotient.checked_mul(back).ok_or(DecimalOverflow)?;
        Self::new(unscaled, 0).checked()
    }

    /// The largest integer not greater than the number, scale 0.
    pub fn floor(self) -> Self {
        let truncated = self.truncate(0);
        if self.is_negative() && truncated.compare(self) != Ordering::Equal {
            Self::new(truncated.unscaled.wrapping_sub(i256::ONE), 0)
        } else {
            truncated
        }
    }

    /// The smallest integer not less than the number, scale 0.
    pub fn ceiling(self) -> Self {
        self.negate().floor().negate()
    }

    fn aligned(self, other: Self) -> Result<(i256, i256, u8), DecimalOverflow> {
        let scale = self.scale.max(other.scale);
        Ok((
            self.rescale(scale)?.unscaled,
            other.rescale(scale)?.unscaled,
            scale,
        ))
    }

    /// The sum, at the larger scale.
    #[expect(
        clippy::should_implement_trait,
        reason = "an operator could not report an overflow"
    )]
    pub fn add(self, other: Self) -> Outcome {
        let (a, b, scale) = self.aligned(other)?;
        let sum = a.checked_add(b).ok_or(DecimalOverflow)?;
        Self::new(sum, scale).checked()
    }

    /// The difference, at the larger scale.
    pub fn subtract(self, other: Self) -> Outcome {
        self.add(other.negate())
    }

    /// The product, at the sum of the scales, at most MySQL's largest.
    pub fn multiply(self, other: Self) -> Outcome {
        let exact = self.scale.saturating_add(other.scale);
        let scale = exact.min(DECIMAL_SCALE_MAX);
        let product =
            multiply_drop(self.unscaled, other.unscaled, exact - scale).ok_or(DecimalOverflow)?;
        Self::new(product, scale).checked()
    }

    /// The quotient at `scale`, as of [`Quotients`]; `None` for a zero divisor.
    pub fn divide(self, other: Self, scale: u8) -> Option<Outcome> {
        let quotients = Quotients::new(self.scale, other.scale, scale);
        let quotient = quotients.quotient(self.unscaled, other.unscaled)?;
        Some(quotient.map(|quotient| Self::new(quotient, scale)))
    }

    /// The integer part of the quotient; `None` for a zero divisor.
    pub fn divide_integer(self, other: Self) -> Option<Outcome> {
        if other.is_zero() {
            return None;
        }
        Some(self.aligned(other).map(|(a, b, _)| {
            let quotient = a.wrapping_div(b);
            Self::new(quotient, 0)
        }))
    }

    /// The remainder with the dividend's sign, at the larger scale; `None` for a zero divisor.
    pub fn remainder(self, other: Self) -> Option<Outcome> {
        if other.is_zero() {
            return None;
        }
        Some(
            self.aligned(other)
                .map(|(a, b, scale)| Self::new(a.wrapping_rem(b), scale)),
        )
    }

    /// Compares the numbers, whatever their scales.
    pub fn compare(self, other: Self) -> Ordering {
        if self.scale == other.scale {
            return self.unscaled.cmp(&other.unscaled);
        }
        match self.aligned(other) {
            Ok((a, b, _)) => a.cmp(&b),
            Err(_) => self.compare_by_parts(other),
        }
    }

    /// Comparison of numbers so far apart in scale that aligning them overflows.
    fn compare_by_parts(self, other: Self) -> Ordering {
        let split = |value: Self| {
            let power = pow10_i256(value.scale).unwrap_or(i256::MAX);
            value.unscaled.wrapping_div_rem(power)
        };
        let (integer, fraction) = split(self);
        let (other_integer, other_fraction) = split(other);
        integer.cmp(&other_integer).then_with(|| {
            let scale = self.scale.max(other.scale);
            let align = |value, from| rescale_i256(value, from, scale).unwrap_or(i256::MAX);
            align(fraction, self.scale).cmp(&align(other_fraction, other.scale))
        })
    }
}
