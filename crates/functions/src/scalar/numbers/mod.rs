//! Numbers.

mod abs;
mod atan;
mod bit_count;
mod ceiling;
mod conv;
mod crc32;
mod log;
mod pi;
mod pow;
mod rand;
mod real;
mod rounding;
mod sign;

use crate::scalar::ScalarFunction;

/// The functions of this family.
pub(crate) const FUNCTIONS: &[&dyn ScalarFunction] = &[
    &abs::Abs,
    &atan::Atan,
    &bit_count::BitCount,
    &ceiling::CEILING,
    &ceiling::FLOOR,
    &conv::Conv,
    &conv::BIN,
    &conv::OCT,
    &crc32::Crc32,
    &log::Log,
    &pi::Pi,
    &pow::Pow,
    &rand::Rand,
    &real::SIN,
    &real::COS,
    &real::TAN,
    &real::COT,
    &real::ASIN,
    &real::ACOS,
    &real::EXP,
    &real::SQRT,
    &real::DEGREES,
    &real::RADIANS,
    &real::LN,
    &real::LOG2,
    &real::LOG10,
    &rounding::ROUND,
    &rounding::TRUNCATE,
    &sign::Sign,
];
