//! UNION, INTERSECT and EXCEPT.
//!
//! UNION ALL passes rows on; UNION is a grouping by all columns. INTERSECT and EXCEPT put the rows of all inputs, each
//! with its input's number, into one table with hash access. For each group of equal rows the counts by input decide
//! the number of copies in the result.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use arrow_array::Int64Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use mayfly_plan::Expression;
use mayfly_plan::physical::{Grouping, Plan, Purpose, SetOperationKind, TemporaryTable};
use mayfly_storage::{Access, KeyColumn, PartitionQueue, TempTable};
use mayfly_types::{Batch, PhysicalType, Result, SqlType};

use super::keys::key_mode;
use super::partition_groups::PartitionGroups;
use super::tables::key_columns;
use super::{aggregate, tables, union_all};
use crate::context::{Cursor, Node, RunContext};
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
        let distinct = Grouping {
            keys: Expression::columns_of(output),
            temporary: temporary.cloned(),
            ..Grouping::default()
        };
        return aggregate::build(rows, &distinct, run);
    }
    let temporary = temporary.cloned().unwrap_or_else(|| {
        let cause = "a set operation compares rows of several inputs";
        TemporaryTable::new(Purpose::SetOperation, cause)
    });
    Ok(Arc::new(SetOperation {
        kind,
        all,
        inputs: nodes,
        temporary,
        columns: column_types(output),
        keys: key_columns(output.iter().map(key_mode)),
        state: Mutex::new(None),
    }))
}

struct SetOperation {
    kind: SetOperationKind,
    all: bool,
    inputs: Vec<Arc<dyn Node>>,
    temporary: TemporaryTable,
    columns: Vec<PhysicalType>,
    keys: Vec<KeyColumn>,
    state: Mutex<Option<(PartitionQueue, TempTable)>>,
}

impl Node for SetOperation {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        let mut columns = self.columns.clone();
        columns.push(PhysicalType::Int64);
        let access = Access::Hash(self.keys.clone());
        let table = tables::create(&self.temporary, columns, access, run)?;
        for (number, input) in (0_i64..).zip(&self.inputs) {
            input.prepare(run)?;
            tables::fill(&table, input, usize::MAX, run, |batch, _| {
                Ok(numbered(batch, number))
            })?;
        }
        *lock(&self.state) = Some((table.partitions(), table));
        Ok(())
    }

    fn rows_hint(&self) -> u64 {
        lock(&self.state)
            .as_ref()
            .map_or(0, |(_, table)| table.row_count())
    }

    fn open_node(self: Arc<Self>, _run: &RunContext) -> Result<Box<dyn Cursor>> {
        let queue = lock(&self.state).as_ref().map(|(queue, _)| queue.clone());
        Ok(Box::new(SetCursor {
            node: self,
            queue,
            pending: VecDeque::new(),
        }))
    }
}

/// Rows with a number as an additional last column.
pub(super) fn numbered(batch: Batch, number: i64) -> Batch {
    let rows = batch.row_count();
    let mut columns = batch.into_columns();
    columns.push(Arc::new(Int64Array::from(vec![number; rows])));
    Batch::new(columns, rows)
}

struct SetCursor {
    node: Arc<SetOperation>,
    queue: Option<PartitionQueue>,
    pending: VecDeque<Batch>,
}

impl Cursor for SetCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
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
                    // `prepare` assigned the numbers: at most as many as inputs.
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
    /// Number of copies of a row in the result, from its count in each input.
    fn times(&self, counts: &[u64]) -> u64 {
        let Some((first, others)) = counts.split_first() else {
            return 0;
        };
        let times = match self.kind {
            SetOperationKind::Intersect => others.iter().fold(*first, |least, n| least.min(*n)),
            SetOperationKind::Except if self.all => others
                .iter()
                .fold(*first, |left, n| left.saturating_sub(*n)),
            SetOperationKind::Except if others.iter().any(|n| *n > 0) => 0,
            SetOperationKind::Except => *first,
            SetOperationKind::Union => counts.iter().sum(),
        };
        if self.all { times } else { times.min(1) }
    }
}
