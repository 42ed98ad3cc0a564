//! Reclaiming memory from idle holders.
//!
//! Tables of one statement, and of several, share a limit. A table that is being written when the limit is reached
//! writes its own partitions to temporary files, but the memory may be with others that are idle: a hash join's build
//! side while the probe side is written, partitions that no worker has taken yet, a materialised CTE between two
//! scans. A table that is refused memory asks those first; what they write to a file comes back when it is read.
//!
//! No call here blocks: a busy holder is skipped, so no lock order can be wrong.

use std::sync::{Arc, Mutex, Weak};

use mayfly_memory::Budget;
use mayfly_memory::sync::lock;

/// Holder of memory that can be asked to release it.
pub trait Reclaim: Send + Sync {
    /// The budget that the memory is charged to.
    fn memory(&self) -> &Budget;

    /// Writes about `wanted` bytes to a temporary file and returns the number of bytes released. Skips what is in use
    /// and what fails: the holder's statement is not the one that wants the memory.
    fn reclaim(&self, wanted: u64) -> u64;
}

/// List of all holders. Cloning gives another handle.
#[derive(Clone, Default)]
pub(crate) struct Holders(Arc<Mutex<Vec<Weak<dyn Reclaim>>>>);

impl std::fmt::Debug for Holders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Holders").finish_non_exhaustive()
    }
}

impl Holders {
    /// Adds a holder, for as long as it lives.
    pub(crate) fn add(&self, holder: Weak<dyn Reclaim>) {
        let mut holders = lock(&self.0);
        // Removes dead entries only when the list is about to grow, so that adding stays cheap.
        if holders.len() == holders.capacity() {
            holders.retain(|holder| holder.strong_count() > 0);
        }
        holders.push(holder);
    }

    /// Asks holders of `budget` or any budget below it, until about `wanted` bytes are released. Returns the number of
    /// bytes.
    pub(crate) fn reclaim(&self, wanted: u64, budget: &Budget) -> u64 {
        // The list is unlocked first: a holder whose last reference is here is dropped, and leaves the list.
        let mut holders: Vec<Arc<dyn Reclaim>> =
            lock(&self.0).iter().filter_map(Weak::upgrade).collect();
        holders.retain(|holder| holder.memory().used() > 0 && holder.memory().is_below(budget));
        holders.sort_by_key(|holder| std::cmp::Reverse(holder.memory().used()));
        let mut freed = 0;
        for holder in holders {
            if freed >= wanted {
                break;
            }
            freed += holder.reclaim(wanted - freed);
        }
        freed
    }
}
