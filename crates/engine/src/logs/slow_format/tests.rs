//! Expected lines from MariaDB 10.11 and MySQL 9.7 for the same statements, and for Percona from its manual ("Slow
//! query log").

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mayfly_plan::explain::ExplainRow;
use mayfly_types::Level;

use super::super::entry::{ExplainLine, HandlerCounts, LoggedCondition, SlowEntry};
use super::super::log_file::Written;
use super::super::log_options::LogOptions;
use super::write;
use crate::result::StatementSummary;
use crate::status::{Counter, Counters};
use crate::variables::Settings;
use crate::variables::logs::SessionLogOptions;
use crate::variables::typed;

/// `log_slow_verbosity`
const QUERY_PLAN: u64 = 2;
const FULL: u64 = 32;
const MICROTIME: u64 = 64;
const STANDARD: u64 = 256;

fn entry(text: &str, micros: u64, lock_micros: u64) -> SlowEntry {
    SlowEntry {
        session_id: 454,
        user_host: Arc::from("root[root] @ localhost []"),
        database: Some(Arc::from("slowlog_h")),
        text: Arc::from(text),
        ended_at: 1_795_663_156_882_448,
        timestamp: 1_795_663_156,
        summary: StatementSummary {
            elapsed: Duration::from_micros(micros),
            lock_time: Duration::from_micros(lock_micros),
            ..StatementSummary::default()
        },
        ..SlowEntry::default()
    }
}

/// The text of an entry after another one of the same second and database.
fn text(mut entry: SlowEntry, verbosity: u64, set: impl FnOnce(&mut Settings)) -> String {
    let mut settings = Settings::defaults();
    settings.put(typed::LOG_SLOW_VERBOSITY, verbosity);
    set(&mut settings);
    entry.verbosity = SessionLogOptions::read(&settings).verbosity;
    let options = LogOptions::read(&settings, Path::new(""));
    let mut written = Written {
        database: "slowlog_h".to_owned(),
        second: Some(entry.ended_at / 1_000_000),
    };
    let mut out = String::new();
    write(&entry, &options, &mut written, &mut out);
    out
}

#[test]
fn mysql() {
    let mut select = entry("SELECT 1", 61, 0);
    select.summary.rows_sent = 1;
    select.summary.rows_examined = 1;
    assert_eq!(
        text(select.clone(), 0, |_| {}),
        "# Time: 2026-11-26T03:19:16.882448Z\n\
         # User@Host: root[root] @ localhost []  Id:   454\n\
         # Query_time: 0.000061  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 1\n\
         SET timestamp=1795663156;\n\
         SELECT 1;\n"
    );
    let counters = Counters::new();
    counters.add(Counter::HandlerReadFirst, 1);
    counters.add(Counter::HandlerReadKey, 7);
    counters.add(Counter::HandlerReadRndNext, 13);
    counters.add(Counter::SortRows, 5);
    counters.add(Counter::SortScan, 1);
    counters.add(Counter::CreatedTmpTables, 1);
    let extra = SlowEntry {
        bytes_received: 67,
        bytes_sent: 130,
        errno: 1317,
        counts: Some(Box::new(HandlerCounts::of(&counters))),
        ..select
    };
    assert_eq!(
        text(extra.clone(), 0, |_| {}),
        "# Time: 2026-11-26T03:19:16.882448Z\n\
         # User@Host: root[root] @ localhost []  Id:   454\n\
         # Query_time: 0.000061  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 1 Thread_id: 454 \
         Errno: 1317 Killed: 1317 Bytes_received: 67 Bytes_sent: 130 Read_first: 1 Read_last: 0 \
         Read_key: 7 Read_next: 0 Read_prev: 0 Read_rnd: 0 Read_rnd_next: 13 Sort_merge_passes: 0 \
         Sort_range_count: 0 Sort_rows: 5 Sort_scan_count: 1 Created_tmp_disk_tables: 0 \
         Created_tmp_tables: 1 Count_hit_tmp_table_size: 0  Start: 2026-11-26T03:19:16.882387Z \
         End: 2026-11-26T03:19:16.882448Z\n\
         SET timestamp=1795663156;\n\
         SELECT 1;\n"
    );
    let mut spilled = extra;
    spilled.summary.bytes_overflowed = 4096;
    let spilled = text(spilled, 0, |_| {});
    assert!(spilled.contains("End: 2026-11-26T03:19:16.882448Z  Tmp_disk_bytes_written: 4096\n"));
}

