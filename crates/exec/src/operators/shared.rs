//! Rows with several readers: a shared result, and the working table of a
//! recursive common table expression.

use std::sync::Arc;

use mayfly_plan::physical::{SharedId, SharedResult, SharedSource};
use mayfly_types::Result;

use super::{materialize, recursive, tables};
use crate::context::{Node, RunContext};
use crate::state::MadeTable;

/// The rows of a shared result, which the first of its readers makes.
pub(super) fn scan(id: SharedId) -> Arc<dyn Node> {
    tables::read(move |run| {
        let parameter = |index: usize| run.parameter(index);
        run.state
            .shared(id, parameter, |result| make(id, result, run))
    })
}

/// The rows that the round before added to a recursive result.
pub(super) fn working_table(id: SharedId) -> Arc<dyn Node> {
    tables::read(move |run| run.state.working(id).map(MadeTable::TempTable))
}

fn make(id: SharedId, result: &SharedResult, run: &RunContext) -> Result<MadeTable> {
    match &result.source {
        SharedSource::Plan(plan) => {
            let input = run.build(plan)?;
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
