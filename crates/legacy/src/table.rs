//! Legacy tables: where one starts, how it is filled, and how it is converted.

use std::collections::BTreeMap;
use std::sync::Arc;

use mayfly_memory::{Budget, MemoryError};
use mayfly_storage::values::{ColumnValues, StoredValue};
use mayfly_storage::{
    ANONYMOUS_TABLE, InternalScan, InternalTable, InternalTableRecord, LimitHit, RegistryEntry,
    TempTableContext,
};
use mayfly_types::{Batch, Error, Result, Stage};

use crate::environment::{LegacyEnvironment, SessionDisk};
use crate::placement::{Conversion, LegacyEngine, Placement, PlacementReason, starts_on_disk};
use crate::refusal::{Outcome, Refusal};
use crate::spec::{LegacyOptions, LegacyTableSpec, StoreForm};
use crate::store::{Store, StoreCursor, StoreSource, copy};

/// Number of rows after which a conversion checks the interrupt.
const ROWS_PER_CHECK: u64 = 1024;

/// Bytes of rows that are kept between two changes.
const IMAGES_KEPT: usize = 1 << 20;

/// Internal temporary table of a former MySQL engine, filled as an [`InternalTable`].
#[derive(Debug)]
pub struct LegacyTable {
    // Declared first, to be released before `record`.
    store: Store,
    form: StoreForm,
    spec: LegacyTableSpec,
    options: LegacyOptions,
    placement: Placement,
    environment: LegacyEnvironment,
    disk: SessionDisk,
    memory: Budget,
    space: Budget,
    record: InternalTableRecord,
    key: Vec<u8>,
    images: Vec<u8>,
}

impl LegacyTable {
    /// Creates an empty table, in memory or on disk.
    pub fn create(
        context: &TempTableContext,
        environment: &LegacyEnvironment,
        disk: &SessionDisk,
        options: &LegacyOptions,
        spec: LegacyTableSpec,
    ) -> Result<Self> {
        let (setting, limit) = options.memory_limit();
        let memory = context.memory().child(setting, limit);
        let space = context
            .temp_space()
            .child("tmp_disk_table_size", options.tmp_disk_table_size);
        let reason = starts_on_disk(&spec.columns, options);
        let form = StoreForm {
            on_disk: reason.is_some(),
            natural: false,
            hashed: false,
        };
        let record =
            InternalTableRecord::new(context, &spec, LegacyEngine::Memory.name(), &memory, &space)?;
        let source = StoreSource {
            spec: &spec,
            options,
            environment,
            disk,
            hash: context.options().hash,
            memory: &memory,
            buffers: context.memory(),
            space: &space,
        };
        let store = Store::create(&source, form);
        let store = store.map_err(|refusal| error_of(context, refusal))?;
        record.created(store.engine().name(), store.engine().is_on_disk());
        Ok(Self {
            placement: Placement {
                engine: store.engine(),
                started_on_disk: reason,
                conversions: Vec::new(),
            },
            store,
            form,
            spec,
            options: options.clone(),
            environment: environment.clone(),
            disk: disk.clone(),
            memory,
            space,
            record,
            key: Vec::new(),
            images: Vec::new(),
        })
    }

    /// The specification that the table was created from.
    pub fn spec(&self) -> &LegacyTableSpec {
        &self.spec
    }

    /// The settings that the table was created under.
    pub fn options(&self) -> &LegacyOptions {
        &self.options
    }

    /// Current placement and its reasons.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// The engine that holds the rows now.
    pub fn engine(&self) -> LegacyEngine {
        self.placement.engine
    }

    /// The current record in the registry.
    pub fn record(&self) -> RegistryEntry {
        self.record.entry()
    }

