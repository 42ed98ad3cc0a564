//! Logical plans: relational algebra over columns that are numbered once a statement.
//!
//! Every column that a statement computes has a [`ColumnId`] of its own, wherever it stands in the
//! tree, so that an expression can be moved up or down without renaming. A grouped column keeps the
//! number of the column that it groups: above an [`Relation::Aggregate`] the same number means the
//! value that all rows of the group share. Columns that a relation reads but does not produce belong
//! to an outer query; lowering turns them into parameters.

mod columns;
mod display;
mod volatility;

pub(crate) use crate::walk::{for_each_subquery_mut, with_stack};
pub use crate::walk::{
    visit_deep_mut, visit_expression, visit_expression_mut, visit_expressions_mut,
    visit_relations_mut,
};
pub use columns::{ColumnSet, free_columns, outer_columns, produced};
pub(crate) use volatility::{expression_is_volatile, has_subquery, is_constant, is_immutable};

use std::sync::Arc;

use mayfly_functions::Coercibility;
use mayfly_types::SqlType;

use crate::catalog::{AskedStatistics, TableSource};
use crate::tree::access::{Access, IndexHints, Lookup};
use crate::tree::expression::Expression;
pub use crate::tree::expression::SubqueryKind;
use crate::tree::physical::{
    AggregateCall, ClientType, DateOperand, JoinKind, Purpose, SetOperationKind, SortKey,
    TemporaryTable, WindowOrder,
};
pub use crate::tree::window::Window;

/// Numbers a column within a statement.
pub type ColumnId = usize;

/// A column and how it is computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Computed {
    /// Its number.
    pub id: ColumnId,
    /// Its value over the input's columns.
    pub expression: Expression,
}

/// A relation: rows and how they come about.
#[derive(Debug, Clone, PartialEq)]
pub enum Relation {
    /// Rows of expressions. One row without columns for a SELECT without FROM.
    Values {
        /// The columns.
        columns: Vec<ColumnId>,
        /// Their types.
        types: Vec<SqlType>,
        /// The rows.
        rows: Vec<Vec<Expression>>,
    },
    /// A base table.
    Scan(Scan),
    /// A result with several readers (see [`Shared`]).
    SharedScan {
        /// Its index among the statement's shared results.
        shared: usize,
        /// The name that the statement gives it.
        alias: String,
        /// Its columns, in order.
        columns: Vec<ColumnId>,
        /// The columns of outer queries that it is made of, and their values where it is read.
        outer: Vec<Computed>,
        /// Inside the recursive part: only the rows of the round before.
        working: bool,
    },
    /// Rows for which every predicate is true.
    Filter {
        /// Input.
        input: Box<Relation>,
        /// Predicates; all must hold.
        predicates: Vec<Expression>,
    },
    /// Computed columns, and nothing else of the input.
    Project {
        /// Input.
        input: Box<Relation>,
        /// The columns.
        columns: Vec<Computed>,
    },
    /// Computed columns beside those of the input.
    Extend {
        /// Input.
        input: Box<Relation>,
        /// The columns that are added.
        columns: Vec<Computed>,
    },
    /// Groups and their aggregates.
    Aggregate(Aggregate),
    /// Functions over windows beside the columns of the input.
    Window(Window),
    /// Rows in order.
    Sort {
        /// Input.
        input: Box<Relation>,
        /// By what.
        keys: Vec<SortKey>,
        /// Offset and count, when only some rows are asked for.
        limit: Option<(u64, u64)>,
        /// What of the order matters, where only windows read the rows.
        for_windows: Option<WindowOrder>,
        /// Why, for people.
        cause: String,
    },
    /// Some rows, by count.
    Limit {
        /// Input.
        input: Box<Relation>,
        /// How many rows are left out first.
        offset: u64,
        /// At most how many are given.
        count: u64,
    },
    /// UNION, INTERSECT, EXCEPT.
    SetOperation {
        /// Which.
        kind: SetOperationKind,
        /// ALL
        all: bool,
        /// Each input with those of its columns that take part, in order.
        inputs: Vec<(Relation, Vec<ColumnId>)>,
        /// The result's columns, in order.
        columns: Vec<ColumnId>,
        /// Their types.
        types: Vec<SqlType>,
    },
    /// A join.
    Join(Join),
    /// The end of a query block that stays one of its own: a derived table, a common table
    /// expression, or an arm of a set operation.
    Block {
        /// The rows.
        input: Box<Relation>,
        /// `select#` of the query block.
        select_id: usize,
        /// The table that it is to the query block around it; none for an arm of a set operation.
        derived: Option<Box<DerivedTable>>,
    },
    /// All rows of the input are made before the first is given.
    Materialize {
        /// Input.
        input: Box<Relation>,
        /// Why.
        temporary: TemporaryTable,
    },
}

