//! `HANDLER`, direct access to a table's storage.

use super::{BinaryOperator, Expr, LimitClause};

use super::TableName;

/// `HANDLER table ...`.
#[derive(Debug, Clone, PartialEq)]
pub struct HandlerStatement {
    /// The table or its alias.
    pub table: TableName,
    /// The action.
    pub action: HandlerAction,
}

/// Action of `HANDLER`.
#[derive(Debug, Clone, PartialEq)]
pub enum HandlerAction {
    /// `OPEN [[AS] alias]`.
    Open {
        /// The alias.
        alias: Option<String>,
    },
    /// `CLOSE`.
    Close,
    /// `READ ...`.
    Read {
        /// The index; `None` is the table's own order.
        index: Option<String>,
        /// The row to read.
        read: HandlerRead,
        /// `WHERE`.
        selection: Option<Expr>,
        /// `LIMIT`.
        limit: Option<LimitClause>,
    },
}

/// The row that `HANDLER ... READ` reads.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the variants are MySQL's own keywords")]
pub enum HandlerRead {
    First,
    Next,
    Prev,
    Last,
    /// `index = (values)`, or `<=`, `>=`, `<`, `>`.
    Key(BinaryOperator, Vec<Expr>),
}
