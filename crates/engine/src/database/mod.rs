//! The state shared by all sessions of a process.

mod background;
mod expiry;
mod secondary;
pub(crate) mod server_modes;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use mayfly_memory::budget::UNLIMITED;
use mayfly_memory::{BlockPool, PoolOptions, StableRanges, trim_allocator};
use mayfly_storage::temptable::{MemoryQueue, Registry, Resources};
use mayfly_storage::{
    ChangeStorage, Durability, DurableStore, StatementOwner, StoreLocation, StoreOptions,
    SyncThread, WorkerPool,
};
use mayfly_types::error::codes;
use mayfly_types::temporal::TimeZone;
use mayfly_types::{Diagnostics, Result, SqlType, TypeKind, Value};
use parking_lot::{Mutex, RwLock};

use crate::accounts::Accounts;
use crate::budgets::{Budgets, part_limit, unlimited_if_zero};
use crate::catalog::trees::Lifespan;
use crate::catalog::{BaseTable, Catalog, dictionary};
use crate::connections::{Connections, SessionShared};
use crate::database::expiry::Expiry;
use crate::database::secondary::Secondary;
use crate::database::server_modes::ServerModes;
use crate::defaults;
use crate::files::FileRules;
use crate::instrumentation::{Instrumentation, InstrumentationSizes};
use crate::kept_results::ResultCache;
use crate::legacy_engines::LegacyEngines;
use crate::locks::table::TableLock;
use crate::locks::user::UserLockTable;
use crate::locks::waits::Waits;
use crate::logs::Logs;
use crate::options::{DatabaseOptions, FileAccess};
use crate::persisted::PersistedVariables;
use crate::statement_cache::StatementCache;
use crate::statement_options::StatementOptions;
use crate::status::{Counter, Counters};
use crate::storage_errors::StorageErrors;
use crate::variable_checks::Check;
use crate::variables::definition::Effect;
use crate::variables::structured::StructuredName;
use crate::variables::typed;
use crate::variables::{self, Kind, Scope, Setting, Settings};
use crate::{convert, temp_space};

/// Bytes of unused blocks and temporary files that are kept for reuse, unless a memory limit is lower.
const IDLE_BYTES: u64 = 512 << 20;

/// Bytes of recently used blocks that wait for reuse: this part of the machine's memory, at most `RECENT_BYTES_MAX`.
const RECENT_SHARE: u64 = 8;
const RECENT_BYTES_MAX: u64 = 4 << 30;

/// Status variables of mechanisms that Mayfly does not have. Tables are never opened or closed.
const ALWAYS_ZERO: &[&str] = &[
    // Rows of internal temporary tables are not updated or deleted one by one.
    "Handler_tmp_delete",
    "Handler_tmp_update",
    "Open_files",
    "Open_streams",
    "Opened_files",
    "Opened_table_definitions",
    "Opened_tables",
];

