//! The process that runs fragments.
//!
//! The memory is divided ([`MemoryShares`]), and operators and exchanges may each use the temporary space.

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

use crate::connections::{ANSWER, Connections, PROBE};
use crate::data::DataPlace;
use crate::distributed;
use crate::files::{FileReader, FileRoots};
use crate::members::{BEAT, Beat, PROTOCOL, RunFigures, beat};
use crate::tls::{Credentials, check_address};
use crate::work::{MemoryShares, WorkDirectory, runtime};
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
    /// Host and port at which other machines reach this process [default: the address to listen on, or this machine's name
    /// with its port].
    #[arg(long)]
    pub advertise: Option<String>,
    /// Name in SHOW CLUSTER.
    #[arg(long)]
    pub name: Option<String>,
    /// Directory of the tables' files, as this machine sees it, or their URL in an object store; nothing outside it is read.
    #[arg(long, value_name = "DIRECTORY|URL")]
    pub data: DataPlace,
    /// Beginning of URLs of files that may be read, such as s3://bucket/reports; may be given several times.
    #[arg(long, value_name = "URL")]
    pub urls: Vec<String>,
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
    let memory = MemoryShares::of(options.memory);
    let files = FileRoots::new(&options.data, &options.urls)?;
    let reader = FileReader::open(files, memory.files).map_err(text)?;
    let environment = runtime(
        options.data.store()?,
        &work.exchanges(),
        memory.exchanges,
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
        let advertised = options.advertise.clone().unwrap_or_else(|| reached_at(address));
        let name = options.name.clone().unwrap_or_else(|| advertised.clone());
        let worker = Worker::new(WorkerOptions {
            name: name.clone(),
            directory: work.operators(),
            memory: memory.operators,
            temp_space: options.temp_space,
        });
        let fragments = Arc::new(JobFragments::new(worker, reader));
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
        let worker = distributed::worker(fragments, connections, environment);
        let mut server = Server::builder()
            .http2_keepalive_interval(Some(PROBE))
            .http2_keepalive_timeout(Some(ANSWER));
        if let Some(credentials) = &credentials {
            server = server.tls_config(credentials.server()).map_err(text)?;
        }
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        let served = server.add_service(worker.into_worker_server()).serve_with_incoming(incoming);
        tokio::select! {
            ended = served => ended.map_err(text),
            reason = refused => Err(reason.unwrap_or_else(|_| "the connection to the coordinator ended".to_owned())),
        }
    })
}

/// Where other machines reach a process that listens on `address`.
fn reached_at(address: SocketAddr) -> String {
    if !address.ip().is_unspecified() {
        return address.to_string();
    }
    let name = rustix::system::uname();
    format!("{}:{}", name.nodename().to_string_lossy(), address.port())
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
            let runs = fragments.take_figures().into_iter();
            let encoded = runs.map(|(number, figures)| RunFigures {
                number,
                figures: figures.encode(),
            });
            own.runs = encoded.collect();
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
