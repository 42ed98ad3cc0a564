//! Ballista: exchanges are files of the executors, and a stage starts when those that it reads are complete.
//!
//! Its scheduler runs in the coordinator's process. A task that failed is never repeated, and neither is a stage: measured with
//! an executor killed between two stages, a job that Ballista repeats in part hangs, or counts some rows twice. The plan is
//! handed over as a physical one, which Ballista never plans anew while it runs.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ballista_core::JobId;
use ballista_core::client::BallistaClient;
use ballista_core::extension::SessionConfigExt;
use ballista_core::serde::BallistaPhysicalExtensionCodec;
use ballista_core::serde::protobuf::{JobStatus, PartitionLocation, job_status};
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service_with_listener};
use ballista_scheduler::scheduler_server::SchedulerServer;
use datafusion::common::{DataFusionError, Result, exec_err, internal_err};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::context::SessionContext;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::SessionConfig;
use datafusion_proto::physical_plan::PhysicalExtensionCodec;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use futures_util::{StreamExt, TryStreamExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tonic::transport::Endpoint;

use crate::backend::Backend;
use crate::backend::connections::{ANSWER, PROBE};
use crate::codec::FragmentCodec;
use crate::fragment_exec::FragmentExec;
use crate::fragments::Fragments;
use crate::graph::{Graph, Input};
use crate::numbers;
use crate::routing::by_target;

/// How often an executor says that it is alive, in seconds.
const HEARTBEAT: u64 = 1;
/// The silence after which it is lost, in seconds.
const SILENCE: u64 = 5;
/// The largest message, in bytes: a plan, or a batch of an exchange.
const LARGEST_MESSAGE: u32 = 1 << 30;
/// How long files of a job that ended are kept, in seconds: its rows are read from them.
const KEPT: u64 = 600;

/// The scheduler, as the coordinator holds it.
type Scheduler = SchedulerServer<LogicalPlanNode, PhysicalPlanNode>;

/// The engine.
#[derive(Clone)]
pub struct Ballista {
    fragments: Arc<dyn Fragments>,
    scheduler: Scheduler,
}

impl std::fmt::Debug for Ballista {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Ballista").finish_non_exhaustive()
    }
}

impl Ballista {
    /// An engine whose scheduler serves executors on `listener`.
    pub async fn open(fragments: Arc<dyn Fragments>, listener: TcpListener) -> Result<Self> {
        let config = SchedulerConfig {
            bind_port: listener.local_addr()?.port(),
            executor_timeout_seconds: SILENCE,
            expire_dead_executor_interval_seconds: 1,
            no_executors_grace_period_seconds: SILENCE,
            finished_job_data_clean_up_interval_seconds: KEPT,
            finished_job_state_clean_up_interval_seconds: KEPT,
            grpc_server_max_decoding_message_size: LARGEST_MESSAGE,
            grpc_server_max_encoding_message_size: LARGEST_MESSAGE,
            grpc_client_max_message_size: LARGEST_MESSAGE,
            task_max_failures: 1,
            stage_max_failures: 1,
            override_physical_codec: Some(codec(&fragments)),
            override_create_grpc_client_endpoint: Some(Arc::new(probed)),
            ..SchedulerConfig::default()
        };
        let cluster = BallistaCluster::new_from_config(&config)
            .await
            .map_err(external)?;
        let scheduler: Scheduler = create_scheduler(cluster, Arc::new(config))
            .await
            .map_err(external)?;
        let served = scheduler.clone();
        tokio::spawn(async move {
            if let Err(error) = start_grpc_service_with_listener(listener, served).await {
                tracing::error!("the scheduler ended: {error}");
            }
        });
        Ok(Self {
            fragments,
            scheduler,
        })
    }

    /// The plan of a job.
    pub fn plan(&self, graph: &Graph) -> Result<Arc<dyn ExecutionPlan>> {
        self.stage(graph, &graph.consumers()?, graph.stages.len() - 1)
    }

    /// The plan of a stage and of those that it reads.
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
                Input::Table(scan) => scan.plan(scan.groups(stage.partitions))?,
                Input::Stage(producer) => {
                    let rows = self.stage(graph, consumers, *producer)?;
                    by_target(rows, stage.partitions)?
                }
            });
        }
        children.push(numbers::table(0..stage.partitions)?);
        Ok(Arc::new(FragmentExec::try_new(
            graph.node(index, consumers),
            children,
            Arc::clone(&self.fragments),
        )?))
    }
}

#[async_trait]
impl Backend for Ballista {
    fn name(&self) -> &'static str {
        "ballista"
    }

    async fn start(&self, graph: Graph) -> Result<SendableRecordBatchStream> {
        let plan = self.plan(&graph)?;
        let schema = plan.schema();
        // The planner of stages would divide tables again.
        let config = SessionConfig::new_with_ballista()
            .with_repartition_file_scans(false)
            .with_round_robin_repartition(false)
            .with_ballista_grpc_client_max_message_size(LARGEST_MESSAGE as usize)
            .with_ballista_override_create_grpc_client_endpoint(Arc::new(probed));
        let session = Arc::new(SessionContext::new_with_config(config));
        let (sender, statuses) = mpsc::channel(16);
        let job = self
            .scheduler
            .submit_physical_plan("job", session, plan, Some(sender))
            .await
            .map_err(external)?;
        let job = RunningJob {
            scheduler: self.scheduler.clone(),
            job,
        };
        let rows = futures_util::stream::once(finished(statuses, job))
            .map_ok(|(locations, job)| {
                let files = futures_util::stream::iter(locations).map(fetch);
                // One file after the other; the job is kept until the last.
                files.buffered(1).try_flatten().map(move |batch| {
                    let _ = &job;
                    batch
                })
            })
            .try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}

