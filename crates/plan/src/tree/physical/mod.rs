//! Physical plans: operators, their temporary tables, and the causes of these.

mod kept;
mod output;
mod walk;

use std::sync::Arc;

pub use kept::{Freshness, KeptResult};
pub use mayfly_types::Purpose;
use mayfly_types::{OrderColumn, SqlType, TermShape, TypeKind};
pub use output::{ClientType, ColumnOrigin, OutputColumn, ViewColumn};

use crate::catalog::TableSource;
use crate::tree::access::{GroupRows, KeyRanges, LookupKey};
pub use crate::tree::expression::{AggregateCall, SortKey};
use crate::tree::expression::{Expression, WindowCall};

/// A query plan, which can be run any number of times.
#[derive(Debug, Clone)]
pub struct QueryPlan {
    /// Operator that gives the result.
    pub root: Plan,
    /// Columns of the result, as many as `root.output`.
    pub columns: Vec<OutputColumn>,
    /// Shared results: common table expressions and other results with several readers, ordered so that each reads only
    /// earlier ones (or itself, when recursive).
    pub shared: Vec<SharedResult>,
    /// Number of operators, including those of subqueries and shared results; their numbers are smaller.
    pub operator_count: usize,
    /// Number of parameters that expressions may read ([`crate::ExpressionKind::Parameter`]).
    pub parameter_count: usize,
    /// Constant texts that are compared with dates.
    pub date_operands: Vec<DateOperand>,
    /// Base tables that are read.
    pub tables: Vec<Arc<TableSource>>,
    /// LIMIT of the statement itself.
    pub limit: Option<StatementLimit>,
}

/// A constant text that is compared with a value of a temporal type.
#[derive(Debug, Clone)]
pub struct DateOperand {
    /// Text expression, which reads no column.
    pub text: Expression,
    /// Type compared with: DATE, DATETIME or TIMESTAMP.
    pub kind: TypeKind,
}

/// LIMIT of the whole statement, as FOUND_ROWS() needs it.
#[derive(Debug, Clone, Copy)]
pub struct StatementLimit {
    /// Number of rows skipped first.
    pub offset: u64,
    /// Maximum number of rows returned.
    pub count: u64,
    /// SQL_CALC_FOUND_ROWS: the plan gives every row, and the execution counts all of them.
    pub counts_all: bool,
}

/// Number of an operator within its statement, which also identifies its temporary table.
pub type OperatorNumber = u32;

/// An operator with its inputs.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Operator number; operators derived from one another may share it.
    pub number: OperatorNumber,
    /// Kind and properties of the operator.
    pub operator: Operator,
    /// Types of the output columns.
    pub output: Vec<SqlType>,
    /// Estimated number of output rows.
    pub estimated_rows: f64,
}

impl KeptResult {
    /// The temporary table in which it is computed.
    pub(crate) fn temporary(&self) -> TemporaryTable {
        TemporaryTable::new(Purpose::KeptResult, self.freshness.to_string())
    }
}

impl QueryPlan {
    /// Makes the whole result one that is kept for other statements, if it is to be.
    pub(crate) fn keep(mut self, kept: Option<KeptResult>) -> Self {
        let Some(kept) = kept else {
            return self;
        };
        let number = self.root.number;
        let scan = Plan {
            number,
            operator: Operator::SharedScan {
                shared: SharedId(self.shared.len()),
                alias: "select#1".to_owned(),
                arguments: Vec::new(),
            },
            output: self.root.output.clone(),
            estimated_rows: self.root.estimated_rows,
        };
        let source = std::mem::replace(&mut self.root, scan);
        self.shared.push(SharedResult {
            output: source.output.clone(),
            name: "select#1".to_owned(),
            columns: self
                .columns
                .iter()
                .map(|column| column.name.clone())
                .collect(),
            select_id: 1,
            temporary: TemporaryTable {
                operator: Some(number),
                ..kept.temporary()
            },
            kept: Some(kept),
            source: SharedSource::Plan(source),
        });
        self
    }
}