/// A running engine, as one MySQL server: all databases, tables, global variables and budgets.
#[derive(Debug)]
pub struct Database {
    pub(crate) options: DatabaseOptions,
    pub(crate) catalog: Catalog,
    pub(crate) accounts: Arc<Accounts>,
    /// SET PERSIST
    pub(crate) persisted: PersistedVariables,
    pub(crate) resources: Resources,
    pub(crate) budgets: Budgets,
    /// Values of SET GLOBAL name = DEFAULT.
    pub(crate) defaults: Settings,
    pub(crate) globals: RwLock<Settings>,
    /// Held while a change of a global variable is made and applied.
    global_changes: Mutex<()>,
    /// Statement options by settings, shared by sessions.
    statement_options: Mutex<Vec<(Settings, Weak<StatementOptions>)>>,
    /// Cached statements by their text.
    pub(crate) statement_cache: StatementCache,
    pub(crate) connections: Connections,
    ended: Counters,
    pub(crate) instrumentation: Instrumentation,
    pub(crate) legacy_engines: LegacyEngines,
    /// Results that are kept for other statements.
    pub(crate) results: Arc<ResultCache>,
    /// The slow log and the general log.
    pub(crate) logs: Logs,
    /// Reports of full disks.
    pub(crate) storage_errors: StorageErrors,
    /// Number of prepared statements.
    pub(crate) prepared_statements: Arc<AtomicU64>,
    started: Instant,
    /// When the engine started, by the clock of statements: microseconds since 1970 UTC.
    pub(crate) opened_at: i64,
    /// `read_only`, `super_read_only` and `offline_mode`.
    pub(crate) modes: ServerModes,
    pub(crate) file_rules: Arc<FileRules>,
    /// Wait-for graph of table locks and named locks.
    pub(crate) waits: Arc<Waits>,
    /// Lock of definitions: shared by changes of definitions, taken alone to block them.
    pub(crate) definitions: Arc<TableLock>,
    /// GET_LOCK()
    pub(crate) user_locks: Arc<UserLockTable>,
    /// The next UUID_SHORT().
    pub(crate) short_uuids: Arc<AtomicU64>,
    store: Mutex<Option<(DurableStore, Option<SyncThread>)>>,
    /// The store of shared temporary tables, if there is a data directory, too.
    volatile: Mutex<Option<DurableStore>>,
    expiry: Expiry,
    /// The secondary engine, and the thread that refreshes its copies.
    secondary: Secondary,
}

/// Memory that a thread of a statement needs at least, with its merges and the readers that it waits for: with less
/// per thread, all could wait for memory that the others hold.
const MEMORY_OF_THREAD: u64 = 3 << 20;

/// The first UUID_SHORT() after a start: server id, start time in seconds, and a counter.
fn first_short_uuid(server_id: u64, now_utc_microseconds: i64) -> u64 {
    let seconds = (now_utc_microseconds / 1_000_000).cast_unsigned();
    (server_id & 0xFF) << 56 | (seconds << 24) & (u64::MAX >> 8)
}

