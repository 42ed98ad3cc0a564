//! The kept results of the database as a statement of the session sees them ([`crate::kept_results`]).

use std::sync::{Arc, Weak};
use std::time::Duration;

use mayfly_exec::{Found, KeptResults, ResultKeeper};
use mayfly_functions::UserVariables;
use mayfly_plan::physical::{Freshness, KeptResult};
use mayfly_storage::{StatementOwner, TableState, TempTable};
use mayfly_types::Value;
use parking_lot::Mutex;

use crate::database::Database;
use crate::kept_results::{AsOf, ByAddress, Kept, Key, LATER, RESULT_BYTES, add, due};
use crate::result::ResultUse;
use crate::statement_options::StatementOptions;

/// The kept results as a statement sees them.
pub(crate) struct StatementResults {
    pub(crate) database: Arc<Database>,
    pub(crate) options: Arc<StatementOptions>,
    pub(crate) current_database: Option<Arc<str>>,
    pub(crate) rights: Arc<str>,
    pub(crate) variables: Arc<UserVariables>,
    pub(crate) owner: StatementOwner,
    pub(crate) used: Arc<Mutex<ResultUse>>,
}

impl StatementResults {
    fn key(&self, kept: &KeptResult, parameters: Vec<Value>) -> Key {
        let variables = kept.variables.iter();
        Key {
            text: Arc::clone(&kept.text),
            tables: kept.tables.clone(),
            options: ByAddress(Arc::clone(&self.options)),
            database: self.current_database.clone(),
            rights: Arc::clone(&self.rights),
            views: self.database.catalog.views_version(),
            parameters,
            variables: variables.map(|name| self.variables.get(name)).collect(),
        }
    }

    /// Age and bytes of the result that the statement would read, if it depends on no parameter.
    pub(crate) fn known(
        &self,
        kept: &KeptResult,
        states: &[TableState],
    ) -> Option<(Duration, u64)> {
        let now = self.database.options.clock.now_utc_microseconds();
        let key = self.key(kept, Vec::new());
        self.database
            .results
            .known(&key, kept.freshness, states, now)
    }
}

impl KeptResults for StatementResults {
    fn find(&self, kept: &KeptResult, states: Vec<TableState>, parameters: Vec<Value>) -> Found {
        let cache = &self.database.results;
        let is_own = |state: &TableState| match state {
            TableState::Own => true,
            TableState::Newest => kept.freshness == Freshness::UntilChanged,
            TableState::Committed { .. } => false,
        };
        if !cache.is_on() || states.iter().any(is_own) {
            add(&cache.counters.passed, 1);
            return Found::Passed;
        }
        let key = self.key(kept, parameters);
        let now = self.database.options.clock.now_utc_microseconds();
        if let Some(hit) = cache.find(&key, kept.freshness, &states, now) {
            add(&cache.counters.hits, 1);
            let mut used = self.used.lock();
            used.hits += 1;
            used.bytes += hit.bytes;
            used.age = used.age.max(hit.age);
            return Found::Kept(hit.rows);
        }
        add(&cache.counters.misses, 1);
        self.used.lock().misses += 1;
        cache.note_versions(&states);
        Found::Absent(Box::new(Keeper {
            database: Arc::downgrade(&self.database),
            key,
            freshness: kept.freshness,
            states,
            owner: self.owner.clone(),
        }))
    }
}

/// Keeps one result of a statement.
struct Keeper {
    database: Weak<Database>,
    key: Key,
    freshness: Freshness,
    states: Vec<TableState>,
    owner: StatementOwner,
}

impl ResultKeeper for Keeper {
    fn keep(self: Box<Self>, rows: &TempTable, time: Duration) {
        let Some(database) = self.database.upgrade() else {
            return;
        };
        let Some(tables) = self
            .states
            .iter()
            .map(AsOf::after)
            .collect::<Option<Vec<_>>>()
        else {
            return;
        };
        let is_current = tables.iter().all(AsOf::is_current);
        if self.freshness == Freshness::UntilChanged && !is_current {
            return;
        }
        let cache = &database.results;
        let record = rows.record();
        let bytes = record.memory_bytes + record.disk_bytes + RESULT_BYTES;
        if !cache.make_room(time, bytes) {
            return;
        }
        // A result that cannot be copied is not kept; the statement has its own rows.
        let Ok(copy) = cache.copy(rows, self.freshness, &self.owner) else {
            return;
        };
        let now = database.options.clock.now_utc_microseconds();
        let elapsed = i64::try_from(time.as_micros()).unwrap_or(0);
        let kept = Kept {
            key: self.key,
            rows: copy,
            bytes,
            freshness: self.freshness,
            // The rows are those of the time when the computation began.
            computed: now.saturating_sub(elapsed),
            time,
            readers: 0,
            tables,
        };
        let due = due(kept.computed, kept.freshness).max(now.saturating_add(LATER));
        cache.put(kept);
        // Without the thread, it ends with a later statement.
        let _ = database.note_expiry(due);
    }
}
