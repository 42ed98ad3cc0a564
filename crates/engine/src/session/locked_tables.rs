//! Tables that LOCK TABLES has locked for a session, with their locks. While there are any, statements may use no other
//! base tables.

use crate::locks::table::HeldTable;

/// A table of LOCK TABLES.
#[derive(Debug)]
pub(crate) struct LockedTable {
    /// Its database.
    pub(crate) database: String,
    /// Its name.
    pub(crate) name: String,
    /// The name that statements must use for it; `None` for a table below a locked view.
    pub(crate) alias: Option<String>,
    /// WRITE
    pub(crate) writes: bool,
}

impl LockedTable {
    pub(super) fn is(&self, database: &str, name: &str) -> bool {
        self.database == database && self.name == name
    }
}

/// Tables that LOCK TABLES has locked for a session.
#[derive(Debug, Default)]
pub(super) struct LockedTables {
    pub(super) tables: Vec<LockedTable>,
    /// The table locks, released with it.
    pub(super) _held: Vec<HeldTable>,
}
