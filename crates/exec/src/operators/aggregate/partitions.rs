//! Grouping partition by partition, on demand.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use mayfly_storage::{PartitionQueue, Taken, TempTable, TempTableWriter};
use mayfly_types::{Batch, Result};

use super::call::Accumulators;
use super::{Aggregate, Content, ordered};
use crate::context::{Cursor, RunContext};
use crate::operators::partition_groups::{GroupedRows, PartitionGroups};
use crate::state::lock;

/// Tables of the calls that need whole groups, those of all partitions together: to users each is one table, with one
/// limit.
#[derive(Clone, Default)]
pub(super) struct WholeGroups(Arc<Mutex<Option<Vec<Option<TempTable>>>>>);

impl WholeGroups {
    /// Creates a table of one partition for each call that needs whole groups.
    fn of_partition(
        &self,
        node: &Aggregate,
        run: &RunContext,
    ) -> Result<Vec<Option<(TempTableWriter, TempTable)>>> {
        let mut tables = lock(&self.0);
        let tables = match &mut *tables {
            Some(tables) => tables,
            empty => {
                let tables = node
                    .calls
                    .iter()
                    .map(|call| ordered::table_of(call, &node.columns.types, &node.temporary, run))
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
    node: Arc<Aggregate>,
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
        node: Arc<Aggregate>,
        queue: PartitionQueue,
        content: Content,
        table: TempTable,
        whole: WholeGroups,
    ) -> Self {
        Self {
            node,
            queue,
            content,
            table,
            accumulators: None,
            whole,
            pending: VecDeque::new(),
        }
    }

    fn group(&mut self, taken: Taken, run: &RunContext) -> Result<VecDeque<Batch>> {
        let node = Arc::clone(&self.node);
        let mut accumulators = match self.accumulators.take() {
            Some(accumulators) => accumulators,
            None => Accumulators::new(&node.calls, &node.signature)?,
        };
        let mut rows = PartitionGroups::new(taken)?;
        accumulators.resize(rows.group_count());
        if !node.calls.is_empty() || !rows.is_whole() {
            let columns: Vec<usize> = match self.content {
                Content::Rows => (0..node.columns.types.len()).collect(),
                Content::States => {
                    let states = node.calls.iter().map(|call| call.state_types().len());
                    (node.key_count..node.key_count + states.sum::<usize>()).collect()
                }
            };
            let mut whole = self.whole.of_partition(&node, run)?;
            while let Some(next) = rows.next(&columns, run)? {
                let GroupedRows { batch, ids, .. } = next;
                accumulators.resize(next.group_count);
                if self.content == Content::States {
                    accumulators.merge(&node.calls, ids, batch.columns(), run)?;
                    accumulators.charge(Some(&self.table), run)?;
                    continue;
                }
                for (at, call, states) in accumulators.own(&node.calls) {
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
            for (at, call, states) in accumulators.own(&node.calls) {
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
        let results = node.results(keys.into_columns(), &mut accumulators, groups, table, run)?;
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
