//! Bit operations of BIT_AND(), BIT_OR() and BIT_XOR() on integers and binary strings.

use std::ops::{BitAnd, BitOr, BitXor};

/// Bit operation: which bits of a group's values the result has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// Bits that all values have.
    And,
    /// Bits that any value has.
    Or,
    /// Bits that an odd number of values has.
    Xor,
}

impl Operation {
    /// The bits of a result without values.
    pub(super) fn neutral(self) -> u64 {
        match self {
            Self::And => u64::MAX,
            Self::Or | Self::Xor => 0,
        }
    }

    /// Whether a result bit is set that `ones` of `values` values have set.
    pub(super) fn is_set(self, ones: u64, values: u64) -> bool {
        match self {
            Self::And => ones == values,
            Self::Or => ones > 0,
            Self::Xor => ones % 2 == 1,
        }
    }

    /// The byte of a result without values.
    pub(super) fn neutral_byte(self) -> u8 {
        self.neutral() as u8
    }

    /// The function that combines two values.
    pub(super) fn combine<T>(self) -> fn(T, T) -> T
    where
        T: BitAnd<Output = T> + BitOr<Output = T> + BitXor<Output = T>,
    {
        match self {
            Self::And => |a, b| a & b,
            Self::Or => |a, b| a | b,
            Self::Xor => |a, b| a ^ b,
        }
    }
}
