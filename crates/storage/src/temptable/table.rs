//! Temporary tables and their writers.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use mayfly_memory::sync::lock;
use mayfly_memory::{Budget, MemoryError, Reservation, TempFile};
use mayfly_types::{Batch, Error, PhysicalType, Result};

use super::context::TempTableContext;
use super::reclaim::Reclaim;
use super::record::{Ending, FORCED_OVERFLOW_LIMIT, RegistryEntry, TableFacts};
use super::registry::Registration;
use super::rows::{KeyHasher, RowKeys};
use super::sorted::{FirstKeyBound, SortState, SortWriter};
use super::spec::{Access, KeyColumn, TempTableSpec};
use super::store::{Part, PartitionPlan, RowWriter, Store, StoreRef};
use crate::error::ANONYMOUS_TABLE;

/// Engine name shown to users.
pub(crate) const ENGINE: &str = "TempTable";
/// Number of rows below which a table with hash access is not partitioned.
const PARTITION_ROWS: u64 = 16 << 10;

/// Output of one writer.
pub(crate) struct Written {
    /// Position of the writer in the order of creation.
    order: u64,
    pub(crate) plan: PartitionPlan,
    pub(crate) parts: Vec<Part>,
}

pub(crate) struct Inner {
    // Declared before `store`: parts release what they hold first.
    written: Mutex<Vec<Written>>,
    sorts: Mutex<SortState>,
    /// Rows of the finished writers.
    row_count: AtomicU64,
    pub(crate) spec: TempTableSpec,
    pub(crate) store: StoreRef,
    /// Partitioning of the table once it is large.
    pub(crate) plan: PartitionPlan,
    writers: AtomicU64,
    /// File for finished writers' rows when others need the memory.
    reclaimed: Mutex<Option<TempFile>>,
    is_holder: AtomicBool,
}

impl Inner {
    fn is_on_disk(&self) -> bool {
        let options = self.store.context.options();
        options.on_disk && self.spec.purpose.is_counted() || self.store.has_too_many_rows()
    }
}

/// Minimum size in bytes of a request to reclaim.
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

/// Sends parts to a temporary file, the largest first, until `wanted` bytes are released. Returns the number of bytes
/// released.
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
        let file = match file {
            Some(file) => file,
            None => file.insert(store.temp_file()?),
        };
        if freed >= wanted {
            break;
        }
        freed += part.memory_bytes;
        part.overflow(store, file)?;
    }
    Ok(freed)
}

/// Temporary table. Cloning gives another handle; the rows are freed with the last one.
#[derive(Clone)]
pub struct TempTable(pub(crate) Arc<Inner>);

impl std::fmt::Debug for TempTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.record().fmt(f)
    }
}

impl TempTable {
    /// Creates an empty table. It costs a record in the registry; memory comes with the first row.
    pub fn create(context: &TempTableContext, spec: TempTableSpec) -> Result<Self> {
        context.enter_queue()?;
        let shared = context.shared();
        let options = context.options();
        let limit = if options.forces_overflow() {
            options.tmp_table_size.min(FORCED_OVERFLOW_LIMIT)
        } else {
            options.tmp_table_size
        };
        let memory = context.memory_of_table(limit);
        let disk_limit = options.tmp_disk_table_size;
        let temp_budget = context
            .temp_space()
            .child("tmp_disk_table_size", disk_limit);
        let facts = TableFacts {
            owner: shared.owner.clone(),
            purpose: spec.purpose,
            cause: Arc::clone(&spec.cause),
            operator: spec.operator,
            access: spec.access.name(),
            engine: ENGINE,
            ending: Ending::Statement(shared.interrupt.clone()),
        };
        let counters = Some(Arc::clone(&shared.counters));
        let registry = &shared.resources.registry;
        let record = registry.register(facts, counters, memory, temp_budget);
        if let Some(rows) = options.spill_after_rows {
            record.overflow_after(rows);
        }
        if spec.purpose.is_counted() {
            context.count(|counters| &counters.created_tmp_tables, 1);
        }
        Ok(Self::over(context, spec, &record))
    }

