//! Connections, sessions, limits and transactions.

use super::definition::{
    GIB, KIB, Kind, MIB, SystemVariable, U32_MAX, YEAR, blocks, both, choice, global, number,
    session, switch, text,
};

pub(super) const VARIABLES: &[SystemVariable] = &[
    global(
        "activate_all_roles_on_login",
        switch(false),
        "Whether all granted roles are active after a login.",
    ),
    both(
        "auto_increment_increment",
        number(1, 1, 65_535),
        "The distance between the numbers that AUTO_INCREMENT gives.",
    )
    .hintable(),
    both(
        "auto_increment_offset",
        number(1, 1, 65_535),
        "The first number that AUTO_INCREMENT gives.",
    )
    .hintable(),
    both(
        "autocommit",
        switch(true),
        "Whether each statement is a transaction of its own.",
    ),
    global(
        "back_log",
        number(151, 0, 65_535),
        "Accepted for compatibility.",
    ).without_effect()
    .read_only(),
    both(
        "completion_type",
        choice(0, &["NO_CHAIN", "CHAIN", "RELEASE"]),
        "What follows COMMIT and ROLLBACK.",
    ),
    global(
        "connect_timeout",
        number(10, 2, YEAR),
        "How long a handshake may take, in seconds.",
    ),
    both(
        "connection_memory_chunk_size",
        number(8192, 0, 512 * MIB),
        "Accepted for compatibility.",
    ).without_effect(),
    both(
        "connection_memory_limit",
        number(u64::MAX, 2 * MIB, u64::MAX),
        "The most memory that the statements of one session may use.",
    ),
    global(
        "default_password_lifetime",
        number(0, 0, 65_535),
        "After how many days a password is to be changed; 0 is never.",
    ),
    global(
        "event_scheduler",
        choice(0, &["OFF", "ON", "DISABLED"]),
        "Accepted for compatibility.",
    ).without_effect(),
    session(
        "error_count",
        number(0, 0, u64::MAX),
        "How many errors SHOW ERRORS would list.",
    )
    .read_only(),
    session(
        "external_user",
        Kind::Text(None),
        "The user's name outside.",
    )
    .read_only(),
    both(
        "global_connection_memory_tracking",
        switch(false),
        "Accepted for compatibility.",
    ).without_effect(),
    global(
        "global_connection_memory_limit",
        number(u64::MAX, 16 * MIB, u64::MAX),
        "Accepted for compatibility.",
    ).without_effect(),
    session(
        "identity",
        number(0, 0, u64::MAX),
        "The same as last_insert_id.",
    ),
    global("init_connect", text(""), "Statements that each session of an ordinary account begins with."),
    session(
        "insert_id",
        number(0, 0, u64::MAX),
        "The number that the next INSERT gives to its AUTO_INCREMENT column.",
    )
    .hintable(),
    both(
        "interactive_timeout",
        number(28_800, 1, YEAR),
        "After how many idle seconds an interactive session ends.",
    ),
    session(
        "last_insert_id",
        number(0, 0, u64::MAX),
        "What LAST_INSERT_ID() gives.",
    ),
    global(
        "local_infile",
        switch(true),
        "Whether LOAD DATA LOCAL is allowed.",
    ),
    both(
        "lock_wait_timeout",
        number(YEAR, 1, YEAR),
        "How long a statement waits for the lock of a table's definition, in seconds.",
    )
    .hintable(),
    both(
        "low_priority_updates",
        switch(false),
        "Accepted for compatibility.",
    ).without_effect(),
    global("mandatory_roles", text(""), "Roles that every account has."),
    both(
        "max_allowed_packet",
        blocks(64 * MIB, KIB, GIB, KIB),
        "The largest packet and the longest string that a function makes.",
    )
    .session_read_only(),
    global(
        "max_connect_errors",
        number(100, 1, u64::MAX),
        "Accepted for compatibility.",
    ).without_effect(),
    global(
        "max_connections",
        number(151, 1, 100_000),
        "How many clients may be connected.",
    ),
    global(
        "max_digest_length",
        number(1024, 0, MIB),
        "Accepted for compatibility.",
    ).without_effect()
    .read_only(),
    global(
        "max_prepared_stmt_count",
        number(16_382, 0, 4_194_304),
        "How many prepared statements may exist.",
    ),
    both(
        "max_sp_recursion_depth",
        number(0, 0, 255),
        "Accepted for compatibility.",
    ).without_effect(),
    both(
        "max_user_connections",
        number(0, 0, U32_MAX),
        "How many sessions one user may have; 0 is no limit.",
    )
    .session_read_only(),
    global(
        "max_write_lock_count",
        number(u64::MAX, 1, u64::MAX),
        "Accepted for compatibility.",
    ).without_effect(),
    both(
        "net_buffer_length",
        blocks(16 * KIB, KIB, MIB, KIB),
        "The first size of a connection's buffer.",
    )
    .session_read_only(),
    both(
        "net_read_timeout",
        number(30, 1, YEAR),
        "How long to wait for the client's data, in seconds.",
    ),
    both(
        "net_retry_count",
        number(10, 1, u64::MAX),
        "Accepted for compatibility.",
    ).without_effect(),
    both(
        "net_write_timeout",
        number(60, 1, YEAR),
        "How long to wait until the client takes data, in seconds.",
    ),
    global("offline_mode", switch(false), "Only administrators may be connected."),
    global(
        "password_history",
        number(0, 0, U32_MAX),
        "How many of its last passwords an account may not have again.",
    ),
    global(
        "password_reuse_interval",
        number(0, 0, U32_MAX),
        "For how many days an account may not have a password again.",
    ),
    global(
        "password_require_current",
        switch(false),
        "Whether who sets another password must name the one before.",
    ),
    session("proxy_user", Kind::Text(None), "The proxied user.").read_only(),
    session(
        "pseudo_replica_mode",
        switch(false),
        "Accepted for compatibility.",
    ).without_effect(),
    session(
        "pseudo_slave_mode",
        switch(false),
        "Accepted for compatibility.",
    ).without_effect(),
    session(
        "pseudo_thread_id",
        number(0, 0, U32_MAX),
        "Accepted for compatibility.",
    ).without_effect(),
    both(
        "print_identified_with_as_hex",
        switch(false),
        "Whether SHOW CREATE USER prints what is kept of a password as a hexadecimal number.",
    ),
    global(
        "protocol_compression_algorithms",
        text("zlib,zstd,uncompressed"),
        "The compressions that a connection may use.",
    ),
    global(
        "protocol_version",
        number(10, 0, U32_MAX),
        "The version of the protocol.",
    )
    .read_only(),
    global("read_only", switch(false), "Only administrators may change what lasts."),
    global(
        "super_read_only",
        switch(false),
        "Nobody may change what lasts.",
    ),
    session(
        "require_row_format",
        switch(false),
        "Accepted for compatibility.",
    ).without_effect(),
    global(
        "require_secure_transport",
        switch(false),
        "Whether connections must be encrypted.",
    ),
    both(
        "session_track_gtids",
        choice(0, &["OFF", "OWN_GTID", "ALL_GTIDS"]),
        "Accepted for compatibility.",
    ).without_effect(),
    both(
        "session_track_schema",
        switch(true),
        "Whether the client is told of a new current database.",
    ),
    both(
        "session_track_state_change",
        switch(false),
        "Whether the client is told of changes of its session.",
    ),
    both(
        "session_track_system_variables",
        text(
            "time_zone,autocommit,character_set_client,character_set_results,character_set_connection",
        ),
        "Of which variables' changes the client is told.",
    )
    .nullable(),
    both(
        "session_track_transaction_info",
        choice(0, &["OFF", "STATE", "CHARACTERISTICS"]),
        "What the client is told of its transaction.",
    ),
    global(
        "skip_name_resolve",
        switch(true),
        "Clients are known by their addresses.",
    )
    .read_only(),
    global(
        "skip_networking",
        switch(false),
        "Whether connections over the network are refused.",
    )
    .read_only(),
    global(
        "skip_show_database",
        switch(false),
        "Accepted for compatibility.",
    ).without_effect()
    .read_only(),
    session(
        "sql_log_bin",
        switch(true),
        "Accepted for compatibility: there is no binary log.",
    ).without_effect(),
    both("sql_log_off", switch(false), "Accepted for compatibility.").without_effect(),
    session(
        "statement_id",
        number(0, 0, i64::MAX as u64),
        "The number of the running statement.",
    )
    .read_only(),
    global(
        "thread_cache_size",
        number(9, 0, 16_384),
        "Accepted for compatibility.",
    ).without_effect(),
    global(
        "thread_handling",
        choice(
            0,
            &[
                "one-thread-per-connection",
                "no-threads",
                "loaded-dynamically",
            ],
        ),
        "Accepted for compatibility.",
    ).without_effect()
    .read_only(),
    global(
        "thread_stack",
        blocks(MIB, 128 * KIB, u64::MAX - 1023, KIB),
        "Accepted for compatibility.",
    ).without_effect()
    .read_only(),
    both(
        "transaction_alloc_block_size",
        blocks(8 * KIB, KIB, 128 * KIB, KIB),
        "Accepted for compatibility.",
    ).without_effect(),
    session(
        "transaction_allow_batching",
        switch(false),
        "Accepted for compatibility.",
    ).without_effect(),
    both(
        "transaction_isolation",
        choice(
            2,
            &[
                "READ-UNCOMMITTED",
                "READ-COMMITTED",
                "REPEATABLE-READ",
                "SERIALIZABLE",
            ],
        ),
        "What a transaction sees of others.",
    ),
    both(
        "transaction_prealloc_size",
        blocks(4 * KIB, KIB, 128 * KIB, KIB),
        "Accepted for compatibility.",
    ).without_effect(),
    both(
        "transaction_read_only",
        switch(false),
        "Whether transactions may write.",
    ),
    both(
        "wait_timeout",
        number(28_800, 1, YEAR),
        "After how many idle seconds a session ends.",
    ),
    session(
        "warning_count",
        number(0, 0, u64::MAX),
        "How many conditions SHOW WARNINGS would list.",
    )
    .read_only(),
];
