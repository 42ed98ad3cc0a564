//! Context of a running statement: everything injected, nothing global.
//!
//! [`ExecutionContext`] is made once a statement by the engine. [`RunContext`] is this crate's view
//! of one run of a plan: the same statement, the current values of the parameters, and the results
//! that several parts of the plan share. A correlated subquery runs under a [`RunContext`] that
//! differs from its parent's only in the parameters.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mayfly_functions::EvaluationContext;
use mayfly_functions::context::{WorkingMemory, memory_exceeded};
use mayfly_memory::{Budget, Reservation};
use mayfly_plan::TableId;
use mayfly_plan::physical::{OperatorNumber, Plan};
use mayfly_plan::with_stack;
use mayfly_storage::temptable::Resources;
use mayfly_storage::{InternalTableEngine, Table, TempTableContext};
use mayfly_types::stage::StageGuard;
use mayfly_types::{Batch, Diagnostics, Result, Stage, Value};

use crate::kept::KeptResults;
use crate::key_filter::GivenFilter;
use crate::measure::Measures;
use crate::state::QueryState;

/// Options of plan execution, read once a statement from the system variables and the database's options.
#[derive(Debug, Clone)]
pub struct ExecutionOptions {
    /// Maximum number of threads of a statement.
    pub threads: usize,
    /// Maximum number of rows in a batch.
    pub batch_rows: usize,
    /// Minimum estimated input rows for parallel execution: smaller inputs stay on the caller's thread.
    pub parallel_rows_min: u64,
    /// Minimum number of build rows from which a join may partition both of its sides.
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

/// State that the operators of one statement share.
#[derive(Clone)]
pub struct ExecutionContext {
    /// Context of scalar functions.
    pub evaluation: Arc<EvaluationContext>,
    /// Options of plan execution.
    pub options: ExecutionOptions,
    /// Directory and limits of temporary tables.
    pub temp: TempTableContext,
    /// Opens base tables.
    pub tables: Arc<dyn TableOpener>,
    /// Counters for the status variables.
    pub counters: Arc<Counters>,
    /// Progress of the statement, for the shell.
    pub progress: Arc<Progress>,
    /// The engine of the tables that are grouped in or read whole, where it is not TempTable.
    pub other_engine: Option<Arc<dyn InternalTableEngine>>,
    /// Measurements of each operator, for EXPLAIN ANALYZE.
    pub measures: Option<Arc<Measures>>,
    /// Results that are kept for other statements.
    pub kept: Arc<dyn KeptResults>,
}

impl fmt::Debug for ExecutionContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutionContext")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl ExecutionContext {
    /// Error 1317 if the statement was killed, 3024 if its time limit has passed. Checked once a batch.
    pub fn check_interrupt(&self) -> Result<()> {
        self.evaluation.interrupt.check()
    }

    /// Counts keys that a join has looked up in its right table.
    pub(crate) fn looked_up(&self, operator: OperatorNumber, keys: u64) {
        if let Some(measures) = &self.measures {
            measures.add_lookups(operator, keys);
        }
    }

    /// Counts rows that an operator has read from its table.
    pub(crate) fn examined(&self, operator: OperatorNumber, rows: u64) {
        count(&self.counters.rows_examined, rows);
        if let Some(measures) = &self.measures {
            measures.add_rows_read(operator, rows);
        }
    }
}

/// Memory of long function results: a budget below that of all memory. Data at rest makes room for them.
#[derive(Debug)]
pub struct ResultMemory {
    /// Resources shared by the database.
    pub resources: Resources,
    /// Budget that is charged.
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

/// Counters of operators, added to the session's and the global status when the statement ends.
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

/// Progress of a statement: rows read of rows to read, over all of its scans.
#[derive(Debug, Default)]
pub struct Progress {
    /// Rows read so far.
    pub rows_read: AtomicU64,
    /// Rows that the scans opened so far will read.
    pub rows_expected: AtomicU64,
}

/// Function that builds the operators of a plan. Subquery evaluation knows operators only by this.
pub(crate) type BuildNode = fn(&Plan, &RunContext) -> Result<Arc<dyn Node>>;

/// Context of one run of a plan.
#[derive(Debug, Clone)]
pub struct RunContext {
    /// The statement.
    pub statement: Arc<ExecutionContext>,
    /// The values of [`mayfly_plan::ExpressionKind::Parameter`].
    pub parameters: Arc<[Value]>,
    pub(crate) state: Arc<QueryState>,
    pub(crate) build: BuildNode,
    /// Whether the run is inside a worker or a subquery of a row: nothing below starts threads.
    pub(crate) serial: bool,
}

impl RunContext {
    /// Builds the operators of a plan.
    pub(crate) fn build(&self, plan: &Plan) -> Result<Arc<dyn Node>> {
        (self.build)(plan, self)
    }

