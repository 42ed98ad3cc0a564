//! The variables that the engine itself reads or sets: each is a constant that knows the variable's position and
//! the type of its values. One that names no variable, or one of another type, does not compile.

use std::marker::PhantomData;
use std::sync::Arc;

use super::{GROUPS, Kind, Setting};

/// A variable whose values are of a type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Variable<T> {
    position: usize,
    values: PhantomData<T>,
}

/// The type of values that are text, or NULL.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text;

/// A type of values.
pub(crate) trait ValueType {
    /// A value to set.
    type Owned;
    /// A value that is read.
    type Read<'s>;

    fn setting(value: Self::Owned) -> Setting;

    fn read(setting: &Setting) -> Self::Read<'_>;
}

macro_rules! value_type {
    ($type:ty, $owned:ty, $read:ty, $setting:ident($value:ident) => $result:expr, $($kind:pat_param)|+) => {
        impl ValueType for $type {
            type Owned = $owned;
            type Read<'s> = $read;

            fn setting(value: Self::Owned) -> Setting {
                Setting::$setting(value)
            }

            fn read(setting: &Setting) -> Self::Read<'_> {
                match setting {
                    Setting::$setting($value) => $result,
                    other => unreachable!("a variable of another type holds {other:?}"),
                }
            }
        }

        impl Variable<$type> {
            const fn named(name: &str) -> Self {
                let (position, kind) = find(name);
                assert!(matches!(kind, $($kind)|+), "the variable is of another type");
                Self {
                    position,
                    values: PhantomData,
                }
            }
        }
    };
}

value_type!(bool, bool, bool, Boolean(on) => *on, Kind::Boolean(_));
// Numbers, choices by their position, and sets of words and switches as bits.
value_type!(
    u64, u64, u64, Unsigned(number) => *number,
    Kind::Unsigned { .. } | Kind::Choice { .. } | Kind::Flags { .. } | Kind::Switches { .. }
);
value_type!(f64, f64, f64, Double(number) => *number, Kind::Double { .. });
value_type!(
    Text, Option<Arc<str>>, Option<&'s Arc<str>>, Text(text) => text.as_ref(),
    Kind::Text(_)
        | Kind::CharacterSet { .. }
        | Kind::Collation(_)
        | Kind::TimeZone
        | Kind::Engine(_)
        | Kind::Locale(_)
);

impl<T: ValueType> Variable<T> {
    /// Its position in [`super::all`] and [`super::Settings`].
    pub(crate) const fn position(&self) -> usize {
        self.position
    }

    /// A value of it with its position, for [`super::Settings::set`].
    pub(crate) fn setting(&self, value: T::Owned) -> (usize, Setting) {
        (self.position, T::setting(value))
    }
}

/// Where a variable stands among all, which are sorted by name, and what values it takes.
const fn find(name: &str) -> (usize, Kind) {
    let mut position = 0;
    let mut found = None;
    let mut group = 0;
    while group < GROUPS.len() {
        let mut index = 0;
        while index < GROUPS[group].len() {
            let variable = &GROUPS[group][index];
            match compare(variable.name.as_bytes(), name.as_bytes()) {
                -1 => position += 1,
                0 => found = Some(variable.kind),
                _ => {}
            }
            index += 1;
        }
        group += 1;
    }
    match found {
        Some(kind) => (position, kind),
        None => panic!("no variable has this name"),
    }
}

const fn compare(left: &[u8], right: &[u8]) -> i8 {
    let mut at = 0;
    while at < left.len() && at < right.len() {
        if left[at] != right[at] {
            return if left[at] < right[at] { -1 } else { 1 };
        }
        at += 1;
    }
    if left.len() == right.len() {
        0
    } else if left.len() < right.len() {
        -1
    } else {
        1
    }
}

pub(crate) const ACTIVATE_ALL_ROLES_ON_LOGIN: Variable<bool> =
    Variable::<bool>::named("activate_all_roles_on_login");
pub(crate) const AUTOCOMMIT: Variable<bool> = Variable::<bool>::named("autocommit");
pub(crate) const AUTO_INCREMENT_INCREMENT: Variable<u64> =
    Variable::<u64>::named("auto_increment_increment");
pub(crate) const AUTO_INCREMENT_OFFSET: Variable<u64> =
    Variable::<u64>::named("auto_increment_offset");
pub(crate) const BIG_TABLES: Variable<bool> = Variable::<bool>::named("big_tables");
pub(crate) const BLOCK_ENCRYPTION_MODE: Variable<u64> =
    Variable::<u64>::named("block_encryption_mode");
pub(crate) const CHARACTER_SET_CLIENT: Variable<Text> =
    Variable::<Text>::named("character_set_client");
pub(crate) const CHARACTER_SET_CONNECTION: Variable<Text> =
    Variable::<Text>::named("character_set_connection");
pub(crate) const CHARACTER_SET_DATABASE: Variable<Text> =
    Variable::<Text>::named("character_set_database");
pub(crate) const CHARACTER_SET_RESULTS: Variable<Text> =
    Variable::<Text>::named("character_set_results");
