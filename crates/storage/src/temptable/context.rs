//! What a statement's temporary tables share: where memory and temporary space come from, whose
//! they are, and how they shall behave.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mayfly_memory::io::SystemIo;
use mayfly_memory::sync::lock;
use mayfly_memory::{
    BlockPool, Budget, BudgetKind, MemoryError, PoolOptions, Reservation, StableRanges, TempSpace,
    TempSpaceOptions,
};
use mayfly_types::{Error, Interrupt, Result, Stage};

use super::queue::{MemoryQueue, QueuePlace, QueueShare};
use super::record::{LimitHit, StatementOwner};
use super::registry::{Registry, StatementCounters};
use crate::error::{ANONYMOUS_TABLE, user_error};
use crate::workers::WorkerPool;

/// How long, and how often, a holder of memory that is busy is waited for before memory is refused.
const BUSY_POLL_INTERVAL: Duration = Duration::from_millis(1);
const BUSY_POLLS: u32 = 100;

/// What all statements of a database share. Cloning gives another handle.
#[derive(Debug, Clone)]
pub struct Resources {
    /// Blocks of memory.
    pub pool: BlockPool,
    /// Memory that a table may point into instead of copying.
    pub stable: StableRanges,
    /// Temporary files.
    pub temp_space: TempSpace,
    /// The living tables.
    pub registry: Registry,
    /// Statements that wait for memory rather than go to disk.
    pub queue: MemoryQueue,
    /// Threads that help statements.
    pub workers: WorkerPool,
}

impl Resources {
    /// Asks whatever is at rest to make room for a working set of `budget`: for `bytes` within what
    /// merely grows, or else within the limits. Whether it helped is seen when they are reserved.
    pub fn make_room(&self, bytes: u64, budget: &Budget) {
        let above = budget.parent();
        let Some(refusing) = above.and_then(|above| above.refusing(bytes)) else {
            return;
        };
        let holders = &self.registry.holders;
        holders.reclaim(bytes.max(refusing.limit() / 16), refusing);
        // Other statements take what is released, so that it may take several attempts; and a holder may
        // be busy with reading a block.
        let mut patience = BUSY_POLLS;
        while let Some(refusing) = budget.refusing_forced(bytes) {
            if holders.reclaim(bytes, refusing) > 0 {
                continue;
            }
            if patience == 0 {
                break;
            }
            patience -= 1;
            std::thread::sleep(BUSY_POLL_INTERVAL);
        }
    }

    /// Makes a reservation hold exactly `bytes` of a working set; an error names `table`.
    pub fn resize_working_set(
        &self,
        held: &mut Reservation,
        bytes: u64,
        table: &str,
    ) -> Result<()> {
        if bytes <= held.bytes() {
            held.shrink(held.bytes() - bytes);
            return Ok(());
        }
        let more = bytes - held.bytes();
        self.make_room(more, held.budget());
        let grown = held.grow_forced(more);
        grown.map_err(|error| user_error(&error.into(), table))
    }

    /// Resources with generous limits and files under `tmpdir`; the database makes its own.
    pub fn with_defaults(tmpdir: std::path::PathBuf, threads: usize) -> Self {
        let options = TempSpaceOptions::new(tmpdir, threads, 512 << 20);
        Self {
            pool: BlockPool::new(PoolOptions::keeping(512 << 20)),
            stable: StableRanges::new(),
            temp_space: TempSpace::new(Arc::new(SystemIo), options),
            registry: Registry::new(),
            queue: MemoryQueue::default(),
            workers: WorkerPool::new(threads),
        }
    }
}

/// What becomes of a statement whose temporary tables outgrow their memory: `tmp_overflow_policy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OverflowPolicy {
    /// They go to disk.
    #[default]
    Disk,
    /// It waits for its turn before it makes the first one, and goes to disk if its share does not do.
    Queue(QueueShare),
    /// It ends with an error that names the limit.
    Error,
}

/// The hash function of the key columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HashFunction {
    /// A good one.
    #[default]
    Standard,
    /// One that gives every row the same hash: a test that results do not depend on luck.
    Colliding,
    /// One that gives 64 hashes only: the same for tables of very many keys.
    Crowded,
}

/// How temporary tables behave. Read once a statement from the system variables.
#[derive(Debug, Clone)]
pub struct TempTableOptions {
    /// Bytes of memory that one table may hold before it overflows; with `u64::MAX`, as much as it leaves free
    /// ([`Budget::sharing_child`]).
    pub tmp_table_size: u64,
    /// How many threads may write to a table at once.
    pub threads: usize,
    /// Rows in the batches that tables give out.
    pub batch_rows: usize,
    /// The hash function.
    pub hash: HashFunction,
    /// Overflow every table as soon as it can: a test that results do not depend on memory.
    pub force_overflow: bool,
    /// Every table of MySQL's kind is on disk, however small it is: `big_tables`.
    pub on_disk: bool,
    /// What becomes of a statement whose tables outgrow their memory.
    pub policy: OverflowPolicy,
    /// Bytes of temporary files that one table may have; `u64::MAX` for no limit: `tmp_disk_table_size`.
    pub tmp_disk_table_size: u64,
}

