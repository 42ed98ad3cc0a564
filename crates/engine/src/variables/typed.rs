//! Variables that the engine reads or sets: each is a constant with the variable's position and value type. An
//! unknown name or a wrong type does not compile.

use std::marker::PhantomData;
use std::sync::Arc;

use super::definition::Kind;
use super::registry::GROUPS;
use super::value::Setting;

/// A variable with its value type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Variable<T> {
    position: usize,
    values: PhantomData<T>,
}

/// Value type of nullable texts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text;

/// Value type of a variable.
pub(crate) trait ValueType {
    /// Type of values to set.
    type Owned;
    /// Type of values read.
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
// Numbers, choices by position, and sets of words and switches as bits.
value_type!(
    u64, u64, u64, Unsigned(number) => *number,
    Kind::Unsigned { .. } | Kind::Choice { .. } | Kind::Flags { .. } | Kind::Switches { .. }
);
value_type!(i64, i64, i64, Signed(number) => *number, Kind::Signed { .. });
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
    #[inline]
    pub(crate) const fn position(&self) -> usize {
        self.position
    }

    /// A value of it with its position, for [`super::Settings::set`].
    pub(crate) fn setting(&self, value: T::Owned) -> (usize, Setting) {
        (self.position, T::setting(value))
    }
}

/// (position, kind) of a variable: its position is the number of smaller names.
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

macro_rules! typed {
    ($($constant:ident: $type:ty = $name:literal;)*) => {
        $(pub(crate) const $constant: Variable<$type> = Variable::<$type>::named($name);)*
    };
}

