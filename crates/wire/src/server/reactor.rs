//! The thread that accepts connections and waits for the parked ones.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mayfly_engine::codes;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Registry, Token, Waker};
use parking_lot::Mutex;

use super::Shared;
use super::listeners::Listeners;
use super::workers::Task;
use crate::connection::Connection;

/// Interval between checks of the parked connections for those that have been idle too long.
const TICK: Duration = Duration::from_secs(1);
/// Number of those intervals between checks for clients that have disconnected.
const ABANDONED_TICKS: u32 = 3;

/// Pause after an error of accept, as when the process has no more descriptors.
const RETRY: Duration = Duration::from_millis(50);

/// Number of events taken at once.
const EVENTS: usize = 256;

const WAKER: Token = Token(usize::MAX);

/// The parked connections.
#[derive(Debug)]
pub(super) struct Parking {
    registry: Registry,
    waker: Waker,
    parked: Mutex<Parked>,
}

#[derive(Debug, Default)]
struct Parked {
    connections: HashMap<usize, Box<Connection>>,
    last: usize,
    is_closed: bool,
}

impl Parking {
    pub(super) fn new() -> io::Result<(Self, Poll)> {
        let poll = Poll::new()?;
        let parking = Self {
            registry: poll.registry().try_clone()?,
            waker: Waker::new(poll.registry(), WAKER)?,
            parked: Mutex::default(),
        };
        Ok((parking, poll))
    }

    /// Wakes the reactor.
    pub(super) fn wake(&self) {
        // After an error the reactor wakes at its next tick.
        let _ = self.waker.wake();
    }

    /// Parks a connection. It is returned when the server stops.
    pub(super) fn park(&self, connection: Box<Connection>) -> Result<(), Box<Connection>> {
        let mut parked = self.parked.lock();
        if parked.is_closed {
            return Err(connection);
        }
        // Tokens of listeners are small; numbers of connections are not reused.
        parked.last = parked.last.wrapping_add(1) & (usize::MAX >> 1);
        let token = parked.last | 1 << (usize::BITS - 2);
        let descriptor = connection.socket().as_fd().as_raw_fd();
        let source = &mut SourceFd(&descriptor);
        if let Err(error) = self
            .registry
            .register(source, Token(token), Interest::READABLE)
        {
            tracing::error!("a connection cannot be waited for: {error}");
            return Err(connection);
        }
        parked.connections.insert(token, connection);
        Ok(())
    }

    fn take(&self, token: usize) -> Option<Box<Connection>> {
        let connection = self.parked.lock().connections.remove(&token)?;
        self.forget(&connection);
        Some(connection)
    }

    fn forget(&self, connection: &Connection) {
        let descriptor = connection.socket().as_fd().as_raw_fd();
        // Parked connections are registered.
        let _ = self.registry.deregister(&mut SourceFd(&descriptor));
    }

    /// Removes connections that have been idle too long and passes them to `give`.
    fn take_idle(&self, now: Instant, mut give: impl FnMut(Box<Connection>)) {
        let mut parked = self.parked.lock();
        let is_idle =
            |_: &usize, connection: &mut Box<Connection>| connection.is_idle_for_too_long(now);
        let idle: Vec<_> = parked.connections.extract_if(is_idle).collect();
        drop(parked);
        for (_, connection) in idle {
            self.forget(&connection);
            give(connection);
        }
    }

    /// Removes all connections and passes them to `give`; no more are parked.
    fn close(&self, mut give: impl FnMut(Box<Connection>)) {
        let mut parked = self.parked.lock();
        parked.is_closed = true;
        let all = std::mem::take(&mut parked.connections);
        drop(parked);
        for connection in all.into_values() {
            self.forget(&connection);
            give(connection);
        }
    }
}

/// Starts the thread.
pub(super) fn start(
    shared: Arc<Shared>,
    mut poll: Poll,
    mut listeners: Listeners,
) -> io::Result<JoinHandle<()>> {
    listeners.register(poll.registry())?;
    std::thread::Builder::new()
        .name("reactor".to_owned())
        .spawn(move || run(&shared, &mut poll, &listeners))
}

fn run(shared: &Arc<Shared>, poll: &mut Poll, listeners: &Listeners) {
    let mut events = Events::with_capacity(EVENTS);
    let mut looked_through = Instant::now();
    let mut ticks = 0;
    // Whether some listeners' connections could not all be accepted: they are not announced again.
    let mut is_behind = false;
    while !shared.is_stopping() {
        let wait = if is_behind { RETRY } else { TICK };
        if let Err(error) = poll.poll(&mut events, Some(wait))
            && error.kind() != io::ErrorKind::Interrupted
        {
            tracing::error!("poll: {error}");
            std::thread::sleep(RETRY);
        }
        let mut has_new = is_behind;
        for event in &events {
            match event.token() {
                WAKER => {}
                Token(number) if number < listeners.len() => has_new = true,
                Token(token) => {
                    if let Some(connection) = shared.parking.take(token) {
                        shared.workers.give(shared, Task::Serve(connection));
                    }
                }
            }
        }
        if has_new {
            is_behind = !accept_all(shared, listeners);
        }
        let now = Instant::now();
        if now.saturating_duration_since(looked_through) >= TICK {
            looked_through = now;
            ticks = (ticks + 1) % ABANDONED_TICKS;
            if ticks == 0 {
                shared.sockets.end_abandoned();
            }
            shared.parking.take_idle(now, |connection| {
                let error = codes::ER_CLIENT_INTERACTION_TIMEOUT.error();
                shared.workers.give(shared, Task::End(connection, error));
            });
            shared.database().end_late_logins();
            if shared.workers.forget_ended() {
                shared.database().trim();
            }
        }
    }
    shared.parking.close(|connection| {
        let error = codes::ER_SERVER_SHUTDOWN.error();
        shared.workers.give(shared, Task::End(connection, error));
    });
}

/// Accepts the waiting connections; false when that failed for now.
fn accept_all(shared: &Arc<Shared>, listeners: &Listeners) -> bool {
    let mut is_complete = true;
    for number in 0..listeners.len() {
        loop {
            match listeners.accept(number) {
                Ok(Some(accepted)) => shared.workers.give(shared, Task::Admit(accepted)),
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!("accept: {error}");
                    is_complete = false;
                    break;
                }
            }
        }
    }
    is_complete
}
