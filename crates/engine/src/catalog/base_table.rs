//! A table with its definition, its storage and its next AUTO_INCREMENT number.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mayfly_plan::{ColumnSource, IndexContent, TableId, TableSource};
use mayfly_storage::{DurableTransaction, UserTable};
use mayfly_types::temporal::TimeZone;
use mayfly_types::{Result, TypeKind};
use parking_lot::Mutex;

use super::auto_increment_record::set_next_number;
use super::column_statistics::ColumnStatisticsCache;
use super::definition::{ColumnDefinition, TableDefinition};
use super::indexes::{IndexStorage, index_sources};
use super::provided::{self, ProvidedTable};
use super::provider::TableProvider;
use super::row_hooks::RowHooks;
use super::table_store::{ProvidedStore, SingleRows, TableRows, TableStore};
use super::trees::Trees;
use super::zoned_table::zoned;
use crate::locks::table::{TableLock, TableUse};

/// A base table or a user's temporary table.
#[derive(Debug)]
pub(crate) struct BaseTable {
    /// Its id in plans.
    pub(crate) id: TableId,
    /// The table's definition.
    pub(crate) definition: Arc<TableDefinition>,
    pub(super) store: Arc<dyn TableStore>,
    /// The rows as statements use them: the store, and what is attached to the table.
    pub(super) rows: Arc<dyn TableRows>,
    /// The positions of the TIMESTAMP columns.
    pub(crate) timestamps: Vec<usize>,
    /// The table as the planner sees it, with the row count of the last use.
    pub(super) source: Mutex<Arc<TableSource>>,
    /// Cached statistics of its columns' values.
    pub(crate) column_statistics: Arc<ColumnStatisticsCache>,
    next_auto_increment: Arc<AtomicU64>,
    /// Numbers below this one are given out without a record in the data directory.
    pub(super) recorded_to: Arc<AtomicU64>,
    /// Held while such a record is committed: the number in it never goes back.
    recording: Arc<Mutex<()>>,
    lock: Arc<TableLock>,
    /// What runs for each row that a statement writes, if anything does.
    pub(crate) hooks: Option<Arc<RowHooks>>,
}

impl BaseTable {
    /// A table whose rows are in this store.
    pub(super) fn over(
        id: TableId,
        definition: TableDefinition,
        store: Arc<dyn TableStore>,
    ) -> Self {
        let mut source = table_source(id, &definition, store.index_storage());
        let timestamps = timestamps(&definition);
        // Terms have TIMESTAMPs in the session's time zone, the rows of a provider in UTC.
        source.scans = store.scans().filter(|_| timestamps.is_empty());
        Self {
            rows: zoned(&store, &timestamps),
            timestamps,
            source: Mutex::new(Arc::new(source)),
            column_statistics: Arc::default(),
            next_auto_increment: Arc::new(AtomicU64::new(definition.auto_increment_start.max(1))),
            recorded_to: Arc::default(),
            recording: Arc::default(),
            id,
            store,
            lock: Arc::default(),
            hooks: None,
            definition: Arc::new(definition),
        }
    }

    /// A table of a [`TableProvider`].
    pub(crate) fn provided(
        id: TableId,
        (database, name): (&str, &str),
        provider: &Arc<dyn TableProvider>,
        created: i64,
    ) -> Self {
        let mut definition = provided::definition(database, name, &**provider);
        definition.created = created;
        let table = ProvidedTable::new(provider, name);
        Self::over(id, definition, Arc::new(ProvidedStore(Arc::new(table))))
    }

    /// Whether its rows are outside of the engine.
    pub(crate) fn is_provided(&self) -> bool {
        self.store.scans().is_some()
    }

    /// The table as the planner sees it, with the row count of the last use.
    pub(crate) fn shape(&self) -> Arc<TableSource> {
        Arc::clone(&self.source.lock())
    }

