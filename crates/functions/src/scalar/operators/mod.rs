//! Operators.

mod arithmetic;
mod bits;
mod divide;
mod integer_divide;
mod like;
mod modulo;
mod negate;
pub(crate) mod numeric;
#[cfg(test)]
mod tests;
mod xor;

use crate::scalar::Row;

/// The functions of this family, file by file.
pub(crate) const FUNCTIONS: &[&[Row]] = &[
    arithmetic::FUNCTIONS,
    bits::FUNCTIONS,
    divide::FUNCTIONS,
    integer_divide::FUNCTIONS,
    like::FUNCTIONS,
    modulo::FUNCTIONS,
    negate::FUNCTIONS,
    xor::FUNCTIONS,
];