impl Database {
    /// An engine with an empty catalog.
    pub(crate) fn new(mut options: DatabaseOptions) -> Result<Arc<Self>> {
        let mut globals = Settings::defaults();
        defaults::put(&mut globals, &options);
        let text = |text: &str| Some(Arc::from(text));
        globals.put(typed::TMPDIR, text(&options.tmpdir.to_string_lossy()));
        globals.put(typed::LOCAL_INFILE, options.local_infile);
        globals.put(
            typed::SECURE_FILE_PRIV,
            match &options.file_access {
                FileAccess::Anywhere => text(""),
                FileAccess::Directory(directory) => text(&directory.to_string_lossy()),
                FileAccess::Disabled => None,
            },
        );
        let defaults = globals.clone();
        let mut key_caches = Vec::new();
        for (name, value) in &options.variables {
            match StructuredName::parse(name) {
                Some(structured) if structured.is_of_default() => {
                    set_at_start(&mut globals, structured.component.name(), value)?;
                }
                Some(structured) => {
                    // Checked as a setting of the default cache, which is not changed.
                    let mut checked = globals.clone();
                    set_at_start(&mut checked, structured.component.name(), value)?;
                    let value = checked.get(structured.component.variable());
                    key_caches.push((structured, value));
                }
                None => set_at_start(&mut globals, name, value)?,
            }
        }
        let loads = options
            .variables
            .iter()
            .rev()
            .find(|(name, _)| name == "persisted_globals_load");
        let persisted = if loads.is_none_or(|(_, value)| !is_off(value)) {
            PersistedVariables::open(options.datadir.as_deref())?
        } else {
            PersistedVariables::default()
        };
        for (name, variable) in persisted.all() {
            match set_at_start(&mut globals, &name, &variable.value) {
                // A variable of another server version.
                Err(error) if error.is(&codes::ER_UNKNOWN_SYSTEM_VARIABLE) => {}
                set => set?,
            }
        }
        let given = options.variables.iter().map(|(name, _)| name.clone());
        let mut given = given.chain(persisted.all().into_keys());
        if !given
            .any(|name| variables::position(&name) == variables::position("remote_file_access"))
        {
            let is_open = file_access(&globals) == FileAccess::Anywhere;
            globals.put(typed::REMOTE_FILE_ACCESS, is_open);
        }
        Logs::name_files(&options, &mut globals);
        if let Some(limit) = options.memory_limit {
            let most = usize::try_from(limit / MEMORY_OF_THREAD).unwrap_or(usize::MAX);
            options.threads = options.threads.min(most).max(1);
            mayfly_memory::tighten_allocator();
        }
        let budgets = Budgets::new(&options, &globals);
        let known = budgets.others.child("statement_cache_size", UNLIMITED);
        let statement_cache = StatementCache::new(known, options.keep_all_plans);
        statement_cache.set_limit(part_limit(&options, &globals, typed::STATEMENT_CACHE_SIZE));
        let idle_limit = options
            .memory_limit
            .map_or(IDLE_BYTES, |limit| (limit / 8).min(IDLE_BYTES));
        let recent_limit = match options.memory_limit {
            Some(_) => idle_limit,
            None => {
                let physical = mayfly_memory::physical_memory().unwrap_or_default();
                (physical / RECENT_SHARE).clamp(idle_limit, RECENT_BYTES_MAX)
            }
        };
        let working_memory = budgets.memory.child("none", UNLIMITED);
        let temp_space = temp_space::open(&options, &globals, IDLE_BYTES, working_memory)?;
        let resources = Resources {
            pool: BlockPool::new(PoolOptions {
                idle_limit,
                recent_limit,
            }),
            stable: StableRanges::new(),
            temp_space,
            registry: Registry::new(),
            queue: MemoryQueue::default(),
            workers: WorkerPool::new(options.threads),
        };
        let size = |variable| usize::try_from(globals.get(variable)).unwrap_or(usize::MAX);
        let sizes = InstrumentationSizes {
            is_on: globals.get(typed::PERFORMANCE_SCHEMA),
            digests: size(typed::PERFORMANCE_SCHEMA_DIGESTS_SIZE),
            digest_bytes: options.memory_limit.map_or(UNLIMITED, |limit| limit / 32),
            history: size(typed::PERFORMANCE_SCHEMA_EVENTS_STATEMENTS_HISTORY_SIZE),
            history_long: size(typed::PERFORMANCE_SCHEMA_EVENTS_STATEMENTS_HISTORY_LONG_SIZE),
            stages: size(typed::PERFORMANCE_SCHEMA_EVENTS_STAGES_HISTORY_SIZE),
            stages_long: size(typed::PERFORMANCE_SCHEMA_EVENTS_STAGES_HISTORY_LONG_SIZE),
            text_bytes: size(typed::PERFORMANCE_SCHEMA_MAX_SQL_TEXT_LENGTH),
        };
        let instrumentation = Instrumentation::new(sizes);
        let results_limit = part_limit(&options, &globals, typed::RESULT_CACHE_SIZE);
        let results = ResultCache::new(&budgets, &resources, results_limit);
        let legacy_engines = LegacyEngines::new(&options, &globals, &resources.temp_space);
        for (name, value) in key_caches {
            legacy_engines.set_key_cache(&options, &name, value);
        }
        let logs = Logs::new(&options, &globals, &budgets.memory);
        let waits: Arc<Waits> = Arc::default();
        let database = Arc::new(Self {
            user_locks: Arc::new(UserLockTable::new(Arc::clone(&waits))),
            definitions: Arc::default(),
            waits,
            short_uuids: Arc::new(AtomicU64::new(first_short_uuid(
                globals.get(typed::SERVER_ID),
                options.clock.now_utc_microseconds(),
            ))),
            modes: ServerModes::of(&globals),
            file_rules: Arc::new(FileRules::new(
                file_access(&globals),
                globals.get(typed::REMOTE_FILE_ACCESS),
                options.datadir.as_deref(),
                &resources.temp_space,
            )),
            opened_at: options.clock.now_utc_microseconds(),
            options,
            catalog: Catalog::new(),
            accounts: Arc::default(),
            persisted,
            resources,
            budgets,
            defaults: defaults.shared(),
            globals: RwLock::new(globals.shared()),
            global_changes: Mutex::default(),
            statement_options: Mutex::default(),
            statement_cache,
            connections: Connections::default(),
            ended: Counters::new(),
            instrumentation,
            legacy_engines,
            results,
            logs,
            storage_errors: StorageErrors::default(),
            prepared_statements: Arc::default(),
            started: Instant::now(),
            store: Mutex::default(),
            volatile: Mutex::default(),
            expiry: Expiry::default(),
            secondary: Secondary::default(),
        });
        let mandatory = database.globals();
        let mandatory = mandatory.text(typed::MANDATORY_ROLES);
        database.accounts.set_mandatory(mandatory);
        Ok(database)
    }