/// A job that is cancelled when it is dropped.
struct RunningJob {
    scheduler: Scheduler,
    job: JobId,
}

impl Drop for RunningJob {
    fn drop(&mut self) {
        let (scheduler, job) = (self.scheduler.clone(), self.job.clone());
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        runtime.spawn(async move {
            // A job that ended is left alone by the scheduler.
            let _ = scheduler.cancel_job(job).await;
        });
    }
}

/// Waits for the end of a job, and returns where its rows are.
async fn finished(
    mut statuses: mpsc::Receiver<JobStatus>,
    job: RunningJob,
) -> Result<(Vec<PartitionLocation>, RunningJob)> {
    while let Some(status) = statuses.recv().await {
        match status.status {
            Some(job_status::Status::Failed(failed)) => return exec_err!("{}", failed.error),
            Some(job_status::Status::Successful(done)) => {
                return Ok((done.partition_location, job));
            }
            Some(job_status::Status::Queued(_) | job_status::Status::Running(_)) | None => {}
        }
    }
    exec_err!("the scheduler ended")
}

/// The rows of one partition of the last stage.
async fn fetch(location: PartitionLocation) -> Result<SendableRecordBatchStream> {
    let layout = location.layout();
    let (Some(executor), Some(partition)) = (location.executor_meta, location.partition_id) else {
        return internal_err!("rows without a place");
    };
    let port = executor.port as u16;
    let endpoint = Arc::new(ballista_core::extension::BallistaConfigGrpcEndpoint::new(
        Arc::new(probed),
    ));
    let mut client = BallistaClient::try_new(
        &executor.host,
        port,
        LARGEST_MESSAGE as usize,
        false,
        Some(endpoint),
        1,
        100,
        0,
        0,
    )
    .await
    .map_err(external)?;
    client
        .fetch_partition(
            &executor.id,
            &partition.into(),
            location.file_id,
            layout,
            true,
        )
        .await
        .map_err(external)
}

/// A connection that notices an end that is gone or stands still.
fn probed(
    endpoint: Endpoint,
) -> std::result::Result<Endpoint, Box<dyn std::error::Error + Send + Sync>> {
    Ok(endpoint
        .connect_timeout(Duration::from_secs(3))
        .http2_keep_alive_interval(PROBE)
        .keep_alive_timeout(ANSWER)
        .keep_alive_while_idle(true))
}

/// The codec of plans: Ballista's own nodes stay its own.
fn codec(fragments: &Arc<dyn Fragments>) -> Arc<dyn PhysicalExtensionCodec> {
    let others = Arc::new(BallistaPhysicalExtensionCodec::default());
    Arc::new(FragmentCodec::new(Arc::clone(fragments), others))
}

/// An error of Ballista.
fn external(error: ballista_core::error::BallistaError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// What an executor of Ballista needs.
#[derive(Debug)]
pub struct ExecutorOptions {
    /// Name of the executor.
    pub name: String,
    /// Where it serves exchanges; its own interface is on the next port.
    pub address: SocketAddr,
    /// The scheduler.
    pub scheduler: SocketAddr,
    /// The number of partitions that it runs at the same time.
    pub tasks: usize,
    /// The directory of exchanges.
    pub directory: PathBuf,
    /// The memory of exchanges, in bytes.
    pub memory: u64,
    /// What DataFusion may use.
    pub runtime: Arc<RuntimeEnv>,
}

/// Runs an executor until the process is asked to end.
pub async fn execute(options: ExecutorOptions, fragments: Arc<dyn Fragments>) -> Result<()> {
    let runtime = options.runtime;
    let config = ExecutorProcessConfig {
        executor_id: options.name,
        bind_host: options.address.ip().to_string(),
        external_host: Some(options.address.ip().to_string()),
        port: options.address.port(),
        grpc_port: options.address.port() + 1,
        scheduler_host: options.scheduler.ip().to_string(),
        scheduler_port: options.scheduler.port(),
        scheduler_connect_timeout_seconds: 10,
        vcores: options.tasks,
        work_dir: Some(options.directory.to_string_lossy().into_owned()),
        grpc_max_decoding_message_size: LARGEST_MESSAGE,
        grpc_max_encoding_message_size: LARGEST_MESSAGE,
        executor_heartbeat_interval_seconds: HEARTBEAT,
        memory_pool_size: Some(options.memory),
        override_runtime_producer: Some(Arc::new(move |_| Ok(Arc::clone(&runtime)))),
        override_physical_codec: Some(codec(&fragments)),
        override_create_grpc_client_endpoint: Some(Arc::new(probed)),
        override_config_producer: Some(Arc::new(|| {
            SessionConfig::new_with_ballista()
                .with_ballista_override_create_grpc_client_endpoint(Arc::new(probed))
        })),
        ..ExecutorProcessConfig::default()
    };
    start_executor_process(Arc::new(config))
        .await
        .map_err(external)
}
