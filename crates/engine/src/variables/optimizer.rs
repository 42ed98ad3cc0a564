//! Variables of parsing, checking and planning.

use super::definition::{
    Effect, GIB, KIB, Kind, MIB, SystemVariable, U32_MAX, blocks, both, choice, global, number,
    session, switch, text,
};

/// The words of `sql_mode`, in MySQL's order.
pub(crate) const SQL_MODES: &[&str] = &[
    "REAL_AS_FLOAT",
    "PIPES_AS_CONCAT",
    "ANSI_QUOTES",
    "IGNORE_SPACE",
    "NOT_USED",
    "ONLY_FULL_GROUP_BY",
    "NO_UNSIGNED_SUBTRACTION",
    "NO_DIR_IN_CREATE",
    "NOT_USED_9",
    "NOT_USED_10",
    "NOT_USED_11",
    "NOT_USED_12",
    "NOT_USED_13",
    "NOT_USED_14",
    "NOT_USED_15",
    "NOT_USED_16",
    "NOT_USED_17",
    "NOT_USED_18",
    "ANSI",
    "NO_AUTO_VALUE_ON_ZERO",
    "NO_BACKSLASH_ESCAPES",
    "STRICT_TRANS_TABLES",
    "STRICT_ALL_TABLES",
    "NO_ZERO_IN_DATE",
    "NO_ZERO_DATE",
    "ALLOW_INVALID_DATES",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "TRADITIONAL",
    "NOT_USED_29",
    "HIGH_NOT_PRECEDENCE",
    "NO_ENGINE_SUBSTITUTION",
    "PAD_CHAR_TO_FULL_LENGTH",
    "TIME_TRUNCATE_FRACTIONAL",
];

/// MySQL 8.4's default `sql_mode`, over [`SQL_MODES`].
const SQL_MODE_DEFAULT: u64 = 1 << 5 | 1 << 21 | 1 << 23 | 1 << 24 | 1 << 26 | 1 << 30;

/// The switches of `optimizer_switch`: MySQL's, then Mayfly's own.
pub(crate) const OPTIMIZER_SWITCHES: &[&str] = &[
    "index_merge",
    "index_merge_union",
    "index_merge_sort_union",
    "index_merge_intersection",
    "engine_condition_pushdown",
    "index_condition_pushdown",
    "mrr",
    "mrr_cost_based",
    "block_nested_loop",
    "batched_key_access",
    "materialization",
    "semijoin",
    "loosescan",
    "firstmatch",
    "duplicateweedout",
    "subquery_materialization_cost_based",
    "use_index_extensions",
    "condition_fanout_filter",
    "derived_merge",
    "use_invisible_indexes",
    "skip_scan",
    "hash_join",
    "subquery_to_derived",
    "prefer_ordering_index",
    "hypergraph_optimizer",
    "derived_condition_pushdown",
    "hash_set_operations",
    "group_by_limit_pushdown",
    "or_factoring",
    "equality_propagation",
    "subquery_unnesting",
    "outer_join_simplification",
    "group_key_reduction",
    "window_limit_pushdown",
    "group_elimination",
    "join_elimination",
    "outer_join_to_antijoin",
    "eager_aggregation",
    "sum_reduction",
];

/// The switches of [`OPTIMIZER_SWITCHES`] without effect; the others are in `mayfly_plan::OptimizerSwitches`.
pub(crate) const SWITCHES_WITHOUT_EFFECT: &[&str] = &[
    "index_condition_pushdown",
    "mrr",
    "mrr_cost_based",
    "block_nested_loop",
    "batched_key_access",
    "materialization",
    "loosescan",
    "firstmatch",
    "duplicateweedout",
    "subquery_materialization_cost_based",
    "use_index_extensions",
    "condition_fanout_filter",
    "skip_scan",
    "hash_join",
    "hypergraph_optimizer",
    "hash_set_operations",
];

/// All switches but MySQL's defaults for off: batched_key_access, use_invisible_indexes, subquery_to_derived,
/// hypergraph_optimizer.
const OPTIMIZER_SWITCH_DEFAULT: u64 =
    ((1 << OPTIMIZER_SWITCHES.len()) - 1) & !(1 << 9 | 1 << 19 | 1 << 22 | 1 << 24);

