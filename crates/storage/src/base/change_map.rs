//! Changes of a tree by key: in memory, and beyond a limit in a temporary table.
//!
//! Changes in memory hide those in the table. A statement collects its changes in memory and moves
//! them into the table now and then, so that they come there in order. A transaction changes the
//! table itself, under an undo log that overflows as the table does. Keys that are too long for the
//! table's order stay in memory.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use mayfly_memory::{Budget, BudgetKind, Reservation};
use mayfly_types::{Interrupt, Result};

use crate::key_encoding::ByteRange;
use crate::temptable::{
    MapSnapshot, OrderedMap, Purpose, Resources, StatementOwner, UndoLog, UserTableContext,
    UserTableEngine,
};

/// New value of a key: a row as bytes (see [`super::row`]) or a record's value in the tree of records; `None` removes
/// it.
pub(super) type Change = Option<Arc<[u8]>>;

/// Name of a transaction's changes in messages.
pub(super) const NAME: &str = "(transaction)";
/// Step, in bytes, in which memory for changes is reserved.
pub(super) const RESERVE_BYTES: u64 = 64 << 10;

/// Upper limit of the memory for changes; they also take at most half of what one table should have.
const MOST_MEMORY: u64 = 512 << 20;
/// Memory for changes when [`ChangeStorage::force_overflow`] is set.
const LEAST_MEMORY: u64 = 1 << 10;
/// Number of entries that are moved to the table at once …
const TURN: usize = 1024;
/// Number of entries read from the table at once, up to about `TURN_BYTES`: in key order they lie all over the table.
const READ_TURN: usize = 4096;
/// … or bytes of entries, about.
const TURN_BYTES: usize = 256 << 10;

/// Resources for uncommitted changes.
#[derive(Debug, Clone)]
pub struct ChangeStorage {
    /// Resources that the database shares.
    pub resources: Resources,
    /// Memory budget, below that of all tables, so that something is left for statements.
    pub memory: Budget,
    /// Budget of temporary space.
    pub temp_space: Budget,
    /// Owner of the changes.
    pub owner: StatementOwner,
    /// Test switch: overflow to temporary space as soon as possible, to show that results do not depend on memory.
    pub force_overflow: bool,
}

impl ChangeStorage {
    /// Storage with a memory budget alone, for tests.
    pub fn for_tests(memory: &Budget) -> Self {
        Self {
            resources: Resources::with_defaults(std::env::temp_dir(), 2),
            memory: memory.clone(),
            temp_space: Budget::unlimited(BudgetKind::TempSpace),
            owner: StatementOwner::default(),
            force_overflow: false,
        }
    }

    /// Limit, in bytes, of the changes in memory.
    pub(super) fn most_memory(&self) -> u64 {
        if self.force_overflow {
            LEAST_MEMORY
        } else {
            MOST_MEMORY.min(self.memory.share() / 2)
        }
    }

    /// Resizes a reservation to `bytes` of changes that cannot overflow to temporary space.
    pub(super) fn resize(&self, reservation: &mut Reservation, bytes: u64) -> Result<()> {
        self.resources.resize_working_set(reservation, bytes, NAME)
    }

    fn table(&self) -> OrderedMap {
        OrderedMap::new(UserTableContext {
            resources: self.resources.clone(),
            memory: self.memory.clone(),
            temp_space: self.temp_space.clone(),
            memory_limit: if self.force_overflow {
                crate::temptable::FORCED_OVERFLOW_LIMIT
            } else {
                MOST_MEMORY
            },
            owner: self.owner.clone(),
            purpose: Purpose::TransactionChanges,
            name: NAME.into(),
            engine: UserTableEngine::Transactional,
            interrupt: Interrupt::default(),
            is_private: false,
        })
    }
}

/// Map of changes by key.
#[derive(Debug, Clone, Default)]
pub(super) struct ChangeMap {
    memory: BTreeMap<Vec<u8>, Change>,
    /// Estimate of the bytes of the changes in memory.
    bytes: u64,
    table: Option<OrderedMap>,
}

