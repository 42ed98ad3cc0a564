//! RETURNING, MariaDB's extension: a select list over the rows that a statement wrote or removed.

use mayfly_syntax::ast::SelectItem;
use mayfly_types::{Batch, Result, SqlType, Value};

use crate::catalog::definition::TableDefinition;
use crate::expressions::{self, Bound};
use crate::result::ResultColumn;
use crate::session::Session;

/// A bound RETURNING clause; without columns when there is none.
pub(super) struct Returning {
    columns: Vec<ResultColumn>,
    expressions: Vec<Bound>,
    parameters: Vec<Value>,
}

impl Returning {
    /// Binds the clause to the columns of a table.
    pub(super) fn bind(
        session: &Session,
        definition: &TableDefinition,
        items: &[SelectItem],
        parameters: &[(Value, SqlType)],
    ) -> Result<Self> {
        let types = parameters.iter().map(|(_, ty)| ty.clone()).collect();
        let bound = match items.is_empty() {
            true => Vec::new(),
            false => expressions::bind_returning(session, items, definition, types)?,
        };
        let (columns, expressions) = bound.into_iter().unzip();
        Ok(Self {
            columns,
            expressions,
            parameters: parameters.iter().map(|(value, _)| value.clone()).collect(),
        })
    }

    /// Its columns.
    pub(super) fn columns(&self) -> Vec<ResultColumn> {
        self.columns.clone()
    }

    /// Whether there is a clause.
    pub(super) fn is_wanted(&self) -> bool {
        !self.columns.is_empty()
    }

    /// The result: its columns, and its rows for those of the table.
    pub(super) fn evaluate(self, rows: &[Batch]) -> Result<(Vec<ResultColumn>, Vec<Batch>)> {
        if !self.is_wanted() {
            return Ok((Vec::new(), Vec::new()));
        }
        let mut batches = Vec::with_capacity(rows.len());
        for batch in rows {
            let values = self.expressions.iter();
            let values = values.map(|bound| bound.evaluate_with(batch, &self.parameters));
            let values = values.collect::<Result<Vec<_>>>()?;
            batches.push(Batch::new(values, batch.row_count()));
        }
        Ok((self.columns, batches))
    }
}
