//! A finding: what a statement's temporary table costs, why it is there, and what would remove it.

use serde::Serialize;

/// Why there is a temporary table, or why it is on disk. The names are stable: they stand in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A BLOB, TEXT or JSON value sends the table to disk.
    BlobColumn,
    /// A string of more than 512 characters does.
    LongString,
    /// The table outgrows `tmp_table_size` or `max_heap_table_size`.
    SizeLimit,
    /// `big_tables` is set.
    BigTables,
    /// GROUP BY has no index to follow.
    GroupByWithoutIndex,
    /// ORDER BY wants another order than GROUP BY.
    OrderDiffersFromGroup,
    /// DISTINCT has no index to follow.
    DistinctWithoutIndex,
    /// ORDER BY names columns that are not of the first table of a join.
    OrderByAcrossJoin,
    /// COUNT(DISTINCT), GROUP_CONCAT and the like keep their values in a table.
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
    /// A subquery's rows are kept to be looked up.
    SubqueryMaterialization,
    /// MariaDB keeps the results of a correlated subquery.
    SubqueryCache,
    /// SQL_BUFFER_RESULT asks for it.
    BufferedResult,
    /// INSERT … SELECT reads the table that it fills.
    InsertFromSameTable,
    /// UPDATE of several tables keeps what it will change.
    MultiTableUpdate,
    /// SHOW, or a query of information_schema.
    MetadataQuery,
    /// A sort goes through files.
    SortOnDisk,
    /// A join reads a table without an index.
    JoinWithoutIndex,
    /// The server has counted temporary tables that nothing here explains.
    Unexplained,
}

/// How sure a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// A guess from the statement alone.
    Possible,
    /// The server's rules say so, from what is known.
    Likely,
    /// The server has counted it, and the schema shows the cause.
    Certain,
}

/// What kind of change.
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
    /// Something that people have to decide; `sql` may be empty.
    Advice,
}

/// A change that would help.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// What kind.
    pub kind: ChangeKind,
    /// The statements to run, or the new text of the statement; empty for advice.
    pub sql: String,
    /// What it does.
    pub does: String,
    /// A query that shows beforehand whether it is safe.
    pub check: Option<String>,
    /// What it costs, and what may go wrong.
    pub risk: String,
    /// What it did on copies of the tables, where it was tried.
    pub tried: Option<Tried>,
    /// The optimizer may leave it aside: it is recommended only when it was tried.
    #[serde(skip)]
    pub(crate) is_uncertain: bool,
}

/// A statement before and after a change, on copies of its tables.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tried {
    /// The rows of the largest copy, and whether every copy is whole.
    pub rows: u64,
    /// See `rows`.
    pub whole: bool,
    /// What the statement was before.
    pub before: Measured,
    /// What it is with the change.
    pub after: Measured,
}

/// What a run of a statement was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Measured {
    /// Seconds, of the fastest of some runs.
    pub seconds: f64,
    /// Temporary tables.
    pub temporary_tables: u64,
    /// Of them, on disk.
    pub disk_tables: u64,
    /// Rounds of merging of its sorts.
    pub sort_merge_passes: u64,
    /// Tables that were joined without an index.
    pub full_joins: u64,
    /// Rows that were read, of temporary tables too.
    pub rows_read: u64,
}

impl Change {
    /// A change by a statement.
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

    /// With a query to ask first.
    pub(crate) fn checked_by(mut self, check: impl Into<String>) -> Self {
        self.check = Some(check.into());
        self
    }

    /// Of which nobody knows that the optimizer takes it.
    pub(crate) fn uncertain(mut self) -> Self {
        self.is_uncertain = true;
        self
    }

    /// The same as advice, for a server that it was not tried on.
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

    /// With what it costs.
    pub(crate) fn at_risk(mut self, risk: impl Into<String>) -> Self {
        self.risk = risk.into();
        self
    }
}

/// What is wrong with one statement, and what to do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Why.
    pub cause: Cause,
    /// How sure it is.
    pub confidence: Confidence,
    /// What it rests on.
    pub because: String,
    /// What is the matter, in this statement's names.
    pub evidence: String,
    /// The best change first; the others are alternatives to it.
    pub changes: Vec<Change>,
    /// What is to be expected.
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

    /// It says why a table is on disk, and not why it is there.
    pub fn is_of_disk(self) -> bool {
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

    /// One step less.
    pub(crate) fn lowered(self) -> Self {
        match self {
            Self::Certain => Self::Likely,
            _ => Self::Possible,
        }
    }
}
