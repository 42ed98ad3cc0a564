//! Analysis of a statement, query block by query block: the parts that decide about temporary tables.
//!
//! The tree is the parser's. Names are resolved against the schema as far as it is known; a table that is not known has
//! columns of unknown types, which lowers the confidence of findings instead of making them wrong.

mod collect;
mod names;
mod values;

use std::borrow::Cow;
use std::sync::Arc;

use mayfly_syntax::ast::{self, Expr, OrderByExpr, Query, Select, TableName};
use mayfly_syntax::{ParseOptions, parse_one, with_stack};

use crate::schema::{Schema, Table};
pub(crate) use names::ColumnPlace;
pub(crate) use values::{Value, ValueTypes};

/// A statement, taken apart.
#[derive(Debug)]
pub(crate) struct Statement {
    /// Kind of the statement.
    pub(crate) kind: StatementKind,
    /// Its query blocks in the order of their SELECTs in the text, followed by those of views.
    pub(crate) blocks: Vec<Block>,
    /// Its set operations.
    pub(crate) set_operations: Vec<SetOperation>,
    /// Recursive common table expressions.
    pub(crate) recursive: Vec<String>,
}

/// Kind of a statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StatementKind {
    /// A query.
    Select,
    /// INSERT, REPLACE or CREATE TABLE with a query.
    InsertSelect {
        /// The table.
        target: TableName,
        /// Whether the query reads the target table.
        reads_target: bool,
    },
    /// UPDATE of several tables.
    MultiTableUpdate,
    /// SHOW of something other than variables.
    Show(String),
    /// Any other statement.
    Other,
}

/// A query block: one SELECT.
#[derive(Debug)]
pub(crate) struct Block {
    /// Its index among the blocks.
    pub(crate) number: usize,
    /// Its role in the statement.
    pub(crate) role: Role,
    /// Common table expressions that it may name.
    pub(crate) with: Vec<ast::Cte>,
    /// The block itself.
    pub(crate) select: Select,
    /// The tables of FROM.
    pub(crate) tables: Vec<TableReference>,
    /// The conjuncts of WHERE and ON.
    pub(crate) conditions: Vec<Expr>,
    /// The keys of GROUP BY, with aliases and positions resolved.
    pub(crate) group_by: Vec<Expr>,
    /// WITH ROLLUP
    pub(crate) rollup: bool,
    /// The keys of ORDER BY, with aliases and positions resolved.
    pub(crate) order_by: Vec<OrderByExpr>,
    /// Whether it has a LIMIT.
    pub(crate) has_limit: bool,
    /// Calls of aggregate functions.
    pub(crate) aggregates: Vec<Aggregate>,
    /// Whether it has window functions.
    pub(crate) has_windows: bool,
}

/// A call of an aggregate function.
#[derive(Debug, Clone)]
pub(crate) struct Aggregate {
    /// Its name in capitals.
    pub(crate) name: String,
    /// DISTINCT
    pub(crate) distinct: bool,
    /// Its arguments.
    pub(crate) arguments: Vec<Expr>,
}

/// Role of a query block in the statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Role {
    /// The statement itself, or an arm of its set operation.
    Top,
    /// A derived table.
    Derived(String),
    /// A common table expression, and its number of references.
    CommonTable(String, usize),
    /// A view.
    View {
        /// Its database and name.
        name: (String, String),
        /// ALGORITHM=TEMPTABLE
        materialized: bool,
    },
    /// A subquery in an expression.
    Subquery(SubqueryKind),
}

/// Use of a subquery in an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubqueryKind {
    /// IN, NOT IN, = ANY and similar.
    In,
    /// EXISTS
    Exists,
    /// A scalar subquery.
    Scalar,
}

/// UNION, INTERSECT or EXCEPT.
#[derive(Debug, Clone)]
pub(crate) struct SetOperation {
    /// Its name in capitals.
    pub(crate) name: &'static str,
    /// ALL
    pub(crate) all: bool,
    /// Its operand blocks.
    pub(crate) blocks: Vec<usize>,
    /// Whether it has its own ORDER BY.
    pub(crate) ordered: bool,
    /// Its role in the statement.
    pub(crate) role: Role,
}

/// A table of FROM.
#[derive(Debug, Clone)]
pub(crate) struct TableReference {
    /// Its alias in the statement.
    pub(crate) alias: String,
    /// Kind of the table.
    pub(crate) origin: Origin,
}

