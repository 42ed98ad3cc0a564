//! A server in the Python process: clients and drivers of MySQL connect to its database. Its threads never need Python's lock,
//! but for functions and tables of Python.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use mayfly::ServerOptions;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyTuple};

use crate::connection::{Connection, Settings};
use crate::database::{Open, lock};
use crate::errors::{self, Class};
use crate::opening::DatabaseSettings;
use crate::watched::release;

/// A server in this process. As a context manager it is stopped at the end.
#[pyclass(frozen, weakref, module = "mayfly")]
pub(crate) struct Server {
    /// `None` once it is stopped.
    running: Mutex<Option<Running>>,
    address: SocketAddr,
    socket: Option<PathBuf>,
    password: Option<String>,
    /// The process whose threads serve.
    process: u32,
}

/// A running server and its database, which is dropped after it.
struct Running {
    server: mayfly::Server,
    open: Open,
}

/// Starts a server in this process, to which clients and drivers of MySQL connect.
///
/// ``path`` and the options of the database are those of connect, but statements read and write no files unless ``files``
/// allows it, since clients would read and write them as this process.
///
/// :param host: the address to listen on; other machines connect to no loopback address
/// :param port: the port; 0 for any free one
/// :param socket: the path of a Unix socket to listen on too
/// :param password: the password of root if the database has no account yet: empty, which only a loopback address may have;
///     None for a generated one
#[pyfunction]
#[pyo3(signature = (
    path = None, *, host = "127.0.0.1", port = 0, socket = None, password = Some(String::new()), memory_limit = None,
    threads = None, temporary_directory = None, files = None, mysql_defaults = false, variables = None,
), text_signature = "(path=None, *, host='127.0.0.1', port=0, socket=None, password='', memory_limit=None, threads=None, \
    temporary_directory=None, files=False, mysql_defaults=False, variables=None)")]
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn serve(
    py: Python<'_>,
    path: Option<PathBuf>,
    host: &str,
    port: u16,
    socket: Option<PathBuf>,
    password: Option<String>,
    memory_limit: Option<Bound<'_, PyAny>>,
    threads: Option<usize>,
    temporary_directory: Option<PathBuf>,
    files: Option<Bound<'_, PyAny>>,
    mysql_defaults: bool,
    variables: Option<Bound<'_, PyDict>>,
) -> PyResult<Server> {
    let address = match host {
        "localhost" => IpAddr::V4(Ipv4Addr::LOCALHOST),
        _ => host.parse().map_err(|_| {
            let why = format!("{host} is no address of an interface");
            errors::of_package(py, Class::Programming, why)
        })?,
    };
    let mut options = ServerOptions::new().address(address, port);
    if let Some(socket) = &socket {
        options = options.socket(socket);
    }
    if let Some(password) = password {
        options = options.password(password);
    }
    let settings = DatabaseSettings {
        memory_limit,
        threads,
        temporary_directory,
        files: Some(files.unwrap_or_else(|| PyBool::new(py, false).to_owned().into_any())),
        mysql_defaults,
        variables,
    };
    let opened = settings.open(py, path)?;
    let open = Open::new(&opened);
    let started = py.detach(move || {
        let server = opened.database.serve(options);
        drop(opened);
        server.map(|server| Running { server, open })
    });
    let running = started.map_err(|error| errors::of_engine(py, &error))?;
    Ok(Server {
        address: running.server.address(),
        socket,
        password: running.server.password().map(str::to_owned),
        process: std::process::id(),
        running: Mutex::new(Some(running)),
    })
}

impl Drop for Server {
    fn drop(&mut self) {
        let running = lock(&self.running).take();
        if self.process == std::process::id() {
            release(running);
        } else {
            // After a fork: the threads to wait for are in the other process.
            std::mem::forget(running);
        }
    }
}

#[pymethods]
impl Server {
    /// The address on which the server listens.
    #[getter]
    fn host(&self) -> String {
        self.address.ip().to_string()
    }

    /// The port on which the server listens.
    #[getter]
    fn port(&self) -> u16 {
        self.address.port()
    }

    /// The path of the server's Unix socket, or None.
    #[getter]
    fn socket(&self) -> Option<&Path> {
        self.socket.as_deref()
    }

    /// The name of the account that has all privileges.
    #[getter]
    fn user(&self) -> &'static str {
        "root"
    }

    /// The password of root that was given or generated; None if the database had accounts before.
    #[getter]
    fn password(&self) -> Option<&str> {
        self.password.as_deref()
    }

    /// The database that is there at the start.
    #[getter]
    fn database(&self) -> &'static str {
        "test"
    }

    /// The server's address with account and database: ``mysql://root@127.0.0.1:41927/test``.
    #[getter]
    fn url(&self) -> String {
        let password = match self.password() {
            None | Some("") => String::new(),
            Some(password) => format!(":{}", percent_encoded(password)),
        };
        let (user, address, database) = (self.user(), self.address, self.database());
        format!("mysql://{user}{password}@{address}/{database}")
    }

    /// The number of connections of clients; 0 once the server is stopped.
    #[getter]
    fn connections(&self) -> usize {
        let running = lock(&self.running);
        running
            .as_ref()
            .map_or(0, |running| running.server.connections())
    }

    /// A connection to the server's database in this process, without an account and a socket.
    #[pyo3(signature = (*, autocommit = false, database = "test", python_variables = true))]
    fn connect(
        &self,
        py: Python<'_>,
        autocommit: bool,
        database: &str,
        python_variables: bool,
    ) -> PyResult<Connection> {
        let opened = match &*lock(&self.running) {
            Some(running) if self.process == std::process::id() => running.open.database(),
            _ => None,
        };
        let Some(opened) = opened else {
            let why = "the server is stopped, or belongs to the process that has started it";
            return Err(errors::of_package(py, Class::Interface, why));
        };
        let settings = Settings {
            autocommit,
            database: database.to_owned(),
            python_variables,
        };
        Connection::to(py, &opened, settings)
    }

    /// Stops the server: its clients' connections end, and so do running statements, also those of connections in this
    /// process. A server that is stopped stays stopped.
    fn stop(&self, py: Python<'_>) {
        if self.process != std::process::id() {
            return;
        }
        let running = lock(&self.running).take();
        py.detach(|| {
            if let Some(Running { server, open }) = running {
                server.stop();
                open.close();
            }
        });
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        self.stop(py);
    }

    fn __repr__(&self) -> String {
        let state = match *lock(&self.running) {
            Some(_) => "",
            None => " (stopped)",
        };
        format!("<mayfly.Server on {}{state}>", self.address)
    }
}

/// A text as part of a URL (RFC 3986, 2.1): all but letters, digits and `-._~` as their bytes in hexadecimal.
fn percent_encoded(text: &str) -> String {
    let encoded = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encoded).collect()
}
