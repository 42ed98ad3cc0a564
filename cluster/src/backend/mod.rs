//! The engines that run jobs, behind one interface.

use std::fmt::Debug;

use async_trait::async_trait;
use datafusion::common::Result;
use datafusion::execution::SendableRecordBatchStream;

use crate::graph::Graph;

pub mod ballista;
pub mod connections;
pub mod distributed;

/// Which engine runs jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// [`distributed::Distributed`]
    Distributed,
    /// [`ballista::Ballista`]
    Ballista,
}

/// An engine that runs jobs on the executors.
#[async_trait]
pub trait Backend: Debug + Send + Sync {
    /// The name by which it is chosen.
    fn name(&self) -> &'static str;

    /// Starts a job. Its rows arrive in no order; dropping them ends the job on all executors.
    async fn start(&self, graph: Graph) -> Result<SendableRecordBatchStream>;
}
