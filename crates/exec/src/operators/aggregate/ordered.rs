//! Calls that need whole groups: DISTINCT arguments, and ORDER BY inside the call.
//!
//! The rows of a call go to a table of their own: group number, arguments, order keys. DISTINCT
//! gives it hash access by group and arguments, and the first row of each combination counts; ORDER
//! BY gives it ordered access by group and keys. With both, one table feeds the other.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array};
use arrow_buffer::BooleanBuffer;
use mayfly_functions::Accumulator;
use mayfly_storage::{
    Access, KeyColumn, KeyMode, Purpose, SortKey, TempTable, TempTableSpec, TempTableWriter,
};
use mayfly_types::{Batch, PhysicalType, Result};

use super::Aggregate;
use super::call::Call;
use crate::context::RunContext;
use crate::expression::filter_batch;

/// Column 0 is the group's number, then come arguments, then order keys.
fn spec(node: &Aggregate, call: &Call, access: Access, cause: &str) -> TempTableSpec {
    let places = call
        .arguments
        .iter()
        .copied()
        .chain(call.order_by.iter().map(|order| order.place));
    let columns = std::iter::once(PhysicalType::Int64)
        .chain(places.map(|place| node.columns.types[place]))
        .collect();
    TempTableSpec {
        purpose: Purpose::Distinct,
        cause: cause.to_owned(),
        columns,
        access,
    }
}

/// The table that takes in a call's rows.
pub(super) fn table(node: &Aggregate, call: &Call, run: &RunContext) -> Result<TempTable> {
    let (access, cause) = if call.distinct {
        (by_value(call), "DISTINCT inside an aggregate function")
    } else {
        (in_order(call), "ORDER BY inside an aggregate function")
    };
    TempTable::create(&run.statement.temp, spec(node, call, access, cause))
}

fn by_value(call: &Call) -> Access {
    let group = KeyColumn {
        column: 0,
        mode: KeyMode::Binary,
        null_safe: true,
    };
    let arguments = (1..)
        .zip(&call.argument_modes)
        .map(|(column, mode)| KeyColumn {
            column,
            mode: *mode,
            null_safe: true,
        });
    Access::Hash(std::iter::once(group).chain(arguments).collect())
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

/// Appends the call's part of rows. `groups` are their group numbers; without, all are of group 0.
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
    columns.extend(orders.map(|order| Arc::clone(rows.column(order.place))));
    let batch = Batch::new(columns, count);
    writer.append(&if call.distinct {
        without_nulls(batch, call.arguments.len())
    } else {
        batch
    })
}

/// DISTINCT never counts a row with a NULL argument.
fn without_nulls(batch: Batch, arguments: usize) -> Batch {
    let nulls: Vec<_> = batch.columns()[1..=arguments]
        .iter()
        .filter_map(|column| column.logical_nulls())
        .filter(|nulls| nulls.null_count() > 0)
        .collect();
    if nulls.is_empty() {
        return batch;
    }
    let selection = BooleanBuffer::collect_bool(batch.row_count(), |row| {
        nulls.iter().all(|nulls| nulls.is_valid(row))
    });
    let count = selection.count_set_bits();
    filter_batch(&batch, &selection, count)
}

/// Feeds a filled table to the call's states.
pub(super) fn update(
    call: &Call,
    table: TempTable,
    accumulator: &mut dyn Accumulator,
    run: &RunContext,
) -> Result<()> {
    if !call.distinct {
        return in_sorted_order(call, &table, accumulator, run);
    }
    let ordered = match call.order_by.is_empty() {
        true => None,
        false => Some(TempTable::create(
            &run.statement.temp,
            TempTableSpec {
                access: in_order(call),
                ..table.spec().clone()
            },
        )?),
    };
    let mut writer = ordered.as_ref().map(TempTable::writer);
    let columns: Vec<usize> = (0..table.spec().columns.len()).collect();
    let queue = table.partitions();
    drop(table);
    while let Some(partition) = queue.next_partition()? {
        run.statement.check_interrupt()?;
        let groups = partition.groups()?;
        for rows in groups.first_rows().chunks(run.statement.options.batch_rows) {
            let batch = partition.gather(&columns, rows)?;
            match &mut writer {
                None => feed(call, &batch, accumulator, run)?,
                Some(writer) => writer.append(&batch)?,
            }
        }
    }
    if let Some(writer) = writer {
        writer.finish()?;
    }
    match ordered {
        None => Ok(()),
        Some(table) => in_sorted_order(call, &table, accumulator, run),
    }
}

fn in_sorted_order(
    call: &Call,
    table: &TempTable,
    accumulator: &mut dyn Accumulator,
    run: &RunContext,
) -> Result<()> {
    let mut scan = table.sorted(0, None)?;
    while let Some(batch) = scan.next_batch()? {
        run.statement.check_interrupt()?;
        feed(call, &batch, accumulator, run)?;
    }
    Ok(())
}

fn feed(
    call: &Call,
    batch: &Batch,
    accumulator: &mut dyn Accumulator,
    run: &RunContext,
) -> Result<()> {
    let numbers = batch.column(0).as_primitive::<Int64Type>().values();
    // The column holds what `append` put there: u32s.
    let groups: Vec<u32> = numbers.iter().map(|number| *number as u32).collect();
    let arguments = &batch.columns()[1..=call.arguments.len()];
    accumulator.update(&groups, arguments, run.evaluation())
}