pub(crate) const COLLATION_CONNECTION: Variable<Text> =
    Variable::<Text>::named("collation_connection");
pub(crate) const COLLATION_DATABASE: Variable<Text> = Variable::<Text>::named("collation_database");
pub(crate) const COLLATION_SERVER: Variable<Text> = Variable::<Text>::named("collation_server");
pub(crate) const COMPLETION_TYPE: Variable<u64> = Variable::<u64>::named("completion_type");
pub(crate) const CONNECTION_MEMORY_LIMIT: Variable<u64> =
    Variable::<u64>::named("connection_memory_limit");
pub(crate) const CONNECT_TIMEOUT: Variable<u64> = Variable::<u64>::named("connect_timeout");
pub(crate) const CTE_MAX_RECURSION_DEPTH: Variable<u64> =
    Variable::<u64>::named("cte_max_recursion_depth");
pub(crate) const DEFAULT_COLLATION_FOR_UTF8MB4: Variable<Text> =
    Variable::<Text>::named("default_collation_for_utf8mb4");
pub(crate) const DEFAULT_PASSWORD_LIFETIME: Variable<u64> =
    Variable::<u64>::named("default_password_lifetime");
pub(crate) const DEFAULT_STORAGE_ENGINE: Variable<Text> =
    Variable::<Text>::named("default_storage_engine");
pub(crate) const DEFAULT_TMP_STORAGE_ENGINE: Variable<Text> =
    Variable::<Text>::named("default_tmp_storage_engine");
pub(crate) const DEFAULT_WEEK_FORMAT: Variable<u64> = Variable::<u64>::named("default_week_format");
pub(crate) const DIV_PRECISION_INCREMENT: Variable<u64> =
    Variable::<u64>::named("div_precision_increment");
pub(crate) const EXPLAIN_FORMAT: Variable<u64> = Variable::<u64>::named("explain_format");
pub(crate) const FOREIGN_KEY_CHECKS: Variable<bool> = Variable::<bool>::named("foreign_key_checks");
pub(crate) const GROUP_CONCAT_MAX_LEN: Variable<u64> =
    Variable::<u64>::named("group_concat_max_len");
pub(crate) const INIT_CONNECT: Variable<Text> = Variable::<Text>::named("init_connect");
pub(crate) const INNODB_FLUSH_LOG_AT_TRX_COMMIT: Variable<u64> =
    Variable::<u64>::named("innodb_flush_log_at_trx_commit");
pub(crate) const INNODB_LOCK_WAIT_TIMEOUT: Variable<u64> =
    Variable::<u64>::named("innodb_lock_wait_timeout");
pub(crate) const INNODB_TEMP_DATA_FILE_PATH: Variable<Text> =
    Variable::<Text>::named("innodb_temp_data_file_path");
pub(crate) const INTERACTIVE_TIMEOUT: Variable<u64> = Variable::<u64>::named("interactive_timeout");
pub(crate) const LC_TIME_NAMES: Variable<Text> = Variable::<Text>::named("lc_time_names");
pub(crate) const LOCAL_INFILE: Variable<bool> = Variable::<bool>::named("local_infile");
pub(crate) const LOCK_WAIT_TIMEOUT: Variable<u64> = Variable::<u64>::named("lock_wait_timeout");
pub(crate) const LONG_QUERY_TIME: Variable<f64> = Variable::<f64>::named("long_query_time");
pub(crate) const MANDATORY_ROLES: Variable<Text> = Variable::<Text>::named("mandatory_roles");
pub(crate) const MAX_ALLOWED_PACKET: Variable<u64> = Variable::<u64>::named("max_allowed_packet");
pub(crate) const MAX_CONNECTIONS: Variable<u64> = Variable::<u64>::named("max_connections");
pub(crate) const MAX_ERROR_COUNT: Variable<u64> = Variable::<u64>::named("max_error_count");
pub(crate) const MAX_EXECUTION_TIME: Variable<u64> = Variable::<u64>::named("max_execution_time");
pub(crate) const MAX_HEAP_TABLE_SIZE: Variable<u64> = Variable::<u64>::named("max_heap_table_size");
pub(crate) const MAX_JOIN_SIZE: Variable<u64> = Variable::<u64>::named("max_join_size");
pub(crate) const MAX_PREPARED_STMT_COUNT: Variable<u64> =
    Variable::<u64>::named("max_prepared_stmt_count");
pub(crate) const MAX_TMP_SESSION_SPACE_USAGE: Variable<u64> =
    Variable::<u64>::named("max_tmp_session_space_usage");
pub(crate) const MAX_TMP_TOTAL_SPACE_USAGE: Variable<u64> =
    Variable::<u64>::named("max_tmp_total_space_usage");
pub(crate) const MAX_USER_CONNECTIONS: Variable<u64> =
    Variable::<u64>::named("max_user_connections");
