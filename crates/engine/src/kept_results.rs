//! Results that are kept for other statements: the hint RESULT_CACHE and CREATE TEMPORARY TABLE … CACHE.
//!
//! A kept result is a copy of a query's rows in a temporary table of the database. Another statement reads it if it has
//! the text, the tables and the session's state that the rows follow from ([`Key`]), and if the rows are fresh: not older
//! than the reader allows, or unchanged. Tables have versions ([`mayfly_storage::TableState`]): a result holds, for each
//! table, the version as of which its rows are; a reader whose snapshot is older does not read them, nor, with UNTIL
//! CHANGED, one for whom the version has gone on. So no reader sees rows that its snapshot does not have.
//!
//! Results live within `result_cache_size`. Where there is no room, and when statements need the memory, the result goes
//! first that is least worth: the time that it takes to compute, by its readers and its bytes (as in the replacement of
//! query caches by profit: Scheuermann, Shim, Vingralek, "WATCHMAN", VLDB 1996).

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mayfly_memory::Budget;
use mayfly_memory::budget::UNLIMITED;
use mayfly_plan::TableId;
use mayfly_plan::physical::{Freshness, Purpose};
use mayfly_storage::temptable::{Reclaim, Resources};
use mayfly_storage::{
    Access, StatementOwner, TableState, TempTable, TempTableContext, TempTableOptions,
    TempTableSpec, TreeVersion,
};
use mayfly_types::{Interrupt, Result, SqlType, Value};
use parking_lot::Mutex;

use crate::budgets::Budgets;
use crate::statement_options::StatementOptions;

/// Number of versions that are kept known for tables that results were asked of: a version that nobody holds begins anew.
const KNOWN_VERSIONS: usize = 256;

/// Microseconds between looks for results that are over.
pub(crate) const LATER: i64 = 1_000_000;

/// Bytes of a result beside its rows, about.
pub(crate) const RESULT_BYTES: u64 = 1 << 10;

/// What the rows of a result follow from, besides the rows of its tables.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    pub(crate) text: Arc<str>,
    pub(crate) tables: Vec<TableId>,
    pub(crate) options: ByAddress,
    pub(crate) database: Option<Arc<str>>,
    /// The rights of the user that runs it.
    pub(crate) rights: Arc<str>,
    /// Version of views, to which names may lead.
    pub(crate) views: u64,
    pub(crate) parameters: Vec<Value>,
    pub(crate) variables: Vec<Option<(SqlType, Value)>>,
}

/// Options of statements, one struct for all sessions with equal ones.
#[derive(Debug, Clone)]
pub(crate) struct ByAddress(pub(crate) Arc<StatementOptions>);

impl PartialEq for ByAddress {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The state of a table as of which the rows of a result are.
#[derive(Debug)]
pub(crate) enum AsOf {
    /// A version of its committed rows; `is_exact` unless other commits may have changed the table since, before the
    /// rows were read.
    Version {
        version: Arc<TreeVersion>,
        as_of: u64,
        is_exact: bool,
    },
    /// The newest rows of a table without versions.
    Newest,
}

impl AsOf {
    /// The state of a table whose rows have been read.
    pub(crate) fn after(state: &TableState) -> Option<Self> {
        match state {
            TableState::Committed { version, snapshot } => {
                let now = version.get();
                Some(Self::Version {
                    version: Arc::clone(version),
                    as_of: now.min(*snapshot),
                    is_exact: now <= *snapshot,
                })
            }
            TableState::Newest => Some(Self::Newest),
            TableState::Own => None,
        }
    }

    /// Whether the rows are unchanged since.
    pub(crate) fn is_current(&self) -> bool {
        match self {
            Self::Version {
                version,
                as_of,
                is_exact,
            } => *is_exact && version.get() == *as_of,
            Self::Newest => false,
        }
    }

