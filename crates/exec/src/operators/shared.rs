//! Scans of shared results, which have several readers.

use std::sync::Arc;

use mayfly_plan::Expression;
use mayfly_plan::physical::{KeptResult, SharedId, SharedResult, SharedSource};
use mayfly_types::convert::array_value;
use mayfly_types::{Batch, Result, Value};

use super::{materialize, recursive, tables};
use crate::context::{Node, RunContext};
use crate::expression::Program;
use crate::kept::Found;
use crate::parameters::free_parameters_of;
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
    find_or_make(kept, result, run, || compute(id, result, run))
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

/// The rows of a shared result: kept ones, or those that `make` computes, which are kept if they may be.
fn find_or_make(
    kept: &KeptResult,
    result: &SharedResult,
    run: &RunContext,
    make: impl FnOnce() -> Result<MadeTable>,
) -> Result<MadeTable> {
    let statement = &run.statement;
    let tables = kept.tables.iter();
    let tables = tables.map(|id| Ok(statement.tables.open(*id)?.state()));
    let tables = tables.collect::<Result<_>>()?;
    let parameters = free_parameters_of(result, run.state.plan());
    let parameters = parameters.into_iter().map(|parameter| {
        let value = run.parameters.get(parameter);
        value.cloned().unwrap_or_default()
    });
    let keeper = match statement.kept.find(kept, tables, parameters.collect()) {
        Found::Kept(rows) => return Ok(MadeTable::TempTable(rows)),
        Found::Passed => return make(),
        Found::Absent(keeper) => keeper,
    };
    let diagnostics = Arc::clone(&run.evaluation().diagnostics);
    let (begun, warnings) = (std::time::Instant::now(), diagnostics.count());
    let made = make()?;
    // A statement that reads kept rows raises no warnings of theirs.
    if let MadeTable::TempTable(rows) = &made
        && diagnostics.count() == warnings
    {
        keeper.keep(rows, begun.elapsed());
    }
    Ok(made)
}
