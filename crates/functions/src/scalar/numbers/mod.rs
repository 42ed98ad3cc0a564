//! Numbers.

mod abs;
mod bit_count;
mod ceiling;
mod conv;
mod crc32;
mod crc32c;
mod rand;
mod real;
mod rounding;
mod sign;
#[cfg(test)]
mod tests;

use crate::scalar::Row;

/// The functions of this family, file by file.
pub(crate) const FUNCTIONS: &[&[Row]] = &[
    abs::FUNCTIONS,
    bit_count::FUNCTIONS,
    ceiling::FUNCTIONS,
    conv::FUNCTIONS,
    crc32::FUNCTIONS,
    crc32c::FUNCTIONS,
    rand::FUNCTIONS,
    real::FUNCTIONS,
    rounding::FUNCTIONS,
    sign::FUNCTIONS,
];
