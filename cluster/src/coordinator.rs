//! The process that clients connect to: a server of Mayfly, whose secondary engine is the cluster.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use mayfly_cli::Serve;

use crate::copies::CopyStore;
use crate::distributed::Distributed;
use crate::engine::Cluster;
use crate::members::{Members, MembersService};
use crate::process::{Limits, Process, ProcessOptions, VERSION, listen, text};

/// Limits of the parts of jobs that run beside a server.
const USUAL: Limits = Limits {
    memory: 256 << 20,
    temp_space: 16 << 30,
};

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
    /// The process.
    #[command(flatten)]
    pub process: ProcessOptions,
    /// Number of parts in which a table is read and rows are divided: the sum of all executors' tasks, or a multiple.
    #[arg(long, default_value_t = 4)]
    pub partitions: usize,
    /// Seconds for which nothing may move in a job.
    #[arg(long, default_value_t = 120)]
    pub patience: u64,
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
    _process: Process,
}

impl Coordinator {
    /// Starts to serve executors.
    pub fn start(options: &ClusterOptions) -> Result<Self, String> {
        let data = &options.process.data;
        data.create()?;
        let process = Process::open(&options.process, options.listen_executors, USUAL)?;
        let fragments = process.fragments("coordinator")?;
        let members = Arc::new(Members::with_own(Arc::clone(&fragments)));
        let executors = serve(&process, options.listen_executors, Arc::clone(&members))?;
        let threads = process.threads.handle();
        let distributed = Distributed::new(
            fragments,
            Arc::clone(&members) as _,
            process.connections.clone(),
            Arc::clone(&process.environment),
        );
        let cluster = Cluster::new(
            distributed,
            Arc::clone(&members),
            CopyStore::open(data, threads.clone())?,
            process.files.clone(),
            threads.clone(),
            Duration::from_secs(options.patience),
            options.partitions,
        );
        Ok(Self {
            engine: Arc::new(cluster),
            members,
            executors,
            _process: process,
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

/// Serves executors at an address; returns it with the port.
fn serve(
    process: &Process,
    address: SocketAddr,
    members: Arc<Members>,
) -> Result<SocketAddr, String> {
    let (incoming, address) = process.threads.block_on(listen(address))?;
    let server = process
        .server()?
        .add_service(MembersService::new(members, VERSION));
    process.threads.spawn(async move {
        if let Err(error) = server.serve_with_incoming(incoming).await {
            tracing::error!("executors are served no more: {error}");
        }
    });
    Ok(address)
}