    /// Creates a second set of rows of the same table, with its record and its budgets of memory and temporary space.
    pub fn beside(&self, columns: Vec<PhysicalType>, access: Access) -> Self {
        let spec = TempTableSpec {
            columns,
            access,
            ..self.0.spec.clone()
        };
        let store = &self.0.store;
        Self::over(&store.context, spec, &store.record)
    }

    /// Limits the number of partition bits to `bits`. Nothing has been written yet.
    #[must_use]
    pub fn with_partitions(self, bits: u32) -> Self {
        let inner = &self.0;
        let store = &inner.store;
        let threads = store.context.options().threads;
        let plan =
            PartitionPlan::fitting(0, bits.min(inner.plan.bits), store.memory_limit(), threads);
        Self::of_store(inner.spec.clone(), Arc::clone(store), plan)
    }

    fn over(context: &TempTableContext, spec: TempTableSpec, record: &Arc<Registration>) -> Self {
        let store = Store::new(context, &spec.columns, record);
        let threads = context.options().threads;
        let plan = PartitionPlan::partitioned(0, store.memory_limit(), threads);
        Self::of_store(spec, store, plan)
    }

    fn of_store(spec: TempTableSpec, store: StoreRef, plan: PartitionPlan) -> Self {
        Self(Arc::new(Inner {
            written: Mutex::default(),
            sorts: Mutex::default(),
            row_count: AtomicU64::new(0),
            spec,
            store,
            plan,
            writers: AtomicU64::new(0),
            reclaimed: Mutex::default(),
            is_holder: AtomicBool::new(false),
        }))
    }

    /// The specification that the table was created from.
    pub fn spec(&self) -> &TempTableSpec {
        &self.0.spec
    }

    /// Whether all rows are in temporary files once they are written.
    pub fn is_on_disk(&self) -> bool {
        self.0.is_on_disk()
    }

    /// Whether rows are returned in an order.
    pub fn is_ordered(&self) -> bool {
        matches!(self.0.spec.access, Access::Ordered { .. })
    }

    /// Number of rows that the finished writers have appended.
    pub fn row_count(&self) -> u64 {
        self.0.row_count.load(Ordering::Relaxed)
    }

    /// The current record in the registry.
    pub fn record(&self) -> RegistryEntry {
        self.0.store.record.snapshot()
    }

    /// An empty reservation of the table's memory, for what its operator holds beside its rows.
    pub fn reservation(&self) -> Reservation {
        self.0.store.memory.reservation()
    }

    /// Counts groups being made in memory as rows of the table: a worker's number of groups has changed from `before`
    /// to `now`.
    pub fn groups_changed(&self, before: usize, now: usize) {
        let record = &self.0.store.record;
        match now.checked_sub(before) {
            Some(more) => record.add_rows(more as u64),
            None => record.remove_rows((before - now) as u64),
        }
    }

    /// Subtracts rows that were counted twice, since they have come from a table beside this one.
    pub fn uncount(&self, rows: u64) {
        self.0.store.record.remove_rows(rows);
    }

    /// Counts groups that were made of the table's rows.
    pub fn add_groups(&self, groups: u64) {
        self.0.store.record.add_groups(groups);
    }

    /// Bound of the first sort key, if only some of the first rows are wanted.
    pub fn first_key_bound(&self) -> Option<FirstKeyBound> {
        match &self.0.spec.access {
            Access::Ordered {
                keys,
                limit: Some(limit),
            } => Some(self.sorts().first_key_bound(keys, *limit)),
            _ => None,
        }
    }

    /// Memory in bytes that the table should plan to hold.
    pub fn memory_limit(&self) -> u64 {
        self.0.store.memory_limit()
    }

    /// Whether any row ever went to a temporary file.
    pub fn has_overflowed(&self) -> bool {
        self.0.store.has_overflowed()
    }

