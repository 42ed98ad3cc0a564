//! The servers whose temporary tables are predicted, and how they differ beside the table of rules.

/// A server whose temporary tables are predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    /// MySQL 8.0 and later: TempTable.
    MySql80,
    /// MySQL 5.7: MEMORY, then InnoDB.
    MySql57,
    /// MySQL 5.0: MEMORY, then MyISAM.
    MySql50,
    /// MariaDB 10.11: MEMORY, then Aria.
    MariaDb1011,
    /// MariaDB 13: MEMORY with BLOBs, then Aria.
    MariaDb13,
}

impl Era {
    /// Whether GROUP BY gives its groups in order, without ORDER BY.
    pub fn sorts_groups(self) -> bool {
        self != Self::MySql80
    }

    /// Whether a statement that names a temporary table twice is error 1137.
    pub fn refuses_reopening(self) -> bool {
        !matches!(self, Self::MariaDb1011 | Self::MariaDb13)
    }

    /// Bytes of a table's first block in memory, which no limit refuses (`Allocator::get_block_size` of TempTable).
    pub(super) fn least_memory(self) -> u64 {
        match self {
            Self::MySql80 => 1 << 20,
            _ => 0,
        }
    }

    /// Whether a common table expression is made anew for each reference.
    pub(super) fn copies_common_tables(self) -> bool {
        matches!(self, Self::MariaDb1011 | Self::MariaDb13)
    }

    /// Whether derived tables and views are merged into the query that reads them.
    pub(super) fn merges(self) -> bool {
        self != Self::MySql50
    }

    /// Whether a derived table with a subquery in its select list is merged.
    pub(super) fn merges_selected_subqueries(self) -> bool {
        self.copies_common_tables()
    }

    /// Whether a table that is found by a unique key is joined behind the one that gives the key, whatever FROM says.
    pub(super) fn looks_up_last(self) -> bool {
        self.copies_common_tables()
    }
}

/// Eras of a rule.
#[derive(Debug, Clone, Copy)]
pub(super) struct Eras(pub(super) &'static [Era]);

impl Eras {
    pub(super) fn has(self, era: Era) -> bool {
        self.0.contains(&era)
    }
}

/// Settings that a prediction depends on.
#[derive(Debug, Clone, Copy)]
pub struct EraOptions {
    /// The server.
    pub era: Era,
    /// `big_tables`
    pub big_tables: bool,
    /// `sort_buffer_size`
    pub sort_buffer_size: u64,
    /// `derived_merge=on`
    pub derived_merge: bool,
}
