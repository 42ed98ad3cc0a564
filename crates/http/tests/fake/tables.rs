//! Results of the simulated server: its status, variables, digests, memory and findings, as functions of the time since
//! its start.

use mayfly_http::Table;
use serde_json::{Value, json};

use super::{DIGESTS, SESSIONS, digest, pairs, table};

pub(super) fn status(seconds: f64) -> Table {
    let grown = |per_second: f64, base: f64| {
        format!(
            "{}",
            (base + seconds * per_second + 40.0 * (seconds / 3.0).sin()) as u64
        )
    };
    pairs(&[
        ("Uptime", format!("{}", 93_780 + seconds as u64)),
        ("Questions", grown(412.0, 5_755_600.0)),
        ("Threads_connected", "6".to_owned()),
        ("Threads_running", "4".to_owned()),
        ("Created_tmp_tables", grown(18.0, 41_762.0)),
        (
            "Created_tmp_disk_tables",
            format!("{}", 686 + (seconds / 4.0) as u64),
        ),
        ("Created_tmp_files", "12".to_owned()),
        (
            "Tmp_bytes_overflowed",
            format!("{}", 88_000_000_000_u64 + (seconds * 9e6) as u64),
        ),
        ("Count_hit_tmp_table_size", "640".to_owned()),
        ("TempTable_count_hit_max_ram", "46".to_owned()),
        ("Sort_merge_passes", "310".to_owned()),
        ("Slow_queries", "212".to_owned()),
        ("Sort_rows", grown(900.0, 18_000_000.0)),
        ("Select_full_join", "88".to_owned()),
        ("Handler_write", grown(52_000.0, 910_000_000.0)),
        ("Handler_read_rnd_next", grown(91_000.0, 1_900_000_000.0)),
        ("Connections", "5120".to_owned()),
        ("Aborted_clients", "4".to_owned()),
        ("Aborted_connects", "9".to_owned()),
        ("Bytes_received", grown(61_000.0, 700_000_000.0)),
        ("Bytes_sent", grown(822_000.0, 9_000_000_000.0)),
        ("Com_select", grown(380.0, 4_900_000.0)),
        ("Com_insert_select", "96".to_owned()),
        ("Ssl_cipher", String::new()),
    ])
}

const VARIABLES: &[(&str, &str, &str)] = &[
    (
        "tmp_table_size",
        "16777216",
        "The most memory that one internal temporary table may use before it overflows.",
    ),
    (
        "max_heap_table_size",
        "16777216",
        "The most memory that one table of the MEMORY engine may use.",
    ),
    (
        "temptable_max_ram",
        "268435456",
        "The most memory that all internal temporary tables may use before they overflow.",
    ),
    (
        "max_tmp_statement_memory_usage",
        "0",
        "The most memory that the internal temporary tables of one statement may use before they overflow; 0 is no limit.",
    ),
    (
        "connection_memory_limit",
        "18446744073709551615",
        "The most memory that one session may use.",
    ),
    (
        "tmp_disk_table_size",
        "18446744073709551615",
        "The most temporary disk space of one internal temporary table.",
    ),
    (
        "max_tmp_session_space_usage",
        "0",
        "The most temporary disk space that one session may use; 0 is no limit.",
    ),
    (
        "max_tmp_total_space_usage",
        "4294967296",
        "The most temporary disk space that all sessions may use; 0 is no limit.",
    ),
    ("tmpdir", "/var/tmp", "Where temporary files are made."),
    (
        "tmp_overflow_policy",
        "DISK",
        "What becomes of a statement whose internal temporary tables outgrow their memory: they go to disk, statements wait for their turn, or the statement ends with an error.",
    ),
    (
        "internal_tmp_mem_storage_engine",
        "TempTable",
        "The engine of internal temporary tables in memory.",
    ),
    (
        "big_tables",
        "OFF",
        "Whether all internal temporary tables are on disk.",
    ),
    (
        "optimizer_switch",
        "derived_merge=on,index_merge=on,mrr=off",
        "What the optimizer may do.",
    ),
    ("sort_buffer_size", "262144", "Memory of one sort."),
    (
        "join_buffer_size",
        "262144",
        "Memory of one join without an index.",
    ),
    (
        "cte_max_recursion_depth",
        "1000",
        "How often a recursive common table expression may go round.",
    ),
];

pub(super) fn variables() -> Table {
    let list: Vec<_> = VARIABLES
        .iter()
        .map(|(name, value, _)| (*name, (*value).to_owned()))
        .collect();
    pairs(&list)
}

pub(super) fn meanings() -> Table {
    let rows = VARIABLES.iter().map(|(name, _, meaning)| {
        vec![
            json!(name),
            json!("GLOBAL"),
            json!("Integer"),
            json!(meaning),
        ]
    });
    table(
        "VARIABLE_NAME VARIABLE_SCOPE DATA_TYPE DOCUMENTATION",
        rows.collect(),
    )
}

