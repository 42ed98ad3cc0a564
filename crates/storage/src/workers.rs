//! Pool of worker threads that help all statements of a database.
//!
//! A statement always runs on the thread of its session. Large parts of it are helped by workers; each of them has to
//! be admitted, and as many are admitted as the machine has threads beside the session's. So a report alone has the
//! whole machine, and a hundred concurrent reports have a thread each and share the few workers, instead of a hundred
//! times all threads. Nobody waits to be admitted: a statement begins with the workers that it gets, and asks again
//! between its batches. A worker that blocks, on a client for example, makes room for another one
//! ([`Worker::waiting`]).
//!
//! Threads are started for the work and end with it ([`WorkerPool::spawn`]): that takes some 20 µs, for work of
//! milliseconds, and a program that embeds the library has no idle threads.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

use mayfly_memory::sync::lock;

/// Pool of worker threads. Cloning gives another handle.
#[derive(Debug, Clone)]
pub struct WorkerPool(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    workers_max: usize,
    busy: AtomicUsize,
    refused: AtomicU64,
}

/// Admission of a worker, until this is dropped.
#[derive(Debug)]
pub struct Worker(WorkerPool);

impl WorkerPool {
    /// A pool for statements with up to `threads` threads, one of which is the session's.
    pub fn new(threads: usize) -> Self {
        Self(Arc::new(Inner {
            workers_max: threads.saturating_sub(1),
            busy: AtomicUsize::new(0),
            refused: AtomicU64::new(0),
        }))
    }

    /// Admits a worker, unless the maximum is busy.
    fn admit(&self) -> Option<Worker> {
        let pool = &*self.0;
        let one_more = |busy| (busy < pool.workers_max).then_some(busy + 1);
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        let admitted = pool.busy.fetch_update(success, failure, one_more);
        admitted.ok().map(|_| Worker(self.clone()))
    }

    /// Starts a thread for `work` if a worker is admitted and the machine has a thread left; otherwise returns `None`,
    /// and the statement goes on with the threads that it has.
    pub fn spawn<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Worker) -> T + Send + 'static,
    ) -> Option<JoinHandle<T>> {
        let worker = self.admit()?;
        Builder::new().spawn(move || work(&worker)).ok()
    }

    /// [`Self::spawn`], but for a thread that ends within `scope`.
    pub fn spawn_scoped<'scope, T: Send + 'scope>(
        &self,
        scope: &'scope Scope<'scope, '_>,
        work: impl FnOnce(&Worker) -> T + Send + 'scope,
    ) -> Option<ScopedJoinHandle<'scope, T>> {
        let worker = self.admit()?;
        let work = move || work(&worker);
        Builder::new().spawn_scoped(scope, work).ok()
    }

    /// Counts work that begins with fewer workers than it could use.
    pub fn count_refusal(&self) {
        self.0.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Number of busy workers.
    pub fn busy(&self) -> u64 {
        self.0.busy.load(Ordering::Relaxed) as u64
    }

    /// Number of times that work began with fewer workers than it could have used.
    pub fn refused(&self) -> u64 {
        self.0.refused.load(Ordering::Relaxed)
    }

    /// Applies `work` to each item, on this thread and on all workers that it gets. The results are in the order of
    /// the items. A panic is propagated to the caller.
    pub fn map<T: Send, R: Send>(&self, items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
        let mut results: Vec<Option<R>> = Vec::new();
        results.resize_with(items.len(), || None);
        let helpers_max = items.len().saturating_sub(1);
        let rest = Mutex::new(items.into_iter().zip(&mut results));
        let take_all = || {
            loop {
                let Some((item, result)) = lock(&rest).next() else {
                    return;
                };
                *result = Some(work(item));
            }
        };
        std::thread::scope(|scope| {
            let take_all = &take_all;
            let help = |_: &Worker| take_all();
            let helpers = (0..helpers_max).map_while(|_| self.spawn_scoped(scope, help));
            if helpers.count() < helpers_max {
                self.count_refusal();
            }
            take_all();
        });
        results.into_iter().flatten().collect()
    }
}

impl Worker {
    /// Runs `wait`, which blocks; another worker may be admitted for its duration.
    pub fn waiting<T>(&self, wait: impl FnOnce() -> T) -> T {
        struct Resume<'w>(&'w Inner);
        impl Drop for Resume<'_> {
            fn drop(&mut self) {
                // For a moment one worker more than the maximum may run.
                self.0.busy.fetch_add(1, Ordering::AcqRel);
            }
        }
        let pool = &*self.0.0;
        pool.busy.fetch_sub(1, Ordering::AcqRel);
        let _resume = Resume(pool);
        wait()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.0.0.busy.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_admitted_as_there_are_threads_beside_the_sessions() {
        let pool = WorkerPool::new(3);
        let workers = [pool.admit().unwrap(), pool.admit().unwrap()];
        assert!(pool.admit().is_none());
        assert_eq!((pool.busy(), pool.refused()), (2, 0));
        assert_eq!(pool.map(vec![1, 2], |number| number), [1, 2]);
        assert_eq!((pool.busy(), pool.refused()), (2, 1));
        drop(workers);
        assert_eq!(pool.busy(), 0);
        assert!(WorkerPool::new(1).admit().is_none());
        assert!(WorkerPool::new(0).admit().is_none());
    }

    #[test]
    fn a_worker_that_waits_makes_room() {
        let pool = WorkerPool::new(2);
        let worker = pool.admit().unwrap();
        worker.waiting(|| assert!(pool.admit().is_some()));
        assert!(pool.admit().is_none());
        let panicked = std::panic::AssertUnwindSafe(|| worker.waiting(|| panic!("a bug")));
        assert!(std::panic::catch_unwind(panicked).is_err());
        assert_eq!(pool.busy(), 1);
        drop(worker);
        assert_eq!(pool.busy(), 0);
    }

    #[test]
    fn all_items_are_worked_on_and_stay_in_order() {
        for threads in [1, 2, 5] {
            let pool = WorkerPool::new(threads);
            let doubled = pool.map((0..1000).collect(), |number: u32| number * 2);
            assert_eq!(doubled, (0..2000).step_by(2).collect::<Vec<_>>());
            assert_eq!(pool.map(Vec::new(), |number: u32| number), []);
            assert_eq!(pool.busy(), 0);
        }
    }

    #[test]
    fn a_panic_of_a_worker_goes_on_in_the_caller() {
        let pool = WorkerPool::new(4);
        let fail = || pool.map((0..64).collect(), |number: u32| assert_ne!(number, 40));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(fail)).is_err());
        assert_eq!(pool.busy(), 0);
    }
}
