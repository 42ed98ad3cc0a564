//! What a running statement carries: everything injected, nothing global.
//!
//! [`ExecutionContext`] is made once a statement by the engine. [`RunContext`] is this crate's view
//! of one run of a plan: the same statement, the current values of the parameters, and the results
//! that several parts of the plan share. A correlated subquery runs under a [`RunContext`] that
//! differs from its parent's only in the parameters.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mayfly_functions::context::{WorkingMemory, memory_exceeded};
use mayfly_functions::{EvaluationContext, SignatureContext};
use mayfly_memory::{Budget, Reservation};
use mayfly_plan::TableId;
use mayfly_plan::physical::{OperatorNumber, Plan};
use mayfly_plan::with_stack;
use mayfly_storage::temptable::Resources;
use mayfly_storage::{Table, TempTableContext};
use mayfly_types::stage::StageGuard;
use mayfly_types::{Batch, Result, Stage, Value};

use crate::key_filter::GivenFilter;
use crate::legacy::LegacyTables;
use crate::measure::Measures;
use crate::state::QueryState;

/// How plans are run. Read once a statement from the system variables and the database's options.
#[derive(Debug, Clone)]
pub struct ExecutionOptions {
    /// How many threads a large statement uses.
    pub threads: usize,
    /// The most rows in a batch.
    pub batch_rows: usize,
    /// Inputs that are thought smaller than this stay on the caller's thread.
    pub parallel_rows_min: u64,
    /// From so many build rows on, a join may partition both of its sides.
    pub partitioned_join_rows_min: u64,
    /// `cte_max_recursion_depth`
    pub cte_max_recursion_depth: u64,
}

impl ExecutionOptions {
    /// One thread for each of `threads`, batches of 8,192 rows, and MySQL's recursion limit.
    pub fn new(threads: usize) -> Self {
        Self {
            threads: threads.max(1),
            batch_rows: 8192,
            parallel_rows_min: 100_000,
            partitioned_join_rows_min: 256 << 10,
            cte_max_recursion_depth: 1000,
        }
    }
}

/// Opens the tables that a plan names.
pub trait TableOpener: Send + Sync {
    /// The table as this statement sees it.
    fn open(&self, id: TableId) -> Result<Arc<dyn Table>>;
}

/// Everything that one statement's operators share.
pub struct ExecutionContext {
    /// What functions may know.
    pub evaluation: Arc<EvaluationContext>,
    /// The settings that aggregate states depend on.
    pub signature: SignatureContext,
    /// How plans are run.
    pub options: ExecutionOptions,
    /// Where temporary tables live and what they may use.
    pub temp: TempTableContext,
    /// The way to tables.
    pub tables: Arc<dyn TableOpener>,
    /// What was done, for the status variables.
    pub counters: Arc<Counters>,
    /// How far the statement is, for the shell.
    pub progress: Arc<Progress>,
    /// The engines that MySQL had before TempTable, where they are to be used.
    pub legacy: Option<LegacyTables>,
    /// What each operator does, where somebody asks.
    pub measures: Option<Arc<Measures>>,
}

impl fmt::Debug for ExecutionContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutionContext")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl ExecutionContext {
    /// 1317 when the statement was killed, 3024 when its time is over. Asked once a batch.
    pub fn check_interrupt(&self) -> Result<()> {
        self.evaluation.interrupt.check()
    }

    /// A join has looked keys up in its right table.
    pub(crate) fn looked_up(&self, operator: OperatorNumber, keys: u64) {
        if let Some(measures) = &self.measures {
            measures.add_lookups(operator, keys);
        }
    }

    /// An operator has read rows of its table.
    pub(crate) fn examined(&self, operator: OperatorNumber, rows: u64) {
        count(&self.counters.rows_examined, rows);
        if let Some(measures) = &self.measures {
            measures.add_rows_read(operator, rows);
        }
    }
}

/// The memory of the long results of functions: a budget below that of all memory. Whatever is at rest
/// makes room for them.
#[derive(Debug)]
pub struct ResultMemory {
    /// What the database shares.
    pub resources: Resources,
    /// What is charged.
    pub budget: Budget,
}

