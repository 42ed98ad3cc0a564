//! Conversion of `sql_mode` from MySQL's bits (the order of its words) to [`SqlMode`].

use mayfly_types::error::codes;
use mayfly_types::{Diagnostics, Error, Level, SqlMode};

use super::optimizer::SQL_MODES;

/// Each word that has an effect, with its mode.
const MODES: &[(&str, SqlMode)] = &[
    ("REAL_AS_FLOAT", SqlMode::REAL_AS_FLOAT),
    ("PIPES_AS_CONCAT", SqlMode::PIPES_AS_CONCAT),
    ("ANSI_QUOTES", SqlMode::ANSI_QUOTES),
    ("IGNORE_SPACE", SqlMode::IGNORE_SPACE),
    ("ONLY_FULL_GROUP_BY", SqlMode::ONLY_FULL_GROUP_BY),
    ("NO_UNSIGNED_SUBTRACTION", SqlMode::NO_UNSIGNED_SUBTRACTION),
    ("NO_DIR_IN_CREATE", SqlMode::NO_DIR_IN_CREATE),
    ("ANSI", SqlMode::ANSI),
    ("NO_AUTO_VALUE_ON_ZERO", SqlMode::NO_AUTO_VALUE_ON_ZERO),
    ("NO_BACKSLASH_ESCAPES", SqlMode::NO_BACKSLASH_ESCAPES),
    ("STRICT_TRANS_TABLES", SqlMode::STRICT_TRANS_TABLES),
    ("STRICT_ALL_TABLES", SqlMode::STRICT_ALL_TABLES),
    ("NO_ZERO_IN_DATE", SqlMode::NO_ZERO_IN_DATE),
    ("NO_ZERO_DATE", SqlMode::NO_ZERO_DATE),
    ("ALLOW_INVALID_DATES", SqlMode::ALLOW_INVALID_DATES),
    (
        "ERROR_FOR_DIVISION_BY_ZERO",
        SqlMode::ERROR_FOR_DIVISION_BY_ZERO,
    ),
    ("TRADITIONAL", SqlMode::TRADITIONAL),
    ("HIGH_NOT_PRECEDENCE", SqlMode::HIGH_NOT_PRECEDENCE),
    ("NO_ENGINE_SUBSTITUTION", SqlMode::NO_ENGINE_SUBSTITUTION),
    ("PAD_CHAR_TO_FULL_LENGTH", SqlMode::PAD_CHAR_TO_FULL_LENGTH),
    (
        "TIME_TRUNCATE_FRACTIONAL",
        SqlMode::TIME_TRUNCATE_FRACTIONAL,
    ),
];

/// The words of the combination modes.
const COMBINATIONS: &[(&str, &[&str])] = &[
    (
        "ANSI",
        &[
            "REAL_AS_FLOAT",
            "PIPES_AS_CONCAT",
            "ANSI_QUOTES",
            "IGNORE_SPACE",
            "ONLY_FULL_GROUP_BY",
        ],
    ),
    (
        "TRADITIONAL",
        &[
            "STRICT_TRANS_TABLES",
            "STRICT_ALL_TABLES",
            "NO_ZERO_IN_DATE",
            "NO_ZERO_DATE",
            "ERROR_FOR_DIVISION_BY_ZERO",
            "NO_ENGINE_SUBSTITUTION",
        ],
    ),
];

/// The bit of a mode in the variable's setting.
pub(crate) fn bit(word: &str) -> u64 {
    let position = SQL_MODES.iter().position(|known| *known == word);
    position.map_or(0, |position| 1 << position)
}

/// The modes of a setting's bits.
pub(crate) fn from_bits(bits: u64) -> SqlMode {
    let mut mode = SqlMode(0);
    for (word, flag) in MODES {
        if bits & bit(word) != 0 {
            mode.0 |= flag.0;
        }
    }
    mode
}

/// The bits with combination modes expanded, and MySQL's warnings about them.
pub(crate) fn expand(mut bits: u64, before: u64, diagnostics: &Diagnostics) -> u64 {
    for (word, parts) in COMBINATIONS {
        if bits & bit(word) != 0 {
            bits |= parts
                .iter()
                .map(|part| bit(part))
                .fold(0, |all, bit| all | bit);
        }
    }
    let strict = bits & (bit("STRICT_TRANS_TABLES") | bit("STRICT_ALL_TABLES")) != 0;
    let belonging =
        bit("NO_ZERO_DATE") | bit("NO_ZERO_IN_DATE") | bit("ERROR_FOR_DIVISION_BY_ZERO");
    let warn = |error: Error| diagnostics.push(Level::Warning, error);
    if (strict && bits & belonging != belonging) || (!strict && bits & belonging != 0) {
        warn(codes::ER_SQL_MODE_MERGED.error());
    }
    let padded = "PAD_CHAR_TO_FULL_LENGTH";
    if (bits ^ before) & bit(padded) != 0 && bits & bit(padded) != 0 {
        warn(codes::ER_WARN_DEPRECATED_SQLMODE.with(&[&padded]));
    }
    bits
}
