//! Locks of rows and keys, which transactions hold until they end.
//!
//! A lock has a name, made of a tree and a key, and exists while somebody holds or wants it. Waiters
//! are served in the order in which they came; who holds a lock already may go on to a stronger one
//! before them. Locks belong to sessions, which wait for one at a time whichever of their transactions
//! wants it, so that who waits for whom is a graph that is walked before each wait: the one that would
//! close a circle gives up (1213).
//!
//! A statement may lock every row of a large table, so a lock is small: its name is a hash, and
//! nothing is allocated for one that a single transaction holds.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mayfly_memory::Reservation;
use mayfly_types::error::codes;
use mayfly_types::{Interrupt, Result};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::environment::TreeId;
use crate::table::{LockMode, LockWait};

/// So often a waiter looks whether its statement was killed.
const MOMENT: Duration = Duration::from_millis(50);

/// About how many bytes a lock needs, here and among those that its transaction holds.
const LOCK_BYTES: u64 = 128;

/// Memory for so many locks is kept when there are none.
const SPARE_LOCKS: usize = 1 << 10;

/// The number of who holds locks: of a session, whose transactions at one time lock different trees.
pub(super) type LockOwner = u64;

/// A tree and a key, as a hash of 128 bits. Two that have the same make their transactions wait for
/// each other where they need not, and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name([u64; 2]);

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0[0]);
    }
}

/// Of what is a hash already.
#[derive(Debug, Default)]
struct NameHasher(u64);

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

type ByName<T> = HashMap<Name, T, BuildHasherDefault<NameHasher>>;

#[derive(Debug, Default)]
struct Lock {
    /// Who got it first, of those who hold it.
    holder: Option<(LockOwner, LockMode)>,
    contention: Option<Box<Contention>>,
}

/// Others than the holder.
#[derive(Debug, Default)]
struct Contention {
    holders: Vec<(LockOwner, LockMode)>,
    waiters: VecDeque<(LockOwner, LockMode)>,
}

#[derive(Debug, Default)]
struct State {
    locks: ByName<Lock>,
    /// What each waiting owner waits for.
    waits: HashMap<LockOwner, Name>,
}

/// All locks of a store.
#[derive(Debug)]
pub(super) struct Locks {
    state: Mutex<State>,
    released: Condvar,
    /// Nobody can choose keys for their hashes.
    seed: u64,
}

impl Default for Locks {
    fn default() -> Self {
        let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0);
        Self {
            state: Mutex::default(),
            released: Condvar::new(),
            seed: random,
        }
    }
}

/// The locks that a transaction holds.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Each once, in the order in which it got them.
    names: Vec<(TreeId, Name)>,
    /// Of these tables it holds all rows and keys.
    whole: Vec<TreeId>,
    /// Of memory for them.
    pub(super) reservation: Option<Reservation>,
}

impl Held {
    /// How many bytes the locks need.
    pub(super) fn bytes(&self) -> u64 {
        self.names.len() as u64 * LOCK_BYTES
    }
}

/// Who wants locks, of what kind, and for how long it waits for one.
pub(super) struct Request<'a> {
    pub(super) owner: LockOwner,
    pub(super) held: &'a Mutex<Held>,
    pub(super) mode: LockMode,
    pub(super) wait: LockWait,
    pub(super) interrupt: &'a Interrupt,
}

fn conflict(a: LockMode, b: LockMode) -> bool {
    a == LockMode::Exclusive || b == LockMode::Exclusive
}

impl Lock {
    fn holders(&self) -> impl Iterator<Item = &(LockOwner, LockMode)> {
        let others = self.contention.as_ref().map(|other| other.holders.iter());
        self.holder.iter().chain(others.into_iter().flatten())
    }

    fn waiters(&self) -> impl Iterator<Item = &(LockOwner, LockMode)> {
        let waiters = self.contention.as_ref().map(|other| other.waiters.iter());
        waiters.into_iter().flatten()
    }

