//! Names of catalog entries.
//!
//! A name is complete: it has the database, so it means the same entry whatever a session's current database is.

/// A database and a name in it.
pub(crate) type FullName = (String, String);

/// Name of a catalog entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EntryName {
    /// A database without its tables and views.
    Database(String),
    /// A table.
    Table(FullName),
    /// A view.
    View(FullName),
}