    /// Whether a reader that sees this state of the table sees all that the result was computed from.
    pub(crate) fn is_seen_by(&self, reader: &TableState) -> bool {
        match (self, reader) {
            (
                Self::Version { version, as_of, .. },
                TableState::Committed {
                    version: known,
                    snapshot,
                },
            ) => Arc::ptr_eq(version, known) && as_of <= snapshot,
            (Self::Newest, TableState::Newest) => true,
            _ => false,
        }
    }
}

/// A kept result.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) key: Key,
    pub(crate) rows: TempTable,
    pub(crate) bytes: u64,
    pub(crate) freshness: Freshness,
    /// Microseconds since 1970 UTC.
    pub(crate) computed: i64,
    /// Time to compute it.
    pub(crate) time: Duration,
    pub(crate) readers: u64,
    pub(crate) tables: Vec<AsOf>,
}

impl Kept {
    pub(crate) fn age(&self, now: i64) -> Duration {
        let age = u64::try_from(now.saturating_sub(self.computed)).unwrap_or(0);
        Duration::from_micros(age)
    }

    /// Whether somebody may still read it.
    fn is_fresh(&self, now: i64) -> bool {
        match self.freshness {
            Freshness::For(time) => self.age(now) <= time,
            Freshness::UntilChanged => self.tables.iter().all(AsOf::is_current),
        }
    }

    /// Whether a reader with this freshness may read it, whose tables are in these states.
    pub(crate) fn serves(&self, freshness: Freshness, states: &[TableState], now: i64) -> bool {
        let is_fresh = match freshness {
            Freshness::For(time) => self.age(now) <= time,
            Freshness::UntilChanged => self.tables.iter().all(AsOf::is_current),
        };
        let mut pairs = self.tables.iter().zip(states);
        is_fresh
            && self.tables.len() == states.len()
            && pairs.all(|(table, state)| table.is_seen_by(state))
    }

    /// Seconds saved, so far and by the next reader, for each byte.
    fn worth(&self) -> f64 {
        worth(self.time, self.readers, self.bytes)
    }
}

fn worth(time: Duration, readers: u64, bytes: u64) -> f64 {
    time.as_secs_f64() * (readers + 1) as f64 / bytes.max(1) as f64
}

#[derive(Debug, Default)]
struct State {
    results: HashMap<Arc<str>, Vec<Kept>>,
    bytes: u64,
    count: u64,
    versions: VecDeque<Arc<TreeVersion>>,
}

impl State {
    fn all(&self) -> impl Iterator<Item = &Kept> {
        self.results.values().flatten()
    }

    /// Removes the results that `is_over` names; returns their number.
    fn remove(&mut self, mut is_over: impl FnMut(&Kept) -> bool) -> u64 {
        let before = self.count;
        let (mut bytes, mut count) = (0, 0);
        self.results.retain(|_, results| {
            results.retain(|kept| !is_over(kept));
            bytes += results.iter().map(|kept| kept.bytes).sum::<u64>();
            count += results.len() as u64;
            !results.is_empty()
        });
        (self.bytes, self.count) = (bytes, count);
        before - count
    }

    /// Removes the result that is least worth, if it is worth less than `than`; returns its bytes.
    fn remove_least(&mut self, than: f64) -> Option<u64> {
        let least = self.all().min_by(|a, b| a.worth().total_cmp(&b.worth()))?;
        if least.worth() >= than {
            return None;
        }
        let (id, bytes) = (least.rows.record().id, least.bytes);
        self.remove(|kept| kept.rows.record().id == id);
        Some(bytes)
    }
}

/// Counters for the status variables.
#[derive(Debug, Default)]
pub(crate) struct ResultCounters {
    pub(crate) hits: AtomicU64,
    pub(crate) misses: AtomicU64,
    pub(crate) passed: AtomicU64,
    pub(crate) inserts: AtomicU64,
    pub(crate) evicted: AtomicU64,
    pub(crate) ended: AtomicU64,
}

