//! GROUP BY, aggregates and DISTINCT.
//!
//! Six strategies, chosen by the request and by the first rows:
//!
//! - **No keys** ([`scalar`]): every worker keeps one state a call; they are merged at the end.
//! - **Pre-aggregation** ([`grouped`]): every worker groups what it sees in a `GroupIndex`. Where
//!   values repeat this is all there is to do: the workers' groups are merged. What outgrows memory
//!   goes to a table of partial states.
//! - **Partition first** ([`grouped`]): when the first rows show that values do not repeat, rows go
//!   to a table with hash access as they are, and are grouped partition by partition, lazily, so
//!   that LIMIT stops early ([`partitions`]).
//! - **Groups in order** ([`in_order`]): an index gives the rows of each group one after the other.
//! - **The first groups** ([`first_groups`]): LIMIT without an order asks for any n groups.
//! - **A keyed table** ([`keyed_table`]): the statement uses another engine of internal temporary tables.
//!
//! Calls that are all DISTINCT over the same arguments are calls over a grouping by those arguments
//! ([`distinct`]). Otherwise DISTINCT and ORDER BY inside a call ([`ordered`]) need whole groups: rows
//! are partitioned first.
//! WITH ROLLUP ([`rollup`]) merges its sums of the states of the groups by all keys.

mod call;
mod columns;
mod compiled;
mod distinct;
mod first_groups;
mod grouped;
mod in_order;
mod keyed_table;
mod ordered;
mod partitions;
mod rollup;
mod sample;
mod scalar;
mod state;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use mayfly_plan::physical::{Grouping, Purpose, TemporaryTable};
use mayfly_types::{Batch, Result, SqlType};

use self::call::Call;
use self::columns::Columns;
use self::compiled::{CompiledGrouping, Gives};
use self::partitions::PartitionCursor;
use self::state::State;
use super::keys::key_mode;
use super::one_cursor::OneCursor;
use super::sliced;
use crate::context::{Cursor, Node, RunContext};
use crate::expression::Program;
use crate::key_filter::GivenFilter;
use crate::representation::column_type;
use crate::state::lock;

pub(crate) fn build(
    input: Arc<dyn Node>,
    grouping: &Grouping,
    run: &RunContext,
) -> Result<Arc<dyn Node>> {
    if grouping.rollup {
        let states =
            |input, grouping: &_, run: &_| build_giving(Gives::States, input, grouping, run);
        return rollup::build(input, grouping, run, build, states);
    }
    if let Some(arguments) = distinct::common_arguments(grouping) {
        let [values, plain] = distinct::in_two_steps(grouping, arguments);
        return build(build(input, &values, run)?, &plain, run);
    }
    let gives = if grouping.gives_states {
        Gives::States
    } else {
        Gives::Results
    };
    build_giving(gives, input, grouping, run)
}

/// Builds a grouping whose calls are executed as written.
fn build_giving(
    gives: Gives,
    input: Arc<dyn Node>,
    grouping: &Grouping,
    run: &RunContext,
) -> Result<Arc<dyn Node>> {
    let mut columns = Columns::default();
    for key in &grouping.keys {
        // The keys come first, each in a column of its own.
        columns.push(Program::compile(key), column_type(&key.ty));
    }
    let calls = grouping
        .aggregates
        .iter()
        .map(|call| Call::new(call, &mut columns))
        .collect::<Vec<_>>();
    let input = sliced::build(input, &columns.programs);
    let key_count = grouping.keys.len();
    let modes = grouping.keys.iter().map(|key| key_mode(&key.ty)).collect();
    let in_order = grouping.ordered && gives == Gives::Results;
    if in_order && !calls.iter().any(Call::needs_whole_groups) {
        return Ok(Arc::new(in_order::InOrder {
            input,
            key_count,
            modes,
            columns,
            calls,
            reader: OneCursor::default(),
        }));
    }
    let temporary = grouping.temporary.clone();
    let declared = run.statement.other_engine.is_some().then(|| {
        let keys = grouping.keys.iter().map(|key| &key.ty);
        let states = calls.iter().flat_map(Call::declared_states);
        keys.chain(states).cloned().collect()
    });
    let compiled = CompiledGrouping {
        input,
        key_count,
        modes,
        columns,
        calls,
        gives,
        temporary: temporary.unwrap_or_else(|| TemporaryTable::new(Purpose::GroupBy, "GROUP BY")),
    };
    Ok(Arc::new(Aggregate {
        compiled: Arc::new(compiled),
        first_groups: grouping.first_groups,
        declared,
        state: Mutex::new(State::New),
    }))
}

