//! The rows of a job of the secondary engine, as a table of the statement's plan.
//!
//! The job starts when the table is scanned. Its rows are checked for completeness at both ends of each exchange
//! ([`mayfly_offload::exchange`]). Where the engine fails before any row was given, the job is tried once more: it only
//! reads. Warnings of the job's fragments become those of the statement when its last row has come.

use std::fmt;
use std::sync::{Arc, Mutex};

use mayfly_memory::sync::lock;
use mayfly_offload::{Figures, Job, Receiver, Rows, check_tables, job::carried};
use mayfly_storage::table::{Table, TableScan, TableStatistics};
use mayfly_storage::{BatchStream, ScanRequest, StreamScan};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Diagnostics, Error, Interrupt, PhysicalType, Result};

use super::SecondaryEngine;
use super::copies::LoadedCopy;

/// Number of times that a job is started at most.
const ATTEMPTS: u32 = 2;

/// A job whose rows are read as a table.
pub(crate) struct JobTable {
    engine: Arc<dyn SecondaryEngine>,
    job: Arc<Job>,
    columns: Vec<PhysicalType>,
    rows: u64,
    /// The copies that the job reads: the engine keeps their parts as long as these are here.
    _copies: Vec<Arc<LoadedCopy>>,
    interrupt: Interrupt,
    diagnostics: Arc<Diagnostics>,
    /// Figures of the job's runs, once it has ended.
    figures: Arc<Mutex<Vec<Figures>>>,
}

impl fmt::Debug for JobTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobTable")
            .field("engine", &self.engine)
            .finish_non_exhaustive()
    }
}

impl JobTable {
    /// The rows of a job.
    pub(crate) fn new(
        engine: Arc<dyn SecondaryEngine>,
        job: Job,
        copies: Vec<Arc<LoadedCopy>>,
        interrupt: Interrupt,
        diagnostics: Arc<Diagnostics>,
    ) -> Self {
        let last = job.fragments.len().saturating_sub(1);
        let columns = job.output(last).iter().map(carried).collect();
        // A saturating cast: an estimate.
        let rows = job.fragments[last].plan.estimated_rows as u64;
        Self {
            engine,
            job: Arc::new(job),
            columns,
            rows,
            _copies: copies,
            interrupt,
            diagnostics,
            figures: Arc::default(),
        }
    }

    /// What each stage of the job has done, as texts, once it has ended.
    pub(crate) fn stages(&self) -> Vec<String> {
        let figures = lock(&self.figures);
        let stages = (0..self.job.fragments.len()).map(|number| {
            let own: Vec<&Figures> = figures.iter().filter(|own| own.fragment == number).collect();
            let sum = |of: fn(&Figures) -> u64| own.iter().map(|own| of(own)).sum::<u64>();
            let slowest = own.iter().map(|own| own.microseconds).max().unwrap_or(0);
            format!(
                "Stage {number}, {} runs: {} rows in, {} rows out, {} bytes sent, {} bytes spilled, \
                 memory {} bytes, slowest run {:.1} ms",
                own.len(),
                sum(|own| own.rows_in.iter().sum()),
                sum(|own| own.rows_out),
                sum(|own| own.bytes_out),
                sum(|own| own.spilled_bytes),
                own.iter().map(|own| own.memory_peak).max().unwrap_or(0),
                slowest as f64 / 1000.0,
            )
        });
        stages.collect()
    }
}

impl Table for JobTable {
    fn columns(&self) -> &[PhysicalType] {
        &self.columns
    }

    fn statistics(&self) -> TableStatistics {
        TableStatistics {
            rows: self.rows,
            ..TableStatistics::default()
        }
    }

    fn scan(&self, request: &ScanRequest<'_>) -> Result<Box<dyn TableScan>> {
        let mut run = JobRun {
            engine: Arc::clone(&self.engine),
            job: Arc::clone(&self.job),
            interrupt: self.interrupt.clone(),
            diagnostics: Arc::clone(&self.diagnostics),
            figures: Arc::clone(&self.figures),
            rows: None,
            attempts: 0,
            has_given: false,
        };
        run.start()?;
        let run = Arc::new(Mutex::new(run));
        Ok(Box::new(StreamScan::new(run, request.columns)))
    }
}

/// A job that is running.
struct JobRun {
    engine: Arc<dyn SecondaryEngine>,
    job: Arc<Job>,
    interrupt: Interrupt,
    diagnostics: Arc<Diagnostics>,
    figures: Arc<Mutex<Vec<Figures>>>,
    /// `None` after the last row.
    rows: Option<Receiver<Box<dyn Rows>>>,
    attempts: u32,
    has_given: bool,
}

impl JobRun {
    fn start(&mut self) -> Result<()> {
        loop {
            self.attempts += 1;
            match self.engine.run(&self.job, &self.interrupt) {
                Ok(rows) => {
                    let last = self.job.fragments.len() - 1;
                    let runs = self.job.runs(last, self.engine.partitions());
                    self.rows = Some(Receiver::new(rows, last, runs));
                    return Ok(());
                }
                Err(error) if self.may_retry(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether the engine has failed, and the job may start again.
    fn may_retry(&self, error: &Error) -> bool {
        error.is(&codes::ER_SECONDARY_ENGINE) && !self.has_given && self.attempts < ATTEMPTS
    }

    fn end(&mut self) -> Result<()> {
        if let Some(rows) = self.rows.take() {
            let (count, conditions) = rows.conditions();
            self.diagnostics.receive(count, conditions);
            check_tables(&self.job, self.engine.partitions(), rows.figures())?;
            *lock(&self.figures) = rows.figures().to_vec();
        }
        Ok(())
    }
}

impl BatchStream for JobRun {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        loop {
            self.interrupt.check()?;
            let Some(rows) = &mut self.rows else {
                return Ok(None);
            };
            match rows.next_batch() {
                Ok(Some(batch)) if batch.is_empty() => {}
                Ok(Some(batch)) => {
                    self.has_given = true;
                    return Ok(Some(batch));
                }
                Ok(None) => return self.end().map(|()| None),
                Err(error) if self.may_retry(&error) => self.start()?,
                Err(error) => return Err(error),
            }
        }
    }
}