typed! {
    ACTIVATE_ALL_ROLES_ON_LOGIN: bool = "activate_all_roles_on_login";
    AUTOCOMMIT: bool = "autocommit";
    AUTO_INCREMENT_INCREMENT: u64 = "auto_increment_increment";
    AUTO_INCREMENT_OFFSET: u64 = "auto_increment_offset";
    BIG_TABLES: bool = "big_tables";
    BLOCK_ENCRYPTION_MODE: u64 = "block_encryption_mode";
    CHARACTER_SET_CLIENT: Text = "character_set_client";
    CHARACTER_SET_CONNECTION: Text = "character_set_connection";
    CHARACTER_SET_DATABASE: Text = "character_set_database";
    CHARACTER_SET_RESULTS: Text = "character_set_results";
    COLLATION_CONNECTION: Text = "collation_connection";
    COLLATION_DATABASE: Text = "collation_database";
    COLLATION_SERVER: Text = "collation_server";
    COMPLETION_TYPE: u64 = "completion_type";
    CONNECTION_MEMORY_LIMIT: u64 = "connection_memory_limit";
    CONNECT_TIMEOUT: u64 = "connect_timeout";
    CTE_MAX_RECURSION_DEPTH: u64 = "cte_max_recursion_depth";
    DEFAULT_COLLATION_FOR_UTF8MB4: Text = "default_collation_for_utf8mb4";
    DEFAULT_PASSWORD_LIFETIME: u64 = "default_password_lifetime";
    DEFAULT_STORAGE_ENGINE: Text = "default_storage_engine";
    DEFAULT_TMP_STORAGE_ENGINE: Text = "default_tmp_storage_engine";
    DEFAULT_WEEK_FORMAT: u64 = "default_week_format";
    DIV_PRECISION_INCREMENT: u64 = "div_precision_increment";
    ENCRYPT_TMP_FILES: bool = "encrypt_tmp_files";
    EXPLAIN_FORMAT: u64 = "explain_format";
    EXPLAIN_JSON_FORMAT_VERSION: u64 = "explain_json_format_version";
    END_MARKERS_IN_JSON: bool = "end_markers_in_json";
    FOREIGN_KEY_CHECKS: bool = "foreign_key_checks";
    GENERAL_LOG: bool = "general_log";
    GENERAL_LOG_FILE: Text = "general_log_file";
    GROUP_CONCAT_MAX_LEN: u64 = "group_concat_max_len";
    HOSTNAME: Text = "hostname";
    INIT_CONNECT: Text = "init_connect";
    INNODB_FLUSH_LOG_AT_TRX_COMMIT: u64 = "innodb_flush_log_at_trx_commit";
    INNODB_BUFFER_POOL_SIZE: u64 = "innodb_buffer_pool_size";
    INNODB_LOCK_WAIT_TIMEOUT: u64 = "innodb_lock_wait_timeout";
    INNODB_STRICT_MODE: bool = "innodb_strict_mode";
    INNODB_TEMP_DATA_FILE_PATH: Text = "innodb_temp_data_file_path";
    INTERNAL_TMP_DISK_STORAGE_ENGINE: u64 = "internal_tmp_disk_storage_engine";
    INTERNAL_TMP_MEM_STORAGE_ENGINE: u64 = "internal_tmp_mem_storage_engine";
    KEY_BUFFER_SIZE: u64 = "key_buffer_size";
    KEY_CACHE_AGE_THRESHOLD: u64 = "key_cache_age_threshold";
    KEY_CACHE_BLOCK_SIZE: u64 = "key_cache_block_size";
    KEY_CACHE_DIVISION_LIMIT: u64 = "key_cache_division_limit";
    INTERACTIVE_TIMEOUT: u64 = "interactive_timeout";
    LC_TIME_NAMES: Text = "lc_time_names";
    LOCAL_INFILE: bool = "local_infile";
    LOCK_WAIT_TIMEOUT: u64 = "lock_wait_timeout";
    LOG_OUTPUT: u64 = "log_output";
    LOG_QUERIES_NOT_USING_INDEXES: bool = "log_queries_not_using_indexes";
    LOG_RAW: bool = "log_raw";
    LOG_SLOW_ADMIN_STATEMENTS: bool = "log_slow_admin_statements";
    LOG_SLOW_DISABLED_STATEMENTS: u64 = "log_slow_disabled_statements";
    LOG_SLOW_EXTRA: bool = "log_slow_extra";
    LOG_SLOW_FILTER: u64 = "log_slow_filter";
    LOG_SLOW_MAX_WARNINGS: u64 = "log_slow_max_warnings";
    LOG_SLOW_RATE_LIMIT: u64 = "log_slow_rate_limit";
    LOG_SLOW_RATE_TYPE: u64 = "log_slow_rate_type";
    LOG_SLOW_VERBOSITY: u64 = "log_slow_verbosity";
    LOG_THROTTLE_QUERIES_NOT_USING_INDEXES: u64 = "log_throttle_queries_not_using_indexes";
    LOG_TIMESTAMPS: u64 = "log_timestamps";
    LONG_QUERY_TIME: f64 = "long_query_time";
    MANDATORY_ROLES: Text = "mandatory_roles";
    MAX_ALLOWED_PACKET: u64 = "max_allowed_packet";
    MAX_CONNECTIONS: u64 = "max_connections";
    MAX_ERROR_COUNT: u64 = "max_error_count";
    MAX_EXECUTION_TIME: u64 = "max_execution_time";
    MAX_HEAP_TABLE_SIZE: u64 = "max_heap_table_size";
    MAX_JOIN_SIZE: u64 = "max_join_size";
    MAX_PREPARED_STMT_COUNT: u64 = "max_prepared_stmt_count";
    MAX_TMP_SESSION_SPACE_USAGE: u64 = "max_tmp_session_space_usage";
    MAX_TMP_STATEMENT_MEMORY_USAGE: u64 = "max_tmp_statement_memory_usage";
    MAX_TMP_STATEMENT_SPACE_USAGE: u64 = "max_tmp_statement_space_usage";
    MAX_TMP_TOTAL_SPACE_USAGE: u64 = "max_tmp_total_space_usage";
    MAX_TMP_USER_MEMORY_USAGE: u64 = "max_tmp_user_memory_usage";
    MAX_TMP_USER_SPACE_USAGE: u64 = "max_tmp_user_space_usage";
    MAX_USER_CONNECTIONS: u64 = "max_user_connections";
    MIN_EXAMINED_ROW_LIMIT: u64 = "min_examined_row_limit";
    NET_BUFFER_LENGTH: u64 = "net_buffer_length";
    NET_READ_TIMEOUT: u64 = "net_read_timeout";
    NET_WRITE_TIMEOUT: u64 = "net_write_timeout";
    OFFLINE_MODE: bool = "offline_mode";
    OPTIMIZER_SWITCH: u64 = "optimizer_switch";
    OPTIMIZER_TRACE: u64 = "optimizer_trace";
    OPTIMIZER_TRACE_FEATURES: u64 = "optimizer_trace_features";
    OPTIMIZER_TRACE_LIMIT: u64 = "optimizer_trace_limit";
    OPTIMIZER_TRACE_MAX_MEM_SIZE: u64 = "optimizer_trace_max_mem_size";
    OPTIMIZER_TRACE_OFFSET: i64 = "optimizer_trace_offset";
    PARSER_MAX_MEM_SIZE: u64 = "parser_max_mem_size";
    PASSWORD_HISTORY: u64 = "password_history";
    PASSWORD_REQUIRE_CURRENT: bool = "password_require_current";
    PASSWORD_REUSE_INTERVAL: u64 = "password_reuse_interval";
    PERFORMANCE_SCHEMA: bool = "performance_schema";
    PERFORMANCE_SCHEMA_DIGESTS_SIZE: u64 = "performance_schema_digests_size";
    PERFORMANCE_SCHEMA_EVENTS_STAGES_HISTORY_LONG_SIZE: u64 = "performance_schema_events_stages_history_long_size";
    PERFORMANCE_SCHEMA_EVENTS_STAGES_HISTORY_SIZE: u64 = "performance_schema_events_stages_history_size";
    PERFORMANCE_SCHEMA_EVENTS_STATEMENTS_HISTORY_LONG_SIZE: u64 = "performance_schema_events_statements_history_long_size";
    PERFORMANCE_SCHEMA_EVENTS_STATEMENTS_HISTORY_SIZE: u64 = "performance_schema_events_statements_history_size";
    PERFORMANCE_SCHEMA_MAX_SQL_TEXT_LENGTH: u64 = "performance_schema_max_sql_text_length";
    PERFORMANCE_SCHEMA_SESSION_CONNECT_ATTRS_SIZE: u64 = "performance_schema_session_connect_attrs_size";
    PORT: u64 = "port";
    PRINT_IDENTIFIED_WITH_AS_HEX: bool = "print_identified_with_as_hex";
    PROFILING: bool = "profiling";
    PROFILING_HISTORY_SIZE: u64 = "profiling_history_size";
    READ_BUFFER_SIZE: u64 = "read_buffer_size";
    READ_ONLY: bool = "read_only";
    REMOTE_FILE_ACCESS: bool = "remote_file_access";
    RESTRICT_FK_ON_NON_STANDARD_KEY: bool = "restrict_fk_on_non_standard_key";
    SECONDARY_ENGINE_COST_THRESHOLD: f64 = "secondary_engine_cost_threshold";
    SECONDARY_ENGINE_READ_STALE: bool = "secondary_engine_read_stale";
    SECONDARY_ENGINE_REFRESH: u64 = "secondary_engine_refresh";
    SECURE_FILE_PRIV: Text = "secure_file_priv";
    SELECT_INTO_BUFFER_SIZE: u64 = "select_into_buffer_size";
    SERVER_ID: u64 = "server_id";
    SESSION_TRACK_SCHEMA: bool = "session_track_schema";
    SESSION_TRACK_STATE_CHANGE: bool = "session_track_state_change";
    SESSION_TRACK_SYSTEM_VARIABLES: Text = "session_track_system_variables";
    SESSION_TRACK_TRANSACTION_INFO: u64 = "session_track_transaction_info";
    SLOW_QUERY_LOG: bool = "slow_query_log";
    SLOW_QUERY_LOG_ALWAYS_WRITE_TIME: f64 = "slow_query_log_always_write_time";
    SLOW_QUERY_LOG_FILE: Text = "slow_query_log_file";
    SLOW_QUERY_LOG_FORMAT: u64 = "slow_query_log_format";
    SLOW_QUERY_LOG_USE_GLOBAL_CONTROL: u64 = "slow_query_log_use_global_control";
    SOCKET: Text = "socket";
    SQL_BIG_SELECTS: bool = "sql_big_selects";
    SQL_GENERATE_INVISIBLE_PRIMARY_KEY: bool = "sql_generate_invisible_primary_key";
    SQL_LOG_OFF: bool = "sql_log_off";
    SQL_MODE: u64 = "sql_mode";
    SQL_NOTES: bool = "sql_notes";
    SHOW_CREATE_TABLE_SKIP_SECONDARY_ENGINE: bool = "show_create_table_skip_secondary_engine";
    SHOW_CREATE_TABLE_VERBOSITY: bool = "show_create_table_verbosity";
    SQL_QUOTE_SHOW_CREATE: bool = "sql_quote_show_create";
    SQL_REQUIRE_PRIMARY_KEY: bool = "sql_require_primary_key";
    SQL_SAFE_UPDATES: bool = "sql_safe_updates";
    SQL_SELECT_LIMIT: u64 = "sql_select_limit";
    OPTIMIZER_MAX_SUBGRAPH_PAIRS: u64 = "optimizer_max_subgraph_pairs";
    SQL_BUFFER_RESULT: bool = "sql_buffer_result";
    SESSION_KEEP_TEMP_TABLES: bool = "session_keep_temp_tables";
    RESULT_CACHE_SIZE: u64 = "result_cache_size";
    STATEMENT_CACHE_SIZE: u64 = "statement_cache_size";
    SUPER_READ_ONLY: bool = "super_read_only";
    TEMP_DDL_TRANSACTIONAL: bool = "temp_ddl_transactional";
    TEMPORARY_TABLE_REUSE: u64 = "temporary_table_reuse";
    TEMPTABLE_MAX_RAM: u64 = "temptable_max_ram";
    TIMESTAMP: f64 = "timestamp";
    TIME_ZONE: Text = "time_zone";
    TMPDIR: Text = "tmpdir";
    TMP_DISK_TABLE_SIZE: u64 = "tmp_disk_table_size";
    TMP_OVERFLOW_POLICY: u64 = "tmp_overflow_policy";
    TMP_TABLE_COMPAT: u64 = "tmp_table_compat";
    USE_SECONDARY_ENGINE: u64 = "use_secondary_engine";
    SORT_BUFFER_SIZE: u64 = "sort_buffer_size";
    TMP_DEBUG: Text = "tmp_debug";
    TMPDIR_CAPACITY: Text = "tmpdir_capacity";
    TMP_FILES_COMPRESSION: u64 = "tmp_files_compression";
    TMP_KEY_CACHE: Text = "tmp_key_cache";
    TMP_TABLE_SIZE: u64 = "tmp_table_size";
    TRANSACTION_ISOLATION: u64 = "transaction_isolation";
    TRANSACTION_READ_ONLY: bool = "transaction_read_only";
    WAIT_TIMEOUT: u64 = "wait_timeout";
    WRITE_BUFFER_SIZE: u64 = "write_buffer_size";
}