    /// The store of durable tables. Without a data directory it is made on first use.
    pub(crate) fn store(&self) -> Result<DurableStore> {
        let mut store = self.store.lock();
        if let Some((store, _)) = &*store {
            return Ok(store.clone());
        }
        let location = match &self.options.datadir {
            Some(directory) => StoreLocation::DataDirectory(directory.clone()),
            None => self.temporary_location("(base tables)")?,
        };
        let opened = DurableStore::open(self.store_options(location))?;
        opened.set_durability(durability(&self.globals()));
        let syncs = self.options.datadir.is_some();
        let errors = self.options.background_errors.clone();
        if let Some(errors) = &errors
            && opened.was_open_to_others()
        {
            errors.was_open_to_others(opened.directory());
        }
        let report = move |error: Option<&_>| {
            if let Some(errors) = &errors {
                errors.sync(error);
            }
        };
        let thread = syncs.then(|| SyncThread::start(&opened, report));
        let thread = thread.transpose()?;
        Ok(store.insert((opened, thread)).0.clone())
    }

    /// The store that rows of a lifespan are in: without a data directory, nothing lasts longer than the process, and
    /// there is one store.
    #[inline]
    pub(crate) fn store_of(&self, lifespan: Lifespan) -> Lifespan {
        match self.options.datadir {
            Some(_) => lifespan,
            None => Lifespan::Lasting,
        }
    }

    /// The store of shared temporary tables, which is made on first use: in a temporary directory, without a log, and
    /// with the row locks of the other store.
    pub(crate) fn volatile_store(&self) -> Result<DurableStore> {
        let lasting = self.store()?;
        if self.store_of(Lifespan::Volatile) == Lifespan::Lasting {
            return Ok(lasting);
        }
        let mut volatile = self.volatile.lock();
        if let Some(store) = &*volatile {
            return Ok(store.clone());
        }
        let location = self.temporary_location("(shared temporary tables)")?;
        let opened = lasting.open_beside(self.store_options(location))?;
        Ok(volatile.insert(opened).clone())
    }

    /// Whether there have been shared temporary tables.
    pub(crate) fn has_volatile_store(&self) -> bool {
        self.volatile.lock().is_some()
    }

    /// The store that a durable table is in.
    pub(crate) fn store_with(&self, table: &BaseTable) -> Result<DurableStore> {
        match table.trees().map(|trees| trees.lifespan) {
            Some(Lifespan::Volatile) => self.volatile_store(),
            _ => self.store(),
        }
    }

    fn temporary_location(&self, name: &str) -> Result<StoreLocation> {
        let directory = self.resources.temp_space.make_directory();
        let directory = directory.map_err(|error| mayfly_storage::user_error(&error, name))?;
        self.file_rules.add_own(directory.path());
        Ok(StoreLocation::Temporary(directory))
    }

