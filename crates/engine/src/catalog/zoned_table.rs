//! TIMESTAMP columns: a table holds UTC, a statement sees local time in its session's time zone.
//!
//! Only this module converts between the two: [`zoned`] gives rows of which handles and single rows use local time. All
//! else (comparisons, grouping, functions, results) knows local time only. A table without such columns, or a session
//! in UTC, pays nothing.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, UInt32Array};
use arrow_buffer::ScalarBuffer;
use mayfly_storage::{
    ColumnId, FilterKind, FilteredRows, IndexId, IndexSpec, KeyBound, KeyRange, LockMode, LockWait,
    Locked, ReadLock, RowChange, RowFilter, RowKeyEncoder, RowsWritten, ScanRequest, Table,
    TableScan, TableState, TableStatistics, TableWriter,
};
use mayfly_types::temporal::{DateTime, TimeZone, ZoneClock};
use mayfly_types::{Batch, Error, PhysicalType, Result, Selection, Value};

use super::table_access::RowAccess;
use super::table_store::{RowRef, RowStatement, RowUpdate, SingleRows, TableRows, TableStore};

/// The rows of a store as sessions use them, each in its time zone. `timestamps` are the TIMESTAMP columns.
pub(super) fn zoned(store: &Arc<dyn TableStore>, timestamps: &[usize]) -> Arc<dyn TableRows> {
    let rows = Arc::clone(store) as Arc<dyn TableRows>;
    if timestamps.is_empty() {
        return rows;
    }
    Arc::new(ZonedRows {
        rows,
        timestamps: timestamps.to_vec(),
    })
}

#[derive(Debug)]
struct ZonedRows {
    rows: Arc<dyn TableRows>,
    timestamps: Vec<usize>,
}

impl TableRows for ZonedRows {
    fn open(&self, access: &dyn RowAccess, directly: bool) -> Result<Arc<dyn Table>> {
        let table = self.rows.open(access, directly)?;
        Ok(read_in(access.time_zone(), table, &self.timestamps))
    }

    fn single_rows(&self) -> Option<&dyn SingleRows> {
        self.rows.single_rows().map(|_| self as _)
    }
}

impl ZonedRows {
    fn inner(&self) -> Result<&dyn SingleRows> {
        let rows = self.rows.single_rows();
        rows.ok_or_else(|| Error::internal("the table has no single rows"))
    }

    /// Converts the TIMESTAMPs among values of columns.
    fn convert(
        &self,
        statement: RowStatement<'_>,
        columns: impl Iterator<Item = usize>,
        values: &mut [Value],
        convert: fn(&mut ZoneClock, i64) -> i64,
    ) {
        let mut clock = None;
        for (column, value) in columns.zip(values) {
            if let Value::Int(packed) = value
                && self.timestamps.contains(&column)
            {
                let zone = statement.access.time_zone();
                let clock = clock.get_or_insert_with(|| ZoneClock::new(zone));
                *packed = convert(clock, *packed);
            }
        }
    }
}

/// Keys with a TIMESTAMP are left to handles: `statements::point` names no such index, unless the session is in UTC.
impl SingleRows for ZonedRows {
    fn keys(&self, index: IndexId) -> Result<RowKeyEncoder<'_>> {
        self.inner()?.keys(index)
    }

    fn read(&self, row: RowRef<'_>, columns: &[usize], values: &mut Vec<Value>) -> Result<bool> {
        let found = self.inner()?.read(row, columns, values)?;
        let columns = columns.iter().copied();
        self.convert(row.statement, columns, values, ZoneClock::local_of_utc);
        Ok(found)
    }

    fn insert(&self, statement: RowStatement<'_>, values: &mut [Value]) -> Result<RowChange> {
        self.convert(statement, 0..values.len(), values, ZoneClock::utc_of_local);
        self.inner()?.insert(statement, values)
    }

    fn update(&self, row: RowRef<'_>, update: RowUpdate<'_>) -> Result<Option<RowChange>> {
        let (columns, compute) = (update.columns, update.compute);
        let compute = &|old: &[Value], new: &mut Vec<Value>| {
            let is_computed = compute(old, new);
            let columns = columns.iter().copied();
            self.convert(row.statement, columns, new, ZoneClock::utc_of_local);
            is_computed
        };
        self.inner()?.update(row, RowUpdate { compute, ..update })
    }

    fn delete(&self, row: RowRef<'_>) -> Result<Option<RowChange>> {
        self.inner()?.delete(row)
    }
}

