//! The last events: a ring.

use std::collections::VecDeque;

use parking_lot::Mutex;

/// See the module. A ring of no events costs nothing.
#[derive(Debug)]
pub(crate) struct History<E> {
    size: usize,
    events: Mutex<VecDeque<E>>,
}

impl<E: Clone> History<E> {
    /// A ring of at most so many events.
    pub(crate) fn new(size: usize) -> Self {
        Self {
            size,
            events: Mutex::default(),
        }
    }

    /// Remembers an event, in place of the oldest where there are as many as may be.
    pub(crate) fn add(&self, event: E) {
        if self.size == 0 {
            return;
        }
        let mut events = self.events.lock();
        if events.len() == self.size {
            events.pop_front();
        }
        events.push_back(event);
    }

    /// The events, the oldest first.
    pub(crate) fn events(&self) -> Vec<E> {
        self.events.lock().iter().cloned().collect()
    }

    /// The last event.
    pub(crate) fn last(&self) -> Option<E> {
        self.events.lock().back().cloned()
    }

    /// Forgets all events (TRUNCATE).
    pub(crate) fn clear(&self) {
        self.events.lock().clear();
    }
}
