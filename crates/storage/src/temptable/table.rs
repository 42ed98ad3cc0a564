//! The table itself, its writers and its scans.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use mayfly_memory::budget::UNLIMITED;
use mayfly_memory::sync::lock;
use mayfly_memory::{Budget, MemoryError, TempFile};
use mayfly_types::{Batch, Error, Result};

use super::context::TempTableContext;
use super::reclaim::Reclaim;
use super::registry::{Registration, RegistryEntry};
use super::rows::{KeyHasher, RowKeys};
use super::sorted::{SortState, SortWriter};
use super::spec::{Access, KeyColumn, TempTableSpec};
use super::store::{Part, PartitionPlan, RowWriter, Store, StoreRef};
use crate::error::ANONYMOUS_TABLE;

/// A table with hash access is not partitioned before it has so many rows.
const PARTITION_ROWS: u64 = 16 << 10;
/// A table whose memory is this small overflows at once; see
/// [`TempTableOptions::force_overflow`](super::TempTableOptions::force_overflow).
pub(crate) const FORCED_OVERFLOW_LIMIT: u64 = 64 << 10;

/// What one writer has written.
pub(crate) struct Written {
    /// When the writer was created, relative to others.
    order: u64,
    pub(crate) plan: PartitionPlan,
    pub(crate) parts: Vec<Part>,
}

pub(crate) struct Inner {
    // Before `store` and `registration`: parts give back what they hold first.
    written: Mutex<Vec<Written>>,
    sorts: Mutex<SortState>,
    pub(crate) spec: TempTableSpec,
    pub(crate) store: StoreRef,
    /// How the table is partitioned once it is large.
    pub(crate) plan: PartitionPlan,
    writers: AtomicU64,
    /// Where finished writers' rows go when others need the memory.
    reclaimed: Mutex<Option<TempFile>>,
    is_holder: AtomicBool,
    registration: Registration,
}

/// Less than this is not worth asking for.
const RECLAIM_MIN: u64 = 64 << 10;

impl Reclaim for Inner {
    fn memory(&self) -> &Budget {
        &self.store.memory
    }

    fn reclaim(&self, wanted: u64) -> u64 {
        let (Ok(mut written), Ok(mut file)) = (self.written.try_lock(), self.reclaimed.try_lock())
        else {
            return 0;
        };
        let parts = written.iter_mut().flat_map(|written| &mut written.parts);
        let parts: Vec<&mut Part> = parts.collect();
        if parts.iter().map(|part| part.memory_bytes).sum::<u64>() < RECLAIM_MIN {
            return 0;
        }
        reclaim_parts(parts, wanted, &self.store, &mut file).unwrap_or(0)
    }
}

/// Sends parts to a temporary file, the largest first, until `wanted` bytes are gone. Gives how many
/// bytes left memory.
pub(crate) fn reclaim_parts(
    mut parts: Vec<&mut Part>,
    wanted: u64,
    store: &StoreRef,
    file: &mut Option<TempFile>,
) -> mayfly_memory::Result<u64> {
    parts.retain(|part| part.memory_bytes > 0);
    parts.sort_by_key(|part| std::cmp::Reverse(part.memory_bytes));
    let mut freed = 0;
    for part in parts {
        let file = file.get_or_insert_with(|| store.temp_file());
        if freed >= wanted {
            break;
        }
        freed += part.memory_bytes;
        part.overflow(store, file)?;
    }
    Ok(freed)
}

/// A temporary table. Cloning gives another handle; the rows go with the last one.
#[derive(Clone)]
pub struct TempTable(pub(crate) Arc<Inner>);

impl std::fmt::Debug for TempTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.record().fmt(f)
    }
}

impl TempTable {
    /// An empty table. Costs a record in the registry; memory comes with the first row.
    pub fn create(context: &TempTableContext, spec: TempTableSpec) -> Result<Self> {
        let shared = context.shared();
        let options = context.options();
        let limit = if options.force_overflow {
            options.tmp_table_size.min(FORCED_OVERFLOW_LIMIT)
        } else {
            options.tmp_table_size
        };
        let memory = context.memory().child("tmp_table_size", limit);
        let temp_budget = context.temp_space().child("none", UNLIMITED);
        let registration = shared.resources.registry.register(
            shared.owner.clone(),
            spec.purpose,
            spec.cause.clone(),
            spec.access.name(),
            Some(Arc::clone(&shared.counters)),
            (memory.clone(), temp_budget.clone()),
        );
        let is_counted = spec.purpose.is_counted();
        if is_counted {
            context.count(|counters| &counters.created_tmp_tables, 1);
        }
        let store = Store::new(context, &spec.columns, memory, temp_budget, is_counted);
        let plan = PartitionPlan::partitioned(0, store.memory_limit(), options.threads);
        Ok(Self(Arc::new(Inner {
            written: Mutex::default(),
            sorts: Mutex::default(),
            spec,
            store,
            plan,
            writers: AtomicU64::new(0),
            reclaimed: Mutex::default(),
            is_holder: AtomicBool::new(false),
            registration,
        })))
    }

    /// What the table was created from.
    pub fn spec(&self) -> &TempTableSpec {
        &self.0.spec
    }

