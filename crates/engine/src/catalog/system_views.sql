# version
SELECT '2.1.3' AS sys_version, VERSION() AS mysql_version

# statement_analysis +
SELECT statement[DIGEST_TEXT] AS query, SCHEMA_NAME AS db,
    IF(SUM_NO_INDEX_USED + SUM_NO_GOOD_INDEX_USED > 0, '*', '') AS full_scan,
    COUNT_STAR AS exec_count, twin[COUNT_SECONDARY AS exec_secondary_count,]
    SUM_ERRORS AS err_count, SUM_WARNINGS AS warn_count,
    time[SUM_TIMER_WAIT] AS total_latency, time[MAX_TIMER_WAIT] AS max_latency, time[AVG_TIMER_WAIT] AS avg_latency,
    time[SUM_LOCK_TIME] AS lock_latency, time[SUM_CPU_TIME] AS cpu_latency,
    SUM_ROWS_SENT AS rows_sent, each[SUM_ROWS_SENT] AS rows_sent_avg,
    SUM_ROWS_EXAMINED AS rows_examined, each[SUM_ROWS_EXAMINED] AS rows_examined_avg,
    SUM_ROWS_AFFECTED AS rows_affected, each[SUM_ROWS_AFFECTED] AS rows_affected_avg,
    SUM_CREATED_TMP_TABLES AS tmp_tables, SUM_CREATED_TMP_DISK_TABLES AS tmp_disk_tables,
    SUM_SORT_ROWS AS rows_sorted, SUM_SORT_MERGE_PASSES AS sort_merge_passes,
    bytes[MAX_CONTROLLED_MEMORY] AS max_controlled_memory, bytes[MAX_TOTAL_MEMORY] AS max_total_memory,
    DIGEST AS digest, FIRST_SEEN AS first_seen, LAST_SEEN AS last_seen
FROM performance_schema.events_statements_summary_by_digest ORDER BY SUM_TIMER_WAIT DESC

# statements_with_temp_tables +
SELECT statement[DIGEST_TEXT] AS query, SCHEMA_NAME AS db, COUNT_STAR AS exec_count,
    time[SUM_TIMER_WAIT] AS total_latency,
    SUM_CREATED_TMP_TABLES AS memory_tmp_tables, SUM_CREATED_TMP_DISK_TABLES AS disk_tmp_tables,
    each[SUM_CREATED_TMP_TABLES] AS avg_tmp_tables_per_query,
    ROUND(100 * IFNULL(SUM_CREATED_TMP_DISK_TABLES / NULLIF(SUM_CREATED_TMP_TABLES, 0), 0)) AS tmp_tables_to_disk_pct,
    FIRST_SEEN AS first_seen, LAST_SEEN AS last_seen, DIGEST AS digest,
    bytes[SUM_TMP_BYTES] AS tmp_bytes, bytes[MAX_TMP_BYTES] AS max_tmp_bytes,
    bytes[SUM_TMP_DISK_BYTES_WRITTEN] AS tmp_disk_bytes_written, bytes[MAX_TMP_DISK_BYTES] AS max_tmp_disk_bytes,
    SUM_HIT_TMP_TABLE_SIZE AS hit_tmp_table_size, SUM_HIT_TEMPTABLE_MAX_RAM AS hit_temptable_max_ram
FROM performance_schema.events_statements_summary_by_digest WHERE SUM_CREATED_TMP_TABLES > 0
ORDER BY SUM_CREATED_TMP_DISK_TABLES DESC, SUM_CREATED_TMP_TABLES DESC

