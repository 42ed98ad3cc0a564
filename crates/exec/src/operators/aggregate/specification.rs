//! An aggregation as the plan has it, and the columns that it computes of its input.

use mayfly_plan::Expression;
use mayfly_plan::physical::{AggregateCall, TemporaryTable};
use mayfly_types::{Batch, PhysicalType, Result};

use crate::context::RunContext;
use crate::expression::Program;
use crate::operators::project::project;
use crate::representation::column_type;

/// An aggregation as the plan has it.
pub(crate) struct Specification<'a> {
    pub(crate) keys: &'a [Expression],
    pub(crate) aggregates: &'a [AggregateCall],
    pub(crate) rollup: bool,
    pub(crate) first_groups: Option<u64>,
    pub(crate) ordered: bool,
    pub(crate) temporary: Option<&'a TemporaryTable>,
}

/// The columns that are computed from an input row: the keys, then whatever the calls need, each
/// input column once.
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

    /// The place of an expression's value.
    pub(super) fn place(&mut self, expression: &Expression) -> usize {
        let program = Program::compile(expression);
        let physical = column_type(&expression.ty);
        let same = |known: &Program| {
            known.as_column().is_some() && known.as_column() == program.as_column()
        };
        match self.programs.iter().position(same) {
            Some(place) if self.types[place] == physical => place,
            _ => self.push(program, physical),
        }
    }

    pub(super) fn evaluate(&self, batch: &Batch, run: &RunContext) -> Result<Batch> {
        project(&self.programs, batch, run)
    }
}
