//! The process that clients connect to: a server of Mayfly, whose secondary engine is the cluster.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use mayfly_cli::Serve;
use mayfly_offload::{Worker, WorkerOptions};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

use crate::connections::{ANSWER, Connections, PROBE};
use crate::copies::CopyStore;
use crate::data::DataPlace;
use crate::distributed::Distributed;
use crate::engine::Cluster;
use crate::executor::VERSION;
use crate::files::{FileReader, FileRoots};
use crate::members::{Members, MembersService};
use crate::tls::{Credentials, check_address};
use crate::work::{MemoryShares, WorkDirectory, runtime};
use crate::worker::JobFragments;

/// Options of `mayfly-cluster coordinator`.
#[derive(Debug, Args)]
pub struct CoordinatorOptions {
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterOptions,
    /// The server for clients of MySQL.
    #[command(flatten)]
    pub serve: Serve,
}

/// Options of the cluster of a coordinator.
#[derive(Debug, Clone, Args)]
pub struct ClusterOptions {
    /// Address and port for executors; port 0 is any free one.
    #[arg(long, default_value = "127.0.0.1:7400")]
    pub listen_executors: SocketAddr,
    /// Directory of the tables' files, which executors see too, or the URL of a place for them in an object store.
    #[arg(long, value_name = "DIRECTORY|URL")]
    pub data: DataPlace,
    /// Beginning of URLs of files that are tables of the cluster without a load, such as s3://bucket/reports; may be given
    /// several times.
    #[arg(long, value_name = "URL")]
    pub urls: Vec<String>,
    /// Directory of temporary files of jobs, which is emptied at the start.
    #[arg(long)]
    pub directory: PathBuf,
    /// Bytes of memory for parts of jobs that run here.
    #[arg(long, default_value_t = 256 << 20)]
    pub memory: u64,
    /// Bytes of temporary files of parts of jobs that run here.
    #[arg(long, default_value_t = 16 << 30)]
    pub temp_space: u64,
    /// Number of parts in which a table is read and rows are divided: the sum of all executors' tasks, or a multiple.
    #[arg(long, default_value_t = 4)]
    pub partitions: usize,
    /// Seconds for which nothing may move in a job.
    #[arg(long, default_value_t = 120)]
    pub patience: u64,
    /// Directory with the certificate of this process, for connections to executors.
    #[arg(long)]
    pub tls: Option<PathBuf>,
}

/// The cluster's part of a coordinator, which runs.
#[derive(Debug)]
pub struct Coordinator {
    /// The secondary engine for the coordinator's database.
    pub engine: Arc<Cluster>,
    /// The executors.
    pub members: Arc<Members>,
    /// Where executors reach it.
    pub executors: SocketAddr,
    _runtime: Runtime,
    _work: WorkDirectory,
}

impl Coordinator {
    /// Starts to serve executors.
    pub fn start(options: &ClusterOptions) -> Result<Self, String> {
        let credentials = options
            .tls
            .as_deref()
            .map(Credentials::read)
            .transpose()
            .map_err(text)?;
        check_address(options.listen_executors, credentials.as_ref())?;
        let work = WorkDirectory::open(&options.directory).map_err(text)?;
        options.data.create()?;
        let files = FileRoots::new(&options.data, &options.urls)?;
        let memory = MemoryShares::of(options.memory);
        let environment = runtime(
            options.data.store()?,
            &work.exchanges(),
            memory.exchanges,
            options.temp_space,
        )
        .map_err(text)?;
        let worker = Worker::new(WorkerOptions {
            name: "coordinator".to_owned(),
            directory: work.operators(),
            memory: memory.operators,
            temp_space: options.temp_space,
        });
        let reader = FileReader::open(files.clone(), memory.files).map_err(text)?;
        let fragments = Arc::new(JobFragments::new(worker, reader));
        let members = Arc::new(Members::with_own(Arc::clone(&fragments)));
        let threads = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(text)?;
        let executors =
            threads.block_on(listen(options, credentials.as_ref(), Arc::clone(&members)))?;
        let connections = Connections::new(credentials.as_ref().map(Credentials::client));
        let heard = Arc::clone(&members) as _;
        let distributed = Distributed::new(fragments, heard, connections, environment);
        let copies = CopyStore::open(&options.data, threads.handle().clone())?;
        let cluster = Cluster::new(
            distributed,
            Arc::clone(&members),
            copies,
            files,
            threads.handle().clone(),
            Duration::from_secs(options.patience),
            options.partitions,
        );
        Ok(Self {
            engine: Arc::new(cluster),
            members,
            executors,
            _runtime: threads,
            _work: work,
        })
    }

    /// Waits until `count` executors were heard of.
    pub fn wait_for_executors(&self, count: usize, at_most: Duration) -> Result<(), String> {
        let start = std::time::Instant::now();
        while self.members.alive().len() < count {
            if start.elapsed() > at_most {
                return Err(format!(
                    "{} of {count} executors have started",
                    self.members.alive().len()
                ));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

/// Runs a coordinator until it is asked to stop.
pub fn run(options: &CoordinatorOptions) -> Result<ExitCode, String> {
    let coordinator = Coordinator::start(&options.cluster)?;
    println!("executors: {}", coordinator.executors);
    options.serve.run(|database| {
        let engine = Arc::clone(&coordinator.engine) as _;
        database.set_secondary_engine(Some(engine)).map_err(text)
    })
}

/// Serves executors.
async fn listen(
    options: &ClusterOptions,
    credentials: Option<&Credentials>,
    members: Arc<Members>,
) -> Result<SocketAddr, String> {
    let address = options.listen_executors;
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| format!("{address}: {error}"))?;
    let address = listener.local_addr().map_err(text)?;
    let mut server = Server::builder()
        .http2_keepalive_interval(Some(PROBE))
        .http2_keepalive_timeout(Some(ANSWER));
    if let Some(credentials) = credentials {
        server = server.tls_config(credentials.server()).map_err(text)?;
    }
    let server = server.add_service(MembersService::new(members, VERSION));
    tokio::spawn(async move {
        if let Err(error) = server
            .serve_with_incoming(TcpIncoming::from(listener).with_nodelay(Some(true)))
            .await
        {
            tracing::error!("executors are served no more: {error}");
        }
    });
    Ok(address)
}

/// An error as text.
fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
