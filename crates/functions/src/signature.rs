//! How a function's result type follows from its arguments.

use std::sync::Arc;

use mayfly_types::collation::Coercibility;
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
    /// The claim of its collation.
    pub coercibility: Coercibility,
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

/// What a call needs and gives. It stays with the call and is handed to every evaluation.
#[derive(Debug, Clone, PartialEq)]
pub struct Signature {
    /// The type that each argument is converted to before the call; as many as arguments. An
    /// argument whose type stays as it was is not converted at all.
    pub arguments: Vec<SqlType>,
    /// The type of the result.
    pub result: SqlType,
    /// Whether the result may be NULL.
    pub nullable: bool,
    /// The claim of the result's collation.
    pub coercibility: Coercibility,
    /// The result itself, when the types alone decide it (CHARSET(), COERCIBILITY()).
    pub known: Option<Value>,
    /// The call as the user would write it, for errors like 1690. The planner may fill it in;
    /// without it errors name the function only.
    pub text: Option<Arc<str>>,
}

impl Signature {
    /// A signature whose result has no claim to a collation if it is no string, and that of a
    /// literal if it is one.
    pub fn new(arguments: Vec<SqlType>, result: SqlType, nullable: bool) -> Self {
        let coercibility = if result.is_string() {
            Coercibility::Coercible
        } else {
            Coercibility::Numeric
        };
        Self {
            arguments,
            result,
            nullable,
            coercibility,
            known: None,
            text: None,
        }
    }

    /// This signature with another coercibility of the result's collation.
    pub fn with_coercibility(self, coercibility: Coercibility) -> Self {
        Self {
            coercibility,
            ..self
        }
    }
}
