//! Who is connected: places for connections, the sessions in them, and what is counted of both.
//!
//! A connection has a place before it is known whose it is. `max_connections` counts those who have
//! logged in, so that clients which never do so keep nobody out. Of those on their way in there are at
//! most [`ARRIVING_MAX`] at a time, and each has as long as `connect_timeout` says. A session that an
//! embedding program opens has a place like any other, without the limit.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Instant;

use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

use crate::database::Database;
use crate::session::{
    Admission, ConnectAttributes, KillHandle, Session, SessionOptions, SessionShared,
};

/// Why a connection came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionError {
    /// The system refused to accept it.
    Accept,
    /// Something in the server failed: memory, threads.
    Internal,
    /// `max_connections` was reached.
    MaxConnections,
    /// The peer's address could not be found.
    PeerAddress,
    /// Waiting for connections failed.
    Select,
    /// It was refused by rules outside of the server.
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

/// So many clients log in at once, or as many as may be connected. When more come, the one that has
/// taken longest gives way: who has a password to show needs a moment only.
const ARRIVING_MAX: usize = 1_000;

/// The connections of an engine.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    sessions: Mutex<BTreeMap<u64, Weak<SessionShared>>>,
    arriving: Mutex<BTreeMap<u64, Arriving>>,
    /// The numbers of connections are counted from here.
    attempts: AtomicU64,
    connected: AtomicU64,
    most_connected: AtomicU64,
    /// When that was: seconds since 1970.
    most_connected_at: AtomicU64,
    threads_created: AtomicU64,
    aborted_clients: AtomicU64,
    aborted_connects: AtomicU64,
    errors: [AtomicU64; CONNECTION_ERRORS.len()],
    /// The most bytes of connection attributes that a client sent.
    longest_attributes: AtomicU64,
    /// Sessions whose attributes were not all kept.
    lost_attributes: AtomicU64,
    shutdown: Shutdown,
}

/// A client that has not logged in yet.
#[derive(Debug, Clone)]
pub(crate) struct Arriving {
    /// Where it is, as SHOW PROCESSLIST names it.
    pub(crate) host: String,
    pub(crate) since: Instant,
    pub(crate) kill: KillHandle,
}

/// What ends the server when a client asks for that.
#[derive(Default)]
struct Shutdown(Mutex<Option<Box<dyn Fn() + Send + Sync>>>);

impl std::fmt::Debug for Shutdown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shutdown")
    }
}

/// The first connection has the number after this.
const FIRST: u64 = 7;

impl Connections {
    /// The living sessions.
    pub(crate) fn living(&self) -> Vec<Arc<SessionShared>> {
        self.sessions().values().filter_map(Weak::upgrade).collect()
    }

    /// The clients that have not logged in yet.
    pub(crate) fn arriving(&self) -> MutexGuard<'_, BTreeMap<u64, Arriving>> {
        self.arriving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<u64, Weak<SessionShared>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session is there.
    pub(crate) fn begin(&self, session: &Arc<SessionShared>) {
        let mut sessions = self.sessions();
        sessions.insert(session.id, Arc::downgrade(session));
        drop(sessions);
        self.arriving().remove(&session.id);
    }

    /// It is gone.
    pub(crate) fn end(&self, id: u64) {
        self.sessions().remove(&id);
    }

    /// A client begins to log in; one that has taken longest gives way if there are more than `most`.
    fn arrive(&self, id: u64, client: Arriving, most: usize) {
        let mut arriving = self.arriving();
        arriving.insert(id, client);
        // Those that were told to go need a moment for it.
        let mut waiting = arriving.values().filter(|other| !other.kill.is_closed());
        if waiting.clone().count() > most
            && let Some(oldest) = waiting.next()
        {
            oldest.kill.close();
        }
    }

    /// A session begins whose client has sent these.
    pub(crate) fn note_attributes(&self, attributes: &ConnectAttributes) {
        let longest = &self.longest_attributes;
        longest.fetch_max(attributes.sent_bytes, Ordering::Relaxed);
        let lost = u64::from(attributes.lost_bytes > 0);
        self.lost_attributes.fetch_add(lost, Ordering::Relaxed);
    }