    /// This table's rows under another definition, whose columns and keys hold the same values.
    pub(crate) fn redefined(&self, id: TableId, definition: TableDefinition) -> Self {
        Self {
            next_auto_increment: Arc::clone(&self.next_auto_increment),
            recorded_to: Arc::clone(&self.recorded_to),
            recording: Arc::clone(&self.recording),
            lock: Arc::clone(&self.lock),
            hooks: self.hooks.clone(),
            ..Self::over(id, definition, Arc::clone(&self.store))
        }
    }

    /// This table with other hooks, under another id.
    #[cfg(test)]
    pub(crate) fn hooked(&self, id: TableId, hooks: RowHooks) -> Self {
        Self {
            hooks: Some(Arc::new(hooks)),
            ..self.redefined(id, TableDefinition::clone(&self.definition))
        }
    }

    /// The table lock of its name.
    pub(crate) fn lock(&self) -> &Arc<TableLock> {
        &self.lock
    }

    /// This table with the table lock and the hooks of the one that it replaces.
    pub(crate) fn in_place_of(self, other: &Self) -> Self {
        Self {
            lock: Arc::clone(&other.lock),
            hooks: other.hooks.clone(),
            ..self
        }
    }

    /// Its definition in the data directory's store, if it is there.
    pub(crate) fn durable(&self) -> Option<Arc<mayfly_storage::TableDefinition>> {
        self.store
            .durable()
            .map(|(definition, _)| Arc::clone(definition))
    }

    /// Its trees in the data directory, if it is there.
    pub(crate) fn trees(&self) -> Option<&Trees> {
        self.store.durable().map(|(_, trees)| trees)
    }

    /// Its rows, if they are visible to one session only or of the MEMORY engine.
    pub(crate) fn session_rows(&self) -> Option<&UserTable> {
        self.store.session_rows()
    }

    /// The single rows, if the table has them for this use. Rows of a table with hooks are not written so: the hooks
    /// run in the generic path only.
    #[inline]
    pub(crate) fn single_rows(&self, how: TableUse) -> Option<&dyn SingleRows> {
        if how != TableUse::Read && self.hooks.is_some() {
            return None;
        }
        self.rows.single_rows()
    }

    /// The AUTO_INCREMENT number of the next row.
    pub(crate) fn next_auto_increment(&self) -> u64 {
        self.next_auto_increment.load(Ordering::Relaxed)
    }

    /// Takes the next number of the series `offset`, `offset` + `step`, …
    pub(crate) fn take_auto_increment(&self, step: u64, offset: u64) -> u64 {
        self.take_auto_increments(1, step, offset)
    }

    /// Takes the next `count` numbers of the AUTO_INCREMENT series and returns the first.
    pub(crate) fn take_auto_increments(&self, count: u64, step: u64, offset: u64) -> u64 {
        // An offset beyond the step is ignored, as the manual says of auto_increment_offset.
        let offset = if offset > step { 1 } else { offset };
        let in_series = |next: u64| {
            let steps = next.saturating_sub(offset).div_ceil(step);
            steps.saturating_mul(step).saturating_add(offset)
        };
        let more = count.saturating_sub(1).saturating_mul(step);
        let take = |next: u64| Some(in_series(next).saturating_add(more).saturating_add(1));
        let (next_number, order) = (&self.next_auto_increment, Ordering::Relaxed);
        let (Ok(next) | Err(next)) = next_number.fetch_update(order, order, take);
        in_series(next)
    }

    /// Returns unused numbers: the next row gets the number that it had before, unless others were taken since.
    pub(crate) fn give_auto_increment_back(&self, taken_to: u64, next: u64) {
        let (next_number, order) = (&self.next_auto_increment, Ordering::Relaxed);
        let _ = next_number.compare_exchange(taken_to, next, order, order);
    }

    /// Sets the AUTO_INCREMENT number of the next row.
    pub(crate) fn set_auto_increment(&self, next: u64) {
        self.next_auto_increment
            .store(next.max(1), Ordering::Relaxed);
    }

