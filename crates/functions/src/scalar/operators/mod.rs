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
pub(crate) const FUNCTIONS: &[&dyn ScalarFunction] = &[
    &add::Add,
    &bits::Complement,
    &bits::AND,
    &bits::OR,
    &bits::XOR,
    &bits::SHIFT_LEFT,
    &bits::SHIFT_RIGHT,
    &divide::Divide,
    &integer_divide::IntegerDivide,
    &like::Like,
    &modulo::Modulo,
    &multiply::Multiply,
    &negate::Negate,
    &subtract::Subtract,
    &xor::Xor,
];
