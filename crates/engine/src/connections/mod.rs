//! Connections: their slots, their sessions, and counters of both.
//!
//! A connection has a slot before its user is known. `max_connections` counts the clients that have logged in, so
//! that clients which never do so cannot exhaust it. At most [`PENDING_MAX`] clients log in at a time, each within
//! `connect_timeout`. A session that an embedding program opens has a slot like any other, without the limit.

mod activity;
mod attributes;
mod shared;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

use parking_lot::{Mutex, MutexGuard};

pub(crate) use self::activity::Work;
pub(crate) use self::attributes::ConnectAttributes;
pub use self::shared::{
    ClientCertificate, Compression, Encryption, KillHandle, ProgressHandle, SessionOptions,
    Transport,
};
pub(crate) use self::shared::{Identity, PlanParts, RunningPlan, SessionShared, TemporaryTable};

/// Reason of a failed connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionError {
    /// The system refused to accept it.
    Accept,
    /// An internal error: memory, threads.
    Internal,
    /// `max_connections` was reached.
    MaxConnections,
    /// The peer's address is unknown.
    PeerAddress,
    /// Waiting for connections failed.
    Select,
    /// Refused by rules outside of the server.
    Tcpwrap,
}

const CONNECTION_ERRORS: [&str; 6] = [
    "Connection_errors_accept",
    "Connection_errors_internal",
    "Connection_errors_max_connections",
    "Connection_errors_peer_address",
    "Connection_errors_select",
    "Connection_errors_tcpwrap",
];

/// Maximum number of clients logging in at once, unless `max_connections` is larger. Beyond it the earliest is
/// disconnected: a legitimate client needs little time.
pub(crate) const PENDING_MAX: usize = 1_000;

/// The connections of an engine.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    sessions: Mutex<BTreeMap<u64, Weak<SessionShared>>>,
    pub(crate) pending: Mutex<BTreeMap<u64, PendingConnection>>,
    /// Number of attempted connections, from which ids are assigned.
    pub(crate) attempts: AtomicU64,
    pub(crate) connected: AtomicU64,
    most_connected: AtomicU64,
    /// Time of that maximum: seconds since 1970.
    most_connected_at: AtomicU64,
    pub(crate) threads_created: AtomicU64,
    pub(crate) aborted_clients: AtomicU64,
    pub(crate) aborted_connects: AtomicU64,
    pub(crate) errors: [AtomicU64; CONNECTION_ERRORS.len()],
    /// Maximum bytes of connection attributes sent by a client.
    longest_attributes: AtomicU64,
    /// Number of sessions whose attributes were truncated.
    lost_attributes: AtomicU64,
    pub(crate) shutdown: Shutdown,
}

/// A client that has not logged in yet.
#[derive(Debug, Clone)]
pub(crate) struct PendingConnection {
    /// The client's host, as SHOW PROCESSLIST shows it.
    pub(crate) host: String,
    pub(crate) since: Instant,
    pub(crate) kill: KillHandle,
}

/// Callback that ends the server on SHUTDOWN.
#[derive(Default)]
pub(crate) struct Shutdown(pub(crate) Mutex<Option<Box<dyn Fn() + Send + Sync>>>);

impl std::fmt::Debug for Shutdown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shutdown")
    }
}

/// The first connection has the id after this.
pub(crate) const FIRST: u64 = 7;

impl Connections {
    /// The open sessions.
    pub(crate) fn living(&self) -> Vec<Arc<SessionShared>> {
        self.sessions
            .lock()
            .values()
            .filter_map(Weak::upgrade)
            .collect()
    }

    /// The clients that have not logged in yet.
    pub(crate) fn pending(&self) -> MutexGuard<'_, BTreeMap<u64, PendingConnection>> {
        self.pending.lock()
    }

    /// Registers a session.
    pub(crate) fn begin(&self, session: &Arc<SessionShared>) {
        let weak = Arc::downgrade(session);
        self.sessions.lock().insert(session.id, weak);
        self.pending().remove(&session.id);
    }

    /// Removes a session.
    pub(crate) fn end(&self, id: u64) {
        self.sessions.lock().remove(&id);
    }

    /// Registers a client that begins to log in; the earliest is disconnected if there are more than `most`.
    pub(crate) fn arrive(&self, id: u64, client: PendingConnection, most: usize) {
        let mut pending = self.pending();
        pending.insert(id, client);
        // Clients already closed need some time to leave.
        let mut waiting = pending.values().filter(|other| !other.kill.is_closed());
        if waiting.clone().count() > most
            && let Some(oldest) = waiting.next()
        {
            oldest.kill.close();
        }
    }

    /// Updates the statistics of attributes for a new session.
    pub(crate) fn note_attributes(&self, attributes: &ConnectAttributes) {
        let longest = &self.longest_attributes;
        longest.fetch_max(attributes.sent_bytes, Ordering::Relaxed);
        let lost = u64::from(attributes.lost_bytes > 0);
        self.lost_attributes.fetch_add(lost, Ordering::Relaxed);
    }

    /// Counts a connection; returns their number.
    pub(crate) fn count_connected(&self, now: i64) -> u64 {
        let connected = self.connected.fetch_add(1, Ordering::Relaxed) + 1;
        let before = self.most_connected.fetch_max(connected, Ordering::Relaxed);
        if connected > before {
            let seconds = u64::try_from(now / 1_000_000).unwrap_or(0);
            self.most_connected_at.store(seconds, Ordering::Relaxed);
        }
        connected
    }

    /// Status variables of connections.
    pub(crate) fn status(&self, at: impl Fn(u64) -> String) -> Vec<(&'static str, String)> {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let connected = get(&self.connected) + self.pending().len() as u64;
        let living = self.living();
        let is_running = |session: &&Arc<SessionShared>| session.activity.statement().is_some();
        // The asking session is running.
        let running = living.iter().filter(is_running).count().max(1);
        let counters = [
            ("Aborted_clients", &self.aborted_clients),
            ("Aborted_connects", &self.aborted_connects),
            ("Connections", &self.attempts),
            ("Max_used_connections", &self.most_connected),
            (
                "Performance_schema_session_connect_attrs_longest_seen",
                &self.longest_attributes,
            ),
            (
                "Performance_schema_session_connect_attrs_lost",
                &self.lost_attributes,
            ),
            ("Threads_created", &self.threads_created),
        ];
        let errors = CONNECTION_ERRORS.into_iter().zip(&self.errors);
        let counters = counters.into_iter().chain(errors);
        let mut status: Vec<_> = counters
            .map(|(name, counter)| (name, get(counter).to_string()))
            .collect();
        status.extend([
            (
                "Max_used_connections_time",
                at(get(&self.most_connected_at)),
            ),
            ("Threads_cached", "0".to_owned()),
            ("Threads_connected", connected.to_string()),
            ("Threads_running", running.to_string()),
        ]);
        status
    }

    /// Runs the SHUTDOWN callback; false without one.
    pub(crate) fn ask_for_shutdown(&self) -> bool {
        let shutdown = self.shutdown.0.lock();
        shutdown.as_ref().map(|shutdown| shutdown()).is_some()
    }

    /// FLUSH STATUS
    pub(crate) fn flush_status(&self) {
        let connected = self.connected.load(Ordering::Relaxed);
        self.most_connected.store(connected, Ordering::Relaxed);
    }
}

/// A client's host and port, as SHOW PROCESSLIST shows them.
pub(crate) fn host_and_port(host: &str, port: Option<u16>) -> String {
    match port {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}