    /// Those who keep an owner from getting the lock.
    fn blockers(&self, of: LockOwner, mode: LockMode) -> impl Iterator<Item = LockOwner> {
        let is_holder = self.mode_of(of).is_some();
        let ahead = self
            .waiters()
            .take_while(move |(waiter, _)| *waiter != of && !is_holder);
        self.holders()
            .chain(ahead)
            .filter(move |(other, other_mode)| *other != of && conflict(*other_mode, mode))
            .map(|(other, _)| *other)
    }

    /// How an owner holds it.
    fn mode_of(&self, owner: LockOwner) -> Option<LockMode> {
        let mut holders = self.holders();
        let found = holders.find(|(holder, _)| *holder == owner);
        found.map(|(_, mode)| *mode)
    }

    fn is_free_for(&self, owner: LockOwner, mode: LockMode) -> bool {
        self.blockers(owner, mode).next().is_none()
    }

    fn grant(&mut self, to: LockOwner, mode: LockMode) {
        let others = self.contention.iter_mut().flat_map(|c| &mut c.holders);
        let mut all = self.holder.iter_mut().chain(others);
        if let Some((_, held)) = all.find(|(holder, _)| *holder == to) {
            *held = mode.max(*held);
        } else if self.holder.is_none() {
            self.holder = Some((to, mode));
        } else {
            self.contention().holders.push((to, mode));
        }
    }

    fn contention(&mut self) -> &mut Contention {
        self.contention.get_or_insert_default()
    }

    /// Takes a holder's lock away; whether it is of no use to anybody now.
    fn release(&mut self, by: LockOwner) -> bool {
        if self.holder.is_some_and(|(holder, _)| holder == by) {
            self.holder = None;
        }
        if let Some(contention) = &mut self.contention {
            contention.holders.retain(|(holder, _)| *holder != by);
        }
        self.is_unused()
    }

    fn is_unused(&self) -> bool {
        self.holders().next().is_none() && self.waiters().next().is_none()
    }
}

impl State {
    /// Whether waiting for `name` would never end.
    fn is_deadlock(&self, waiter: LockOwner, mode: LockMode, name: Name) -> bool {
        let mut seen = vec![waiter];
        let mut next: Vec<LockOwner> = match self.locks.get(&name) {
            Some(lock) => lock.blockers(waiter, mode).collect(),
            None => return false,
        };
        while let Some(owner) = next.pop() {
            if owner == waiter {
                return true;
            }
            if seen.contains(&owner) {
                continue;
            }
            seen.push(owner);
            let Some(lock) = self.waits.get(&owner).and_then(|name| self.locks.get(name)) else {
                continue;
            };
            let wanted = lock.waiters().find(|(waiter, _)| *waiter == owner);
            if let Some((_, mode)) = wanted {
                next.extend(lock.blockers(owner, *mode));
            }
        }
        false
    }
}

impl Locks {
    /// The name of a key's lock.
    pub(super) fn name(&self, tree: TreeId, key: &[u8]) -> Name {
        let hash = xxh3_128_with_seed(key, self.seed.wrapping_add(u64::from(tree)));
        Name([hash as u64, (hash >> 64) as u64])
    }

