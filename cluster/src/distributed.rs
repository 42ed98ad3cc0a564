//! datafusion-distributed: exchanges are streams between executors, and all stages of a job run at the same time.
//!
//! The plan is handed over with its stage boundaries, so that the library's planner only numbers them. Each stage has one task a
//! partition. A boundary between two stages of one task each is left out by the planner: then both run where the upper one does,
//! and a last stage of one task in the coordinator's process.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::execution::context::QueryPlanner;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::{SendableRecordBatchStream, SessionState, SessionStateBuilder};
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::SessionConfig;
use datafusion_distributed::{
    DistributedExt, DistributedLeafExec, NetworkCoalesceExec, NetworkShuffleExec,
    SessionStateBuilderExt, Worker, WorkerQueryContext, WorkerResolver,
};
use datafusion_proto::physical_plan::{DefaultPhysicalExtensionCodec, PhysicalExtensionCodec};
use futures_util::TryStreamExt;
use url::Url;

use crate::codec::FragmentCodec;
use crate::connections::Connections;
use crate::errors::Lost;
use crate::fragment_exec::FragmentExec;
use crate::fragments::Fragments;
use crate::graph::{Graph, Input};
use crate::numbers;
use crate::routing::by_target;

/// Bytes that a task buffers of each task that it reads: it reads each task of a stage below at the same time.
const BUFFERED: usize = 4 << 20;

/// The addresses of the executors that can be used now.
pub trait Executors: std::fmt::Debug + Send + Sync {
    /// Addresses of executors.
    fn addresses(&self) -> Vec<Url>;
}

/// The engine.
#[derive(Debug)]
pub struct Distributed {
    fragments: Arc<dyn Fragments>,
    executors: Arc<dyn Executors>,
    connections: Connections,
    runtime: Arc<RuntimeEnv>,
}

impl Distributed {
    /// An engine over `executors`. What remains of a plan in this process runs by `fragments` and in `runtime`.
    pub fn new(
        fragments: Arc<dyn Fragments>,
        executors: Arc<dyn Executors>,
        connections: Connections,
        runtime: Arc<RuntimeEnv>,
    ) -> Self {
        Self {
            fragments,
            executors,
            connections,
            runtime,
        }
    }

    /// The plan of a job, with its boundaries.
    pub fn plan(&self, graph: &Graph) -> Result<Arc<dyn ExecutionPlan>> {
        let consumers = graph.consumers()?;
        let last = graph.stages.len() - 1;
        let stage = self.stage(graph, &consumers, last)?;
        let gathered = NetworkCoalesceExec::try_new(stage, graph.stages[last].partitions, 1)?;
        Ok(Arc::new(CoalescePartitionsExec::new(Arc::new(gathered))))
    }

    /// The plan of one task of a stage: a task has one partition.
    fn stage(
        &self,
        graph: &Graph,
        consumers: &[usize],
        index: usize,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(stage) = graph.stages.get(index) else {
            return internal_err!("a job has no stage {index}");
        };
        let mut children: Vec<Arc<dyn ExecutionPlan>> = Vec::with_capacity(stage.inputs.len());
        for input in &stage.inputs {
            children.push(match input {
                Input::Own => continue,
                Input::Table(scan) => {
                    let groups = scan.groups(stage.partitions);
                    let parts = groups.into_iter().map(|group| scan.plan(vec![group]));
                    let parts = parts.collect::<Result<Vec<_>>>()?;
                    Arc::new(DistributedLeafExec::try_new(
                        scan.plan(scan.groups(1))?,
                        parts,
                    )?)
                }
                Input::Stage(producer) => {
                    let rows = self.stage(graph, consumers, *producer)?;
                    let divided = by_target(rows, 1)?;
                    let producers = graph.stages[*producer].partitions;
                    Arc::new(NetworkShuffleExec::try_new(divided, producers)?)
                }
            });
        }
        let numbers = (0..stage.partitions)
            .map(|number| numbers::table([number]))
            .collect::<Result<Vec<_>>>()?;
        children.push(Arc::new(DistributedLeafExec::try_new(
            numbers::table([0])?,
            numbers,
        )?));
        Ok(Arc::new(FragmentExec::try_new(
            graph.node(index, consumers),
            children,
            Arc::clone(&self.fragments),
        )?))
    }

