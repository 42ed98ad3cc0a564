//! Context of a statement's temporary tables: sources of memory and temporary space, owner, and options.

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

/// Interval, and number, of the retries before memory is refused while its holders are busy.
const BUSY_POLL_INTERVAL: Duration = Duration::from_millis(1);
const BUSY_POLLS: u32 = 100;

/// Resources shared by all statements of a database. Cloning gives another handle.
#[derive(Debug, Clone)]
pub struct Resources {
    /// Pool of memory blocks.
    pub pool: BlockPool,
    /// Memory that a table may point into instead of copying.
    pub stable: StableRanges,
    /// Temporary files.
    pub temp_space: TempSpace,
    /// Registry of living tables.
    pub registry: Registry,
    /// Queue of statements that wait for memory rather than go to disk.
    pub queue: MemoryQueue,
    /// Threads that help statements.
    pub workers: WorkerPool,
}

impl Resources {
    /// Asks idle holders to make room for a working set of `budget`: for `bytes` of soft growth, or else within the
    /// limits. Success shows when the bytes are reserved.
    pub fn make_room(&self, bytes: u64, budget: &Budget) {
        let above = budget.parent();
        let Some(refusing) = above.and_then(|above| above.refusing(bytes)) else {
            return;
        };
        let holders = &self.registry.holders;
        holders.reclaim(bytes.max(refusing.limit() / 16), refusing);
        // Other statements may take what is released, so several attempts may be needed; and a holder may be busy
        // reading a block.
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

    /// Resizes a reservation of a working set to exactly `bytes`; errors name `table`.
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

    /// Resources with generous limits and files under `tmpdir`. The database makes its own.
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

/// Reaction to temporary tables that outgrow their memory: `tmp_overflow_policy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OverflowPolicy {
    /// Tables go to disk.
    #[default]
    Disk,
    /// The statement waits for its turn before it creates its first table; tables that outgrow its share go to disk.
    Queue(QueueShare),
    /// The statement fails with an error that names the limit.
    Error,
}

/// Hash function of the key columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HashFunction {
    /// The standard function.
    #[default]
    Standard,
    /// Test function with one hash for all keys: results must not depend on the distribution of hashes.
    Colliding,
    /// Test function with 64 hashes: as [`Self::Colliding`], but for tables of very many keys.
    Crowded,
}

/// Options of temporary tables, read once a statement from the system variables.
#[derive(Debug, Clone)]
pub struct TempTableOptions {
    /// Memory in bytes that one table may hold before it overflows; `u64::MAX` means as much as is left free
    /// ([`Budget::sharing_child`]).
    pub tmp_table_size: u64,
    /// Number of threads that may write to a table at once.
    pub threads: usize,
    /// Number of rows in batches that tables return.
    pub batch_rows: usize,
    /// Hash function of keys.
    pub hash: HashFunction,
    /// Test switch: overflow every table as soon as possible, to show that results do not depend on memory.
    pub force_overflow: bool,
    /// Number of rows after which a table overflows, for tests of applications: `tmp_debug`. `None` for no such number.
    pub spill_after_rows: Option<u64>,
    /// Keep every table of MySQL's kind on disk, whatever its size: `big_tables`.
    pub on_disk: bool,
    /// Reaction to tables that outgrow their memory.
    pub policy: OverflowPolicy,
    /// Size in bytes that one table may have in temporary files; `u64::MAX` for no limit: `tmp_disk_table_size`.
    pub tmp_disk_table_size: u64,
}

impl TempTableOptions {
    /// Whether some tables are on disk from their first row on.
    pub fn starts_on_disk(&self) -> bool {
        self.on_disk || self.spill_after_rows == Some(0)
    }

    /// Whether a table overflows as soon as it can.
    pub(crate) fn forces_overflow(&self) -> bool {
        self.force_overflow || self.spill_after_rows == Some(0)
    }
}

impl Default for TempTableOptions {
    fn default() -> Self {
        Self {
            tmp_table_size: u64::MAX,
            threads: 1,
            batch_rows: 8192,
            hash: HashFunction::Standard,
            force_overflow: false,
            spill_after_rows: None,
            on_disk: false,
            policy: OverflowPolicy::Disk,
            tmp_disk_table_size: u64::MAX,
        }
    }
}

/// Context that a statement passes to each table it creates. Cloning gives another handle.
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
    /// The statement's place in the queue, once it has created a table.
    place: Mutex<Option<QueuePlace>>,
}

impl TempTableContext {
    /// A statement's context. `memory` and `temp_space` are the statement's nodes in the two trees of budgets; each
    /// table adds a node of its own, limited by [`TempTableOptions::tmp_table_size`], below `memory`. `interrupt` is
    /// checked at every block of a temporary file.
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

    /// Called before a temporary table is created: where statements queue, waits for the statement's turn.
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

    /// Counters of this statement's tables.
    pub fn counters(&self) -> &StatementCounters {
        &self.0.counters
    }

    /// The statement's memory budget.
    pub fn memory(&self) -> &Budget {
        &self.0.memory
    }

    /// A new budget for one table's memory.
    pub(crate) fn memory_of_table(&self, limit: u64) -> Budget {
        self.0.memory.sharing_child("tmp_table_size", limit)
    }

    /// Memory in bytes that a table created now could have.
    pub fn room_of_table(&self) -> u64 {
        let limit = self.0.options.tmp_table_size;
        self.memory_of_table(limit).available()
    }

    /// The statement's budget of temporary space.
    pub fn temp_space(&self) -> &Budget {
        &self.0.temp_space
    }

    /// The options of tables.
    pub fn options(&self) -> &TempTableOptions {
        &self.0.options
    }

    /// The resources that the database shares.
    pub fn resources(&self) -> &Resources {
        &self.0.resources
    }

    /// Resizes a reservation of a working set of the statement to exactly `bytes`.
    pub fn resize_working_set(&self, held: &mut Reservation, bytes: u64) -> Result<()> {
        let resources = &self.0.resources;
        resources.resize_working_set(held, bytes, ANONYMOUS_TABLE)
    }

    /// The statement's interrupt.
    pub fn interrupt(&self) -> &Interrupt {
        &self.0.interrupt
    }

    /// Returns an error when the statement is to end. Called wherever temporary files are read or written, so that no
    /// pass over them is uninterruptible for more than a block.
    pub fn check_interrupt(&self) -> mayfly_memory::Result<()> {
        let checked = self.0.interrupt.check();
        checked.map_err(|_| MemoryError::Interrupted)
    }

    /// The user error for a failure in table `table`; an interrupted statement gets the reason of the interrupt.
    pub fn error(&self, error: &MemoryError, table: &str) -> Error {
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

    /// Counts an overflow of a table, with the limit that caused it.
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
