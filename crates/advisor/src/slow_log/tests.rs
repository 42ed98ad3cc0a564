//! The formats of servers, each as the server writes it, and files that are not slow logs.

use std::io::Write as _;

use proptest::prelude::*;

use super::{Skipped, SlowLog};
use crate::event::Event;
use crate::server::Family;

fn events(log: &[u8]) -> Vec<Event> {
    let mut log = SlowLog::new(log).expect("memory can be read");
    let mut events = Vec::new();
    while let Some(event) = log.next_event().expect("memory can be read") {
        events.push(event);
    }
    events
}

const MARIADB: &str = "\
mariadbd, Version: 10.11.19-MariaDB-0+deb12u1-log (Debian 12). started with:
Tcp port: 0  Unix socket: /tmp/s.sock
Time\t\t    Id Command\tArgument
# Time: 261126  2:32:11
# User@Host: root[root] @ localhost []
# Thread_id: 5  Schema: t  QC_hit: No
# Query_time: 0.349790  Lock_time: 0.000053  Rows_sent: 1  Rows_examined: 100001
# Rows_affected: 0  Bytes_sent: 138
# Pages_accessed: 0  Pages_read: 0  Pages_prefetched: 0  Pages_updated: 0  Old_rows_read: 0
# Pages_read_time: 0.0000  Engine_time: 10.5225
# Tmp_tables: 2  Tmp_disk_tables: 1  Tmp_table_sizes: 6463488
# Full_scan: Yes  Full_join: No  Tmp_table: Yes  Tmp_table_on_disk: Yes
# Filesort: Yes  Filesort_on_disk: No  Merge_passes: 0  Priority_queue: Yes
#
# explain: id\tselect_type\ttable\ttype\tExtra
# explain: 1\tSIMPLE\tg\tALL\tUsing temporary; Using filesort
#
use t;
SET timestamp=1795660331;
SELECT count(*) cnt,
  c -- # Time: not one
FROM g
# User@Host says a comment
GROUP BY c;
# User@Host: root[root] @ localhost []
# Thread_id: 5  Schema: t  QC_hit: No
# Query_time: 0.000010  Lock_time: 0.000000  Rows_sent: 0  Rows_examined: 0
# Rows_affected: 0  Bytes_sent: 0
SET timestamp=1795660332;
# administrator command: Quit;
";

#[test]
fn mariadb_with_every_verbosity() {
    let events = events(MARIADB.as_bytes());
    assert_eq!(events.len(), 1);
    let event = &events[0];
    assert_eq!(event.time, Some(1_795_660_331_000_000));
    assert_eq!(event.account, "root@localhost");
    assert_eq!(event.database.as_deref(), Some("t"));
    assert!(event.text.starts_with("SELECT count(*) cnt,\n  c"));
    assert!(event.text.ends_with("comment\nGROUP BY c"));
    assert_eq!(event.query_time, 0.349_79);
    assert_eq!((event.rows_sent, event.rows_examined), (1, 100_001));
    assert_eq!((event.tables, event.disk_tables), (Some(2), Some(1)));
    assert_eq!(event.bytes, Some(6_463_488));
    assert_eq!(event.sort_on_disk, Some(false));
    assert_eq!(event.full_join, Some(false));
    assert_eq!(event.explain.len(), 2);
    assert_eq!(
        event.explain[1],
        "1\tSIMPLE\tg\tALL\tUsing temporary; Using filesort"
    );
}

#[test]
fn the_banner_names_the_server() {
    let mut log = SlowLog::new(MARIADB.as_bytes()).expect("memory can be read");
    log.next_event().expect("memory can be read");
    let server = log.server().expect("it is named");
    assert_eq!(
        (server.name.as_str(), server.known),
        ("MariaDB 10.11.19", true)
    );
    // A rotated log may have no such line.
    let (_, rest) = MARIADB.split_once("Argument\n").expect("it is there");
    let mut log = SlowLog::new(rest.as_bytes()).expect("memory can be read");
    log.next_event().expect("memory can be read");
    let server = log.server().expect("its form shows it");
    assert_eq!((server.family, server.known), (Family::MariaDb, false));
}

#[test]
fn the_form_of_2011_has_flags_alone() {
    let log = "\
# User@Host: root[root] @ localhost []
# Thread_id: 93  Schema: test  QC_hit: No
# Query_time: 0.00157  Lock_time: 0.000034  Rows_sent: 4  Rows_examined: 12
# Full_scan: No  Full_join: No  Tmp_table: Yes  Tmp_table_on_disk: Yes
# Filesort: Yes  Filesort_on_disk: No  Merge_passes: 0
SET timestamp=1323937380;
select * from login2 order by created;
";
    let events = events(log.as_bytes());
    assert_eq!(
        (events[0].tables, events[0].disk_tables),
        (Some(1), Some(1))
    );
    assert_eq!(events[0].bytes, None);
    assert_eq!(events[0].database.as_deref(), Some("test"));
}

