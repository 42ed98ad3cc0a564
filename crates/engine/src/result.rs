//! What a statement gives back: columns and rows, or counts.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use mayfly_exec::StatementContext;
use mayfly_plan::ColumnTraits;
use mayfly_plan::physical::{ClientType, ColumnOrigin, OutputColumn};
use mayfly_types::{Batch, Error, Result, SqlType, Value};

use crate::client::{Cursor, ResultEncoder};
use crate::session::Session;
use crate::statements::found_rows::{FoundRows, FoundRowsBuilder, KEPT_FOR_CLIENT, physical_types};
use crate::{builder, convert};

/// A column of a result.
#[derive(Debug, Clone)]
pub struct ResultColumn {
    /// Its alias or source text.
    pub name: String,
    /// Its type.
    pub ty: SqlType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// The database, table, table alias and column that it shows unchanged; none when it is
    /// computed.
    pub origin: Option<ResultOrigin>,
    /// What clients are told that its type does not say.
    pub(crate) client_type: ClientType,
}

/// Where a column's values come from, when it shows a column of FROM unchanged.
#[derive(Debug, Clone)]
pub struct ResultOrigin {
    /// Database; empty for a column that is computed in a derived table or a set operation.
    pub database: String,
    /// Table, or the view that shows it; empty for a computed column.
    pub table: String,
    /// The table's alias in the statement.
    pub alias: String,
    /// Column.
    pub column: String,
    /// What else clients are told of it.
    pub(crate) traits: ColumnTraits,
    /// Whether a table has the column.
    is_of_table: bool,
}

impl ResultOrigin {
    fn from_plan(origin: &ColumnOrigin) -> Self {
        let (table, column) = match &origin.view {
            Some(seen) => (&seen.view, &seen.column),
            None => (&origin.table, &origin.column),
        };
        Self {
            database: origin.database.clone(),
            table: table.clone(),
            alias: origin.alias.clone(),
            column: column.clone(),
            traits: origin.traits,
            is_of_table: origin.is_of_table(),
        }
    }

    /// Whether a table has the column.
    pub(crate) fn is_of_table(&self) -> bool {
        self.is_of_table
    }
}

impl ResultColumn {
    /// A column that shows no table's column.
    pub(crate) fn new(name: &str, ty: SqlType) -> Self {
        Self {
            name: name.to_owned(),
            ty,
            nullable: true,
            origin: None,
            client_type: ClientType::Plain,
        }
    }

    /// The columns of a plan.
    pub(crate) fn of_plan(columns: &[OutputColumn]) -> Arc<[Self]> {
        columns.iter().map(Self::from_plan).collect()
    }

    pub(crate) fn from_plan(column: &OutputColumn) -> Self {
        Self {
            name: column.name.clone(),
            ty: column.ty.clone(),
            nullable: column.nullable,
            origin: column.origin.as_ref().map(ResultOrigin::from_plan),
            client_type: column.client_type,
        }
    }
}

/// Everything a statement gave.
#[derive(Debug, Clone, Default)]
pub struct StatementResult {
    /// The columns; empty for a statement that gives no rows.
    pub columns: Arc<[ResultColumn]>,
    /// The rows.
    pub batches: Vec<Batch>,
    /// Rows inserted, changed or deleted.
    pub affected_rows: u64,
    /// The first number that AUTO_INCREMENT gave, or 0.
    pub last_insert_id: u64,
    /// How many warnings SHOW WARNINGS would list.
    pub warning_count: u64,
    /// "Records: 4  Duplicates: 0  Warnings: 0" and the like; empty otherwise.
    pub info: Cow<'static, str>,
}

impl StatementResult {
    /// Rows that the engine made itself.
    pub(crate) fn of_rows<R: AsRef<[Value]>>(columns: &[(&str, SqlType)], rows: &[R]) -> Self {
        let types: Vec<SqlType> = columns.iter().map(|(_, ty)| ty.clone()).collect();
        let columns = columns.iter();
        Self {
            columns: columns
                .map(|(name, ty)| ResultColumn::new(name, ty.clone()))
                .collect(),
            batches: vec![builder::batch(&types, rows)],
            ..Self::default()
        }
    }

