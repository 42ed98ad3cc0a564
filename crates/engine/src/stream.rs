//! Streams of a running statement's rows.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mayfly_exec::ExecutionContext;
use mayfly_types::error::codes;
use mayfly_types::{Batch, Error, Result, SqlType, Stage, Stages, Value};

use crate::client::{Cursor, ResultEncoder};
use crate::result::{Outcome, ResultColumn, StatementResult};
use crate::session::StatementContext;
use crate::spool::{KEPT_FOR_CLIENT, Spool, SpoolBuilder, physical_types};
use crate::{builder, convert};

/// The rows of one statement, produced on demand. The session is busy until it is dropped.
#[derive(Debug)]
pub struct ResultStream<'s> {
    context: StatementContext<'s>,
    /// The sets of rows before the result.
    sets: Vec<Cursor>,
    result: StatementResult,
    source: Source,
    /// The batch that is read row by row, and the number of its rows read.
    begun: Option<(Batch, usize)>,
    /// The result of FOUND_ROWS().
    rows_found: u64,
    ended: bool,
}

#[derive(Debug)]
enum Source {
    Batches(std::vec::IntoIter<Batch>),
    Plan {
        rows: Box<mayfly_exec::ResultStream>,
        execution: Arc<ExecutionContext>,
    },
    Found(Box<Spool>),
    /// The session's row buffer; whether the row is still to be returned.
    Row(bool),
    Ended,
}

