//! Rows of a statement, read one by one or as Arrow's record batches.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, SchemaRef};
use mayfly_engine::arrow_out::ArrowForm;
use mayfly_engine::{Batch, Cursor, Result, ResultColumn, ResultStream, SqlType, codes};

use crate::arrow;
use crate::summary::Summary;
use crate::value::{FromValue, Value, read};

/// A column of a result.
#[derive(Debug, Clone)]
pub struct Column(ResultColumn);

impl Column {
    /// Its alias, or the text of its expression.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Its type.
    pub fn sql_type(&self) -> &SqlType {
        &self.0.ty
    }

    /// Whether it may be NULL.
    pub fn is_nullable(&self) -> bool {
        self.0.nullable
    }

    /// Its field in the schema of record batches.
    pub fn field(&self) -> Field {
        ArrowForm::default().field(&self.0)
    }
}

/// The columns of a result, to be kept. Cloning shares them.
#[derive(Debug, Clone)]
pub struct Columns(Arc<[ResultColumn]>);

impl Columns {
    /// The columns, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Column> {
        self.0.iter().cloned().map(Column)
    }

    /// Whether there is none, as for a statement without rows.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A column by its position from 0, or by its name without regard to case.
pub trait ColumnIndex {
    /// The position among columns of these names.
    #[doc(hidden)]
    fn position(&self, columns: &[ResultColumn]) -> Option<usize>;

    /// What an error calls it.
    #[doc(hidden)]
    fn shown(&self) -> String;
}

impl ColumnIndex for usize {
    fn position(&self, columns: &[ResultColumn]) -> Option<usize> {
        Some(*self).filter(|position| *position < columns.len())
    }

    fn shown(&self) -> String {
        self.to_string()
    }
}

impl ColumnIndex for &str {
    fn position(&self, columns: &[ResultColumn]) -> Option<usize> {
        let is_it = |column: &ResultColumn| column.name.to_lowercase() == self.to_lowercase();
        columns.iter().position(is_it)
    }

    fn shown(&self) -> String {
        (*self).to_owned()
    }
}

/// The rows of a running statement, made while they are read. The connection is busy until this is dropped.
#[derive(Debug)]
pub struct Rows<'c> {
    stream: ResultStream<'c>,
    columns: Arc<[ResultColumn]>,
    batch: Option<Batch>,
    /// The row of the batch that is given next.
    next: usize,
    /// Rows given before this batch.
    before: u64,
}

impl<'c> Rows<'c> {
    pub(crate) fn new(stream: ResultStream<'c>) -> Self {
        Self {
            columns: Arc::clone(&stream.result().columns),
            stream,
            batch: None,
            next: 0,
            before: 0,
        }
    }