impl WorkingMemory for ResultMemory {
    fn reservation(&self) -> Reservation {
        self.budget.reservation()
    }

    fn resize(&self, held: &mut Reservation, bytes: u64) -> Result<()> {
        if bytes <= held.bytes() {
            held.shrink(held.bytes() - bytes);
            return Ok(());
        }
        let more = bytes - held.bytes();
        self.resources.make_room(more, &self.budget);
        held.grow_forced(more)
            .map_err(|error| memory_exceeded(&error))
    }
}

/// What operators did, summed into the session's and the global status when the statement ends.
#[derive(Debug, Default)]
pub struct Counters {
    /// `Handler_read_first`: scans begun at the first row.
    pub handler_read_first: AtomicU64,
    /// `Handler_read_last`: scans begun at the last row.
    pub handler_read_last: AtomicU64,
    /// `Handler_read_next`: rows read in the order of an index.
    pub handler_read_next: AtomicU64,
    /// `Handler_read_prev`: rows read against the order of an index.
    pub handler_read_prev: AtomicU64,
    /// `Handler_read_rnd_next`: rows read by scans.
    pub handler_read_rnd_next: AtomicU64,
    /// `Handler_read_rnd`: rows fetched by position, as a sort does.
    pub handler_read_rnd: AtomicU64,
    /// `Handler_read_key`: lookups by key.
    pub handler_read_key: AtomicU64,
    /// `Handler_write`: rows put into internal temporary tables.
    pub handler_write: AtomicU64,
    /// `Sort_rows`: rows that sorts gave.
    pub sort_rows: AtomicU64,
    /// `Sort_priority_queue_sorts`: sorts that keep no more rows than their LIMIT asks for.
    pub sort_priority_queue_sorts: AtomicU64,
    /// `Sort_scan`: sorts over scans.
    pub sort_scan: AtomicU64,
    /// `Sort_range`: sorts over ranges.
    pub sort_range: AtomicU64,
    /// `Select_scan`: first tables read by a full scan.
    pub select_scan: AtomicU64,
    /// `Select_range`: first tables of which ranges are read.
    pub select_range: AtomicU64,
    /// `Select_full_range_join`: later tables of a join of which ranges are read.
    pub select_full_range_join: AtomicU64,
    /// `Select_full_join`: joins without an index.
    pub select_full_join: AtomicU64,
    /// Rows of the result that FOUND_ROWS() counts.
    pub found_rows: AtomicU64,
    /// Rows read from base tables (Rows_examined of the slow log).
    pub rows_examined: AtomicU64,
}

/// Adds to a counter.
pub(crate) fn count(counter: &AtomicU64, amount: u64) {
    counter.fetch_add(amount, Ordering::Relaxed);
}

/// How far a statement is: rows read of rows to read, over all of its scans.
#[derive(Debug, Default)]
pub struct Progress {
    /// Rows read so far.
    pub rows_read: AtomicU64,
    /// Rows that the scans opened so far will read.
    pub rows_expected: AtomicU64,
}

/// Makes the operators of a plan. What evaluates subqueries knows operators only by this.
pub(crate) type BuildNode = fn(&Plan, &RunContext) -> Result<Arc<dyn Node>>;

/// One run of a plan.
#[derive(Debug, Clone)]
pub struct RunContext {
    /// The statement.
    pub statement: Arc<ExecutionContext>,
    /// The values of [`mayfly_plan::ExpressionKind::Parameter`].
    pub parameters: Arc<[Value]>,
    pub(crate) state: Arc<QueryState>,
    pub(crate) build: BuildNode,
    /// Inside a worker or a subquery of a row: nothing below starts threads of its own.
    pub(crate) serial: bool,
}

impl RunContext {
    /// Makes the operators of a plan.
    pub(crate) fn build(&self, plan: &Plan) -> Result<Arc<dyn Node>> {
        (self.build)(plan, self)
    }