#[test]
fn mysql_plain_extra_and_a_database_that_holds_on() {
    let log = "\
/usr/sbin/mysqld, Version: 8.4.3 (MySQL Community Server - GPL). started with:
Tcp port: 3306  Unix socket: /tmp/mysql.sock
Time                 Id Command    Argument
# Time: 2026-11-26T02:32:11.500000Z
# User@Host: app[app] @ web1 [10.0.0.3]  Id:    12
# Query_time: 1.5  Lock_time: 0.000002 Rows_sent: 3  Rows_examined: 40
use shop;
SET timestamp=1795660331;
SELECT a FROM t;
# Time: 2026-11-26T02:32:12.000000Z
# User@Host: app[app] @ web1 [10.0.0.3]  Id:    12
# Query_time: 0.25  Lock_time: 0.000002 Rows_sent: 3  Rows_examined: 40 Thread_id: 12 Errno: 0 Killed: 0 Bytes_received: 0 Bytes_sent: 66 Read_first: 1 Read_last: 0 Read_key: 1 Read_next: 0 Read_prev: 0 Read_rnd: 0 Read_rnd_next: 41 Sort_merge_passes: 2 Sort_range_count: 0 Sort_rows: 3 Sort_scan_count: 1 Created_tmp_disk_tables: 1 Created_tmp_tables: 2 Count_hit_tmp_table_size: 1 Start: 2026-11-26T02:32:11.750000Z End: 2026-11-26T02:32:12.000000Z
SET last_insert_id=5,insert_id=6,timestamp=1795660331;
SELECT b
FROM u;
";
    let events = events(log.as_bytes());
    assert_eq!(events.len(), 2);
    assert_eq!((events[0].tables, events[0].disk_tables), (None, None));
    assert_eq!(events[1].database.as_deref(), Some("shop"));
    assert_eq!(events[1].text, "SELECT b\nFROM u");
    assert_eq!(
        (events[1].tables, events[1].disk_tables),
        (Some(2), Some(1))
    );
    assert_eq!(
        (events[1].size_limit_hits, events[1].merge_passes),
        (Some(1), Some(2))
    );
}

#[test]
fn percona_extended() {
    let log = "\
# Time: 2026-11-26T02:32:12.000000Z
# User@Host: app[app] @ localhost []  Id:     9
# Schema: shop  Last_errno: 0  Killed: 0
# Query_time: 0.010000  Lock_time: 0.000100  Rows_sent: 5  Rows_examined: 100  Rows_affected: 0
# Bytes_sent: 500  Tmp_tables: 1  Tmp_disk_tables: 0  Tmp_table_sizes: 16384
# InnoDB_trx_id: 1F
# Full_scan: Yes  Full_join: Yes  Tmp_table: Yes  Tmp_table_on_disk: No
# Filesort: Yes  Filesort_on_disk: Yes  Merge_passes: 3
#   InnoDB_IO_r_ops: 0  InnoDB_IO_r_bytes: 0  InnoDB_IO_r_wait: 0.000000
SET timestamp=1795660332;
SELECT 1;
";
    let event = &events(log.as_bytes())[0];
    assert_eq!((event.tables, event.disk_tables), (Some(1), Some(0)));
    assert_eq!(event.bytes, Some(16_384));
    assert_eq!(
        (event.sort_on_disk, event.merge_passes),
        (Some(true), Some(3))
    );
    assert_eq!(event.full_join, Some(true));
}

#[test]
fn gzip_is_unpacked() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed
        .write_all(MARIADB.as_bytes())
        .expect("memory takes it");
    let packed = packed.finish().expect("memory takes it");
    assert_eq!(events(&packed), events(MARIADB.as_bytes()));
    // Truncated gzip data give an error after the valid events, and no panic.
    let mut log = SlowLog::new(&packed[..packed.len() / 2]).expect("the beginning can be read");
    while let Ok(Some(_)) = log.next_event() {}
}

/// An event as MySQL writes it, with a statement.
fn entry(statement: &str) -> String {
    format!(
        "# Time: 2026-11-26T02:32:12.000000Z\n# User@Host: app[app] @ web1 [10.0.0.3]  Id:    12\n\
         # Query_time: 0.25  Lock_time: 0.000002 Rows_sent: 3  Rows_examined: 40\n\
         SET timestamp=1795660331;\n{statement};\n"
    )
}