    /// This run with other parameters, without threads.
    fn with_parameters(&self, parameters: Arc<[Value]>) -> Self {
        Self {
            statement: Arc::clone(&self.statement),
            parameters,
            state: Arc::clone(&self.state),
            build: self.build,
            serial: true,
        }
    }

    /// This run with some parameters set from a row of an outer query, without threads.
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

    /// This run with warnings thrown away.
    pub(crate) fn without_warnings(&self) -> Self {
        let evaluation = EvaluationContext {
            diagnostics: Arc::new(Diagnostics::new(0)),
            ..self.evaluation().clone()
        };
        let statement = ExecutionContext {
            evaluation: Arc::new(evaluation),
            ..ExecutionContext::clone(&self.statement)
        };
        Self {
            statement: Arc::new(statement),
            ..self.clone()
        }
    }

    /// Marks the statement as in a stage until the guard is dropped. The work of workers is part of the stage that
    /// waits for them.
    pub(crate) fn within(&self, stage: Stage) -> Option<StageGuard<'_>> {
        let stages = self.evaluation().interrupt.stages();
        (!self.serial).then(|| stages.within(stage))
    }

    /// Value of a parameter; NULL if it was never set.
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
/// A plan is as deep as its statement, its views and its common table expressions make it. So callers use
/// [`Node::prepare`], [`Node::open`] and [`Cursor::next`], which guard the stack, and an operator implements the method
/// beside each.
pub(crate) trait Node: Send + Sync {
    /// Does the work before the first row: pipeline breakers drain their inputs. Called once, on the coordinating
    /// thread, before any cursor is opened.
    fn prepare(&self, run: &RunContext) -> Result<()> {
        with_stack(|| self.prepare_node(run))
    }

    /// This node's part of [`Self::prepare`].
    fn prepare_node(&self, run: &RunContext) -> Result<()>;

    /// Estimated rows that the node will read from below or give, known after `prepare`: decides whether starting
    /// threads is worth it.
    fn rows_hint(&self) -> u64;

    /// Limits the reading: only the first `rows` rows of one cursor will be read. Called before any is opened.
    fn first_rows(&self, rows: u64) {
        let _ = rows;
    }

    /// Whether the rows, after `prepare`, are in no order that a statement may rely on, and their values do not depend
    /// on the rows before them: several workers may then give them in parallel.
    fn is_unordered(&self) -> bool {
        false
    }

    /// Whether an exhausted cursor continues, in the recursive part of a common table expression, with the rows of the
    /// next round, and nothing prepared depends on the rows of a round. Asked after `prepare`.
    fn follows_rounds(&self) -> bool {
        false
    }

    /// Whether a filter on a column can be pushed from here to a scan without anything but the filtered rows themselves
    /// missing.
    fn takes_filter(&self, column: usize) -> bool {
        let _ = column;
        false
    }

    /// Pushes a filter on a column that accepts it: rows that the filter refuses need not come out. Called before
    /// `prepare`; holds until its maker gives another.
    fn give_filter(&self, column: usize, filter: &GivenFilter) {
        let _ = (column, filter);
    }

    /// Allows strings of these columns, and no others, to come as [codes](mayfly_types::coded). Called before any
    /// cursor is opened.
    fn give_codes(&self, columns: &[usize]) {
        let _ = columns;
    }

    /// Opens a cursor for one worker. The cursors of a node share its rows between them.
    fn open(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
        with_stack(|| self.open_node(run))
    }

    /// This node's part of [`Self::open`].
    fn open_node(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>>;
}

/// Cursor of one worker over an operator's rows.
pub(crate) trait Cursor: Send {
    /// The next rows; `None` at the end. May be an empty batch.
    fn next(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        with_stack(|| self.next_batch(run))
    }

    /// This cursor's part of [`Self::next`].
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>>;
}
