//! Calls that need whole groups: DISTINCT arguments, and ORDER BY inside the call.
//!
//! The rows of a call go to a table of their own: group number, arguments, order keys. DISTINCT
//! gives it hash access by group and arguments, and the first row of each combination counts; ORDER
//! BY gives it ordered access by group and keys. With both, one table feeds the other.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array};
use mayfly_functions::Accumulator;
use mayfly_memory::Reservation;
use mayfly_plan::physical::{Purpose, TemporaryTable};
use mayfly_storage::{Access, KeyMode, SortKey, TempTable, TempTableWriter};
use mayfly_types::{Batch, PhysicalType, Result};

use super::call::Call;
use crate::context::RunContext;
use crate::operators::partition_groups::PartitionGroups;
use crate::operators::tables::{self, key_columns};
use crate::rows::rows_where;

/// Creates the table of a call's rows, if the call needs whole groups: beside that of its grouping, whose columns have
/// these types.
pub(super) fn table_of(
    call: &Call,
    columns: &[PhysicalType],
    temporary: &TemporaryTable,
    run: &RunContext,
) -> Result<Option<TempTable>> {
    if !call.needs_whole_groups() {
        return Ok(None);
    }
    let (access, cause) = if call.distinct {
        // One row for each group and value.
        let arguments = call.argument_modes.iter().copied();
        let keys = key_columns(std::iter::once(KeyMode::Binary).chain(arguments));
        (Access::Hash(keys), "DISTINCT inside an aggregate function")
    } else {
        (in_order(call), "ORDER BY inside an aggregate function")
    };
    // Column 0 is the group's number, then come arguments, then order keys.
    let order_keys = call.order_by.iter().map(|order| order.column);
    let wanted = call.arguments.iter().copied().chain(order_keys);
    let types = wanted.map(|column| columns[column]);
    let types = std::iter::once(PhysicalType::Int64).chain(types).collect();
    let temporary = temporary.beside(Purpose::Aggregate, cause);
    tables::create(&temporary, types, access, run).map(Some)
}

fn in_order(call: &Call) -> Access {
    let group = SortKey {
        column: 0,
        mode: KeyMode::Binary,
        descending: false,
    };
    let first = call.arguments.len() + 1;
    let keys = (first..)
        .zip(&call.order_by)
        .map(|(column, order)| SortKey {
            column,
            mode: order.mode,
            descending: order.descending,
        });
    Access::Ordered {
        keys: std::iter::once(group).chain(keys).collect(),
        limit: None,
    }
}

/// Appends the call's columns of rows. `groups` are their group numbers; without, all are of group 0.
pub(super) fn append(
    call: &Call,
    writer: &mut TempTableWriter,
    groups: Option<&[u32]>,
    rows: &Batch,
) -> Result<()> {
    let count = rows.row_count();
    let numbers: Int64Array = match groups {
        None => vec![0; count].into(),
        Some(groups) => groups.iter().map(|group| i64::from(*group)).collect(),
    };
    let mut columns: Vec<ArrayRef> = vec![Arc::new(numbers)];
    columns.extend(call.argument_arrays(rows));
    let orders = call.order_by.iter();
    columns.extend(orders.map(|order| Arc::clone(rows.column(order.column))));
    let batch = Batch::new(columns, count);
    writer.append(&if call.distinct {
        without_nulls(batch, call.arguments.len())
    } else {
        batch
    })
}

/// Rows without a NULL argument, which DISTINCT does not count.
fn without_nulls(batch: Batch, arguments: usize) -> Batch {
    let nulls: Vec<_> = batch.columns()[1..=arguments]
        .iter()
        .filter_map(|column| column.logical_nulls())
        .filter(|nulls| nulls.null_count() > 0)
        .collect();
    if nulls.is_empty() {
        return batch;
    }
    rows_where(&batch, |row| nulls.iter().all(|nulls| nulls.is_valid(row)))
}

/// Feeds the rows of a filled table to the call's accumulator.
pub(super) fn update(
    call: &Call,
    table: TempTable,
    accumulator: &mut dyn Accumulator,
    run: &RunContext,
) -> Result<()> {
    let mut states = States {
        call,
        accumulator,
        memory: table.reservation(),
    };
    if !call.distinct {
        return states.feed_in_order(&table, run);
    }
    let ordered = if call.order_by.is_empty() {
        None
    } else {
        Some(table.beside(table.spec().columns.clone(), in_order(call)))
    };
    let mut writer = ordered.as_ref().map(TempTable::writer);
    let queue = table.partitions();
    drop(table);
    while let Some(taken) = queue.next_taken()? {
        let mut rows = PartitionGroups::new(taken)?;
        while let Some(batch) = rows.next_firsts(run)? {
            match &mut writer {
                None => states.feed(&batch, run)?,
                Some(writer) => writer.append(&batch)?,
            }
        }
    }
    if let Some(writer) = writer {
        writer.finish()?;
    }
    match ordered {
        None => Ok(()),
        Some(table) => states.feed_in_order(&table, run),
    }
}

/// Accumulator that is being fed, and its memory.
struct States<'a> {
    call: &'a Call,
    accumulator: &'a mut dyn Accumulator,
    memory: Reservation,
}

impl States<'_> {
    fn feed_in_order(&mut self, table: &TempTable, run: &RunContext) -> Result<()> {
        let mut scan = table.sorted(0, None)?;
        while let Some(batch) = scan.next_batch()? {
            run.statement.check_interrupt()?;
            self.feed(&batch, run)?;
        }
        Ok(())
    }

    fn feed(&mut self, batch: &Batch, run: &RunContext) -> Result<()> {
        let numbers = batch.column(0).as_primitive::<Int64Type>().values();
        // The column holds what `append` put there: u32s.
        let groups: Vec<u32> = numbers.iter().map(|number| *number as u32).collect();
        let arguments = &batch.columns()[1..=self.call.arguments.len()];
        self.accumulator
            .update(&groups, arguments, run.evaluation())?;
        let bytes = self.accumulator.memory_bytes() as u64;
        let temp = &run.statement.temp;
        temp.resize_working_set(&mut self.memory, bytes)
    }
}
