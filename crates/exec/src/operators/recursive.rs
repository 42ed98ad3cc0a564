//! Recursive common table expressions: the seed, then round after round over the rows that the
//! round before added, until one adds none.
//!
//! UNION DISTINCT keeps an index of all rows while it fits in memory. After that each round puts what
//! it finds and all rows into one table with hash access, and takes from it, partition by partition,
//! what is new.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use mayfly_functions::EvaluationContext;
use mayfly_plan::physical::{Plan, SharedId, SharedResult};
use mayfly_storage::{Access, GroupIndex, Purpose, TempTable, TempTableWriter};
use mayfly_types::convert::{StoreContext, store_array};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Diagnostics, PhysicalType, Result, SqlType, Stage};

use super::keys::key_mode;
use super::materialize::plain_table;
use super::partition_groups::PartitionGroups;
use super::set_operation::numbered;
use super::tables::{self, key_columns};
use crate::context::{Node, RunContext, count};
use crate::driver::{Sink, drain};
use crate::expression::cast_context;
use crate::representation::column_types;
use crate::rows::rows_where;

pub(super) fn run(
    id: SharedId,
    result: &SharedResult,
    (seed, step): (&Plan, &Plan),
    distinct: bool,
    enough: Option<u64>,
    run: &RunContext,
) -> Result<TempTable> {
    let all = plain_table(&result.output, &result.temporary, run)?;
    let known = if distinct {
        let types = column_types(&result.output);
        let modes: Vec<_> = result.output.iter().map(key_mode).collect();
        Known::Index(GroupIndex::new(&all, &types, &modes)?)
    } else {
        Known::Anything
    };
    let mut whole = Whole {
        writer: Some(all.writer()),
        all,
        known,
        ids: Vec::new(),
        result,
    };
    let mut round = whole.add(seed, run)?;
    let mut iterations = 0;
    let mut rows = round.row_count() as u64;
    while round.row_count() > 0 && enough.is_none_or(|enough| rows < enough) {
        iterations += 1;
        if iterations > run.statement.options.cte_max_recursion_depth {
            return Err(codes::ER_CTE_MAX_RECURSION_DEPTH.with(&[&iterations]));
        }
        run.state.set_working(id, Some(round))?;
        let next = whole.add(step, run);
        run.state.set_working(id, None)?;
        round = next?;
        rows = rows.saturating_add(round.row_count() as u64);
    }
    count(&run.statement.counters.handler_write, rows);
    whole.finish()
}

/// Everything added so far.
struct Whole<'a> {
    all: TempTable,
    /// Absent only while all rows are read.
    writer: Option<TempTableWriter>,
    known: Known,
    ids: Vec<u32>,
    result: &'a SharedResult,
}

/// How a row is recognised that is there already.
enum Known {
    /// UNION ALL: it need not be.
    Anything,
    /// Its key is in the index.
    Index(GroupIndex),
    /// The index became too large: this round's rows, and all rows before it, are in a table.
    Round(RoundRows),
    /// The same, between two rounds.
    Nothing,
}

/// All rows and, marked, those that the round finds.
struct RoundRows {
    table: TempTable,
    writer: TempTableWriter,
}

const OLD: i64 = 0;
const FOUND: i64 = 1;

impl RoundRows {
    fn append(&mut self, batch: Batch, mark: i64) -> Result<()> {
        self.writer.append(&numbered(batch, mark))
    }
}

