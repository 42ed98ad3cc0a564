//! Connections of the engine, and the opening of sessions in them.

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

use super::{LoggedIn, Session};
use crate::connections::{
    ConnectionError, FIRST, KillHandle, PENDING_MAX, PendingConnection, SessionOptions,
    host_and_port,
};
use crate::database::Database;
use crate::error::refuse;
use crate::variables::typed;

/// A slot for a connection. Dropping it frees the slot.
#[derive(Debug)]
pub struct ConnectionSlot {
    database: Arc<Database>,
    id: u64,
    /// Whether the connection counts towards `max_connections`.
    is_counted: bool,
    /// The client's port, for TCP.
    port: OnceLock<u16>,
}

impl ConnectionSlot {
    /// The connection's number: `CONNECTION_ID()`.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Registers a client that is about to log in, with its host, and its port for TCP: other sessions see it, and
    /// may end it.
    pub fn begin_login(&self, host: &str, port: Option<u16>) -> KillHandle {
        if let Some(port) = port {
            self.port.get_or_init(|| port);
        }
        let pending = PendingConnection {
            host: host_and_port(host, port),
            since: Instant::now(),
            kill: KillHandle::default(),
        };
        let kill = pending.kill.clone();
        let connected = self.database.globals().get(typed::MAX_CONNECTIONS);
        let most = usize::try_from(connected).unwrap_or(usize::MAX);
        let connections = &self.database.connections;
        connections.arrive(self.id, pending, most.max(PENDING_MAX));
        kill
    }

    /// Counts the connection from here on; returns the number of counted ones.
    fn count(&mut self) -> u64 {
        self.is_counted = true;
        let now = self.database.options.clock.now_utc_microseconds();
        self.database.connections.count_connected(now)
    }

    /// Counts a client that has sent its password: 1040 when no slot is left. True for the slot beyond
    /// `max_connections`, which is reserved for an administrator.
    pub(crate) fn enter(&mut self) -> Result<bool> {
        let connected = self.count();
        let most = self.database.globals().get(typed::MAX_CONNECTIONS);
        refuse(connected > most + 1, || {
            self.database.too_many_connections()
        })?;
        Ok(connected > most)
    }

    /// The client's port, for TCP.
    pub(crate) fn port(&self) -> Option<u16> {
        self.port.get().copied()
    }

    /// The engine.
    pub(crate) fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// Opens the session of an authenticated user: 1203 when the user has `max_user_connections` sessions.
    pub fn session(mut self, options: SessionOptions) -> Result<Session> {
        self.enter()?;
        self.database.refuse_many_of(&options.user)?;
        Ok(Session::new(self, options, LoggedIn::default()))
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let connections = &self.database.connections;
        connections.pending().remove(&self.id);
        if self.is_counted {
            connections.connected.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Database {
    fn new_slot(self: &Arc<Self>) -> ConnectionSlot {
        let number = self.connections.attempts.fetch_add(1, Ordering::Relaxed) + 1;
        ConnectionSlot {
            database: Arc::clone(self),
            id: FIRST + number,
            is_counted: false,
            port: OnceLock::new(),
        }
    }

    /// A slot for a client's connection: 1040 when all slots are taken. There is one slot more than
    /// `max_connections`, which only an administrator may keep.
    pub fn accept(self: &Arc<Self>) -> Result<ConnectionSlot> {
        let slot = self.new_slot();
        let connections = &self.connections;
        let connected = connections.connected.load(Ordering::Relaxed);
        let most = self.globals().get(typed::MAX_CONNECTIONS);
        refuse(connected > most, || self.too_many_connections())?;
        connections.threads_created.fetch_add(1, Ordering::Relaxed);
        Ok(slot)
    }

    fn too_many_connections(&self) -> Error {
        self.count_connection_error(ConnectionError::MaxConnections);
        codes::ER_CON_COUNT_ERROR.error()
    }

    /// Ends logins that take longer than `connect_timeout`, however active their clients are.
    pub fn end_late_logins(&self) {
        let most = self.connect_timeout();
        for pending in self.connections.pending().values() {
            if pending.since.elapsed() >= most {
                pending.kill.close();
            }
        }
    }

    /// Opens a session of `root@localhost`.
    pub fn session(self: &Arc<Self>) -> Session {
        self.session_with(SessionOptions::new())
    }

    /// 1203 when a user has `max_user_connections` sessions.
    pub(crate) fn refuse_many_of(&self, user: &str) -> Result<()> {
        let most = self.globals().get(typed::MAX_USER_CONNECTIONS);
        if most == 0 {
            return Ok(());
        }
        let living = self.connections.living();
        let own = living.iter().filter(|other| other.identity().user == user);
        refuse(own.count() as u64 >= most, || {
            codes::ER_TOO_MANY_USER_CONNECTIONS.with(&[&user])
        })
    }

    /// Opens a session of some user without limits. It is embedded in this process: there is no authentication.
    pub fn session_with(self: &Arc<Self>, options: SessionOptions) -> Session {
        let mut slot = self.new_slot();
        slot.count();
        Session::new(slot, options, LoggedIn::default())
    }

    /// Ends all sessions and their statements, as KILL does.
    pub fn close_sessions(&self) {
        for session in self.connections.living() {
            session.kill.close();
        }
        for pending in self.connections.pending().values() {
            pending.kill.close();
        }
    }

    /// Sets the callback for SHUTDOWN by a client with the privilege. It must not block: the client is still to be
    /// answered.
    pub fn on_shutdown(&self, shutdown: impl Fn() + Send + Sync + 'static) {
        *self.connections.shutdown.0.lock() = Some(Box::new(shutdown));
    }

    /// Counts a connection that failed before its client had logged in.
    pub(crate) fn count_connection_error(&self, error: ConnectionError) {
        self.connections.errors[error as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a client that failed the handshake or had a wrong password.
    pub fn count_aborted_connect(&self) {
        let aborted = &self.connections.aborted_connects;
        aborted.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a client that disconnected without COM_QUIT, or timed out.
    pub fn count_aborted_client(&self) {
        let aborted = &self.connections.aborted_clients;
        aborted.fetch_add(1, Ordering::Relaxed);
    }
}