pub(super) fn digests(sql: &str) -> Table {
    let columns = "SCHEMA_NAME DIGEST DIGEST_TEXT COUNT_STAR SUM_TIMER_WAIT AVG_TIMER_WAIT MAX_TIMER_WAIT QUANTILE_95 SUM_ERRORS SUM_ROWS_SENT SUM_ROWS_EXAMINED SUM_CREATED_TMP_TABLES SUM_CREATED_TMP_DISK_TABLES SUM_TMP_BYTES SUM_TMP_DISK_BYTES_WRITTEN MAX_TMP_BYTES MAX_TMP_DISK_BYTES SUM_HIT_TMP_TABLE_SIZE SUM_SORT_ROWS LAST_SEEN QUERY_SAMPLE_TEXT";
    const GIB: u64 = 1 << 30;
    let row = |index: usize, (first, database, text, numbers): &(&str, &str, &str, [u64; 9])| {
        let [
            runs,
            milliseconds,
            sent,
            examined,
            tables,
            disk,
            bytes,
            spilled,
            hit,
        ] = *numbers;
        let picoseconds = milliseconds * 1_000_000_000;
        let sample = SESSIONS
            .get(index + 1)
            .map(|it| it.6)
            .filter(|it| !it.is_empty() && index < 3);
        vec![
            json!(database),
            json!(digest(first)),
            json!(text),
            json!(runs),
            json!(picoseconds),
            json!(picoseconds / runs),
            json!(picoseconds / runs * 4),
            json!(picoseconds / runs * 2),
            json!(0),
            json!(sent),
            json!(examined),
            json!(tables),
            json!(disk),
            json!(bytes * GIB),
            json!(spilled * GIB),
            json!(bytes * GIB / runs * 3),
            json!(spilled * GIB / runs * 2),
            json!(hit),
            json!(sent / 2),
            json!("2026-11-26 10:14:02.518331"),
            sample.map_or(Value::Null, |it| json!(it)),
        ]
    };
    let mut rows: Vec<_> = DIGESTS
        .iter()
        .enumerate()
        .map(|(index, it)| row(index, it))
        .collect();
    if let Some(wanted) = sql
        .split("WHERE DIGEST = '")
        .nth(1)
        .and_then(|rest| rest.split('\'').next())
    {
        rows.retain(|row| row[1] == json!(wanted));
    }
    let order = sql
        .split("ORDER BY ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next())
        .unwrap_or("SUM_TIMER_WAIT");
    let by = columns
        .split(' ')
        .position(|column| column == order)
        .unwrap_or(4);
    rows.sort_by_key(|row| std::cmp::Reverse(row[by].as_u64()));
    let most = sql.split("LIMIT ").nth(1);
    rows.truncate(most.map_or(rows.len(), |most| most.parse().expect("a number")));
    table(columns, rows)
}

pub(super) fn events() -> Table {
    table(
        "THREAD_ID SQL_TEXT TIMER_WAIT ROWS_EXAMINED ROWS_SENT CREATED_TMP_TABLES CREATED_TMP_DISK_TABLES MESSAGE_TEXT",
        Vec::new(),
    )
}

pub(super) fn memory(seconds: f64) -> Table {
    table(
        "EVENT_NAME CURRENT_NUMBER_OF_BYTES_USED HIGH_NUMBER_OF_BYTES_USED",
        vec![
            vec![
                json!("memory/temptable/physical_ram"),
                json!(40_000_000 + (seconds * 1e5) as u64),
                json!(268_435_456),
            ],
            vec![
                json!("memory/temptable/physical_disk"),
                json!(90_000_000),
                json!(1_073_741_824),
            ],
        ],
    )
}

/// A plan in MySQL's second version of the format, with Mayfly's additions.
pub(super) fn plan(measured: bool) -> Value {
    let step = |operation: &str, rows: f64, milliseconds: f64, more: Value, inputs: Vec<Value>| {
        let mut step = json!({ "operation": operation, "estimated_rows": rows * 0.8, "estimated_total_cost": rows * 0.35 });
        let members = step.as_object_mut().expect("an object");
        if measured {
            members.insert("actual_rows".to_owned(), json!(rows));
            members.insert("actual_loops".to_owned(), json!(1));
            members.insert("actual_first_row_ms".to_owned(), json!(milliseconds * 0.7));
            members.insert("actual_last_row_ms".to_owned(), json!(milliseconds));
        }
        members.extend(more.as_object().cloned().unwrap_or_default());
        if !inputs.is_empty() {
            members.insert("inputs".to_owned(), json!(inputs));
        }
        step
    };
    let limit = json!({ "name": "tmp_table_size", "bytes": 16_777_216 });
    // Members added to a temporary table that was measured.
    let table = |expected: Value, memory: u64, disk: u64| {
        let mut table = expected;
        if measured {
            let actual = json!({
                "actual_engine": "TempTable", "actual_tables": 1, "actual_rows": 310_000,
                "actual_memory_bytes": memory, "actual_disk_bytes": disk, "actual_disk_tables": u8::from(disk > 0),
            });
            let members = table.as_object_mut().expect("an object");
            members.extend(actual.as_object().cloned().unwrap_or_default());
            if disk > 0 {
                members.insert("actual_limit".to_owned(), limit.clone());
            }
        }
        table
    };
    let lines = step(
        "Table scan on order_lines",
        2_400_000.0,
        610.0,
        json!({ "table_name": "order_lines", "access_type": "table", "schema_name": "shop", "used_columns": ["product_id", "created", "quantity"] }),
        vec![],
    );
    let grouped = step(
        "Aggregate using temporary table",
        310_000.0,
        1_480.0,
        json!({ "access_type": "temp_table_aggregate", "temporary_table": table(json!({
            "purpose": "GROUP BY", "cause": "GROUP BY product_id, day has no index to follow", "estimated_rows": 310_000, "estimated_bytes": 41_200_000,
        "limit": limit, "fits": false, "removed_by": "index (product_id, created) on order_lines"
        }), 16_200_000, 26_400_000) }),
        vec![lines],
    );
    let derived = step(
        "Materialize d",
        310_000.0,
        1_610.0,
        json!({ "access_type": "materialize", "temporary_table": table(json!({
            "purpose": "derived table", "cause": "d cannot be merged: it has GROUP BY", "estimated_rows": 310_000, "estimated_bytes": 12_400_000, "limit": limit, "fits": true
        }), 12_100_000, 0) }),
        vec![grouped],
    );
    let scan = step(
        "Table scan on d",
        310_000.0,
        1_640.0,
        json!({ "table_name": "d", "access_type": "table" }),
        vec![derived],
    );
    let lookup = step(
        "Single-row index lookup on p using PRIMARY (id=d.product_id)",
        1.0,
        0.001,
        json!({ "table_name": "p", "index_name": "PRIMARY", "access_type": "index", "actual_loops": if measured { 310_000 } else { 1 } }),
        vec![],
    );
    let join = step(
        "Nested loop inner join",
        310_000.0,
        2_020.0,
        json!({ "access_type": "join", "join_type": "inner join" }),
        vec![scan, lookup],
    );
    let sort = step(
        "Sort: d.sold DESC",
        310_000.0,
        2_350.0,
        json!({ "access_type": "sort", "sort_fields": ["d.sold DESC"] }),
        vec![join],
    );
    json!({ "query": "/* select#1 */ select …", "query_plan": sort, "query_type": "select", "json_schema_version": "2.0" })
}

pub(super) fn findings() -> Value {
    let finding = |cause: &str,
                   confidence: &str,
                   because: &str,
                   evidence: &str,
                   gain: &str,
                   changes: Value| json!({ "cause": cause, "confidence": confidence, "because": because, "evidence": evidence, "gain": gain, "changes": changes });
    let statement = |index: usize, seconds: f64, share: f64, disk: u64, findings: Value| {
        let (first, database, text, numbers) = &DIGESTS[index];
        json!({ "rank": index + 1, "digest": digest(first), "text": text, "example": SESSIONS[index + 1].6, "database": database, "accounts": ["report@10.0.4.17"], "runs": numbers[0], "seconds": seconds, "seconds_share": share,
            "seconds_max": 9.1, "rows_sent": numbers[2], "rows_examined": numbers[3], "temporary_tables": numbers[4], "disk_tables": disk, "bytes": numbers[6] << 30, "sort_merge_passes": null, "findings": findings })
    };
    json!({
        "format": 1, "sources": ["this server"], "statements_left_out": 0, "changes": [], "notes": [],
        "statements": [
            statement(0, 1648.0, 0.41, 397, json!([
                finding("group_by_without_index", "certain", "The server has counted 397 disk tables in 412 runs, and orders has no index that begins with customer_id.", "GROUP BY customer_id builds a temporary table of every row of orders",
                    "no temporary table for the groups; about 3.1 s of each run", json!([
                    { "kind": "index", "sql": "ALTER TABLE shop.orders ADD INDEX customer_total (customer_id, total)", "does": "Groups are read in the order of the index.", "check": "SELECT COUNT(DISTINCT customer_id), COUNT(*) FROM shop.orders", "risk": "Each change of a row keeps one more index up to date; about 180 MB." },
                    { "kind": "setting", "sql": "SET GLOBAL tmp_table_size = 64 * 1024 * 1024", "does": "The table stays in memory.", "check": null, "risk": "Each session may use as much." } ])) ])),
            statement(1, 902.0, 0.22, 181, json!([
                finding("derived_table", "likely", "The derived table has GROUP BY, which cannot be merged.", "The derived table d is kept in a temporary table and joined row by row", "one temporary table fewer, and 12 MB less", json!([
                    { "kind": "rewrite", "sql": "SELECT p.name, DATE(l.created) AS day, SUM(l.quantity) AS sold FROM order_lines l JOIN products p ON p.id = l.product_id GROUP BY p.id, day ORDER BY sold DESC", "does": "The join comes before the groups.", "check": null, "risk": "" } ])) ])),
        ],
    })
}
