//! What coordinator and executors have in common: the options of a process, and the parts of it that they open.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use datafusion::execution::runtime_env::RuntimeEnv;
use mayfly_offload::{Worker, WorkerOptions};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

use crate::connections::{ANSWER, Connections, PROBE};
use crate::data::DataPlace;
use crate::files::{FileReader, FileRoots};
use crate::tls::{Credentials, check_address};
use crate::work::{MemoryShares, WorkDirectory, runtime};
use crate::worker::JobFragments;

/// Version of this program, which is the same in all processes of a cluster.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Options of a process of a cluster.
#[derive(Debug, Clone, Args)]
pub struct ProcessOptions {
    /// Directory of the tables' files, as this machine sees it, or the URL of a place for them in an object store; nothing
    /// outside of it is read, except by --urls.
    #[arg(long, value_name = "DIRECTORY|URL")]
    pub data: DataPlace,
    /// Beginning of URLs of files that are tables of the cluster without a load, such as s3://bucket/reports; may be given
    /// several times.
    #[arg(long, value_name = "URL")]
    pub urls: Vec<String>,
    /// Directory of temporary files of jobs, which is emptied at the start.
    #[arg(long)]
    pub directory: PathBuf,
    /// Bytes of memory for the operators and exchanges of jobs in this process [default: 268435456 for a coordinator,
    /// 1073741824 for an executor].
    #[arg(long)]
    pub memory: Option<u64>,
    /// Bytes of temporary files of jobs in this process [default: 16 GiB for a coordinator, 64 GiB for an executor].
    #[arg(long)]
    pub temp_space: Option<u64>,
    /// Directory with the certificate of this process, for connections between processes of the cluster.
    #[arg(long)]
    pub tls: Option<PathBuf>,
}

/// What the jobs in a process may use.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of temporary files.
    pub temp_space: u64,
}

/// An open process of a cluster.
#[derive(Debug)]
pub struct Process {
    /// What this process may read of files.
    pub files: FileRoots,
    /// Connections to other processes.
    pub connections: Connections,
    /// What DataFusion may use.
    pub environment: Arc<RuntimeEnv>,
    /// The threads that serve other processes.
    pub threads: Runtime,
    /// What its jobs may use.
    pub limits: Limits,
    credentials: Option<Credentials>,
    work: WorkDirectory,
}

impl Process {
    /// Opens a process that is to listen at `address`, with the limits of the options or else the `usual` ones.
    ///
    /// # Errors
    /// Certificates that cannot be read or that the address needs, a directory that is used, a root that is none.
    pub fn open(
        options: &ProcessOptions,
        address: SocketAddr,
        usual: Limits,
    ) -> Result<Self, String> {
        let limits = Limits {
            memory: options.memory.unwrap_or(usual.memory),
            temp_space: options.temp_space.unwrap_or(usual.temp_space),
        };
        let credentials = options.tls.as_deref().map(Credentials::read);
        let credentials = credentials.transpose().map_err(text)?;
        check_address(address, credentials.as_ref())?;
        let work = WorkDirectory::open(&options.directory).map_err(text)?;
        let files = FileRoots::new(&options.data, &options.urls)?;
        let memory = MemoryShares::of(limits.memory).exchanges;
        let store = options.data.store()?;
        let environment = runtime(store, &work.exchanges(), memory, limits.temp_space);
        let threads = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build();
        Ok(Self {
            files,
            connections: Connections::new(credentials.as_ref().map(Credentials::client)),
            environment: environment.map_err(text)?,
            threads: threads.map_err(text)?,
            credentials,
            limits,
            work,
        })
    }

    /// The parts of jobs in this process, whose errors call it `name`.
    ///
    /// # Errors
    /// A reader of files that cannot be opened.
    pub fn fragments(&self, name: &str) -> Result<Arc<JobFragments>, String> {
        let memory = MemoryShares::of(self.limits.memory);
        let worker = Worker::new(WorkerOptions {
            name: name.to_owned(),
            directory: self.work.operators(),
            memory: memory.operators,
            temp_space: self.limits.temp_space,
        });
        let reader = FileReader::open(self.files.clone(), memory.files).map_err(text)?;
        Ok(Arc::new(JobFragments::new(worker, reader)))
    }

    /// Scheme of URLs of this cluster's processes.
    pub fn scheme(&self) -> &'static str {
        match self.credentials {
            Some(_) => "https",
            None => "http",
        }
    }

    /// A server for other processes.
    ///
    /// # Errors
    /// A certificate that the server does not take.
    pub fn server(&self) -> Result<Server, String> {
        let server = Server::builder()
            .http2_keepalive_interval(Some(PROBE))
            .http2_keepalive_timeout(Some(ANSWER));
        match &self.credentials {
            Some(credentials) => server.tls_config(credentials.server()).map_err(text),
            None => Ok(server),
        }
    }
}

/// Listens at `address`; returns what comes in, and the address with the port.
///
/// # Errors
/// An address that is used, or is not of this machine.
pub async fn listen(address: SocketAddr) -> Result<(TcpIncoming, SocketAddr), String> {
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|error| format!("{address}: {error}"))?;
    let address = listener.local_addr().map_err(text)?;
    Ok((
        TcpIncoming::from(listener).with_nodelay(Some(true)),
        address,
    ))
}

/// An error as text.
pub(crate) fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