    fn store_options(&self, location: StoreLocation) -> StoreOptions {
        StoreOptions {
            location,
            stable: self.resources.stable.clone(),
            write_buffer: self.budgets.write_buffer.clone(),
        }
    }

    /// Writes a copy of the data directory as of this moment into a new or empty directory, while sessions read and
    /// write.
    pub fn backup(&self, directory: &Path) -> Result<()> {
        self.store()?.backup(directory)
    }

    /// Reads and checks the whole data directory; the error is the first damage found. Returns the number of durable
    /// tables.
    pub fn check(&self) -> Result<usize> {
        let mut tables = self.catalog.all_tables();
        tables.retain(|table| !table.definition.is_shared());
        let tables: Vec<_> = tables.iter().filter_map(|table| table.durable()).collect();
        self.store()?.check(&tables)?;
        Ok(tables.len())
    }

    pub(crate) fn session_ended(&self, id: u64, counters: &Counters) {
        self.connections.end(id);
        counters.move_into(&self.ended);
    }

    /// The open sessions.
    pub(crate) fn living_sessions(&self) -> Vec<Arc<SessionShared>> {
        self.connections.living()
    }

    /// The statement options of settings: one struct for all sessions with equal settings, so that they can share
    /// plans.
    pub(crate) fn statement_options(&self, settings: &Settings) -> Arc<StatementOptions> {
        const CACHED: usize = 64;
        let mut known = self.statement_options.lock();
        let same = known.iter().find(|(other, _)| other == settings);
        if let Some(options) = same.and_then(|(_, options)| options.upgrade()) {
            return options;
        }
        known.retain(|(_, options)| options.strong_count() > 0);
        if known.len() >= CACHED {
            known.remove(0);
        }
        let options = Arc::new(StatementOptions::read(settings, &self.options));
        known.push((settings.clone(), Arc::downgrade(&options)));
        options
    }

    /// The global value of a system variable, as SHOW GLOBAL VARIABLES prints it; `None` for an unknown name.
    pub fn variable(&self, name: &str) -> Option<String> {
        let position = variables::position(name)?;
        let variable = variables::all()[position];
        let value = variable.display(self.globals().at(position));
        Some(value.unwrap_or_default())
    }

    /// `connect_timeout`: limit of a login's duration.
    pub fn connect_timeout(&self) -> Duration {
        Duration::from_secs(self.globals().get(typed::CONNECT_TIMEOUT))
    }

    /// The answer to COM_STATISTICS.
    pub fn statistics_text(&self) -> String {
        let uptime = self.started.elapsed();
        let questions = self.counter(Counter::Questions);
        let average = questions as f64 / uptime.as_secs_f64().max(1.0);
        format!(
            "Uptime: {}  Threads: {}  Questions: {questions}  Slow queries: {}  Opens: {}  \
             Flush tables: 1  Open tables: {}  Queries per second avg: {average:.3}",
            uptime.as_secs(),
            self.living_sessions().len(),
            self.counter(Counter::SlowQueries),
            self.catalog.all_tables().len(),
            self.catalog.all_tables().len(),
        )
    }

    /// Reserved bytes of memory: base tables and temporary tables, without the statement cache, kept results, digest
    /// summaries and the write buffer. Zero once every session and table is dropped.
    pub fn memory_used(&self) -> u64 {
        let caches = self.statement_cache.bytes()
            + self.results.used().0
            + self.budgets.write_buffer.used()
            + self.logs.bytes();
        self.budgets.memory.used().saturating_sub(caches)
    }

    /// Peak of reserved bytes of memory.
    pub fn memory_peak(&self) -> u64 {
        self.budgets.memory.peak()
    }

