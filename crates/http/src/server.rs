//! The listener and the threads: one thread per connection, up to a limit.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::connection::{self, Limits, Service, Transport};
use crate::guard::Guard;
use crate::request::Head;
use crate::response::{Response, Status};
use crate::routes::Routes;
use crate::sampler::Sampler;
use crate::source::Source;
use crate::token::Token;

/// Options of a server.
#[derive(Debug, Clone)]
pub struct Options {
    /// Address to listen on; port 0 is any free one.
    pub address: SocketAddr,
    /// Token required for everything but the page's own files; `None`: no token is required.
    pub token: Option<Token>,
    /// Names by which browsers may reach the server, besides its addresses and `localhost`.
    pub names: Vec<String>,
    /// Number of statements that `/metrics` shows by their digest.
    pub metrics_digests: usize,
    /// See [`Limits`].
    pub limits: Limits,
}

impl Options {
    /// Options with an address and a token.
    pub fn new(address: SocketAddr, token: Option<Token>) -> Self {
        Self {
            address,
            token,
            names: Vec::new(),
            metrics_digests: 0,
            limits: Limits::default(),
        }
    }
}

/// A server that runs until it is stopped or dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    sampler: Arc<Sampler>,
    threads: Vec<JoinHandle<()>>,
}

/// State shared by the threads.
#[derive(Debug, Default)]
struct Shared {
    is_stopping: AtomicBool,
    /// The open connections by their number, which increases.
    living: Mutex<BTreeMap<u64, Living>>,
    ended: Condvar,
}

/// A connection that lives.
#[derive(Debug)]
struct Living {
    /// Its socket, to close it.
    socket: TcpStream,
    has_shown_token: Arc<AtomicBool>,
}

impl Shared {
    fn living(&self) -> MutexGuard<'_, BTreeMap<u64, Living>> {
        self.living.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guard that takes a connection off the list, also when its thread panics.
struct Entry {
    shared: Arc<Shared>,
    number: u64,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.shared.living().remove(&self.number);
        self.shared.ended.notify_all();
    }
}

impl Server {
    /// Starts listening.
    pub fn start(source: Arc<dyn Source>, options: Options) -> io::Result<Self> {
        let listener = TcpListener::bind(options.address)?;
        let address = listener.local_addr()?;
        let sampler = Arc::new(Sampler::default());
        let routes = Arc::new(Routes {
            source: Arc::clone(&source),
            sampler: Arc::clone(&sampler),
            guard: Guard {
                token: options.token,
                names: options.names,
            },
            metrics_digests: options.metrics_digests,
        });
        let mut server = Self {
            address,
            shared: Arc::default(),
            sampler: Arc::clone(&sampler),
            threads: Vec::new(),
        };
        let sample = move || sampler.run(&source);
        server.threads.push(thread("http sampler", sample)?);
        let (shared, limits) = (Arc::clone(&server.shared), options.limits);
        let listen = move || accept(&listener, &shared, &routes, &limits);
        server.threads.push(thread("http listener", listen)?);
        Ok(server)
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL for a browser on this machine, or on another one where it listens on all addresses.
    pub fn url(&self) -> String {
        format!("http://{}", reachable(self.address))
    }

    /// Accepts no more connections and closes the open ones. Returns whether all have ended within `patience`: one that
    /// runs a statement ends with it.
    pub fn stop(&mut self, patience: Duration) -> bool {
        self.shared.is_stopping.store(true, Ordering::SeqCst);
        self.sampler.end();
        for living in self.shared.living().values() {
            let _ = living.socket.shutdown(Shutdown::Both);
        }
        // The listener looks at the flag at the next connection.
        let woken = TcpStream::connect_timeout(&reachable(self.address), Duration::from_secs(1));
        let living = self.shared.living();
        let wait = self
            .shared
            .ended
            .wait_timeout_while(living, patience, |it| !it.is_empty());
        let (living, _) = wait.unwrap_or_else(PoisonError::into_inner);
        let are_ended = living.is_empty();
        drop(living);
        if woken.is_ok() && are_ended {
            for thread in self.threads.drain(..) {
                let _ = thread.join();
            }
        }
        are_ended
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !self.shared.is_stopping.load(Ordering::SeqCst) {
            self.stop(Duration::ZERO);
        }
    }
}

/// The address at which a client on this machine reaches a server that listens on an address.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
}