    /// Starts a job. Its rows arrive in no order; dropping them ends the job on all executors.
    pub async fn start(&self, graph: Graph) -> Result<SendableRecordBatchStream> {
        let planner = Given {
            plan: self.plan(&graph)?,
        };
        let state = SessionStateBuilder::new()
            .with_config(SessionConfig::new())
            .with_runtime_env(Arc::clone(&self.runtime))
            .with_query_planner(Arc::new(planner))
            .with_distributed_worker_resolver(Resolver {
                executors: Arc::clone(&self.executors),
            })
            .with_distributed_channel_resolver(self.connections.clone())
            .with_distributed_user_codec_arc(codec(&self.fragments))
            .with_distributed_planner()
            .with_distributed_worker_connection_buffer_budget_bytes(BUFFERED)?
            .build();
        let nothing = LogicalPlanBuilder::empty(false).build()?;
        let plan = state
            .query_planner()
            .create_physical_plan(&nothing, &state)
            .await?;
        let rows = execute_stream(plan, state.task_ctx())?;
        let (schema, stages) = (rows.schema(), stages_of_boundaries(&graph));
        let rows = rows.map_err(move |error| renumbered(error, &stages));
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}

/// The stages in the order in which the library numbers the boundaries above them, from 1 on: each after those that it reads,
/// without the boundaries that are left out.
fn stages_of_boundaries(graph: &Graph) -> Vec<usize> {
    fn visit(graph: &Graph, stage: usize, reader_partitions: usize, found: &mut Vec<usize>) {
        let Some(here) = graph.stages.get(stage) else {
            return;
        };
        for input in &here.inputs {
            if let Input::Stage(producer) = input {
                visit(graph, *producer, here.partitions, found);
            }
        }
        if here.partitions > 1 || reader_partitions > 1 {
            found.push(stage);
        }
    }
    let mut found = Vec::with_capacity(graph.stages.len());
    visit(graph, graph.stages.len().saturating_sub(1), 1, &mut found);
    found
}

/// The error of a lost executor with the job's number of the stage instead of the library's.
fn renumbered(error: DataFusionError, stages: &[usize]) -> DataFusionError {
    match Lost::find(&error.to_string()) {
        Some(lost) => {
            let boundary = lost.stage.and_then(|number| number.checked_sub(1));
            let stage = boundary.and_then(|boundary| stages.get(boundary)).copied();
            Lost { stage, ..lost }.into_error()
        }
        None => error,
    }
}

/// The part of an executor: a service that takes plans and streams rows.
pub fn worker(
    fragments: Arc<dyn Fragments>,
    connections: Connections,
    runtime: Arc<RuntimeEnv>,
) -> Worker {
    let build = move |context: WorkerQueryContext| {
        let codec = codec(&fragments);
        let connections = connections.clone();
        async move {
            let builder = context.builder;
            Ok::<SessionState, _>(
                builder
                    .with_distributed_user_codec_arc(codec)
                    .with_distributed_channel_resolver(connections)
                    .build(),
            )
        }
    };
    Worker::from_session_builder(build).with_runtime_env(runtime)
}

/// The codec of plans.
fn codec(fragments: &Arc<dyn Fragments>) -> Arc<dyn PhysicalExtensionCodec> {
    let others = Arc::new(DefaultPhysicalExtensionCodec {});
    Arc::new(FragmentCodec::new(Arc::clone(fragments), others))
}

/// A planner whose plan is there already.
#[derive(Debug)]
struct Given {
    plan: Arc<dyn ExecutionPlan>,
}

#[async_trait]
impl QueryPlanner for Given {
    async fn create_physical_plan(
        &self,
        _: &LogicalPlan,
        _: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::clone(&self.plan))
    }
}

/// The executors, as the library asks for them.
struct Resolver {
    executors: Arc<dyn Executors>,
}

impl WorkerResolver for Resolver {
    fn get_urls(&self) -> Result<Vec<Url>> {
        let addresses = self.executors.addresses();
        match addresses.is_empty() {
            false => Ok(addresses),
            true => internal_err!("the cluster has no executor"),
        }
    }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::datatypes::Schema;

    use super::*;
    use crate::graph::Stage;

    #[test]
    fn boundaries_are_numbered_as_the_library_does() {
        let stage = |inputs: &[usize], partitions| Stage {
            inputs: inputs.iter().map(|input| Input::Stage(*input)).collect(),
            schema: Arc::new(Schema::empty()),
            partitions,
            broadcast: false,
        };
        // Stage 3 reads 1 and 0, in this order; 4 and 5 run once.
        let stages = vec![
            stage(&[], 3),
            stage(&[], 1),
            stage(&[1], 1),
            stage(&[2, 0], 3),
            stage(&[3], 1),
            stage(&[4], 1),
        ];
        let graph = Graph {
            number: 0,
            job: Arc::from(&[][..]),
            partitions: 3,
            stages,
        };
        assert_eq!(stages_of_boundaries(&graph), [2, 0, 3]);
    }
}
