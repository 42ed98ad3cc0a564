//! GROUP BY, aggregates and DISTINCT.
//!
//! Five strategies, chosen by the request and by the first rows:
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
//!
//! Calls that are all DISTINCT over the same arguments are calls over a grouping by those arguments
//! ([`distinct`]). Otherwise DISTINCT and ORDER BY inside a call ([`ordered`]) need whole groups: rows
//! are partitioned first.
//! WITH ROLLUP ([`rollup`]) merges its sums of the states of the groups by all keys.

mod call;
mod columns;
mod distinct;
mod first_groups;
mod grouped;
mod in_order;
mod legacy;
mod ordered;
mod partitions;
mod rollup;
mod sample;
mod scalar;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use arrow_array::ArrayRef;
use call::{Accumulators, Call};
use mayfly_functions::SignatureContext;
use mayfly_plan::physical::{Grouping, Purpose, TemporaryTable};
use mayfly_storage::{KeyMode, PartitionQueue, TempTable};
use mayfly_types::{Batch, PhysicalType, Result, SqlType};

use self::columns::Columns;
use super::keys::key_mode;
use super::one_cursor::OneCursor;
use super::sliced;
use crate::context::{Cursor, Node, RunContext, count};
use crate::expression::Program;
use crate::key_filter::GivenFilter;
use crate::representation::{column_type, to_column};
use crate::rows::split;
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
        return distinct::build(input, grouping, arguments, run);
    }
    build_giving(Gives::Results, input, grouping, run)
}

/// Output of each group behind its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gives {
    /// Results of the calls.
    Results,
    /// Partial states of the calls, to be merged.
    States,
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
            signature: run.statement.signature,
            reader: OneCursor::default(),
        }));
    }
    let temporary = grouping.temporary.clone();
    let declared = run.statement.legacy.is_some().then(|| {
        let keys = grouping.keys.iter().map(|key| &key.ty);
        let states = calls.iter().flat_map(Call::declared_states);
        keys.chain(states).cloned().collect()
    });
    Ok(Arc::new(Aggregate {
        declared,
        gives,
        input,
        key_count,
        modes,
        columns,
        calls,
        first_groups: grouping.first_groups,
        temporary: temporary.unwrap_or_else(|| TemporaryTable::new(Purpose::GroupBy, "GROUP BY")),
        signature: run.statement.signature,
        state: Mutex::new(State::New),
    }))
}

struct Aggregate {
    input: Arc<dyn Node>,
    key_count: usize,
    modes: Vec<KeyMode>,
    columns: Columns,
    calls: Vec<Call>,
    gives: Gives,
    first_groups: Option<u64>,
    temporary: TemporaryTable,
    /// Declared types of the keys and of the states, where a table of a legacy engine holds them.
    declared: Option<Vec<SqlType>>,
    signature: SignatureContext,
    state: Mutex<State>,
}

enum State {
    New,
    /// Results ready to be given.
    Ready(VecDeque<Batch>),
    /// Rows or partial states in partitions, grouped on demand.
    Partitioned {
        queue: PartitionQueue,
        content: Content,
        rows: u64,
        table: TempTable,
        whole: partitions::WholeGroups,
    },
    /// Groups in a table of a legacy engine.
    Legacy(Box<legacy::Groups>),
}

/// Content of a partitioned table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    /// [`Aggregate::columns`] of every input row.
    Rows,
    /// Keys and partial states of every call.
    States,
}

impl Aggregate {
    fn key_types(&self) -> Vec<PhysicalType> {
        self.columns.types[..self.key_count].to_vec()
    }

    /// Converts rows to states: each row is a group of its own.
    fn states_of_rows(&self, rows: &Batch, run: &RunContext) -> Result<Batch> {
        let mut accumulators = Accumulators::new(&self.calls, &self.signature)?;
        let count = rows.row_count();
        let ids: Vec<u32> = (0..count as u32).collect();
        accumulators.resize(count);
        accumulators.update(&self.calls, &ids, rows, run)?;
        let mut columns = rows.columns()[..self.key_count].to_vec();
        columns.extend(accumulators.take_states()?);
        Ok(Batch::new(columns, count))
    }

