//! Recursive common table expressions: the seed, then one round after the other over the rows that the round before
//! added, until one adds none.
//!
//! A round costs what its rows cost. Where the recursive part passes the rows of a round on
//! ([`Node::follows_rounds`](crate::context::Node::follows_rounds)), its operators are built once, and their prepared
//! state (such as the hash table of a join's other side) serves all rounds. A round of few rows stays a batch
//! ([`round`]), and where the recursive part reads nothing but its own rows a round of very few is computed [row by
//! row](by_row). Duplicates are found by an index that all rounds share ([`DistinctRows`]), in memory or out of it.

mod by_row;
mod round;
mod working;

use mayfly_functions::EvaluationContext;
use mayfly_plan::physical::{Plan, SharedId, SharedResult};
use mayfly_storage::{DistinctRows, TempTable, TempTableWriter};
use mayfly_types::convert::{StoreContext, store_array, store_value};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Diagnostics, Error, Result, Selection, SqlType, Stage, Value};

use self::by_row::ByRow;
use self::round::NewRows;
use super::keys::key_mode;
use super::materialize::plain_table;
use crate::context::{Cursor, RunContext, count};
use crate::expression::cast_context;
use crate::state::Round;

pub(super) use self::working::working_table;

pub(super) fn run(
    id: SharedId,
    result: &SharedResult,
    (seed, step): (&Plan, &Plan),
    distinct: bool,
    enough: Option<u64>,
    run: &RunContext,
) -> Result<TempTable> {
    let table = plain_table(&result.output, &result.temporary, run)?;
    let mut all = AllRows::new(&table, distinct, result)?;
    let _stage = run.within(Stage::CreatingTmpTable);
    let mut round = {
        let from = From::new(seed, result);
        let mut new = NewRows::new(result);
        let input = run.build(seed)?;
        input.prepare(run)?;
        let mut cursor = input.open(run)?;
        all.add(cursor.as_mut(), &from, &mut new, run)?;
        new.finish()?
    };
    let from = From::new(step, result);
    let mut steps = Steps::new(step);
    // Measured operators must be run as operators.
    let by_row = run.statement.measures.is_none();
    let mut by_row = by_row.then(|| ByRow::new(step, result, &from)).flatten();
    let mut rounds = Rounds {
        begun: 0,
        rows: round.row_count(),
        enough,
    };
    loop {
        if let (Some(by_row), Round::Batch(few)) = (&mut by_row, &round)
            && round.row_count() <= by_row::ROWS_MAX
        {
            round = Round::Batch(by_row.run(few, &mut all, &mut rounds, run)?);
        }
        if !rounds.begin(round.row_count() == 0, run)? {
            break;
        }
        let mut new = NewRows::new(result);
        run.state.set_working(id, Some(round))?;
        let next = steps
            .cursor(run)
            .and_then(|cursor| all.add(cursor, &from, &mut new, run));
        run.state.set_working(id, None)?;
        next?;
        round = new.finish()?;
        rounds.add(round.row_count());
    }
    count(&run.statement.counters.handler_write, rounds.rows);
    all.finish()?;
    Ok(table)
}

/// State of the rounds so far.
struct Rounds {
    begun: u64,
    /// Number of all rows, including the seed's.
    rows: u64,
    /// LIMIT: no further round begins once there are this many rows.
    enough: Option<u64>,
}

impl Rounds {
    /// Begins another round, unless the last one was empty or there are enough rows.
    fn begin(&mut self, was_empty: bool, run: &RunContext) -> Result<bool> {
        if was_empty || self.enough.is_some_and(|enough| self.rows >= enough) {
            return Ok(false);
        }
        self.begun += 1;
        if self.begun > run.statement.options.cte_max_recursion_depth {
            return Err(codes::ER_CTE_MAX_RECURSION_DEPTH.with(&[&self.begun]));
        }
        Ok(true)
    }

    fn add(&mut self, rows: u64) {
        self.rows = self.rows.saturating_add(rows);
    }
}

/// Operators of the recursive part, across rounds.
struct Steps<'a> {
    plan: &'a Plan,
    cursor: Option<Box<dyn Cursor>>,
    /// Whether the operators serve all rounds, and not only the last one.
    follow: bool,
}