pub(crate) const NET_BUFFER_LENGTH: Variable<u64> = Variable::<u64>::named("net_buffer_length");
pub(crate) const NET_READ_TIMEOUT: Variable<u64> = Variable::<u64>::named("net_read_timeout");
pub(crate) const NET_WRITE_TIMEOUT: Variable<u64> = Variable::<u64>::named("net_write_timeout");
pub(crate) const OFFLINE_MODE: Variable<bool> = Variable::<bool>::named("offline_mode");
pub(crate) const OPTIMIZER_SWITCH: Variable<u64> = Variable::<u64>::named("optimizer_switch");
pub(crate) const PARSER_MAX_MEM_SIZE: Variable<u64> = Variable::<u64>::named("parser_max_mem_size");
pub(crate) const PASSWORD_HISTORY: Variable<u64> = Variable::<u64>::named("password_history");
pub(crate) const PASSWORD_REQUIRE_CURRENT: Variable<bool> =
    Variable::<bool>::named("password_require_current");
pub(crate) const PASSWORD_REUSE_INTERVAL: Variable<u64> =
    Variable::<u64>::named("password_reuse_interval");
pub(crate) const PERFORMANCE_SCHEMA_SESSION_CONNECT_ATTRS_SIZE: Variable<u64> =
    Variable::<u64>::named("performance_schema_session_connect_attrs_size");
pub(crate) const PRINT_IDENTIFIED_WITH_AS_HEX: Variable<bool> =
    Variable::<bool>::named("print_identified_with_as_hex");
pub(crate) const READ_BUFFER_SIZE: Variable<u64> = Variable::<u64>::named("read_buffer_size");
pub(crate) const READ_ONLY: Variable<bool> = Variable::<bool>::named("read_only");
pub(crate) const RESTRICT_FK_ON_NON_STANDARD_KEY: Variable<bool> =
    Variable::<bool>::named("restrict_fk_on_non_standard_key");
pub(crate) const SECURE_FILE_PRIV: Variable<Text> = Variable::<Text>::named("secure_file_priv");
pub(crate) const SELECT_INTO_BUFFER_SIZE: Variable<u64> =
    Variable::<u64>::named("select_into_buffer_size");
pub(crate) const SERVER_ID: Variable<u64> = Variable::<u64>::named("server_id");
pub(crate) const SESSION_TRACK_SCHEMA: Variable<bool> =
    Variable::<bool>::named("session_track_schema");
pub(crate) const SESSION_TRACK_STATE_CHANGE: Variable<bool> =
    Variable::<bool>::named("session_track_state_change");
pub(crate) const SESSION_TRACK_SYSTEM_VARIABLES: Variable<Text> =
    Variable::<Text>::named("session_track_system_variables");
pub(crate) const SESSION_TRACK_TRANSACTION_INFO: Variable<u64> =
    Variable::<u64>::named("session_track_transaction_info");
pub(crate) const SQL_BIG_SELECTS: Variable<bool> = Variable::<bool>::named("sql_big_selects");
pub(crate) const SQL_GENERATE_INVISIBLE_PRIMARY_KEY: Variable<bool> =
    Variable::<bool>::named("sql_generate_invisible_primary_key");
pub(crate) const SQL_MODE: Variable<u64> = Variable::<u64>::named("sql_mode");
pub(crate) const SQL_NOTES: Variable<bool> = Variable::<bool>::named("sql_notes");
pub(crate) const SQL_QUOTE_SHOW_CREATE: Variable<bool> =
    Variable::<bool>::named("sql_quote_show_create");
pub(crate) const SQL_REQUIRE_PRIMARY_KEY: Variable<bool> =
    Variable::<bool>::named("sql_require_primary_key");
pub(crate) const SQL_SAFE_UPDATES: Variable<bool> = Variable::<bool>::named("sql_safe_updates");
pub(crate) const SQL_SELECT_LIMIT: Variable<u64> = Variable::<u64>::named("sql_select_limit");
pub(crate) const STATEMENT_CACHE_SIZE: Variable<u64> =
    Variable::<u64>::named("statement_cache_size");
pub(crate) const SUPER_READ_ONLY: Variable<bool> = Variable::<bool>::named("super_read_only");
pub(crate) const TEMPORARY_TABLE_REUSE: Variable<u64> =
    Variable::<u64>::named("temporary_table_reuse");
pub(crate) const TEMPTABLE_MAX_RAM: Variable<u64> = Variable::<u64>::named("temptable_max_ram");
pub(crate) const TIMESTAMP: Variable<f64> = Variable::<f64>::named("timestamp");
pub(crate) const TIME_ZONE: Variable<Text> = Variable::<Text>::named("time_zone");
pub(crate) const TMPDIR: Variable<Text> = Variable::<Text>::named("tmpdir");
pub(crate) const TMP_TABLE_SIZE: Variable<u64> = Variable::<u64>::named("tmp_table_size");
pub(crate) const TRANSACTION_ISOLATION: Variable<u64> =
    Variable::<u64>::named("transaction_isolation");
pub(crate) const TRANSACTION_READ_ONLY: Variable<bool> =
    Variable::<bool>::named("transaction_read_only");
pub(crate) const WAIT_TIMEOUT: Variable<u64> = Variable::<u64>::named("wait_timeout");
pub(crate) const WRITE_BUFFER_SIZE: Variable<u64> = Variable::<u64>::named("write_buffer_size");