/// Pause of the listener after an error, which may persist (no more descriptors).
const REST: Duration = Duration::from_millis(50);

fn accept(listener: &TcpListener, shared: &Arc<Shared>, routes: &Arc<Routes>, limits: &Limits) {
    let mut number = 0;
    loop {
        let accepted = listener.accept();
        if shared.is_stopping.load(Ordering::SeqCst) {
            return;
        }
        let Ok((socket, _)) = accepted else {
            std::thread::sleep(REST);
            continue;
        };
        number += 1;
        if begin(socket, number, shared, routes, limits).is_err() {
            std::thread::sleep(REST);
        }
    }
}

/// Starts the thread of a connection.
fn begin(
    mut socket: TcpStream,
    number: u64,
    shared: &Arc<Shared>,
    routes: &Arc<Routes>,
    limits: &Limits,
) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let mut living = shared.living();
    if living.len() >= limits.connections && !make_room(&mut living) {
        drop(living);
        // The listener does not wait: the answer is sent only if the socket takes it at once.
        socket.set_nonblocking(true)?;
        let busy = Response::error(Status::Busy, "too many connections");
        let _ = socket.write(&busy.to_bytes(true, false));
        return Ok(());
    }
    let has_shown_token = Arc::new(AtomicBool::new(false));
    let entry = Living {
        socket: socket.try_clone()?,
        has_shown_token: Arc::clone(&has_shown_token),
    };
    living.insert(number, entry);
    // Either a stop sees the connection in the list, or the stop is seen here.
    if shared.is_stopping.load(Ordering::SeqCst) {
        socket.shutdown(Shutdown::Both)?;
    }
    drop(living);
    let entry = Entry {
        shared: Arc::clone(shared),
        number,
    };
    let service = Noting {
        routes: Arc::clone(routes),
        has_shown_token,
    };
    let limits = limits.clone();
    let serve = move || {
        let entry = entry;
        connection::serve(&mut socket, &limits, &service);
        // The thread releases the source before it is counted as ended.
        drop(service);
        drop(entry);
    };
    thread("http connection", serve).map(|_| ())
}

/// Closes the oldest unauthenticated connection: clients with the token are not shut out by those without.
fn make_room(living: &mut BTreeMap<u64, Living>) -> bool {
    let is_stranger = |living: &Living| !living.has_shown_token.load(Ordering::Acquire);
    let oldest = living.iter().find(|(_, living)| is_stranger(living));
    let Some(number) = oldest.map(|(number, _)| *number) else {
        return false;
    };
    if let Some(gone) = living.remove(&number) {
        // A closed connection may be shut down again.
        let _ = gone.socket.shutdown(Shutdown::Both);
    }
    true
}

/// Service that answers a connection's requests, and notes whether one has shown the token.
struct Noting {
    routes: Arc<Routes>,
    has_shown_token: Arc<AtomicBool>,
}

impl Service for Noting {
    fn admit(&self, head: &Head) -> Result<bool, Response> {
        let shows_token = self.routes.admit(head)?;
        if shows_token {
            self.has_shown_token.store(true, Ordering::Release);
        }
        Ok(shows_token)
    }

    fn answer(&self, head: &Head, body: &[u8]) -> Response {
        self.routes.answer(head, body)
    }
}

impl Transport for TcpStream {
    fn limit_read(&mut self, time: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(time))
    }

    fn limit_write(&mut self, time: Duration) -> io::Result<()> {
        self.set_write_timeout(Some(time))
    }

    fn end_writing(&mut self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
}
