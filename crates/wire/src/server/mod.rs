//! The server: listeners, threads and idle connections.
//!
//! A connection is served by a thread of its own as long as its client keeps it busy: blocking reads
//! and writes are the shortest way between two statements. When a client pauses for longer than
//! [`READ_PAUSE`](crate::channel::READ_PAUSE), its connection is parked. One thread, the reactor,
//! accepts connections and waits for all parked ones together, so that thousands of idle connections
//! need no threads; a connection that has something to do goes to a thread that is free, or to a new
//! one.

mod admission;
mod listeners;
mod parking;
mod reactor;
mod serving;
mod shared;
mod workers;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mayfly_engine::Database;

use self::listeners::Listeners;
use self::parking::Parking;
use self::shared::Shared;
use self::workers::Workers;
use crate::login::LoginKeys;
use crate::service::Service;
use crate::tls::{Tls, TlsOptions};

/// Options of a server's listeners.
#[derive(Debug, Clone, Default)]
pub struct ServerOptions {
    /// Addresses to listen on; with port 0, any free one.
    pub addresses: Vec<SocketAddr>,
    /// The Unix socket.
    pub socket: Option<PathBuf>,
    /// The directory of the keys and certificates.
    pub directory: Option<PathBuf>,
    /// TLS.
    pub tls: TlsOptions,
    /// `ssl_ca`: certificates of the authorities that may sign certificates of clients, PEM.
    pub authorities: Option<PathBuf>,
}

/// A running server. Dropping it ends its connections; [`Server::stop`] lets their statements end.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    addresses: Vec<SocketAddr>,
    reactor: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts listening. An error says why that is impossible.
    pub fn start(database: Arc<Database>, options: &ServerOptions) -> Result<Self, String> {
        let directory = options.directory.as_deref();
        let service = Arc::new(Service {
            database,
            keys: Arc::new(LoginKeys::new(directory)),
        });
        let (parking, poll) = Parking::new().map_err(|error| format!("poll: {error}"))?;
        let shared = Arc::new(Shared {
            service,
            sockets: Arc::default(),
            tls: Tls::new(&options.tls, options.authorities.as_deref(), directory)?,
            parking,
            workers: Workers::default(),
            is_stopping: AtomicBool::new(false),
        });
        let listeners = Listeners::open(&options.addresses, options.socket.as_deref())?;
        let addresses = listeners.addresses().to_vec();
        let reactor = reactor::start(Arc::clone(&shared), poll, listeners);
        Ok(Self {
            shared,
            addresses,
            reactor: Some(reactor.map_err(|error| format!("thread: {error}"))?),
        })
    }

    /// The addresses that it listens on.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Number of connections.
    pub fn connections(&self) -> usize {
        self.shared.sockets.count()
    }

    /// Stops accepting connections, lets running statements finish for `patience`, then ends them. True when all
    /// connections have ended.
    pub fn stop(&mut self, patience: Duration) -> bool {
        self.begin_to_stop();
        let begun = Instant::now();
        let last = patience + Duration::from_secs(15);
        let mut was_killed = false;
        while self.connections() > 0 && begun.elapsed() < last {
            if begun.elapsed() >= patience && !was_killed {
                was_killed = true;
                self.shared.database().close_sessions();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let are_gone = self.connections() == 0;
        if are_gone {
            self.shared.workers.join();
        }
        are_gone
    }

    fn begin_to_stop(&mut self) {
        self.shared.is_stopping.store(true, Ordering::Release);
        self.shared.parking.wake();
        if let Some(reactor) = self.reactor.take() {
            // A panic there has been reported already.
            let _ = reactor.join();
        }
        self.shared.sockets.stop_reading();
        self.shared.workers.stop();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.begin_to_stop();
    }
}
