//! The table itself, its writers and its scans.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mayfly_types::{Batch, Result};

use super::context::TempTableContext;
use super::join_index::JoinIndex;
use super::partition::{PartitionQueue, concatenate};
use super::registry::{Registration, RegistryEntry};
use super::sorted::SortedScan;
use super::spec::{Access, TempTableSpec};

pub(crate) struct Inner {
    pub(crate) context: TempTableContext,
    pub(crate) spec: TempTableSpec,
    registration: Registration,
    batches: Mutex<Vec<Batch>>,
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
        let registration = shared.resources.registry.register(
            shared.owner.clone(),
            spec.purpose,
            spec.cause.clone(),
            spec.access.name(),
            Arc::clone(&shared.counters),
        );
        context.count(|counters| &counters.created_tmp_tables, 1);
        Ok(Self(Arc::new(Inner {
            context: context.clone(),
            spec,
            registration,
            batches: Mutex::default(),
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
        self.record().disk_peak > 0
    }

    /// A writer for one worker thread. Writers may work at the same time. Rows that are equal in
    /// every sort key come out in the order of their writers' creation, then of appending.
    pub fn writer(&self) -> TempTableWriter {
        TempTableWriter {
            table: self.clone(),
            batches: Vec::new(),
        }
    }

    /// A scan of `columns` (all if `None`). Every scan sees every row once; workers that share a
    /// scan ([`Scan::for_another_worker`]) see each row once between them.
    pub fn scan(&self, columns: Option<&[usize]>) -> Scan {
        Scan {
            table: self.clone(),
            columns: columns.map(<[usize]>::to_vec),
            next: Arc::new(AtomicUsize::new(0)),
        }
    }

    /// The partitions of a table with hash access, each to be taken by one worker. Taking a
    /// partition takes its rows out of the table and gives their memory back with it.
    pub fn partitions(&self) -> PartitionQueue {
        PartitionQueue::of(self)
    }

    /// An index over all rows of a table with hash access, or `None` when they do not fit in memory
    /// together: then join by [`PartitionQueue::pairs`].
    pub fn join_index(&self) -> Result<Option<JoinIndex>> {
        JoinIndex::build(self.spec(), self.all_rows()).map(Some)
    }

    /// The rows of a table with ordered access, in order, from `offset` (counted from 0) and at
    /// most `limit` of them.
    pub fn sorted(&self, offset: u64, limit: Option<u64>) -> Result<SortedScan> {
        SortedScan::open(self, offset, limit)
    }

    pub(crate) fn all_rows(&self) -> Batch {
        let batches = self
            .0
            .batches
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        concatenate(&self.0.spec.columns, &batches)
    }

    pub(crate) fn hash_keys(&self) -> &[super::spec::KeyColumn] {
        match &self.0.spec.access {
            Access::Hash(keys) => keys,
            Access::Plain | Access::Ordered { .. } => &[],
        }
    }
}

/// Appends one worker's rows. Dropping it without [`Self::finish`] forgets them.
pub struct TempTableWriter {
    table: TempTable,
    batches: Vec<Batch>,
}

impl TempTableWriter {
    /// Appends the rows of a batch, whose columns are the table's.
    pub fn append(&mut self, batch: &Batch) -> Result<()> {
        self.batches.push(batch.clone());
        Ok(())
    }

    /// Makes the rows part of the table.
    pub fn finish(self) -> Result<()> {
        let inner = &self.table.0;
        let rows: u64 = self
            .batches
            .iter()
            .map(|batch| batch.row_count() as u64)
            .sum();
        let mut batches = inner.batches.lock().unwrap_or_else(PoisonError::into_inner);
        batches.extend(self.batches);
        AtomicU64::fetch_add(&inner.registration.record.rows, rows, Ordering::Relaxed);
        inner.context.count(|counters| &counters.rows_written, rows);
        Ok(())
    }
}

/// A cursor over all rows.
pub struct Scan {
    table: TempTable,
    columns: Option<Vec<usize>>,
    next: Arc<AtomicUsize>,
}

impl Scan {
    /// The next rows; `None` at the end. Never an empty batch.
    pub fn next_batch(&mut self) -> Result<Option<Batch>> {
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let batches = self
                .table
                .0
                .batches
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let Some(batch) = batches.get(at) else {
                return Ok(None);
            };
            if batch.is_empty() {
                continue;
            }
            let Some(columns) = &self.columns else {
                return Ok(Some(batch.clone()));
            };
            let columns = columns
                .iter()
                .map(|column| batch.column(*column).clone())
                .collect();
            return Ok(Some(Batch::new(columns, batch.row_count())));
        }
    }

    /// A cursor for another worker: the two share the rows between them.
    pub fn for_another_worker(&self) -> Self {
        let next = Arc::clone(&self.next);
        Self {
            table: self.table.clone(),
            columns: self.columns.clone(),
            next,
        }
    }

    /// Starts again at the first row.
    pub fn rewind(&mut self) {
        self.next = Arc::new(AtomicUsize::new(0));
    }
}
