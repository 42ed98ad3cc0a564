//! Logical plans: relational algebra over columns with numbers unique in the statement.
//!
//! Every column that a statement computes has its own [`ColumnId`], wherever it stands in the tree, so that an
//! expression can be moved up or down without renaming. A grouped column keeps the number of the column that it groups:
//! above an [`Relation::Aggregate`] the number means the value that all rows of the group share. Columns that a
//! relation reads but does not produce belong to an outer query; lowering turns them into parameters.

mod columns;
mod display;
mod volatility;

pub(crate) use crate::walk::{for_each_subquery_mut, with_stack};
pub use crate::walk::{
    visit_deep_mut, visit_expression, visit_expression_mut, visit_expressions_mut,
    visit_relations_mut,
};
pub use columns::{ColumnSet, free_columns, outer_columns, produced};
pub(crate) use volatility::{
    expression_is_volatile, has_subquery, is_constant, is_immutable, needs_today,
    relation_is_volatile,
};

use std::sync::Arc;

use mayfly_functions::Coercibility;
use mayfly_types::SqlType;

use crate::asked::AskedStatistics;
use crate::catalog::TableSource;
use crate::tree::access::{Access, Analysis, IndexHints, Lookup};
pub use crate::tree::expression::SubqueryKind;
use crate::tree::expression::{AggregateCall, Expression, SortKey, WindowCall};
use crate::tree::physical::{
    ClientType, DateOperand, JoinKind, KeptResult, Purpose, SetOperationKind, TemporaryTable,
    WindowOrder,
};

/// Statistics of a scan's table, with cached answers to questions about its expressions.
pub(crate) type ScanStatistics = AskedStatistics<Expression, Analysis>;

/// Number of a column within a statement.
pub type ColumnId = usize;

/// A computed column.
#[derive(Debug, Clone, PartialEq)]
pub struct Computed {
    /// Column number.
    pub id: ColumnId,
    /// Expression over the input's columns.
    pub expression: Expression,
}

/// A relation.
#[derive(Debug, Clone, PartialEq)]
pub enum Relation {
    /// Constant rows. One row without columns for a SELECT without FROM.
    Values {
        /// Columns.
        columns: Vec<ColumnId>,
        /// Types of the columns.
        types: Vec<SqlType>,
        /// Rows of expressions.
        rows: Vec<Vec<Expression>>,
    },
    /// A base table.
    Scan(Scan),
    /// Scan of a result with several readers (see [`Shared`]).
    SharedScan {
        /// Index among the statement's shared results.
        shared: usize,
        /// Alias of the result in the statement.
        alias: String,
        /// Columns, in order.
        columns: Vec<ColumnId>,
        /// Columns of outer queries that the result depends on, and their values at this scan.
        outer: Vec<Computed>,
        /// Whether only the rows of the previous round are read, inside the recursive part.
        working: bool,
    },
    /// Filter.
    Filter {
        /// Input.
        input: Box<Relation>,
        /// Predicates; all must hold.
        predicates: Vec<Expression>,
    },
    /// Projection: computed columns only.
    Project {
        /// Input.
        input: Box<Relation>,
        /// Output columns.
        columns: Vec<Computed>,
    },
    /// Extension: computed columns added to those of the input.
    Extend {
        /// Input.
        input: Box<Relation>,
        /// Added columns.
        columns: Vec<Computed>,
    },
    /// Aggregation.
    Aggregate(Aggregate),
    /// Window functions.
    Window(Window),
    /// Sort.
    Sort {
        /// Input.
        input: Box<Relation>,
        /// Sort keys.
        keys: Vec<SortKey>,
        /// (offset, count) of the rows wanted, if not all.
        limit: Option<(u64, u64)>,
        /// Required order, if only windows read the rows.
        for_windows: Option<WindowOrder>,
        /// Cause, for users.
        cause: String,
    },
    /// Limit.
    Limit {
        /// Input.
        input: Box<Relation>,
        /// Number of rows skipped first.
        offset: u64,
        /// Maximum number of rows returned.
        count: u64,
    },
    /// UNION, INTERSECT, EXCEPT.
    SetOperation {
        /// Kind of set operation.
        kind: SetOperationKind,
        /// ALL
        all: bool,
        /// Inputs, each with its columns that take part, in order.
        inputs: Vec<(Relation, Vec<ColumnId>)>,
        /// Result columns, in order.
        columns: Vec<ColumnId>,
        /// Types of the columns.
        types: Vec<SqlType>,
    },
    /// A join.
    Join(Join),
    /// Boundary of a query block that is not merged: a derived table, a common table expression, or an arm of a set
    /// operation.
    Block {
        /// Input.
        input: Box<Relation>,
        /// `select#` of the query block.
        select_id: usize,
        /// The block as a table of the enclosing query block; `None` for an arm of a set operation.
        derived: Option<Box<DerivedTable>>,
    },
    /// Materialization: all rows of the input are computed before the first is given.
    Materialize {
        /// Input.
        input: Box<Relation>,
        /// Purpose and cause.
        temporary: TemporaryTable,
    },
}