/// A table as a session in a time zone reads it.
fn read_in(zone: &TimeZone, table: Arc<dyn Table>, timestamps: &[usize]) -> Arc<dyn Table> {
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

fn convert(batch: &Batch, columns: &[usize], mut value: impl FnMut(i64) -> i64) -> Batch {
    let mut all = batch.columns().to_vec();
    for column in columns {
        let array = all[*column].as_primitive::<Int64Type>();
        let values = array.values().iter().map(|packed| value(*packed));
        let values: ScalarBuffer<i64> = values.collect();
        all[*column] = Arc::new(Int64Array::new(values, array.nulls().cloned()));
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

    fn state(&self) -> TableState {
        self.table.state()
    }

    fn indexes(&self) -> &[IndexSpec] {
        self.table.indexes()
    }

    fn distinct_keys(&self, index: IndexId, parts: usize) -> u64 {
        self.table.distinct_keys(index, parts)
    }

    fn rows_in_range(&self, index: IndexId, range: &KeyRange) -> Result<u64> {
        self.table.rows_in_range(index, &self.range(index, range))
    }

    fn sample(
        &self,
        columns: &[ColumnId],
        rows: usize,
        take: &mut dyn FnMut(&Batch) -> Result<()>,
    ) -> Result<()> {
        self.table.sample(columns, rows, take)
    }

    fn scan(&self, request: &ScanRequest<'_>) -> Result<Box<dyn TableScan>> {
        Ok(self.zoned(self.table.scan(request)?, request.columns))
    }

    fn index_scan(
        &self,
        index: IndexId,
        ranges: &[KeyRange],
        reverse: bool,
        columns: &[ColumnId],
    ) -> Result<Box<dyn TableScan>> {
        let ranges = ranges.iter().map(|range| self.range(index, range));
        let ranges: Vec<KeyRange> = ranges.collect();
        let scan = self.table.index_scan(index, &ranges, reverse, columns)?;
        Ok(self.zoned(scan, columns))
    }

    fn index_lookup(
        &self,
        index: IndexId,
        keys: &[ArrayRef],
        null_safe: &[bool],
        columns: &[ColumnId],
    ) -> Result<(Batch, UInt32Array)> {
        let spec = self.table.indexes().get(index.0);
        let keys = keys_in_utc(spec, keys, &self.timestamps, &self.clock);
        let keys = keys.columns();
        let (rows, found) = self.table.index_lookup(index, keys, null_safe, columns)?;
        Ok((self.shown(&rows, columns), found))
    }

    fn fetch(&self, positions: &ArrayRef, columns: &[ColumnId]) -> Result<Batch> {
        let rows = self.table.fetch(positions, columns)?;
        Ok(self.shown(&rows, columns))
    }

    fn lock(&self, positions: &ArrayRef, mode: LockMode, wait: LockWait) -> Result<Locked> {
        self.table.lock(positions, mode, wait)
    }

    fn lock_reads(&self, lock: ReadLock, wait: LockWait) {
        self.table.lock_reads(lock, wait);
    }

    fn writer(&self) -> Result<Box<dyn TableWriter>> {
        Ok(Box::new(ZonedWriter {
            writer: self.table.writer()?,
            timestamps: self.timestamps.clone(),
            indexes: self.table.indexes().to_vec(),
            clock: self.clock.clone(),
        }))
    }

    fn truncate(&self) -> Result<()> {
        self.table.truncate()
    }
}

impl ZonedTable {
    /// Positions of the TIMESTAMPs in a list of columns.
    fn timestamps_among(&self, columns: &[ColumnId]) -> Vec<usize> {
        (0..columns.len())
            .filter(|index| self.timestamps.contains(&columns[*index].0))
            .collect()
    }

    fn zoned(&self, scan: Box<dyn TableScan>, columns: &[ColumnId]) -> Box<dyn TableScan> {
        let timestamps = self.timestamps_among(columns);
        if timestamps.is_empty() {
            return scan;
        }
        Box::new(ZonedScan {
            scan,
            timestamps,
            clock: self.clock.clone(),
        })
    }

    fn shown(&self, rows: &Batch, columns: &[ColumnId]) -> Batch {
        let mut clock = self.clock.clone();
        let timestamps = self.timestamps_among(columns);
        convert(rows, &timestamps, |packed| clock.local_of_utc(packed))
    }

    /// A range of local times converted to UTC. Where a clock is set back, local times repeat: the range then
    /// includes a little more at its ends, and its reader checks the rows again.
    fn range(&self, index: IndexId, range: &KeyRange) -> KeyRange {
        let index = self.table.indexes().get(index.0);
        let parts = index.map_or(&[][..], |index| &index.parts);
        let is_timestamp = |part: usize| {
            let part = parts.get(part);
            part.is_some_and(|part| self.timestamps.contains(&part.column))
        };
        let widens = !self.clock.is_never_set();
        let in_utc = |values: &[Value], is_start: bool| -> Vec<Value> {
            let mut clock = self.clock.clone();
            let mut value_in_utc = |(part, value): (usize, &Value)| match value {
                Value::Int(packed) if is_timestamp(part) => {
                    let utc = clock.utc_of_local(*packed);
                    let descends = parts.get(part).is_some_and(|part| part.descending);
                    let moved = widens.then(|| moved(utc, is_start != descends));
                    Value::Int(moved.unwrap_or(utc))
                }
                value => value.clone(),
            };
            values.iter().enumerate().map(&mut value_in_utc).collect()
        };
        let bound = |bound: &KeyBound, is_start: bool| match bound {
            KeyBound::Unbounded => KeyBound::Unbounded,
            KeyBound::Excluded(values) => {
                let widened =
                    |(part, value): (usize, &Value)| is_timestamp(part) && !value.is_null();
                let utc = in_utc(values, is_start);
                if widens && values.iter().enumerate().any(widened) {
                    KeyBound::Included(utc)
                } else {
                    KeyBound::Excluded(utc)
                }
            }
            KeyBound::Included(values) => KeyBound::Included(in_utc(values, is_start)),
        };
        KeyRange {
            start: bound(&range.start, true),
            end: bound(&range.end, false),
        }
    }
}

/// Values of the first parts of an index, converted to UTC.
fn keys_in_utc(
    index: Option<&IndexSpec>,
    keys: &[ArrayRef],
    timestamps: &[usize],
    clock: &ZoneClock,
) -> Batch {
    let parts = index.map_or(&[][..], |index| &index.parts);
    let timestamps: Vec<usize> = (0..keys.len())
        .filter(|part| {
            let part = parts.get(*part);
            part.is_some_and(|part| timestamps.contains(&part.column))
        })
        .collect();
    let mut clock = clock.clone();
    let rows = keys.first().map_or(0, |key| key.len());
    let keys = Batch::new(keys.to_vec(), rows);
    convert(&keys, &timestamps, |packed| clock.utc_of_local(packed))
}

/// A time moved before or after by more than any clock was set back since 1970.
fn moved(packed: i64, before: bool) -> i64 {
    const MICROS: i64 = 4 * 3600 * 1_000_000;
    let time = Some(DateTime::unpack(packed)).filter(|time| !time.has_zero_part());
    let moved = time.and_then(|time| time.add_micros(if before { -MICROS } else { MICROS }));
    moved.map_or(packed, DateTime::pack)
}

struct ZonedScan {
    scan: Box<dyn TableScan>,
    /// Positions of the TIMESTAMPs among the columns of the scan.
    timestamps: Vec<usize>,
    clock: ZoneClock,
}

impl TableScan for ZonedScan {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let batch = self.scan.next_batch()?;
        let mut local = |packed| self.clock.local_of_utc(packed);
        Ok(batch.map(|batch| convert(&batch, &self.timestamps, &mut local)))
    }

    fn next_filtered(&mut self, filter: &mut dyn RowFilter) -> Result<Option<FilteredRows>> {
        let Self {
            scan,
            timestamps,
            clock,
        } = self;
        let found = scan.next_filtered(&mut ZonedFilter {
            filter,
            timestamps,
            clock,
        })?;
        let mut local = |packed| clock.local_of_utc(packed);
        Ok(found.map(|found| FilteredRows {
            batch: found
                .batch
                .map(|batch| convert(&batch, timestamps, &mut local)),
            ..found
        }))
    }

    fn give_codes(&mut self, columns: &[usize]) {
        self.scan.give_codes(columns);
    }

    fn first_rows(&mut self, rows: u64) {
        self.scan.first_rows(rows);
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
    /// The indexes of the table.
    indexes: Vec<IndexSpec>,
    clock: ZoneClock,
}

impl ZonedWriter {
    fn in_utc(&mut self, rows: &Batch) -> Batch {
        let clock = &mut self.clock;
        convert(rows, &self.timestamps, |packed| clock.utc_of_local(packed))
    }
}

impl TableWriter for ZonedWriter {
    fn append(&mut self, batch: &Batch) -> Result<()> {
        let utc = self.in_utc(batch);
        self.writer.append(&utc)
    }

    fn refuses_duplicates(&mut self) {
        self.writer.refuses_duplicates();
    }

    fn insert(&mut self, batch: &Batch) -> Result<RowsWritten> {
        let utc = self.in_utc(batch);
        self.writer.insert(&utc)
    }

    fn update(&mut self, positions: &ArrayRef, rows: &Batch) -> Result<RowsWritten> {
        let utc = self.in_utc(rows);
        self.writer.update(positions, &utc)
    }

    fn delete(&mut self, positions: &ArrayRef) -> Result<u64> {
        self.writer.delete(positions)
    }

    fn current(&mut self, position: &[u8]) -> Result<Option<Batch>> {
        let mut clock = self.clock.clone();
        let row = self.writer.current(position)?;
        Ok(row.map(|row| convert(&row, &self.timestamps, |packed| clock.local_of_utc(packed))))
    }

    fn find(
        &mut self,
        index: IndexId,
        key: &[ArrayRef],
        mode: LockMode,
        limit: usize,
    ) -> Result<Vec<Vec<u8>>> {
        let spec = self.indexes.get(index.0);
        let key = keys_in_utc(spec, key, &self.timestamps, &self.clock);
        self.writer.find(index, key.columns(), mode, limit)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.writer.finish()
    }
}

/// A filter over local times, applied to stored UTC values.
struct ZonedFilter<'a> {
    filter: &'a mut dyn RowFilter,
    timestamps: &'a [usize],
    clock: &'a mut ZoneClock,
}

impl ZonedFilter<'_> {
    fn is_zoned(&self, step: usize) -> bool {
        let columns = self.filter.columns(step);
        columns
            .iter()
            .any(|column| self.timestamps.contains(column))
    }
}

