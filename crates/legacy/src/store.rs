//! Common interface of the engines.

use mayfly_memory::{Budget, Reservation};
use mayfly_storage::HashFunction;
use mayfly_storage::values::StoredValue;
use mayfly_types::PhysicalType;

use crate::environment::{LegacyEnvironment, SessionDisk};
use crate::innodb::{InnoDbTable, LeafCursor};
use crate::memory::MemoryTable;
use crate::myisam::{MyIsamOptions, MyIsamTable, SequentialReader};
use crate::placement::LegacyEngine;
use crate::refusal::{Outcome, Refusal};
use crate::row::{FixedLayout, KeyImages, RowSink};
use crate::spec::{DiskEngine, LegacyOptions, LegacyTableSpec, StoreForm};

/// Parameters of a new store.
pub(crate) struct StoreSource<'a> {
    pub(crate) spec: &'a LegacyTableSpec,
    pub(crate) options: &'a LegacyOptions,
    pub(crate) environment: &'a LegacyEnvironment,
    pub(crate) disk: &'a SessionDisk,
    pub(crate) hash: HashFunction,
    /// The table's memory budget.
    pub(crate) memory: &'a Budget,
    /// Budget of buffers.
    pub(crate) buffers: &'a Budget,
    /// The table's budget of temporary space.
    pub(crate) space: &'a Budget,
}

#[derive(Debug)]
enum Engine {
    Memory(MemoryTable),
    MyIsam(MyIsamTable),
    InnoDb(InnoDbTable),
}

/// Rows of a table in one engine.
#[derive(Debug)]
pub(crate) struct Store {
    engine: Engine,
    images: KeyImages,
    types: Vec<PhysicalType>,
}

/// Position of a scan of a store.
#[derive(Debug)]
pub(crate) enum StoreCursor {
    Memory(u64),
    MyIsam(SequentialReader),
    InnoDb(LeafCursor),
}

impl Store {
    pub(crate) fn create(source: &StoreSource<'_>, form: StoreForm) -> Outcome<Self> {
        let StoreSource { spec, options, .. } = source;
        let columns = &spec.columns;
        let images = KeyImages::new(columns, &spec.key, form.natural, source.hash);
        let layout = FixedLayout::new(columns).filter(|_| !form.on_disk && !form.natural);
        let engine = match (layout, options.disk_engine) {
            (Some(layout), _) => Engine::Memory(MemoryTable::new(
                layout,
                !spec.key.is_empty(),
                source.memory.limit(),
                options.read_buffer(),
                source.memory,
            )),
            (None, DiskEngine::MyIsam) => {
                let options = MyIsamOptions {
                    directory: &source.environment.directory,
                    key_cache: &source.disk.key_cache,
                    space: source.space,
                    memory: source.buffers,
                    read_buffer: options.read_buffer(),
                    form,
                };
                Engine::MyIsam(MyIsamTable::create(columns, &images, &options)?)
            }
            (None, DiskEngine::InnoDb) => {
                let tablespace = source.disk.tablespace(source.environment)?;
                Engine::InnoDb(InnoDbTable::create(
                    columns,
                    &images,
                    &source.environment.buffer_pool,
                    &tablespace,
                    source.space,
                    form,
                )?)
            }
        };
        Ok(Self {
            engine,
            images,
            types: columns.iter().map(|column| column.ty).collect(),
        })
    }

    pub(crate) fn engine(&self) -> LegacyEngine {
        match &self.engine {
            Engine::Memory(_) => LegacyEngine::Memory,
            Engine::MyIsam(_) => LegacyEngine::MyIsam,
            Engine::InnoDb(_) => LegacyEngine::InnoDb,
        }
    }

    pub(crate) fn row_count(&self) -> u64 {
        match &self.engine {
            Engine::Memory(table) => table.row_count(),
            Engine::MyIsam(table) => table.row_count(),
            Engine::InnoDb(table) => table.row_count(),
        }
    }

