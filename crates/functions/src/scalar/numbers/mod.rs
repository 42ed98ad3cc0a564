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
pub(crate) const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction::new(&["abs"], 1..=1, &abs::Abs),
    ScalarFunction::new(&["atan", "atan2"], 1..=2, &atan::Atan),
    ScalarFunction::new(&["bit_count"], 1..=1, &bit_count::BitCount),
    ScalarFunction::new(&["ceiling", "ceil"], 1..=1, &ceiling::CEILING),
    ScalarFunction::new(&["floor"], 1..=1, &ceiling::FLOOR),
    ScalarFunction::new(&["conv"], 3..=3, &conv::Conv),
    ScalarFunction::new(&["bin"], 1..=1, &conv::BIN),
    ScalarFunction::new(&["oct"], 1..=1, &conv::OCT),
    ScalarFunction::new(&["crc32"], 1..=1, &crc32::Crc32),
    ScalarFunction::new(&["log"], 1..=2, &log::Log),
    ScalarFunction::new(&["pi"], 0..=0, &pi::Pi),
    ScalarFunction::new(&["pow", "power"], 2..=2, &pow::Pow),
    ScalarFunction::new(&["rand"], 0..=1, &rand::Rand).volatile(),
    ScalarFunction::new(&["sin"], 1..=1, &real::SIN),
    ScalarFunction::new(&["cos"], 1..=1, &real::COS),
    ScalarFunction::new(&["tan"], 1..=1, &real::TAN),
    ScalarFunction::new(&["cot"], 1..=1, &real::COT),
    ScalarFunction::new(&["asin"], 1..=1, &real::ASIN),
    ScalarFunction::new(&["acos"], 1..=1, &real::ACOS),
    ScalarFunction::new(&["exp"], 1..=1, &real::EXP),
    ScalarFunction::new(&["sqrt"], 1..=1, &real::SQRT),
    ScalarFunction::new(&["degrees"], 1..=1, &real::DEGREES),
    ScalarFunction::new(&["radians"], 1..=1, &real::RADIANS),
    ScalarFunction::new(&["ln"], 1..=1, &real::LN),
    ScalarFunction::new(&["log2"], 1..=1, &real::LOG2),
    ScalarFunction::new(&["log10"], 1..=1, &real::LOG10),
    ScalarFunction::new(&["round"], 1..=2, &rounding::ROUND),
    ScalarFunction::new(&["truncate"], 2..=2, &rounding::TRUNCATE),
    ScalarFunction::new(&["sign"], 1..=1, &sign::Sign),
];
