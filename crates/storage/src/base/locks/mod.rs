//! Record locks, which transactions hold until they end.
//!
//! A lock has a name, made of a tree and a key, and exists while it is held or waited for. Requests are
//! granted in the order in which they came; a holder may upgrade its lock before them. A release grants
//! the lock to the next requests and wakes nobody else. Locks belong to sessions, which wait for one at a
//! time, whichever of their transactions wants it. The graph of waits is walked before each wait: a
//! request that would close a deadlock cycle fails (1213).
//!
//! Range locks ([`ranges`]) are kept beside the locks of keys, and checked only while there are any.
//!
//! A statement may lock every row of a large table, so a lock is small: its name is a hash, and a lock with a single
//! holder needs no allocation.

pub(super) mod ranges;
pub(super) mod statistics;

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mayfly_memory::Reservation;
use mayfly_memory::sync::{UsedMutex, lock};
use mayfly_types::error::codes;
use mayfly_types::{Interrupt, Result, Stage};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use self::ranges::{KeyUse, RangeMode, Ranges};
use self::statistics::LockWaits;
use super::record_key::TreeId;
use crate::key_encoding::ByteRange;
use crate::table::{LockMode, LockWait};

/// Interval at which a waiter checks whether its statement was killed.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Memory of a lock, about, including its entry in the holder's list.
const LOCK_BYTES: u64 = 128;

/// Capacity of the lock table that is kept when it is empty.
const SPARE_LOCKS: usize = 1 << 10;

/// Number of a session. Transactions that it has at the same time lock different trees.
pub(super) type LockOwner = u64;

/// Name of a lock: 128-bit hash of a tree and a key. A collision makes transactions wait for each other needlessly,
/// and has no other effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name([u64; 2]);

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0[0]);
    }
}

/// Identity hasher: keys are hashes.
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
    /// The first holder.
    holder: Option<(LockOwner, LockMode)>,
    contention: Option<Box<Contention>>,
}

/// Further holders and the waiters of a lock.
#[derive(Debug, Default)]
struct Contention {
    holders: Vec<(LockOwner, LockMode)>,
    /// Waiters in the order in which they are served.
    waiters: VecDeque<Waiter>,
}

#[derive(Debug)]
struct Waiter {
    owner: LockOwner,
    mode: LockMode,
    sleep: Arc<Sleep>,
}

/// Wait handle of a waiter, on which it blocks.
#[derive(Debug, Default)]
struct Sleep {
    is_over: Mutex<bool>,
    woken: Condvar,
}

impl Sleep {
    fn wake(&self) {
        *lock(&self.is_over) = true;
        self.woken.notify_one();
    }

    /// Blocks for at most `longest`; returns whether it was woken.
    fn wait(&self, longest: Duration) -> bool {
        let is_over = lock(&self.is_over);
        if *is_over {
            return true;
        }
        let slept = self.woken.wait_timeout(is_over, longest);
        *slept.unwrap_or_else(PoisonError::into_inner).0
    }
}

fn wake(waiters: &[Arc<Sleep>]) {
    waiters.iter().for_each(|sleep| sleep.wake());
}

/// Reason of an owner's wait.
#[derive(Debug)]
enum WaitsFor {
    /// A lock of this name.
    Lock(Name),
    /// Range locks or changes of these owners.
    Owners(Vec<LockOwner>),
}

#[derive(Debug)]
struct Wait {
    on: WaitsFor,
    sleep: Arc<Sleep>,
}

#[derive(Debug, Default)]
struct State {
    locks: ByName<Lock>,
    ranges: Ranges,
    /// The waits of each owner; several when several threads read for it.
    waits: HashMap<LockOwner, Vec<Wait>>,
}

/// Lock table of a store.
#[derive(Debug)]
pub(super) struct Locks {
    state: Mutex<State>,
    /// Whether any range locks are held.
    has_ranges: AtomicBool,
    /// Number of waits that are [`WaitsFor::Owners`].
    range_waiters: AtomicUsize,
    /// Statistics of waits.
    pub(super) waits: LockWaits,
    last_owner: AtomicU64,
    /// Random seed of the hash, so that nobody can choose keys that collide.
    seed: u64,
}

impl Default for Locks {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            has_ranges: AtomicBool::new(false),
            range_waiters: AtomicUsize::new(0),
            waits: LockWaits::default(),
            last_owner: AtomicU64::new(0),
            seed: super::random::number(),
        }
    }
}

