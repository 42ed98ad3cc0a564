//! Context in which values are stored: the statement's settings and the column that errors name.

use crate::convert::CastContext;
use crate::diagnostics::Level;
use crate::error::{Error, ErrorCode, Result, codes};

/// Context of storing: statement and column.
#[derive(Debug, Clone, Copy)]
pub struct StoreContext<'a> {
    /// The statement; its `sql_mode` decides what is an error.
    pub cast: CastContext<'a>,
    /// IGNORE: nothing but a wrong JSON text is an error.
    pub ignore: bool,
    /// The table, for error 3140.
    pub table: &'a str,
    /// The column, for error texts.
    pub column: &'a str,
    /// The number of the (first) row, from 1, for error texts.
    pub row: u64,
}

impl StoreContext<'_> {
    pub(super) fn is_strict(&self) -> bool {
        self.cast.sql_mode.is_strict() && !self.ignore
    }

    pub(super) fn at_row(self, index: usize) -> Self {
        Self {
            row: self.row.saturating_add(index as u64),
            ..self
        }
    }

    /// An error in strict mode, a warning otherwise.
    pub(super) fn reject(&self, error: impl FnOnce() -> Error) -> Result<()> {
        if self.is_strict() {
            return Err(error());
        }
        self.cast.diagnostics.warn_with(error);
        Ok(())
    }

    pub(super) fn column_error(&self, code: &ErrorCode) -> Error {
        code.with(&[&self.column, &self.row])
    }

    /// 1264: the value was clamped.
    pub(super) fn out_of_range(&self) -> Result<()> {
        self.reject(|| self.column_error(&codes::ER_WARN_DATA_OUT_OF_RANGE))
    }

    /// 1265: only a part of the value was understood.
    pub(super) fn truncated(&self) -> Result<()> {
        self.reject(|| self.column_error(&codes::WARN_DATA_TRUNCATED))
    }

    /// 1265 as a note.
    pub(super) fn note_truncated(&self) {
        self.cast.diagnostics.push_with(Level::Note, || {
            self.column_error(&codes::WARN_DATA_TRUNCATED)
        });
    }

    /// 1366: `Incorrect integer value: 'x' for column ...`
    pub(super) fn incorrect(&self, type_name: &str, value: impl FnOnce() -> String) -> Result<()> {
        self.reject(|| {
            codes::ER_TRUNCATED_WRONG_VALUE_FOR_FIELD.with(&[
                &type_name,
                &value(),
                &self.column,
                &self.row,
            ])
        })
    }
}
