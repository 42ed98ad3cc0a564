//! Aggregate calls and their accumulators.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use mayfly_functions::aggregate::merging;
use mayfly_functions::{Accumulator, AggregateFunction, AggregateSignature};
use mayfly_memory::Reservation;
use mayfly_plan::physical::AggregateCall;
use mayfly_storage::{KeyMode, TempTable};
use mayfly_types::{Batch, PhysicalType, Result, SqlType, Value};

use super::super::keys::key_mode;
use super::columns::Columns;
use crate::context::RunContext;
use crate::representation::{column_types, to_column};

/// An aggregate call whose arguments are columns of the aggregate's rows.
pub(super) struct Call {
    function: &'static AggregateFunction,
    signature: AggregateSignature,
    options: Vec<Value>,
    /// Columns of the arguments.
    pub(super) arguments: Vec<usize>,
    /// Comparison modes of the arguments under DISTINCT.
    pub(super) argument_modes: Vec<KeyMode>,
    pub(super) distinct: bool,
    /// Whether the arguments are columns of partial states.
    merges: bool,
    /// ORDER BY inside the call.
    pub(super) order_by: Vec<Order>,
}

pub(super) struct Order {
    pub(super) column: usize,
    pub(super) mode: KeyMode,
    pub(super) descending: bool,
}

impl Call {
    pub(super) fn new(call: &AggregateCall, columns: &mut Columns) -> Self {
        Self {
            function: call.function,
            signature: call.signature.clone(),
            options: call.options.clone(),
            arguments: call
                .arguments
                .iter()
                .map(|argument| columns.column_of(argument))
                .collect(),
            argument_modes: call
                .arguments
                .iter()
                .map(|argument| key_mode(&argument.ty))
                .collect(),
            distinct: call.distinct && !call.function.ignores_duplicates(),
            merges: call.merges,
            order_by: call
                .order_by
                .iter()
                .filter(|_| call.function.is_order_sensitive())
                .map(|key| Order {
                    column: columns.column_of(&key.expression),
                    mode: key_mode(&key.expression.ty),
                    descending: key.descending,
                })
                .collect(),
        }
    }

    pub(super) fn state_types(&self) -> Vec<PhysicalType> {
        column_types(&self.signature.state)
    }

    /// Declared types of the partial state's columns, for tables that store declared types.
    pub(super) fn declared_states(&self) -> &[SqlType] {
        &self.signature.state
    }

    pub(super) fn is_mergeable(&self) -> bool {
        !self.signature.state.is_empty()
    }

    pub(super) fn is_order_sensitive(&self) -> bool {
        self.function.is_order_sensitive()
    }

    pub(super) fn needs_whole_groups(&self) -> bool {
        self.distinct || !self.order_by.is_empty()
    }

    /// Whether another call has the same partial state as this one.
    fn has_states_of(&self, other: &Self) -> bool {
        !self.needs_whole_groups()
            && !other.needs_whole_groups()
            && self.function.shares_states_with(other.function)
            && self.arguments == other.arguments
            && self.merges == other.merges
            && self.signature.arguments == other.signature.arguments
            && self.signature.state == other.signature.state
    }

    pub(super) fn accumulator(&self) -> Result<Box<dyn Accumulator>> {
        let accumulator = self.function.accumulator(&self.signature, &self.options)?;
        Ok(if self.merges {
            merging(accumulator)
        } else {
            accumulator
        })
    }

    pub(super) fn argument_arrays(&self, rows: &Batch) -> Vec<ArrayRef> {
        self.arguments
            .iter()
            .map(|column| Arc::clone(rows.column(*column)))
            .collect()
    }
}

/// Accumulators of several calls for the same groups, and their memory.
///
/// Calls with equal partial state (SUM(x) and AVG(x)) share one accumulator until finalization.
pub(super) struct Accumulators {
    states: Vec<Box<dyn Accumulator>>,
    /// For each call the earlier call whose accumulator it shares.
    sources: Vec<Option<usize>>,
    held: Option<Reservation>,
}

