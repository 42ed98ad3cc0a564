//! `sql_mode`: the manual, "Server SQL Modes".

/// A set of SQL modes, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SqlMode(pub u32);

impl SqlMode {
    /// Backslash is an ordinary character in strings.
    pub const NO_BACKSLASH_ESCAPES: Self = Self(1);
    /// `"` quotes identifiers.
    pub const ANSI_QUOTES: Self = Self(1 << 1);
    /// `||` concatenates.
    pub const PIPES_AS_CONCAT: Self = Self(1 << 2);
    /// NOT binds as tightly as `!`.
    pub const HIGH_NOT_PRECEDENCE: Self = Self(1 << 3);
    /// Space is allowed between a function's name and its parenthesis.
    pub const IGNORE_SPACE: Self = Self(1 << 4);
    /// Select lists and HAVING may name only grouped or functionally dependent columns.
    pub const ONLY_FULL_GROUP_BY: Self = Self(1 << 5);
    /// Wrong values are errors in transactional tables.
    pub const STRICT_TRANS_TABLES: Self = Self(1 << 6);
    /// Wrong values are errors in every table.
    pub const STRICT_ALL_TABLES: Self = Self(1 << 7);
    /// A date with a zero month or day is wrong.
    pub const NO_ZERO_IN_DATE: Self = Self(1 << 8);
    /// '0000-00-00' is wrong.
    pub const NO_ZERO_DATE: Self = Self(1 << 9);
    /// Days are checked against 31 only.
    pub const ALLOW_INVALID_DATES: Self = Self(1 << 10);
    /// Division by zero warns, or fails in strict mode, when storing.
    pub const ERROR_FOR_DIVISION_BY_ZERO: Self = Self(1 << 11);
    /// CREATE TABLE with an unknown engine fails.
    pub const NO_ENGINE_SUBSTITUTION: Self = Self(1 << 12);
    /// 0 is stored in an AUTO_INCREMENT column instead of the next number.
    pub const NO_AUTO_VALUE_ON_ZERO: Self = Self(1 << 13);
    /// Subtraction gives a signed result even of unsigned operands.
    pub const NO_UNSIGNED_SUBTRACTION: Self = Self(1 << 14);
    /// CHAR values keep their padding when read.
    pub const PAD_CHAR_TO_FULL_LENGTH: Self = Self(1 << 15);
    /// REAL is FLOAT.
    pub const REAL_AS_FLOAT: Self = Self(1 << 16);
    /// Temporal values with too many fractional digits are truncated, not rounded.
    pub const TIME_TRUNCATE_FRACTIONAL: Self = Self(1 << 17);
    /// Index and data directory options are ignored.
    pub const NO_DIR_IN_CREATE: Self = Self(1 << 18);
    /// Part of the combination mode ANSI.
    pub const ANSI: Self = Self(1 << 19);
    /// Part of the combination mode TRADITIONAL.
    pub const TRADITIONAL: Self = Self(1 << 20);

    /// MySQL 8.4's default.
    pub const DEFAULT: Self = Self(
        Self::ONLY_FULL_GROUP_BY.0
            | Self::STRICT_TRANS_TABLES.0
            | Self::NO_ZERO_IN_DATE.0
            | Self::NO_ZERO_DATE.0
            | Self::ERROR_FOR_DIVISION_BY_ZERO.0
            | Self::NO_ENGINE_SUBSTITUTION.0,
    );

    /// Whether all modes of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Either of the strict modes.
    pub fn is_strict(self) -> bool {
        self.0 & (Self::STRICT_TRANS_TABLES.0 | Self::STRICT_ALL_TABLES.0) != 0
    }
}
