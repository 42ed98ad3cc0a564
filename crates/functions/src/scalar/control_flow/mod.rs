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
pub(crate) const FUNCTIONS: &[&dyn ScalarFunction] = &[
    &coalesce::COALESCE,
    &coalesce::IFNULL,
    &extremes::GREATEST,
    &extremes::LEAST,
    &if_function::If,
    &interval::Interval,
    &isnull::IsNull,
    &nullif::NullIf,
];
