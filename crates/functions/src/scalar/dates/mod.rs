//! Dates and times (the manual, "Date and Time Functions").

mod add_time;
pub(crate) mod arguments;
mod comparable;
mod conversion;
mod convert_tz;
mod date_add;
mod difference;
mod extract;
mod format;
mod get_format;
mod make;
mod names;
mod now;
mod part;
mod period;
mod str_to_date;
#[cfg(test)]
mod tests;
mod time_part;
mod unix_time;

use crate::scalar::Row;

/// The functions of this family, file by file.
pub(crate) const FUNCTIONS: &[&[Row]] = &[
    add_time::FUNCTIONS,
    comparable::FUNCTIONS,
    conversion::FUNCTIONS,
    convert_tz::FUNCTIONS,
    date_add::FUNCTIONS,
    difference::FUNCTIONS,
    extract::FUNCTIONS,
    format::FUNCTIONS,
    get_format::FUNCTIONS,
    make::FUNCTIONS,
    names::FUNCTIONS,
    now::FUNCTIONS,
    part::FUNCTIONS,
    period::FUNCTIONS,
    str_to_date::FUNCTIONS,
    time_part::FUNCTIONS,
    unix_time::FUNCTIONS,
];
