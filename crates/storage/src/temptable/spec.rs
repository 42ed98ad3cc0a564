//! What a temporary table is made of and what will be asked of it.

use std::sync::Arc;

use mayfly_types::{CollationId, PhysicalType};

/// The operator of a plan that a table belongs to: the plan's number for it.
pub type OperatorNumber = u32;

/// What a temporary table is for, as SHOW TEMPORARY TABLES names it.
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
    /// The partition of a window function that must be seen to its end.
    Window,
    /// CREATE TEMPORARY TABLE.
    UserTable,
    /// What a transaction has changed in tables on disk, until it commits.
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

    /// Whether the status variables count it: MySQL has other means to sort, to join and to recurse, and
    /// no cache of subqueries.
    pub(crate) fn is_counted(self) -> bool {
        !matches!(
            self,
            Self::OrderBy | Self::Join | Self::RecursionRound | Self::SubqueryCache
        )
    }
}

/// How the values of a key column are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyMode {
    /// As numbers, or byte by byte.
    Binary,
    /// As strings of a collation.
    Collated(CollationId),
}

/// A column by which rows are found: two rows are of one group when all of these are equal, and
/// NULL equals NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyColumn {
    /// Which column of the table.
    pub column: usize,
    /// How its values are compared.
    pub mode: KeyMode,
    /// For joins: whether NULL finds NULL (`<=>`). Grouping always takes NULL as equal to NULL.
    pub null_safe: bool,
}

impl KeyColumn {
    /// A column compared as bytes or as a number, NULL finding nothing.
    pub fn binary(column: usize) -> Self {
        Self {
            column,
            mode: KeyMode::Binary,
            null_safe: false,
        }
    }
}

/// A column by which rows are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SortKey {
    /// Which column of the table.
    pub column: usize,
    /// How its values are compared.
    pub mode: KeyMode,
    /// Largest first. NULL is smaller than every value, as in MySQL.
    pub descending: bool,
}

/// The access structure laid over a table's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// None: append and scan.
    Plain,
    /// By hash of the key columns: partitions, groups, joins.
    Hash(Vec<KeyColumn>),
    /// By order of the keys; rows that are equal in all of them keep the order in which they were
    /// appended (with several writers: the order of the writers, see
    /// [`TempTable::writer`](super::TempTable::writer)).
    Ordered {
        /// The keys, the first deciding first.
        keys: Vec<SortKey>,
        /// When only the first so many rows are wanted (LIMIT + OFFSET): others may be dropped on
        /// the way.
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

/// Everything that is fixed when a table is created.
#[derive(Debug, Clone)]
pub struct TempTableSpec {
    /// What it is for.
    pub purpose: Purpose,
    /// Why the statement needs it, in words: shown by EXPLAIN and SHOW TEMPORARY TABLES.
    pub cause: Arc<str>,
    /// The operator of the statement's plan that makes it; none for tables of the engine's own.
    pub operator: Option<OperatorNumber>,
    /// The columns.
    pub columns: Vec<PhysicalType>,
    /// How its rows will be read.
    pub access: Access,
}
