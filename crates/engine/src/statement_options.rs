//! Options of statements derived from the session's variables: a plain struct, made anew only after a variable
//! changed.

use std::sync::Arc;
use std::time::Duration;

use mayfly_functions::BlockEncryption;
use mayfly_legacy::DiskEngine;
use mayfly_plan::eras::Era;
use mayfly_plan::explain::JsonVersion;
use mayfly_plan::{OptimizerSwitches, PlanOptions, TraceFeatures, TraceLayout};
use mayfly_syntax::ParseOptions;
use mayfly_types::temporal::{Locale, TimeZone};
use mayfly_types::{Charset, CollationId, SessionParameters, SqlMode};

use crate::character_sets;
use crate::options::DatabaseOptions;
use crate::temp_debug::TempDebug;
use crate::transaction::{Characteristics, Isolation};
use crate::variables::logs::SessionLogOptions;
use crate::variables::optimizer::{OPTIMIZER_SWITCHES, SWITCHES_WITHOUT_EFFECT};
use crate::variables::typed;
use crate::variables::{Settings, sql_mode};

/// What follows COMMIT and ROLLBACK (`completion_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CompletionType {
    NoChain,
    /// A new transaction begins.
    Chain,
    /// The session ends.
    Release,
}

/// Use of the secondary engine (`use_secondary_engine`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SecondaryEngineUse {
    /// No statement is offloaded.
    Off,
    /// Those that cost more than `secondary_engine_cost_threshold` are, where they can be.
    On,
    /// All that read tables are, or fail.
    Forced,
}

/// Settings that statements depend on.
#[derive(Debug, Clone)]
pub(crate) struct StatementOptions {
    /// Settings that planning, evaluation and storing share.
    pub(crate) session: Arc<SessionParameters>,
    pub(crate) parse: ParseOptions,
    pub(crate) plan: PlanOptions,
    pub(crate) collation_server: CollationId,
    pub(crate) block_encryption: BlockEncryption,
    pub(crate) max_error_count: usize,
    pub(crate) parser_max_mem_size: u64,
    pub(crate) max_execution_time: u64,
    /// `character_set_client`
    pub(crate) client_charset: Charset,
    /// The collation of `character_set_results`; `None` when it is NULL.
    pub(crate) results: Option<CollationId>,
    pub(crate) client: ClientLimits,
    pub(crate) log: SessionLogOptions,
    pub(crate) cte_max_recursion_depth: u64,
    pub(crate) tmp_table_size: u64,
    pub(crate) max_heap_table_size: u64,
    pub(crate) read_buffer_size: u64,
    /// The legacy on-disk engine of internal temporary tables, if one is selected.
    pub(crate) legacy_engine: Option<DiskEngine>,
    pub(crate) big_tables: bool,
    /// `tmp_table_compat`; `None` for Mayfly's own tables.
    pub(crate) era: Option<Era>,
    /// `tmp_debug`
    pub(crate) tmp_debug: TempDebug,
    /// Whether naming a temporary table twice in a statement is error 1137.
    pub(crate) temporary_tables_once: bool,
    /// `session_keep_temp_tables`
    pub(crate) session_keep_temp_tables: bool,
    /// `temp_ddl_transactional`
    pub(crate) temp_ddl_transactional: bool,
    pub(crate) sql_notes: bool,
    pub(crate) auto_increment_increment: u64,
    pub(crate) auto_increment_offset: u64,
    pub(crate) autocommit: bool,
    /// Default characteristics of a transaction.
    pub(crate) transaction: Characteristics,
    pub(crate) completion: CompletionType,
    /// Time limit of waiting for a row lock.
    pub(crate) innodb_lock_wait_timeout: Duration,
    pub(crate) foreign_key_checks: bool,
    pub(crate) timestamp: f64,
    pub(crate) max_tmp_session_space_usage: u64,
    pub(crate) max_tmp_statement_memory_usage: u64,
    pub(crate) max_tmp_statement_space_usage: u64,
    pub(crate) tmp_disk_table_size: u64,
    pub(crate) tmp_overflow_policy: u64,
    pub(crate) connection_memory_limit: u64,
    /// `max_join_size`, unless `sql_big_selects` is on.
    pub(crate) examined_rows_max: Option<u64>,
    pub(crate) use_secondary_engine: SecondaryEngineUse,
    pub(crate) secondary_engine_cost_threshold: f64,
    /// `secondary_engine_read_stale`
    pub(crate) reads_stale_copies: bool,
    pub(crate) quote_show_create: bool,
    /// `show_create_table_verbosity`
    pub(crate) shows_row_format: bool,
    pub(crate) explain_format: u64,
    pub(crate) profiling: bool,
    pub(crate) profiling_history_size: usize,
    pub(crate) explain_json: JsonVersion,
    pub(crate) trace: TraceOptions,
}

