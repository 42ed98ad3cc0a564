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

/// Source of the text of a prepared statement.
#[derive(Debug, Clone, PartialEq)]
pub enum PrepareSource {
    /// A string.
    Text(String),
    /// A user variable, without its `@`.
    Variable(String),
    /// An expression, in MariaDB.
    Expression(Box<Expr>),
}

/// `EXECUTE name [USING @a, @b]`, and MariaDB's `EXECUTE IMMEDIATE text [USING a, b]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Execute {
    /// The statement to run.
    pub what: Executed,
    /// The values of its `?`: user variables, and in MariaDB any expressions.
    pub using: Vec<Expr>,
}

/// The statement that EXECUTE runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Executed {
    /// The prepared statement of a name.
    Prepared(String),
    /// `IMMEDIATE`: the statement's text.
    Immediate(PrepareSource),
}