/// Kind of a table in FROM.
#[derive(Debug, Clone)]
pub(crate) enum Origin {
    /// A known base table.
    Base(Arc<Table>),
    /// A known view, whose blocks are among the statement's.
    View,
    /// A derived table or common table expression.
    Query,
    /// A table of information_schema, performance_schema or sys.
    System(String),
    /// An unknown table.
    Unknown(String),
}

impl TableReference {
    /// The base table, if it is a known one.
    pub(crate) fn base(&self) -> Option<&Arc<Table>> {
        match &self.origin {
            Origin::Base(table) => Some(table),
            _ => None,
        }
    }
}

impl Block {
    /// Whether it is DISTINCT.
    pub(crate) fn is_distinct(&self) -> bool {
        self.select.distinct
    }

    /// Words behind SELECT, such as SQL_BIG_RESULT.
    pub(crate) fn modifiers(&self) -> ast::SelectModifiers {
        self.select.select_modifiers
    }

    /// The expressions of its select list; none for `*`.
    pub(crate) fn items(&self) -> impl Iterator<Item = &Expr> {
        self.select.projection.iter().filter_map(|item| match item {
            ast::SelectItem::UnnamedExpr(expr) | ast::SelectItem::ExprWithAlias { expr, .. } => {
                Some(expr)
            }
            _ => None,
        })
    }

    /// Whether its select list has `*` in it.
    pub(crate) fn has_wildcard(&self) -> bool {
        self.select.projection.iter().any(|item| {
            matches!(
                item,
                ast::SelectItem::Wildcard | ast::SelectItem::QualifiedWildcard(..)
            )
        })
    }
}

/// Error of a text that could not be analyzed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotUnderstood(pub String);

/// Analyzes a statement. `text` may be a digest text, whose literals are `?`.
///
/// # Errors
/// The text is not a statement of the dialect.
pub(crate) fn analyze(
    text: &str,
    schema: &Schema,
    database: Option<&str>,
) -> Result<Statement, NotUnderstood> {
    let readable = readable(text);
    let parsed =
        parse_one(&readable, &OPTIONS).map_err(|error| NotUnderstood(error.to_string()))?;
    let height = parsed.height;
    let statement = parsed.statement;
    Ok(with_stack(height.saturating_add(16), || {
        collect::statement(&statement, schema, database.unwrap_or_default())
    }))
}

/// Checks that a text can be parsed.
///
/// # Errors
/// The text is not a statement of the dialect.
pub(crate) fn check(text: &str) -> Result<(), NotUnderstood> {
    parse_one(&readable(text), &OPTIONS).map_err(|error| NotUnderstood(error.to_string()))?;
    Ok(())
}

const OPTIONS: ParseOptions = ParseOptions {
    ignore_space: true,
    ..ParseOptions::MYSQL_DEFAULT
};

/// A text without parts that the parser does not know: the dots of a digest text, and MariaDB's prefix.
fn readable(text: &str) -> Cow<'_, str> {
    let text = without_set_statement(text);
    if text.contains("...") {
        return Cow::Owned(text.replace("(...)", "(?)").replace("?, ...", "?"));
    }
    Cow::Borrowed(text)
}

/// The statement behind MariaDB's `SET STATEMENT variable = value FOR`.
fn without_set_statement(text: &str) -> &str {
    use crate::sql_text::tokens;
    let mut list = tokens(text);
    let begins = |token: Option<crate::sql_text::Token>, word| {
        token.is_some_and(|token| token.is(text, word))
    };
    if begins(list.next(), "set") && begins(list.next(), "statement") {
        let behind = list.find(|token| token.is(text, "for"));
        return behind.map_or(text, |word| &text[word.end..]);
    }
    text
}

/// The query of a statement, if it has one.
pub(crate) fn query_of(statement: &ast::Statement) -> Option<&Query> {
    match statement {
        ast::Statement::Query(query) => Some(query),
        ast::Statement::SelectInto(into) => Some(&into.query),
        ast::Statement::Insert(insert) => match &insert.source {
            ast::InsertSource::Query(query) => Some(query),
            ast::InsertSource::Values(_) => None,
        },
        ast::Statement::CreateTable(create) => create.select.as_ref().map(|select| &*select.query),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
