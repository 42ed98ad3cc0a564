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
pub(crate) const FUNCTIONS: &[&dyn ScalarFunction] = &[
    &any_value::AnyValue,
    &any_value::NameConst,
    &benchmark::Benchmark,
    &facts::VERSION,
    &facts::DATABASE,
    &facts::USER,
    &facts::CURRENT_USER,
    &facts::CURRENT_ROLE,
    &facts::ICU_VERSION,
    &format_bytes::FormatBytes,
    &format_pico_time::FormatPicoTime,
    &gtid::SUBSET,
    &gtid::SUBTRACT,
    &gtid::WaitForExecuted,
    &last_insert_id::LastInsertId,
    &load_file::LoadFile,
    &numbers::CONNECTION_ID,
    &numbers::ROW_COUNT,
    &numbers::FOUND_ROWS,
    &numbers::PS_CURRENT_THREAD_ID,
    &server::RolesGraph,
    &server::ThreadOfConnection,
    &sleep::Sleep,
    &statement_digest::HASH,
    &statement_digest::TEXT,
    &user_locks::GetLock,
    &user_locks::RELEASE_LOCK,
    &user_locks::IS_FREE_LOCK,
    &user_locks::IS_USED_LOCK,
    &user_locks::ReleaseAllLocks,
    &user_variable::GetUserVariable,
    &user_variable::SetUserVariable,
    &without::SOURCE_POS_WAIT,
    &without::VALIDATE_PASSWORD_STRENGTH,
];
