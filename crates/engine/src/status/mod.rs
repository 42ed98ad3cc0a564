//! Status variables, for SHOW STATUS.
//!
//! Session counters are listed in [`COUNTERS`], one line each; the global value is the sum over all sessions, open
//! and ended. Other variables (uptime, bytes in use) are computed on demand.

pub(crate) mod commands;

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($variant:ident => $name:literal, $documentation:literal;)*) => {
        /// Session counter.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(usize)]
        pub(crate) enum Counter {
            $(#[doc = $documentation] $variant),*
        }

        /// Every counter with its name.
        pub(crate) const COUNTERS: &[(Counter, &str)] = &[$((Counter::$variant, $name)),*];
    };
}

counters! {
    BytesReceived => "Bytes_received", "Bytes that clients sent.";
    BytesSent => "Bytes_sent", "Bytes that clients got.";
    ComAlterTable => "Com_alter_table", "ALTER TABLE.";
    ComAlterDb => "Com_alter_db", "ALTER DATABASE.";
    ComAnalyze => "Com_analyze", "ANALYZE TABLE.";
    ComAssignToKeycache => "Com_assign_to_keycache", "CACHE INDEX.";
    ComBegin => "Com_begin", "BEGIN and START TRANSACTION.";
    ComChangeDb => "Com_change_db", "USE.";
    ComCheck => "Com_check", "CHECK TABLE.";
    ComChecksum => "Com_checksum", "CHECKSUM TABLE.";
    ComCommit => "Com_commit", "COMMIT.";
    ComCreateDb => "Com_create_db", "CREATE DATABASE.";
    ComCreateIndex => "Com_create_index", "CREATE INDEX.";
    ComCreateTable => "Com_create_table", "CREATE TABLE.";
    ComCreateView => "Com_create_view", "CREATE VIEW and ALTER VIEW.";
    ComDelete => "Com_delete", "DELETE.";
    ComDeleteMulti => "Com_delete_multi", "DELETE from several tables.";
    ComDo => "Com_do", "DO.";
    ComDropDb => "Com_drop_db", "DROP DATABASE.";
    ComDropIndex => "Com_drop_index", "DROP INDEX.";
    ComDropTable => "Com_drop_table", "DROP TABLE.";
    ComDropView => "Com_drop_view", "DROP VIEW.";
    ComDropProcedure => "Com_drop_procedure", "DROP PROCEDURE.";
    ComDropFunction => "Com_drop_function", "DROP FUNCTION.";
    ComDropTrigger => "Com_drop_trigger", "DROP TRIGGER.";
    ComDropEvent => "Com_drop_event", "DROP EVENT.";
    ComFlush => "Com_flush", "FLUSH.";
    ComHelp => "Com_help", "HELP.";
    ComInsert => "Com_insert", "INSERT … VALUES.";
    ComInsertSelect => "Com_insert_select", "INSERT … SELECT.";
    ComKill => "Com_kill", "KILL.";
    ComLockTables => "Com_lock_tables", "LOCK TABLES.";
    ComOptimize => "Com_optimize", "OPTIMIZE TABLE.";
    ComReleaseSavepoint => "Com_release_savepoint", "RELEASE SAVEPOINT.";
    ComPreloadKeys => "Com_preload_keys", "LOAD INDEX INTO CACHE.";
    ComRepair => "Com_repair", "REPAIR TABLE.";
    ComRollbackToSavepoint => "Com_rollback_to_savepoint", "ROLLBACK TO SAVEPOINT.";
    ComSavepoint => "Com_savepoint", "SAVEPOINT.";
    ComUnlockTables => "Com_unlock_tables", "UNLOCK TABLES.";
    ComLoad => "Com_load", "LOAD DATA.";
    ComRenameTable => "Com_rename_table", "RENAME TABLE.";
    ComReplace => "Com_replace", "REPLACE.";
    ComReplaceSelect => "Com_replace_select", "REPLACE … SELECT.";
    ComReset => "Com_reset", "RESET PERSIST.";
    ComRollback => "Com_rollback", "ROLLBACK.";
    ComPrepareSql => "Com_prepare_sql", "PREPARE.";
    ComExecuteSql => "Com_execute_sql", "EXECUTE.";
    ComDeallocSql => "Com_dealloc_sql", "DEALLOCATE PREPARE.";
    ComStmtPrepare => "Com_stmt_prepare", "Statements that were prepared, by clients or by PREPARE.";
    ComStmtExecute => "Com_stmt_execute", "Prepared statements that ran.";
    ComStmtClose => "Com_stmt_close", "Prepared statements that were closed.";
    ComStmtReset => "Com_stmt_reset", "Prepared statements that were reset.";
    ComStmtFetch => "Com_stmt_fetch", "Requests for rows of a cursor.";
    ComStmtSendLongData => "Com_stmt_send_long_data", "Pieces of long parameters.";
    ComStmtReprepare => "Com_stmt_reprepare", "Prepared statements whose plan was made anew.";
    StatementCacheHits => "Statement_cache_hits", "Statements whose text was known, with a plan.";
    StatementCacheParameterized => "Statement_cache_parameterized", "Statements that ran by the plan of others, from which they differ in literals alone.";
    StatementCacheMisses => "Statement_cache_misses", "Statements whose text was not known, in either way.";
    ComSelect => "Com_select", "SELECT.";
    ComSetOption => "Com_set_option", "SET.";
    ComAdminCommands => "Com_admin_commands", "What clients asked for that is no statement, such as pings.";
    ComAlterUser => "Com_alter_user", "ALTER USER.";
    ComAlterUserDefaultRole => "Com_alter_user_default_role", "SET DEFAULT ROLE and ALTER USER … DEFAULT ROLE.";
    ComCreateRole => "Com_create_role", "CREATE ROLE.";
    ComCreateUser => "Com_create_user", "CREATE USER.";
    ComDropRole => "Com_drop_role", "DROP ROLE.";
    ComDropUser => "Com_drop_user", "DROP USER.";
    ComEmptyQuery => "Com_empty_query", "Statements without a word.";
    ComExplainOther => "Com_explain_other", "EXPLAIN FOR CONNECTION.";
    ComGrant => "Com_grant", "GRANT.";
    ComGrantRoles => "Com_grant_roles", "GRANT of roles.";
    ComRenameUser => "Com_rename_user", "RENAME USER.";
    ComRevoke => "Com_revoke", "REVOKE.";
    ComRevokeAll => "Com_revoke_all", "REVOKE ALL.";
    ComRevokeRoles => "Com_revoke_roles", "REVOKE of roles.";
    ComSetPassword => "Com_set_password", "SET PASSWORD.";
    ComSetRole => "Com_set_role", "SET ROLE.";
    ComShowBinaryLogStatus => "Com_show_binary_log_status", "SHOW BINARY LOG STATUS.";
    ComShowBinlogEvents => "Com_show_binlog_events", "SHOW BINLOG EVENTS.";
    ComShowBinlogs => "Com_show_binlogs", "SHOW BINARY LOGS.";
    ComShowCharsets => "Com_show_charsets", "SHOW CHARACTER SET.";
    ComShowCollations => "Com_show_collations", "SHOW COLLATION.";
    ComShowCreateDb => "Com_show_create_db", "SHOW CREATE DATABASE.";
    ComShowCreateEvent => "Com_show_create_event", "SHOW CREATE EVENT.";
    ComShowCreateFunc => "Com_show_create_func", "SHOW CREATE FUNCTION.";
    ComShowCreateProc => "Com_show_create_proc", "SHOW CREATE PROCEDURE.";
    ComShowCreateTable => "Com_show_create_table", "SHOW CREATE TABLE and SHOW CREATE VIEW.";
    ComShowCreateTrigger => "Com_show_create_trigger", "SHOW CREATE TRIGGER.";
    ComShowCreateUser => "Com_show_create_user", "SHOW CREATE USER.";
    ComShowDatabases => "Com_show_databases", "SHOW DATABASES.";
    ComShowEngineLogs => "Com_show_engine_logs", "SHOW ENGINE … LOGS.";
    ComShowEngineMutex => "Com_show_engine_mutex", "SHOW ENGINE … MUTEX.";
    ComShowEngineStatus => "Com_show_engine_status", "SHOW ENGINE … STATUS.";
    ComShowErrors => "Com_show_errors", "SHOW ERRORS.";
    ComShowEvents => "Com_show_events", "SHOW EVENTS.";
    ComShowFields => "Com_show_fields", "SHOW COLUMNS and DESCRIBE.";
    ComShowFunctionCode => "Com_show_function_code", "SHOW FUNCTION CODE.";
    ComShowFunctionStatus => "Com_show_function_status", "SHOW FUNCTION STATUS.";
    ComShowGrants => "Com_show_grants", "SHOW GRANTS.";
    ComShowKeys => "Com_show_keys", "SHOW INDEX.";
    ComShowOpenTables => "Com_show_open_tables", "SHOW OPEN TABLES.";
    ComShowPlugins => "Com_show_plugins", "SHOW PLUGINS.";
    ComShowPrivileges => "Com_show_privileges", "SHOW PRIVILEGES.";
    ComShowProcedureCode => "Com_show_procedure_code", "SHOW PROCEDURE CODE.";
    ComShowProcedureStatus => "Com_show_procedure_status", "SHOW PROCEDURE STATUS.";
    ComShowProcesslist => "Com_show_processlist", "SHOW PROCESSLIST.";
    ComShowProfile => "Com_show_profile", "SHOW PROFILE.";
    ComShowProfiles => "Com_show_profiles", "SHOW PROFILES.";
    ComShowRelaylogEvents => "Com_show_relaylog_events", "SHOW RELAYLOG EVENTS.";
    ComShowReplicaStatus => "Com_show_replica_status", "SHOW REPLICA STATUS.";
    ComShowReplicas => "Com_show_replicas", "SHOW REPLICAS.";
    ComShowStatus => "Com_show_status", "SHOW STATUS.";
    ComShowStorageEngines => "Com_show_storage_engines", "SHOW ENGINES.";
    ComShowTableStatus => "Com_show_table_status", "SHOW TABLE STATUS.";
    ComShowTables => "Com_show_tables", "SHOW TABLES.";
    ComShowTriggers => "Com_show_triggers", "SHOW TRIGGERS.";
    ComShowVariables => "Com_show_variables", "SHOW VARIABLES.";
    ComShowWarnings => "Com_show_warnings", "SHOW WARNINGS.";
    ComShutdown => "Com_shutdown", "SHUTDOWN.";
    ComTruncate => "Com_truncate", "TRUNCATE TABLE.";
    ComUpdate => "Com_update", "UPDATE.";
    ComUpdateMulti => "Com_update_multi", "UPDATE of several tables.";
    CountHitTmpTableSize => "Count_hit_tmp_table_size", "Internal temporary tables that overflowed at tmp_table_size.";
    CreatedTmpDiskTables => "Created_tmp_disk_tables", "Internal temporary tables that overflowed to disk.";
    CreatedTmpTables => "Created_tmp_tables", "Internal temporary tables, in memory or on disk.";
    HandlerCommit => "Handler_commit", "Transactions that were committed.";
    HandlerDelete => "Handler_delete", "Rows deleted.";
    HandlerExternalLock => "Handler_external_lock", "Tables opened by statements.";
    HandlerReadFirst => "Handler_read_first", "Scans begun at the first row of an index.";
    HandlerReadKey => "Handler_read_key", "Lookups by key.";
    HandlerReadLast => "Handler_read_last", "Scans begun at the last row of an index.";
    HandlerReadNext => "Handler_read_next", "Rows read in the order of a key.";
    HandlerReadPrev => "Handler_read_prev", "Rows read against the order of a key.";
    HandlerReadRnd => "Handler_read_rnd", "Rows read by position.";
    HandlerReadRndNext => "Handler_read_rnd_next", "Rows read by scans.";
    HandlerRollback => "Handler_rollback", "Transactions that were rolled back.";
    HandlerTmpWrite => "Handler_tmp_write", "Rows written to internal temporary tables, as MariaDB counts them.";
    HandlerUpdate => "Handler_update", "Rows changed.";
    HandlerWrite => "Handler_write", "Rows written, those of internal temporary tables too.";
    Questions => "Questions", "Statements that clients sent.";
    Queries => "Queries", "Statements that ran.";
    RowsTmpRead => "Rows_tmp_read", "Rows read from internal temporary tables, as MariaDB counts them.";
    SecondaryEngineExecutionCount => "Secondary_engine_execution_count", "Statements that ran in the secondary engine.";
    SelectFullJoin => "Select_full_join", "Joins without an index.";
    SelectFullRangeJoin => "Select_full_range_join", "Joins that read ranges of a later table.";
    SelectRange => "Select_range", "Statements that read ranges of their first table.";
    SelectScan => "Select_scan", "Statements that scan their first table.";
    SlowQueries => "Slow_queries", "Statements longer than long_query_time.";
    SortMergePasses => "Sort_merge_passes", "Merges of sorted runs.";
    SortPriorityQueueSorts => "Sort_priority_queue_sorts", "Sorts that keep no more rows than LIMIT asks for, as MariaDB counts them.";
    SortRange => "Sort_range", "Sorts over ranges.";
    SortRows => "Sort_rows", "Rows that were sorted.";
    SortScan => "Sort_scan", "Sorts over scans.";
    TempTableCountHitMaxRam => "TempTable_count_hit_max_ram", "Internal temporary tables that overflowed at temptable_max_ram.";
    TmpBytesOverflowed => "Tmp_bytes_overflowed", "Bytes that internal temporary tables wrote to disk.";
}

const COUNT: usize = COUNTERS.len();

/// Counters of a session or of the engine. One thread at a time adds to a set.
#[derive(Debug)]
pub(crate) struct Counters([AtomicU64; COUNT]);

impl Counters {
    /// All zero.
    pub(crate) fn new() -> Self {
        Self([const { AtomicU64::new(0) }; COUNT])
    }

    /// Adds to a counter.
    #[inline]
    pub(crate) fn add(&self, counter: Counter, amount: u64) {
        if amount > 0 {
            // One thread adds, so load and store may be separate.
            let counter = &self.0[counter as usize];
            let sum = counter.load(Ordering::Relaxed).wrapping_add(amount);
            counter.store(sum, Ordering::Relaxed);
        }
    }

    /// A counter's value.
    pub(crate) fn get(&self, counter: Counter) -> u64 {
        self.0[counter as usize].load(Ordering::Relaxed)
    }

    /// Moves all counts into another set.
    pub(crate) fn move_into(&self, other: &Self) {
        for (from, to) in self.0.iter().zip(&other.0) {
            to.fetch_add(from.swap(0, Ordering::Relaxed), Ordering::Relaxed);
        }
    }
}