fn texts(log: &str) -> Vec<String> {
    events(log.as_bytes())
        .into_iter()
        .map(|event| event.text)
        .collect()
}

#[test]
fn what_stands_behind_a_statement_is_no_part_of_it() {
    for noise in [
        "# administrator command: Ping;\n",
        "# a comment\n",
        "\n\nsome text\nof another program;\n",
        "2026-11-26T02:32:12.5Z 0 [Note] Aborted connection 7\n",
        "\n==> error.log <==\n2026-11-26 [ERROR] it's broken\n\n==> slow.log <==\n",
        "/usr/sbin/mysqld, Version: 8.4.3 (MySQL). started with:\nTcp port: 1  Unix socket: s\nTime  Id Command\n",
    ] {
        let log = format!("{}{noise}{}", entry("SELECT 1"), entry("SELECT 2"));
        assert_eq!(texts(&log), ["SELECT 1", "SELECT 2"], "{noise}");
    }
}

#[test]
fn a_statement_may_hold_what_looks_like_a_header() {
    for statement in [
        "INSERT INTO note VALUES ('\n# Time: 2026-11-26T02:32:12.000000Z\n')",
        "SELECT 'a;\n# Time: 2026-11-26T02:32:12.000000Z\nb'",
        "SELECT 'it''s', \"\n# User@Host: x[x] @ y []\n\"",
        "SELECT `\n# User@Host: x[x] @ y []\n` FROM t",
        "SELECT 1 /*\n# User@Host: x[x] @ y []\n*/",
        "SELECT a, -- it's\n# User@Host says so\n\nb FROM t",
        "SELECT '\n==> error.log <==\n'",
        "CREATE PROCEDURE p()\nBEGIN\n  SELECT 1;\n  SELECT 2;\nEND",
        "SELECT 1 -- why;\nFROM t",
    ] {
        let log = format!("{}{}", entry(statement), entry("SELECT 2"));
        assert_eq!(texts(&log), [statement, "SELECT 2"]);
    }
}

#[test]
fn a_string_that_is_never_closed_ends_with_its_statement() {
    let log = format!("{}{}", entry("SELECT 'it's"), entry("SELECT 2"));
    assert_eq!(texts(&log), ["SELECT 'it's", "SELECT 2"]);
}

#[test]
fn a_string_that_tail_cuts_off_ends_there() {
    let other = "\n==> error.log <==\n2026 [Note] don't\n\n==> slow.log <==\n";
    let whole = entry("SELECT 'a\nb', c");
    let (cut, _) = whole.split_once("\nb").expect("it is there");
    let log = format!("{cut}\n{other}{}", entry("SELECT 2"));
    let events = events(log.as_bytes());
    assert_eq!(
        (events[0].text.as_str(), events[0].truncated),
        ("SELECT 'a", true)
    );
    assert_eq!(
        (events[1].text.as_str(), events[1].truncated),
        ("SELECT 2", false)
    );
}

#[test]
fn tabs_and_lines_without_a_mark() {
    let log = "\
# User@Host: app[app] @ web1 []\tId:\t12
# Query_time: 0.25\tLock_time: 0.5\tRows_sent: 3\tRows_examined: 40
Tmp_tables: 2  Tmp_disk_tables: 1  Tmp_table_sizes: 4096

# Full_scan: Yes  Full_join: Yes  Tmp_table: Yes  Tmp_table_on_disk: Yes
SET timestamp=1795660331;
SELECT 1;
";
    let event = &events(log.as_bytes())[0];
    assert_eq!(event.full_join, Some(true));
    assert_eq!((event.query_time, event.lock_time), (0.25, 0.5));
    assert_eq!((event.rows_sent, event.rows_examined), (3, 40));
    assert_eq!((event.tables, event.disk_tables), (Some(2), Some(1)));
    assert_eq!((event.bytes, event.text.as_str()), (Some(4096), "SELECT 1"));
}

#[test]
fn what_is_no_event_is_counted() {
    let header = "# User@Host: app[app] @ web1 []  Id: 12\n# Query_time: 0.25  Lock_time: 0\n";
    let log = format!(
        "first\n{}second\n\n{header}==> other.log <==\nthird\n{header}",
        entry("SELECT 1")
    );
    let mut log = SlowLog::new(log.as_bytes()).expect("memory can be read");
    while log.next_event().expect("memory can be read").is_some() {}
    let expected = Skipped {
        entries: 2,
        lines: 3,
    };
    assert_eq!(log.skipped(), expected);
    let mut log = SlowLog::new(MARIADB.as_bytes()).expect("memory can be read");
    while log.next_event().expect("memory can be read").is_some() {}
    assert_eq!(log.skipped(), Skipped::default());
}

