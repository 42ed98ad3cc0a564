//! Columns that an aggregation computes from its input.

use mayfly_plan::Expression;
use mayfly_types::{Batch, PhysicalType, Result};

use crate::context::RunContext;
use crate::expression::Program;
use crate::operators::project::project;
use crate::representation::column_type;

/// Columns computed from an input row: the keys, then the inputs of the calls, each input column once.
#[derive(Default)]
pub(super) struct Columns {
    pub(super) programs: Vec<Program>,
    pub(super) types: Vec<PhysicalType>,
}

impl Columns {
    pub(super) fn push(&mut self, program: Program, physical: PhysicalType) -> usize {
        self.programs.push(program);
        self.types.push(physical);
        self.programs.len() - 1
    }

    /// Column of an expression's value.
    pub(super) fn column_of(&mut self, expression: &Expression) -> usize {
        let program = Program::compile(expression);
        let physical = column_type(&expression.ty);
        let same = |known: &Program| {
            known.as_column().is_some() && known.as_column() == program.as_column()
        };
        match self.programs.iter().position(same) {
            Some(column) if self.types[column] == physical => column,
            _ => self.push(program, physical),
        }
    }

    pub(super) fn evaluate(&self, batch: &Batch, run: &RunContext) -> Result<Batch> {
        project(&self.programs, batch, run)
    }
}