pub(super) const VARIABLES: &[SystemVariable] = variables! {
    both("div_precision_increment", number(4, 0, 30), "By how many digits a division has more decimals than its dividend.").hintable();
    both("end_markers_in_json", switch(false), "EXPLAIN FORMAT=JSON, version 1, and the optimizer trace repeat the name of a member behind its closing bracket.").hintable();
    both("eq_range_index_dive_limit", number(200, 0, U32_MAX), "Accepted for compatibility.").without_effect().hintable();
    both("explain_format", choice(1, &["TRADITIONAL_STRICT", "TRADITIONAL", "JSON", "TREE"]), "The format of EXPLAIN when it names none.");
    both("explain_json_format_version", number(1, 1, 2), "The version of EXPLAIN FORMAT=JSON: query blocks (1) or steps (2).");
    both("foreign_key_checks", switch(true), "Whether foreign keys are checked.").hintable().logged();
    both("group_concat_max_len", number(1024, 4, u64::MAX), "The longest result of GROUP_CONCAT() in bytes.").hintable();
    both("information_schema_stats_expiry", number(86_400, 0, 31_536_000), "Accepted for compatibility: statistics are always those of the moment.").without_effect();
    global("result_cache_size", blocks(64 * MIB, 0, 64 * GIB, KIB), "How much the results may take that the hint RESULT_CACHE and CREATE TEMPORARY TABLE … CACHE keep for other statements; 0 keeps none.").on_change(Effect::ResultCache);
    global("statement_cache_size", blocks(16 * MIB, 0, GIB, KIB), "How much the statements may take that are kept by their text, with their plans; 0 keeps none.").on_change(Effect::StatementCache);
    both("max_error_count", number(1024, 0, 65_535), "How many conditions SHOW WARNINGS keeps.").hintable();
    both("max_execution_time", number(0, 0, u64::MAX), "After how many milliseconds a SELECT is interrupted; 0 is never.").hintable();
    both("max_join_size", number(u64::MAX, 1, u64::MAX), "How many rows of tables a SELECT may read, as it is planned, when sql_big_selects is off.").hintable();
    both("max_points_in_geometry", number(65_536, 3, MIB), "Accepted for compatibility.").without_effect().hintable();
    both("max_seeks_for_key", number(u64::MAX, 1, u64::MAX), "Accepted for compatibility.").without_effect().hintable();
    both("optimizer_max_subgraph_pairs", number(100_000, 1, 2_147_483_647), "How many pairs of sets of tables are compared at most before the order of joins is chosen greedily.").hintable();
    both("optimizer_prune_level", number(1, 0, 1), "Accepted for compatibility.").without_effect().hintable();
    both("optimizer_search_depth", number(62, 0, 62), "Accepted for compatibility.").without_effect().hintable();
    both("optimizer_switch", Kind::Switches { default: OPTIMIZER_SWITCH_DEFAULT, words: OPTIMIZER_SWITCHES, inert: SWITCHES_WITHOUT_EFFECT }, "Which rules of the optimizer run.").hintable();
    both("optimizer_trace", Kind::Switches { default: 0, words: &["enabled", "one_line"], inert: &[] }, "Whether statements are traced for information_schema.OPTIMIZER_TRACE, and on one line.");
    both("optimizer_trace_features", Kind::Switches { default: 15, words: &["greedy_search", "range_optimizer", "dynamic_range", "repeated_subselect"], inert: &["dynamic_range", "repeated_subselect"] }, "Which parts of the optimizer are traced.");
    both("optimizer_trace_limit", number(1, 0, i64::MAX as u64), "How many traces are shown.");
    both("optimizer_trace_max_mem_size", number(MIB, 0, u64::MAX), "How many bytes all traces may take that are kept; of what is more, only the number of bytes.");
    both("optimizer_trace_offset", Kind::Signed { default: -1, min: i64::MIN, max: i64::MAX }, "The first trace that is shown: from the oldest one, or, if negative, from the newest one.");
    both("parser_max_mem_size", number(u64::MAX, 10_000_000, u64::MAX), "Bytes of memory that the tree of a statement and its plan may take.");
    both("profiling", switch(false), "Whether the stages of statements are timed, for SHOW PROFILE.").deprecated();
    both("profiling_history_size", number(15, 0, 100), "How many of its last profiles are kept of a session.").deprecated();
    both("query_alloc_block_size", blocks_of(8 * KIB), "Accepted for compatibility.").without_effect();
    both("query_prealloc_size", blocks_of(8 * KIB), "Accepted for compatibility.").without_effect();
    global("regexp_stack_limit", number(8_000_000, 0, 2_147_483_647), "Accepted for compatibility.").without_effect();
    global("regexp_time_limit", number(32, 0, 2_147_483_647), "Accepted for compatibility.").without_effect();
    session("rand_seed1", number(0, 0, u64::MAX), "A part of the state of RAND().").logged();
    session("rand_seed2", number(0, 0, u64::MAX), "A part of the state of RAND().").logged();
    session("resultset_metadata", choice(1, &["NONE", "FULL"]), "Accepted for compatibility.").without_effect();
    both("restrict_fk_on_non_standard_key", switch(true), "Whether foreign keys must refer to all columns of a unique key.");
    both("show_create_table_verbosity", switch(false), "Whether SHOW CREATE TABLE always shows the row format.");
    session("show_create_table_skip_secondary_engine", switch(false), "Whether SHOW CREATE TABLE leaves out SECONDARY_ENGINE.");
    both("show_gipk_in_create_table_and_information_schema", switch(true), "Accepted for compatibility: generated primary keys are always shown.").without_effect();
    both("sql_auto_is_null", switch(false), "Accepted for compatibility.").without_effect().hintable().logged();
    both("sql_big_selects", switch(true), "Whether a SELECT may read more rows than max_join_size says.").hintable();
    both("sql_buffer_result", switch(false), "Whether the rows of a SELECT are put into a temporary table before the first is given.").hintable();
    both("sql_generate_invisible_primary_key", switch(false), "Whether a table without a primary key gets one, over an invisible column.");
    both("sql_mode", Kind::Flags { default: SQL_MODE_DEFAULT, words: SQL_MODES }, "How strict statements are read and values are checked.").hintable();
    both("sql_notes", switch(true), "Whether notes are kept among the warnings.");
    both("sql_quote_show_create", switch(true), "Whether SHOW CREATE quotes identifiers.");
    both("sql_require_primary_key", switch(false), "Whether a table must have a primary key.").restricted();
    both("sql_safe_updates", switch(false), "Whether UPDATE and DELETE need a key in WHERE.").hintable();
    both("sql_select_limit", number(u64::MAX, 0, u64::MAX), "How many rows a SELECT without LIMIT gives at most.").hintable();
    both("sql_warnings", switch(false), "Accepted for compatibility.").without_effect();
    both("unique_checks", switch(true), "OFF lets an engine leave out checks of unique keys; they are always checked.").hintable().logged();
    both("updatable_views_with_limit", choice(1, &["NO", "YES"]), "Accepted for compatibility.").without_effect().hintable();
    session("use_secondary_engine", choice(1, &["OFF", "ON", "FORCED"]), "Whether a SELECT runs in the secondary engine: never, where it can and costs enough, or else not at all.").hintable();
    global("secondary_engine_refresh", number(200, 0, U32_MAX), "After how many milliseconds the copies of changed tables in the secondary engine are made anew; 0 does so only where a statement needs them.");
    both("secondary_engine_read_stale", switch(false), "Whether a SELECT may read copies in the secondary engine that lack the newest changes.").hintable();
    both("windowing_use_high_precision", switch(true), "Accepted for compatibility.").without_effect().hintable();
    both("secondary_engine_cost_threshold", Kind::Double { default: 100_000.0, min: 0.0, max: f64::MAX }, "The cost of a SELECT from which on it runs in the secondary engine.").hintable();
    global("ft_boolean_syntax", text("+ -><()~*:\"\"&|"), "Accepted for compatibility.").without_effect();
    global("ft_max_word_len", number(84, 10, 84), "Accepted for compatibility.").without_effect().read_only();
    global("ft_min_word_len", number(4, 1, 84), "Accepted for compatibility.").without_effect().read_only();
    global("ngram_token_size", number(2, 1, 10), "Accepted for compatibility.").without_effect().read_only();
};

const fn blocks_of(default: u64) -> Kind {
    Kind::Unsigned {
        default,
        min: 1024,
        max: 4_294_966_272,
        block: 1024,
    }
}