    /// Advances the AUTO_INCREMENT counter to `next`, if it is less.
    #[inline]
    pub(crate) fn advance_auto_increment(&self, next: u64) {
        self.next_auto_increment.fetch_max(next, Ordering::Relaxed);
    }

    /// The trees of a durable table with an AUTO_INCREMENT column.
    fn numbered_trees(&self) -> Option<&Trees> {
        let numbers = self.definition.auto_increment_column().is_some();
        self.trees().filter(|_| numbers)
    }

    /// Records the AUTO_INCREMENT counter for restarts, after a transaction has numbered rows of a durable table. The
    /// record is `ahead` of the counter, so that few transactions have to write one; a clean shutdown records the
    /// exact number.
    pub(crate) fn keep_numbers(&self, transaction: &DurableTransaction, ahead: u64) -> Result<()> {
        let is_recorded = || self.next_auto_increment() <= self.recorded_to.load(Ordering::Relaxed);
        let Some(trees) = self.numbered_trees().filter(|_| !is_recorded()) else {
            return Ok(());
        };
        let _turn = self.recording.lock();
        if is_recorded() {
            return Ok(());
        }
        // Other sessions give out the numbers ahead as soon as these are recorded: the record neither waits for the
        // end of the transaction nor is undone with it.
        let recorded = self.next_auto_increment().saturating_add(ahead);
        let beside = transaction.beside();
        set_next_number(&beside, trees, recorded)?;
        beside.commit()?;
        self.recorded_to.store(recorded, Ordering::Relaxed);
        Ok(())
    }

    /// Records the exact counter at shutdown.
    pub(crate) fn record_next_number(&self, transaction: &DurableTransaction) -> Result<()> {
        let next = self.next_auto_increment();
        let is_recorded = next == self.recorded_to.load(Ordering::Relaxed);
        match self.numbered_trees().filter(|_| !is_recorded) {
            Some(trees) => set_next_number(transaction, trees, next),
            None => Ok(()),
        }
    }
}

/// The positions of the TIMESTAMP columns.
fn timestamps(definition: &TableDefinition) -> Vec<usize> {
    let is_timestamp = |index: &usize| definition.columns[*index].ty.kind == TypeKind::Timestamp;
    (0..definition.columns.len()).filter(is_timestamp).collect()
}

fn table_source(id: TableId, definition: &TableDefinition, indexes: IndexStorage) -> TableSource {
    let index_content = match indexes {
        IndexStorage::Keys => IndexContent::Keys,
        IndexStorage::Rows => IndexContent::Rows,
    };
    let indexes = index_sources(definition, indexes);
    let mut parts = indexes.iter().flat_map(|index| &index.parts);
    let keys: Vec<usize> = parts.by_ref().map(|part| part.column).collect();
    let column = |(at, column): (usize, &ColumnDefinition)| {
        let name = match &column.generated {
            Some(generated) if column.is_hidden() => &generated.text,
            _ => &column.name,
        };
        let generated = column.generated.as_ref().filter(|_| keys.contains(&at));
        ColumnSource {
            name: name.clone(),
            ty: column.ty.clone(),
            nullable: column.nullable,
            invisible: column.invisible,
            hidden: column.is_hidden(),
            generated: generated.map(|generated| Arc::new((*generated.expression).clone())),
            default: column.default_source(&TimeZone::UTC),
            traits: definition.column_traits(at),
        }
    };
    TableSource {
        id,
        database: definition.database.clone(),
        name: definition.name.clone(),
        columns: definition.columns.iter().enumerate().map(column).collect(),
        unique_keys: definition.identifying_columns(),
        indexes,
        row_count: 0,
        temporary: definition.temporary,
        is_call: false,
        partitioned: definition.partitioning.is_some(),
        index_content,
        scans: None,
    }
}
