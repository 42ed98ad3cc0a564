//! Strings.

mod aes;
mod base64;
mod case;
pub(crate) mod chars;
mod choose;
mod codes;
mod collation;
mod compare;
mod compress;
mod concat;
mod digest;
mod format;
mod hex;
mod inet;
mod length;
mod locate;
mod pad;
mod random_bytes;
mod replace;
mod soundex;
mod substring;
#[cfg(test)]
mod tests;
mod trim;
mod uuid;
mod weight_string;

use crate::scalar::Row;

/// The functions of this family, file by file.
pub(crate) const FUNCTIONS: &[&[Row]] = &[
    aes::FUNCTIONS,
    base64::FUNCTIONS,
    case::FUNCTIONS,
    choose::FUNCTIONS,
    codes::FUNCTIONS,
    collation::FUNCTIONS,
    compare::FUNCTIONS,
    compress::FUNCTIONS,
    concat::FUNCTIONS,
    digest::FUNCTIONS,
    format::FUNCTIONS,
    hex::FUNCTIONS,
    inet::FUNCTIONS,
    length::FUNCTIONS,
    locate::FUNCTIONS,
    pad::FUNCTIONS,
    random_bytes::FUNCTIONS,
    replace::FUNCTIONS,
    soundex::FUNCTIONS,
    substring::FUNCTIONS,
    trim::FUNCTIONS,
    uuid::FUNCTIONS,
    weight_string::FUNCTIONS,
];