/// Whether a key is too long for the table and stays in memory.
fn is_long(key: &[u8]) -> bool {
    key.len() > OrderedMap::LONGEST_KEY
}

fn entry_bytes(key: &[u8], change: &Change) -> u64 {
    // A node of the tree holds the key's and the row's headers.
    (96 + key.len() + change.as_ref().map_or(0, |row| row.len())) as u64
}

impl ChangeMap {
    pub(super) fn is_empty(&self) -> bool {
        self.memory.is_empty() && self.table.as_ref().is_none_or(OrderedMap::is_empty)
    }

    /// Estimate of the memory in use, without the table, which has an account of its own.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The changes in memory, in key order.
    pub(super) fn in_memory(&self) -> impl Iterator<Item = (&[u8], &Change)> {
        let all = self.memory.iter();
        all.map(|(key, change)| (key.as_slice(), change))
    }

    /// Takes out the changes in memory.
    pub(super) fn take_memory(&mut self) -> BTreeMap<Vec<u8>, Change> {
        self.bytes = 0;
        std::mem::take(&mut self.memory)
    }

    /// Whether some changes are in a table.
    pub(super) fn has_table(&self) -> bool {
        self.table.is_some()
    }

    /// The change of a key, if any.
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Change>> {
        if let Some(change) = self.memory.get(key) {
            return Ok(Some(change.clone()));
        }
        let table = self.table.as_ref();
        table.map_or(Ok(None), |table| table.get(key))
    }

    /// The change of a key, read in a snapshot of the table.
    pub(super) fn get_at(
        &self,
        snapshot: Option<&MapSnapshot>,
        key: &[u8],
    ) -> Result<Option<Change>> {
        match (self.memory.get(key), snapshot) {
            (Some(change), _) => Ok(Some(change.clone())),
            (None, Some(snapshot)) => snapshot.get(key),
            (None, None) => Ok(None),
        }
    }

    /// Sets a key's change in memory; returns the former change in memory.
    pub(super) fn set(&mut self, key: Vec<u8>, change: Change) -> Option<Change> {
        let (length, bytes) = (key.len(), entry_bytes(&key, &change));
        let before = self.memory.insert(key, change);
        self.bytes += bytes;
        if let Some(before) = &before {
            self.bytes -= entry_bytes(&[], before) + length as u64;
        }
        before
    }

    /// Removes the change of a key.
    fn forget(&mut self, key: &[u8]) {
        if let Some(before) = self.memory.remove(key) {
            self.bytes -= entry_bytes(key, &before);
        }
    }

    /// Sets the changes of keys. Those that go into the table can be undone by `undo`; of the others the former change
    /// is given to `log`.
    pub(super) fn set_all(
        &mut self,
        entries: impl Iterator<Item = (Vec<u8>, Change)>,
        undo: &UndoLog,
        mut log: impl FnMut(Vec<u8>, Option<Change>),
    ) -> Result<()> {
        let mut into_table: Vec<(Vec<u8>, Change)> = Vec::new();
        let mut entries = entries.peekable();
        while let Some((key, change)) = entries.next() {
            match &self.table {
                Some(_) if !is_long(&key) => into_table.push((key, change)),
                _ => {
                    let before = self.set(key.clone(), change);
                    log(key, before);
                }
            }
            if into_table.len() == TURN || entries.peek().is_none() {
                let all = into_table.iter().map(|(key, row)| (key.as_slice(), row));
                if let Some(table) = &self.table {
                    table.set(all, Some(undo))?;
                }
                into_table.clear();
            }
        }
        Ok(())
    }

    /// Restores a key's change from before it was [set](Self::set), wherever it is now.
    pub(super) fn restore(&mut self, key: Vec<u8>, before: Option<Change>) {
        match &self.table {
            Some(table) if !is_long(&key) => {
                let restored = match &before {
                    Some(change) => table.set(std::iter::once((key.as_slice(), change)), None),
                    None => table.remove(&key, None),
                };
                if let Err(error) = restored {
                    table.fail(error);
                }
            }
            _ => match before {
                Some(change) => drop(self.set(key, change)),
                None => self.forget(&key),
            },
        }
    }

