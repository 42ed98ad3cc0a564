//! Division of decimals of two known scales: what does not depend on the values is computed once, and small numbers are
//! divided in small integers.

use arrow_buffer::i256;

use super::native::{divide_shifted, pow10_i128};
use super::{Decimal, DecimalOverflow};

/// Divider of numbers of one scale by numbers of another, with a result scale.
#[derive(Debug, Clone, Copy)]
pub struct Quotients {
    shift: i16,
    scale: u8,
    truncates: bool,
    /// Factor for a small dividend.
    factor: Option<i128>,
}

impl Quotients {
    /// A divider of numbers with scale `dividend` by numbers with scale `divisor`. `scale` is the dividend's +
    /// `div_precision_increment`, at most 30. The quotient is rounded, unless MySQL computes no digit beyond it: it
    /// works in words of nine digits, and `2.0 / 3` at nine digits is 0.666666666.
    pub fn new(dividend: u8, divisor: u8, scale: u8) -> Self {
        let shift = i16::from(scale) + i16::from(divisor) - i16::from(dividend);
        let words = |digits: u8| digits.div_ceil(9);
        let spare = words(dividend) * 9 - dividend + words(divisor) * 9 - divisor;
        let increment = scale.saturating_sub(dividend).saturating_sub(spare);
        let computed = words(dividend) + words(divisor) + words(increment);
        Self {
            shift,
            scale,
            truncates: scale >= computed.saturating_mul(9),
            factor: u8::try_from(shift).ok().and_then(pow10_i128),
        }
    }

    /// The unscaled quotient; `None` for a zero divisor.
    pub fn quotient(&self, dividend: i256, divisor: i256) -> Option<Result<i256, DecimalOverflow>> {
        if divisor == i256::ZERO {
            return None;
        }
        if let (Some(dividend), Some(divisor)) = (dividend.to_i128(), divisor.to_i128())
            && let Some(quotient) = self.small_quotient(dividend, divisor)
        {
            return Some(Ok(i256::from_i128(quotient)));
        }
        let quotient = divide_shifted(dividend, divisor, self.shift, self.truncates);
        let checked = |quotient| Decimal::new(quotient, self.scale).checked();
        Some(
            quotient
                .ok_or(DecimalOverflow)
                .and_then(checked)
                .map(|it| it.unscaled),
        )
    }

    /// [`Self::quotient`] for small numbers and a small quotient; `None` where they may be large, and for a zero
    /// divisor.
    #[inline]
    pub fn small_quotient(&self, dividend: i128, divisor: i128) -> Option<i128> {
        let scaled = dividend.checked_mul(self.factor?)?;
        if let (Ok(scaled), Ok(divisor)) = (i64::try_from(scaled), i64::try_from(divisor)) {
            let (quotient, rest) = (scaled.checked_div(divisor)?, scaled % divisor);
            let is_up = self.rounds_up(rest.unsigned_abs().into(), divisor.unsigned_abs().into());
            return Some(i128::from(quotient) + step(is_up, scaled < 0, divisor < 0));
        }
        let (quotient, rest) = (scaled.checked_div(divisor)?, scaled % divisor);
        let is_up = self.rounds_up(rest.unsigned_abs(), divisor.unsigned_abs());
        Some(quotient + step(is_up, scaled < 0, divisor < 0))
    }

    #[inline]
    fn rounds_up(&self, rest: u128, divisor: u128) -> bool {
        !self.truncates && rest >= divisor - rest
    }
}

/// The amount that rounding away from zero adds.
#[inline]
fn step(is_up: bool, one_is_negative: bool, other_is_negative: bool) -> i128 {
    match (is_up, one_is_negative != other_is_negative) {
        (false, _) => 0,
        (true, true) => -1,
        (true, false) => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_quotients_are_those_of_wide_numbers() {
        let mut state = 1_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 16) as i64
        };
        let mut small = 0;
        for _ in 0..20_000 {
            let scales = [random() % 10, random() % 10, random() % 13].map(|it| it as u8);
            let quotients = Quotients::new(scales[0], scales[1], scales[0] + scales[2]);
            let number = |value: i64, bits: i64| {
                let value = i128::from(value) << 40 ^ i128::from(value);
                (value >> (87 - bits.rem_euclid(87))) - (1 << (bits.rem_euclid(80)))
            };
            let (a, b) = (number(random(), random()), number(random(), random()));
            let (wide_a, wide_b) = (i256::from_i128(a), i256::from_i128(b));
            let expected = divide_shifted(wide_a, wide_b, quotients.shift, quotients.truncates);
            if let Some(quotient) = quotients.small_quotient(a, b) {
                assert_eq!(
                    Some(i256::from_i128(quotient)),
                    expected,
                    "{a} / {b}: {quotients:?}"
                );
                small += 1;
            }
            if b != 0 {
                let quotient = quotients.quotient(wide_a, wide_b).expect("no zero");
                assert_eq!(quotient.ok(), expected, "{a} / {b}: {quotients:?}");
            }
        }
        assert!(small > 10_000, "{small}");
    }

    #[test]
    fn a_zero_divisor_has_no_quotient() {
        let quotients = Quotients::new(2, 2, 6);
        assert_eq!(quotients.small_quotient(5, 0), None);
        assert!(quotients.quotient(i256::ONE, i256::ZERO).is_none());
        // `i64::MIN` / -1 does not fit 64 bits.
        let least = Quotients::new(0, 0, 0).small_quotient(i128::from(i64::MIN), -1);
        assert!(least.is_none_or(|it| it == -i128::from(i64::MIN)));
    }
}
