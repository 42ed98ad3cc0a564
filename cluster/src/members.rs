//! Which executors there are.
//!
//! datafusion-distributed has no list of its workers, so each executor says every second that it is there, and the coordinator
//! forgets one that was silent for some seconds. The answer tells which jobs have ended: streams that are dropped end fragments
//! too, but one that still waits for another executor's plan is told by the library after ten seconds only. An executor of another version is refused, since a job is encoded for one
//! version. The service is one method over gRPC, on the coordinator's port for executors.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::fmt;
use std::future::{Ready, ready};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use http::uri::PathAndQuery;
use mayfly_offload::{Figures, JobObserver};
use prost::Message;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service};
use tonic::server::{NamedService, UnaryService};
use tonic::transport::Channel;
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;
use url::Url;

use crate::distributed::Executors;
use crate::worker::JobFragments;

/// The version of what coordinator and executors say to each other: it changes with the encoding of jobs.
pub const PROTOCOL: u32 = 2;
/// How often an executor says that it is there.
pub const BEAT: Duration = Duration::from_secs(1);
/// The silence after which it is forgotten.
pub const SILENCE: Duration = Duration::from_secs(4);

/// How long executors are told of the end of a job.
const TOLD: Duration = Duration::from_secs(60);

const SERVICE: &str = "mayfly.Cluster";
const BEAT_METHOD: &str = "/mayfly.Cluster/Beat";

/// What an executor says of itself.
#[derive(Clone, PartialEq, Message)]
pub struct Beat {
    /// The [`PROTOCOL`] of the executor.
    #[prost(uint32, tag = "1")]
    pub protocol: u32,
    /// The version of its program.
    #[prost(string, tag = "2")]
    pub version: String,
    /// The address at which others reach it.
    #[prost(string, tag = "3")]
    pub address: String,
    /// The number of partitions of a stage that it should get.
    #[prost(uint32, tag = "4")]
    pub tasks: u32,
    /// Fragments that run now.
    #[prost(uint32, tag = "5")]
    pub running: u32,
    /// The bytes of memory that it may use, and those that it uses.
    #[prost(uint64, tag = "6")]
    pub memory_limit: u64,
    /// Bytes of memory in use.
    #[prost(uint64, tag = "7")]
    pub memory_used: u64,
    /// The bytes of temporary files that it may have.
    #[prost(uint64, tag = "8")]
    pub temp_limit: u64,
    /// Bytes of temporary files.
    #[prost(uint64, tag = "9")]
    pub temp_used: u64,
    /// Name of the executor.
    #[prost(string, tag = "10")]
    pub name: String,
    /// A number that changes while it works.
    #[prost(uint64, tag = "11")]
    pub moved: u64,
    /// What its runs have done so far.
    #[prost(message, repeated, tag = "12")]
    pub runs: Vec<RunFigures>,
}

/// What a run of a fragment has done so far.
#[derive(Clone, PartialEq, Message)]
pub struct RunFigures {
    /// The run of the job.
    #[prost(fixed64, tag = "1")]
    pub number: u64,
    /// [`Figures`], encoded.
    #[prost(bytes = "vec", tag = "2")]
    pub figures: Vec<u8>,
}

/// The answer to a [`Beat`].
#[derive(Clone, PartialEq, Message)]
pub struct Heard {
    /// The runs of jobs that ended in the last minute.
    #[prost(fixed64, repeated, tag = "1")]
    pub ended: Vec<u64>,
}

/// The executors that were heard of.
#[derive(Default)]
pub struct Members {
    heard: Mutex<BTreeMap<Url, (Beat, Instant)>>,
    ended: Mutex<Vec<(u64, Instant)>>,
    /// Those that are told what runs of jobs do.
    observers: Mutex<HashMap<u64, Weak<dyn JobObserver>>>,
    /// What runs fragments in this process.
    own: Option<Arc<JobFragments>>,
}

impl fmt::Debug for Members {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Members")
            .field("heard", &self.heard)
            .finish_non_exhaustive()
    }
}

impl Members {
    /// No executors yet, in the process that also runs `own` fragments.
    pub fn with_own(own: Arc<JobFragments>) -> Self {
        Self {
            own: Some(own),
            ..Self::default()
        }
    }

    /// Takes note of an executor, or says why it cannot be used.
    pub fn hear(&self, mut beat: Beat, version: &str) -> Result<(), String> {
        if beat.protocol != PROTOCOL || beat.version != version {
            return Err(format!(
                "executor {} has version {} (protocol {}), but the coordinator has version {version} (protocol {PROTOCOL})",
                beat.address, beat.version, beat.protocol
            ));
        }
        let address = Url::parse(&beat.address)
            .map_err(|error| format!("address {}: {error}", beat.address))?;
        let runs = std::mem::take(&mut beat.runs).into_iter();
        self.show(runs.filter_map(|run| Some((run.number, Figures::decode(&run.figures).ok()?))));
        self.heard
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(address, (beat, Instant::now()));
        Ok(())
    }

    /// Tells `observer` from now on what the runs of the run `number` of a job do.
    pub fn observe(&self, number: u64, observer: &Arc<dyn JobObserver>) {
        let mut observers = self
            .observers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        observers.retain(|_, observer| observer.strong_count() > 0);
        observers.insert(number, Arc::downgrade(observer));
    }

