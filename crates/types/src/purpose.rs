//! Purposes of temporary tables: known when a statement is planned, shown with its tables.

/// Purpose of a temporary table, as SHOW TEMPORARY TABLES names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// GROUP BY.
    GroupBy,
    /// DISTINCT.
    Distinct,
    /// The rows of whole groups, for COUNT(DISTINCT …), GROUP_CONCAT and other aggregates that need them.
    Aggregate,
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
    /// The result of a subquery, materialized for many lookups.
    Subquery,
    /// Results of a dependent subquery, by the values of the outer query that it depends on.
    SubqueryCache,
    /// SQL_BUFFER_RESULT, INSERT … SELECT from the same table, and other buffered results.
    Buffer,
    /// The buffered partition of a window function.
    Window,
    /// CREATE TEMPORARY TABLE.
    UserTable,
    /// The result of a query that is kept for other statements.
    KeptResult,
    /// Rows that processes of a secondary engine send each other.
    Exchange,
    /// Uncommitted changes of a transaction in tables on disk.
    TransactionChanges,
}

impl Purpose {
    /// The name shown to users.
    pub fn name(self) -> &'static str {
        match self {
            Self::GroupBy => "GROUP BY",
            Self::Distinct | Self::Aggregate => "DISTINCT",
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
            Self::KeptResult => "KEPT RESULT",
            Self::Exchange => "EXCHANGE",
            Self::TransactionChanges => "TRANSACTION",
        }
    }

    /// Whether the status variables count such a table: MySQL sorts, joins and recurses by other means, and has no
    /// cache of subqueries.
    pub fn is_counted(self) -> bool {
        !matches!(
            self,
            Self::OrderBy
                | Self::Join
                | Self::RecursionRound
                | Self::SubqueryCache
                | Self::Exchange
        )
    }
}
