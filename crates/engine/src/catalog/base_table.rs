//! A table with its definition, its storage, its next AUTO_INCREMENT number and its unique keys.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mayfly_plan::{ColumnSource, TableId, TableSource};
use mayfly_storage::Table;
use mayfly_types::temporal::{TimeZone, ZoneClock};
use mayfly_types::{Result, TypeKind};

use super::definition::TableDefinition;
use super::table_store::TableStore;
use super::unique::UniqueKeys;
use super::zoned_table;
use crate::session::Session;

/// A base table or a user's temporary table.
#[derive(Debug)]
pub(crate) struct BaseTable {
    /// Its name for plans.
    pub(crate) id: TableId,
    /// What it looks like.
    pub(crate) definition: Arc<TableDefinition>,
    store: TableStore,
    /// The TIMESTAMP columns.
    pub(crate) timestamps: Vec<usize>,
    source: Mutex<Arc<TableSource>>,
    next_auto_increment: Arc<AtomicU64>,
    unique: Arc<Mutex<UniqueKeys>>,
}

impl BaseTable {
    /// An empty table.
    pub(crate) fn new(id: TableId, definition: TableDefinition, session: &Session) -> Self {
        let store = match definition.temporary {
            true => TableStore::user(&definition, session.user_table_context(&definition)),
            false => TableStore::columnar(&definition, session.database.base_table_context()),
        };
        let context = session.database.base_table_context();
        let unique = match store.has_indexes() {
            true => UniqueKeys::none(&definition, &context),
            false => UniqueKeys::new(&definition, &context),
        };
        Self {
            timestamps: timestamps(&definition),
            source: Mutex::new(Arc::new(table_source(id, &definition))),
            next_auto_increment: Arc::new(AtomicU64::new(definition.auto_increment_start.max(1))),
            id,
            store,
            unique: Arc::new(Mutex::new(unique)),
            definition: Arc::new(definition),
        }
    }

    /// The same rows under another definition, whose columns and keys hold what this one's do.
    pub(crate) fn redefined(&self, id: TableId, definition: TableDefinition) -> Self {
        self.unique().rename(&definition);
        Self {
            id,
            store: self.store.clone(),
            timestamps: timestamps(&definition),
            source: Mutex::new(Arc::new(table_source(id, &definition))),
            next_auto_increment: Arc::clone(&self.next_auto_increment),
            unique: Arc::clone(&self.unique),
            definition: Arc::new(definition),
        }
    }

    /// The rows as a statement of the session sees them, in its time zone.
    pub(crate) fn rows_in(&self, session: &Session) -> Arc<dyn Table> {
        let zone = &session.options().time_zone;
        zoned_table::read_in(zone, self.storage(session), &self.timestamps)
    }

    /// The rows as a statement of the session sees them, with moments in TIMESTAMP columns.
    pub(crate) fn storage(&self, session: &Session) -> Arc<dyn Table> {
        self.store.open(session)
    }

    /// The table as the planner sees it in a session, with its row count of the moment.
    pub(crate) fn source_in(&self, session: &Session) -> Arc<TableSource> {
        let zone = &session.options().time_zone;
        let mut source = self.source(session);
        let default = |column: &usize| self.definition.columns[*column].default_value(zone);
        if self
            .timestamps
            .iter()
            .any(|column| default(column).is_some())
            && !ZoneClock::new(zone).is_utc()
        {
            let source = Arc::make_mut(&mut source);
            for column in &self.timestamps {
                source.columns[*column].default =
                    self.definition.columns[*column].default_source(zone);
            }
        }
        source
    }

    fn source(&self, session: &Session) -> Arc<TableSource> {
        let rows = self.storage(session).statistics().rows;
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        if source.row_count != rows {
            Arc::make_mut(&mut source).row_count = rows;
        }
        Arc::clone(&source)
    }

    /// The number that the next row gets.
    pub(crate) fn next_auto_increment(&self) -> u64 {
        self.next_auto_increment.load(Ordering::Relaxed)
    }

    /// Takes the next number of the series `offset`, `offset` + `step`, …
    pub(crate) fn take_auto_increment(&self, step: u64, offset: u64) -> u64 {
        // An offset beyond the step is ignored, as the manual says of auto_increment_offset.
        let offset = if offset > step { 1 } else { offset };
        let in_series = |next: u64| match next.checked_sub(offset) {
            Some(past) => past
                .div_ceil(step)
                .saturating_mul(step)
                .saturating_add(offset),
            None => offset,
        };
        let take = |next: u64| Some(in_series(next).saturating_add(1));
        match self
            .next_auto_increment
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
        {
            Ok(next) | Err(next) => in_series(next),
        }
    }

    /// The next row gets this number.
    pub(crate) fn set_auto_increment(&self, next: u64) {
        self.next_auto_increment
            .store(next.max(1), Ordering::Relaxed);
    }

    /// Rows were numbered up to `next - 1`.
    pub(crate) fn advance_auto_increment(&self, next: u64) {
        self.next_auto_increment.fetch_max(next, Ordering::Relaxed);
    }

    /// Whether its rows can be changed, and not only added.
    pub(crate) fn can_change_rows(&self) -> bool {
        self.store.has_indexes()
    }

    /// The values of the unique keys. Whoever writes rows holds this until they are visible.
    pub(crate) fn unique(&self) -> MutexGuard<'_, UniqueKeys> {
        self.unique.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes every row.
    pub(crate) fn truncate(&self, session: &Session) -> Result<()> {
        let mut unique = self.unique();
        self.storage(session).truncate()?;
        unique.clear();
        self.next_auto_increment.store(1, Ordering::Relaxed);
        Ok(())
    }
}

/// The TIMESTAMP columns.
fn timestamps(definition: &TableDefinition) -> Vec<usize> {
    let is_timestamp = |index: &usize| definition.columns[*index].ty.kind == TypeKind::Timestamp;
    (0..definition.columns.len()).filter(is_timestamp).collect()
}

fn table_source(id: TableId, definition: &TableDefinition) -> TableSource {
    TableSource {
        id,
        database: definition.database.clone(),
        name: definition.name.clone(),
        columns: definition
            .columns
            .iter()
            .map(|column| ColumnSource {
                name: column.name.clone(),
                ty: column.ty.clone(),
                nullable: column.nullable,
                invisible: column.invisible,
                default: column.default_source(&TimeZone::UTC),
            })
            .collect(),
        unique_keys: definition.identifying_columns(),
        row_count: 0,
        temporary: definition.temporary,
    }
}