    /// String columns of the input that are used only as keys.
    fn coded_columns(&self) -> Vec<usize> {
        let programs = &self.columns.programs;
        let is_read_by = |column: usize, program: usize| {
            let mut columns = programs[program].columns();
            columns.any(|read| read == column)
        };
        let is_argument = |key: usize| {
            let of_calls = |call: &Call| {
                let mut order = call.order_by.iter();
                call.arguments.contains(&key) || order.any(|order| order.column == key)
            };
            self.calls.iter().any(of_calls)
        };
        let coded = (0..self.key_count).filter_map(|key| {
            let column = self.key_column(key)?;
            let mut others = (0..programs.len()).filter(|program| *program != key);
            let is_string = self.columns.types[key] == PhysicalType::Bytes;
            let is_alone = !is_argument(key) && !others.any(|other| is_read_by(column, other));
            (is_string && is_alone).then_some(column)
        });
        coded.collect()
    }

    /// Input column of a key: a filter on it removes whole groups.
    fn key_column(&self, column: usize) -> Option<usize> {
        let keys = &self.columns.programs[..self.key_count];
        keys.get(column).and_then(Program::as_column)
    }

    /// Whether every call can merge partial states, so that workers may keep their own.
    fn is_mergeable(&self) -> bool {
        self.calls.iter().all(|call| call.is_mergeable())
    }

    /// Whether a call needs whole groups, without duplicates or in order.
    fn needs_whole_groups(&self) -> bool {
        self.calls.iter().any(|call| call.needs_whole_groups())
    }

    /// Maximum number of threads: one where the order in which a call sees its rows matters.
    fn threads_max(&self) -> usize {
        if self.calls.iter().any(Call::is_order_sensitive) {
            1
        } else {
            usize::MAX
        }
    }

    /// Output of all groups behind their keys.
    fn given(&self, accumulators: &mut Accumulators, run: &RunContext) -> Result<Vec<ArrayRef>> {
        match self.gives {
            Gives::States => accumulators.take_states(),
            Gives::Results => {
                let results = accumulators.results(run)?.into_iter();
                Ok(results.map(to_column).collect())
            }
        }
    }

    /// Keys and results of groups, in batches. `table` is the temporary table of the groups, if there are keys.
    fn results(
        &self,
        keys: Vec<ArrayRef>,
        accumulators: &mut Accumulators,
        group_count: usize,
        table: Option<&TempTable>,
        run: &RunContext,
    ) -> Result<VecDeque<Batch>> {
        let mut columns = keys;
        columns.extend(self.given(accumulators, run)?);
        if let Some(table) = table {
            let groups = group_count as u64;
            table.add_groups(groups);
            count(&run.statement.counters.handler_write, groups);
        }
        let batch = Batch::new(columns, group_count);
        Ok(split(&batch, run.statement.options.batch_rows))
    }
}

impl Node for Aggregate {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        let state = if self.key_count == 0 {
            State::Ready(scalar::run(self, run)?)
        } else {
            let legacy = run.statement.legacy.as_ref().zip(self.declared.as_ref());
            match (self.first_groups, legacy) {
                (_, Some((legacy, declared)))
                    if !self.needs_whole_groups() && self.is_mergeable() =>
                {
                    State::Legacy(Box::new(legacy::run(self, legacy, declared, run)?))
                }
                (Some(0), _) => State::Ready(VecDeque::new()),
                (Some(n), _)
                    if !self.needs_whole_groups()
                        && self.is_mergeable()
                        && !run.statement.temp.options().on_disk =>
                {
                    first_groups::run(self, n, run)?
                }
                _ => {
                    let rows = grouped::table(self, self.columns.types.clone(), run)?;
                    grouped::run(self, rows, run)?
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
            State::Legacy(groups) => groups.count(),
        }
    }

    fn is_unordered(&self) -> bool {
        matches!(&*lock(&self.state), State::Partitioned { .. })
    }

    fn takes_filter(&self, column: usize) -> bool {
        self.first_groups.is_none()
            && self.declared.is_none()
            && self.columns.programs.iter().all(Program::is_total)
            && self.is_mergeable()
            && self.threads_max() > 1
            && self
                .key_column(column)
                .is_some_and(|column| self.input.takes_filter(column))
    }

    fn give_filter(&self, column: usize, filter: &GivenFilter) {
        if let Some(column) = self.key_column(column) {
            self.input.give_filter(column, filter);
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
            State::New | State::Ready(_) | State::Legacy(_) => None,
        };
        Ok(match partitions {
            Some((queue, content, table, whole)) => Box::new(partitions::PartitionCursor::new(
                self, queue, content, table, whole,
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
            State::Legacy(groups) => groups.next(&self.0, run),
            State::New | State::Partitioned { .. } => Ok(None),
        }
    }
}
