//! TIMESTAMP columns: a table holds moments (UTC), a statement sees what the clock of its session's
//! time zone showed at them.
//!
//! The two meet here and nowhere else: [`read_in`] gives a table whose scans are on the clock, and
//! [`to_moments`] takes rows off it before they are stored and compared with the unique keys. Everything
//! between (comparisons, grouping, functions, results) knows local time only. A table without such
//! columns, or a session whose clock shows UTC, pays nothing.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array};
use arrow_buffer::ScalarBuffer;
use mayfly_storage::{ColumnId, Table, TableScan, TableStatistics, TableWriter};
use mayfly_types::temporal::{TimeZone, ZoneClock};
use mayfly_types::{Batch, PhysicalType, Result, SqlType, TypeKind, Value};

/// A table as a session in that time zone reads it. `timestamps` are its TIMESTAMP columns.
pub(super) fn read_in(
    zone: &TimeZone,
    table: Arc<dyn Table>,
    timestamps: &[usize],
) -> Arc<dyn Table> {
    if timestamps.is_empty() {
        return table;
    }
    let clock = ZoneClock::new(zone);
    if clock.is_utc() {
        return table;
    }
    Arc::new(ZonedTable {
        table,
        timestamps: timestamps.to_vec(),
        clock,
    })
}

/// Rows in local time as the table holds them.
pub(crate) fn to_moments(zone: &TimeZone, batch: &Batch, timestamps: &[usize]) -> Batch {
    let mut clock = ZoneClock::new(zone);
    if timestamps.is_empty() || clock.is_utc() {
        return batch.clone();
    }
    convert(batch, timestamps, |packed| clock.utc_of_local(packed))
}

/// A column's default as the table's definition keeps it.
pub(crate) fn value_to_moment(zone: &TimeZone, value: Value, ty: &SqlType) -> Value {
    match (ty.kind, value) {
        (TypeKind::Timestamp, Value::Int(packed)) => {
            Value::Int(ZoneClock::new(zone).utc_of_local(packed))
        }
        (_, value) => value,
    }
}

/// A column's default as a session in that time zone sees it.
pub(crate) fn value_in(zone: &TimeZone, value: &Value, ty: &SqlType) -> Value {
    match (ty.kind, value) {
        (TypeKind::Timestamp, Value::Int(packed)) => {
            Value::Int(ZoneClock::new(zone).local_of_utc(*packed))
        }
        (_, value) => value.clone(),
    }
}

fn convert(batch: &Batch, columns: &[usize], mut value: impl FnMut(i64) -> i64) -> Batch {
    let mut all = batch.columns().to_vec();
    for column in columns {
        let array = all[*column].as_primitive::<Int64Type>();
        let values: ScalarBuffer<i64> =
            array.values().iter().map(|packed| value(*packed)).collect();
        let converted: ArrayRef = Arc::new(Int64Array::new(values, array.nulls().cloned()));
        all[*column] = converted;
    }
    Batch::new(all, batch.row_count())
}

#[derive(Debug)]
struct ZonedTable {
    table: Arc<dyn Table>,
    timestamps: Vec<usize>,
    clock: ZoneClock,
}

impl Table for ZonedTable {
    fn columns(&self) -> &[PhysicalType] {
        self.table.columns()
    }

    fn statistics(&self) -> TableStatistics {
        self.table.statistics()
    }

    fn scan(&self, columns: &[ColumnId]) -> Result<Box<dyn TableScan>> {
        let scan = self.table.scan(columns)?;
        let is_timestamp = |column: &ColumnId| self.timestamps.contains(&column.0);
        let timestamps: Vec<usize> = (0..columns.len())
            .filter(|index| is_timestamp(&columns[*index]))
            .collect();
        if timestamps.is_empty() {
            return Ok(scan);
        }
        Ok(Box::new(ZonedScan {
            scan,
            timestamps,
            clock: self.clock.clone(),
        }))
    }

    fn writer(&self) -> Result<Box<dyn TableWriter>> {
        Ok(Box::new(ZonedWriter {
            writer: self.table.writer()?,
            timestamps: self.timestamps.clone(),
            clock: self.clock.clone(),
        }))
    }

    fn truncate(&self) -> Result<()> {
        self.table.truncate()
    }
}

struct ZonedScan {
    scan: Box<dyn TableScan>,
    /// Indexes among the columns of the scan.
    timestamps: Vec<usize>,
    clock: ZoneClock,
}

impl TableScan for ZonedScan {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let batch = self.scan.next_batch()?;
        let clock = &mut self.clock;
        Ok(batch.map(|batch| {
            convert(&batch, &self.timestamps, |packed| {
                clock.local_of_utc(packed)
            })
        }))
    }

    fn for_another_worker(&self) -> Box<dyn TableScan> {
        Box::new(Self {
            scan: self.scan.for_another_worker(),
            timestamps: self.timestamps.clone(),
            clock: self.clock.clone(),
        })
    }
}

struct ZonedWriter {
    writer: Box<dyn TableWriter>,
    timestamps: Vec<usize>,
    clock: ZoneClock,
}

impl TableWriter for ZonedWriter {
    fn append(&mut self, batch: &Batch) -> Result<()> {
        let clock = &mut self.clock;
        let moments = convert(batch, &self.timestamps, |packed| clock.utc_of_local(packed));
        self.writer.append(&moments)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.writer.finish()
    }
}
