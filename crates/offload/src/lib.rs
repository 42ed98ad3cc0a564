//! Offloading of queries to a secondary engine of several processes.
//!
//! [`distribute()`] cuts a physical plan into fragments that exchange rows, a [`Job`]; what must stay in the server remains
//! a plan that reads the job's rows. A secondary engine moves the rows of fragments between its processes, in each of
//! which a [`Worker`] runs fragments with the operators of crate `exec`. So values, types, warnings and errors are those
//! of the server by construction; whatever has no encoding stays in the server.

pub mod distribute;
mod encoding;
pub mod exchange;
pub mod job;
pub mod run;

pub use distribute::{Distributed, distribute};
pub use encoding::Refused;
pub use exchange::{Figures, JobObserver, Receiver, Rows, check_tables, error_in, error_text};
pub use job::{
    CallOption, CopyPart, Exchange, Fragment, Input, Job, JobSettings, Share, TableCall, TableCopy,
    TableInput,
};
pub use run::{FragmentRun, OpenRows, Place, RunInput, Worker, WorkerOptions};
