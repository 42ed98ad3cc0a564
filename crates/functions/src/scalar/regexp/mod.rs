//! Regular expressions (the manual, "Regular Expressions"). MySQL uses ICU's; here they are translated for the crate
//! `fancy-regex` (module [`pattern`]).

mod arguments;
mod instr;
mod like;
mod pattern;
mod replace;
mod substr;
#[cfg(test)]
mod tests;

use crate::scalar::Row;

/// The functions of this family, file by file.
pub(crate) const FUNCTIONS: &[&[Row]] = &[
    instr::FUNCTIONS,
    like::FUNCTIONS,
    replace::FUNCTIONS,
    substr::FUNCTIONS,
];