    /// Appends a row to a table without a key.
    pub(crate) fn append(&mut self, row: &[StoredValue<'_>]) -> Outcome<u64> {
        match &mut self.engine {
            Engine::Memory(table) => table.append(row),
            Engine::MyIsam(table) => table.append(row),
            Engine::InnoDb(table) => table.append(row),
        }
    }

    /// The position of the row with this row's key, which is written to `key`, and whether the row was inserted
    /// because there was none.
    #[inline]
    pub(crate) fn find_or_insert(
        &mut self,
        row: &[StoredValue<'_>],
        key: &mut Vec<u8>,
    ) -> Outcome<(u64, bool)> {
        let images = &self.images;
        images.put(|column| row[column], key)?;
        let hash = images.hash(key);
        match &mut self.engine {
            Engine::Memory(table) => table.find_or_insert(images, key, hash, row),
            Engine::MyIsam(table) => table.find_or_insert(images, key, hash, row),
            Engine::InnoDb(table) => table.find_or_insert(images, key, hash, row),
        }
    }

    /// Reads the row at a position: its columns into `sink`, and the bytes that [`Self::update`] needs to the end of
    /// `image`.
    #[inline]
    pub(crate) fn read(
        &self,
        position: u64,
        image: &mut Vec<u8>,
        sink: &mut RowSink,
    ) -> Outcome<()> {
        match &self.engine {
            Engine::Memory(table) => {
                table.read(position, sink);
                Ok(())
            }
            Engine::MyIsam(table) => table.read(position, image, sink),
            Engine::InnoDb(table) => table.read(position, image, sink),
        }
    }

    /// Updates the columns from `first` on of the row at a position, whose bytes were read as `image`.
    #[inline]
    pub(crate) fn update(
        &mut self,
        position: u64,
        image: &mut [u8],
        first: usize,
        values: &[StoredValue<'_>],
    ) -> Outcome<()> {
        match &mut self.engine {
            Engine::Memory(table) => table.update(position, first, values),
            Engine::MyIsam(table) => table.update(position, image, first, values),
            Engine::InnoDb(table) => table.update(position, image, first, values),
        }
    }

    /// A cursor before the first row, whose buffer of `read_buffer` bytes is charged to `memory`.
    pub(crate) fn cursor(&self, read_buffer: usize, memory: Reservation) -> Outcome<StoreCursor> {
        Ok(match &self.engine {
            Engine::Memory(_) => StoreCursor::Memory(0),
            Engine::MyIsam(_) => StoreCursor::MyIsam(SequentialReader::new(read_buffer, memory)?),
            Engine::InnoDb(_) => StoreCursor::InnoDb(LeafCursor::default()),
        })
    }

    /// Calls `take` with each column of the next row; returns the row's position, or `None` behind the last one. Rows
    /// come in the order of their positions, in which they were inserted.
    pub(crate) fn next_row(
        &self,
        cursor: &mut StoreCursor,
        mut take: impl FnMut(usize, StoredValue<'_>),
    ) -> Outcome<Option<u64>> {
        match (&self.engine, cursor) {
            (Engine::Memory(table), StoreCursor::Memory(next)) => {
                let position = *next;
                if position >= table.row_count() {
                    return Ok(None);
                }
                for column in 0..self.types.len() {
                    take(column, table.value(position, column));
                }
                *next += 1;
                Ok(Some(position))
            }
            (Engine::MyIsam(table), StoreCursor::MyIsam(reader)) => table.next_row(reader, take),
            (Engine::InnoDb(table), StoreCursor::InnoDb(cursor)) => table.next_row(cursor, take),
            // The table was converted during the scan, which its owner must not do.
            _ => Err(Refusal::LongValue),
        }
    }
}

/// Copies all rows of a store into another one. `moved` is called with each row's old and new position.
pub(crate) fn copy(
    from: &Store,
    to: &mut Store,
    read_buffer: usize,
    memory: Reservation,
    mut moved: impl FnMut(u64, u64) -> Outcome<()>,
) -> Outcome<()> {
    let mut cursor = from.cursor(read_buffer, memory)?;
    let has_key = to.images.part_count() > 0;
    let mut key = Vec::new();
    let mut row = OwnedRow::default();
    loop {
        row.clear();
        let taken = from.next_row(&mut cursor, |_, value| row.push(value))?;
        let Some(old) = taken else {
            return Ok(());
        };
        let values = row.values();
        let new = if has_key {
            to.find_or_insert(&values, &mut key)?.0
        } else {
            to.append(&values)?
        };
        moved(old, new)?;
    }
}

/// Copy of a row that owns its bytes.
#[derive(Debug, Default)]
struct OwnedRow {
    bytes: Vec<u8>,
    values: Vec<OwnedValue>,
}

#[derive(Debug)]
enum OwnedValue {
    Plain(StoredValue<'static>),
    Bytes(std::ops::Range<usize>),
}

impl OwnedRow {
    fn clear(&mut self) {
        self.bytes.clear();
        self.values.clear();
    }

    fn push(&mut self, value: StoredValue<'_>) {
        self.values.push(match value {
            StoredValue::Null => OwnedValue::Plain(StoredValue::Null),
            StoredValue::Word(word) => OwnedValue::Plain(StoredValue::Word(word)),
            StoredValue::Decimal128(value) => OwnedValue::Plain(StoredValue::Decimal128(value)),
            StoredValue::Decimal256(value) => OwnedValue::Plain(StoredValue::Decimal256(value)),
            StoredValue::Bytes(text) => {
                let start = self.bytes.len();
                self.bytes.extend_from_slice(text);
                OwnedValue::Bytes(start..self.bytes.len())
            }
        });
    }

    fn values(&self) -> Vec<StoredValue<'_>> {
        let values = self.values.iter().map(|value| match value {
            OwnedValue::Plain(value) => *value,
            OwnedValue::Bytes(range) => StoredValue::Bytes(&self.bytes[range.clone()]),
        });
        values.collect()
    }
}

impl Store {
    /// A sink for some columns.
    pub(crate) fn sink(&self, wanted: &[usize]) -> RowSink {
        RowSink::new(&self.types, wanted)
    }
}
