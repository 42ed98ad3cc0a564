//! UNION, INTERSECT and EXCEPT.
//!
//! UNION ALL passes rows on; UNION is a grouping by all columns. INTERSECT and EXCEPT put the rows
//! of all inputs, each with its input's number, into one table with hash access and count, group by
//! group, how often each input has the row: the counts decide how often it comes out.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use arrow_array::Int64Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use mayfly_plan::Expression;
use mayfly_plan::physical::{Plan, SetOperationKind, TemporaryTable};
use mayfly_storage::{
    Access, KeyColumn, PartitionQueue, TempTable, TempTableSpec, TempTableWriter,
};
use mayfly_types::{Batch, PhysicalType, Result, SqlType};

use super::keys::{key_mode, storage_purpose};
use super::partition_groups::PartitionGroups;
use super::{aggregate, union_all};
use crate::context::{Cursor, Node, RunContext};
use crate::driver::{Sink, drain};
use crate::representation::column_types;
use crate::state::lock;

pub(super) fn build(
    kind: SetOperationKind,
    all: bool,
    inputs: &[Plan],
    temporary: Option<&TemporaryTable>,
    output: &[SqlType],
    run: &RunContext,
) -> Result<Arc<dyn Node>> {
    let nodes = inputs
        .iter()
        .map(|input| run.build(input))
        .collect::<Result<Vec<_>>>()?;
    if kind == SetOperationKind::Union {
        let rows = union_all::build(nodes);
        if all {
            return Ok(rows);
        }
        let keys: Vec<_> = output
            .iter()
            .enumerate()
            .map(|(column, ty)| Expression::column(column, ty.clone(), true))
            .collect();
        return aggregate::build(
            rows,
            aggregate::Specification {
                keys: &keys,
                aggregates: &[],
                rollup: false,
                first_groups: None,
                ordered: false,
                temporary,
            },
            run,
        );
    }
    Ok(Arc::new(SetOperation {
        kind,
        all,
        inputs: nodes,
        temporary: temporary.cloned(),
        columns: column_types(output),
        keys: output
            .iter()
            .enumerate()
            .map(|(column, ty)| KeyColumn {
                column,
                mode: key_mode(ty),
                null_safe: true,
            })
            .collect(),
        state: Mutex::new(None),
    }))
}

struct SetOperation {
    kind: SetOperationKind,
    all: bool,
    inputs: Vec<Arc<dyn Node>>,
    temporary: Option<TemporaryTable>,
    columns: Vec<PhysicalType>,
    keys: Vec<KeyColumn>,
    state: Mutex<Option<(PartitionQueue, TempTable)>>,
}

impl Node for SetOperation {
    fn prepare(&self, run: &RunContext) -> Result<()> {
        let mut columns = self.columns.clone();
        columns.push(PhysicalType::Int64);
        let table = TempTable::create(
            &run.statement.temp,
            TempTableSpec {
                purpose: self
                    .temporary
                    .as_ref()
                    .map_or(mayfly_storage::Purpose::SetOperation, |temporary| {
                        storage_purpose(temporary.purpose)
                    }),
                cause: match &self.temporary {
                    Some(temporary) => temporary.cause.clone(),
                    None => "a set operation compares rows of several inputs".to_owned(),
                },
                columns,
                access: Access::Hash(self.keys.clone()),
            },
        )?;
        for (number, input) in (0_i64..).zip(&self.inputs) {
            let sinks = drain(input, run, usize::MAX, || {
                Ok(NumberSink {
                    number,
                    writer: table.writer(),
                })
            })?;
            for sink in sinks {
                sink.writer.finish()?;
            }
        }
        *lock(&self.state) = Some((table.partitions(), table));
        Ok(())
    }

    fn rows_hint(&self) -> u64 {
        lock(&self.state)
            .as_ref()
            .map_or(0, |(_, table)| table.row_count())
    }

    fn open(self: Arc<Self>, _run: &RunContext) -> Result<Box<dyn Cursor>> {
        let queue = lock(&self.state).as_ref().map(|(queue, _)| queue.clone());
        Ok(Box::new(SetCursor {
            node: self,
            queue,
            pending: VecDeque::new(),
        }))
    }
}

/// Appends rows with the number of their input.
struct NumberSink {
    number: i64,
    writer: TempTableWriter,
}

impl Sink for NumberSink {
    fn consume(&mut self, batch: Batch, _run: &RunContext) -> Result<()> {
        let rows = batch.row_count();
        let mut columns = batch.into_columns();
        columns.push(Arc::new(Int64Array::from(vec![self.number; rows])));
        self.writer.append(&Batch::new(columns, rows))
    }
}

struct SetCursor {
    node: Arc<SetOperation>,
    queue: Option<PartitionQueue>,
    pending: VecDeque<Batch>,
}

impl Cursor for SetCursor {
    fn next(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        loop {
            if let Some(batch) = self.pending.pop_front() {
                return Ok(Some(batch));
            }
            run.statement.check_interrupt()?;
            let Some(queue) = &self.queue else {
                return Ok(None);
            };
            let Some(taken) = queue.next_taken()? else {
                return Ok(None);
            };
            let mut rows = PartitionGroups::new(taken)?;
            let inputs = self.node.inputs.len();
            let mut counts = vec![0_u64; rows.group_count() * inputs];
            let number_column = self.node.columns.len();
            while let Some(next) = rows.next(&[number_column], run)? {
                counts.resize(next.group_count * inputs, 0);
                let numbers = next.batch.column(0).as_primitive::<Int64Type>().values();
                for (group, number) in next.ids.iter().zip(numbers) {
                    // Numbers were given out by `prepare`: at most as many as inputs.
                    counts[*group as usize * inputs + *number as usize] += 1;
                }
            }
            let mut groups = Vec::new();
            for (group, counts) in (0_u32..).zip(counts.chunks(inputs)) {
                for _ in 0..self.node.times(counts) {
                    groups.push(group);
                }
            }
            for groups in groups.chunks(run.statement.options.batch_rows) {
                self.pending.push_back(rows.keys(groups)?);
            }
        }
    }
}

impl SetOperation {
    /// How often a row comes out that the inputs have so often.
    fn times(&self, counts: &[u64]) -> u64 {
        let Some((first, others)) = counts.split_first() else {
            return 0;
        };
        let times = match self.kind {
            SetOperationKind::Intersect => others.iter().fold(*first, |least, n| least.min(*n)),
            SetOperationKind::Except if self.all => others
                .iter()
                .fold(*first, |left, n| left.saturating_sub(*n)),
            SetOperationKind::Except => match others.iter().all(|n| *n == 0) {
                true => *first,
                false => 0,
            },
            SetOperationKind::Union => counts.iter().sum(),
        };
        if self.all { times } else { times.min(1) }
    }
}