impl StatementOptions {
    /// Derives the options from the variables.
    pub(crate) fn read(settings: &Settings, database: &DatabaseOptions) -> Self {
        let sql_mode = sql_mode::from_bits(settings.get(typed::SQL_MODE));
        let collation = |name| {
            let row = character_sets::collation_by_name(settings.text(name));
            row.map_or(CollationId::default(), |row| row.id)
        };
        let small = |name| u8::try_from(settings.get(name)).unwrap_or(u8::MAX);
        let switches = settings.get(typed::OPTIMIZER_SWITCH);
        let switch = |name: &str| {
            debug_assert!(!SWITCHES_WITHOUT_EFFECT.contains(&name), "{name} has one");
            let bit = OPTIMIZER_SWITCHES.iter().position(|known| *known == name);
            bit.is_some_and(|bit| switches >> bit & 1 == 1)
        };
        let session = Arc::new(SessionParameters {
            sql_mode,
            collation_connection: collation(typed::COLLATION_CONNECTION),
            time_zone: TimeZone::parse(settings.text(typed::TIME_ZONE)).unwrap_or(TimeZone::System),
            lc_time_names: Locale::by_name(settings.text(typed::LC_TIME_NAMES)).unwrap_or_default(),
            default_week_format: small(typed::DEFAULT_WEEK_FORMAT),
            div_precision_increment: small(typed::DIV_PRECISION_INCREMENT),
            group_concat_max_len: settings.get(typed::GROUP_CONCAT_MAX_LEN),
            max_allowed_packet: settings.get(typed::MAX_ALLOWED_PACKET),
        });
        Self {
            parse: ParseOptions {
                ansi_quotes: sql_mode.has(SqlMode::ANSI_QUOTES),
                pipes_as_concat: sql_mode.has(SqlMode::PIPES_AS_CONCAT),
                no_backslash_escapes: sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES),
                high_not_precedence: sql_mode.has(SqlMode::HIGH_NOT_PRECEDENCE),
                ignore_space: sql_mode.has(SqlMode::IGNORE_SPACE),
            },
            plan: PlanOptions {
                session: Arc::clone(&session),
                utf8mb4_collation: collation(typed::DEFAULT_COLLATION_FOR_UTF8MB4),
                sql_select_limit: settings.get(typed::SQL_SELECT_LIMIT),
                sql_buffer_result: settings.get(typed::SQL_BUFFER_RESULT),
                max_subgraph_pairs: u32::try_from(
                    settings.get(typed::OPTIMIZER_MAX_SUBGRAPH_PAIRS),
                )
                .unwrap_or(u32::MAX),
                sets_variables: false,
                parameters: Vec::new(),
                switches: OptimizerSwitches {
                    derived_merge: switch("derived_merge"),
                    derived_condition_pushdown: switch("derived_condition_pushdown"),
                    semijoin: switch("semijoin"),
                    subquery_to_derived: switch("subquery_to_derived"),
                    subquery_unnesting: switch("subquery_unnesting"),
                    outer_join_simplification: switch("outer_join_simplification"),
                    group_key_reduction: switch("group_key_reduction"),
                    sum_reduction: switch("sum_reduction"),
                    group_elimination: switch("group_elimination"),
                    join_elimination: switch("join_elimination"),
                    outer_join_to_antijoin: switch("outer_join_to_antijoin"),
                    eager_aggregation: switch("eager_aggregation"),
                    or_factoring: switch("or_factoring"),
                    equality_propagation: switch("equality_propagation"),
                    group_by_limit_pushdown: switch("group_by_limit_pushdown"),
                    window_limit_pushdown: switch("window_limit_pushdown"),
                    index_merge: switch("index_merge"),
                    index_merge_union: switch("index_merge_union"),
                    index_merge_sort_union: switch("index_merge_sort_union"),
                    index_merge_intersection: switch("index_merge_intersection"),
                    engine_condition_pushdown: switch("engine_condition_pushdown"),
                    use_invisible_indexes: switch("use_invisible_indexes"),
                    prefer_ordering_index: switch("prefer_ordering_index"),
                },
                sorts_groups: era(settings).is_some_and(Era::sorts_groups),
                locks_rows: false,
                optimizer: database.optimizer,
                all_rewrites: database.all_rewrites,
            },
            session,
            collation_server: collation(typed::COLLATION_SERVER),
            block_encryption: BlockEncryption::by_number(usize::from(small(
                typed::BLOCK_ENCRYPTION_MODE,
            )))
            .unwrap_or_default(),
            parser_max_mem_size: settings.get(typed::PARSER_MAX_MEM_SIZE),
            max_error_count: usize::try_from(settings.get(typed::MAX_ERROR_COUNT)).unwrap_or(0),
            max_execution_time: settings.get(typed::MAX_EXECUTION_TIME),
            client_charset: Charset::by_name(settings.text(typed::CHARACTER_SET_CLIENT))
                .unwrap_or(Charset::Utf8mb4),
            results: settings
                .get(typed::CHARACTER_SET_RESULTS)
                .and_then(|name| character_sets::results_collation(name)),
            client: ClientLimits::read(settings),
            log: SessionLogOptions::read(settings),
            cte_max_recursion_depth: settings.get(typed::CTE_MAX_RECURSION_DEPTH),
            tmp_table_size: settings.get(typed::TMP_TABLE_SIZE),
            max_heap_table_size: settings.get(typed::MAX_HEAP_TABLE_SIZE),
            read_buffer_size: settings.get(typed::READ_BUFFER_SIZE),
            legacy_engine: legacy_engine(settings),
            big_tables: settings.get(typed::BIG_TABLES),
            era: era(settings),
            tmp_debug: TempDebug::parse(settings.text(typed::TMP_DEBUG)).unwrap_or_default(),
            session_keep_temp_tables: settings.get(typed::SESSION_KEEP_TEMP_TABLES),
            temp_ddl_transactional: settings.get(typed::TEMP_DDL_TRANSACTIONAL),
            temporary_tables_once: settings.get(typed::TEMPORARY_TABLE_REUSE) == 1
                || era(settings).is_some_and(Era::refuses_reopening),
            sql_notes: settings.get(typed::SQL_NOTES),
            auto_increment_increment: settings.get(typed::AUTO_INCREMENT_INCREMENT).max(1),
            auto_increment_offset: settings.get(typed::AUTO_INCREMENT_OFFSET).max(1),
            autocommit: settings.get(typed::AUTOCOMMIT),
            transaction: Characteristics {
                isolation: Isolation::of_setting(settings.get(typed::TRANSACTION_ISOLATION)),
                read_only: settings.get(typed::TRANSACTION_READ_ONLY),
            },
            innodb_lock_wait_timeout: Duration::from_secs(
                settings.get(typed::INNODB_LOCK_WAIT_TIMEOUT),
            ),
            completion: match settings.get(typed::COMPLETION_TYPE) {
                1 => CompletionType::Chain,
                2 => CompletionType::Release,
                _ => CompletionType::NoChain,
            },
            foreign_key_checks: settings.get(typed::FOREIGN_KEY_CHECKS),
            timestamp: settings.get(typed::TIMESTAMP),
            connection_memory_limit: settings.get(typed::CONNECTION_MEMORY_LIMIT),
            use_secondary_engine: match settings.get(typed::USE_SECONDARY_ENGINE) {
                0 => SecondaryEngineUse::Off,
                1 => SecondaryEngineUse::On,
                _ => SecondaryEngineUse::Forced,
            },
            secondary_engine_cost_threshold: settings.get(typed::SECONDARY_ENGINE_COST_THRESHOLD),
            reads_stale_copies: settings.get(typed::SECONDARY_ENGINE_READ_STALE),
            examined_rows_max: (!settings.get(typed::SQL_BIG_SELECTS))
                .then(|| settings.get(typed::MAX_JOIN_SIZE)),
            max_tmp_statement_memory_usage: settings.get(typed::MAX_TMP_STATEMENT_MEMORY_USAGE),
            max_tmp_statement_space_usage: settings.get(typed::MAX_TMP_STATEMENT_SPACE_USAGE),
            tmp_disk_table_size: settings.get(typed::TMP_DISK_TABLE_SIZE),
            tmp_overflow_policy: settings.get(typed::TMP_OVERFLOW_POLICY),
            max_tmp_session_space_usage: settings.get(typed::MAX_TMP_SESSION_SPACE_USAGE),
            quote_show_create: settings.get(typed::SQL_QUOTE_SHOW_CREATE),
            shows_row_format: settings.get(typed::SHOW_CREATE_TABLE_VERBOSITY),
            explain_format: settings.get(typed::EXPLAIN_FORMAT),
            profiling: settings.get(typed::PROFILING),
            profiling_history_size: usize::try_from(settings.get(typed::PROFILING_HISTORY_SIZE))
                .unwrap_or(usize::MAX),
            explain_json: match settings.get(typed::EXPLAIN_JSON_FORMAT_VERSION) {
                1 => JsonVersion::Blocks {
                    end_markers: settings.get(typed::END_MARKERS_IN_JSON),
                },
                _ => JsonVersion::Steps,
            },
            trace: TraceOptions::read(settings),
        }
    }
}

