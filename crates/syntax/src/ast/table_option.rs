//! Options of tables, partitions and databases.

/// A table, key or database option: upper-case name with single blanks (`CHARACTER SET`,
/// `ROW_FORMAT`, `ENGINE`) and the value as text, strings unquoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableOption {
    /// The option.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Whether the value was written as a string.
    pub quoted: bool,
}

impl TableOption {
    /// An option whose value was not written as a string.
    pub(crate) fn unquoted(name: &str, value: String) -> Self {
        TableOption {
            name: name.to_owned(),
            value,
            quoted: false,
        }
    }
}