impl<'a> Steps<'a> {
    fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            cursor: None,
            follow: false,
        }
    }

    /// Cursor over a round's rows.
    fn cursor(&mut self, run: &RunContext) -> Result<&mut dyn Cursor> {
        if !self.follow {
            // The state of the round before is freed first.
            self.cursor = None;
            let node = run.build(self.plan)?;
            node.prepare(run)?;
            // A measured operator is run once for each round.
            self.follow = run.statement.measures.is_none() && node.follows_rounds();
            self.cursor = Some(node.open(run)?);
        }
        match &mut self.cursor {
            Some(cursor) => Ok(cursor.as_mut()),
            None => Err(Error::internal("a round without operators")),
        }
    }
}

/// All rows so far.
enum AllRows {
    /// UNION ALL: with duplicates.
    Any(TempTableWriter),
    /// UNION: without duplicates.
    Distinct(Box<DistinctRows>),
}

impl AllRows {
    fn new(table: &TempTable, distinct: bool, result: &SharedResult) -> Result<Self> {
        Ok(if distinct {
            let modes = result.output.iter().map(key_mode).collect();
            Self::Distinct(Box::new(DistinctRows::new(table, modes)?))
        } else {
            Self::Any(table.writer())
        })
    }

    /// Reads a part to its end for a round: adds its new rows to all rows and to the round's.
    fn add(
        &mut self,
        cursor: &mut dyn Cursor,
        from: &From<'_>,
        new: &mut NewRows<'_>,
        run: &RunContext,
    ) -> Result<()> {
        run.statement.check_interrupt()?;
        while let Some(batch) = cursor.next(run)? {
            if !batch.is_empty() {
                self.add_batch(from.stored(batch, run.evaluation())?, new, run)?;
            }
            run.statement.check_interrupt()?;
        }
        Ok(())
    }

    fn add_batch(&mut self, batch: Batch, new: &mut NewRows<'_>, run: &RunContext) -> Result<()> {
        match self.append(&batch)?.rows_of(batch) {
            Some(batch) => new.add(batch, run),
            None => Ok(()),
        }
    }

    /// Appends rows; returns the selection of those that are new.
    fn append(&mut self, batch: &Batch) -> Result<Selection> {
        match self {
            Self::Any(writer) => {
                writer.append(batch)?;
                Ok(Selection::All)
            }
            Self::Distinct(rows) => rows.add(batch),
        }
    }

    fn finish(self) -> Result<()> {
        match self {
            Self::Any(writer) => writer.finish(),
            Self::Distinct(rows) => rows.finish(),
        }
    }
}

/// Conversion of a part's rows to the types of the result's columns.
///
/// In strict mode a value that does not fit is the error that it is for INSERT; otherwise the nearest value is taken
/// without a warning.
struct From<'a> {
    result: &'a SharedResult,
    /// Columns of other types, with the types of the result.
    converted: Vec<(usize, &'a SqlType)>,
    quiet: Diagnostics,
}

impl<'a> From<'a> {
    fn new(part: &'a Plan, result: &'a SharedResult) -> Self {
        let both = part.output.iter().zip(&result.output).enumerate();
        let converted = both.filter(|(_, (from, to))| from != to);
        Self {
            result,
            converted: converted.map(|(index, (from, _))| (index, from)).collect(),
            quiet: Diagnostics::new(0),
        }
    }

    /// Context of conversion for a row: MySQL stores the rows one by one, and calls each row 1.
    fn context<'c>(
        &'c self,
        index: usize,
        from: &SqlType,
        context: &'c EvaluationContext,
    ) -> StoreContext<'c> {
        StoreContext {
            cast: cast_context(from, context, &self.quiet),
            ignore: false,
            table: &self.result.name,
            column: &self.result.columns[index],
            row: 1,
        }
    }

    fn store_row(&self, row: &mut [Value], context: &EvaluationContext) -> Result<()> {
        for (index, from) in &self.converted {
            let (index, to) = (*index, &self.result.output[*index]);
            let context = self.context(index, from, context);
            row[index] = store_value(&row[index], from, to, &context)?;
        }
        Ok(())
    }

    fn stored(&self, batch: Batch, context: &EvaluationContext) -> Result<Batch> {
        if self.converted.is_empty() {
            return Ok(batch);
        }
        let rows = batch.row_count();
        let mut columns = batch.into_columns();
        for (index, from) in &self.converted {
            let (index, to) = (*index, &self.result.output[*index]);
            let context = self.context(index, from, context);
            let all = &columns[index];
            let one_by_one = |error| {
                for row in 0..rows {
                    store_array(&all.slice(row, 1), from, to, &context)?;
                }
                Err(error)
            };
            columns[index] = store_array(all, from, to, &context).or_else(one_by_one)?;
        }
        Ok(Batch::new(columns, rows))
    }
}
