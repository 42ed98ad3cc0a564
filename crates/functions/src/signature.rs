//! Signatures: the argument and result types of calls.

use std::sync::Arc;

use mayfly_types::collation::Coercibility;
use mayfly_types::{SqlType, TypeKind, Value};

/// An argument at binding.
#[derive(Debug, Clone, Copy)]
pub struct Argument<'a> {
    /// Its type before any conversion.
    pub ty: &'a SqlType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Its value, when it is a literal.
    pub constant: Option<&'a Value>,
    /// Coercibility of its collation.
    pub coercibility: Coercibility,
    /// Whether it is a choice among integers of both signednesses: a DECIMAL whose values have 64 bits.
    pub mixes_integers: bool,
}

/// Argument and result types of a call. It is stored with the call and passed to every evaluation.
#[derive(Debug, Clone, PartialEq)]
pub struct Signature {
    /// The type that each argument is converted to before the call; one per argument. An argument already of its type
    /// is not converted.
    pub arguments: Vec<SqlType>,
    /// The type of the result.
    pub result: SqlType,
    /// Whether the result may be NULL.
    pub nullable: bool,
    /// Coercibility of the result's collation.
    pub coercibility: Coercibility,
    /// The result itself, if it depends on the types alone (CHARSET(), COERCIBILITY()).
    pub known: Option<Value>,
    /// The call's text for errors like 1690. The planner may set it; without it errors name the function only.
    pub text: Option<Arc<str>>,
}

impl Signature {
    /// A signature with the coercibility of a literal for a string result, of a column for a document, and of a number
    /// otherwise.
    pub fn new(arguments: Vec<SqlType>, result: SqlType, nullable: bool) -> Self {
        let coercibility = match result.kind {
            TypeKind::Json => Coercibility::Implicit,
            _ if result.is_string() => Coercibility::Coercible,
            _ => Coercibility::Numeric,
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
