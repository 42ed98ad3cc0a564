//! Queue of statements that wait for memory instead of going to disk: `tmp_overflow_policy = QUEUE`.
//!
//! A statement enters the queue when it creates its first temporary table. It is admitted, in the order of arrival,
//! when its share and those of the admitted statements fit in the memory for all; so each of them has about the memory
//! that it would have alone. It leaves when it ends. A statement that is alone is always admitted: the queue never
//! refuses.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use mayfly_memory::sync::lock;
use mayfly_types::{Interrupt, Result};

/// Interval at which a waiter checks whether its statement is to end.
const INTERRUPT_INTERVAL: Duration = Duration::from_millis(20);

/// Memory of statements that queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueShare {
    /// Bytes for all statements.
    pub all: u64,
    /// Bytes for one statement.
    pub one: u64,
}

#[derive(Debug, Default)]
struct State {
    /// Sum of the shares of admitted statements.
    taken: u64,
    /// Waiting statements, by their numbers.
    waiting: VecDeque<u64>,
    next: u64,
}

/// Queue for memory. Cloning gives another handle.
#[derive(Debug, Clone, Default)]
pub struct MemoryQueue(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    state: Mutex<State>,
    changed: Condvar,
    waits: AtomicU64,
}

/// Guard that removes a waiter from the queue, also after an error.
struct Waiting<'q> {
    queue: &'q Inner,
    number: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.queue.state);
        state.waiting.retain(|number| *number != self.number);
        drop(state);
        self.queue.changed.notify_all();
    }
}

/// Place of an admitted statement, until this is dropped.
#[derive(Debug)]
pub(crate) struct QueuePlace {
    queue: MemoryQueue,
    share: u64,
}

impl Drop for QueuePlace {
    fn drop(&mut self) {
        lock(&self.queue.0.state).taken -= self.share;
        self.queue.0.changed.notify_all();
    }
}

impl State {
    fn lets_in(&self, share: QueueShare) -> bool {
        let after = self.taken.saturating_add(share.one);
        self.taken == 0 || after <= share.all
    }
}

impl MemoryQueue {
    /// Waits for a place. Returns an error when the statement is to end.
    pub(crate) fn enter(&self, share: QueueShare, interrupt: &Interrupt) -> Result<QueuePlace> {
        let queue = &*self.0;
        let mut state = lock(&queue.state);
        if !state.waiting.is_empty() || !state.lets_in(share) {
            let number = state.next;
            state.next += 1;
            state.waiting.push_back(number);
            drop(state);
            queue.waits.fetch_add(1, Ordering::Relaxed);
            let waiting = Waiting { queue, number };
            loop {
                interrupt.check()?;
                state = lock(&queue.state);
                if state.waiting.front() == Some(&number) && state.lets_in(share) {
                    break;
                }
                let wait = queue.changed.wait_timeout(state, INTERRUPT_INTERVAL);
                drop(wait.unwrap_or_else(PoisonError::into_inner));
            }
            state.taken += share.one;
            drop(state);
            drop(waiting);
        } else {
            state.taken += share.one;
        }
        Ok(QueuePlace {
            queue: self.clone(),
            share: share.one,
        })
    }

    /// Number of statements that wait.
    pub fn waiting(&self) -> u64 {
        lock(&self.0.state).waiting.len() as u64
    }

    /// Number of statements that have had to wait.
    pub fn waits(&self) -> u64 {
        self.0.waits.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    const SHARE: QueueShare = QueueShare { all: 100, one: 30 };

    #[test]
    fn as_many_are_in_as_fit_and_all_get_in() {
        let queue = MemoryQueue::default();
        let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let place = queue.enter(SHARE, &Interrupt::default()).unwrap();
                        let now = inside.fetch_add(1, Ordering::SeqCst) + 1;
                        most.fetch_max(now, Ordering::SeqCst);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(place);
                    }
                });
            }
        });
        assert!(most.load(Ordering::SeqCst) <= 3);
        assert_eq!((queue.waiting(), lock(&queue.0.state).taken), (0, 0));
    }

    #[test]
    fn one_alone_is_let_in_whatever_it_needs() {
        let queue = MemoryQueue::default();
        let large = QueueShare { all: 10, one: 30 };
        let first = queue.enter(large, &Interrupt::default()).unwrap();
        let killed = Interrupt::default();
        killed.kill();
        let error = queue.enter(large, &killed).unwrap_err();
        assert_eq!(error.errno(), 1317);
        assert_eq!((queue.waiting(), queue.waits()), (0, 1));
        drop(first);
        queue.enter(large, &Interrupt::default()).unwrap();
    }

    #[test]
    fn those_that_wait_come_in_the_order_of_their_arrival() {
        let queue = MemoryQueue::default();
        let one = QueueShare { all: 1, one: 1 };
        let first = queue.enter(one, &Interrupt::default()).unwrap();
        let order = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for number in 0..4 {
                let (queue, order) = (&queue, &order);
                scope.spawn(move || {
                    let place = queue.enter(one, &Interrupt::default()).unwrap();
                    lock(order).push(number);
                    drop(place);
                });
                while queue.waiting() <= number {
                    std::thread::yield_now();
                }
            }
            drop(first);
        });
        assert_eq!(*lock(&order), [0, 1, 2, 3]);
    }
}