/// Locks that a transaction holds.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Names, each once, in the order in which they were granted.
    names: Vec<(TreeId, Name)>,
    /// Row trees of the tables that are locked as a whole.
    whole: Vec<TreeId>,
    /// Trees with range locks.
    range_trees: Vec<TreeId>,
    range_bytes: i64,
    /// Memory reservation for the locks.
    pub(super) reservation: Option<Reservation>,
}

impl Held {
    /// Memory of the locks, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.names.len() as u64 * LOCK_BYTES + self.range_bytes.max(0) as u64
    }
}

/// The owner that requests locks, their mode, and how long it waits for one.
pub(super) struct Request<'a> {
    pub(super) owner: LockOwner,
    pub(super) held: &'a UsedMutex<Held>,
    pub(super) mode: LockMode,
    pub(super) wait: LockWait,
    pub(super) interrupt: &'a Interrupt,
}

impl Request<'_> {
    /// Maximum wait; `None` when locks of other owners are skipped.
    fn patience(&self) -> Result<Option<Duration>> {
        match self.wait {
            LockWait::For(patience) => Ok(Some(patience)),
            LockWait::No => Err(codes::ER_LOCK_NOWAIT.error()),
            LockWait::Skip => Ok(None),
        }
    }
}

fn conflict(a: LockMode, b: LockMode) -> bool {
    a == LockMode::Exclusive || b == LockMode::Exclusive
}

impl Lock {
    fn holders(&self) -> impl Iterator<Item = &(LockOwner, LockMode)> {
        let others = self.contention.as_ref().map(|other| other.holders.iter());
        self.holder.iter().chain(others.into_iter().flatten())
    }

    fn waiters(&self) -> impl Iterator<Item = &Waiter> {
        self.contention.iter().flat_map(|other| &other.waiters)
    }

    fn is_in_demand(&self) -> bool {
        self.waiters().next().is_some()
    }

    /// The holders that conflict with an owner's request, now or once the waiters before it are served: in the end
    /// every waiter waits for holders.
    fn blockers(&self, of: LockOwner, mode: LockMode) -> Vec<LockOwner> {
        let first = self.waiters().next();
        let is_behind = self.mode_of(of).is_none() && first.is_some_and(|first| first.owner != of);
        self.holders()
            .filter(|(other, held)| *other != of && (is_behind || conflict(*held, mode)))
            .map(|(other, _)| *other)
            .collect()
    }

    /// The mode in which an owner holds the lock.
    fn mode_of(&self, owner: LockOwner) -> Option<LockMode> {
        let mut holders = self.holders();
        let found = holders.find(|(holder, _)| *holder == owner);
        found.map(|(_, mode)| *mode)
    }

    /// Whether another owner's lock conflicts with an owner's request.
    fn is_held_against(&self, owner: LockOwner, mode: LockMode) -> bool {
        let mut holders = self.holders();
        holders.any(|(other, held)| *other != owner && conflict(*held, mode))
    }

    fn is_free_for(&self, owner: LockOwner, mode: LockMode) -> bool {
        // The first waiter conflicts with the holders, so new requests queue behind it.
        !self.is_held_against(owner, mode)
            && (!self.is_in_demand() || self.mode_of(owner).is_some())
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

    /// Removes a holder; returns whether the lock is unused now.
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
        self.holders().next().is_none() && !self.is_in_demand()
    }

    /// Grants the lock to the first waiters, up to the first that conflicts, and adds them to `served`.
    fn serve(&mut self, served: &mut Vec<(LockOwner, Arc<Sleep>)>) {
        loop {
            let first = self.waiters().next();
            let Some((owner, mode)) = first.map(|first| (first.owner, first.mode)) else {
                return;
            };
            if self.is_held_against(owner, mode) {
                return;
            }
            if let Some(next) = self.contention().waiters.pop_front() {
                served.push((owner, next.sleep));
            }
            self.grant(owner, mode);
        }
    }
}

impl State {
    /// Whether waiting for `others` would close a cycle of waits.
    fn is_deadlock(&self, waiter: LockOwner, others: Vec<LockOwner>) -> bool {
        let mut seen = HashSet::new();
        let mut next = others;
        while let Some(owner) = next.pop() {
            if owner == waiter {
                return true;
            }
            if !seen.insert(owner) {
                continue;
            }
            for wait in self.waits.get(&owner).into_iter().flatten() {
                match &wait.on {
                    WaitsFor::Owners(others) => next.extend(others),
                    WaitsFor::Lock(name) => {
                        let Some(lock) = self.locks.get(name) else {
                            continue;
                        };
                        let wanted = lock.waiters().find(|waiter| waiter.owner == owner);
                        if let Some(wanted) = wanted {
                            next.extend(lock.blockers(owner, wanted.mode));
                        }
                    }
                }
            }
        }
        false
    }