#[test]
fn a_file_begins_with_the_time_and_the_database() {
    let first = |verbosity: u64| {
        let mut settings = Settings::defaults();
        settings.put(typed::LOG_SLOW_VERBOSITY, verbosity);
        let options = LogOptions::read(&settings, Path::new(""));
        let mut entry = entry("SET long_query_time=0", 28, 0);
        entry.verbosity = SessionLogOptions::read(&settings).verbosity;
        let (mut written, mut out) = (Written::default(), String::new());
        write(&entry, &options, &mut written, &mut out);
        let length = out.len();
        write(&entry, &options, &mut written, &mut out);
        (out[..length].to_owned(), out[length..].to_owned())
    };
    let (mysql, again) = first(0);
    assert!(mysql.ends_with("use slowlog_h;\nSET timestamp=1795663156;\nSET long_query_time=0;\n"));
    assert!(!again.contains("use "));
    let (mariadb, again) = first(QUERY_PLAN);
    assert!(mariadb.starts_with("# Time: 261126 "), "{mariadb}");
    assert!(mariadb.contains("\nuse `slowlog_h`;\nSET timestamp=1795663156;\n"));
    assert!(again.starts_with("# User@Host: "));
    let (percona, again) = first(MICROTIME);
    assert!(percona.starts_with("# Time: 2026-11-26T03:19:16.882448Z\n"));
    assert!(percona.contains("\nuse slowlog_h;\n"));
    assert!(again.starts_with("# Time: 2026-11-26T03:19:16.882448Z\n"));
}

#[test]
fn mariadb_with_everything() {
    let mut entry = entry("SELECT c, count(*) FROM g GROUP BY c", 79, 13);
    entry.bytes_sent = 138;
    entry.tmp_table_sizes = 1_572_800;
    let summary = &mut entry.summary;
    (summary.rows_sent, summary.rows_examined) = (5, 16);
    (
        summary.temporary_tables,
        summary.select_scan,
        summary.sort_scan,
    ) = (1, 1, 1);
    entry.explain = vec![ExplainLine {
        row: ExplainRow {
            id: 1,
            select_type: "SIMPLE",
            table: Some("g".to_owned()),
            access: Some("ALL"),
            rows: Some(6),
            filtered: Some(100.0),
            extra: Some("Using temporary; Using filesort".to_owned()),
            ..ExplainRow::default()
        },
        rows_read: Some(6.0),
        filtered: Some(100.0),
    }];
    let lines = text(entry.clone(), FULL, |_| {});
    let lines = lines.replace("Pages_accessed: 0", "Pages_accessed: 1");
    assert_eq!(
        lines.replace("Engine_time: 0.0000", "Engine_time: 0.0041"),
        "# User@Host: root[root] @ localhost []\n\
         # Thread_id: 454  Schema: slowlog_h  QC_hit: No\n\
         # Query_time: 0.000079  Lock_time: 0.000013  Rows_sent: 5  Rows_examined: 16\n\
         # Rows_affected: 0  Bytes_sent: 138\n\
         # Pages_accessed: 1  Pages_read: 0  Pages_prefetched: 0  Pages_updated: 0  Old_rows_read: 0\n\
         # Pages_read_time: 0.0000  Engine_time: 0.0041\n\
         # Tmp_tables: 1  Tmp_disk_tables: 0  Tmp_table_sizes: 1572800\n\
         # Full_scan: Yes  Full_join: No  Tmp_table: Yes  Tmp_table_on_disk: No\n\
         # Filesort: Yes  Filesort_on_disk: No  Merge_passes: 0  Priority_queue: No\n\
         #\n\
         # explain: id\tselect_type\ttable\ttype\tpossible_keys\tkey\tkey_len\tref\trows\tr_rows\t\
         filtered\tr_filtered\tExtra\n\
         # explain: 1\tSIMPLE\tg\tALL\tNULL\tNULL\tNULL\tNULL\t6\t6.00\t100.00\t100.00\t\
         Using temporary; Using filesort\n\
         #\n\
         SET timestamp=1795663156;\n\
         SELECT c, count(*) FROM g GROUP BY c;\n"
    );
    entry.summary.bytes_overflowed = 8192;
    entry.summary.disk_tables = 1;
    entry.explain.clear();
    assert!(text(entry, QUERY_PLAN, |_| {}).contains(
        "# Rows_affected: 0  Bytes_sent: 138\n\
         # Tmp_tables: 1  Tmp_disk_tables: 1  Tmp_table_sizes: 1572800  Tmp_disk_bytes_written: 8192\n\
         # Full_scan: Yes  Full_join: No  Tmp_table: Yes  Tmp_table_on_disk: Yes\n"
    ));
}

#[test]
fn mariadb_without_words_has_no_plan() {
    let mut select = entry("SELECT * FROM t WHERE a=3", 84, 24);
    (select.summary.rows_sent, select.summary.rows_examined) = (1, 1);
    select.bytes_sent = 154;
    let lines = text(select, 0, |set| set.put(typed::SLOW_QUERY_LOG_FORMAT, 2));
    assert_eq!(
        lines,
        "# User@Host: root[root] @ localhost []\n\
         # Thread_id: 454  Schema: slowlog_h  QC_hit: No\n\
         # Query_time: 0.000084  Lock_time: 0.000024  Rows_sent: 1  Rows_examined: 1\n\
         # Rows_affected: 0  Bytes_sent: 154\n\
         SET timestamp=1795663156;\n\
         SELECT * FROM t WHERE a=3;\n"
    );
}

