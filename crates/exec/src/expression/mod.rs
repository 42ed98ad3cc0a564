//! Compiled expressions, evaluated a batch at a time.
//!
//! A [`Program`] is an [`Expression`] with everything looked up that does not change from batch to
//! batch: constants, hashed IN lists, which columns a lazily evaluated part needs. Its nodes stand
//! in one vector and name each other by number, so that a chain of thousands of operators is
//! dropped without recursion; evaluation recurses on a stack that grows when it must.
//!
//! **Constants stay constants.** Literals, parameters, and functions of constants are one [`Column::Constant`] for any
//! number of rows of the batch.
//!
//! **Lazy evaluation where it is visible.** Later terms of AND and OR, and the branches of CASE, see only the rows that
//! reach them, so that an error, a warning or a side effect of the others never happens. A part without these ("total":
//! comparisons, logic, IN lists over columns, and functions and conversions that declare it by their types), or with
//! one value for every row, is evaluated over all rows at once, which is faster.
//!
//! **Slices of long values.** A part that may compute long strings for a short result takes few rows at a time
//! ([`slices`]); a program with long results gets batches of few rows from its operator.

mod branches;
mod cast;
mod compare;
mod compile;
mod evaluate;
mod extremes;
mod in_list;
mod membership;
mod slices;
mod subquery;
mod truth;
pub mod values;

use std::sync::Arc;

use arrow_array::builder::BooleanBufferBuilder;
use arrow_array::{ArrayRef, new_empty_array};
use compare::Comparer;
use in_list::InList;
use mayfly_functions::{Column, FunctionRef, ScalarFunction, Signature};
use mayfly_plan::{Comparison, Expression};
pub use mayfly_types::Selection;
use mayfly_types::{Batch, PhysicalType, Result, SqlType, Value};
use subquery::SubqueryNode;

use crate::context::RunContext;
use crate::rows::joined;
pub(crate) use cast::cast_context;
pub(crate) use slices::{SliceRows, Taken, is_wide, slice_of_short};

/// A node's number in its program.
type NodeId = u32;

/// A compiled expression.
#[derive(Debug)]
pub struct Program {
    nodes: Vec<Node>,
    root: NodeId,
    physical: PhysicalType,
    /// Whether a call changes state that the next row may read: a user variable, or what a stored function writes.
    assigns: bool,
    /// Whether a stored function is called.
    runs_statements: bool,
    /// Whether an intermediate result may be long: rows are taken in slices.
    wide: bool,
    /// Whether the result itself may be long.
    gives_wide: bool,
    /// Maximum length of a text that the program computes; 0 for another result.
    text_length: u32,
    slices: SliceRows,
}

#[derive(Debug)]
struct Node {
    operation: Operation,
    physical: PhysicalType,
    /// Whether evaluating the node can neither fail nor warn nor have side effects.
    total: bool,
    /// Whether failures, warnings and side effects are alike for all rows: `DATE '2024-01-01' + INTERVAL 1 YEAR`.
    alike: bool,
}

impl Node {
    /// Input columns that the node itself reads.
    fn columns(&self) -> &[usize] {
        match &self.operation {
            Operation::Column(column) => std::slice::from_ref(column),
            Operation::Subquery(subquery) => subquery.columns(),
            _ => &[],
        }
    }
}

#[derive(Debug)]
enum Operation {
    Constant(Value),
    Column(usize),
    Parameter(usize),
    Call {
        function: FunctionRef,
        arguments: Box<[NodeId]>,
        signature: Arc<Signature>,
        volatile: bool,
    },
    /// Call of a function that evaluates only the arguments that it needs, with its arguments and their places in the
    /// order of evaluation.
    LazyCall {
        function: &'static ScalarFunction,
        arguments: Box<[(usize, Lazy)]>,
        signature: Arc<Signature>,
    },
    Cast {
        input: NodeId,
        from: Box<SqlType>,
        to: Box<SqlType>,
        /// Name of the value in messages.
        text: Option<Arc<str>>,
        /// Whether a byte literal is used as text: bytes that are invalid in the character set are error 3854 on
        /// evaluation.
        is_bytes_as_text: bool,
    },
    Compare {
        comparison: Comparison,
        left: NodeId,
        /// Evaluated where the left side is not NULL, except for `<=>`.
        right: Lazy,
        comparer: Comparer,
    },
    /// AND if `conjunction`, else OR.
    Logic {
        conjunction: bool,
        terms: Box<[Lazy]>,
    },
    Not(NodeId),
    IsNull(NodeId),
    IsTruth(NodeId, Option<bool>),
    Case {
        branches: Box<[(Lazy, Lazy)]>,
        otherwise: Option<Lazy>,
    },
    InList {
        operand: NodeId,
        list: InList,
        negated: bool,
    },
    /// LET: `body` with values that are computed once for all readers.
    Let {
        values: Box<[(usize, NodeId)]>,
        body: NodeId,
    },
    Local(usize),
    Subquery(Box<SubqueryNode>),
    /// A subquery that the planner left logical: evaluating it is an error.
    Unplanned,
}