/// Purpose and cause of a temporary table: shown by EXPLAIN, SHOW TEMPORARY TABLES and error messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemporaryTable {
    /// Purpose of the table.
    pub purpose: Purpose,
    /// The cause, for people: "GROUP BY c is not covered by an index".
    pub cause: Arc<str>,
    /// Operator that creates it; `None` before it is part of a plan.
    pub operator: Option<OperatorNumber>,
    /// Estimated bytes of the texts of a row beside its cells, if asked for and known from statistics.
    pub text_bytes: Option<u32>,
    /// Estimated bytes of working memory beside its rows, if asked for.
    pub work_bytes: u64,
}

impl TemporaryTable {
    /// A temporary table with its purpose and cause.
    pub fn new(purpose: Purpose, cause: impl Into<Arc<str>>) -> Self {
        Self {
            purpose,
            cause: cause.into(),
            operator: None,
            text_bytes: None,
            work_bytes: 0,
        }
    }

    /// Whether it stands for the rows of an exchange: no table of this process.
    pub fn is_exchange(&self) -> bool {
        self.purpose == Purpose::Exchange
    }

    /// Another temporary table of the same operator.
    pub fn beside(&self, purpose: Purpose, cause: &str) -> Self {
        Self {
            operator: self.operator,
            ..Self::new(purpose, cause)
        }
    }
}

/// Identifier of a [`SharedResult`]: its index in [`QueryPlan::shared`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SharedId(pub usize);

/// A result that is materialized at most once, at its first reading, and can be read any number of times.
#[derive(Debug, Clone)]
pub struct SharedResult {
    /// Source of the rows.
    pub source: SharedSource,
    /// Types of the columns.
    pub output: Vec<SqlType>,
    /// Name of the common table expression or derived table.
    pub name: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// `select#` of its first query block.
    pub select_id: usize,
    /// Purpose and cause of the table.
    pub temporary: TemporaryTable,
    /// What it is kept for other statements by, if it is.
    pub kept: Option<KeptResult>,
}

/// Source of a [`SharedResult`].
#[derive(Debug, Clone)]
pub enum SharedSource {
    /// A plan.
    Plan(Plan),
    /// A recursive common table expression: `seed`, then `step` over the rows that the previous round added
    /// ([`Operator::WorkingTable`]), until a round adds none.
    Recursive {
        /// The non-recursive part.
        seed: Plan,
        /// The recursive part. Its rows are stored in the columns of the non-recursive part: a value that does not fit
        /// is an error in strict mode.
        step: Plan,
        /// UNION DISTINCT: duplicates are not added.
        distinct: bool,
        /// LIMIT: no further round begins once there are this many rows.
        enough: Option<u64>,
    },
}

/// Column index that stands for the rows' positions, in the store's encoding.
pub const POSITION: usize = usize::MAX;

/// Type of positions: a binary string.
pub(crate) fn position_type() -> SqlType {
    SqlType::varchar(u32::MAX, mayfly_types::CollationId::BINARY)
}

