//! Physical plans: which operators run, over which temporary tables, and why those exist.

mod output;

use std::sync::Arc;

use mayfly_functions::{AggregateFunction, AggregateSignature};
use mayfly_types::{SqlType, TypeKind, Value};
pub use output::{ClientType, ColumnOrigin, OutputColumn, ViewColumn};

use crate::catalog::TableSource;
use crate::tree::access::{GroupRows, LookupKey};
use crate::tree::expression::Expression;
use crate::tree::key_ranges::KeyRanges;
use crate::tree::window::WindowCall;

/// A whole query, ready to run any number of times.
#[derive(Debug, Clone)]
pub struct QueryPlan {
    /// The operator that gives the result.
    pub root: Plan,
    /// The result's columns, as many as `root.output`.
    pub columns: Vec<OutputColumn>,
    /// Results with several readers: common table expressions and the like, in an order in
    /// which each only reads earlier ones (or itself, when recursive).
    pub shared: Vec<SharedResult>,
    /// How many operators there are, those of subqueries and shared results too: their numbers are smaller.
    pub operator_count: usize,
    /// How many parameters expressions may read ([`crate::ExpressionKind::Parameter`]).
    pub parameter_count: usize,
    /// The texts that are the same for all rows and are compared with dates.
    pub date_operands: Vec<DateOperand>,
    /// Every base table that is read.
    pub tables: Vec<Arc<TableSource>>,
    /// The statement's own LIMIT.
    pub limit: Option<StatementLimit>,
}

/// A text that is the same for all rows, and is compared with a value of a temporal type.
#[derive(Debug, Clone)]
pub struct DateOperand {
    /// The text, which reads no column.
    pub text: Expression,
    /// DATE, DATETIME or TIMESTAMP.
    pub kind: TypeKind,
}

/// The LIMIT of the whole statement, as FOUND_ROWS() needs it.
#[derive(Debug, Clone, Copy)]
pub struct StatementLimit {
    /// How many rows are left out first.
    pub offset: u64,
    /// At most how many are given.
    pub count: u64,
    /// SQL_CALC_FOUND_ROWS: the plan gives every row, and the execution counts all of them.
    pub counts_all: bool,
}

/// Names an operator among those of its statement, and the temporary table that it makes.
pub type OperatorNumber = u32;

/// An operator with its inputs.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Its number; that of operators which are made from one another may be the same.
    pub number: OperatorNumber,
    /// What it does.
    pub operator: Operator,
    /// The types of the columns that it gives.
    pub output: Vec<SqlType>,
    /// How many rows it is thought to give.
    pub estimated_rows: f64,
}

impl Plan {
    /// Calls `visit` on each input of the operator (not on the plans of subqueries in its expressions).
    pub fn for_each_input<'p>(&'p self, visit: &mut dyn FnMut(&'p Plan)) {
        match &self.operator {
            Operator::Values { .. }
            | Operator::TableScan { .. }
            | Operator::IndexScan(_)
            | Operator::SharedScan { .. }
            | Operator::WorkingTable { .. } => {}
            Operator::IndexMerge(merge) => visit(&merge.positions),
            Operator::IndexLookupJoin(join) => visit(&join.left),
            Operator::Filter { input, .. }
            | Operator::Project { input, .. }
            | Operator::Limit { input, .. }
            | Operator::Aggregate { input, .. }
            | Operator::Sort { input, .. }
            | Operator::Window { input, .. }
            | Operator::Block { input, .. }
            | Operator::Materialize { input, .. } => visit(input),
            Operator::SetOperation { inputs, .. } => inputs.iter().for_each(visit),
            Operator::HashJoin { left, right, .. }
            | Operator::NestedLoopJoin { left, right, .. }
            | Operator::Apply { left, right, .. } => {
                visit(left);
                visit(right);
            }
        }
    }

