//! Regular expressions (the manual, "Regular Expressions"). MySQL's are those of ICU; here they are
//! translated for the crate `fancy-regex` (module [`pattern`]).

mod arguments;
mod instr;
mod like;
mod pattern;
mod replace;
mod substr;

use crate::scalar::ScalarFunction;

/// The functions of this family.
pub(crate) const FUNCTIONS: &[&dyn ScalarFunction] = &[
    &instr::RegexpInstr,
    &like::RegexpLike,
    &replace::RegexpReplace,
    &substr::RegexpSubstr,
];