/// Options of the optimizer trace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TraceOptions {
    /// `optimizer_trace='enabled=on'`
    pub(crate) is_on: bool,
    /// `optimizer_trace='one_line=on'`, `end_markers_in_json`
    pub(crate) layout: TraceLayout,
    /// `optimizer_trace_features`
    pub(crate) features: TraceFeatures,
    /// `optimizer_trace_offset`
    pub(crate) offset: i64,
    /// `optimizer_trace_limit`
    pub(crate) limit: u64,
    /// `optimizer_trace_max_mem_size`
    pub(crate) bytes_max: u64,
}

impl TraceOptions {
    fn read(settings: &Settings) -> Self {
        let switches = settings.get(typed::OPTIMIZER_TRACE);
        let features = settings.get(typed::OPTIMIZER_TRACE_FEATURES);
        let is_on = |bits: u64, at: u32| bits >> at & 1 == 1;
        Self {
            is_on: is_on(switches, 0),
            layout: TraceLayout {
                one_line: is_on(switches, 1),
                end_markers: settings.get(typed::END_MARKERS_IN_JSON),
            },
            features: TraceFeatures {
                greedy_search: is_on(features, 0),
                range_optimizer: is_on(features, 1),
            },
            offset: settings.get(typed::OPTIMIZER_TRACE_OFFSET),
            limit: settings.get(typed::OPTIMIZER_TRACE_LIMIT),
            bytes_max: settings.get(typed::OPTIMIZER_TRACE_MAX_MEM_SIZE),
        }
    }
}

