//! Prepared statements in SQL.

use super::Expr;

/// `PREPARE name FROM source`.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepare {
    /// The statement's name.
    pub name: String,
    /// Its text.
    pub source: PrepareSource,
}

/// Where the text of a prepared statement is.
#[derive(Debug, Clone, PartialEq)]
pub enum PrepareSource {
    /// In a string.
    Text(String),
    /// In a user variable, without its `@`.
    Variable(String),
    /// What an expression gives, as in MariaDB.
    Expression(Box<Expr>),
}

/// `EXECUTE name [USING @a, @b]`, and MariaDB's `EXECUTE IMMEDIATE text [USING a, b]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Execute {
    /// What is run.
    pub what: Executed,
    /// The values of its `?`: user variables, and in MariaDB any expressions.
    pub using: Vec<Expr>,
}

/// What EXECUTE runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Executed {
    /// The prepared statement of a name.
    Prepared(String),
    /// `IMMEDIATE`: a text.
    Immediate(PrepareSource),
}
