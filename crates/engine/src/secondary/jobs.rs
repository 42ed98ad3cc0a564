//! The rows of a job of the secondary engine, as a table of the statement's plan.
//!
//! The job starts when the table is scanned. Its rows are checked for completeness at both ends of each exchange
//! ([`mayfly_offload::exchange`]). Where the engine fails before any row was given, the job is tried once more: it only
//! reads. Warnings of the job's fragments become those of the statement when its last row has come.

use std::fmt;
use std::sync::{Arc, Mutex};

use mayfly_offload::{Job, JobObserver, Receiver, Rows, check_tables, job::carried};
use mayfly_storage::table::{Table, TableScan, TableStatistics};
use mayfly_storage::temptable::TempTableContext;
use mayfly_storage::{BatchStream, ScanRequest, StreamScan};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Diagnostics, Error, PhysicalType, Result};

use super::SecondaryEngine;
use super::copies::LoadedCopy;
use super::exchanges::Exchanges;

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
    context: TempTableContext,
    diagnostics: Arc<Diagnostics>,
    exchanges: Arc<Exchanges>,
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
        context: TempTableContext,
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
            context,
            diagnostics,
            exchanges: Arc::default(),
        }
    }

    /// What each stage of the job has done, as texts, once it has ended.
    pub(crate) fn stages(&self) -> Vec<String> {
        self.exchanges.stages(self.job.fragments.len())
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
            context: self.context.clone(),
            diagnostics: Arc::clone(&self.diagnostics),
            exchanges: Arc::clone(&self.exchanges),
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
    context: TempTableContext,
    diagnostics: Arc<Diagnostics>,
    exchanges: Arc<Exchanges>,
    /// `None` after the last row.
    rows: Option<Receiver<Box<dyn Rows>>>,
    attempts: u32,
    has_given: bool,
}

impl JobRun {
    fn start(&mut self) -> Result<()> {
        loop {
            self.attempts += 1;
            let partitions = self.engine.partitions();
            let name = self.engine.name();
            self.exchanges
                .start(&self.job, name, partitions, &self.context);
            let observer = Arc::clone(&self.exchanges) as Arc<dyn JobObserver>;
            let interrupt = self.context.interrupt();
            match self.engine.run(&self.job, interrupt, &observer) {
                Ok(rows) => {
                    let last = self.job.fragments.len() - 1;
                    let runs = self.job.runs(last, partitions);
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
            for figures in rows.figures() {
                self.exchanges.observe(figures.clone());
            }
            self.exchanges.end();
        }
        Ok(())
    }
}

impl Drop for JobRun {
    fn drop(&mut self) {
        self.exchanges.end();
    }
}

impl BatchStream for JobRun {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        loop {
            self.context.interrupt().check()?;
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
