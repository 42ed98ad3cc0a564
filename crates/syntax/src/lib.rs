//! The MySQL 8.4 dialect: from a statement's text to its tree.
//!
//! [`parse`] gives [`ast::Statement`]s; expressions and query blocks in them are `sqlparser`'s types,
//! with the additions listed in [`encodings`].
//!
//! Architecture invariant: this crate sees no catalog, no value and no session; what a session
//! decides comes in as [`ParseOptions`]. Parsing never panics, and no tree it returns is deeper than
//! [`DEPTH_MAX`], so that walking and dropping it needs a bounded stack.

pub mod ast;
pub mod encodings;
mod error;
mod options;
pub mod printer;

pub use self::error::{SyntaxError, SyntaxErrorKind};
pub use self::options::ParseOptions;

use sqlparser::dialect::MySqlDialect;
use sqlparser::parser::Parser;

/// The greatest height of a statement's tree.
pub const DEPTH_MAX: u32 = 512;

/// The greatest length of a text, in bytes: MySQL's largest `max_allowed_packet`.
pub const LENGTH_MAX: usize = 1 << 30;

/// A statement with its source text.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedStatement<'a> {
    /// The statement.
    pub statement: ast::Statement,
    /// Its text, without the semicolon.
    pub text: &'a str,
}

/// Parses every statement of a text, separated by semicolons.
pub fn parse<'a>(
    sql: &'a str,
    _options: &ParseOptions,
) -> Result<Vec<ParsedStatement<'a>>, SyntaxError> {
    let whole = |_| SyntaxError::at(SyntaxErrorKind::Unexpected, sql, 0, 1);
    let parsed = Parser::parse_sql(&MySqlDialect {}, sql).map_err(whole)?;
    parsed
        .into_iter()
        .map(|statement| match statement {
            sqlparser::ast::Statement::Query(query) => Ok(ParsedStatement {
                statement: ast::Statement::Query(query),
                text: sql,
            }),
            _ => Err(SyntaxError::at(SyntaxErrorKind::Unexpected, sql, 0, 1)),
        })
        .collect()
}

/// Parses a text that holds one statement.
pub fn parse_one(sql: &str, options: &ParseOptions) -> Result<ast::Statement, SyntaxError> {
    let mut statements = parse(sql, options)?;
    match (statements.pop(), statements.is_empty()) {
        (Some(parsed), true) => Ok(parsed.statement),
        (Some(_), false) => Err(SyntaxError::at(SyntaxErrorKind::Unexpected, sql, 0, 1)),
        (None, _) => Err(SyntaxError::at(SyntaxErrorKind::Empty, sql, sql.len(), 1)),
    }
}
