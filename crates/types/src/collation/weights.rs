//! Collations of one weight a character.

use super::{ascii, general_ci};
use crate::charset::latin1_of_point;

/// Which weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Simple {
    /// [`general_ci`]; in ASCII, capital letters.
    GeneralCi,
    /// Latin1's byte of the capital base letter, with the Swedish letters after Z.
    Latin1SwedishCi,
    /// Latin1's byte.
    Latin1Bin,
}

/// The weights of latin1's bytes from 0xC0.
#[rustfmt::skip]
const SWEDISH_HIGH: [u8; 64] = [
    0x41, 0x41, 0x41, 0x41, 0x5C, 0x5B, 0x5C, 0x43, 0x45, 0x45, 0x45, 0x45, 0x49, 0x49, 0x49, 0x49,
    0x44, 0x4E, 0x4F, 0x4F, 0x4F, 0x4F, 0x5D, 0xD7, 0xD8, 0x55, 0x55, 0x55, 0x59, 0x59, 0xDE, 0xDF,
    0x41, 0x41, 0x41, 0x41, 0x5C, 0x5B, 0x5C, 0x43, 0x45, 0x45, 0x45, 0x45, 0x49, 0x49, 0x49, 0x49,
    0x44, 0x4E, 0x4F, 0x4F, 0x4F, 0x4F, 0x5D, 0xF7, 0xD8, 0x55, 0x55, 0x55, 0x59, 0x59, 0xDE, 0xFF,
];

impl Simple {
    /// The weight of a code point.
    pub(super) fn weight(self, point: u32) -> u16 {
        match self {
            Self::GeneralCi if point < 0x80 => u16::from((point as u8).to_ascii_uppercase()),
            Self::GeneralCi => general_ci::weight(point),
            Self::Latin1SwedishCi => match latin1_of_point(point) {
                Some(byte @ 0xC0..) => u16::from(SWEDISH_HIGH[usize::from(byte - 0xC0)]),
                Some(byte) => u16::from(byte.to_ascii_uppercase()),
                None => (point & 0xFFFF) as u16,
            },
            Self::Latin1Bin => match latin1_of_point(point) {
                Some(byte) => u16::from(byte),
                None => (point & 0xFFFF) as u16,
            },
        }
    }

    /// Whether letters of different case are equal.
    pub(super) fn folds_case(self) -> bool {
        self != Self::Latin1Bin
    }

    /// What makes ASCII characters of one weight the same.
    pub(super) fn change(self) -> fn(u64) -> u64 {
        match self.folds_case() {
            true => ascii::to_lower,
            false => |word| word,
        }
    }

    /// The weights of ASCII characters.
    pub(super) fn ascii_weight(self) -> impl Fn(u8) -> u16 {
        move |byte| self.weight(u32::from(byte))
    }
}