    /// The same, of whose columns some are never NULL.
    pub(crate) fn never_null(mut self, is_never_null: impl Fn(&str) -> bool) -> Self {
        let columns = self.columns.iter().cloned().map(|column| ResultColumn {
            nullable: !is_never_null(&column.name),
            ..column
        });
        self.columns = columns.collect();
        self
    }

    /// Whether the statement gives rows (perhaps none).
    pub fn has_rows(&self) -> bool {
        !self.columns.is_empty()
    }

    /// How many rows there are.
    pub fn row_count(&self) -> usize {
        self.batches.iter().map(Batch::row_count).sum()
    }

    /// The displayed bytes of each value of a row, as a client gets them; `None` is NULL. Empty
    /// when there is no such row.
    pub fn row_bytes(&self, row: usize) -> Vec<Option<Vec<u8>>> {
        let mut row = row;
        for batch in &self.batches {
            if row < batch.row_count() {
                return self.row_of(batch, row);
            }
            row -= batch.row_count();
        }
        Vec::new()
    }

    fn row_of(&self, batch: &Batch, row: usize) -> Vec<Option<Vec<u8>>> {
        let columns = batch.columns().iter().zip(&*self.columns);
        columns
            .map(|(array, column)| {
                let mut bytes = Vec::new();
                convert::display_row(array, row, &column.ty, &mut bytes).then_some(bytes)
            })
            .collect()
    }

    /// [`Self::row_bytes`] as text; bytes that are no UTF-8 are replaced.
    pub fn row_text(&self, row: usize) -> Vec<Option<String>> {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        self.row_bytes(row)
            .into_iter()
            .map(|value| value.map(text))
            .collect()
    }

    /// All rows as text.
    pub fn rows_text(&self) -> Vec<Vec<Option<String>>> {
        let rows = self
            .batches
            .iter()
            .flat_map(|batch| (0..batch.row_count()).map(move |row| self.row_of(batch, row)));
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        rows.map(|row| row.into_iter().map(|value| value.map(text)).collect())
            .collect()
    }
}

/// Appends the displayed bytes of a value to `out`; false, and nothing is appended, for NULL.
pub fn display_value(
    column: &ResultColumn,
    batch: &Batch,
    index: usize,
    row: usize,
    out: &mut Vec<u8>,
) -> bool {
    convert::display_row(batch.column(index), row, &column.ty, out)
}

/// What a statement did with temporary tables, and how long it took.
#[derive(Debug, Clone, Default)]
pub struct StatementSummary {
    /// When it began.
    pub(crate) begun: Option<Instant>,
    /// How long it took.
    pub elapsed: Duration,
    /// Temporary tables made.
    pub temporary_tables: u64,
    /// Those that overflowed to disk.
    pub disk_tables: u64,
    /// Bytes written to temporary files.
    pub bytes_overflowed: u64,
    /// The most memory that its temporary tables held.
    pub memory_peak: u64,
    /// The most temporary space that they held.
    pub disk_peak: u64,
    /// Rows put into temporary tables.
    pub rows_written: u64,
    /// Rows read from tables.
    pub rows_examined: u64,
    /// A table was read without an index.
    pub no_index_used: bool,
}

impl StatementSummary {
    pub(crate) fn begin(now: Instant) -> Self {
        Self {
            begun: Some(now),
            ..Self::default()
        }
    }
}

