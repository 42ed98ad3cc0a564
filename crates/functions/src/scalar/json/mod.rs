//! JSON functions (the manual, "JSON Functions"). Documents are passed as normalized text: functions that only read
//! them work on the text, functions that change them on a tree.

pub(crate) mod arguments;
mod array_change;
mod construct;
mod contains;
mod describe;
mod extract;
mod merge;
mod pretty;
mod quote;
mod schema;
mod schema_valid;
mod search;
mod set;
mod storage_size;
#[cfg(test)]
mod tests;
mod typed_array;
mod value;

use crate::scalar::Row;

/// The functions of this family, file by file.
pub(crate) const FUNCTIONS: &[&[Row]] = &[
    array_change::FUNCTIONS,
    construct::FUNCTIONS,
    contains::FUNCTIONS,
    describe::FUNCTIONS,
    extract::FUNCTIONS,
    merge::FUNCTIONS,
    pretty::FUNCTIONS,
    quote::FUNCTIONS,
    schema_valid::FUNCTIONS,
    search::FUNCTIONS,
    set::FUNCTIONS,
    storage_size::FUNCTIONS,
    typed_array::FUNCTIONS,
    value::FUNCTIONS,
];
