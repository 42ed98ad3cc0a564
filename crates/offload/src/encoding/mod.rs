//! Encoding of jobs: plans and expressions as bytes.
//!
//! The encoding is the positive list of what is offloaded: an operator, expression or function without one is refused with
//! its reason. A job is read by the version of Mayfly that wrote it; [`VERSION`] stands before it.

pub(crate) mod bytes;
mod expressions;
mod job;
mod plans;
mod types;

pub use bytes::Refused;
pub(crate) use bytes::{Encoded, Reader, Writer};
pub(crate) use expressions::reads_settings;
pub(crate) use plans::name as operator_name;

/// Version of the encoding. It changes with each change of what is written.
pub(crate) const VERSION: &str = concat!("mayfly job ", env!("CARGO_PKG_VERSION"), " 1");
