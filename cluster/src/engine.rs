//! The secondary engine that the coordinator's server has: copies of tables, jobs, members.

use std::collections::hash_map::RandomState;
use std::fmt::{self, Debug, Formatter};
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::time::Duration;

use mayfly_engine::{Member, MemberState, PartToLoad, SecondaryEngine, TableCall, TablePart};
use mayfly_offload::{Job, JobObserver, Rows};
use mayfly_types::error::codes;
use mayfly_types::{Error, Interrupt, Result};
use tokio::runtime::Handle;

use crate::copies::CopyStore;
use crate::distributed::Distributed;
use crate::files::FileRoots;
use crate::job_rows::{JobRows, Watch};
use crate::members::Members;
use crate::{convert, worker};

/// The name of the engine in `SECONDARY_ENGINE =`.
pub const NAME: &str = "CLUSTER";

/// The secondary engine.
pub struct Cluster {
    distributed: Distributed,
    members: Arc<Members>,
    copies: CopyStore,
    runtime: Handle,
    patience: Duration,
    partitions: usize,
    files: FileRoots,
}

impl Debug for Cluster {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Cluster")
            .field("distributed", &self.distributed)
            .finish_non_exhaustive()
    }
}

impl Cluster {
    /// An engine that runs jobs of `partitions` partitions by `distributed` on `members`, with `copies`, and over `files`. A
    /// job in which nothing moves for `patience` ends. A job has at least two partitions: one of a single one would stay in this
    /// process.
    pub fn new(
        distributed: Distributed,
        members: Arc<Members>,
        copies: CopyStore,
        files: FileRoots,
        runtime: Handle,
        patience: Duration,
        partitions: usize,
    ) -> Self {
        Self {
            distributed,
            members,
            copies,
            runtime,
            patience,
            partitions: partitions.max(2),
            files,
        }
    }
}

impl SecondaryEngine for Cluster {
    fn name(&self) -> &'static str {
        NAME
    }

    fn load(&self, part: &PartToLoad<'_>, rows: &mut dyn Rows) -> Result<TablePart> {
        self.copies.load(part, rows)
    }

    fn unload(&self, part: &TablePart) -> Result<()> {
        self.copies.unload(part)
    }

    fn call(&self, call: TableCall) -> Option<TableCall> {
        self.files.call(call)
    }

    fn partitions(&self) -> usize {
        self.partitions
    }

    fn run(
        &self,
        job: &Arc<Job>,
        interrupt: &Interrupt,
        observer: &Arc<dyn JobObserver>,
    ) -> Result<Box<dyn Rows>> {
        let encoded = job.encode().map_err(|reason| failed(&reason.0))?;
        let number = RandomState::new().build_hasher().finish();
        let graph = convert::graph(job, encoded, self.partitions, number)?;
        if self.members.alive().is_empty() {
            return Err(failed("The cluster has no executor"));
        }
        let watch = Watch::start(Arc::clone(&self.members), self.patience);
        self.members.observe(number, observer);
        let stream = self.runtime.block_on(self.distributed.start(graph));
        let stream = stream.map_err(|error| worker::inward_error(&error))?;
        Ok(Box::new(JobRows::new(
            stream,
            self.runtime.clone(),
            interrupt.clone(),
            watch,
            number,
        )))
    }

    fn members(&self) -> Result<Vec<Member>> {
        let members = self.members.alive().into_iter().map(|beat| Member {
            name: beat.name,
            role: "executor".to_owned(),
            address: beat.address,
            state: MemberState::Available,
            slots: beat.tasks.into(),
            tasks: beat.running.into(),
            memory_used: beat.memory_used,
            memory_limit: beat.memory_limit,
            disk_used: beat.temp_used,
        });
        Ok(members.collect())
    }
}

/// Error 3889.
fn failed(reason: &str) -> Error {
    codes::ER_SECONDARY_ENGINE.with(&[&reason])
}
