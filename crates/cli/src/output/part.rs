//! A part of the rows of a result: a batch of the engine, or the texts that a server has sent.

use mayfly_engine::StatementResult;

/// A row in its displayed form: the bytes of each value, `None` for NULL.
pub(crate) type Row = Vec<Option<Vec<u8>>>;

/// Rows of a result.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part<'r> {
    /// Of the engine.
    Engine(&'r StatementResult),
    /// Of a server.
    Texts(&'r [Row]),
}

impl Part<'_> {
    /// Number of rows.
    pub(crate) fn row_count(&self) -> usize {
        match self {
            Self::Engine(result) => result.row_count(),
            Self::Texts(rows) => rows.len(),
        }
    }

    /// A row; empty where there is none.
    pub(crate) fn row(&self, row: usize) -> Row {
        match self {
            Self::Engine(result) => result.row_bytes(row),
            Self::Texts(rows) => rows.get(row).cloned().unwrap_or_default(),
        }
    }

    /// The rows.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        (0..self.row_count()).map(|row| self.row(row))
    }
}
