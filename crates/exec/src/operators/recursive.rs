//! Recursive common table expressions: the seed, then round after round over the rows that the
//! round before added, until one adds none.

use std::sync::Arc;

use mayfly_functions::EvaluationContext;
use mayfly_plan::physical::{Plan, SharedId, SharedResult};
use mayfly_storage::{GroupIndex, TempTable, TempTableWriter};
use mayfly_types::convert::{StoreContext, store_array};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Diagnostics, Result, SqlType};

use super::keys::key_mode;
use super::materialize::plain_table;
use super::{Node, build, travelling_all};
use crate::context::RunContext;
use crate::driver::{Sink, drain};
use crate::expression::{cast_context, filter_batch};

pub(crate) fn run(
    id: SharedId,
    result: &SharedResult,
    (seed, step): (&Plan, &Plan),
    distinct: bool,
    enough: Option<u64>,
    run: &RunContext,
) -> Result<TempTable> {
    let all = plain_table(&result.output, &result.temporary, run)?;
    let seen = match distinct {
        false => None,
        true => Some(GroupIndex::new(
            &run.statement.temp,
            travelling_all(&result.output),
            result.output.iter().map(key_mode).collect(),
        )?),
    };
    let mut whole = Whole {
        writer: all.writer(),
        seen,
        ids: Vec::new(),
    };
    let mut round = whole.add(seed, result, run)?;
    let mut iterations = 0;
    let mut rows = round.row_count() as u64;
    while round.row_count() > 0 && enough.is_none_or(|enough| rows < enough) {
        iterations += 1;
        if iterations > run.statement.options.cte_max_recursion_depth {
            return Err(codes::ER_CTE_MAX_RECURSION_DEPTH.with(&[&iterations]));
        }
        run.state.set_working(id, Some(round))?;
        let next = whole.add(step, result, run);
        run.state.set_working(id, None)?;
        round = next?;
        rows = rows.saturating_add(round.row_count() as u64);
    }
    whole.writer.finish()?;
    Ok(all)
}

/// Everything added so far.
struct Whole {
    writer: TempTableWriter,
    /// UNION DISTINCT: the rows that are there.
    seen: Option<GroupIndex>,
    ids: Vec<u32>,
}

impl Whole {
    /// Runs a part; its new rows become part of the whole and are returned as a table.
    fn add(&mut self, plan: &Plan, result: &SharedResult, run: &RunContext) -> Result<TempTable> {
        let added = plain_table(&result.output, &result.temporary, run)?;
        let input: Arc<dyn Node> = build(plan, run)?;
        let writer = {
            let mut whole = Some(self);
            let sinks = drain(&input, run, 1, || {
                Ok(RoundSink {
                    whole: whole.take(),
                    added: added.writer(),
                    from: &plan.output,
                    result,
                })
            })?;
            sinks.into_iter().map(|sink| sink.added)
        };
        for writer in writer {
            writer.finish()?;
        }
        Ok(added)
    }

    fn new_rows(&mut self, batch: Batch) -> Result<Batch> {
        let Some(seen) = &mut self.seen else {
            return Ok(batch);
        };
        let rows = batch.row_count();
        let known = u32::try_from(seen.group_count()).unwrap_or(u32::MAX);
        let taken = seen.find_or_insert(batch.columns(), rows, &mut self.ids)?;
        if taken < rows {
            return Err(codes::ER_OUT_OF_MEMORY
                .with(&[&"the distinct rows of a recursive common table expression"]));
        }
        // A row is new when it is the first to carry the next number.
        let mut next = known;
        let selection = arrow_buffer::BooleanBuffer::collect_bool(rows, |row| {
            let new = self.ids[row] == next;
            next += u32::from(new);
            new
        });
        let count = selection.count_set_bits();
        Ok(filter_batch(&batch, &selection, count))
    }
}

/// Adds a round's new rows to the whole and to the round. A recursive part runs on one thread, so
/// that there is one sink.
struct RoundSink<'a> {
    whole: Option<&'a mut Whole>,
    added: TempTableWriter,
    from: &'a [SqlType],
    result: &'a SharedResult,
}

impl Sink for RoundSink<'_> {
    fn consume(&mut self, batch: Batch, run: &RunContext) -> Result<()> {
        let Some(whole) = &mut self.whole else {
            return Ok(());
        };
        let batch = stored(batch, self.from, self.result, run.evaluation())?;
        let batch = whole.new_rows(batch)?;
        if batch.is_empty() {
            return Ok(());
        }
        whole.writer.append(&batch)?;
        self.added.append(&batch)
    }
}

/// Rows as the columns of the result hold them. In strict mode a value that does not fit is the error
/// that it is for INSERT; otherwise the nearest one is taken without a word.
fn stored(
    batch: Batch,
    from: &[SqlType],
    result: &SharedResult,
    context: &EvaluationContext,
) -> Result<Batch> {
    let quiet = Diagnostics::new(0);
    let rows = batch.row_count();
    let mut columns = batch.into_columns();
    for (index, (from, to)) in from.iter().zip(&result.output).enumerate() {
        if from == to {
            continue;
        }
        let cast = cast_context(from, context, &quiet);
        let context = StoreContext {
            cast,
            ignore: false,
            table: &result.name,
            column: &result.columns[index],
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
