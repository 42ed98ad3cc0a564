//! A grouping as all strategies see it: its input, keys and calls, compiled, without a state of execution.
//!
//! A strategy borrows the grouping, reads its input and evaluates its columns; the operator keeps the state that the
//! strategy returns. So a grouping never changes after it was built, and workers share it.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::ArrayRef;
use mayfly_plan::physical::TemporaryTable;
use mayfly_storage::{KeyMode, TempTable};
use mayfly_types::{Batch, PhysicalType, Result};

use super::call::{Accumulators, Call};
use super::columns::Columns;
use crate::context::{Node, RunContext, count};
use crate::expression::Program;
use crate::representation::to_column;
use crate::rows::split;

/// Output of each group behind its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gives {
    /// Results of the calls.
    Results,
    /// Partial states of the calls, to be merged.
    States,
}

/// Input, keys and calls of a grouping.
pub(super) struct CompiledGrouping {
    pub(super) input: Arc<dyn Node>,
    pub(super) key_count: usize,
    pub(super) modes: Vec<KeyMode>,
    /// Values of the keys, then of the other arguments of calls.
    pub(super) columns: Columns,
    pub(super) calls: Vec<Call>,
    pub(super) gives: Gives,
    pub(super) temporary: TemporaryTable,
}

impl CompiledGrouping {
    pub(super) fn key_types(&self) -> Vec<PhysicalType> {
        self.columns.types[..self.key_count].to_vec()
    }

    /// Converts rows to states: each row is a group of its own.
    pub(super) fn states_of_rows(&self, rows: &Batch, run: &RunContext) -> Result<Batch> {
        let mut accumulators = Accumulators::new(&self.calls)?;
        let count = rows.row_count();
        let ids: Vec<u32> = (0..count as u32).collect();
        accumulators.resize(count);
        accumulators.update(&self.calls, &ids, rows, run)?;
        let mut columns = rows.columns()[..self.key_count].to_vec();
        columns.extend(accumulators.take_states()?);
        Ok(Batch::new(columns, count))
    }

    /// String columns of the input that are used only as keys.
    pub(super) fn coded_columns(&self) -> Vec<usize> {
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
    pub(super) fn key_column(&self, column: usize) -> Option<usize> {
        let keys = &self.columns.programs[..self.key_count];
        keys.get(column).and_then(Program::as_column)
    }

    /// Whether every call can merge partial states, so that workers may keep their own.
    pub(super) fn is_mergeable(&self) -> bool {
        self.calls.iter().all(|call| call.is_mergeable())
    }

    /// Whether a call needs whole groups, without duplicates or in order.
    pub(super) fn needs_whole_groups(&self) -> bool {
        self.calls.iter().any(|call| call.needs_whole_groups())
    }

    /// Maximum number of threads: one where the order in which a call sees its rows matters.
    pub(super) fn threads_max(&self) -> usize {
        if self.calls.iter().any(Call::is_order_sensitive) {
            1
        } else {
            usize::MAX
        }
    }

    /// Output of all groups behind their keys.
    pub(super) fn given(
        &self,
        accumulators: &mut Accumulators,
        run: &RunContext,
    ) -> Result<Vec<ArrayRef>> {
        match self.gives {
            Gives::States => accumulators.take_states(),
            Gives::Results => {
                let results = accumulators.results(run)?.into_iter();
                Ok(results.map(to_column).collect())
            }
        }
    }

    /// Keys and results of groups, in batches. `table` is the temporary table of the groups, if there are keys.
    pub(super) fn results(
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
