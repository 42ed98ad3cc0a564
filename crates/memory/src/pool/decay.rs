//! Returns memory to the system that was kept because it was used recently.
//!
//! A statement that takes a gigabyte is often followed by one that takes as much, and clearing a gigabyte of pages
//! costs the kernel as much as writing it. So more than the idle limit is kept for some seconds after use; a thread
//! that lives only as long returns it.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::{BlockPool, PoolInner};

/// Greatest time between two reuses of empty slabs above the idle limit; after it, they are returned.
const KEPT_FOR: Duration = Duration::from_secs(3);

/// Starts the thread, if none is running; false if that fails.
pub(super) fn start(pool: &Arc<PoolInner>) -> bool {
    if pool.is_decaying.swap(true, Ordering::AcqRel) {
        return true;
    }
    let weak = Arc::downgrade(pool);
    let thread = std::thread::Builder::new().name("mayfly-idle".to_owned());
    let is_started = thread.spawn(move || decay(&weak, KEPT_FOR)).is_ok();
    if !is_started {
        pool.is_decaying.store(false, Ordering::Release);
    }
    is_started
}

fn decay(pool: &Weak<PoolInner>, kept_for: Duration) {
    let mut reused = None;
    loop {
        std::thread::sleep(kept_for);
        let Some(pool) = pool.upgrade() else { return };
        let now = pool.reused.load(Ordering::Relaxed);
        if reused.replace(now) == Some(now) {
            pool.is_decaying.store(false, Ordering::Release);
            let idle_limit = pool.options.idle_limit;
            BlockPool(pool).trim(idle_limit);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{Budget, BudgetKind};
    use crate::pool::PoolOptions;

    const BLOCK: usize = 256 << 10;

    #[test]
    fn what_was_used_a_moment_ago_is_kept_and_goes_when_it_is_not_used_again() {
        let pool = BlockPool::new(PoolOptions {
            idle_limit: 4 << 20,
            recent_limit: 8 << 20,
        });
        let budget = Budget::unlimited(BudgetKind::Memory);
        let take = |count: usize| -> Vec<_> {
            let blocks = (0..count).map(|_| pool.take(BLOCK, &budget));
            blocks.collect::<Result<_, _>>().expect("blocks")
        };
        drop(take(24));
        assert_eq!(pool.idle_bytes(), 6 << 20);
        drop(take(48));
        assert_eq!(pool.idle_bytes(), 8 << 20);
        decay(&Arc::downgrade(&pool.0), Duration::from_millis(1));
        assert_eq!(pool.idle_bytes(), 4 << 20);
        // The thread keeps no pool alive, and ends with it.
        let weak = Arc::downgrade(&pool.0);
        drop(pool);
        decay(&weak, Duration::from_millis(1));
    }
}