    /// How many rows the finished writers have appended.
    pub fn row_count(&self) -> u64 {
        self.0.registration.record.rows.load(Ordering::Relaxed)
    }

    /// What the registry says of this table now.
    pub fn record(&self) -> RegistryEntry {
        self.0.registration.record.snapshot()
    }

    /// Whether any row ever went to a temporary file.
    pub fn has_overflowed(&self) -> bool {
        self.0.store.has_overflowed()
    }

    /// A writer for one worker thread. Writers may work at the same time. Rows that are equal in
    /// every sort key come out in the order of their writers' creation, then of appending.
    pub fn writer(&self) -> TempTableWriter {
        let order = self.0.writers.fetch_add(1, Ordering::Relaxed);
        let kind = match &self.0.spec.access {
            Access::Ordered { keys, limit } => {
                let writer = self.sorts().writer(&self.0.store, keys, *limit);
                Kind::Ordered(Box::new(writer))
            }
            Access::Plain | Access::Hash(_) => {
                let store = &self.0.store;
                let threads = store.context.options().threads;
                let plan = PartitionPlan::single(store.memory_limit(), threads);
                Kind::Rows(RowWriter::new(store, plan))
            }
        };
        let hasher = self.hasher();
        TempTableWriter {
            table: self.clone(),
            order,
            kind,
            hasher,
            hashes: Vec::new(),
            rows: 0,
        }
    }

    pub(crate) fn hash_keys(&self) -> &[KeyColumn] {
        match &self.0.spec.access {
            Access::Hash(keys) => keys,
            Access::Plain | Access::Ordered { .. } => &[],
        }
    }

    pub(crate) fn hasher(&self) -> KeyHasher {
        KeyHasher::new(
            RowKeys::modes(self.hash_keys()),
            self.0.store.context.options().hash,
        )
    }

    pub(crate) fn error(&self, error: &MemoryError) -> Error {
        self.0.store.context.error(error, ANONYMOUS_TABLE)
    }

    pub(crate) fn sorts(&self) -> MutexGuard<'_, SortState> {
        lock(&self.0.sorts)
    }

    pub(crate) fn written(&self) -> MutexGuard<'_, Vec<Written>> {
        lock(&self.0.written)
    }
}

enum Kind {
    Rows(RowWriter),
    Ordered(Box<SortWriter>),
}

/// Appends one worker's rows. Dropping it without [`Self::finish`] forgets them.
pub struct TempTableWriter {
    table: TempTable,
    order: u64,
    kind: Kind,
    hasher: KeyHasher,
    hashes: Vec<u64>,
    rows: u64,
}

impl TempTableWriter {
    /// Appends the rows of a batch, whose columns are the table's.
    pub fn append(&mut self, batch: &Batch) -> Result<()> {
        self.append_batch(batch)
            .map_err(|error| self.table.error(&error))
    }

    fn append_batch(&mut self, batch: &Batch) -> mayfly_memory::Result<()> {
        let (columns, count) = (batch.columns(), batch.row_count());
        self.rows += count as u64;
        let writer = match &mut self.kind {
            Kind::Ordered(writer) => return writer.append(columns, count),
            Kind::Rows(writer) => writer,
        };
        let keys = self.table.hash_keys();
        if keys.is_empty() {
            return writer.append(columns, count, None);
        }
        let plan = self.table.0.plan;
        if writer.plan().bits == 0 && is_large(self.rows, writer) {
            let small = std::mem::replace(writer, RowWriter::new(&self.table.0.store, plan));
            writer.take_over(small)?;
        }
        let keys: Vec<_> = keys.iter().map(|key| columns[key.column].clone()).collect();
        self.hasher.hash(&keys, count, &mut self.hashes);
        writer.append(columns, count, Some(&self.hashes))
    }

    /// Makes the rows part of the table.
    pub fn finish(self) -> Result<()> {
        let inner = &self.table.0;
        match self.kind {
            Kind::Rows(writer) => {
                let written = Written {
                    order: self.order,
                    plan: writer.plan(),
                    parts: writer.finish(),
                };
                let mut all = self.table.written();
                let at = all.partition_point(|other| other.order < written.order);
                let bytes: u64 = written.parts.iter().map(|part| part.memory_bytes).sum();
                all.insert(at, written);
                drop(all);
                if bytes >= RECLAIM_MIN && !inner.is_holder.swap(true, Ordering::Relaxed) {
                    let inner: Arc<dyn Reclaim> = self.table.0.clone();
                    let holders = &self.table.0.store.context.resources().registry.holders;
                    holders.add(Arc::downgrade(&inner));
                }
            }
            Kind::Ordered(writer) => {
                let sorted = writer.finish().map_err(|error| self.table.error(&error))?;
                self.table.sorts().add(self.order, sorted);
            }
        }
        inner
            .registration
            .record
            .rows
            .fetch_add(self.rows, Ordering::Relaxed);
        inner
            .store
            .context
            .count(|counters| &counters.rows_written, self.rows);
        Ok(())
    }
}

/// Whether a table with hash access is worth partitioning.
fn is_large(rows: u64, writer: &RowWriter) -> bool {
    rows > PARTITION_ROWS || writer.memory_bytes() > writer.memory_limit() / 8
}
