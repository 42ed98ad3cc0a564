//! The last statements that have ended: a ring of events.

use std::collections::VecDeque;

use parking_lot::Mutex;

use super::event::StatementEvent;

/// See the module. A ring of no events costs nothing.
#[derive(Debug)]
pub(crate) struct History {
    size: usize,
    events: Mutex<VecDeque<StatementEvent>>,
}

impl History {
    /// A ring of at most so many events.
    pub(crate) fn new(size: usize) -> Self {
        Self {
            size,
            events: Mutex::default(),
        }
    }

    /// Whether it remembers any.
    pub(crate) fn is_kept(&self) -> bool {
        self.size > 0
    }

    /// Remembers an event, in place of the oldest where there are as many as may be.
    pub(crate) fn add(&self, event: StatementEvent) {
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
    pub(crate) fn events(&self) -> Vec<StatementEvent> {
        self.events.lock().iter().cloned().collect()
    }

    /// The last event.
    pub(crate) fn last(&self) -> Option<StatementEvent> {
        self.events.lock().back().cloned()
    }

    /// Forgets all events (TRUNCATE).
    pub(crate) fn clear(&self) {
        self.events.lock().clear();
    }
}
