//! Statement cache, by text: a repeated statement is parsed, bound and planned once.
//!
//! A cached statement is immutable, and shared by all sessions that run it at once; its plan itself detects changes
//! of tables or settings (`CachedPlan`).
//!
//! A text is cached at its second use. Until then it costs a hash. Texts of point statements that differ in their
//! literals share one template, with `?` for each literal.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mayfly_memory::{Budget, Reservation};
use parking_lot::{Mutex, MutexGuard};
use xxhash_rust::xxh3::xxh3_64;

use crate::prepared::Prepared;
use crate::statement_options::StatementOptions;

/// Number of shards, to avoid contention between sessions with different texts.
const SHARDS: usize = 32;

/// Number of hashes kept of texts seen once, and of texts that are no point statements.
const REMEMBERED: usize = 4096;

/// Longer texts are not cached: they are mostly rows to be inserted.
const TEXT_BYTES_MAX: usize = 16 << 10;

/// Estimated bytes of a statement without its text.
const STATEMENT_BYTES: u64 = 4 << 10;

/// Estimated bytes of tree and plan per byte of text.
const BYTES_OF_TEXT: u64 = 96;

/// Scope that decides what a text's names mean.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextScope<'s> {
    pub(crate) options: &'s Arc<StatementOptions>,
    /// The current database.
    pub(crate) database: Option<&'s Arc<str>>,
    /// The rights of the user that runs it.
    pub(crate) rights: &'s Arc<str>,
    /// Version of names, different when they may mean something else.
    pub(crate) names_version: u64,
    /// The session, if it has temporary tables: their names are visible to it alone.
    pub(crate) session: Option<u64>,
}

/// Key of a statement: its text is equivalent only within the same scope.
#[derive(Debug)]
struct Key {
    text: Arc<str>,
    options: Arc<StatementOptions>,
    database: Option<Arc<str>>,
    /// The rights of the user that runs it.
    rights: Arc<str>,
}

impl Key {
    fn is_for(&self, scope: TextScope<'_>, text: &str) -> bool {
        Arc::ptr_eq(&self.options, scope.options)
            && *self.text == *text
            && self.database.as_ref() == scope.database
            && self.rights == *scope.rights
    }
}

/// A cached statement and its key.
#[derive(Debug)]
struct CachedStatement {
    key: Key,
    prepared: Arc<Prepared>,
    /// Time of the last use, by `clock`.
    used: u64,
    _held: Reservation,
}

/// Fixed-size set of hashes; a colliding hash replaces the older one.
#[derive(Debug)]
struct HashSlots(Vec<AtomicU64>);

impl HashSlots {
    fn new() -> Self {
        Self((0..REMEMBERED).map(|_| AtomicU64::new(0)).collect())
    }

    fn slot(&self, hash: u64) -> &AtomicU64 {
        &self.0[(hash >> 32) as usize % REMEMBERED]
    }

    fn has(&self, hash: u64) -> bool {
        self.slot(hash).load(Ordering::Relaxed) == hash
    }

    /// Adds a hash; returns whether it was new.
    fn put(&self, hash: u64) -> bool {
        let is_new = !self.has(hash);
        if is_new {
            self.slot(hash).store(hash, Ordering::Relaxed);
        }
        is_new
    }
}

/// The statement cache of an engine.
#[derive(Debug)]
pub(crate) struct StatementCache {
    shards: Vec<Mutex<HashMap<u64, Vec<CachedStatement>>>>,
    /// Hashes of texts seen once.
    seen: HashSlots,
    /// Hashes of texts with `?` that are no point statements, permanently or as names are now.
    refused: HashSlots,
    /// Logical clock of uses.
    clock: AtomicU64,
    /// The shard to evict from next.
    turn: AtomicU64,
    budget: Budget,
    /// See [`DatabaseOptions::keep_all_plans`](crate::DatabaseOptions::keep_all_plans).
    keeps_all: bool,
}

impl StatementCache {
    /// A cache limited by its budget.
    pub(crate) fn new(budget: Budget, keeps_all: bool) -> Self {
        Self {
            keeps_all,
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            seen: HashSlots::new(),
            refused: HashSlots::new(),
            clock: AtomicU64::new(0),
            turn: AtomicU64::new(0),
            budget,
        }
    }

    /// Bytes of the cache.
    pub(crate) fn bytes(&self) -> u64 {
        self.budget.used()
    }

    /// Sets the memory limit in bytes; 0 turns the cache off.
    pub(crate) fn set_limit(&self, bytes: u64) {
        self.budget.set_limit(bytes);
        while self.budget.used() > bytes && self.forget_one() {}
    }