# statements_with_sorting +
SELECT statement[DIGEST_TEXT] AS query, SCHEMA_NAME AS db, COUNT_STAR AS exec_count,
    time[SUM_TIMER_WAIT] AS total_latency,
    SUM_SORT_MERGE_PASSES AS sort_merge_passes, each[SUM_SORT_MERGE_PASSES] AS avg_sort_merges,
    SUM_SORT_SCAN AS sorts_using_scans, SUM_SORT_RANGE AS sort_using_range,
    SUM_SORT_ROWS AS rows_sorted, each[SUM_SORT_ROWS] AS avg_rows_sorted,
    FIRST_SEEN AS first_seen, LAST_SEEN AS last_seen, DIGEST AS digest
FROM performance_schema.events_statements_summary_by_digest WHERE SUM_SORT_ROWS > 0 ORDER BY SUM_TIMER_WAIT DESC

# statements_with_full_table_scans +
SELECT statement[DIGEST_TEXT] AS query, SCHEMA_NAME AS db, COUNT_STAR AS exec_count,
    time[SUM_TIMER_WAIT] AS total_latency,
    SUM_NO_INDEX_USED AS no_index_used_count, SUM_NO_GOOD_INDEX_USED AS no_good_index_used_count,
    ROUND(100 * IFNULL(SUM_NO_INDEX_USED / NULLIF(COUNT_STAR, 0), 0)) AS no_index_used_pct,
    SUM_ROWS_SENT AS rows_sent, SUM_ROWS_EXAMINED AS rows_examined,
    ROUND(SUM_ROWS_SENT / COUNT_STAR) AS rows_sent_avg, ROUND(SUM_ROWS_EXAMINED / COUNT_STAR) AS rows_examined_avg,
    FIRST_SEEN AS first_seen, LAST_SEEN AS last_seen, DIGEST AS digest
FROM performance_schema.events_statements_summary_by_digest
WHERE SUM_NO_INDEX_USED + SUM_NO_GOOD_INDEX_USED > 0 AND DIGEST_TEXT NOT LIKE 'SHOW%'
ORDER BY no_index_used_pct DESC, SUM_TIMER_WAIT DESC

# statements_with_errors_or_warnings +
SELECT statement[DIGEST_TEXT] AS query, SCHEMA_NAME AS db, COUNT_STAR AS exec_count,
    SUM_ERRORS AS errors, 100 * IFNULL(SUM_ERRORS / NULLIF(COUNT_STAR, 0), 0) AS error_pct,
    SUM_WARNINGS AS warnings, 100 * IFNULL(SUM_WARNINGS / NULLIF(COUNT_STAR, 0), 0) AS warning_pct,
    FIRST_SEEN AS first_seen, LAST_SEEN AS last_seen, DIGEST AS digest
FROM performance_schema.events_statements_summary_by_digest WHERE SUM_ERRORS + SUM_WARNINGS > 0
ORDER BY SUM_ERRORS DESC, SUM_WARNINGS DESC

# x$ps_digest_avg_latency_distribution
SELECT COUNT(*) AS cnt, ROUND(AVG_TIMER_WAIT / 1000000) AS avg_us
FROM performance_schema.events_statements_summary_by_digest GROUP BY avg_us

# x$ps_digest_95th_percentile_by_avg_us
SELECT slow.avg_us AS avg_us, IFNULL(SUM(fast.cnt) / NULLIF((SELECT COUNT(*)
    FROM performance_schema.events_statements_summary_by_digest), 0), 0) AS percentile
FROM sys.x$ps_digest_avg_latency_distribution AS slow
    JOIN sys.x$ps_digest_avg_latency_distribution AS fast ON fast.avg_us <= slow.avg_us
GROUP BY slow.avg_us HAVING percentile > 0.95 ORDER BY percentile LIMIT 1

