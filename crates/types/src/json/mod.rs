//! JSON documents: the manual, "The JSON Data Type".
//!
//! A JSON value travels as its normalised text, the form in which MySQL prints it: members of objects ordered by the
//! length of their key and then by its bytes, for duplicate keys only the last member, `, ` and `: ` between values,
//! one way to write each string and number. So equal documents have mostly equal texts, and most functions read the
//! text as it stands.
//!
//! * [`parse()`]: any JSON text to a [`Json`] tree, with MySQL's errors; [`append_normalized`]
//! * [`Json::append_to`]: a tree to normalised text
//! * [`text`]: reading normalised text without building a tree
//! * [`path`]: path expressions, evaluated on normalised text
//! * [`mod@compare`]: the order of documents
//! * [`mod@key_values`]: the values by which a multi-valued index finds documents
//!
//! A scalar whose text does not say which type it had before it came into the document (a DECIMAL, a
//! date, bytes) is followed by a [`TypeTag`]. Only casts make such scalars; what users see of a document is
//! its text without tags ([`displayed`]).

pub mod compare;
mod key_values;
mod parse;
pub mod path;
mod print;
mod tag;
#[cfg(test)]
mod tests;
pub mod text;

pub use compare::{append_sort_key, compare};
pub use key_values::{KeyValueError, key_values, sought_values};
pub use parse::{parse, parse_normalized};
pub use path::JsonPath;
pub use print::{append_double, append_quoted};
pub use tag::{TypeTag, displayed};
pub use text::{JsonKind, JsonScalar, kind_of, scalar_of};

use crate::decimal::Decimal;
use crate::error::{Error, codes};

/// Greatest nesting depth of arrays and objects.
pub const DEPTH_MAX: usize = 100;

/// A document as a tree, for functions that change it.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number without a point that a BIGINT holds.
    Int(i64),
    /// A larger integer, up to the largest BIGINT UNSIGNED, or one that was unsigned.
    UInt(u64),
    /// Any other number.
    Double(f64),
    /// A number that was a DECIMAL.
    Decimal(Decimal),
    /// A string, without quotes and escapes.
    String(String),
    /// A string that was a temporal value or bytes.
    Typed(String, TypeTag),
    /// `[...]`
    Array(Vec<Json>),
    /// `{...}`
    Object(JsonObject),
}

/// The members of an object, ordered by the length and then the bytes of their keys.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JsonObject {
    members: Vec<(String, Json)>,
}

fn key_order(a: &str, b: &str) -> std::cmp::Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

impl JsonObject {
    /// An object of members in any order; the last of duplicate keys is kept.
    pub fn of(mut members: Vec<(String, Json)>) -> Self {
        // Sorted stably after a reversal, the last of equal keys comes first and is kept.
        members.reverse();
        members.sort_by(|a, b| key_order(&a.0, &b.0));
        members.dedup_by(|later, kept| later.0 == kept.0);
        Self { members }
    }

    fn position(&self, key: &str) -> Result<usize, usize> {
        self.members
            .binary_search_by(|member| key_order(&member.0, key))
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Json> {
        let position = self.position(key).ok()?;
        self.members.get(position).map(|member| &member.1)
    }

    /// The value of a key, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Json> {
        let position = self.position(key).ok()?;
        self.members.get_mut(position).map(|member| &mut member.1)
    }

    /// Sets the value of a key; returns the previous one.
    pub fn insert(&mut self, key: String, value: Json) -> Option<Json> {
        match self.position(&key) {
            Ok(position) => Some(std::mem::replace(&mut self.members[position].1, value)),
            Err(position) => {
                self.members.insert(position, (key, value));
                None
            }
        }
    }

    /// Removes a key; returns its value.
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        let position = self.position(key).ok()?;
        Some(self.members.remove(position).1)
    }

    /// The members, in order.
    pub fn members(&self) -> &[(String, Json)] {
        &self.members
    }

    /// The members, by value.
    pub fn into_members(self) -> Vec<(String, Json)> {
        self.members
    }

    /// The values, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Json> {
        self.members.iter_mut().map(|member| &mut member.1)
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

impl Json {
    /// Nesting depth of arrays and objects, counting a scalar inside: 1 for a scalar and for an empty array or object
    /// (`JSON_DEPTH`).
    pub fn depth(&self) -> usize {
        let deepest = match self {
            Self::Array(elements) => elements.iter().map(Self::depth).max(),
            Self::Object(object) => object.members.iter().map(|(_, value)| value.depth()).max(),
            _ => None,
        };
        1 + deepest.unwrap_or(0)
    }

    /// The normalised text.
    pub fn to_text(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.append_to(&mut out);
        out
    }
}

/// Error of a text that is not valid JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonError {
    /// Syntax error.
    Syntax {
        /// The error in the words of MySQL's parser.
        message: &'static str,
        /// The byte at which it was found.
        position: usize,
    },
    /// Arrays and objects are nested more than [`DEPTH_MAX`] deep.
    TooDeep,
}

impl JsonError {
    /// Error 3141 for the `argument`-th argument of a function.
    pub fn in_argument(self, argument: usize, function: &str) -> Error {
        match self {
            Self::Syntax { message, position } => codes::ER_INVALID_JSON_TEXT_IN_PARAM
                .with(&[&argument, &function, &message, &position]),
            Self::TooDeep => codes::ER_JSON_DOCUMENT_TOO_DEEP.error(),
        }
    }

    /// Error 3140 for a value of a column.
    pub fn in_column(self, column: &str) -> Error {
        match self {
            Self::Syntax { message, position } => {
                codes::ER_INVALID_JSON_TEXT.with(&[&message, &position, &column])
            }
            Self::TooDeep => codes::ER_JSON_DOCUMENT_TOO_DEEP.error(),
        }
    }
}

/// Appends the normalised form of a JSON text.
pub fn append_normalized(out: &mut Vec<u8>, text: &[u8]) -> Result<(), JsonError> {
    parse(text)?.append_to(out);
    Ok(())
}