    /// Tells observers what runs have done.
    fn show(&self, runs: impl IntoIterator<Item = (u64, Figures)>) {
        let observers = self
            .observers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        for (number, figures) in runs {
            if let Some(observer) = observers.get(&number).and_then(Weak::upgrade) {
                observer.observe(figures);
            }
        }
    }

    /// Forgets an executor until it is heard again.
    pub fn forget(&self, address: &Url) {
        self.heard
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(address);
    }

    /// Takes note that a run of a job has ended: executors are told with the answers to what they say.
    pub fn end(&self, number: u64) {
        self.show_own();
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.retain(|(_, at)| at.elapsed() < TOLD);
        ended.push((number, Instant::now()));
        drop(ended);
        self.observers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&number);
    }

    /// The runs that ended not long ago.
    fn ended(&self) -> Vec<u64> {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.retain(|(_, at)| at.elapsed() < TOLD);
        ended.iter().map(|(number, _)| *number).collect()
    }

    /// The executors that can be used now.
    pub fn alive(&self) -> Vec<Beat> {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.retain(|_, (_, last)| last.elapsed() < SILENCE);
        heard.values().map(|(beat, _)| beat.clone()).collect()
    }

    /// Tells observers what this process does.
    pub fn show_own(&self) {
        if let Some(own) = &self.own {
            self.show(own.take_figures());
        }
    }

    /// A number that changes while any executor works, or the part of a job that this process runs.
    pub fn moved(&self) -> u64 {
        let own = self.own.as_ref().map_or(0, |own| {
            let (memory, space) = own.worker().used();
            own.activity().moved().wrapping_add(memory ^ space)
        });
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard
            .values()
            .fold(own, |sum, (beat, _)| sum.wrapping_add(beat.moved))
    }

    /// The number of partitions of a stage that is divided: each executor gets the number that it named.
    pub fn partitions(&self) -> usize {
        self.alive()
            .iter()
            .map(|beat| beat.tasks.max(1) as usize)
            .sum()
    }
}

impl Executors for Members {
    fn addresses(&self) -> Vec<Url> {
        self.alive();
        self.heard
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .keys()
            .cloned()
            .collect()
    }
}

/// The service of the coordinator.
#[derive(Debug, Clone)]
pub struct MembersService {
    members: Arc<Members>,
    version: &'static str,
}

impl MembersService {
    /// A service that fills `members` with executors of this program's `version`.
    pub fn new(members: Arc<Members>, version: &'static str) -> Self {
        Self { members, version }
    }
}

impl NamedService for MembersService {
    const NAME: &'static str = SERVICE;
}

impl UnaryService<Beat> for MembersService {
    type Response = Heard;
    type Future = Ready<Result<Response<Heard>, Status>>;

    fn call(&mut self, request: Request<Beat>) -> Self::Future {
        let heard = self.members.hear(request.into_inner(), self.version);
        let ended = self.members.ended();
        ready(
            heard
                .map(|()| Response::new(Heard { ended }))
                .map_err(Status::failed_precondition),
        )
    }
}

impl Service<http::Request<Body>> for MembersService {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let method = self.clone();
        Box::pin(async move {
            if request.uri().path() != BEAT_METHOD {
                return Ok(Status::unimplemented("no such method").into_http());
            }
            Ok(tonic::server::Grpc::new(ProstCodec::default())
                .unary(method, request)
                .await)
        })
    }
}

/// Says to the coordinator at `channel` that an executor is there, and returns its answer.
pub async fn beat(channel: Channel, beat: Beat) -> Result<Heard, Status> {
    let mut client = tonic::client::Grpc::new(channel);
    client
        .ready()
        .await
        .map_err(|error| Status::unavailable(error.to_string()))?;
    let codec: ProstCodec<Beat, Heard> = ProstCodec::default();
    client
        .unary(
            Request::new(beat),
            PathAndQuery::from_static(BEAT_METHOD),
            codec,
        )
        .await
        .map(Response::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(address: &str) -> Beat {
        Beat {
            protocol: PROTOCOL,
            version: "1.0".into(),
            address: address.into(),
            tasks: 2,
            ..Beat::default()
        }
    }

    #[test]
    fn executors_of_another_version_are_refused_by_name() {
        let members = Members::default();
        let old = Beat {
            protocol: PROTOCOL + 1,
            ..of("http://127.0.0.1:1")
        };
        let refused = members.hear(old, "1.0").expect_err("refused");
        assert!(
            refused.contains("http://127.0.0.1:1") && refused.contains("protocol 3"),
            "{refused}"
        );
        assert!(members.hear(of("http://127.0.0.1:1"), "1.1").is_err());
        assert!(members.alive().is_empty());
    }

    #[test]
    fn executors_that_are_heard_are_used_until_they_are_forgotten() {
        let members = Members::default();
        members
            .hear(of("http://127.0.0.1:1"), "1.0")
            .expect("heard");
        members
            .hear(of("http://127.0.0.1:2"), "1.0")
            .expect("heard");
        assert_eq!(members.partitions(), 4);
        members.forget(&members.addresses()[0]);
        assert_eq!(members.addresses().len(), 1);
    }
}
