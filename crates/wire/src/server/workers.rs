//! The threads of connections, and the tasks that wait for them.
//!
//! A thread takes tasks until none comes for [`IDLE`]; a new one is started when more tasks wait than threads. What a
//! task means is not known here: see [`super::serving`].

use std::collections::VecDeque;
use std::thread::JoinHandle;
use std::time::Duration;

use mayfly_engine::Error;
use parking_lot::{Condvar, Mutex};

use super::listeners::Accepted;
use crate::connection::Connection;

/// Time without a task after which a thread ends.
const IDLE: Duration = Duration::from_secs(10);

/// The stack of a thread: deeply nested statements get more where they need it.
const STACK: usize = 1 << 20;

/// Task of a thread.
#[derive(Debug)]
pub(super) enum Task {
    /// Serve a client that has just connected.
    Admit(Accepted),
    /// Serve a client that has sent bytes.
    Serve(Box<Connection>),
    /// End a client's connection with an error.
    End(Box<Connection>, Error),
}

/// The threads that serve connections, and their tasks.
#[derive(Debug, Default)]
pub(super) struct Workers {
    state: Mutex<State>,
    is_task: Condvar,
}

#[derive(Debug, Default)]
struct State {
    tasks: VecDeque<Task>,
    threads: Vec<JoinHandle<()>>,
    /// Threads that wait for a task.
    free: usize,
    is_stopping: bool,
}

impl Workers {
    /// Joins the threads that have ended without tasks, whose stacks are allocated until then. Returns whether there
    /// were any: a burst is over.
    pub(super) fn forget_ended(&self) -> bool {
        let threads = &mut self.state.lock().threads;
        let before = threads.len();
        threads.retain(|thread| !thread.is_finished());
        threads.len() < before
    }

    /// Ends the threads without a task.
    pub(super) fn stop(&self) {
        self.state.lock().is_stopping = true;
        self.is_task.notify_all();
    }

    /// Gives a task to an idle thread, or to a new one, which runs `work`: that takes tasks as long as [`Self::next`]
    /// returns one.
    pub(super) fn give(&self, task: Task, work: impl FnOnce() + Send + 'static) {
        let mut state = self.state.lock();
        state.tasks.push_back(task);
        if state.free >= state.tasks.len() {
            drop(state);
            self.is_task.notify_one();
            return;
        }
        drop(state);
        let thread = std::thread::Builder::new()
            .name("connection".to_owned())
            .stack_size(STACK)
            .spawn(work);
        match thread {
            Ok(thread) => self.state.lock().threads.push(thread),
            // A thread that becomes idle takes the task.
            Err(error) => tracing::warn!("no thread for a connection: {error}"),
        }
    }

    /// Waits for the threads, which end when the server stops and they have no connection.
    pub(super) fn join(&self) {
        let threads = std::mem::take(&mut self.state.lock().threads);
        for thread in threads {
            // A panic there has been reported already.
            let _ = thread.join();
        }
    }

    /// The next task; `None` when the thread is to end.
    pub(super) fn next(&self) -> Option<Task> {
        let mut state = self.state.lock();
        loop {
            if let Some(task) = state.tasks.pop_front() {
                return Some(task);
            }
            if state.is_stopping {
                return None;
            }
            state.free += 1;
            let wait = self.is_task.wait_for(&mut state, IDLE);
            state.free -= 1;
            if wait.timed_out() && state.tasks.is_empty() {
                return None;
            }
        }
    }
}