# statements_with_runtimes_in_95th_percentile +
SELECT statement[DIGEST_TEXT] AS query, SCHEMA_NAME AS db,
    IF(SUM_NO_INDEX_USED + SUM_NO_GOOD_INDEX_USED > 0, '*', '') AS full_scan,
    COUNT_STAR AS exec_count, SUM_ERRORS AS err_count, SUM_WARNINGS AS warn_count,
    time[SUM_TIMER_WAIT] AS total_latency, time[MAX_TIMER_WAIT] AS max_latency, time[AVG_TIMER_WAIT] AS avg_latency,
    SUM_ROWS_SENT AS rows_sent, each[SUM_ROWS_SENT] AS rows_sent_avg,
    SUM_ROWS_EXAMINED AS rows_examined, each[SUM_ROWS_EXAMINED] AS rows_examined_avg,
    FIRST_SEEN AS first_seen, LAST_SEEN AS last_seen, DIGEST AS digest
FROM performance_schema.events_statements_summary_by_digest
    JOIN sys.x$ps_digest_95th_percentile_by_avg_us AS slow ON ROUND(AVG_TIMER_WAIT / 1000000) >= slow.avg_us
ORDER BY AVG_TIMER_WAIT DESC

# processlist +
SELECT thread.THREAD_ID AS thd_id, thread.PROCESSLIST_ID AS conn_id,
    CONCAT(thread.PROCESSLIST_USER, '@', CONVERT(thread.PROCESSLIST_HOST USING utf8mb4)) AS user,
    thread.PROCESSLIST_DB AS db, thread.PROCESSLIST_COMMAND AS command, thread.PROCESSLIST_STATE AS state,
    thread.PROCESSLIST_TIME AS time, statement[thread.PROCESSLIST_INFO] AS current_statement,
    thread.EXECUTION_ENGINE AS execution_engine,
    IF(event.END_EVENT_ID IS NULL, time[event.TIMER_WAIT], NULL) AS statement_latency,
    CAST(NULL AS DECIMAL(26, 2)) AS progress,
    time[event.LOCK_TIME] AS lock_latency, time[event.CPU_TIME] AS cpu_latency,
    event.ROWS_EXAMINED AS rows_examined, event.ROWS_SENT AS rows_sent, event.ROWS_AFFECTED AS rows_affected,
    event.CREATED_TMP_TABLES AS tmp_tables, event.CREATED_TMP_DISK_TABLES AS tmp_disk_tables,
    IF(event.NO_INDEX_USED > 0 OR event.NO_GOOD_INDEX_USED > 0, 'YES', 'NO') AS full_scan,
    IF(event.END_EVENT_ID IS NOT NULL, statement[event.SQL_TEXT], NULL) AS last_statement,
    IF(event.END_EVENT_ID IS NOT NULL, time[event.TIMER_WAIT], NULL) AS last_statement_latency,
    bytes[thread.TOTAL_MEMORY] AS current_memory,
    CAST(NULL AS CHAR(128)) AS last_wait, CAST(NULL AS CHAR(13)) AS last_wait_latency, event.SOURCE AS source,
    CAST(NULL AS CHAR(11)) AS trx_latency, CAST(NULL AS CHAR(11)) AS trx_state, CAST(NULL AS CHAR(3)) AS trx_autocommit,
    pid.ATTR_VALUE AS pid, program.ATTR_VALUE AS program_name
FROM performance_schema.threads AS thread
    LEFT JOIN performance_schema.events_statements_current AS event ON event.THREAD_ID = thread.THREAD_ID
    LEFT JOIN performance_schema.session_connect_attrs AS pid
        ON pid.PROCESSLIST_ID = thread.PROCESSLIST_ID AND pid.ATTR_NAME = '_pid'
    LEFT JOIN performance_schema.session_connect_attrs AS program
        ON program.PROCESSLIST_ID = thread.PROCESSLIST_ID AND program.ATTR_NAME = 'program_name'
ORDER BY thread.PROCESSLIST_TIME DESC

# session +
SELECT * FROM sys.twin[x$]processlist WHERE conn_id IS NOT NULL AND command <> 'Daemon'

