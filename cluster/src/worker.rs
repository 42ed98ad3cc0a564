//! Fragments of Mayfly: each run is one of crate `offload`, between arrays of two versions of Arrow.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result};
use mayfly_offload::{
    Figures, FragmentRun, Input, Job, Place, Rows, RunInput, Worker, error_in, error_text,
};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Error, Interrupt};

use crate::errors::Lost;
use crate::files::FileReader;
use crate::fragments::{Batches, Cancel, Fragments, Run};
use crate::{bridge, convert};

/// Decoded jobs that are kept: each run of a job brings it again.
const KEPT: usize = 4;

/// A job, and its encoding.
type DecodedJob = (Arc<[u8]>, Arc<Job>);

/// What runs fragments of jobs in this process.
#[derive(Debug)]
pub struct JobFragments {
    worker: Worker,
    files: FileReader,
    activity: Arc<Activity>,
    runs: Arc<Mutex<Runs>>,
    decoded: Mutex<Vec<DecodedJob>>,
}

impl JobFragments {
    /// Fragments that run with the memory and the space of `worker`, and read `files`.
    pub fn new(worker: Worker, files: FileReader) -> Self {
        Self {
            worker,
            files,
            activity: Arc::default(),
            runs: Arc::default(),
            decoded: Mutex::default(),
        }
    }

    /// The worker.
    pub fn worker(&self) -> &Worker {
        &self.worker
    }

    /// What its runs do now.
    pub fn activity(&self) -> &Activity {
        &self.activity
    }

    /// Ends what runs for jobs that have ended, and what will start for them.
    pub fn end(&self, ended: Vec<u64>) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        for run in runs.running.values() {
            if ended.contains(&run.number) {
                run.cancel.cancel();
            }
        }
        runs.ended = ended;
    }

    /// Figures of what runs, and of what has come to its end since the last call, with the runs of jobs.
    pub fn take_figures(&self) -> Vec<(u64, Figures)> {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = std::mem::take(&mut runs.finished);
        all.extend(runs.running.values().filter_map(Running::figures));
        all
    }

    /// Decodes a job, or finds it among the last ones.
    fn job(&self, encoded: &Arc<[u8]>) -> mayfly_types::Result<Arc<Job>> {
        let mut decoded = self.decoded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, job)) = decoded.iter().find(|(bytes, _)| bytes == encoded) {
            return Ok(Arc::clone(job));
        }
        let job = Arc::new(Job::decode(encoded)?);
        decoded.push((Arc::clone(encoded), Arc::clone(&job)));
        if decoded.len() > KEPT {
            decoded.remove(0);
        }
        Ok(job)
    }
}

/// What the runs of a process do.
#[derive(Debug, Default)]
pub struct Activity {
    running: AtomicU32,
    moved: AtomicU64,
}

impl Activity {
    /// The number of runs.
    pub fn running(&self) -> u32 {
        self.running.load(Ordering::Relaxed)
    }

    /// The number of batches that runs have read and written since the process started.
    pub fn moved(&self) -> u64 {
        self.moved.load(Ordering::Relaxed)
    }
}

/// Runs of fragments, with the runs of jobs that they belong to.
#[derive(Debug, Default)]
struct Runs {
    running: HashMap<u64, Running>,
    started: u64,
    /// Figures of runs that have come to their end.
    finished: Vec<(u64, Figures)>,
    /// Runs of jobs that have ended.
    ended: Vec<u64>,
}

/// A run of a fragment.
#[derive(Debug)]
struct Running {
    /// The run of the job that it belongs to.
    number: u64,
    cancel: Cancel,
    /// What it has done, once it has sent something.
    figures: Option<Figures>,
}

impl Running {
    fn figures(&self) -> Option<(u64, Figures)> {
        Some((self.number, self.figures.clone()?))
    }
}

/// A run, as long as it is counted.
struct Counted {
    activity: Arc<Activity>,
    runs: Arc<Mutex<Runs>>,
    own: u64,
}

