//! Runs an operator's input to its end, on one thread or on many.
//!
//! A breaker (aggregate, sort, join build, materialise) drains its input into sinks, one a worker.
//! Before that the coordinating thread prepares the input, which drains the breakers below; so
//! threads never start threads, and when workers run nothing waits for anything but locks held for
//! a batch. Workers share the rows of the scan at the bottom between them, a morsel at a time. The
//! first error, a kill or a panic stops all of them.
//!
//! The coordinating thread is a worker too. Others are started while the pool of the database admits some
//! ([`mayfly_storage::workers`]), at the beginning and between the batches of the first one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mayfly_storage::Worker;
use mayfly_types::{Batch, Error, Result};

use crate::context::{Cursor, Node, RunContext};
use crate::error::contain;
use crate::state::lock;

/// Interval at which a thread that waits for others checks for the end of the statement.
pub(crate) const INTERRUPT_INTERVAL: Duration = Duration::from_millis(50);

/// Consumer of the rows of a worker's morsels.
pub(crate) trait Sink: Send {
    /// Consumes a batch.
    fn consume(&mut self, batch: Batch, run: &RunContext) -> Result<()>;
}

/// Runs `input` to its end with one sink for each worker; the sinks come back in the order of their workers.
pub(crate) fn drain<S: Sink>(
    input: &Arc<dyn Node>,
    run: &RunContext,
    threads_max: usize,
    new_sink: impl FnMut() -> Result<S>,
) -> Result<Vec<S>> {
    input.prepare(run)?;
    drain_from(input, None, run, threads_max, new_sink)
}

/// Runs a prepared input to its end, where the first worker continues with a cursor already begun.
pub(crate) fn drain_from<S: Sink>(
    input: &Arc<dyn Node>,
    mut begun: Option<Box<dyn Cursor>>,
    run: &RunContext,
    threads_max: usize,
    mut new_sink: impl FnMut() -> Result<S>,
) -> Result<Vec<S>> {
    let threads = thread_count(input.as_ref(), run).min(threads_max);
    let mut sinks = (0..threads.max(1))
        .map(|_| new_sink())
        .collect::<Result<Vec<_>>>()?;
    if let [sink] = sinks.as_mut_slice() {
        work(input, begun, run, sink, None, || {})?;
        return Ok(sinks);
    }
    let worker_run = RunContext {
        serial: true,
        ..run.clone()
    };
    let mut others = sinks.iter_mut();
    let own = others.next();
    let workers_max = others.len();
    let others = Mutex::new(others);
    let stop = AtomicBool::new(false);
    let pool = &run.statement.temp.resources().workers;
    // Disconnected when the last worker has ended.
    let (running, ended) = mpsc::channel::<()>();
    let results: Vec<Result<()>> = std::thread::scope(|scope| {
        let (stop, worker_run, others) = (&stop, &worker_run, &others);
        let mut handles = Vec::with_capacity(workers_max);
        let mut start_workers = || {
            while handles.len() < workers_max {
                let running = running.clone();
                let work = move |_: &Worker| {
                    let _running = running;
                    match lock(others).next() {
                        Some(sink) => work(input, None, worker_run, sink, Some(stop), || {}),
                        None => Ok(()),
                    }
                };
                let Some(handle) = pool.spawn_scoped(scope, work) else {
                    return false;
                };
                handles.push(handle);
            }
            true
        };
        if !start_workers() {
            pool.count_refusal();
        }
        let own = own.map(|sink| {
            let begun = begun.take();
            let start = || _ = start_workers();
            contain(|| work(input, begun, worker_run, sink, Some(stop), start))
        });
        let mut results: Vec<Result<()>> = own.into_iter().collect();
        drop(running);
        // Some observers of the checks act on this thread alone.
        while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(INTERRUPT_INTERVAL) {
            if let Err(error) = run.statement.check_interrupt() {
                stop.store(true, Ordering::Relaxed);
                results.push(Err(error));
                break;
            }
        }
        results.extend(handles.into_iter().map(|handle| match handle.join() {
            Ok(result) => result,
            Err(panic) => Err(Error::of_panic(panic.as_ref())),
        }));
        results
    });
    for result in results {
        result?;
    }
    Ok(sinks)
}

/// Number of threads worth starting for this input.
pub(crate) fn thread_count(input: &dyn Node, run: &RunContext) -> usize {
    if run.serial || !is_large(input, run) {
        1
    } else {
        run.statement.options.threads.max(1)
    }
}

/// Whether an input is large enough to be divided, into threads or by a hash.
pub(crate) fn is_large(input: &dyn Node, run: &RunContext) -> bool {
    input.rows_hint() >= run.statement.options.parallel_rows_min
}

fn work<S: Sink>(
    input: &Arc<dyn Node>,
    begun: Option<Box<dyn Cursor>>,
    run: &RunContext,
    sink: &mut S,
    stop: Option<&AtomicBool>,
    mut between_batches: impl FnMut(),
) -> Result<()> {
    /// Guard that stops the other workers when this one ends early, by an error or a panic.
    struct StopOthers<'a>(Option<&'a AtomicBool>);
    impl Drop for StopOthers<'_> {
        fn drop(&mut self) {
            if let Some(stop) = self.0 {
                stop.store(true, Ordering::Relaxed);
            }
        }
    }
    let mut guard = StopOthers(stop);
    let mut cursor = match begun {
        Some(cursor) => cursor,
        None => Arc::clone(input).open(run)?,
    };
    loop {
        if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            break;
        }
        run.statement.check_interrupt()?;
        between_batches();
        match cursor.next(run)? {
            Some(batch) if batch.is_empty() => {}
            Some(batch) => sink.consume(batch, run)?,
            None => break,
        }
    }
    guard.0 = None;
    Ok(())
}