impl Default for TempTableOptions {
    fn default() -> Self {
        Self {
            tmp_table_size: u64::MAX,
            threads: 1,
            batch_rows: 8192,
            hash: HashFunction::Standard,
            force_overflow: false,
            on_disk: false,
            policy: OverflowPolicy::Disk,
            tmp_disk_table_size: u64::MAX,
        }
    }
}

/// What a statement hands to each table it creates. Cloning gives another handle.
#[derive(Debug, Clone)]
pub struct TempTableContext(Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) resources: Resources,
    pub(crate) memory: Budget,
    pub(crate) temp_space: Budget,
    pub(crate) owner: StatementOwner,
    pub(crate) options: TempTableOptions,
    pub(crate) interrupt: Interrupt,
    pub(crate) counters: Arc<StatementCounters>,
    /// The statement's place among those that queue, once it has made a table.
    place: Mutex<Option<QueuePlace>>,
}

impl TempTableContext {
    /// A statement's context. `memory` and `temp_space` are the statement's nodes in the two trees
    /// of budgets; each table hangs a node of its own, limited by
    /// [`TempTableOptions::tmp_table_size`], below `memory`. `interrupt` is asked at every block of a
    /// temporary file.
    pub fn new(
        resources: Resources,
        memory: Budget,
        temp_space: Budget,
        owner: StatementOwner,
        options: TempTableOptions,
        interrupt: Interrupt,
    ) -> Self {
        let counters = Arc::new(StatementCounters::default());
        Self(Arc::new(Shared {
            resources,
            memory,
            temp_space,
            owner,
            options,
            interrupt,
            counters,
            place: Mutex::default(),
        }))
    }

    /// The statement makes a temporary table: where statements queue, it waits for its turn first.
    pub(crate) fn enter_queue(&self) -> Result<()> {
        let OverflowPolicy::Queue(share) = self.0.options.policy else {
            return Ok(());
        };
        let mut place = lock(&self.0.place);
        if place.is_none() {
            let queue = &self.0.resources.queue;
            *place = Some(queue.enter(share, &self.0.interrupt)?);
        }
        Ok(())
    }

    /// A context without limits, for tests.
    pub fn for_tests() -> Self {
        Self::new(
            Resources::with_defaults(std::env::temp_dir(), 2),
            Budget::unlimited(BudgetKind::Memory),
            Budget::unlimited(BudgetKind::TempSpace),
            StatementOwner::default(),
            TempTableOptions::default(),
            Interrupt::default(),
        )
    }

    /// What this statement's tables have done so far.
    pub fn counters(&self) -> &StatementCounters {
        &self.0.counters
    }

    /// The statement's memory budget.
    pub fn memory(&self) -> &Budget {
        &self.0.memory
    }

    /// The budget of one table's memory.
    pub(crate) fn memory_of_table(&self, limit: u64) -> Budget {
        self.0.memory.sharing_child("tmp_table_size", limit)
    }

    /// Bytes of memory that a table made now could have.
    pub fn room_of_table(&self) -> u64 {
        let limit = self.0.options.tmp_table_size;
        self.memory_of_table(limit).available()
    }

    /// The statement's budget of temporary space.
    pub fn temp_space(&self) -> &Budget {
        &self.0.temp_space
    }

    /// How tables behave.
    pub fn options(&self) -> &TempTableOptions {
        &self.0.options
    }

    /// What the database shares.
    pub fn resources(&self) -> &Resources {
        &self.0.resources
    }

    /// Makes a reservation of the statement's memory hold exactly `bytes` of a working set.
    pub fn resize_working_set(&self, held: &mut Reservation, bytes: u64) -> Result<()> {
        let resources = &self.0.resources;
        resources.resize_working_set(held, bytes, ANONYMOUS_TABLE)
    }

    /// Asked whether the statement is to end.
    pub fn interrupt(&self) -> &Interrupt {
        &self.0.interrupt
    }

    /// An error when the statement is to end: asked wherever temporary files are read or written, so
    /// that no pass over them is longer than a block.
    pub(crate) fn check_interrupt(&self) -> mayfly_memory::Result<()> {
        let checked = self.0.interrupt.check();
        checked.map_err(|_| MemoryError::Interrupted)
    }

    /// The error of a failure in table `table`, as a user sees it: what ends the statement says why.
    pub(crate) fn error(&self, error: &MemoryError, table: &str) -> Error {
        if matches!(error, MemoryError::Interrupted)
            && let Err(reason) = self.0.interrupt.check()
        {
            return reason;
        }
        user_error(error, table)
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0
    }

    /// A table goes to disk, at a limit.
    pub(crate) fn count_overflow(&self, limit: Option<LimitHit>) {
        let stages = self.0.interrupt.stages();
        if stages.current() == Stage::CreatingTmpTable {
            stages.enter(Stage::CopyingToTmpTableOnDisk);
        }
        self.count(|counters| &counters.created_tmp_disk_tables, 1);
        match limit.map(|limit| limit.setting) {
            Some("tmp_table_size") => self.count(|counters| &counters.hit_tmp_table_size, 1),
            Some("temptable_max_ram") => self.count(|counters| &counters.hit_max_ram, 1),
            _ => {}
        }
    }

    pub(crate) fn count(&self, counter: impl Fn(&StatementCounters) -> &AtomicU64, amount: u64) {
        StatementCounters::add(counter(&self.0.counters), amount);
    }
}