    /// Resets the peaks of memory and temporary space.
    pub fn reset_peaks(&self) {
        self.budgets.memory.reset_peak();
        self.budgets.temp_space.reset_peak();
    }

    /// Bytes in temporary files, without those of kept results.
    pub fn temp_space_used(&self) -> u64 {
        let used = self.budgets.temp_space.used() + self.budgets.base_space.used();
        used.saturating_sub(self.results.used().1)
    }

    /// Peak of bytes in temporary files.
    pub fn temp_space_peak(&self) -> u64 {
        self.budgets.temp_space.peak()
    }

    /// Number of temporary tables, internal and user-made, without kept results.
    pub fn temporary_table_count(&self) -> usize {
        let results = self.results.len();
        self.resources.registry.len().saturating_sub(results)
    }

    /// Returns idle memory and idle temporary files to the system.
    pub fn trim(&self) {
        self.resources.pool.trim(0);
        self.resources.temp_space.trim();
        trim_allocator();
    }

    /// Storage of changes to durable tables until commit.
    pub(crate) fn change_storage(&self) -> ChangeStorage {
        ChangeStorage {
            resources: self.resources.clone(),
            memory: self.budgets.base_tables.child("none", UNLIMITED),
            temp_space: self.budgets.temp_space.clone(),
            owner: StatementOwner::default(),
            force_overflow: self.options.force_overflow,
        }
    }

    /// A copy of the global variables, for a new session.
    #[inline]
    pub(crate) fn globals(&self) -> Settings {
        self.globals.read().clone()
    }

    /// Sets a global variable and applies it.
    pub(crate) fn set_global(&self, position: usize, setting: Setting) {
        // Changes are applied in the order in which they are made, outside of the lock that opening the store takes.
        let _in_order = self.global_changes.lock();
        let globals = {
            let mut globals = self.globals.write();
            globals.set_for_all(position, setting);
            globals.clone()
        };
        if let Some(effect) = variables::all()[position].effect {
            self.apply(effect, &globals);
        }
    }

    /// Applies a change of a global variable to what keeps its value.
    fn apply(&self, effect: Effect, globals: &Settings) {
        let budgets = &self.budgets;
        let part = |variable| part_limit(&self.options, globals, variable);
        match effect {
            Effect::TemporaryTableMemory => {
                let bytes = globals.get(typed::TEMPTABLE_MAX_RAM);
                budgets.temporary_tables.set_limit(bytes);
            }
            Effect::TemporarySpace => {
                let bytes = globals.get(typed::MAX_TMP_TOTAL_SPACE_USAGE);
                budgets.temp_space.set_limit(unlimited_if_zero(bytes));
            }
            Effect::UserLimits => budgets.set_user_limits(globals),
            Effect::LegacyEngines => self.legacy_engines.set(&self.options, globals),
            Effect::WriteBuffer => {
                let bytes = part(typed::WRITE_BUFFER_SIZE);
                budgets.write_buffer.set_limit(bytes);
            }
            Effect::StatementCache => {
                let bytes = part(typed::STATEMENT_CACHE_SIZE);
                self.statement_cache.set_limit(bytes);
            }
            Effect::ResultCache => {
                let bytes = part(typed::RESULT_CACHE_SIZE);
                self.results.set_limit(bytes);
            }
            Effect::Compression => {
                let compression = temp_space::compression(globals);
                self.resources.temp_space.set_compression(compression);
            }
            Effect::Durability => {
                if let Some((store, _)) = &*self.store.lock() {
                    store.set_durability(durability(globals));
                }
            }
            Effect::Modes => self.modes.set(globals),
            Effect::Logs => self.logs.set(globals),
            Effect::MandatoryRoles => {
                let roles = globals.text(typed::MANDATORY_ROLES);
                self.accounts.set_mandatory(roles);
                self.catalog.touch();
            }
        }
    }

