//! Secondary engine of one process: runs jobs fragment by fragment, each run to its end, and keeps all rows that cross an
//! exchange in memory. It shows that a distribution of a plan is right; it has no transport that could fail, unless a
//! test makes one ([`Transport`]).

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::vec;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use mayfly_engine::{Member, MemberState, PartToLoad, SecondaryEngine, TablePart};
use mayfly_offload::{Exchange, Input, Job, Place, Rows, Worker, WorkerOptions};
use mayfly_types::{Batch, Interrupt, Result};

/// Changes the batches that cross an exchange: (fragment, partition of the sender, its batches).
pub type Transport = dyn Fn(usize, usize, &mut Vec<Batch>) + Send + Sync;

/// Secondary engine in this process.
pub struct LocalCluster {
    partitions: usize,
    workers: Vec<Worker>,
    parts: Mutex<HashMap<String, Vec<Batch>>>,
    transport: Option<Box<Transport>>,
}

impl fmt::Debug for LocalCluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalCluster")
            .field("partitions", &self.partitions)
            .finish_non_exhaustive()
    }
}

impl LocalCluster {
    /// A cluster of so many partitions, whose temporary tables may hold `memory` bytes and go to files below `directory`.
    #[must_use]
    pub fn new(partitions: usize, memory: u64, directory: &std::path::Path) -> Self {
        let worker = |number| {
            let directory: PathBuf = directory.into();
            Worker::new(WorkerOptions {
                name: format!("worker-{number}"),
                directory,
                memory,
                temp_space: u64::MAX,
            })
        };
        Self {
            partitions,
            workers: (0..partitions).map(worker).collect(),
            parts: Mutex::default(),
            transport: None,
        }
    }

    /// The cluster with a transport that changes what crosses an exchange.
    #[must_use]
    pub fn with_transport(self, transport: Box<Transport>) -> Self {
        Self {
            transport: Some(transport),
            ..self
        }
    }

    /// Names of the parts that are kept.
    ///
    /// # Panics
    /// After a panic of another thread.
    #[must_use]
    pub fn kept(&self) -> Vec<String> {
        self.parts
            .lock()
            .expect("no panic before")
            .keys()
            .cloned()
            .collect()
    }

    /// The rows of a job's last fragment, in their envelope.
    fn rows(&self, job: &Job, interrupt: &Interrupt) -> Result<Box<dyn Rows>> {
        // The job crosses to other processes as bytes.
        let bytes = job.encode().map_err(|refused| {
            mayfly_types::Error::internal(format_args!("a job cannot be encoded: {}", refused.0))
        })?;
        let job = Arc::new(Job::decode(&bytes)?);
        let mut sent: Vec<Vec<Vec<Batch>>> = Vec::new();
        for number in 0..job.fragments.len() {
            let mut runs = Vec::new();
            for partition in 0..job.runs(number, self.partitions) {
                let mut batches = self.run(&job, number, partition, &sent, interrupt)?;
                if let Some(transport) = &self.transport {
                    transport(number, partition, &mut batches);
                }
                runs.push(batches);
            }
            sent.push(runs);
        }
        let last = sent.pop().unwrap_or_default();
        Ok(Box::new(Kept(last.concat().into_iter())))
    }

    fn run(
        &self,
        job: &Arc<Job>,
        fragment: usize,
        partition: usize,
        sent: &[Vec<Vec<Batch>>],
        interrupt: &Interrupt,
    ) -> Result<Vec<Batch>> {
        let place = Place {
            fragment,
            partition,
            partitions: self.partitions,
        };
        let inputs = job.fragments[fragment].inputs.iter();
        let inputs = inputs.map(|input| match input {
            Input::Table(table) => {
                let parts = self.parts.lock().expect("no panic before");
                let parts = table
                    .copy
                    .parts
                    .iter()
                    .flat_map(|part| &parts[&part.location]);
                let runs = job.runs(fragment, self.partitions);
                let own = parts.enumerate().filter(|(at, _)| at % runs == partition);
                let own = own.map(|(_, batch)| {
                    let columns = table
                        .columns
                        .iter()
                        .map(|column| Arc::clone(batch.column(*column)));
                    Batch::new(columns.collect(), batch.row_count())
                });
                kept(own.collect())
            }
            Input::Rows { fragment, exchange } => {
                let all = sent[*fragment].iter().flatten();
                kept(match exchange {
                    Exchange::Hash(_) => all.map(|batch| sent_to(batch, partition)).collect(),
                    Exchange::Broadcast | Exchange::Gather => all.cloned().collect(),
                })
            }
        });
        let inputs = inputs.collect();
        let worker = &self.workers[partition % self.workers.len()];
        let mut rows = worker.run(job, place, inputs, interrupt.clone())?;
        let mut batches = Vec::new();
        while let Some(batch) = rows.next_batch()? {
            batches.push(batch);
        }
        Ok(batches)
    }
}

impl SecondaryEngine for LocalCluster {
    fn name(&self) -> &'static str {
        "CLUSTER"
    }

    /// Few, so that tables of tests have several parts.
    fn part_rows(&self) -> u64 {
        100
    }

    fn load(&self, part: &PartToLoad<'_>, rows: &mut dyn Rows) -> Result<TablePart> {
        let location = format!("{}.{}/{}", part.database, part.table, part.number);
        let mut batches = Vec::new();
        while let Some(batch) = rows.next_batch()? {
            part.interrupt.check()?;
            // Pieces of a few rows, so that several runs have some.
            let pieces = (0..batch.row_count()).step_by(7);
            let pieces = pieces.map(|at| batch.slice(at, 7.min(batch.row_count() - at)));
            batches.extend(pieces.map(Batch::with_own_strings));
        }
        let rows = batches.iter().map(|batch| batch.row_count() as u64).sum();
        let mut parts = self.parts.lock().expect("no panic before");
        parts.insert(location.clone(), batches);
        Ok(TablePart {
            location,
            rows,
            bytes: 0,
        })
    }

    fn unload(&self, part: &TablePart) -> Result<()> {
        self.parts
            .lock()
            .expect("no panic before")
            .remove(&part.location);
        Ok(())
    }

    fn partitions(&self) -> usize {
        self.partitions
    }

    fn run(&self, job: &Arc<Job>, interrupt: &Interrupt) -> Result<Box<dyn Rows>> {
        self.rows(job, interrupt)
    }

    fn members(&self) -> Result<Vec<Member>> {
        let member = |worker: &Worker| {
            let (memory, disk) = worker.used();
            Member {
                name: worker.name().to_owned(),
                role: "executor".to_owned(),
                address: "127.0.0.1".to_owned(),
                state: MemberState::Available,
                slots: 1,
                tasks: 0,
                memory_used: memory,
                memory_limit: u64::MAX,
                disk_used: disk,
            }
        };
        Ok(self.workers.iter().map(member).collect())
    }
}

/// The rows of a batch that go to a partition.
fn sent_to(batch: &Batch, partition: usize) -> Batch {
    let targets = batch
        .column(batch.columns().len() - 2)
        .as_primitive::<UInt64Type>();
    let is_own = targets
        .values()
        .iter()
        .map(|target| *target == partition as u64);
    let is_own: arrow_buffer::BooleanBuffer = is_own.collect();
    mayfly_types::selection::filter_batch(batch, &is_own, is_own.count_set_bits())
}

/// Batches as rows.
struct Kept(vec::IntoIter<Batch>);

fn kept(batches: Vec<Batch>) -> Box<dyn Rows> {
    Box::new(Kept(batches.into_iter()))
}

impl Rows for Kept {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        Ok(self.0.next())
    }
}
