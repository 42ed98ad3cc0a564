//! Identifiers and qualified names.

/// An identifier, as written but without its quotes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ident {
    /// The name.
    pub value: String,
    /// The quote that it was written in: a backtick, or `"` under `ANSI_QUOTES`.
    pub quote_style: Option<char>,
}

impl Ident {
    /// An identifier without quotes.
    pub fn new(value: impl Into<String>) -> Self {
        Ident {
            value: value.into(),
            quote_style: None,
        }
    }

    /// An identifier in quotes.
    pub fn with_quote(quote: char, value: impl Into<String>) -> Self {
        Ident {
            value: value.into(),
            quote_style: Some(quote),
        }
    }
}

/// The name of a table or a function, with the qualifiers before it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ObjectName(pub Vec<Ident>);

impl From<Vec<Ident>> for ObjectName {
    fn from(parts: Vec<Ident>) -> Self {
        ObjectName(parts)
    }
}
