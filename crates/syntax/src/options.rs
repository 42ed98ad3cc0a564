//! Options of parsing that the session decides. The engine reads `sql_mode` once a statement and
//! passes these bits down; nothing here knows a system variable.

/// The bits of `sql_mode` that change how a statement is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ParseOptions {
    /// `ANSI_QUOTES`: `"x"` is an identifier and not a string.
    pub ansi_quotes: bool,
    /// `PIPES_AS_CONCAT`: `||` joins strings instead of being OR.
    pub pipes_as_concat: bool,
    /// `NO_BACKSLASH_ESCAPES`: a backslash in a string is a character like any other.
    pub no_backslash_escapes: bool,
    /// `HIGH_NOT_PRECEDENCE`: `NOT` binds as tightly as `!`.
    pub high_not_precedence: bool,
    /// `IGNORE_SPACE`: blanks may stand between a built-in function's name and its parenthesis.
    pub ignore_space: bool,
}

impl ParseOptions {
    /// MySQL 8.4's default `sql_mode`: none of these bits is set.
    pub const MYSQL_DEFAULT: ParseOptions = ParseOptions {
        ansi_quotes: false,
        pipes_as_concat: false,
        no_backslash_escapes: false,
        high_not_precedence: false,
        ignore_space: false,
    };
}
