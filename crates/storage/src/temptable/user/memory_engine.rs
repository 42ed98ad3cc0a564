//! What ENGINE=MEMORY has of its own: fixed-length rows in an account, a limit, a lock.
//!
//! The account is the one that MySQL keeps, whatever the rows really need: a row counts with the
//! declared length of its columns, and memory is counted in steps of about `read_buffer_size`, so that
//! a table of one row is said to take as much. One statement at a time writes; readers see the rows as
//! they were before it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mayfly_types::error::codes;
use mayfly_types::{Interrupt, Result};

/// How the MEMORY engine counts bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryLimits {
    /// Bytes of a row by its declaration: a VARCHAR counts with its full length.
    pub row_bytes: u64,
    /// Bytes of a row's entries in all indexes.
    pub index_bytes: u64,
    /// `max_heap_table_size` of the session that made the table.
    pub max_bytes: u64,
    /// `read_buffer_size`: rows are counted in steps of so many bytes.
    pub step_bytes: u64,
    /// MAX_ROWS, or 0.
    pub max_rows: u64,
}

/// How often someone who waits for the lock looks whether he was killed.
const LOOK: Duration = Duration::from_millis(20);

#[derive(Debug, Default)]
struct Writing {
    /// Who writes, and through how many writers.
    owner: Option<(usize, u32)>,
}

#[derive(Debug)]
pub(super) struct MemoryAccount {
    row_bytes: u64,
    rows_per_step: u64,
    max_bytes: u64,
    index_bytes: u64,
    max_rows: u64,
    writing: Mutex<Writing>,
    released: Condvar,
}

impl MemoryAccount {
    pub(super) fn new(limits: &MemoryLimits) -> Self {
        // A row has a byte that tells whether it is deleted, and room for the address of the next
        // deleted one.
        let row_bytes = (limits.row_bytes.max(8) + 1).next_multiple_of(8);
        let per_row = row_bytes + limits.index_bytes;
        let fitting = limits.max_bytes / per_row.max(1);
        let max_rows = match limits.max_rows {
            0 => fitting,
            rows => rows.min(fitting),
        };
        let rows_per_step = (max_rows / 10).min(limits.step_bytes / row_bytes).max(1);
        Self {
            row_bytes,
            rows_per_step,
            max_bytes: limits.max_bytes,
            index_bytes: limits.index_bytes,
            max_rows: max_rows.max(1),
            writing: Mutex::default(),
            released: Condvar::new(),
        }
    }

    /// Bytes that a table of so many rows is said to take.
    pub(super) fn bytes(&self, rows: u64) -> u64 {
        let steps = rows.div_ceil(self.rows_per_step);
        let data = steps
            .saturating_mul(self.rows_per_step)
            .saturating_mul(self.row_bytes);
        data.saturating_add(rows.saturating_mul(self.index_bytes))
    }

    /// Whether one more row finds the table full.
    pub(super) fn is_full(&self, rows: u64) -> bool {
        rows >= self.max_rows || self.bytes(rows) >= self.max_bytes
    }

    fn writing(&self) -> MutexGuard<'_, Writing> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no other session writes.
    pub(super) fn lock(&self, owner: usize, wait: Duration, interrupt: &Interrupt) -> Result<()> {
        let end = Instant::now().checked_add(wait);
        let mut writing = self.writing();
        loop {
            match &mut writing.owner {
                None => {
                    writing.owner = Some((owner, 1));
                    return Ok(());
                }
                Some((holder, count)) if *holder == owner => {
                    *count += 1;
                    return Ok(());
                }
                Some(_) => {}
            }
            interrupt.check()?;
            if end.is_some_and(|end| Instant::now() >= end) {
                return Err(codes::ER_LOCK_WAIT_TIMEOUT.error());
            }
            let waited = self.released.wait_timeout(writing, LOOK);
            writing = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Whether this was the last of the owner's.
    pub(super) fn unlock(&self) -> bool {
        let mut writing = self.writing();
        let last = match &mut writing.owner {
            Some((_, count)) if *count > 1 => {
                *count -= 1;
                false
            }
            _ => {
                writing.owner = None;
                true
            }
        };
        drop(writing);
        self.released.notify_all();
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_counts_with_its_declared_length_and_one_row_with_a_step() {
        // One INT: 5 bytes with the NULL bits, at least 8, and a flag: 16.
        let limits = MemoryLimits {
            row_bytes: 5,
            index_bytes: 0,
            max_bytes: 16 << 20,
            step_bytes: 128 << 10,
            max_rows: 0,
        };
        let account = MemoryAccount::new(&limits);
        assert_eq!(account.bytes(0), 0);
        assert_eq!(account.bytes(1), 128 << 10);
        assert_eq!(account.bytes(8193), 256 << 10);
        assert!(!account.is_full((1 << 20) - 8192));
        assert!(account.is_full(1 << 20));
    }
}
