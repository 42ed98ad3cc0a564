//! Kernels on the bare integers of `Decimal128Array` and `Decimal256Array`.

use arrow_buffer::i256;

const POWERS_128: [i128; 39] = {
    let mut powers = [1_i128; 39];
    let mut index = 1;
    while index < 39 {
        powers[index] = powers[index - 1] * 10;
        index += 1;
    }
    powers
};

const POWERS_256: [i256; 77] = {
    let mut powers = [i256::ONE; 77];
    let mut index = 1;
    while index < 77 {
        powers[index] = powers[index - 1].wrapping_mul(i256::from_i128(10));
        index += 1;
    }
    powers
};

/// 10^`exponent`, for exponents to 38.
pub fn pow10_i128(exponent: u8) -> Option<i128> {
    POWERS_128.get(usize::from(exponent)).copied()
}

/// 10^`exponent`, for exponents to 76.
pub fn pow10_i256(exponent: u8) -> Option<i256> {
    POWERS_256.get(usize::from(exponent)).copied()
}

/// The largest integer of `precision` digits.
pub(crate) fn max_unscaled(precision: u8) -> i256 {
    POWERS_256[usize::from(precision).min(76)].wrapping_sub(i256::ONE)
}

/// The largest integer of `precision` digits, for precisions to 38.
pub fn max_unscaled_i128(precision: u8) -> i128 {
    POWERS_128[usize::from(precision).min(38)] - 1
}

/// Number of digits of an integer; 0 has none.
pub(crate) fn digits_i256(value: i256) -> u8 {
    let value = value.wrapping_abs();
    POWERS_256.partition_point(|power| *power <= value) as u8
}

/// `value / divisor`, rounded half away from zero; `divisor` is positive.
pub(crate) fn divide_rounding_i128(value: i128, divisor: i128) -> i128 {
    let quotient = value / divisor;
    let remainder = (value % divisor).unsigned_abs();
    let divisor = divisor.unsigned_abs();
    if remainder >= divisor - remainder {
        quotient + value.signum()
    } else {
        quotient
    }
}

/// `value / divisor`, rounded half away from zero; `divisor` is positive.
pub(crate) fn divide_rounding_i256(value: i256, divisor: i256) -> i256 {
    if let (Some(small), Some(small_divisor)) = (value.to_i128(), divisor.to_i128()) {
        return i256::from_i128(divide_rounding_i128(small, small_divisor));
    }
    let (quotient, remainder) = value.wrapping_div_rem(divisor);
    let remainder = remainder.wrapping_abs();
    if remainder >= divisor.wrapping_sub(remainder) {
        quotient.wrapping_add(value.signum())
    } else {
        quotient
    }
}

/// The unscaled integer at another scale, rounded; `None` when it does not fit.
pub fn rescale_i128(value: i128, from: u8, to: u8) -> Option<i128> {
    if to >= from {
        value.checked_mul(pow10_i128(to - from)?)
    } else {
        match pow10_i128(from - to) {
            Some(divisor) => Some(divide_rounding_i128(value, divisor)),
            None => Some(0),
        }
    }
}

/// The unscaled integer at another scale, rounded; `None` when it does not fit.
pub fn rescale_i256(value: i256, from: u8, to: u8) -> Option<i256> {
    if to >= from {
        value.checked_mul(pow10_i256(to - from)?)
    } else {
        match pow10_i256(from - to) {
            Some(divisor) => Some(divide_rounding_i256(value, divisor)),
            None => Some(i256::ZERO),
        }
    }
}

