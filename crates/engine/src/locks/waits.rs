//! The wait-for graph of sessions, for table locks and named locks.
//!
//! A deadlock is found by a walk of the graph when a session begins to wait; the session that would close the cycle
//! gets an error.

use std::collections::HashMap;

use parking_lot::Mutex;

/// Wait-for graph: sessions, each with the sessions that it waits for.
#[derive(Debug, Default)]
pub(crate) struct Waits(Mutex<HashMap<u64, Vec<u64>>>);

impl Waits {
    /// Adds edges from a session to others; returns whether this closes a deadlock cycle.
    pub(crate) fn wait(&self, session: u64, others: Vec<u64>) -> bool {
        let mut map = self.0.lock();
        map.insert(session, others);
        let mut seen = vec![session];
        let mut next: Vec<u64> = map.get(&session).cloned().unwrap_or_default();
        while let Some(other) = next.pop() {
            if other == session {
                return true;
            }
            if !seen.contains(&other) {
                seen.push(other);
                next.extend(map.get(&other).into_iter().flatten());
            }
        }
        false
    }

    /// Removes the edges of a session that waits no more.
    pub(crate) fn end(&self, session: u64) {
        self.0.lock().remove(&session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadlock_is_found_by_the_wait_that_closes_the_cycle() {
        let waits = Waits::default();
        assert!(!waits.wait(1, vec![2]));
        assert!(!waits.wait(2, vec![4, 3]));
        assert!(waits.wait(3, vec![1]));
        waits.end(2);
        assert!(!waits.wait(3, vec![1]));
    }
}