/// The kept results of a database.
#[derive(Debug)]
pub(crate) struct ResultCache {
    state: Mutex<State>,
    limit: AtomicU64,
    memory: Budget,
    space: Budget,
    resources: Resources,
    pub(crate) counters: ResultCounters,
}

pub(crate) fn add(counter: &AtomicU64, amount: u64) {
    counter.fetch_add(amount, Ordering::Relaxed);
}

impl ResultCache {
    pub(crate) fn new(budgets: &Budgets, resources: &Resources, limit: u64) -> Arc<Self> {
        let cache = Arc::new(Self {
            state: Mutex::default(),
            limit: AtomicU64::new(limit),
            memory: budgets
                .temporary_tables
                .child("result_cache_size", UNLIMITED),
            space: budgets.temp_space.child("result_cache_size", UNLIMITED),
            resources: Resources {
                // Rows of a result do not point into a data file, whose pages they would keep from being used again.
                stable: mayfly_memory::StableRanges::new(),
                ..resources.clone()
            },
            counters: ResultCounters::default(),
        });
        let holder: Arc<dyn Reclaim> = Arc::clone(&cache) as _;
        resources.registry.add_holder(Arc::downgrade(&holder));
        cache
    }

    /// Sets `result_cache_size`; 0 keeps nothing.
    pub(crate) fn set_limit(&self, limit: u64) {
        self.limit.store(limit, Ordering::Relaxed);
        let mut state = self.state.lock();
        while state.bytes > limit && state.remove_least(f64::INFINITY).is_some() {
            add(&self.counters.evicted, 1);
        }
    }

    /// Bytes in memory and in temporary files.
    pub(crate) fn used(&self) -> (u64, u64) {
        (self.memory.used(), self.space.used())
    }

    /// Number of results.
    pub(crate) fn len(&self) -> usize {
        self.state.lock().count as usize
    }

    /// Ends the result of a temporary table with this id; false without one.
    pub(crate) fn end(&self, id: u64) -> bool {
        let mut state = self.state.lock();
        state.remove(|kept| kept.rows.record().id == id) > 0
    }

    /// Ends results that nobody can read any more; returns when the next one may be over, in microseconds since 1970
    /// UTC.
    pub(crate) fn end_due(&self, now: i64) -> Option<i64> {
        let mut state = self.state.lock();
        let ended = state.remove(|kept| !kept.is_fresh(now));
        add(&self.counters.ended, ended);
        let next = state.all().map(|kept| due(kept.computed, kept.freshness));
        next.map(|due| due.max(now.saturating_add(LATER))).min()
    }