/// The product of two unscaled integers divided by 10^`drop`, rounded half away from zero. The
/// product itself may be wider than 256 bits.
pub(crate) fn multiply_drop(a: i256, b: i256, drop: u8) -> Option<i256> {
    if let Some(product) = a.checked_mul(b) {
        return rescale_i256(product, drop, 0);
    }
    if drop == 0 {
        return None;
    }
    let negative = a.is_negative() != b.is_negative();
    let mut product = wide_product(&limbs(a.wrapping_abs()), &limbs(b.wrapping_abs()));
    // Drop all digits but one, then round on the last: truncating first cannot change which side
    // of a half the value is on.
    let mut left = drop - 1;
    while left > 0 {
        let step = left.min(19);
        divide_small(&mut product, 10_u64.pow(u32::from(step)));
        left -= step;
    }
    let last = divide_small(&mut product, 10);
    if product[4..].iter().any(|limb| *limb != 0) || product[3] >> 63 != 0 {
        return None;
    }
    let low = u128::from(product[0]) | (u128::from(product[1]) << 64);
    let high = u128::from(product[2]) | (u128::from(product[3]) << 64);
    let mut value = i256::from_parts(low, high as i128);
    if last >= 5 {
        value = value.checked_add(i256::ONE)?;
    }
    Some(if negative {
        value.wrapping_neg()
    } else {
        value
    })
}

fn limbs(value: i256) -> [u64; 4] {
    let (low, high) = value.to_parts();
    [
        low as u64,
        (low >> 64) as u64,
        high as u64,
        ((high as u128) >> 64) as u64,
    ]
}

fn wide_product(a: &[u64; 4], b: &[u64; 4]) -> [u64; 8] {
    let mut product = [0_u64; 8];
    for (i, x) in a.iter().enumerate() {
        let mut carry = 0_u128;
        for (j, y) in b.iter().enumerate() {
            let sum = u128::from(product[i + j]) + u128::from(*x) * u128::from(*y) + carry;
            product[i + j] = sum as u64;
            carry = sum >> 64;
        }
        product[i + 4] = carry as u64;
    }
    product
}

/// Divides in place and returns the remainder.
fn divide_small(value: &mut [u64; 8], divisor: u64) -> u64 {
    let mut remainder = 0_u128;
    for limb in value.iter_mut().rev() {
        let current = (remainder << 64) | u128::from(*limb);
        *limb = (current / u128::from(divisor)) as u64;
        remainder = current % u128::from(divisor);
    }
    remainder as u64
}

/// `a / b × 10^shift`, rounded half away from zero or cut off; `None` for a zero divisor or an overflow.
pub(crate) fn divide_shifted(a: i256, b: i256, shift: i16, truncates: bool) -> Option<i256> {
    let divide = |a: i256, b: i256| {
        if truncates {
            a.checked_div(b)
        } else {
            divide_rounding_signed(a, b)
        }
    };
    if b == i256::ZERO {
        return None;
    }
    if shift < 0 {
        let divisor = b.checked_mul(pow10_i256(u8::try_from(-shift).ok()?)?)?;
        return divide(a, divisor);
    }
    let shift = u8::try_from(shift).ok()?;
    if let Some(scaled) = pow10_i256(shift).and_then(|power| a.checked_mul(power)) {
        return divide(scaled, b);
    }
    let negative = a.is_negative() != b.is_negative();
    let divisor = b.wrapping_abs();
    let ten = i256::from_i128(10);
    let (mut quotient, mut remainder) = a.wrapping_abs().wrapping_div_rem(divisor);
    for _ in 0..shift {
        let (digit, rest) = remainder.checked_mul(ten)?.wrapping_div_rem(divisor);
        quotient = quotient.checked_mul(ten)?.checked_add(digit)?;
        remainder = rest;
    }
    if !truncates && remainder >= divisor.wrapping_sub(remainder) {
        quotient = quotient.checked_add(i256::ONE)?;
    }
    Some(if negative {
        quotient.wrapping_neg()
    } else {
        quotient
    })
}

fn divide_rounding_signed(a: i256, b: i256) -> Option<i256> {
    if b.is_negative() {
        Some(divide_rounding_i256(a.checked_neg()?, b.checked_neg()?))
    } else {
        Some(divide_rounding_i256(a, b))
    }
}
