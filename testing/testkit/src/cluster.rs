//! Runs of jobs in this process: fragment by fragment, each run to its end, with all rows that cross an exchange in
//! memory. It shows that a distribution of a plan is right; it has no transport that could fail, unless a test makes one
//! ([`Transport`]).

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::vec;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use mayfly_engine::{Database, DatabaseOptions, FileRows};
use mayfly_offload::{
    Exchange, Figures, Input, Job, JobObserver, Place, Rows, RunInput, Share, Worker, WorkerOptions,
};
use mayfly_types::{Batch, Error, Interrupt, Result};

/// Changes the batches that a run sends: (fragment, partition of the run, its batches).
pub type Transport = dyn Fn(usize, usize, &mut Vec<Batch>) -> Result<()> + Send + Sync;

/// Batches of the part of a table at a place.
pub type Parts<'p> = dyn Fn(&str) -> Vec<Batch> + 'p;

/// Workers in this process.
pub struct LocalCluster {
    partitions: usize,
    workers: Vec<Worker>,
    transport: Mutex<Option<Box<Transport>>>,
    /// Encoded jobs that were run.
    jobs: Mutex<Vec<Vec<u8>>>,
    /// What reads files.
    files: OnceLock<Arc<Database>>,
}

impl fmt::Debug for LocalCluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalCluster")
            .field("partitions", &self.partitions)
            .finish_non_exhaustive()
    }
}

impl LocalCluster {
    /// Workers for that many partitions, whose temporary tables may hold `memory` bytes and go to files in `directory`.
    #[must_use]
    pub fn new(partitions: usize, memory: u64, directory: &Path) -> Self {
        let worker = |number| {
            Worker::new(WorkerOptions {
                name: format!("worker-{number}"),
                directory: directory.into(),
                memory,
                temp_space: u64::MAX,
            })
        };
        Self {
            partitions,
            workers: (0..partitions).map(worker).collect(),
            transport: Mutex::default(),
            jobs: Mutex::default(),
            files: OnceLock::new(),
        }
    }

    /// The database whose table functions read files.
    ///
    /// # Panics
    /// Where no database can be opened.
    pub fn files(&self) -> &Arc<Database> {
        let open = || Database::open(DatabaseOptions::new()).expect("a database");
        self.files.get_or_init(open)
    }

    /// Sets a transport that changes what crosses an exchange.
    pub fn set_transport(&self, transport: Option<Box<Transport>>) {
        *self
            .transport
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = transport;
    }

    /// The encoded jobs that were run since the last call.
    #[must_use]
    pub fn take_jobs(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut *self.jobs.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Number of partitions of a job.
    #[must_use]
    pub fn partitions(&self) -> usize {
        self.partitions
    }

    /// The workers.
    #[must_use]
    pub fn workers(&self) -> &[Worker] {
        &self.workers
    }

    /// The rows of a job's last fragment, in their envelope.
    ///
    /// # Errors
    /// Those of the job, and of the transport.
    pub fn rows(
        &self,
        job: &Job,
        parts: &Parts<'_>,
        interrupt: &Interrupt,
        observer: &Arc<dyn JobObserver>,
    ) -> Result<Box<dyn Rows>> {
        // A job crosses to other processes as bytes.
        let bytes = job.encode().map_err(|refused| {
            Error::internal(format_args!("a job cannot be encoded: {}", refused.0))
        })?;
        let job = Arc::new(Job::decode(&bytes)?);
        self.jobs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(bytes);
        let mut sent: Vec<Vec<Vec<Batch>>> = Vec::new();
        for number in 0..job.fragments.len() {
            let mut runs = Vec::new();
            for partition in 0..job.runs(number, self.partitions) {
                let place = Place {
                    fragment: number,
                    partition,
                    partitions: self.partitions,
                };
                let (mut batches, figures) = self.run(&job, place, &sent, parts, interrupt)?;
                observer.observe(figures);
                let transport = self
                    .transport
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                if let Some(transport) = &*transport {
                    transport(number, partition, &mut batches)?;
                }
                runs.push(batches);
            }
            sent.push(runs);
        }
        let last = sent.pop().unwrap_or_default();
        Ok(kept(last.concat()))
    }

    fn run(
        &self,
        job: &Arc<Job>,
        place: Place,
        sent: &[Vec<Vec<Batch>>],
        parts: &Parts<'_>,
        interrupt: &Interrupt,
    ) -> Result<(Vec<Batch>, Figures)> {
        let Place {
            fragment,
            partition,
            ..
        } = place;
        let inputs = job.fragments[fragment].inputs.iter();
        let inputs = inputs.map(|input| {
            let rows = match input {
                Input::Table(table) if let Some(call) = &table.copy.call => {
                    let share = Share {
                        index: partition,
                        of: job.runs(fragment, self.partitions),
                    };
                    let (reader, job, call) =
                        (Arc::clone(self.files()), Arc::clone(job), call.clone());
                    let (types, columns) = (table.copy.types.clone(), table.columns.clone());
                    let interrupt = interrupt.clone();
                    return RunInput::Open(Box::new(move |terms, diagnostics| {
                        reader.file_rows(&FileRows {
                            call: &call,
                            types: &types,
                            columns: &columns,
                            terms,
                            share,
                            session: &job.settings.session,
                            interrupt: &interrupt,
                            diagnostics,
                        })
                    }));
                }
                Input::Table(table) => {
                    let all = table
                        .copy
                        .parts
                        .iter()
                        .flat_map(|part| in_pieces(parts(&part.location)));
                    let runs = job.runs(fragment, self.partitions);
                    let own = all.enumerate().filter(|(at, _)| at % runs == partition);
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
            };
            RunInput::Rows(rows)
        });
        let inputs = inputs.collect();
        let worker = &self.workers[partition % self.workers.len()];
        let mut rows = worker.run(job, place, inputs, interrupt.clone())?;
        let mut batches = Vec::new();
        while let Some(batch) = rows.next_batch()? {
            batches.push(batch);
        }
        Ok((batches, rows.figures()))
    }
}

/// Rows in pieces, so that several runs have some of few rows.
fn in_pieces(batches: Vec<Batch>) -> Vec<Batch> {
    let pieces = batches.into_iter().flat_map(|batch| {
        let rows = batch.row_count();
        let size = PIECE_ROWS_MIN.max(rows / 8);
        (0..rows)
            .step_by(size)
            .map(move |at| batch.slice(at, size.min(rows - at)))
    });
    pieces.collect()
}

/// Minimum number of rows of a piece.
const PIECE_ROWS_MIN: usize = 7;

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
