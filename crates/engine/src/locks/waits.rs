//! Who waits for whom: for whole tables, and for locks by name.
//!
//! A wait that would never end is found by a walk from session to session; the one who would close
//! the circle is told.

use parking_lot::Mutex;
use std::collections::HashMap;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Waits(Mutex<HashMap<u64, Vec<u64>>>);

impl Waits {
    /// Notes that a session waits for others; whether one of them waits for it.
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

    /// It waits no more.
    pub(crate) fn end(&self, session: u64) {
        self.0.lock().remove(&session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_found_by_who_closes_it() {
        let waits = Waits::default();
        assert!(!waits.wait(1, vec![2]));
        assert!(!waits.wait(2, vec![4, 3]));
        assert!(waits.wait(3, vec![1]));
        waits.end(2);
        assert!(!waits.wait(3, vec![1]));
    }
}
