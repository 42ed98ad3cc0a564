//! Rows with several readers.

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
