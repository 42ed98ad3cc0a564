//! Exact numbers: MySQL's DECIMAL.
//!
//! A value is an integer of at most 65 digits and the number of them that stand after the point.
//! Arrays hold only the integers, [`i128`] or [`i256`], because every value of a column has the
//! column's scale; [`Decimal`] is one value with its scale. Rounding is always half away from
//! zero. See the manual, "Precision Math".
//!
//! * [`text`]: parsing and printing
//! * [`arithmetic`]: the four operations, remainder, rounding, comparison
//! * [`native`]: the same for the bare integers of Arrow arrays, for typed loops
//! * [`quotient`]: division of columns
//! * [`convert`]: to and from integers and floats
//! * [`result_type`]: which precision and scale an operation's result has

pub mod arithmetic;
pub mod convert;
pub mod native;
pub mod plain;
mod quotient;
pub mod result_type;
#[cfg(test)]
mod tests;
pub mod text;

use arrow_buffer::i256;

use crate::value::Value;

pub use native::{pow10_i128, pow10_i256, rescale_i128, rescale_i256};
pub use quotient::Quotients;
pub use result_type::{
    DecimalOperation, decimal_aggregate_type, decimal_of_numeric, decimal_result_type,
};
pub use text::{ParsedDecimal, parse_decimal};

/// Greatest number of digits of an intermediate value: more than a column's 65, as in MySQL, which
/// computes with 81; 256 bits hold no more than these.
pub const DECIMAL_DIGITS_MAX: u8 = 76;

/// The operation's exact result has more digits than a DECIMAL holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecimalOverflow;

/// One exact number: `unscaled` × 10^-`scale`.
///
/// Two values are `==` only when their scales are equal too; compare numbers with
/// [`Decimal::compare`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    /// All digits, as an integer.
    pub unscaled: i256,
    /// Number of digits after the point.
    pub scale: u8,
}

impl Decimal {
    /// 0
    pub const ZERO: Self = Self {
        unscaled: i256::ZERO,
        scale: 0,
    };

    /// A value of its parts.
    pub const fn new(unscaled: i256, scale: u8) -> Self {
        Self { unscaled, scale }
    }

    /// A value of its parts, from the native of a `Decimal128Array`.
    pub const fn from_i128(unscaled: i128, scale: u8) -> Self {
        Self {
            unscaled: i256::from_i128(unscaled),
            scale,
        }
    }

    /// The largest value of a precision and scale: all digits 9.
    pub fn largest(precision: u8, scale: u8) -> Self {
        Self::new(native::max_unscaled(precision), scale)
    }

    /// The number with the other sign.
    pub fn negate(self) -> Self {
        Self::new(self.unscaled.wrapping_neg(), self.scale)
    }

    /// The number without its sign.
    pub fn abs(self) -> Self {
        Self::new(self.unscaled.wrapping_abs(), self.scale)
    }

    /// Whether the number is 0.
    pub fn is_zero(self) -> bool {
        self.unscaled == i256::ZERO
    }

    /// Whether the number is below 0.
    pub fn is_negative(self) -> bool {
        self.unscaled.is_negative()
    }

    /// Number of digits of the number, at least one.
    pub fn precision(self) -> u8 {
        native::digits_i256(self.unscaled).max(self.scale).max(1)
    }

    /// Whether the number, as it is, fits in `DECIMAL(precision, self.scale)`.
    pub fn fits(self, precision: u8) -> bool {
        self.unscaled.wrapping_abs() <= native::max_unscaled(precision)
    }

    /// The nearest number of `DECIMAL(precision, scale)`; `Err` holds the clamped extreme when
    /// the integer part does not fit.
    pub fn to_precision(self, precision: u8, scale: u8) -> Result<Self, Self> {
        let largest = Self::largest(precision, scale);
        match self.rescale(scale) {
            Ok(value) if value.fits(precision) => Ok(value),
            _ if self.is_negative() => Err(largest.negate()),
            _ => Err(largest),
        }
    }

    /// The value itself when it has at most [`DECIMAL_DIGITS_MAX`] digits.
    pub fn checked(self) -> Result<Self, DecimalOverflow> {
        if self.fits(DECIMAL_DIGITS_MAX) {
            Ok(self)
        } else {
            Err(DecimalOverflow)
        }
    }
}

impl From<Decimal> for Value {
    fn from(decimal: Decimal) -> Self {
        Self::Decimal {
            unscaled: decimal.unscaled,
            scale: decimal.scale,
        }
    }
}