/// A part that may be evaluated for some rows only.
#[derive(Debug)]
struct Lazy {
    node: NodeId,
    /// Columns that the part reads.
    columns: Box<[usize]>,
}

impl Program {
    /// Compiles an expression.
    pub fn compile(expression: &Expression) -> Self {
        compile::compile(expression)
    }

    /// Compiles several expressions.
    pub(crate) fn compile_all<'a>(
        expressions: impl IntoIterator<Item = &'a Expression>,
    ) -> Vec<Self> {
        expressions.into_iter().map(Self::compile).collect()
    }

    /// Physical type of the result.
    pub fn physical(&self) -> PhysicalType {
        self.physical
    }

    /// Whether rows must be evaluated one after another, because one may change what the next one reads.
    pub(crate) fn assigns(&self) -> bool {
        self.assigns
    }

    /// Whether results may be long, so that few rows should be taken at once.
    pub(crate) fn gives_wide(&self) -> bool {
        self.gives_wide
    }

    /// Maximum length of a text that the program computes; 0 where the result is not text, or exists already.
    pub(crate) fn text_length(&self) -> u32 {
        self.text_length
    }

    /// The input column, if the expression is only a column.
    pub(crate) fn as_column(&self) -> Option<usize> {
        match self.nodes[self.root as usize].operation {
            Operation::Column(column) => Some(column),
            _ => None,
        }
    }

    /// Input columns that the program reads, possibly repeated.
    pub(crate) fn columns(&self) -> impl Iterator<Item = usize> {
        self.nodes.iter().flat_map(Node::columns).copied()
    }

    /// Evaluates over the rows of a batch.
    pub fn evaluate(&self, batch: &Batch, run: &RunContext) -> Result<Column> {
        self.evaluate_rows(batch.columns(), batch.row_count(), run)
    }

    /// Evaluates over the rows of a batch, to an array.
    pub(crate) fn evaluate_array(&self, batch: &Batch, run: &RunContext) -> Result<ArrayRef> {
        if batch.is_empty() {
            return Ok(new_empty_array(&self.physical.arrow()));
        }
        if self.assigns && batch.row_count() > 1 {
            let rows = (0..batch.row_count())
                .map(|row| self.evaluate_array(&batch.slice(row, 1), run))
                .collect::<Result<Vec<_>>>()?;
            return joined(&rows);
        }
        if self.is_sliced(batch.row_count()) {
            let mut parts = Vec::new();
            self.each_slice(batch, run, |slice| {
                let column = self.evaluate(slice, run)?;
                let rows = slice.row_count();
                parts.push(values::into_array(column, self.physical, rows));
                Ok(())
            })?;
            return joined(&parts);
        }
        let column = self.evaluate(batch, run)?;
        Ok(values::into_array(column, self.physical, batch.row_count()))
    }

    /// Evaluates a predicate: the rows for which it is true, or whether it is for all or none.
    pub fn select(&self, batch: &Batch, run: &RunContext) -> Result<Selection> {
        let rows = batch.row_count();
        if rows == 0 {
            return Ok(Selection::None);
        }
        if self.assigns && rows > 1 {
            let mut selected = BooleanBufferBuilder::new(rows);
            for row in 0..rows {
                let found = self.select(&batch.slice(row, 1), run)?;
                selected.append(matches!(found, Selection::All));
            }
            return Ok(Selection::of_bits(selected.finish()));
        }
        if self.is_sliced(rows) {
            let mut selected = BooleanBufferBuilder::new(rows);
            self.each_slice(batch, run, |slice| {
                let rows = slice.row_count();
                let truth = self.filter_truth_of(slice.columns(), rows, run)?;
                match truth.into_selection() {
                    Err(all) => selected.append_n(rows, all),
                    Ok(some) => selected.append_buffer(&some),
                }
                Ok(())
            })?;
            return Ok(Selection::of_bits(selected.finish()));
        }
        self.select_of(batch.columns(), rows, run)
    }

    /// [`Self::select`] where only the columns that are read need exist. For programs that [take whole
    /// columns](Self::takes_whole_columns).
    pub(crate) fn select_of(
        &self,
        columns: &[ArrayRef],
        rows: usize,
        run: &RunContext,
    ) -> Result<Selection> {
        let truth = self.filter_truth_of(columns, rows, run)?;
        Ok(match truth.into_selection() {
            Err(true) => Selection::All,
            Err(false) => Selection::None,
            Ok(selected) => Selection::of_bits(selected),
        })
    }

    /// Whether the program is evaluated over all rows of a batch at once, also within a scan of the table.
    pub(crate) fn takes_whole_columns(&self) -> bool {
        !self.assigns && !self.wide && !self.runs_statements
    }

    /// Whether the program may be evaluated over one row, and computes no long strings.
    pub(crate) fn takes_rows(&self) -> bool {
        self.takes_whole_columns() && !self.is_volatile()
    }

    /// Whether the value may depend on previous rows, or on the number of evaluations.
    pub(crate) fn is_volatile(&self) -> bool {
        self.assigns
            || self.runs_statements
            || self.nodes.iter().any(|node| match &node.operation {
                Operation::Call { volatile, .. } => *volatile,
                Operation::Subquery(_) => true,
                _ => false,
            })
    }

    /// Whether evaluation can neither fail nor warn nor have side effects.
    pub(crate) fn is_total(&self) -> bool {
        self.nodes[self.root as usize].total
    }
}

