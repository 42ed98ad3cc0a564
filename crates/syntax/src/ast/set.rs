//! `SET` of user and system variables, names and character sets.

use super::Expr;

use crate::keywords::Kw;

/// One item of a `SET` statement. `SET NAMES` and `SET CHARACTER SET` are items too, because MySQL
/// lets them stand in one list with assignments.
#[derive(Debug, Clone, PartialEq)]
pub enum SetItem {
    /// `target = value`.
    Assign {
        /// The variable.
        target: SetTarget,
        /// The value.
        value: SetValue,
    },
    /// `NAMES charset [COLLATE collation]`; `NAMES DEFAULT` has no charset.
    Names {
        /// The character set.
        charset: Option<String>,
        /// The collation.
        collation: Option<String>,
    },
    /// `CHARACTER SET charset`; `DEFAULT` has none.
    CharacterSet {
        /// The character set.
        charset: Option<String>,
    },
    /// `RESOURCE GROUP ...` as text.
    Other(String),
}

/// The variable of an assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetTarget {
    /// `@name`, without its `@`.
    User(String),
    /// A system variable. The name is as written and may hold a dot (`hot_cache.key_buffer_size`).
    System {
        /// The scope written by word or by `@@scope.`; `None` means the session.
        scope: Option<VariableScope>,
        /// The variable.
        name: String,
    },
}

/// Scopes of system variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are MySQL's own keywords")]
pub enum VariableScope {
    Global,
    Session,
    Persist,
    PersistOnly,
}

impl VariableScope {
    /// The scope that a word before a variable names.
    pub(crate) fn of(keyword: Kw) -> Option<Self> {
        match keyword {
            Kw::GLOBAL => Some(Self::Global),
            Kw::SESSION | Kw::LOCAL => Some(Self::Session),
            Kw::PERSIST => Some(Self::Persist),
            Kw::PERSIST_ONLY => Some(Self::PersistOnly),
            _ => None,
        }
    }
}

/// The value of an assignment.
#[derive(Debug, Clone, PartialEq)]
pub enum SetValue {
    /// `DEFAULT`.
    Default,
    /// A bare word that names a value: `ON`, `ALL`, `BINARY`, `ROW`, `SYSTEM`, as written.
    /// Any other bare identifier is a word as well, since system variables take names as values.
    Word(String),
    /// Any other expression.
    Expr(Expr),
}
