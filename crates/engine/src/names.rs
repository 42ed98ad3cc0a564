//! Checks and comparison of names, and optional keywords of printed statements.

use mayfly_types::error::codes;
use mayfly_types::{ErrorCode, Result};

use crate::error::refuse;

/// The longest name of a database, table or column, in characters.
const NAME_LENGTH_MAX: usize = 64;

/// 1059 for a name that is too long, and the error `wrong` for one that is empty or ends in a space.
pub(crate) fn check_name(name: &str, wrong: &ErrorCode) -> Result<()> {
    if name.chars().count() > NAME_LENGTH_MAX {
        return Err(codes::ER_TOO_LONG_IDENT.with(&[&name]));
    }
    refuse(name.is_empty() || name.ends_with(' '), || {
        wrong.with(&[&name])
    })
}

/// Whether two column names are equal, case-insensitively.
pub(crate) fn same_name(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || (!a.is_ascii() && a.to_lowercase() == b.to_lowercase())
}

/// A keyword that is printed only if `holds`.
pub(crate) fn word_if(holds: bool, word: &str) -> &str {
    if holds { word } else { "" }
}