    fn begin_wait(&mut self, owner: LockOwner, on: WaitsFor) -> Arc<Sleep> {
        let sleep = Arc::<Sleep>::default();
        let waits = self.waits.entry(owner).or_default();
        waits.push(Wait {
            on,
            sleep: Arc::clone(&sleep),
        });
        sleep
    }

    fn end_wait(&mut self, owner: LockOwner, sleep: &Arc<Sleep>) {
        if let Some(waits) = self.waits.get_mut(&owner) {
            waits.retain(|wait| !Arc::ptr_eq(&wait.sleep, sleep));
            if waits.is_empty() {
                self.waits.remove(&owner);
            }
        }
    }

    /// Grants a lock to its first waiters; returns the wait handles to wake.
    fn serve(&mut self, name: Name) -> Vec<Arc<Sleep>> {
        let mut served = Vec::new();
        if let Some(lock) = self.locks.get_mut(&name) {
            lock.serve(&mut served);
            if lock.is_unused() {
                self.locks.remove(&name);
            }
        }
        let woken = served.into_iter().map(|(owner, sleep)| {
            self.end_wait(owner, &sleep);
            sleep
        });
        woken.collect()
    }

    /// Ends the waits for an owner's ranges or changes: the waiters check again.
    fn wake_waiters(&mut self, owner: LockOwner) -> Vec<Arc<Sleep>> {
        let mut woken = Vec::new();
        for wait in self.waits.values_mut().flatten() {
            if let WaitsFor::Owners(others) = &mut wait.on
                && others.contains(&owner)
            {
                others.retain(|other| *other != owner);
                woken.push(Arc::clone(&wait.sleep));
            }
        }
        woken
    }
}

impl Locks {
    /// A new owner of locks.
    pub(super) fn new_owner(&self) -> LockOwner {
        self.last_owner.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The name of a key's lock.
    pub(super) fn name(&self, tree: TreeId, key: &[u8]) -> Name {
        let hash = xxh3_128_with_seed(key, self.seed.wrapping_add(u64::from(tree)));
        Name([hash as u64, (hash >> 64) as u64])
    }

    /// Acquires locks of a tree in this order, waiting where necessary; calls `acquired` with false for a lock that is
    /// held by another owner and shall be skipped.
    pub(super) fn acquire<'k>(
        &self,
        request: &Request<'_>,
        tree: TreeId,
        keys: impl Iterator<Item = &'k [u8]>,
        mut acquired: impl FnMut(bool),
    ) -> Result<()> {
        let mut held = request.held.lock();
        let mut state: Option<MutexGuard<'_, State>> = None;
        for key in keys {
            let name = self.name(tree, key);
            let mut now = state.take().unwrap_or_else(|| lock(&self.state));
            let existing = now.locks.get(&name);
            let before = existing.and_then(|lock| lock.mode_of(request.owner));
            if before.is_none_or(|mode| mode < request.mode) {
                if !now.ranges.is_empty() && !key.is_empty() {
                    let usage = KeyUse::Lock(request.mode);
                    let blockers = |state: &State| {
                        let ranges = &state.ranges;
                        ranges.blockers_of_key(request.owner, tree, key, usage)
                    };
                    now = match self.wait_while(request, now, blockers)? {
                        Some(now) => now,
                        None => {
                            acquired(false);
                            continue;
                        }
                    };
                }
                let wanted = now.locks.entry(name).or_default();
                if wanted.is_free_for(request.owner, request.mode) {
                    wanted.grant(request.owner, request.mode);
                    state = Some(now);
                } else if !self.wait_for(request, name, now)? {
                    acquired(false);
                    continue;
                }
                if before.is_none() {
                    held.names.push((tree, name));
                }
            } else {
                state = Some(now);
            }
            acquired(true);
        }
        Ok(())
    }

