//! Runs of fragments in a process of the secondary engine.
//!
//! A [`Worker`] is the process's memory, temporary space and name. A run is a plan of crate `exec` on one thread whose
//! tables are the run's inputs; it gives its rows in the envelope of their exchange.

mod fragment;
mod input;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use mayfly_exec::{
    Counters, ExecutionContext, ExecutionOptions, NothingKept, Progress, ResultMemory, TableOpener,
};
use mayfly_functions::EvaluationContext;
use mayfly_memory::io::SystemIo;
use mayfly_memory::{
    BlockPool, Budget, BudgetKind, PoolOptions, StableRanges, TempSpace, TempSpaceOptions,
};
use mayfly_plan::TableId;
use mayfly_storage::temptable::{
    MemoryQueue, Registry, Resources, StatementOwner, TempTableContext, TempTableOptions,
};
use mayfly_storage::{ColumnTerm, Table, WorkerPool};
use mayfly_types::{Diagnostics, Error, Interrupt, Result};

pub use self::fragment::FragmentRun;
use self::input::InputTable;
use crate::exchange::Rows;
use crate::job::{Job, JobSettings};

/// Resources of a process that runs fragments.
#[derive(Debug)]
pub struct Worker {
    name: String,
    resources: Resources,
    memory: Budget,
    temp_space: Budget,
}

/// Options of a [`Worker`].
#[derive(Debug, Clone)]
pub struct WorkerOptions {
    /// Name in figures and errors.
    pub name: String,
    /// Directory of temporary files. What other processes left there must be removed before.
    pub directory: PathBuf,
    /// Bytes of memory that the temporary tables of all runs may hold together.
    pub memory: u64,
    /// Bytes of temporary files of all runs together.
    pub temp_space: u64,
}

/// An input of a run.
pub enum RunInput {
    /// Rows that come by an exchange or from a table's copy.
    Rows(Box<dyn Rows>),
    /// Rows that the run reads by itself, with warnings of the run.
    Open(Box<OpenRows>),
}

/// Starts to read rows that may meet terms on the columns that are read. Warnings go to the receiver.
pub type OpenRows = dyn FnOnce(&[ColumnTerm], &Arc<Diagnostics>) -> Result<Box<dyn Rows>> + Send;

impl fmt::Debug for RunInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rows(_) => "Rows",
            Self::Open(_) => "Open",
        })
    }
}

/// Place of a run among the runs of its fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Number of the fragment.
    pub fragment: usize,
    /// Partition of the run.
    pub partition: usize,
    /// Number of partitions of the job.
    pub partitions: usize,
}

impl Worker {
    /// A worker that holds nothing yet.
    pub fn new(options: WorkerOptions) -> Self {
        let WorkerOptions {
            name,
            directory,
            memory,
            temp_space,
        } = options;
        // Freed blocks that are kept for the next table count, too.
        let kept = memory / 8;
        let space = TempSpaceOptions::new(directory, 1, memory / 2);
        let resources = Resources {
            pool: BlockPool::new(PoolOptions::keeping(kept)),
            stable: StableRanges::new(),
            temp_space: TempSpace::new(Arc::new(SystemIo), space),
            registry: Registry::new(),
            queue: MemoryQueue::default(),
            workers: WorkerPool::new(1),
        };
        Self {
            name,
            resources,
            memory: Budget::root(BudgetKind::Memory, "--memory", memory),
            temp_space: Budget::root(BudgetKind::TempSpace, "--temp-space", temp_space),
        }
    }

    /// Name in figures and errors.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes that temporary tables hold in memory and on disk.
    pub fn used(&self) -> (u64, u64) {
        (self.memory.used(), self.temp_space.used())
    }

    /// Starts a run of a fragment. `inputs` are its inputs in order: rows of tables are the columns read, other rows are
    /// in their envelopes. Nothing is read before the first call of [`Rows::next_batch`].
    ///
    /// # Errors
    /// An internal error for inputs that the fragment does not have.
    pub fn run(
        &self,
        job: &Arc<Job>,
        place: Place,
        inputs: Vec<RunInput>,
        interrupt: Interrupt,
    ) -> Result<FragmentRun> {
        let fragment = job.fragments.get(place.fragment).ok_or_else(unknown)?;
        if fragment.inputs.len() != inputs.len() {
            return Err(unknown());
        }
        let settings = &job.settings;
        let diagnostics = Diagnostics::new(settings.conditions_max);
        let diagnostics = Arc::new(if settings.notes {
            diagnostics
        } else {
            diagnostics.without_notes()
        });
        diagnostics.refuse(settings.refusal);
        let tables = fragment.inputs.iter().zip(inputs);
        let tables = tables
            .map(|(input, rows)| Arc::new(InputTable::new(job, input, rows, place, &diagnostics)));
        let tables: Vec<Arc<InputTable>> = tables.collect();
        let named = Inputs(
            fragment
                .numbers
                .iter()
                .copied()
                .zip(tables.clone())
                .collect(),
        );
        let statement = self.statement(settings, diagnostics, named, interrupt);
        FragmentRun::start(job, place, tables, statement, &self.name)
    }

    /// Context of a run as of a statement.
    fn statement(
        &self,
        settings: &JobSettings,
        diagnostics: Arc<Diagnostics>,
        tables: Inputs,
        interrupt: Interrupt,
    ) -> Arc<ExecutionContext> {
        let memory = self.memory.child("--memory", u64::MAX);
        let evaluation = EvaluationContext {
            interrupt: interrupt.clone(),
            memory: Arc::new(ResultMemory {
                resources: self.resources.clone(),
                budget: memory.clone(),
            }),
            ..EvaluationContext::new(
                Arc::new(settings.session.clone()),
                diagnostics,
                settings.now_utc_microseconds,
            )
        };
        let temp = TempTableContext::new(
            self.resources.clone(),
            memory,
            self.temp_space.child("--temp-space", u64::MAX),
            StatementOwner::default(),
            TempTableOptions::default(),
            interrupt,
        );
        Arc::new(ExecutionContext {
            evaluation: Arc::new(evaluation),
            options: ExecutionOptions::new(1),
            temp,
            tables: Arc::new(tables),
            counters: Arc::new(Counters::default()),
            progress: Arc::new(Progress::default()),
            other_engine: None,
            measures: None,
            kept: Arc::new(NothingKept),
        })
    }
}

/// The inputs of a run as tables, with their numbers.
struct Inputs(Vec<(usize, Arc<InputTable>)>);

impl TableOpener for Inputs {
    fn open(&self, id: TableId) -> Result<Arc<dyn Table>> {
        let mut tables = self.0.iter();
        let found = tables.find(|(number, _)| *number as u64 == id.0);
        let (_, table) = found.ok_or_else(unknown)?;
        Ok(Arc::clone(table) as Arc<dyn Table>)
    }
}

fn unknown() -> Error {
    Error::internal("a job refers to a fragment or an input that it has not")
}
