//! Connections to executors, for datafusion-distributed.
//!
//! An executor that is gone, or that stands still, has to be noticed within seconds: a connection without traffic is probed, and
//! an error of a connection names the executor and the stage, which the library's errors do not.

use std::collections::HashMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion_distributed::grpc::{BoxCloneSyncChannel, create_worker_client};
use datafusion_distributed::{
    ChannelResolver, CoordinatorToWorkerMsg, ExecuteTaskRequest, GetWorkerInfoRequest,
    GetWorkerInfoResponse, SetPlanRequest, WorkerChannel, WorkerToCoordinatorMsg,
};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use http::HeaderMap;
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};
use url::Url;

use crate::errors::Lost;

/// How long a connection may be established.
const CONNECT: Duration = Duration::from_secs(3);
/// How often the other end is probed.
pub const PROBE: Duration = Duration::from_secs(2);
/// How long it may take to answer.
pub const ANSWER: Duration = Duration::from_secs(5);
/// Bytes that may be on their way in one stream, and in all of a connection.
const STREAM_WINDOW: u32 = 2 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;

/// The connections of a process to executors, one to each.
#[derive(Clone, Default)]
pub struct Connections {
    tls: Option<ClientTlsConfig>,
    open: Arc<Mutex<HashMap<Url, Channel>>>,
}

impl Debug for Connections {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Connections")
            .field("tls", &self.tls.is_some())
            .finish_non_exhaustive()
    }
}

impl Connections {
    /// Connections secured by `tls`, if it is given.
    pub fn new(tls: Option<ClientTlsConfig>) -> Self {
        Self {
            tls,
            open: Arc::default(),
        }
    }

    /// Other connections with the same credentials, for another runtime.
    #[must_use]
    pub fn separate(&self) -> Self {
        Self::new(self.tls.clone())
    }

    /// The connection to the process at `url`, which is established when it is used.
    pub fn channel(&self, url: &Url) -> Result<Channel> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(channel) = open.get(url) {
            return Ok(channel.clone());
        }
        let external = |error| DataFusionError::External(Box::new(error));
        let mut endpoint = Endpoint::from_shared(url.to_string())
            .map_err(external)?
            .connect_timeout(CONNECT)
            .http2_keep_alive_interval(PROBE)
            .keep_alive_timeout(ANSWER)
            .keep_alive_while_idle(true)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW);
        if let Some(tls) = &self.tls {
            endpoint = endpoint.tls_config(tls.clone()).map_err(external)?;
        }
        let channel = endpoint.connect_lazy();
        open.insert(url.clone(), channel.clone());
        Ok(channel)
    }
}

#[async_trait]
impl ChannelResolver for Connections {
    async fn get_worker_client_for_url(&self, url: &Url) -> Result<Box<dyn WorkerChannel>> {
        let client = create_worker_client(BoxCloneSyncChannel::new(self.channel(url)?));
        Ok(Box::new(Named {
            client,
            executor: url.clone(),
        }))
    }
}

/// A client of an executor whose errors name it.
struct Named {
    client: Box<dyn WorkerChannel>,
    executor: Url,
}

/// `error` with the name of the executor and the stage, if the connection failed: what an executor reports of its work is another
/// kind of error.
fn named(error: DataFusionError, executor: &Url, stage: usize) -> DataFusionError {
    match error.find_root() {
        DataFusionError::External(cause)
            if cause.is::<tonic::Status>() || cause.is::<tonic::transport::Error>() =>
        {
            let cause = cause.to_string();
            Lost {
                executor: executor.to_string(),
                stage: Some(stage),
                cause,
            }
            .into_error()
        }
        _ => error,
    }
}

#[async_trait]
impl WorkerChannel for Named {
    async fn coordinator_channel(
        &mut self,
        headers: HeaderMap,
        request: SetPlanRequest,
        messages: BoxStream<'static, CoordinatorToWorkerMsg>,
        metrics: ExecutionPlanMetricsSet,
        context: &Arc<TaskContext>,
    ) -> Result<BoxStream<'static, Result<WorkerToCoordinatorMsg>>> {
        let stage = request.task_key.stage_id;
        let answers = self
            .client
            .coordinator_channel(headers, request, messages, metrics, context)
            .await;
        let executor = self.executor.clone();
        match answers {
            Ok(answers) => Ok(answers
                .map(move |answer| answer.map_err(|error| named(error, &executor, stage)))
                .boxed()),
            Err(error) => Err(named(error, &executor, stage)),
        }
    }

    async fn execute_task(
        &mut self,
        headers: HeaderMap,
        request: ExecuteTaskRequest,
        metrics: ExecutionPlanMetricsSet,
        context: &Arc<TaskContext>,
    ) -> Result<Vec<BoxStream<'static, Result<RecordBatch>>>> {
        let stage = request.task_key.stage_id;
        let streams = self
            .client
            .execute_task(headers, request, metrics, context)
            .await;
        let streams = streams.map_err(|error| named(error, &self.executor, stage))?;
        let streams = streams.into_iter().map(|stream| {
            let executor = self.executor.clone();
            stream
                .map(move |batch| batch.map_err(|error| named(error, &executor, stage)))
                .boxed()
        });
        Ok(streams.collect())
    }

    async fn get_worker_info(
        &mut self,
        request: GetWorkerInfoRequest,
    ) -> Result<GetWorkerInfoResponse> {
        self.client.get_worker_info(request).await
    }
}
