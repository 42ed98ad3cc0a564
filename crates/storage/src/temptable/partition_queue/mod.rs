//! Queue of the partitions of a table, or of two joined tables, from which workers take.
//!
//! The queue gives out partitions that are in memory first, so that their memory is free when others are read back. A
//! partition that is larger than a worker's share of the memory is split by further bits of the hash before it is
//! given out, into no more parts than that takes: many small ones are many small blocks in files. While one is worked on, the
//! system reads the next one from its files. One that cannot be split (its rows have one key, or keys with one hash) is given out as it is.

pub(crate) mod join_pair;

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use mayfly_memory::sync::lock;
use mayfly_memory::{Budget, TempFile};
use mayfly_types::Result;

use super::partition::{Partition, row_count};
use super::reclaim::Reclaim;
use super::repartition::{assemble, repartition};
use super::store::{Part, PartitionPlan};
use super::table::{TempTable, reclaim_parts};
use crate::temptable::partition_queue::join_pair::JoinPair;

/// Memory per row of its hash table entry and group number.
const INDEX_BYTES_PER_ROW: u64 = 24;
/// Maximum number of hash bits, of the 48 in a row, that choose partitions.
const PARTITION_BITS_MAX: u32 = 40;

/// Partition in the queue.
struct Waiting {
    build: Vec<Part>,
    probe: Vec<Part>,
    /// Number of hash bits that its rows have in common.
    used_bits: u32,
    /// Whether splitting has not helped.
    whole: bool,
    /// Whether it is a piece of a partition that was split.
    is_piece: bool,
}

impl Waiting {
    fn file_bytes(&self) -> u64 {
        self.build.iter().map(|part| part.file_bytes).sum()
    }

    /// Memory needed to work on the build side.
    fn needed_bytes(&self) -> u64 {
        let rows = row_count(&self.build);
        let bytes: u64 = self.build.iter().map(Part::total_bytes).sum();
        bytes + rows * INDEX_BYTES_PER_ROW
    }

    fn is_empty(&self) -> bool {
        row_count(&self.build) == 0 && row_count(&self.probe) == 0
    }
}

#[derive(Default)]
struct State {
    prepared: bool,
    waiting: VecDeque<Waiting>,
    /// Number of workers that are splitting a partition: more partitions will come.
    splitting: usize,
    /// File for waiting partitions when memory is short.
    file: Option<TempFile>,
    /// Whether writing to it has failed, or the statement is to end: who asks for memory again does not wait for more
    /// attempts.
    has_failed: bool,
}

/// Result of [`PartitionQueue::next_taken`].
pub enum Taken {
    /// A partition in memory.
    Loaded(Partition),
    /// A partition of one or very few keys that is too large for memory: only [`Partition::read_next`] reads it.
    Large(Partition),
}

/// Queue of a table's partitions, which workers take one at a time. A partition that does not fit in memory comes out
/// as several. Cloning gives another worker's handle.
#[derive(Clone)]
pub struct PartitionQueue(Arc<Queue>);

struct Queue {
    build: TempTable,
    probe: Option<TempTable>,
    state: Mutex<State>,
    /// Notified when a worker has finished splitting.
    changed: Condvar,
}

impl Reclaim for Queue {
    fn memory(&self) -> &Budget {
        &self.build.0.store.memory
    }

    fn reclaim(&self, wanted: u64) -> u64 {
        let Ok(mut state) = self.state.try_lock() else {
            return 0;
        };
        let mut freed = 0;
        let State {
            waiting,
            file,
            has_failed,
            ..
        } = &mut *state;
        // The last partitions are taken last.
        for other in waiting.iter_mut().rev() {
            if freed >= wanted || *has_failed {
                break;
            }
            match self.send_away(other, wanted - freed, file) {
                Ok(bytes) => freed += bytes,
                Err(_) => *has_failed = true,
            }
        }
        freed
    }
}

impl TempTable {
    /// The partitions of a table with hash access, each to be taken by one worker. Taking a partition removes its rows
    /// from the table and frees their memory with it.
    pub fn partitions(&self) -> PartitionQueue {
        PartitionQueue::new(self, None)
    }
}

