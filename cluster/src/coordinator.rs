//! The process that clients connect to: a server of Mayfly, whose secondary engine is the cluster.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use mayfly::{Database, Server as SqlServer, ServerOptions};
use mayfly_offload::{Worker, WorkerOptions};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

use crate::backend::ballista::Ballista;
use crate::backend::connections::{ANSWER, Connections, PROBE};
use crate::backend::distributed::Distributed;
use crate::backend::{Backend, Kind};
use crate::engine::Cluster;
use crate::executor::VERSION;
use crate::members::{Members, MembersService};
use crate::tls::{Credentials, check_address};
use crate::work::{WorkDirectory, runtime};
use crate::worker::JobFragments;

/// Options of `mayfly-cluster coordinator`.
#[derive(Debug, Args)]
pub struct CoordinatorOptions {
    /// Address and port for clients of MySQL; port 0 is any free one.
    #[arg(long, default_value = "127.0.0.1:3306")]
    pub listen: SocketAddr,
    /// Address and port for executors; port 0 is any free one.
    #[arg(long, default_value = "127.0.0.1:7400")]
    pub listen_executors: SocketAddr,
    /// Password of root@localhost, if the database has no account yet; by default a generated one is printed.
    #[arg(long)]
    pub password: Option<String>,
    /// Directory of the database; by default tables end with the process.
    #[arg(long)]
    pub database: Option<PathBuf>,
    /// Directory of the tables' files, which executors see too.
    #[arg(long)]
    pub data: PathBuf,
    /// Directory of temporary files, which is emptied at the start.
    #[arg(long)]
    pub directory: PathBuf,
    /// Bytes of memory for parts of jobs that run here.
    #[arg(long, default_value_t = 256 << 20)]
    pub memory: u64,
    /// Bytes of temporary files of parts of jobs that run here.
    #[arg(long, default_value_t = 16 << 30)]
    pub temp_space: u64,
    /// Bytes of memory of temporary tables in the server.
    #[arg(long)]
    pub memory_limit: Option<u64>,
    /// Number of parts in which a table is read and rows are divided: the sum of all executors' tasks, or a multiple.
    #[arg(long, default_value_t = 4)]
    pub partitions: usize,
    /// Seconds for which nothing may move in a job.
    #[arg(long, default_value_t = 120)]
    pub patience: u64,
    /// Directory with the certificate of this process, for connections to executors.
    #[arg(long)]
    pub tls: Option<PathBuf>,
    /// Engine that runs jobs.
    #[arg(long, value_enum, default_value = "distributed")]
    pub backend: Kind,
    /// Address and port of Ballista's scheduler; port 0 is any free one.
    #[arg(long, default_value = "127.0.0.1:0")]
    pub scheduler: SocketAddr,
}

/// A coordinator that runs.
#[derive(Debug)]
pub struct Coordinator {
    /// The database that clients use.
    pub database: Database,
    /// The server for clients.
    pub server: SqlServer,
    /// The executors.
    pub members: Arc<Members>,
    /// Where executors reach it.
    pub executors: SocketAddr,
    /// Where Ballista's scheduler is.
    pub scheduler: Option<SocketAddr>,
    _runtime: Runtime,
    _work: WorkDirectory,
}

impl Coordinator {
    /// Starts a coordinator.
    pub fn start(options: CoordinatorOptions) -> Result<Self, String> {
        let credentials = options
            .tls
            .as_deref()
            .map(Credentials::read)
            .transpose()
            .map_err(text)?;
        check_address(options.listen_executors, credentials.as_ref())?;
        let work = WorkDirectory::open(&options.directory).map_err(text)?;
        std::fs::create_dir_all(&options.data)
            .map_err(|error| format!("{}: {error}", options.data.display()))?;
        let exchanges = options.memory / 4;
        let environment = runtime(
            &options.data,
            &work.exchanges(),
            exchanges,
            options.temp_space,
        )
        .map_err(text)?;
        let fragments = Arc::new(JobFragments::new(Worker::new(WorkerOptions {
            name: "coordinator".to_owned(),
            directory: work.operators(),
            memory: options.memory - exchanges,
            temp_space: options.temp_space,
        })));
        let members = Arc::new(Members::default());
        let threads = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(text)?;
        let executors =
            threads.block_on(listen(&options, credentials.as_ref(), Arc::clone(&members)))?;
        let (backend, scheduler): (Arc<dyn Backend>, _) = match options.backend {
            Kind::Distributed => {
                let connections = Connections::new(credentials.as_ref().map(Credentials::client));
                let heard = Arc::clone(&members) as _;
                (
                    Arc::new(Distributed::new(fragments, heard, connections, environment)),
                    None,
                )
            }
            Kind::Ballista => threads.block_on(async {
                if credentials.is_some() || !options.scheduler.ip().is_loopback() {
                    return Err(
                        "Ballista's ports have no TLS: they are for loopback only".to_owned()
                    );
                }
                let listener = TcpListener::bind(options.scheduler).await.map_err(text)?;
                let address = listener.local_addr().map_err(text)?;
                let ballista = Ballista::open(fragments, listener).await.map_err(text)?;
                Ok((Arc::new(ballista) as Arc<dyn Backend>, Some(address)))
            })?,
        };
        let patience = Duration::from_secs(options.patience);
        let handle = threads.handle().clone();
        let cluster = Cluster::open(
            backend,
            Arc::clone(&members),
            &options.data,
            handle,
            patience,
            options.partitions,
        );
        let mut settings = mayfly::Options::new();
        if let Some(directory) = &options.database {
            settings = settings.directory(directory);
        }
        if let Some(bytes) = options.memory_limit {
            settings = settings.memory_limit(bytes);
        }
        let database = settings.open().map_err(text)?;
        database
            .set_secondary_engine(Some(Arc::new(cluster.map_err(text)?)))
            .map_err(text)?;
        let mut served = ServerOptions::new().address(options.listen.ip(), options.listen.port());
        if let Some(password) = options.password {
            served = served.password(password);
        }
        let server = database.serve(served).map_err(text)?;
        Ok(Self {
            database,
            server,
            members,
            executors,
            scheduler,
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

/// Runs a coordinator until the process ends.
pub fn run(options: CoordinatorOptions) -> Result<(), String> {
    let coordinator = Coordinator::start(options)?;
    let server = &coordinator.server;
    println!("clients: {}", server.address());
    if let Some(password) = server.password() {
        println!("password of root: {password}");
    }
    println!("executors: {}", coordinator.executors);
    if let Some(scheduler) = coordinator.scheduler {
        println!("scheduler: {scheduler}");
    }
    loop {
        std::thread::park();
    }
}

/// Serves executors.
async fn listen(
    options: &CoordinatorOptions,
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