/// How a query block is seen as a table.
#[derive(Debug, Clone, PartialEq)]
pub struct DerivedTable {
    /// The name that the statement gives it.
    pub alias: String,
    /// Its columns and their names.
    pub columns: Vec<(ColumnId, String)>,
    /// Must it be made into a table of its own before it is read, and why.
    pub materialize: Option<TemporaryTable>,
}

/// A base table in a statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Scan {
    /// The table.
    pub table: Arc<TableSource>,
    /// The name that the statement gives it.
    pub alias: String,
    /// The number of its first column; the others follow, and behind them that of the position.
    pub first: ColumnId,
    /// Generated columns that an index is over, and what each is computed of.
    pub generated: Arc<[Computed]>,
    /// Only rows for which all of these are true.
    pub predicates: Vec<Expression>,
    /// `select#` of its query block.
    pub select_id: usize,
    /// What may be asked of its contents.
    pub(crate) statistics: Option<Arc<AskedStatistics>>,
    /// USE, FORCE and IGNORE INDEX.
    pub hints: Arc<IndexHints>,
    /// How many rows are thought to meet the predicates, once that was looked up.
    pub rows: Option<f64>,
    /// How it is read.
    pub access: Access,
    /// The indexes that its predicates could use.
    pub possible: Vec<usize>,
}

/// Groups and their aggregates. Without keys: one group, also over no rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    /// Input.
    pub input: Box<Relation>,
    /// What rows are grouped by.
    pub keys: Vec<Computed>,
    /// Aggregates over each group.
    pub aggregates: Vec<(ColumnId, AggregateCall)>,
    /// WITH ROLLUP: the column that counts rolled-up keys.
    pub rollup: Option<ColumnId>,
    /// Number of groups that are wanted, any of them.
    pub first_groups: Option<u64>,
    /// The input gives the rows of each group one after the other.
    pub ordered: bool,
    /// GROUP BY or DISTINCT.
    pub purpose: Purpose,
    /// Why, for people.
    pub cause: String,
}

/// A join.
#[derive(Debug, Clone, PartialEq)]
pub struct Join {
    /// Which rows come out.
    pub kind: JoinKind,
    /// Left input; the preserved side of an outer join.
    pub left: Box<Relation>,
    /// Right input.
    pub right: Box<Relation>,
    /// All must hold.
    pub on: Vec<Expression>,
    /// The right input reads columns of the left one.
    pub lateral: bool,
    /// STRAIGHT_JOIN: the left input is read first.
    pub straight: bool,
    /// The null-aware pair of NOT IN, kept apart from `on`.
    pub null_aware: Vec<(Expression, Expression)>,
    /// The right input is a base table of which each left row's keys are read, and `on` what else
    /// must hold of the pairs.
    pub lookup: Option<Lookup>,
}

/// A subquery inside an expression of a logical plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Subquery {
    /// What is made of its rows.
    pub kind: SubqueryKind,
    /// Its rows.
    pub relation: Relation,
    /// Those columns of `relation` that matter, in order.
    pub columns: Vec<ColumnId>,
    /// Whether one of them may be NULL.
    pub nullable: bool,
    /// `select#` of its query block.
    pub select_id: usize,
    /// What is reported to clients of its one value.
    pub client_type: ClientType,
    /// What the collation of its one value claims, if not what columns of tables claim.
    pub claim: Option<Coercibility>,
}

