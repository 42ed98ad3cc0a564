//! The live page: what a server's temporary tables do now, for people in a browser and for Prometheus.
//!
//! A [`Server`] listens for HTTP/1.1 and answers with the page itself, with JSON for the page (`/api/…`)
//! and with metrics (`/metrics`). All that it shows it reads through SQL from a [`Source`], in relations
//! that every MySQL has and some of Mayfly's own; what a source lacks is left out with a note. This crate
//! therefore knows no engine.
//!
//! The invariant of [`Server`]: bytes of strangers never make it panic, wait for ever or hold more memory
//! than [`Limits`] says, and without the token they learn nothing but the page's own files.

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
