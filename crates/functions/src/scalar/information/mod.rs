//! What a session knows of itself, user variables, and functions that act rather than compute (the
//! manual, "Information Functions" and "Miscellaneous Functions").

mod any_value;
mod benchmark;
mod facts;
mod format_bytes;
mod format_pico_time;
mod gtid;
mod last_insert_id;
mod load_file;
mod numbers;
mod server;
mod sleep;
mod statement_digest;
mod user_locks;
mod user_variable;
mod without;

use crate::scalar::ScalarFunction;

/// The functions of this family.
pub(crate) const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction::new(&["any_value"], 1..=1, &any_value::AnyValue),
    ScalarFunction::new(&["name_const"], 2..=2, &any_value::NameConst),
    ScalarFunction::new(&["benchmark"], 2..=2, &benchmark::Benchmark).volatile(),
    ScalarFunction::new(&["version"], 0..=0, &facts::VERSION).stable(),
    ScalarFunction::new(&["database", "schema"], 0..=0, &facts::DATABASE).stable(),
    ScalarFunction::new(
        &["user", "session_user", "system_user"],
        0..=0,
        &facts::USER,
    )
    .stable(),
    ScalarFunction::new(&["current_user"], 0..=0, &facts::CURRENT_USER).stable(),
    ScalarFunction::new(&["current_role"], 0..=0, &facts::CURRENT_ROLE).stable(),
    ScalarFunction::new(&["icu_version"], 0..=0, &facts::ICU_VERSION).stable(),
    ScalarFunction::new(&["format_bytes"], 1..=1, &format_bytes::FormatBytes),
    ScalarFunction::new(
        &["format_pico_time"],
        1..=1,
        &format_pico_time::FormatPicoTime,
    ),
    ScalarFunction::new(&["gtid_subset"], 2..=2, &gtid::SUBSET),
    ScalarFunction::new(&["gtid_subtract"], 2..=2, &gtid::SUBTRACT),
    ScalarFunction::new(
        &["wait_for_executed_gtid_set"],
        1..=2,
        &gtid::WaitForExecuted,
    )
    .volatile(),
    ScalarFunction::new(&["last_insert_id"], 0..=1, &last_insert_id::LastInsertId).volatile(),
    ScalarFunction::new(&["load_file"], 1..=1, &load_file::LoadFile).stable(),
    ScalarFunction::new(&["connection_id"], 0..=0, &numbers::CONNECTION_ID).stable(),
    ScalarFunction::new(&["row_count"], 0..=0, &numbers::ROW_COUNT).stable(),
    ScalarFunction::new(&["found_rows"], 0..=0, &numbers::FOUND_ROWS).stable(),
    ScalarFunction::new(
        &["ps_current_thread_id"],
        0..=0,
        &numbers::PS_CURRENT_THREAD_ID,
    )
    .stable(),
    ScalarFunction::new(&["roles_graphml"], 0..=0, &server::RolesGraph).stable(),
    ScalarFunction::new(&["ps_thread_id"], 1..=1, &server::ThreadOfConnection).stable(),
    ScalarFunction::new(&["sleep"], 1..=1, &sleep::Sleep).volatile(),
    ScalarFunction::new(&["statement_digest"], 1..=1, &statement_digest::HASH),
    ScalarFunction::new(&["statement_digest_text"], 1..=1, &statement_digest::TEXT),
    ScalarFunction::new(&["get_lock"], 2..=2, &user_locks::GetLock).volatile(),
    ScalarFunction::new(&["release_lock"], 1..=1, &user_locks::RELEASE_LOCK).volatile(),
    ScalarFunction::new(&["is_free_lock"], 1..=1, &user_locks::IS_FREE_LOCK).volatile(),
    ScalarFunction::new(&["is_used_lock"], 1..=1, &user_locks::IS_USED_LOCK).volatile(),
    ScalarFunction::new(&["release_all_locks"], 0..=0, &user_locks::ReleaseAllLocks).volatile(),
    ScalarFunction::new(
        &["get_user_variable"],
        1..=1,
        &user_variable::GetUserVariable,
    )
    .volatile(),
    ScalarFunction::new(
        &["set_user_variable"],
        2..=2,
        &user_variable::SetUserVariable,
    )
    .volatile(),
    ScalarFunction::new(
        &["source_pos_wait", "master_pos_wait"],
        2..=4,
        &without::SOURCE_POS_WAIT,
    ),
    ScalarFunction::new(
        &["validate_password_strength"],
        1..=1,
        &without::VALIDATE_PASSWORD_STRENGTH,
    ),
];
