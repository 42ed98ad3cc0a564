//! WITH ROLLUP: super-aggregate rows, each after the rows that it summarizes, as MySQL gives them; over no rows the
//! grand total stands alone.
//!
//! Rows are grouped by all keys once. The partial states of these groups are sorted by the keys, and the
//! super-aggregate rows are merged from them in one pass ([`levels`]; Gray et al., Data Cube, 1997, call such functions
//! distributive and algebraic). Calls that need whole groups, such as DISTINCT, have no mergeable state: for these each
//! row is repeated for each level ([`repeat`]).

mod levels;
mod repeat;

use std::sync::Arc;

use mayfly_plan::physical::Grouping;
use mayfly_types::Result;

use super::call::Call;
use super::columns::Columns;
use crate::context::{Node, RunContext};

/// Function that builds a grouping without ROLLUP.
pub(super) type Build = fn(Arc<dyn Node>, &Grouping, &RunContext) -> Result<Arc<dyn Node>>;

/// Builds a ROLLUP. `build_groups` builds the operator that gives the results of groups, `build_states` the one that
/// gives their partial states.
pub(super) fn build(
    input: Arc<dyn Node>,
    grouping: &Grouping,
    run: &RunContext,
    build_groups: Build,
    build_states: Build,
) -> Result<Arc<dyn Node>> {
    // The arguments of the calls are not read with their states.
    let mut unread = Columns::default();
    let calls = grouping.aggregates.iter();
    let calls: Vec<Call> = calls.map(|call| Call::new(call, &mut unread)).collect();
    if calls
        .iter()
        .all(|call| call.is_mergeable() && !call.needs_whole_groups())
    {
        levels::build(input, grouping, calls, run, build_states)
    } else {
        repeat::build(input, grouping, run, build_groups)
    }
}
