//! Stored functions, as expressions see them (the manual, "CREATE PROCEDURE and CREATE FUNCTION Statements").
//!
//! A [`StoredFunction`] says what a call means to the planner: the types, and what the function's characteristics
//! promise. How it is computed is known to the engine alone, which runs the body in the session of the statement
//! ([`CallStored`]). So a call may have effects, and is made once for each row, on the thread of the session.

use std::any::Any;
use std::fmt::{self, Debug};
use std::sync::Arc;

use arrow_array::ArrayRef;
use mayfly_types::convert::{array_of_values, array_value};
use mayfly_types::{Error, Result, SqlType, Value};

use crate::scalar::Volatility;
use crate::{Coercibility, Column, EvaluationContext, Signature};

/// Characteristic of a stored function: what its body does with tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataAccess {
    /// NO SQL
    NoSql,
    /// CONTAINS SQL: neither reads nor writes a table.
    ContainsSql,
    /// READS SQL DATA
    ReadsSqlData,
    /// MODIFIES SQL DATA
    ModifiesSqlData,
}

/// A stored function of a database.
pub struct StoredFunction {
    /// Database of the function.
    pub database: String,
    /// Name, case-insensitive.
    pub name: String,
    /// Names and types of the parameters. Arguments are converted to them as values of an assignment are.
    pub parameters: Vec<(String, SqlType)>,
    /// Type of the result, to which the value of the body is converted in the same way.
    pub result: SqlType,
    /// DETERMINISTIC
    pub is_deterministic: bool,
    /// What the body does with tables.
    pub access: DataAccess,
    /// The body, which only the maker of the function knows.
    pub body: Arc<dyn Any + Send + Sync>,
}

impl StoredFunction {
    /// Name with the database, for messages.
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.database, self.name)
    }

    /// Whether calls may be moved or left out: not those that give different results or change tables. Even a
    /// deterministic function is not computed before its statement runs.
    pub fn volatility(&self) -> Volatility {
        if self.is_deterministic && self.access != DataAccess::ModifiesSqlData {
            Volatility::Stable
        } else {
            Volatility::Volatile
        }
    }

    /// Signature of a call with arguments of these types.
    pub fn signature(&self, arguments: Vec<SqlType>) -> Signature {
        let signature = Signature::new(arguments, self.result.clone(), true);
        match self.result.is_string() {
            true => signature.with_coercibility(Coercibility::Implicit),
            false => signature,
        }
    }

    /// Computes `rows` rows, one after another. Arguments have the types of the signature.
    pub(crate) fn evaluate(
        self: &Arc<Self>,
        arguments: &[Column],
        rows: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let value = |row: usize| {
            let values = arguments.iter().map(|argument| match argument {
                Column::Constant(value) => value.clone(),
                Column::Array(array) => array_value(array, row),
            });
            let values: Vec<Value> = values.collect();
            let caller = &context.stored_functions;
            caller.call(self, &values, signature, context)
        };
        let values = (0..rows).map(value).collect::<Result<Vec<_>>>()?;
        Ok(array_of_values(&values, signature.result.physical()))
    }
}

impl Debug for StoredFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.full_name())
    }
}

/// Caller of stored functions in the session of a running statement.
pub trait CallStored: Debug + Send + Sync {
    /// Runs the body for arguments of the signature's types; the value is of the type of the signature's result. The
    /// signature's text names the value in messages.
    fn call(
        &self,
        function: &Arc<StoredFunction>,
        arguments: &[Value],
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<Value>;
}

/// No session: constant folding, and expressions that contain no stored function.
#[derive(Debug)]
pub(crate) struct NoSession;

impl CallStored for NoSession {
    fn call(
        &self,
        function: &Arc<StoredFunction>,
        _arguments: &[Value],
        _signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<Value> {
        Err(Error::internal(format!(
            "{function:?} is called outside of a session"
        )))
    }
}