    /// Acquires the lock of a whole table, instead of locks of its rows and keys in `trees`. False when another owner
    /// holds any lock of it.
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
        let mut held = request.held.lock();
        let is_needed = |(tree, name): &(TreeId, Name)| !trees.contains(tree) || *name == whole;
        let (needed, others) = std::mem::take(&mut held.names)
            .into_iter()
            .partition(is_needed);
        held.names = needed;
        held.whole.push(*rows);
        drop(held);
        self.release_locks(request.owner, others);
        Ok(true)
    }

    /// Whether a transaction has a whole table locked.
    pub(super) fn is_whole(&self, held: &UsedMutex<Held>, rows: TreeId) -> bool {
        held.used().is_some_and(|held| held.whole.contains(&rows))
    }

    /// Waits for a lock that another owner holds.
    fn wait_for<'s>(
        &'s self,
        request: &Request<'_>,
        name: Name,
        mut state: MutexGuard<'s, State>,
    ) -> Result<bool> {
        let (owner, mode) = (request.owner, request.mode);
        let Some(patience) = request.patience()? else {
            return Ok(false);
        };
        let wanted = state.locks.get(&name);
        let others = wanted.map_or_else(Vec::new, |lock| lock.blockers(owner, mode));
        if state.is_deadlock(owner, others) {
            return Err(codes::ER_LOCK_DEADLOCK.error());
        }
        let sleep = state.begin_wait(owner, WaitsFor::Lock(name));
        let waiter = Waiter {
            owner,
            mode,
            sleep: Arc::clone(&sleep),
        };
        let wanted = state.locks.entry(name).or_default();
        match wanted.mode_of(owner) {
            Some(_) => wanted.contention().waiters.push_front(waiter),
            None => wanted.contention().waiters.push_back(waiter),
        }
        drop(state);
        let start = Instant::now();
        let _stage = request
            .interrupt
            .stages()
            .wait_for_lock(Stage::WaitingForRow);
        let _counted = self.waits.begin(true);
        let error = loop {
            let left = patience.saturating_sub(start.elapsed());
            if sleep.wait(left.min(POLL_INTERVAL)) {
                return Ok(true);
            }
            if let Err(error) = request.interrupt.check() {
                break error;
            }
            if start.elapsed() >= patience {
                break codes::ER_LOCK_WAIT_TIMEOUT.error();
            }
        };
        let mut state = lock(&self.state);
        if *lock(&sleep.is_over) {
            return Ok(true);
        }
        state.end_wait(owner, &sleep);
        if let Some(wanted) = state.locks.get_mut(&name) {
            let waiters = &mut wanted.contention().waiters;
            waiters.retain(|waiter| !Arc::ptr_eq(&waiter.sleep, &sleep));
        }
        // Other requests may have waited behind this one alone.
        let woken = state.serve(name);
        drop(state);
        wake(&woken);
        Err(error)
    }

    /// Waits as long as there are blockers; `None` when locks of other owners are skipped.
    fn wait_while<'s>(
        &'s self,
        request: &Request<'_>,
        mut state: MutexGuard<'s, State>,
        blockers: impl Fn(&State) -> Vec<LockOwner>,
    ) -> Result<Option<MutexGuard<'s, State>>> {
        let start = Instant::now();
        loop {
            let others = blockers(&state);
            if others.is_empty() {
                return Ok(Some(state));
            }
            state = match self.wait_for_owners(request, others, state, start)? {
                Some(state) => state,
                None => return Ok(None),
            };
        }
    }

    /// Waits until one of the owners has released something, or for [`POLL_INTERVAL`].
    fn wait_for_owners<'s>(
        &'s self,
        request: &Request<'_>,
        others: Vec<LockOwner>,
        mut state: MutexGuard<'s, State>,
        start: Instant,
    ) -> Result<Option<MutexGuard<'s, State>>> {
        let Some(patience) = request.patience()? else {
            return Ok(None);
        };
        if state.is_deadlock(request.owner, others.clone()) {
            return Err(codes::ER_LOCK_DEADLOCK.error());
        }
        let left = patience.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Err(codes::ER_LOCK_WAIT_TIMEOUT.error());
        }
        request.interrupt.check()?;
        // This is called repeatedly during one wait.
        let is_first = patience - left < POLL_INTERVAL;
        let sleep = state.begin_wait(request.owner, WaitsFor::Owners(others));
        self.range_waiters.fetch_add(1, Ordering::SeqCst);
        drop(state);
        {
            let stages = request.interrupt.stages();
            let _stage = stages.wait_for_lock(Stage::WaitingForRow);
            let _counted = self.waits.begin(is_first);
            sleep.wait(left.min(POLL_INTERVAL));
        }
        let mut state = lock(&self.state);
        state.end_wait(request.owner, &sleep);
        self.range_waiters.fetch_sub(1, Ordering::SeqCst);
        Ok(Some(state))
    }

    /// Acquires range locks of a tree. `changers` gives the owners of uncommitted changes that conflict with them: it
    /// is called when later changes there already wait for this owner.
    pub(super) fn hold_ranges(
        &self,
        request: &Request<'_>,
        tree: TreeId,
        mode: RangeMode,
        mut ranges: Vec<ByteRange>,
        changers: impl Fn(&[ByteRange]) -> Result<Vec<LockOwner>>,
    ) -> Result<()> {
        let start = Instant::now();
        let owner = request.owner;
        let mut state = lock(&self.state);
        ranges.retain(|range| !range.is_empty() && !state.ranges.has(owner, tree, mode, range));
        while !ranges.is_empty() {
            let mut others = state.ranges.blockers_of_ranges(owner, tree, mode, &ranges);
            if others.is_empty() {
                let coming = state.ranges.announce(owner, tree, mode, ranges.clone());
                self.has_ranges.store(true, Ordering::SeqCst);
                drop(state);
                let changed = changers(&ranges);
                state = lock(&self.state);
                let is_held = changed.as_ref().is_ok_and(Vec::is_empty);
                let more = state.ranges.settle(coming, is_held);
                if is_held {
                    drop(state);
                    let mut held = request.held.lock();
                    held.range_bytes += more;
                    if !held.range_trees.contains(&tree) {
                        held.range_trees.push(tree);
                    }
                    return Ok(());
                }
                self.note_ranges(&state);
                // Requests that waited for the announced ranges check again.
                let woken = state.wake_waiters(owner);
                wake(&woken);
                others = changed?;
            }
            state = match self.wait_for_owners(request, others, state, start)? {
                Some(state) => state,
                None => return Ok(()),
            };
        }
        Ok(())
    }

    fn note_ranges(&self, state: &State) {
        self.has_ranges
            .store(!state.ranges.is_empty(), Ordering::SeqCst);
    }

    /// Whether another owner's range lock conflicts with an owner's use of a key.
    pub(super) fn conflicts_with_ranges(
        &self,
        owner: LockOwner,
        tree: TreeId,
        key: &[u8],
        usage: KeyUse,
    ) -> bool {
        if !self.has_ranges.load(Ordering::SeqCst) {
            return false;
        }
        let state = lock(&self.state);
        let blockers = state.ranges.blockers_of_key(owner, tree, key, usage);
        !blockers.is_empty()
    }

    /// Waits until no range lock conflicts with an owner's use of a key.
    pub(super) fn wait_for_ranges(
        &self,
        request: &Request<'_>,
        tree: TreeId,
        key: &[u8],
        usage: KeyUse,
    ) -> Result<()> {
        let blockers = |state: &State| {
            let ranges = &state.ranges;
            ranges.blockers_of_key(request.owner, tree, key, usage)
        };
        let waited = self.wait_while(request, lock(&self.state), blockers);
        waited.map(drop)
    }

    /// Notes that an owner has undone changes: waiters for them check again.
    pub(super) fn undone(&self, owner: LockOwner) {
        if self.range_waiters.load(Ordering::SeqCst) > 0 {
            let woken = lock(&self.state).wake_waiters(owner);
            wake(&woken);
        }
    }

    /// Releases all locks of a transaction.
    pub(super) fn release(&self, owner: LockOwner, held: &UsedMutex<Held>) {
        let held = held.take();
        if !held.range_trees.is_empty() {
            let mut state = lock(&self.state);
            state.ranges.release(owner, &held.range_trees);
            self.note_ranges(&state);
        }
        self.release_locks(owner, held.names);
        self.undone(owner);
    }

    fn release_locks(&self, owner: LockOwner, names: Vec<(TreeId, Name)>) {
        if names.is_empty() {
            return;
        }
        let mut woken = Vec::new();
        let mut state = lock(&self.state);
        for (_, name) in names {
            let Some(lock) = state.locks.get_mut(&name) else {
                continue;
            };
            if lock.release(owner) {
                state.locks.remove(&name);
            } else if lock.is_in_demand() {
                woken.extend(state.serve(name));
            }
        }
        if state.locks.is_empty() {
            // Frees what a statement over a large table has needed.
            state.locks.shrink_to(SPARE_LOCKS);
        }
        drop(state);
        wake(&woken);
    }
}
