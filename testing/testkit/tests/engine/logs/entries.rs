//! Content of log entries, and the statements that are logged.

use mayfly_testkit::fixture::SessionExt;

use crate::logs::Logged;
use crate::logs::reader::{Entry, entries};

/// A table of six rows, and one without an index.
const TABLES: &[&str] = &[
    "CREATE TABLE t (a INT PRIMARY KEY, b INT, c VARCHAR(50), KEY (b))",
    "INSERT INTO t VALUES (1,1,'x'),(2,1,'y'),(3,2,'x'),(4,3,'z'),(5,5,'w'),(6,6,NULL)",
    "CREATE TABLE g (i INT, c CHAR(50))",
    "INSERT INTO g SELECT a * 10 + b, c FROM t",
];

fn last(logged: &Logged) -> Entry {
    entries(&logged.slow()).pop().unwrap()
}

/// Statements with the rows sent and examined by MySQL 9.7 or MariaDB 10.11. Where both differ, the definition in
/// `docs/slow-log.md` applies.
const EXAMINED: &[(&str, u64, u64)] = &[
    ("SELECT * FROM t", 6, 6),
    ("SELECT * FROM t WHERE a=3", 1, 1),
    ("SELECT * FROM t WHERE a=99", 0, 0),
    ("SELECT * FROM t WHERE b=1", 2, 2),
    ("SELECT * FROM t WHERE a BETWEEN 2 AND 4", 3, 3),
    ("SELECT * FROM t ORDER BY c", 6, 12),
    ("SELECT * FROM t ORDER BY c LIMIT 2", 2, 8),
    ("SELECT c, count(*) FROM g GROUP BY c", 5, 6),
    (
        "SELECT c, count(*) cnt FROM g GROUP BY c ORDER BY cnt LIMIT 10",
        5,
        11,
    ),
    ("SELECT DISTINCT c FROM g", 5, 6),
    ("SELECT count(*) FROM t x JOIN g y ON x.c=y.c", 1, 12),
    ("SELECT * FROM t x JOIN t y ON x.a=y.b", 6, 12),
    ("SELECT a FROM t UNION SELECT i FROM g", 12, 24),
    ("SELECT a FROM t UNION ALL SELECT i FROM g", 12, 12),
    ("INSERT INTO g SELECT a,c FROM t WHERE a < 3", 0, 2),
    ("UPDATE t SET c='k' WHERE a=6", 0, 1),
    ("DELETE FROM g WHERE i<10", 0, 8),
];

#[test]
fn rows_are_those_that_mysql_counts() {
    let logged = Logged::open(&[]);
    let mut session = logged.fixture.session();
    session.must_all(TABLES);
    for (sql, sent, examined) in EXAMINED {
        session.must(sql);
        let entry = last(&logged);
        assert_eq!(entry.statement, *sql);
        let rows = (entry.number("Rows_sent"), entry.number("Rows_examined"));
        assert_eq!(rows, (*sent, *examined), "{sql}");
    }
}

