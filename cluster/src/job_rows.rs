//! The rows of a job, as the server reads them.
//!
//! The server's thread waits here for the executors. It must not wait for ever: it looks every few milliseconds whether the
//! statement was killed or its time is over, whether an executor that was there at the start is heard no more, and whether
//! anything in the cluster still moves. In each of these cases the job ends, which dropping its stream does on all executors.

use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::execution::SendableRecordBatchStream;
use futures_util::StreamExt;
use mayfly_offload::Rows;
use mayfly_types::error::codes;
use mayfly_types::{Batch, Error, Interrupt, Result};
use tokio::runtime::Handle;
use url::Url;

use crate::distributed::Executors;
use crate::errors::Lost;
use crate::members::Members;
use crate::{bridge, worker};

/// How often the statement is checked while rows are awaited.
const CHECK: Duration = Duration::from_millis(20);

/// The rows of a job. Dropped, they end it.
pub struct JobRows {
    /// None once the job has ended.
    stream: Option<SendableRecordBatchStream>,
    runtime: Handle,
    interrupt: Interrupt,
    watch: Watch,
    number: u64,
}

/// What is watched while a job runs.
pub struct Watch {
    members: Arc<Members>,
    /// The executors at the start.
    executors: Vec<Url>,
    /// How long nothing may move.
    patience: Duration,
    /// What had moved when it was last seen to move, and when that was.
    moved: (u64, Instant),
}

impl Watch {
    /// A watch over the executors that are there now.
    pub fn start(members: Arc<Members>, patience: Duration) -> Self {
        let executors = members.addresses();
        let moved = (members.moved(), Instant::now());
        Self {
            members,
            executors,
            patience,
            moved,
        }
    }

    /// The reason to end the job, if there is one.
    pub fn check(&mut self) -> std::result::Result<(), Lost> {
        self.members.show_own();
        let heard = self.members.addresses();
        if let Some(silent) = self
            .executors
            .iter()
            .find(|executor| !heard.contains(executor))
        {
            let cause = "it is heard no more".to_owned();
            return Err(Lost {
                executor: silent.to_string(),
                stage: None,
                cause,
            });
        }
        let moved = self.members.moved();
        if moved != self.moved.0 {
            self.moved = (moved, Instant::now());
        } else if self.moved.1.elapsed() > self.patience {
            let cause = format!("nothing has moved for {} seconds", self.patience.as_secs());
            return Err(Lost {
                executor: "of the cluster".to_owned(),
                stage: None,
                cause,
            });
        }
        Ok(())
    }
}

impl JobRows {
    /// The rows of `stream`, of the run `number` of a job, awaited in `runtime` and for a statement that `interrupt` ends.
    pub fn new(
        stream: SendableRecordBatchStream,
        runtime: Handle,
        interrupt: Interrupt,
        watch: Watch,
        number: u64,
    ) -> Self {
        Self {
            stream: Some(stream),
            runtime,
            interrupt,
            watch,
            number,
        }
    }

    /// The next batch of the stream, or the error that ends the job.
    fn read(&mut self) -> Result<Option<Batch>> {
        let Some(stream) = &mut self.stream else {
            return Ok(None);
        };
        loop {
            self.interrupt.check()?;
            let waited = self
                .runtime
                .block_on(async { tokio::time::timeout(CHECK, stream.next()).await });
            let batch = match waited {
                Ok(batch) => batch.transpose(),
                Err(_) => {
                    self.watch.check().map_err(|lost| lost_error(&lost))?;
                    continue;
                }
            };
            return match batch.and_then(|batch| batch.as_ref().map(bridge::inward).transpose()) {
                Ok(batch) => Ok(batch),
                Err(error) => Err(self.failed(&worker::inward_error(&error))),
            };
        }
    }

    /// Ends the job on all executors.
    fn end(&mut self) {
        if let Some(stream) = self.stream.take() {
            // Dropping a stream may start work in the runtime.
            let _entered = self.runtime.enter();
            drop(stream);
            self.watch.members.end(self.number);
        }
    }

    /// The error of the job. An executor that was lost is not used until it is heard again.
    fn failed(&self, error: &Error) -> Error {
        let Some(lost) = Lost::find(error.message()) else {
            return error.clone();
        };
        if let Ok(address) = Url::parse(&lost.executor) {
            self.watch.members.forget(&address);
        }
        lost_error(&lost)
    }
}

impl Rows for JobRows {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let batch = self.read();
        if !matches!(batch, Ok(Some(_))) {
            self.end();
        }
        batch
    }
}

impl Drop for JobRows {
    fn drop(&mut self) {
        self.end();
    }
}

/// Error 3889 of a lost executor.
pub fn lost_error(lost: &Lost) -> Error {
    codes::ER_SECONDARY_ENGINE.with(&[lost])
}