#[test]
fn mayfly_is_known_by_its_field() {
    let log = "\
# User@Host: root[root] @ localhost []
# Thread_id: 5  Schema: t  QC_hit: No
# Query_time: 0.1  Lock_time: 0  Rows_sent: 1  Rows_examined: 1
# Tmp_tables: 2  Tmp_disk_tables: 2  Tmp_table_sizes: 6606864  Tmp_disk_bytes_written: 4387000
SELECT 1;
";
    let mut log = SlowLog::new(log.as_bytes()).expect("memory can be read");
    log.next_event().expect("memory can be read");
    let server = log.server().expect("its form shows it");
    assert_eq!((server.family, server.known), (Family::Mayfly, false));
}

/// Statements of one and several lines, with difficult content in strings and comments.
const STATEMENTS: &[&str] = &[
    "SELECT 1",
    "SELECT ';' AS a",
    "SELECT 'a''b', \"c\\\"d\"",
    "SELECT a\n\n  FROM t",
    "SELECT '\n# Time: 2026-11-26T02:32:11Z\n'",
    "SELECT '# Query_time: 5'",
    "INSERT INTO t VALUES ('==> x <==', '# administrator command: Quit;')",
    "SELECT `a;\nb` FROM `# User@Host: x`",
    "SELECT a -- it's; \"\n, b FROM t",
    "SELECT /* ' */ 1 /*!40000 , 2 */",
    "# begins with a comment of its author\nSELECT 1",
    "CREATE TRIGGER a BEFORE INSERT ON b FOR EACH ROW BEGIN\nSET @a = 'x';\n\nSET @b = 1;\nEND",
    "SELECT 'ä\u{1f600}\tb'",
];

/// Text between events.
const NOISE: &[&str] = &[
    "",
    "\n",
    "\n\n",
    "# administrator command: Ping;\n",
    "# User@Host: a[a] @ b []  Id: 1\n# Query_time: 1  Lock_time: 0\nSET timestamp=1;\n# administrator command: Quit;\n",
    "# just a line\n",
    "lost text; of another file\n",
    "\n==> /var/log/error.log <==\n2026 [Note] don't\n\n==> slow.log <==\n",
    "mysqld, Version: 8.4.3 (MySQL). started with:\nTcp port: 1  Unix socket: s\nTime  Id Command\n",
];

/// An entry in one of the formats: its text and the event to be read.
fn written(form: usize, statement: &str, thousandths: u32) -> String {
    let seconds = f64::from(thousandths) / 1000.0;
    let blank = if form.is_multiple_of(2) { "  " } else { "\t" };
    let mark = if form.is_multiple_of(3) { "" } else { "# " };
    let time = if form.is_multiple_of(5) {
        ""
    } else {
        "# Time: 261126  2:32:11\n"
    };
    format!(
        "{time}# User@Host: app[app] @ web [10.0.0.3]{blank}Id: 12\n\
         # Thread_id: 5{blank}Schema: shop{blank}QC_hit: No\n\
         # Query_time: {seconds}{blank}Lock_time: 0.1{blank}Rows_sent: 3{blank}Rows_examined: 40\n\
         {mark}Tmp_tables: 2{blank}Tmp_disk_tables: 1\n\
         SET timestamp=1795660331;\n{statement};\n"
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_bytes_are_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let _ = SlowLog::new(&bytes[..]).map(|mut log| while let Ok(Some(_)) = log.next_event() {});
    }

    #[test]
    fn mutated_logs_are_no_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = MARIADB.as_bytes().to_vec();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate(cut.index(bytes.len()));
        events(&bytes);
    }

    #[test]
    fn events_are_read_as_they_were_written(
        entries in proptest::collection::vec(
            (0..30_usize, 0..STATEMENTS.len(), 0..5000_u32, 0..NOISE.len()), 1..12),
    ) {
        let mut log = String::new();
        for (form, statement, time, noise) in &entries {
            log.push_str(&written(*form, STATEMENTS[*statement], *time));
            log.push_str(NOISE[*noise]);
        }
        let found = events(log.as_bytes());
        prop_assert_eq!(found.len(), entries.len(), "{}", log);
        for (event, (_, statement, time, _)) in found.iter().zip(&entries) {
            prop_assert_eq!(&event.text, STATEMENTS[*statement]);
            prop_assert_eq!(event.query_time, f64::from(*time) / 1000.0);
            prop_assert_eq!(event.account.as_str(), "app@web");
            prop_assert_eq!(event.database.as_deref(), Some("shop"));
            prop_assert_eq!((event.tables, event.disk_tables), (Some(2), Some(1)));
            prop_assert!(!event.truncated);
        }
    }
}