#[test]
fn the_plan_is_what_ran() {
    let logged = Logged::open(&[("log_slow_verbosity", "full")]);
    let mut session = logged.fixture.session();
    session.must_all(TABLES);
    let fields = |session: &mut mayfly_engine::Session, sql: &str| {
        session.must(sql);
        let entry = last(&logged);
        assert_eq!(entry.statement, sql);
        entry
    };
    let group = fields(
        &mut session,
        "SELECT c, count(*) n FROM g GROUP BY c ORDER BY n LIMIT 2",
    );
    for (field, value) in [
        ("Tmp_tables", "1"),
        ("Tmp_disk_tables", "0"),
        ("Full_scan", "Yes"),
        ("Full_join", "No"),
        ("Tmp_table", "Yes"),
        ("Tmp_table_on_disk", "No"),
        ("Filesort", "Yes"),
        ("Filesort_on_disk", "No"),
        ("Merge_passes", "0"),
        ("Priority_queue", "Yes"),
        ("Rows_affected", "0"),
    ] {
        assert_eq!(
            group.fields.get(field).map(String::as_str),
            Some(value),
            "{field}"
        );
    }
    assert!(group.number("Tmp_table_sizes") > 0);
    assert!(!group.fields.contains_key("Tmp_disk_bytes_written"));
    let lines = |entry: &Entry| {
        let explain = entry.comments.iter();
        let explain = explain.filter_map(|line| line.strip_prefix("# explain: "));
        explain.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        lines(&group),
        [
            "id\tselect_type\ttable\ttype\tpossible_keys\tkey\tkey_len\tref\trows\tr_rows\tfiltered\t\
             r_filtered\tExtra",
            "1\tSIMPLE\tg\tALL\tNULL\tNULL\tNULL\tNULL\t6\t6.00\t100.00\t100.00\t\
             Using temporary; Using filesort",
        ]
    );
    // MariaDB returns a row for the target of inserted values, and for changed rows that of the query which finds them.
    let insert = fields(
        &mut session,
        "INSERT INTO t VALUES (7, 7, 'q'), (8, 8, 'q')",
    );
    assert_eq!(
        lines(&insert)[1],
        "1\tINSERT\tt\tALL\tNULL\tNULL\tNULL\tNULL\tNULL\tNULL\t100.00\t100.00\tNULL"
    );
    let union = fields(&mut session, "SELECT a FROM t UNION SELECT i FROM g");
    assert_eq!(
        lines(&union)[3],
        "NULL\tUNION RESULT\t<union1,2>\tALL\tNULL\tNULL\tNULL\tNULL\tNULL\tNULL\tNULL\tNULL\t"
    );
    let constant = fields(&mut session, "SELECT * FROM t WHERE a=3");
    assert_eq!(
        lines(&constant)[1],
        "1\tSIMPLE\tt\tconst\tPRIMARY\tPRIMARY\t4\tconst\t1\tNULL\t100.00\tNULL\t"
    );
    let delete = fields(&mut session, "DELETE FROM g WHERE i < 22");
    assert_eq!(delete.fields["Rows_affected"], "2");
    let explained = lines(&delete);
    let row: Vec<&str> = explained[1].split('\t').collect();
    // Six rows were read, and conditions left a third of them.
    assert_eq!((row[2], row[9], row[11]), ("g", "6.00", "33.33"));
    let join = fields(
        &mut session,
        "SELECT count(y.a) FROM t x JOIN t y ON y.a = x.b",
    );
    let explained = lines(&join);
    let row: Vec<&str> = explained[2].split('\t').collect();
    assert_eq!((row[3], row[9]), ("eq_ref", "1.00"), "{explained:?}");
    // A statement on one row, whose plan is cached, is explained too.
    for _ in 0..4 {
        let point = fields(&mut session, "SELECT c FROM t WHERE a = 3");
        assert_eq!(lines(&point).len(), 2);
    }
    session.must("SET sql_mode = ''");
    session.must("CREATE TABLE n (a INT)");
    let warned = fields(&mut session, "INSERT INTO n VALUES ('x')");
    let warning = warned
        .comments
        .iter()
        .find(|line| line.starts_with("# Warning "));
    assert!(
        warning.is_some_and(|line| line.starts_with("# Warning 1366 Incorrect integer value: 'x'"))
    );
}

#[test]
fn what_goes_to_disk_is_told() {
    let logged = Logged::open(&[("log_slow_verbosity", "2")]);
    let mut session = logged.fixture.session();
    session.must("CREATE TABLE w (c VARCHAR(200))");
    session.must(
        "INSERT INTO w WITH RECURSIVE r AS (SELECT 1 i UNION ALL SELECT i + 1 FROM r WHERE i < 900) \
         SELECT CONCAT(REPEAT('x', 150), x.i, '-', y.i) FROM r x, r y WHERE y.i < 20",
    );
    session.must("SET tmp_table_size = 1024");
    session.must("SELECT COUNT(*) FROM (SELECT DISTINCT c FROM w) d");
    let entry = last(&logged);
    assert_eq!(entry.fields["Tmp_table_on_disk"], "Yes");
    let tables = entry.number("Tmp_disk_tables");
    assert!(tables > 0 && tables <= entry.number("Tmp_tables"));
    assert!(entry.number("Tmp_disk_bytes_written") > 0);
    let line = entry
        .comments
        .iter()
        .find(|line| line.contains("Tmp_tables"));
    // Programs that parse the line's beginning find the same form.
    let words: Vec<&str> = line.unwrap().split("  ").collect();
    let names: Vec<&str> = words
        .iter()
        .filter_map(|word| word.split(':').next())
        .collect();
    assert_eq!(
        names,
        [
            "# Tmp_tables",
            "Tmp_disk_tables",
            "Tmp_table_sizes",
            "Tmp_disk_bytes_written"
        ]
    );
}