impl Counted {
    /// Counts a run; cancels it if its job has ended.
    fn start(fragments: &JobFragments, number: u64, cancel: &Cancel) -> Self {
        let mut runs = fragments
            .runs
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if runs.ended.contains(&number) {
            cancel.cancel();
        }
        runs.started += 1;
        let own = runs.started;
        let running = Running {
            number,
            cancel: cancel.clone(),
            figures: None,
        };
        runs.running.insert(own, running);
        fragments.activity.running.fetch_add(1, Ordering::Relaxed);
        Self {
            activity: Arc::clone(&fragments.activity),
            runs: Arc::clone(&fragments.runs),
            own,
        }
    }

    /// Takes note of what the run has done.
    fn note(&self, figures: Figures) {
        self.activity.moved.fetch_add(1, Ordering::Relaxed);
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(run) = runs.running.get_mut(&self.own) {
            run.figures = Some(figures);
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.activity.running.fetch_sub(1, Ordering::Relaxed);
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let run = runs.running.remove(&self.own);
        let figures = run.as_ref().and_then(Running::figures);
        runs.finished.extend(figures);
    }
}

impl Fragments for JobFragments {
    fn run(
        &self,
        run: &Run,
        inputs: Vec<Box<dyn Batches>>,
        cancel: &Cancel,
    ) -> Result<Box<dyn Batches>> {
        let counted = Counted::start(self, run.number, cancel);
        let job = self.job(&run.job).map_err(|error| outward_error(&error))?;
        let place = Place {
            fragment: run.fragment,
            partition: run.partition,
            partitions: run.job_partitions,
        };
        let interrupt = Interrupt::new(Arc::clone(cancel.flag()));
        let mut brought = inputs.into_iter();
        let inputs = job.fragments.get(run.fragment).into_iter();
        let inputs = inputs.flat_map(|fragment| &fragment.inputs);
        let inputs = inputs.filter_map(|input| match input {
            Input::Table(table) if let Some(call) = &table.copy.call => {
                let open = self.files.rows(&job, table, call, place, &interrupt);
                Some(RunInput::Open(open))
            }
            _ => {
                let batches = brought.next()?;
                let activity = Arc::clone(&self.activity);
                Some(RunInput::Rows(Box::new(Inward { batches, activity })))
            }
        });
        let inputs = inputs.collect();
        let rows = self
            .worker
            .run(&job, place, inputs, interrupt)
            .map_err(|error| outward_error(&error))?;
        let schema = convert::sent(&job, run.fragment);
        Ok(Box::new(Outward {
            rows,
            schema,
            ready: Vec::new(),
            counted,
        }))
    }
}

/// Batches of DataFusion as rows of Mayfly.
struct Inward<B> {
    batches: B,
    activity: Arc<Activity>,
}

impl<B: Batches> Rows for Inward<B> {
    fn next_batch(&mut self) -> mayfly_types::Result<Option<Batch>> {
        self.activity.moved.fetch_add(1, Ordering::Relaxed);
        let batch = self
            .batches
            .next()
            .and_then(|batch| batch.as_ref().map(bridge::inward).transpose());
        batch.map_err(|error| inward_error(&error))
    }
}

/// Rows of Mayfly as batches of DataFusion.
struct Outward {
    rows: FragmentRun,
    schema: SchemaRef,
    /// What is left of the last batch, in reverse.
    ready: Vec<RecordBatch>,
    counted: Counted,
}

impl Batches for Outward {
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.ready.pop() {
                return Ok(Some(batch));
            }
            let batch = self.rows.next_batch();
            self.counted.note(self.rows.figures());
            match batch.map_err(|error| outward_error(&error))? {
                Some(batch) if batch.is_empty() => {}
                Some(batch) => {
                    self.ready = bridge::outward(&batch, &self.schema)?;
                    self.ready.reverse();
                }
                None => return Ok(None),
            }
        }
    }
}

/// An error of Mayfly on its way through DataFusion. That of a lost executor stays what it was.
fn outward_error(error: &Error) -> DataFusionError {
    DataFusionError::Execution(match Lost::find(error.message()) {
        Some(_) => error.message().to_owned(),
        None => error_text(error),
    })
}

/// An error of DataFusion as one of Mayfly.
pub fn inward_error(error: &DataFusionError) -> Error {
    let text = error.to_string();
    match Lost::find(&text) {
        // The mark stays until the error has reached the coordinator.
        Some(_) => codes::ER_SECONDARY_ENGINE.with(&[&text]),
        None => error_in(&text).unwrap_or_else(|| codes::ER_SECONDARY_ENGINE.with(&[&text])),
    }
}
