//! The process that runs fragments.
//!
//! Memory and temporary space are divided: three quarters of the memory are for operators, the rest for exchanges, and each of
//! both may use the temporary space.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use mayfly_offload::{Worker, WorkerOptions};
use tokio::net::TcpListener;
use tonic::Code;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use url::Url;

use crate::backend::ballista::{self, ExecutorOptions as BallistaOptions};
use crate::backend::connections::{ANSWER, Connections, PROBE};
use crate::backend::{Kind, distributed};
use crate::members::{BEAT, Beat, PROTOCOL, beat};
use crate::tls::{Credentials, check_address};
use crate::work::{WorkDirectory, runtime};
use crate::worker::JobFragments;

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Options of `mayfly-cluster executor`.
#[derive(Debug, Args)]
pub struct ExecutorOptions {
    /// Host and port at which the coordinator listens for executors.
    #[arg(long)]
    pub coordinator: String,
    /// Address and port to listen on; port 0 is any free one.
    #[arg(long, default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// Host and port at which other machines reach this process, if not the address to listen on.
    #[arg(long)]
    pub advertise: Option<String>,
    /// Name in SHOW CLUSTER.
    #[arg(long)]
    pub name: Option<String>,
    /// Directory of the tables' files, as this machine sees it; nothing outside it is read.
    #[arg(long)]
    pub data: PathBuf,
    /// Directory of temporary files, which is emptied at the start.
    #[arg(long)]
    pub directory: PathBuf,
    /// Bytes of memory for operators and exchanges.
    #[arg(long, default_value_t = 1 << 30)]
    pub memory: u64,
    /// Bytes of temporary files.
    #[arg(long, default_value_t = 64 << 30)]
    pub temp_space: u64,
    /// Number of partitions that it works on at the same time.
    #[arg(long, default_value_t = 2)]
    pub tasks: usize,
    /// Directory with the certificate of this process.
    #[arg(long)]
    pub tls: Option<PathBuf>,
    /// Engine that runs jobs, as the coordinator has it.
    #[arg(long, value_enum, default_value = "distributed")]
    pub backend: Kind,
    /// Host and port of Ballista's scheduler.
    #[arg(long)]
    pub scheduler: Option<SocketAddr>,
}

/// Runs an executor until the process ends, or until the coordinator refuses it.
pub fn run(options: ExecutorOptions) -> Result<(), String> {
    let credentials = options
        .tls
        .as_deref()
        .map(Credentials::read)
        .transpose()
        .map_err(text)?;
    check_address(options.listen, credentials.as_ref())?;
    let work = WorkDirectory::open(&options.directory).map_err(text)?;
    let exchanges = options.memory / 4;
    let environment = runtime(
        &options.data,
        &work.exchanges(),
        exchanges,
        options.temp_space,
    )
    .map_err(text)?;
    let threads = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(text)?;
    threads.block_on(async {
        let listener = TcpListener::bind(options.listen).await.map_err(|error| format!("{}: {error}", options.listen))?;
        let address = listener.local_addr().map_err(text)?;
        let scheme = if credentials.is_some() { "https" } else { "http" };
        let advertised = options.advertise.clone().unwrap_or_else(|| address.to_string());
        let name = options.name.clone().unwrap_or_else(|| advertised.clone());
        let worker = Worker::new(WorkerOptions {
            name: name.clone(),
            directory: work.operators(),
            memory: options.memory - exchanges,
            temp_space: options.temp_space,
        });
        let fragments = Arc::new(JobFragments::new(worker));
        let connections = Connections::new(credentials.as_ref().map(Credentials::client));
        let beat = Beat {
            protocol: PROTOCOL,
            version: VERSION.to_owned(),
            address: format!("{scheme}://{advertised}"),
            tasks: u32::try_from(options.tasks).unwrap_or(u32::MAX),
            memory_limit: options.memory,
            temp_limit: options.temp_space,
            name: name.clone(),
            ..Beat::default()
        };
        let coordinator = Url::parse(&format!("{scheme}://{}", options.coordinator)).map_err(text)?;
        let refused = say(coordinator, connections.clone(), beat, Arc::clone(&fragments))?;
        println!("executor {name} listens on {address}");
        let served = async {
            match options.backend {
                Kind::Distributed => {
                    let worker = distributed::worker(fragments, connections, environment);
                    let mut server = Server::builder()
                        .http2_keepalive_interval(Some(PROBE))
                        .http2_keepalive_timeout(Some(ANSWER));
                    if let Some(credentials) = &credentials {
                        server = server.tls_config(credentials.server()).map_err(text)?;
                    }
                    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
                    server.add_service(worker.into_worker_server()).serve_with_incoming(incoming).await.map_err(text)
                }
                Kind::Ballista => {
                    if credentials.is_some() {
                        return Err("Ballista's ports have no TLS: use --backend distributed".to_owned());
                    }
                    drop(listener);
                    let scheduler = options.scheduler.ok_or("--backend ballista needs --scheduler")?;
                    let executor = BallistaOptions {
                        name,
                        address,
                        scheduler,
                        tasks: options.tasks,
                        directory: work.exchanges(),
                        memory: exchanges,
                        runtime: environment,
                    };
                    ballista::execute(executor, fragments).await.map_err(text)
                }
            }
        };
        tokio::select! {
            ended = served => ended,
            reason = refused => Err(reason.unwrap_or_else(|_| "the connection to the coordinator ended".to_owned())),
        }
    })
}

/// Starts the thread that says that this executor is there: it says so also while all other threads work. The result is the
/// reason why the coordinator refuses it.
fn say(
    coordinator: Url,
    connections: Connections,
    mut own: Beat,
    fragments: Arc<JobFragments>,
) -> Result<tokio::sync::oneshot::Receiver<String>, String> {
    let (sender, refused) = tokio::sync::oneshot::channel();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(text)?;
    let talk = async move {
        // A runtime has its own connections.
        let channel = connections.separate().channel(&coordinator).map_err(text)?;
        loop {
            let (memory, space) = fragments.worker().used();
            own.running = fragments.activity().running();
            own.moved = fragments.activity().moved();
            own.memory_used = memory;
            own.temp_used = space;
            match tokio::time::timeout(2 * BEAT, beat(channel.clone(), own.clone())).await {
                Ok(Err(status)) if status.code() == Code::FailedPrecondition => {
                    return Ok(status.message().to_owned());
                }
                Ok(Err(status)) => tracing::warn!("coordinator {coordinator}: {status}"),
                Ok(Ok(heard)) => fragments.end(heard.ended),
                Err(_) => {}
            }
            tokio::time::sleep(BEAT).await;
        }
    };
    std::thread::Builder::new()
        .name("beat".to_owned())
        .spawn(move || {
            let reason: Result<String, String> = runtime.block_on(talk);
            let _ = sender.send(reason.unwrap_or_else(|error| error));
        })
        .map_err(text)?;
    Ok(refused)
}

/// An error as text.
fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
