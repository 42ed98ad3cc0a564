//! The server with hostile, slow and numerous clients: refused requests, robustness, and resources that it frees.
//!
//! Ordinary clients have their test suites in `testing/clients`; the golden files run over the wire in the
//! configuration `wire`.

mod administration;
mod hostile_bytes;
mod lives;
mod logins;
mod logs;
mod modes;
pub(crate) mod raw;