# host_summary_by_statement_type +
SELECT HOST AS host, SUBSTRING_INDEX(EVENT_NAME, '/', -1) AS statement, COUNT_STAR AS total,
    time[SUM_TIMER_WAIT] AS total_latency, time[MAX_TIMER_WAIT] AS max_latency, time[SUM_LOCK_TIME] AS lock_latency,
    time[SUM_CPU_TIME] AS cpu_latency, SUM_ROWS_SENT AS rows_sent, SUM_ROWS_EXAMINED AS rows_examined,
    SUM_ROWS_AFFECTED AS rows_affected, SUM_NO_INDEX_USED + SUM_NO_GOOD_INDEX_USED AS full_scans
FROM performance_schema.events_statements_summary_by_host_by_event_name WHERE SUM_TIMER_WAIT > 0
ORDER BY host, SUM_TIMER_WAIT DESC

# host_summary_by_statement_latency +
SELECT HOST AS host, SUM(COUNT_STAR) AS total,
    time[SUM(SUM_TIMER_WAIT)] AS total_latency, time[SUM(MAX_TIMER_WAIT)] AS max_latency,
    time[SUM(SUM_LOCK_TIME)] AS lock_latency, time[SUM(SUM_CPU_TIME)] AS cpu_latency,
    SUM(SUM_ROWS_SENT) AS rows_sent, SUM(SUM_ROWS_EXAMINED) AS rows_examined, SUM(SUM_ROWS_AFFECTED) AS rows_affected,
    SUM(SUM_NO_INDEX_USED) + SUM(SUM_NO_GOOD_INDEX_USED) AS full_scans
FROM performance_schema.events_statements_summary_by_host_by_event_name GROUP BY HOST
ORDER BY SUM(SUM_TIMER_WAIT) DESC

# user_summary_by_statement_type +
SELECT USER AS user, SUBSTRING_INDEX(EVENT_NAME, '/', -1) AS statement, COUNT_STAR AS total,
    time[SUM_TIMER_WAIT] AS total_latency, time[MAX_TIMER_WAIT] AS max_latency, time[SUM_LOCK_TIME] AS lock_latency,
    time[SUM_CPU_TIME] AS cpu_latency, SUM_ROWS_SENT AS rows_sent, SUM_ROWS_EXAMINED AS rows_examined,
    SUM_ROWS_AFFECTED AS rows_affected, SUM_NO_INDEX_USED + SUM_NO_GOOD_INDEX_USED AS full_scans
FROM performance_schema.events_statements_summary_by_user_by_event_name WHERE SUM_TIMER_WAIT > 0
ORDER BY user, SUM_TIMER_WAIT DESC

# user_summary_by_statement_latency +
SELECT USER AS user, SUM(COUNT_STAR) AS total,
    time[SUM(SUM_TIMER_WAIT)] AS total_latency, time[SUM(MAX_TIMER_WAIT)] AS max_latency,
    time[SUM(SUM_LOCK_TIME)] AS lock_latency, time[SUM(SUM_CPU_TIME)] AS cpu_latency,
    SUM(SUM_ROWS_SENT) AS rows_sent, SUM(SUM_ROWS_EXAMINED) AS rows_examined, SUM(SUM_ROWS_AFFECTED) AS rows_affected,
    SUM(SUM_NO_INDEX_USED) + SUM(SUM_NO_GOOD_INDEX_USED) AS full_scans
FROM performance_schema.events_statements_summary_by_user_by_event_name GROUP BY USER
ORDER BY SUM(SUM_TIMER_WAIT) DESC

# memory_global_by_current_bytes +
SELECT EVENT_NAME AS event_name, CURRENT_COUNT_USED AS current_count,
    bytes[CURRENT_NUMBER_OF_BYTES_USED] AS current_alloc,
    bytes[IFNULL(CURRENT_NUMBER_OF_BYTES_USED / NULLIF(CURRENT_COUNT_USED, 0), 0)] AS current_avg_alloc,
    HIGH_COUNT_USED AS high_count, bytes[HIGH_NUMBER_OF_BYTES_USED] AS high_alloc,
    bytes[IFNULL(HIGH_NUMBER_OF_BYTES_USED / NULLIF(HIGH_COUNT_USED, 0), 0)] AS high_avg_alloc