impl<'s> ResultStream<'s> {
    /// Runs a statement that has begun, up to its first row ([`StatementContext::run`]).
    #[inline]
    pub(crate) fn run(
        mut context: StatementContext<'s>,
        run: impl FnOnce(&mut StatementContext<'_>) -> Result<Outcome>,
    ) -> Result<Self> {
        let mut sets = Vec::new();
        let (result, source) = match context.run(run)? {
            Outcome::Done(mut result) => {
                let batches = std::mem::take(&mut result.batches);
                (result, Source::Batches(batches.into_iter()))
            }
            Outcome::Rows {
                columns,
                rows,
                execution,
            } => {
                let source = Source::Plan { rows, execution };
                (StatementResult::of_columns(columns), source)
            }
            Outcome::Found { columns, rows } => {
                (StatementResult::of_columns(columns), Source::Found(rows))
            }
            Outcome::Several { sets: given, last } => {
                let cursors = given.into_iter();
                sets.extend(cursors.map(|(columns, rows)| Cursor::new(columns, rows)));
                (last, Source::Ended)
            }
            Outcome::Row { columns, found } => {
                (StatementResult::of_columns(columns), Source::Row(found))
            }
        };
        let mut stream = Self {
            context,
            sets,
            result,
            source,
            begun: None,
            rows_found: 0,
            ended: false,
        };
        if !stream.result.has_rows() {
            stream.end();
        }
        Ok(stream)
    }

    /// The columns; empty for a statement without rows.
    pub fn columns(&self) -> &[ResultColumn] {
        &self.result.columns
    }

    /// Takes the sets of rows that the statement gives before its own result, which then has no rows: those of the
    /// queries in a procedure.
    pub fn take_sets(&mut self) -> Vec<Cursor> {
        std::mem::take(&mut self.sets)
    }

    /// The encoder of columns and values: as `character_set_results` was when the statement began to return rows.
    #[inline]
    pub fn encoder(&self) -> ResultEncoder {
        self.context.session.result_encoder()
    }

    /// The stages of the statement, for the sender of its rows too.
    pub fn stages(&self) -> &Stages {
        self.context.stages()
    }

    /// The counts of the statement; those of a SELECT are final after its last batch.
    #[inline]
    pub fn result(&self) -> &StatementResult {
        &self.result
    }

    /// Whether there is at most one row, which [`Self::next_row`] returns without making a batch.
    #[inline]
    pub fn has_single_row(&self) -> bool {
        matches!(self.source, Source::Row(_))
    }

    /// The values of the next row; `None` after the last.
    pub fn next_row(&mut self) -> Result<Option<&[Value]>> {
        if let Source::Row(left @ true) = &mut self.source {
            *left = false;
            self.rows_found += 1;
            self.context.session.diagnostics.summary.rows_sent += 1;
            return Ok(Some(&self.context.session.row));
        }
        loop {
            if let Some((batch, given)) = &mut self.begun
                && *given < batch.row_count()
            {
                let columns = batch.columns().iter();
                let row = &mut self.context.session.row;
                row.clear();
                row.extend(columns.map(|column| convert::value_at(column, *given)));
                *given += 1;
                return Ok(Some(&self.context.session.row));
            }
            self.begun = self.pull()?.map(|batch| (batch, 0));
            if self.begun.is_none() {
                return Ok(None);
            }
        }
    }

    /// The next rows; `None` after the last.
    pub fn next_batch(&mut self) -> Result<Option<Batch>> {
        if let Some((batch, given)) = self.begun.take()
            && given < batch.row_count()
        {
            return Ok(Some(batch.slice(given, batch.row_count() - given)));
        }
        self.pull()
    }

    fn pull(&mut self) -> Result<Option<Batch>> {
        let next = match &mut self.source {
            Source::Ended => return Ok(None),
            Source::Batches(batches) => Ok(batches.next()),
            Source::Found(rows) => rows.next_batch(),
            Source::Row(left) => Ok(std::mem::take(left).then(|| {
                let types = self.result.columns.iter().map(|column| &column.ty);
                builder::row(types, &self.context.session.row)
            })),
            Source::Plan { rows, .. } => {
                let context = &mut self.context;
                let advance = AssertUnwindSafe(|| context.lending(|| rows.next_batch()));
                let next = catch_unwind(advance)
                    .unwrap_or_else(|payload| Err(Error::of_panic(payload.as_ref())));
                // After an interruption the reader of the rows may be gone, too.
                match next {
                    Ok(Some(_)) if self.context.session.shared.kill.is_closed() => {
                        Err(codes::ER_QUERY_INTERRUPTED.error())
                    }
                    next => next,
                }
            }
        };
        match next {
            Ok(Some(batch)) => {
                let summary = &mut self.context.session.diagnostics.summary;
                summary.rows_sent += batch.row_count() as u64;
                if !matches!(self.source, Source::Plan { .. }) {
                    self.rows_found += batch.row_count() as u64;
                }
                Ok(Some(batch))
            }
            Ok(None) => self.complete().map(|()| None),
            Err(error) => {
                self.close_source();
                self.ended = true;
                self.context.abandon(&error);
                Err(error)
            }
        }
    }

    fn close_source(&mut self) {
        if let Source::Plan { rows, execution } = std::mem::replace(&mut self.source, Source::Ended)
        {
            drop(rows);
            self.context.stages().enter(Stage::End);
            self.rows_found = execution.counters.found_rows.load(Ordering::Relaxed);
            self.context.account(&execution);
        }
    }

    /// Ends the statement where nobody waits for an error.
    fn end(&mut self) {
        let _ = self.complete();
    }

    /// Ends the statement.
    ///
    /// # Errors
    /// Those of committing what stored functions have changed.
    fn complete(&mut self) -> Result<()> {
        if self.ended {
            return Ok(());
        }
        self.ended = true;
        // All others were committed before they returned anything ([`StatementContext::run`]).
        let is_reading = matches!(self.source, Source::Plan { .. } | Source::Row(_));
        self.close_source();
        if is_reading && let Err(error) = self.context.commit() {
            self.context.abandon(&error);
            return Err(error);
        }
        let diagnostics = &mut self.context.session.diagnostics;
        diagnostics.summary.rows_affected = self.result.affected_rows;
        if self.result.has_rows() {
            if !self.context.keeps_found_rows {
                diagnostics.found_rows = self.rows_found;
            }
            diagnostics.row_count = -1;
        } else {
            diagnostics.row_count = i64::try_from(self.result.affected_rows).unwrap_or(-1);
        }
        self.result.warning_count = diagnostics.own_conditions();
        self.context.end();
        Ok(())
    }

    /// Reads the remaining rows into a spool, for a client that fetches them in parts.
    pub fn into_cursor(mut self) -> Result<Cursor> {
        let execution = self.context.cursor_context();
        let types = self.result.columns.iter().map(|column| column.ty.clone());
        let types: Vec<SqlType> = types.collect();
        let mut spool = SpoolBuilder::new(&execution, physical_types(&types), KEPT_FOR_CLIENT);
        while let Some(batch) = self.next_batch()? {
            spool.add(batch)?;
        }
        let rows = spool.finish()?;
        Ok(Cursor::new(Arc::clone(&self.result.columns), rows))
    }

    /// Ends the statement, discards remaining rows, and returns its counts.
    #[inline]
    pub fn finish(mut self) -> StatementResult {
        self.end();
        std::mem::take(&mut self.result)
    }

    /// Reads all sets of rows, and returns each as a result, with the statement's own behind them.
    pub fn into_results(mut self) -> Result<Vec<StatementResult>> {
        let mut results = Vec::new();
        for mut set in self.take_sets() {
            let mut result = StatementResult::of_columns(Arc::clone(set.columns()));
            while let Some(batch) = set.next_rows(usize::MAX)? {
                result.batches.push(batch);
            }
            results.push(result);
        }
        results.push(self.into_result()?);
        Ok(results)
    }

    /// Reads the remaining rows and returns the whole result, without sets of rows before it.
    pub fn into_result(mut self) -> Result<StatementResult> {
        let mut batches = Vec::new();
        while let Some(batch) = self.next_batch()? {
            if batch.row_count() > 0 {
                batches.push(batch);
            }
        }
        let mut result = std::mem::take(&mut self.result);
        result.batches = batches;
        Ok(result)
    }
}

impl Drop for ResultStream<'_> {
    #[inline]
    fn drop(&mut self) {
        // A client that stops reading ends the statement as if it had read everything.
        self.end();
    }
}
