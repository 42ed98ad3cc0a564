//! Recursive common table expressions: the seed, then round after round over the rows that the
//! round before added, until one adds none.
//!
//! A round costs what its rows cost. Where the recursive part passes the rows of a round on
//! ([`Node::follows_rounds`](crate::context::Node::follows_rounds)), its operators are made once, and what they have prepared (the hash table of a join's other
//! side, say) serves all rounds. A round of few rows stays a batch ([`round`]). Whether a row came before is asked of an
//! index that all rounds share ([`DistinctRows`]), in memory or out of it.

mod round;
mod working;

use mayfly_functions::EvaluationContext;
use mayfly_plan::physical::{Plan, SharedId, SharedResult};
use mayfly_storage::{DistinctRows, TempTable, TempTableWriter};
use mayfly_types::convert::{StoreContext, store_array};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Diagnostics, Error, Result, Selection, SqlType, Stage};

use self::round::NewRows;
use super::keys::key_mode;
use super::materialize::plain_table;
use crate::context::{Cursor, RunContext, count};
use crate::expression::cast_context;

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
    let mut iterations = 0;
    let mut rows = round.row_count();
    while round.row_count() > 0 && enough.is_none_or(|enough| rows < enough) {
        iterations += 1;
        if iterations > run.statement.options.cte_max_recursion_depth {
            return Err(codes::ER_CTE_MAX_RECURSION_DEPTH.with(&[&iterations]));
        }
        let mut new = NewRows::new(result);
        run.state.set_working(id, Some(round))?;
        let next = steps
            .cursor(run)
            .and_then(|cursor| all.add(cursor, &from, &mut new, run));
        run.state.set_working(id, None)?;
        next?;
        round = new.finish()?;
        rows = rows.saturating_add(round.row_count());
    }
    count(&run.statement.counters.handler_write, rows);
    all.finish()?;
    Ok(table)
}

/// The operators of the recursive part, from round to round.
struct Steps<'a> {
    plan: &'a Plan,
    cursor: Option<Box<dyn Cursor>>,
    /// They serve all rounds, and not the last one alone.
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

    /// The cursor that gives a round's rows.
    fn cursor(&mut self, run: &RunContext) -> Result<&mut dyn Cursor> {
        if !self.follow {
            // What the round before holds goes first.
            self.cursor = None;
            let node = run.build(self.plan)?;
            node.prepare(run)?;
            // Who measures operators wants to see each round.
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
    /// UNION ALL: any.
    Any(TempTableWriter),
    /// UNION: those that are not equal to one before.
    Distinct(Box<DistinctRows>),
}

impl AllRows {
    fn new(table: &TempTable, distinct: bool, result: &SharedResult) -> Result<Self> {
        Ok(match distinct {
            true => {
                let modes = result.output.iter().map(key_mode).collect();
                Self::Distinct(Box::new(DistinctRows::new(table, modes)?))
            }
            false => Self::Any(table.writer()),
        })
    }

    /// Reads a part to its end for a round: adds its new rows to all, and to those of the round.
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
        let selection = match self {
            Self::Any(writer) => {
                writer.append(&batch)?;
                Selection::All
            }
            Self::Distinct(rows) => rows.add(&batch)?,
        };
        match selection.rows_of(batch) {
            Some(batch) => new.add(batch, run),
            None => Ok(()),
        }
    }

    fn finish(self) -> Result<()> {
        match self {
            Self::Any(writer) => writer.finish(),
            Self::Distinct(rows) => rows.finish(),
        }
    }
}

/// The rows of a part as the columns of the result hold them.
struct From<'a> {
    result: &'a SharedResult,
    /// The columns that are of other types, and these.
    converted: Vec<(usize, &'a SqlType)>,
}

impl<'a> From<'a> {
    fn new(part: &'a Plan, result: &'a SharedResult) -> Self {
        let both = part.output.iter().zip(&result.output).enumerate();
        let converted = both.filter(|(_, (from, to))| from != to);
        Self {
            result,
            converted: converted.map(|(index, (from, _))| (index, from)).collect(),
        }
    }

    /// In strict mode a value that does not fit is the error that it is for INSERT; otherwise the nearest one
    /// is taken without a word.
    fn stored(&self, batch: Batch, context: &EvaluationContext) -> Result<Batch> {
        if self.converted.is_empty() {
            return Ok(batch);
        }
        let quiet = Diagnostics::new(0);
        let rows = batch.row_count();
        let mut columns = batch.into_columns();
        for (index, from) in &self.converted {
            let (index, to) = (*index, &self.result.output[*index]);
            let cast = cast_context(from, context, &quiet);
            let context = StoreContext {
                cast,
                ignore: false,
                table: &self.result.name,
                column: &self.result.columns[index],
                row: 1,
            };
            let all = &columns[index];
            // MySQL stores the rows one by one, and calls each the first.
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