    /// The columns; none for a statement that gives no rows.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = Column> {
        self.columns.iter().cloned().map(Column)
    }

    /// The columns, to be kept longer than the rows.
    pub fn shared_columns(&self) -> Columns {
        Columns(Arc::clone(&self.columns))
    }

    /// The next row; `None` after the last.
    ///
    /// # Errors
    /// Those of the statement.
    #[expect(clippy::should_implement_trait, reason = "a row borrows from the rows")]
    pub fn next(&mut self) -> Result<Option<Row<'_>>> {
        while self
            .batch
            .as_ref()
            .is_none_or(|batch| self.next == batch.row_count())
        {
            self.take_left();
            self.batch = self.stream.next_batch()?;
            if self.batch.is_none() {
                return Ok(None);
            }
        }
        let row = self.next;
        self.next += 1;
        Ok(self.batch.as_ref().map(|batch| Row {
            columns: &self.columns,
            batch,
            row,
            number: self.before + row as u64 + 1,
        }))
    }

    /// The schema of [`Self::next_record_batch`]; the module `arrow` says what each SQL type becomes.
    pub fn schema(&self) -> SchemaRef {
        ArrowForm::default().schema(&self.columns)
    }

    /// The next rows as a record batch of Arrow; `None` after the last. Text and numbers of eight bytes are not copied.
    ///
    /// # Errors
    /// Those of the statement, and 1292 for a date that Arrow has no value for (`0000-00-00`): select `CAST(… AS CHAR)`.
    pub fn next_record_batch(&mut self) -> Result<Option<RecordBatch>> {
        let rows = self.next_rows()?;
        rows.map(|rows| rows.record_batch()).transpose()
    }

    /// The next rows, to be kept; `None` after the last.
    ///
    /// # Errors
    /// Those of the statement.
    pub fn next_rows(&mut self) -> Result<Option<RowBatch>> {
        let batch = match self.take_left() {
            Some(left) => Some(left),
            None => self.stream.next_batch()?,
        };
        let made = batch.map(|batch| RowBatch::new(&self.columns, batch, self.before));
        self.before += made.as_ref().map_or(0, |rows| rows.len() as u64);
        Ok(made)
    }

    /// Takes the sets of rows that the statement gives before its own rows (CALL).
    pub fn take_sets(&mut self) -> Vec<StoredRows> {
        let sets = self.stream.take_sets().into_iter();
        sets.map(StoredRows::new).collect()
    }

    /// What the statement has done; final after its last row.
    pub fn summary(&self) -> Summary {
        Summary::of(self.stream.result())
    }

    /// Runs the statement to its end and keeps the rows that are left in a temporary table, so that the connection is free.
    ///
    /// # Errors
    /// Those of the statement.
    pub fn store(mut self) -> Result<StoredRows> {
        Ok(StoredRows {
            given: self.take_left(),
            cursor: self.stream.into_cursor()?,
            columns: self.columns,
            before: self.before,
        })
    }

    /// Takes the rows of the batch that were not given; none without a batch.
    fn take_left(&mut self) -> Option<Batch> {
        let given = std::mem::take(&mut self.next);
        self.before += given as u64;
        let batch = self.batch.take()?;
        let left = batch.row_count() - given;
        (left > 0).then(|| batch.slice(given, left))
    }
}

/// Rows of a statement that has ended, in a temporary table, which goes on in a file when it outgrows its memory. They
/// belong to nobody and may move to another thread.
#[derive(Debug)]
pub struct StoredRows {
    columns: Arc<[ResultColumn]>,
    /// Rows that were read already when the others were stored.
    given: Option<Batch>,
    cursor: Cursor,
    before: u64,
}

impl StoredRows {
    pub(crate) fn new(cursor: Cursor) -> Self {
        Self {
            columns: Arc::clone(cursor.columns()),
            given: None,
            cursor,
            before: 0,
        }
    }

    /// The columns.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = Column> {
        self.columns.iter().cloned().map(Column)
    }

    /// The columns, to be kept longer than the rows.
    pub fn shared_columns(&self) -> Columns {
        Columns(Arc::clone(&self.columns))
    }

    /// The schema of [`Self::next_record_batch`].
    pub fn schema(&self) -> SchemaRef {
        ArrowForm::default().schema(&self.columns)
    }

    /// The next rows, at most `most`; `None` after the last.
    ///
    /// # Errors
    /// Those of [`Rows::next_record_batch`], and of reading temporary files.
    pub fn next_record_batch(&mut self, most: usize) -> Result<Option<RecordBatch>> {
        let rows = self.next_rows(most)?;
        rows.map(|rows| rows.record_batch()).transpose()
    }

    /// The next rows, at most `most`, to be kept; `None` after the last.
    ///
    /// # Errors
    /// Those of reading temporary files.
    pub fn next_rows(&mut self, most: usize) -> Result<Option<RowBatch>> {
        let batch = match self.given.take() {
            Some(batch) if batch.row_count() > most => {
                self.given = Some(batch.slice(most, batch.row_count() - most));
                Some(batch.slice(0, most))
            }
            Some(batch) => Some(batch),
            None => self.cursor.next_rows(most)?,
        };
        let made = batch.map(|batch| RowBatch::new(&self.columns, batch, self.before));
        self.before += made.as_ref().map_or(0, |rows| rows.len() as u64);
        Ok(made)
    }
}

