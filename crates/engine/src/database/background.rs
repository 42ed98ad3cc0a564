//! Threads of a database that work in the background until it is dropped.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use mayfly_types::error::codes;
use mayfly_types::{Interrupt, Result};

/// A thread that works at intervals, until this is dropped.
#[derive(Debug)]
pub(super) struct BackgroundThread {
    stop: Option<Sender<()>>,
    interrupt: Interrupt,
    thread: Option<JoinHandle<()>>,
}

impl BackgroundThread {
    /// Starts a thread that does its work after the time `first`, and then after the time that the work returns each
    /// time. The work ends early when it is interrupted.
    pub(super) fn start(
        name: &str,
        first: Duration,
        mut work: impl FnMut(&Interrupt) -> Duration + Send + 'static,
    ) -> Result<Self> {
        let interrupt = Interrupt::new(Arc::<AtomicBool>::default());
        let (stop, stopped) = channel();
        let of_work = interrupt.clone();
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                let mut wait = first;
                while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                    wait = work(&of_work);
                }
            })
            .map_err(|error| codes::ER_OUT_OF_MEMORY.with(&[&error]))?;
        Ok(Self {
            stop: Some(stop),
            interrupt,
            thread: Some(thread),
        })
    }
}

impl Drop for BackgroundThread {
    fn drop(&mut self) {
        self.interrupt.kill();
        drop(self.stop.take());
        if let Some(thread) = self.thread.take()
            // The thread may have been the last to use the database.
            && thread.thread().id() != std::thread::current().id()
        {
            let _ = thread.join();
        }
    }
}