impl Whole<'_> {
    /// An empty table for a round.
    fn table(
        &self,
        columns: Vec<PhysicalType>,
        access: Access,
        run: &RunContext,
    ) -> Result<TempTable> {
        let temporary = &self.result.temporary;
        tables::create_for(Purpose::RecursionRound, temporary, columns, access, run)
    }

    /// Runs a part; its new rows become part of the whole and are returned as a table.
    fn add(&mut self, plan: &Plan, run: &RunContext) -> Result<TempTable> {
        let columns = column_types(&self.result.output);
        let added = self.table(columns, Access::Plain, run)?;
        let input: Arc<dyn Node> = run.build(plan)?;
        if matches!(self.known, Known::Nothing) {
            self.begin_round(run)?;
        }
        let writers = {
            let _stage = run.within(Stage::CreatingTmpTable);
            let mut whole = Some(&mut *self);
            let sinks = drain(&input, run, 1, || {
                Ok(RoundSink {
                    whole: whole.take(),
                    added: added.writer(),
                    from: &plan.output,
                })
            })?;
            sinks.into_iter().map(|sink| sink.added).collect::<Vec<_>>()
        };
        for mut writer in writers {
            self.end_round(&mut writer, run)?;
            writer.finish()?;
        }
        Ok(added)
    }

    /// Adds new rows to the whole and to the round.
    fn append(&mut self, batch: &Batch, added: &mut TempTableWriter) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        self.writer
            .get_or_insert_with(|| self.all.writer())
            .append(batch)?;
        added.append(batch)
    }

    /// Takes rows that a part gives.
    fn take(&mut self, batch: Batch, added: &mut TempTableWriter, run: &RunContext) -> Result<()> {
        let rows = batch.row_count();
        let taken = match &mut self.known {
            Known::Anything | Known::Nothing => return self.append(&batch, added),
            Known::Round(round) => return round.append(batch, FOUND),
            Known::Index(index) => {
                let known = u32::try_from(index.group_count()).unwrap_or(u32::MAX);
                let taken = index.find_or_insert(batch.columns(), rows, &mut self.ids)?;
                // A row is new when it is the first to carry the next number.
                let mut next = known;
                let new = rows_where(&batch.slice(0, taken), |row| {
                    let new = self.ids[row] == next;
                    next += u32::from(new);
                    new
                });
                self.append(&new, added)?;
                taken
            }
        };
        if taken < rows {
            self.begin_round(run)?;
            if let Known::Round(round) = &mut self.known {
                round.append(batch.slice(taken, rows - taken), FOUND)?;
            }
        }
        Ok(())
    }

    /// Puts all rows into a table in which a round's rows can be compared with them.
    fn begin_round(&mut self, run: &RunContext) -> Result<()> {
        // The index gives its memory back first.
        self.known = Known::Nothing;
        if let Some(writer) = self.writer.take() {
            writer.finish()?;
        }
        let keys = key_columns(self.result.output.iter().map(key_mode));
        let mut columns = column_types(&self.result.output);
        columns.push(PhysicalType::Int64);
        let table = self.table(columns, Access::Hash(keys), run)?;
        let writer = table.writer();
        let mut round = RoundRows { table, writer };
        let mut scan = self.all.scan(None);
        while let Some(batch) = scan.next_batch()? {
            run.statement.check_interrupt()?;
            round.append(batch, OLD)?;
        }
        self.known = Known::Round(round);
        Ok(())
    }

    /// Adds what a round found and was not there, when the index was too large to decide at once.
    fn end_round(&mut self, added: &mut TempTableWriter, run: &RunContext) -> Result<()> {
        let RoundRows { table, writer } = match std::mem::replace(&mut self.known, Known::Nothing) {
            Known::Round(round) => round,
            known => {
                self.known = known;
                return Ok(());
            }
        };
        writer.finish()?;
        let queue = table.partitions();
        let mark = self.result.output.len();
        let batch_rows = run.statement.options.batch_rows;
        while let Some(taken) = queue.next_taken()? {
            let mut rows = PartitionGroups::new(taken)?;
            let mut is_new = vec![true; rows.group_count()];
            while let Some(next) = rows.next(&[mark], run)? {
                is_new.resize(next.group_count, true);
                let marks = next.batch.column(0).as_primitive::<Int64Type>().values();
                for (group, mark) in next.ids.iter().zip(marks) {
                    is_new[*group as usize] &= *mark == FOUND;
                }
            }
            let new = (0_u32..).zip(&is_new).filter(|(_, is_new)| **is_new);
            let new: Vec<u32> = new.map(|(group, _)| group).collect();
            for groups in new.chunks(batch_rows) {
                self.append(&rows.keys(groups)?, added)?;
            }
        }
        Ok(())
    }

    /// All rows.
    fn finish(self) -> Result<TempTable> {
        if let Some(writer) = self.writer {
            writer.finish()?;
        }
        Ok(self.all)
    }
}

/// Adds a round's new rows to the whole and to the round. A recursive part runs on one thread, so
/// that there is one sink.
struct RoundSink<'a, 'w> {
    whole: Option<&'a mut Whole<'w>>,
    added: TempTableWriter,
    from: &'a [SqlType],
}

impl Sink for RoundSink<'_, '_> {
    fn consume(&mut self, batch: Batch, run: &RunContext) -> Result<()> {
        match &mut self.whole {
            Some(whole) => {
                let batch = stored(batch, self.from, whole.result, run.evaluation())?;
                whole.take(batch, &mut self.added, run)
            }
            None => Ok(()),
        }
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