#[test]
fn a_result_that_was_kept_is_told() {
    let logged = Logged::open(&[]);
    let mut session = logged.fixture.session();
    session.must_all(TABLES);
    let told = |entry: &Entry| {
        let names = ["Result_cache", "Result_cache_age", "Result_cache_bytes"];
        names.map(|name| entry.fields.get(name).cloned())
    };
    session.must("SELECT a FROM t");
    assert_eq!(told(&last(&logged)), [None, None, None]);
    for expected in ["miss", "hit"] {
        session.must("SELECT /*+ RESULT_CACHE(1h) */ a FROM t ORDER BY a");
        let entry = last(&logged);
        assert_eq!(entry.fields["Result_cache"], expected);
        assert!(entry.fields["Result_cache_age"].parse::<f64>().unwrap() < 60.0);
        // The bytes are those that were read.
        assert_eq!(entry.number("Result_cache_bytes") > 0, expected == "hit");
    }
}

#[test]
fn extra_counters_are_those_of_the_statement() {
    let logged = Logged::open(&[("log_slow_extra", "1")]);
    let mut session = logged.fixture.session();
    session.must_all(TABLES);
    session.must("SELECT * FROM t ORDER BY c");
    session.must("SELECT * FROM t ORDER BY c");
    let entry = last(&logged);
    for (field, value) in [
        ("Read_rnd_next", 7),
        ("Sort_rows", 6),
        ("Sort_scan_count", 1),
        ("Errno", 0),
    ] {
        assert_eq!(entry.number(field), value, "{field}");
    }
    session.execute("SELECT * FROM nosuch").unwrap_err();
    let entry = last(&logged);
    assert_eq!((entry.number("Errno"), entry.number("Killed")), (1146, 0));
    assert_eq!(entry.statement, "SELECT * FROM nosuch");
    assert!(entry.fields["Start"] <= entry.fields["End"]);
}

#[test]
fn filters_leave_statements_out() {
    let logged = Logged::open(&[("long_query_time", "10")]);
    let mut session = logged.fixture.session();
    session.must_all(TABLES);
    session.must("SELECT * FROM g");
    assert_eq!(logged.statements(), [""; 0]);
    session.must_all([
        "SET GLOBAL log_queries_not_using_indexes = 1",
        "SELECT * FROM g",
        "SHOW TABLES",
    ]);
    session.must("SELECT * FROM t WHERE a = 1");
    assert_eq!(logged.statements(), ["SELECT * FROM g"]);
    session.must_all(["SET min_examined_row_limit = 7", "SELECT * FROM g"]);
    assert_eq!(logged.statements().len(), 1);
    session.must_all([
        "SET min_examined_row_limit = 0, long_query_time = 0",
        "SET log_slow_filter = 'filesort'",
    ]);
    session.must_all([
        "SELECT * FROM t ORDER BY c",
        "SELECT * FROM t",
        "SET log_slow_filter = 'tmp_table,full_join'",
    ]);
    session.must_all(["SELECT DISTINCT c FROM g", "SELECT * FROM t ORDER BY c"]);
    session.must("SELECT count(*) FROM t x JOIN g y ON x.a < y.i");
    let statements = logged.statements();
    let expected = [
        "SELECT * FROM g",
        "SET min_examined_row_limit = 0, long_query_time = 0",
        "SELECT * FROM t ORDER BY c",
        "SELECT DISTINCT c FROM g",
        "SELECT count(*) FROM t x JOIN g y ON x.a < y.i",
    ];
    assert_eq!(statements, expected);
    session.must("SET log_slow_filter = ''");
    // Administrative statements are left out by default.
    let before = logged.statements().len();
    session.must_all(["ALTER TABLE g ADD KEY (i)", "ANALYZE TABLE g"]);
    session.must("SET GLOBAL log_slow_admin_statements = 1");
    session.must_all([
        "ANALYZE TABLE g",
        "SET log_slow_disabled_statements = 'admin'",
        "ANALYZE TABLE g",
    ]);
    assert_eq!(
        logged.statements()[before..],
        [
            "SET GLOBAL log_slow_admin_statements = 1",
            "ANALYZE TABLE g",
            "SET log_slow_disabled_statements = 'admin'"
        ]
    );
}