impl Program {
    /// Whether failures, warnings and side effects are alike for all rows. The value of such a program without columns
    /// is the same for all rows.
    pub(crate) fn is_alike(&self) -> bool {
        self.nodes[self.root as usize].alike
    }

    /// Whether `rows` rows are too many to evaluate at once: a long value is only intermediate, or the program is a
    /// predicate.
    fn is_sliced(&self, rows: usize) -> bool {
        self.wide && !self.gives_wide && rows > 1
    }

    fn each_slice(
        &self,
        batch: &Batch,
        run: &RunContext,
        mut evaluate: impl FnMut(&Batch) -> Result<()>,
    ) -> Result<()> {
        let (mut start, count) = (0, batch.row_count());
        while start < count {
            let taken = self.slices.take(batch.columns(), start, count, run);
            if taken.rows() == count {
                evaluate(batch)?;
            } else {
                evaluate(&batch.slice(start, taken.rows()))?;
            }
            self.slices.done(taken, run);
            run.statement.check_interrupt()?;
            start += taken.rows();
        }
        Ok(())
    }
}

/// Rows that a condition lets through; all rows without a condition.
pub(crate) fn selected(
    condition: Option<&Program>,
    batch: &Batch,
    run: &RunContext,
) -> Result<Selection> {
    condition.map_or(Ok(Selection::All), |condition| condition.select(batch, run))
}

/// Evaluates an expression over a batch once: for statements that have no plan of their own (INSERT … VALUES, SET,
/// defaults, LOAD DATA's SET clause).
pub fn evaluate(expression: &Expression, batch: &Batch, run: &RunContext) -> Result<ArrayRef> {
    Program::compile(expression).evaluate_array(batch, run)
}

/// Number of rows that count for parallelism: 0 where a row reads what the one before has changed, or runs statements.
pub(crate) fn rows_of<'p>(programs: impl IntoIterator<Item = &'p Program>, rows: u64) -> u64 {
    let is_serial = |program: &Program| program.assigns || program.runs_statements;
    if programs.into_iter().any(is_serial) {
        0
    } else {
        rows
    }
}
