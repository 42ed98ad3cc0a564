//! Scans of shared results, which have several readers.

use std::sync::Arc;

use mayfly_plan::Expression;
use mayfly_plan::physical::{SharedId, SharedResult, SharedSource};
use mayfly_types::convert::array_value;
use mayfly_types::{Batch, Result, Value};

use super::{materialize, recursive, tables};
use crate::context::{Node, RunContext};
use crate::expression::Program;
use crate::kept;
use crate::representation::to_column;
use crate::state::MadeTable;

/// Builds the scan of a shared result, which the first reader with these parameter values materializes.
pub(super) fn scan(id: SharedId, arguments: &[(usize, Expression)]) -> Arc<dyn Node> {
    let arguments: Vec<(usize, Program)> = arguments
        .iter()
        .map(|(parameter, value)| (*parameter, Program::compile(value)))
        .collect();
    tables::read(move |run| {
        if arguments.is_empty() {
            return run.state.shared(id, &[], |result| make(id, result, run));
        }
        let row = Batch::new(Vec::new(), 1);
        let value = |program: &Program| {
            let value = program.evaluate_array(&row, run)?;
            Ok(array_value(&to_column(value), 0))
        };
        let values = arguments.iter().map(|(_, program)| value(program));
        let values = values.collect::<Result<Vec<Value>>>()?;
        run.state.shared(id, &values, |result| {
            let parameters = arguments.iter().map(|(parameter, _)| *parameter);
            let inner = run.with_outer_row(parameters.zip(values.iter().cloned()));
            make(id, result, &inner)
        })
    })
}

fn make(id: SharedId, result: &SharedResult, run: &RunContext) -> Result<MadeTable> {
    let Some(kept) = &result.kept else {
        return compute(id, result, run);
    };
    kept::find_or_make(kept, result, run, || compute(id, result, run))
}

fn compute(id: SharedId, result: &SharedResult, run: &RunContext) -> Result<MadeTable> {
    match &result.source {
        SharedSource::Plan(plan) => {
            let input = run.build(plan)?;
            if result.kept.is_some() {
                let filled =
                    materialize::fill_temp_table(&input, &result.output, &result.temporary, run);
                return filled.map(MadeTable::TempTable);
            }
            materialize::fill(&input, &result.output, &result.temporary, run)
        }
        SharedSource::Recursive {
            seed,
            step,
            distinct,
            enough,
        } => {
            let table = recursive::run(id, result, (seed, step), *distinct, *enough, run)?;
            Ok(MadeTable::TempTable(table))
        }
    }
}
