//! Write lock of a MEMORY table: one statement at a time writes, and holds it until it ends. Readers do not wait: they
//! see the rows as they were before.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mayfly_memory::sync::lock;
use mayfly_types::error::codes;
use mayfly_types::{Interrupt, Result};

/// Interval at which a waiter checks whether its statement was killed.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Reentrant write lock of sessions.
#[derive(Debug, Default)]
pub(super) struct WriteLock {
    /// The session that writes, and how often it has taken the lock.
    owner: Mutex<Option<(usize, u32)>>,
    released: Condvar,
}

impl WriteLock {
    fn owner(&self) -> MutexGuard<'_, Option<(usize, u32)>> {
        lock(&self.owner)
    }

    /// Waits until no other session writes.
    pub(super) fn lock(&self, session: usize, wait: Duration, interrupt: &Interrupt) -> Result<()> {
        let end = Instant::now().checked_add(wait);
        let mut owner = self.owner();
        loop {
            match &mut *owner {
                None => {
                    *owner = Some((session, 1));
                    return Ok(());
                }
                Some((holder, count)) if *holder == session => {
                    *count += 1;
                    return Ok(());
                }
                Some(_) => {}
            }
            interrupt.check()?;
            if end.is_some_and(|end| Instant::now() >= end) {
                return Err(codes::ER_LOCK_WAIT_TIMEOUT.error());
            }
            let waited = self.released.wait_timeout(owner, POLL_INTERVAL);
            owner = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Releases the lock once; returns whether it is free now.
    pub(super) fn unlock(&self) -> bool {
        let mut owner = self.owner();
        let is_free = match &mut *owner {
            Some((_, count)) if *count > 1 => {
                *count -= 1;
                false
            }
            _ => {
                *owner = None;
                true
            }
        };
        drop(owner);
        self.released.notify_all();
        is_free
    }
}
