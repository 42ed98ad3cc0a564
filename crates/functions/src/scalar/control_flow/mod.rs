//! Control flow. The planner turns IF, IFNULL, COALESCE and NULLIF into CASE where that is equivalent, so that
//! branches not taken are not evaluated; these functions are for the rest.

mod choices;
mod extremes;
mod frame_distance;
mod interval;
#[cfg(test)]
mod tests;

use crate::scalar::Row;

/// The functions of this family, file by file.
pub(crate) const FUNCTIONS: &[&[Row]] = &[
    choices::FUNCTIONS,
    extremes::FUNCTIONS,
    frame_distance::FUNCTIONS,
    interval::FUNCTIONS,
];

pub use frame_distance::is_distance;