    /// Calls `visit` on each expression of the operator itself, outermost ones only.
    pub fn for_each_expression<'p>(&'p self, visit: &mut dyn FnMut(&'p Expression)) {
        match &self.operator {
            Operator::Values { rows } => rows.iter().flatten().for_each(visit),
            Operator::TableScan { predicate, .. } => predicate.iter().for_each(visit),
            Operator::IndexScan(scan) => {
                scan.predicate.iter().for_each(&mut *visit);
                if let Some(ranges) = &scan.ranges {
                    ranges.for_each_expression(visit);
                }
            }
            Operator::IndexMerge(merge) => merge.predicate.iter().for_each(visit),
            Operator::IndexLookupJoin(join) => {
                let keys = join.keys.iter().map(|key| &key.value);
                keys.chain(&join.residual).for_each(visit);
            }
            Operator::Filter { predicate, .. } => visit(predicate),
            Operator::Project { expressions, .. } => expressions.iter().for_each(visit),
            Operator::Aggregate { grouping, .. } => {
                grouping.keys.iter().for_each(&mut *visit);
                for call in &grouping.aggregates {
                    let order = call.order_by.iter().map(|key| &key.expression);
                    call.arguments.iter().chain(order).for_each(&mut *visit);
                }
            }
            Operator::Sort { keys, .. } => keys.iter().for_each(|key| visit(&key.expression)),
            Operator::Window {
                partition,
                order,
                calls,
                ..
            } => {
                let order = order.iter().map(|key| &key.expression);
                partition.iter().chain(order).for_each(&mut *visit);
                calls
                    .iter()
                    .for_each(|call| call.for_each_expression(visit));
            }
            Operator::HashJoin { keys, residual, .. } => {
                let keys = keys.iter().flat_map(|key| [&key.left, &key.right]);
                keys.chain(residual).for_each(visit);
            }
            Operator::NestedLoopJoin { condition, .. } => condition.iter().for_each(visit),
            Operator::Apply {
                parameters,
                condition,
                ..
            } => {
                let parameters = parameters.iter().map(|(_, value)| value);
                parameters.chain(condition).for_each(visit);
            }
            Operator::SharedScan { arguments, .. } => {
                arguments.iter().for_each(|(_, value)| visit(value));
            }
            Operator::WorkingTable { .. }
            | Operator::Limit { .. }
            | Operator::SetOperation { .. }
            | Operator::Block { .. }
            | Operator::Materialize { .. } => {}
        }
    }
}

/// Why a temporary table exists: shown by EXPLAIN, SHOW TEMPORARY TABLES and error messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemporaryTable {
    /// What it is for.
    pub purpose: Purpose,
    /// The cause, for people: "GROUP BY c is not covered by an index".
    pub cause: Arc<str>,
    /// The operator that makes it; none before it is part of a plan.
    pub operator: Option<OperatorNumber>,
    /// How many bytes the texts of a row take beside its cells, where somebody asks and statistics tell.
    pub text_bytes: Option<u32>,
    /// How many bytes making it takes beside its rows, where somebody asks.
    pub work_bytes: u64,
}

impl TemporaryTable {
    /// A table for a purpose, and why it is needed.
    pub fn new(purpose: Purpose, cause: impl Into<Arc<str>>) -> Self {
        Self {
            purpose,
            cause: cause.into(),
            operator: None,
            text_bytes: None,
            work_bytes: 0,
        }
    }

    /// Another table of the same operator.
    pub fn beside(&self, purpose: Purpose, cause: &str) -> Self {
        Self {
            operator: self.operator,
            ..Self::new(purpose, cause)
        }
    }
}