impl Accumulators {
    pub(super) fn new(calls: &[Call]) -> Result<Self> {
        let states = calls.iter().map(|call| call.accumulator());
        let source = |(at, call): (usize, &Call)| {
            let mut before = calls[..at].iter();
            before.position(|other| call.has_states_of(other))
        };
        Ok(Self {
            states: states.collect::<Result<_>>()?,
            sources: calls.iter().enumerate().map(source).collect(),
            held: None,
        })
    }

    /// Calls with an accumulator of their own, with their numbers.
    pub(super) fn own<'a>(
        &'a mut self,
        calls: &'a [Call],
    ) -> impl Iterator<Item = (usize, &'a Call, &'a mut (dyn Accumulator + 'static))> {
        let states = self.states.iter_mut().zip(&self.sources);
        let all = states.zip(calls).enumerate();
        all.filter_map(|(at, ((states, source), call))| {
            source.is_none().then_some((at, call, states.as_mut()))
        })
    }

    pub(super) fn resize(&mut self, group_count: usize) {
        for (states, source) in self.states.iter_mut().zip(&self.sources) {
            if source.is_none() {
                states.resize(group_count);
            }
        }
    }

    /// Adds rows of the aggregate's columns, row `r` to group `groups[r]`.
    pub(super) fn update(
        &mut self,
        calls: &[Call],
        groups: &[u32],
        rows: &Batch,
        run: &RunContext,
    ) -> Result<()> {
        for (_, call, states) in self.own(calls) {
            states.update(groups, &call.argument_arrays(rows), run.evaluation())?;
        }
        Ok(())
    }

    /// Merges partial states; `columns` has those of one call after the other.
    pub(super) fn merge(
        &mut self,
        calls: &[Call],
        groups: &[u32],
        columns: &[ArrayRef],
        run: &RunContext,
    ) -> Result<()> {
        let mut first = 0;
        let states = self.states.iter_mut().zip(&self.sources);
        for ((states, source), call) in states.zip(calls) {
            let end = first + call.signature.state.len();
            if source.is_none() {
                states.merge(groups, &columns[first..end], run.evaluation())?;
            }
            first = end;
        }
        Ok(())
    }

    /// Takes the partial states of all groups, one call after the other, and resets the accumulators.
    pub(super) fn take_states(&mut self) -> Result<Vec<ArrayRef>> {
        let mut of_calls: Vec<Vec<ArrayRef>> = Vec::with_capacity(self.states.len());
        for (states, source) in self.states.iter_mut().zip(&self.sources) {
            of_calls.push(match source {
                Some(source) => of_calls[*source].clone(),
                None => states.take_state()?.into_iter().map(to_column).collect(),
            });
        }
        Ok(of_calls.concat())
    }

    /// Takes the results of all groups, one column a call, and resets the accumulators.
    pub(super) fn results(&mut self, run: &RunContext) -> Result<Vec<ArrayRef>> {
        let evaluation = run.evaluation();
        for (at, source) in self.sources.iter().enumerate() {
            let Some(source) = source else { continue };
            let states = self.states[*source].states()?;
            let groups: Vec<u32> = (0..states[0].len() as u32).collect();
            self.states[at].resize(groups.len());
            self.states[at].merge(&groups, &states, evaluation)?;
        }
        let states = self.states.iter_mut();
        states
            .map(|states| states.take_result(evaluation))
            .collect()
    }

    /// Reserves the bytes that the states hold, from the memory of the table of their groups, or from the statement's
    /// without a table. States cannot be spilled before their group is complete, so a refusal is an error.
    pub(super) fn charge(&mut self, table: Option<&TempTable>, run: &RunContext) -> Result<()> {
        let (bytes, temp) = (self.memory_bytes(), &run.statement.temp);
        let held = self.held.get_or_insert_with(|| match table {
            Some(table) => table.reservation(),
            None => temp.memory().reservation(),
        });
        temp.resize_working_set(held, bytes)
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        let bytes = self.states.iter().map(|states| states.memory_bytes());
        bytes.sum::<usize>() as u64
    }
}