/// An operator and its properties.
#[derive(Debug, Clone)]
pub enum Operator {
    /// Constant rows: expressions that read no column. One row without columns for a SELECT without FROM.
    Values {
        /// Rows of expressions.
        rows: Vec<Vec<Expression>>,
    },
    /// Table scan: rows of a base table.
    TableScan {
        /// Table to scan.
        table: Arc<TableSource>,
        /// Alias of the table in the statement.
        alias: String,
        /// Columns read, by index in the table, or [`POSITION`].
        columns: Vec<usize>,
        /// Predicate over the scanned columns.
        predicate: Option<Expression>,
        /// Terms that the table answers.
        pushed: Vec<PushedTerm>,
        /// Order in which the table gives the rows; empty: any order.
        order: Vec<OrderColumn>,
        /// Indexes that the conditions could use.
        possible: Vec<usize>,
    },
    /// Index scan: rows of a base table that an index leads to.
    IndexScan(Box<IndexScan>),
    /// Index merge: rows of a base table that several indexes lead to.
    IndexMerge(Box<IndexMerge>),
    /// Index lookup join into the right table: output is the left columns, then (unless semi or anti) the right ones.
    /// Its rows come in the order of the left ones.
    IndexLookupJoin(Box<IndexLookupJoin>),
    /// Scan of a shared result.
    SharedScan {
        /// Shared result to read.
        shared: SharedId,
        /// Alias of the result in the statement.
        alias: String,
        /// Parameters of the result, with their values at this scan: it is materialized again when one of them changes.
        arguments: Vec<(usize, Expression)>,
    },
    /// Scan of the rows of the previous round, inside the recursive part of a common table expression.
    WorkingTable {
        /// The common table expression.
        shared: SharedId,
        /// Alias of the result in the statement.
        alias: String,
    },
    /// Filter: rows for which a predicate is true.
    Filter {
        /// Input.
        input: Box<Plan>,
        /// Predicate.
        predicate: Expression,
    },
    /// Projection: computed columns.
    Project {
        /// Input.
        input: Box<Plan>,
        /// Expressions, one for each output column.
        expressions: Vec<Expression>,
    },
    /// Limit: a range of rows by count.
    Limit {
        /// Input.
        input: Box<Plan>,
        /// Number of rows skipped first.
        offset: u64,
        /// Maximum number of rows returned.
        count: u64,
    },
    /// Aggregation: output is the keys, then the aggregates.
    Aggregate {
        /// Input.
        input: Box<Plan>,
        /// Keys and aggregates.
        grouping: Grouping,
    },
    /// Sort.
    Sort {
        /// Input.
        input: Box<Plan>,
        /// Sort keys.
        keys: Vec<SortKey>,
        /// (offset, count) of the rows returned, if not all.
        limit: Option<(u64, u64)>,
        /// Required order, if only windows read the rows.
        for_windows: Option<WindowOrder>,
        /// Temporary table of the sort.
        temporary: TemporaryTable,
    },
    /// Window functions: output is the columns of the input, then those of the calls. The rows of a partition come
    /// contiguously and in the order of the window, and are given so.
    Window {
        /// Input.
        input: Box<Plan>,
        /// PARTITION BY
        partition: Vec<Expression>,
        /// ORDER BY
        order: Vec<SortKey>,
        /// Window function calls.
        calls: Vec<WindowCall>,
        /// Table for the rows of a partition that a call must see first; created where they do not fit in memory.
        temporary: TemporaryTable,
    },
    /// UNION, INTERSECT or EXCEPT of two or more inputs with the same output types. UNION ALL has no temporary table.
    SetOperation {
        /// Kind of set operation.
        kind: SetOperationKind,
        /// ALL: duplicates are kept.
        all: bool,
        /// Inputs, in order.
        inputs: Vec<Plan>,
        /// Temporary table, if there is one.
        temporary: Option<TemporaryTable>,
    },
    /// Hash join, by equality: output is the left columns, then (unless semi or anti) the right ones.
    HashJoin {
        /// Kind of join.
        kind: JoinKind,
        /// Left input (for outer joins: the preserved side).
        left: Box<Plan>,
        /// Right input.
        right: Box<Plan>,
        /// Pairs of expressions over left and right rows that must be equal, of the same type.
        keys: Vec<JoinKey>,
        /// Residual condition, over left ++ right columns.
        residual: Option<Expression>,
        /// Whether the left input is the build side; else the right one is.
        build_left: bool,
        /// Whether most rows of the probe side are expected to have a partner: a filter of the build side's keys would
        /// refuse few of them.
        partnered: bool,
        /// Filters by keys of the build side that reach a scan of the probe side: (column of the probe side, estimated
        /// fraction of the rows that it lets pass).
        filters: Vec<(usize, f64)>,
        /// Temporary table of the build side.
        temporary: TemporaryTable,
    },
    /// Nested loop join, by any condition; the right input is kept in a temporary table.
    NestedLoopJoin {
        /// Kind of join.
        kind: JoinKind,
        /// Left input.
        left: Box<Plan>,
        /// Right input.
        right: Box<Plan>,
        /// Join condition, over left ++ right columns; `None`: every pair.
        condition: Option<Expression>,
        /// Temporary table of the right input.
        temporary: TemporaryTable,
    },
    /// Apply (LATERAL): the right input is run for every left row with these parameters set.
    Apply {
        /// Kind of join: Inner, Left, Semi or Anti.
        kind: JoinKind,
        /// Left input.
        left: Box<Plan>,
        /// Right input, which reads the parameters.
        right: Box<Plan>,
        /// Parameters and the expressions over the left row that set them.
        parameters: Vec<(usize, Expression)>,
        /// Join condition, over left ++ right columns.
        condition: Option<Expression>,
    },
    /// Boundary of a query block that is not merged, for EXPLAIN: the rows of the input unchanged.
    Block {
        /// Input.
        input: Box<Plan>,
        /// `select#` of the query block.
        select_id: usize,
        /// The block as a table of the enclosing query block; `None` for an arm of a set operation.
        table: Option<BlockTable>,
    },
    /// Materialization: all rows of the input are computed before the first is given.
    Materialize {
        /// Input.
        input: Box<Plan>,
        /// Temporary table of the rows.
        temporary: TemporaryTable,
    },
}

