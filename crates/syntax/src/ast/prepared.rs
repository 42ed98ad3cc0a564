//! Prepared statements in SQL.

/// `PREPARE name FROM source`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepare {
    /// The statement's name.
    pub name: String,
    /// Its text.
    pub source: PrepareSource,
}

/// Where the text of a prepared statement is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrepareSource {
    /// In a string.
    Text(String),
    /// In a user variable, without its `@`.
    Variable(String),
}

/// `EXECUTE name [USING @a, @b]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execute {
    /// The statement's name.
    pub name: String,
    /// The user variables, without their `@`.
    pub using: Vec<String>,
}