impl RowFilter for ZonedFilter<'_> {
    fn steps(&self) -> usize {
        self.filter.steps()
    }

    fn columns(&self, step: usize) -> &[usize] {
        self.filter.columns(step)
    }

    fn kind(&mut self, step: usize) -> Result<FilterKind> {
        Ok(match self.filter.kind(step)? {
            // Where clocks are set back, the order of local times differs from UTC's.
            FilterKind::Within(_) if self.is_zoned(step) => FilterKind::Values,
            kind => kind,
        })
    }

    fn decided(&mut self, step: usize, asked: usize, wanted: usize) {
        self.filter.decided(step, asked, wanted);
    }

    fn select(&mut self, step: usize, columns: &[ArrayRef], rows: usize) -> Result<Selection> {
        if !self.is_zoned(step) {
            return self.filter.select(step, columns, rows);
        }
        let mut local = columns.to_vec();
        for column in self.filter.columns(step) {
            if self.timestamps.contains(column) {
                let utc = Batch::new(vec![Arc::clone(&columns[*column])], rows);
                let clock = &mut *self.clock;
                let converted = convert(&utc, &[0], &mut |packed| clock.local_of_utc(packed));
                local[*column] = Arc::clone(converted.column(0));
            }
        }
        match (self.filter.kind(step)?, self.filter.columns(step)) {
            (FilterKind::Within(range), [column]) => {
                range.rows_of(&local[*column]).map(Selection::of_bits)
            }
            _ => self.filter.select(step, &local, rows),
        }
    }
}