/// The server whose temporary tables a session wants.
fn era(settings: &Settings) -> Option<Era> {
    Some(match settings.get(typed::TMP_TABLE_COMPAT) {
        1 => Era::MySql80,
        2 => Era::MySql57,
        3 => Era::MySql50,
        4 => Era::MariaDb1011,
        5 => Era::MariaDb13,
        _ => return None,
    })
}

/// The on-disk engine, where a legacy engine is selected. Aria's part is MyISAM's.
fn legacy_engine(settings: &Settings) -> Option<DiskEngine> {
    const MEMORY: u64 = 0;
    match era(settings) {
        Some(Era::MySql57) => return Some(DiskEngine::InnoDb),
        Some(Era::MySql50 | Era::MariaDb1011 | Era::MariaDb13) => return Some(DiskEngine::MyIsam),
        Some(Era::MySql80) | None => {}
    }
    let is_chosen = settings.get(typed::INTERNAL_TMP_MEM_STORAGE_ENGINE) == MEMORY;
    is_chosen.then(
        || match settings.get(typed::INTERNAL_TMP_DISK_STORAGE_ENGINE) {
            0 => DiskEngine::MyIsam,
            _ => DiskEngine::InnoDb,
        },
    )
}

/// Time and size limits of a client connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientLimits {
    /// `wait_timeout`: how long a session may be idle.
    pub idle: Duration,
    /// `net_read_timeout`
    pub read: Duration,
    /// `net_write_timeout`
    pub write: Duration,
    /// `max_allowed_packet`
    pub packet: u64,
    /// `net_buffer_length`
    pub buffer: u64,
}

impl ClientLimits {
    pub(crate) fn read(settings: &Settings) -> Self {
        let seconds = |name| Duration::from_secs(settings.get(name));
        Self {
            idle: seconds(typed::WAIT_TIMEOUT),
            read: seconds(typed::NET_READ_TIMEOUT),
            write: seconds(typed::NET_WRITE_TIMEOUT),
            packet: settings.get(typed::MAX_ALLOWED_PACKET),
            buffer: settings.get(typed::NET_BUFFER_LENGTH),
        }
    }
}
