//! Measurement of the best `read_buffer_size` of a machine.
//!
//! "MySQL: what read_buffer_size value is optimal?" (2007) scanned a MyISAM table with buffers of 8200 bytes to 32 MiB.
//! 128K was the best, and larger buffers, which the sample option files recommended, took up to half longer. The
//! article ends with a list of further experiments: other tables, fragmented rows, several scanners, reads past the
//! cache, other machines. This crate repeats the experiment with all of these ([`Case`]) on the machine at hand.
//!
//! 1. A scan ([`FileScans`]) does what MyISAM does: it reads a buffer's length at a time and goes over the rows in it,
//!    each copied into a record.
//! 2. Sizes are measured alternately ([`mod@measure`]): a round has each size once, in a random order. What disturbs the
//!    machine disturbs all sizes, and sizes are compared within rounds only.
//! 3. The choice ([`Choice`]) does not trust small differences: it is the smallest size that cannot be told from the
//!    best.
//!
//! The crate prints nothing; clock, files and randomness are given to it.

mod advice;
mod article;
mod buffer;
mod case;
mod choice;
mod fragments;
mod measure;
mod random;
mod row;
mod scan;
mod sizes;
mod statistics;

pub use advice::{Advice, DEFAULT_READ_BUFFER_SIZE, DEFAULT_READ_RND_BUFFER_SIZE, Setting};
pub use article::{Published, published};
pub use case::{Access, Case, RowOrder, Scanners};
pub use choice::{Choice, LEAST_DIFFERENCE, MOST_DIFFERENCE};
pub use mayfly_memory::io::SystemIo;
pub use measure::{CaseReport, Measured, Outcome, Plan, Report, measure};
pub use row::{ROW_BYTES, make_table, row, write_row};
pub use scan::{Failure, FileScans, Scan, Scans, TableShape, Window};
pub use sizes::{SIZES, read_bytes, size_text};
pub use statistics::{Summary, median};

use std::time::{Duration, Instant};

/// A monotonic clock.
pub trait Clock: Sync {
    /// The time since a fixed moment in the past.
    fn now(&self) -> Duration;
}

/// The clock of the system.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock(Instant);

impl SystemClock {
    /// A clock that begins now.
    pub fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}
