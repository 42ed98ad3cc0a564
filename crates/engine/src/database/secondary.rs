//! The secondary engine of a database, and the copies of its tables.
//!
//! Which tables have copies is recorded in the data directory ([`loaded_tables`]); the copies are not: after a restart
//! those of the process before are void, and the tables are loaded again, as HeatWave recovers its tables. A thread
//! loads them, and those that have changed since they were loaded, `secondary_engine_refresh` milliseconds after each look.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use mayfly_types::{Error, Interrupt, Result};
use parking_lot::{Mutex, RwLock};

use super::Database;
use super::background::BackgroundThread;
use crate::catalog::{BaseTable, loaded_tables};
use crate::secondary::copies::LoadedCopy;
use crate::secondary::loading::{LoadCause, LoadCounters, Source, load_into};
use crate::secondary::{LoadedColumn, SecondaryEngine};
use crate::variables::typed;

/// How often the thread looks where `secondary_engine_refresh` is 0, which ends the refresh.
const IDLE: Duration = Duration::from_secs(1);

/// The secondary engine of a database, if it has one.
#[derive(Debug, Default)]
pub(crate) struct Secondary {
    engine: RwLock<Option<Arc<dyn SecondaryEngine>>>,
    counters: Arc<LoadCounters>,
    thread: Mutex<Option<BackgroundThread>>,
}

impl Database {
    /// Sets the secondary engine. Tables that were loaded when the data directory was last open are loaded again in the
    /// background; copies of an engine before are void.
    ///
    /// # Errors
    /// Any error of reading the data directory.
    pub fn set_secondary_engine(
        self: &Arc<Self>,
        engine: Option<Arc<dyn SecondaryEngine>>,
    ) -> Result<()> {
        *self.secondary.thread.lock() = None;
        let mut tables = self.catalog.all_tables();
        tables.retain(|table| table.trees().is_some());
        for table in tables.iter().filter(|table| table.copy.is_used()) {
            table.copy.end();
        }
        (*self.secondary.engine.write()).clone_from(&engine);
        // Plans depend on whether there is one.
        self.catalog.touch();
        let Some(engine) = engine else {
            return Ok(());
        };
        if self.options.datadir.is_some() {
            let loaded = loaded_tables::all(&self.store()?)?;
            for table in &tables {
                let is_loaded = table.trees().is_some_and(|it| loaded.contains(&it.rows));
                let names_it = |name: &str| name.eq_ignore_ascii_case(engine.name());
                if is_loaded && table.definition.secondary_engine().is_some_and(names_it) {
                    table.copy.want();
                }
            }
        }
        *self.secondary.thread.lock() = Some(refresh_thread(self)?);
        Ok(())
    }

    /// The secondary engine of a name.
    pub(crate) fn secondary_engine(&self, name: &str) -> Option<Arc<dyn SecondaryEngine>> {
        let engine = self.secondary.engine.read();
        let named = engine
            .as_ref()
            .filter(|it| it.name().eq_ignore_ascii_case(name));
        named.cloned()
    }

    /// The secondary engine, whatever its name.
    pub(crate) fn any_secondary_engine(&self) -> Option<Arc<dyn SecondaryEngine>> {
        self.secondary.engine.read().clone()
    }

    /// Loads a table, in place of the copy that it has.
    ///
    /// # Errors
    /// Any error of reading and of the engine, which leave the table as it was; 1317 for a killed statement.
    pub(crate) fn load_copy(
        &self,
        table: &BaseTable,
        engine: &Arc<dyn SecondaryEngine>,
        interrupt: &Interrupt,
        cause: LoadCause,
    ) -> Result<Option<Arc<LoadedCopy>>> {
        let source = self.load_source(table)?;
        let with = (&self.options.clock, &*self.secondary.counters);
        load_into(&table.copy, &source, engine, interrupt, with, cause)
    }

    fn load_source(&self, table: &BaseTable) -> Result<Source> {
        let durable = table.durable();
        let definition = durable.ok_or_else(|| Error::internal("a loaded table is in a store"))?;
        let columns = table.definition.secondary_columns();
        let described = columns.iter().map(|column| {
            let column = &table.definition.columns[*column];
            LoadedColumn {
                name: column.name.clone(),
                ty: column.ty.clone(),
                nullable: column.nullable,
            }
        });
        Ok(Source {
            store: self.store_with(table)?,
            storage: self.change_storage(),
            definition,
            database: table.definition.database.clone(),
            table: table.definition.name.clone(),
            described: described.collect(),
            columns,
            batch_rows: self.options.batch_size,
        })
    }

    /// Status variables.
    pub(super) fn secondary_status(&self) -> [(&'static str, u64); 5] {
        let counters = &self.secondary.counters;
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        [
            ("Secondary_engine_bytes_loaded", get(&counters.bytes)),
            ("Secondary_engine_load_failures", get(&counters.failures)),
            ("Secondary_engine_loads", get(&counters.loads)),
            ("Secondary_engine_refreshes", get(&counters.refreshes)),
            ("Secondary_engine_rows_loaded", get(&counters.rows)),
        ]
    }
}

/// The thread that loads what is due.
fn refresh_thread(database: &Arc<Database>) -> Result<BackgroundThread> {
    let database: Weak<Database> = Arc::downgrade(database);
    BackgroundThread::start("secondary_engine", Duration::ZERO, move |interrupt| {
        refresh_due(&database, interrupt)
    })
}

/// Loads the tables that are due; returns the time until the next look. The database is held only to find them, so that
/// a long load does not keep it open.
fn refresh_due(database: &Weak<Database>, interrupt: &Interrupt) -> Duration {
    let Some(known) = database.upgrade() else {
        return IDLE;
    };
    let wait = known.globals().get(typed::SECONDARY_ENGINE_REFRESH);
    let tables = known.due_copies(wait > 0);
    drop(known);
    for table in tables {
        let Some(known) = database.upgrade() else {
            break;
        };
        let Some(engine) = known.any_secondary_engine() else {
            break;
        };
        let source = known.load_source(&table);
        let (clock, counters) = (
            Arc::clone(&known.options.clock),
            Arc::clone(&known.secondary.counters),
        );
        drop(known);
        let with = (&clock, &*counters);
        // The place of the copy keeps the error, and when to try again.
        let _ = source.and_then(|source| {
            load_into(
                &table.copy,
                &source,
                &engine,
                interrupt,
                with,
                LoadCause::Refresh,
            )
        });
    }
    if wait > 0 {
        Duration::from_millis(wait)
    } else {
        IDLE
    }
}

impl Database {
    /// The tables that are to be loaded: again after a restart, and after changes if `refreshes`.
    fn due_copies(&self, refreshes: bool) -> Vec<Arc<BaseTable>> {
        let now = Instant::now();
        let databases = self.catalog.databases();
        let tables = databases.values().flat_map(|entry| entry.tables.values());
        let is_due = |table: &&Arc<BaseTable>| {
            table.copy.is_due(now) && (refreshes || table.copy.copy().is_none())
        };
        tables.filter(is_due).cloned().collect()
    }
}
