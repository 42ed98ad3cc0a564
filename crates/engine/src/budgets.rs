//! The trees of budgets: limits of memory and of temporary files.

use parking_lot::Mutex;
use std::collections::BTreeMap;

use mayfly_memory::budget::UNLIMITED;
use mayfly_memory::{Budget, BudgetKind};
use mayfly_storage::temptable::QueueShare;

use crate::options::DatabaseOptions;
use crate::statement_options::StatementOptions;
use crate::variables::Settings;
use crate::variables::typed::{self, Variable};

/// The upper nodes of the two trees of budgets.
#[derive(Debug)]
pub(crate) struct Budgets {
    /// Everything in memory.
    pub(crate) memory: Budget,
    /// Everything but base tables and transactions, for which some memory is left whatever others hold.
    pub(crate) others: Budget,
    /// What sessions keep from one statement to the next: user variables, prepared statements, named locks.
    kept: Budget,
    /// What one session may keep.
    kept_by_session: u64,
    /// Base tables.
    pub(crate) base_tables: Budget,
    /// What was committed and is not in the data file yet: `write_buffer_size`.
    pub(crate) write_buffer: Budget,
    /// All temporary tables: `temptable_max_ram`.
    pub(crate) temporary_tables: Budget,
    /// Temporary files of temporary tables: `max_tmp_total_space_usage`.
    pub(crate) temp_space: Budget,
    /// Temporary files of base tables.
    pub(crate) base_space: Budget,
    users: Mutex<Users>,
}

#[derive(Debug)]
struct Users {
    limits: UserLimits,
    budgets: BTreeMap<String, (Budget, Budget)>,
}

/// What each user may have.
#[derive(Debug, Clone, Copy)]
struct UserLimits {
    memory: u64,
    space: u64,
}

impl UserLimits {
    fn of(globals: &Settings) -> Self {
        Self {
            memory: unlimited_if_zero(globals.get(typed::MAX_TMP_USER_MEMORY_USAGE)),
            space: unlimited_if_zero(globals.get(typed::MAX_TMP_USER_SPACE_USAGE)),
        }
    }
}

/// What a thread of a statement needs to work with, whatever its limits are.
const WORKING_SET_OF_THREAD: u64 = 4 << 20;

/// What to do at a share of all memory, beside raising the limit.
const LESS_AT_ONCE: &str = "or let statements and sessions hold less at one time";
/// Hint of the error at the limit of what sessions keep between statements.
const KEEP_LESS: &str = "or free user variables (SET @name = NULL), prepared statements (DEALLOCATE PREPARE) and named locks";

/// A limit of 0 is no limit.
pub(crate) fn unlimited_if_zero(setting: u64) -> u64 {
    if setting == 0 { UNLIMITED } else { setting }
}

impl Budgets {
    pub(crate) fn new(options: &DatabaseOptions, globals: &Settings) -> Self {
        let limit = options.memory_limit.unwrap_or(UNLIMITED);
        let memory = Budget::root(BudgetKind::Memory, "memory_limit", limit);
        // Statements must find memory beside base tables, whose chunks can wait in files.
        let part = |parts: u64, of: u64| match options.memory_limit {
            Some(limit) => limit / of * parts,
            None => UNLIMITED,
        };
        let base_tables = memory.part(part(1, 4), "tables and transactions", LESS_AT_ONCE);
        let others = memory.part(part(15, 16), "statements and sessions", LESS_AT_ONCE);
        // What grows takes three quarters of it.
        let kept = others.part(part(1, 3), "what sessions keep", KEEP_LESS);
        let write_buffer = memory.child("write_buffer_size", UNLIMITED);
        write_buffer.set_limit(part_limit(options, globals, typed::WRITE_BUFFER_SIZE));
        let temporary_tables =
            others.child("temptable_max_ram", globals.get(typed::TEMPTABLE_MAX_RAM));
        let total = unlimited_if_zero(globals.get(typed::MAX_TMP_TOTAL_SPACE_USAGE));
        Self {
            base_tables,
            kept,
            kept_by_session: part(1, 8),
            others,
            write_buffer,
            temporary_tables,
            memory,
            temp_space: Budget::root(BudgetKind::TempSpace, "max_tmp_total_space_usage", total),
            base_space: Budget::unlimited(BudgetKind::TempSpace),
            users: Mutex::new(Users {
                limits: UserLimits::of(globals),
                budgets: BTreeMap::new(),
            }),
        }
    }

