//! Temporary tables: their memory, their disk space, their engines.

use super::definition::Kind;
use super::definition::{
    Effect, GIB, KIB, MIB, SystemVariable, TIB, U32_MAX, blocks, both, choice, global, number,
    switch, text,
};

/// The values of `tmp_table_compat`.
pub(crate) const TMP_TABLE_COMPAT_SERVERS: &[&str] = &[
    "native",
    "mysql80",
    "mysql57",
    "mysql50",
    "mariadb1011",
    "mariadb13",
];

pub(super) const VARIABLES: &[SystemVariable] = variables! {
    both("big_tables", switch(false), "Internal temporary tables go to disk from their first row on.").hintable();
    both("default_tmp_storage_engine", Kind::Engine("InnoDB"), "The engine that CREATE TEMPORARY TABLE records when the statement names none.");
    both("internal_tmp_disk_storage_engine", choice(1, &["MYISAM", "INNODB"]), "The engine that an internal temporary table of the MEMORY engine is converted to when it outgrows its memory.").hintable();
    both("internal_tmp_mem_storage_engine", choice(1, &["MEMORY", "TempTable"]), "The engine of internal temporary tables: TempTable, or the MEMORY engine with its conversion to disk, to see what statements cost there.").hintable().restricted();
    both("max_heap_table_size", blocks(16 * MIB, 16 * KIB, u64::MAX - 1023, KIB), "The largest size of a MEMORY table.").hintable();
    both("max_tmp_statement_memory_usage", number(0, 0, u64::MAX), "The most memory that the internal temporary tables of one statement may use before they overflow; 0 is no limit.").hintable();
    both("max_tmp_statement_space_usage", blocks(0, 0, u64::MAX, 64 * KIB), "The most temporary disk space that one statement may use; 0 is no limit.").hintable();
    global("max_tmp_user_memory_usage", number(0, 0, u64::MAX), "The most memory that the temporary tables of all sessions of one user may use before they overflow; 0 is no limit.").on_change(Effect::UserLimits);
    global("max_tmp_user_space_usage", blocks(0, 0, u64::MAX, 64 * KIB), "The most temporary disk space that all sessions of one user may use; 0 is no limit.").on_change(Effect::UserLimits);
    both("tmp_overflow_policy", choice(0, &["DISK", "QUEUE", "ERROR"]), "What becomes of a statement whose internal temporary tables outgrow their memory: they go to disk; statements wait for their turn, each with about the memory that it would have alone; or the statement ends with an error that names the limit.").hintable();
    both("max_tmp_session_space_usage", blocks(TIB, 0, u64::MAX, 64 * KIB), "The most temporary disk space that one session may use; 0 is no limit.");
    global("max_tmp_total_space_usage", blocks(TIB, 0, u64::MAX, 64 * KIB), "The most temporary disk space that all sessions together may use; 0 is no limit.").on_change(Effect::TemporarySpace);
    both("set_operations_buffer_size", blocks(256 * KIB, 16 * KIB, u64::MAX - 1023, KIB), "Accepted for compatibility: INTERSECT and EXCEPT use a temporary table like any other.").without_effect().hintable();
    global("temptable_max_mmap", number(0, 0, u64::MAX), "Accepted for compatibility: temporary tables overflow to files, never to mapped memory.").without_effect();
    global("temptable_max_ram", number(GIB, 2 * MIB, u64::MAX), "The most memory that all internal temporary tables together may use before they overflow to disk.").on_change(Effect::TemporaryTableMemory);
    both("session_keep_temp_tables", switch(false), "Whether temporary tables outlive a reset of the connection (COM_RESET_CONNECTION), as connection pools make one.");
    both("temp_ddl_transactional", switch(false), "Whether CREATE, DROP, ALTER, RENAME and TRUNCATE of temporary tables are undone by a rollback of their transaction, or to a savepoint before them.");
    both("temporary_table_reuse", choice(0, &["MAYFLY", "MYSQL"]), "Whether a statement may name a TEMPORARY table several times: MYSQL gives error 1137, as MySQL does.");
    global("temptable_use_mmap", switch(false), "Accepted for compatibility: temporary tables overflow to files, never to mapped memory.").without_effect();
    both("tmp_debug", text(""), "Faults of the session's temporary files, to see what an application does when temporary space fails: a list of fail_after_bytes=n, fail_on_write=n, spill_after_rows=n, slow_io=milliseconds, full_disk and corrupt_block=n. The server must be started with --allow-tmp-debug.").restricted();
    both("tmp_disk_table_size", number(u64::MAX, 1024, u64::MAX), "The most temporary disk space of one internal temporary table.").hintable();
    both("tmp_key_cache", text("default"), "The key cache of internal temporary tables in the MyISAM engine: default, or the name of one that SET GLOBAL name.key_buffer_size has made.");
    both("tmp_table_compat", choice(0, TMP_TABLE_COMPAT_SERVERS), "The server whose rules for internal temporary tables EXPLAIN, the counters and the slow log follow.");
    both("tmp_table_size", number(u64::MAX, 1024, u64::MAX), "The most memory of one internal temporary table before it overflows to disk; with the greatest value it may hold as much as it leaves free of temptable_max_ram.").hintable();
    global("encrypt_tmp_files", switch(false), "Whether temporary files are encrypted, by a key that only this process knows.").read_only();
    global("tmp_files_compression", choice(0, &["NONE", "LZ4"]), "How temporary files are compressed.").on_change(Effect::Compression);
    global("tmpdir", text("/tmp"), "Where temporary files are made: a list of directories, of which the first that has room is used.").read_only();
    global("tmpdir_capacity", text(""), "How much each directory of tmpdir may hold, a list of sizes; an empty one or 0 is no limit.").read_only();
    both("sort_buffer_size", number(256 * KIB, 32 * KIB, u64::MAX), "Accepted for compatibility: sorts use a temporary table like any other.").without_effect().hintable();
    both("join_buffer_size", blocks(256 * KIB, 128, u64::MAX - 127, 128), "Accepted for compatibility: joins use a temporary table like any other.").without_effect().hintable();
    both("read_buffer_size", blocks(128 * KIB, 8 * KIB, 2_147_479_552, 4 * KIB), "How much of a file is read at a time.").hintable();
    both("read_rnd_buffer_size", number(256 * KIB, 1, 2_147_483_647), "Accepted for compatibility.").without_effect().hintable();
    both("bulk_insert_buffer_size", number(8 * MIB, 0, u64::MAX), "Accepted for compatibility.").without_effect().hintable().restricted();
    global("key_buffer_size", blocks(8 * MIB, 0, u64::MAX - 4095, 4096), "The memory for the index blocks of internal temporary tables in the MyISAM engine.").on_change(Effect::LegacyEngines);
    global("key_cache_age_threshold", blocks(300, 100, U32_MAX, 100), "How many hits, in per cent of the blocks of a key cache, make a hot block warm again.").on_change(Effect::LegacyEngines);
    global("key_cache_block_size", blocks(1024, 512, 16_384, 512), "Bytes of a block of a key cache.").on_change(Effect::LegacyEngines);
    global("key_cache_division_limit", number(100, 1, 100), "Per cent of the blocks of a key cache that are warm.").on_change(Effect::LegacyEngines);
    both("select_into_buffer_size", blocks(128 * KIB, 8 * KIB, 2_147_479_552, 4 * KIB), "How much SELECT … INTO OUTFILE writes at a time.").hintable();
    both("max_sort_length", number(1024, 4, 8 * MIB), "Accepted for compatibility: sorts compare whole values.").without_effect().hintable();
    both("max_length_for_sort_data", number(4096, 4, 8 * MIB), "Accepted for compatibility.").without_effect().hintable();
    both("cte_max_recursion_depth", number(1000, 0, U32_MAX), "How many rounds a recursive common table expression may take.").hintable();
    both("histogram_generation_max_mem_size", number(20_000_000, 1_000_000, u64::MAX), "Accepted for compatibility.").without_effect().restricted();
    both("range_optimizer_max_mem_size", number(8 * MIB, 0, u64::MAX), "Accepted for compatibility.").without_effect().hintable();
};