impl std::fmt::Display for StatementSummary {
    /// One line on the temporary tables; empty when there were none.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tables = match self.temporary_tables {
            0 => return Ok(()),
            1 => "1 temporary table".to_owned(),
            n => format!("{n} temporary tables"),
        };
        write!(
            f,
            "{tables}, {} rows, {} in memory",
            self.rows_written,
            Bytes(self.memory_peak)
        )?;
        match self.disk_tables {
            0 => Ok(()),
            n => write!(
                f,
                ", {n} overflowed ({} written)",
                Bytes(self.bytes_overflowed)
            ),
        }
    }
}

/// A number of bytes for people.
#[derive(Debug, Clone, Copy)]
pub struct Bytes(pub u64);

impl std::fmt::Display for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let units = ["KiB", "MiB", "GiB", "TiB"];
        if self.0 < 1024 {
            return write!(f, "{} B", self.0);
        }
        let mut amount = self.0 as f64 / 1024.0;
        let mut unit = units[0];
        for next in &units[1..] {
            if amount < 1024.0 {
                break;
            }
            amount /= 1024.0;
            unit = next;
        }
        write!(f, "{amount:.1} {unit}")
    }
}

/// What a statement leaves to be read.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Everything.
    Done(StatementResult),
    /// Rows of a running plan.
    Rows {
        columns: Arc<[ResultColumn]>,
        rows: Box<mayfly_exec::ResultStream>,
        context: Arc<StatementContext>,
    },
    /// Rows that were found and kept.
    Found {
        columns: Arc<[ResultColumn]>,
        rows: Box<FoundRows>,
    },
    /// At most one row, which is in the session's place for it.
    Row {
        columns: Arc<[ResultColumn]>,
        found: bool,
    },
}

impl Outcome {
    /// The columns of its rows.
    pub(crate) fn columns(&self) -> Arc<[ResultColumn]> {
        Arc::clone(match self {
            Self::Done(result) => &result.columns,
            Self::Rows { columns, .. }
            | Self::Found { columns, .. }
            | Self::Row { columns, .. } => columns,
        })
    }
}

impl From<StatementResult> for Outcome {
    fn from(result: StatementResult) -> Self {
        Self::Done(result)
    }
}

/// The rows of one statement, as they are made. The session is busy until it is dropped.
#[derive(Debug)]
pub struct ResultStream<'s> {
    session: &'s mut Session,
    result: StatementResult,
    source: Source,
    /// The batch that is read row by row, and how many of its rows were given.
    begun: Option<(Batch, usize)>,
    /// What FOUND_ROWS() will answer.
    rows_found: u64,
    ended: bool,
}

#[derive(Debug)]
enum Source {
    Batches(std::vec::IntoIter<Batch>),
    Plan {
        rows: Box<mayfly_exec::ResultStream>,
        context: Arc<StatementContext>,
    },
    Found(Box<FoundRows>),
    /// Whether the session's row is still to be given.
    Row(bool),
    Ended,
}

impl<'s> ResultStream<'s> {
    pub(crate) fn new(session: &'s mut Session, outcome: Outcome) -> Self {
        let (result, source) = match outcome {
            Outcome::Done(mut result) => {
                let batches = std::mem::take(&mut result.batches);
                (result, Source::Batches(batches.into_iter()))
            }
            Outcome::Rows {
                columns,
                rows,
                context,
            } => {
                let result = StatementResult {
                    columns,
                    ..StatementResult::default()
                };
                (result, Source::Plan { rows, context })
            }
            Outcome::Found { columns, rows } => {
                let result = StatementResult {
                    columns,
                    ..StatementResult::default()
                };
                (result, Source::Found(rows))
            }
            Outcome::Row { columns, found } => {
                let result = StatementResult {
                    columns,
                    ..StatementResult::default()
                };
                (result, Source::Row(found))
            }
        };
        let mut stream = Self {
            session,
            result,
            source,
            begun: None,
            rows_found: 0,
            ended: false,
        };
        if !stream.result.has_rows() {
            stream.end();
        }
        stream
    }

    /// The columns; empty for a statement that gives no rows.
    pub fn columns(&self) -> &[ResultColumn] {
        &self.result.columns
    }