    /// The same run with other parameters, without threads.
    fn with_parameters(&self, parameters: Arc<[Value]>) -> Self {
        Self {
            statement: Arc::clone(&self.statement),
            parameters,
            state: Arc::clone(&self.state),
            build: self.build,
            serial: true,
        }
    }

    /// The same run with some parameters set from a row of an outer query, without threads.
    pub(crate) fn with_outer_row(&self, row: impl Iterator<Item = (usize, Value)>) -> Self {
        let mut values = self.parameters.to_vec();
        for (parameter, value) in row {
            if values.len() <= parameter {
                values.resize(parameter + 1, Value::Null);
            }
            values[parameter] = value;
        }
        self.with_parameters(values.into())
    }

    /// The statement is in a stage until the guard is dropped. What workers do is part of the stage that
    /// waits for them.
    pub(crate) fn within(&self, stage: Stage) -> Option<StageGuard<'_>> {
        let stages = self.evaluation().interrupt.stages();
        (!self.serial).then(|| stages.within(stage))
    }

    /// The value of a parameter; one that was never set is NULL.
    pub(crate) fn parameter(&self, index: usize) -> Value {
        debug_assert!(
            index < self.parameters.len(),
            "parameter {index} is not set"
        );
        self.parameters.get(index).cloned().unwrap_or(Value::Null)
    }

    /// The functions' context.
    pub(crate) fn evaluation(&self) -> &EvaluationContext {
        &self.statement.evaluation
    }
}

/// An operator of one run.
///
/// A plan is as deep as its statement, its views and its common table expressions make it. So whoever calls an operator
/// calls [`Node::prepare`], [`Node::open`] and [`Cursor::next`], which see to the stack, and an operator says what it
/// does in the method beside each.
pub(crate) trait Node: Send + Sync {
    /// Does what must be done before the first row: breakers drain their inputs. Called once, on
    /// the coordinating thread, before any cursor is opened.
    fn prepare(&self, run: &RunContext) -> Result<()> {
        with_stack(|| self.prepare_node(run))
    }

    /// What [`Self::prepare`] does of this node.
    fn prepare_node(&self, run: &RunContext) -> Result<()>;

    /// About how many rows the node will read from below or give, after `prepare`: decides whether
    /// threads are worth their start.
    fn rows_hint(&self) -> u64;

    /// Says that no more than the first rows of one cursor will be read. Called before any is opened.
    fn first_rows(&self, rows: u64) {
        let _ = rows;
    }

    /// Whether its rows, after `prepare`, come in no order that a statement may rely on, and their values do
    /// not depend on the rows before them: several workers may then give them side by side.
    fn is_unordered(&self) -> bool {
        false
    }

    /// Whether a cursor that has come to its end goes on, in the recursive part of a common table expression, with the
    /// rows of the next round, and nothing that was prepared depends on the rows of a round. Asked after `prepare`.
    fn follows_rounds(&self) -> bool {
        false
    }

    /// Whether a filter of one of its columns reaches a scan from here, without which rows anything but those
    /// rows themselves would be missed.
    fn takes_filter(&self, column: usize) -> bool {
        let _ = column;
        false
    }

    /// Gives a filter of a column that it takes: rows that the filter does not keep need not come out. Called
    /// before `prepare`; holds until the filter's maker gives another.
    fn give_filter(&self, column: usize, filter: &GivenFilter) {
        let _ = (column, filter);
    }

    /// Says that strings of these columns may come as [codes](mayfly_types::coded), and no others. Called before any
    /// cursor is opened.
    fn give_codes(&self, columns: &[usize]) {
        let _ = columns;
    }

    /// A cursor for one worker. All cursors of a node share its rows.
    fn open(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
        with_stack(|| self.open_node(run))
    }

    /// What [`Self::open`] does of this node.
    fn open_node(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>>;
}

/// One worker's view of an operator's rows.
pub(crate) trait Cursor: Send {
    /// The next rows; `None` at the end. May be an empty batch.
    fn next(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        with_stack(|| self.next_batch(run))
    }

    /// What [`Self::next`] does of this cursor.
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>>;
}
