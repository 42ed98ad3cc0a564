//! The connections that wait for their clients without a thread.
//!
//! A parked connection is registered with the poll of the reactor under a token of its own until it is taken out, so
//! that exactly one thread has it at any time. Once the server has stopped, none can be parked.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Instant;

use mio::unix::SourceFd;
use mio::{Interest, Poll, Registry, Token, Waker};
use parking_lot::Mutex;

use crate::connection::Connection;

/// The token of the events that wake the reactor.
pub(super) const WAKER: Token = Token(usize::MAX);

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
    /// No parked connections, and the poll of the reactor.
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

    /// Takes out the connection of a token; `None` if another thread has taken it.
    pub(super) fn take(&self, token: usize) -> Option<Box<Connection>> {
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
    pub(super) fn take_idle(&self, now: Instant, mut give: impl FnMut(Box<Connection>)) {
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
    pub(super) fn close(&self, mut give: impl FnMut(Box<Connection>)) {
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