/// A common table expression, or another result that may have several readers.
#[derive(Debug, Clone)]
pub struct Shared {
    /// Its name.
    pub name: String,
    /// The names of its columns.
    pub names: Vec<String>,
    /// How it is made; taken out when its only reader takes it over.
    pub source: Option<SharedRelation>,
    /// The columns of `source` that readers see, in order.
    pub columns: Vec<ColumnId>,
    /// Their types.
    pub types: Vec<SqlType>,
    /// How many readers it has.
    pub readers: usize,
    /// Whether it has the shape of a derived table that is merged.
    pub mergeable: bool,
    /// `select#` of its query block.
    pub select_id: usize,
}

/// How a [`Shared`] is made.
#[derive(Debug, Clone)]
pub enum SharedRelation {
    /// By one relation.
    Plain(Relation),
    /// By a recursive common table expression.
    Recursive {
        /// The non-recursive part.
        seed: Relation,
        /// The recursive part, and those of its columns that continue `Shared::columns`.
        step: Relation,
        /// Columns of `step`, in order.
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
    /// What it says.
    pub kind: JoinHintKind,
    /// Its tables, in order.
    pub tables: Vec<String>,
}

/// What a [`JoinHint`] says of its tables.
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
    /// The rows.
    pub relation: Relation,
    /// Those columns of `relation` that are the result, in order.
    pub columns: Vec<ColumnId>,
    /// The result's columns as clients see them.
    pub output: Vec<crate::tree::physical::OutputColumn>,
    /// Common table expressions.
    pub shared: Vec<Shared>,
    /// The first column number that is free.
    pub next_column: ColumnId,
    /// How many `?` there are.
    pub parameter_count: usize,
    /// The texts that are the same for all rows and are compared with dates.
    pub date_operands: Vec<DateOperand>,
    /// Every base table that is read.
    pub tables: Vec<Arc<TableSource>>,
    /// What hints say of the order of joins.
    pub join_hints: Vec<JoinHint>,
    /// The statement's own LIMIT.
    pub limit: Option<crate::tree::physical::StatementLimit>,
    /// What MySQL may read the result from a temporary table for.
    pub buffering: Buffering,
}

/// The clauses of a query block for which MySQL may put its rows into a temporary table.
#[derive(Debug, Clone, Default)]
pub struct Buffering {
    /// The columns that each key of GROUP BY reads.
    pub group: Vec<Vec<ColumnId>>,
    /// The columns that GROUP BY names, as long as its keys are columns.
    pub group_columns: Vec<ColumnId>,
    /// There are aggregates without GROUP BY.
    pub one_group: bool,
    /// WITH ROLLUP
    pub rollup: bool,
    /// Which items of the select list are aggregates.
    pub aggregates: Vec<bool>,
    /// An aggregate wants the rows of a group one after the other: DISTINCT in it, GROUP_CONCAT().
    pub sorts_groups: bool,
    /// DISTINCT
    pub distinct: bool,
    /// The columns of the select list.
    pub selected: Vec<ColumnId>,
    /// There are window functions.
    pub windowed: bool,
    /// The columns that each key of ORDER BY reads; none where GROUP BY gives the order.
    pub order: Vec<Vec<ColumnId>>,
    /// A key of ORDER BY is computed of aggregates, or of what is not the same when it is computed again.
    pub orders_results: bool,
    /// SQL_BUFFER_RESULT
    pub requested: bool,
}

impl Scan {
    /// The column of the rows' positions.
    pub fn position(&self) -> ColumnId {
        self.first + self.table.columns.len()
    }
}

impl Aggregate {
    /// A grouping of all rows, made in a table of its own.
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

    /// Whether it is an inner join that any other may take turns with.
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

    /// The relation, leaving one row without columns in its place.
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

    /// At most `count` of the same rows, from `offset` on.
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
