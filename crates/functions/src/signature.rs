//! How a function's result type follows from its arguments.

use mayfly_types::{SqlMode, SqlType, Value};

/// What is known of an argument when a statement is bound.
#[derive(Debug, Clone, Copy)]
pub struct Argument<'a> {
    /// Its type before any conversion.
    pub ty: &'a SqlType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Its value, when it is a literal.
    pub constant: Option<&'a Value>,
}

/// The settings that types depend on.
#[derive(Debug, Clone, Copy)]
pub struct SignatureContext {
    /// `sql_mode` of the session.
    pub sql_mode: SqlMode,
    /// `div_precision_increment`
    pub div_precision_increment: u8,
    /// `group_concat_max_len`, in bytes.
    pub group_concat_max_len: u64,
    /// `collation_connection`: of string results that come from no column.
    pub collation_connection: mayfly_types::CollationId,
}

/// What a call needs and gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Signature {
    /// The type that each argument is converted to before the call; as many as arguments.
    pub arguments: Vec<SqlType>,
    /// The type of the result.
    pub result: SqlType,
    /// Whether the result may be NULL.
    pub nullable: bool,
}
