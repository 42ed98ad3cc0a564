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
pub(crate) const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction::new(&["regexp_instr"], 2..=6, &instr::RegexpInstr),
    ScalarFunction::new(
        &["regexp_like", "regexp", "rlike"],
        2..=3,
        &like::RegexpLike,
    ),
    ScalarFunction::new(&["regexp_replace"], 3..=6, &replace::RegexpReplace),
    ScalarFunction::new(&["regexp_substr"], 2..=5, &substr::RegexpSubstr),
];