impl PartitionQueue {
    fn new(build: &TempTable, probe: Option<&TempTable>) -> Self {
        let queue = Arc::new(Queue {
            build: build.clone(),
            probe: probe.cloned(),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let holder: Arc<dyn Reclaim> = queue.clone();
        let holders = &build.0.store.context.resources().registry.holders;
        holders.add(Arc::downgrade(&holder));
        Self(queue)
    }

    /// Pairs of partitions of two tables whose hash keys correspond (the first key of one to the first of the other,
    /// of equal types and modes): rows that may match are in one pair, and every row of either table comes exactly
    /// once.
    pub fn pairs(build: &TempTable, probe: &TempTable) -> Self {
        Self::new(build, Some(probe))
    }

    /// The next partition, in memory; `None` when all were taken.
    pub fn next_partition(&self) -> Result<Option<Partition>> {
        let table = &self.0.build;
        self.0
            .next_waiting()
            .and_then(|next| {
                next.map(|next| Partition::load(table, next.build))
                    .transpose()
            })
            .map_err(|error| table.error(&error))
    }

    /// [`Self::next_partition`], but for a caller that can also take the rows of one key in parts when they are too
    /// many for the memory.
    pub fn next_taken(&self) -> Result<Option<Taken>> {
        Ok(self.take_next()?.map(|(taken, _)| taken))
    }

    fn take_next(&self) -> Result<Option<(Taken, Vec<Part>)>> {
        let next = self.0.next_waiting();
        let taken = next.and_then(|next| next.map(|next| self.0.take(next)).transpose());
        taken.map_err(|error| self.0.build.error(&error))
    }

    /// The next pair of a queue made by [`Self::pairs`].
    pub fn next_pair(&self) -> Result<Option<JoinPair>> {
        let Some(probe) = &self.0.probe else {
            return Ok(None);
        };
        Ok(self.take_next()?.map(|(build, parts)| {
            let probe = Partition::unloaded(probe, parts);
            JoinPair::new(build, probe)
        }))
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// The build side of a partition, in memory if it fits, and the parts of its probe side.
    fn take(&self, mut next: Waiting) -> mayfly_memory::Result<(Taken, Vec<Part>)> {
        if self.fits(&next) {
            let build = Partition::load(&self.build, next.build)?;
            return Ok((Taken::Loaded(build), next.probe));
        }
        // The file handle may be dropped before the parts that are in it: they keep what they need.
        self.send_away(&mut next, u64::MAX, &mut None)?;
        let build = Partition::unloaded(&self.build, next.build);
        Ok((Taken::Large(build), next.probe))
    }

    /// Takes a partition that fits, splitting those that do not.
    fn next_waiting(&self) -> mayfly_memory::Result<Option<Waiting>> {
        let share = self.build.0.store.worker_share();
        let mut state = self.lock();
        if !state.prepared {
            state.prepared = true;
            state.waiting = self.prepare()?;
        }
        loop {
            let Some(next) = state.waiting.pop_front() else {
                if state.splitting == 0 {
                    return Ok(None);
                }
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let splittable = !next.whole && next.used_bits < PARTITION_BITS_MAX;
            if next.needed_bytes() <= share || !splittable {
                self.make_room(&mut state, &next)?;
                if let Some(ahead) = state.waiting.front() {
                    ahead.build.iter().for_each(Part::will_need);
                }
                return Ok(Some(next));
            }
            state.splitting += 1;
            drop(state);
            self.split_further(next)?;
            state = self.lock();
        }
    }

    /// Splits a partition and queues the pieces. It is counted in `splitting`.
    fn split_further(&self, waiting: Waiting) -> mayfly_memory::Result<()> {
        // Declared before the lock guard, so that it is dropped after it.
        let _splitting = Splitting(self);
        let split = self.split(waiting)?;
        let mut state = self.lock();
        for part in split {
            state.waiting.push_front(part);
        }
        Ok(())
    }

    /// Collects the parts of all writers for each partition.
    fn prepare(&self) -> mayfly_memory::Result<VecDeque<Waiting>> {
        let build = std::mem::take(&mut *self.build.written());
        let probe = match &self.probe {
            Some(probe) => std::mem::take(&mut *probe.written()),
            None => Vec::new(),
        };
        let largest = build.iter().chain(&probe).map(|written| written.plan);
        let single = PartitionPlan::single(u64::MAX, 1);
        let plan = largest.max_by_key(|plan| plan.bits).unwrap_or(single);
        let build = assemble(&self.build.0.store, plan, build)?;
        let probe = match &self.probe {
            Some(table) => assemble(&table.0.store, plan, probe)?,
            None => (0..plan.count()).map(|_| Vec::new()).collect(),
        };
        let mut waiting: Vec<Waiting> = build
            .into_iter()
            .zip(probe)
            .map(|(build, probe)| Waiting {
                build,
                probe,
                used_bits: plan.bits,
                whole: false,
                is_piece: false,
            })
            .filter(|waiting| !waiting.is_empty())
            .collect();
        waiting.sort_by_key(Waiting::file_bytes);
        Ok(waiting.into())
    }

    /// Whether a partition that was taken can be brought into memory.
    fn fits(&self, taken: &Waiting) -> bool {
        let store = &self.build.0.store;
        let in_memory: u64 = taken.build.iter().map(|part| part.memory_bytes).sum();
        let needed = taken.needed_bytes() - in_memory;
        // A partition that could be split would have been.
        if taken.needed_bytes() <= store.worker_share() {
            return true;
        }
        if taken.needed_bytes() > store.memory_limit() {
            return false;
        }
        let resources = store.context.resources();
        resources.make_room(needed, &store.memory);
        // Some memory must remain for the work on it.
        store.memory.refusing_forced(needed + needed / 2).is_none()
    }

    /// Writes waiting partitions to the temporary file until `next` can be loaded.
    fn make_room(&self, state: &mut State, next: &Waiting) -> mayfly_memory::Result<()> {
        let store = &self.build.0.store;
        let in_memory: u64 = next.build.iter().map(|part| part.memory_bytes).sum();
        let needed = next.needed_bytes() - in_memory;
        let State { waiting, file, .. } = state;
        for other in waiting.iter_mut().rev() {
            if store.memory.available() >= needed || store.reclaim(needed) {
                break;
            }
            self.send_away(other, u64::MAX, file)?;
        }
        Ok(())
    }

    fn send_away(
        &self,
        waiting: &mut Waiting,
        wanted: u64,
        file: &mut Option<TempFile>,
    ) -> mayfly_memory::Result<u64> {
        let parts = waiting.probe.iter_mut().collect();
        let freed = match &self.probe {
            Some(probe) => reclaim_parts(parts, wanted, &probe.0.store, file)?,
            None => 0,
        };
        let parts = waiting.build.iter_mut().collect();
        let wanted = wanted.saturating_sub(freed);
        Ok(freed + reclaim_parts(parts, wanted, &self.build.0.store, file)?)
    }

    fn split(&self, waiting: Waiting) -> mayfly_memory::Result<Vec<Waiting>> {
        let store = &self.build.0.store;
        let threads = store.context.options().threads;
        let (used, limit) = (waiting.used_bits, store.memory_limit());
        let most = PartitionPlan::partitioned(used, limit, threads);
        let plan = if waiting.is_piece {
            // One key has most of its rows: all bits are used up soon.
            most
        } else {
            // Half of a share each, since hashes do not divide evenly.
            let pieces = (2 * waiting.needed_bytes()).div_ceil(store.worker_share());
            let bits = pieces.next_power_of_two().ilog2().max(1);
            PartitionPlan::fitting(used, bits.min(most.bits), limit, threads)
        };
        let (build, whole) = repartition(store, plan, waiting.build)?;
        let probe = match &self.probe {
            Some(table) => repartition(&table.0.store, plan, waiting.probe)?.0,
            None => (0..plan.count()).map(|_| Part::default()).collect(),
        };
        let used_bits = waiting.used_bits + plan.bits;
        Ok(build
            .into_iter()
            .zip(probe)
            .map(|(build, probe)| Waiting {
                build: vec![build],
                probe: vec![probe],
                used_bits,
                whole,
                is_piece: true,
            })
            .filter(|waiting| !waiting.is_empty())
            .collect())
    }
}

/// Guard of a worker that splits a partition. The others wait for the pieces; however it ends, even by a panic, they
/// must not wait for ever.
struct Splitting<'a>(&'a Queue);

impl Drop for Splitting<'_> {
    fn drop(&mut self) {
        self.0.lock().splitting -= 1;
        self.0.changed.notify_all();
    }
}
