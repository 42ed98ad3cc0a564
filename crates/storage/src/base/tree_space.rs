//! Bytes of trees that count against a budget: tables that belong to a user's temporary space.
//!
//! The number is an estimate between transactions: the bytes that a transaction adds are charged before it commits, or,
//! of a bulk load, before they are written, so that a limit refuses them; once it has ended, the charge becomes the
//! size of the tree by its statistics.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, RwLock, Weak};

use mayfly_memory::Reservation;
use mayfly_memory::sync::{lock, read_lock};
use mayfly_types::Result;

use super::record_key::TreeId;
use crate::error::user_error;

/// The charge of one tree, until this is dropped.
#[derive(Debug)]
pub struct TreeSpace {
    pub(super) reservation: Mutex<Reservation>,
    /// Name of the table in errors.
    pub(super) name: Arc<str>,
}

impl TreeSpace {
    /// Charges `bytes` more, or nothing where a limit refuses them.
    pub(super) fn grow(&self, bytes: u64) -> Result<()> {
        let grown = lock(&self.reservation).try_grow(bytes);
        grown.map_err(|error| user_error(&error.into(), &self.name))
    }

    /// Charges exactly `bytes`, which are there already: no limit refuses them.
    pub(super) fn settle(&self, bytes: u64) {
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
    pub(super) is_any: AtomicBool,
    pub(super) spaces: RwLock<HashMap<TreeId, Weak<TreeSpace>>>,
}

impl TreeSpaces {
    pub(super) fn get(&self, tree: TreeId) -> Option<Arc<TreeSpace>> {
        if !self.is_any.load(Ordering::Acquire) {
            return None;
        }
        read_lock(&self.spaces).get(&tree).and_then(Weak::upgrade)
    }

    /// Charges bytes that are about to be added to a tree, if it is charged.
    pub(super) fn grow(&self, tree: TreeId, bytes: u64) -> Result<()> {
        self.get(tree).map_or(Ok(()), |space| space.grow(bytes))
    }
}
