//! Facts about the places of a statement that may need a temporary table.

/// A fact about a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fact {
    /// The site is a query block.
    Block,
    /// The site is a set operation.
    SetOperation,
    /// The site is a derived table, a view or a common table expression that is not merged.
    Derived,
    /// The site is a recursive common table expression.
    Recursive,
    /// The site is an aggregate with DISTINCT.
    DistinctAggregate,
    /// The site is a GROUP_CONCAT().
    GroupConcat,
    /// The site is a subquery of IN or EXISTS that could be a semijoin.
    InSubquery,
    /// The site is an IN whose subquery has groups.
    GroupedInSubquery,
    /// The site is an IN whose subquery is a set operation.
    UnionInSubquery,
    /// The site is a subquery of NOT IN or NOT EXISTS.
    NotInSubquery,
    /// The site is a subquery that gives a value.
    ScalarSubquery,
    /// The site is an UPDATE of several tables.
    UpdateOfJoin,
    /// The site is an UPDATE of a column by whose index the rows are found.
    UpdateOfReadKey,

    /// There is a GROUP BY.
    Group,
    /// An index gives the groups in order.
    GroupByIndex,
    /// There are aggregates without GROUP BY.
    OneGroup,
    /// At most one row is read.
    OneRow,
    /// The rows of a group must come together: DISTINCT or GROUP_CONCAT() in aggregates, WITH ROLLUP, SQL_BIG_RESULT.
    ContiguousGroups,
    /// SQL_BIG_RESULT
    BigResult,
    /// There is an ORDER BY that GROUP BY does not give.
    Order,
    /// ORDER BY NULL, or a subquery in which no order matters.
    OrderNull,
    /// An index gives the rows in order.
    OrderByIndex,
    /// Several tables are joined.
    SeveralTables,
    /// The keys of the order are the first table's, and the others are looked up.
    FirstTableGives,
    /// DISTINCT
    Distinct,
    /// An index tells the rows of DISTINCT apart, or gives them in order.
    DistinctByKey,
    /// There are window functions.
    Window,
    /// A window has an order or partitions.
    SortedWindow,
    /// SQL_BUFFER_RESULT, or an INSERT … SELECT from the table itself.
    Buffer,
    /// UNION ALL
    UnionAll,
    /// An index gives the first row of each distinct value.
    LooseScan,
    /// The subquery reads no column of an outer query.
    Uncorrelated,
    /// The column of the subquery begins an index.
    InnerIndex,
    /// An index has all columns that the outer query block reads of its table.
    OuterCovered,
    /// The statement is a DELETE.
    InDelete,

    /// A column is a BLOB, TEXT or JSON.
    HasBlob,
    /// A key of GROUP BY or DISTINCT may have more than 512 characters.
    WideKey,
    /// A column that is computed may have more than 512 characters.
    WideValue,
    /// A column of a set operation may have more than 512 characters.
    WideUnion,
    /// `big_tables` is ON.
    BigTables,
    /// The rows of a sort may exceed `sort_buffer_size`.
    WideSort,
}

impl Fact {
    /// The fact as the cause of a table on disk.
    pub(super) fn cause(self) -> Option<&'static str> {
        Some(match self {
            Self::HasBlob => "a column is a BLOB, TEXT or JSON",
            Self::WideKey => "a key may have more than 512 characters",
            Self::WideValue => "a computed column may have more than 512 characters",
            Self::WideUnion => "a column of the UNION may have more than 512 characters",
            Self::BigTables => "big_tables is ON",
            _ => return None,
        })
    }
}

/// A place of a statement.
#[derive(Debug, Clone, Default)]
pub(super) struct Site {
    facts: u64,
    /// Number of its query block.
    pub(super) block: u64,
    /// Tables between and inside its windows.
    pub(super) window_tables: u64,
    /// Number of windows that sort.
    pub(super) sorted_windows: u64,
}

impl Site {
    /// A site of a query block with some facts.
    pub(super) fn new(block: u64, facts: &[Fact]) -> Self {
        let mut site = Self {
            block,
            ..Self::default()
        };
        facts.iter().for_each(|fact| site.note(*fact, true));
        site
    }

    /// Notes a fact if it holds.
    pub(super) fn note(&mut self, fact: Fact, holds: bool) {
        if holds {
            self.facts |= 1 << fact as u32;
        }
    }

    /// Whether a fact holds.
    pub(super) fn has(&self, fact: Fact) -> bool {
        self.facts >> fact as u32 & 1 == 1
    }

    /// What its tables are for.
    pub(super) fn purpose(&self) -> &'static str {
        let purposes = [
            (Fact::SetOperation, "UNION"),
            (Fact::Recursive, "recursive common table expression"),
            (Fact::Derived, "derived table"),
            (Fact::DistinctAggregate, "aggregate of distinct values"),
            (Fact::GroupConcat, "GROUP_CONCAT"),
            (Fact::InSubquery, "subquery"),
            (Fact::GroupedInSubquery, "subquery"),
            (Fact::UnionInSubquery, "subquery"),
            (Fact::NotInSubquery, "subquery"),
            (Fact::ScalarSubquery, "subquery"),
            (Fact::UpdateOfJoin, "UPDATE"),
            (Fact::Buffer, "buffered result"),
            (Fact::Window, "windows"),
            (Fact::Group, "GROUP BY"),
            (Fact::Distinct, "DISTINCT"),
        ];
        let known = purposes.iter().find(|(fact, _)| self.has(*fact));
        known.map_or("ORDER BY", |(_, purpose)| purpose)
    }
}
