//! Stored functions with a body that runs statements: the engine's part of a [`StoredFunction`].
//!
//! A program that embeds the engine adds functions to a database ([`Database::add_function`]). The body is the text of
//! one statement, or a Rust closure; both run in a frame (`session::frame`) inside the statement that calls the
//! function. Functions belong to the catalog's state: a change of one makes plans invalid that were made before. They
//! are not kept in the data directory.
//!
//! [`Database::add_function`]: crate::Database::add_function

use std::fmt;
use std::sync::Arc;

use mayfly_functions::{DataAccess, FunctionRef, StoredFunction};
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType, Value};

use super::inner_statements::{Environment, InnerStatements};
use crate::convert;
use crate::error::refuse;

/// Work of a function in Rust: from the arguments, converted to the types of the parameters, to a value with its type.
pub type FunctionWork =
    dyn Fn(&[(Value, SqlType)], &mut dyn InnerStatements) -> Result<(Value, SqlType)> + Send + Sync;

/// Body of a stored function.
#[derive(Clone)]
pub enum FunctionBody {
    /// One statement, whose `?` are the arguments. The value of a query is that of its only row's first column, and
    /// NULL without a row; that of another statement is the number of rows that it has changed.
    Statement(Arc<str>),
    /// A closure, which may run statements.
    Work(Arc<FunctionWork>),
}

impl fmt::Debug for FunctionBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Statement(text) => write!(f, "Statement({text:?})"),
            Self::Work(_) => f.write_str("Work"),
        }
    }
}

/// Definition of a stored function.
#[derive(Debug, Clone)]
pub struct FunctionDefinition {
    /// Name of the function.
    pub name: String,
    /// Names and types of the parameters.
    pub parameters: Vec<(String, SqlType)>,
    /// Type of the result.
    pub result: SqlType,
    /// DETERMINISTIC: equal results for equal arguments.
    pub is_deterministic: bool,
    /// What the body does with tables.
    pub access: DataAccess,
    /// The body.
    pub body: FunctionBody,
}

/// A body with what its statements run under.
#[derive(Debug)]
pub(crate) struct Routine {
    pub(crate) environment: Environment,
    /// When it was added, in microseconds of Unix time.
    pub(crate) created: i64,
    body: FunctionBody,
}

impl FunctionDefinition {
    /// The function of this definition in a database, which is the current one of its statements. It is added at a
    /// moment (`now`).
    pub(crate) fn in_database(self, database: &str, now: i64) -> StoredFunction {
        let environment = Environment {
            database: Some(Arc::from(database)),
            ..Environment::default()
        };
        StoredFunction {
            database: database.to_owned(),
            name: self.name,
            parameters: self.parameters,
            result: self.result,
            is_deterministic: self.is_deterministic,
            access: self.access,
            body: Arc::new(Routine {
                environment,
                created: now,
                body: self.body,
            }),
        }
    }
}

impl Routine {
    /// The statement of the body, if it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.body {
            FunctionBody::Statement(text) => Some(text),
            FunctionBody::Work(_) => None,
        }
    }

    /// The value of the body, with its type.
    pub(crate) fn run(
        &self,
        arguments: &[(Value, SqlType)],
        statements: &mut dyn InnerStatements,
    ) -> Result<(Value, SqlType)> {
        let text = match &self.body {
            FunctionBody::Work(work) => return work(arguments, statements),
            FunctionBody::Statement(text) => text,
        };
        let result = statements.run(text, arguments)?;
        let Some(column) = result.columns.first() else {
            let changed = i64::try_from(result.affected_rows).unwrap_or(i64::MAX);
            return Ok((Value::Int(changed), SqlType::bigint()));
        };
        let rows: usize = result.batches.iter().map(|batch| batch.row_count()).sum();
        refuse(rows > 1, || codes::ER_SUBQUERY_NO_1_ROW.error())?;
        let first = result.batches.iter().find(|batch| batch.row_count() > 0);
        let value = first.map(|batch| convert::value_at(batch.column(0), 0));
        Ok((value.unwrap_or(Value::Null), column.ty.clone()))
    }
}

/// Calls of stored functions in a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum FunctionUse {
    /// No calls.
    #[default]
    None,
    /// Calls whose number and order does not matter: the statement runs on one thread.
    InBatches,
    /// Calls that may change what the next row reads: the statement also reads one row at a time.
    ByRow,
}

impl FunctionUse {
    /// The use that calls of a function make.
    pub(crate) fn of(function: &Arc<StoredFunction>) -> Self {
        match FunctionRef::Stored(Arc::clone(function)).changes_state() {
            true => Self::ByRow,
            false => Self::InBatches,
        }
    }
}
