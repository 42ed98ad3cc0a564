//! The secondary engine that the coordinator's server has: copies of tables, jobs, members.

use std::collections::hash_map::RandomState;
use std::fmt::{self, Debug, Formatter};
use std::hash::{BuildHasher, Hasher};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mayfly_engine::{Member, MemberState, PartToLoad, SecondaryEngine, TablePart};
use mayfly_offload::{Job, Rows};
use mayfly_types::error::codes;
use mayfly_types::{Error, Interrupt, Result};
use tokio::runtime::Handle;

use crate::backend::Backend;
use crate::copies::CopyDirectory;
use crate::job_rows::{JobRows, Watch};
use crate::members::Members;
use crate::{convert, worker};

/// The name of the engine in `SECONDARY_ENGINE =`.
pub const NAME: &str = "CLUSTER";

/// The secondary engine.
pub struct Cluster {
    backend: Arc<dyn Backend>,
    members: Arc<Members>,
    copies: CopyDirectory,
    runtime: Handle,
    patience: Duration,
    partitions: usize,
}

impl Debug for Cluster {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Cluster")
            .field("backend", &self.backend)
            .finish_non_exhaustive()
    }
}

impl Cluster {
    /// An engine that runs jobs of `partitions` partitions by `backend` on `members`, with copies below the directory `data`. A
    /// job in which nothing moves for `patience` ends. A job has at least two partitions: one of a single one would stay in this
    /// process.
    pub fn open(
        backend: Arc<dyn Backend>,
        members: Arc<Members>,
        data: &Path,
        runtime: Handle,
        patience: Duration,
        partitions: usize,
    ) -> std::io::Result<Self> {
        let copies = CopyDirectory::open(data)?;
        Ok(Self {
            backend,
            members,
            copies,
            runtime,
            patience,
            partitions: partitions.max(2),
        })
    }
}

impl SecondaryEngine for Cluster {
    fn name(&self) -> &str {
        NAME
    }

    fn load(&self, part: &PartToLoad<'_>, rows: &mut dyn Rows) -> Result<TablePart> {
        self.copies.load(part, rows)
    }

    fn unload(&self, part: &TablePart) -> Result<()> {
        self.copies.unload(part)
    }

    fn partitions(&self) -> usize {
        self.partitions
    }

    fn run(&self, job: &Arc<Job>, interrupt: &Interrupt) -> Result<Box<dyn Rows>> {
        let encoded = job.encode().map_err(|reason| failed(&reason.0))?;
        let number = RandomState::new().build_hasher().finish();
        let graph = convert::graph(job, encoded, self.partitions, number)?;
        if self.members.alive().is_empty() {
            return Err(failed("The cluster has no executor"));
        }
        let watch = Watch::start(Arc::clone(&self.members), self.patience);
        let stream = self.runtime.block_on(self.backend.start(graph));
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
