//! A table with its definition, its storage and its next AUTO_INCREMENT number.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use mayfly_offload::TableCall;
use mayfly_plan::{ColumnSource, IndexContent, TableId, TableSource};
use mayfly_storage::{DurableTransaction, UserTable};
use mayfly_types::temporal::TimeZone;
use mayfly_types::{Result, TypeKind};
use parking_lot::Mutex;

use super::auto_increment::AutoIncrement;
use super::auto_increment_record::set_next_number;
use super::column_statistics::ColumnStatisticsCache;
use super::definition::{ColumnDefinition, TableDefinition};
use super::indexes::{IndexStorage, index_sources};
use super::private_rows::{Numbers, PrivateStore};
use super::provided::{self, ProvidedTable};
use super::provider::TableProvider;
use super::row_hooks::RowHooks;
use super::shared_rows::SharedSpace;
use super::table_access::RowAccess;
use super::table_store::{ProvidedStore, SingleRows, TableRows, TableStore};
use super::trees::{Lifespan, Trees};
use super::zoned_table::zoned;
use crate::locks::table::{TableLock, TableUse};
use crate::secondary::copies::CopyPlace;

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
    auto_increment: Arc<AutoIncrement>,
    /// Numbers below this one are given out without a record in the data directory.
    pub(super) recorded_to: Arc<AtomicU64>,
    /// Held while such a record is committed: the number in it never goes back.
    recording: Arc<Mutex<()>>,
    lock: Arc<TableLock>,
    life: Arc<Life>,
    /// Its copy in a secondary engine.
    pub(crate) copy: Arc<CopyPlace>,
    /// What runs for each row that a statement writes, if anything does.
    pub(crate) hooks: Option<Arc<RowHooks>>,
}

/// Times of a table, which its definitions share: microseconds since 1970 UTC.
#[derive(Debug)]
struct Life {
    created: i64,
    /// Its last use, where it has a time to live.
    used: AtomicI64,
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
        source.scans = store
            .provided()
            .filter(|_| timestamps.is_empty())
            .map(|table| Arc::clone(table) as _);
        Self {
            rows: zoned(&store, &timestamps),
            timestamps,
            source: Mutex::new(Arc::new(source)),
            column_statistics: Arc::default(),
            auto_increment: Arc::new(AutoIncrement::new(definition.auto_increment_start)),
            recorded_to: Arc::default(),
            recording: Arc::default(),
            id,
            store,
            lock: Arc::default(),
            life: Arc::new(Life {
                created: definition.created,
                used: AtomicI64::new(definition.created),
            }),
            copy: Arc::default(),
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

    /// The call by which other processes read the rows, of a table of files that they may see too.
    pub(crate) fn call(&self) -> Option<TableCall> {
        self.store.provided()?.provider().call()
    }

    /// Whether its rows are outside of the engine.
    pub(crate) fn is_provided(&self) -> bool {
        self.store.provided().is_some()
    }

    /// The table as the planner sees it, with the row count of the last use.
    pub(crate) fn shape(&self) -> Arc<TableSource> {
        Arc::clone(&self.source.lock())
    }

    /// This table's rows under another definition, whose columns and keys hold the same values.
    pub(crate) fn redefined(&self, id: TableId, definition: TableDefinition) -> Self {
        Self {
            auto_increment: Arc::clone(&self.auto_increment),
            recorded_to: Arc::clone(&self.recorded_to),
            recording: Arc::clone(&self.recording),
            lock: Arc::clone(&self.lock),
            life: Arc::clone(&self.life),
            copy: Arc::clone(&self.copy),
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

    /// Whether its rows are those of another table.
    pub(crate) fn has_rows_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.store, &other.store)
    }

    /// The table lock of its name.
    pub(crate) fn lock(&self) -> &Arc<TableLock> {
        &self.lock
    }

    /// This table with the table lock and the hooks of the one that it replaces.
    pub(crate) fn in_place_of(self, other: &Self) -> Self {
        Self {
            lock: Arc::clone(&other.lock),
            life: Arc::clone(&other.life),
            hooks: other.hooks.clone(),
            ..self
        }
    }

    /// Its definition in a store of durable tables, if it is in one.
    pub(crate) fn durable(&self) -> Option<Arc<mayfly_storage::TableDefinition>> {
        self.store
            .durable()
            .map(|(definition, _)| Arc::clone(definition))
    }

    /// When it ends, unless it is used before: microseconds since 1970 UTC; `None` for a table that does not end by
    /// itself.
    pub(crate) fn expiry(&self) -> Option<i64> {
        let ttl = self.definition.ttl?;
        let since = if ttl.after_creation {
            self.life.created
        } else {
            self.life.used.load(Ordering::Relaxed)
        };
        let seconds = ttl.period.count.saturating_mul(ttl.period.unit.seconds());
        let period = i64::try_from(seconds)
            .unwrap_or(i64::MAX)
            .saturating_mul(1_000_000);
        Some(since.saturating_add(period))
    }

    /// Notes a use, from which the time to live is counted.
    pub(crate) fn note_use(&self, now: i64) {
        self.life.used.fetch_max(now, Ordering::Relaxed);
    }

    /// What its rows are charged to, if it is a shared temporary table.
    pub(crate) fn shared_space(&self) -> Option<&SharedSpace> {
        self.store.shared_space()
    }

    /// Its trees in a store of durable tables, if it is in one.
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

    /// The store of sessions' own rows, if the table has such rows.
    #[inline]
    pub(crate) fn private(&self) -> Option<&PrivateStore> {
        self.store.private()
    }

    /// The counter of AUTO_INCREMENT numbers of the rows that a statement sees.
    #[inline]
    pub(crate) fn numbers(&self, access: &dyn RowAccess) -> Numbers<'_> {
        let own = self.private().and_then(|store| access.private_rows(store));
        own.map_or(Numbers::Table(&self.auto_increment), Numbers::Session)
    }