FROM performance_schema.memory_summary_global_by_event_name WHERE CURRENT_NUMBER_OF_BYTES_USED > 0
ORDER BY CURRENT_NUMBER_OF_BYTES_USED DESC

# memory_global_total +
SELECT bytes[SUM(CURRENT_NUMBER_OF_BYTES_USED)] AS total_allocated
FROM performance_schema.memory_summary_global_by_event_name WHERE EVENT_NAME NOT LIKE '%disk'

# memory_by_thread_by_current_bytes +
SELECT thread.THREAD_ID AS thread_id,
    CONCAT(thread.PROCESSLIST_USER, '@', CONVERT(thread.PROCESSLIST_HOST USING utf8mb4)) AS user,
    SUM(used.CURRENT_COUNT_USED) AS current_count_used,
    bytes[SUM(used.CURRENT_NUMBER_OF_BYTES_USED)] AS current_allocated,
    bytes[IFNULL(SUM(used.CURRENT_NUMBER_OF_BYTES_USED) / NULLIF(SUM(used.CURRENT_COUNT_USED), 0), 0)] AS current_avg_alloc,
    bytes[MAX(used.CURRENT_NUMBER_OF_BYTES_USED)] AS current_max_alloc,
    bytes[SUM(used.SUM_NUMBER_OF_BYTES_ALLOC)] AS total_allocated
FROM performance_schema.memory_summary_by_thread_by_event_name AS used
    JOIN performance_schema.threads AS thread ON thread.THREAD_ID = used.THREAD_ID
WHERE used.EVENT_NAME NOT LIKE '%disk'
GROUP BY thread.THREAD_ID, thread.PROCESSLIST_USER, thread.PROCESSLIST_HOST
ORDER BY SUM(used.CURRENT_NUMBER_OF_BYTES_USED) DESC

# memory_by_user_by_current_bytes +
SELECT USER AS user, SUM(CURRENT_COUNT_USED) AS current_count_used,
    bytes[SUM(CURRENT_NUMBER_OF_BYTES_USED)] AS current_allocated,
    bytes[IFNULL(SUM(CURRENT_NUMBER_OF_BYTES_USED) / NULLIF(SUM(CURRENT_COUNT_USED), 0), 0)] AS current_avg_alloc,
    bytes[MAX(CURRENT_NUMBER_OF_BYTES_USED)] AS current_max_alloc,
    bytes[SUM(SUM_NUMBER_OF_BYTES_ALLOC)] AS total_allocated
FROM performance_schema.memory_summary_by_user_by_event_name WHERE EVENT_NAME NOT LIKE '%disk' GROUP BY USER
ORDER BY SUM(CURRENT_NUMBER_OF_BYTES_USED) DESC

# memory_by_host_by_current_bytes +
SELECT HOST AS host, SUM(CURRENT_COUNT_USED) AS current_count_used,
    bytes[SUM(CURRENT_NUMBER_OF_BYTES_USED)] AS current_allocated,
    bytes[IFNULL(SUM(CURRENT_NUMBER_OF_BYTES_USED) / NULLIF(SUM(CURRENT_COUNT_USED), 0), 0)] AS current_avg_alloc,
    bytes[MAX(CURRENT_NUMBER_OF_BYTES_USED)] AS current_max_alloc,
    bytes[SUM(SUM_NUMBER_OF_BYTES_ALLOC)] AS total_allocated
FROM performance_schema.memory_summary_by_host_by_event_name WHERE EVENT_NAME NOT LIKE '%disk' GROUP BY HOST
ORDER BY SUM(CURRENT_NUMBER_OF_BYTES_USED) DESC