impl Operator {
    /// Temporary table of the operator.
    pub(crate) fn temporary_mut(&mut self) -> Option<&mut TemporaryTable> {
        match self {
            Self::Aggregate { grouping, .. } => grouping.temporary.as_mut(),
            Self::SetOperation { temporary, .. } => temporary.as_mut(),
            Self::Sort { temporary, .. }
            | Self::Window { temporary, .. }
            | Self::HashJoin { temporary, .. }
            | Self::NestedLoopJoin { temporary, .. }
            | Self::Materialize { temporary, .. } => Some(temporary),
            Self::IndexLookupJoin(join) => join.hash.as_mut().map(|hash| &mut hash.temporary),
            Self::Values { .. }
            | Self::TableScan { .. }
            | Self::IndexScan(_)
            | Self::IndexMerge(_)
            | Self::SharedScan { .. }
            | Self::WorkingTable { .. }
            | Self::Filter { .. }
            | Self::Project { .. }
            | Self::Limit { .. }
            | Self::Apply { .. }
            | Self::Block { .. } => None,
        }
    }
}

/// Keys and aggregates of [`Operator::Aggregate`]. Without keys: one group, even over no rows. Without aggregates:
/// DISTINCT.
#[derive(Debug, Clone, Default)]
pub struct Grouping {
    /// Group keys (each compared by its type's collation).
    pub keys: Vec<Expression>,
    /// Aggregate calls.
    pub aggregates: Vec<AggregateCall>,
    /// WITH ROLLUP: super-aggregate rows with NULL keys. The output then has one more column at its end, BIGINT: the
    /// number of trailing keys that were rolled up (0 for an ordinary group), for GROUPING().
    pub rollup: bool,
    /// `Some(n)`: any n groups are wanted; the first n seen are given.
    pub first_groups: Option<u64>,
    /// Whether the input has the rows of each group contiguously: groups are given as they come, in that order, and no
    /// table is made.
    pub ordered: bool,
    /// Whether the output has the partial states of the calls in place of their results: the columns of
    /// [`AggregateSignature::state`](mayfly_functions::AggregateSignature::state), one call after the other.
    pub gives_states: bool,
    /// Temporary table; `None` when there are no keys.
    pub temporary: Option<TemporaryTable>,
}