    fn take_place(&self, now: i64) -> u64 {
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
        let living = self.living();
        let running = living
            .iter()
            .filter(|session| session.activity.statement().is_some())
            .count();
        let mut status = vec![
            ("Aborted_clients", get(&self.aborted_clients).to_string()),
            ("Aborted_connects", get(&self.aborted_connects).to_string()),
            ("Connections", get(&self.attempts).to_string()),
            (
                "Max_used_connections",
                get(&self.most_connected).to_string(),
            ),
            (
                "Max_used_connections_time",
                at(get(&self.most_connected_at)),
            ),
            (
                "Performance_schema_session_connect_attrs_longest_seen",
                get(&self.longest_attributes).to_string(),
            ),
            (
                "Performance_schema_session_connect_attrs_lost",
                get(&self.lost_attributes).to_string(),
            ),
            ("Threads_cached", "0".to_owned()),
            (
                "Threads_connected",
                (get(&self.connected) + self.arriving().len() as u64).to_string(),
            ),
            ("Threads_created", get(&self.threads_created).to_string()),
            // The one who asks runs.
            ("Threads_running", running.max(1).to_string()),
        ];
        for (name, counter) in CONNECTION_ERRORS.iter().zip(&self.errors) {
            status.push((name, get(counter).to_string()));
        }
        status
    }

    /// SHUTDOWN; false when there is no server.
    pub(crate) fn ask_for_shutdown(&self) -> bool {
        let shutdown = &self.shutdown.0;
        let shutdown = shutdown.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shutdown) = &*shutdown {
            shutdown();
        }
        shutdown.is_some()
    }

    /// FLUSH STATUS
    pub(crate) fn flush_status(&self) {
        let connected = self.connected.load(Ordering::Relaxed);
        self.most_connected.store(connected, Ordering::Relaxed);
    }
}

/// A place for a connection. It is free again when this is dropped.
#[derive(Debug)]
pub struct ConnectionPlace {
    database: Arc<Database>,
    id: u64,
    /// It is counted among those of `max_connections`.
    is_counted: bool,
    /// The client's, if it came through TCP.
    port: OnceLock<u16>,
}

impl ConnectionPlace {
    /// The connection's number: `CONNECTION_ID()`.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Its client is about to log in, from a host, and a port if it came through TCP: others see it, and
    /// may end it.
    pub fn begin_login(&self, host: &str, port: Option<u16>) -> KillHandle {
        if let Some(port) = port {
            self.port.get_or_init(|| port);
        }
        let arriving = Arriving {
            host: host_and_port(host, port),
            since: Instant::now(),
            kill: KillHandle::default(),
        };
        let kill = arriving.kill.clone();
        let connected = self.database.globals().unsigned("max_connections");
        let most = usize::try_from(connected).unwrap_or(usize::MAX);
        let connections = &self.database.connections;
        connections.arrive(self.id, arriving, most.max(ARRIVING_MAX));
        kill
    }

    /// Counts it from here on. How many there are now.
    fn count(&mut self) -> u64 {
        self.is_counted = true;
        let now = self.database.options.clock.now_utc_microseconds();
        self.database.connections.take_place(now)
    }

    /// Whoever the connection is of has shown a password: 1040 when there is no place for one more. The
    /// flag says that it is the place beyond `max_connections`, which is left for an administrator.
    pub(crate) fn enter(&mut self) -> Result<bool> {
        let connected = self.count();
        let most = self.database.globals().unsigned("max_connections");
        match connected > most + 1 {
            true => Err(self.database.too_many_connections()),
            false => Ok(connected > most),
        }
    }

    /// The port of a client that came through TCP.
    pub(crate) fn port(&self) -> Option<u16> {
        self.port.get().copied()
    }