    /// A counter summed over all sessions, open and ended.
    pub(crate) fn counter(&self, counter: Counter) -> u64 {
        let living = self.living_sessions();
        let living = living.iter().map(|session| session.counters.get(counter));
        living.sum::<u64>() + self.ended.get(counter)
    }

    /// FLUSH STATUS: adds a session's counters to the global ones.
    pub(crate) fn flush_status(&self, counters: &Counters) {
        counters.move_into(&self.ended);
        self.connections.flush_status();
        self.legacy_engines.flush_status();
    }

    /// Status variables other than session counters.
    pub(crate) fn computed_status(&self) -> Vec<(&'static str, String)> {
        let uptime = self.started.elapsed().as_secs();
        let temp = self.resources.temp_space.counters();
        let open_tables = self.catalog.all_tables().len() as u64;
        let datetime = |seconds: u64| {
            let microseconds = i64::try_from(seconds).unwrap_or(0) * 1_000_000;
            let value = convert::datetime_of_unix(microseconds, &TimeZone::System);
            let ty = SqlType::temporal(TypeKind::DateTime, 0);
            String::from_utf8_lossy(&convert::display(&value, &ty)).into_owned()
        };
        let mut status = self.connections.status(datetime);
        let prepared = self.prepared_statements.load(Ordering::Relaxed);
        let store = self.store.lock();
        let locks = store.as_ref().map(|(store, _)| store.row_lock_waits());
        drop(store);
        let locks = locks.unwrap_or_default();
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let time = milliseconds(locks.time);
        let computed = [
            ("Innodb_row_lock_current_waits", locks.waiting),
            ("Innodb_row_lock_time", time),
            (
                "Innodb_row_lock_time_avg",
                time.checked_div(locks.waits).unwrap_or(0),
            ),
            ("Innodb_row_lock_time_max", milliseconds(locks.longest)),
            ("Innodb_row_lock_waits", locks.waits),
            ("Created_tmp_files", temp.created_files()),
            ("Memory_used", self.memory_used()),
            ("Open_table_definitions", open_tables),
            ("Open_tables", open_tables),
            ("Prepared_stmt_count", prepared),
            ("Tmp_queue_waiting", self.resources.queue.waiting()),
            ("Tmp_queue_waits", self.resources.queue.waits()),
            ("Workers_busy", self.resources.workers.busy()),
            ("Workers_refused", self.resources.workers.refused()),
            ("Uptime", uptime),
            ("Uptime_since_flush_status", uptime),
            ("Write_buffer_used", self.budgets.write_buffer.used()),
        ];
        let zeros = ALWAYS_ZERO.iter().map(|name| (*name, 0));
        let keys = self.legacy_engines.status();
        let results = self.results.status();
        let secondary = self.secondary_status();
        let rows = computed.into_iter().chain(results).chain(secondary);
        let rows = rows.chain(keys).chain(zeros);
        status.extend(rows.map(|(name, value)| (name, value.to_string())));
        status
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let store = self.store.get_mut();
        let store = store.as_ref().map(|(store, _)| store.clone());
        if let (Some(store), true) = (store, self.options.datadir.is_some()) {
            let transaction = store.session(self.change_storage());
            // There is no client to report the error to. Acknowledged commits are durable already: at worst some
            // AUTO_INCREMENT numbers are skipped.
            let _ = dictionary::close(&transaction, &self.catalog.all_tables());
        }
    }
}

/// Files that statements may access: `secure_file_priv`, as an option or as a variable set at startup.
fn file_access(globals: &Settings) -> FileAccess {
    match globals.get(typed::SECURE_FILE_PRIV) {
        None => FileAccess::Disabled,
        Some(text) if text.is_empty() => FileAccess::Anywhere,
        Some(text) => FileAccess::Directory(PathBuf::from(&**text)),
    }
}

/// Durability of commits: `innodb_flush_log_at_trx_commit`.
fn durability(globals: &Settings) -> Durability {
    match globals.get(typed::INNODB_FLUSH_LOG_AT_TRX_COMMIT) {
        1 => Durability::EveryCommit,
        _ => Durability::EverySecond,
    }
}

