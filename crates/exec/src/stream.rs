//! The result of a plan, pulled a batch at a time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mayfly_plan::check_date_text;
use mayfly_plan::physical::{DateOperand, Operator, Plan, QueryPlan};
use mayfly_types::convert::array_value;
use mayfly_types::{Batch, PhysicalType, Result, Stage, Value};

use crate::context::{Cursor, ExecutionContext, Node, RunContext, count};
use crate::error::contain;
use crate::exchange::Exchange;
use crate::expression::evaluate;
use crate::operators::build;
use crate::representation::to_boolean;
use crate::tally::tally;

/// Starts a plan. Nothing is read before the first [`ResultStream::next_batch`]. `parameters` are the values of a
/// prepared statement's `?`.
pub fn execute(
    plan: &Arc<QueryPlan>,
    statement: &Arc<ExecutionContext>,
    parameters: &[Value],
) -> Result<ResultStream> {
    for operand in &plan.date_operands {
        check_date(operand, statement, parameters)?;
    }
    let run = RunContext::new(Arc::clone(statement), Arc::clone(plan), parameters);
    Ok(ResultStream {
        state: State::New(Arc::clone(plan)),
        predicates: predicates(plan),
        limit: Limit::new(plan),
        any_order: false,
        reads_first: reads_first(&plan.root),
        ahead: VecDeque::new(),
        is_one_row: is_one_row(&plan.root),
        run,
    })
}

/// Error 1525 where a text that is compared with a date is not a date.
fn check_date(
    operand: &DateOperand,
    statement: &Arc<ExecutionContext>,
    parameters: &[Value],
) -> Result<()> {
    let run = RunContext::for_expressions(Arc::clone(statement), parameters);
    let values = evaluate(&operand.text, &Batch::new(Vec::new(), 1), &run)?;
    let value = array_value(&values, 0);
    let warn = |warning| statement.evaluation.diagnostics.warn(warning);
    check_date_text(
        operand.kind,
        &value,
        statement.evaluation.session.sql_mode,
        warn,
    )
}

/// Columns of the result that are predicates: they travel as integers and leave as Bool.
fn predicates(plan: &QueryPlan) -> Vec<usize> {
    let types = plan.root.output.iter().enumerate();
    types
        .filter(|(_, ty)| ty.physical() == PhysicalType::Bool)
        .map(|(column, _)| column)
        .collect()
}

/// Result rows of a running plan.
pub struct ResultStream {
    state: State,
    predicates: Vec<usize>,
    limit: Limit,
    /// Whether rows may come in any order: [`ResultStream::give_in_any_order`].
    any_order: bool,
    /// Whether no table has unread rows when the first row is given.
    reads_first: bool,
    /// Rows that were read ahead.
    ahead: VecDeque<Batch>,
    /// Whether the plan gives one row and reads no table: its row is given even if the statement is killed.
    is_one_row: bool,
    run: RunContext,
}

/// The statement's LIMIT, for FOUND_ROWS(): without SQL_CALC_FOUND_ROWS the plan has applied it, and the rows before
/// its offset count too; with it every row arrives here, and is counted.
struct Limit {
    offset: u64,
    to_skip: u64,
    to_give: u64,
}

impl Limit {
    fn new(plan: &QueryPlan) -> Self {
        match plan.limit {
            Some(limit) if limit.counts_all => Self {
                offset: 0,
                to_skip: limit.offset,
                to_give: limit.count,
            },
            limit => Self {
                offset: limit.map_or(0, |limit| limit.offset),
                to_skip: 0,
                to_give: u64::MAX,
            },
        }
    }

    /// Counts rows, and returns those that are part of the result.
    fn apply(&mut self, batch: Batch, found: &AtomicU64) -> Option<Batch> {
        let rows = batch.row_count() as u64;
        count(found, rows + std::mem::take(&mut self.offset));
        let skip = self.to_skip.min(rows);
        let give = (rows - skip).min(self.to_give);
        self.to_skip -= skip;
        self.to_give -= give;
        match give {
            0 => None,
            _ if give == rows => Some(batch),
            // Both fit in usize: they are at most the batch's row count.
            _ => Some(batch.slice(skip as usize, give as usize)),
        }
    }
}

enum State {
    New(Arc<QueryPlan>),
    Running(Box<dyn Cursor>),
    Exchanging(Box<Exchange>),
    Ended,
}

impl ResultStream {
    /// Allows all threads to give rows: the consumer does not depend on which rows come first where SQL leaves that
    /// open. A statement that changes or locks rows depends on their order, and so does one that adds rows where
    /// numbers or keys depend on it.
    pub fn give_in_any_order(&mut self) {
        self.any_order = true;
    }

