//! The process that runs fragments.
//!
//! The memory is divided ([`MemoryShares`](crate::work::MemoryShares)), and operators and exchanges may each use the
//! temporary space.

use std::net::SocketAddr;
use std::sync::Arc;

use clap::Args;
use tonic::Code;
use url::Url;

use crate::connections::Connections;
use crate::distributed;
use crate::members::{BEAT, Beat, PROTOCOL, RunFigures, beat};
use crate::process::{Limits, Process, ProcessOptions, VERSION, listen, text};
use crate::progress::{Progress, processor_time};
use crate::worker::JobFragments;

/// Limits of a machine that does nothing else.
const USUAL: Limits = Limits {
    memory: 1 << 30,
    temp_space: 64 << 30,
};

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
    /// The process.
    #[command(flatten)]
    pub process: ProcessOptions,
    /// Number of partitions that it works on at the same time.
    #[arg(long, default_value_t = 2)]
    pub tasks: usize,
}

/// Runs an executor until the process ends, or until the coordinator refuses it.
pub fn run(options: ExecutorOptions) -> Result<(), String> {
    let process = Process::open(&options.process, options.listen, USUAL)?;
    let scheme = process.scheme();
    process.threads.block_on(async {
        let (incoming, address) = listen(options.listen).await?;
        let advertised = options.advertise.unwrap_or_else(|| reached_at(address));
        let name = options.name.unwrap_or_else(|| advertised.clone());
        let fragments = process.fragments(&name)?;
        let beat = Beat {
            protocol: PROTOCOL,
            version: VERSION.to_owned(),
            address: format!("{scheme}://{advertised}"),
            tasks: u32::try_from(options.tasks).unwrap_or(u32::MAX),
            memory_limit: process.limits.memory,
            temp_limit: process.limits.temp_space,
            name: name.clone(),
            ..Beat::default()
        };
        let coordinator = format!("{scheme}://{}", options.coordinator);
        let coordinator = Url::parse(&coordinator).map_err(text)?;
        let connections = process.connections.clone();
        let refused = say(coordinator, connections.clone(), beat, Arc::clone(&fragments))?;
        println!("executor {name} listens on {address}");
        let environment = Arc::clone(&process.environment);
        let worker = distributed::worker(fragments, connections, environment);
        let server = process.server()?.add_service(worker.into_worker_server());
        tokio::select! {
            ended = server.serve_with_incoming(incoming) => ended.map_err(text),
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
        let mut progress = Progress::default();
        loop {
            let (memory, space) = fragments.worker().used();
            own.running = fragments.activity().running();
            let seen = (fragments.activity().moved(), memory, space);
            own.moved = progress.step(seen, processor_time());
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
