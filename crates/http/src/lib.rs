//! The live page: the current state of a server's temporary tables, in a browser and for Prometheus.
//!
//! A [`Server`] listens for HTTP/1.1 and answers with the page itself, with JSON for the page (`/api/…`) and with
//! metrics (`/metrics`). It reads everything through SQL from a [`Source`], in relations that every MySQL has and some
//! of Mayfly's own; relations that a source lacks are left out with a note. This crate therefore knows no engine.
//!
//! The invariant of [`Server`]: bytes of unauthenticated clients never make it panic, wait for ever or hold more memory
//! than [`Limits`] says, and without the token a client can read only the page's own files.

mod api;
mod assets;
mod connection;
mod guard;
mod history;
mod metrics;
mod request;
mod response;
mod routes;
mod sampler;
mod server;
mod source;
mod token;

pub use self::connection::Limits;
pub use self::server::{Options, Server};
pub use self::source::{Facts, Session, Source, SourceError, Table};
pub use self::token::Token;