impl Grouping {
    /// Whether a filter on the values of a key may be applied before rows are grouped: it removes whole groups, and the
    /// other groups do not depend on them.
    pub(crate) fn takes_key_filter(&self) -> bool {
        let is_plain = |call: &AggregateCall| !call.distinct && call.order_by.is_empty();
        !self.rollup
            && !self.ordered
            && self.first_groups.is_none()
            && self.aggregates.iter().all(is_plain)
    }

    /// Another temporary table of the same operator.
    pub fn temporary_beside(&self, purpose: Purpose, cause: &str) -> TemporaryTable {
        match &self.temporary {
            Some(temporary) => temporary.beside(purpose, cause),
            None => TemporaryTable::new(purpose, cause),
        }
    }
}

/// A term of a scan's predicate that is pushed down to the table.
#[derive(Debug, Clone)]
pub struct PushedTerm {
    /// Its shape, which the table has been asked for.
    pub shape: TermShape,
    /// The term, over all columns of the table.
    pub predicate: Expression,
    /// Whether the table answers it exactly. Otherwise it is also a part of the scan's predicate.
    pub is_exact: bool,
}

/// Properties of [`Operator::IndexScan`].
#[derive(Debug, Clone)]
pub struct IndexScan {
    /// Table to scan.
    pub table: Arc<TableSource>,
    /// Alias of the table in the statement.
    pub alias: String,
    /// Position of the index in the table's list.
    pub index: usize,
    /// Columns read, by index in the table, or [`POSITION`].
    pub columns: Vec<usize>,
    /// Ranges of the index to read; `None`: all of it.
    pub ranges: Option<KeyRanges>,
    /// Whether the index is read backwards.
    pub reverse: bool,
    /// Whether the rows must come in the order of the index.
    pub ordered: bool,
    /// Rows of each group to read; `None`: every row.
    pub groups: Option<GroupRows>,
    /// Whether the index is covering: no row is read outside of it.
    pub covering: bool,
    /// Predicate over the scanned columns.
    pub predicate: Option<Expression>,
    /// Estimated number of rows read.
    pub read_rows: f64,
    /// Indexes that the conditions could use.
    pub possible: Vec<usize>,
}

/// Properties of [`Operator::IndexMerge`].
#[derive(Debug, Clone)]
pub struct IndexMerge {
    /// Table to read.
    pub table: Arc<TableSource>,
    /// Alias of the table in the statement.
    pub alias: String,
    /// Combination of the rows that the indexes find.
    pub kind: MergeKind,
    /// A set operation over scans of the indexes that gives the position of each row once.
    pub positions: Plan,
    /// Columns read, by index in the table, or [`POSITION`].
    pub columns: Vec<usize>,
    /// Predicate over the columns read.
    pub predicate: Option<Expression>,
    /// Estimated number of rows fetched.
    pub read_rows: f64,
    /// Indexes that the conditions could use.
    pub possible: Vec<usize>,
}

impl IndexMerge {
    /// Scans of the indexes.
    pub fn parts(&self) -> impl Iterator<Item = &IndexScan> {
        let inputs = match &self.positions.operator {
            Operator::SetOperation { inputs, .. } => inputs.as_slice(),
            _ => &[],
        };
        inputs.iter().filter_map(|input| match &input.operator {
            Operator::IndexScan(scan) => Some(&**scan),
            _ => None,
        })
    }
}

/// Combination of the rows that several indexes find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeKind {
    /// Union of rows that each index gives in the order of their positions.
    Union,
    /// Union of rows in any order.
    SortUnion,
    /// Intersection.
    Intersection,
    /// Each row once that a multi-valued index finds.
    Elements,
}

