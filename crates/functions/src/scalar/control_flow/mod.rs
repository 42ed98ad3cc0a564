//! Control flow. The planner turns IF, IFNULL, COALESCE and NULLIF into CASE where that is as good,
//! so that branches which are not taken are not evaluated; these functions are for the rest.

mod coalesce;
mod extremes;
mod if_function;
mod interval;
mod isnull;
mod nullif;

use crate::scalar::ScalarFunction;

/// The functions of this family.
pub(crate) const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction::new(&["coalesce"], 1..=usize::MAX, &coalesce::COALESCE),
    ScalarFunction::new(&["ifnull"], 2..=2, &coalesce::IFNULL),
    ScalarFunction::new(&["greatest"], 2..=usize::MAX, &extremes::GREATEST),
    ScalarFunction::new(&["least"], 2..=usize::MAX, &extremes::LEAST),
    ScalarFunction::new(&["if"], 3..=3, &if_function::If),
    ScalarFunction::new(&["interval"], 2..=usize::MAX, &interval::Interval),
    ScalarFunction::new(&["isnull"], 1..=1, &isnull::IsNull),
    ScalarFunction::new(&["nullif"], 2..=2, &nullif::NullIf),
];