    /// Sets the AUTO_INCREMENT number of the next row, which ALTER TABLE has given.
    pub(crate) fn restart_numbers(&self, access: &dyn RowAccess, next: u64) {
        self.auto_increment.set(next);
        if let Some(store) = self.private() {
            store.set_first_number(next);
        }
        self.numbers(access).set(next);
    }

    /// Removes the rows of a session's own table, at the end of a transaction.
    pub(crate) fn clear_own(&self) {
        if self.session_rows().is_some_and(UserTable::clear) {
            self.auto_increment
                .set(self.definition.auto_increment_start);
            self.column_statistics.forget();
        }
    }

    /// The number that the definition records for the next row.
    pub(crate) fn next_recorded(&self) -> u64 {
        self.auto_increment.next()
    }

    /// The table's own counter, which also numbers rows of sessions to come.
    pub(super) fn own_numbers(&self) -> &AutoIncrement {
        &self.auto_increment
    }

    /// The trees of a lasting table with an AUTO_INCREMENT column.
    fn numbered_trees(&self) -> Option<&Trees> {
        let numbers = self.definition.auto_increment_column().is_some();
        let trees = self.trees().filter(|_| numbers);
        trees.filter(|trees| trees.lifespan == Lifespan::Lasting)
    }

    /// Records the AUTO_INCREMENT counter for restarts, after a transaction has numbered rows of a durable table. The
    /// record is `ahead` of the counter, so that few transactions have to write one; a clean shutdown records the
    /// exact number.
    pub(crate) fn keep_numbers(&self, transaction: &DurableTransaction, ahead: u64) -> Result<()> {
        let is_recorded = || self.auto_increment.next() <= self.recorded_to.load(Ordering::Relaxed);
        let Some(trees) = self.numbered_trees().filter(|_| !is_recorded()) else {
            return Ok(());
        };
        let _turn = self.recording.lock();
        if is_recorded() {
            return Ok(());
        }
        // Other sessions give out the numbers ahead as soon as these are recorded: the record neither waits for the
        // end of the transaction nor is undone with it.
        let recorded = self.auto_increment.next().saturating_add(ahead);
        let beside = transaction.beside();
        set_next_number(&beside, trees, recorded)?;
        beside.commit()?;
        self.recorded_to.store(recorded, Ordering::Relaxed);
        Ok(())
    }

    /// Records the exact counter at shutdown.
    pub(crate) fn record_next_number(&self, transaction: &DurableTransaction) -> Result<()> {
        let next = self.auto_increment.next();
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
        temporary: definition.has_private_rows(),
        is_call: false,
        partitioned: definition.partitioning.is_some(),
        index_content,
        secondary_engine: None,
        scans: None,
    }
}