#[test]
fn rates_and_global_control() {
    let logged = Logged::open(&[
        ("log_slow_rate_limit", "5"),
        ("log_slow_rate_type", "query"),
    ]);
    let mut session = logged.fixture.session();
    for number in 0..50 {
        session.must(&format!("SELECT {number}"));
    }
    assert_eq!(logged.statements().len(), 10);
    // The session keeps its own value until the global one is applied to all sessions.
    session.must("SET GLOBAL log_slow_rate_limit = 1");
    session.must_all(["SELECT 50", "SELECT 51"]);
    let before = logged.statements().len();
    session.must("SET GLOBAL slow_query_log_use_global_control = 'all'");
    session.must_all(["SELECT 60", "SELECT 61", "SELECT 62"]);
    let logged_now = logged.statements().split_off(before);
    assert_eq!(logged_now.len(), 4, "{logged_now:?}");
}

#[test]
fn a_throttle_tells_what_it_left_out() {
    let more = [
        ("long_query_time", "10"),
        ("log_throttle_queries_not_using_indexes", "2"),
    ];
    let clock = std::sync::Arc::new(Hours::default());
    let logged = Logged::with(&more, |options| options.clock = clock.clone());
    let mut session = logged.fixture.session();
    session.must_all(TABLES);
    session.must("SET GLOBAL log_queries_not_using_indexes = 1");
    for _ in 0..5 {
        session.must("SELECT c FROM g");
    }
    assert_eq!(logged.statements().len(), 2);
    clock.pass(61);
    session.must("SELECT c FROM g");
    let statements = logged.statements();
    let expected = [
        "SELECT c FROM g",
        "SELECT c FROM g",
        "throttle:          3 'index not used' warning(s) suppressed.",
        "SELECT c FROM g",
    ];
    assert_eq!(statements, expected);
}

/// A clock that a test moves.
#[derive(Debug, Default)]
struct Hours(std::sync::atomic::AtomicI64);

impl Hours {
    fn pass(&self, seconds: i64) {
        let micros = seconds * 1_000_000;
        self.0
            .fetch_add(micros, std::sync::atomic::Ordering::SeqCst);
    }
}

impl mayfly_engine::Clock for Hours {
    fn now_utc_microseconds(&self) -> i64 {
        1_795_663_157_492_789 + self.0.load(std::sync::atomic::Ordering::SeqCst)
    }
}

#[test]
fn passwords_and_parameters() {
    let logged = Logged::open(&[("general_log", "1")]);
    let mut session = logged.fixture.session();
    session.must("CREATE USER ann@localhost IDENTIFIED BY 'S3cret'");
    session.must("PREPARE s FROM 'SELECT ?, ?, ?'");
    session.must("SET @a = 'it''s \"\\\\\\n', @b = 5, @c = NULL");
    session.must("EXECUTE s USING @a, @b, @c");
    session.must("PREPARE u FROM 'ALTER USER ann@localhost IDENTIFIED BY ''S3cret'''");
    session.must("DROP USER ann@localhost");
    let slow = logged.statements();
    let general = logged.text("general.log");
    assert!(!general.contains("S3cret") && !logged.slow().contains("S3cret"));
    let literal = r#"SELECT 'it\'s \"\\\n', 5, NULL"#;
    assert!(slow.iter().any(|text| text == literal), "{slow:?}");
    assert!(slow.iter().any(|text| text == "PREPARE s FROM ..."));
    assert!(
        general.contains(&format!(" Execute\t{literal}\n")),
        "{general}"
    );
    assert!(general.contains(" Prepare\tSELECT ?, ?, ?\n"));
    assert!(general.contains(" Query\tPREPARE s FROM ...\n"));
    assert!(general.contains(" Query\tEXECUTE s USING @a, @b, @c\n"));
    session.must("SET GLOBAL log_raw = 1");
    session.must("CREATE USER bob@localhost IDENTIFIED BY 'S3cret'");
    session.must("DROP USER bob@localhost");
    assert!(
        logged
            .text("general.log")
            .contains("IDENTIFIED BY 'S3cret'\n")
    );
    assert!(!logged.slow().contains("S3cret"));
    session.must_all(["SET sql_log_off = 1", "SELECT 'quiet'"]);
    assert!(!logged.text("general.log").contains("quiet"));
}
