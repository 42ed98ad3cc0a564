//! What is changed in a tree, by key: in memory, and in a temporary table when it becomes much.
//!
//! What is in memory hides what is in the table. A statement collects its changes in memory and puts
//! them into the table now and then, so that they come there in order. A transaction changes the
//! table itself, under an undo log that overflows as the table does. Keys that are too long for the
//! table's order stay in memory.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use mayfly_memory::{Budget, BudgetKind, Reservation};
use mayfly_types::Result;

use crate::key_encoding::ByteRange;
use crate::temptable::{
    MapSnapshot, OrderedMap, Purpose, Resources, StatementOwner, UndoLog, UserTableContext,
    UserTableEngine,
};

/// A row as bytes (see [`super::row`]), or a record's value in the tree of records; `None` when it is
/// removed.
pub(super) type Change = Option<Arc<[u8]>>;

/// What users call the changes of a transaction.
pub(super) const NAME: &str = "(transaction)";
/// Memory is reserved for changes in steps of so many bytes.
pub(super) const RESERVE_BYTES: u64 = 64 << 10;

/// Changes are not kept in memory when they need more than this, nor more than half of what one table
/// should have.
const MOST_MEMORY: u64 = 512 << 20;
/// So much may be in memory when all is to overflow as soon as it can.
const LEAST_MEMORY: u64 = 1 << 10;
/// Entries that are taken from the table at once …
const TURN: usize = 1024;
/// Entries that are read from it at once, or about `TURN_BYTES` of them: in their order they are all over the table.
const READ_TURN: usize = 4096;
/// … or about so many bytes of them.
const TURN_BYTES: usize = 256 << 10;

/// Where changes are until they are committed.
#[derive(Debug, Clone)]
pub struct ChangeStorage {
    /// What the database shares.
    pub resources: Resources,
    /// Memory: a budget below that of all tables, so that something is left where they need it.
    pub memory: Budget,
    /// Temporary space.
    pub temp_space: Budget,
    /// Whose they are.
    pub owner: StatementOwner,
    /// Puts all of them into temporary space as soon as it can: a test that results do not depend on
    /// memory.
    pub force_overflow: bool,
}

impl ChangeStorage {
    /// With nothing but a budget of memory, for tests.
    pub fn for_tests(memory: &Budget) -> Self {
        Self {
            resources: Resources::with_defaults(std::env::temp_dir(), 2),
            memory: memory.clone(),
            temp_space: Budget::unlimited(BudgetKind::TempSpace),
            owner: StatementOwner::default(),
            force_overflow: false,
        }
    }

    /// How many bytes of changes may be in memory.
    pub(super) fn most_memory(&self) -> u64 {
        if self.force_overflow {
            LEAST_MEMORY
        } else {
            MOST_MEMORY.min(self.memory.share() / 2)
        }
    }

    /// Makes a reservation hold so many bytes of what cannot be put into temporary space.
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
            is_private: false,
        })
    }
}

/// Changes by key.
#[derive(Debug, Clone, Default)]
pub(super) struct ChangeMap {
    memory: BTreeMap<Vec<u8>, Change>,
    /// About how many bytes those need.
    bytes: u64,
    table: Option<OrderedMap>,
}

/// Whether a key stays in memory.
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

    /// About how many bytes of memory it needs, but for the table, which has an account of its own.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The changes that are in memory, in order.
    pub(super) fn in_memory(&self) -> impl Iterator<Item = (&[u8], &Change)> {
        let all = self.memory.iter();
        all.map(|(key, change)| (key.as_slice(), change))
    }

    /// Takes those out.
    pub(super) fn take_memory(&mut self) -> BTreeMap<Vec<u8>, Change> {
        self.bytes = 0;
        std::mem::take(&mut self.memory)
    }

    /// Whether some of it is in a table.
    pub(super) fn has_table(&self) -> bool {
        self.table.is_some()
    }

    /// What was done to a key; `None` when nothing.
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Change>> {
        if let Some(change) = self.memory.get(key) {
            return Ok(Some(change.clone()));
        }
        let table = self.table.as_ref();
        table.map_or(Ok(None), |table| table.get(key))
    }

    /// What was done to a key, as a snapshot of the table has it.
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

    /// Sets in memory what is done to a key; gives what was there in memory.
    pub(super) fn set(&mut self, key: Vec<u8>, change: Change) -> Option<Change> {
        let (length, bytes) = (key.len(), entry_bytes(&key, &change));
        let before = self.memory.insert(key, change);
        self.bytes += bytes;
        if let Some(before) = &before {
            self.bytes -= entry_bytes(&[], before) + length as u64;
        }
        before
    }

    /// Forgets what was done to a key.
    fn forget(&mut self, key: &[u8]) {
        if let Some(before) = self.memory.remove(key) {
            self.bytes -= entry_bytes(key, &before);
        }
    }

    /// Sets what is done to keys. Those that go into the table can be undone by `undo`; the others,
    /// with what was there before, are given to `log`.
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

    /// Makes what is done to a key what it was before it was [set](Self::set), wherever it is now.
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

    /// Puts what is in memory, if anything, into the table; by how many bytes it needs less now.
    pub(super) fn overflow(&mut self, storage: &ChangeStorage) -> Result<u64> {
        if self.memory.keys().all(|key| is_long(key)) {
            Ok(0)
        } else {
            self.move_to_table(storage)
        }
    }

    /// The same; from here on there is a table.
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

    /// The table as it is now, whatever is changed later.
    pub(super) fn snapshot(&self) -> Option<MapSnapshot> {
        self.table.as_ref().map(OrderedMap::snapshot)
    }

    /// Gives the changes of a range, with a snapshot of the table, to `each` in order, until that says
    /// that it is enough.
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

    /// Where to divide a range that has more than about so many changes, seen from where it is read.
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
