//! Stored functions, as expressions see them (the manual, "CREATE PROCEDURE and CREATE FUNCTION Statements").
//!
//! A [`StoredFunction`] says what a call means to the planner: the types, and what the function's characteristics
//! promise. How it is computed is known to the engine alone, which runs the body in the session of the statement
//! ([`CallStored`](crate::CallStored)). So a call may have effects, and is made once for each row, on the thread of the session.

use std::any::Any;
use std::fmt::{self, Debug};
use std::sync::Arc;

use mayfly_types::SqlType;

use crate::{Coercibility, Signature};

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

    /// Signature of a call with arguments of these types.
    pub fn signature(&self, arguments: Vec<SqlType>) -> Signature {
        let signature = Signature::new(arguments, self.result.clone(), true);
        match self.result.is_string() {
            true => signature.with_coercibility(Coercibility::Implicit),
            false => signature,
        }
    }
}

impl Debug for StoredFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.full_name())
    }
}