#[test]
fn mariadb_warnings() {
    let mut insert = entry("INSERT IGNORE INTO n VALUES ('x'),('y')", 3708, 9);
    insert.summary.rows_affected = 2;
    insert.bytes_sent = 50;
    let message = |value: char, row: u32| {
        format!("Incorrect integer value: '{value}' for column `slowlog_h`.`n`.`a` at row {row}")
    };
    insert.warnings = [('x', 1), ('y', 2)]
        .map(|(value, row)| LoggedCondition {
            level: Level::Warning,
            code: 1366,
            message: Arc::from(message(value, row)),
        })
        .to_vec();
    let lines = text(insert.clone(), 16, |_| {});
    assert_eq!(
        lines,
        "# User@Host: root[root] @ localhost []\n\
         # Thread_id: 454  Schema: slowlog_h  QC_hit: No\n\
         # Query_time: 0.003708  Lock_time: 0.000009  Rows_sent: 0  Rows_examined: 0\n\
         # Rows_affected: 2  Bytes_sent: 50\n\
         # Warnings\n\
         # Warning 1366 Incorrect integer value: 'x' for column `slowlog_h`.`n`.`a` at row 1\n\
         # Warning 1366 Incorrect integer value: 'y' for column `slowlog_h`.`n`.`a` at row 2\n\
         SET timestamp=1795663156;\n\
         INSERT IGNORE INTO n VALUES ('x'),('y');\n"
    );
    // A message with a client's text must not look like an entry.
    insert.warnings[0].message = Arc::from("x\n# Time: 1\nDROP TABLE t;");
    let lines = text(insert, 16, |_| {});
    assert!(lines.contains("# Warning 1366 x # Time: 1 DROP TABLE t;\n"));
}

#[test]
fn the_lines_of_2011() {
    let statement = "select * from (select user_id,created,  (select user_email from  login2 b where \
        b.user_id=a.user_id ) from login2 a where a.user_id IN (100005, 100002, 100004, 100003)) as a \
        order by created";
    let mut entry = entry(statement, 1570, 34);
    entry.session_id = 93;
    entry.database = Some(Arc::from("test"));
    entry.timestamp = 1_323_937_380;
    let summary = &mut entry.summary;
    (summary.rows_sent, summary.rows_examined, summary.sort_scan) = (4, 12, 1);
    (summary.temporary_tables, summary.disk_tables) = (1, 1);
    let lines = text(entry, 2, |set| set.put(typed::SLOW_QUERY_LOG_FORMAT, 3));
    let expected = format!(
        "# User@Host: root[root] @ localhost []\n\
         # Thread_id: 93  Schema: test  QC_hit: No\n\
         # Query_time: 0.001570  Lock_time: 0.000034  Rows_sent: 4  Rows_examined: 12\n\
         # Full_scan: No  Full_join: No  Tmp_table: Yes  Tmp_table_on_disk: Yes\n\
         # Filesort: Yes  Filesort_on_disk: No  Merge_passes: 0\n\
         use test;\n\
         SET timestamp=1323937380;\n\
         {statement};\n"
    );
    assert_eq!(lines, expected);
}

#[test]
fn percona() {
    let mut entry = entry("SELECT c FROM sbtest1 WHERE id=200", 85, 30);
    (entry.summary.rows_sent, entry.summary.rows_examined) = (1, 1);
    entry.bytes_sent = 197;
    let full = |set: &mut Settings| set.put(typed::SLOW_QUERY_LOG_FORMAT, 4);
    assert_eq!(
        text(entry.clone(), FULL, full),
        "# Time: 2026-11-26T03:19:16.882448Z\n\
         # User@Host: root[root] @ localhost []  Id:   454\n\
         # Schema: slowlog_h  Last_errno: 0  Killed: 0\n\
         # Query_time: 0.000085  Lock_time: 0.000030  Rows_sent: 1  Rows_examined: 1  Rows_affected: 0\n\
         # Bytes_sent: 197  Tmp_tables: 0  Tmp_disk_tables: 0  Tmp_table_sizes: 0\n\
         # Full_scan: No  Full_join: No  Tmp_table: No  Tmp_table_on_disk: No\n\
         # Filesort: No  Filesort_on_disk: No  Merge_passes: 0\n\
         # No InnoDB statistics available for this query\n\
         SET timestamp=1795663156;\n\
         SELECT c FROM sbtest1 WHERE id=200;\n"
    );
    let minimal = text(entry.clone(), MICROTIME, |_| {});
    assert!(minimal.contains("\n# Bytes_sent: 197\nSET timestamp"));
    assert!(text(entry.clone(), STANDARD, |_| {}).contains("# No InnoDB statistics"));
    entry.rate_limit = 100;
    assert!(
        text(entry, MICROTIME, |_| {})
            .contains("# Log_slow_rate_type: query  Log_slow_rate_limit: 100\nSET timestamp")
    );
}

#[test]
fn commands_are_comments() {
    let mut quit = entry("Quit", 2, 0);
    quit.is_command = true;
    assert!(
        text(quit, 0, |_| {})
            .ends_with("SET timestamp=1795663156;\n# administrator command: Quit;\n")
    );
}
