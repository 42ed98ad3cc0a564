//! Statements by their text: what is run again and again is parsed, bound and planned once.
//!
//! A known statement is lent to one session at a time, which runs it as it would run one that its
//! client has prepared, and brings it back; another session that has the same text meanwhile gets
//! another copy, or makes one. So there is no lock on a statement that runs, and as many copies are
//! kept as are needed at once, however many sessions there are. Its plan says itself when tables or
//! settings have changed since.
//!
//! A text is kept when it comes for the second time. Until then it costs a hash. Texts of point
//! statements that differ in their literals are one, with `?` in their place
//! (see [`Session::run_parameterized`]).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mayfly_memory::{Budget, Reservation};
use xxhash_rust::xxh3::xxh3_64;

use crate::session::Session;
use crate::statement_options::StatementOptions;
use crate::statements::prepared::Prepared;

/// Sessions with different texts do not meet.
const SHARDS: usize = 32;

/// How many texts are remembered to have come once, or to be no point statements.
const REMEMBERED: usize = 4096;

/// Longer texts are not kept: they hold rows to be inserted.
const TEXT_BYTES_MAX: usize = 16 << 10;

/// How many copies of a statement are kept: as many as there may well be sessions that have begun to run it
/// and wait for a processor.
const COPIES_MAX: usize = 128;

/// What a statement takes without its text, about: its struct, its places in the tables.
const STATEMENT_BYTES: u64 = 4 << 10;

/// What the tree and the plan of a byte of text take, about.
const BYTES_OF_TEXT: u64 = 96;

/// What a statement was made for: its text means the same, and may do the same, only there.
#[derive(Debug, Clone)]
struct Key {
    hash: u64,
    text: Arc<str>,
    options: Arc<StatementOptions>,
    database: Option<Arc<str>>,
    /// Who may run it.
    rights: Arc<str>,
}

impl Key {
    fn is_for(&self, session: &Session, text: &str) -> bool {
        Arc::ptr_eq(&self.options, session.options_handle())
            && *self.text == *text
            && self.database.as_deref() == session.current_database()
            && self.rights == *session.rights_text()
    }
}

/// A statement that is lent to a session.
#[derive(Debug)]
pub(crate) struct Known {
    key: Key,
    pub(crate) prepared: Box<Prepared>,
    /// When it was last brought back, as a number that grows.
    used: u64,
    _held: Reservation,
}

/// Hashes, as many as there are places; one that needs another's place takes it.
#[derive(Debug)]
struct HashPlaces(Vec<AtomicU64>);

impl HashPlaces {
    fn new() -> Self {
        Self((0..REMEMBERED).map(|_| AtomicU64::new(0)).collect())
    }

    fn place(&self, hash: u64) -> &AtomicU64 {
        &self.0[(hash >> 32) as usize % REMEMBERED]
    }

    fn has(&self, hash: u64) -> bool {
        self.place(hash).load(Ordering::Relaxed) == hash
    }

    /// Whether it was new.
    fn put(&self, hash: u64) -> bool {
        let is_new = !self.has(hash);
        if is_new {
            self.place(hash).store(hash, Ordering::Relaxed);
        }
        is_new
    }
}

/// The known statements of an engine.
#[derive(Debug)]
pub(crate) struct StatementCache {
    shards: Vec<Mutex<HashMap<u64, Vec<Known>>>>,
    /// The hashes of texts that came once, each at its place.
    remembered: HashPlaces,
    /// Those of texts with `?` that come to no point statement, ever or as names are.
    refused: HashPlaces,
    /// Counts what is brought back.
    clock: AtomicU64,
    /// Whose turn it is to forget.
    turn: AtomicU64,
    budget: Budget,
    /// See [`DatabaseOptions::keep_all_plans`](crate::DatabaseOptions::keep_all_plans).
    keeps_all: bool,
}

impl StatementCache {
    /// One that holds no more than its budget.
    pub(crate) fn new(budget: Budget, keeps_all: bool) -> Self {
        Self {
            keeps_all,
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            remembered: HashPlaces::new(),
            refused: HashPlaces::new(),
            clock: AtomicU64::new(0),
            turn: AtomicU64::new(0),
            budget,
        }
    }

    /// The bytes that it holds.
    pub(crate) fn bytes(&self) -> u64 {
        self.budget.used()
    }

    /// It may hold so many bytes from here on; 0 turns it off.
    pub(crate) fn set_limit(&self, bytes: u64) {
        self.budget.set_limit(bytes);
        while self.budget.used() > bytes && self.forget_one() {}
    }