/// What a temporary table is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// GROUP BY
    GroupBy,
    /// DISTINCT
    Distinct,
    /// UNION, INTERSECT or EXCEPT
    SetOperation,
    /// ORDER BY
    OrderBy,
    /// The build side of a join.
    Join,
    /// A derived table or view.
    DerivedTable,
    /// A common table expression.
    CommonTableExpression,
    /// The rows of a subquery, or its results by parameter.
    Subquery,
    /// SQL_BUFFER_RESULT, or INSERT … SELECT from the same table.
    Buffer,
    /// COUNT(DISTINCT …), GROUP_CONCAT and other aggregates that need whole groups.
    Aggregate,
    /// The rows of a partition that a window function must have seen before it gives the first one.
    Window,
}

/// Names a [`SharedResult`]: its position in [`QueryPlan::shared`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SharedId(pub usize);

/// A result that is made at most once, at its first reading, and read any number of times.
#[derive(Debug, Clone)]
pub struct SharedResult {
    /// How it is made.
    pub source: SharedSource,
    /// The types of its columns.
    pub output: Vec<SqlType>,
    /// Its name (the common table expression's or derived table's).
    pub name: String,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// `select#` of its first query block.
    pub select_id: usize,
    /// Why it is a table.
    pub temporary: TemporaryTable,
}

/// How a [`SharedResult`] is made.
#[derive(Debug, Clone)]
pub enum SharedSource {
    /// By a plan.
    Plan(Plan),
    /// By a recursive common table expression: `seed`, then `step` over the rows that the round
    /// before added ([`Operator::WorkingTable`]), until a round adds none.
    Recursive {
        /// The non-recursive part.
        seed: Plan,
        /// The recursive part. Its rows are stored in the columns of the first one: what does
        /// not fit is an error in strict mode.
        step: Plan,
        /// UNION DISTINCT: a row that is there already is not added again.
        distinct: bool,
        /// LIMIT: no further round begins once there are this many rows.
        enough: Option<u64>,
    },
}

/// In place of a column's index: the rows' positions, as the store names them.
pub const POSITION: usize = usize::MAX;

/// The type of positions: a string of bytes.
pub fn position_type() -> SqlType {
    SqlType::varchar(u32::MAX, mayfly_types::CollationId::BINARY)
}

