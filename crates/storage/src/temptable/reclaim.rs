//! Taking memory back from what is at rest.
//!
//! Tables of one statement, and of several, share a limit. A table that is being written when the
//! limit is reached sends its own partitions to temporary files, but the memory may be with others
//! that wait: a hash join's build side while the probe side is written, partitions that no worker has
//! taken yet, a materialised CTE between two scans. A table that is refused memory asks those
//! first; what they send to a file comes back when it is read.
//!
//! Nothing waits here: a holder that is busy is passed over, so no lock order can be wrong.

use std::sync::{Arc, Mutex, Weak};

use mayfly_memory::Budget;
use mayfly_memory::sync::lock;

/// A holder of memory that may be asked for it.
pub(crate) trait Reclaim: Send + Sync {
    /// The budget that its memory is charged to.
    fn memory(&self) -> &Budget;

    /// Sends about `wanted` bytes to a temporary file and says how many it were. Passes over what is
    /// in use and what fails: it is not the holder's statement that wants the memory.
    fn reclaim(&self, wanted: u64) -> u64;
}

/// All that may be asked. Cloning gives another handle.
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
        // Looks for dead ones only when the list is about to grow, so that adding stays cheap.
        if holders.len() == holders.capacity() {
            holders.retain(|holder| holder.strong_count() > 0);
        }
        holders.push(holder);
    }

    /// Asks holders of `budget` or any below it, until about `wanted` bytes have left memory.
    /// Says how many bytes it were.
    pub(crate) fn reclaim(&self, wanted: u64, budget: &Budget) -> u64 {
        // The list is unlocked first: a holder that ends here is dropped, and leaves the list.
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