    /// The engine.
    pub(crate) fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// The session of whoever the connection turned out to be: 1203 when the user has as many as
    /// `max_user_connections` allows.
    pub fn session(mut self, options: SessionOptions) -> Result<Session> {
        self.enter()?;
        self.database.refuse_many_of(&options.user)?;
        Ok(Session::new(self, options, Admission::default()))
    }
}

/// Where a client is, as SHOW PROCESSLIST names it.
pub(crate) fn host_and_port(host: &str, port: Option<u16>) -> String {
    match port {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        let connections = &self.database.connections;
        connections.arriving().remove(&self.id);
        if self.is_counted {
            connections.connected.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Database {
    fn place(self: &Arc<Self>) -> ConnectionPlace {
        let number = self.connections.attempts.fetch_add(1, Ordering::Relaxed) + 1;
        ConnectionPlace {
            database: Arc::clone(self),
            id: FIRST + number,
            is_counted: false,
            port: OnceLock::new(),
        }
    }

    /// A place for a client's connection: 1040 when so many have logged in that there is none. One more
    /// than `max_connections` is given, which only an administrator may keep.
    pub fn accept(self: &Arc<Self>) -> Result<ConnectionPlace> {
        let place = self.place();
        let connections = &self.connections;
        let connected = connections.connected.load(Ordering::Relaxed);
        if connected > self.globals().unsigned("max_connections") {
            return Err(self.too_many_connections());
        }
        connections.threads_created.fetch_add(1, Ordering::Relaxed);
        Ok(place)
    }

    fn too_many_connections(&self) -> Error {
        self.count_connection_error(ConnectionError::MaxConnections);
        codes::ER_CON_COUNT_ERROR.error()
    }

    /// Ends logins that take longer than `connect_timeout` says, however busy their clients are.
    pub fn end_late_logins(&self) {
        let most = self.connect_timeout();
        for arriving in self.connections.arriving().values() {
            if arriving.since.elapsed() >= most {
                arriving.kill.close();
            }
        }
    }

    /// A session of `root@localhost`.
    pub fn session(self: &Arc<Self>) -> Session {
        self.session_with(SessionOptions::new())
    }

    /// 1203 when a user has as many sessions as `max_user_connections` allows.
    pub(crate) fn refuse_many_of(&self, user: &str) -> Result<()> {
        let most = self.globals().unsigned("max_user_connections");
        if most == 0 {
            return Ok(());
        }
        let living = self.connections.living();
        let own = living.iter().filter(|other| other.identity().user == user);
        match own.count() as u64 >= most {
            true => Err(codes::ER_TOO_MANY_USER_CONNECTIONS.with(&[&user])),
            false => Ok(()),
        }
    }

    /// A session of some user, however many there are. It is a part of this process: no account is
    /// asked for.
    pub fn session_with(self: &Arc<Self>, options: SessionOptions) -> Session {
        let mut place = self.place();
        place.count();
        Session::new(place, options, Admission::default())
    }

    /// Ends all sessions and their statements, as KILL does.
    pub fn close_sessions(&self) {
        for session in self.connections.living() {
            session.kill.close();
        }
        for arriving in self.connections.arriving().values() {
            arriving.kill.close();
        }
    }

    /// Has this called when a client that may do so runs SHUTDOWN. It must not block: the client is
    /// still to be answered.
    pub fn on_shutdown(&self, shutdown: impl Fn() + Send + Sync + 'static) {
        let place = &self.connections.shutdown.0;
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Some(Box::new(shutdown));
    }

    /// A connection came to nothing before it was known whose it was.
    pub fn count_connection_error(&self, error: ConnectionError) {
        self.connections.errors[error as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// A client did not come through the handshake, or its password was wrong.
    pub fn count_aborted_connect(&self) {
        let aborted = &self.connections.aborted_connects;
        aborted.fetch_add(1, Ordering::Relaxed);
    }

    /// A client went away without saying so, or was too slow.
    pub fn count_aborted_client(&self) {
        let aborted = &self.connections.aborted_clients;
        aborted.fetch_add(1, Ordering::Relaxed);
    }
}
