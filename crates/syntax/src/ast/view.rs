//! Views.

use super::Query;

use super::{AccountReference, TableName};

/// `CREATE [OR REPLACE] VIEW` and `ALTER VIEW`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateView {
    /// `OR REPLACE`.
    pub or_replace: bool,
    /// `ALTER VIEW`.
    pub alter: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// `ALGORITHM`.
    pub algorithm: ViewAlgorithm,
    /// `DEFINER = account`.
    pub definer: Option<AccountReference>,
    /// `SQL SECURITY`: whether it is `INVOKER`.
    pub invoker_security: Option<bool>,
    /// The view.
    pub name: TableName,
    /// Its column names; empty: those of the query.
    pub columns: Vec<String>,
    /// The query.
    pub query: Box<Query>,
    /// The query's source text.
    pub text: String,
    /// `WITH [CASCADED | LOCAL] CHECK OPTION`: whether it cascades.
    pub check_option: Option<bool>,
}

/// Algorithms of views.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are MySQL's own keywords")]
pub enum ViewAlgorithm {
    Undefined,
    Merge,
    TempTable,
}

/// `DROP VIEW [IF EXISTS] a, b`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropView {
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// The views.
    pub views: Vec<TableName>,
}
