//! Parallel execution of the last part of a large plan: the operators above its topmost pipeline breaker.
//!
//! Workers have a cursor of the root each, and put its batches into a bounded channel. The reader of the result takes
//! them from there, and works on a cursor of its own as long as none is waiting; so a slow reader has few batches in
//! memory, and an idle one is a worker too. Only roots whose rows have no order are run like this
//! ([`Node::is_unordered`]).
//!
//! Workers start when the pool of the database admits them, and a worker that waits for the reader makes room for
//! others there ([`mayfly_storage::workers`]). Dropping the exchange ends the workers and waits for them, so that what
//! they hold of the statement is freed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel,
};
use std::thread::JoinHandle;

use mayfly_storage::Worker;
use mayfly_types::{Batch, Result};

use crate::context::{Cursor, Node, RunContext};
use crate::driver::{INTERRUPT_INTERVAL, thread_count};
use crate::error::contain;

/// Maximum number of batches of each worker that wait for the reader.
const WAITING_BATCHES: usize = 2;

/// A root operator that several workers run, and the channel of their batches.
pub(crate) struct Exchange {
    /// The reader's own cursor, until it is at its end.
    own: Option<Box<dyn Cursor>>,
    run: RunContext,
    /// Channel of the workers' batches; `None` once all workers have ended.
    batches: Option<Receiver<Result<Batch>>>,
    /// Workers that are still to start.
    new_workers: Option<NewWorkers>,
    stop: Arc<AtomicBool>,
    workers: Vec<JoinHandle<()>>,
}

struct NewWorkers {
    root: Arc<dyn Node>,
    sender: SyncSender<Result<Batch>>,
    count_max: usize,
}

impl Exchange {
    /// Starts workers on a prepared root, if it is large enough.
    pub(crate) fn start(root: &Arc<dyn Node>, run: &RunContext) -> Result<Option<Self>> {
        let threads = thread_count(root.as_ref(), run);
        if threads < 2 || !root.is_unordered() {
            return Ok(None);
        }
        let run = RunContext {
            serial: true,
            ..run.clone()
        };
        let (sender, batches) = sync_channel(WAITING_BATCHES * (threads - 1));
        let mut exchange = Self {
            own: None,
            run,
            batches: Some(batches),
            new_workers: Some(NewWorkers {
                root: Arc::clone(root),
                sender,
                count_max: threads - 1,
            }),
            stop: Arc::default(),
            workers: Vec::new(),
        };
        exchange.start_workers();
        if exchange.new_workers.is_some() {
            let resources = exchange.run.statement.temp.resources();
            resources.workers.count_refusal();
        }
        exchange.own = Some(Arc::clone(root).open(&exchange.run)?);
        Ok(Some(exchange))
    }

    /// Starts remaining workers, as far as the pool admits them.
    fn start_workers(&mut self) {
        while let Some(NewWorkers {
            root,
            sender,
            count_max,
        }) = &self.new_workers
        {
            if self.workers.len() == *count_max {
                break;
            }
            let (root, run) = (Arc::clone(root), self.run.clone());
            let (sender, stop) = (sender.clone(), Arc::clone(&self.stop));
            let work = move |worker: &Worker| work(&root, &run, &stop, &sender, worker);
            let workers = &self.run.statement.temp.resources().workers;
            let Some(thread) = workers.spawn(work) else {
                return;
            };
            self.workers.push(thread);
        }
        self.new_workers = None;
    }

    /// The next rows; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Batch>> {
        loop {
            let waiting = match (&self.batches, &self.own) {
                (None, None) => return Ok(None),
                (None, Some(_)) => Err(RecvTimeoutError::Timeout),
                (Some(batches), Some(_)) => batches.try_recv().map_err(|error| match error {
                    TryRecvError::Empty => RecvTimeoutError::Timeout,
                    TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
                }),
                (Some(batches), None) => batches.recv_timeout(INTERRUPT_INTERVAL),
            };
            match waiting {
                Ok(batch) => return batch.map(Some),
                Err(RecvTimeoutError::Disconnected) => self.batches = None,
                Err(RecvTimeoutError::Timeout) => {
                    self.run.statement.check_interrupt()?;
                    if self.own.is_none() {
                        continue;
                    }
                    self.start_workers();
                    let next = match &mut self.own {
                        Some(own) => own.next(&self.run)?,
                        None => None,
                    };
                    match next {
                        Some(batch) => return Ok(Some(batch)),
                        None => {
                            self.own = None;
                            // Nothing is left for workers that have not started.
                            self.new_workers = None;
                        }
                    }
                }
            }
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // A worker that waits for room in the channel learns that there is no reader.
        self.batches = None;
        self.own = None;
        for worker in self.workers.drain(..) {
            // A panic of the worker was contained.
            let _ = worker.join();
        }
    }
}

/// Reads a cursor of the root to its end, or until the reader is gone.
fn work(
    root: &Arc<dyn Node>,
    run: &RunContext,
    stop: &AtomicBool,
    batches: &SyncSender<Result<Batch>>,
    worker: &Worker,
) {
    let mut cursor = None;
    loop {
        let next = contain(|| {
            run.statement.check_interrupt()?;
            let cursor = match &mut cursor {
                Some(cursor) => cursor,
                None => cursor.insert(Arc::clone(root).open(run)?),
            };
            cursor.next(run)
        });
        let is_last = !matches!(next, Ok(Some(_)));
        let is_sent = match next.transpose() {
            None => true,
            Some(batch) => match batches.try_send(batch) {
                Ok(()) => true,
                Err(TrySendError::Disconnected(_)) => false,
                Err(TrySendError::Full(batch)) => worker.waiting(|| batches.send(batch).is_ok()),
            },
        };
        if is_last || !is_sent || stop.load(Ordering::Relaxed) {
            return;
        }
    }
}