/// A query block as a table.
#[derive(Debug, Clone, PartialEq)]
pub struct DerivedTable {
    /// Alias of the table in the statement.
    pub alias: String,
    /// Columns and their names.
    pub columns: Vec<(ColumnId, String)>,
    /// Purpose and cause, if it must be materialized.
    pub materialize: Option<TemporaryTable>,
}

/// A base table in a statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Scan {
    /// The table.
    pub table: Arc<TableSource>,
    /// Alias of the table in the statement.
    pub alias: String,
    /// Number of its first column; the others follow, and behind them that of the position.
    pub first: ColumnId,
    /// Generated columns that an index is over, with their expressions.
    pub generated: Arc<[Computed]>,
    /// Predicates, all of which must hold.
    pub predicates: Vec<Expression>,
    /// `select#` of its query block.
    pub select_id: usize,
    /// Statistics of the table.
    pub(crate) statistics: Option<Arc<ScanStatistics>>,
    /// USE, FORCE and IGNORE INDEX.
    pub hints: Arc<IndexHints>,
    /// Estimated number of rows that meet the predicates, once it was computed.
    pub rows: Option<f64>,
    /// Access path.
    pub access: Access,
    /// Indexes that its predicates could use.
    pub possible: Vec<usize>,
}

/// Aggregation. Without keys: one group, even over no rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    /// Input.
    pub input: Box<Relation>,
    /// Group keys.
    pub keys: Vec<Computed>,
    /// Aggregates over each group.
    pub aggregates: Vec<(ColumnId, AggregateCall)>,
    /// WITH ROLLUP: column with the number of rolled-up keys.
    pub rollup: Option<ColumnId>,
    /// Number of groups that are wanted, any of them.
    pub first_groups: Option<u64>,
    /// Whether the input has the rows of each group contiguously.
    pub ordered: bool,
    /// Purpose: GROUP BY or DISTINCT.
    pub purpose: Purpose,
    /// Cause, for users.
    pub cause: String,
}

/// Functions over one window, in logical plans.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// Input, in the order of `partition` and `order`.
    pub input: Box<Relation>,
    /// PARTITION BY: columns of the input.
    pub partition: Vec<Expression>,
    /// ORDER BY: columns of the input.
    pub order: Vec<SortKey>,
    /// Calls, each with its output column.
    pub calls: Vec<(ColumnId, WindowCall)>,
}

/// A join.
#[derive(Debug, Clone, PartialEq)]
pub struct Join {
    /// Kind of join.
    pub kind: JoinKind,
    /// Left input; the preserved side of an outer join.
    pub left: Box<Relation>,
    /// Right input.
    pub right: Box<Relation>,
    /// Conditions, all of which must hold.
    pub on: Vec<Expression>,
    /// LATERAL: whether the right input reads columns of the left one.
    pub lateral: bool,
    /// STRAIGHT_JOIN: whether the left input is read first.
    pub straight: bool,
    /// Null-aware pairs of NOT IN, kept apart from `on`.
    pub null_aware: Vec<(Expression, Expression)>,
    /// Index lookup: the right input is a base table that is read by keys of each left row, and `on` has the remaining
    /// conditions.
    pub lookup: Option<Lookup>,
}