    /// Gets locks of a tree, in this order, or waits for them; `acquired` is told false of one that is
    /// held by another and shall be skipped.
    pub(super) fn acquire<'k>(
        &self,
        request: &Request<'_>,
        tree: TreeId,
        keys: impl Iterator<Item = &'k [u8]>,
        mut acquired: impl FnMut(bool),
    ) -> Result<()> {
        let mut held = lock(request.held);
        let mut state: Option<MutexGuard<'_, State>> = None;
        for key in keys {
            let name = self.name(tree, key);
            let locks = &mut state.get_or_insert_with(|| lock(&self.state)).locks;
            let wanted = locks.entry(name).or_default();
            let before = wanted.mode_of(request.owner);
            if before.is_none_or(|mode| mode < request.mode) {
                if wanted.is_free_for(request.owner, request.mode) {
                    wanted.grant(request.owner, request.mode);
                } else {
                    let state = state.take().unwrap_or_else(|| lock(&self.state));
                    if !self.wait_for(request, name, state)? {
                        acquired(false);
                        continue;
                    }
                }
                if before.is_none() {
                    held.names.push((tree, name));
                }
            }
            acquired(true);
        }
        Ok(())
    }

    /// Gets the lock that stands for all rows and keys of a table, the trees of which are these,
    /// instead of theirs. False when another has locked anything of it.
    pub(super) fn acquire_whole(
        &self,
        request: &Request<'_>,
        trees: &[TreeId],
        key: &[u8],
    ) -> Result<bool> {
        let Some(rows) = trees.first() else {
            return Ok(false);
        };
        let mut is_whole = false;
        self.acquire(request, *rows, std::iter::once(key), |got| is_whole = got)?;
        if !is_whole {
            return Ok(false);
        }
        let whole = self.name(*rows, key);
        let mut held = lock(request.held);
        let is_needed = |(tree, name): &(TreeId, Name)| !trees.contains(tree) || *name == whole;
        let (needed, others) = std::mem::take(&mut held.names)
            .into_iter()
            .partition(is_needed);
        held.names = needed;
        held.whole.push(*rows);
        drop(held);
        self.let_go(request.owner, others);
        Ok(true)
    }

    /// Whether a transaction holds all rows and keys of a table.
    pub(super) fn is_whole(&self, held: &Mutex<Held>, rows: TreeId) -> bool {
        lock(held).whole.contains(&rows)
    }

    /// Waits for a lock that another holds.
    fn wait_for<'s>(
        &'s self,
        request: &Request<'_>,
        name: Name,
        mut state: MutexGuard<'s, State>,
    ) -> Result<bool> {
        let (owner, mode) = (request.owner, request.mode);
        let patience = match request.wait {
            LockWait::For(patience) => patience,
            LockWait::No => return Err(codes::ER_LOCK_NOWAIT.error()),
            LockWait::Skip => return Ok(false),
        };
        if state.is_deadlock(owner, mode, name) {
            return Err(codes::ER_LOCK_DEADLOCK.error());
        }
        let wanted = state.locks.entry(name).or_default();
        wanted.contention().waiters.push_back((owner, mode));
        state.waits.insert(owner, name);
        let start = Instant::now();
        let ended = loop {
            let left = patience.saturating_sub(start.elapsed());
            let waited = self.released.wait_timeout(state, left.min(MOMENT));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            let blocked = state
                .locks
                .get(&name)
                .is_some_and(|lock| !lock.is_free_for(owner, mode));
            if !blocked {
                break Ok(true);
            }
            if let Err(error) = request.interrupt.check() {
                break Err(error);
            }
            if start.elapsed() >= patience {
                break Err(codes::ER_LOCK_WAIT_TIMEOUT.error());
            }
        };
        state.waits.remove(&owner);
        let wanted = state.locks.entry(name).or_default();
        let waiters = &mut wanted.contention().waiters;
        waiters.retain(|(waiter, _)| *waiter != owner);
        if ended.is_ok() {
            wanted.grant(owner, mode);
        } else if wanted.is_unused() {
            state.locks.remove(&name);
        }
        drop(state);
        // Others may have waited behind this one, which is gone or shares the lock with them.
        self.released.notify_all();
        ended
    }

    /// Lets go of everything that a transaction holds.
    pub(super) fn release(&self, owner: LockOwner, held: &Mutex<Held>) {
        let held = std::mem::take(&mut *lock(held));
        self.let_go(owner, held.names);
    }

    fn let_go(&self, owner: LockOwner, names: Vec<(TreeId, Name)>) {
        if names.is_empty() {
            return;
        }
        let mut state = lock(&self.state);
        for (_, name) in names {
            let wanted = state.locks.get_mut(&name);
            if wanted.is_some_and(|lock| lock.release(owner)) {
                state.locks.remove(&name);
            }
        }
        if state.locks.is_empty() {
            // What a statement over a large table has needed.
            state.locks.shrink_to(SPARE_LOCKS);
        }
        let wakes = !state.waits.is_empty();
        drop(state);
        if wakes {
            self.released.notify_all();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
