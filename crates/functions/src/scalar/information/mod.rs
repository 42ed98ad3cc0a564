//! Session information, user variables, and functions with side effects (the manual, "Information Functions" and
//! "Miscellaneous Functions").

mod any_value;
mod benchmark;
mod format;
mod gtid;
mod load_file;
mod only_row;
mod server;
mod session;
mod sleep;
mod statement_digest;
#[cfg(test)]
mod tests;
mod user_locks;
mod user_variable;
mod without;

use crate::scalar::Row;

/// The functions of this family, file by file.
pub(crate) const FUNCTIONS: &[&[Row]] = &[
    any_value::FUNCTIONS,
    benchmark::FUNCTIONS,
    format::FUNCTIONS,
    gtid::FUNCTIONS,
    load_file::FUNCTIONS,
    only_row::FUNCTIONS,
    server::FUNCTIONS,
    session::FUNCTIONS,
    sleep::FUNCTIONS,
    statement_digest::FUNCTIONS,
    user_locks::FUNCTIONS,
    user_variable::FUNCTIONS,
    without::FUNCTIONS,
];