/// A subquery inside an expression of a logical plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Subquery {
    /// Use of its rows.
    pub kind: SubqueryKind,
    /// Relation that gives its rows.
    pub relation: Relation,
    /// Columns of `relation` that are used, in order.
    pub columns: Vec<ColumnId>,
    /// Whether one of them may be NULL.
    pub nullable: bool,
    /// `select#` of its query block.
    pub select_id: usize,
    /// Client type of its value.
    pub client_type: ClientType,
    /// Coercibility of its value, if not that of table columns.
    pub claim: Option<Coercibility>,
}

/// A common table expression, or another result that may have several readers.
#[derive(Debug, Clone)]
pub struct Shared {
    /// Result name.
    pub name: String,
    /// Names of the columns.
    pub names: Vec<String>,
    /// Source of the rows; `None` after its only reader has taken it over.
    pub source: Option<SharedRelation>,
    /// Columns of `source` that readers see, in order.
    pub columns: Vec<ColumnId>,
    /// Types of the columns.
    pub types: Vec<SqlType>,
    /// Number of readers.
    pub readers: usize,
    /// The shared results that `source` reads, each with its number of readings.
    pub reads: Vec<(usize, usize)>,
    /// Whether MySQL would merge it as a derived table.
    pub mergeable: bool,
    /// The part of the statement that keeps a single reader from taking it over.
    pub kept_by: Option<&'static str>,
    /// What it is kept for other statements by, if it is.
    pub kept: Option<KeptResult>,
    /// `select#` of its query block.
    pub select_id: usize,
}

/// Source of a [`Shared`] result.
#[derive(Debug, Clone)]
pub enum SharedRelation {
    /// A relation.
    Plain(Relation),
    /// A recursive common table expression.
    Recursive {
        /// The non-recursive part.
        seed: Relation,
        /// The recursive part.
        step: Relation,
        /// Columns of `step` that continue `Shared::columns`, in order.
        step_columns: Vec<ColumnId>,
        /// UNION DISTINCT
        distinct: bool,
        /// LIMIT: no further round begins once there are this many rows.
        enough: Option<u64>,
    },
}

/// A hint about the order of the joins of a query block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinHint {
    /// `select#` of the query block.
    pub select_id: usize,
    /// Kind of hint.
    pub kind: JoinHintKind,
    /// Tables of the hint, in order.
    pub tables: Vec<String>,
}

/// Meaning of a [`JoinHint`] for its tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinHintKind {
    /// JOIN_ORDER: they come in this order.
    Order,
    /// JOIN_PREFIX: and before all others.
    Prefix,
    /// JOIN_SUFFIX: and behind all others.
    Suffix,
}

/// A bound statement.
#[derive(Debug, Clone)]
pub struct Query {
    /// Relation that gives the rows.
    pub relation: Relation,
    /// Columns of `relation` that are the result, in order.
    pub columns: Vec<ColumnId>,
    /// Result columns as clients see them.
    pub output: Vec<crate::tree::physical::OutputColumn>,
    /// Common table expressions.
    pub shared: Vec<Shared>,
    /// First free column number.
    pub next_column: ColumnId,
    /// Number of `?`.
    pub parameter_count: usize,
    /// Constant texts that are compared with dates.
    pub date_operands: Vec<DateOperand>,
    /// Base tables that are read.
    pub tables: Vec<Arc<TableSource>>,
    /// Hints about the order of joins.
    pub join_hints: Vec<JoinHint>,
    /// LIMIT of the statement itself.
    pub limit: Option<crate::tree::physical::StatementLimit>,
    /// Clauses for which MySQL may read the result from a temporary table.
    pub buffering: Buffering,
    /// What the whole result is kept for other statements by, if it is.
    pub kept: Option<KeptResult>,
}