/// Some rows of a result, by themselves. They belong to nobody and may move to another thread.
#[derive(Debug, Clone)]
pub struct RowBatch {
    columns: Arc<[ResultColumn]>,
    batch: Batch,
    /// Rows of the result before these.
    before: u64,
}

impl RowBatch {
    fn new(columns: &Arc<[ResultColumn]>, batch: Batch, before: u64) -> Self {
        Self {
            columns: Arc::clone(columns),
            batch,
            before,
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.batch.row_count()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row at a position from 0.
    pub fn row(&self, position: usize) -> Option<Row<'_>> {
        (position < self.len()).then(|| Row {
            columns: &self.columns,
            batch: &self.batch,
            row: position,
            number: self.before + position as u64 + 1,
        })
    }

    /// The rows from a position on; none beyond the last.
    #[must_use]
    pub fn from(&self, position: usize) -> Self {
        let position = position.min(self.len());
        let batch = self.batch.slice(position, self.len() - position);
        Self::new(&self.columns, batch, self.before + position as u64)
    }

    /// The rows as a record batch of Arrow, as [`Rows::next_record_batch`] gives them.
    ///
    /// # Errors
    /// 1292 for a date that Arrow has no value for.
    pub fn record_batch(&self) -> Result<RecordBatch> {
        ArrowForm::default().record_batch(&self.columns, &self.batch, self.before)
    }
}

/// A row, as long as no next one is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Row<'r> {
    columns: &'r Arc<[ResultColumn]>,
    batch: &'r Batch,
    row: usize,
    /// Of the result, from 1, for errors.
    number: u64,
}

impl<'r> Row<'r> {
    /// The value of a column, by position or name, as a type of Rust.
    ///
    /// # Errors
    /// 1054 without such a column, 1264 for a number that does not fit, 1366 for a value of another type.
    pub fn get<T: FromValue<'r>>(&self, column: impl ColumnIndex) -> Result<T> {
        let position = position(self.columns, &column)?;
        let shown = &self.columns[position];
        let value = if T::IS_TEXT {
            arrow::text(self.batch.column(position), &shown.ty, self.row)
        } else {
            self.value(position)
        };
        read(value, &shown.name, self.number)
    }

    /// All values, in the order of the columns.
    pub fn values(&self) -> impl ExactSizeIterator<Item = Value<'r>> {
        let row = *self;
        (0..self.columns.len()).map(move |position| row.value(position))
    }

    /// The row by itself, to be kept.
    pub fn to_owned(&self) -> OwnedRow {
        OwnedRow {
            columns: Arc::clone(self.columns),
            batch: self.batch.slice(self.row, 1).with_own_strings(),
            number: self.number,
        }
    }

    fn value(&self, position: usize) -> Value<'r> {
        arrow::value(
            self.batch.column(position),
            &self.columns[position].ty,
            self.row,
        )
    }
}

/// A row that is kept.
#[derive(Debug, Clone)]
pub struct OwnedRow {
    columns: Arc<[ResultColumn]>,
    /// The row alone.
    batch: Batch,
    number: u64,
}

impl OwnedRow {
    /// The row as one of a running statement.
    pub fn as_row(&self) -> Row<'_> {
        Row {
            columns: &self.columns,
            batch: &self.batch,
            row: 0,
            number: self.number,
        }
    }

    /// The value of a column, as [`Row::get`].
    ///
    /// # Errors
    /// Those of [`Row::get`].
    pub fn get<'r, T: FromValue<'r>>(&'r self, column: impl ColumnIndex) -> Result<T> {
        self.as_row().get(column)
    }
}

fn position(columns: &[ResultColumn], column: &impl ColumnIndex) -> Result<usize> {
    let missing = || codes::ER_BAD_FIELD_ERROR.with(&[&column.shown(), &"result"]);
    column.position(columns).ok_or_else(missing)
}
