//! The MySQL protocol over the engine: any client or driver of MySQL or MariaDB connects to
//! [`Server`].
//!
//! `packet` turns bytes into payloads and back, `login` authenticates a client, `reply` writes the
//! packets of the server, `connection` runs commands; none of them knows a socket. `stream` and
//! `channel` are the only modules that read and write, `server` the only one that starts threads.
//! The engine implements the commands.
//!
//! There is no asynchronous runtime: see [`server`] for the threads instead.

mod certificate;
mod channel;
mod connection;
mod login;
mod packet;
mod pem;
mod prove;
mod reply;
pub mod server;
mod service;
mod sockets;
mod stream;
mod tls;
mod values;

pub use self::server::{Server, ServerOptions};
pub use self::tls::TlsOptions;
