//! One run of a fragment.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use mayfly_exec::{ExecutionContext, ResultStream, execute};
use mayfly_types::{Batch, Result};

use super::Place;
use super::input::InputTable;
use crate::exchange::{Figures, Note, Rows, Sender};
use crate::job::Job;

/// A run of a fragment: its rows in their envelope, then its notes.
pub struct FragmentRun {
    place: Place,
    inputs: Vec<Arc<InputTable>>,
    statement: Arc<ExecutionContext>,
    worker: String,
    started: Instant,
    /// `None` once the notes are given.
    stream: Option<ResultStream>,
    sender: Sender,
    conditions_max: usize,
}

impl FragmentRun {
    /// Starts a run; nothing is read.
    pub(super) fn start(
        job: &Job,
        place: Place,
        inputs: Vec<Arc<InputTable>>,
        statement: Arc<ExecutionContext>,
        worker: &str,
    ) -> Result<Self> {
        let fragment = &job.fragments[place.fragment];
        let plan = Arc::new(fragment.query(&job.settings));
        let stream = execute(&plan, &statement, &job.settings.parameters)?;
        let receivers = job.receivers(place.fragment, place.partitions);
        let exchange = job.exchange_of(place.fragment);
        Ok(Self {
            place,
            inputs,
            statement,
            worker: worker.to_owned(),
            started: Instant::now(),
            stream: Some(stream),
            sender: Sender::new(&fragment.plan.output, exchange, receivers),
            conditions_max: job.settings.conditions_max,
        })
    }

    /// Figures of the run so far.
    pub fn figures(&self) -> Figures {
        let spilled = &self.statement.temp.counters().bytes_overflowed;
        Figures {
            fragment: self.place.fragment,
            partition: self.place.partition,
            rows_in: self.inputs.iter().map(|input| input.rows_read()).collect(),
            ended: self.inputs.iter().map(|input| input.has_ended()).collect(),
            rows_out: self.sender.rows(),
            bytes_out: self.sender.bytes(),
            spilled_bytes: spilled.load(Ordering::Relaxed),
            memory_peak: self.statement.temp.memory().peak(),
            microseconds: u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX),
            worker: self.worker.clone(),
        }
    }

    /// The note of the run: its own warnings and figures, and those of its inputs.
    fn note(&self) -> Note {
        let diagnostics = &self.statement.evaluation.diagnostics;
        let mut condition_count = diagnostics.count();
        let mut conditions = diagnostics.conditions();
        let mut figures = vec![self.figures()];
        for input in &self.inputs {
            let (count, earlier, others) = input.notes();
            condition_count += count;
            conditions.extend(earlier);
            figures.extend(others);
        }
        conditions.truncate(self.conditions_max);
        Note {
            partition: self.place.partition,
            rows: 0,
            condition_count,
            conditions,
            figures,
        }
    }
}

impl Rows for FragmentRun {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let Some(stream) = &mut self.stream else {
            return Ok(None);
        };
        let batch = stream.next_batch()?;
        if let Some(error) = self.statement.evaluation.diagnostics.refused() {
            return Err(error);
        }
        if let Some(batch) = batch {
            return Ok(Some(self.sender.send(batch)));
        }
        self.stream = None;
        Ok(Some(self.sender.end(&self.note())))
    }
}
