//! Operators.

mod add;
mod bits;
mod divide;
mod integer_divide;
mod like;
mod modulo;
mod multiply;
mod negate;
pub(crate) mod numeric;
mod subtract;
mod xor;

use crate::scalar::ScalarFunction;

/// The functions of this family.
pub(crate) const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction::new(&["+"], 2..=2, &add::Add),
    ScalarFunction::new(&["~"], 1..=1, &bits::Complement),
    ScalarFunction::new(&["&"], 2..=2, &bits::AND),
    ScalarFunction::new(&["|"], 2..=2, &bits::OR),
    ScalarFunction::new(&["^"], 2..=2, &bits::XOR),
    ScalarFunction::new(&["<<"], 2..=2, &bits::SHIFT_LEFT),
    ScalarFunction::new(&[">>"], 2..=2, &bits::SHIFT_RIGHT),
    ScalarFunction::new(&["/"], 2..=2, &divide::Divide),
    ScalarFunction::new(&["div"], 2..=2, &integer_divide::IntegerDivide),
    ScalarFunction::new(&["like"], 2..=3, &like::Like),
    ScalarFunction::new(&["%", "mod"], 2..=2, &modulo::Modulo),
    ScalarFunction::new(&["*"], 2..=2, &multiply::Multiply),
    ScalarFunction::new(&["negate"], 1..=1, &negate::Negate),
    ScalarFunction::new(&["-"], 2..=2, &subtract::Subtract),
    ScalarFunction::new(&["xor"], 2..=2, &xor::Xor),
];
