//! Bytes of trees that count against a budget: tables that belong to a user's temporary space.
//!
//! The number is an estimate between transactions: the bytes that a transaction adds are charged before it commits, or,
//! of a bulk load, before they are written, so that a limit refuses them; once it has ended, the charge becomes the
//! size of the tree by its statistics.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, RwLock, Weak};

use mayfly_memory::sync::{lock, read_lock, write_lock};
use mayfly_memory::{Budget, Reservation};
use mayfly_types::Result;

use super::environment::Environment;
use super::overlay::Overlay;
use super::record_key::TreeId;
use super::statistics::tree_bytes;
use super::store::DurableStore;
use crate::error::user_error;
use crate::key_encoding::ByteRange;

/// The charge of one tree, until this is dropped.
#[derive(Debug)]
pub struct TreeSpace {
    reservation: Mutex<Reservation>,
    /// Name of the table in errors.
    name: Arc<str>,
}

impl TreeSpace {
    /// Charges `bytes` more, or nothing where a limit refuses them.
    fn grow(&self, bytes: u64) -> Result<()> {
        let grown = lock(&self.reservation).try_grow(bytes);
        grown.map_err(|error| user_error(&error.into(), &self.name))
    }

    /// Charges exactly `bytes`, which are there already: no limit refuses them.
    fn settle(&self, bytes: u64) {
        let mut reservation = lock(&self.reservation);
        let now = reservation.bytes();
        if bytes > now {
            // Only rows that are added are refused.
            let _ = reservation.grow_forced(bytes - now);
        } else {
            reservation.shrink(now - bytes);
        }
    }
}

/// The charged trees of a store.
#[derive(Debug, Default)]
pub(super) struct TreeSpaces {
    is_any: AtomicBool,
    spaces: RwLock<HashMap<TreeId, Weak<TreeSpace>>>,
}

impl TreeSpaces {
    fn get(&self, tree: TreeId) -> Option<Arc<TreeSpace>> {
        if !self.is_any.load(Ordering::Acquire) {
            return None;
        }
        read_lock(&self.spaces).get(&tree).and_then(Weak::upgrade)
    }

    /// Charges bytes that are about to be added to a tree, if it is charged.
    pub(super) fn grow(&self, tree: TreeId, bytes: u64) -> Result<()> {
        self.get(tree).map_or(Ok(()), |space| space.grow(bytes))
    }

    /// Charges the rows of a transaction that is about to commit.
    pub(super) fn grow_by(&self, overlay: &Overlay) -> Result<()> {
        for (tree, changes) in &overlay.trees {
            let Some(space) = self.get(*tree) else {
                continue;
            };
            let mut bytes = 0;
            changes.each(&ByteRange::ALL, |key, row| {
                bytes += row.as_ref().map_or(0, |row| key.len() + row.len());
                Ok(true)
            })?;
            if bytes > 0 {
                space.grow(bytes as u64)?;
            }
        }
        Ok(())
    }
}

impl Environment {
    /// The charged trees among those that are changed.
    #[inline]
    pub(super) fn charged_trees(&self, changed: &Overlay) -> Vec<TreeId> {
        if !self.tree_spaces.is_any.load(Ordering::Acquire) {
            return Vec::new();
        }
        let spaces = read_lock(&self.tree_spaces.spaces);
        let trees = changed.trees.keys().copied();
        trees.filter(|tree| spaces.contains_key(tree)).collect()
    }

    /// Charges a tree, if it is charged, by its present size.
    pub(super) fn settle(&self, tree: TreeId) {
        // Without the statistics the charge stays.
        if let Some(space) = self.tree_spaces.get(tree)
            && let Ok(bytes) = tree_bytes(self, tree)
        {
            space.settle(bytes);
        }
    }
}

impl DurableStore {
    /// Charges the rows of a tree to a budget as long as the result lives.
    pub fn charge(&self, tree: TreeId, budget: &Budget, name: &Arc<str>) -> Arc<TreeSpace> {
        let space = Arc::new(TreeSpace {
            reservation: Mutex::new(budget.reservation()),
            name: Arc::clone(name),
        });
        let spaces = &self.0.environment.tree_spaces;
        let mut known = write_lock(&spaces.spaces);
        known.retain(|_, space| space.strong_count() > 0);
        known.insert(tree, Arc::downgrade(&space));
        spaces.is_any.store(true, Ordering::Release);
        space
    }
}
