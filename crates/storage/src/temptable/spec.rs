//! Specification of a temporary table.

use std::sync::Arc;

use mayfly_types::{CollationId, PhysicalType};

/// Number of a plan operator to which a table belongs.
pub type OperatorNumber = u32;

/// Purpose of a temporary table, as SHOW TEMPORARY TABLES names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// GROUP BY.
    GroupBy,
    /// DISTINCT, and the DISTINCT inside an aggregate function.
    Distinct,
    /// UNION, INTERSECT, EXCEPT.
    SetOperation,
    /// ORDER BY.
    OrderBy,
    /// The build side of a hash join, or its overflowed probe side.
    Join,
    /// A derived table or view.
    DerivedTable,
    /// A common table expression.
    CommonTableExpression,
    /// The rows that one round of a recursive common table expression added.
    RecursionRound,
    /// The result of a subquery, materialised for many lookups.
    Subquery,
    /// Results of a dependent subquery, by the values of the outer query that it depends on.
    SubqueryCache,
    /// SQL_BUFFER_RESULT and other buffered results.
    Buffer,
    /// The buffered partition of a window function.
    Window,
    /// CREATE TEMPORARY TABLE.
    UserTable,
    /// Uncommitted changes of a transaction in tables on disk.
    TransactionChanges,
}

impl Purpose {
    /// The name shown to users.
    pub fn name(self) -> &'static str {
        match self {
            Self::GroupBy => "GROUP BY",
            Self::Distinct => "DISTINCT",
            Self::SetOperation => "SET OPERATION",
            Self::OrderBy => "ORDER BY",
            Self::Join => "JOIN",
            Self::DerivedTable => "DERIVED TABLE",
            Self::CommonTableExpression => "COMMON TABLE EXPRESSION",
            Self::RecursionRound => "RECURSION ROUND",
            Self::Subquery => "SUBQUERY",
            Self::SubqueryCache => "SUBQUERY CACHE",
            Self::Buffer => "BUFFER RESULT",
            Self::Window => "WINDOW",
            Self::UserTable => "CREATE TEMPORARY TABLE",
            Self::TransactionChanges => "TRANSACTION",
        }
    }

    /// Whether the status variables count such a table: MySQL sorts, joins and recurses by other means, and has no
    /// cache of subqueries.
    pub(crate) fn is_counted(self) -> bool {
        !matches!(
            self,
            Self::OrderBy | Self::Join | Self::RecursionRound | Self::SubqueryCache
        )
    }
}

/// Comparison of the values of a key column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyMode {
    /// Comparison as numbers, or byte by byte.
    Binary,
    /// Comparison as strings of a collation.
    Collated(CollationId),
}

/// Hash key column: two rows are in one group when all of these are equal, and NULL equals NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyColumn {
    /// Index of the column in the table.
    pub column: usize,
    /// Comparison of its values.
    pub mode: KeyMode,
    /// For joins: whether NULL matches NULL (`<=>`). Grouping always treats NULL as equal to NULL.
    pub null_safe: bool,
}

impl KeyColumn {
    /// A column compared as bytes or as a number, in which NULL matches nothing.
    pub fn binary(column: usize) -> Self {
        Self {
            column,
            mode: KeyMode::Binary,
            null_safe: false,
        }
    }
}

/// Sort key column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SortKey {
    /// Index of the column in the table.
    pub column: usize,
    /// Comparison of its values.
    pub mode: KeyMode,
    /// Whether the order is descending. NULL is smaller than every value, as in MySQL.
    pub descending: bool,
}

/// Access structure of a table's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// No access structure: append and scan.
    Plain,
    /// Hash access by the key columns: partitions, groups, joins.
    Hash(Vec<KeyColumn>),
    /// Ordered access by sort keys; rows that are equal in all of them keep the order in which they were
    /// appended (with several writers: the order of the writers, see
    /// [`TempTable::writer`](super::TempTable::writer)).
    Ordered {
        /// Sort keys, the most significant first.
        keys: Vec<SortKey>,
        /// Number of first rows that are wanted (LIMIT + OFFSET): others may be dropped early.
        limit: Option<u64>,
    },
}

impl Access {
    /// The name shown to users.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Plain => "NONE",
            Self::Hash(_) => "HASH",
            Self::Ordered { .. } => "ORDERED",
        }
    }
}

/// Specification, fixed when a table is created.
#[derive(Debug, Clone)]
pub struct TempTableSpec {
    /// Purpose of the table.
    pub purpose: Purpose,
    /// Reason why the statement needs it, in words: shown by EXPLAIN and SHOW TEMPORARY TABLES.
    pub cause: Arc<str>,
    /// The plan operator that creates it; `None` for tables of the engine's own.
    pub operator: Option<OperatorNumber>,
    /// Types of the columns.
    pub columns: Vec<PhysicalType>,
    /// Access structure for reading it.
    pub access: Access,
}