    /// Creates a writer for one worker thread. Writers may work at the same time. Rows that are equal in every sort
    /// key come out in the order of their writers' creation, then of appending.
    pub fn writer(&self) -> TempTableWriter {
        let order = self.next_order();
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

    /// The next writer's position in the order of creation.
    pub(crate) fn next_order(&self) -> u64 {
        self.0.writers.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds the `rows` rows of a writer to the table.
    pub(crate) fn take(&self, order: u64, mut writer: RowWriter, rows: u64) -> Result<()> {
        let inner = &self.0;
        let plan = writer.plan();
        inner.store.record.has_partitions(plan.count() as u64);
        if inner.is_on_disk() {
            let written = writer.overflow_all();
            written.map_err(|error| self.error(&error))?;
        }
        let parts = writer.finish();
        let bytes: u64 = parts.iter().map(|part| part.memory_bytes).sum();
        let mut all = self.written();
        let at = all.partition_point(|other| other.order < order);
        all.insert(at, Written { order, plan, parts });
        drop(all);
        if bytes >= RECLAIM_MIN && !inner.is_holder.swap(true, Ordering::Relaxed) {
            let holder: Arc<dyn Reclaim> = self.0.clone();
            let holders = &inner.store.context.resources().registry.holders;
            holders.add(Arc::downgrade(&holder));
        }
        self.add_rows(rows);
        Ok(())
    }

    /// Sends the rows of the finished writers to a temporary file.
    pub(crate) fn overflow(&self) -> Result<()> {
        let inner = &self.0;
        let (mut written, mut file) = (self.written(), lock(&inner.reclaimed));
        let parts = written.iter_mut().flat_map(|written| &mut written.parts);
        reclaim_parts(parts.collect(), u64::MAX, &inner.store, &mut file)
            .map(|_| ())
            .map_err(|error| self.error(&error))
    }

    fn add_rows(&self, rows: u64) {
        self.0.row_count.fetch_add(rows, Ordering::Relaxed);
        let context = &self.0.store.context;
        context.count(|counters| &counters.rows_written, rows);
    }

    pub(crate) fn hash_keys(&self) -> &[KeyColumn] {
        match &self.0.spec.access {
            Access::Hash(keys) => keys,
            Access::Plain | Access::Ordered { .. } => &[],
        }
    }

    /// A hasher of the table's keys, and of keys of a table whose hash keys correspond.
    pub fn hasher(&self) -> KeyHasher {
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
    Finished,
}

/// Writer of one worker's rows. Dropping it without [`Self::finish`] discards them.
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
        self.table.0.store.record.add_rows(count as u64);
        let writer = match &mut self.kind {
            Kind::Ordered(writer) => return writer.append(columns, count),
            Kind::Rows(writer) => writer,
            Kind::Finished => return Ok(()),
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

    /// Sends the rows to the temporary file, to free their memory for others, unless it is little.
    pub fn overflow(&mut self) -> Result<()> {
        match &mut self.kind {
            Kind::Rows(writer)
                if writer.memory_bytes() >= self.table.0.store.worker_share() / 4 =>
            {
                writer.overflow_all()
            }
            Kind::Rows(_) | Kind::Ordered(_) | Kind::Finished => Ok(()),
        }
        .map_err(|error| self.table.error(&error))
    }

    /// Makes the rows part of the table.
    pub fn finish(mut self) -> Result<()> {
        let inner = Arc::clone(&self.table.0);
        let record = &inner.store.record;
        let rows = std::mem::take(&mut self.rows);
        match std::mem::replace(&mut self.kind, Kind::Finished) {
            Kind::Finished => {}
            Kind::Rows(writer) => return self.table.take(self.order, writer, rows),
            Kind::Ordered(writer) => {
                let sorted = writer.finish().map_err(|error| self.table.error(&error))?;
                let mut sorts = self.table.sorts();
                sorts.add(self.order, sorted);
                record.has_partitions(sorts.run_count());
            }
        }
        self.table.add_rows(rows);
        Ok(())
    }
}

impl Drop for TempTableWriter {
    fn drop(&mut self) {
        self.table.0.store.record.remove_rows(self.rows);
    }
}

/// Whether a table with hash access is large enough for partitioning.
fn is_large(rows: u64, writer: &RowWriter) -> bool {
    rows > PARTITION_ROWS || writer.memory_bytes() > writer.memory_limit() / 8
}