/// Operator of a grouping that is not given in the order of an index.
struct Aggregate {
    compiled: Arc<CompiledGrouping>,
    first_groups: Option<u64>,
    /// Declared types of the keys and of the states, where a table of another engine holds them.
    declared: Option<Vec<SqlType>>,
    state: Mutex<State>,
}

impl Node for Aggregate {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        let compiled = &*self.compiled;
        let state = if compiled.key_count == 0 {
            State::Ready(scalar::run(compiled, run)?)
        } else {
            let other = run.statement.other_engine.as_deref();
            match (self.first_groups, other.zip(self.declared.as_ref())) {
                (_, Some((engine, declared)))
                    if !compiled.needs_whole_groups() && compiled.is_mergeable() =>
                {
                    State::Keyed(Box::new(keyed_table::run(compiled, engine, declared, run)?))
                }
                (Some(0), _) => State::Ready(VecDeque::new()),
                (Some(n), _)
                    if !compiled.needs_whole_groups()
                        && compiled.is_mergeable()
                        && !run.statement.temp.options().starts_on_disk() =>
                {
                    first_groups::run(compiled, n, run)?
                }
                _ => {
                    let rows = grouped::table(compiled, compiled.columns.types.clone(), run)?;
                    grouped::run(compiled, rows, run)?
                }
            }
        };
        *lock(&self.state) = state;
        Ok(())
    }

    fn rows_hint(&self) -> u64 {
        match &*lock(&self.state) {
            State::New => 0,
            State::Ready(batches) => batches.iter().map(|batch| batch.row_count() as u64).sum(),
            State::Partitioned { rows, .. } => *rows,
            State::Keyed(groups) => groups.count(),
        }
    }

    fn is_unordered(&self) -> bool {
        matches!(&*lock(&self.state), State::Partitioned { .. })
    }

    fn takes_filter(&self, column: usize) -> bool {
        self.first_groups.is_none()
            && self.declared.is_none()
            && self.compiled.columns.programs.iter().all(Program::is_total)
            && self.compiled.is_mergeable()
            && self.compiled.threads_max() > 1
            && self
                .compiled
                .key_column(column)
                .is_some_and(|column| self.compiled.input.takes_filter(column))
    }

    fn give_filter(&self, column: usize, filter: &GivenFilter) {
        if let Some(column) = self.compiled.key_column(column) {
            self.compiled.input.give_filter(column, filter);
        }
    }

    fn open_node(self: Arc<Self>, _run: &RunContext) -> Result<Box<dyn Cursor>> {
        let partitions = match &*lock(&self.state) {
            State::Partitioned {
                queue,
                content,
                table,
                whole,
                ..
            } => Some((queue.clone(), *content, table.clone(), whole.clone())),
            State::New | State::Ready(_) | State::Keyed(_) => None,
        };
        Ok(match partitions {
            Some((queue, content, table, whole)) => Box::new(PartitionCursor::new(
                Arc::clone(&self.compiled),
                queue,
                content,
                table,
                whole,
            )),
            None => Box::new(ReadyCursor(self)),
        })
    }
}

struct ReadyCursor(Arc<Aggregate>);

impl Cursor for ReadyCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        match &mut *lock(&self.0.state) {
            State::Ready(batches) => Ok(batches.pop_front()),
            State::Keyed(groups) => groups.next(&self.0.compiled, run),
            State::New | State::Partitioned { .. } => Ok(None),
        }
    }
}