    /// Status variables.
    pub(crate) fn status(&self) -> [(&'static str, u64); 8] {
        let counters = &self.counters;
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let state = self.state.lock();
        [
            ("Result_cache_bytes", state.bytes),
            ("Result_cache_ended", get(&counters.ended)),
            ("Result_cache_evicted", get(&counters.evicted)),
            ("Result_cache_hits", get(&counters.hits)),
            ("Result_cache_inserts", get(&counters.inserts)),
            ("Result_cache_misses", get(&counters.misses)),
            ("Result_cache_passed", get(&counters.passed)),
            ("Result_cache_results", state.count),
        ]
    }

    /// Whether results are kept at all.
    pub(crate) fn is_on(&self) -> bool {
        self.limit.load(Ordering::Relaxed) > 0
    }

    /// Age and bytes of the result of a key that a reader may read, which is not read now.
    pub(crate) fn known(
        &self,
        key: &Key,
        freshness: Freshness,
        states: &[TableState],
        now: i64,
    ) -> Option<(Duration, u64)> {
        let state = self.state.lock();
        let mut results = state.results.get(&key.text)?.iter();
        let found =
            results.find(|known| known.key == *key && known.serves(freshness, states, now))?;
        Some((found.age(now), found.bytes))
    }

    /// The bytes and age of the result of a key that a reader may read.
    pub(crate) fn find(
        &self,
        key: &Key,
        freshness: Freshness,
        states: &[TableState],
        now: i64,
    ) -> Option<Hit> {
        let mut state = self.state.lock();
        let results = state.results.get_mut(&key.text)?;
        let mut results = results.iter_mut().filter(|kept| kept.key == *key);
        let found = results.find(|kept| kept.serves(freshness, states, now))?;
        found.readers += 1;
        Some(Hit {
            rows: found.rows.clone(),
            bytes: found.bytes,
            age: found.age(now),
        })
    }

    /// Makes room for a result; false if it is worth less than what it would replace.
    pub(crate) fn make_room(&self, time: Duration, bytes: u64) -> bool {
        let limit = self.limit.load(Ordering::Relaxed);
        if bytes > limit {
            return false;
        }
        let worth = worth(time, 0, bytes);
        let mut state = self.state.lock();
        while state.bytes + bytes > limit {
            if state.remove_least(worth).is_none() {
                return false;
            }
            add(&self.counters.evicted, 1);
        }
        true
    }

    /// A copy of rows in the memory of the cache.
    pub(crate) fn copy(
        &self,
        rows: &TempTable,
        cause: Freshness,
        owner: &StatementOwner,
    ) -> Result<TempTable> {
        let options = TempTableOptions {
            batch_rows: 8192,
            ..TempTableOptions::default()
        };
        let context = TempTableContext::new(
            self.resources.clone(),
            self.memory.clone(),
            self.space.clone(),
            owner.clone(),
            options,
            Interrupt::default(),
        );
        let spec = TempTableSpec {
            purpose: Purpose::KeptResult,
            cause: Arc::from(cause.to_string()),
            operator: None,
            columns: rows.spec().columns.clone(),
            access: Access::Plain,
        };
        let copy = TempTable::create(&context, spec)?;
        let (mut writer, mut scan) = (copy.writer(), rows.scan(None));
        while let Some(batch) = scan.next_batch()? {
            writer.append(&batch)?;
        }
        writer.finish()?;
        Ok(copy)
    }

    pub(crate) fn put(&self, kept: Kept) {
        let mut state = self.state.lock();
        // A newer result of the key serves its readers as well.
        state.remove(|known| known.key == kept.key);
        state.bytes += kept.bytes;
        state.count += 1;
        let results = state.results.entry(Arc::clone(&kept.key.text));
        results.or_default().push(kept);
        add(&self.counters.inserts, 1);
    }

    /// Keeps the versions of tables known.
    pub(crate) fn note_versions(&self, states: &[TableState]) {
        let mut state = self.state.lock();
        for table in states {
            let TableState::Committed { version, .. } = table else {
                continue;
            };
            if !state
                .versions
                .iter()
                .any(|known| Arc::ptr_eq(known, version))
            {
                state.versions.push_back(Arc::clone(version));
            }
        }
        while state.versions.len() > KNOWN_VERSIONS {
            state.versions.pop_front();
        }
    }
}

/// Statements that need memory get that of the results that are least worth.
impl Reclaim for ResultCache {
    fn memory(&self) -> &Budget {
        &self.memory
    }

    fn reclaim(&self, wanted: u64) -> u64 {
        let Some(mut state) = self.state.try_lock() else {
            return 0;
        };
        let before = self.memory.used();
        while before.saturating_sub(self.memory.used()) < wanted
            && state.remove_least(f64::INFINITY).is_some()
        {
            add(&self.counters.evicted, 1);
        }
        before.saturating_sub(self.memory.used())
    }
}

/// When a result is over, as far as time ends it.
pub(crate) fn due(computed: i64, freshness: Freshness) -> i64 {
    match freshness {
        Freshness::For(time) => {
            let time = i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
            computed.saturating_add(time).saturating_add(1)
        }
        Freshness::UntilChanged => computed,
    }
}

pub(crate) struct Hit {
    pub(crate) rows: TempTable,
    pub(crate) bytes: u64,
    pub(crate) age: Duration,
}