# host_summary +
SELECT account.HOST AS host, MAX(work.total) AS statements, time[MAX(work.total_latency)] AS statement_latency,
    time[IFNULL(MAX(work.total_latency) / NULLIF(MAX(work.total), 0), 0)] AS statement_avg_latency,
    MAX(work.full_scans) AS table_scans,
    CAST(NULL AS DECIMAL(64, 0)) AS file_ios, time[CAST(NULL AS DECIMAL(64, 0))] AS file_io_latency,
    SUM(account.CURRENT_CONNECTIONS) AS current_connections, SUM(account.TOTAL_CONNECTIONS) AS total_connections,
    COUNT(DISTINCT account.USER) AS unique_users,
    bytes[MAX(used.current_allocated)] AS current_memory, bytes[MAX(used.total_allocated)] AS total_memory_allocated
FROM performance_schema.accounts AS account
    LEFT JOIN sys.x$host_summary_by_statement_latency AS work ON work.host = account.HOST
    LEFT JOIN sys.x$memory_by_host_by_current_bytes AS used ON used.host = account.HOST
GROUP BY account.HOST

# user_summary +
SELECT account.USER AS user, MAX(work.total) AS statements, time[MAX(work.total_latency)] AS statement_latency,
    time[IFNULL(MAX(work.total_latency) / NULLIF(MAX(work.total), 0), 0)] AS statement_avg_latency,
    MAX(work.full_scans) AS table_scans,
    CAST(NULL AS DECIMAL(64, 0)) AS file_ios, time[CAST(NULL AS DECIMAL(64, 0))] AS file_io_latency,
    SUM(account.CURRENT_CONNECTIONS) AS current_connections, SUM(account.TOTAL_CONNECTIONS) AS total_connections,
    COUNT(DISTINCT account.HOST) AS unique_hosts,
    bytes[MAX(used.current_allocated)] AS current_memory, bytes[MAX(used.total_allocated)] AS total_memory_allocated
FROM performance_schema.accounts AS account
    LEFT JOIN sys.x$user_summary_by_statement_latency AS work ON work.user = account.USER
    LEFT JOIN sys.x$memory_by_user_by_current_bytes AS used ON used.user = account.USER
GROUP BY account.USER ORDER BY MAX(work.total_latency) DESC

# metrics
SELECT LOWER(VARIABLE_NAME) AS Variable_name, VARIABLE_VALUE AS Variable_value, 'Global Status' AS Type, 'YES' AS Enabled
FROM performance_schema.global_status
UNION ALL SELECT 'NOW()', NOW(3), 'System Time', 'YES'
UNION ALL SELECT 'UNIX_TIMESTAMP()', ROUND(UNIX_TIMESTAMP(NOW(3)), 3), 'System Time', 'YES'
ORDER BY Type, Variable_name

# x$schema_flattened_keys
SELECT TABLE_SCHEMA AS table_schema, TABLE_NAME AS table_name, INDEX_NAME AS index_name,
    MAX(NON_UNIQUE) AS non_unique, MAX(SUB_PART IS NOT NULL) AS subpart_exists,
    GROUP_CONCAT(COLUMN_NAME ORDER BY SEQ_IN_INDEX SEPARATOR ',') AS index_columns
FROM information_schema.STATISTICS
WHERE INDEX_TYPE = 'BTREE' AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')
GROUP BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME

# schema_redundant_indexes
SELECT redundant.table_schema AS table_schema, redundant.table_name AS table_name,
    redundant.index_name AS redundant_index_name, redundant.index_columns AS redundant_index_columns,
    redundant.non_unique AS redundant_index_non_unique,
    dominant.index_name AS dominant_index_name, dominant.index_columns AS dominant_index_columns,
    dominant.non_unique AS dominant_index_non_unique,
    IF(redundant.subpart_exists OR dominant.subpart_exists, 1, 0) AS subpart_exists,
    CONCAT('ALTER TABLE `', redundant.table_schema, '`.`', redundant.table_name,
        '` DROP INDEX `', redundant.index_name, '`') AS sql_drop_index
