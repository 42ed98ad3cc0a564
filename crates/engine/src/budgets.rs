//! The trees of budgets: limits of memory and of temporary files.

use std::collections::BTreeMap;

use mayfly_memory::budget::UNLIMITED;
use mayfly_memory::{Budget, BudgetKind};
use mayfly_storage::temptable::QueueShare;
use parking_lot::Mutex;

use crate::options::DatabaseOptions;
use crate::statement_options::StatementOptions;
use crate::variables::Settings;
use crate::variables::typed::{self, Variable};

/// Upper nodes of the budget trees for memory and for temporary files.
#[derive(Debug)]
pub(crate) struct Budgets {
    /// Everything in memory.
    pub(crate) memory: Budget,
    /// Everything but base tables and transactions, which keep some memory for themselves.
    pub(crate) others: Budget,
    /// Memory that sessions keep between statements: user variables, prepared statements, named locks.
    kept: Budget,
    /// Limit of kept memory per session.
    kept_by_session: u64,
    /// Base tables.
    pub(crate) base_tables: Budget,
    /// Committed changes not yet in the data file: `write_buffer_size`.
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

/// Limits per user.
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

/// Working set of a thread of a statement, independent of limits.
const WORKING_SET_OF_THREAD: u64 = 4 << 20;

/// Hint of the error at a limit of all memory, besides raising the limit.
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
        // Statements need memory beside base tables, whose chunks can be evicted to files.
        let part = |parts: u64, of: u64| match options.memory_limit {
            Some(limit) => limit / of * parts,
            None => UNLIMITED,
        };
        let base_tables = memory.part(part(1, 4), "tables and transactions", LESS_AT_ONCE);
        let others = memory.part(part(15, 16), "statements and sessions", LESS_AT_ONCE);
        // Growing objects take three quarters of it.
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

    /// Applies the variables' limits per user, also to running statements.
    pub(crate) fn set_user_limits(&self, globals: &Settings) {
        let mut users = self.users.lock();
        users.limits = UserLimits::of(globals);
        for (memory, space) in users.budgets.values() {
            memory.set_limit(users.limits.memory);
            space.set_limit(users.limits.space);
        }
    }

    /// Memory for which statements queue: half of all memory. The other half is for base tables, rows in processing
    /// and what sessions hold.
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
    /// Temporary tables, and rows that statements hold.
    pub(crate) rows: Budget,
    /// Objects of a statement other than rows.
    pub(crate) own: Budget,
    /// Objects that the session keeps between statements.
    pub(crate) kept: Budget,
    /// Temporary files.
    pub(crate) temp_space: Budget,
}

impl SessionMemory {
    /// Budgets of a user's session.
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

    /// Bytes other than rows: now, and at most.
    pub(crate) fn beside_rows(&self) -> (u64, u64) {
        let sum = |of: fn(&Budget) -> u64| of(&self.own) + of(&self.kept);
        (sum(Budget::used), sum(Budget::peak))
    }

    /// Applies the limits of the settings.
    pub(crate) fn set_limits(&self, options: &StatementOptions) {
        let space = unlimited_if_zero(options.max_tmp_session_space_usage);
        self.temp_space.set_limit(space);
        self.rows.set_limit(options.connection_memory_limit);
    }
}

/// The value of a variable, limited to a small part of all memory.
pub(crate) fn part_limit(
    options: &DatabaseOptions,
    globals: &Settings,
    variable: Variable<u64>,
) -> u64 {
    part(options, globals.get(variable))
}

/// `bytes`, limited to a small part of all memory.
pub(crate) fn part(options: &DatabaseOptions, bytes: u64) -> u64 {
    options
        .memory_limit
        .map_or(bytes, |memory| bytes.min(memory / 32))
}