    fn shard(&self, hash: u64) -> MutexGuard<'_, HashMap<u64, Vec<CachedStatement>>> {
        let shard = &self.shards[hash as usize % SHARDS];
        shard.lock()
    }

    /// The hash of a text in a session; `None` for a text that is not cached.
    pub(crate) fn hash(&self, scope: TextScope<'_>, text: &str) -> Option<u64> {
        let is_kept = text.len() <= TEXT_BYTES_MAX && self.budget.limit() > 0;
        is_kept.then(|| hash(scope, text))
    }

    /// The statement of a text.
    pub(crate) fn get(&self, scope: TextScope<'_>, hash: u64, text: &str) -> Option<Arc<Prepared>> {
        if !self.seen.has(hash) {
            return None;
        }
        let mut shard = self.shard(hash);
        let mut statements = shard.get_mut(&hash)?.iter_mut();
        let found = statements.find(|cached| cached.key.is_for(scope, text))?;
        found.used = self.clock.fetch_add(1, Ordering::Relaxed);
        Some(Arc::clone(&found.prepared))
    }

    /// Records an uncached text; returns whether it has been seen before, and is worth caching.
    pub(crate) fn has_seen(&self, hash: u64) -> bool {
        !self.seen.put(hash) || self.keeps_all
    }

    /// Records that a text with `?` is no point statement.
    pub(crate) fn refuse(&self, hash: u64) {
        self.refused.put(hash);
    }

    /// Records that a text is no point statement as long as its names mean what they do now.
    pub(crate) fn refuse_for_now(&self, scope: TextScope<'_>, hash: u64) {
        self.refused.put(refusal(scope, hash));
    }

    pub(crate) fn is_refused(&self, scope: TextScope<'_>, hash: u64) -> bool {
        self.refused.has(hash) || self.refused.has(refusal(scope, hash))
    }

    /// Caches the statement of a text, if there is room for it.
    pub(crate) fn add(
        &self,
        scope: TextScope<'_>,
        hash: u64,
        text: &str,
        prepared: &Arc<Prepared>,
    ) {
        let bytes = STATEMENT_BYTES + BYTES_OF_TEXT * text.len() as u64;
        let held = loop {
            match self.budget.reserve(bytes) {
                Ok(held) => break held,
                Err(_) if self.forget_one() => {}
                Err(_) => return,
            }
        };
        let cached = CachedStatement {
            key: Key {
                text: Arc::from(text),
                options: Arc::clone(scope.options),
                database: scope.database.cloned(),
                rights: Arc::clone(scope.rights),
            },
            prepared: Arc::clone(prepared),
            used: self.clock.fetch_add(1, Ordering::Relaxed),
            _held: held,
        };
        let mut shard = self.shard(hash);
        let statements = shard.entry(hash).or_default();
        // Another session may have added it first.
        if !statements.iter().any(|known| known.key.is_for(scope, text)) {
            statements.push(cached);
        }
    }

    /// Evicts the least recently used entry of one shard; the shards take turns, which approximates the oldest of all
    /// at a part of the cost. False when the shard is empty.
    fn forget_one(&self) -> bool {
        (0..SHARDS).any(|_| {
            let turn = self.turn.fetch_add(1, Ordering::Relaxed);
            let mut shard = self.shard(turn);
            let all = shard.iter().flat_map(|(hash, statements)| {
                let used = statements.iter().map(|cached| cached.used);
                used.map(move |used| (used, *hash))
            });
            let Some((used, hash)) = all.min() else {
                return false;
            };
            if let Some(statements) = shard.get_mut(&hash) {
                statements.retain(|cached| cached.used != used);
                if statements.is_empty() {
                    shard.remove(&hash);
                }
            }
            true
        })
    }
}

/// The hash of a text in a scope of names.
fn refusal(scope: TextScope<'_>, hash: u64) -> u64 {
    (hash ^ scope.names_version.wrapping_mul(0x9e37_79b9_7f4a_7c15)).max(1)
}

/// The hash of the text and its database; the rest of [`Key`] is compared.
fn hash(scope: TextScope<'_>, text: &str) -> u64 {
    let mut hash = xxh3_64(text.as_bytes());
    if let Some(database) = scope.database {
        hash ^= xxh3_64(database.as_bytes()).rotate_left(17);
    }
    if let Some(session) = scope.session {
        hash ^= session.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    // 0 stands for an empty slot.
    hash.max(1)
}
