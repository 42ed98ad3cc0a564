//! Findings: cost and cause of a statement's temporary table, and changes that would remove it.

use serde::Serialize;

/// Cause of a temporary table, or of its being on disk. The names are stable: they are used in
/// JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A BLOB, TEXT or JSON value sends the table to disk.
    BlobColumn,
    /// A string of more than 512 characters sends the table to disk.
    LongString,
    /// The table outgrows `tmp_table_size` or `max_heap_table_size`.
    SizeLimit,
    /// `big_tables` is set.
    BigTables,
    /// No index gives the order of GROUP BY.
    GroupByWithoutIndex,
    /// ORDER BY has another order than GROUP BY.
    OrderDiffersFromGroup,
    /// No index gives the order of DISTINCT.
    DistinctWithoutIndex,
    /// ORDER BY names columns of other tables than the first of a join.
    OrderByAcrossJoin,
    /// COUNT(DISTINCT), GROUP_CONCAT and similar aggregates keep their values in a table.
    DistinctAggregate,
    /// A window function keeps its rows.
    WindowFunction,
    /// A derived table, view or common table expression is not merged.
    DerivedTable,
    /// A recursive common table expression keeps its rows.
    RecursiveQuery,
    /// UNION removes duplicates.
    UnionDistinct,
    /// INTERSECT, EXCEPT, or an ORDER BY over UNION ALL.
    SetOperation,
    /// A subquery is materialized for lookups.
    SubqueryMaterialization,
    /// MariaDB keeps the results of a correlated subquery.
    SubqueryCache,
    /// SQL_BUFFER_RESULT.
    BufferedResult,
    /// INSERT … SELECT reads its target table.
    InsertFromSameTable,
    /// A multiple-table UPDATE keeps the rows that it will change.
    MultiTableUpdate,
    /// SHOW, or a query of information_schema.
    MetadataQuery,
    /// A sort uses files.
    SortOnDisk,
    /// A join reads a table without an index.
    JoinWithoutIndex,
    /// The server counted temporary tables that no rule explains.
    Unexplained,
}

/// Confidence of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// A guess from the statement alone.
    Possible,
    /// A consequence of the server's rules and the known facts.
    Likely,
    /// The server counted it, and the schema shows the cause.
    Certain,
}

/// Kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// CREATE INDEX
    Index,
    /// ALTER TABLE … MODIFY, ALTER VIEW
    Alter,
    /// SET GLOBAL
    Setting,
    /// Another text of the statement.
    Rewrite,
    /// A decision for the user; `sql` may be empty.
    Advice,
}

/// A recommended change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// Kind of the change.
    pub kind: ChangeKind,
    /// The statements to run, or the new text of the statement; empty for advice.
    pub sql: String,
    /// Its effect.
    pub does: String,
    /// A query that checks beforehand whether it is safe.
    pub check: Option<String>,
    /// Its costs and risks.
    pub risk: String,
    /// Its measured effect on copies of the tables, where it was tried.
    pub tried: Option<Tried>,
    /// Whether the optimizer may not use it: it is recommended only when it was tried.
    #[serde(skip)]
    pub(crate) is_uncertain: bool,
}

/// Measurements of a statement before and after a change, on copies of its tables.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tried {
    /// Number of rows of the largest copy, and whether every copy is complete.
    pub rows: u64,
    /// See `rows`.
    pub whole: bool,
    /// The statement before the change.
    pub before: Measured,
    /// The statement after the change.
    pub after: Measured,
}

/// Measurements of a run of a statement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Measured {
    /// Seconds of the fastest of several runs.
    pub seconds: f64,
    /// Temporary tables.
    pub temporary_tables: u64,
    /// Temporary tables on disk.
    pub disk_tables: u64,
    /// Sort merge passes.
    pub sort_merge_passes: u64,
    /// Tables joined without an index.
    pub full_joins: u64,
    /// Rows read, including rows of temporary tables.
    pub rows_read: u64,
}

impl Change {
    /// A change made by a statement.
    pub(crate) fn new(kind: ChangeKind, sql: impl Into<String>, does: impl Into<String>) -> Self {
        Self {
            kind,
            sql: sql.into(),
            does: does.into(),
            check: None,
            risk: String::new(),
            tried: None,
            is_uncertain: false,
        }
    }