    /// How the client gets columns and values: as `character_set_results` was when the statement
    /// began to give rows.
    pub fn encoder(&self) -> ResultEncoder {
        self.session.result_encoder()
    }

    /// The counts of the statement; those of a SELECT are final after its last batch.
    pub fn result(&self) -> &StatementResult {
        &self.result
    }

    /// Whether there is one row at most, which [`Self::next_row`] gives without making a batch.
    pub fn has_single_row(&self) -> bool {
        matches!(self.source, Source::Row(_))
    }

    /// The values of the next row; `None` after the last.
    pub fn next_row(&mut self) -> Result<Option<&[Value]>> {
        if let Source::Row(left @ true) = &mut self.source {
            *left = false;
            self.rows_found += 1;
            return Ok(Some(self.session.row()));
        }
        loop {
            if let Some((batch, given)) = &mut self.begun
                && *given < batch.row_count()
            {
                let columns = batch.columns().iter();
                let row = self.session.row_mut();
                row.clear();
                row.extend(columns.map(|column| convert::value_at(column, *given)));
                *given += 1;
                return Ok(Some(self.session.row()));
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
            Source::Row(left) => match std::mem::take(left) {
                true => {
                    let types = self.result.columns.iter().map(|column| &column.ty);
                    Ok(Some(builder::row(types, self.session.row())))
                }
                false => Ok(None),
            },
            Source::Plan { rows, .. } => {
                let advance = AssertUnwindSafe(|| rows.next_batch());
                catch_unwind(advance)
                    .unwrap_or_else(|payload| Err(Error::of_panic(payload.as_ref())))
            }
        };
        match next {
            Ok(Some(batch)) => {
                if !matches!(self.source, Source::Plan { .. }) {
                    self.rows_found += batch.row_count() as u64;
                }
                Ok(Some(batch))
            }
            Ok(None) => {
                self.end();
                Ok(None)
            }
            Err(error) => {
                self.close_source();
                self.ended = true;
                self.session.abandon_rows(&error);
                self.session.fail(&error);
                Err(error)
            }
        }
    }

    fn close_source(&mut self) {
        if let Source::Plan { rows, context } = std::mem::replace(&mut self.source, Source::Ended) {
            drop(rows);
            self.rows_found = context.counters.found_rows.load(Ordering::Relaxed);
            self.session.account(&context);
        }
    }

    fn end(&mut self) {
        if self.ended {
            return;
        }
        self.ended = true;
        self.close_source();
        // The end of a transaction that only reads cannot fail.
        let _ = self.session.commit_statement();
        if self.result.has_rows() {
            if !std::mem::take(&mut self.session.keeps_found_rows) {
                self.session.found_rows = self.rows_found;
            }
            self.session.row_count = -1;
        } else {
            self.session.row_count = i64::try_from(self.result.affected_rows).unwrap_or(-1);
        }
        self.result.warning_count = self.session.own_conditions();
        self.session.end();
    }

    /// Reads the remaining rows and keeps them for a client that fetches them bit by bit.
    pub fn into_cursor(mut self) -> Result<Cursor> {
        let context = self.session.cursor_context();
        let types = self.result.columns.iter().map(|column| column.ty.clone());
        let types: Vec<SqlType> = types.collect();
        let mut kept = FoundRowsBuilder::new(&context, physical_types(&types), KEPT_FOR_CLIENT);
        while let Some(batch) = self.next_batch()? {
            kept.add(batch)?;
        }
        let rows = kept.finish()?;
        Ok(Cursor::new(Arc::clone(&self.result.columns), rows))
    }

    /// Ends the statement, whatever rows are left, and gives its counts.
    pub fn finish(mut self) -> StatementResult {
        self.end();
        std::mem::take(&mut self.result)
    }

    /// Reads the remaining rows and gives the whole result.
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
    fn drop(&mut self) {
        // A client that stops reading ends the statement as if it had read everything.
        self.end();
    }
}
