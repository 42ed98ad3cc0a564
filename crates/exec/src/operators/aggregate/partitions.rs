//! Grouping partition by partition, on demand.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use mayfly_storage::{PartitionQueue, Taken, TempTable, TempTableWriter};
use mayfly_types::{Batch, Result};

use super::call::Accumulators;
use super::compiled::CompiledGrouping;
use super::ordered;
use crate::context::{Cursor, RunContext};
use crate::operators::partition_groups::{GroupedRows, PartitionGroups};
use crate::state::lock;

/// Content of a partitioned table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// [`CompiledGrouping::columns`] of every input row.
    Rows,
    /// Keys and partial states of every call.
    States,
}

/// Tables of the calls that need whole groups, those of all partitions together: to users each is one table, with one
/// limit.
#[derive(Clone, Default)]
pub(super) struct WholeGroups(Arc<Mutex<Option<Vec<Option<TempTable>>>>>);

impl WholeGroups {
    /// Creates a table of one partition for each call that needs whole groups.
    fn of_partition(
        &self,
        compiled: &CompiledGrouping,
        run: &RunContext,
    ) -> Result<Vec<Option<(TempTableWriter, TempTable)>>> {
        let mut tables = lock(&self.0);
        let tables = match &mut *tables {
            Some(tables) => tables,
            empty => {
                let tables = compiled
                    .calls
                    .iter()
                    .map(|call| {
                        ordered::table_of(call, &compiled.columns.types, &compiled.temporary, run)
                    })
                    .collect::<Result<Vec<_>>>()?;
                empty.insert(tables)
            }
        };
        let own = tables.iter().map(|table| {
            let table = table.as_ref()?;
            let spec = table.spec();
            let own = table.beside(spec.columns.clone(), spec.access.clone());
            Some((own.writer(), own))
        });
        Ok(own.collect())
    }
}

pub(super) struct PartitionCursor {
    compiled: Arc<CompiledGrouping>,
    queue: PartitionQueue,
    content: Content,
    table: TempTable,
    /// Accumulators, reused for one partition after the other.
    accumulators: Option<Accumulators>,
    whole: WholeGroups,
    pending: VecDeque<Batch>,
}

impl PartitionCursor {
    pub(super) fn new(
        compiled: Arc<CompiledGrouping>,
        queue: PartitionQueue,
        content: Content,
        table: TempTable,
        whole: WholeGroups,
    ) -> Self {
        Self {
            compiled,
            queue,
            content,
            table,
            accumulators: None,
            whole,
            pending: VecDeque::new(),
        }
    }

    fn group(&mut self, taken: Taken, run: &RunContext) -> Result<VecDeque<Batch>> {
        let compiled = Arc::clone(&self.compiled);
        let mut accumulators = match self.accumulators.take() {
            Some(accumulators) => accumulators,
            None => Accumulators::new(&compiled.calls)?,
        };
        let mut rows = PartitionGroups::new(taken)?;
        accumulators.resize(rows.group_count());
        if !compiled.calls.is_empty() || !rows.is_whole() {
            let columns: Vec<usize> = match self.content {
                Content::Rows => (0..compiled.columns.types.len()).collect(),
                Content::States => {
                    let states = compiled.calls.iter().map(|call| call.state_types().len());
                    (compiled.key_count..compiled.key_count + states.sum::<usize>()).collect()
                }
            };
            let mut whole = self.whole.of_partition(&compiled, run)?;
            while let Some(next) = rows.next(&columns, run)? {
                let GroupedRows { batch, ids, .. } = next;
                accumulators.resize(next.group_count);
                if self.content == Content::States {
                    accumulators.merge(&compiled.calls, ids, batch.columns(), run)?;
                    accumulators.charge(Some(&self.table), run)?;
                    continue;
                }
                for (at, call, states) in accumulators.own(&compiled.calls) {
                    match &mut whole[at] {
                        None => {
                            let arguments = call.argument_arrays(&batch);
                            states.update(ids, &arguments, run.evaluation())?;
                        }
                        Some((writer, _)) => ordered::append(call, writer, Some(ids), &batch)?,
                    }
                }
                accumulators.charge(Some(&self.table), run)?;
            }
            for (at, call, states) in accumulators.own(&compiled.calls) {
                if let Some((writer, table)) = whole[at].take() {
                    writer.finish()?;
                    ordered::update(call, table, states, run)?;
                }
            }
        }
        let groups = rows.group_count();
        let numbers: Vec<u32> = (0..groups as u32).collect();
        let keys = rows.keys(&numbers)?;
        let table = Some(&self.table);
        let results =
            compiled.results(keys.into_columns(), &mut accumulators, groups, table, run)?;
        self.accumulators = Some(accumulators);
        Ok(results)
    }
}

impl Cursor for PartitionCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        loop {
            if let Some(batch) = self.pending.pop_front() {
                return Ok(Some(batch));
            }
            run.statement.check_interrupt()?;
            let Some(taken) = self.queue.next_taken()? else {
                return Ok(None);
            };
            self.pending = self.group(taken, run)?;
        }
    }
}