/// The clauses of a query block for which MySQL may put its rows into a temporary table.
#[derive(Debug, Clone, Default)]
pub struct Buffering {
    /// Columns that each key of GROUP BY reads.
    pub group: Vec<Vec<ColumnId>>,
    /// Columns that GROUP BY names, as long as its keys are columns.
    pub group_columns: Vec<ColumnId>,
    /// Whether there are aggregates without GROUP BY.
    pub one_group: bool,
    /// WITH ROLLUP
    pub rollup: bool,
    /// For each select item, whether it is an aggregate.
    pub aggregates: Vec<bool>,
    /// For each select item, whether it is a key that WITH ROLLUP rolls up, and a column of a merged derived table or
    /// computed from columns.
    pub rolled_values: Vec<bool>,
    /// Whether an aggregate needs the rows of a group contiguously: DISTINCT in it, GROUP_CONCAT().
    pub sorts_groups: bool,
    /// DISTINCT
    pub distinct: bool,
    /// Columns of the select list.
    pub selected: Vec<ColumnId>,
    /// Whether there are window functions.
    pub windowed: bool,
    /// Columns that each key of ORDER BY reads; none where GROUP BY gives the order.
    pub order: Vec<Vec<ColumnId>>,
    /// Whether a key of ORDER BY is computed from aggregates, or from volatile values.
    pub orders_results: bool,
    /// SQL_BUFFER_RESULT
    pub requested: bool,
}

impl Scan {
    /// Column of the rows' positions.
    pub fn position(&self) -> ColumnId {
        self.first + self.table.columns.len()
    }
}

impl Aggregate {
    /// A grouping of all rows, in a table of its own.
    pub fn new(
        input: Relation,
        keys: Vec<Computed>,
        aggregates: Vec<(ColumnId, AggregateCall)>,
        purpose: Purpose,
        cause: impl Into<String>,
    ) -> Self {
        Self {
            input: Box::new(input),
            keys,
            aggregates,
            rollup: None,
            first_groups: None,
            ordered: false,
            purpose,
            cause: cause.into(),
        }
    }
}

impl Join {
    /// A join by conditions.
    pub fn new(kind: JoinKind, left: Relation, right: Relation, on: Vec<Expression>) -> Self {
        Self {
            kind,
            left: Box::new(left),
            right: Box::new(right),
            on,
            lateral: false,
            straight: false,
            null_aware: Vec::new(),
            lookup: None,
        }
    }

    /// Whether it is an inner join that can be reordered with others.
    pub(crate) fn is_reorderable(&self) -> bool {
        self.kind == JoinKind::Inner && !self.lateral && !self.straight
    }
}

impl Relation {
    /// One row without columns.
    pub fn one_row() -> Self {
        Self::Values {
            columns: Vec::new(),
            types: Vec::new(),
            rows: vec![Vec::new()],
        }
    }

    /// Takes the relation, leaving one row without columns in its place.
    pub fn take(&mut self) -> Self {
        std::mem::replace(
            self,
            Self::Values {
                columns: Vec::new(),
                types: Vec::new(),
                rows: Vec::new(),
            },
        )
    }

    /// The relation with computed columns added.
    pub fn extended(self, columns: Vec<Computed>) -> Self {
        if columns.is_empty() {
            return self;
        }
        let input = Box::new(self);
        Self::Extend { input, columns }
    }

    /// The relation sorted by the ORDER BY keys.
    pub fn sorted(self, keys: Vec<SortKey>) -> Self {
        Self::Sort {
            input: Box::new(self),
            keys,
            limit: None,
            for_windows: None,
            cause: "ORDER BY has no index to follow".to_owned(),
        }
    }

    /// The relation limited to `count` rows from `offset` on.
    pub fn limited(self, offset: u64, count: u64) -> Self {
        Self::Limit {
            input: Box::new(self),
            offset,
            count,
        }
    }

    /// The relation marked as a query block that is not merged.
    pub fn block_of(self, select_id: usize) -> Self {
        match self {
            Self::SetOperation { .. } => self,
            other => Self::Block {
                input: Box::new(other),
                select_id,
                derived: None,
            },
        }
    }

    /// The relation filtered by the predicates.
    pub fn filtered(self, predicates: Vec<Expression>) -> Self {
        if predicates.is_empty() {
            return self;
        }
        match self {
            Self::Filter {
                input,
                predicates: mut inner,
            } => {
                inner.extend(predicates);
                Self::Filter {
                    input,
                    predicates: inner,
                }
            }
            other => Self::Filter {
                input: Box::new(other),
                predicates,
            },
        }
    }
}