    pub(crate) fn context(&self) -> &TempTableContext {
        self.record.context()
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// The user error for a refusal.
    pub(crate) fn error(&self, refusal: Refusal) -> Error {
        error_of(self.context(), refusal)
    }

    pub(crate) fn count_read(&self, rows: u64) {
        self.record.count_read(rows);
    }

    fn count_rows(&self, written: u64) {
        self.record.count_written(written, self.store.row_count());
    }

    /// Reads columns of the rows at some positions.
    pub fn read(&self, positions: &[u64], columns: &[usize]) -> Result<Batch> {
        let mut sink = self.store.sink(columns);
        let mut image = Vec::new();
        for position in positions {
            image.clear();
            let read = self.store.read(*position, &mut image, &mut sink);
            read.map_err(|refusal| self.error(refusal))?;
        }
        self.count_read(positions.len() as u64);
        Ok(sink.finish())
    }

    fn write(
        &mut self,
        positions: &[u64],
        changed: &Batch,
        images: &mut [u8],
        ends: &[usize],
    ) -> Result<()> {
        let first = self.spec.key.len();
        let columns: Vec<_> = changed.columns().iter().map(ColumnValues::new).collect();
        let mut values = Vec::with_capacity(columns.len());
        let mut moved: Option<Vec<u64>> = None;
        let mut start = 0;
        for (number, end) in ends.iter().enumerate() {
            values.clear();
            values.extend(columns.iter().map(|column| column.get(number)));
            let mut image = &mut images[start..*end];
            let mut read_again = Vec::new();
            start = *end;
            loop {
                let position = match &moved {
                    Some(moved) => {
                        // The row's bytes have changed.
                        let mut sink = self.store.sink(&[]);
                        read_again.clear();
                        let read = self.store.read(moved[number], &mut read_again, &mut sink);
                        read.map_err(|refusal| self.error(refusal))?;
                        image = &mut read_again;
                        moved[number]
                    }
                    None => positions[number],
                };
                match self.store.update(position, image, first, &values) {
                    Ok(()) => break,
                    Err(refusal) => {
                        let moved = moved.get_or_insert_with(|| positions.to_vec());
                        self.convert(refusal, moved)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Copies the rows to a store that accepts what this one has refused, and updates `positions` to the rows' new
    /// ones. A row that no store accepts is an error.
    fn convert(&mut self, refusal: Refusal, positions: &mut [u64]) -> Result<()> {
        let mut form = self.form;
        let was_full = matches!(refusal, Refusal::Full(_));
        let reason = match refusal {
            Refusal::Full(limit) if !form.on_disk => {
                form.on_disk = true;
                PlacementReason::Limit {
                    setting: limit.setting,
                    bytes: limit.limit,
                }
            }
            Refusal::LongValue if !form.natural => {
                (form.on_disk, form.natural) = (true, true);
                PlacementReason::LongValue
            }
            Refusal::LongKey if !form.hashed => {
                (form.on_disk, form.hashed) = (true, true);
                PlacementReason::LongKey
            }
            refusal => return Err(self.error(refusal)),
        };
        let (from, rows) = (self.engine(), self.row_count());
        let interrupt = self.context().interrupt();
        let copying =
            (!from.is_on_disk()).then(|| interrupt.stages().within(Stage::ConvertingHeapToOndisk));
        let store = loop {
            match self.copy_to(form, positions) {
                Ok(store) => break store,
                // What the old form accepted, the new one may refuse for another reason.
                Err(Refusal::LongValue) if !form.natural => form.natural = true,
                Err(Refusal::LongKey) if !form.hashed => form.hashed = true,
                Err(refusal) => return Err(self.error(refusal)),
            }
        };
        drop(copying);
        self.store = store;
        self.form = form;
        let to = self.store.engine();
        self.placement.engine = to;
        self.record.set_engine(to.name());
        self.placement.conversions.push(Conversion {
            from,
            to,
            reason,
            rows,
        });
        if !from.is_on_disk() {
            self.record.overflowed(match reason {
                PlacementReason::Limit { setting, bytes } if was_full => {
                    Some(LimitHit { setting, bytes })
                }
                _ => None,
            });
        }
        Ok(())
    }

    fn copy_to(&self, form: StoreForm, positions: &mut [u64]) -> Outcome<Store> {
        let source = StoreSource {
            spec: &self.spec,
            options: &self.options,
            environment: &self.environment,
            disk: &self.disk,
            hash: self.context().options().hash,
            memory: &self.memory,
            buffers: self.context().memory(),
            space: &self.space,
        };
        let mut store = Store::create(&source, form)?;
        let mut places: BTreeMap<u64, u64> = positions
            .iter()
            .map(|position| (*position, *position))
            .collect();
        let reservation = self.context().memory().reservation();
        let read_buffer = self.options.read_buffer();
        let mut rows = 0;
        copy(
            &self.store,
            &mut store,
            read_buffer,
            reservation,
            |old, new| {
                if let Some(place) = places.get_mut(&old) {
                    *place = new;
                }
                rows += 1;
                if rows % ROWS_PER_CHECK == 0 {
                    self.context().check_interrupt()?;
                }
                Ok(())
            },
        )?;
        for position in positions {
            *position = places[position];
        }
        Ok(store)
    }
}

impl InternalTable for LegacyTable {
    fn row_count(&self) -> u64 {
        self.store.row_count()
    }

    fn append(&mut self, batch: &Batch) -> Result<()> {
        self.context().interrupt().check()?;
        let columns: Vec<_> = batch.columns().iter().map(ColumnValues::new).collect();
        let mut row = Vec::with_capacity(columns.len());
        for number in 0..batch.row_count() {
            row.clear();
            row.extend(columns.iter().map(|column| column.get(number)));
            loop {
                match self.store.append(&row) {
                    Ok(_) => break,
                    Err(refusal) => self.convert(refusal, &mut [])?,
                }
            }
        }
        self.count_rows(batch.row_count() as u64);
        Ok(())
    }

    fn find_or_insert(
        &mut self,
        rows: &Batch,
        positions: &mut Vec<u64>,
        is_new: &mut Vec<bool>,
    ) -> Result<()> {
        self.context().interrupt().check()?;
        positions.clear();
        is_new.clear();
        let columns: Vec<_> = rows.columns().iter().map(ColumnValues::new).collect();
        let missing = self.spec.columns.len() - columns.len();
        let mut row = Vec::with_capacity(self.spec.columns.len());
        let mut key = std::mem::take(&mut self.key);
        for number in 0..rows.row_count() {
            row.clear();
            row.extend(columns.iter().map(|column| column.get(number)));
            row.extend(std::iter::repeat_n(StoredValue::Null, missing));
            let (position, inserted) = loop {
                match self.store.find_or_insert(&row, &mut key) {
                    Ok(found) => break found,
                    Err(refusal) => self.convert(refusal, positions)?,
                }
            };
            positions.push(position);
            is_new.push(inserted);
        }
        self.key = key;
        let inserted = is_new.iter().filter(|is_new| **is_new).count();
        self.count_rows(inserted as u64);
        Ok(())
    }

    fn modify(
        &mut self,
        positions: &[u64],
        change: &mut dyn FnMut(Batch) -> Result<Batch>,
    ) -> Result<()> {
        self.context().interrupt().check()?;
        let first = self.spec.key.len();
        let rest: Vec<usize> = (first..self.spec.columns.len()).collect();
        let mut sink = self.store.sink(&rest);
        let mut images = std::mem::take(&mut self.images);
        images.clear();
        let mut ends = Vec::with_capacity(positions.len());
        let mut held = self.context().memory().reservation();
        for position in positions {
            let read = self.store.read(*position, &mut images, &mut sink);
            read.map_err(|refusal| self.error(refusal))?;
            ends.push(images.len());
            let bytes = images.capacity() as u64;
            if bytes > held.bytes() {
                self.context().resize_working_set(&mut held, bytes)?;
            }
        }
        let changed = change(sink.finish())?;
        self.write(positions, &changed, &mut images, &ends)?;
        images.shrink_to(IMAGES_KEPT);
        self.images = images;
        self.record.count_read(positions.len() as u64);
        Ok(())
    }

    fn scan(self: Arc<Self>) -> Result<Box<dyn InternalScan>> {
        Ok(Box::new(TableScan {
            scan: LegacyTable::scan(&self, None)?,
            table: self,
        }))
    }
}

/// Bytes of strings at which a batch ends.
const BATCH_BYTES_MAX: usize = 16 << 20;

/// Cursor over a table's rows. Several may read one table at the same time; it must not be changed while they do.
#[derive(Debug)]
pub struct LegacyScan {
    columns: Vec<usize>,
    cursor: StoreCursor,
}

impl LegacyTable {
    /// A scan of `columns` (all if `None`).
    pub fn scan(&self, columns: Option<&[usize]>) -> Result<LegacyScan> {
        let all = || (0..self.spec().columns.len()).collect();
        let reservation = self.context().memory().reservation();
        let cursor = self
            .store()
            .cursor(self.options().read_buffer(), reservation);
        Ok(LegacyScan {
            columns: columns.map_or_else(all, <[usize]>::to_vec),
            cursor: cursor.map_err(|refusal| self.error(refusal))?,
        })
    }
}

impl LegacyScan {
    /// The next rows of the scan's table; `None` at the end. Never an empty batch.
    pub fn next_batch(&mut self, table: &LegacyTable) -> Result<Option<Batch>> {
        let context = table.context();
        context.interrupt().check()?;
        let batch_rows = context.options().batch_rows.max(1);
        let store = table.store();
        let mut sink = store.sink(&self.columns);
        while sink.rows() < batch_rows && sink.bytes() < BATCH_BYTES_MAX {
            let row = store.next_row(&mut self.cursor, |column, value| sink.push(column, value));
            match row.map_err(|refusal| table.error(refusal))? {
                Some(_) => sink.end_row(),
                None => break,
            }
        }
        if sink.rows() == 0 {
            return Ok(None);
        }
        table.count_read(sink.rows() as u64);
        Ok(Some(sink.finish()))
    }
}

/// Scan of a shared table.
struct TableScan {
    table: Arc<LegacyTable>,
    scan: LegacyScan,
}

impl InternalScan for TableScan {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        self.scan.next_batch(&self.table)
    }
}

/// The user error for a refusal.
fn error_of(context: &TempTableContext, refusal: Refusal) -> Error {
    match refusal {
        Refusal::Full(limit) => context.error(&MemoryError::Limit(limit), ANONYMOUS_TABLE),
        Refusal::Failed(error) => context.error(&error, ANONYMOUS_TABLE),
        // Every form that may refuse has a further one: the table was converted during a scan.
        Refusal::LongValue | Refusal::LongKey => {
            Error::internal("a legacy temporary table was converted while it was read")
        }
    }
}
