//! Names of columns, tables and accounts, and words of statements that the engine prints.

/// Whether two column names are the same: columns are named without regard to case.
pub(crate) fn same_name(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || (!a.is_ascii() && a.to_lowercase() == b.to_lowercase())
}

/// A part of a statement that is printed only if something holds.
pub(crate) fn word_if(holds: bool, word: &str) -> &str {
    if holds { word } else { "" }
}
