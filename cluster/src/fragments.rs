//! The interface through which a plan node of DataFusion runs a fragment of a job.
//!
//! Fragments block (they read inputs, sort, overflow to disk), so that each run has a thread of its own ([`crate::thread`]).

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use datafusion::arrow::array::RecordBatch;
use datafusion::common::Result;
use tokio_util::sync::CancellationToken;

/// A run of a fragment.
#[derive(Debug, Clone)]
pub struct Run {
    /// The number of the run of the job.
    pub number: u64,
    /// The encoded job.
    pub job: Arc<[u8]>,
    /// The fragment's index in the job.
    pub fragment: usize,
    /// The partition of this run.
    pub partition: usize,
    /// The number of partitions of the job.
    pub job_partitions: usize,
}

/// Batches of rows, read by a thread that may block.
pub trait Batches: Send {
    /// The next batch, if there is one.
    fn next(&mut self) -> Result<Option<RecordBatch>>;
}

impl<B: Batches + ?Sized> Batches for Box<B> {
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        (**self).next()
    }
}

/// What runs fragments in this process.
pub trait Fragments: Debug + Send + Sync {
    /// The rows of one run, from those of its inputs.
    fn run(
        &self,
        run: &Run,
        inputs: Vec<Box<dyn Batches>>,
        cancel: &Cancel,
    ) -> Result<Box<dyn Batches>>;
}

/// A request to end a run, seen by code that polls it and by code that waits.
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    requested: Arc<AtomicBool>,
    token: CancellationToken,
}

impl Cancel {
    /// Requests the end.
    pub fn cancel(&self) {
        self.requested.store(true, Ordering::Relaxed);
        self.token.cancel();
    }

    /// The flag that is set from the request on.
    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.requested
    }

    /// Returns when the end is requested.
    pub async fn cancelled(&self) {
        self.token.cancelled().await;
    }
}