FROM sys.x$schema_flattened_keys AS redundant
    JOIN sys.x$schema_flattened_keys AS dominant
        ON dominant.table_schema = redundant.table_schema AND dominant.table_name = redundant.table_name
WHERE redundant.index_name <> dominant.index_name AND redundant.index_name <> 'PRIMARY'
    AND (redundant.index_columns = dominant.index_columns
            AND (redundant.non_unique > dominant.non_unique
                OR redundant.non_unique = dominant.non_unique
                    AND (dominant.index_name = 'PRIMARY' OR redundant.index_name > dominant.index_name))
        OR redundant.non_unique = 1
            AND LOCATE(CONCAT(redundant.index_columns, ','), dominant.index_columns) = 1
        OR dominant.non_unique = 0
            AND LOCATE(CONCAT(dominant.index_columns, ','), redundant.index_columns) = 1)

# schema_auto_increment_columns
SELECT numbered.TABLE_SCHEMA AS table_schema, numbered.TABLE_NAME AS table_name, numbered.COLUMN_NAME AS column_name,
    numbered.DATA_TYPE AS data_type, numbered.COLUMN_TYPE AS column_type,
    LOCATE('unsigned', numbered.COLUMN_TYPE) = 0 AS is_signed, LOCATE('unsigned', numbered.COLUMN_TYPE) > 0 AS is_unsigned,
    numbered.max_value AS max_value, numbered.AUTO_INCREMENT AS auto_increment,
    numbered.AUTO_INCREMENT / numbered.max_value AS auto_increment_ratio
FROM (SELECT holder.TABLE_SCHEMA, holder.TABLE_NAME, part.COLUMN_NAME, part.DATA_TYPE, part.COLUMN_TYPE,
        holder.AUTO_INCREMENT,
        CAST(CASE part.DATA_TYPE WHEN 'tinyint' THEN 255 WHEN 'smallint' THEN 65535 WHEN 'mediumint' THEN 16777215
            WHEN 'int' THEN 4294967295 WHEN 'bigint' THEN 18446744073709551615 END AS UNSIGNED)
            DIV IF(LOCATE('unsigned', part.COLUMN_TYPE) > 0, 1, 2) AS max_value
    FROM information_schema.COLUMNS AS part
        JOIN information_schema.TABLES AS holder
            ON holder.TABLE_SCHEMA = part.TABLE_SCHEMA AND holder.TABLE_NAME = part.TABLE_NAME
    WHERE part.EXTRA = 'auto_increment' AND holder.TABLE_TYPE = 'BASE TABLE'
        AND part.TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')) AS numbered
ORDER BY auto_increment_ratio DESC, max_value

# schema_object_overview
SELECT TABLE_SCHEMA AS db, CONVERT(TABLE_TYPE USING utf8mb3) AS object_type, COUNT(*) AS count
FROM information_schema.TABLES GROUP BY TABLE_SCHEMA, TABLE_TYPE
UNION ALL SELECT TABLE_SCHEMA, CONCAT('INDEX (', INDEX_TYPE, ')'), COUNT(*)
FROM information_schema.STATISTICS GROUP BY TABLE_SCHEMA, INDEX_TYPE
UNION ALL SELECT ROUTINE_SCHEMA, ROUTINE_TYPE, COUNT(*)
FROM information_schema.ROUTINES GROUP BY ROUTINE_SCHEMA, ROUTINE_TYPE
UNION ALL SELECT TRIGGER_SCHEMA, 'TRIGGER', COUNT(*) FROM information_schema.TRIGGERS GROUP BY TRIGGER_SCHEMA
UNION ALL SELECT EVENT_SCHEMA, 'EVENT', COUNT(*) FROM information_schema.EVENTS GROUP BY EVENT_SCHEMA
ORDER BY db, object_type