fn is_off(value: &str) -> bool {
    ["0", "off", "false"]
        .iter()
        .any(|off| value.eq_ignore_ascii_case(off))
}

/// Parses an integer in the syntax of option files and command lines: the suffixes K, M, G, T, P and E are powers of
/// 1024 (the manual, "Using Options to Set Program Variables").
fn whole_number(text: &str) -> Option<Value> {
    const UNITS: [char; 6] = ['k', 'm', 'g', 't', 'p', 'e'];
    let unit = |unit: &char| text.ends_with(|last: char| last.eq_ignore_ascii_case(unit));
    let (digits, power) = match UNITS.iter().position(unit) {
        Some(position) => (&text[..text.len() - 1], position + 1),
        None => (text, 0),
    };
    let number: i128 = digits.parse().ok()?;
    let number = number.checked_mul(1 << (10 * power))?;
    let signed = i64::try_from(number).map(Value::Int);
    let number = signed.or_else(|_| u64::try_from(number).map(Value::UInt));
    number.ok()
}

/// Sets a variable from text before the first session, as by SET GLOBAL.
fn set_at_start(globals: &mut Settings, name: &str, text: &str) -> Result<()> {
    let unknown = || codes::ER_UNKNOWN_SYSTEM_VARIABLE.with(&[&name]);
    let position = variables::position(name).ok_or_else(unknown)?;
    let variable = variables::all()[position];
    if variable.scope == Scope::Session {
        return Err(unknown());
    }
    let diagnostics = Diagnostics::new(0);
    let whole = match variable.kind {
        Kind::Unsigned { .. } | Kind::Signed { .. } => whole_number(text),
        _ => text.parse().ok().map(Value::Int),
    };
    let is_text = matches!(variable.kind, Kind::Text(_));
    let (value, ty) = match (whole, text.parse::<f64>()) {
        (Some(number), _) if !is_text => (number, SqlType::bigint()),
        (None, Ok(number)) if !is_text => (Value::Float(number), SqlType::double()),
        _ => (
            Value::from(text),
            SqlType::varchar(1024, Default::default()),
        ),
    };
    if variable.name == "secure_file_priv" && text.eq_ignore_ascii_case("NULL") {
        globals.set(position, Setting::Text(None));
        return Ok(());
    }
    let before = globals.at(position).clone();
    let check = Check {
        diagnostics: &diagnostics,
        strict: false,
        before: &before,
    };
    let setting = variable.check(&value, &ty, &check)?;
    globals.set(position, setting);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variable_checks::text_of;

    fn with(name: &str, value: &str) -> DatabaseOptions {
        DatabaseOptions {
            variables: vec![(name.to_owned(), value.to_owned())],
            ..DatabaseOptions::default()
        }
    }

    #[test]
    fn variables_at_the_start_have_units() {
        for (name, text, shown) in [
            ("tmp_table_size", "64M", "67108864"),
            ("read_buffer_size", "128K", "131072"),
            ("sort_buffer_size", "256m", "268435456"),
            ("temptable_max_ram", "2g", "2147483648"),
            (
                "tmp_table_size",
                "18446744073709551615",
                "18446744073709551615",
            ),
            ("max_heap_table_size", "16777216", "16777216"),
        ] {
            let database = Database::new(with(name, text)).expect("the value is right");
            let globals = database.globals();
            let position = variables::position(name).expect("a variable");
            let value = variables::all()[position].value(globals.at(position));
            assert_eq!(text_of(&value), shown, "{name}={text}");
        }
        for text in ["64X", "M", "1.5M", "64MB", "99999999999999999E"] {
            let opened = Database::new(with("tmp_table_size", text));
            let error = opened.err().map(|error| error.errno());
            assert_eq!(error, Some(1232), "{text}");
        }
    }
}
