//! What a statement asks for, query block by query block: the parts that decide about temporary tables.
//!
//! The tree is the parser's. Names are resolved against the schema as far as it is known; a table that is not known
//! has columns of unknown types, so that findings about it are less sure instead of wrong.

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
    /// What it does.
    pub(crate) kind: StatementKind,
    /// Its query blocks in the order of their SELECTs in the text; behind them those of views.
    pub(crate) blocks: Vec<Block>,
    /// Its set operations.
    pub(crate) set_operations: Vec<SetOperation>,
    /// Recursive common table expressions.
    pub(crate) recursive: Vec<String>,
}

/// What a statement does.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StatementKind {
    /// It reads.
    Select,
    /// INSERT, REPLACE or CREATE TABLE with a query; whether the query reads the table itself.
    InsertSelect {
        /// The table.
        target: TableName,
        /// It is one of those that the query reads.
        reads_target: bool,
    },
    /// UPDATE of several tables.
    MultiTableUpdate,
    /// SHOW of something that is not a variable.
    Show(String),
    /// Anything else.
    Other,
}

/// A query block: one SELECT.
#[derive(Debug)]
pub(crate) struct Block {
    /// Its place among the blocks.
    pub(crate) number: usize,
    /// What it is to the rest of the statement.
    pub(crate) role: Role,
    /// Common table expressions that it may name.
    pub(crate) with: Vec<ast::Cte>,
    /// The block itself.
    pub(crate) select: Select,
    /// The tables of FROM.
    pub(crate) tables: Vec<TableReference>,
    /// What WHERE and ON demand, all of it.
    pub(crate) conditions: Vec<Expr>,
    /// The keys of GROUP BY, with aliases and positions resolved.
    pub(crate) group_by: Vec<Expr>,
    /// WITH ROLLUP
    pub(crate) rollup: bool,
    /// The keys of ORDER BY, likewise.
    pub(crate) order_by: Vec<OrderByExpr>,
    /// It has a LIMIT.
    pub(crate) has_limit: bool,
    /// Calls of aggregate functions.
    pub(crate) aggregates: Vec<Aggregate>,
    /// It has window functions.
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

/// What a query block is to the rest of the statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Role {
    /// The statement itself, or an arm of its set operation.
    Top,
    /// A derived table.
    Derived(String),
    /// A common table expression, and how often it is named.
    CommonTable(String, usize),
    /// A view, and whether it is made into a table by its definition.
    View {
        /// Its database and name.
        name: (String, String),
        /// ALGORITHM=TEMPTABLE
        materialized: bool,
    },
    /// A subquery in an expression.
    Subquery(SubqueryKind),
}

/// How an expression uses a subquery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubqueryKind {
    /// IN, NOT IN, = ANY and the like.
    In,
    /// EXISTS
    Exists,
    /// As a value.
    Scalar,
}

/// UNION, INTERSECT or EXCEPT.
#[derive(Debug, Clone)]
pub(crate) struct SetOperation {
    /// Its name in capitals.
    pub(crate) name: &'static str,
    /// ALL
    pub(crate) all: bool,
    /// The blocks that take part.
    pub(crate) blocks: Vec<usize>,
    /// It has an ORDER BY of its own.
    pub(crate) ordered: bool,
    /// What it is to the rest.
    pub(crate) role: Role,
}

/// A table of FROM.
#[derive(Debug, Clone)]
pub(crate) struct TableReference {
    /// The name that the statement gives it.
    pub(crate) alias: String,
    /// What it is.
    pub(crate) origin: Origin,
}

/// What a table of FROM is.
#[derive(Debug, Clone)]
pub(crate) enum Origin {
    /// A base table that is known.
    Base(Arc<Table>),
    /// A view that is known, whose blocks stand among the statement's.
    View,
    /// A derived table or common table expression.
    Query,
    /// A table of information_schema, performance_schema or sys.
    System(String),
    /// A table that is not known.
    Unknown(String),
}

impl TableReference {
    /// The base table, if it is one that is known.
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

/// Why a text could not be taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotUnderstood(pub String);

/// Takes a statement apart. `text` may be a digest text, whose literals are `?`.
///
/// # Errors
/// When the text is no statement of the dialect.
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

/// Reads a text and forgets it.
///
/// # Errors
/// When the text is no statement of the dialect.
pub(crate) fn check(text: &str) -> Result<(), NotUnderstood> {
    parse_one(&readable(text), &OPTIONS).map_err(|error| NotUnderstood(error.to_string()))?;
    Ok(())
}

const OPTIONS: ParseOptions = ParseOptions {
    ignore_space: true,
    ..ParseOptions::MYSQL_DEFAULT
};

/// A text without what the parser does not know: the dots of a digest text, and MariaDB's prefix.
fn readable(text: &str) -> Cow<'_, str> {
    let text = without_set_statement(text);
    if text.contains("...") {
        return Cow::Owned(text.replace("(...)", "(?)").replace("?, ...", "?"));
    }
    Cow::Borrowed(text)
}

/// What stands behind MariaDB's `SET STATEMENT variable = value FOR`.
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

/// The query that a statement runs, if it runs one.
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