/// What an operator does.
#[derive(Debug, Clone)]
pub enum Operator {
    /// Rows of expressions that read no column. One row of no columns for a SELECT without FROM.
    Values {
        /// The rows.
        rows: Vec<Vec<Expression>>,
    },
    /// The rows of a base table.
    TableScan {
        /// The table.
        table: Arc<TableSource>,
        /// The name that the statement gives it.
        alias: String,
        /// Which columns, by index in the table, or [`POSITION`].
        columns: Vec<usize>,
        /// Only rows for which this is true (over the scanned columns).
        predicate: Option<Expression>,
        /// The indexes that its conditions could use.
        possible: Vec<usize>,
    },
    /// The rows of a base table that an index leads to.
    IndexScan(Box<IndexScan>),
    /// The rows of a base table that several indexes lead to.
    IndexMerge(Box<IndexMerge>),
    /// A join that follows an index of its right table: output is the left columns, then (unless semi
    /// or anti) the right ones. Its rows come in the order of the left ones.
    IndexLookupJoin(Box<IndexLookupJoin>),
    /// The rows of a shared result.
    SharedScan {
        /// Which.
        shared: SharedId,
        /// The name that the statement gives it.
        alias: String,
        /// The parameters that it is made with, and their values where it is read: made anew when one of them
        /// changes.
        arguments: Vec<(usize, Expression)>,
    },
    /// Inside the recursive part of a common table expression: the rows of the round before.
    WorkingTable {
        /// The common table expression.
        shared: SharedId,
        /// The name that the statement gives it.
        alias: String,
    },
    /// Rows for which a predicate is true.
    Filter {
        /// Input.
        input: Box<Plan>,
        /// Predicate.
        predicate: Expression,
    },
    /// Computed columns.
    Project {
        /// Input.
        input: Box<Plan>,
        /// One for each output column.
        expressions: Vec<Expression>,
    },
    /// Some rows of the input, by count.
    Limit {
        /// Input.
        input: Box<Plan>,
        /// How many rows are left out first.
        offset: u64,
        /// At most how many are given.
        count: u64,
    },
    /// Groups and their aggregates: output is the keys, then the aggregates.
    Aggregate {
        /// Input.
        input: Box<Plan>,
        /// What is made of its rows.
        grouping: Grouping,
    },
    /// Rows in order.
    Sort {
        /// Input.
        input: Box<Plan>,
        /// By what.
        keys: Vec<SortKey>,
        /// Offset and count of the rows that are given, when only some are.
        limit: Option<(u64, u64)>,
        /// What of the order matters, where only windows read the rows.
        for_windows: Option<WindowOrder>,
        /// Why.
        temporary: TemporaryTable,
    },
    /// Functions over windows: output is the columns of the input, then those of the calls. The rows of a
    /// partition come one after the other, and in the order of the window, and are given so.
    Window {
        /// Input.
        input: Box<Plan>,
        /// PARTITION BY
        partition: Vec<Expression>,
        /// ORDER BY
        order: Vec<SortKey>,
        /// The calls.
        calls: Vec<WindowCall>,
        /// For the rows of a partition that a call must have seen; made where there are too many to hold.
        temporary: TemporaryTable,
    },
    /// UNION, INTERSECT or EXCEPT of two or more inputs with the same output types. UNION ALL has
    /// no temporary table.
    SetOperation {
        /// Which.
        kind: SetOperationKind,
        /// ALL: duplicates count.
        all: bool,
        /// Inputs, in order.
        inputs: Vec<Plan>,
        /// Why.
        temporary: Option<TemporaryTable>,
    },
    /// A join by equality: output is the left columns, then (unless semi or anti) the right ones.
    HashJoin {
        /// Which rows come out.
        kind: JoinKind,
        /// Left input (for outer joins: the preserved side).
        left: Box<Plan>,
        /// Right input.
        right: Box<Plan>,
        /// Pairs of expressions over left and right rows that must be equal, of the same type.
        keys: Vec<JoinKey>,
        /// What else must hold, over left ++ right columns.
        residual: Option<Expression>,
        /// The hash table is built over the left input; else over the right.
        build_left: bool,
        /// Most rows of the other input are expected to have a partner: a filter of the hash table's keys would
        /// refuse few of them.
        partnered: bool,
        /// Why.
        temporary: TemporaryTable,
    },
    /// A join by any condition; the right input is kept in a temporary table.
    NestedLoopJoin {
        /// Which rows come out.
        kind: JoinKind,
        /// Left input.
        left: Box<Plan>,
        /// Right input.
        right: Box<Plan>,
        /// What must hold, over left ++ right columns; none: every pair.
        condition: Option<Expression>,
        /// Why.
        temporary: TemporaryTable,
    },
    /// LATERAL: the right input is run for every left row with these parameters set.
    Apply {
        /// Inner, Left, Semi or Anti.
        kind: JoinKind,
        /// Left input.
        left: Box<Plan>,
        /// Right input, which reads the parameters.
        right: Box<Plan>,
        /// Parameters and the expressions over the left row that set them.
        parameters: Vec<(usize, Expression)>,
        /// What must hold, over left ++ right columns.
        condition: Option<Expression>,
    },
    /// The rows of the input as they are; marks for EXPLAIN where a query block ends that stays one
    /// of its own.
    Block {
        /// Input.
        input: Box<Plan>,
        /// `select#` of the query block.
        select_id: usize,
        /// The table that it is to the query block around it; none for an arm of a set operation.
        table: Option<BlockTable>,
    },
    /// All rows of the input are made before the first is given.
    Materialize {
        /// Input.
        input: Box<Plan>,
        /// Why.
        temporary: TemporaryTable,
    },
}