    /// Advice without a statement.
    pub(crate) fn advice(does: impl Into<String>) -> Self {
        Self::new(ChangeKind::Advice, "", does)
    }

    /// Adds a query that checks beforehand whether the change is safe.
    pub(crate) fn checked_by(mut self, check: impl Into<String>) -> Self {
        self.check = Some(check.into());
        self
    }

    /// Marks the change as one that the optimizer may not use.
    pub(crate) fn uncertain(mut self) -> Self {
        self.is_uncertain = true;
        self
    }

    /// The change as advice, for a server on which it was not tried.
    pub(crate) fn as_advice(&self) -> Self {
        let first = self.sql.lines().next().unwrap_or_default();
        if self.kind == ChangeKind::Rewrite {
            return Self::advice(format!(
                "perhaps `{}`: {}; but a larger buffer costs time as well. Measure it, or name the server (--connect, \
                 --socket) and it is tried on a copy",
                crate::sql_text::one_line(&self.sql, 100),
                self.does
            ));
        }
        Self::advice(format!(
            "perhaps `{}`: the optimizer takes it only where that is cheaper than reading the whole table. Try it with \
             EXPLAIN, or name the server (--connect, --socket) and it is tried on a copy",
            first.trim_end_matches(';')
        ))
    }

    /// Adds its costs and risks.
    pub(crate) fn at_risk(mut self, risk: impl Into<String>) -> Self {
        self.risk = risk.into();
        self
    }
}

/// A problem of one statement, with its solutions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Cause of the problem.
    pub cause: Cause,
    /// Confidence of the finding.
    pub confidence: Confidence,
    /// Basis of the confidence.
    pub because: String,
    /// The problem, in the names of this statement.
    pub evidence: String,
    /// Changes, the best one first; the others are alternatives to it.
    pub changes: Vec<Change>,
    /// The expected gain.
    pub gain: String,
}

impl Cause {
    /// A title for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::BlobColumn => "BLOB, TEXT or JSON in a temporary table",
            Self::LongString => "a string of more than 512 characters in a temporary table",
            Self::SizeLimit => "a temporary table outgrows its memory",
            Self::BigTables => "big_tables puts every temporary table on disk",
            Self::GroupByWithoutIndex => "GROUP BY without an index",
            Self::OrderDiffersFromGroup => "ORDER BY differs from GROUP BY",
            Self::DistinctWithoutIndex => "DISTINCT without an index",
            Self::OrderByAcrossJoin => "ORDER BY across a join",
            Self::DistinctAggregate => "an aggregate that keeps its values",
            Self::WindowFunction => "a window function keeps its rows",
            Self::DerivedTable => "a derived table that is not merged",
            Self::RecursiveQuery => "a recursive query keeps its rows",
            Self::UnionDistinct => "UNION removes duplicates",
            Self::SetOperation => "a set operation keeps its rows",
            Self::SubqueryMaterialization => "a subquery is made into a table",
            Self::SubqueryCache => "results of a subquery are kept",
            Self::BufferedResult => "SQL_BUFFER_RESULT",
            Self::InsertFromSameTable => "INSERT … SELECT reads the table that it fills",
            Self::MultiTableUpdate => "UPDATE of several tables",
            Self::MetadataQuery => "a query of the server's own tables",
            Self::SortOnDisk => "a sort goes through files",
            Self::JoinWithoutIndex => "a join without an index",
            Self::Unexplained => "temporary tables without a known cause",
        }
    }

    /// Its name in JSON.
    pub fn name(self) -> String {
        let value = serde_json::to_value(self).ok();
        value
            .and_then(|value| value.as_str().map(str::to_owned))
            .unwrap_or_default()
    }

    /// Whether it is the cause of a table's being on disk, and not of the table itself.
    pub(crate) fn is_of_disk(self) -> bool {
        matches!(
            self,
            Self::BlobColumn
                | Self::LongString
                | Self::SizeLimit
                | Self::BigTables
                | Self::SortOnDisk
        )
    }
}

impl Confidence {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Possible => "possible",
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }

    /// The next lower confidence.
    pub(crate) fn lowered(self) -> Self {
        match self {
            Self::Certain => Self::Likely,
            _ => Self::Possible,
        }
    }
}
