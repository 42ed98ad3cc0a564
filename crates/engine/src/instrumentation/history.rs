//! Histories of events: ring buffers whose oldest event is overwritten in place by the newest.

use parking_lot::Mutex;

/// Ring buffer of the last events. An empty ring costs nothing.
#[derive(Debug)]
pub(crate) struct History<E> {
    size: usize,
    ring: Mutex<Ring<E>>,
}

#[derive(Debug, Default)]
struct Ring<E> {
    events: Vec<E>,
    /// Position of the next event: the end until the ring is full.
    next: usize,
}

impl<E: Clone + Default> History<E> {
    /// A ring of at most `size` events.
    pub(crate) fn new(size: usize) -> Self {
        Self {
            size,
            ring: Mutex::default(),
        }
    }

    /// Adds an event, in place of the oldest if the ring is full: `fill` turns the old, or a default, event into the
    /// new one.
    pub(crate) fn add(&self, fill: impl FnOnce(&mut E)) {
        if self.size == 0 {
            return;
        }
        let mut ring = self.ring.lock();
        let at = ring.next;
        if at == ring.events.len() {
            ring.events.push(E::default());
        }
        if let Some(event) = ring.events.get_mut(at) {
            fill(event);
        }
        ring.next = if at + 1 == self.size { 0 } else { at + 1 };
    }

    /// The events, the oldest first.
    pub(crate) fn events(&self) -> Vec<E> {
        let ring = self.ring.lock();
        let (newer, older) = ring.events.split_at(ring.next);
        older.iter().chain(newer).cloned().collect()
    }

    /// The last event.
    pub(crate) fn last(&self) -> Option<E> {
        let ring = self.ring.lock();
        let newer = ring.events.get(..ring.next)?;
        newer.last().or(ring.events.last()).cloned()
    }

    /// Removes all events (TRUNCATE).
    pub(crate) fn clear(&self) {
        *self.ring.lock() = Ring::default();
    }
}

#[cfg(test)]
mod tests {
    use super::History;

    #[test]
    fn the_last_events_are_kept() {
        for size in 0..4 {
            let history = History::new(size);
            for round in 0..2 {
                assert_eq!((history.events(), history.last()), (Vec::new(), None));
                for event in 1..10 {
                    history.add(|kept: &mut usize| *kept = event);
                    let first = (event + 1).saturating_sub(size).max(1);
                    let expected: Vec<usize> = (first..=event).collect();
                    assert_eq!(history.last(), expected.last().copied(), "{size} {round}");
                    assert_eq!(history.events(), expected, "{size} {round}");
                }
                history.clear();
            }
        }
    }
}
