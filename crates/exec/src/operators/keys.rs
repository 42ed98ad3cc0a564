//! Keys and columns of a temporary table, from the plan's types and expressions.

use std::sync::Arc;

use arrow_array::ArrayRef;
use mayfly_plan::Expression;
use mayfly_storage::KeyMode;
use mayfly_types::{Batch, PhysicalType, Result, SqlType};

use super::sliced;
use crate::context::{Node, RunContext};
use crate::expression::Program;
use crate::representation::{column_type, to_column};

/// Comparison mode of a type's values as keys.
pub(super) fn key_mode(ty: &SqlType) -> KeyMode {
    match ty.physical() {
        PhysicalType::Bytes => KeyMode::Collated(ty.comparison_collation()),
        _ => KeyMode::Binary,
    }
}

/// Rows with computed columns beside them: the layout of a table whose keys are expressions. A key that is a column of
/// the row is not stored twice.
pub(super) struct Layout {
    /// Number of the row's own columns, which come first.
    pub(super) row_columns: usize,
    /// Expressions computed and stored after them.
    computed: Vec<Program>,
    /// Physical types of all columns.
    pub(super) columns: Vec<PhysicalType>,
}

impl Layout {
    pub(super) fn new(row: &[SqlType]) -> Self {
        Self {
            row_columns: row.len(),
            computed: Vec::new(),
            columns: row.iter().map(column_type).collect(),
        }
    }

    /// Column that holds an expression's value.
    pub(super) fn column_of(&mut self, expression: &Expression) -> usize {
        let program = Program::compile(expression);
        if let Some(column) = program.as_column() {
            return column;
        }
        self.computed.push(program);
        self.columns.push(column_type(&expression.ty));
        self.columns.len() - 1
    }

    /// Adds a column that comes beside the row's own, and returns its number.
    pub(super) fn add_column(&mut self, ty: &SqlType) -> usize {
        self.columns.push(column_type(ty));
        self.columns.len() - 1
    }

    /// Slices of the rows to be extended, with few rows where a computed column may be long.
    pub(super) fn slices(&self, input: Arc<dyn Node>) -> Arc<dyn Node> {
        sliced::build(input, &self.computed)
    }

    /// Whether computing the columns can neither fail nor warn nor have side effects.
    pub(super) fn is_total(&self) -> bool {
        self.computed.iter().all(Program::is_total)
    }

    /// The row with its computed columns.
    pub(super) fn extend(&self, batch: Batch, run: &RunContext) -> Result<Batch> {
        if self.computed.is_empty() {
            return Ok(batch);
        }
        let computed = self
            .computed
            .iter()
            .map(|program| Ok(to_column(program.evaluate_array(&batch, run)?)))
            .collect::<Result<Vec<ArrayRef>>>()?;
        let rows = batch.row_count();
        let mut columns = batch.into_columns();
        columns.extend(computed);
        Ok(Batch::new(columns, rows))
    }

    /// The row without its computed columns.
    pub(super) fn strip(&self, batch: Batch) -> Batch {
        if self.computed.is_empty() {
            return batch;
        }
        let rows = batch.row_count();
        let mut columns = batch.into_columns();
        columns.truncate(self.row_columns);
        Batch::new(columns, rows)
    }
}