/// Properties of [`Operator::IndexLookupJoin`].
#[derive(Debug, Clone)]
pub struct IndexLookupJoin {
    /// Kind of join: all but NullAwareAnti.
    pub kind: JoinKind,
    /// Left input.
    pub left: Plan,
    /// Right table.
    pub table: Arc<TableSource>,
    /// Alias of the right table in the statement.
    pub alias: String,
    /// Position of the index in the table's list.
    pub index: usize,
    /// Columns of the right table that are read, by index in it, or [`POSITION`].
    pub columns: Vec<usize>,
    /// Values of the index's first parts, over left rows.
    pub keys: Vec<LookupKey>,
    /// Whether the index is covering: no row is read outside of it.
    pub covering: bool,
    /// Residual condition, over left ++ right columns.
    pub residual: Option<Expression>,
    /// Estimated number of right rows per left row.
    pub rows_per_key: f64,
    /// Estimated fraction of them that meets `residual`.
    pub kept: f64,
    /// Whether each key finds at most one row.
    pub finds_one: bool,
    /// Hash join that replaces the lookups once they are many.
    pub hash: Option<AdaptiveHash>,
    /// Indexes that the conditions could use.
    pub possible: Vec<usize>,
}

/// Hash join to which an index lookup join changes while it runs: an adaptive join. Its build side is a scan of the right
/// table, and its keys are those of the lookups. It gives the rows that lookups give, in the order of the left ones.
#[derive(Debug, Clone)]
pub struct AdaptiveHash {
    /// Number of lookups that cost as much as the scan and the hash table: more left rows than estimated have come then.
    pub after: u64,
    /// Estimated number of rows of the build side.
    pub rows: f64,
    /// Columns of the right table that are the keys, by index in [`IndexLookupJoin::columns`].
    pub keys: Vec<usize>,
    /// Conditions on right rows alone, over the right columns.
    pub predicate: Option<Expression>,
    /// The other conditions, over left ++ right columns.
    pub residual: Option<Expression>,
    /// Table of the build side.
    pub temporary: TemporaryTable,
}

/// A query block as a table.
#[derive(Debug, Clone)]
pub struct BlockTable {
    /// Alias of the table in the statement.
    pub alias: String,
    /// Names of the columns.
    pub columns: Vec<String>,
}

/// Order that windows need of the rows that they read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowOrder {
    /// Number of leading keys that divide rows into partitions. The rows of a partition are contiguous, in the order of
    /// the other keys.
    pub partition_keys: usize,
    /// Whether partitions must be in order, too.
    pub orders_partitions: bool,
    /// The first rows of each partition, if not all are wanted.
    pub first: Option<FirstRows>,
}

/// The first rows of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstRows {
    /// Number of rows. A row is wanted if fewer rows than this precede it; so peers of the last one are wanted, too.
    pub count: u64,
    /// Whether peers count as one.
    pub counts_values: bool,
}

/// An equality of a join.
#[derive(Debug, Clone)]
pub struct JoinKey {
    /// Expression over left rows.
    pub left: Expression,
    /// Expression over right rows, of the same type.
    pub right: Expression,
    /// `<=>` instead of `=`.
    pub null_safe: bool,
}

/// Set operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SetOperationKind {
    /// Rows of any input.
    Union,
    /// Rows of every input.
    Intersect,
    /// Rows of the first input that are in no other.
    Except,
}

/// Kind of a join.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JoinKind {
    /// Pairs.
    Inner,
    /// Pairs, and left rows without a partner, with NULLs.
    Left,
    /// Left rows with a partner, once.
    Semi,
    /// Left rows without a partner.
    Anti,
    /// NOT IN: as Anti, but a left row whose keys have a NULL, or any left row when the right side
    /// has a NULL key, comes out only if the right side is empty.
    NullAwareAnti,
}

impl JoinKind {
    /// Whether only the left columns come out.
    pub fn is_left_only(self) -> bool {
        matches!(self, Self::Semi | Self::Anti | Self::NullAwareAnti)
    }
}