    /// Reads ahead until no table has unread rows: to the first rows of a plan that gives none before ([`reads_first`]), to
    /// the last ones of another plan. False if these are more than `rows`, or their texts longer than [`BYTES_AHEAD`].
    ///
    /// # Errors
    /// Those of the plan.
    pub fn read_ahead(&mut self, rows: usize) -> Result<bool> {
        let reads_first = self.reads_first;
        let (mut count, mut bytes) = (0, 0);
        while let Some(batch) = self.next_of_plan()? {
            count += batch.row_count();
            bytes += batch.string_bytes();
            let is_enough = reads_first || count > rows || bytes > BYTES_AHEAD;
            self.ahead.push_back(batch.with_own_strings());
            if is_enough {
                return Ok(reads_first);
            }
        }
        Ok(true)
    }

    /// The next rows; `None` at the end. Never an empty batch.
    pub fn next_batch(&mut self) -> Result<Option<Batch>> {
        match self.ahead.pop_front() {
            Some(batch) => Ok(Some(batch)),
            None => self.next_of_plan(),
        }
    }

    fn next_of_plan(&mut self) -> Result<Option<Batch>> {
        let result = contain(|| self.advance());
        if !matches!(result, Ok(Some(_))) {
            // Temporary tables are dropped as soon as their rows can no longer be asked for.
            let made = &self.run.statement.temp.counters().created_tmp_tables;
            let removes = made.load(Ordering::Relaxed) > 0;
            let _stage = removes.then(|| self.run.within(Stage::RemovingTmpTable));
            self.state = State::Ended;
        }
        result
    }

    fn advance(&mut self) -> Result<Option<Batch>> {
        if matches!(self.state, State::Ended) {
            return Ok(None);
        }
        self.run.statement.check_interrupt()?;
        if let State::New(plan) = &self.state {
            let stages = self.run.evaluation().interrupt.stages().clone();
            let stage = stages.current();
            stages.enter(Stage::Preparing);
            let root: Arc<dyn Node> = build(&plan.root, &self.run)?;
            tally(plan, &self.run.statement.counters);
            // A statement that copies or changes the rows read does so between batches.
            let changes = matches!(
                stage,
                Stage::CopyToTmpTable | Stage::Update | Stage::Updating
            );
            stages.enter(if changes { stage } else { Stage::Executing });
            root.prepare(&self.run)?;
            let exchange = if self.any_order && computes(&plan.root) {
                Exchange::start(&root, &self.run)?
            } else {
                None
            };
            self.state = match exchange {
                Some(exchange) => State::Exchanging(Box::new(exchange)),
                None => State::Running(root.open(&self.run)?),
            };
        }
        loop {
            let next = match &mut self.state {
                State::Running(cursor) => cursor.next(&self.run)?,
                State::Exchanging(exchange) => exchange.next()?,
                State::New(_) | State::Ended => None,
            };
            let Some(batch) = next else {
                return Ok(None);
            };
            // SLEEP() that was interrupted returns 1.
            if self.is_one_row {
                self.state = State::Ended;
            } else {
                self.run.statement.check_interrupt()?;
            }
            if batch.is_empty() {
                continue;
            }
            let found = &self.run.statement.counters.found_rows;
            if let Some(batch) = self.limit.apply(batch, found) {
                return Ok(Some(leave(batch, &self.predicates)));
            }
        }
    }
}

/// Greatest length in bytes of the texts of rows that are read ahead.
const BYTES_AHEAD: usize = 1 << 20;

/// Whether a plan reads all rows of its tables before it gives the first row.
fn reads_first(mut plan: &Plan) -> bool {
    loop {
        match &plan.operator {
            Operator::Project { input, .. }
            | Operator::Filter { input, .. }
            | Operator::Limit { input, .. }
            | Operator::Block { input, .. } => plan = input,
            // DISTINCT gives groups as it finds them.
            Operator::Aggregate { grouping, .. } => {
                return !grouping.aggregates.is_empty()
                    && !grouping.ordered
                    && grouping.first_groups.is_none();
            }
            Operator::Sort { .. } | Operator::Materialize { .. } => return true,
            _ => return false,
        }
    }
}

/// Whether a plan computes one row without a table.
fn is_one_row(plan: &Plan) -> bool {
    match &plan.operator {
        Operator::Values { rows } => rows.len() == 1,
        Operator::Project { input, .. } => is_one_row(input),
        _ => false,
    }
}

/// Whether a plan does more than pass on the rows of a table, which one thread reads at the same speed.
fn computes(mut plan: &Plan) -> bool {
    while let Operator::Project { input, .. } | Operator::Block { input, .. } = &plan.operator {
        plan = input;
    }
    let is_bare = |predicate: &Option<_>| predicate.is_none();
    !matches!(&plan.operator, Operator::TableScan { predicate, .. } if is_bare(predicate))
}

fn leave(batch: Batch, predicates: &[usize]) -> Batch {
    if predicates.is_empty() {
        return batch;
    }
    let rows = batch.row_count();
    let mut columns = batch.into_columns();
    for column in predicates {
        columns[*column] = to_boolean(&columns[*column]);
    }
    Batch::new(columns, rows)
}

impl std::fmt::Debug for ResultStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResultStream").finish_non_exhaustive()
    }
}