    /// A user's nodes for memory and temporary space.
    pub(crate) fn of_user(&self, user: &str) -> (Budget, Budget) {
        let mut users = self.users.lock();
        if let Some(budgets) = users.budgets.get(user) {
            return budgets.clone();
        }
        let UserLimits { memory, space } = users.limits;
        let budgets = (
            self.temporary_tables
                .child("max_tmp_user_memory_usage", memory),
            self.temp_space.child("max_tmp_user_space_usage", space),
        );
        users.budgets.insert(user.to_owned(), budgets.clone());
        budgets
    }

    /// The limits of all users are those that the variables say: also for what runs.
    pub(crate) fn set_user_limits(&self, globals: &Settings) {
        let mut users = self.users.lock();
        users.limits = UserLimits::of(globals);
        for (memory, space) in users.budgets.values() {
            memory.set_limit(users.limits.memory);
            space.set_limit(users.limits.space);
        }
    }

    /// The memory of statements that queue for it. Of all memory a half is theirs: base tables, the rows that
    /// statements are busy with and what sessions hold are in the other one.
    pub(crate) fn queue_share(&self, tmp_table_size: u64, threads: usize) -> QueueShare {
        let half = self.memory.limit() / 2;
        let all = self.temporary_tables.limit().min(half);
        let least = WORKING_SET_OF_THREAD.saturating_mul(threads.max(1) as u64);
        QueueShare {
            all,
            one: tmp_table_size.min(all / 4).max(least),
        }
    }
}

/// The budgets of a session.
#[derive(Debug, Clone)]
pub(crate) struct SessionMemory {
    /// Temporary tables, and what statements hold of rows.
    pub(crate) rows: Budget,
    /// What a statement of the session holds beside rows.
    pub(crate) own: Budget,
    /// What the session keeps from one statement to the next.
    pub(crate) kept: Budget,
    /// Temporary files.
    pub(crate) temp_space: Budget,
}

impl SessionMemory {
    /// Those of a user's session.
    pub(crate) fn new(budgets: &Budgets, user: &str) -> Self {
        let (rows, temp_space) = budgets.of_user(user);
        Self {
            rows: rows.child("connection_memory_limit", UNLIMITED),
            own: budgets.others.child("none", UNLIMITED),
            kept: budgets
                .kept
                .part(budgets.kept_by_session, "what one session keeps", KEEP_LESS),
            temp_space: temp_space.child("max_tmp_session_space_usage", UNLIMITED),
        }
    }

    /// Bytes beside rows: now, and at most.
    pub(crate) fn beside_rows(&self) -> (u64, u64) {
        let sum = |of: fn(&Budget) -> u64| of(&self.own) + of(&self.kept);
        (sum(Budget::used), sum(Budget::peak))
    }

    /// The limits are those that the settings say.
    pub(crate) fn set_limits(&self, options: &StatementOptions) {
        let space = unlimited_if_zero(options.max_tmp_session_space_usage);
        self.temp_space.set_limit(space);
        self.rows.set_limit(options.connection_memory_limit);
    }
}

/// What a variable says of a part of all memory, and no more than a small part of it.
pub(crate) fn part_limit(
    options: &DatabaseOptions,
    globals: &Settings,
    variable: Variable<u64>,
) -> u64 {
    part(options, globals.get(variable))
}

/// So many bytes, and no more than a small part of all memory.
pub(crate) fn part(options: &DatabaseOptions, bytes: u64) -> u64 {
    options
        .memory_limit
        .map_or(bytes, |memory| bytes.min(memory / 32))
}