    /// Moves the changes in memory, if any, to the table; returns the number of bytes freed.
    pub(super) fn overflow(&mut self, storage: &ChangeStorage) -> Result<u64> {
        if self.memory.keys().all(|key| is_long(key)) {
            Ok(0)
        } else {
            self.move_to_table(storage)
        }
    }

    /// [`Self::overflow`], but creates the table even if nothing is in memory.
    pub(super) fn move_to_table(&mut self, storage: &ChangeStorage) -> Result<u64> {
        let before = self.bytes;
        let table = self.table.get_or_insert_with(|| storage.table());
        let short = self.memory.iter().filter(|(key, _)| !is_long(key));
        table.set(short.map(|(key, change)| (key.as_slice(), change)), None)?;
        self.memory.retain(|key, _| is_long(key));
        let left = self.memory.iter();
        self.bytes = left.map(|(key, change)| entry_bytes(key, change)).sum();
        Ok(before - self.bytes)
    }

    /// Snapshot of the table, unaffected by later changes.
    pub(super) fn snapshot(&self) -> Option<MapSnapshot> {
        self.table.as_ref().map(OrderedMap::snapshot)
    }

    /// Calls `each` with the changes of a range, in key order, until it asks to stop. The table is read in a snapshot.
    pub(super) fn each(
        &self,
        snapshot: Option<&MapSnapshot>,
        range: &ByteRange,
        mut each: impl FnMut(&[u8], &Change) -> Result<bool>,
    ) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let mut memory = self.memory.range::<[u8], _>(bounds(range)).peekable();
        if let Some(snapshot) = snapshot {
            let mut rest = snapshot.range(range, false);
            let mut entries = Vec::new();
            let mut most = 8;
            while !rest.is_done() {
                snapshot.next(&mut rest, most, &mut entries)?;
                let bytes = entries.iter().map(|(key, change)| entry_bytes(key, change));
                let of_one = bytes.sum::<u64>() as usize / entries.len().max(1);
                most = READ_TURN
                    .min(most * 8)
                    .min(TURN_BYTES / of_one.max(1))
                    .max(1);
                for (key, change) in entries.drain(..) {
                    while let Some((own, change)) = memory.next_if(|(own, _)| **own < key) {
                        if !each(own, change)? {
                            return Ok(());
                        }
                    }
                    let hidden_by = memory.next_if(|(own, _)| **own == key);
                    if !each(&key, hidden_by.map_or(&change, |(_, change)| change))? {
                        return Ok(());
                    }
                }
            }
        }
        for (key, change) in memory {
            if !each(key, change)? {
                break;
            }
        }
        Ok(())
    }

    /// Key that divides a range with more than about `most` changes, counted from the end where reading begins.
    pub(super) fn divide(
        &self,
        snapshot: Option<&MapSnapshot>,
        range: &ByteRange,
        reverse: bool,
        most: usize,
    ) -> Result<Option<Vec<u8>>> {
        if range.is_empty() {
            return Ok(None);
        }
        let mut here = None;
        if self.memory.len() > most {
            let mut all = self.memory.range::<[u8], _>(bounds(range));
            let entry = if reverse {
                // The part that is read first begins with the key.
                let first = all.nth_back(most - 1);
                all.next_back().and(first)
            } else {
                all.nth(most)
            };
            here = entry.map(|(key, _)| key.clone());
        }
        let divide = |snapshot: &MapSnapshot| snapshot.divide(range, reverse, most);
        let there = snapshot.map_or(Ok(None), divide)?;
        Ok(match (here, there) {
            (Some(here), Some(there)) if reverse => Some(here.max(there)),
            (Some(here), Some(there)) => Some(here.min(there)),
            (here, there) => here.or(there),
        })
    }
}

fn bounds(range: &ByteRange) -> (Bound<&[u8]>, Bound<&[u8]>) {
    let end = range.end.as_deref();
    (
        Bound::Included(range.start.as_slice()),
        end.map_or(Bound::Unbounded, Bound::Excluded),
    )
}