impl Operator {
    /// The temporary table that the operator makes.
    pub(crate) fn temporary_mut(&mut self) -> Option<&mut TemporaryTable> {
        match self {
            Self::Aggregate { grouping, .. } => grouping.temporary.as_mut(),
            Self::SetOperation { temporary, .. } => temporary.as_mut(),
            Self::Sort { temporary, .. }
            | Self::Window { temporary, .. }
            | Self::HashJoin { temporary, .. }
            | Self::NestedLoopJoin { temporary, .. }
            | Self::Materialize { temporary, .. } => Some(temporary),
            Self::Values { .. }
            | Self::TableScan { .. }
            | Self::IndexScan(_)
            | Self::IndexMerge(_)
            | Self::IndexLookupJoin(_)
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

/// What [`Operator::Aggregate`] makes of its rows. Without keys: one group, also over no rows. Without
/// aggregates: DISTINCT.
#[derive(Debug, Clone, Default)]
pub struct Grouping {
    /// What rows are grouped by (each compared by its type's collation).
    pub keys: Vec<Expression>,
    /// Aggregate calls.
    pub aggregates: Vec<AggregateCall>,
    /// WITH ROLLUP: super-aggregate rows with NULL keys. The output then has one more column
    /// at its end, BIGINT: how many trailing keys were rolled up (0 for an ordinary group),
    /// for GROUPING().
    pub rollup: bool,
    /// `Some(n)`: only n groups are asked for, any of them; the first n seen are given.
    pub first_groups: Option<u64>,
    /// The input gives the rows of each group one after the other: groups are given as they
    /// come, in that order, and no table is made.
    pub ordered: bool,
    /// Why; `None` when there are no keys.
    pub temporary: Option<TemporaryTable>,
}

impl Grouping {
    /// Whether a filter on the values of a key may be asked before rows are grouped: it leaves out whole groups, and the
    /// other groups do not depend on them.
    pub(crate) fn takes_key_filter(&self) -> bool {
        let is_plain = |call: &AggregateCall| !call.distinct && call.order_by.is_empty();
        !self.rollup
            && !self.ordered
            && self.first_groups.is_none()
            && self.aggregates.iter().all(is_plain)
    }

    /// A further table of the same operator.
    pub fn temporary_beside(&self, purpose: Purpose, cause: &str) -> TemporaryTable {
        match &self.temporary {
            Some(temporary) => temporary.beside(purpose, cause),
            None => TemporaryTable::new(purpose, cause),
        }
    }
}

/// What [`Operator::IndexScan`] does.
#[derive(Debug, Clone)]
pub struct IndexScan {
    /// The table.
    pub table: Arc<TableSource>,
    /// The name that the statement gives it.
    pub alias: String,
    /// The index's position in the table's list.
    pub index: usize,
    /// Which columns, by index in the table, or [`POSITION`].
    pub columns: Vec<usize>,
    /// What is read of the index; none: all of it.
    pub ranges: Option<KeyRanges>,
    /// From its end to its beginning.
    pub reverse: bool,
    /// The rows must come in the order of the index.
    pub ordered: bool,
    /// Which rows of each group are read; none: every row.
    pub groups: Option<GroupRows>,
    /// No row is read outside of the index.
    pub covering: bool,
    /// Only rows for which this is true (over the scanned columns).
    pub predicate: Option<Expression>,
    /// How many rows are thought to be read.
    pub read_rows: f64,
    /// The indexes that its conditions could use.
    pub possible: Vec<usize>,
}

/// What [`Operator::IndexMerge`] does.
#[derive(Debug, Clone)]
pub struct IndexMerge {
    /// The table.
    pub table: Arc<TableSource>,
    /// The name that the statement gives it.
    pub alias: String,
    /// What is made of the rows that the indexes find.
    pub kind: MergeKind,
    /// A set operation over scans of the indexes that give positions: the positions of the rows, each
    /// once.
    pub positions: Plan,
    /// Which columns, by index in the table, or [`POSITION`].
    pub columns: Vec<usize>,
    /// Only rows for which this is true (over the scanned columns).
    pub predicate: Option<Expression>,
    /// How many rows are thought to be fetched.
    pub read_rows: f64,
    /// The indexes that its conditions could use.
    pub possible: Vec<usize>,
}

impl IndexMerge {
    /// The scans of the indexes.
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

/// How the rows that several indexes find become those of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeKind {
    /// What any finds; each index gives its rows in the order of their positions.
    Union,
    /// What any finds, in any order.
    SortUnion,
    /// What all find.
    Intersection,
}

/// What [`Operator::IndexLookupJoin`] does.
#[derive(Debug, Clone)]
pub struct IndexLookupJoin {
    /// Which rows come out: all but NullAwareAnti.
    pub kind: JoinKind,
    /// Left input.
    pub left: Plan,
    /// The right table.
    pub table: Arc<TableSource>,
    /// The name that the statement gives it.
    pub alias: String,
    /// The index's position in the table's list.
    pub index: usize,
    /// Which columns of the right table, by index in it, or [`POSITION`].
    pub columns: Vec<usize>,
    /// Values over left rows of the index's first parts.
    pub keys: Vec<LookupKey>,
    /// No row is read outside of the index.
    pub covering: bool,
    /// What else must hold, over left ++ right columns.
    pub residual: Option<Expression>,
    /// How many rows a left row is thought to find.
    pub rows_per_key: f64,
    /// Which part of them is thought to meet `residual`.
    pub kept: f64,
    /// Each key finds one row at most.
    pub finds_one: bool,
    /// The indexes that its conditions could use.
    pub possible: Vec<usize>,
}

/// How a query block is seen as a table.
#[derive(Debug, Clone)]
pub struct BlockTable {
    /// The name that the statement gives it.
    pub alias: String,
    /// The names of its columns.
    pub columns: Vec<String>,
}

/// An aggregate call.
#[derive(Debug, Clone, PartialEq)]
pub struct AggregateCall {
    /// The function.
    pub function: &'static AggregateFunction,
    /// Its types.
    pub signature: AggregateSignature,
    /// Its arguments over the input row, converted to the types of the signature.
    pub arguments: Vec<Expression>,
    /// Constants that belong to the call (GROUP_CONCAT's separator).
    pub options: Vec<Value>,
    /// DISTINCT: each combination of arguments counts once (rows with a NULL argument never do).
    pub distinct: bool,
    /// ORDER BY inside the call.
    pub order_by: Vec<SortKey>,
    /// As written, for EXPLAIN.
    pub text: String,
}

impl AggregateCall {
    /// Whether it gives the same however often a row comes.
    pub(crate) fn minds_no_repeats(&self) -> bool {
        self.function.ignores_duplicates() || self.distinct && !self.function.is_order_sensitive()
    }
}

/// One key of an order.
#[derive(Debug, Clone, PartialEq)]
pub struct SortKey {
    /// What rows are ordered by; NULL sorts lowest.
    pub expression: Expression,
    /// DESC
    pub descending: bool,
}

/// What windows ask of the order of the rows that they read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowOrder {
    /// So many of the first keys divide rows into partitions. The rows of a partition come one behind the other, in the
    /// order of the other keys.
    pub partition_keys: usize,
    /// Whether partitions come in order, too.
    pub orders_partitions: bool,
    /// The rows of each partition that are asked for, where it is not all of them.
    pub first: Option<FirstRows>,
}

/// The first rows of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstRows {
    /// How many. Rows before which there are fewer are asked for; so those that are equal in the order to the last one are,
    /// too.
    pub count: u64,
    /// Rows that are equal in the order count as one.
    pub counts_values: bool,
}

/// One equality of a join.
#[derive(Debug, Clone)]
pub struct JoinKey {
    /// Over left rows.
    pub left: Expression,
    /// Over right rows, of the same type.
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

/// Which rows a join gives.
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