    fn shard(&self, hash: u64) -> MutexGuard<'_, HashMap<u64, Vec<Known>>> {
        let shard = &self.shards[hash as usize % SHARDS];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a text is known by in a session; `None` for one that is not kept.
    pub(crate) fn hash(&self, session: &Session, text: &str) -> Option<u64> {
        let is_kept = text.len() <= TEXT_BYTES_MAX && self.budget.limit() > 0;
        is_kept.then(|| hash(session, text))
    }

    /// The known statement of a text, to be run and brought back.
    pub(crate) fn take(&self, session: &Session, hash: u64, text: &str) -> Option<Known> {
        if !self.remembered.has(hash) {
            return None;
        }
        let mut shard = self.shard(hash);
        let copies = shard.get_mut(&hash)?;
        let is_it = |known: &Known| known.key.is_for(session, text);
        let place = copies.iter().rposition(is_it)?;
        Some(copies.swap_remove(place))
    }

    /// A text has come that is not known; whether it came before, and is worth keeping.
    pub(crate) fn comes_again(&self, hash: u64) -> bool {
        !self.remembered.put(hash) || self.keeps_all
    }

    /// A text with `?` is that of no point statement.
    pub(crate) fn refuse(&self, hash: u64) {
        self.refused.put(hash);
    }

    /// It comes to none, as long as names mean what they do.
    pub(crate) fn refuse_for_now(&self, session: &Session, hash: u64) {
        self.refused.put(refusal(session, hash));
    }

    pub(crate) fn is_refused(&self, session: &Session, hash: u64) -> bool {
        self.refused.has(hash) || self.refused.has(refusal(session, hash))
    }

    /// A statement to be kept, if there is place for it.
    pub(crate) fn admit(
        &self,
        session: &Session,
        hash: u64,
        text: &str,
        prepared: Box<Prepared>,
    ) -> Result<Known, Box<Prepared>> {
        let bytes = STATEMENT_BYTES + BYTES_OF_TEXT * text.len() as u64;
        let held = loop {
            match self.budget.reserve(bytes) {
                Ok(held) => break held,
                Err(_) if self.forget_one() => {}
                Err(_) => return Err(prepared),
            }
        };
        Ok(Known {
            key: Key {
                hash,
                text: Arc::from(text),
                options: Arc::clone(session.options_handle()),
                database: session.current_database_handle(),
                rights: Arc::clone(session.rights_text()),
            },
            prepared,
            used: 0,
            _held: held,
        })
    }

    /// A session has run it.
    pub(crate) fn bring_back(&self, mut known: Known) {
        known.used = self.clock.fetch_add(1, Ordering::Relaxed);
        let mut shard = self.shard(known.key.hash);
        let copies = shard.entry(known.key.hash).or_default();
        if copies.len() < COPIES_MAX {
            copies.push(known);
        }
    }

    /// Forgets what was not used for the longest time in one shard; the shards take turns, so that it
    /// is nearly the oldest of all, for a part of the work. False when there is none.
    fn forget_one(&self) -> bool {
        (0..SHARDS).any(|_| {
            let turn = self.turn.fetch_add(1, Ordering::Relaxed);
            let mut shard = self.shard(turn);
            let all = shard.iter().flat_map(|(hash, copies)| {
                let used = copies.iter().map(|known| known.used);
                used.map(move |used| (used, *hash))
            });
            let Some((used, hash)) = all.min() else {
                return false;
            };
            if let Some(copies) = shard.get_mut(&hash) {
                copies.retain(|known| known.used != used);
                if copies.is_empty() {
                    shard.remove(&hash);
                }
            }
            true
        })
    }
}

/// A hash of a text, as long as names are what they are.
fn refusal(session: &Session, hash: u64) -> u64 {
    (hash ^ session.names_version().wrapping_mul(0x9e37_79b9_7f4a_7c15)).max(1)
}

/// The text, and what its names mean; what else [`Key`] has is compared.
fn hash(session: &Session, text: &str) -> u64 {
    let mut hash = xxh3_64(text.as_bytes());
    if let Some(database) = session.current_database() {
        hash ^= xxh3_64(database.as_bytes()).rotate_left(17);
    }
    // Names of temporary tables mean something to their session alone.
    if session.temporary_tables().next().is_some() {
        hash ^= session.id().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    // 0 stands for no text.
    hash.max(1)
}
